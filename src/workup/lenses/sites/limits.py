"""What is asked of a new site: limits per metric, and verdicts from the prediction interval, never from I²."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from workup.errors import StudyError, near
from workup.lenses.sites.values import NO_PEAK, minority

Ends = tuple[float | None, float | None]
Limit = float | Mapping[str, float | Ends] | None


class Goal(NamedTuple):
    """Which way a metric is good: higher, lower, near a target, or neither."""

    better: str
    target: float | None = None


def bounds(limit: Limit, *, goals: Mapping[str, Goal] | None, scales: Mapping[str, str]) -> dict[str, Ends | str]:
    """The lowest and the highest value asked for, by metric; a sentence where a limit cannot be read.

    >>> bounds({"oe_ratio": 0.2, "auroc": 0.7}, goals={"oe_ratio": Goal("target", 1.0), "auroc": Goal("higher")},
    ...        scales={"oe_ratio": "log", "auroc": "logit"})
    {'oe_ratio': (0.8, 1.2), 'auroc': (0.7, None)}
    """
    if limit is None:
        return {}
    if not isinstance(limit, Mapping):
        lead = next((name for name, goal in (goals or {}).items() if goal.better == "higher" and name in scales), None)
        return {} if lead is None else {lead: _read(lead, limit, (goals or {}).get(lead))}
    for name in limit:
        if name not in scales:
            raise StudyError(
                f"lenses.sites.limit: '{name}' is not a metric that sites are pooled on; {near(name, scales)}."
            )
    return {name: _read(name, one, (goals or {}).get(name)) for name, one in limit.items()}


def _read(name: str, limit: float | Ends, goal: Goal | None) -> Ends | str:
    where = f"lenses.sites.limit.{name}"
    numbers = limit if isinstance(limit, tuple) else (limit,)
    if any(end is not None and not math.isfinite(end) for end in numbers) or all(end is None for end in numbers):
        raise StudyError(f"{where}: a limit is a finite number, or a pair of which at most one end is null.")
    if isinstance(limit, tuple):
        low, high = limit
        if low is not None and high is not None and low >= high:
            raise StudyError(f"{where}: the lowest value must lie below the highest; got {low:g} and {high:g}.")
        return limit
    if goal is None:
        return "which way this metric is good is not known here; give the limit as a pair [lowest, highest]"
    if goal.better == "higher":
        return limit, None
    if goal.better == "lower":
        return None, limit
    if goal.better == "target" and goal.target is not None and limit > 0:
        if goal.target > 0 and limit > goal.target / 2:
            # 0.8 or 1.25 is meant as an end: taken as a distance, 0.2 to 1.8 would do for an O/E.
            raise StudyError(
                f"{where}: a single number is the distance from the target {goal.target:g}, and {limit:g} would let "
                "nearly everything pass. To fix: give a pair [lowest, highest]."
            )
        # Rounded, because 1 - 0.2 is 0.8 to a reader.
        return round(goal.target - limit, 12), round(goal.target + limit, 12)
    raise StudyError(f"{where}: a single number does not say which way is good. To fix: give a pair [lowest, highest].")


def verdict(row: Mapping[str, Any], asked: Ends | str | None) -> dict[str, Any]:
    """The fields limit, verdict and reason of a pooled row."""
    if asked is None:
        return {"limit": None, "verdict": "not_assessed", "reason": "no limit was set"}
    if isinstance(asked, str):
        return {"limit": None, "verdict": "not_assessed", "reason": asked}
    found = {"limit": list(asked)}
    few = minority(row["k"], row["lost"])
    if few and row["k"] > 0:
        return {**found, "verdict": "not_assessed", "reason": few}
    low, high = row["pi_low"], row["pi_high"]
    if low is None or high is None:
        return {**found, "verdict": "not_assessed", "reason": _no_interval(row)}
    least = -math.inf if asked[0] is None else asked[0]
    most = math.inf if asked[1] is None else asked[1]
    span = "the prediction interval lies"
    if least <= low and high <= most:
        return {**found, "verdict": "adequate", "reason": f"{span} wholly {words(asked)}"}
    if high < least or low > most:
        return {**found, "verdict": "inadequate", "reason": f"no part of the prediction interval is {words(asked)}"}
    return {**found, "verdict": "inconclusive", "reason": f"{span} only partly {words(asked)}"}


def _no_interval(row: Mapping[str, Any]) -> str:
    if row["k"] == 0:
        return "no site could be pooled"
    if row["value"] is None:
        return NO_PEAK
    return f"a prediction interval needs at least three sites; got {row['k']}"


def words(asked: Ends) -> str:
    """A limit in words.

    >>> words((0.7, None)), words((0.8, 1.2))
    ('at or above 0.7', 'within 0.8 to 1.2')
    """
    low, high = asked
    if low is None:
        return f"at or below {high:g}"
    return f"at or above {low:g}" if high is None else f"within {low:g} to {high:g}"
