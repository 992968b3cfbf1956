"""Documentation quality in tables: mean ratings, how far people agree, and how far a judge agrees with them.

A judge's score without a measured agreement with people is withheld, never shown. It knows ratings, and no text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from workup.stats.agreement import Icc, Kappa, icc_agreement, paired_kappa
from workup.stats.arrays import Floats
from workup.stats.intervals import Ends, t_critical, wilson
from workup.tasks.conversation.read.content.ratings import ATTRIBUTES, Rating, Ratings

_FEW = 10  # cases
_UNRATED = "nobody rated it"
_SAME = "every case has the same mean rating: the spread cannot be seen"
_ONE_CASE = "one case alone has no interval"


def quality_tables(ratings: Ratings | Sequence[Rating] | None) -> dict[str, Any]:
    """Means by attribute and by people or judge, and the agreement behind them, as plain data.

    >>> rows = [Rating(c, None, 0, r, "human", "useful", v) for r in "AB" for c, v in (("a", 4.0), ("b", 2.0))]
    >>> tables = quality_tables(rows)
    >>> useful = next(row for row in tables["means"] if row["attribute"] == "useful" and row["by"] == "human")
    >>> useful["mean"], useful["cases"], tables["status"]
    (3.0, 2, 'assessed')
    >>> quality_tables([])["status"]
    'not assessed'
    """
    rows = list(ratings.rows if isinstance(ratings, Ratings) else ratings or ())
    blank = ratings.blank if isinstance(ratings, Ratings) else 0
    if not rows:
        return {
            "status": "not assessed",
            "reason": "no ratings were given",
            "blank": blank,
            "means": [],
            "agreement": [],
        }
    agreement = [_agreement(attribute, [one for one in rows if one.attribute == attribute]) for attribute in ATTRIBUTES]
    judges = sorted({one.rater for one in rows if one.kind == "judge"})
    means = []
    for found in agreement:
        attribute = found["attribute"]
        own = [one for one in rows if one.attribute == attribute]
        means.append(_mean(attribute, "human", [one for one in own if one.kind == "human"]))
        for judge in judges:
            kappa = found["judges"].get(judge)
            means.append(_of_judge(attribute, judge, [one for one in own if one.rater == judge], kappa))
    return {
        "status": "assessed" if any(row["status"] == "ok" for row in means) else "not assessed",
        "reason": "" if any(row["status"] == "ok" for row in means) else "no rating by people",
        "blank": blank,
        "means": means,
        "agreement": agreement,
    }


# ---- means ----------------------------------------------------------------------------------------------------------


def _mean(attribute: str, by: str, rows: Sequence[Rating]) -> dict[str, Any]:
    """The mean over cases of each case's mean rating, with a t interval over cases; a share of yes by Wilson's."""
    row: dict[str, Any] = {
        "attribute": attribute,
        "by": by,
        "mean": None,
        "low": None,
        "high": None,
        "cases": 0,
        "raters": len({one.rater for one in rows}),
        "ratings": len(rows),
        "status": "not assessed",
        "reason": _UNRATED,
    }
    if not rows:
        return row
    held: dict[str, list[float]] = {}
    for one in rows:
        held.setdefault(one.case, []).append(one.rating)
    by_case = np.array([sum(values) / len(values) for _, values in sorted(held.items())])
    ends, reason = _ends(by_case, share=attribute == "stigmatising")
    few = f"only {by_case.size} cases" if by_case.size < _FEW else ""
    row.update(
        mean=float(by_case.mean()), cases=int(by_case.size), status="ok", reason="; ".join(filter(None, (reason, few)))
    )
    row.update(low=_number(ends.low), high=_number(ends.high))
    return row


def _ends(by_case: Floats, *, share: bool) -> tuple[Ends, str]:
    n = by_case.size
    if share:
        return wilson(float(by_case.mean()), n), ""  # a case counts once, however many rated it
    if n < 2:
        return Ends(np.nan, np.nan), _ONE_CASE
    spread = float(by_case.std(ddof=1))
    if spread < 1e-12:
        return Ends(np.nan, np.nan), _SAME
    half = t_critical(0.95, n - 1) * spread / math.sqrt(n)
    mean = float(by_case.mean())
    return Ends(max(1.0, mean - half), min(5.0, mean + half)), ""


def _of_judge(attribute: str, judge: str, rows: Sequence[Rating], kappa: dict[str, Any] | None) -> dict[str, Any]:
    row = {**_mean(attribute, "judge", rows), "judge": judge}
    if rows and (kappa is None or kappa["value"] is None):
        why = kappa["reason"] if kappa else "it rated nothing that people rated"
        row.update(mean=None, low=None, high=None, status="withheld")
        row["reason"] = f"a judge's score is not shown without its agreement with people: {why}"
    return row


# ---- agreement ------------------------------------------------------------------------------------------------------


def _agreement(attribute: str, rows: Sequence[Rating]) -> dict[str, Any]:
    """How far people agree with one another, and each judge with them."""
    units = sorted({(one.case, one.replicate, -1 if one.turn is None else one.turn) for one in rows})
    people = sorted({one.rater for one in rows if one.kind == "human"})
    judges = sorted({one.rater for one in rows if one.kind == "judge"})
    raters = [*people, *judges]
    table = np.full((len(units), len(raters)), np.nan)
    places = {unit: place for place, unit in enumerate(units)}
    columns = {rater: place for place, rater in enumerate(raters)}
    for one in rows:
        unit = (one.case, one.replicate, -1 if one.turn is None else one.turn)
        table[places[unit], columns[one.rater]] = one.rating
    clusters = [case for case, _, _ in units]
    levels = (0.0, 1.0) if attribute == "stigmatising" else (1.0, 2.0, 3.0, 4.0, 5.0)
    pairs = list(combinations(range(len(people)), 2))
    return {
        "attribute": attribute,
        "people": len(people),
        **_iccs(table[:, : len(people)]),
        "kappa_people": _kappa(table, pairs, clusters, levels, few="fewer than two people rated it"),
        "judges": {
            judge: _kappa(
                table,
                [(columns[judge], place) for place in range(len(people))],
                clusters,
                levels,
                few="nobody rated it beside the judge",
            )
            for judge in judges
        },
    }


def _iccs(table: Floats) -> dict[str, Any]:
    complete = table[np.isfinite(table).all(axis=1)] if table.shape[1] else table[:0]
    used = {"units": int(complete.shape[0]), "units_in_all": int(np.isfinite(table).any(axis=1).sum())}
    if table.shape[1] < 2:
        reason = "fewer than two people rated it"
    elif complete.shape[0] < 2:
        reason = "fewer than two things were rated by all people"
    else:
        found = icc_agreement(complete)
        reason = (
            "" if math.isfinite(found.single.value) else "every rating is the same: agreement beyond it cannot be seen"
        )
        return {"icc_2_1": _icc(found.single, reason), "icc_2_k": _icc(found.mean, reason), **used}
    nothing = Icc(np.nan, np.nan, np.nan)
    return {"icc_2_1": _icc(nothing, reason), "icc_2_k": _icc(nothing, reason), **used}


def _icc(found: Icc, reason: str) -> dict[str, Any]:
    return {"value": _number(found.value), "low": _number(found.low), "high": _number(found.high), "reason": reason}


def _kappa(
    table: Floats,
    pairs: Sequence[tuple[int, int]],
    clusters: Sequence[str],
    levels: Sequence[float],
    *,
    few: str,
) -> dict[str, Any]:
    """Quadratic weighted kappa, the mean over pairs, and the share of equal ratings beside it."""
    if not pairs:
        return _told(Kappa(np.nan, np.nan, np.nan, np.nan, 0, 0, 0), None, few)
    found = paired_kappa(table, pairs=pairs, clusters=clusters, levels=levels)
    both = [(table[:, a], table[:, b]) for a, b in pairs]
    rated = sum(int((np.isfinite(a) & np.isfinite(b)).sum()) for a, b in both)
    equal = sum(int((a == b).sum()) for a, b in both) / rated if rated else None
    reason = ""
    if not rated:
        reason = "no two of them rated the same thing"
    elif not math.isfinite(found.value):
        reason = "every rating is the same: agreement beyond chance cannot be seen"
    elif found.clusters < _FEW:
        reason = f"only {found.clusters} cases"
    return _told(found, equal, reason)


def _told(found: Kappa, equal: float | None, reason: str) -> dict[str, Any]:
    return {
        "value": _number(found.value),
        "low": _number(found.low),
        "high": _number(found.high),
        "cases": found.clusters,
        "pairs": found.pairs,
        "ratings": found.ratings,
        "equal": equal,
        "reason": reason,
    }


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
