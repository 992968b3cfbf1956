"""What several reviewers make of a region together, and how far they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np

from workup.errors import InputError, near
from workup.metric import FEWEST_CLUSTERS
from workup.stats import intervals
from workup.stats.arrays import Floats, Ints

Rule = Literal["majority", "any", "all"]
RULES: tuple[Rule, ...] = get_args(Rule)


def agreed(answers: Floats, *, rule: Rule = "majority") -> Floats:
    """One value per region from answers [region, reviewer] of 0, 1 and NaN: 1, 0, or NaN where nobody answered.

    A tie of the majority is one half, and counts so; `any` takes one yes for a yes, `all` one no for a no.

    >>> answers = np.array([[1, 1, 0], [1, 0, np.nan], [np.nan, np.nan, np.nan]])
    >>> agreed(answers).tolist(), agreed(answers, rule="any").tolist(), agreed(answers, rule="all").tolist()
    ([1.0, 0.5, nan], [1.0, 1.0, nan], [0.0, 0.0, nan])
    """
    if rule not in RULES:
        raise InputError("a rule of consensus must be known", got=f"'{rule[:40]}'", remedy=near(rule, RULES))
    seen = np.isfinite(answers)
    many, yes = seen.sum(axis=1), np.where(seen, answers, 0.0).sum(axis=1)
    if rule == "any":
        found = (yes > 0).astype(np.float64)
    elif rule == "all":
        found = (yes == many).astype(np.float64)
    else:
        found = 0.5 * (np.sign(2 * yes - many) + 1)
    return np.where(many > 0, found, np.nan)


@dataclass(frozen=True)
class Agreement:
    """How far two judges agree on yes and no: the share of equal answers and Cohen's kappa, each with its interval.

    None has its `reason`. Intervals are by patients: leaving one out at a time for kappa, Wilson on the effective
    number for the share.
    """

    first: str
    second: str
    regions: int
    share: float | None = None
    share_low: float | None = None
    share_high: float | None = None
    kappa: float | None = None
    kappa_low: float | None = None
    kappa_high: float | None = None
    reason: str = ""


def pairwise(answers: Floats, patient: Ints, names: Sequence[str], *, level: float = 0.95) -> list[Agreement]:
    """Agreement of every pair of reviewers, on the regions that both answered."""
    return [
        agreement(answers[:, a], answers[:, b], patient, names=(names[a], names[b]), level=level)
        for a, b in combinations(range(answers.shape[1]), 2)
    ]


def agreement(
    first: Floats,
    second: Floats,
    patient: Ints,
    *,
    names: tuple[str, str],
    weight: Floats | None = None,
    level: float = 0.95,
) -> Agreement:
    """Agreement of two judges; with `weight`, of the frame that the regions were drawn from.

    >>> yes = np.array([1.0] * 40 + [0.0] * 60)
    >>> other = np.array([1.0] * 30 + [0.0] * 70)
    >>> found = agreement(yes, other, np.arange(100), names=("one", "other"))
    >>> found.share, round(found.kappa, 4)
    (0.9, 0.7826)
    """
    both = np.isfinite(first) & np.isfinite(second)
    if not both.any():
        return Agreement(*names, 0, reason="no region was answered by both")
    a, b = first[both], second[both]
    w = np.ones(len(a)) if weight is None else weight[both]
    _, code = np.unique(patient[both], return_inverse=True)
    # By patient: yes-yes, yes-no, no-yes, no-no. A consensus of one half counts half on either side.
    table = np.array(
        [np.bincount(code, weights=w * part) for part in (a * b, a * (1 - b), (1 - a) * b, (1 - a) * (1 - b))]
    ).T
    whole = table.sum(axis=0)
    kappa = float(_kappa(whole))
    few = len(table) < FEWEST_CLUSTERS
    reason = f"{len(table)} patients; an interval of kappa needs at least {FEWEST_CLUSTERS}" if few else ""
    share = intervals.clustered_share(w * (a * b + (1 - a) * (1 - b)), w, patient[both], np.ones(len(a)))
    low, high = (None, None) if len(table) < 2 else intervals.effective_ends(share, level=level)
    below, above = (None, None) if few or not np.isfinite(kappa) else _jackknifed(whole, table, kappa, level)
    if not np.isfinite(kappa):
        reason = "; ".join(filter(None, (reason, "both give one answer throughout, so kappa is not defined")))
    return Agreement(
        *names,
        int(both.sum()),
        share=share.share,
        share_low=low,
        share_high=high,
        kappa=kappa if np.isfinite(kappa) else None,
        kappa_low=below,
        kappa_high=above,
        reason=reason,
    )


def _kappa(table: Floats) -> Floats:
    """Cohen's kappa of counts [..., 4]; NaN where chance alone would agree throughout."""
    yes_yes, yes_no, no_yes, no_no = (table[..., i] for i in range(4))
    chance = (yes_yes + yes_no) * (yes_no + no_no) + (yes_yes + no_yes) * (no_yes + no_no)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(chance > 0, 2 * (yes_yes * no_no - yes_no * no_yes) / chance, np.nan))


def _jackknifed(whole: Floats, table: Floats, kappa: float, level: float) -> tuple[float | None, float | None]:
    left = _kappa(whole - table)
    if not np.isfinite(left).all():
        return None, None
    n = len(left)
    half = intervals.t_critical(level, n - 1) * float(np.sqrt((n - 1) / n * np.sum((left - left.mean()) ** 2)))
    return max(-1.0, kappa - half), min(1.0, kappa + half)
