"""The door to episodes: two checked tables and the settings in, one table of Scores and every count out.

`evaluate(predictions, events, part, thresholds)` takes what `tables.read_predictions` and `tables.read_events` give.
`Evaluated.scores` has four kinds of rows, each marked by a column of 0 and 1, with these columns (`rows` says more):

case    outcome risk row hours_watched acted (and followup, status where discharge censors)
watch   predictions days alerts@0.3 suppressed@0.3 true@0.3 false@0.3 neutral@0.3 acted_alerts@0.3
event   scored flagged@0.3 by_score@0.3 lead@0.3 acted@0.3
stay    judged_stay@0.3 true_stay@0.3

A threshold is written as `format(t, ".12g")`; alerts that were recorded have `recorded` in its place and no by_score.
Groups are those of the study, `since_start` (of watch, event and prediction rows; "missing" for the rest) and, with the
unit landmark, `landmark`. Case rows whose outcome is not known yet are `scores.waiting`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from workup.errors import InputError, StudyError
from workup.scores import Scores
from workup.stats.arrays import Bools, Floats, Whole
from workup.tasks.risk.episodes import rows as kinds_of_rows
from workup.tasks.risk.episodes.alarms import RECORDED, Inside, fired_at, label_of, recorded
from workup.tasks.risk.episodes.cases import HOUR, Judged, case_rows
from workup.tasks.risk.episodes.fates import FATES, OUTSIDE, fates_of
from workup.tasks.risk.episodes.moments import FAR, Moments
from workup.tasks.risk.episodes.rows import Design, Rows
from workup.tasks.risk.episodes.settings import EpisodesPart
from workup.tasks.risk.episodes.stays import HOW, Stays, find_stays
from workup.tasks.risk.episodes.tables import Events, Predictions


class Watched(NamedTuple):
    """How long the stays of one outcome were watched, from the first usable prediction to the last."""

    stays: int
    median_hours: float | None


@dataclass(frozen=True, eq=False)
class Evaluated:
    """What became of every prediction, alert, event and stay.

    `fates` counts all predictions; `aside` what was put aside, by the names that `tables` and `stays` give; `counts`
    has one mapping per threshold, by its label; `lead_to_recognition` the hours from the first true alert of a flagged
    event to the first intervention of its stay, negative where clinicians knew first. `changing_groups` are groupings
    whose level changes within some stay.
    """

    judged: Judged
    design: Design
    scores: Scores
    fates: Mapping[str, int]
    aside: Mapping[str, int]
    labels: tuple[str, ...]
    counts: Mapping[str, Mapping[str, float]]
    lead_to_recognition: Mapping[str, Floats]
    changing_groups: tuple[str, ...]
    notes: tuple[str, ...] = ()
    _units: dict[tuple[str, str], Scores] = field(default_factory=dict)

    @property
    def part(self) -> EpisodesPart:
        """The settings that all of this follows from."""
        return self.judged.part

    @property
    def stays(self) -> Stays:
        """The stays, with their spans and onsets."""
        return self.judged.stays

    def cases(self, unit: str, score: str = "max") -> Scores:
        """Case rows of another unit or score than the study's own, to be shown beside them."""
        if (unit, score) not in self._units:
            known, waiting = _cases(self.judged, unit, score)
            self._units[unit, score] = kinds_of_rows.as_scores([known], waiting, self.judged, self.design)
        return self._units[unit, score]

    def followed(self) -> Scores | None:
        """Every case row with its follow-up and status, whether its outcome is known or not; None without these.

        Rows whose outcome is known are not all rows: among the others are those who left, and to leave them out makes
        risks seem too low.
        """
        unit, score = self.part.unit, self.part.score
        rows = kinds_of_rows.rows_of_cases(case_rows(self.judged, unit, score), self.judged, unit)
        if "followup" not in rows.values:
            return None
        return kinds_of_rows.as_scores([rows], None, self.judged, self.design)

    @cached_property
    def watched(self) -> Mapping[str, Watched]:
        """Hours watched by outcome: who is watched longer scores higher, if the score is a maximum."""
        rows = case_rows(self.judged, "encounter", "max")
        chosen = {
            "event": rows.outcome == 1,
            "no event": rows.outcome == 0,
            "not known": np.isnan(rows.outcome),
        }
        return {
            name: Watched(int(mask.sum()), float(np.median(rows.hours_watched[mask])) if mask.any() else None)
            for name, mask in chosen.items()
        }

    @cached_property
    def of_stays(self) -> Mapping[str, int]:
        """How many stays there are, how they ended, and what sets some of them apart."""
        stays = self.stays
        scored = self.judged.inside.moments.counts > 0
        return {
            "encounters": len(stays),
            "patients": int(np.unique(stays.patient).size),
            **{how: int((stays.how == place).sum()) for place, how in enumerate(HOW)},
            "undated": int(stays.undated.sum()),
            "present": int((stays.present & ~stays.undated).sum()),
            "without_prediction": int((~scored).sum()),
            "with_event": int((stays.onset < FAR).sum()),
            "with_event_without_prediction": int(((stays.onset < FAR) & ~scored).sum()),
        }


def evaluate(predictions: Predictions, events: Events, part: EpisodesPart, thresholds: Sequence[float]) -> Evaluated:
    """Judge every prediction, alert and event of two tables by the settings of a study."""
    labels = _labels(thresholds, events, part)
    stays, chosen = find_stays(predictions, events, part)
    everyone = stays.predictions
    fates = fates_of(stays, part, everyone.stay, everyone.time)
    within = np.asarray(fates.fate != OUTSIDE)
    if not within.any():
        raise InputError(
            "a prediction inside a stay was expected",
            where=predictions.where,
            got=f"none among {len(predictions):,}: each is before the start or after the end of its stay",
            remedy="check the times, their zones, and which types are start and end",
        )
    rows = np.flatnonzero(within)
    mine = chosen[rows]
    inside = Inside(everyone.take(within), predictions.risk[mine], fates.take(rows))
    if part.policy == "recorded":
        alarms = [recorded(inside, stays, part)]
    else:
        alarms = [fired_at(threshold, inside, stays, part) for threshold in thresholds]
    judged = Judged(part, stays, inside, predictions.number[mine], tuple(alarms))
    design = Design(
        None if predictions.site is None else predictions.site.take(mine),
        {name: levels.take(mine) for name, levels in predictions.groups.items()},
        None if predictions.weight is None else predictions.weight[mine],
    )
    known, waiting = _cases(judged, part.unit, part.score)
    watching = kinds_of_rows.rows_of_watching(judged, design)
    of_events = kinds_of_rows.rows_of_events(judged)
    of_stays = kinds_of_rows.rows_of_stays(judged)
    aside = {**events.aside, **predictions.aside, **stays.aside}
    aside["times_shown_twice"] = predictions.aside.get("times_shown_twice", 0) + events.aside.get(
        "times_shown_twice", 0
    )
    return Evaluated(
        judged=judged,
        design=design,
        scores=kinds_of_rows.as_scores([known, watching, of_events, of_stays], waiting, judged, design),
        fates={name: int((fates.fate == code).sum()) for code, name in enumerate(FATES)},
        aside=aside,
        labels=labels,
        counts={label: _counts(label, watching, of_events, of_stays) for label in labels},
        lead_to_recognition={label: _to_recognition(label, of_events, stays) for label in labels},
        changing_groups=_changing(inside.moments, design),
        notes=(*predictions.notes, *events.notes),
    )


def _labels(thresholds: Sequence[float], events: Events, part: EpisodesPart) -> tuple[str, ...]:
    if part.policy == "recorded":
        if not events.roles["alert"].any():
            raise InputError(
                "policy: recorded needs alerts among the events",
                where=events.where,
                got="none",
                remedy="name the types of the alerts that were fired as events.alert, or set policy to level or "
                "crossing",
            )
        return (RECORDED,)
    labels = tuple(label_of(threshold) for threshold in thresholds)
    if len(set(labels)) < len(labels) or not all(0 < threshold < 1 for threshold in thresholds):
        raise StudyError("thresholds must lie between 0 and 1, each named once.")
    return labels


def _cases(judged: Judged, unit: str, score: str) -> tuple[Rows, Rows | None]:
    """Case rows whose outcome is known, and those that wait for it."""
    rows = kinds_of_rows.rows_of_cases(case_rows(judged, unit, score), judged, unit)
    waits = np.isnan(rows.values["outcome"])
    return rows.take(~waits), rows.take(waits) if waits.any() else None


def _counts(label: str, watching: Rows, of_events: Rows, of_stays: Rows) -> dict[str, float]:
    def total(rows: Rows, name: str) -> float:
        return float(rows.values[name].sum()) if name in rows.values else 0.0

    return {
        "predictions": total(watching, "predictions"),
        "days": total(watching, "days"),
        "alerts": total(watching, f"alerts@{label}"),
        "suppressed": total(watching, f"suppressed@{label}"),
        "acted_alerts": total(watching, f"acted_alerts@{label}"),
        "true_alerts": total(watching, f"true@{label}"),
        "false_alerts": total(watching, f"false@{label}"),
        "neutral_alerts": total(watching, f"neutral@{label}"),
        "events": total(of_events, "event"),
        "scored_events": total(of_events, "scored"),
        "flagged_events": total(of_events, f"flagged@{label}"),
        "flagged_by_score": total(of_events, f"by_score@{label}"),
        "judged_encounters": total(of_stays, f"judged_stay@{label}"),
        "true_encounters": total(of_stays, f"true_stay@{label}"),
    }


def _to_recognition(label: str, of_events: Rows, stays: Stays) -> Floats:
    """Hours from the first true alert of each flagged event to the first intervention of its stay, in order."""
    knew = stays.interventions.first[of_events.stay]
    lead = of_events.values[f"lead@{label}"]
    chosen = ~np.isnan(lead) & (knew < FAR)
    return np.sort((knew[chosen] - of_events.time[chosen]) / HOUR + lead[chosen])


def _changing(moments: Moments, design: Design) -> tuple[str, ...]:
    """Groupings whose level changes within some stay."""
    same = moments.stay[1:] == moments.stay[:-1]
    columns = dict(design.groups)
    if design.site is not None:
        columns["site"] = design.site
    return tuple(name for name, coded in columns.items() if _changes(coded.codes, same))


def _changes(codes: Whole, same: Bools) -> bool:
    return bool((same & (codes[1:] != codes[:-1])).any())
