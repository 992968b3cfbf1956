"""The curves a risk report leads with: ROC, calibration, decision curve, risk distributions; thinned for the record."""

from __future__ import annotations

from typing import Any

import numpy as np

from workup.metric import FEWEST_CLUSTERS, FEWEST_PATIENTS
from workup.scores import Floats, Scores
from workup.stats import calibration, rank, smooth
from workup.stats.net_benefit import net_benefit_curve
from workup.tasks.risk.metrics import FEWEST_FOR_CURVE, Smoother
from workup.tasks.risk.sweep import shown_groups

_BINS = 20
_GRID = 60
_GROUP_GRID = 20


def panels(scores: Scores, smoother: Smoother) -> dict[str, Any]:
    """Tables behind the four panels; a panel that the data cannot draw is absent, and the metrics say why."""
    y, p, w = scores["outcome"], scores["risk"], scores.base_weight
    found: dict[str, Any] = {
        "summary": _summary(scores),
        "risk_distribution": _distribution(y, p, w),
        "calibration_tests": [_spiegelhalter(scores)],
    }
    if 0 < y.sum() < y.size:
        found["roc"] = [{"fpr": x, "sensitivity": t} for x, t in rank.roc_points(y, p, w)]
        found["calibration_curve"] = _calibration(scores, smoother)
        found["decision_curve"] = decision_curve(scores)
    return found


def _summary(scores: Scores) -> dict[str, Any]:
    y, p, w = scores["outcome"], scores["risk"], scores.base_weight
    return {
        "rows": len(scores),
        "patients": scores.n_patients,
        "events": int(y.sum()),
        "patients_with_event": int(np.unique(scores.patient[y > 0]).size),
        "observed": float(w @ y / w.sum()),
        "predicted": float(w @ p / w.sum()),
        "sites": None if scores.site is None else int(np.unique(scores.site.codes).size),
        "weighted": scores.weight is not None,
    }


def _spiegelhalter(scores: Scores) -> dict[str, Any]:
    """Spiegelhalter's test with all that it rests on; null where it tests nothing, with the reason."""
    y, p = scores["outcome"], scores["risk"]
    against = int(np.count_nonzero(((p == 0) & (y > 0)) | ((p == 1) & (y < 1))))
    method = "variance of independent rows" if scores.independent else "totals of patients (cluster-robust)"
    row = {
        "test": "Spiegelhalter's z",
        "z": None,
        "p": None,
        "method": method,
        "n_patients": scores.n_patients,
        "n_rows": len(scores),
        "n_events": int(y.sum()),
        "reason": None,
    }
    if not scores.independent and scores.n_patients < FEWEST_PATIENTS:
        few = f"{scores.n_patients} patients; totals of patients need at least {FEWEST_PATIENTS}"
        return {**row, "reason": f"insufficient: {few}"}
    if against:
        certain = f"{against} rows contradict a risk of exactly 0 or 1, which right risks never are: nothing to test"
        return {**row, "reason": f"undefined: {certain}"}
    found = (
        calibration.spiegelhalter(y, p)
        if scores.independent
        else calibration.spiegelhalter(y, p, scores.weight, scores.patient)
    )
    if not np.isfinite(found.statistic):
        return {**row, "reason": "undefined: all risks are 0, 0.5 or 1, which leaves the statistic no variance"}
    return {**row, "z": found.statistic, "p": found.p}


def _distribution(y: Floats, p: Floats, w: Floats) -> list[dict[str, Any]]:
    """Share of each outcome's rows per twentieth of risk."""
    place = np.minimum((p * _BINS).astype(int), _BINS - 1)
    rows = []
    for outcome in (0, 1):
        mass = np.bincount(place, weights=w * (y == outcome), minlength=_BINS)
        total = mass.sum()
        rows += [
            {"outcome": outcome, "from": b / _BINS, "to": (b + 1) / _BINS, "share": mass[b] / total if total else None}
            for b in range(_BINS)
        ]
    return rows


def _calibration(scores: Scores, smoother: Smoother) -> dict[str, Any]:
    """The drawn curve and the spline's band over the middle 98 % of risks."""
    rows = _spline(scores, smoother, points=_GRID)
    found: dict[str, Any] = {"smoother": smoother.kind, "spline": rows, "rug": _deciles(scores)}
    if smoother.kind == "loess":
        at = np.array([row["risk"] for row in rows])
        drawn = smooth.loess(scores["risk"], scores["outcome"], at, weight=scores.weight)
        found["loess"] = [{"risk": risk, "observed": seen} for risk, seen in zip(at, drawn, strict=True)]
    return found


def _spline(scores: Scores, smoother: Smoother, *, points: int) -> list[dict[str, Any]]:
    """The spline and its band over the middle 98 % of risks."""
    lp, w = calibration.logit(scores["risk"]), scores.base_weight
    ends = [smooth.weighted_quantile(lp, w, share) for share in (0.01, 0.99)]
    grid = np.linspace(ends[0], ends[1], points)
    curve = smooth.spline_curve(lp, scores["outcome"], w, scores.patient, at=smoother.knots, grid=grid)
    return [
        {"risk": risk, "observed": seen, "low": low, "high": high}
        for risk, seen, low, high in zip(curve.risk, curve.observed, curve.low, curve.high, strict=True)
    ]


def calibration_by_group(scores: Scores, smoother: Smoother) -> dict[str, Any]:
    """The calibration curve of every group, made as that of everyone; a group that cannot have one says why."""
    groups, left_out = shown_groups(scores)
    curves = []
    for key, rows in groups:
        part = scores.take(rows)
        events = int(part["outcome"].sum())
        reason = None
        points: list[dict[str, Any]] = []
        if min(events, len(part) - events) < FEWEST_FOR_CURVE:
            reason = f"a curve needs at least {FEWEST_FOR_CURVE} rows with and {FEWEST_FOR_CURVE} without the event"
        else:
            points = _spline(part, smoother, points=_GROUP_GRID)
            if not all(np.isfinite(value) for point in points for value in point.values()):
                points, reason = [], "the curve has no finite fit: these risks separate the outcomes or hardly differ"
        size = {"n_patients": part.n_patients, "n_rows": len(part), "n_events": events}
        curves.append({"slice": key, **size, "spline": points, "reason": reason})
    return {"curves": curves, "left_out": left_out}


def _deciles(scores: Scores) -> list[dict[str, float]]:
    """Mean risk and observed share in tenths of the rows by risk: what the curve smooths."""
    order = np.argsort(scores["risk"], kind="stable")
    parts = [rows for rows in np.array_split(order, min(10, len(order))) if rows.size]
    w = scores.base_weight
    return [
        {
            "risk": float(np.average(scores["risk"][rows], weights=w[rows])),
            "observed": float(np.average(scores["outcome"][rows], weights=w[rows])),
            "n": int(rows.size),
        }
        for rows in parts
        if w[rows].sum() > 0
    ]


def decision_curve(scores: Scores) -> list[dict[str, Any]]:
    """Net benefit of the model with its pointwise interval, of treating all and of treating none, what the model gains
    over treating all, standardised net benefit, and interventions avoided."""
    y, p, w = scores["outcome"], scores["risk"], scores.base_weight
    prevalence = float(w @ y / w.sum())
    patient = None if scores.independent else scores.patient
    few = patient is not None and scores.n_patients < FEWEST_CLUSTERS
    reason = f"insufficient: rows repeat within {scores.n_patients} patients; at least {FEWEST_CLUSTERS} are needed"
    rows: list[dict[str, Any]] = []
    for one in net_benefit_curve(y, p, np.arange(1, 100) / 100, weight=scores.weight, cluster=patient):
        odds = one.threshold / (1 - one.threshold)
        ends = (*one.ends, *one.over_all_ends) if not few else (None,) * 4
        rows.append(
            {
                "threshold": one.threshold,
                "model": one.value,
                "low": ends[0],
                "high": ends[1],
                "treat_all": prevalence - (1 - prevalence) * odds,
                "treat_none": 0.0,
                "over_all": one.over_all,
                "over_all_low": ends[2],
                "over_all_high": ends[3],
                "standardised": one.value / prevalence if prevalence > 0 else None,
                "avoided_per_100": one.over_all / odds * 100,
                "n_patients": scores.n_patients,
                **({"reason": reason} if few else {}),
            }
        )
    return rows
