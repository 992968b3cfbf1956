"""Small, odd and lopsided tables: every metric and table answers or says why not, without a warning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tests.tasks.risk.horizon.test_metrics import followed
from workup.estimate import Draws, estimate, slices_by
from workup.tasks.risk.horizon.censoring import STRATUM, Censoring, Horizon
from workup.tasks.risk.horizon.curves import at_each_horizon, observed_curves
from workup.tasks.risk.horizon.diagnostics import censoring_notes, censoring_table, followup_table
from workup.tasks.risk.horizon.metrics import Resampling, horizon_metrics

HORIZONS = [Horizon("3d", 3.0), Horizon("6d", 6.0)]
ENDS = ([0.4, 0.4, 0.2], [0.8, 0.1, 0.1], [0.05, 0.9, 0.05], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0])


@pytest.mark.parametrize("seed", range(15))
def test_nothing_warns_and_every_value_lies_in_its_interval(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 90))
    t = rng.integers(0, 9, n).astype(float) if seed % 2 else rng.exponential(4, n)
    status = rng.choice([0, 1, 2], n, p=ENDS[seed % 5])
    t = np.where((t == 0) & (status > 0), 1, t)
    p = np.round(rng.random(n), int(rng.integers(0, 3)))
    later = np.maximum(p, np.round(rng.random(n), 1))
    scores = followed(
        t,
        status,
        {HORIZONS[0]: p, HORIZONS[1]: later},
        patient=rng.integers(0, max(1, n // 2), n) if seed % 4 == 0 else None,
        weight=None if seed % 3 else rng.choice([0.5, 1, 2.5], n),
        groups={"half": rng.choice(["a", "b"], n)},
        more={STRATUM: rng.integers(0, 2, n).astype(float)},
    )
    kind = "strata" if seed % 2 else "marginal"
    censoring = Censoring(kind, kind, "study" if seed % 5 == 1 else "slice", study=scores)  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metrics = horizon_metrics(
            scores,
            HORIZONS,
            thresholds=[0.1, 0.99],
            also=("c_index", "f1", "accuracy"),
            censoring=censoring,
            resampling=Resampling(0, 50),
        )
        for e in estimate(scores, metrics, slices_by(scores.groups), draws=Draws(0, 50)):
            if e.value is None:
                assert e.status == "undefined" and e.reason
            elif e.low is None or e.high is None:
                assert e.status == "insufficient" and e.reason
            else:
                assert e.low <= e.value + 1e-9 and e.value <= e.high + 1e-9
        assert len(followup_table(scores, HORIZONS, censoring)) >= 2
        risks = {one.name: "half" for one in HORIZONS}
        list(censoring_notes(censoring_table(scores, HORIZONS, censoring, [0.3]), risks))
        observed_curves(scores, HORIZONS)
        assert len(at_each_horizon(scores, HORIZONS, censoring)) == 2
