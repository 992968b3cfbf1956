"""Cases of several sessions: figures of each, and recall when the patient is back."""

from __future__ import annotations

from typing import Any

import pytest

from workup.errors import InputError
from workup.tasks.conversation.cases.case import case_of
from workup.tasks.conversation.scripted.scored import Scored


def record(turns: list[dict[str, Any]]) -> dict[str, Any]:
    said = ["I take warfarin and have gout.", *["And now?"] * 9]
    return {
        "id": "c1",
        "patient_summary": "",
        "facts": [
            {"id": id, "type": type, "concept": id} for id, type in (("warfarin", "medication"), ("gout", "diagnosis"))
        ],
        "turns": [{"turn": number, "message": said[number - 1], **more} for number, more in enumerate(turns, 1)],
    }


TURNS: list[dict[str, Any]] = [{}, {}, {"session": 2, "after_days": 30}, {}, {"session": 3, "after_days": 2.5}, {}]


def test_each_session_has_its_figures_and_a_return_is_the_first_turn_of_a_later_one() -> None:
    case = case_of(record(TURNS), where="case")
    assert [turn.session for turn in case.turns] == [1, 1, 2, 2, 3, 3] and case.returns == (3, 5)
    assert [turn.after_days for turn in case.turns] == [None, None, 30.0, None, 2.5, None]
    both, one, none = "You take warfarin and have gout.", "You have gout.", "Hello."
    lines = [
        {"case": "c1", "turn": turn, "reply": said, "probe": {"kind": "summary", "reply": said}}
        for turn, said in enumerate([both, both, one, both, none, one], 1)
    ]
    scored = Scored([case], lines)
    assert [scored.value("recall", session=number) for number in (1, 2, 3)] == [1.0, 0.75, 0.25]
    assert scored.value("recall_at_return") == 0.25
    assert scored.value("recall") == (2 + 2 + 1 + 2 + 0 + 1) / 12 and scored.value("coverage") == 1.0


def test_a_case_of_one_session_has_no_such_figures() -> None:
    scored = Scored([case_of(record([{}, {}]), where="case")], [{"case": "c1", "turn": 1, "reply": "Hello."}])
    assert not any(name == "recall_at_return" or "session" in dict(key) for name, key in scored.metrics)


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([{"session": 2}], "numbered 1, 2, 3"),
        ([{}, {"session": 3}], "numbered 1, 2, 3"),
        ([{}, {"session": 2}, {"session": 1}], "numbered 1, 2, 3"),
        ([{}, {"session": "two"}], "'session' must be a whole number"),
        ([{"after_days": 3}], "first turn of a later session"),
        ([{}, {"session": 2, "after_days": -1}], "a number of days from 0"),
        ([{}, {"session": 2}, {"after_days": 3}], "first turn of a later session"),
    ],
)
def test_sessions_out_of_order_are_refused(turns: list[dict[str, Any]], expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        case_of(record(turns), where="case")
