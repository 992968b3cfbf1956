"""Documents built by pieces: offsets are true whatever the pieces are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.documents.builder import Gold, Pieces
from workup.errors import InputError

texts = st.text(max_size=12)
golds = st.builds(Gold, st.text(min_size=1, max_size=12), st.sampled_from(["date", "city"]))


@given(st.lists(st.one_of(texts, golds, texts.map(lambda text: ("boilerplate", text)))))
def test_every_gold_and_every_boilerplate_lies_where_it_was_put(pieces: list[object]) -> None:
    made = Pieces()
    for piece in pieces:
        if isinstance(piece, str):
            made.text(piece)
        elif isinstance(piece, Gold):
            made.value(piece)
        else:
            made.boilerplate(piece[1])  # type: ignore[index]
    written = made.written("d")
    text, spans = written.document.text, written.document.spans
    put = [piece for piece in pieces if isinstance(piece, Gold)]
    assert [(text[span.start : span.end], span.label) for span in spans] == [(gold.text, gold.label) for gold in put]
    kept = [piece[1] for piece in pieces if isinstance(piece, tuple) and not isinstance(piece, Gold) and piece[1]]
    assert [text[start:end] for start, end in written.boilerplate] == kept
    assert len(made) == len(text)


def test_boilerplate_may_hold_values() -> None:
    made = Pieces().text("a ").begin_boilerplate().text("see ").value(Gold("x.example", "url")).end_boilerplate()
    written = made.text(" b").written("d")
    assert written.boilerplate == ((2, 15),) and written.document.text[2:15] == "see x.example"


def test_blanks_are_taken_back_from_texts_and_never_from_values() -> None:
    assert Pieces().text("a  ").take_back_blank().text("\nb").written("d").document.text == "a\nb"
    made = Pieces().value(Gold("a ", "city")).take_back_blank().text("\nb").written("d").document
    assert made.text == "a \nb" and made.spans[0].end == 2


def test_a_value_without_characters_is_refused() -> None:
    with pytest.raises(InputError, match="at least one character"):
        Pieces().value(Gold("", "city"))
