"""Recorded transcripts: strict, doubled lines refused, missing turns told, failures kept apart from forgetting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workup.errors import InputError
from workup.tasks.conversation.cases.case import ConversationCase, Fact, Turn
from workup.tasks.conversation.talk.transcripts import Transcripts, read_transcripts

CASES = [
    ConversationCase("a", "", (Turn(1, "I have gout."), Turn(2, "Thanks.")), (Fact("f1", "diagnosis", "gout"),)),
    ConversationCase("b", "", (Turn(1, "I have asthma."),), (Fact("f1", "diagnosis", "asthma"),)),
]
LINE: dict[str, Any] = {
    "case": "a",
    "replicate": 0,
    "turn": 1,
    "arm": "live",
    "probe": {"kind": "summary", "reply": "Gout."},
    "reply": "You have gout.",
}


def _read(tmp_path: Path, *records: dict[str, Any]) -> Transcripts:
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return read_transcripts(path, CASES)


def test_lines_in_any_order(tmp_path: Path) -> None:
    second = {**LINE, "turn": 2, "reply": "Take care.", "probe": None, "usage": {"total_tokens": 12}, "latency": 0.3}
    other = {"case": "b", "turn": 1, "reply": "Asthma."}
    found = _read(tmp_path, other, second, LINE)
    assert [(one.case, one.replicate, one.arm, one.turn) for one in found.said] == [
        ("a", 0, "live", 1),
        ("a", 0, "live", 2),
        ("b", 0, "live", 1),
    ]
    assert found.said[0].probe is not None and found.said[0].probe.reply == "Gout."
    assert found.said[1].usage == {"total_tokens": 12}
    assert found.complete and found.telling() == ""


def test_missing_turns_and_cases_are_told(tmp_path: Path) -> None:
    found = _read(tmp_path, LINE, {**LINE, "replicate": 1}, {**LINE, "replicate": 1, "turn": 2})
    assert [(one.case, one.replicate, one.turn) for one in found.missing] == [("a", 0, 2)]
    assert found.unheard == ("b",) and not found.complete
    assert found.telling() == (
        "1 cases have no transcript at all and 1 turns are missing in 1 conversations "
        "(scored as missing, never as forgotten)"
    )


def test_failed_calls_keep_their_reason_and_no_text(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        {**LINE, "reply": None, "error": "timeout", "probe": {"kind": "summary", "reply": None, "error": "rate_limit"}},
        {**LINE, "turn": 2, "reply": None, "error": "400: your prompt 'I have gout' was refused", "probe": None},
    )
    first, second = found.said
    assert (first.reply, first.failure) == (None, "timeout") and first.probe is not None
    assert (first.probe.reply, first.probe.failure) == (None, "rate_limit")
    assert second.failure == "no_reply"


def test_reasoning_is_kept_apart(tmp_path: Path) -> None:
    thought = "<think>Perhaps gout.</think>You have gout."
    found = _read(tmp_path, {**LINE, "reply": thought}, {**LINE, "turn": 2, "reasoning": "Hm."})
    assert found.said[0].reply == "You have gout." and found.said[0].reasoning == thought
    assert found.said[1].reasoning == "Hm."


def test_closed_questions_name_their_fact(tmp_path: Path) -> None:
    asked = {**LINE, "probe": {"kind": "question", "fact": "f1", "reply": "Yes."}}
    found = _read(tmp_path, asked, LINE)
    assert {one.probe.kind for one in found.said if one.probe} == {"question", "summary"}
    with pytest.raises(InputError, match="must name the fact"):
        _read(tmp_path, {**LINE, "probe": {"kind": "question", "reply": "Yes."}})


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([LINE, LINE], r"t.jsonl, line 2: one line for each case.*second line for those of line 1"),
        (
            [LINE, {**LINE, "probe": None, "reply": "Other."}],
            r"line 2: lines of one turn.*same reply; got another reply than line 1",
        ),
        (
            [{**LINE, "case": "zz"}],
            r"line 1: 'case' must be the id of one of the cases; got an id that is none",
        ),
        ([{**LINE, "turn": 3}], r"one of the 2 of its case; got 3"),
        ([{**LINE, "turn": True}], r"'turn' must be a whole number"),
        ([{**LINE, "arm": "lve"}], r"'arm' must be live, oracle.*did you mean 'live'"),
        ([{**LINE, "probe": {"kind": "sumary", "reply": "x"}}], r"did you mean 'summary'"),
        ([{**LINE, "probe": {"kind": "summary"}}], r"'reply' is needed"),
        ([{**LINE, "replicate": -1}], r"'replicate' must be a whole number from 0"),
        ([{**LINE, "reply": 5}], r"'reply' must be a text; got a number"),
        ([{key: value for key, value in LINE.items() if key != "reply"}], r"'reply' is needed"),
        ([{**{k: v for k, v in LINE.items() if k != "reply"}, "replys": "x"}], r"unknown key 'replys'"),
        ([{**LINE, "usage": 3}], r"'usage' must be an object"),
        ([], r"a transcript was expected"),
    ],
)
def test_what_is_refused(tmp_path: Path, records: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        _read(tmp_path, *records)
    assert "gout" not in str(caught.value).casefold()


def test_filler_arms_carry_their_number(tmp_path: Path) -> None:
    assert _read(tmp_path, {**LINE, "arm": "FILLER-10"}).said[0].arm == "filler-10"
    with pytest.raises(InputError, match="filler-k"):
        _read(tmp_path, {**LINE, "arm": "filler"})
