"""The review loop as a stranger would run it: queue, reviewers' files, answers, score; and where text may be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.review_corpora import answer_brat, answer_label_studio, planted, rates
from tests.support.shell import Done, call
from workup.cli import review as reviewing
from workup.cli.app import app

if not any(group.name == "review" for group in app.registered_groups):
    reviewing.add_to(app)

CANARY = "QZXCANARY"


def _queue(folder: Path, gold: Path, found: list[Path], *more: str | Path) -> Done:
    predictions = [word for path in found for word in ("--pred", path)]
    return call("review", "queue", "--gold", gold, *predictions, "--seed", "3", "-o", folder, *more)


def _estimates(done: Done, golds: str = "reviewed") -> dict[tuple[str, str], dict[str, Any]]:
    assert done.code == 0, done.err
    found = [e for e in json.loads(done.out)["estimates"] if e["slice"]["golds"] == golds and "system" in e["slice"]]
    return {(e["slice"]["system"], e["metric"]): e for e in found}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path], Any]:
    return planted(tmp_path_factory.mktemp("corpus"), documents=240, canary=CANARY)


def _covered(done: Done, truth: dict[tuple[str, str], float]) -> list[bool]:
    return [e["low"] <= truth[key] <= e["high"] for key, e in _estimates(done).items()]


def test_reviewers_of_known_error_give_back_the_planted_rates(tmp_path: Path, corpus: Any) -> None:
    gold, found, identifiers = corpus
    truth = rates(gold, found, identifiers)
    done = _queue(tmp_path / "q", gold, found, "--with-text", "--sample", "450")
    assert done.code == 0 and "WARNING" in done.err and "PHI" in done.err
    tasks = tmp_path / "q" / "for_reviewers" / "label_studio.json"
    export = answer_label_studio(tasks, tmp_path / "ann.json", identifiers, seed=1, sensitivity=0.94, specificity=0.9)
    error = ("--sensitivity", "0.94", "--specificity", "0.9")
    done = call("review", "score", tmp_path / "q", export, *error, "--json", "-")
    assert _covered(done, truth) == [True] * 4
    raw, as_right = _estimates(done, "as_annotated"), _estimates(done, "reviewed, reviewers taken as right")
    # The golds alone, and reviewers taken at their word, are both far off: the correction is what brings it back.
    for system in ("alpha", "beta"):
        assert raw[system, "precision"]["high"] < truth[system, "precision"]
        assert as_right[system, "precision"]["value"] < truth[system, "precision"] - 0.02
        assert abs(_estimates(done)[system, "recall"]["value"] - truth[system, "recall"]) < 0.03
        assert abs(_estimates(done)[system, "precision"]["value"] - truth[system, "precision"]) < 0.03


def test_two_reviewers_show_their_errors_themselves(tmp_path: Path, corpus: Any) -> None:
    gold, found, identifiers = corpus
    _queue(tmp_path / "q", gold, found, "--with-text", "--sample", "600")
    tasks = tmp_path / "q" / "for_reviewers" / "label_studio.json"
    errs: dict[str, Any] = {"sensitivity": 0.95, "specificity": 0.9, "silent": 0.1}
    files = [
        answer_label_studio(
            tasks, tmp_path / f"r{user}.json", identifiers, seed=user, user=user, new_ids=user == 2, **errs
        )
        for user in (1, 2)
    ]
    done = call("review", "score", tmp_path / "q", *files, "--json", "-")
    assert _covered(done, rates(gold, found, identifiers)) == [True] * 4
    record = json.loads(done.out)
    assert record["reviewer_error"]["kind"] == "estimated"
    for row in record["reviewer_error"]["reviewers"]:
        assert abs(row["sensitivity"] - 0.95) < 3 * row["sensitivity_se"] + 0.005
        assert abs(row["specificity"] - 0.9) < 3 * row["specificity_se"] + 0.005
    assert record["agreement"][0]["kappa"] > 0.5
    assert 0 < record["answers"]["not_answered"] < 30
    plain = call("review", "score", tmp_path / "q", *files, "--json", "-", "--reviewers-right")
    assert json.loads(plain.out)["reviewer_error"]["kind"] == "right"


def test_brat_goes_out_and_comes_back(tmp_path: Path, corpus: Any) -> None:
    gold, found, identifiers = corpus
    done = _queue(tmp_path / "q", gold, found, "--with-text", "--format", "brat", "--sample", "300")
    assert done.code == 0, done.err
    folder = tmp_path / "q" / "for_reviewers" / "brat"
    assert {"REVIEW", "IDENTIFIER"} < set((folder / "annotation.conf").read_text().split())
    answer_brat(folder, identifiers, seed=1)
    done = call("review", "score", tmp_path / "q", f"ann={folder}", "--json", "-")
    assert _covered(done, rates(gold, found, identifiers)) == [True] * 4
    record = json.loads(done.out)
    assert record["answers"]["reviewers"] == ["ann"] and record["answers"]["answered"] == 300
    assert "no region was answered by two reviewers" in record["reviewer_error"]["reason"]


def test_regions_across_lines_and_beyond_ascii_come_back_from_both_tools(tmp_path: Path) -> None:
    text = "Seen by Änn\nLee 😀 and\r\nMöller, 4 May"
    spans = [(8, 15), (18, 28), (30, 35)]
    gold, pred = tmp_path / "gold.jsonl", tmp_path / "pred.jsonl"
    golds = [{"start": start, "end": end, "label": "name_patient"} for start, end in spans[:2]]
    gold.write_text("".join(json.dumps({"id": f"ward {i}/n", "text": text, "spans": golds}) + "\n" for i in range(12)))
    found = [{"start": spans[2][0], "end": spans[2][1], "label": "date"}]
    pred.write_text("".join(json.dumps({"id": f"ward {i}/n", "spans": found}) + "\n" for i in range(12)))
    for form in ("brat", "label-studio"):
        assert _queue(tmp_path / form, gold, [pred], "--with-text", "--format", form).code == 0
    folder = tmp_path / "brat" / "for_reviewers" / "brat"
    for file in folder.glob("*.ann"):
        file.write_bytes(file.read_bytes().replace(b"REVIEW", b"IDENTIFIER"))
    tasks = tmp_path / "label-studio" / "for_reviewers" / "label_studio.json"
    right = {(f"ward {i}/n", *place) for i in range(12) for place in spans}
    export = answer_label_studio(tasks, tmp_path / "ann.json", right, seed=1, new_ids=True)
    for queue, answers in (("brat", folder), ("label-studio", export)):
        done = call("review", "score", tmp_path / queue, answers, "--json", "-")
        record = json.loads(done.out)
        assert record["answers"]["answered"] == 36 and record["answers"]["verdicts"] == {"IDENTIFIER": 36}, queue
        assert record["answers"]["beside"] == {}
        assert _estimates(done)["pred", "recall"]["value"] == pytest.approx(1 / 3)
        assert _estimates(done)["pred", "precision"]["value"] == 1.0


def test_nothing_but_the_reviewers_files_holds_text(tmp_path: Path, corpus: Any) -> None:
    gold, found, identifiers = corpus
    without = _queue(tmp_path / "plain", gold, found, "--sample", "100", "--verbose")
    assert without.code == 0 and "--with-text" in without.err
    assert sorted(path.name for path in (tmp_path / "plain").iterdir()) == [".gitignore", "queue.json", "queue.jsonl"]
    shown = _queue(tmp_path / "q", gold, found, "--sample", "100", "--with-text", "--verbose")
    tasks = tmp_path / "q" / "for_reviewers" / "label_studio.json"
    export = answer_label_studio(tasks, tmp_path / "ann.json", identifiers, seed=1)
    scored = call("review", "score", tmp_path / "q", export, "--json", tmp_path / "record.json", "--verbose")
    assert scored.code == 0, scored.err
    for done in (without, shown, scored):
        assert CANARY not in done.out + done.err
    written = [path for part in ("plain", "q") for path in (tmp_path / part).rglob("*") if path.is_file()]
    for path in [*written, tmp_path / "record.json"]:
        assert (CANARY in path.read_text(encoding="utf-8")) == (path == tasks), path.name
    for path in written:
        assert path.stat().st_mode & 0o777 == 0o600, path.name
    # The reviewers' folder tells nothing of where a region comes from.
    for path in (tmp_path / "q" / "for_reviewers").iterdir():
        content = path.read_text(encoding="utf-8")
        assert not any(word in content for word in ("missed_by", "found_by", "alarm_of", "alpha", "beta")), path.name


def test_the_warning_of_text_is_never_silenced(tmp_path: Path, corpus: Any) -> None:
    gold, found, _ = corpus
    done = _queue(tmp_path / "q", gold, found, "--with-text", "--quiet", "--sample", "50")
    assert done.code == 0 and "WARNING" in done.err


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, corpus: Any) -> None:
    gold, found, _ = corpus
    for name in ("a", "b"):
        assert _queue(tmp_path / name, gold, found, "--with-text").code == 0
    for path in sorted((tmp_path / "a").rglob("*")):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes(), path.name


def test_a_score_is_read_at_a_terminal(tmp_path: Path, corpus: Any) -> None:
    gold, found, identifiers = corpus
    _queue(tmp_path / "q", gold, found, "--with-text", "--sample", "200")
    tasks = tmp_path / "q" / "for_reviewers" / "label_studio.json"
    export = answer_label_studio(tasks, tmp_path / "ann.json", identifiers, seed=1, silent=0.3)
    done = call("review", "score", tmp_path / "q", export)
    for said in ("alpha", "as_annotated", "reviewed", "golds that every system missed", "kappa", "have no answer"):
        assert said in done.out, said
    assert "More than one region in ten" in done.out


def test_what_cannot_be_used_costs_one_clear_message(tmp_path: Path, corpus: Any) -> None:
    gold, found, identifiers = corpus
    _queue(tmp_path / "q", gold, found, "--with-text", "--sample", "60")
    tasks = tmp_path / "q" / "for_reviewers" / "label_studio.json"
    export = answer_label_studio(tasks, tmp_path / "ann.json", identifiers, seed=1)
    (tmp_path / "bad.json").write_text('[{"data": "' + CANARY)
    (tmp_path / "cut").mkdir()
    for name in ("queue.json", "queue.jsonl"):
        lines = (tmp_path / "q" / name).read_text().splitlines(keepends=True)
        (tmp_path / "cut" / name).write_text("".join(lines if name == "queue.json" else lines[:-1]))
    score = ("review", "score")
    for words, said in (
        ((*score, tmp_path / "q", tmp_path / "bad.json"), "valid JSON"),
        ((*score, tmp_path / "q", tmp_path / "absent.json"), "no such file"),
        ((*score, tmp_path / "q", tmp_path / "absent"), "folder"),
        ((*score, tmp_path / "absent", export), "review queue"),
        ((*score, tmp_path / "cut", export), "changed"),
        ((*score, tmp_path / "q", export, "--consensus", "majorty"), "majority"),
        ((*score, tmp_path / "q", export, "--sensitivity", "0.9"), "both"),
        ((*score, tmp_path / "q", export, "--sensitivity", "0.5", "--specificity", "0.5"), "chance"),
        ((*score, tmp_path / "q", export, "--sensitivity", "2", "--specificity", "1"), "0 to 1"),
        ((*score, tmp_path / "q", export, "--sensitivity", "5/0", "--specificity", "1"), "190/200"),
    ):
        done = call(*words)
        assert done.code == 2 and said in done.err, (words[-2:], done.err)
        assert CANARY not in done.out + done.err and "Traceback" not in done.err
    queue = ("review", "queue", "--gold", gold, "--pred", found[0], "--seed", "1", "-o", tmp_path / "new")
    for more, said in (
        (("-o", tmp_path / "q"), "new or empty folder"),
        (("--sample", "many"), "--sample 400"),
        (("--sample", "missed=3"), "missed_by_all"),
        (("--format", "bart"), "brat"),
        (("--mode", "char"), "counts spans"),
        (("--mode", "partial"), "phi"),
        (("--policy", "hippa_safe_harbor"), "hipaa_safe_harbor"),
        (("--pred", found[0]), "name of its own"),
        (("--pred", tmp_path / "none.jsonl"), "no such file"),
    ):
        done = call(*queue, *more)
        assert done.code == 2 and said in done.err, (more, done.err)
        assert CANARY not in done.out + done.err and not (tmp_path / "new").exists()


def test_systems_are_named_and_strata_sized_as_asked(tmp_path: Path, corpus: Any) -> None:
    gold, found, _ = corpus
    words = ("--pred", f"old={found[0]}", "--pred", f"new={found[1]}", "--sample", "80", "--sample", "found_by_all=9")
    done = call("review", "queue", "--gold", gold, *words, "--seed", "1", "-o", tmp_path / "q")
    assert done.code == 0, done.err
    header = json.loads((tmp_path / "q" / "queue.json").read_text())
    assert header["systems"] == ["old", "new"]
    drawn = {row["stratum"]: row["drawn"] for row in header["strata"]}
    assert drawn["found_by_all"] == 9 and sum(drawn.values()) == 80
    items = [json.loads(line) for line in (tmp_path / "q" / "queue.jsonl").read_text().splitlines()]
    for row in header["strata"]:
        chances = {item["probability"] for item in items if item["stratum"] == row["stratum"]}
        assert chances == {row["drawn"] / row["regions"]}
    none = call(
        "review", "queue", "--gold", gold, *words, "--sample", "missed_by_all=0", "--seed", "1", "-o", tmp_path / "r"
    )
    assert none.code == 0 and "Nothing is drawn of golds that every system missed" in none.err
