"""Shapes keep lengths and give away no letter, digit or script; keyed hashes need a real key."""

from __future__ import annotations

import hashlib
import hmac
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.errors import InputError
from workup.tasks.spans.errors.shapes import CLASSES, Run, coarse_shape, document_shape, keyed_hash, shape
from workup.documents.document import Span

KEY = b"a key of sixteen or more bytes"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("John Smith", "Xxxx Xxxxx"),
        ("123-45-6789", "999-99-9999"),
        ("jane.roe@example.org", "xxxx.xxx@xxxxxxx.xxx"),
        ("DOB: 3/14/1960\n", "XXX: 9/99/9999\n"),
        ("José Ñandú", "Xxxx Xxxxx"),
        ("Jose\u0301", "Xxxxx"),  # the mark is a character of its own, and offsets count it
        ("Юрий", "Xxxx"),
        ("李小龙", "ooo"),
        ("محمد،", "ooooo"),  # a comma that one script alone has would tell the script
        ("👩‍⚕️", "ooox"),  # the last is a variation selector, a mark
        ("½ Ⅳ ٣", "9 9 9"),
        ("a\u00a0b\u2003c\x0bd", "x x x x"),
        ("\u202eabc\x00\x1b", "oxxxoo"),
        ("“O’Neil” – $5…", "“X’Xxxx” – $9…"),
        ("\ud800", "o"),
        ("", ""),
    ],
)
def test_shape_by_hand(text: str, expected: str) -> None:
    assert shape(text) == expected


@given(st.text())
def test_a_shape_keeps_the_length_and_reveals_no_letter_or_digit(text: str) -> None:
    found = shape(text)
    assert len(found) == len(text)
    assert all(one in CLASSES for one in found if one.isalnum())
    for before, after in zip(text, found, strict=True):
        if after not in CLASSES:  # kept: what tells nothing
            assert after == before or (after == " " and before.isspace())
            assert after.isspace() or after.isascii() or unicodedata.category(after).startswith("P")
            assert after.isprintable() or after in "\t\n\r"


@given(st.text(alphabet=st.characters(categories=["L", "N"])), st.randoms())
def test_texts_of_the_same_classes_have_one_shape(text: str, random: object) -> None:
    other = "".join({"X": "Q", "x": "q", "9": "7", "o": "字"}[one] for one in shape(text))
    assert shape(other) == shape(text)


def test_coarse_shapes_cut_runs() -> None:
    assert coarse_shape("Bartholomew  Featherstonehaugh") == "Xxxxx Xxxxx"
    assert coarse_shape("MRN0012345678", longest=2) == "XX99"
    with pytest.raises(InputError, match="1 or more"):
        coarse_shape("x", longest=0)


def test_the_shape_of_a_document_is_cut_at_every_border() -> None:
    golds = [Span(2, 8, "name"), Span(5, 10, "date")]
    seen = document_shape("ab Cd 12, ef", golds, [Span(0, 3, "NAME"), Span(9, 99, "X"), Span(40, 50, "X")])
    assert seen.shape == "xx Xx 99, xx"
    assert seen.runs == (
        Run(0, 2, (), (0,)),
        Run(2, 3, (0,), (0,)),
        Run(3, 5, (0,), ()),
        Run(5, 8, (0, 1), ()),
        Run(8, 9, (1,), ()),
        Run(9, 10, (1,), (1,)),
        Run(10, 12, (), (1,)),
    )
    assert document_shape("", [], []).runs == ()
    assert document_shape("abc", [], []).runs == (Run(0, 3),)


spans_in = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda pair: Span(pair[0], pair[0] + pair[1], "a")),
    max_size=6,
)


@given(st.text(min_size=1, max_size=30), spans_in, spans_in)
def test_runs_cover_a_document_once_and_name_what_lies_on_them(text: str, golds: list[Span], found: list[Span]) -> None:
    runs = document_shape(text, golds, found).runs
    assert "".join(text[run.start : run.end] for run in runs) == text
    for run in runs:
        for place in range(run.start, run.end):
            assert run.golds == tuple(i for i, one in enumerate(golds) if one.start <= place < one.end)
            assert run.predictions == tuple(i for i, one in enumerate(found) if one.start <= place < one.end)


def test_a_keyed_hash_is_an_hmac_of_the_normalised_surface() -> None:
    expected = hmac.new(KEY, b"ann lee", hashlib.sha256).hexdigest()
    assert keyed_hash(" ANN\n lee.", KEY) == expected
    assert keyed_hash("Ann Lee", KEY) != keyed_hash("Ann Leek", KEY)
    assert keyed_hash("Ann Lee", KEY) != keyed_hash("Ann Lee", KEY + b"!")
    assert len(keyed_hash("\ud800", KEY)) == 64


@pytest.mark.parametrize("key", [b"", b"secret", "a key that is text, not bytes"])
def test_a_weak_key_is_refused_without_showing_it_or_the_surface(key: object) -> None:
    with pytest.raises(InputError) as caught:
        keyed_hash("Zebulonqx", key)  # type: ignore[arg-type]
    assert "16 random bytes" in str(caught.value)
    assert "secret" not in str(caught.value).replace("secrets", "") and "Zebulonqx" not in str(caught.value)
