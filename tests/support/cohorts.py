"""Cohorts with planted truth, for tests that need rows of outcome and risk."""

from __future__ import annotations

import numpy as np
from scipy import special

from workup.scores import Scores


def draw_cohort(
    seed: int,
    n: int = 200,
    *,
    patients: int | None = None,
    weighted: bool = False,
    digits: int | None = None,
    slope: float = 1.0,
    shift: float = 0.0,
    spread: float = 0.0,
) -> Scores:
    """A cohort whose true calibration slope and intercept are `slope` and `shift`.

    With `patients` rows repeat within them and share a random intercept of SD `spread`; `digits` rounds the risks, so
    that they tie; groups `ward` has three levels, one of them with missing values.
    """
    rng = np.random.default_rng(seed)
    ids = np.arange(n) if patients is None else rng.integers(0, patients, n)
    lp = rng.normal(-0.6, 1.1, n)
    own = rng.normal(0, spread, int(ids.max()) + 1) if spread else np.zeros(int(ids.max()) + 1)
    risk = special.expit(lp)
    if digits is not None:
        risk = np.round(risk, digits)
    outcome = (rng.random(n) < special.expit(shift + slope * lp + own[ids])).astype(float)
    ward = np.array(["A", "B", None], dtype=object)[rng.choice(3, n, p=[0.5, 0.35, 0.15])]
    return Scores.of(
        {"outcome": outcome, "risk": risk},
        patient=None if patients is None else [f"id{code:05d}" for code in ids],
        groups={"ward": ward},
        weight=rng.uniform(0.3, 3.0, n) if weighted else None,
    )
