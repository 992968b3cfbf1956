"""Offsets in UTF-16 units, bytes and inclusive ends against Python's own encoders, and what is inside a character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.documents.offsets import COUNTINGS, Counting, from_codepoints, to_codepoints
from workup.errors import InputError

TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
FACE = "\U0001f600"  # one code point, two UTF-16 units, four bytes


def _units(text: str, unit: str) -> int:
    """The length of a text in a unit, by encoding it."""
    encoded = {"codepoint": "utf-32-le", "utf16": "utf-16-le", "byte": "utf-8"}[unit]
    return len(text.encode(encoded)) // {"codepoint": 4, "utf16": 2, "byte": 1}[unit]


@given(TEXTS, st.data(), st.sampled_from(COUNTINGS))
def test_offsets_go_there_and_back(text: str, data: st.DataObject, name: str) -> None:
    counting = Counting.of(name)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    there = from_codepoints(text, [(start, end)], counting=counting)
    expected = (_units(text[:start], counting.unit), _units(text[:end], counting.unit) - counting.inclusive)
    assert there == [expected]
    assert to_codepoints(text, there, counting=counting, document="a") == [(start, end)]


@given(TEXTS, st.data(), st.sampled_from(["utf16", "byte"]))
def test_every_offset_is_a_character_or_an_error(text: str, data: st.DataObject, unit: str) -> None:
    edges = {_units(text[:place], unit): place for place in range(len(text) + 1)}
    start = data.draw(st.integers(0, max(edges) - 1))
    end = data.draw(st.integers(start + 1, max(edges)))
    if start in edges and end in edges:
        found = to_codepoints(text, [(start, end)], counting=Counting(unit), document="a")
        assert found == [(edges[start], edges[end])]
    else:
        with pytest.raises(InputError, match="inside a character"):
            to_codepoints(text, [(start, end)], counting=Counting(unit), document="a")


@pytest.mark.parametrize(
    ("unit", "pair", "says"),
    [
        (
            "utf16",
            (2, 5),
            "2, which is inside a character of 2 UTF-16 units, in a text of 6 characters, 7 UTF-16 units",
        ),
        ("byte", (3, 6), "3, which is inside a character of 4 bytes of UTF-8, in a text of 6 characters, 9 bytes"),
        ("byte", (0, 4), "4, which is inside a character of 4 bytes"),
    ],
)
def test_the_middle_of_a_character_names_document_span_and_lengths(unit: str, pair: tuple[int, int], says: str) -> None:
    with pytest.raises(InputError) as caught:
        to_codepoints(f"a{FACE}Rose", [(0, 1), pair], counting=Counting(unit), document="note 7")
    message = str(caught.value)
    assert message.startswith("span 1: ") and "note 7" not in message
    assert says in message
    assert "Rose" not in message
    assert FACE not in message


@pytest.mark.parametrize("name", [name for name in COUNTINGS if name != "codepoint"])
@pytest.mark.parametrize("pair", [(-1, 2), (3, 1), (0, 99)])
def test_negative_reversed_and_outside_are_errors(name: str, pair: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="span 0: a span must lie inside its text"):
        to_codepoints("Rose", [pair], counting=Counting.of(name), document="a")


def test_an_inclusive_end_is_the_last_unit() -> None:
    inclusive = Counting.of("utf16-inclusive")
    assert to_codepoints(f"{FACE}a", [(0, 1)], counting=inclusive, document="a") == [(0, 1)]
    assert to_codepoints("Rose", [(2, 2)], counting=Counting.of("codepoint-inclusive"), document="a") == [(2, 3)]
    with pytest.raises(InputError, match="inside a character"):
        to_codepoints(f"{FACE}a", [(0, 0)], counting=inclusive, document="a")


def test_offsets_behind_the_text_stay_as_far_behind_where_that_is_asked_for() -> None:
    found = to_codepoints(f"{FACE}ab", [(2, 9)], counting=Counting("utf16"), document="a", beyond=True)
    assert found == [(1, 8)]


def test_an_unknown_counting_answers_with_the_near_ones() -> None:
    with pytest.raises(InputError, match="did you mean 'utf16'"):
        Counting.of("utf-16")
