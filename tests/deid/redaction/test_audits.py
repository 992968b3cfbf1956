"""Audits find what is planted: a value with two surrogates, two with one, a broken interval, an original left."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.support.redaction_notes import KEY, marked
from workup.documents.document import Document, Span
from workup.redaction import (
    Piece,
    Redacted,
    audits,
    interval_preservation,
    redact,
    residual_originals,
    surrogate_consistency,
)
from workup.redaction.replacements import Done


def _planted(pairs: Sequence[tuple[str, str, str]], *, done: Done, patient: str = "P1", tail: str = "") -> Redacted:
    """A redaction as somebody might have done it: (label, original, replacement)."""
    before = after = ""
    pieces = []
    for label, old, new in pairs:
        before, after = before + "Seen ", after + "Seen "
        pieces.append(Piece(len(before), len(before) + len(old), len(after), len(after) + len(new), label, done))
        before, after = before + old + ". ", after + new + ". "
    source = Document("n", before + tail)
    return Redacted(source, Document("n", after + tail), tuple(pieces), (), patient, {})


def test_consistent_surrogates() -> None:
    done = _planted([("mrn", "123", "777"), ("mrn", "1-23", "7-77"), ("mrn", "456", "888")], done="surrogate")
    audit = surrogate_consistency([done])
    assert (audit.value, audit.numerator, audit.n) == (1.0, 2, 2)


def test_a_value_with_two_surrogates_and_two_values_with_one() -> None:
    two = _planted([("mrn", "123", "777"), ("mrn", "123", "778"), ("mrn", "456", "888")], done="surrogate")
    assert (surrogate_consistency([two]).numerator, surrogate_consistency([two]).n) == (1, 2)
    one = _planted([("mrn", "123", "777"), ("mrn", "456", "777"), ("mrn", "9", "888")], done="surrogate")
    assert (surrogate_consistency([one]).numerator, surrogate_consistency([one]).n) == (1, 3)
    # in notes of different patients, or of different kinds, that is as it should be
    apart = [
        _planted([("mrn", "123", "777")], done="surrogate"),
        _planted([("mrn", "456", "777")], done="surrogate", patient="P2"),
    ]
    assert surrogate_consistency(apart).value == 1.0
    kinds = _planted([("mrn", "123", "777"), ("ssn", "456", "777")], done="surrogate")
    assert surrogate_consistency([kinds]).value == 1.0


def test_intervals_that_are_kept_and_one_that_is_not() -> None:
    kept = [("date", "3/4/2021", "3/14/2021"), ("date", "April 1, 2021", "April 11, 2021")]
    audit = interval_preservation([_planted(kept, done="shift")])
    assert (audit.value, audit.n) == (1.0, 1)
    broken = [*kept, ("date", "2021-05-01", "2021-05-12")]
    audit = interval_preservation([_planted(broken, done="shift")])
    assert (audit.numerator, audit.n) == (1, 3)
    unread = [*kept, ("date", "2021-05-01", "soon")]
    audit = interval_preservation([_planted(unread, done="shift")])
    assert (audit.numerator, audit.n) == (1, 3) and dict(audit.beside)["unread_dates"] == 1
    apart = [_planted(kept[:1], done="shift"), _planted(broken[2:], done="shift", patient="P2")]
    assert interval_preservation(apart).value is None


def test_partial_dates_have_no_interval() -> None:
    audit = interval_preservation(
        [_planted([("date", "3/4", "3/14"), ("date", "March 2021", "April 2021")], done="shift")]
    )
    assert audit.value is None and audit.n == 0 and dict(audit.beside)["partial_dates"] == 2 and audit.reason


def test_originals_that_are_left_behind() -> None:
    done = _planted([("name_patient", "Quenneville", "[NAME-1]")], done="token", tail="Mrs. QUENNEVILLE left.")
    assert (residual_originals([done]).value, residual_originals([done]).n) == (1.0, 1)
    clean = _planted([("name_patient", "Quenneville", "[NAME-1]")], done="token", tail="She left.")
    assert residual_originals([clean]).value == 0.0
    # also where one patient's original is another value's surrogate, or stands in another note of the patient
    swapped = _planted(
        [("name_patient", "Quenneville", "Oduya"), ("name_patient", "Oduya", "Quenneville")], done="surrogate"
    )
    assert residual_originals([swapped]).numerator == 2
    other = _planted([], done="token", tail="Seen by Quenneville.")
    assert residual_originals([clean, other]).numerator == 1
    stranger = _planted([], done="token", tail="Seen by Quenneville.", patient="P2")
    assert residual_originals([clean, stranger]).numerator == 0


def test_a_date_that_falls_on_the_old_day_of_another_is_no_residue() -> None:
    done = _planted([("date", "03/04/2021", "03/14/2021"), ("date", "03/14/2021", "03/24/2021")], done="shift")
    assert residual_originals([done]).numerator == 0


def test_what_is_kept_is_no_residue() -> None:
    document = Document("n", "Parkinson has Parkinson.")
    spans = [Span(0, 9, "name_patient"), Span(14, 23, "disease")]
    assert residual_originals([redact(document, spans)]).numerator == 0


def test_nothing_to_count_is_null_with_a_reason() -> None:
    for audit in audits([redact(Document("n", "Nothing."), [])]):
        record = audit.record()
        assert record["value"] is None and record["n"] == 0 and record["reason"]


@pytest.mark.parametrize("how", ["label", "surrogate"])
def test_all_audits_of_a_redaction(how: str) -> None:
    document = marked(
        ("Ann Quenneville", "name_patient"), " came on ", ("3/4/2021", "date"), " and ", ("3/9/2021", "date")
    )
    found = {
        audit.metric: audit for audit in audits([redact(document, document.spans, how=how, shift_dates=True, key=KEY)])
    }
    assert found["interval_preservation"].value == 1.0 and found["residual_originals"].value == 0.0
    assert found["surrogate_consistency"].value == (1.0 if how == "surrogate" else None)
