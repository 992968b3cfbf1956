"""What chance alone makes of a calibration curve: a perfect model passes its 95th percentile one time in twenty."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from sims.cohorts import SPREAD, alike, centre
from workup.stats import calibration, smooth
from workup.stats.perfect_calibration import distances_by_chance


@pytest.mark.parametrize(("patients", "rows", "icc"), [(300, 1, 0.0), (120, 5, 0.6)])
def test_a_perfect_model_is_beyond_chance_one_time_in_twenty(patients: int, rows: int, icc: float) -> None:
    """Rows of one patient that share their fate too; drawn apart, the second model would be accused far more often."""
    rng, repetitions = np.random.default_rng(20261115), 120
    beyond = np.zeros(2)
    for _ in range(repetitions):
        lp = (centre(0.3) + SPREAD * alike(rng, patients, rows, icc)).ravel()
        luck = special.ndtr(alike(rng, patients, rows, icc)).ravel()
        risk, ones = special.expit(lp), np.ones(lp.size)
        outcome = (luck < risk).astype(np.float64)
        at, apart = smooth.knots(lp, ones), np.zeros(lp.size, dtype=np.int64)
        seen = smooth.spline_distance_replicates(lp, outcome, risk, ones[None, :], at=at).ici[0]
        for i, patient in enumerate((np.repeat(np.arange(patients), rows), np.arange(lp.size))):
            found = distances_by_chance(outcome, lp, risk, ones, patient, at=at, apart=apart, rng=rng, draws=100)
            beyond[i] += seen > np.quantile(found.distances.ici, 0.95)
    rates = beyond / repetitions
    assert rates[0] < 0.05 + 3 * np.sqrt(0.05 * 0.95 / repetitions)
    assert rows == 1 or rates[1] > rates[0] + 0.05


def test_few_cells_or_many_give_the_same_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    from workup.stats import perfect_calibration

    rng = np.random.default_rng(3)
    lp = rng.normal(-1, 1, 3_000)
    risk, ones, apart = special.expit(lp), np.ones(3_000), np.zeros(3_000, dtype=np.int64)
    outcome = (rng.random(3_000) < risk).astype(np.float64)
    means = []
    for cells in (1_000, 3_000):
        monkeypatch.setattr(perfect_calibration, "CELLS", cells)
        found = distances_by_chance(
            outcome,
            calibration.logit(risk),
            risk,
            ones,
            np.arange(3_000),
            at=smooth.knots(lp, ones),
            apart=apart,
            rng=np.random.default_rng(4),
            draws=100,
        )
        means.append([values.mean() for values in found.distances])
    assert means[0] == pytest.approx(means[1], rel=0.01)
