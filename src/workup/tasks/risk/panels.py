"""The curves a risk report leads with: ROC, calibration, decision curve, risk distributions; thinned for the record."""

from __future__ import annotations

from typing import Any

import numpy as np

from workup.estimate import Draws, estimate
from workup.metric import FEWEST_CLUSTERS, FEWEST_PATIENTS, share_interval
from workup.scores import Scores
from workup.stats import calibration, rank, smooth
from workup.stats.arrays import Floats, Rows
from workup.stats.net_benefit import net_benefit_curve
from workup.stats.perfect_calibration import DRAWS, distances_by_chance
from workup.stats.random import generator
from workup.tasks.risk.calibration_metrics import NO_CURVE, at_an_end, enough_for_curve, slope_without_ends
from workup.tasks.risk.metrics import Smoother, calibration_metrics
from workup.tasks.risk.sweep import shown_groups

_BINS = 20
_GRID = 60
_GROUP_GRID = 20
_WIDEST = 0.9  # a band from nearly 0 to nearly 1 says nothing of a group there, and its curve is the spline's alone
_FEWEST_POINTS = 5


def panels(
    scores: Scores, smoother: Smoother, *, seed: int = 0, loess: bool = False, smallest_cell: int = 1
) -> dict[str, Any]:
    """Tables behind the four panels; a panel that the data cannot draw is absent, and the metrics say why.

    No point of the calibration plot stands for fewer patients than `smallest_cell`, where its risk and its observed
    share would be the risk and the outcome of someone.
    """
    y, p, w = scores["outcome"], scores["risk"], scores.base_weight
    found: dict[str, Any] = {
        "summary": _summary(scores),
        "risk_distribution": distribution(y, p, w),
        "calibration_tests": [_spiegelhalter(scores)],
    }
    if 0 < y.sum() < y.size:
        found["roc"] = [{"fpr": x, "sensitivity": t} for x, t in rank.roc_points(y, p, w)]
        found["calibration_curve"] = _calibration(scores, smoother, seed=seed, loess=loess, smallest_cell=smallest_cell)
        found["decision_curve"] = decision_curve(scores)
        slope = _slope_without_ends(scores)
        apart = np.unique(scores.patient[at_an_end(scores) > 0]).size
        if slope and apart >= smallest_cell:  # all rows less those without would be the outcomes of so few
            found["slope_without_ends"] = slope
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


def distribution(y: Floats, p: Floats, w: Floats) -> list[dict[str, Any]]:
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


def _calibration(scores: Scores, smoother: Smoother, *, seed: int, loess: bool, smallest_cell: int) -> dict[str, Any]:
    """The spline with its band, and what stands beside it."""
    found: dict[str, Any] = {
        "smoother": "spline",
        "spline": spline_points(scores, smoother, points=_GRID),
        "rug": deciles(scores, smallest_cell),
        "ends": [row for row in _ends(scores) if row["patients"] >= smallest_cell],
    }
    if loess and found["spline"]:
        inside = _inside(scores)
        at = np.array([row["risk"] for row in found["spline"]])
        thin = smooth.loess(inside["risk"], inside["outcome"], at, weight=inside.weight)
        found["loess"] = [{"risk": risk, "observed": seen} for risk, seen in zip(at, thin, strict=True)]
    chance = _by_chance(scores, smoother, seed)
    return found | ({"by_chance": chance} if chance else {})


def _inside(scores: Scores) -> Scores:
    """The rows whose risks have log odds."""
    return scores.take(np.flatnonzero(at_an_end(scores) == 0))


def spline_points(scores: Scores, smoother: Smoother, *, points: int) -> list[dict[str, Any]]:
    """The spline and its band over the middle 98 % of the risks that have log odds; nothing where none has."""
    inside = _inside(scores)
    if not len(inside):
        return []
    lp, w = calibration.logit(inside["risk"]), inside.base_weight
    ends = [smooth.weighted_quantile(lp, w, share) for share in (0.01, 0.99)]
    grid = np.linspace(ends[0], ends[1], points)
    curve = smooth.spline_curve(lp, inside["outcome"], w, inside.patient, at=smoother.knots, grid=grid)
    return [
        {"risk": risk, "observed": seen, "low": low, "high": high}
        for risk, seen, low, high in zip(curve.risk, curve.observed, curve.low, curve.high, strict=True)
    ]


def _ends(scores: Scores) -> list[dict[str, Any]]:
    """Rows with a risk of 0 and of 1, which no curve can hold: how many of them had the event."""
    found = []
    for code, risk in ((1, 0.0), (2, 1.0)):
        rows = at_an_end(scores) == code
        if not (scores.base_weight[rows].sum() > 0):
            continue
        part = scores.take(rows)
        seen = share_interval(part["outcome"], np.ones(len(part)), part, 0.95)
        found.append(
            {
                "risk": risk,
                "observed": float(np.average(part["outcome"], weights=part.base_weight)),
                "low": seen.low,
                "high": seen.high,
                "n": len(part),
                "patients": part.n_patients,
                "events": int(part["outcome"].sum()),
                "method": seen.method,
                "reason": seen.reason or None,
            }
        )
    return found


def calibration_by_group(scores: Scores, smoother: Smoother) -> dict[str, Any]:
    """The calibration curve of every group, made as that of everyone; a group that cannot have one says why."""
    groups, left_out = shown_groups(scores)
    curves = []
    for key, rows in groups:
        part = scores.take(rows)
        events = int(part["outcome"].sum())
        reason = None
        points: list[dict[str, Any]] = []
        if not enough_for_curve(part["outcome"][at_an_end(part) == 0]):
            reason = NO_CURVE
        else:
            points = spline_points(part, smoother, points=_GROUP_GRID)
            if not all(np.isfinite(value) for point in points for value in point.values()):
                points, reason = [], "the curve has no finite fit: these risks separate the outcomes or hardly differ"
            points = [point for point in points if point["high"] - point["low"] <= _WIDEST]
            if reason is None and len(points) < _FEWEST_POINTS:
                points, reason = [], "too few outcomes along the risks: the band would say nothing"
        size = {"n_patients": part.n_patients, "n_rows": len(part), "n_events": events}
        curves.append({"slice": key, **size, "spline": points, "reason": reason})
    return {"curves": curves, "left_out": left_out}


def _by_chance(scores: Scores, smoother: Smoother, seed: int) -> dict[str, Any]:
    """The distances that these risks would show if every one were right; nothing where there is no curve."""
    apart = at_an_end(scores)
    if not enough_for_curve(scores["outcome"][apart == 0]):
        return {}
    chance = distances_by_chance(
        scores["outcome"],
        calibration.logit(scores["risk"]),
        scores["risk"],
        scores.base_weight,
        scores.patient,
        at=smoother.knots,
        apart=apart,
        rng=generator(seed, "calibration by chance"),
    )
    found: dict[str, Any] = {}
    for name, values in chance.distances._asdict().items():
        defined = values[np.isfinite(values)]
        if not defined.size:
            return {}
        found[name] = {"mean": float(defined.mean()), "p95": float(np.quantile(defined, 0.95))}
    fitted = int(np.count_nonzero(np.isfinite(chance.distances.ici)))
    return {
        "draws": DRAWS,
        "fitted": fitted,
        "within_patient_correlation": None if scores.n_patients == len(scores) else chance.correlation,
        **found,
    }


def _slope_without_ends(scores: Scores) -> dict[str, Any]:
    """The slope of all rows and of those whose risks are neither 0 nor 1, where the two differ enough to be shown."""
    without = slope_without_ends(scores)
    if without is None:
        return {}
    [slope] = [metric for metric in calibration_metrics() if metric.name == "calibration_slope"]
    both = [estimate(part, [slope], draws=Draws(), levels=(0.95,))[0].as_dict() for part in (scores, _inside(scores))]
    return {"rows_at_an_end": without.rows, "moved_in_se": without.moved, "all_rows": both[0], "without": both[1]}


def deciles(scores: Scores, smallest_cell: int) -> list[dict[str, float]]:
    """Mean risk and observed share in tenths of the rows by risk: what the curve smooths.

    Rows of one risk stay together, so there may be fewer than ten parts: what would part them is no risk, and an order
    by outcome would show one tenth without events and another full of them. Neighbours are joined where a part would
    stand for too few patients.
    """
    order = np.argsort(scores["risk"], kind="stable")
    risks, w = scores["risk"][order], scores.base_weight
    cuts = np.linspace(0, len(order), 11)[1:-1].round().astype(int)
    ends = np.unique(np.searchsorted(risks, risks[cuts[cuts < len(order)] - 1], side="right"))
    parts = _joined([rows for rows in np.split(order, ends) if rows.size], scores, smallest_cell)
    return [
        {
            "risk": float(np.average(scores["risk"][rows], weights=w[rows])),
            "observed": float(np.average(scores["outcome"][rows], weights=w[rows])),
            "n": int(rows.size),
        }
        for rows in parts
        if w[rows].sum() > 0
    ]


def _joined(parts: list[Rows], scores: Scores, fewest: int) -> list[Rows]:
    """Neighbouring parts joined until each holds so many patients; all of them in one where there are no more."""
    found: list[Rows] = []
    for part in parts:
        if found and np.unique(scores.patient[found[-1]]).size < fewest:
            found[-1] = np.concatenate([found[-1], part])
        else:
            found.append(part)
    if len(found) > 1 and np.unique(scores.patient[found[-1]]).size < fewest:
        found[-2:] = [np.concatenate(found[-2:])]
    return found


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
