"""Tables that the report of episodes shows beside its metrics: settings as used, fates, where and when alarms sound,
how long patients were watched, and a few stays hour by hour. Knows counts and no ids; small ones are not told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from workup.disclosure.differing_flags import told_settings
from workup.disclosure.told_people import Grouped, near_groupings
from workup.estimate import Draws, estimate
from workup.scores import Levels, Scores
from workup.stats.arrays import Floats
from workup.stats.random import generator
from workup.tasks.risk.discrimination import discrimination
from workup.tasks.risk.episodes.cases import HOUR
from workup.tasks.risk.episodes.evaluation import Evaluated
from workup.tasks.risk.episodes.fates import FATES
from workup.tasks.risk.episodes.metrics import CASE, EVENT, WATCH, at
from workup.tasks.risk.episodes.moments import FAR
from workup.tasks.risk.episodes.rows import LANDMARK
from workup.tasks.risk.episodes.study import EpisodesStudy

_DAY = np.timedelta64(1, "D")
_MOST_MONTHS = 36  # of the table of alarms by month; more are in the drift lens
_MOST_LEVELS = 50
_STAYS_DRAWN = 6  # of each kind: with an event, and without


def tables(scores: Scores, evaluated: Evaluated, study: EpisodesStudy, *, reduced: bool) -> dict[str, Any]:
    """All of them; what the data cannot fill is absent."""
    k = study.smallest_cell
    watch = scores.take(scores[WATCH] == 1)
    found: dict[str, Any] = {
        "episode_settings": list(_settings(study)),
        "watched": _watched(scores, evaluated),
        "fates": [{"fate": name, "predictions": evaluated.fates[name]} for name in FATES],
        "put_aside": [{"what": name, "count": count} for name, count in evaluated.aside.items() if count],
        "stay_ends": list(_ends(evaluated)),
        "alarms_a_day": [_a_day(watch, threshold) for threshold in study.alarms()],
        "alarms_by": list(_alarms_by(watch, study.alarms(), k)),
        "lead_to_recognition": list(_recognition(evaluated, study.alarms(), k)),
        "hours_watched": list(_hours(scores, k)),
        "timeline": list(timeline(evaluated, study)),
    }
    if reduced:
        found["first_score"] = _first_score(evaluated, study)
    return {name: table for name, table in found.items() if table}


def _settings(study: EpisodesStudy) -> Iterator[dict[str, str]]:
    """Everything that decides a count, defaults among it."""
    said = {**study.episodes.model_dump(mode="json"), "thresholds": list(study.all_thresholds())}
    said |= {f"events: {role}": list(types) for role, types in study.events.roles().items()}
    for name, value in said.items():
        words = ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
        yield {
            "setting": name.replace("_", " "),
            "value": words.lower() if isinstance(value, bool) else words or "none",
        }


def _watched(scores: Scores, evaluated: Evaluated) -> dict[str, Any]:
    return {
        "patients": scores.n_patients,
        "stays": int(np.count_nonzero(evaluated.judged.inside.moments.counts)),
        "predictions": len(evaluated.judged.inside.moments),
        "days": float(scores["days"].sum()),
        "events": int(scores[EVENT].sum()),
    }


def _ends(evaluated: Evaluated) -> Iterator[dict[str, Any]]:
    words = {
        "discharge": "left alive",
        "death": "died",
        "lost": "lost: transfer or end of data",
        "open": "open when the data were cut",
        "undated": "of these, with an event that has no time",
        "present": "of these, began with the event",
        "without_prediction": "of these, without a prediction",
    }
    for name, said in words.items():
        count = evaluated.of_stays[name]
        if count:
            yield {"how": said, "stays": count}


# ---- alarms ----------------------------------------------------------------------------------------------------------


def _a_day(watch: Scores, threshold: float | None) -> dict[str, Any]:
    """Alarms on the calendar days from the first to the last; days on which none sounded count."""
    assert watch.time is not None
    day = watch.time.astype("datetime64[D]")
    place = ((day - day.min()) // _DAY).astype(np.int64)
    counts = np.bincount(place, weights=watch[at("alerts", threshold)])
    return {
        "threshold": threshold,
        "days": int(counts.size),
        "mean": float(counts.mean()),
        "median": float(np.median(counts)),
        "p95": float(np.quantile(counts, 0.95, method="higher")),
        "most": float(counts.max()),
    }


def _alarms_by(watch: Scores, thresholds: Sequence[float | None], k: int) -> Iterator[dict[str, Any]]:
    """Alarms by every grouping, site and month as they were when the prediction was made. Two thresholds that few
    patients of a level set apart are not both told, nor is a grouping of which few patients set two levels apart. One
    with a level of few is left out whole: lenses put such levels together in their own way, and what is told here of
    some months, beside what is told there of others, would be those few."""
    assert watch.time is not None
    by: dict[str, Levels] = {name: one for name, one in watch.groups.items() if name != LANDMARK}
    if watch.site is not None:
        by["site"] = watch.site
    by["month"] = Levels.of(watch.time.astype("datetime64[M]").astype(str).astype(object))
    near = near_groupings({name: Grouped(levels, watch.patient) for name, levels in by.items()}, [], k)
    for name, levels in by.items():
        if name in near:
            continue
        told = {level: rows for level, rows in levels.masks() if rows.any()}
        if any(np.unique(watch.patient[rows]).size < k for rows in told.values()):
            continue
        flags = {threshold: [watch[at("alerts", threshold)]] for threshold in thresholds}
        shown = told_settings(levels.codes, watch.patient, flags, k=k)
        if len(told) > (_MOST_MONTHS if name == "month" else _MOST_LEVELS):
            continue
        for level, rows in told.items():
            part = watch.take(rows)
            days = float(part.base_weight @ part["days"])
            for threshold in shown:
                alerts = float(part.base_weight @ part[at("alerts", threshold)])
                yield {
                    "by": name,
                    "level": level,
                    "threshold": threshold,
                    "patients": part.n_patients,
                    "days": days,
                    "alerts": alerts,
                    "rate": 100 * alerts / days if days > 0 else None,
                }


def _recognition(evaluated: Evaluated, thresholds: Sequence[float | None], k: int) -> Iterator[dict[str, Any]]:
    """Hours from the first useful alert to the first intervention; below 0 clinicians had acted before."""
    for threshold in thresholds:
        hours: Floats = evaluated.lead_to_recognition[at("", threshold)[1:]]
        if hours.size >= max(k, 1):
            quartiles = np.quantile(hours, [0.25, 0.5, 0.75]).tolist()
            named = dict(zip(("p25", "median", "p75"), quartiles, strict=True))
            after = int((hours < 0).sum())
            yield {
                "threshold": threshold,
                "events": int(hours.size),
                **named,
                "after": None if 0 < after < k or 0 < hours.size - after < k else after,
            }


# ---- who is watched longer -------------------------------------------------------------------------------------------


def _hours(scores: Scores, k: int) -> Iterator[dict[str, Any]]:
    case = scores.take(scores[CASE] == 1)
    for name, rows in (("event", case["outcome"] == 1), ("no event", case["outcome"] == 0)):
        hours = case["hours_watched"][rows]
        if np.unique(case.patient[rows]).size >= max(k, 1):
            quartiles = np.quantile(hours, [0.25, 0.5, 0.75]).tolist()
            yield {
                "outcome": name,
                "rows": int(hours.size),
                **dict(zip(("p25", "median", "p75"), quartiles, strict=True)),
            }


def _first_score(evaluated: Evaluated, study: EpisodesStudy) -> dict[str, Any] | None:
    """AUROC of the first score of each stay, which the length of the stay does not move."""
    rows = evaluated.cases("encounter", "first")
    auroc = [metric for metric in discrimination() if metric.name == "auroc"]
    first = replace(rows, icc=study.icc) if study.icc is not None else rows
    [found] = estimate(first, auroc, draws=Draws(seed=study.seed, replicates=study.bootstrap.replicates))
    return asdict(found)


# ---- a few stays -----------------------------------------------------------------------------------------------------


def timeline(evaluated: Evaluated, study: EpisodesStudy) -> Iterator[dict[str, Any]]:
    """Alerts and events of a few stays as whole hours from their start, at the first threshold; drawn by chance. A stay
    is one patient's, so none is drawn but where a study tells all, or where its patients were generated."""
    alarms, stays = evaluated.judged.alarms, evaluated.stays
    counts = evaluated.judged.inside.moments.counts
    if not alarms or (study.smallest_cell > 1 and study.corpus.generate is None):
        return
    drawn: list[int] = []
    for place, chosen in enumerate((stays.onset < FAR, stays.onset == FAR)):
        held = np.flatnonzero(chosen & (counts > 0))
        people = np.unique(stays.patient[held]).size
        if people >= 2 * _STAYS_DRAWN:
            some = generator(study.seed, "stays of the timeline", str(place)).choice(held, _STAYS_DRAWN, replace=False)
            drawn += np.sort(some).tolist()
    for number, stay in enumerate(drawn, start=1):
        start = int(stays.start[stay])
        moments: dict[str, Sequence[int]] = {
            "alert": alarms[0].time[alarms[0].stay == stay].tolist(),
            "event": [int(stays.onset[stay])] if stays.onset[stay] < FAR else [],
            "end": [int(stays.end[stay])],
        }
        yield from _hourly(number, start, moments)


def _hourly(number: int, start: int, moments: Mapping[str, Sequence[int]]) -> Iterator[dict[str, Any]]:
    for what, times in moments.items():
        for hour in dict.fromkeys((time - start) // HOUR for time in times):
            yield {"stay": number, "hour": int(hour), "what": what}
