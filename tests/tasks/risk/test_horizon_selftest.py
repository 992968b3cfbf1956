"""The self-test of risks at horizons: it passes on the scorer, and a broken scorer fails it."""

from __future__ import annotations

import numpy as np
import pytest

from workup.stats.arrays import Floats
from workup.stats.horizon_weights import HorizonWeights, Weighted
from workup.tasks.risk.horizon import selftest
from workup.tasks.selftests import run_parts


def test_every_planted_answer_is_recovered() -> None:
    checks = selftest.run()
    assert [check for check in checks if not check.passed] == []
    assert len({check.name.partition(":")[0] for check in checks}) == 11


def test_a_scorer_that_drops_the_lost_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def dropped(self: HorizonWeights, weights: Floats) -> Weighted:
        v = np.broadcast_to(self.known.astype(np.float64), weights.shape)
        return Weighted(v * (weights.sum(axis=1) / (weights @ self.known))[:, None], np.ones(len(weights), dtype=bool))

    monkeypatch.setattr(HorizonWeights, "under", dropped)
    asked = {name: selftest.CHECKS[name] for name in ("by hand", "identities", "those lost")}
    failed = {check.name for check in run_parts(asked, seed=0) if not check.passed}
    assert {"by hand: observed risk", "identities: observed risk", "those lost: weighted, O/E"} <= failed
