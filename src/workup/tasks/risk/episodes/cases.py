"""Case rows: one risk and one outcome per prediction, landmark, stay or patient, whichever is the unit of analysis."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Bools, Floats, Ints, Whole
from workup.tasks.risk.episodes.alarms import Alarms, Inside
from workup.tasks.risk.episodes.fates import CASE, CONTROL, JUDGED, Fates, fates_of
from workup.tasks.risk.episodes.moments import FAR, Moments
from workup.tasks.risk.episodes.settings import EpisodesPart
from workup.tasks.risk.episodes.stays import DEATH, DISCHARGE, Stays

HOUR = 3_600_000_000  # microseconds
DAY = 24 * HOUR


@dataclass(frozen=True, eq=False)
class Judged:
    """Stays, the predictions inside them with their fates, and the alerts fired at each threshold.

    `number` names each prediction inside whatever the order of its file, and the same for every model.
    """

    part: EpisodesPart
    stays: Stays
    inside: Inside
    number: Whole
    alarms: tuple[Alarms, ...]


@dataclass(frozen=True, eq=False)
class CaseRows:
    """Rows of one unit. `prediction` is the one inside whose groups, site and weight a row has.

    `outcome` is NaN where it is not known. `followup` (days) and `status` (1 event, 2 death, 0 not known further) are
    of rows that stand for one moment. `landmark` is the place of the landmark among those of the study.
    """

    outcome: Floats
    risk: Floats
    row: Whole
    hours_watched: Floats
    acted: Bools
    stay: Whole
    time: Ints
    prediction: Whole
    followup: Floats | None = None
    status: Floats | None = None
    landmark: Whole | None = None

    def __len__(self) -> int:
        return len(self.outcome)


def case_rows(judged: Judged, unit: str, score: str) -> CaseRows:
    """The rows of a unit; `score` says how the predictions of a stay or a patient become one."""
    if unit == "prediction":
        return _predictions(judged)
    if unit == "landmark":
        return _landmarks(judged)
    stays = _first(judged) if score == "first" else _reduced(judged, score)
    return stays if unit == "encounter" else _patients(judged, stays, score)


def _predictions(judged: Judged) -> CaseRows:
    places = np.flatnonzero(np.isin(judged.inside.fates.fate, JUDGED))
    moments = judged.inside.moments
    fates = judged.inside.fates.take(places)
    stay, time = moments.stay[places], moments.time[places]
    followup, status = _followed(judged.stays, stay, time, fates)
    return CaseRows(
        outcome=_outcomes(fates),
        risk=judged.inside.risk[places],
        row=judged.number[places] + 1,
        hours_watched=np.zeros(len(places)),
        acted=_first_acted(judged)[stay] <= time,
        stay=stay,
        time=time,
        prediction=places,
        followup=followup,
        status=status,
    )


def _landmarks(judged: Judged) -> CaseRows:
    """Stays at each landmark that they reach with a score in force; judged by the fate of the landmark."""
    stays, part = judged.stays, judged.part
    count = max(len(part.landmarks), 1)
    offsets = np.array([one.microseconds for one in part.landmarks], dtype=np.int64)
    stay = np.repeat(np.arange(len(stays)), len(offsets))
    landmark = np.tile(np.arange(len(offsets)), len(stays))
    time = stays.start[stay] + offsets[landmark]
    fates = fates_of(stays, part, stay, time)
    prediction = judged.inside.moments.latest(stay, time)
    scored = prediction >= 0
    times = judged.inside.moments.time
    age = np.full(len(stay), FAR, dtype=np.int64)
    age[scored] = time[scored] - times[prediction[scored]]
    kept = np.isin(fates.fate, JUDGED) & scored & (age < part.stale.microseconds)
    stay, landmark, time, prediction = stay[kept], landmark[kept], time[kept], prediction[kept]
    fates = fates.take(kept)
    followup, status = _followed(stays, stay, time, fates)
    return CaseRows(
        outcome=_outcomes(fates),
        risk=judged.inside.risk[prediction],
        row=stays.number[stay] * count + landmark + 1,
        hours_watched=np.zeros(len(stay)),
        acted=_first_acted(judged)[stay] <= time,
        stay=stay,
        time=time,
        prediction=prediction,
        followup=followup,
        status=status,
        landmark=landmark,
    )


def _first(judged: Judged) -> CaseRows:
    """The first prediction of each stay that can be judged, by its own fate: the horizon applies."""
    every = _predictions(judged)
    first = np.ones(len(every), dtype=bool)
    first[1:] = every.stay[1:] != every.stay[:-1]
    rows = _chosen(every, np.flatnonzero(first))
    return replace(rows, row=judged.stays.number[rows.stay] + 1, acted=_acted_in_stay(judged)[rows.stay])


def _reduced(judged: Judged, score: str) -> CaseRows:
    """One score of each stay against the event in the stay: to apply the horizon here would choose predictions by the
    outcome."""
    stays, inside = judged.stays, judged.inside
    onset = stays.onset
    stay, time = inside.moments.stay, inside.moments.time
    usable = np.isin(inside.fates.fate, JUDGED)
    usable &= (time < onset[stay]) & (time <= onset[stay] - judged.part.gap.microseconds)
    places = np.flatnonzero(usable)
    used = Moments.sorted(stay[places], time[places], stays=len(stays))
    with_rows = np.flatnonzero(used.counts > 0)
    first, last = used.bounds[with_rows], used.bounds[with_rows + 1] - 1
    risk = inside.risk[places]
    how = stays.how[with_rows]
    outcome = np.where((how == DEATH) | (how == DISCHARGE), 0.0, np.nan)
    return CaseRows(
        outcome=np.where(onset[with_rows] < FAR, 1.0, outcome),
        risk=_one_score(risk, first, last, score),
        row=stays.number[with_rows] + 1,
        hours_watched=(used.time[last] - used.time[first]) / HOUR,
        acted=_acted_in_stay(judged)[with_rows],
        stay=with_rows,
        time=used.time[first],
        prediction=places[first],
    )


def _patients(judged: Judged, stays: CaseRows, score: str) -> CaseRows:
    """The rows of a patient's stays, in time, reduced again in the same way."""
    patient = judged.stays.patient[stays.stay]
    order = np.lexsort((stays.stay, stays.time, patient))
    rows, patient = _chosen(stays, order), patient[order]
    begins = np.ones(len(patient), dtype=bool)
    begins[1:] = patient[1:] != patient[:-1]
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(patient))[: len(first)] - 1
    outcome = rows.outcome[first]
    if score != "first" and len(first):
        event = np.logical_or.reduceat(rows.outcome == 1, first)
        waits = np.logical_or.reduceat(np.isnan(rows.outcome), first)
        outcome = np.where(event, 1.0, np.where(waits, np.nan, 0.0))
    result = _chosen(rows, first)
    if not len(first):
        return result
    return replace(
        result,
        outcome=outcome,
        risk=_one_score(rows.risk, first, last, score),
        row=patient[first] + 1,
        hours_watched=np.add.reduceat(rows.hours_watched, first),
        acted=np.logical_or.reduceat(rows.acted, first),
    )


def _one_score(risk: Floats, first: Whole, last: Whole, score: str) -> Floats:
    if not len(first):
        return np.zeros(0)
    if score == "max":
        return np.asarray(np.maximum.reduceat(risk, first))
    if score == "mean":
        return np.asarray(np.add.reduceat(risk, first) / (last - first + 1))
    return risk[first if score == "first" else last]


def _outcomes(fates: Fates) -> Floats:
    return np.select([fates.fate == CASE, fates.fate == CONTROL], [1.0, 0.0], default=np.nan)


def _followed(stays: Stays, stay: Whole, time: Ints, fates: Fates) -> tuple[Floats, Floats]:
    """How long a moment is followed, in days, and what ended that: event, death, or that nothing more is known."""
    event = fates.onset >= 0
    until = stays.end[stay]
    until[event] = stays.onsets.time[fates.onset[event]]
    status = np.select([event, stays.how[stay] == DEATH], [1.0, 2.0], default=0.0)
    return (until - time) / DAY, status


def _first_acted(judged: Judged) -> Ints:
    """When the first alert of each stay fired that was acted on, at the first threshold of the study."""
    if not judged.alarms:
        return np.full(len(judged.stays), FAR, dtype=np.int64)
    return judged.alarms[0].first_acted(len(judged.stays))


def _acted_in_stay(judged: Judged) -> Bools:
    """Stays in which an alert was acted on before the event."""
    return np.asarray(_first_acted(judged) < judged.stays.onset)


def _chosen(rows: CaseRows, places: npt.NDArray[np.intp]) -> CaseRows:
    return CaseRows(
        outcome=rows.outcome[places],
        risk=rows.risk[places],
        row=rows.row[places],
        hours_watched=rows.hours_watched[places],
        acted=rows.acted[places],
        stay=rows.stay[places],
        time=rows.time[places],
        prediction=rows.prediction[places],
        followup=None if rows.followup is None else rows.followup[places],
        status=None if rows.status is None else rows.status[places],
        landmark=None if rows.landmark is None else rows.landmark[places],
    )
