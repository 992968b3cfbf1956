"""Intervals of alarm metrics at reduced size: they cover as they promise, and those of independent alerts do not."""

from __future__ import annotations

import numpy as np
import pytest

from sims import episodes
from sims.repetitions import Size, run, within

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning:workup")


def test_intervals_of_alarm_metrics_cover() -> None:
    found = run(
        episodes, size=Size(repetitions=150, replicates=1000), only=lambda cell: cell.settings["patients"] == 60
    )
    assert {one["metric"] for one in found} == {*episodes.METRICS, *episodes.NAIVE}
    judged = [one for one in found if one["metric"] in episodes.METRICS]
    assert [one for one in judged if not within(one["rate"], one["se"], one["band"])] == []
    # A median needs 20 patients with a flagged event, which a ward of 60 now and then has not.
    assert max(one["insufficient"] for one in judged) <= 4
    naive = [one for one in found if one["metric"] in episodes.NAIVE]
    assert len(naive) == 2
    for one in naive:
        assert not within(one["rate"], one["se"], episodes.BAND), one["metric"]


def test_the_truth_is_that_of_the_wards_drawn() -> None:
    """One large ward agrees with the recursion, within four standard errors of its own."""
    scores = episodes.ward(6_000, seed=1)
    watching, events = (scores.take(scores[kind] == 1) for kind in ("watch", "event"))
    patient = watching.patient
    truth = episodes.truth()

    def at(name: str) -> np.ndarray:
        return watching[f"{name}@{episodes.THRESHOLD:g}"]

    for name, top, bottom, scale in (
        ("alarm_rate", at("alerts"), watching["days"], 100),
        ("alert_ppv", at("true"), at("true") + at("false"), 1),
    ):
        x, d = np.bincount(patient, top), np.bincount(patient, bottom)
        ratio = x.sum() / d.sum()
        error = np.sqrt(np.sum((x - ratio * d) ** 2)) / d.sum()
        assert abs(ratio - truth[name] / scale) < 4 * error, name
    lead = events[f"lead@{episodes.THRESHOLD:g}"]
    known = lead[np.isfinite(lead)]
    assert abs(np.mean(known < truth["lead_time_median"]) - 0.5) < 4 * 0.6 / np.sqrt(known.size)
    assert abs(known.size / lead.size - truth["event_sensitivity"]) < 4 * 0.5 / np.sqrt(lead.size)
