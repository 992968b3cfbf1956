"""Conversation studies through the command line: score, new, run, verify, gate; and what must never be said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.shell import SECRET, Done, call

TURNS = 10
DRUGS = ("warfarin", "metformin", "lisinopril", "sertraline")


def case(number: int) -> dict[str, Any]:
    facts = [{"id": f"f{place}", "type": "medication", "concept": drug} for place, drug in enumerate(DRUGS)]
    opening = f"I take {', '.join(DRUGS)}. My street is {SECRET}."
    turns = [{"turn": turn, "message": opening if turn == 1 else f"{SECRET} again."} for turn in range(1, TURNS + 1)]
    groups = {"sex": "FM"[number % 2]}
    return {
        "id": f"c{number:02d}",
        "patient_summary": SECRET,
        "facts": facts,
        "turns": turns,
        "metadata": {"groups": groups},
    }


def said(cases: list[dict[str, Any]], kept: Any, *, arms: tuple[str, ...] = ("live", "oracle")) -> list[dict[str, Any]]:
    """What a model says: of the facts those that `kept(case, arm, turn)` names."""
    found = []
    for one in cases:
        for arm in arms:
            for turn in range(1, TURNS + 1):
                drugs = kept(one["id"], arm, turn)
                reply = f"{SECRET}: you take {', '.join(drugs)}." if drugs else f"{SECRET} is all I know."
                asked = {"kind": "summary", "reply": reply}
                found.append({"case": one["id"], "turn": turn, "arm": arm, "reply": reply, "probe": asked})
    return found


def files(folder: Path, cases: list[dict[str, Any]], lines: list[dict[str, Any]]) -> tuple[Path, Path]:
    first, second = folder / "cases.jsonl", folder / "said.jsonl"
    first.write_text("".join(json.dumps(one) + "\n" for one in cases))
    second.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return first, second


def scored(folder: Path, cases: list[dict[str, Any]], lines: list[dict[str, Any]], *words: str) -> tuple[Done, Any]:
    first, second = files(folder, cases, lines)
    done = call("score", "conversation", first, "--transcripts", second, "--json", folder / "report.json", *words)
    record = json.loads((folder / "report.json").read_text()) if (folder / "report.json").exists() else None
    return done, record


def estimate(record: Any, metric: str, level: float = 0.95, **at: Any) -> dict[str, Any]:
    rows = record["results"]["internal"]["estimates"]
    return next(row for row in rows if row["metric"] == metric and row["slice"] == at and row["level"] == level)


def losing(case_id: str, arm: str, turn: int) -> tuple[str, ...]:
    """One fact is lost at turn 4 and another at turn 7, for good; the oracle keeps all."""
    return DRUGS if arm == "oracle" or turn < 4 else DRUGS[1:] if turn < 7 else DRUGS[2:]


@pytest.fixture
def cases() -> list[dict[str, Any]]:
    return [case(number) for number in range(12)]


def test_planted_losses_are_found_again(tmp_path: Path, cases: list[dict[str, Any]]) -> None:
    done, record = scored(tmp_path, cases, said(cases, losing))
    assert done.code == 1  # the default gates of a study that names none
    failed = [row["rule"] for row in record["verdicts"] if row["outcome"] == "fail"]
    assert failed == ["recall_at_10.low >= 0.70", "decay_gap{turn=10}.low >= -0.12"]  # with 12 patients
    live = {"set": "critical", "arm": "live"}
    assert estimate(record, "recall", **live)["value"] == pytest.approx((3 * 4 + 3 * 3 + 4 * 2) / 40)
    assert estimate(record, "recall", **live, turn=5)["value"] == 0.75
    assert estimate(record, "recall_at_10", **live)["value"] == 0.5
    assert estimate(record, "decay_gap", **live, turn=10)["value"] == -0.5
    # Two facts are never lost, one at tick 4 and one at tick 7: the mean restricted to 10.
    assert estimate(record, "time_to_loss", **live)["value"] == pytest.approx((10 + 10 + 4 + 7) / 4)
    outcomes = record["results"]["internal"]["tables"]["outcomes"]
    lost = [row for row in outcomes if row["outcome"] == "omitted"]
    assert len(lost) == 12 * (7 + 4) and {row["arm"] for row in lost} == {"live"}


def test_gates_judge_one_sided_by_default(tmp_path: Path, cases: list[dict[str, Any]]) -> None:
    rules = (
        "recall_at_10.low >= 0.30",
        "recall_at_10.low >= 0.30@0.95",
        "conflict_rate.high <= 1",
        "pdsqi{attribute=useful}.low >= 1",
    )
    done, record = scored(tmp_path, cases, said(cases, losing), *(w for rule in rules for w in ("--gate", rule)))
    verdicts = {row["rule"]: row for row in record["verdicts"]}
    low90 = estimate(record, "recall_at_10", 0.9, set="critical", arm="live")["low"]
    assert verdicts[rules[0]]["observed"]["low"] == low90
    assert verdicts[rules[1]]["observed"]["low"] < low90
    assert verdicts[rules[2]]["outcome"] == "not_assessed"  # no judge, so nothing may pass by its absence
    assert verdicts[rules[3]]["outcome"] == "not_assessed"
    assert done.code == 3


def test_a_failed_call_is_never_a_fact_forgotten(tmp_path: Path, cases: list[dict[str, Any]]) -> None:
    lines = said(cases, lambda *_: DRUGS)
    for line in lines[3::10]:
        line["reply"], line["error"] = None, "timeout"
        line["probe"] = {"kind": "summary", "reply": None, "error": "timeout"}
    _, record = scored(tmp_path, cases, lines, "--gate", "recall_at_10.low >= 0.1")
    live = {"set": "critical", "arm": "live"}
    assert estimate(record, "coverage", **live)["value"] == pytest.approx(0.9)
    assert estimate(record, "recall", **live, turn=5)["value"] == 1.0
    head = estimate(record, "recall_at_10", **live)
    assert (head["status"], head["value"], head["low"]) == ("withheld", None, None)
    assert record["verdicts"][0]["outcome"] == "not_assessed"
    assert estimate(record, "recall", **live, turn=4)["status"] == "undefined"


def test_a_case_without_a_transcript_is_told_and_counted(tmp_path: Path, cases: list[dict[str, Any]]) -> None:
    _, record = scored(tmp_path, cases, said(cases[:-2], lambda *_: DRUGS))
    assert estimate(record, "coverage", set="critical", arm="live")["value"] == pytest.approx(10 / 12)
    assert "2 cases have no transcript" in " ".join(record["results"]["internal"]["notes"])


def test_nothing_of_what_was_said_is_in_any_output(tmp_path: Path, cases: list[dict[str, Any]]) -> None:
    done, _ = scored(tmp_path, cases, said(cases, losing), "--by", "sex")
    assert SECRET not in done.out + done.err + (tmp_path / "report.json").read_text()
    for form in ("html", "md", "text", "json-flat", "safety-card"):
        drawn = call("report", tmp_path / "report.json", "-f", form)
        assert drawn.code == 0 and drawn.out and SECRET not in drawn.out + drawn.err


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"case": "nobody"}, "'case' must be the id of one of the cases"),
        ({"turn": 99}, "'turn' must be one of the 10"),
        ({"arm": "dead"}, "'arm' must be live"),
        ({"reply": 7}, "'reply' must be a text"),
    ],
)
def test_bad_lines_are_taught(tmp_path: Path, cases: list[dict[str, Any]], change: dict[str, Any], told: str) -> None:
    lines = said(cases, losing)
    lines[5] |= change
    done, record = scored(tmp_path, cases, lines)
    assert done.code == 2 and told in done.err and "line 6" in done.err and record is None
    assert SECRET not in done.err


def test_either_transcripts_or_a_format(tmp_path: Path, cases: list[dict[str, Any]]) -> None:
    first, _ = files(tmp_path, cases, [])
    done = call("score", "conversation", first)
    assert done.code == 2 and "--transcripts" in done.err


def test_a_new_study_runs_resumes_and_verifies(tmp_path: Path) -> None:
    study = tmp_path / "talk"
    assert call("new", "conversation", study).code == 0
    text = (study / "study.yaml").read_text().replace("path: cases.jsonl", "path: cases.jsonl\n  sample: 4")
    (study / "study.yaml").write_text(text.replace("formats: [html, md, text]", "formats: [md]"))
    planned = call("run", study / "study.yaml", "--dry-run")
    assert "calls" in planned.out and not (study / "runs").exists()
    stopped = call("run", study / "study.yaml", "-o", tmp_path / "run", "--max-calls", "20")
    assert stopped.code == 2 and "limit on calls" in stopped.err
    done = call("run", study / "study.yaml", "-o", tmp_path / "run")
    assert done.code == 1, done.err  # the scripted model forgets, and its gates say so
    timings = json.loads((tmp_path / "run" / "timings.json").read_text())
    record = (tmp_path / "run" / "report.json").read_bytes()
    assert call("run", study / "study.yaml", "-o", tmp_path / "run").code == 1
    assert json.loads((tmp_path / "run" / "timings.json").read_text())["system"] == timings["system"]
    assert (tmp_path / "run" / "report.json").read_bytes() == record
    assert call("verify", tmp_path / "run").code == 0
    cleaned = call("clean", tmp_path / "run")
    assert cleaned.code == 0 and not list((tmp_path / "run").glob("outputs/*"))
    assert call("verify", tmp_path / "run").code == 2


class Calm:
    """A judge that sees no contradiction anywhere."""

    name = "calm"

    def contradicts(self, premise: str, hypothesis: str) -> float:
        return 0.0


class Alike:
    """An encoder to which all sentences are one."""

    name, version, max_tokens = "alike", "1", 10_000

    def count_tokens(self, text: str) -> int:
        return len(text)

    def encode(self, sentences: list[str]) -> list[list[float]]:
        return [[1.0] for _ in sentences]


def test_recorded_transcripts_take_a_judge_an_encoder_and_labels(tmp_path: Path) -> None:
    cases = [case(number) for number in range(2)]
    lines = said(cases, lambda *_: DRUGS, arms=("live",))
    labels = [{"fact": cases[0]["facts"][0], "reply": "You take warfarin.", "expected": "correct"}] * 3
    (tmp_path / "labelled.jsonl").write_text("".join(json.dumps(one) + "\n" for one in labels))
    here = __name__
    options = ("--judge", f"{here}:Calm", "--encoder", f"{here}:Alike", "--labelled", "labelled.jsonl")
    done, record = scored(tmp_path, cases, lines, *options, "--replicates", "50", "--gate", "never_events.value <= 0")
    assert done.code == 0, done.err
    held = record["study"]["conversation"]
    assert held["judge"]["advice"] == f"{here}:Calm"
    assert (held["encoder"], held["labelled"]) == (f"{here}:Alike", "labelled.jsonl")
    corrected = record["results"]["internal"]["tables"]["corrected"]
    assert "3 labelled" in corrected["reason"]
    assert record["study"]["bootstrap"]["replicates"] == 50
    for option in ("--judge", "--encoder"):
        refused, _ = scored(tmp_path, cases, lines, option, f"{here}:case")
        assert (refused.code == 2 and "could not be made" in refused.err) or "does not fit" in refused.err
