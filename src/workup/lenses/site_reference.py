"""Internal against external: what the model achieved where it was built, and whether it does worse elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import special

from workup.estimate import Estimate
from workup.lenses.site_contrasts import Pooling
from workup.lenses.site_limits import Goal
from workup.lenses.site_values import on_scale
from workup.report import Report, canonical
from workup.stats.intervals import Ends, combine_difference, normal_p


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
    z = (y - base.y) / float(np.hypot(se, np.sqrt(base.v)))
    low, high = one.found.ends
    ends: Ends | tuple[None, None] = (None, None)
    if low is not None and high is not None and internal.low is not None and internal.high is not None:
        first, second = Ends(low, high), Ends(internal.low, internal.high)
        ends = combine_difference(one.found.value, first, internal.value, second)
    worse = _p_worse(z, y, base.y, one.found.scale, goal)
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


def _p_worse(z: float, external: float, internal: float, scale: str, goal: Goal | None) -> float | None:
    """One-sided p that the external value is worse; None where neither side is."""
    if goal is None or goal.better == "neither":
        return None
    if goal.better == "target" and goal.target is not None:
        target = {"log": np.log, "logit": special.logit}.get(scale, float)(goal.target)
        farther = abs(external - target) >= abs(internal - target)
        return normal_p(z) / 2 if farther else 1 - normal_p(z) / 2
    return float(special.ndtr(z if goal.better == "higher" else -z))


def _finding(p: float, worse: float | None) -> tuple[str, str]:
    if worse is None:
        return ("different", "the two differ") if p < 0.05 else ("no clear change", "no clear change")
    if worse < 0.025:
        return "worse", "worse at the external sites, beyond chance"
    if worse > 0.975:
        return "better", "better at the external sites, beyond chance: no failure"
    return "no clear change", "no clear change between internal and external"
