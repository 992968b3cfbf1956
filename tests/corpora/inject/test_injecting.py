"""Injection: every offset true, the source unchanged, no value glued, golds of the source moved exactly once."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.values import LEAVES
from workup.corpora.inject import Injected, Injector, Phrase, Place, default_sites
from workup.corpora.inject.insertion import Insertion, built, without
from workup.corpora.inject.document import AMBIGUITY, DENSITY
from workup.corpora.inject.phrases import glued
from workup.corpora.inject.insertion_points import collect
from workup.errors import InputError, StudyError
from workup.documents.document import Document, Span
from workup.documents.labels import is_canonical

SENTENCES = (
    "The patient is a 67-year-old man who presented with chest pain.",
    "This is a pleasant lady who lives with her husband.",
    "He was admitted to the hospital from the emergency room.",
    "Her daughter was called and informed consent was obtained.",
    "A biopsy was performed in the operating room by the surgeon.",
    "SOCIAL HISTORY: Denies tobacco use.",
    "He was seen by the nurse on the ward with a new pacemaker.",
    "PLAN: Follow up in two weeks with the cardiologist.",
    "On 03/04/2021 Dr. Olsen changed the medication.",
    "He drove home after the motor vehicle accident and was discharged home.",
    "Prescriptions were given and insurance was billed.",
)


def note(number: int, sentences: int = 12) -> Document:
    """A note of sentences that hold sites and residues, each note another."""
    chosen = [SENTENCES[(number * 5 + i * 3) % len(SENTENCES)] for i in range(sentences)]
    mark = "\n" if number % 3 else "  "
    return Document(f"n{number}", mark.join(chosen) + ("\n" if number % 2 else ""))


NOTES = [note(number) for number in range(150)]
INJECTED = [Injector(seed=3, density="high").inject(one, index=i) for i, one in enumerate(NOTES)]


def surfaces(found: Injected) -> list[str]:
    return [found.document.text[span.start : span.end] for span in found.document.spans]


def test_the_source_comes_back_byte_for_byte() -> None:
    for before, after in zip(NOTES, INJECTED, strict=True):
        assert after.source_text().encode() == before.text.encode()
        assert after.document.text != before.text
        edges = [edge for pair in after.inserted for edge in pair]
        assert edges == sorted(edges) and all(start < end for start, end in after.inserted)


def test_no_value_is_glued_and_every_insertion_is_apart_from_words() -> None:
    seen = 0
    for found in INJECTED:
        text = found.document.text
        golds = [span for span in found.document.spans if span.identifier not in ("unknown", "no_mask")]
        assert not glued(text, [(span.start, span.end) for span in golds])
        for span in golds:
            seen += 1
            assert not text[span.start - 1 : span.start].isalnum() and not text[span.end : span.end + 1].isalnum()
        for start, end in found.inserted:
            for left in (start, end):
                pair = text[max(0, left - 1) : left + 1]
                assert len(pair) < 2 or not pair.isalnum()
    assert seen > 1000


def test_values_lie_in_what_was_inserted_and_residues_in_the_source() -> None:
    for found in INJECTED:
        for span in found.document.spans:
            inside = [start <= span.start and span.end <= end for start, end in found.inserted]
            assert sum(inside) == (0 if span.identifier == "unknown" else 1)


def test_every_leaf_that_text_can_hold_is_placed() -> None:
    counts = Counter(span.label for found in INJECTED for span in found.document.spans if span.identifier != "unknown")
    assert set(counts) == set(LEAVES)
    assert set(LEAVES) <= {leaf for kind in default_sites() for phrase in kind.phrases for leaf in phrase.leaves}


def test_a_small_source_sees_every_leaf_too() -> None:
    placed: set[str] = set()
    for i in range(math.ceil(len(LEAVES) / 3)):
        found = Injector(seed=9, density="high").inject(NOTES[i], index=i)
        placed |= {span.label for span in found.document.spans if span.identifier != "unknown"}
    assert set(LEAVES) - placed == set()


def test_golds_of_a_phrase_never_overlap_and_labels_are_canonical() -> None:
    for found in INJECTED:
        spans = found.document.spans
        assert all(one.end <= other.start for one, other in pairwise(spans))
        assert all(is_canonical(span.label) for span in spans)


def test_by_hand_earlier_and_later_golds_move_once() -> None:
    """The flaw of others: earlier annotations never shifted, or all of them shifted twice."""
    #                        0123456789012345678901234567890
    document = Document("a", "Ann Lee was seen by Bo Diaz now", (Span(0, 7, "N"), Span(20, 27, "N")))
    made, inserted = built(document, [Insertion(16, "k", (" on 3/4",)), Insertion(31, "k", (" ok",))], ())
    assert made.text == "Ann Lee was seen on 3/4 by Bo Diaz now ok"
    assert [(span.start, span.end) for span in made.spans] == [(0, 7), (27, 34)]
    assert made.text[27:34] == "Bo Diaz"
    assert inserted == ((16, 23), (38, 41))
    assert without(made.text, inserted) == document.text


@st.composite
def golds(draw: st.DrawFn, text: str) -> tuple[Span, ...]:
    places = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).filter(lambda pair: pair[0] != pair[1])
    return tuple(Span(min(pair), max(pair), "city") for pair in draw(st.lists(places, max_size=4)))


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Sentences and rubbish in any order, with golds anywhere, of one annotator or of two."""
    odd = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(
        ["\ufeff", "\r\n", "\U0001f600", "e\u0301"]
    )
    text = "".join(draw(st.lists(st.sampled_from([f"{one} " for one in SENTENCES]) | odd, min_size=1, max_size=6)))
    if draw(st.booleans()):
        return Document("d", text, draw(golds(text)) if text else ())
    return Document("d", text, layers={"ann": draw(golds(text)) if text else (), "bob": ()})


@given(documents(), st.sampled_from([*DENSITY, 0.1, 50]), st.sampled_from([*AMBIGUITY]), st.integers(0, 99))
def test_any_text_keeps_its_golds_and_comes_back(
    document: Document, density: str | float, ambiguity: str, index: int
) -> None:
    found = Injector(seed=1, density=density, ambiguity=ambiguity).inject(document, index=index)
    made = found.document
    assert found.source_text() == document.text
    for before, after in [
        (document.spans, made.spans),
        *((document.layers[n], made.layers[n]) for n in document.layers),
    ]:
        if document.layers and before is document.spans:
            continue
        old = Counter((document.text[span.start : span.end], span.label) for span in before)
        new = Counter((made.text[span.start : span.end], span.label) for span in after if span.label == "city")
        assert not old - new
    values = [span for span in made.spans if span.identifier not in ("unknown", "no_mask") and span.label != "city"]
    assert not glued(made.text, [(span.start, span.end) for span in values])


def test_nothing_comes_into_a_gold_of_the_source() -> None:
    text = "The patient is well. He was admitted to the hospital."
    document = Document("a", text, (Span(0, len(text), "misc"),))
    found = Injector(seed=1, density=50).inject(document, index=0)
    assert found.inserted == () and found.placed == 0 < found.asked
    assert found.document.text == text


def test_a_source_patient_has_one_persona_in_all_notes() -> None:
    injector = Injector(seed=1, density="high", leaves=("name_patient", "mrn", "ssn"))
    one, other = (injector.inject(NOTES[i], index=i, patient=7) for i in (0, 1))
    entities = [{span.entity for span in found.document.spans if span.label == "mrn"} for found in (one, other)]
    assert entities[0] and entities[0] == entities[1]
    assert one.document.patient == other.document.patient
    kept = Injector(seed=1).inject(Document("x", NOTES[0].text, patient="own"), index=0)
    assert kept.document.patient == "own"


def test_the_same_seed_gives_the_same_bytes_in_any_order() -> None:
    injector = Injector(seed=5)
    forwards = [injector.inject(one, index=i) for i, one in enumerate(NOTES[:20])]
    backwards = [Injector(seed=5).inject(NOTES[i], index=i) for i in reversed(range(20))][::-1]
    assert forwards == backwards
    assert [f.document.text for f in forwards] != [Injector(seed=6).inject(n, index=i).document.text
                                                   for i, n in enumerate(NOTES[:20])]  # fmt: skip


def test_density_is_kept() -> None:
    long = [note(number, sentences=60) for number in range(12)]
    per_thousand = {}
    for density in (1, "low", "medium", "high"):
        found = [Injector(seed=2, density=density).inject(one, index=i) for i, one in enumerate(long)]
        per_thousand[density] = 1000 * sum(f.placed for f in found) / sum(len(one.text) for one in long)
        assert sum(f.placed for f in found) >= sum(f.asked for f in found)
    assert per_thousand[1] < per_thousand["low"] < per_thousand["medium"] < per_thousand["high"]
    assert per_thousand["medium"] == pytest.approx(DENSITY["medium"], rel=0.1)
    assert per_thousand["high"] == pytest.approx(DENSITY["high"], rel=0.1)


def test_a_text_without_room_says_so() -> None:
    found = Injector(seed=1, density="high").inject(Document("a", "word " * 500), index=0)
    assert found.placed < found.asked


def test_ambiguity_brings_hard_negatives_that_must_stay() -> None:
    negatives = {}
    for ambiguity in AMBIGUITY:
        injector = Injector(seed=4, ambiguity=ambiguity)
        spans = [s for i, n in enumerate(NOTES[:40]) for s in injector.inject(n, index=i).document.spans]
        negatives[ambiguity] = sum(span.identifier == "no_mask" for span in spans)
    assert negatives["none"] == 0 < negatives["standard"] < negatives["high"]


def test_leaves_can_be_chosen() -> None:
    found = [
        Injector(seed=1, leaves=("date", "phone"), ambiguity="none").inject(n, index=i) for i, n in enumerate(NOTES)
    ]
    labels = {span.label for one in found for span in one.document.spans if span.identifier != "unknown"}
    assert labels == {"date", "phone"}


def test_the_sweep_can_be_left_out() -> None:
    found = Injector(seed=1, sweeps=False).inject(NOTES[0], index=0)
    assert found.residues == 0
    assert not any(span.identifier == "unknown" for span in found.document.spans)


@dataclass
class AtEveryBlank:
    """A kind of site of somebody else's."""

    name: str = "blanks"
    phrases: tuple[Phrase, ...] = (Phrase.read(" [{mrn}]", where="here"),)

    def places(self, text: str) -> list[Place]:
        return [Place(i, i, i) for i, c in enumerate(text) if c == " "]


def test_kinds_of_sites_are_pluggable() -> None:
    found = Injector(seed=1, density=50, kinds=(AtEveryBlank(),), ambiguity="none").inject(
        Document("a", "one two three four five six"), index=0
    )
    assert set(found.kinds) == {"blanks"}
    assert "[" in found.document.text and found.source_text() == "one two three four five six"


@dataclass
class InsideWords(AtEveryBlank):
    phrases: tuple[Phrase, ...] = (Phrase.read("{mrn}", where="here"),)

    def places(self, text: str) -> list[Place]:
        return [Place(2, 2, 2)]


def test_a_value_in_the_middle_of_a_word_stands_apart() -> None:
    found = Injector(seed=1, kinds=(InsideWords(),), leaves=("mrn",)).inject(Document("a", "abcdef"), index=0)
    [gold] = found.document.spans
    assert found.document.text[gold.start - 1] == " " == found.document.text[gold.end]


def test_a_place_outside_its_text_is_refused() -> None:
    class Beyond(AtEveryBlank):
        def places(self, text: str) -> list[Place]:
            return [Place(99, 99, 99)]

    with pytest.raises(StudyError, match="outside its text"):
        Injector(seed=1, kinds=(Beyond(),)).inject(Document("a", "one two"), index=0)


def test_line_ends_are_those_of_the_text() -> None:
    banners = 0
    for number in range(40):
        text = NOTES[number].text.replace("\n", "\r\n")
        if "\r\n" in text:
            made = Injector(seed=number, density="high").inject(Document("a", text), index=number)
            banners += "banner" in made.kinds or "signature" in made.kinds
            assert made.document.text.count("\n") == made.document.text.count("\r\n")
    assert banners > 10


def test_sites_that_touch_a_span_are_dropped_and_those_beside_it_stay() -> None:
    text = "He was seen by Dr. Rose. He was seen by us."
    kinds = tuple(kind for kind in default_sites() if kind.name == "seen")
    assert [place.at for place in collect(text, kinds)["seen"]] == [11, 36]
    assert [place.at for place in collect(text, kinds, apart_from=[Span(7, 11, "x")])["seen"]] == [36]
    assert [place.at for place in collect(text, kinds, apart_from=[Span(11, 12, "x")])["seen"]] == [36]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"density": "dense"}, "a density must be"),
        ({"density": 0}, "a density must be"),
        ({"density": -3}, "a density must be"),
        ({"density": math.nan}, "a density must be"),
        ({"density": 51}, "a density must be"),
        ({"density": True}, "a density must be"),
        ({"ambiguity": "some"}, "none, standard or high"),
        ({"leaves": ("name_patientt",)}, "did you mean 'name_patient'"),
        ({"leaves": ()}, "kinds of sites"),
        ({"kinds": ()}, "kinds of sites"),
        ({"kinds": (AtEveryBlank(), AtEveryBlank())}, "names of their own"),
        ({"seed": -1}, "whole number"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Injector(**{"seed": 1, **settings})  # type: ignore[arg-type]
