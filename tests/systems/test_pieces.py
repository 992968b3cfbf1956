"""Long texts in pieces: every character is somebody's own, every request fits, and a mention on a cut is seen whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workup.systems.spans.long_texts import SHORTEST, Piece, halves, pieces

# Wide characters, and those that JSON must escape, are what a count of characters gets wrong.
TEXTS = st.text(alphabet=st.sampled_from('ab \n"\\\x00\x1fé€😀'), max_size=3000)


@settings(max_examples=60)
@given(TEXTS, st.integers(100, 1500))
def test_pieces_tile_the_text_and_fit(text: str, limit: int) -> None:
    found = pieces(text, limit=limit)
    assert "".join(text[piece.own_start : piece.own_end] for piece in found) == text
    for piece in found:
        assert 0 <= piece.start <= piece.own_start < piece.own_end <= piece.end <= len(text)
        sent = json.dumps(text[piece.start : piece.end], ensure_ascii=False).encode()
        assert len(sent) - 2 <= limit
    if len(json.dumps(text, ensure_ascii=False).encode()) - 2 <= limit:
        assert len(found) == (1 if text else 0)


def test_a_mention_on_a_cut_is_whole_in_a_piece_that_owns_some_of_it() -> None:
    text = "x" * 990 + "RoseBerg" + "x" * 990  # no blank to cut at
    on_a_cut = 0
    for limit in range(600, 1200, 3):
        found = pieces(text, limit=limit)
        touching = [piece for piece in found if piece.own_start < 998 and piece.own_end > 990]
        assert all(piece.start <= 990 and piece.end >= 998 for piece in touching)
        on_a_cut += len(touching) > 1
    assert on_a_cut > 0


def test_cuts_prefer_an_empty_line_then_a_line_then_a_blank() -> None:
    for mark in ("\n\n", "\n", " "):
        text = "x" * 250 + mark + "y" * 300
        assert pieces(text, limit=300)[0].own_end == 250 + len(mark)
    both = "x" * 240 + "\n\n" + "x" * 20 + " " + "y" * 300
    assert pieces(both, limit=300)[0].own_end == 242


@pytest.mark.parametrize("text", ["word " * 400, "x" * 2000])
def test_halves_share_what_a_piece_owns(text: str) -> None:
    whole = Piece(0, 2000, 500, 1500)
    first, second = halves(text, whole) or (whole, whole)
    assert (first.own_start, second.own_end, first.own_end) == (500, 1500, second.own_start)
    margin = 125
    assert (first.start, first.end) == (500 - margin, first.own_end + margin)
    assert (second.start, second.end) == (second.own_start - margin, 1500 + margin)
    assert 500 < first.own_end <= 1000
    assert halves(text, Piece(0, 2000, 0, 2 * SHORTEST - 1)) is None


def test_nothing_is_sent_of_an_empty_text() -> None:
    assert pieces("", limit=1000) == []
