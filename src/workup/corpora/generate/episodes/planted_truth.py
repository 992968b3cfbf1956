"""Planted truth of stays: what each alarm metric tends to, by recursion over the scores of a stay and quadrature over
the frailty of patients.

Scores of a stay are independent given the patient's frailty and the moment of the event, and stand on a grid. So the
chance that score i fires is f(i) = p(i) · (1 - Σ f(j)), the sum over the scores j less than the refractory period
before it: of those at most one has fired. No alert, verdict or lead time is counted here as a scorer would count it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from workup.corpora.generate.episodes.plan import EpisodesPlan
from workup.corpora.generate.episodes.scorer import Scorer, chance_of_event
from workup.stats.arrays import Floats

_NODES = 48  # of the quadrature over frailty: figures are stable to 1e-9 from 40 on
_DECIMALS = 9  # of the model's line, so that a last-bit difference between machines cannot reach a file


class _Stays(NamedTuple):
    """Every kind of stay: by frailty (axis 0), by the score before the event (axis 1) and by score (axis 2).

    Along axis 1 stand the events after score 0, 1, …, then the stay without an event, then the one that began with it.
    """

    frailty: Floats
    weight: Floats  # of each frailty
    began: Floats  # [frailty, kind, length]: the share of stays of this frailty
    before: Floats  # [kind, score]: scores until the last one before the event; infinite without one
    most: int

    @classmethod
    def of(cls, plan: EpisodesPlan) -> _Stays:
        most = plan.most_scores
        frailty, weight = np.polynomial.hermite_e.hermegauss(_NODES)
        chance = chance_of_event(plan, frailty)[:, None, None]
        after, length = np.arange(most)[:, None], np.arange(most + 1)
        onset = np.where(after <= length - 2, chance * (1 - chance) ** after, 0.0)
        none = (1 - chance) ** np.maximum(length - 1, 0)
        dated = np.concatenate([onset, none], axis=1) * (1 - plan.present)
        began = np.concatenate([dated, np.full((_NODES, 1, most + 1), plan.present)], axis=1) * plan.lengths()
        onsets = np.concatenate([np.arange(most, dtype=np.float64), [np.inf, -1.0]])
        return cls(frailty, weight / weight.sum(), began, onsets[:, None] - np.arange(most), most)

    def mean(self, of_stay: Floats) -> float:
        """The mean over all stays of something [frailty, kind, length]."""
        return float(np.einsum("u,ukn,ukn->", self.weight, self.began, np.broadcast_to(of_stay, self.began.shape)))

    def events(self) -> Floats:
        """The share of stays [frailty, score] with an event after a score."""
        return np.asarray(np.einsum("u,ukn->uk", self.weight, self.began[:, : self.most]))

    def total(self, of_score: Floats, counted: Floats) -> float:
        """The mean over all stays of the sum over their scores [frailty, kind, score] that are counted, as a share of
        stays of each length [kind, score, length]; those beyond the end never are."""
        inside = np.arange(self.most)[:, None] < np.arange(self.most + 1)
        return float(np.einsum("u,ukn,uks,ksn->", self.weight, self.began, of_score, counted * inside, optimize=True))


class Line(NamedTuple):
    """From scores to risks: log odds = intercept + slope · score, which fits the events of a faultless scorer."""

    intercept: float
    slope: float

    @classmethod
    def of(cls, plan: EpisodesPlan) -> Line:
        """The maximiser of the expected log likelihood over the cases and controls of a plan without faults."""
        stays, scorer = _Stays.of(plan), Scorer.of(plan, ())
        place = np.arange(stays.most)
        seen = scorer.seen(plan, stays.before)
        centre = scorer.centre(plan, stays.frailty[:, None, None], seen)
        there = 1 - scorer.absent(plan, stays.before, place)
        case, control = (_of_length(plan, stays, kind) for kind in ("case", "control"))
        inside = place[:, None] < np.arange(stays.most + 1)
        masses = [
            np.einsum("u,ukn,ks,ksn->uks", stays.weight, stays.began, there, counted * inside, optimize=True)
            for counted in (case, control)
        ]
        # Scores differ by frailty and by how much of the rise is seen, of which there are few values.
        centres, which = np.unique(np.round(centre, 10), return_inverse=True)
        cases, controls = (np.bincount(which.ravel(), weights=mass.ravel()) for mass in masses)
        x = np.linspace(centres.min() - 8, centres.max() + 8, 801)
        density = np.exp(-((x - centres[:, None]) ** 2) / 2)
        return cls(*(round(value, _DECIMALS) for value in _logistic(x, *(np.asarray([cases, controls]) @ density))))

    def score(self, risk: float) -> float:
        """The score at which a risk is reached."""
        from scipy import special

        return float((special.logit(risk) - self.intercept) / self.slope)


def _logistic(x: Floats, ones: Floats, noughts: Floats) -> tuple[float, float]:
    from scipy import optimize, special

    total = float((ones + noughts).sum())
    design = np.stack([np.ones_like(x), x])

    def gradient(line: Floats) -> tuple[Floats, Floats]:
        fitted = special.expit(line @ design)
        working = (ones + noughts) * fitted * (1 - fitted) / total
        return design @ (ones - (ones + noughts) * fitted) / total, -(design * working) @ design.T

    start = np.array([special.logit(float(ones.sum()) / total), 1.0])
    found = optimize.root(gradient, start, jac=True, tol=1e-14)
    return float(found.x[0]), float(found.x[1])


def _of_length(plan: EpisodesPlan, stays: _Stays, kind: str) -> Floats:
    """The share of stays [kind, score, length] in which a score that is there is a case, or a control."""
    horizon, gap = plan.slots(plan.horizon_hours), plan.slots(plan.gap_hours)
    before, place = stays.before[:, :, None], np.arange(stays.most)[:, None]
    length = np.arange(stays.most + 1)
    # The event lies inside the interval that its last score opens: k scores back the lead is k to k + 1 intervals.
    if kind == "case":
        return np.asarray(((before >= gap) & (before < horizon)) * np.ones(length.size))
    alive = np.isinf(before)
    followed = length - 1 - place >= horizon
    without = np.where(followed, 1.0, 1 - plan.lost)
    return np.asarray(np.where(alive, without, 1.0 * (before >= horizon)))


def watched(plan: EpisodesPlan, scorer: Scorer) -> dict[str, Floats]:
    """Mean counts of a stay: scores, days, events, and events with a score in time. They add up over kinds of stay."""
    stays = _Stays.of(plan)
    length = np.arange(stays.most + 1)
    there = _there(plan, stays, scorer)
    scored = 1 - np.prod(np.where(_window(plan, stays), 1 - there, 1.0), axis=2)
    hours = np.where(length > 0, (length - 0.5) * plan.every_hours, 0.0)
    return {
        "scores": np.array(stays.total(there, np.ones((1, 1, 1)))),
        "days": np.array(stays.mean(hours / 24)),
        "events": np.array(stays.events().sum()),
        "scored": np.array((stays.events() * scored[:, : stays.most]).sum()),
    }


def alarmed(plan: EpisodesPlan, scorer: Scorer, line: Line, threshold: float) -> dict[str, Floats]:
    """Mean counts of a stay at a threshold: alerts by verdict, events by how long before they were first flagged."""
    from scipy import special

    stays = _Stays.of(plan)
    window = _window(plan, stays)
    centre = scorer.centre(plan, stays.frailty[:, None, None], scorer.seen(plan, stays.before))
    above = _there(plan, stays, scorer) * special.ndtr(centre - line.score(threshold))
    fires, first = _fired(above, window, plan.refractory_slots)
    leads = np.zeros(plan.slots(plan.horizon_hours))
    for onset in range(stays.most):
        back = onset - np.flatnonzero(window[onset])
        leads[back] += stays.events()[:, onset] @ first[:, onset, window[onset]]
    by_score = 1 - np.prod(np.where(window, 1 - above, 1.0), axis=2)
    return {
        "alerts": np.array(stays.total(fires, np.ones((1, 1, 1)))),
        "true": np.array(stays.total(fires, _of_length(plan, stays, "case"))),
        "false": np.array(stays.total(fires, _of_length(plan, stays, "control"))),
        "acted": np.array(stays.total(fires, _acted(plan, stays))),
        "by_score": np.array((stays.events() * by_score[:, : stays.most]).sum()),
        "judged_stays": np.array(stays.mean(_judged(plan, stays, above))),
        "leads": leads,
    }


def _there(plan: EpisodesPlan, stays: _Stays, scorer: Scorer) -> Floats:
    """The chance [frailty, kind, score] that a score is there."""
    absent = scorer.absent(plan, stays.before, np.arange(stays.most))
    return np.asarray(np.broadcast_to(1 - absent, (stays.frailty.size, *absent.shape)))


def _window(plan: EpisodesPlan, stays: _Stays) -> Any:
    """Which scores [kind, score] are cases for the event."""
    gap, horizon = plan.slots(plan.gap_hours), plan.slots(plan.horizon_hours)
    return (stays.before >= gap) & (stays.before < horizon)


def _fired(above: Floats, window: Any, refractory: int) -> tuple[Floats, Floats]:
    """The chance that each score fires, and that it is the first to fire among those of the window."""
    fires, first = np.zeros_like(above), np.zeros_like(above)
    # Stays in which nothing has fired in the window yet: those that may fire now, and those that may 1, 2, … scores on.
    free, later = np.ones(above.shape[:2]), np.zeros((refractory, *above.shape[:2]))
    for place in range(above.shape[2]):
        recent = fires[:, :, max(0, place - refractory + 1) : place].sum(axis=2)
        fires[:, :, place] = above[:, :, place] * (1 - recent)
        now = free * above[:, :, place]
        first[:, :, place] = np.where(window[:, place], now, 0.0)
        later[-1] = np.where(window[:, place], 0.0, now)
        free = free - now + later[0]
        later = np.concatenate([later[1:], np.zeros_like(later[:1])])
    return fires, first


def _judged(plan: EpisodesPlan, stays: _Stays, above: Floats) -> Floats:
    """The chance [frailty, kind, length] of at least one true or false alert: the first above the threshold fires."""
    gap, horizon = plan.slots(plan.gap_hours), plan.slots(plan.horizon_hours)
    none = np.cumprod(1 - above, axis=2)
    none = np.concatenate([np.ones((*above.shape[:2], 1)), none], axis=2)  # by the number of scores from the first
    counts = np.arange(stays.most + 1)
    dated = np.clip(np.arange(stays.most) - gap + 1, 0, None)
    found = np.zeros((above.shape[0], stays.most + 2, stays.most + 1))
    found[:, : stays.most] = 1 - none[:, np.arange(stays.most), dated][:, :, None]
    followed = np.clip(counts - horizon, 0, None)
    alone = none[:, stays.most]
    found[:, stays.most] = 1 - (1 - plan.lost) * alone[:, counts] - plan.lost * alone[:, followed]
    return found


def _acted(plan: EpisodesPlan, stays: _Stays) -> Floats:
    """The share of alerts [kind, score, length] that an intervention follows in time, inside the stay."""
    within = plan.slots(plan.act_within_hours)
    treated = np.where(stays.before <= 0, plan.treated_after_event, plan.treated)
    spared = np.ones((stays.most + 2, stays.most, stays.most + 1))
    length = np.arange(stays.most + 1)
    for further in range(within):
        place = np.arange(stays.most) + further
        chance = np.where(place < stays.most, treated[:, np.minimum(place, stays.most - 1)], 0.0)
        spared *= np.where(place[:, None] < length - 1, (1 - chance)[:, :, None], 1.0)
    return np.asarray(1 - spared)


def figures(plan: EpisodesPlan, stay: Mapping[str, Floats], at: Mapping[float, Mapping[str, Floats]]) -> dict[str, Any]:
    """Every metric from the mean counts of a stay, keyed by the metric's name in a report; null where there is none."""
    found: dict[str, float | None] = {
        "scores_per_stay": float(stay["scores"]),
        "days_per_stay": float(stay["days"]),
        "events_per_stay": float(stay["events"]),
        "event_coverage": _share(stay["scored"], stay["events"]),
    }
    return {
        **{name: _tidy(value) for name, value in found.items()},
        "thresholds": {f"{threshold:g}": _alarms(plan, stay, counts) for threshold, counts in at.items()},
    }


def _alarms(plan: EpisodesPlan, stay: Mapping[str, Floats], at: Mapping[str, Floats]) -> dict[str, Any]:
    leads = at["leads"]
    flagged, judged = leads.sum(), at["true"] + at["false"]
    mean_lead = np.sum(leads * (np.arange(leads.size) + 0.5)) * plan.every_hours
    found = {
        "event_sensitivity": _share(flagged, stay["events"]),
        "event_sensitivity_scored": _share(flagged, stay["scored"]),
        "event_sensitivity_by_score": _share(at["by_score"], stay["events"]),
        "lead_time_median": _median_lead(plan, leads),
        "lead_time_mean": _share(mean_lead, stay["events"]),
        "alert_ppv": _share(at["true"], judged),
        "nne": _share(judged, at["true"]),
        "encounter_ppv": _share(flagged, at["judged_stays"]),
        "nne_encounter": _share(at["judged_stays"], flagged),
        "alerts_per_flagged_event": _share(judged, flagged),
        "alarm_rate": _share(100 * at["alerts"], stay["days"]),
        "alert_acted_share": _share(at["acted"], at["alerts"]),
    }
    before = {f"{hours:g}h": _tidy(_share(_longer(plan, leads, hours), stay["events"])) for hours in plan.lead_hours}
    return {**{name: _tidy(value) for name, value in found.items()}, "flagged_before": before}


def _longer(plan: EpisodesPlan, leads: Floats, hours: float) -> Floats:
    """Of the flagged events, those with at least so long a lead: within an interval every whole minute is as likely."""
    minutes = np.arange(1, plan.every_minutes)
    share = [np.mean(back * plan.every_minutes + minutes >= hours * 60) for back in range(leads.size)]
    return np.asarray(leads @ np.array(share))


def _median_lead(plan: EpisodesPlan, leads: Floats) -> float | None:
    total = float(leads.sum())
    if total <= 0:
        return None
    running = np.cumsum(leads) / total
    back = int(np.searchsorted(running, 0.5))
    below = running[back - 1] if back else 0.0
    share = (0.5 - below) / (leads[back] / total)
    minutes = back * plan.every_minutes + np.ceil(share * (plan.every_minutes - 1))
    return float(minutes / 60)


def _share(top: Any, bottom: Any) -> float | None:
    return float(top / bottom) if bottom > 0 else None


def _tidy(value: float | None) -> float | None:
    """Ten significant digits, and none below 1e-12: what lies beyond is quadrature noise that differs by machine."""
    return None if value is None else float(f"{round(value, 12):.10g}") + 0.0
