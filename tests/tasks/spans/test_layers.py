"""Several annotators: golds made into one layer, and agreement, with hand-worked values and laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.errors import InputError
from workup.tasks.spans.agreement import count_agreement
from workup.documents.document import Document, Span
from workup.documents.annotators import readings
from workup.documents.mappings import LabelMapping

TEXT = "x" * 40


def document(**layers: list[tuple[int, int, str]]) -> Document:
    spans = {name: tuple(Span(start, end, label) for start, end, label in rows) for name, rows in layers.items()}
    return Document("1", TEXT, layers=spans)


def places(found: tuple[Document, ...]) -> list[tuple[int, int, str]]:
    (one,) = found
    assert not one.layers
    return [(span.start, span.end, span.label) for span in one.spans]


def test_each_is_one_document_per_annotator() -> None:
    both = document(bob=[(0, 4, "city")], ann=[])
    first, second = readings(both)
    assert (first.spans, second.spans) == ((), (Span(0, 4, "city"),))
    assert first.layers == second.layers == {}
    plain = Document("1", TEXT, (Span(0, 4, "city"),))
    assert readings(plain) == readings(plain, annotators="majority") == (plain,)


def test_union_intersection_majority_by_hand() -> None:
    three = document(
        ann=[(0, 10, "NAME"), (20, 25, "DATE")],
        bob=[(4, 12, "NAME")],
        cat=[(6, 8, "NAME"), (11, 14, "NAME"), (20, 25, "AGE")],
    )
    assert places(readings(three, annotators="union")) == [(0, 14, "NAME"), (20, 25, "AGE"), (20, 25, "DATE")]
    assert places(readings(three, annotators="intersection")) == [(6, 8, "NAME")]
    # 4 to 10 by ann and bob; 11 to 12 by bob and cat; two of three are more than half.
    assert places(readings(three, annotators="majority")) == [(4, 10, "NAME"), (11, 12, "NAME")]


def test_half_is_not_a_majority() -> None:
    four = document(ann=[(0, 4, "city")], bob=[(0, 4, "city")], cat=[], dan=[])
    assert places(readings(four, annotators="majority")) == []
    two = document(ann=[(0, 4, "city")], bob=[(2, 6, "city")])
    assert places(readings(two, annotators="majority")) == places(readings(two, annotators="intersection"))


def test_touching_golds_stay_two_unless_somebody_joined_them() -> None:
    apart = document(ann=[(0, 4, "city"), (4, 8, "city")], bob=[(0, 4, "city"), (4, 8, "city")])
    for how in ("union", "intersection", "majority"):
        assert places(readings(apart, annotators=how)) == [(0, 4, "city"), (4, 8, "city")]
    joined = document(ann=[(0, 4, "city"), (4, 8, "city")], bob=[(0, 8, "city")])
    assert places(readings(joined, annotators="intersection")) == [(0, 8, "city")]


def test_labels_are_compared_by_canonical_name() -> None:
    two = document(ann=[(0, 8, "LOC")], bob=[(4, 9, "LOCATION"), (20, 22, "SHOE")])
    mapping = LabelMapping.load("tab+presidio")
    assert places(readings(two, annotators="union", mapping=mapping)) == [(0, 9, "LOC"), (20, 22, "SHOE")]
    assert places(readings(two, annotators="intersection", mapping=mapping)) == [(4, 8, "LOC")]
    assert places(readings(two, annotators="intersection")) == []


def test_identifier_entity_and_subtype() -> None:
    def said(identifier: str | None, entity: str = "e", subtype: str | None = None) -> tuple[Span, ...]:
        return (Span(0, 4, "NAME", subtype=subtype, entity=entity, identifier=identifier),)

    three = Document("1", TEXT, layers={"a": said("no_mask"), "b": said("direct"), "c": said("no_mask")})
    kinds = [readings(three, annotators=how)[0].spans[0].identifier for how in ("union", "intersection", "majority")]
    assert kinds == ["direct", "no_mask", "no_mask"]
    tied = Document("1", TEXT, layers={"a": said("no_mask", "e1"), "b": said("quasi", "e2"), "c": said(None)})
    span = readings(tied, annotators="majority")[0].spans[0]
    assert (span.identifier, span.entity) == ("quasi", None)
    silent = Document("1", TEXT, layers={"a": said(None, subtype="DOB"), "b": said(None, subtype="DOB")})
    span = readings(silent, annotators="union")[0].spans[0]
    assert (span.identifier, span.entity, span.subtype) == (None, "e", "DOB")


def test_unknown_way() -> None:
    with pytest.raises(InputError, match="did you mean 'majority'"):
        readings(document(a=[]), annotators="majorty")  # type: ignore[arg-type]


SPANS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 9), st.sampled_from(["city", "date", "NAME"])).map(
        lambda row: (row[0], row[0] + row[1], row[2])
    ),
    max_size=5,
)


@given(st.lists(SPANS, min_size=1, max_size=4))
def test_layers_say_what_characters_say(layers: list[list[tuple[int, int, str]]]) -> None:
    many = document(**{f"a{i}": rows for i, rows in enumerate(layers)})
    for how, needed in (("union", 1), ("intersection", len(layers)), ("majority", len(layers) // 2 + 1)):
        found = readings(many, annotators=how)[0].spans
        for label in ("city", "date", "NAME"):
            voices = [{i for s, e, one in rows for i in range(s, e) if one == label} for rows in layers]
            expected = {i for i in range(40) if sum(i in voice for voice in voices) >= needed}
            marked = [i for span in found if span.label == label for i in range(span.start, span.end)]
            assert sorted(marked) == sorted(expected)


@given(SPANS, st.integers(1, 4))
def test_annotators_of_one_mind_give_their_golds_back(rows: list[tuple[int, int, str]], n: int) -> None:
    apart = []  # golds of one label that do not overlap
    for start, end, label in sorted(set(rows)):
        if not any(one == label and start < e and s < end for s, e, one in apart):
            apart.append((start, end, label))
    same = document(**{f"a{i}": apart for i in range(n)})
    for how in ("union", "intersection", "majority"):
        assert places(readings(same, annotators=how)) == sorted(apart)


# Agreement


def test_agreement_by_hand() -> None:
    two = document(ann=[(0, 10, "city"), (20, 30, "date")], bob=[(0, 10, "city"), (20, 25, "date")])
    found = count_agreement([two])
    pair = ("ann", "bob")
    assert found.values("f1", pair=pair).tolist() == [0.5]  # one common of two and two
    assert found.values("f1", level="leaf", label="city").tolist() == [1.0]
    assert found.values("f1", level="leaf", label="date").tolist() == [0.0]
    # 15 both, 5 first only, 20 none: observed 35/40, chance (20*15 + 20*25)/1600 = 0.5.
    assert found.values("kappa", pair=pair)[0] == pytest.approx((0.875 - 0.5) / 0.5, rel=1e-12)
    # date: 5 both, 5 first only, 30 none: observed 35/40, chance (10*5 + 30*35)/1600 = 0.6875.
    assert found.values("kappa", level="branch", label="DATE")[0] == pytest.approx((0.875 - 0.6875) / 0.3125, rel=1e-12)
    # 80 ratings, 35 ones, 45 zeros; 5 characters apart, each 2*1*1/1: observed 10/80, expected 2*35*45/(80*79).
    assert found.values("alpha")[0] == pytest.approx(1 - (10 / 80) / (2 * 35 * 45 / (80 * 79)), rel=1e-12)


def test_right_place_under_another_label() -> None:
    found = count_agreement([document(ann=[(0, 10, "city")], bob=[(0, 10, "county")])])
    assert found.values("f1").tolist() == [1.0]
    assert found.values("f1", level="branch").tolist() == [1.0]
    assert found.values("f1", level="leaf").tolist() == [0.0]


def test_alpha_with_three_readers_and_a_document_that_one_did_not_read() -> None:
    three = document(ann=[(0, 10, "city")], bob=[(0, 10, "city")], cat=[(0, 5, "city")])
    two = document(ann=[], bob=[(0, 4, "city")])
    alone = document(cat=[(0, 40, "city")])
    found = count_agreement([three, two, alone])
    # Ratings: 120 + 80 = 200, ones 25 + 4. Apart: 5 characters at 2*2*1/2, and 4 at 2*1*1/1.
    expected = 1 - ((5 * 2 + 4 * 2) / 200) / (2 * 29 * 171 / (200 * 199))
    assert found.values("alpha")[0] == pytest.approx(expected, rel=1e-12)
    assert found.lengths[("ann", "bob")].tolist() == [[0, 40], [1, 40]]
    # Spans of pairs: ann-bob 1 of (1+0) + (1+1), ann-cat 0 of 2, bob-cat 0 of 2.
    assert found.values("f1")[0] == pytest.approx(2 * 1 / (3 + 2 + 2), rel=1e-12)
    kappas = [found.values("kappa", pair=one)[0] for one in sorted(found.lengths)]
    assert found.values("kappa")[0] == pytest.approx(np.mean(kappas), rel=1e-12)


def test_undefined_has_its_reason() -> None:
    nothing = count_agreement([document(ann=[], bob=[])]).rows()
    assert {(row.measure, row.pair) for row in nothing} == {
        *{("f1", ("ann", "bob")), ("kappa", ("ann", "bob"))},
        *{("f1", None), ("kappa", None), ("alpha", None)},
    }
    assert all(row.value is None and row.reason and row.documents == 1 for row in nothing)
    alone = count_agreement([document(ann=[(0, 4, "city")])]).rows()
    assert {row.reason for row in alone} == {"no document was read by two annotators"}
    assert count_agreement([]).rows()[0].value is None


def test_rows_at_every_level() -> None:
    rows = count_agreement([document(ann=[(0, 4, "city")], bob=[(0, 4, "city"), (9, 12, "SHOE")])]).rows()
    cells = {(row.level, row.label) for row in rows}
    assert cells == {
        *{("phi", None), ("branch", None), ("branch", "GEO"), ("branch", "SHOE")},
        *{("leaf", None), ("leaf", "city"), ("leaf", "SHOE")},
    }
    typed = {row.measure for row in rows if row.label is None and row.level != "phi"}
    assert typed == {"f1"}


CORPUS = st.lists(st.lists(SPANS, min_size=3, max_size=3), min_size=1, max_size=3)


@given(CORPUS, st.permutations(["ann", "bob", "cat"]))
def test_the_order_of_annotators_changes_nothing(
    corpus: list[list[list[tuple[int, int, str]]]], names: list[str]
) -> None:
    one = count_agreement([document(ann=a, bob=b, cat=c) for a, b, c in corpus])
    other = count_agreement([document(**dict(zip(names, layers, strict=True))) for layers in corpus])
    renamed = dict(zip(["ann", "bob", "cat"], names, strict=True))
    for measure in ("f1", "kappa", "alpha"):
        assert one.values(measure) == pytest.approx(other.values(measure), nan_ok=True, rel=1e-9)
        assert -1 - 1e-9 <= one.values(measure)[0] <= 1 + 1e-9 or math.isnan(one.values(measure)[0])
    for pair in one.lengths:
        same = tuple(sorted(renamed[name] for name in pair))
        for measure in ("f1", "kappa"):
            there = other.values(measure, pair=same)  # type: ignore[arg-type]
            assert one.values(measure, pair=pair) == pytest.approx(there, nan_ok=True, rel=1e-9)


@given(st.lists(SPANS.filter(bool), min_size=1, max_size=3), st.integers(2, 4))
def test_perfect_agreement_is_one(corpus: list[list[tuple[int, int, str]]], n: int) -> None:
    found = count_agreement([document(**{f"a{i}": rows for i in range(n)}) for rows in corpus])
    for row in found.rows():
        assert row.value == pytest.approx(1.0, rel=1e-12) or (row.value is None and row.measure != "f1")


@given(CORPUS, st.lists(st.integers(0, 2), min_size=3, max_size=3))
def test_a_weight_is_a_repeated_document(corpus: list[list[list[tuple[int, int, str]]]], weights: list[int]) -> None:
    documents = [document(ann=a, bob=b, cat=c) for a, b, c in corpus]
    chosen = weights[: len(documents)]
    repeated = [one for one, times in zip(documents, chosen, strict=True) for _ in range(times)]
    for measure in ("f1", "kappa", "alpha"):
        weighted = count_agreement(documents).values(measure, weights=[chosen, [1] * len(chosen)])
        assert weighted.shape == (2,)
        assert weighted[0] == pytest.approx(count_agreement(repeated).values(measure)[0], nan_ok=True, rel=1e-9)
