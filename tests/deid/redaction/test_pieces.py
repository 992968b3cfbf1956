"""Spans become pieces: merged by the stated rule, replaced, and every place known in both texts."""

from __future__ import annotations

import itertools

from hypothesis import given

from tests.support.redaction_notes import arbitrary
from workup.documents.document import Document, Span
from workup.redaction import Alignment, Piece, merged, moved
from workup.redaction.replacements import rebuilt


def _keys(spans: list[Span]) -> list[tuple[int, int, str]]:
    return [(span.start, span.end, span.label) for span in spans]


def test_overlapping_spans_become_one_with_the_label_of_the_longest() -> None:
    text = "Ann Lee Ray Roe in Boston"
    assert _keys(merged(text, [Span(0, 7, "name_patient"), Span(4, 15, "name_provider")])) == [(0, 15, "name_provider")]
    # equally long: a leaf before a branch, whichever comes first
    assert _keys(merged(text, [Span(0, 7, "NAME"), Span(0, 7, "name_relative")])) == [(0, 7, "name_relative")]
    assert _keys(merged(text, [Span(4, 11, "name_patient"), Span(0, 7, "date")])) == [(0, 11, "date")]


def test_touching_spans_stay_two_and_chains_become_one() -> None:
    text = "abcdefghij"
    assert _keys(merged(text, [Span(0, 3, "mrn"), Span(3, 6, "ssn")])) == [(0, 3, "mrn"), (3, 6, "ssn")]
    assert _keys(merged(text, [Span(0, 4, "mrn"), Span(3, 6, "ssn"), Span(5, 9, "zip")])) == [(0, 9, "mrn")]


def test_blanks_at_the_edges_stay_in_the_text() -> None:
    assert _keys(merged("  Ann \n x", [Span(0, 7, "name_patient"), Span(6, 8, "date")])) == [(2, 5, "name_patient")]


@given(arbitrary())
def test_merging_covers_what_was_covered_and_no_more(case: tuple[Document, list[Span]]) -> None:
    document, spans = case
    found = merged(document.text, spans)
    covered = {place for span in spans for place in range(span.start, span.end)}
    new = {place for span in found for place in range(span.start, span.end)}
    assert new <= covered
    assert all(document.text[place].isspace() for place in covered - new)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))
    assert merged(document.text, list(reversed(spans))) == found


def test_golds_keep_their_text_outside_pieces_and_cover_what_replaced_them() -> None:
    text = "Seen by Ann Lee for asthma."
    new, pieces = rebuilt(text, [(Span(8, 15, "name_provider"), "[NAME-1]", "token")])
    assert new == "Seen by [NAME-1] for asthma."
    golds = moved(
        [Span(8, 15, "name_provider"), Span(12, 15, "NAME"), Span(20, 26, "disease"), Span(0, 4, "misc")], pieces
    )
    assert [new[gold.start : gold.end] for gold in golds] == ["[NAME-1]", "[NAME-1]", "asthma", "Seen"]


def test_an_edge_between_two_pieces_belongs_to_neither() -> None:
    both = Alignment([Piece(0, 3, 0, 5, "mrn", "token"), Piece(3, 6, 5, 6, "ssn", "token")])
    assert both.span(0, 3) == (0, 5)
    assert both.span(3, 6) == (5, 6)
    assert both.span(6, 8) == (6, 8)
    assert both.span(2, 4) == (0, 6)
