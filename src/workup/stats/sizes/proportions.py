"""How many rows two proportions need, and what a given number of rows can show.

The other plans: `auc_size` (AUCs), `group_size` (from classes to patients, several comparisons), `pilot_size` (from a
standard error seen), `precision_size` and `develop_size` (widths of intervals, model development), `clustered_size`
(leak bounds, recall gaps), `decay_size` (conversations), `simulated_power` (several groups after an omnibus test).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from workup.stats.arrays import Floats
from workup.stats.intervals import z_critical

Method = Literal["pooled", "unpooled", "continuity", "arcsine"]
Plan = TypeVar("Plan")

METHODS = ("pooled", "unpooled", "continuity", "arcsine")


def inside(name: str, value: float, *, low: float = 0.0, high: float = 1.0) -> float:
    """The value, refused unless it lies strictly between two limits."""
    if not low < value < high:
        raise ValueError(f"{name} must lie strictly between {low:g} and {high:g}; got {value:g}")
    return value


def whole(n: float) -> int:
    """Rounded up, forgiving what arithmetic leaves above a whole number."""
    return math.ceil(n - 1e-9 * max(1.0, abs(n)))


def check_error_rates(alpha: float, power: float) -> None:
    """Both inside 0 and 1, and power above alpha: a test that rejects as often by chance needs no data."""
    inside("alpha", alpha)
    inside("power", power)
    if power <= alpha:
        raise ValueError(f"power must exceed alpha ({alpha:g}); got {power:g}")


# ---- two proportions -------------------------------------------------------------------------------------------------


class PairSize(NamedTuple):
    """Two proportions and the rows each group needs: exact (`n1`, `n2`) and rounded up (`first`, `second`)."""

    p1: float
    p2: float
    n1: float
    n2: float

    @property
    def first(self) -> int:
        """Whole rows of the first group."""
        return whole(self.n1)

    @property
    def second(self) -> int:
        """Whole rows of the second group."""
        return whole(self.n2)

    @property
    def total(self) -> int:
        """Whole rows of both."""
        return self.first + self.second


def two_proportions(
    p1: float,
    p2: float,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    share: float = 0.5,
    method: Method = "pooled",
    strict: bool = False,
) -> PairSize:
    """Rows per group with which a two-sided test tells p1 from p2; `share` is the first group's part of the total.

    "pooled" is (z_a √((r+1)p̄q̄) + z_b √(r p1q1 + p2q2))² / (r δ²) with r rows in the second group per row of the first:
    with r = 1 the formula of R's power.prop.test, otherwise that of Hmisc's bsamsize. "continuity" is Fleiss's (1981)
    size for the corrected test, "arcsine" Cohen's (1988; always both tails), "unpooled" Wald's. `strict` counts
    rejections in the wrong direction too.

    >>> two_proportions(0.80, 0.85).first, two_proportions(0.80, 0.75).first
    (906, 1094)
    """
    inside("p1", p1), inside("p2", p2), inside("share", share)
    check_error_rates(alpha, power)
    if p1 == p2:
        raise ValueError(f"p1 and p2 are both {p1:g}: no number of rows tells equal proportions apart")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    r = (1 - share) / share
    n1 = _first_group(p1, p2, r, alpha=alpha, power=power, method=method)
    if strict and method != "arcsine":

        def excess(n: float) -> float:
            return float(two_proportions_power(p1, p2, n, r * n, alpha=alpha, method=method, strict=True)) - power

        # The wrong tail only adds power, so the size without it is an upper end.
        n1 = float(optimize.brentq(excess, 1e-9, n1 * (1 + 1e-9), xtol=1e-10)) if excess(1e-9) < 0 else n1
    return PairSize(p1, p2, n1, r * n1)


def _first_group(p1: float, p2: float, r: float, *, alpha: float, power: float, method: Method) -> float:
    """Exact rows of the first group, with r rows of the second for each."""
    z_a, z_b, gap = z_critical(1 - alpha), float(special.ndtri(power)), abs(p1 - p2)
    if method == "arcsine":
        return (z_shift(alpha, power) / float(_arcsine_gap(p1, p2))) ** 2 * (1 + r) / r
    mean = (p1 + r * p2) / (1 + r)
    under_gap = math.sqrt(p1 * (1 - p1) + p2 * (1 - p2) / r)
    under_none = under_gap if method == "unpooled" else math.sqrt((1 + 1 / r) * mean * (1 - mean))
    n = ((z_a * under_none + z_b * under_gap) / gap) ** 2
    if method == "continuity":
        return n / 4 * (1 + math.sqrt(1 + 2 * (r + 1) / (n * r * gap))) ** 2
    return n


def two_proportions_power(
    p1: npt.ArrayLike,
    p2: npt.ArrayLike,
    n1: npt.ArrayLike,
    n2: npt.ArrayLike | None = None,
    *,
    alpha: float = 0.05,
    method: Method = "pooled",
    strict: bool = False,
) -> Floats:
    """Power of the two-sided test with n1 and n2 rows (n2 = n1 when left out); arrays broadcast, for curves.

    "pooled" is R's power.prop.test, with `strict` its strict form and, for unequal groups, Hmisc's bpower.

    >>> round(float(two_proportions_power(0.80, 0.70, 75)), 4)
    0.2914
    """
    a, b, m, n = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (p1, p2, n1, n1 if n2 is None else n2)))
    inside("alpha", alpha)
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    if not (np.all((a > 0) & (a < 1) & (b > 0) & (b < 1)) and np.all((m > 0) & (n > 0))):
        raise ValueError("proportions must lie strictly between 0 and 1, and every group needs a positive size")
    z, gap = z_critical(1 - alpha), np.abs(a - b)
    if method == "arcsine":
        shift = _arcsine_gap(a, b) * np.sqrt(m * n / (m + n))
        return np.asarray(special.ndtr(shift - z) + special.ndtr(-shift - z))
    mean = (m * a + n * b) / (m + n)
    under_gap = np.sqrt(a * (1 - a) / m + b * (1 - b) / n)
    under_none = under_gap if method == "unpooled" else np.sqrt(mean * (1 - mean) * (1 / m + 1 / n))
    limit = z * under_none + ((1 / m + 1 / n) / 2 if method == "continuity" else 0.0)
    right = special.ndtr((gap - limit) / under_gap)
    return np.asarray(right + special.ndtr((-gap - limit) / under_gap) if strict else right)


def _arcsine_gap(p1: npt.ArrayLike, p2: npt.ArrayLike) -> Floats:
    """Cohen's h."""
    return np.asarray(np.abs(2 * np.arcsin(np.sqrt(p1)) - 2 * np.arcsin(np.sqrt(p2))))


def z_shift(alpha: float, power: float) -> float:
    """How many standard errors from zero a difference must lie for a two-sided z test to have this power."""
    z = z_critical(1 - alpha)
    return float(optimize.brentq(lambda x: special.ndtr(x - z) + special.ndtr(-x - z) - power, 0.0, z + 40, xtol=1e-13))


# ---- one value and a gap: both directions ----------------------------------------------------------------------------


class Directions(NamedTuple, Generic[Plan]):
    """What a gap asks for below and above a value: the larger (`needed`), and why a direction is not possible."""

    down: Plan | None
    up: Plan | None
    needed: Plan
    not_possible: tuple[str, ...] = ()


def one_proportion_and_gap(
    p: float,
    gap: float,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    share: float = 0.5,
    method: Method = "pooled",
    strict: bool = False,
) -> Directions[PairSize]:
    """Rows for p against p − gap and against p + gap; the larger is needed when the direction is not known.

    >>> plan = one_proportion_and_gap(0.80, 0.05)
    >>> plan.down.first, plan.up.first, plan.needed.first
    (1094, 906, 1094)
    """
    inside("p", p)

    def plan(other: float) -> PairSize:
        return two_proportions(p, other, alpha=alpha, power=power, share=share, method=method, strict=strict)

    return both_directions(p, gap, plan, lambda found: found.total)


def both_directions(
    value: float, gap: float, plan: Callable[[float], Plan], size: Callable[[Plan], float]
) -> Directions[Plan]:
    """A plan for value − gap and one for value + gap, on a scale that ends at 0 and 1."""
    if not gap > 0:
        raise ValueError(f"gap must be positive; got {gap:g}")
    found: dict[str, Plan | None] = {}
    missing = []
    for name, other in (("down", value - gap), ("up", value + gap)):
        # A sum such as 0.8 + 0.2 may end a hair below 1, where the formulas would still answer.
        possible = 1e-12 < other < 1 - 1e-12
        found[name] = plan(other) if possible else None
        if not possible:
            missing.append(f"{name}: {value:g} {'-' if name == 'down' else '+'} {gap:g} is not between 0 and 1")
    plans = [one for one in found.values() if one is not None]
    if not plans:
        raise ValueError(f"a gap of {gap:g} is not possible in either direction from {value:g}: {'; '.join(missing)}")
    return Directions(found["down"], found["up"], max(plans, key=size), tuple(missing))


class Detectable(NamedTuple):
    """Smallest differences found with the wanted power, below and above a value; NaN where none is large enough.

    `value` is the size from which every gap that can exist is found: the larger of the two, where a direction with none
    counts with all its room to 0 or 1. NaN when neither direction has one.
    """

    down: float
    up: float
    value: float
    reasons: tuple[str, ...] = ()


def detectable_gap(
    p: float,
    n1: float,
    n2: float | None = None,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    method: Method = "pooled",
    strict: bool = False,
) -> Detectable:
    """The smallest difference from p that n1 rows of it and n2 of the other group (as many when left out) detect.

    >>> found = detectable_gap(0.80, 75)
    >>> round(found.down, 3), round(found.up, 3)
    (0.209, 0.15)
    """
    inside("p", p)
    check_error_rates(alpha, power)

    def reached(other: float) -> float:
        return float(two_proportions_power(p, other, n1, n2, alpha=alpha, method=method, strict=strict))

    return detectable(p, reached, power=power)


def detectable(value: float, reached: Callable[[float], float], *, power: float) -> Detectable:
    """The nearest values below and above at which `reached` gives this power; the scale ends at 0 and 1."""
    edge = 1e-9
    found, reasons, sure = [], [], []
    for name, end, room in (("down", edge, value), ("up", 1 - edge, 1 - value)):
        start = value + math.copysign(min(edge, abs(end - value) / 2), end - value)
        if reached(end) < power:
            found.append(math.nan)
            sure.append(room)
            reasons.append(f"{name}: no difference from {value:g} within 0 to 1 reaches power {power:g} with this size")
            continue
        other = start
        if reached(start) < power:
            other = optimize.brentq(lambda x: reached(x) - power, min(start, end), max(start, end), xtol=1e-12)
        found.append(abs(float(other) - value))
        sure.append(found[-1])
    return Detectable(found[0], found[1], max(sure) if len(reasons) < 2 else math.nan, tuple(reasons))


# ---- curves ----------------------------------------------------------------------------------------------------------


class Curve(NamedTuple):
    """Power over sizes, to be drawn."""

    n: Floats
    power: Floats


def power_curve(
    power_at: Callable[[Floats], npt.ArrayLike], *, needed: float, points: int = 41, reach: float = 2.0
) -> Curve:
    """Power at whole sizes from a few up to `reach` times the size needed, which is one of them.

    >>> curve = power_curve(lambda n: two_proportions_power(0.80, 0.85, n), needed=906, points=5)
    >>> curve.n.tolist(), curve.power.round(2).tolist()
    ([45.0, 487.0, 906.0, 929.0, 1370.0, 1812.0], [0.09, 0.54, 0.8, 0.81, 0.93, 0.98])
    """
    top = max(2.0, reach * needed)
    sizes = np.unique(np.append(np.round(np.linspace(max(2.0, top / 40), top, points)), whole(needed)))
    return Curve(sizes, np.asarray(power_at(sizes), dtype=np.float64))
