"""Which groups of a table are bands of a risk that it holds: decision thresholds cut across them, so that a few between
the edge of a band and a threshold would be told by the difference of the two."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from workup.scores import RISK, Levels, Scores
from workup.stats.arrays import Floats, Ints

_NOT_BY_CHANCE = 8  # patients of a level whose risks all lie apart from those of another


def risk_columns(scores: Scores) -> list[str]:
    """Columns of risks: one, or one by each horizon."""
    return [name for name in scores.values if name == RISK or name.startswith(f"{RISK}@")]


def risk_bands(scores: Scores, k: int) -> dict[str, list[str]]:
    """Groups that are bands of a risk, with the risks that they are bands of: each level holds the risks between two
    numbers, and at least two of them so many patients that it is not by chance.

    >>> risk = np.arange(40) / 40
    >>> groups = {"band": np.where(risk < 0.3, "low", "high"), "sex": ["F", "M"] * 20}
    >>> risk_bands(Scores.of({"risk": risk}, groups=groups), 5)
    {'band': ['risk']}
    """
    risks = {name: scores[name] for name in risk_columns(scores)}
    found = {
        name: [own for own, risk in risks.items() if _cut_from(risk, levels, scores.patient, k)]
        for name, levels in scores.groups.items()
    }
    return {name: own for name, own in found.items() if own}


def _cut_from(risk: Floats, levels: Levels, patient: Ints, k: int) -> bool:
    parts = [(risk[rows], np.unique(patient[rows]).size) for _, rows in levels.masks() if rows.any()]
    ends = sorted((float(own.min()), float(own.max())) for own, _ in parts)
    apart = all(high < low for (_, high), (low, _) in pairwise(ends))
    return apart and sum(size >= max(k, _NOT_BY_CHANCE) for _, size in parts) > 1
