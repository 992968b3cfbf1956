"""The paired design: the same note under names of other groups, and nothing else changed."""

from __future__ import annotations

import re

import pytest

from workup.corpora.generate.notes import generate
from workup.values import ORIGINS, SEXES
from workup.errors import InputError
from workup.documents.document import Document

FOLLOW_NAMES = {"name_patient", "name_relative", "username", "email", "url", "photo", "license_person"}
SEXED = re.compile(r"\b(she|he|her|his|him|herself|himself|woman|man|female|male|girl|boy|ms|mr|f|m)\b", re.IGNORECASE)


def skeleton(document: Document) -> str:
    """The text with everything blanked out that may follow from a name."""
    pieces, place = [], 0
    for span in document.spans:
        pieces.append(document.text[place : span.start])
        pieces.append(f"<{span.label}>" if span.label in FOLLOW_NAMES else document.text[span.start : span.end])
        place = span.end
    return "".join([*pieces, document.text[place:]])


@pytest.mark.parametrize(("swap", "size"), [("origin", len(ORIGINS)), ("sex", len(SEXES)), ("both", 10)])
def test_notes_of_a_pair_differ_in_names_alone(swap: str, size: int) -> None:
    documents = list(generate(20 * size, seed=6, swap=swap).documents())
    for at in range(0, len(documents), size):
        pair = documents[at : at + size]
        assert len({document.groups["pair"] for document in pair}) == 1
        assert len({(document.groups["origin"], document.groups["sex"]) for document in pair}) == size
        assert len({document.groups["family"] for document in pair}) == 1
        texts = [skeleton(document) for document in pair]
        assert len({SEXED.sub("@", text) if swap != "origin" else text for text in texts}) == 1
        assert len({document.patient for document in pair}) == size
        assert len({tuple(span.label for span in document.spans) for document in pair}) == 1
    pairs = [document.groups["pair"] for document in documents]
    assert len(set(pairs)) == 20


def test_names_of_a_pair_are_as_frequent_as_each_other() -> None:
    documents = list(generate(100, seed=6, swap="origin").documents())
    for at in range(0, 100, 5):
        assert len({document.groups["popularity"] for document in documents[at : at + 5]}) == 1
        names = {
            document.text[span.start : span.end]
            for document in documents[at : at + 5]
            for span in document.spans
            if span.label == "name_patient"
        }
        assert not names or len(names) >= 3


def test_an_incomplete_set_is_refused() -> None:
    with pytest.raises(InputError, match=r"sets of 5.*ask for 105"):
        generate(101, seed=1, swap="origin")
