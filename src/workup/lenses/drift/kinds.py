"""What kind of change is it? Who comes (covariate), how often it happens (prior), or what the risks mean (concept); and
what a system that gives risks may be expected to do on rows whose answer is not known yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from workup.estimate import Draws, replicate
from workup.lenses.input_rows import one_row_each
from workup.metric import Metric, clustered_rows
from workup.scores import RISK, Levels, Scores
from workup.stats import calibration, logistic
from workup.stats.arrays import Floats
from workup.stats.distances import kolmogorov_smirnov, wasserstein
from workup.stats.intervals import Ends, chi2_p, chi2_proportions, combine_difference, effective_ends, wilson
from workup.stats.scales import or_none

WEIGHTED = "rows carry design weights, and a likelihood of weighted rows is none"
MOVED, CHANGED = 0.10, 0.20  # risks in their SDs; log odds at the same risk: a fifth in the odds, as by custom for O/E
_RECALIBRATE = "recalibration of intercept and slope where the ranking (AUROC) holds; retraining where it has fallen"
OPTIONS = {
    "covariate": "none while performance holds; retraining with the new patients where it does not",
    "prior": "recalibration of the intercept",
    "concept": _RECALIBRATE,
    "concept and covariate": _RECALIBRATE,
    "prior or concept": "recalibration, and a closer look once more outcomes are known",
}
_REPLICATES = 200  # of the label-free estimate, which its assumption limits more than chance does


def prior_drift(baseline: Scores, now: Scores, events: str) -> dict[str, Any]:
    """Do events happen as often as in the baseline? The ends of both shares are squared and added (for independent
    rows Newcombe's interval); the test counts effective rows where they repeat within patients or carry weights."""
    sides = (_share_of_events(part, events) for part in (baseline, now))
    (before, n_before, of_before), (after, n_after, of_after) = sides
    low, high = combine_difference(after, of_after, before, of_before)
    test = chi2_proportions([after * n_after, before * n_before], [n_after, n_before])
    return {"kind": "prior", "baseline": before, "now": after, "low": low, "high": high, "p": or_none(test.p)}


def _share_of_events(part: Scores, events: str) -> tuple[float, float, Ends]:
    happened = (part[events] > 0).astype(np.float64)
    if part.independent:
        share = float(happened.mean())
        return share, float(len(part)), wilson(share, len(part))
    found = clustered_rows(happened, np.ones(len(part)), part)
    return found.share, found.effective_n(), effective_ends(found)


def concept_drift(baseline: Scores, now: Scores, metrics: Sequence[Metric]) -> list[dict[str, Any]]:
    """Do the outputs mean what they meant? Likelihood-ratio tests of the outcome on the output by period.

    Metrics that carry such a test (calibration slope and in-the-large) are asked, on one row of each patient, since
    rows that repeat would make them too sure. Rows with design weights have no likelihood to compare.
    """
    asked = [metric for metric in metrics if metric.omnibus is not None]
    weighted = baseline.weight is not None or now.weight is not None
    both = None if weighted or not asked else _Both.of(baseline, now)
    return [
        {
            "kind": "concept",
            "metric": metric.name,
            "p": None if both is None or metric.omnibus is None else or_none(metric.omnibus(both.rows, both.period).p),
            "reason": WEIGHTED if weighted else "",
        }
        for metric in asked
    ]


@dataclass(frozen=True, eq=False)
class _Both:
    """One row of each patient in the baseline and in a window, under one another, with the period of each."""

    rows: Scores
    period: Levels

    @classmethod
    def of(cls, baseline: Scores, now: Scores) -> _Both:
        sides = [one_row_each(part) for part in (baseline, now)]
        shared = [name for name in baseline.values if name in now.values]
        period = Levels(np.repeat([0, 1], [len(side) for side in sides]).astype(np.int64), ("baseline", "window"))
        return cls(Scores.of({name: np.concatenate([side[name] for side in sides]) for name in shared}), period)

    def column(self, values: Floats) -> tuple[Floats, Floats]:
        """A column of the baseline and of the window."""
        return values[self.period.codes == 0], values[self.period.codes == 1]


class Evidence(NamedTuple):
    """What tells the kinds of drift apart: p of each question, and how large the answers are.

    `risks`: are other risks given? `meaning`: do outcomes follow the risks in another way (the likelihood ratio of
    y ~ lp × period), and `slope`: in another slope? `within`: are other risks given to those with the event, or to
    those without? `moved` is Wasserstein's distance of the risks in SDs, `changed` the root mean square change of the
    log odds at the same risk.
    """

    risks: float
    meaning: float
    slope: float
    within: float
    moved: float
    changed: float


def evidence(baseline: Scores, now: Scores, events: str) -> Evidence | str:
    """The evidence of one window against the baseline, or why there is none."""
    if RISK not in baseline.values:
        return "the system gives no risks, so the meaning of its outputs cannot be tested"
    if baseline.weight is not None or now.weight is not None:
        return WEIGHTED
    both = _Both.of(baseline, now)
    happened, lp = (both.rows[events] > 0).astype(np.float64), calibration.logit(both.rows[RISK])
    periods = list(zip(both.column(happened), both.column(lp), strict=True))
    lines = [_fitted(logistic.with_constant(x), y) for y, x in periods]
    period = both.period.codes.astype(np.float64)
    design = np.column_stack([logistic.with_constant(lp), period])
    apart, same = _fitted(design, happened, start=lines[0]), _fitted(design[:, :2], happened, start=lines[0])
    if apart is None or same is None or lines[0] is None or lines[1] is None:
        return "risks separate the outcomes, or all are equal: their meaning has no finite fit"
    # y ~ lp × period is a line of its own for each period.
    free = sum(_deviance(logistic.with_constant(x), y, line) for (y, x), line in zip(periods, lines, strict=True))
    change = lines[1] - lines[0]
    (y_before, before), (y_after, after) = periods
    within = [kolmogorov_smirnov(before[y_before == y], after[y_after == y]).p for y in (0, 1)]
    return Evidence(
        kolmogorov_smirnov(before, after).p,
        chi2_p(max(0.0, _deviance(design[:, :2], happened, same) - free), 2),
        chi2_p(max(0.0, _deviance(design, happened, apart) - free), 1),
        min(1.0, 2 * min(within)),
        wasserstein(before, after).scaled,
        float(np.sqrt(np.mean((change[0] + change[1] * after) ** 2))),
    )


def _fitted(design: Floats, happened: Floats, *, start: Floats | None = None) -> Floats | None:
    """Coefficients of a logistic model; None where it has no finite fit. `start` is for the first of them."""
    begun = None if start is None else np.append(start, np.zeros(design.shape[1] - start.size))
    found = logistic.fit(design, happened, np.ones((1, len(design))), start=begun).coefficients[0]
    return found if np.isfinite(found).all() else None


def _deviance(design: Floats, happened: Floats, coefficients: Floats | None) -> float:
    assert coefficients is not None
    return logistic.deviance(coefficients, design, happened, np.ones(len(design)))


def named(found: Evidence | str, *, level: float, inputs_moved: bool = False) -> dict[str, Any]:
    """The kind of drift that the evidence speaks for, why, and what may be done about it.

    A change in who comes leaves the meaning of risks alone; a change in how often the event happens leaves the risks
    of those with and of those without it alone; a change of meaning leaves neither.

    >>> named(Evidence(1e-9, 0.4, 0.7, 1e-6, 0.5, 0.05), level=0.004)["drift"]
    'covariate'
    >>> named(Evidence(1e-9, 1e-9, 0.7, 0.5, 0.3, 0.6), level=0.004)["drift"]
    'prior'
    """
    if isinstance(found, str):
        kind, why = ("covariate", "inputs have moved; " + found) if inputs_moved else (None, found)
        return {"drift": kind, "reason": why, "options": OPTIONS.get(kind or "", "")}
    moved = inputs_moved or (found.risks <= level and found.moved >= MOVED)
    if not (found.meaning <= level and found.changed >= CHANGED):
        kind, why = (
            ("covariate", "other patients, or other inputs; risks mean what they meant") if moved else ("none", "")
        )
    elif found.slope <= level:
        kind, why = "concept", "outcomes follow the risks in another slope"
    elif found.risks <= level < found.within:
        kind, why = "prior", "the event has another frequency; within outcomes, risks are as before"
    elif found.within <= level < found.risks:
        kind, why = "concept", "the same risks are given as before, and mean another chance"
    elif max(found.risks, found.within) <= level:
        kind, why = "concept", "risks mean another chance, and other risks are given"
    else:
        kind, why = "prior or concept", "risks mean another chance; too few rows to tell why"
    if kind == "concept" and moved:
        kind = "concept and covariate"
    figures = {f"p_{name}": or_none(getattr(found, name)) for name in ("risks", "meaning", "slope", "within")}
    sizes = {"moved": or_none(found.moved), "changed": found.changed}
    return {"drift": kind, "reason": why, "options": OPTIONS.get(kind, ""), **figures, **sizes}


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
            {"metric": metric.name, "slice": dict(metric.at), "value": or_none(value), "low": low, "high": high}
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
