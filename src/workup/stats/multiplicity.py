"""P values adjusted for many looks: Bonferroni, Holm, Hochberg, Hommel, Benjamini–Hochberg, Benjamini–Yekutieli."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Floats

Method = Literal["bonferroni", "holm", "hochberg", "hommel", "bh", "by"]


def adjust(p: npt.ArrayLike, *, method: Method = "holm") -> Floats:
    """Adjusted p values, in the order given. NaN (a test that could not be made) stays NaN and is not counted.

    >>> adjust([0.01, 0.02, 0.03], method="holm").tolist()
    [0.03, 0.04, 0.04]
    """
    values = np.asarray(p, dtype=np.float64)
    result = np.full(values.shape, np.nan)
    made = np.flatnonzero(~np.isnan(values))
    n = made.size
    if n == 0:
        return result
    order = made[np.argsort(values[made], kind="stable")]
    ordered = values[order]
    ranks = np.arange(1, n + 1)
    if method == "bonferroni":
        adjusted = n * ordered
    elif method == "holm":
        adjusted = np.maximum.accumulate((n - ranks + 1) * ordered)
    elif method == "hochberg":
        adjusted = _running_minimum((n - ranks + 1) * ordered)
    elif method == "hommel":
        adjusted = _hommel(ordered)
    elif method == "bh":
        adjusted = _running_minimum(n / ranks * ordered)
    elif method == "by":
        adjusted = _running_minimum(np.sum(1 / ranks) * n / ranks * ordered)
    else:
        raise ValueError(f"method must be bonferroni, holm, hochberg, hommel, bh or by; got {method!r}")
    result[order] = np.minimum(adjusted, 1.0)
    return result


def _running_minimum(values: Floats) -> Floats:
    """Step-up: the smallest value from here to the largest p."""
    return np.minimum.accumulate(values[::-1])[::-1]


def _hommel(ordered: Floats) -> Floats:
    """Hommel's adjusted values by the algorithm of Wright (1992)."""
    n = ordered.size
    ranks = np.arange(1, n + 1)
    adjusted = np.full(n, np.min(n * ordered / ranks))
    for m in range(n - 1, 1, -1):
        head = n - m + 1
        smallest = np.min(m * ordered[head:] / np.arange(2, m + 1))
        candidate = np.empty(n)
        candidate[:head] = np.minimum(m * ordered[:head], smallest)
        candidate[head:] = candidate[head - 1]
        adjusted = np.maximum(adjusted, candidate)
    return np.maximum(adjusted, ordered)
