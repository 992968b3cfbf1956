"""Planted truth of a censored cohort: what each figure at a horizon tends to, by integrals over the world's scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from workup.corpora.generate.cohort import planted_truth as of_cohorts
from workup.corpora.generate.survival.plan import horizon_name
from workup.corpora.generate.survival.world import Stratum, World, normal_grid
from workup.stats.arrays import Floats


class Masses(NamedTuple):
    """Of one stratum at one landmark and horizon, along rising scores: the model's log odds, and the mass of events
    and of others there. The competing events are among the others."""

    log_odds: Floats
    events: Floats
    others: Floats
    competing: float


def masses(world: World, stratum: Stratum, landmark: float, at: int) -> Masses:
    """The rows of one stratum that enter at a landmark: those free of both events there, and not lost before."""
    z, mass = normal_grid()
    added = stratum.log_odds + stratum.outcome_log_odds
    horizon = world.plan.horizons[at]
    kept = stratum.share * mass * np.exp(-landmark * world.loss_rates(z, stratum.log_censoring))
    risk = world.risk_from(landmark, horizon, z, added)
    free = world.free_at(landmark, z, added)
    beside = world.competing_by(landmark + horizon, z, added) - world.competing_by(landmark, z, added)
    return Masses(
        log_odds=world.predicted(landmark, at, z, stratum.log_odds),
        events=kept * free * risk,
        others=kept * free * (1 - risk),
        competing=float(kept @ beside),
    )


def truth(world: World, seed: int) -> dict[str, Any]:
    """Every figure at every horizon, overall, by group, site and landmark; as plain data."""
    strata = world.strata(seed)
    held = {
        (place, landmark, at): masses(world, stratum, landmark, at)
        for place, stratum in enumerate(strata)
        for landmark, at in world.landmarks_and_horizons()
    }

    def of(chosen: Callable[[Stratum, float], bool]) -> dict[str, Any]:
        found = {}
        for at, horizon in enumerate(world.plan.horizons):
            parts = [
                one
                for (place, landmark, of_horizon), one in held.items()
                if of_horizon == at and chosen(strata[place], landmark)
            ]
            found[horizon_name(horizon)] = figures(parts, thresholds=world.plan.thresholds)
        return found

    groups = {
        column: {level: of(_in_level(place, code)) for code, level in enumerate(levels)}
        for place, (column, levels) in enumerate(world.plan.groups.items())
    }
    sites = {name: of(_in_level(-1, code)) for code, name in enumerate(world.plan.site_names())}
    landmarks = {horizon_name(day): of(_at_landmark(day)) for day in world.plan.landmarks}
    return {"overall": of(lambda *_: True), "groups": groups, "sites": sites, "landmarks": landmarks}


def _in_level(place: int, code: int) -> Callable[[Stratum, float], bool]:
    return lambda stratum, _: stratum.levels[place] == code


def _at_landmark(day: float) -> Callable[[Stratum, float], bool]:
    return lambda _, landmark: landmark == day


def figures(parts: Sequence[Masses], *, thresholds: Sequence[float]) -> dict[str, Any]:
    """The figures of rows put together, keyed by the metric's name in a report."""
    log_odds, events, others = (np.concatenate([one[i] for one in parts]) for i in range(3))
    rows = float(events.sum() + others.sum())
    events, others = events / rows, others / rows
    risk = 1 / (1 + np.exp(-log_odds))
    observed, expected = float(events.sum()), float((events + others) @ risk)
    brier = float(events @ (1 - risk) ** 2 + others @ risk**2)
    axis = of_cohorts.Axis(log_odds, np.ones(log_odds.size))
    found = {
        "observed_risk": observed,
        "mean_risk": expected,
        "competing_risk": sum(one.competing for one in parts) / rows,
        "auroc": _auroc(log_odds, events, others),
        "brier": brier,
        "scaled_brier": 1 - brier / (observed * (1 - observed)),
        "oe_ratio": observed / expected,
        "calibration_slope": of_cohorts.slope(events, others, axis),
        "calibration_in_the_large": _in_the_large(log_odds, events, others),
    }
    at = {f"{threshold:g}": _decisions(parts, rows, threshold) for threshold in thresholds}
    return {**{name: _tidy(value) for name, value in found.items()}, "thresholds": at}


def _tidy(value: float) -> float:
    """Six decimals: what lies beyond is the grid's."""
    return round(value, 6) + 0.0


def _auroc(log_odds: Floats, events: Floats, others: Floats) -> float:
    """Chance that an event lies above another row; rows at one place of the grid count half."""
    order = np.argsort(log_odds, kind="stable")
    below = np.cumsum(others[order]) - others[order] / 2
    return float(events[order] @ below / (events.sum() * others.sum()))


def _in_the_large(log_odds: Floats, events: Floats, others: Floats) -> float:
    from scipy import optimize, special

    def surplus(shift: float) -> float:
        return float((events + others) @ special.expit(shift + log_odds)) - float(events.sum())

    return float(optimize.brentq(surplus, -60, 60, xtol=1e-14))


def _decisions(parts: Sequence[Masses], rows: float, threshold: float) -> dict[str, float | None]:
    """What flagging every risk at or above the threshold does."""
    cut = float(np.log(threshold / (1 - threshold)))
    hit = sum(_above(one.log_odds, one.events, cut) for one in parts) / rows
    false = sum(_above(one.log_odds, one.others, cut) for one in parts) / rows
    events = sum(float(one.events.sum()) for one in parts) / rows
    others = 1 - events
    flagged = hit + false
    found = {
        "sensitivity": hit / events,
        "specificity": 1 - false / others,
        "ppv": hit / flagged if flagged > 1e-12 else None,
        "npv": (others - false) / (1 - flagged) if flagged < 1 - 1e-12 else None,
        "alert_rate": flagged,
        "net_benefit": hit - false * threshold / (1 - threshold),
    }
    return {name: None if value is None else _tidy(value) for name, value in found.items()}


def _above(log_odds: Floats, mass: Floats, cut: float) -> float:
    """Mass beyond a cut, in straight lines between the places of the grid."""
    below = np.cumsum(mass) - mass / 2
    return float(mass.sum() - np.interp(cut, log_odds, below, left=0.0, right=float(mass.sum())))
