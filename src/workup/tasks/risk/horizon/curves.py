"""The curves of a report on horizons: observed risk over time by fifths of risk, and at each horizon calibration, ROC,
net benefit and the distribution of risks; thinned for the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workup.scores import OUTCOME, RISK, Scores
from workup.stats import rank
from workup.stats.arrays import Bools, Floats, Ints
from workup.stats.horizon_influence import Influence
from workup.stats.horizon_weights import CENSORED, COMPETING, EVENT
from workup.stats.intervals import t_critical
from workup.stats.survival import aalen_johansen
from workup.tasks.risk.calibration_metrics import Smoother
from workup.tasks.risk.horizon.censoring import FOLLOWUP, STATUS, Censoring, Horizon
from workup.tasks.risk.horizon.diagnostics import fifths
from workup.tasks.risk.horizon.seen import Seen
from workup.tasks.risk.panels import deciles, decision_curve, distribution, spline_points

_POINTS = 80  # of an observed curve
_MARKS = 5  # moments under a time axis at which those at risk are counted
_GRID = 60  # of a calibration curve
_LEVEL = 0.95


def observed_curves(scores: Scores, horizons: Sequence[Horizon], *, smallest_cell: int = 1) -> dict[str, Any]:
    """Observed risk over time in everyone and in fifths of the risk by the last horizon, beside the mean risk at every
    horizon; under the axis those at risk, and the events and competing events until then.

    The curves are Aalen and Johansen's; where no one has a competing event they are 1 − Kaplan–Meier."""
    last = horizons[-1]
    w = scores.base_weight
    until = last.days
    axis = np.linspace(0, until, _POINTS + 1)
    marks = np.linspace(0, until, _MARKS + 1)
    competing = bool(np.any((scores[STATUS] == COMPETING) & (scores[FOLLOWUP] <= until)))
    place = fifths(scores[last.risk], w)
    parts: list[tuple[int | None, Bools]] = [(None, np.ones(len(scores), dtype=bool))]
    parts += [(int(code) + 1, place == code) for code in np.unique(place)]
    shown = [
        _observed(scores, rows, fifth, horizons, axis, marks)
        for fifth, rows in parts
        if np.unique(scores.patient[rows]).size >= smallest_cell and w[rows].sum() > 0
    ]
    if smallest_cell > 1 and _few_lost(scores, place, marks, smallest_cell):
        shown = [one if one["fifth"] is None else _uncounted(one) for one in shown]
    return {"by": f"fifths of the risk by {last.name}", "competing": competing, "unit": "d", "curves": shown}


def _few_lost(scores: Scores, place: Ints, marks: Floats, k: int) -> bool:
    """Were few of a fifth lost between two moments at which those at risk are counted?"""
    lost = (scores[STATUS] == CENSORED) & (scores[FOLLOWUP] < marks[-1])
    between = np.searchsorted(marks, scores[FOLLOWUP][lost], side="right") + place[lost] * (marks.size + 1)
    pairs = np.unique(np.column_stack([between, scores.patient[lost]]), axis=0)
    return bool(np.any(np.unique(pairs[:, 0], return_counts=True)[1] < k))


def _uncounted(curve: dict[str, Any]) -> dict[str, Any]:
    """A curve to draw, without those under its axis: steps to the last digit would give back how many were at risk."""
    rounded = [{name: round(value, 3) for name, value in point.items()} for point in curve["curve"]]
    means = [
        {**one, "observed": None if one["observed"] is None else round(one["observed"], 3)}
        for one in curve["mean_risk"]
    ]
    return {**curve, "curve": rounded, "mean_risk": means, "under_axis": []}


def _observed(
    scores: Scores, rows: Bools, fifth: int | None, horizons: Sequence[Horizon], axis: Floats, marks: Floats
) -> dict[str, Any]:
    t, status, w = scores[FOLLOWUP][rows], scores[STATUS][rows].astype(np.int64), scores.base_weight[rows]
    # A curve is known as far as someone is still followed, or all have had an event.
    last = float(t[w > 0].max(initial=0.0))
    reach = last if np.any((t == last) & (status == 0) & (w > 0)) else np.inf
    drawn = axis[axis <= reach]
    incidence = aalen_johansen(t, status, w).at(drawn)
    return {
        "fifth": fifth,
        "n_rows": int(rows.sum()),
        "n_patients": int(np.unique(scores.patient[rows]).size),
        "mean_risk": [
            {
                "horizon": one.name,
                "days": one.days,
                "risk": float(np.average(scores[one.risk][rows], weights=w)),
                "observed": float(aalen_johansen(t, status, w).at([one.days]).event[0]) if one.days <= reach else None,
            }
            for one in horizons
        ],
        "curve": [
            {
                "days": float(moment),
                "event": float(incidence.event[i]),
                "competing": float(incidence.competing[i]),
                "free": float(incidence.free[i]),
            }
            for i, moment in enumerate(drawn)
        ],
        "under_axis": [
            {
                "days": float(moment),
                "at_risk": float(w[t >= moment].sum()),
                "events": float(w[(status == EVENT) & (t <= moment)].sum()),
                "competing": float(w[(status == COMPETING) & (t <= moment)].sum()),
            }
            for moment in marks
        ],
    }


def at_each_horizon(
    scores: Scores, horizons: Sequence[Horizon], censoring: Censoring, *, smallest_cell: int = 1
) -> list[dict[str, Any]]:
    """Calibration, ROC, net benefit and risks at every horizon; a reason where the data cannot draw them."""
    return [_panels(scores, horizon, censoring, smallest_cell=smallest_cell) for horizon in horizons]


def _panels(scores: Scores, horizon: Horizon, censoring: Censoring, *, smallest_cell: int) -> dict[str, Any]:
    seen = Seen.of(scores, horizon, censoring)
    found: dict[str, Any] = {"horizon": horizon.name, "days": horizon.days, "reason": None}
    weighted = _weighted(seen)
    estimable = bool(seen.weights.under(scores.base_weight[None, :]).estimable[0])
    y, p, a = weighted[OUTCOME], weighted[RISK], weighted.base_weight
    if not (estimable and float(a @ y) > 0 and float(a @ (1 - y)) > 0):
        return {**found, "reason": seen.undefined()}
    smoother = Smoother.of(seen.everyone)
    return {
        **found,
        "observed": float(seen.at.observed_risk().value),
        "predicted": float(np.average(scores[horizon.risk], weights=scores.base_weight)),
        "risk_distribution": distribution(y, p, a),
        "roc": [{"fpr": x, "sensitivity": t} for x, t in rank.roc_points(y, p, a)],
        "calibration_curve": {
            "smoother": "spline",
            "spline": spline_points(weighted, smoother, points=_GRID),
            "band": "pointwise 95 %"
            if seen.complete
            else "pointwise 95 %, censoring weights taken as known (a little too wide)",
            "rug": deciles(weighted, smallest_cell),
        },
        "decision_curve": decision_curve(seen.everyone) if seen.complete else _decision_curve(seen, scores),
    }


def _weighted(seen: Seen) -> Scores:
    """The rows whose outcome is known, each with its design weight times its censoring weight."""
    if seen.complete:
        return seen.known
    return replace(seen.known, weight=seen.at.a[seen.weights.known])


def _decision_curve(seen: Seen, scores: Scores) -> list[dict[str, Any]]:
    """Net benefit at every hundredth, with pointwise intervals from the influence of patients."""
    at = seen.at
    share = at.observed_risk().value
    reason = seen.lacking()
    rows = []
    for threshold in np.arange(1, 100) / 100:
        odds = threshold / (1 - threshold)
        benefit = at.net_benefit(float(threshold))
        gain = at.mean((at.flagged(float(threshold)) - 1) * (at.outcome - odds * (1 - at.outcome)))
        low, high = (None, None) if reason else _ends(benefit, scores)
        gain_low, gain_high = (None, None) if reason else _ends(gain, scores)
        rows.append(
            {
                "threshold": float(threshold),
                "model": benefit.value,
                "low": low,
                "high": high,
                "treat_all": share - (1 - share) * odds,
                "treat_none": 0.0,
                "over_all": gain.value,
                "over_all_low": gain_low,
                "over_all_high": gain_high,
                "standardised": benefit.value / share,
                "avoided_per_100": gain.value / odds * 100,
                "n_patients": scores.n_patients,
                **({"reason": f"insufficient: {reason}"} if reason else {}),
            }
        )
    return rows


def _ends(found: Influence, scores: Scores) -> tuple[float, float]:
    half = t_critical(_LEVEL, max(1, scores.n_patients - 1)) * found.se(scores.patient)
    return found.value - half, found.value + half
