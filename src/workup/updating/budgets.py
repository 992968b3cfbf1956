"""Alert budgets of watched stays: thresholds under the policy and the refractory period that the study names."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from workup.errors import InputError
from workup.preflight import checked
from workup.report import canonical
from workup.stats.arrays import Ints
from workup.task import Watch, silent
from workup.tasks.risk.episodes.alarms import fired_at
from workup.tasks.risk.episodes.cases import DAY
from workup.tasks.risk.episodes.corpus import EpisodeScores
from workup.tasks.risk.episodes.evaluation import Evaluated
from workup.tasks.risk.episodes.study import EpisodesStudy
from workup.tasks.risk.updating.rules import Rule, Watched, choose_by_day
from workup.updating.making import Made
from workup.validate import scored


def choose_budgets(study: EpisodesStudy, rules: Sequence[Rule], *, watch: Watch = silent) -> Made:
    """The threshold of each budget of alerts per day, with what it will do; nothing is updated."""
    other = next((rule for rule in rules if rule.kind != "alerts_per_day"), None)
    if other is not None:
        raise InputError(
            "for watched stays a threshold is chosen by a budget of alerts per day",
            where=f"rule '{other.text}'",
            got=other.kind,
            remedy="what a threshold does to events, lead times and alarms is shown by  workup run",
        )
    if study.episodes.policy == "recorded":
        raise InputError(
            "alerts that were recorded have no threshold",
            where="episodes.policy",
            got="recorded",
            remedy="set the policy to level or crossing",
        )
    found = scored(study, checked(study), watch=watch)
    assert isinstance(found.scores, EpisodeScores)
    evaluated, draws = found.scores.evaluated, found.draws()
    watched = alerts_by_day(evaluated)
    chosen = [choose_by_day(rule, watched, replicates=draws.replicates, seed=draws.seed) for rule in rules]
    told = {
        "study": study.name,
        "verdict": "none needed",
        "asked": "none",
        "by": None,
        "updates": [{"method": "none", "pointed_to": None}],
        "honest": {"how": "cross-fitted"},
        "rows": watched.risk.size,
        "patients": watched.patients,
        "events": watched.events,
        "thresholds": [one.as_told() for one in chosen],
        "notes": list(evaluated.notes),
    }
    return Made(None, json.loads(canonical(told)), "none needed")


def alerts_by_day(evaluated: Evaluated) -> Watched:
    """Alerts as the policy fires them, on the days between the first and the last prediction, which may be cut."""
    judged = evaluated.judged
    inside, stays = judged.inside, judged.stays
    day = inside.moments.time // DAY
    first, last = int(day.min()) + 1, int(day.max()) - 1
    people, patient = np.unique(stays.patient, return_inverse=True)

    def alerts(threshold: float) -> tuple[Ints, Ints]:
        # All alerts are fired first: those of a day that is left out still silence others.
        fired = fired_at(threshold, inside, stays, judged.part)
        when = fired.time // DAY
        kept = (when >= first) & (when <= last)
        return patient[fired.stay[kept]], when[kept] - first

    scores = evaluated.scores
    of_days = (scores["watch"] == 1) & _between(scores.time, first, last)
    return Watched(
        risk=inside.risk,
        alerts=alerts,
        days=max(0, last - first + 1),
        patients=people.size,
        events=int(np.nansum(scores["event"])),
        exposure=max(float(np.sum(scores["days"][of_days])), 1e-9),
        unit="patient-days",
    )


def _between(time: object, first: int, last: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    day = np.asarray(time).astype("datetime64[D]").astype(np.int64)
    return np.asarray((day >= first) & (day <= last))
