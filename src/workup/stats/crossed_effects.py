"""Two kinds of models on the same cases: a difference of means when both models and cases are drawn at random.

Two-way variance as in Cameron, Gelbach and Miller (2011), Journal of Business & Economic Statistics 29:238-249: that of
the models' means and that of the cases' gaps, less what both count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from workup.stats.arrays import Floats
from workup.stats.intervals import t_critical


class Crossed(NamedTuple):
    """second − first with its standard error, degrees of freedom, interval and p value."""

    value: float
    se: float
    df: float
    low: float
    high: float
    p: float


def crossed_gap(first: Floats, second: Floats, *, level: float = 0.95) -> Crossed | None:
    """The mean of the second models less that of the first, each [model, case]; None without variance to judge by.

    >>> rng = np.random.default_rng(1)
    >>> case = rng.normal(size=40)
    >>> first, second = (case + shift + rng.normal(size=(6, 40)) for shift in (0.0, 0.5))
    >>> found = crossed_gap(first, second)
    >>> found.low < found.value < found.high, found.df <= 10
    (True, True)
    """
    sides = [np.asarray(side, dtype=np.float64) for side in (first, second)]
    if any(side.ndim != 2 or side.shape[0] < 2 or side.shape[1] < 2 for side in sides):
        raise ValueError("two models of each kind and two cases are the fewest that show a variance")
    if sides[0].shape[1] != sides[1].shape[1]:
        raise ValueError("both kinds must be measured on the same cases")
    gap = float(sides[1].mean() - sides[0].mean())
    by_model = [float(side.mean(axis=1).var(ddof=1)) / len(side) for side in sides]
    between = sides[1].mean(axis=0) - sides[0].mean(axis=0)
    by_case = float(between.var(ddof=1)) / between.size
    both = sum(_left_over(side) for side in sides)
    variance = max(sum(by_model) + by_case - both, sum(by_model), by_case)
    if not variance > 0:
        return None
    se = float(np.sqrt(variance))
    df = min(_satterthwaite(by_model, [len(side) for side in sides]), between.size - 1.0)
    half = t_critical(level, df) * se
    p = float(2 * special.stdtr(df, -abs(gap) / se))
    return Crossed(gap, se, df, gap - half, gap + half, p)


def _left_over(side: Floats) -> float:
    """The variance of the mean that is neither the models' nor the cases'."""
    models, cases = side.shape
    rest = side - side.mean(axis=1, keepdims=True) - side.mean(axis=0, keepdims=True) + side.mean()
    return float((rest**2).sum() / ((models - 1) * (cases - 1)) / (models * cases))


def _satterthwaite(parts: list[float], sizes: list[int]) -> float:
    total = sum(parts)
    if not total > 0:
        return float(sum(sizes) - 2)
    return float(total**2 / sum(part**2 / (size - 1) for part, size in zip(parts, sizes, strict=True) if part > 0))
