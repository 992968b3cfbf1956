"""Noise: spans follow their characters, no gold vanishes, and the rate that is told is the distance that is there."""

from __future__ import annotations

import math
import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.corpora.noise import KINDS, NEAR, NoiseMeasure, add_noise
from workup.corpora.noise.edits import Edit, edited
from workup.corpora.noise.tables import UNICODE
from workup.documents.document import Document, Span
from workup.errors import InputError
from workup.text.typos import SCANNED, distance
from workup.text.unicode import HOMOGLYPHS

WORDS = "the patient was seen in clinic and denies chest pain, fever or cough; exam is normal and follow up is planned"
VALUES = ("Rose Miller", "O'Brien, Will", "03/14/2021", "555-0134", "MRN 00412-7", "april.jones@example.org", "J", "42")


def planted(count: int = 120) -> list[Document]:
    """Notes of plain words with a value after every few of them."""
    rng = np.random.default_rng(5)
    words, documents = WORDS.split(), []
    for number in range(count):
        text, spans = "", []
        for _ in range(int(rng.integers(3, 9))):
            text += " ".join(rng.choice(words, 12)) + " "
            value = str(rng.choice(VALUES))
            spans.append(Span(len(text), len(text) + len(value), "misc", entity=value))
            text += value + ". "
        documents.append(Document(f"n{number}", text, tuple(spans)))
    return documents


DOCUMENTS = planted()


def plain_distance(one: str, other: str) -> int:
    """Levenshtein's distance by its definition, row by row."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        above, row = row, [i]
        for j, b in enumerate(other, start=1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
    return row[-1]


@given(st.text("ab 1", max_size=12), st.text("ab 1", max_size=12))
def test_distance_is_levenshteins(one: str, other: str) -> None:
    assert distance(one, other) == plain_distance(one, other)


@given(st.text(max_size=90), st.text(max_size=90))
def test_distance_of_any_texts(one: str, other: str) -> None:
    assert distance(one, other) == plain_distance(one, other) == distance(other, one)


def surfaces(document: Document) -> list[str]:
    return [document.text[span.start : span.end] for span in document.spans]


def context(document: Document) -> list[str]:
    edges = [0, *(edge for span in document.spans for edge in (span.start, span.end)), len(document.text)]
    return [document.text[a:b] for a, b in list(pairwise(edges))[::2]]


@pytest.mark.parametrize("on", ["phi", "context", "both"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rate", [0.05, 0.3])
def test_measured_rate_is_the_real_one_and_near_the_asked(kind: str, on: str, rate: float) -> None:
    seen = NoiseMeasure()
    noisy = list(add_noise(DOCUMENTS, kind=kind, rate=rate, on=on, seed=2, measure=seen))
    pairs = list(zip(DOCUMENTS, noisy, strict=True))
    if on == "both":
        real = sum(distance(a.text, b.text) for a, b in pairs)
        characters = sum(len(a.text) for a in DOCUMENTS)
    else:
        parts = surfaces if on == "phi" else context
        real = sum(distance(x, y) for a, b in pairs for x, y in zip(parts(a), parts(b), strict=True))
        characters = sum(len(x) for a in DOCUMENTS for x in parts(a))
    assert (seen.distance, seen.characters) == (real, characters)
    assert seen.rate is not None and seen.ceiling is not None
    if seen.at_ceiling:
        assert seen.ceiling < rate and seen.rate == pytest.approx(seen.ceiling, rel=NEAR)
    else:
        assert seen.rate == pytest.approx(rate, rel=NEAR)


@pytest.mark.parametrize("kind", KINDS)
def test_a_rate_of_one_is_answered_with_the_ceiling(kind: str) -> None:
    seen = NoiseMeasure()
    noisy = list(add_noise(DOCUMENTS[:40], kind=kind, rate=1.0, on="phi", seed=1, measure=seen))
    before, after = ([one for document in some for one in surfaces(document)] for some in (DOCUMENTS[:40], noisy))
    real = sum(map(distance, before, after))
    assert seen.at_ceiling and seen.distance == real == seen.reachable
    assert seen.record()["ceiling"] == seen.record()["measured"] == real / seen.characters


def test_case_noise_on_digits_has_no_room_and_says_so() -> None:
    seen = NoiseMeasure()
    digits = Document("1", "Call 555-0134 now", (Span(5, 13, "phone"),))
    [noisy] = add_noise([digits], kind="upper", rate=0.1, on="phi", seed=1, measure=seen)
    assert noisy.text == digits.text
    assert (seen.rate, seen.ceiling, seen.at_ceiling) == (0.0, 0.0, True)


@pytest.mark.parametrize("on", ["phi", "context"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_targeted_stays_as_it_was(kind: str, on: str) -> None:
    for before, after in zip(DOCUMENTS, add_noise(DOCUMENTS, kind=kind, rate=0.3, on=on, seed=3), strict=True):
        kept = context if on == "phi" else surfaces
        assert kept(after) == kept(before)
        assert [(s.label, s.entity) for s in after.spans] == [(s.label, s.entity) for s in before.spans]
        assert after.id == before.id and after.groups["noise"] == kind


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_changes_something_and_no_gold_loses_its_letters_and_digits(kind: str) -> None:
    noisy = list(add_noise(DOCUMENTS, kind=kind, rate=1.0, on="both", seed=4))
    assert sum(a.text != b.text for a, b in zip(DOCUMENTS, noisy, strict=True)) > 0.9 * len(DOCUMENTS)
    for document in noisy:
        assert all(any(map(str.isalnum, surface)) for surface in surfaces(document))


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Any text with spans apart, touching, nested, overlapping and of several annotators."""
    text = draw(st.text(st.sampled_from("abIlO01 -./\n\r\tßéΣıﬁ\U0001f600'rnmc"), min_size=1, max_size=40))
    places = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).filter(lambda pair: pair[0] != pair[1])
    spans = st.lists(places, max_size=4).map(lambda found: tuple(Span(min(p), max(p), "misc") for p in found))
    if draw(st.booleans()):
        return Document("d", text, draw(spans))
    return Document("d", text, layers={"ann": draw(spans), "bob": draw(spans)})


@given(documents(), st.sampled_from(list(KINDS)), st.sampled_from(["phi", "context", "both"]), st.floats(0, 1))
def test_spans_follow_their_characters(document: Document, kind: str, on: str, rate: float) -> None:
    seen = NoiseMeasure()
    [noisy] = add_noise([document], kind=kind, rate=rate, on=on, seed=1, measure=seen)
    pairs = [(document.spans, noisy.spans), *((document.layers[name], noisy.layers[name]) for name in document.layers)]
    for before, after in pairs:
        assert len(before) == len(after)
        order = sorted(range(len(before)), key=lambda i: (before[i].start, before[i].end))
        starts = [after[i].start for i in order]
        assert starts == sorted(starts)
        for old, new in zip(before, after, strict=True):
            assert 0 <= new.start < new.end <= len(noisy.text)
            was, now = document.text[old.start : old.end], noisy.text[new.start : new.end]
            assert any(map(str.isalnum, now)) or not any(map(str.isalnum, was))
    assert seen.distance <= seen.reachable
    assert distance(document.text, noisy.text) <= seen.distance


def test_the_same_seed_gives_the_same_text_and_another_seed_another() -> None:
    one, again, other = (
        [document.text for document in add_noise(DOCUMENTS, kind="typo", rate=0.1, seed=seed)] for seed in (7, 7, 8)
    )
    assert one == again
    assert one != other


def test_edits_are_found_by_hand() -> None:
    document = Document("1", "Seen by Rose Miller.", (Span(8, 19, "name_provider"),))
    noisy = edited(document, [Edit(2, 3, "", 1), Edit(9, 10, "00", 2), Edit(14, 14, "x", 1)])
    assert noisy.text == "Sen by R00se Mxiller."
    assert (noisy.spans[0].start, noisy.spans[0].end) == (7, 20)


def test_an_edit_across_a_border_is_refused() -> None:
    document = Document("1", "by Rose", (Span(3, 7, "name_provider"),))
    with pytest.raises(InputError) as told:
        edited(document, [Edit(2, 4, "x", 2)])
    assert "Rose" not in str(told.value)


def test_rounding_is_owed_to_the_documents_behind() -> None:
    """Two characters in a hundred of ten are none in most documents, and still two in a hundred of all."""
    short = [Document(str(i), "Seen abcde", (Span(5, 10, "misc"),)) for i in range(200)]
    seen = NoiseMeasure()
    list(add_noise(short, kind="homoglyph", rate=0.02, on="phi", seed=1, measure=seen))
    assert seen.characters == 1000
    assert abs(seen.distance - 20) <= 1


def test_hard_negatives_count_as_context() -> None:
    spans = (Span(0, 9, "disease"), Span(14, 18, "name_patient"), Span(24, 29, "NAME", identifier="unknown"))
    document = Document("1", "Parkinson and Rose, not Wills here", spans)
    [noisy] = add_noise([document], kind="upper", rate=1.0, on="phi", seed=1)
    assert noisy.text == "Parkinson and ROSE, not Wills here"


def test_a_value_never_begins_or_ends_with_a_blank() -> None:
    """The initial of a name may be mistyped, but if it went, a blank would be left at the border of the gold."""
    text = "by J Smith B of A 4"
    notes = [Document(f"n{i}", text, (Span(3, 12, "name_provider"), Span(16, 19, "misc"))) for i in range(300)]
    changed = 0
    for kind in KINDS:
        for note in add_noise(notes, kind=kind, rate=0.3, on="phi", seed=2):
            changed += surfaces(note) != ["J Smith B", "A 4"]
            assert all(surface == surface.strip() for surface in surfaces(note)), kind
    assert changed > 2000


def test_line_ends_are_those_of_the_text() -> None:
    [noisy] = add_noise(
        [Document("1", "a\r\nRose Ann Miller", (Span(3, 18, "name_patient"),))], kind="line_breaks", rate=1.0, seed=1
    )
    assert noisy.text == "a\r\nRose\r\nAnn\r\nMiller"
    assert (noisy.spans[0].start, noisy.spans[0].end) == (3, 20)


def test_blanks_beside_a_value_stay() -> None:
    """A value that noise glued to its neighbour would have a border that nobody could find."""
    for document in add_noise(DOCUMENTS, kind="spacing", rate=1.0, on="context", seed=5):
        for span in document.spans:
            assert document.text[span.start - 1] == " " and document.text[span.end] == "."


def test_no_replacement_is_punctuation_that_scoring_would_ignore() -> None:
    for table in (SCANNED, HOMOGLYPHS, UNICODE):
        for key, options in table.items():
            for option in options:
                assert option != key
                if any(map(str.isalnum, key)):
                    assert not any(unicodedata.category(c).startswith(("P", "Z", "C")) for c in option)


def test_nothing_to_perturb_is_no_rate_and_says_why() -> None:
    seen = NoiseMeasure()
    [same] = add_noise([Document("1", "nothing here")], kind="ocr", rate=0.1, on="phi", seed=1, measure=seen)
    assert same.text == "nothing here"
    record = seen.record()
    assert record["measured"] is None and record["ceiling"] is None and record["reason"]
    assert list(add_noise([], kind="ocr", rate=0.1, seed=1)) == []
    assert [d.text for d in add_noise([Document("e", "")], kind="typo", rate=0.5, seed=1)] == [""]


def test_chained_noise_is_told() -> None:
    first = list(add_noise(DOCUMENTS[:3], kind="ocr", rate=0.1, seed=1))
    assert [d.groups["noise"] for d in add_noise(first, kind="case", rate=0.1, seed=1)] == ["ocr+case"] * 3


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"kind": "ocrr"}, "did you mean 'ocr'"),
        ({"on": "PHI"}, "a known target"),
        ({"rate": 1.5}, "from 0 to 1"),
        ({"rate": -0.1}, "from 0 to 1"),
        ({"rate": math.nan}, "from 0 to 1"),
        ({"rate": True}, "from 0 to 1"),
        ({"seed": -1}, "whole number"),
    ],
)
def test_bad_settings_are_refused_before_a_document_is_read(changed: dict[str, object], said: str) -> None:
    def unread() -> object:
        raise AssertionError("read")
        yield

    settings = {"kind": "ocr", "rate": 0.1, "on": "both", "seed": 1, **changed}
    with pytest.raises(InputError, match=said):
        add_noise(unread(), **settings)  # type: ignore[arg-type]
