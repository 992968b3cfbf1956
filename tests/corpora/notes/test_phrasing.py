"""Families come in two phrasings, so that what was tuned on one half can be judged on forms that it has not seen."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

import pytest

from tests.support.places import DATA
from workup.corpora.generate.notes import generate
from workup.corpora.inject import Injector, read_source
from workup.documents.document import Document, Span
from workup.documents.labels import SCHEME, branch_of

MTSAMPLES = DATA / "mtsamples" / "mtsamples.csv.gz"
WORDS = 4  # before a value, by which a memory of templates knows it again
Cue = tuple[tuple[str, ...], str]


def cues(document: Document) -> list[Cue]:
    """For each value, the words before it, other values told as such, and its label; none where too few stand there."""
    words: list[str] = []
    found, place = [], 0
    for span in sorted(document.spans, key=lambda span: span.start):
        words += re.findall(r"\w+|[^\w\s]", document.text[place : span.start].casefold())
        if _identifies(span):
            if len(words) >= WORDS:
                found.append((tuple(words[-WORDS:]), span.label))
            words.append("<value>")
        else:
            words += re.findall(r"\w+|[^\w\s]", document.text[span.start : span.end].casefold())
        place = span.end
    return found


def _identifies(span: Span) -> bool:
    return span.identifier not in ("no_mask", "unknown") and branch_of(span.label) != "CLIN"


def known(documents: Iterable[Document], learnt: set[Cue]) -> float:
    """The share of values that a memory of cues finds."""
    asked = [cue for document in documents for cue in cues(document)]
    assert len(asked) > 300
    return sum(cue in learnt for cue in asked) / len(asked)


@pytest.fixture(scope="module")
def notes() -> list[Document]:
    return list(generate(1600, seed=11).documents())


@pytest.fixture(scope="module")
def learnt(notes: list[Document]) -> set[Cue]:
    """What stands before the values of a thousand notes of phrasing a."""
    return {cue for one in notes[:1200] if one.groups["phrasing"] == "a" for cue in cues(one)}


def test_every_family_is_of_one_phrasing_and_half_of_the_notes_of_each(notes: list[Document]) -> None:
    phrasings = defaultdict(set)
    types = defaultdict(set)
    for document in notes:
        phrasings[document.groups["family"]].add(document.groups["phrasing"])
        types[document.type].add(document.groups["phrasing"])
    assert len(phrasings) == 56 and all(len(found) == 1 for found in phrasings.values())
    assert all(found == {"a", "b"} for found in types.values())
    counts = Counter(document.groups["phrasing"] for document in notes)
    assert set(counts) == {"a", "b"} and 0.4 < counts["a"] / len(notes) < 0.6


def test_each_phrasing_holds_every_leaf() -> None:
    labels: dict[str, set[str]] = {"a": set(), "b": set()}
    for document in generate(2000, seed=12).documents():
        labels[document.groups["phrasing"]] |= {span.label for span in document.spans}
    assert labels == {"a": set(SCHEME), "b": set(SCHEME)}


def test_what_was_learnt_on_one_phrasing_is_of_no_use_on_the_other(notes: list[Document], learnt: set[Cue]) -> None:
    """Without phrasings the other half of the families was known by 73 in 100 of its cues."""
    held_out = [one for one in notes[1200:] if one.groups["phrasing"] == "a"]
    other = [one for one in notes[1200:] if one.groups["phrasing"] == "b"]
    assert known(held_out, learnt) > 0.7
    assert known(other, learnt) < 0.25


@pytest.mark.real_data
@pytest.mark.skipif(not MTSAMPLES.exists(), reason="the notes of MTSamples are not there")
def test_the_other_half_is_known_no_better_than_text_from_elsewhere(notes: list[Document], learnt: set[Cue]) -> None:
    sources = read_source(MTSAMPLES, deduplicate=True, skip_empty=True)
    injector = Injector(seed=5)
    unseen = [injector.inject(source, index=index).document for index, source in zip(range(300), sources, strict=False)]
    other = [one for one in notes if one.groups["phrasing"] == "b"]
    assert known(other, learnt) <= known(unseen, learnt) + 0.02


def test_a_corpus_of_chosen_leaves_has_both_phrasings() -> None:
    chosen = generate(200, seed=3, leaves=["iban", "crypto"], types=["insurance_eob", "progress_note"])
    labels: dict[str, set[str]] = {"a": set(), "b": set()}
    for document in chosen.documents():
        labels[document.groups["phrasing"]] |= {span.label for span in document.spans if _identifies(span)}
    assert labels == {"a": {"iban", "crypto"}, "b": {"iban", "crypto"}}
