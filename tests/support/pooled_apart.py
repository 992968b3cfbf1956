"""Pooling of sites worked out a second time, apart from the code under test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from workup.report import LensResult


def restricted_likelihood(y: np.ndarray[Any, Any], v: np.ndarray[Any, Any]) -> dict[str, float]:
    """REML, Hartung-Knapp and the t(k - 2) prediction interval, worked out apart from the code under test."""

    def minus_log(tau2: float) -> float:
        w = 1 / (v + tau2)
        mu = np.sum(w * y) / w.sum()
        return float(0.5 * (np.log(v + tau2).sum() + np.log(w.sum()) + np.sum(w * (y - mu) ** 2)))

    tau2 = float(optimize.minimize_scalar(minus_log, bounds=(0, 5), method="bounded", options={"xatol": 1e-13}).x)
    w = 1 / (v + tau2)
    mu = float(np.sum(w * y) / w.sum())
    k = len(y)
    factor = max(1.0, float(np.sum(w * (y - mu) ** 2)) / (k - 1))
    se = float(np.sqrt(factor / w.sum()))
    half, wide = stats.t.ppf(0.975, k - 1) * se, stats.t.ppf(0.975, k - 2) * np.sqrt(tau2 + se**2)
    return {"mu": mu, "tau": tau2**0.5, "low": mu - half, "high": mu + half, "pi_low": mu - wide, "pi_high": mu + wide}


def agree(found: LensResult, metric: str, back: Any, forth: Any) -> Any:
    """The pooled row, after holding it against the same worked out from the sites' estimates apart."""
    row = next(r for r in found.pooled if r["metric"] == metric)
    sites = [e for e in found.estimates if e.metric == metric and e.slice.get("site") in row["sites"]]
    values, errors = np.array([e.value for e in sites]), np.array([e.se for e in sites])
    slope = values * (1 - values) if metric == "auroc" else values
    apart = restricted_likelihood(forth(values), (errors / slope) ** 2)
    assert row["value"] == pytest.approx(back(apart["mu"]), rel=1e-6)
    assert row["tau"] == pytest.approx(apart["tau"], rel=1e-5)
    for end in ("low", "high", "pi_low", "pi_high"):
        assert row[end] == pytest.approx(back(apart[end]), rel=1e-6), end
    return row


def rounded(row: Any, digits: int = 3) -> tuple[float, ...]:
    return tuple(round(row[key], digits) for key in ("value", "low", "high", "pi_low", "pi_high"))
