"""Recall corrected for the matcher's errors: with enough labelled replies of the model alone, by Rogan and Gladen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workup.errors import InputError
from workup.study import Study
from workup.tasks.conversation.corrected import LEAST_LABELLED, corrected_recall, read_labelled
from workup.tasks.conversation.scores.scoring import ConversationScores
from workup.tasks.conversation.task import ConversationTask, GivenTranscripts

FACT = {"id": "f1", "type": "medication", "concept": "warfarin"}


def _summary(number: int) -> str:
    return "You take warfarin." if number % 4 else "Nothing to add."


def _scores() -> ConversationScores:
    turns = [{"turn": turn, "message": "I take warfarin."} for turn in (1, 2)]
    cases = [{"id": f"c{n}", "patient_summary": "", "facts": [FACT], "turns": turns} for n in range(12)]
    said = [
        {"case": f"c{n}", "turn": turn, "reply": None, "probe": {"kind": "summary", "reply": _summary(n)}}
        for n in range(12)
        for turn in (1, 2)
    ]
    task = ConversationTask()
    corpus = task.read(Study.of({"name": "x", "task": "conversation"}), cases)
    return task.scores(corpus, GivenTranscripts(said).of(corpus))


def _labelled(folder: Path, right: int, missed: int, absent: int, made_up: int) -> Path:
    """Replies in which a person sees the fact and the matcher does or does not; and the other way round."""
    rows = [("correct", "You take warfarin.")] * right + [("correct", "You take the usual blood thinner.")] * missed
    rows += [("omitted", "Drink enough.")] * absent + [("omitted", "You take warfarin.")] * made_up
    path = folder / "labelled.jsonl"
    path.write_text("".join(json.dumps({"fact": FACT, "reply": r, "expected": e}) + "\n" for e, r in rows))
    return path


def test_it_is_rogan_and_gladen_on_the_labels_of_this_model(tmp_path: Path) -> None:
    found = corrected_recall(_scores(), _labelled(tmp_path, right=72, missed=8, absent=36, made_up=4))
    assert found["labelled"] == 120 and found["reason"] is None
    row = next(row for row in found["rows"] if row["set"] == "critical")
    assert row["raw"] == pytest.approx(0.75)
    assert row["value"] == pytest.approx((0.75 + 0.9 - 1) / (0.9 + 0.9 - 1))
    assert row["low"] < row["value"] < row["high"]


def test_too_few_labels_correct_nothing_and_say_so(tmp_path: Path) -> None:
    found = corrected_recall(_scores(), _labelled(tmp_path, right=50, missed=9, absent=30, made_up=10))
    assert found["rows"] == [] and f"at least {LEAST_LABELLED}" in found["reason"]
    assert corrected_recall(_scores(), None)["rows"] == []


@pytest.mark.parametrize("change", [{"expected": "kept"}, {"fact": {"id": "f"}}, {"reply": 7}])
def test_bad_lines_are_taught_without_a_word_of_them(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "labelled.jsonl"
    path.write_text(json.dumps({"fact": FACT, "reply": "ZZSECRET", "expected": "correct", **change}) + "\n")
    with pytest.raises(InputError, match="line 1") as told:
        read_labelled(path)
    assert "ZZSECRET" not in str(told.value)
