"""Whether the two sides differ in who is on them: a test and an effect size for each level, never a fixed number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workup.stats.intervals import chi2_proportions, fisher_exact, newcombe
from workup.stats.multiplicity import adjust

ALPHA = 0.05
SMALLEST_EFFECT = 0.1  # Cohen's h; half of what Cohen called small


def changes(levels: Sequence[Mapping[str, Any]], *, skip: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Each level's share of the patients in validation against development.

    Fisher's test where fewer than five are expected in a cell, chi-square otherwise, adjusted by Holm over all levels;
    the difference with Newcombe's interval and Cohen's h. A level counts as changed where the adjusted p is below 0.05
    and |h| is at least 0.1: with many patients a test alone calls every trifle a change, with few an effect size alone
    calls chance one.
    """
    variables = [row["variable"] for row in levels]
    rows = [row for row in levels if row["variable"] not in skip and variables.count(row["variable"]) > 1]
    sizes = {
        (variable, side): sum(row["patients"][side] for row in rows if row["variable"] == variable)
        for variable in dict.fromkeys(row["variable"] for row in rows)
        for side in ("development", "validation")
    }
    found = [_change(row, *(sizes[row["variable"], side] for side in ("validation", "development"))) for row in rows]
    # The two levels of a pair are one question: its p is counted once.
    asked = [row for i, row in enumerate(found) if not (_pair(found, row) and _seen(found[:i], row))]
    adjusted = adjust([np.nan if row["p"] is None else row["p"] for row in asked], method="holm")
    by_question = {_question(found, row): p for row, p in zip(asked, adjusted.tolist(), strict=True)}
    for row in found:
        p = by_question[_question(found, row)]
        row["p_adjusted"] = None if np.isnan(p) else p
        row["changed"] = bool(p < ALPHA and abs(row["cohens_h"]) >= SMALLEST_EFFECT)
    return found


def _change(row: Mapping[str, Any], n_validation: int, n_development: int) -> dict[str, Any]:
    x1, x2 = row["patients"]["validation"], row["patients"]["development"]
    p1, p2 = x1 / n_validation, x2 / n_development
    pooled = (x1 + x2) / (n_validation + n_development)
    smallest = min(pooled, 1 - pooled) * min(n_validation, n_development)
    p: float | None
    if smallest >= 5:
        test, p = "chi-square", chi2_proportions([x1, x2], [n_validation, n_development]).p
    else:
        test, p = "Fisher", fisher_exact(x1, n_validation, x2, n_development)
    ends = newcombe(p1, n_validation, p2, n_development)
    return {
        "variable": row["variable"],
        "level": row["level"],
        "development": p2,
        "validation": p1,
        "difference": p1 - p2,
        "low": ends.low,
        "high": ends.high,
        "cohens_h": float(2 * np.arcsin(np.sqrt(p1)) - 2 * np.arcsin(np.sqrt(p2))),
        "test": test,
        "p": p,
    }


def _pair(found: Sequence[Mapping[str, Any]], row: Mapping[str, Any]) -> bool:
    return [other["variable"] for other in found].count(row["variable"]) == 2


def _seen(before: Sequence[Mapping[str, Any]], row: Mapping[str, Any]) -> bool:
    return any(other["variable"] == row["variable"] for other in before)


def _question(found: Sequence[Mapping[str, Any]], row: Mapping[str, Any]) -> tuple[str, str]:
    return row["variable"], "" if _pair(found, row) else row["level"]
