"""Intervals of figures at a horizon: from the influence of patients, on the scale that suits the figure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from workup.metric import Interval
from workup.stats.horizon_influence import Influence
from workup.stats.intervals import t_critical, wilson

Scale = Literal["identity", "log", "logit", "cloglog"]
_THERE: dict[Scale, Callable[[float], float]] = {
    "identity": lambda x: x,
    "log": lambda x: float(np.log(x)),
    "logit": lambda x: float(np.log(x / (1 - x))),
    "cloglog": lambda x: float(np.log(-np.log1p(-x))),
}
_BACK: dict[Scale, Callable[[float], float]] = {
    "identity": lambda y: y,
    "log": lambda y: float(np.exp(y)),
    "logit": lambda y: float(1 / (1 + np.exp(-y))),
    "cloglog": lambda y: float(-np.expm1(-np.exp(y))),
}
# The derivative of the natural value by the value on the scale.
_STEEPNESS: dict[Scale, Callable[[float], float]] = {
    "identity": lambda x: 1.0,
    "log": lambda x: x,
    "logit": lambda x: x * (1 - x),
    "cloglog": lambda x: -(1 - x) * float(np.log1p(-x)),
}


def influence_interval(value: float, se: float, df: float, level: float, *, scale: Scale, method: str) -> Interval:
    """Value ± t × SE on a scale; `se` is that of the natural value, `df` the patients behind it less one."""
    if not (np.isfinite(se) and se > 0):
        return Interval.refused("the data cannot show its uncertainty: every patient has the same part", method=method)
    middle, half = _THERE[scale](value), se / _STEEPNESS[scale](value)

    def ends(at: float) -> tuple[float, float]:
        reach = t_critical(at, max(1.0, df)) * half
        with np.errstate(over="ignore"):
            return _BACK[scale](middle - reach), _BACK[scale](middle + reach)

    return Interval(*ends(level), se, method, ends=ends)


def share_interval(found: Influence, se: float, df: float, rows: float, level: float, *, method: str) -> Interval:
    """A share on the logit scale; Wilson's on the effective number of rows where it is 0 or 1 and has no logit."""
    if 0 < found.value < 1 and se > 0:
        return influence_interval(found.value, se, df, level, scale="logit", method=method)

    def ends(at: float) -> tuple[float, float]:
        low, high = wilson(round(found.value), rows, level=at)
        return float(low), float(high)

    return Interval(*ends(level), 0.0, "Wilson on effective rows", ends=ends)
