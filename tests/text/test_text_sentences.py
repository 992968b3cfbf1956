"""Sentences as they are written: three cuts of one text, and what each is for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workup.text.sentences import sentences_by, sentences_of, spoken_sentences
from workup.text.wordlists import alternatives, read_lists, words_of

TEXT = "Dr. Ito gave 2.5 mg b.i.d. for gout; rest. Is it right?\n- Walk daily"


def test_three_cuts_of_one_text() -> None:
    assert sentences_of(TEXT) == ["Dr. Ito gave 2.5 mg b.i.d. for gout", "rest.", "Is it right?", "Walk daily"]
    assert [one.strip() for one in spoken_sentences(TEXT)] == [
        "Dr.", "Ito gave 2.5 mg b.", "i.", "d.", "for gout; rest.", "Is it right?", "- Walk daily",
    ]  # fmt: skip
    never = sentences_by(TEXT, one_sentence=lambda before, after: False)
    assert never == ["Dr.", "Ito gave 2.5 mg b.i.d.", "for gout; rest.", "Is it right?", "- Walk daily"]


@given(st.text("ab1. ?!\n;-", max_size=40))
def test_nothing_said_is_lost_or_made_up(text: str) -> None:
    def said(pieces: list[str]) -> str:
        return "".join(sign for piece in pieces for sign in piece if sign.isalpha())

    whole = said([text])
    assert said(sentences_by(text, one_sentence=lambda before, after: False)) == whole
    assert said(sentences_by(text, one_sentence=lambda before, after: True)) == whole
    assert said(spoken_sentences(text)) == whole
    assert said(sentences_of(text)).count("b") <= whole.count("b")


def test_lists_of_words() -> None:
    assert words_of(" a  b\na ") == {"a", "b"} and words_of("") == frozenset()
    assert read_lists("x: [no, 1.0, on]\ny: off") == {"x": ["no", "1.0", "on"], "y": "off"}
    assert alternatives("a=b|c d=e") == {"a": ("b", "c"), "d": ("e",)}
