"""Clinical terms under masking: hand-worked losses, laws of retention, and what reaches record and report."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.notes import detect, notes
from workup import Report, Study, validate
from workup.documents.detections import GivenSpans
from workup.errors import StudyError
from workup.lexicon import Extractor
from workup.reports.spans.setting import Primary
from workup.reports.spans.utility import utility as utility_section
from workup.tasks.spans.task import SpansTask
from workup.tasks.spans.terms_kept import TOKEN, Masked, Reading, united

LEXICON = Extractor.load()
NOTE = "Mr. Olsen has breast cancer. Aspirin 81 mg daily. K 3.4, BP 120/80. MRI of the knee on 4/5/2031."


def _places(text: str) -> list[tuple[int, int, str, str]]:
    return [(term.start, term.end, term.category, term.concept) for term in LEXICON.extract(text)]


def _at(words: str, text: str = NOTE) -> tuple[int, int]:
    start = text.index(words)
    return start, start + len(words)


def _fate(*masks: tuple[str, str], golds: tuple[str, ...] = (), text: str = NOTE) -> Any:
    predictions = [(*_at(words, text), label) for words, label in masks]
    return Reading(text, predictions, _places).fate([_at(words, text) for words in golds])


# ---- one document ----------------------------------------------------------------------------------------------------


def test_the_note_holds_what_the_cases_below_rest_on() -> None:
    assert Counter(_fate().terms) == {"disease": 1, "medication": 1, "lab/vital": 2, "procedure": 1, "anatomy": 1}


def test_masks_on_golds_alone_lose_nothing() -> None:
    fate = _fate(("Olsen", "name_patient"), ("4/5/2031", "date"), golds=("Olsen", "4/5/2031"))
    assert fate.lost == [] and not fate.gained and sum(fate.terms.values()) == 6


def test_a_term_masked_whole_is_lost_to_the_label_that_covers_it() -> None:
    [lost] = _fate(("Aspirin", "name_patient"), ("Olsen", "name_patient"), golds=("Olsen",)).lost
    assert (lost.start, lost.end) == _at("Aspirin")
    assert lost[2:] == ("medication", "whole", 0, "name_patient", False)


def test_half_a_term_leaves_another_term_that_was_not_there() -> None:
    fate = _fate(("cancer", "name_patient"))
    [lost] = fate.lost
    assert (lost.category, lost.how) == ("disease", "part")
    assert fate.gained == {"anatomy": 1}  # breast alone is anatomy
    assert fate.terms["anatomy"] == 1  # the knee; a gain is none of those that had to survive


def test_an_abbreviation_whose_number_is_masked_is_lost_to_the_mask_beside_it() -> None:
    [lost] = _fate(("3.4", "date"), ("4/5/2031", "date"), golds=("4/5/2031",)).lost
    assert (NOTE[lost.start : lost.end], lost.category, lost.how, lost.prediction) == ("K", "lab/vital", "beside", 0)


def test_an_abbreviation_read_from_an_identifier_never_counted() -> None:
    fate = _fate(golds=("3.4",))
    assert fate.terms["lab/vital"] == 1 and fate.lost == []  # K was read as potassium by a number that is no result


def test_a_term_on_a_gold_does_not_count_masked_or_not() -> None:
    for masks in ((), (("Aspirin", "employer"),)):
        fate = _fate(*masks, golds=("Aspirin",))
        assert fate.terms["medication"] == 0 and fate.lost == []


def test_a_mask_that_runs_on_from_an_identifier_is_told_apart() -> None:
    [lost] = _fate(("Olsen has breast cancer", "name_patient"), golds=("Olsen",)).lost
    assert (lost.how, lost.on_identifier) == ("whole", True)


def test_the_mask_that_covers_most_is_named() -> None:
    start, end = _at("breast cancer")
    reading = Reading(NOTE, [(start, start + 3, "city"), (start + 3, end, "employer"), (0, 2, "date")], _places)
    [lost] = reading.fate([]).lost
    assert (lost.label, lost.prediction, lost.how) == ("employer", 1, "whole")


def test_a_document_without_an_answer_keeps_nothing() -> None:
    fate = Reading(NOTE, [], _places, answered=False).fate([_at("Olsen")])
    assert len(fate.lost) == 6 and {lost.how for lost in fate.lost} == {"no_answer"}
    assert {lost.prediction for lost in fate.lost} == {None}


def test_masks_outside_the_text_hide_nothing() -> None:
    assert Reading(NOTE, [(500, 600, "date"), (-5, 0, "date")], _places).fate([]).lost == []


def test_the_token_is_no_term_and_joins_none() -> None:
    assert LEXICON.extract(TOKEN) == []
    assert LEXICON.extract(f"{TOKEN} ray, {TOKEN}ray, breast {TOKEN} cancer")[0].concept != "breast cancer"
    assert not [term for term in LEXICON.extract(f"{TOKEN} ray {TOKEN}-linked") if term.start < 3]


_RANGES = st.lists(st.tuples(st.integers(-5, 60), st.integers(0, 20)).map(lambda p: (p[0], p[0] + p[1])), max_size=8)


@given(text=st.text(alphabet="ab \n[]X", min_size=1, max_size=50), ranges=_RANGES)
def test_places_go_to_the_masked_text_and_back(text: str, ranges: list[tuple[int, int]]) -> None:
    masked = Masked(text, ranges)
    hidden = {place for start, end in ranges for place in range(max(0, start), min(end, len(text)))}
    joined = united(ranges, len(text))
    assert {place for start, end in joined for place in range(start, end)} == hidden
    assert len(masked.text) == len(text) - len(hidden) + len(TOKEN) * len(joined)
    for start in range(len(text)):
        for end in range(start + 1, min(len(text), start + 6) + 1):
            moved = masked.new(start, end)
            assert (moved is None) == bool(hidden & set(range(start, end)))
            if moved is not None:
                assert masked.text[moved[0] : moved[1]] == text[start:end]
                assert masked.old(*moved) == (start, end)


# ---- a study ---------------------------------------------------------------------------------------------------------


def _validated(corpus: list[dict[str, Any]], found: dict[str, Any], **fields: Any) -> Report:
    study = Study.of({"name": "u", "task": "spans", "utility": "lexicon", **fields})
    return validate(study, table=corpus, system=GivenSpans(found))


def _retention(report: Report, **keys: Any) -> Any:
    rows = report.results["internal"].estimates
    return next(e for e in rows if e.metric == "retention" and dict(e.slice) == keys and e.level == 0.95)


def _clinic(count: int = 30) -> list[dict[str, Any]]:
    start, end = _at("Olsen")
    spans = [{"start": start, "end": end, "label": "name_patient"}]
    return [{"id": f"d{i}", "text": NOTE, "spans": spans, "patient": f"p{i % 15}"} for i in range(count)]


def test_retention_is_kept_over_what_had_to_survive_by_category() -> None:
    corpus = _clinic()
    (start, end), (a, b) = _at("Olsen"), _at("Aspirin")
    found = {one["id"]: [{"start": start, "end": end, "label": "name_patient"}] for one in corpus}
    for i in range(10):
        found[f"d{i}"].append({"start": a, "end": b, "label": "name_patient"})
    report = _validated(corpus, found)
    whole, drugs, disease = (
        _retention(report),
        _retention(report, category="medication"),
        _retention(report, category="disease"),
    )
    assert (whole.numerator, whole.denominator) == (170, 180)
    assert drugs.value == pytest.approx(20 / 30) and drugs.low < 20 / 30 < drugs.high
    assert disease.value == 1 and drugs.n_patients == 15
    table = report.results["internal"].tables["utility"]
    assert table["losses"] == [
        {"category": "medication", "label": "name_patient", "how": "whole", "on_identifier": False, "count": 10}
    ]
    assert {row["category"]: row["lost"] for row in table["categories"]}["medication"] == 10
    assert table["terms_in_text"] == 180


def test_the_section_shows_every_category_and_what_lost_terms() -> None:
    corpus = _clinic()
    (a, b) = _at("Aspirin")
    report = _validated(corpus, {one["id"]: [{"start": a, "end": b, "label": "employer"}] for one in corpus})
    section = utility_section(report.results["internal"], Primary.of(report))
    retention, losses = section.tables
    assert [row[0] for row in retention.rows] == [
        *("all together", "disease", "medication", "procedure", "anatomy", "lab/vital")
    ]
    assert retention.rows[2][1] == "0" and retention.rows[2][3] == "0/30"
    assert losses.rows == (("medication", "employer", "masked whole", "no", "30"),)
    assert "Olsen" not in repr(section) and "aspirin" not in repr(section).lower()


def test_every_lost_term_stands_in_the_details_by_place() -> None:
    corpus = _clinic(12)
    (start, end), (a, b) = _at("Olsen"), _at("Aspirin")
    spans = [{"start": start, "end": end, "label": "name_patient"}, {"start": a, "end": b, "label": "employer"}]
    study = Study.of({"name": "u", "task": "spans", "utility": "lexicon"})
    task, given = SpansTask(), GivenSpans({one["id"]: spans for one in corpus})
    read = task.read(study, corpus)
    scores = task.scores(read, task.run(lambda: given, read, None, None, lambda *_: None, budget=None))  # type: ignore[arg-type]
    records = [one for one in task.details(scores, study) if one["kind"] == "term"]
    assert [one["case"] for one in records] == [one["id"] for one in corpus]
    assert records[0] == {
        "case": "d0", "kind": "term", "start": a, "end": b, "label": "medication",
        "outcome": "lost", "matched": [1], "category": "whole", "by": "employer",
    }  # fmt: skip


def test_policies_differ_in_what_had_to_survive() -> None:
    text = "Seen at Knee Clinic for gout."
    start, end = _at("Knee Clinic", text)
    corpus = [
        {"id": f"d{i}", "text": text, "spans": [{"start": start, "end": end, "label": "org_other"}]} for i in range(12)
    ]
    found = {one["id"]: [{"start": start, "end": end, "label": "org_other"}] for one in corpus}
    report = _validated(corpus, found, policies=["as_annotated", "limited_data_set"])
    for policy in ("as_annotated", "limited_data_set"):
        e = _retention(report, policy=policy)
        assert (e.numerator, e.denominator) == (12, 12)  # the knee of a clinic's name is nobody's knee


def test_golds_that_must_stay_are_clinical_content() -> None:
    start, end = _at("Aspirin")
    corpus = _clinic(12)
    for one in corpus:
        one["spans"] = [*one["spans"], {"start": start, "end": end, "label": "drug"}]
    report = _validated(corpus, {one["id"]: [{"start": start, "end": end, "label": "name_patient"}] for one in corpus})
    assert _retention(report, category="medication").value == 0


@pytest.mark.parametrize("ignore", [[], ["employer"]])
def test_a_term_on_an_ignored_gold_is_no_loss(ignore: list[str]) -> None:
    start, end = _at("Aspirin")
    corpus = _clinic(12)
    for one in corpus:
        one["spans"] = [{"start": start, "end": end, "label": "employer"}]
    found = {one["id"]: [{"start": start, "end": end, "label": "employer"}] for one in corpus}
    report = _validated(corpus, found, ignore=ignore)
    assert _retention(report, category="medication").status == "undefined"
    assert _retention(report).value == 1


def test_unknown_documents_and_the_order_of_documents_change_nothing() -> None:
    corpus = notes(60, patients=20)
    found = detect(corpus)
    one = _validated(corpus, found)
    other = _validated(corpus[::-1], {**found, "elsewhere": [{"start": 0, "end": 4, "label": "date"}]})
    assert _retention(one).denominator > 100
    for category in ({}, {"category": "disease"}):
        mine, theirs = _retention(one, **category), _retention(other, **category)
        assert (mine.value, mine.low, mine.high) == (theirs.value, theirs.low, theirs.high)


def test_gold_echo_keeps_all_and_a_mask_over_everything_keeps_none() -> None:
    corpus = notes(60, patients=20)
    echo = _validated(corpus, {one["id"]: one["spans"] for one in corpus})
    assert _retention(echo).value == 1
    whole = {one["id"]: [{"start": 0, "end": len(one["text"]), "label": "date"}] for one in corpus}
    assert _retention(_validated(corpus, whole)).value == 0
    nothing = _validated(corpus, {one["id"]: [] for one in corpus})
    assert _retention(nothing).value == 1
    assert _retention(_validated(corpus, {})).value == 0  # no answer is no redacted text


def test_without_clinical_terms_it_is_undefined_and_says_why() -> None:
    corpus = [{"id": f"d{i}", "text": "Call Ann Lee.", "spans": []} for i in range(12)]
    e = _retention(_validated(corpus, {one["id"]: [] for one in corpus}))
    assert e.status == "undefined" and e.value is None and "no clinical term" in e.reason


def test_it_is_asked_for_and_otherwise_changes_nothing() -> None:
    corpus = notes(20)
    plain = Study.of({"name": "u", "task": "spans"})
    report = validate(plain, table=corpus, system=GivenSpans(detect(corpus)))
    assert plain.utility == "none" and "utility" not in report.results["internal"].tables
    assert not [e for e in report.results["internal"].estimates if e.metric == "retention"]
    with pytest.raises(StudyError, match="utility"):
        Study.of({"name": "u", "task": "spans", "utility": "lexikon"})


def test_the_record_holds_no_text() -> None:
    corpus = notes(40, canary="ZQX")
    report = _validated(corpus, detect(corpus))
    assert "ZQX" not in json.dumps(report.results["internal"].tables["utility"])


_MASKS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 20)).map(lambda p: (p[0], p[0] + p[1], "date")), min_size=1, max_size=7
)


@given(masks=_MASKS, start=st.integers(0, 70), length=st.integers(1, 9))
def test_who_did_it_is_who_covers_most_or_stands_nearest(
    masks: list[tuple[int, int, str]], start: int, length: int
) -> None:
    end = start + length
    reading = Reading("." * 90, masks, lambda text: [])
    lost = reading._lost((start, end, "drug", "one"), [])
    shared = [min(end, b) - max(start, a) for a, b, _ in masks]
    assert lost.prediction is not None and shared[lost.prediction] == max(shared)  # below 0 it is the gap between them
    assert (lost.how == "beside") == (max(shared) <= 0)
