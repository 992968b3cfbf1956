"""A judge of facts on the loopback, asked three times, through a whole study: bytes, kills, limits, labels, gates."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.loopback import Service
from tests.tasks.conversation.judges.studies import (
    CASES,
    DRUGS,
    TURNS,
    JudgeServer,
    draw,
    figures,
    label,
    run,
    truth,
    write_study,
)
from workup.errors import RunError, StudyError, WorkupError
from workup.study import Study
from workup.task import Budget
from workup.tasks.conversation.judges.asking import LEAST_SAMPLED
from workup.tasks.conversation.labels import Unit

pytest.importorskip("httpx", reason="the http extra is not installed")

RECALL = ("recall", '{"arm": "live", "reader": "ppi", "set": "critical"}')
RAW = ("recall", '{"arm": "live", "reader": "judge", "set": "critical"}')


@pytest.fixture
def judge() -> Iterator[tuple[JudgeServer, dict[str, Any]]]:
    brain = JudgeServer()
    service = Service(brain, path="/v1/chat/completions")
    settings = {"base_url": f"{service.origin}/v1", "model": "reader-1", "retries": 0, "concurrency": 8}
    yield brain, settings
    service.close()


def test_a_judge_is_asked_k_times_of_doubted_units_and_of_a_sample(
    tmp_path: Path, judge: tuple[JudgeServer, dict[str, Any]]
) -> None:
    brain, settings = judge
    report = run(write_study(tmp_path, judge={"facts": settings}))
    table = report.results["internal"].tables["readers"]
    units = [(f"c{n:02d}", t, d) for n in range(CASES) for t in range(1, TURNS + 1) for d in DRUGS]
    doubted = sum(truth(*unit) == "reversed" for unit in units)
    plain = len(units) - doubted
    assert table["judge"]["facts"]["read"] == doubted + min(plain, LEAST_SAMPLED)
    # The same words about the same fact are asked about once in each run, wherever they stand.
    assert brain.asked % 3 == 0 and brain.asked <= 3 * table["judge"]["facts"]["read"]
    assert table["judge"]["facts"]["not_unanimous"] > 0
    assert figures(report) == {}, "a judged figure without a label"
    assert table["labels"] is None and table["agreement"] == []


def test_the_same_bytes_at_any_worker_count_and_after_a_kill(
    tmp_path: Path, judge: tuple[JudgeServer, dict[str, Any]]
) -> None:
    brain, settings = judge
    path = write_study(tmp_path, judge={"facts": settings})
    one = run(path, "one")
    asked, brain.asked = brain.asked, 0
    assert run(path, "eight", workers=8).to_json() == one.to_json()
    brain.asked = 0
    with pytest.raises(RunError, match="limit on calls"):
        run(path, "cut", budget=Budget(calls=200))
    assert brain.asked == 200
    assert run(path, "cut", workers=4).to_json() == one.to_json()
    assert brain.asked == asked, "a call that was on record was made again"
    assert run(path, "cut").to_json() == one.to_json()
    assert brain.asked == asked


def test_a_judge_that_never_answers_stops_the_run(tmp_path: Path, judge: tuple[JudgeServer, dict[str, Any]]) -> None:
    brain, settings = judge
    brain.dies_after = 0
    with pytest.raises(WorkupError, match="answered none"):
        run(write_study(tmp_path, judge={"facts": settings}))


def test_text_is_sent_elsewhere_only_where_the_study_says_so(tmp_path: Path) -> None:
    far = {"base_url": "https://judge.example/v1", "model": "m"}
    path = write_study(tmp_path, judge={"facts": far})
    with pytest.raises(StudyError, match="send_text: true"):
        run(path)
    from workup.tasks.conversation.judges.readers import check_judges
    from workup.tasks.conversation.settings import JudgePart

    check_judges(JudgePart(facts=far, send_text=True), base=tmp_path)


def test_labels_give_a_powered_rate_that_holds_the_truth(
    tmp_path: Path, judge: tuple[JudgeServer, dict[str, Any]]
) -> None:
    _, settings = judge
    path = write_study(tmp_path, gates=("recall{reader=ppi}.low >= 0.5",), judge={"facts": settings})
    plain = run(path)
    assert plain.verdicts[0].outcome == "not_assessed"
    drawn = draw(path)
    label(path, drawn)
    report = run(path)
    found = figures(report)
    units = [(f"c{n:02d}", t, d) for n in range(CASES) for t in range(1, TURNS + 1) for d in DRUGS]
    true = sum(truth(*unit) == "correct" for unit in units) / len(units)
    assert found[RECALL].status == "ok" and found[RECALL].low < true < found[RECALL].high
    assert abs(found[RECALL].value - true) < 0.05
    assert report.verdicts[0].outcome == "pass"
    # The raw figure stands above the bar, and no gate can take it.
    assert found[RAW].status == "insufficient" and found[RAW].low is None and "kappa with people" in found[RAW].reason
    rows = {(row["answers"], row["reader"]): row for row in report.results["internal"].tables["readers"]["agreement"]}
    assert rows["correct", "composite"]["low"] >= 0.60
    assert rows["correct", "rules"]["kappa"] == 1.0  # the sentences are plain
    assert rows["all", "people"]["kappa"] is None  # one rater
    # Nothing else is changed by labels.
    others = figures(plain, reader=False)
    assert {key: e.as_dict() for key, e in figures(report, reader=False).items()} == {
        key: e.as_dict() for key, e in others.items()
    }


def test_labels_that_are_not_blind_or_not_drawn_enter_no_rate(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    run(path)
    drawn = draw(path)
    for change in ({"blind": False}, {"draw": None}, {"draw": "0" * 16}, {"turn": 1, "fact": "other"}):
        label(path, drawn, **change)
        report = run(path)
        assert figures(report) == {}
        assert report.results["internal"].tables["readers"]["labels"]["outside"] == 120


def test_two_people_are_held_against_each_other(tmp_path: Path, judge: tuple[JudgeServer, dict[str, Any]]) -> None:
    path = write_study(tmp_path)  # no judge: people against the rules
    run(path)
    label(path, draw(path), raters=("a", "b"))
    report = run(path)
    rows = {(row["answers"], row["reader"]): row for row in report.results["internal"].tables["readers"]["agreement"]}
    assert set(rows) == {(answers, reader) for answers in ("all", "correct") for reader in ("rules", "people")}
    assert rows["all", "people"]["kappa"] == 1.0 and rows["all", "people"]["low"] < 0.99
    found = figures(report)
    assert found[RECALL].status == "ok" and RAW not in found


def test_too_few_labels_are_withheld_with_the_reason(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    run(path)
    label(path, draw(path, count=40))
    found = figures(run(path))[RECALL]
    assert found.status == "withheld" and found.value is None and "at least 50" in found.reason


def test_a_poor_judge_is_withheld_with_its_kappa_and_powers_a_wide_interval_all_the_same(
    tmp_path: Path, judge: tuple[JudgeServer, dict[str, Any]]
) -> None:
    brain, settings = judge
    brain.sensitivity, brain.specificity = 0.6, 0.5
    path = write_study(tmp_path, judge={"facts": settings})
    run(path)
    label(path, draw(path))
    found = figures(run(path))
    assert found[RAW].status == "withheld" and found[RAW].value is None
    assert "kappa with people" in found[RAW].reason and "must reach 0.60" in found[RAW].reason
    assert found[RECALL].status == "ok" and found[RECALL].low < 0.76 < found[RECALL].high


def test_a_label_does_not_outlive_its_reply(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    run(path)
    label(path, draw(path))
    said = (tmp_path / "said.jsonl").read_text().replace("Letter", "A letter")
    (tmp_path / "said.jsonl").write_text(said)
    report = run(path, "other")
    assert figures(report) == {}
    assert report.results["internal"].tables["readers"]["labels"]["of_changed_replies"] == 120


def test_another_model_or_another_fingerprint_withholds(
    tmp_path: Path, judge: tuple[JudgeServer, dict[str, Any]]
) -> None:
    brain, settings = judge
    path = write_study(tmp_path, judge={"facts": settings})
    run(path)
    label(path, draw(path))
    study = json.loads(path.read_text())
    study["conversation"]["judge"]["facts"]["model"] = "reader-2"
    path.write_text(json.dumps(study))
    changed = figures(run(path, "second"))
    assert changed[RECALL].status == changed[RAW].status == "withheld"
    assert "changed since the labels were drawn" in changed[RECALL].reason

    brain.fingerprint = lambda asked: f"fp{asked % 2}"
    study["conversation"]["judge"]["facts"]["model"] = "reader-1"
    path.write_text(json.dumps(study))
    wavering = figures(run(path, "third"))
    assert wavering[RECALL].status == "withheld" and "2 fingerprints" in wavering[RECALL].reason


def test_a_draw_is_half_of_failures_and_the_same_again(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    run(path)
    first, again = draw(path, count=60), draw(path, count=60)
    assert first == again and first.id == again.id
    failed = [unit for unit, one in first.units.items() if one.verdict != "correct"]
    assert len(first.units) == 60 and len(failed) == 30
    assert len({unit.case for unit in failed}) >= 12  # spread over the cases
    whole = draw(path, count=100_000)
    assert len(whole.units) == CASES * TURNS * len(DRUGS)
    assert {one.chance for one in whole.units.values()} == {1.0}
    assert all(isinstance(unit, Unit) for unit in whole.units)


def test_a_dry_run_counts_the_calls_of_the_judge(tmp_path: Path) -> None:
    from workup.tasks.conversation.task import ConversationTask

    settings = {"base_url": "http://127.0.0.1:9/v1", "model": "m"}
    study = Study.load(write_study(tmp_path, judge={"facts": settings, "advice": settings, "k": 5}))
    task = ConversationTask()
    told = task.estimate(study, task.read(study), None)  # type: ignore[arg-type]
    assert f"at most {CASES * TURNS * len(DRUGS) * 5:,} calls of the judge" in told
    assert f"at most {CASES * 30 * 5:,} for" in told


def test_k_is_odd_and_at_least_three(tmp_path: Path) -> None:
    for k in (1, 2, 4):
        with pytest.raises(StudyError):
            Study.load(write_study(tmp_path, judge={"facts": "a.b:C", "k": k}))
