"""The simulations at reduced size: intervals cover what they promise, up to the Monte-Carlo error of a small run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sims.cohorts import Cohort, alike
from sims.repetitions import Cell, Size, run, within

from sims import coverage, proportions, small_samples

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning:workup")


def at(patients: int, rows: int, prevalence: float = coverage.PREVALENCE) -> Callable[[Cell], bool]:
    """A choice of the cells with so many patients and rows."""

    def chosen(cell: Cell) -> bool:
        of = cell.settings
        return (of["patients"], of["rows_per_patient"], of.get("prevalence", prevalence)) == (
            patients,
            rows,
            prevalence,
        )

    return chosen


@pytest.mark.parametrize(("patients", "rows", "prevalence"), [(200, 1, 0.3), (200, 5, 0.3), (200, 5, 0.08)])
def test_intervals_of_risk_metrics_cover(patients: int, rows: int, prevalence: float) -> None:
    found = run(coverage, size=Size(repetitions=250, replicates=1000), only=at(patients, rows, prevalence))
    assert [one["metric"] for one in found] == ["auroc", "brier", "calibration_slope", "ppv"]
    assert [one for one in found if not one["ok"]] == []
    assert [one["ok"] for one in coverage.summarise(found)] == [True] * 4


@pytest.mark.parametrize(("patients", "rows"), proportions.ENOUGH)
def test_intervals_of_a_share_cover(patients: int, rows: int) -> None:
    found = run(proportions, size=Size(repetitions=400), only=at(patients, rows))
    assert len(found) == len(proportions.TRUTHS)
    assert [one for one in found if not one["ok"]] == []
    [mean] = proportions.summarise(found)
    assert mean["ok"], mean


@pytest.mark.parametrize(("patients", "rows"), proportions.FEW)
def test_few_patients_of_repeated_rows_cover_or_are_refused(patients: int, rows: int) -> None:
    found = run(proportions, size=Size(repetitions=200), only=at(patients, rows))
    assert [one for one in found if not one["ok"]] == []


def test_every_small_sample_answers() -> None:
    """Nothing is judged there, but no small sample may raise, and where intervals are given they mostly cover."""
    found = run(small_samples, size=Size(repetitions=6, replicates=100))
    assert all(one["ok"] is None for one in found)
    assert all(one["repetitions"] == 6 for one in found)
    assert sum(one["covered"] for one in found) > 0.8 * sum(one["repetitions"] - one["insufficient"] for one in found)


def test_a_band_is_widened_by_two_standard_errors_and_no_more() -> None:
    assert within(0.921, 0.005, (0.93, 0.97))
    assert not within(0.919, 0.005, (0.93, 0.97))
    assert not within(0.981, 0.005, (0.93, 0.97))


def test_the_truth_is_that_of_the_cohort_drawn() -> None:
    """One large sample agrees with the integrals, within four standard errors of its own."""
    cohort, threshold = Cohort(400_000), 0.3
    scores = cohort.draw(np.random.default_rng(1))
    y, risk = scores["outcome"], scores["risk"]
    truth = cohort.truth(threshold)
    error = (y - risk) ** 2
    flagged = risk >= threshold
    assert truth["brier"] == pytest.approx(error.mean(), abs=4 * error.std() / np.sqrt(len(y)))
    assert truth["ppv"] == pytest.approx(y[flagged].mean(), abs=4 * 0.5 / np.sqrt(flagged.sum()))
    assert truth["sensitivity"] == pytest.approx(flagged[y > 0].mean(), abs=4 * 0.5 / np.sqrt(y.sum()))
    assert truth["oe_ratio"] == pytest.approx(y.mean() / risk.mean(), abs=0.01)
    ranks = np.empty(len(y))
    ranks[np.argsort(risk)] = np.arange(1, len(y) + 1)
    events = y.sum()
    auroc = (ranks[y > 0].sum() - events * (events + 1) / 2) / (events * (len(y) - events))
    assert truth["auroc"] == pytest.approx(auroc, abs=0.004)


def test_clustering_leaves_the_chances_alone_and_ties_rows_together() -> None:
    drawn = alike(np.random.default_rng(2), 100_000, 5, 0.3)
    assert drawn.mean() == pytest.approx(0, abs=0.01)
    assert drawn.var() == pytest.approx(1, abs=0.01)
    assert np.corrcoef(drawn[:, 0], drawn[:, 4])[0, 1] == pytest.approx(0.3, abs=0.01)
    scores = Cohort(50_000, 5, 0.08).draw(np.random.default_rng(3))
    assert scores["outcome"].mean() == pytest.approx(0.08, abs=0.004)
    assert scores.n_patients == 50_000
