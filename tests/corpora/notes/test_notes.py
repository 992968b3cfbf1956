"""Notes: is the truth true, is every leaf there, do the notes of a patient agree, and are no two notes alike?"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from tests.support.pinned_notes import PINNED
from workup.corpora.formats.spans.native_jsonl import record_of
from workup.corpora.generate.notes import generate
from workup.documents.builder import Written
from workup.documents.document import check_spans
from workup.documents.labels import SCHEME, branch_of
from workup.documents.titles import title_length


def identifying(written: Written) -> list[tuple[str, str]]:
    document = written.document
    return [
        (span.label, document.text[span.start : span.end])
        for span in document.spans
        if branch_of(span.label) != "CLIN" and span.identifier != "no_mask"
    ]


def test_the_corpus_of_seed_42_has_not_changed(thousand: list[Written]) -> None:
    lines = [json.dumps(record_of(written.document), ensure_ascii=False) for written in thousand]
    assert hashlib.sha256(("\n".join(lines) + "\n").encode()).hexdigest() == PINNED


def test_a_document_depends_on_its_number_and_not_on_those_made_before(thousand: list[Written]) -> None:
    again = generate(900, seed=42)  # of another size, asked for backwards
    for number in (899, 500, 41, 40, 39, 0):
        assert again.written(number) == thousand[number]
    assert generate(5, seed=43).written(0).document.text != thousand[0].document.text


def test_every_gold_lies_on_its_text_and_none_overlap(thousand: list[Written]) -> None:
    for written in thousand:
        document = written.document
        check_spans(document.text, document.spans, document=document.id)
        places = [(span.start, span.end) for span in document.spans]
        assert places == sorted(places)
        assert all(end <= start for (_, end), (start, _) in pairwise(places))
        assert all(0 <= start < end <= len(document.text) for start, end in written.boilerplate)
        assert {span.label for span in document.spans} <= set(SCHEME)


def test_no_value_is_glued_to_its_neighbour_and_no_slot_is_left(thousand: list[Written]) -> None:
    for written in thousand:
        text = written.document.text
        assert not re.search(r"[{}\0]", text)
        assert text == text.strip() and not re.search(r" \n|\.\.| [,;]", text)
        for span in written.document.spans:
            before, after = text[: span.start][-1:], text[span.end :][:2]
            assert not (before.isalnum() and text[span.start].isalnum()), span.label
            glued = after[:1].isalnum() and text[span.end - 1].isalnum()
            assert not glued or (branch_of(span.label) == "AGE" and after[0] == "y"), span.label


def test_every_leaf_occurs_and_every_type_and_forty_specialties(thousand: list[Written]) -> None:
    labels = Counter(span.label for written in thousand for span in written.document.spans)
    assert set(labels) == set(SCHEME)
    assert min(labels.values()) >= 5
    documents = [written.document for written in thousand]
    assert len({document.type for document in documents}) >= 18
    assert len({document.specialty for document in documents}) >= 40
    assert len({document.site for document in documents}) == 8
    assert len({document.groups["family"] for document in documents}) >= 45


@pytest.mark.parametrize("density", ["low", "high"])
def test_every_leaf_occurs_at_any_density(density: str) -> None:
    labels = {span.label for document in generate(1000, seed=8, density=density).documents() for span in document.spans}
    assert labels == set(SCHEME)


def test_spans_follow_the_conventions_of_our_gold(thousand: list[Written]) -> None:
    for written in thousand:
        for label, text in identifying(written):
            if label.startswith("name_"):
                assert title_length(text) == 0 and not text.endswith(("'s", ", MD", " MD"))
            if label.startswith("age_"):
                words = re.fullmatch(r"[a-z]+([ -][a-z]+)*|\d{1,3}", text)
                assert words and "year" not in text
            if label == "age_over_89" and text.isdigit():
                assert int(text) > 89
            if label == "age_under_90" and text.isdigit():
                assert int(text) < 90
            if label == "county":
                assert (
                    "county" in text.casefold() or "parish" in text.casefold() or "borough" in text.casefold() or text
                )


def test_a_share_of_notes_identifies_nobody(thousand: list[Written]) -> None:
    free = [written for written in thousand if written.document.groups["phi"] == "none"]
    assert 40 <= len(free) <= 130
    assert all(not identifying(written) for written in free)
    assert all(identifying(written) for written in thousand if written.document.groups["phi"] == "present")
    assert any(len(written.document.text) > 1200 for written in free)
    none = generate(60, seed=1, phi_free=1.0, types=["progress_note", "lab_report"])
    assert not [found for number in range(60) for found in identifying(none.written(number))]


def test_texts_without_gold_hold_no_dates_times_or_telephone_numbers(thousand: list[Written]) -> None:
    """What would identify and is not marked is a false negative of the gold."""
    pattern = re.compile(
        r"\b\d{1,2}/\d{1,2}/\d{2,4}\b|\b(19|20)\d\d-\d\d\b|\b\d{3}-\d{4}\b|@\w|\b\d{1,2}:\d\d\b|\bhttps?:|"
        r"\b(January|February|April|June|July|August|September|October|November|December)\b|"
        r"\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b|\b\d+ (days|weeks|months|years) ago\b|\byesterday\b"
    )
    for written in thousand:
        text, place, plain = written.document.text, 0, []
        for span in written.document.spans:
            plain.append(text[place : span.start])
            place = span.end
        found = pattern.search("\n".join([*plain, text[place:]]))
        assert found is None, (written.document.groups["family"], found)


def test_notes_of_a_patient_agree_and_follow_each_other(thousand: list[Written]) -> None:
    by_patient = defaultdict(list)
    for written in thousand:
        by_patient[written.document.patient].append(written)
    assert len(by_patient) == 400 and max(map(len, by_patient.values())) == 7
    for notes in by_patient.values():
        documents = [written.document for written in notes]
        days = [datetime.date.fromisoformat(str(document.time)) for document in documents]
        assert days == sorted(days)
        assert len({document.site for document in documents}) == 1
        for group in ("sex", "origin", "decade"):
            assert len({document.groups[group] for document in documents}) == 1
        births = {span.entity for document in documents for span in document.spans if span.label == "date_birth"}
        assert len(births) <= 1
        numbers = {
            document.text[span.start : span.end]
            for document in documents
            for span in document.spans
            if span.label == "mrn" and span.entity and span.entity.startswith(str(documents[0].patient))
        }
        assert len(numbers) <= 1  # one record number, in the form of the house


def test_ages_fit_the_birth_and_the_day_of_the_note() -> None:
    for document in generate(300, seed=9).documents():
        born = [span for span in document.spans if span.label == "date_birth"]
        ages = [span for span in document.spans if span.entity == f"{document.patient}:age"]
        for span in ages:
            text = document.text[span.start : span.end]
            if text.isdigit() and document.groups["age"] != "0-17":
                low, high = {"18-49": (18, 49), "50-69": (50, 69), "70-89": (70, 89), "90+": (90, 120)}[
                    document.groups["age"]
                ]
                assert low <= int(text) <= high
        assert len({span.entity for span in born}) <= 1


def test_no_two_notes_are_alike(thousand: list[Written]) -> None:
    """Openings differ within a type, and no two bodies share most of their runs of eight tokens."""
    openings: dict[str, Counter[str]] = defaultdict(Counter)
    holding: dict[int, list[int]] = defaultdict(list)
    sizes = []
    for number, written in enumerate(thousand):
        openings[str(written.document.type)][" ".join(written.document.text.split()[:5])] += 1
        runs = _runs(written)
        sizes.append(len(runs))
        for run in runs:
            holding[run].append(number)
    for kind, found in openings.items():
        assert found.most_common(1)[0][1] <= 0.3 * sum(found.values()), kind
    shared: Counter[tuple[int, int]] = Counter()
    for numbers in holding.values():
        for at, one in enumerate(numbers):
            for other in numbers[at + 1 :]:
                shared[one, other] += 1
    assert shared and max(count / min(sizes[one], sizes[other]) for (one, other), count in shared.items()) <= 0.6


def _runs(written: Written) -> set[int]:
    text, place, plain = written.document.text, 0, []
    for start, end in written.boilerplate:
        plain.append(text[place:start])
        place = end
    tokens = re.findall(r"\w+|[^\w\s]", " ".join([*plain, text[place:]]).casefold())
    return {hash(tuple(tokens[at : at + 8])) for at in range(len(tokens) - 7)}


def test_boilerplate_is_marked_and_is_the_same_in_many_notes(thousand: list[Written]) -> None:
    said = Counter(written.document.text[start:end] for written in thousand for start, end in written.boilerplate)
    assert sum(said.values()) > 500 and len(said) < 60


def test_modern_content_stands_in_modern_notes_only(thousand: list[Written]) -> None:
    recent = [written.document for written in thousand if re.search(r"COVID|SARS-CoV-2|mRNA", written.document.text)]
    assert len(recent) > 100
    assert min(str(document.time) for document in recent) >= "2020-04"
    assert any("mRNA" in document.text for document in recent)
    assert any("video" in written.document.text for written in thousand)


# ---- settings --------------------------------------------------------------------------------------------------------


def _mean(length: str, **settings: str) -> float:
    documents = list(generate(200, seed=5, length=length, **settings).documents())  # type: ignore[arg-type]
    return sum(len(document.text) for document in documents) / len(documents)


def test_lengths_are_what_they_say() -> None:
    short, medium, long = (_mean(length) for length in ("short", "medium", "long"))
    assert 400 < short < 900 and 1300 < medium < 1700 and long > 1.4 * medium


def test_density_says_how_many_identifiers_there_are() -> None:
    found = []
    for density in ("low", "medium", "high"):
        notes = generate(200, seed=5, density=density)
        found.append(sum(len(identifying(notes.written(number))) for number in range(200)))
    assert found[0] < 0.75 * found[1] and found[1] < 0.9 * found[2]


def test_ambiguity_says_how_many_hard_negatives_and_ambiguous_names_there_are() -> None:
    hard, names = [], []
    for ambiguity in ("none", "standard", "high"):
        documents = list(generate(200, seed=5, ambiguity=ambiguity).documents())
        spans = [span for document in documents for span in document.spans]
        hard.append(sum((span.subtype or "").startswith("hard_negative") for span in spans))
        names.append(sum(document.groups["ambiguous_name"] == "yes" for document in documents))
    assert hard[0] == names[0] == 0
    assert hard[1] > 100 and hard[2] > 1.5 * hard[1] and names[2] > 3 * names[1] > 0


def test_hard_negatives_are_gold_that_no_policy_of_ours_masks(thousand: list[Written]) -> None:
    hard = [
        span
        for written in thousand
        for span in written.document.spans
        if (span.subtype or "").startswith("hard_negative")
    ]
    assert len(hard) > 500 and {span.identifier for span in hard} == {"no_mask"}
    assert {span.label for span in hard} <= {"misc", "disease", "drug", "procedure", "anatomy", "lab", "vital"}


def test_types_specialties_and_leaves_can_be_chosen() -> None:
    chosen = generate(
        80, seed=3, types=["nursing_note"], specialties=["cardiology", "nephrology"], leaves=["date", "name_patient"]
    )
    documents = list(chosen.documents())
    assert {document.type for document in documents} == {"nursing_note"}
    assert {document.specialty for document in documents} == {"cardiology", "nephrology"}
    kept = {label for number in range(80) for label, _ in identifying(chosen.written(number))}
    assert kept == {"date", "name_patient"}
