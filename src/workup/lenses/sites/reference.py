"""Internal against external: what the model achieved where it was built, and whether it does worse elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import special

from workup.estimate import Estimate
from workup.lenses.sites.contrasts import Pooling
from workup.lenses.sites.limits import Goal
from workup.lenses.sites.values import on_scale
from workup.report import Report, canonical
from workup.stats.intervals import Ends, combine_difference, normal_p
from workup.stats.scales import there


def figures_of(report: Report) -> dict[str, Estimate]:
    """The internal figures of a report by metric and slice, those corrected for optimism where it has them."""
    found: dict[str, Estimate] = {}
    for e in report.estimates(lens="internal"):
        kind = e.slice.get("validation")
        key = canonical([e.metric, {name: value for name, value in e.slice.items() if name != "validation"}])
        if e.level == 0.95 and (kind == "optimism-corrected" or (kind is None and key not in found)):
            found[key] = e
    return found


def comparisons(
    whole: Sequence[Pooling], internal: Mapping[str, Estimate], whose: str, goals: Mapping[str, Goal] | None
) -> Iterator[dict[str, Any]]:
    """Every pooled figure that has an internal counterpart, held against it."""
    for one in whole:
        e = internal.get(canonical([one.metric, one.keys]))
        if e is not None:
            corrected = ", optimism-corrected" if "validation" in e.slice else ""
            yield against_internal(one, e, f"{whose}{corrected}", (goals or {}).get(one.metric))


def against_internal(one: Pooling, internal: Estimate, whose: str, goal: Goal | None) -> dict[str, Any]:
    """The pooled external value less the internal one: z on the pooling scale with both standard errors.

    A difference of values needs ends on the natural scale; they are combined from both intervals (square and add).
    """
    row: dict[str, Any] = {"metric": one.metric, "slice": dict(one.keys), "against": whose, "kind": "difference"}
    empty = ("value", "low", "high", "z", "p", "p_worse", "p_adjusted", "margin")
    base = on_scale(whose, internal, one.found.scale)
    y, se = one.found.y, one.found.se
    if isinstance(base, str) or y is None or se is None:
        why = f"no internal figure: {base}" if isinstance(base, str) else "no site could be pooled"
        return {**row, **dict.fromkeys(empty), "finding": None, "verdict": "not_assessed", "reason": why}
    assert internal.value is not None and one.found.value is not None
    spread = float(np.hypot(se, np.sqrt(base.v)))
    z = (y - base.y) / spread
    low, high = one.found.ends
    ends: Ends | tuple[None, None] = (None, None)
    if low is not None and high is not None and internal.low is not None and internal.high is not None:
        first, second = Ends(low, high), Ends(internal.low, internal.high)
        ends = combine_difference(one.found.value, first, internal.value, second)
    worse = _p_worse(y, base.y, spread, one.found.scale, goal)
    finding, said = _finding(normal_p(z), worse)
    return {
        **row,
        "value": one.found.value - internal.value,
        "low": ends[0],
        "high": ends[1],
        "level": one.found.level,
        "external": one.found.value,
        "internal": internal.value,
        "z": z,
        "p": normal_p(z),
        "p_worse": worse,
        "p_adjusted": None,
        "margin": None,
        "finding": finding,
        "verdict": "not_assessed",
        "reason": f"{said}; no margin was declared",
    }


def _p_worse(external: float, internal: float, spread: float, scale: str, goal: Goal | None) -> float | None:
    """One-sided p that the external value is worse; None where neither side is.

    Farther from a target means that the difference and the sum of the two departures have one sign, so both must be
    clear of 0. The difference alone would call 1.15 worse than 0.88, which are as far from 1.
    """
    if goal is None or goal.better == "neither":
        return None
    z = (external - internal) / spread
    if goal.better == "target" and goal.target is not None:
        together = (external + internal - 2 * there(goal.target, scale)) / spread
        clear = min(abs(z), abs(together))
        return float(special.ndtr(-clear if z * together > 0 else clear))
    return float(special.ndtr(z if goal.better == "higher" else -z))


def _finding(p: float, worse: float | None) -> tuple[str, str]:
    if worse is None:
        return ("different", "the two differ") if p < 0.05 else ("no clear change", "no clear change")
    if worse < 0.025:
        return "worse", "worse at the external sites, beyond chance"
    if worse > 0.975:
        return "better", "better at the external sites, beyond chance: no failure"
    if p < 0.05:
        return "different", "the two differ, but neither is clearly nearer the target"
    return "no clear change", "no clear change between internal and external"
