"""Redaction of documents: every mode, its laws, numbering, dates, what is kept, and what is refused."""

from __future__ import annotations

import datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.redaction_notes import KEY, arbitrary, dated, marked, note
from workup.documents.document import Document, Span, check_spans
from workup.errors import InputError
from workup.redaction import (
    Redacted,
    Settings,
    interval_preservation,
    redact,
    redact_all,
    residual_originals,
    surrogate_consistency,
)
from workup.redaction.dates.shifting import shift_of
from workup.redaction.keys import Secret
from workup.values.dates import FULL_FORMS

WAYS = [
    {"how": "label"},
    {"how": "mask"},
    {"how": "surrogate"},
    {"how": "hash"},
    {"how": "label", "shift_dates": True},
    {"how": "mask", "shift_dates": True, "rules": True},
    {"how": "hash", "shift_dates": True, "whole_weeks": True},
    {"how": "label", "rules": False, "number_by": "document"},
]


def _restored(done: Redacted) -> str:
    text, parts, at = done.document.text, [], 0
    for piece in done.pieces:
        parts += [text[at : piece.new_start], done.source.text[piece.start : piece.end]]
        at = piece.new_end
    return "".join([*parts, text[at:]])


def _true_places(done: Redacted) -> None:
    before, after = done.source.text, done.document.text
    at = new_at = 0
    for piece in done.pieces:
        assert before[at : piece.start] == after[new_at : piece.new_start]
        at, new_at = piece.end, piece.new_end
    assert before[at:] == after[new_at:]


@pytest.mark.parametrize("way", WAYS)
@given(case=arbitrary())
def test_what_is_between_pieces_stays_and_pieces_give_the_original_back(
    way: dict[str, object], case: tuple[Document, list[Span]]
) -> None:
    document, spans = case
    done = redact(document, spans, key=KEY, **way)  # type: ignore[arg-type]
    _true_places(done)
    assert _restored(done) == document.text
    check_spans(done.document.text, done.document.spans, document="any")


@pytest.mark.parametrize("way", WAYS)
@given(seed=st.integers(0, 500))
def test_no_replaced_value_stands_at_its_place(way: dict[str, object], seed: int) -> None:
    document = note(seed)
    done = redact(document, document.spans, key=KEY, **way)  # type: ignore[arg-type]
    assert done.pieces
    for piece in done.pieces:
        old, new = document.text[piece.start : piece.end], done.document.text[piece.new_start : piece.new_end]
        assert old != new and old.casefold() != new.casefold()
    # the golds of the document lie on what replaced them
    places = {(piece.new_start, piece.new_end) for piece in done.pieces}
    kept = {done.document.text[s.start : s.end] for s in done.document.spans if (s.start, s.end) not in places}
    assert kept <= {document.text[one.start : one.end] for one in done.kept}


@given(seed=st.integers(0, 500))
def test_surrogates_are_consistent_over_the_notes_of_a_patient_and_leave_no_original(seed: int) -> None:
    notes = [note(seed, id=f"n{i}", patient="P1") for i in range(3)]
    done = redact_all([(one, one.spans) for one in notes], Settings.of(how="surrogate", key=KEY))
    consistent, residual = surrogate_consistency(done), residual_originals(done)
    assert consistent.value == 1.0 and consistent.n > 20
    assert residual.value == 0.0 and residual.n > 20


@given(
    days=st.lists(st.dates(datetime.date(1950, 1, 1), datetime.date(2040, 1, 1)), min_size=2, max_size=8, unique=True),
    forms=st.lists(st.sampled_from([name for name in FULL_FORMS if not name.startswith("eu")]), min_size=8, max_size=8),
    weeks=st.booleans(),
    how=st.sampled_from(["label", "mask", "surrogate", "hash"]),
)
def test_intervals_are_kept(days: list[datetime.date], forms: list[str], weeks: bool, how: str) -> None:
    note = dated(days, forms[: len(days)], patient="P1")
    done = redact(note, note.spans, how=how, shift_dates=True, key=KEY, whole_weeks=weeks)
    assert [piece.done for piece in done.pieces] == ["shift"] * len(days)
    audit = interval_preservation([done])
    assert (audit.value, audit.n) == (1.0, len(days) * (len(days) - 1) // 2)


def test_the_shift_is_that_of_the_patient_in_every_note() -> None:
    one = marked("Seen ", ("3/4/2021", "date"), ".", id="a", patient="P1", time="2021-03-04")
    other = marked("Seen ", ("March 14, 2021", "date"), ".", id="b", patient="P1", time="2021-03-14T08:00:00")
    done = redact_all([(one, one.spans), (other, other.spans)], Settings.of(shift_dates=True, key=KEY))
    days = shift_of(Secret(KEY), "patient P1")
    first, second = (datetime.date(2021, 3, 4 + gap) + datetime.timedelta(days=days) for gap in (0, 10))
    assert done[0].document.text == f"Seen {first.month}/{first.day}/{first.year}."
    assert done[0].document.time == first.isoformat() and done[1].document.time == f"{second.isoformat()}T08:00:00"
    assert done[0].document.patient == done[1].document.patient != "P1"


def test_what_of_dates_stays_and_what_cannot_be_moved_is_counted() -> None:
    document = marked(
        ("2019", "year_only"), " ", ("last Tuesday", "date_relative"), " ", ("Christmas 2019", "date_relative"), " ",
        ("14:30", "time"), " ", ("the 4th", "date"), " ", ("yesterday", "DATE"), " ", ("2018", "date"),
    )  # fmt: skip
    done = redact(document, document.spans, shift_dates=True, key=KEY)
    # a weekday leaves one shift in seven, Christmas one
    assert done.document.text == "2019 [DATE-1] [DATE-2] 14:30 [DATE-3] yesterday 2018"
    assert done.counts["words of the calendar that would tell the shift"] == 3
    assert done.counts["dates not read"] == 0 and len(done.kept) == 4


def test_a_month_that_the_shift_does_not_leave_becomes_a_token() -> None:
    document = marked("In ", ("March 2021", "date"), ".")
    texts = set()
    for patient in range(200):
        done = redact(Document("n", document.text, patient=str(patient)), document.spans, shift_dates=True, key=KEY)
        texts.add(done.document.text)
    assert "In March 2021." not in texts and "In [DATE-1]." in texts


def test_the_birth_of_somebody_of_ninety_is_not_told() -> None:
    document = marked("Born ", ("3/4/1920", "date_birth"), ", seen ", ("5/1/2021", "date"), ".")
    done = redact(document, document.spans, how="surrogate", key=KEY)
    assert done.document.text.startswith("Born [DATE-1], seen ") and done.counts["births of people of 90 and over"] == 1
    younger = marked("Born ", ("6/4/1931", "date_birth"), ", seen ", ("5/1/2021", "date"), ".")
    assert "[DATE" not in redact(younger, younger.spans, how="surrogate", key=KEY).document.text


def test_rules_of_safe_harbor() -> None:
    document = marked(
        ("93", "age_over_89"), " ", ("45", "age_under_90"), " ", ("91", "AGE"), " ", ("44", "AGE"), " ",
        ("02115", "zip"), " ", ("03601", "zip"), " ", ("2019", "year_only"), " ", ("SW1A 1AA", "zip"), " ",
        ("95", "age_under_90"), " months",
    )  # fmt: skip
    assert redact(document, document.spans).document.text == "90+ 45 90+ 44 021 000 2019 [ZIP-1] 95 months"
    strict = redact(document, document.spans, rules=False).document.text
    assert strict == "[AGE-1] [AGE-2] [AGE-3] [AGE-4] [ZIP-1] [ZIP-2] [YEAR-1] [ZIP-3] [AGE-5] months"
    assert "90+" in redact(document, document.spans, how="mask", rules=True).document.text
    assert set(redact(document, document.spans, how="mask").document.text) <= set("█ months")


def test_tokens_are_numbered_by_entity_in_order() -> None:
    document = marked(
        ("Ann Lee", "name_patient"), " ", ("LEE, ANN", "name_patient"), " ", ("617-723-4411", "phone"), " ",
        ("(617) 723-4411", "phone"), " ", ("3/4/21", "date"), " ", ("March 4, 2021", "date"), " ", ("Bob Roe", "NAME"),
    )  # fmt: skip
    assert redact(document, document.spans).document.text == (
        "[NAME-1] [NAME-1] [PHONE-1] [PHONE-1] [DATE-1] [DATE-1] [NAME-2]"
    )


def test_numbers_run_by_patient_or_by_document() -> None:
    notes = [
        marked(("Ann Lee", "name_patient"), " ", ("Bob Roe", "name_provider"), id="a", patient="P1"),
        marked(("Bob Roe", "name_provider"), " ", ("Ann", "name_patient"), id="b", patient="P1"),
        marked(("Bob Roe", "name_provider"), id="c", patient="P2"),
    ]
    found = [(one, one.spans) for one in notes]
    by_patient = [one.document.text for one in redact_all(found, Settings.of())]
    assert by_patient == ["[NAME-1] [NAME-2]", "[NAME-2] [NAME-1]", "[NAME-1]"]
    by_document = [one.document.text for one in redact_all(found, Settings.of(number_by="document"))]
    assert by_document == ["[NAME-1] [NAME-2]", "[NAME-1] [NAME-2]", "[NAME-1]"]


def test_new_tokens_are_counted_from_those_that_are_there() -> None:
    document = marked("[NAME-3] saw ", ("Ann Lee", "name_patient"), " on ", ("3/4/21", "date"))
    assert redact(document, document.spans).document.text == "[NAME-3] saw [NAME-4] on [DATE-1]"


@pytest.mark.parametrize("text", ["[NAME-1] came", "<PERSON> came", "██ came", "[MRN:0123456789abcdef]"])
def test_surrogates_and_shifts_are_refused_on_redacted_text(text: str) -> None:
    for way in ({"how": "surrogate"}, {"how": "label", "shift_dates": True}):
        with pytest.raises(InputError, match="not redacted before") as refused:
            redact(Document("n1", text), [], **way)  # type: ignore[arg-type]
        assert "came" not in str(refused.value)
    assert redact(Document("n1", text), []).document.text == text


def test_clinical_and_unmasked_spans_stay_and_unknown_labels_go() -> None:
    document = Document("n1", "Parkinson Roe Paris X9")
    spans = [
        Span(0, 9, "disease"),
        Span(10, 13, "NAME"),
        Span(14, 19, "city", identifier="no_mask"),
        Span(20, 22, "PHI"),
    ]
    assert redact(document, spans).document.text == "Parkinson [NAME-1] Paris [PHI-1]"
    assert redact(document, spans, keep=["NAME"]).document.text == "Parkinson Roe Paris [PHI-1]"
    with pytest.raises(InputError, match="canonical labels"):
        redact(document, [Span(0, 3, "SHOE_SIZE")])
    with pytest.raises(InputError, match="inside its text"):
        redact(document, [Span(0, 99, "NAME")])


def test_ids_of_entities_and_patients_are_made_anew() -> None:
    gold = Span(0, 7, "name_patient", entity="Ann Lee")
    document = Document("n1", "Ann Lee", (gold,), patient="Ann Lee", time="2021-03-04")
    done = redact(document, [gold]).document
    assert "Ann" not in f"{done}" and done.patient == "patient-1" and done.time is None


def test_a_hash_needs_a_key_and_is_the_same_everywhere() -> None:
    with pytest.raises(InputError, match="needs a key"):
        redact(Document("n1", "Ann"), [], how="hash")
    one = marked("x ", ("Ann Lee", "name_patient"), id="a", patient="P1")
    other = marked(("ANN  LEE", "name_provider"), id="b", patient="P2")
    texts = [redact(note, note.spans, how="hash", key=KEY).document.text for note in (one, other)]
    assert texts[0] == f"x {texts[1]}"


def test_without_a_key_two_runs_differ_and_with_one_they_do_not() -> None:
    document = note(3)
    keyed = {redact(document, document.spans, how="surrogate", key=KEY).document.text for _ in range(2)}
    unkeyed = {redact(document, document.spans, how="surrogate").document.text for _ in range(2)}
    assert len(keyed) == 1 and len(unkeyed) == 2


def test_surrogates_do_not_hang_on_the_order_of_documents() -> None:
    notes = [note(seed, id=f"n{seed}", patient=f"P{seed % 2}") for seed in range(4)]
    settings = Settings.of(how="surrogate", key=KEY)
    forward = redact_all([(one, one.spans) for one in notes], settings)
    backward = redact_all([(one, one.spans) for one in reversed(notes)], settings)
    names = [[(p.label, one.document.text[p.new_start : p.new_end]) for p in one.pieces if p.label.startswith("name")]
             for one in (*forward, *reversed(backward))]  # fmt: skip
    assert names[:4] == names[4:]


def test_surrogates_are_no_value_of_another_patient_of_the_file() -> None:
    first = redact(*_with_spans("Ann Lee", "P1"), how="surrogate", key=KEY).document.text
    family = first.split()[-1]
    both = [_with_spans("Ann Lee", "P1"), _with_spans(family, "P2")]
    done = redact_all(both, Settings.of(how="surrogate", key=KEY))
    assert family not in done[0].document.text


def _with_spans(name: str, patient: str) -> tuple[Document, tuple[Span, ...]]:
    document = marked((name, "name_patient"), id=patient, patient=patient)
    return document, document.spans


def test_two_documents_of_one_id_are_refused() -> None:
    with pytest.raises(InputError, match="id of its own"):
        redact_all([(Document("a", "x"), []), (Document("a", "y"), [])], Settings.of())


def test_settings_are_checked() -> None:
    for wrong in ({"how": "lable"}, {"number_by": "note"}, {"keep": ["shoe"]}, {"mask_with": "ab"}, {"mask_with": "x"},
                  {"whole_weeks": True}, {"key": b"short"}):  # fmt: skip
        with pytest.raises(InputError):
            Settings.of(**wrong)  # type: ignore[arg-type]


def test_pieces_come_in_order() -> None:
    document = note(9)
    done = redact(document, document.spans, how="surrogate", key=KEY)
    assert all(one.end <= other.start and one.new_end <= other.new_start for one, other in pairwise(done.pieces))
