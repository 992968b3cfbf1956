"""Copied and repeated words, and the first ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workup.errors import InputError
from workup.tasks.conversation.read.content import copy_rate, first_tokens, repetition_share

EIGHT = "one two three four five six seven eight"


def test_copy_rate_by_hand() -> None:
    assert copy_rate(EIGHT, f"zero {EIGHT} nine") == 1.0
    assert copy_rate(f"{EIGHT} other", EIGHT) == 0.5  # two runs, one of them copied
    assert copy_rate(EIGHT.upper().replace(" ", ", "), EIGHT) == 1.0  # neither case nor signs count
    assert copy_rate("one two three four five six seven", EIGHT) is None
    assert copy_rate("", EIGHT) is None and copy_rate(EIGHT, "") == 0.0
    assert copy_rate("one two three", "one two four", shingle=2) == 0.5


def test_reasoning_is_not_the_reply() -> None:
    assert copy_rate(f"<think>{EIGHT}</think>Fine.", EIGHT) is None


def test_repetition_by_hand() -> None:
    assert repetition_share(EIGHT) == 0.0
    assert repetition_share(f"{EIGHT}. {EIGHT}. {EIGHT}.") == pytest.approx(2 / 3)
    assert repetition_share("too short") is None


def test_first_tokens() -> None:
    assert first_tokens("Warfarin 5 mg, daily.", 4) == "Warfarin 5 mg,"
    assert first_tokens("Warfarin.", 99) == "Warfarin."
    assert first_tokens("", 3) == ""


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "3"])
def test_a_number_of_tokens_is_a_whole_one(k: object) -> None:
    with pytest.raises(InputError, match="whole number"):
        first_tokens("a", k)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="whole number"):
        copy_rate("a", "b", shingle=k)  # type: ignore[arg-type]


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=200), st.text(max_size=200), st.integers(1, 9))
def test_shares_are_shares(reply: str, heard: str, k: int) -> None:
    for share in (copy_rate(reply, heard, shingle=k), repetition_share(reply, shingle=k)):
        assert share is None or 0 <= share <= 1
    cut = first_tokens(reply, k)
    assert len(cut) <= len(reply)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120), st.text(max_size=40), st.text(max_size=40))
def test_what_was_sent_whole_is_copied_whole(reply: str, before: str, after: str) -> None:
    if "<" not in before + reply + after:
        assert copy_rate(reply, f"{before} {reply} {after}") in (1.0, None)
