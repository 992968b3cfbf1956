"""Settings of episodes: defaults, and what does not fit together is refused with what to do."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from workup.errors import StudyError
from workup.tasks.risk.episodes.settings import EpisodeColumnsPart, EpisodesPart, EventsPart


def test_defaults() -> None:
    """Nothing but the horizon must be said; all else has the default that the report shows."""
    part = EpisodesPart.checked({"horizon": "24h"}, where="study.yaml")
    shown = part.model_dump(mode="json")
    assert shown == {
        "horizon": "24h",
        "gap": "0h",
        "present": "0h",
        "recurrent": False,
        "rest": "0h",
        "discharge": "free",
        "stop_at": [],
        "as_of": None,
        "unit": "encounter",
        "score": "max",
        "landmarks": [],
        "stale": "24h",
        "policy": "level",
        "refractory": "0h",
        "act_within": "6h",
        "lead_hours": ["1h", "2h", "4h", "6h", "12h"],
        "weight": "row",
        "version": None,
        "time_zone": None,
    }
    assert EpisodesPart.checked(shown, where="study.yaml") == part


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "'horizon' is missing"),
        ({"horizon": 24}, "a bare number"),
        ({"horizon": "24"}, "a bare number"),
        ({"horizon": "0h"}, "above 0"),
        ({"horizon": "encounter"}, "expected a duration"),
        ({"horizon": "24h", "gap": "24h"}, "gap (24h) must be shorter than horizon (24h)"),
        ({"horizon": "24h", "gap": "1d"}, "set horizon to gap + W"),
        ({"horizon": "stay", "discharge": "censored"}, "leave discharge at free"),
        ({"horizon": "24h", "unit": "landmark"}, "unit: landmark needs landmarks"),
        ({"horizon": "24h", "landmarks": ["6h", "360min"]}, "named twice"),
        ({"horizon": "24h", "landmarks": ["6h"], "stale": "0h"}, "no score is ever in force"),
        ({"horizon": "24h", "unit": "prediction", "score": "mean"}, "takes each by itself"),
        ({"horizon": "24h", "policy": "recorded", "refractory": "6h"}, "alerts that were fired"),
        ({"horizon": "24h", "refractory": "stay"}, "expected a duration"),
        ({"horizon": "24h", "time_zone": "Europe/Nowhere"}, "the name of a time zone"),
        ({"horizon": "24h", "time_zone": "../../etc/passwd"}, "the name of a time zone"),
        ({"horizon": "24h", "stop_at": [""]}, "must not be empty"),
        ({"horizon": "24h", "horizn": "24h"}, "did you mean 'horizon'"),
        ({"horizon": "24h", "recurrent": "perhaps"}, "true or false"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], said: str) -> None:
    """Each with what was expected and what to do."""
    with pytest.raises(StudyError) as caught:
        EpisodesPart.checked(given, where="study.yaml")
    assert said in str(caught.value)


def test_what_yaml_makes_of_dates_and_versions() -> None:
    """A bare date and a bare number are read as the text they were."""
    part = EpisodesPart.checked(
        {"horizon": "stay", "as_of": datetime.date(2024, 3, 31), "version": 2}, where="study.yaml"
    )
    assert (part.as_of, part.version) == ("2024-03-31", "2")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "'target' is missing"),
        ({"target": []}, "at least one type"),
        ({"target": "sepsis"}, "write [sepsis]"),
        ({"target": ["a", "a"]}, "named twice"),
        ({"target": ["a"], "end": ["out"], "lost": ["out"]}, "a stay ends in one of these ways"),
        ({"target": ["a"], "columns": {"patients": "mrn"}}, "did you mean 'patient'"),
    ],
)
def test_events_that_do_not_fit_are_refused(given: dict[str, Any], said: str) -> None:
    """A target must be named, and an end be one thing."""
    with pytest.raises(StudyError) as caught:
        EventsPart.checked(given, where="study.yaml")
    assert said in str(caught.value)


def test_a_type_may_have_two_roles() -> None:
    """Death may be the target and the end."""
    part = EventsPart.checked({"target": ["death"], "death": ["death"]}, where="study.yaml")
    assert part.roles()["death"] == part.roles()["target"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"patient": "mrn", "groups": ["mrn"]}, "patients are no groups"),
        ({"encounter": "csn", "groups": ["csn"]}, "stays are no groups"),
        ({"groups": ["since_start"]}, "another name"),
        ({"groups": ["landmark"]}, "another name"),
        ({"groups": ["threshold"]}, "another name"),
    ],
)
def test_columns_that_cannot_be_groups_are_refused(given: dict[str, Any], said: str) -> None:
    """Neither patients nor keys of the estimates; but a ward may be called unit."""
    with pytest.raises(StudyError) as caught:
        EpisodeColumnsPart.checked(given, where="study.yaml")
    assert said in str(caught.value)
    assert EpisodeColumnsPart.checked({"groups": ["sex", "unit"]}, where="study.yaml").groups == ("sex", "unit")
