"""Who was followed, what the censoring weights rest on, and whether censoring had to do with the risk.

Inverse-probability weights are right where, of those still followed, who is lost does not depend on the risk. Nothing
can prove that; these tables show where it is surely not so, and what to do then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workup.disclosure.differing_flags import known_at, told_by_column
from workup.scores import Levels, Scores
from workup.stats import calibration
from workup.stats.arrays import Bools, Floats, Ints
from workup.stats.cox import cox
from workup.stats.horizon_influence import AtHorizon
from workup.stats.horizon_weights import CENSORED, COMPETING, HorizonWeights
from workup.stats.intervals import normal_p, z_critical
from workup.stats.smooth import weighted_quantile
from workup.stats.survival import NOBODY_FOLLOWED, aalen_johansen, median_followup
from workup.tasks.risk.horizon.censoring import FOLLOWUP, STATUS, Censoring, Horizon
from workup.tasks.risk.horizon.seen import Seen
from workup.tasks.risk.sweep import shown_groups

FIFTHS = 5
_LEVEL = 0.95
_TOLD = 2  # figures that a note lists
_OF_RISK = "Name what drives the risk under censoring, such as {{cox: [age]}}, or the risk itself: {{cox: [{0}]}}."
_REMEDY = "Name the columns that tell who is lost under censoring: {{strata: [{0}]}} or {{cox: [{0}]}}."


def followup_table(
    scores: Scores, horizons: Sequence[Horizon], censoring: Censoring, *, smallest_cell: int = 1
) -> list[dict[str, Any]]:
    """Who was followed to every horizon, in everyone and in every group, with what the weights rest on. By a horizon
    before which few of a group were lost, nothing is said of the groups of its column."""
    groups, _ = shown_groups(scores)
    told = _told_horizons(scores, smallest_cell)
    slices: list[tuple[dict[str, str], Scores]] = [({}, scores)]
    slices += [(key, scores.take(np.flatnonzero(rows))) for key, rows in groups]
    return [
        _followed(key, part, horizon, censoring)
        for key, part in slices
        for horizon in horizons
        if all(horizon.name in told[name] for name in key)
    ]


def _told_horizons(scores: Scores, smallest_cell: int) -> dict[str, list[str]]:
    """The horizons by which losses may be told of the groups of each column."""
    return told_by_column(scores.groups, scores.patient, known_at(scores), k=smallest_cell)


def _followed(key: dict[str, str], scores: Scores, horizon: Horizon, censoring: Censoring) -> dict[str, Any]:
    seen = Seen.of(scores, horizon, censoring)
    at, w = seen.at, scores.base_weight
    t, status, outcome = scores[FOLLOWUP], scores[STATUS], seen.weights.outcome
    estimable = bool(seen.weights.under(w[None, :]).estimable[0])
    known, risk = seen.weights.known, scores[horizon.risk]
    naive = _ratio(float(w[known] @ outcome[known]), float(w[known] @ risk[known])) if known.any() else None
    ours = _ratio(float(at.a @ at.outcome), float(w @ risk)) if estimable else None
    return {
        "slice": key,
        "horizon": horizon.name,
        "n_rows": len(scores),
        "n_patients": scores.n_patients,
        "at_risk_at_start": float(w.sum()),
        "at_risk": float(w[t >= horizon.days].sum()),
        "events": float(w[outcome == 1].sum()),
        "competing": float(w[(status == COMPETING) & (t <= horizon.days)].sum()),
        "censored_before": float(w[~known].sum()),
        "followed": seen.weights.followed(w),
        "largest_weight": float(at.v.max(initial=0.0)),
        "effective_n": float(at.a.sum() ** 2 / np.sum(at.a**2)) if np.any(at.a > 0) else 0.0,
        "median_followup_days": _finite(median_followup(t, status, w)),
        "oe_ratio": ours,
        "oe_complete_cases": naive,
        "reason": NOBODY_FOLLOWED if not estimable else "" if seen.complete else seen.lacking(),
    }


def _ratio(top: float, bottom: float) -> float | None:
    return top / bottom if bottom > 0 else None


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def censoring_table(
    scores: Scores,
    horizons: Sequence[Horizon],
    censoring: Censoring,
    thresholds: Sequence[float],
    *,
    smallest_cell: int = 1,
) -> dict[str, Any]:
    """Does being lost depend on the risk or the group, and what would become of the figures if it was allowed for?"""
    found: dict[str, Any] = {
        "kind": censoring.kind,
        "hazard_ratios": [],
        "figures": [],
        "net_benefit": [],
    }
    if not np.any(scores[STATUS] == CENSORED):
        return found
    told = _told_horizons(scores, smallest_cell)
    shown = {name: levels for name, levels in scores.groups.items() if horizons[-1].name in told[name]}
    found["hazard_ratios"] = [*_of_risk(scores, horizons), *_of_groups(scores, shown, horizons[-1])]
    for horizon in horizons:
        found["figures"] += list(_two_ways(scores, horizon, censoring))
        found["net_benefit"] += list(_benefits(scores, horizon, censoring, thresholds))
    return found


# ---- who is lost -----------------------------------------------------------------------------------------------------


def _of_risk(scores: Scores, horizons: Sequence[Horizon]) -> Iterator[dict[str, Any]]:
    for horizon in horizons:
        log_odds = calibration.logit(scores[horizon.risk])
        middle = np.average(log_odds, weights=scores.base_weight)
        spread = float(np.sqrt(np.average((log_odds - middle) ** 2, weights=scores.base_weight)))
        row = {"of": f"risk by {horizon.name}", "column": None, "level": None, "against": None}
        row["horizon"] = horizon.name
        per = "one standard deviation of the log odds of the risk"
        if not spread > 0:
            yield {**row, "per": per, **_no_ratio("all risks are equal")}
            continue
        yield {**row, "per": per, **_hazard_ratios(scores, (log_odds / spread)[:, None], horizon)[0]}


def _of_groups(scores: Scores, groups: Mapping[str, Levels], last: Horizon) -> Iterator[dict[str, Any]]:
    for name, levels in groups.items():
        yield from _of_group(scores, name, levels, last)


def _of_group(scores: Scores, name: str, levels: Levels, last: Horizon) -> Iterator[dict[str, Any]]:
    masks = [(level, rows) for level, rows in levels.masks() if rows.any()]
    if not 2 <= len(masks) <= 12:
        return
    masks.sort(key=lambda item: (-int(item[1].sum()), item[0]))
    against = masks[0][0]
    found = _hazard_ratios(scores, np.column_stack([rows for _, rows in masks[1:]]).astype(np.float64), last)
    for (level, _), ratio in zip(masks[1:], found, strict=True):
        row = {"of": f"{name}: {level}", "column": name, "level": level, "against": against, "horizon": last.name}
        yield {**row, "per": "level", **ratio}


def _hazard_ratios(scores: Scores, columns: Floats, horizon: Horizon) -> list[dict[str, Any]]:
    """Hazard ratios of being censored before a horizon, from one Cox model, with intervals over patients.

    What happened at the horizon or later says nothing of the weights there. Where follow-up ends for all at one moment
    behind it, counting that as being lost would hide who is lost, and would accuse the rows of later landmarks.
    """
    t, status = scores[FOLLOWUP], scores[STATUS]
    fit = cox(
        np.minimum(t, horizon.days),
        (status == CENSORED) & (t < horizon.days),
        columns,
        weight=scores.base_weight,
        cluster=scores.patient,
        goes_first=(status != CENSORED) & (t <= horizon.days),
    )
    if not fit.fitted:
        return [_no_ratio("the Cox model has no finite fit")] * columns.shape[1]
    single = scores.weight is None and scores.n_patients == len(scores)
    rows = []
    for place, log_ratio in enumerate(fit.coefficients):
        se = float(np.sqrt((fit.covariance if single else fit.robust)[place, place]))
        half = z_critical(_LEVEL) * se
        rows.append(
            {
                "hazard_ratio": float(np.exp(log_ratio)),
                "low": float(np.exp(log_ratio - half)),
                "high": float(np.exp(log_ratio + half)),
                "p": normal_p(float(log_ratio) / se) if se > 0 else None,
                "level_of_interval": _LEVEL,
                "n_patients": scores.n_patients,
                "reason": None,
            }
        )
    return rows


def _no_ratio(why: str) -> dict[str, Any]:
    empty = dict.fromkeys(("hazard_ratio", "low", "high", "p", "level_of_interval", "n_patients"))
    return {**empty, "reason": f"undefined: {why}"}


# ---- what would become of the figures --------------------------------------------------------------------------------


def _two_ways(scores: Scores, horizon: Horizon, censoring: Censoring) -> Iterator[dict[str, Any]]:
    """Figures with one censoring curve for everyone, and with one for every fifth of the risk."""
    seen = Seen.of(scores, horizon, censoring)
    if seen.complete:
        return
    t, status, w, risk = scores[FOLLOWUP], scores[STATUS], scores.base_weight, scores[horizon.risk]
    plain = AtHorizon(HorizonWeights.of(t, status, horizon.days), risk, w)
    split = AtHorizon(HorizonWeights.of(t, status, horizon.days, strata=fifths(risk, w)), risk, w)
    if not _usable(plain):
        return
    within = _usable(split)
    for name, figure in (("auroc", AtHorizon.auroc), ("brier", AtHorizon.brier), ("oe_ratio", None)):
        if figure is None:
            found = plain.log_oe()
            value, other = float(np.exp(found.value)), float(np.exp(split.log_oe().value)) if within else None
            se = value * found.se(scores.patient)
        else:
            found = figure(plain)
            value, other, se = found.value, figure(split).value if within else None, found.se(scores.patient)
        used = float(np.exp(seen.at.log_oe().value)) if figure is None else figure(seen.at).value
        yield {
            "horizon": horizon.name,
            "metric": name,
            "marginal": value,
            "by_fifths_of_risk": other,
            "shown": used,
            "se": se,
            "in_se": None if other is None or not se > 0 else abs(other - value) / se,
            "reason": None if within else "no one of a fifth was followed to the horizon",
        }


def _usable(at: AtHorizon) -> bool:
    """Someone followed to the horizon, with the event and without."""
    estimable = bool(at.seen.under(at.weight[None, :]).estimable[0])
    return estimable and float(at.a @ at.outcome) > 0 and float(at.a @ (1 - at.outcome)) > 0


def fifths(risk: Floats, weight: Floats) -> Ints:
    """Which fifth of the rows, by risk, each belongs to; equal risks stay together, so there may be fewer."""
    cuts = [weighted_quantile(risk, weight, place / FIFTHS) for place in range(1, FIFTHS)]
    return np.searchsorted(np.unique(cuts), risk, side="left").astype(np.int64)


def _benefits(
    scores: Scores, horizon: Horizon, censoring: Censoring, thresholds: Sequence[float]
) -> Iterator[dict[str, Any]]:
    """Net benefit by the weights of everyone, and from the observed risk of the flagged alone."""
    seen = Seen.of(scores, horizon, censoring)
    if seen.complete or not _usable(seen.at):
        return
    w = scores.base_weight
    for threshold in thresholds:
        found = seen.at.net_benefit(threshold)
        inside = seen.at.flagged(threshold) > 0
        other = _among_flagged(scores, horizon, inside, threshold)
        se = found.se(scores.patient)
        yield {
            "horizon": horizon.name,
            "threshold": threshold,
            "by_weights": found.value,
            "among_flagged": other,
            "se": se,
            "in_se": None if other is None or not se > 0 else abs(other - found.value) / se,
            "alert_rate": float(w[inside].sum() / w.sum()),
        }


def _among_flagged(scores: Scores, horizon: Horizon, inside: Bools, threshold: float) -> float | None:
    """Net benefit from Aalen and Johansen's risk in those flagged; None where none of them is followed so far."""
    w = scores.base_weight
    if not w[inside].sum() > 0:
        return 0.0
    t, status = scores[FOLLOWUP][inside], scores[STATUS][inside]
    if HorizonWeights.of(t, status, horizon.days).followed(w[inside]) <= 0:
        return None
    risk = float(aalen_johansen(t, status, w[inside]).at([horizon.days]).event[0])
    odds = threshold / (1 - threshold)
    return float(w[inside].sum() / w.sum()) * (risk - (1 - risk) * odds)


# ---- notes -----------------------------------------------------------------------------------------------------------


def censoring_notes(table: dict[str, Any], risks: Mapping[str, str]) -> Iterator[str]:
    """What a reader must know where censoring had to do with the risk, and what mends it; `risks` are the columns."""
    if table["kind"] != "marginal":
        yield from _left_over(table["figures"], risks)
        return
    parted = [row for row in table["hazard_ratios"] if row["low"] is not None and not row["low"] <= 1 <= row["high"]]
    of_risk = [row for row in parted if row["column"] is None]
    for row in [
        *of_risk[-1:],
        *(row for row in parted if row["column"] is not None),
    ]:  # of the risk one row says it all
        who = f"with a higher {row['of']}" if row["column"] is None else f"in {row['of']} (against {row['against']})"
        more = "more" if row["hazard_ratio"] > 1 else "less"
        remedy = _REMEDY.format(row["column"]) if row["column"] else _OF_RISK.format(risks[row["horizon"]])
        yield (
            f"Warning: patients {who} were lost {more} often (hazard ratio of being censored "
            f"{row['hazard_ratio']:.2f}, 95 % interval {row['low']:.2f} to {row['high']:.2f}). The weights take "
            f"everyone as lost alike. {remedy}"
        )
    moved = _parted(table["figures"])
    if moved:
        told = [
            f"{row['metric']} by {row['horizon']} {row['marginal']:.3g} and {row['by_fifths_of_risk']:.3g}"
            for row in moved
        ]
        yield (
            "Warning: with a censoring curve for every fifth of the risk, figures move by more than one standard "
            f"error ({_some(told)}). {_OF_RISK.format(risks[moved[0]['horizon']])}"
        )
    apart = _parted(table["net_benefit"])
    if apart:
        told = [
            f"{row['by_weights']:.3g} and {row['among_flagged']:.3g} at {row['threshold']:g} by {row['horizon']}"
            for row in apart
        ]
        yield (
            "Warning: net benefit by weights and from the flagged alone are more than one standard error apart "
            f"({_some(told)}): the flagged were not lost like others. "
            f"Write censoring: {{cox: [{risks[apart[0]['horizon']]}]}}."
        )


def _left_over(figures: Sequence[dict[str, Any]], risks: Mapping[str, str]) -> Iterator[str]:
    """What strata or a model of the losses leave: those lost may still differ in their risk."""
    apart = [row | {"in_se": _in_se(row)} for row in figures]
    if moved := _parted(apart):
        told = [
            f"{row['metric']} by {row['horizon']} {row['shown']:.3g} and {row['by_fifths_of_risk']:.3g}"
            for row in moved
        ]
        yield (
            "Warning: with a censoring curve for every fifth of the risk, figures move by more than one standard "
            f"error from those shown ({_some(told)}): what the study allows for is not why patients were lost. "
            f"Name the risk under censoring too: {{cox: [{risks[moved[0]['horizon']]}]}}."
        )


def _in_se(row: Mapping[str, Any]) -> float | None:
    """How far the figure that is shown falls short of that by fifths of the risk. Fifths are coarse: a model of the
    losses may well go beyond them, and is not accused of it."""
    other = row["by_fifths_of_risk"]
    if other is None or not row["se"] > 0:
        return None
    short = (row["shown"] - other) * (row["marginal"] - other) > 0
    return float(abs(other - row["shown"]) / row["se"]) if short else 0.0


def _parted(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows whose two figures are more than one standard error apart, the furthest first."""
    return sorted((row for row in rows if row["in_se"] is not None and row["in_se"] > 1), key=lambda row: -row["in_se"])


def _some(told: Sequence[str]) -> str:
    """The first two, and how many more the table holds: a note is one line to read."""
    more = len(told) - _TOLD
    return ", ".join(told[:_TOLD]) + (f", and {more} more" if more > 0 else "")
