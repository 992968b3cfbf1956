"""Labels of people: one form that names units and holds no text, the older form, and what a draw lets count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workup.errors import InputError
from workup.tasks.conversation.labels import CANNOT_TELL, Draw, Drawn, Label, Unit, digest_of, read_draw, read_labels

LINE = {"case": "c1", "replicate": 0, "arm": "live", "turn": 2, "fact": "f1", "expected": "reversed", "rater": "a"}
UNIT = Unit("c1", 0, "live", 2, "f1")
DRAW = Draw(
    {
        UNIT: Drawn("omitted", 0.25, "0" * 16),
        Unit("c1", 0, "live", 3, None, "1.0-3.2"): Drawn("conflict", 1.0, "1" * 16),
    },
    "rules",
    7,
)


def _file(folder: Path, *lines: Any) -> Path:
    path = folder / "labelled.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_line_is_read_with_its_unit(tmp_path: Path) -> None:
    pair = {"case": "c1", "turn": 3, "pair": "1.0-3.2", "expected": "licensed", "rater": "b", "blind": True}
    found = read_labels(_file(tmp_path, {**LINE, "blind": True, "draw": DRAW.id}, pair))
    assert found.labels == (
        Label(UNIT, "reversed", "a", True, DRAW.id),
        Label(Unit("c1", 0, "live", 3, None, "1.0-3.2"), "licensed", "b", True, None),
    )
    assert not found.replies


def test_the_first_form_is_still_read_beside_the_other(tmp_path: Path) -> None:
    first = {"fact": {"id": "f1", "type": "medication", "concept": "warfarin"}, "reply": "Yes.", "expected": "correct"}
    found = read_labels(_file(tmp_path, first, LINE))
    assert [one.expected for one in found.replies] == ["correct"]
    assert [one.expected for one in found.labels] == ["reversed"]


@pytest.mark.parametrize(
    "change",
    [
        {"expected": "forgotten"},
        {"expected": ["correct"]},
        {"expected": "conflict"},  # of a pair alone
        {"turn": 0},
        {"turn": True},
        {"fact": {"id": "f1"}},
        {"fact": "f1", "pair": "1.0-3.2"},
        {"fact": None, "pair": "first-second"},
        {"arm": "sideways"},
        {"blind": "yes"},
        {"draw": "mine"},
        {"rater": ""},
        {"rater": "x" * 201},
        {"replicate": -1},
    ],
)
def test_a_bad_line_is_named_by_its_place_and_never_quoted(tmp_path: Path, change: dict[str, Any]) -> None:
    secret = "Mrs Aldous of ward 7"
    with pytest.raises(InputError, match="line 2") as raised:
        read_labels(_file(tmp_path, LINE, {**LINE, "case": secret, **change}))
    assert "Aldous" not in str(raised.value)


def test_only_blind_labels_of_the_draw_count_and_the_first_blind_answer_stands(tmp_path: Path) -> None:
    good = {**LINE, "blind": True, "draw": DRAW.id}
    lines = [
        {**good, "blind": False, "expected": "correct"},  # seen first, then answered
        {**good, "draw": None, "rater": "c"},
        {**good, "draw": "0123456789abcdef", "rater": "d"},
        {**good, "turn": 4},  # a unit that was not drawn
        {**good, "expected": "omitted"},
        good,  # after the outcome was shown
        {**good, "rater": "b", "expected": CANNOT_TELL},
    ]
    found = read_labels(_file(tmp_path, *lines))
    assert len(found.labels) == 7
    assert found.of_draw(DRAW) == {UNIT: {"a": "omitted", "b": CANNOT_TELL}}
    assert found.of_draw(None) == {}


def test_a_draw_comes_back_as_it_was_written_and_not_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "draw.json"
    path.write_text(json.dumps(DRAW.record()))
    assert read_draw(path) == DRAW
    record = DRAW.record()
    record["units"][0]["chance"] = 0.5
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match="id does not fit"):
        read_draw(path)
    path.write_text(
        json.dumps({**DRAW.record(), "units": [{**UNIT.record(), "verdict": "x", "chance": 0, "reply": "r"}]})
    )
    with pytest.raises(InputError, match="chance"):
        read_draw(path)


def test_a_digest_tells_two_replies_apart() -> None:
    assert digest_of(["Take it."]) != digest_of(["Take it", "."]) != digest_of(["Take it."])
