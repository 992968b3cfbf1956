"""What kind of change is it? Who comes (covariate), how often it happens (prior), or what the risks mean (concept); and
what a system that gives risks may be expected to do on rows whose answer is not known yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from workup.estimate import Draws, replicate
from workup.metric import Metric
from workup.scores import Floats, Levels, Scores
from workup.stats import calibration, logistic
from workup.stats.intervals import chi2_proportions, newcombe

RISK = "risk"  # the column of predicted chances, in tasks whose systems give them
_REPLICATES = 200  # of the label-free estimate, which its assumption limits more than chance does


def prior_drift(baseline: Scores, now: Scores, events: str) -> dict[str, Any]:
    """Do events happen as often as in the baseline? Difference with Newcombe's interval, on patients' rows."""
    x, n = ([int(np.count_nonzero(part[events] > 0)) for part in (now, baseline)], [len(now), len(baseline)])
    shares = [a / b for a, b in zip(x, n, strict=True)]
    low, high = newcombe(shares[0], n[0], shares[1], n[1])
    test = chi2_proportions(x, n)
    return {"kind": "prior", "baseline": shares[1], "now": shares[0], "low": low, "high": high, "p": _or_none(test.p)}


def concept_drift(baseline: Scores, now: Scores, metrics: Sequence[Metric]) -> list[dict[str, Any]]:
    """Do the outputs mean what they meant? Likelihood-ratio tests of the outcome on the output by period.

    Metrics that carry such a test (calibration slope and in-the-large) are asked; rows that repeat within patients
    would make the tests too sure, so none is made then.
    """
    both = _stacked(baseline, now)
    period = Levels(np.repeat([0, 1], [len(baseline), len(now)]).astype(np.int64), ("baseline", "window"))
    rows = []
    for metric in metrics:
        if metric.omnibus is None:
            continue
        p = _or_none(metric.omnibus(both, period).p) if both.independent else None
        reason = "" if both.independent else "rows repeat within patients, or carry weights; the test would be too sure"
        rows.append({"kind": "concept", "metric": metric.name, "p": p, "reason": reason})
    return rows


def _stacked(first: Scores, second: Scores) -> Scores:
    """The rows of two windows of one study under one another; patients keep their numbers."""
    shared = [name for name in first.values if name in second.values]
    weight = None
    if first.weight is not None or second.weight is not None:
        weight = np.concatenate([first.base_weight, second.base_weight])
    return Scores(
        {name: np.concatenate([first[name], second[name]]) for name in shared},
        np.concatenate([first.patient, second.patient]),
        weight=weight,
    )


def recalibration(baseline: Scores, events: str) -> tuple[float, float] | None:
    """Intercept and slope that turn the baseline's risks into observed shares; None where there are no risks."""
    if RISK not in baseline.values:
        return None
    design = logistic.with_constant(calibration.logit(baseline[RISK]))
    found = logistic.fit(design, baseline[events], baseline.base_weight[None, :]).coefficients[0]
    return (float(found[0]), float(found[1])) if np.isfinite(found).all() else None


def without_labels(
    scores: Scores, metrics: Sequence[Metric], events: str, line: tuple[float, float], draws: Draws
) -> list[dict[str, Any]]:
    """What each metric would be if risks, recalibrated on the baseline, were still right: no label is looked at.

    Every row counts twice, as an event with its chance and as none with the rest (confidence-based estimation). It
    sees changes in who comes; it cannot see that the meaning of a risk has changed.
    """
    chance = special.expit(line[0] + line[1] * calibration.logit(scores[RISK]))
    twice = _twice(scores, chance, events)
    drawn = replicate(twice, metrics, draws=replace(draws, replicates=_REPLICATES, strata=None))[0]
    rows = []
    for metric, values in zip(metrics, drawn, strict=True):
        value = metric.value(twice)
        defined = values[np.isfinite(values)]
        enough = np.isfinite(value) and defined.size >= 0.99 * values.size
        low, high = np.quantile(defined, [0.025, 0.975]) if enough else (None, None)
        rows.append(
            {"metric": metric.name, "slice": dict(metric.at), "value": _or_none(value), "low": low, "high": high}
            | {"rows": len(scores)}
        )
    return rows


def _twice(scores: Scores, chance: Floats, events: str) -> Scores:
    def both(column: Any) -> Any:
        return np.concatenate([column, column])

    values: Mapping[str, Floats] = {name: both(column) for name, column in scores.values.items()}
    outcome = np.repeat([1.0, 0.0], len(scores))
    weight = np.concatenate([chance, 1 - chance]) * both(scores.base_weight)
    return Scores({**values, events: outcome}, both(scores.patient), weight=weight)


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
