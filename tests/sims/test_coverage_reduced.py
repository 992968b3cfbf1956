"""The simulations at reduced size: intervals cover what they promise, up to the Monte-Carlo error of a small run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sims import coverage, proportions, small_samples
from sims.cohorts import Cohort, alike
from sims.repetitions import Cell, Size, run, where, within
from workup.tasks.risk import metrics as risk

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
    chosen = at(patients, rows, prevalence)
    size = Size(repetitions=250, replicates=1000)
    found = run(coverage, size=size, only=lambda cell: chosen(cell) and cell.band is not None)
    assert [one["metric"] for one in found] == ["auroc", "brier", "calibration_slope", "oe_ratio", "ppv"]
    assert [one for one in found if not one["ok"]] == []
    assert [one["ok"] for one in coverage.summarise(found)] == [True] * 5


def test_what_is_known_to_be_biased_is_measured_and_judges_nothing() -> None:
    found = run(coverage, size=Size(repetitions=4, replicates=200), only=lambda cell: cell.band is None)
    assert {one["metric"] for one in found} == set(coverage.MEASURED)
    assert all(one["ok"] is None and one["repetitions"] == 4 for one in found)
    assert all(one["ok"] is None for one in coverage.summarise(found))


@pytest.mark.parametrize(("patients", "rows", "prevalence"), [(200, 1, 0.3), (200, 5, 0.3), (200, 5, 0.08)])
def test_oe_covers_as_promised_and_the_customary_interval_covers_too_often(
    patients: int, rows: int, prevalence: float
) -> None:
    """The expected events come with the patients: taken as fixed, the interval is wider than 95 % asks for."""
    cohort, truth = Cohort(patients, rows, prevalence), Cohort(patients, rows, prevalence).truth(0.3)["oe_ratio"]
    pair, fixed = (
        next(m for m in risk.calibration_metrics(expected=expected) if m.name == "oe_ratio").interval
        for expected in ("sampled", "fixed")
    )
    assert pair is not None and fixed is not None
    rng, repetitions = np.random.default_rng(20261115), 1500
    covered = np.zeros(2)
    for _ in range(repetitions):
        scores = cohort.draw(rng)
        covered += [where(one.low, one.high, truth) == "covered" for one in (pair(scores, 0.95), fixed(scores, 0.95))]
    rates = covered / repetitions
    assert within(rates[0], np.sqrt(rates[0] * (1 - rates[0]) / repetitions), coverage.BAND)
    assert rates[1] > 0.96


@pytest.mark.parametrize(("patients", "rows"), proportions.ENOUGH)
def test_intervals_of_a_share_cover(patients: int, rows: int) -> None:
    found = run(proportions, size=Size(repetitions=400), only=at(patients, rows))
    assert len(found) == len(proportions.TRUTHS)
    assert [one for one in found if not one["ok"]] == []
    [mean] = proportions.summarise(found)
    assert mean["ok"], mean


@pytest.mark.parametrize(("patients", "rows"), proportions.FEW)
def test_few_patients_of_repeated_rows_cover(patients: int, rows: int) -> None:
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
