"""Span detectors compared as a stranger would do it: studies, run directories and records; margins and exit codes; what
is written, and that neither text nor an id of a document is in it."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.json_lines import write_lines
from tests.support.notes import detect, notes
from tests.support.shell import call, is_quiet

CANARY = "QZXCANARY"


def _study(folder: Path, file: str = "study", **more: Any) -> Path:
    content = {
        "name": "three",
        "task": "spans",
        "seed": 4,
        "corpus": {"path": "gold.jsonl"},
        "systems": [
            {"name": one, "use": "recorded", "with": {"path": f"{one}.jsonl", **emits}}
            for one, emits in (("old", {"emits": ["date", "name_patient"]}), ("new", {"emits": ["date"]}), ("same", {}))
        ],
        "lenses": {"internal": {}, "subgroups": {"by": ["origin"]}},
        "bootstrap": {"replicates": 200},
        "report": {"formats": ["md"]},
        **more,
    }
    (folder / f"{file}.yaml").write_text(yaml.safe_dump(content))
    return folder / f"{file}.yaml"


def _fill(folder: Path) -> Path:
    corpus = [{**note, "id": f"{CANARY}{note['id']}"} for note in notes(200, patients=70, canary=CANARY)]
    write_lines(folder / "gold.jsonl", corpus)
    for name, seed, miss in (("old", 2, 0.35), ("new", 3, 0.05), ("same", 2, 0.35)):
        found = detect(corpus, seed=seed, miss=miss)
        write_lines(folder / f"{name}.jsonl", [{"id": id, "spans": spans} for id, spans in found.items()])
    return folder


def test_a_group_of_the_documents_cannot_hide_behind_a_key(tmp_path: Path) -> None:
    corpus = [{**note, "groups": {"mode": "typed", "origin": "a"}} for note in notes(30, patients=10)]
    write_lines(tmp_path / "gold.jsonl", corpus)
    write_lines(tmp_path / "old.jsonl", [{"id": id, "spans": spans} for id, spans in detect(corpus).items()])
    systems = [{"name": "old", "use": "recorded", "with": {"path": "old.jsonl"}}]
    refused = call("run", _study(tmp_path, systems=systems, lenses={"subgroups": {}}), "-o", tmp_path / "out")
    assert refused.code == 2 and "lenses.subgroups: a group of the cases is named 'mode'" in refused.err
    chosen = call("run", _study(tmp_path, systems=systems), "-o", tmp_path / "other")
    assert chosen.code == 0, chosen.err


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = _fill(tmp_path_factory.mktemp("spans"))
    done = call("run", _study(folder), "-o", folder / "out")
    assert done.code == 0, done.err
    return folder / "out"


def _headline(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["metric"]: row for row in found["rows"] if row["headline"]}


def test_a_study_with_several_systems_compares_every_one_with_the_first(runs: Path) -> None:
    record = json.loads((runs / "comparison.json").read_text())
    assert record["schema_version"] == 1
    better, same = record["comparisons"]
    assert [better["second"]["system"]["name"], same["second"]["system"]["name"]] == ["new", "same"]
    assert better["pairing"] == "paired" and better["task"] == "spans"
    head = _headline(better)
    assert set(head) == {
        "recall", "precision", "f1", "leak_rate_char", "leak_rate_document", "leak_rate_patient", "over_redaction"
    }  # fmt: skip
    assert head["recall"]["direction"] == head["leak_rate_document"]["direction"] == "better"
    assert head["recall"]["value"] > 0 > head["leak_rate_document"]["value"]
    assert {row["slice"].get("origin") for row in better["rows"]} == {None, "a", "b"}
    for row in same["rows"]:
        assert row["value"] in (0, None) and row["direction"] in ("no_clear_difference", "not_assessed")


def test_values_are_those_of_the_reports(runs: Path) -> None:
    [found, _] = json.loads((runs / "comparison.json").read_text())["comparisons"]
    for side, name in (("first", "old"), ("second", "new")):
        report = json.loads((runs / name / "report.json").read_text())
        held = {
            (e["metric"], tuple(sorted(e["slice"].items()))): e
            for e in report["results"]["internal"]["estimates"]
            if e["level"] == 0.95
        }
        compared = 0
        for row in found["rows"]:
            e = held.get((row["metric"], tuple(sorted(row["slice"].items()))))
            if e is not None and "origin" not in row["slice"]:
                assert row[side]["value"] == pytest.approx(e["value"], rel=1e-9) if e["value"] is not None else True
                assert (row[side]["low"], row[side]["high"]) == (e["low"], e["high"])
                compared += 1
        assert compared > 40
        rules = report["results"]["internal"]["tables"]["rules"]
        assert {row["mode"] for row in rules} == {"strict", "iou:0.5", "cover:1", "full_mask"}


def test_files_hold_neither_text_nor_ids_but_the_one_that_is_kept_apart(runs: Path) -> None:
    for name in ("comparison.json", "comparison.md"):
        assert CANARY not in (runs / name).read_text()
        assert (runs / name).stat().st_mode & 0o777 == 0o600
    assert not (runs / "comparison.html").exists()  # the study asks for Markdown alone
    documents = [json.loads(line) for line in (runs / "comparison-documents.jsonl").read_text().splitlines()]
    assert (runs / "comparison-documents.jsonl").stat().st_mode & 0o777 == 0o600
    assert {row["b"] for row in documents} == {"new", "same"}
    assert all(CANARY in row["case"] and "text" not in row for row in documents)
    [found, _] = json.loads((runs / "comparison.json").read_text())["comparisons"]
    numbered = {(row["document"], row["label"]): row for row in documents if row["b"] == "new"}
    for row in found["tables"]["documents"]:
        assert numbered[row["document"], row["label"]]["only_second"] == row["only_second"]


def test_run_directories_one_by_one_say_the_same(runs: Path, tmp_path: Path) -> None:
    done = call("compare", runs / "old", runs / "new", "-o", tmp_path / "out")
    assert done.code == 0, done.err
    is_quiet(done, CANARY)
    assert done.out.startswith("B new against A old\n")
    for said in ("Who found what, by type", "p sign flip", "types that both can emit", "False alarms"):
        assert said in done.out
    [alone] = json.loads((tmp_path / "out" / "comparison.json").read_text())["comparisons"]
    [held, _] = json.loads((runs / "comparison.json").read_text())["comparisons"]
    assert alone == held
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        *("comparison-documents.jsonl", "comparison.html", "comparison.json", "comparison.md", "comparison.txt"),
    ]
    page = unescape((tmp_path / "out" / "comparison.html").read_text())
    assert CANARY not in page
    assert "<script" not in page and "default-src 'none'" in page


def test_the_same_comparison_is_the_same_bytes(runs: Path) -> None:
    words = ("compare", runs / "old", runs / "new", "--json", "-")
    assert call(*words).out == call(*words).out


@pytest.mark.parametrize(
    ("records", "margin", "code"),
    [(("old", "new"), "0.2", 0), (("new", "old"), "0.02", 1), (("old", "same"), "0.001", 0)],
)
def test_a_margin_decides_the_exit_code(runs: Path, records: tuple[str, str], margin: str, code: int) -> None:
    done = call("compare", *(runs / name for name in records), "--margin", margin, "--metric", "recall")
    assert done.code == code, done.out


def test_an_undecided_margin_is_3_unless_allowed(runs: Path) -> None:
    [found] = json.loads(call("compare", runs / "new", runs / "old", "--json", "-").out)["comparisons"]
    loss = -_headline(found)["recall"]["value"]
    words = ("compare", runs / "new", runs / "old", "--metric", "recall", "--margin", str(loss))
    assert call(*words).code == 3
    assert call(*words, "--allow-unsure").code == 0


def test_a_study_file_stands_for_its_runs(tmp_path: Path) -> None:
    study = _study(_fill(tmp_path))
    done = call("compare", study)  # recorded answers need no asking, so they are scored at once
    assert done.code == 0, done.err
    assert done.out.count("against A old") == 2
    assert (tmp_path / "runs" / "three" / "new" / "report.json").exists()
    assert call("compare", study).out == done.out
    single = _study(tmp_path, "single", systems=[{"name": "old", "use": "recorded", "with": {"path": "old.jsonl"}}])
    refused = call("compare", single)
    assert refused.code == 2 and "several systems" in refused.err
    asked = _study(tmp_path, "asked", name="asked", systems=[{"use": "a:B"}, {"use": "c:D"}])
    refused = call("compare", asked)
    assert refused.code == 2 and "asks no system" in refused.err and "workup run" in refused.err


def test_records_alone_are_joined_and_that_is_said(runs: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved.json"
    moved.write_bytes((runs / "new" / "report.json").read_bytes())
    done = call("compare", runs / "old", moved, "--json", "-")
    [loose] = json.loads(done.out)["comparisons"]
    assert loose["pairing"] == "unpaired_same_corpus" and "not paired" in done.err
    assert loose["tables"] == {}
    [tight, _] = json.loads((runs / "comparison.json").read_text())["comparisons"]
    one, other = _headline(loose)["recall"], _headline(tight)["recall"]
    assert one["value"] == pytest.approx(other["value"])
    assert one["high"] - one["low"] > 0.9 * (other["high"] - other["low"])
    assert one["direction"] == "better" and _headline(loose)["over_redaction"]["better"] == "lower"


def test_another_policy_is_another_footing(runs: Path, tmp_path: Path) -> None:
    folder = runs.parent
    study = _study(folder, "other", name="other", policies=["hipaa_safe_harbor"])
    assert call("run", study, "-o", tmp_path / "other").code == 0
    done = call("compare", runs / "old", tmp_path / "other" / "new")
    assert done.code == 2 and done.out == ""
    assert "one footing" in done.err and "hipaa_safe_harbor" in done.err


def test_a_study_that_changed_since_is_not_paired(tmp_path: Path) -> None:
    study = _study(_fill(tmp_path))
    assert call("run", study, "-o", tmp_path / "out").code == 0
    _study(tmp_path, ignore=["date"])
    done = call("compare", tmp_path / "out" / "old", tmp_path / "out" / "new", "--json", "-")
    assert "the study was changed since this run (ignore)" in done.err
    assert json.loads(done.out)["comparisons"][0]["pairing"] == "unpaired_same_corpus"


def test_a_sample_is_read_again_as_the_same_sample(tmp_path: Path) -> None:
    study = _study(_fill(tmp_path))
    assert call("run", study, "-o", tmp_path / "out", "--sample", "90").code == 0
    [found, _] = json.loads((tmp_path / "out" / "comparison.json").read_text())["comparisons"]
    assert found["pairing"] == "paired" and found["first"]["corpus"]["n_cases"] == 90


# The threshold


def _scored(folder: Path) -> Path:
    corpus = notes(160, patients=80, canary=CANARY)
    write_lines(folder / "gold.jsonl", corpus)
    found = [
        {
            "id": note["id"],
            "spans": [{**span, "score": 0.7 + 0.001 * i} for i, span in enumerate(note["spans"])]
            + [{"start": 0, "end": 3, "label": "date", "score": 0.3}],
        }
        for note in corpus
    ]
    return write_lines(folder / "pred.jsonl", found)


def test_a_threshold_is_chosen_and_confirmed(tmp_path: Path) -> None:
    pred = _scored(tmp_path)
    words = ("threshold", "--gold", tmp_path / "gold.jsonl", "--pred", pred, "--target", "0.9", "--seed", "2")
    done = call(*words)
    assert done.code == 0, done.err
    is_quiet(done, CANARY)
    assert "0.7: keep predictions" in done.out and "confirmed: recall on the other patients is 1" in done.out
    record = json.loads(call(*words, "--json", "-").out)
    assert (record["kind"], record["threshold"], record["verdict"]) == ("threshold", 0.7, "confirmed")
    assert CANARY not in json.dumps(record)
    assert call(*words, "--json", "-").out == call(*words, "--json", "-").out


@pytest.mark.parametrize(("target", "code"), [("0.99", 3), ("1.5", 2)])
def test_exit_codes_of_a_threshold(tmp_path: Path, target: str, code: int) -> None:
    words = ("threshold", "--gold", tmp_path / "gold.jsonl", "--pred", _scored(tmp_path), "--target", target)
    assert call(*words).code == code
    assert call(*words, "--allow-unsure").code == (0 if code == 3 else code)


def test_a_recall_out_of_reach_fails(tmp_path: Path) -> None:
    pred = _scored(tmp_path)
    kept = [json.loads(line) for line in pred.read_text().splitlines()]
    write_lines(pred, [{**one, "spans": one["spans"][-1:]} for one in kept])
    done = call("threshold", "--gold", tmp_path / "gold.jsonl", "--pred", pred, "--target", "0.9")
    assert done.code == 1 and "no threshold reaches it" in done.out


def test_bad_words_of_a_threshold_are_taught(tmp_path: Path) -> None:
    words = ("threshold", "--gold", tmp_path / "gold.jsonl", "--pred", _scored(tmp_path), "--target", "0.9")
    for more, said in (
        (("--mode", "char"), "counts spans"),
        (("--policy", "hippa"), "hipaa"),
        (("--share", "2"), "between 0 and 1"),
    ):
        done = call(*words, *more)
        assert done.code == 2 and said in done.err, done.err
        is_quiet(done, CANARY)
