"""What a report on horizons says in words and small tables: what was asked, what the figures take for granted, risks
that look like survival, and a second route to calibration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from workup.errors import visible
from workup.scores import Scores
from workup.stats.horizon_weights import HorizonWeights
from workup.stats.pseudo_values import cloglog_intercept, cloglog_slope, pseudo_values
from workup.tasks.risk.horizon.censoring import FOLLOWUP, STATUS, Horizon
from workup.tasks.risk.horizon.metrics import horizon_metrics
from workup.tasks.risk.horizon.seen import Seen
from workup.tasks.risk.horizon.settings import HorizonStudy

_MOST_PSEUDO = 5_000  # rows up to which pseudo-values are made: each needs the whole curve anew


def summary(scores: Scores, study: HorizonStudy) -> dict[str, Any]:
    """How many rows and patients there are, how their follow-up ended, and what was asked."""
    w = scores.base_weight
    return {
        "rows": len(scores),
        "patients": scores.n_patients,
        "sites": None if scores.site is None else int(np.unique(scores.site.codes).size),
        "weighted": scores.weight is not None,
        "censored": float(w[scores[STATUS] == 0].sum()),
        "events": float(w[scores[STATUS] == 1].sum()),
        "competing": float(w[scores[STATUS] == 2].sum()),
        "longest_followup_days": float(scores[FOLLOWUP].max()),
        "horizons": [{"horizon": one.name, "days": one.days} for one in study.horizons],
        "censoring": study.censoring_part.model_dump(mode="json") | {"kind": study.censoring_part.kind},
    }


def _values(scores: Scores, horizon: Horizon, study: HorizonStudy) -> tuple[float, float, float] | None:
    """AUROC, O/E, and the O/E of one minus the risks; None where there are none."""
    seen = Seen.of(scores, horizon, study.censoring_on(scores))
    a, defined = seen.products(scores.base_weight[None, :])
    y = seen.known["outcome"]
    events = float(a[0] @ y)
    if not defined[0] or not events > 0 or not float(a[0] @ (1 - y)) > 0:
        return None
    w, risk = scores.base_weight, scores[horizon.risk]
    expected, flipped = float(w @ risk), float(w @ (1 - risk))
    if not expected > 0 or not flipped > 0:
        return None
    return seen.at.auroc().value, events / expected, events / flipped


def about_risks(scores: Scores, study: HorizonStudy) -> Iterator[str]:
    """Asks where the risks look like survival probabilities."""
    assert study.columns is not None
    for horizon in study.horizons:
        found = _values(scores, horizon, study)
        if found is None:
            continue
        auroc, ratio, flipped = found
        if auroc < 0.5 and abs(np.log(flipped)) < abs(np.log(ratio)):
            column = visible(study.columns.risk[horizon.name])
            yield (
                f"Warning: does the column of {horizon.name} hold survival probabilities in place of risks? Its AUROC "
                f"is {auroc:.2f}, and 1 minus it would bring observed over expected from {ratio:.2f} to {flipped:.2f}. "
                f'If so, write risk: {{{horizon.name}: "1 - {column}"}}.'
            )


def backwards(scores: Scores, study: HorizonStudy) -> dict[str, str] | None:
    """What must be read first where an AUROC is surely below 0.5."""
    for metric in horizon_metrics(scores, study.horizons, censoring=study.censoring_on(scores)):
        if metric.name != "auroc" or metric.interval is None or not np.isfinite(metric.value(scores)):
            continue
        found = metric.interval(scores, 0.95)
        if found.status == "ok" and found.high is not None and found.low is not None and found.high < 0.5:
            horizon = metric.at["horizon"]
            told = (
                f"THE RISKS RUN BACKWARDS: patients with the event by {horizon} were given the lower risks (AUROC "
                f"{metric.value(scores):.2f}, 95 % interval {found.low:.2f} to {found.high:.2f})."
            )
            remedy = (
                "The column may hold survival probabilities: then give 1 minus them. Or the status is coded the other "
                "way round. Until then no figure means what it says."
            )
            return {"code": "runs_backwards", "sentence": told, "remedy": remedy}
    return None


def about_censoring(scores: Scores, study: HorizonStudy) -> Iterator[str]:
    """What the figures take for granted of those lost, and of those who die of something else."""
    part = study.censoring_part
    if any(np.isnan(scores[one.outcome]).any() for one in study.horizons):
        how = {
            "marginal": "one censoring curve for everyone",
            "strata": f"a censoring curve for every level of {', '.join(part.strata)}",
            "cox": f"a Cox model of censoring on {', '.join(part.cox)}, fitted once on the whole study",
        }[part.kind]
        yield (
            f"Rows lost before a horizon are stood in for by those still followed (inverse probability of censoring, "
            f"{how}). That is right where, of those still followed, who is lost does not depend on the risk."
        )
    if part.scope == "study" and part.kind != "cox":
        yield "Groups, sites and windows use the censoring curve of the whole study, taken as known."
    if np.any(scores[STATUS] == 2):
        yield (
            "Competing events count as free of the event from then on: the risk is that of the event in a world where "
            "the competing events happen too."
        )


def second_route(scores: Scores, study: HorizonStudy) -> list[dict[str, Any]]:
    """Calibration by pseudo-values on the complementary log-log scale, beside the logistic slope."""
    rows = []
    for horizon in study.horizons:
        row: dict[str, Any] = {"horizon": horizon.name, "intercept": None, "slope": None, "n_rows": len(scores)}
        if scores.n_patients != len(scores) or scores.weight is not None:
            rows.append({**row, "reason": "pseudo-values are made of single rows without weights"})
            continue
        if len(scores) > _MOST_PSEUDO:
            rows.append({**row, "reason": f"made of at most {_MOST_PSEUDO:,} rows"})
            continue
        seen = HorizonWeights.of(scores[FOLLOWUP], scores[STATUS], horizon.days)
        pseudo = pseudo_values(seen)
        if not np.isfinite(pseudo).all():
            rows.append({**row, "reason": "no one was followed to the horizon"})
            continue
        lines = {
            "intercept": cloglog_intercept(pseudo, scores[horizon.risk]),
            "slope": cloglog_slope(pseudo, scores[horizon.risk]),
        }
        found = {name: {"value": one.value, "se": one.se} for name, one in lines.items() if np.isfinite(one.value)}
        rows.append({**row, **found, "reason": None if len(found) == 2 else "the fit has no finite value"})
    return rows
