"""scrubadub as a detector: what its patterns find, overlaps kept apart, and detectors that cannot be used here."""

from __future__ import annotations

import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from workup.errors import InputError, MissingExtra, SystemFailure
from workup.systems.spans.scrubadub import Scrubadub
from workup.documents.document import Span
from workup.documents.mappings import LabelMapping
from workup.testing import check_system

pytest.importorskip("scrubadub", reason="the scrubadub extra is not installed")


def opened(**settings: Any) -> Scrubadub:
    return Scrubadub(**{"name": "scrubadub", "base": Path(), **settings})


def test_findings_stand_at_their_code_points() -> None:
    system = opened()
    text = "😀 Call (617) 555-0142 or write to rose@example.org, SSN 219-09-1234, card 4111111111111111."
    (spans,) = system.detect([text])
    assert spans is not None
    assert [(span.label, text[span.start : span.end]) for span in spans] == [
        ("phone", "(617) 555-0142"),
        ("email", "rose@example.org"),
        ("social_security_number", "219-09-1234"),
        ("credit_card", "4111111111111111"),
    ]
    assert LabelMapping.load(system.mapping).unmapped(system.emits) == []
    assert (
        system.version.startswith("scrubadub 2.") and "locale=en_US detectors=credential,credit_card" in system.version
    )
    assert "name" not in system.emits and system.notes == ()


def test_findings_that_overlap_keep_their_types() -> None:
    text = "username: rose@example.org password: hunter2"
    found = opened().detect([text])[0]
    assert found is not None
    assert {span.label for span in found} == {"credential", "email"}  # merged, scrubadub would call both 'unknown'
    assert Span(10, 26, "email") in found


def test_it_conforms() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_system(opened(), task="spans")


def test_another_locale_and_chosen_detectors() -> None:
    british = opened(locale="en_GB")
    assert {"postalcode", "national_insurance_number"} <= set(british.emits)
    assert "social_security_number" not in british.emits
    assert LabelMapping.load("scrubadub").unmapped(british.emits) == []
    few = opened(detectors=["email"])
    assert few.emits == ("email",) and few.detect(["(617) 555-0142 rose@example.org"]) == [[Span(15, 31, "email")]]


def test_dates_of_birth_hang_on_the_calendar_and_say_so() -> None:
    system = opened(detectors=["date_of_birth"])
    assert "day of the run" in system.notes[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"detectors": ["emial"]},
            "'detectors' names 'emial', which cannot be used.*did you mean 'email'",
        ),
        ({"detectors": ["tagged"]}, "'detectors' names 'tagged', which cannot be used here"),
        ({"detectors": ["postalcode"]}, "'postalcode' does not know the locale en_US"),
        ({"detectors": []}, "'detectors' must be a list"),
        ({"locale": "english"}, "a language and a country, such as en_US"),
    ],
)
def test_settings_that_teach(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        opened(**settings)


def test_a_detector_whose_data_is_absent_fails_aloud() -> None:
    """Names need corpora of NLTK: without them a run stops, and never finds nothing in silence."""
    try:
        import nltk

        nltk.data.find("tokenizers/punkt")
        pytest.skip("the corpora of NLTK are installed")
    except LookupError:
        pass
    system = opened(detectors=["text_blob_name"])
    with pytest.raises(SystemFailure, match="text 1 of 1 in its batch") as failed:
        system.detect(["Rose Quenneville"])
    assert "Quenneville" not in str(failed.value)


def test_it_travels_as_its_settings() -> None:
    other = pickle.loads(pickle.dumps(opened(detectors=["email"])))
    assert other.emits == ("email",)


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scrubadub", None)
    with pytest.raises(MissingExtra, match=r"'\.\[scrubadub\]'"):
        opened()
