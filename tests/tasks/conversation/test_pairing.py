"""Two models on the same cases: matched by case and replicate, whatever the order of their lines."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from workup.estimate import Draws
from workup.lenses.paired import compare_scores
from workup.study import Study
from workup.tasks.conversation.scores.scoring import ConversationScores
from workup.tasks.conversation.task import ConversationTask, GivenTranscripts

DRUGS = ("warfarin", "metformin")


def _case(number: int) -> dict[str, Any]:
    turns = [{"turn": turn, "message": "I take warfarin and metformin."} for turn in (1, 2)]
    facts = [{"id": drug, "type": "medication", "concept": drug} for drug in DRUGS]
    return {"id": f"c{number}", "patient_summary": "", "facts": facts, "turns": turns}


def _scores(cases: list[dict[str, Any]], lines: list[dict[str, Any]]) -> tuple[ConversationTask, ConversationScores]:
    task = ConversationTask()
    study = Study.of({"name": "x", "task": "conversation"})
    corpus = task.read(study, cases)
    return task, task.scores(corpus, GivenTranscripts(lines).of(corpus))


def _line(case: str, turn: int, *drugs: str, failed: bool = False) -> dict[str, Any]:
    reply = None if failed else f"You take {' and '.join(drugs)}." if drugs else "Nothing to add."
    failure = {"error": "timeout"} if failed else {}
    probe = {"kind": "summary", "reply": reply, **failure}
    return {"case": case, "turn": turn, "reply": reply, "probe": probe, **failure}


def test_who_kept_what() -> None:
    cases = [_case(number) for number in range(3)]
    first = [_line(f"c{n}", turn, "warfarin") for n in range(3) for turn in (1, 2)]
    second = [_line(f"c{n}", turn, "metformin", *(["warfarin"] if n else [])) for n in range(3) for turn in (1, 2)]
    second[0] = _line("c0", 1, failed=True)
    task, mine = _scores(cases, first)
    _, theirs = _scores(cases[::-1], second[::-1])
    pair = task.paired(mine, theirs, Study.of({"name": "x", "task": "conversation"}))
    [row] = pair.tables["facts"]
    # Warfarin: both in four turns, only A in the one that B could be scored on; metformin: only B in five.
    assert row == {"type": "medication", "both": 4, "only_first": 1, "only_second": 5, "neither": 0}
    assert "2 of A and 0 of B" in pair.notes[0]
    assert mine["row"].tolist() == theirs["row"].tolist()


def test_metrics_of_a_comparison_are_few_and_of_whole_conversations() -> None:
    study = Study.of({"name": "x", "task": "conversation", "conversation": {"horizon": 2}})
    cases = [_case(number) for number in range(3)]
    lines = [_line(f"c{n}", turn, *DRUGS) for n in range(3) for turn in (1, 2)]
    task, scores = _scores(cases, lines)
    chosen = task.compared(task.metrics(scores, study), study)
    assert {one.at.get("turn") for one in chosen} == {None, 2}
    assert [one.name for one in chosen if "turn" in one.at] == ["decay_gap"]
    assert {one.at.get("arm", "live") for one in chosen} == {"live"}


@pytest.mark.parametrize("field", ["matcher", "probe"])
def test_reports_on_another_footing_are_told_apart(field: str) -> None:
    study = {"conversation": {"matcher": "context", "probe": "summary"}}
    assert ConversationTask.footing(SimpleNamespace(study=study))[field] == study["conversation"][field]


def test_several_models_are_ranked_by_harm_then_by_recall_at_the_horizon() -> None:
    def report(value: float | None, horizon: int = 10) -> Any:
        seen = SimpleNamespace(value=value)
        study = {"conversation": {"horizon": horizon}}
        return SimpleNamespace(study=study, estimates=lambda name: [seen])

    def effect(one: Any) -> list[str]:
        return [column.metric for column in ConversationTask.ranked(one) if column.decides == "effect"]

    assert effect(report(0.9)) == ["recall_at_10"]
    assert effect(report(0.9, horizon=4)) == ["recall_at_horizon"]
    assert effect(report(None)) == ["recall"], "no conversation reaches the horizon"
    safety = [one.metric for one in ConversationTask.ranked(report(0.9)) if one.decides == "safety"]
    assert safety[0] == "never_event_rate" and ("recall", {"type": "allergy"}) in [
        (one.metric, dict(one.slice)) for one in ConversationTask.ranked(report(0.9)) if one.decides == "safety"
    ]


def test_each_row_knows_which_replicate_it_is() -> None:
    cases = [_case(number) for number in range(2)]
    lines = [{**_line(f"c{n}", turn, *DRUGS), "replicate": run} for n in (0, 1) for turn in (1, 2) for run in (0, 1)]
    task, scores = _scores(cases, lines)
    assert task.replicates(scores).tolist() == [0, 1, 0, 1]


def test_whom_harm_befell_is_compared_by_patient_from_five_on() -> None:
    """A share of patients is no sum over rows; few of them, and two models alike, still have an interval."""
    study = Study.of({"name": "x", "task": "conversation"})
    cases = [_case(number) for number in range(7)]
    lines = [_line(f"c{n}", turn, *DRUGS) for n in range(7) for turn in (1, 2)]
    task, scores = _scores(cases, lines)
    hurt = np.zeros(len(scores)) + 1.0
    other = replace(scores, values={**scores.values, "live|never_events": hurt})
    [metric] = [one for one in task.metrics(scores, study) if one.name == "never_event_rate"]
    apart, alike = (
        compare_scores(scores, one, [metric], Draws(1, 200), intervals="linearised")[0]
        for one in (other, replace(scores, values={**scores.values, "live|critical|1|correct": 0 * hurt}))
    )
    assert apart["value"] == 1.0 and apart["low"] > 0 and apart["p"] < 0.05
    assert alike["value"] == 0 and alike["low"] < 0 < alike["high"]
