"""Stays, predictions and alerts as one table of Scores with four kinds of rows, told apart by columns of 0 and 1.

`case`   one row per unit of analysis: outcome, risk, row, hours_watched, acted (at the first threshold), and, where
         discharge censors and a row stands for one moment, followup (days) and status
`watch`  one row per stay, day, site and groups: predictions, days, and per threshold alerts@t, suppressed@t, true@t,
         false@t, neutral@t, acted_alerts@t; all of these add up
`event`  one row per event that could be predicted: event, scored, and flagged@t, by_score@t, lead@t (hours), acted@t
`stay`   one row per stay with a prediction inside: judged_stay@t and true_stay@t

@t is the threshold as `format(t, ".12g")` writes it, or @recorded, which has no by_score. Outside their kind columns
are 0, but outcome, risk, lead@t, followup and status are NaN. Slices are only made now, as groups of rows: to filter
the tables first would change which alerts fire, whose an event is, and how long anyone was watched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from workup.scores import MISSING, Levels, Scores
from workup.stats.arrays import Bools, Floats, Ints, Whole
from workup.tasks.risk.episodes.alarms import Alarms, flagged_events, predicted_events
from workup.tasks.risk.episodes.cases import DAY, HOUR, CaseRows, Judged
from workup.tasks.risk.episodes.stays import Stays
from workup.tasks.risk.episodes.tables import Coded

KINDS = ("case", "watch", "event", "stay")
SINCE_START, LANDMARK = "since_start", "landmark"
SINCE_START_BANDS = ("0–6 h", "6–24 h", "24–72 h", "later")
_BAND_ENDS = np.array([6, 24, 72], dtype=np.int64) * HOUR
_NOT_A_NUMBER = ("outcome", "risk", "lead@", "followup", "status")


@dataclass(frozen=True, eq=False)
class Design:
    """Site, groups and weight of each prediction inside."""

    site: Coded | None
    groups: Mapping[str, Coded]
    weight: Floats | None


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one kind. `prediction` is the one inside whose site, groups and weight a row has, -1 for none."""

    kind: str
    values: Mapping[str, Floats]
    stay: Whole
    time: Ints
    prediction: Whole
    since_start: Whole  # a band, or -1
    landmark: Whole  # the place of a landmark, or -1
    factor: Floats | None = None  # by which the design weight is multiplied

    def __len__(self) -> int:
        return len(self.stay)

    def take(self, places: npt.NDArray[np.intp] | Bools) -> Rows:
        """A choice of rows."""
        return Rows(
            self.kind,
            {name: column[places] for name, column in self.values.items()},
            self.stay[places],
            self.time[places],
            self.prediction[places],
            self.since_start[places],
            self.landmark[places],
            None if self.factor is None else self.factor[places],
        )


def rows_of_cases(cases: CaseRows, judged: Judged, unit: str) -> Rows:
    """The case rows of a unit."""
    values = {
        "case": np.ones(len(cases)),
        "outcome": cases.outcome,
        "risk": cases.risk,
        "row": cases.row.astype(np.float64),
        "hours_watched": cases.hours_watched,
        "acted": cases.acted.astype(np.float64),
    }
    if judged.part.discharge == "censored" and cases.followup is not None and cases.status is not None:
        values |= {"followup": cases.followup, "status": cases.status}
    nothing = np.full(len(cases), -1, dtype=np.int64)
    factor = None
    if judged.part.weight == "stay" and unit in ("prediction", "landmark"):
        known = np.bincount(cases.stay[~np.isnan(cases.outcome)], minlength=len(judged.stays))
        factor = 1.0 / np.maximum(known, 1)[cases.stay]
    return Rows(
        "case",
        values,
        cases.stay,
        cases.time,
        cases.prediction,
        since_start(judged.stays, cases.stay, cases.time) if unit == "prediction" else nothing,
        nothing if cases.landmark is None else cases.landmark,
        factor,
    )


def since_start(stays: Stays, stay: Whole, time: Ints) -> Whole:
    """In which band of the time since the start of its stay a moment lies."""
    return np.searchsorted(_BAND_ENDS, time - stays.start[stay], side="right").astype(np.int8)


def rows_of_watching(judged: Judged, design: Design) -> Rows:
    """Predictions and alerts with the time that was watched, folded by stay, day, site and groups.

    The time from a prediction to the next, or to the end of the stay, belongs to the groups of that prediction.
    """
    moments = judged.inside.moments
    n = len(moments)
    stays_before, times_before = _without_prediction(judged.alarms)
    stay = np.concatenate((moments.stay, stays_before))
    time = np.concatenate((moments.time, times_before))
    prediction = np.append(np.arange(n, dtype=np.int32), np.full(len(stays_before), -1, dtype=np.int32))
    band = since_start(judged.stays, stay, time)
    fold, first = _folds(stay, np.floor_divide(time, DAY), band, prediction, design)

    def added(places: Whole) -> Floats:
        return np.bincount(fold[places], minlength=len(first)).astype(np.float64)

    # Whole microseconds are added exactly, so no order of rows can change a digit.
    watched = np.bincount(fold[:n], weights=_exposure(judged), minlength=len(first))
    values = {"watch": np.ones(len(first)), "predictions": added(np.arange(n)), "days": watched / DAY}
    for alarms in judged.alarms:
        at = alarms.label
        places = np.where(alarms.prediction >= 0, alarms.prediction, n + np.cumsum(alarms.prediction < 0) - 1)
        silenced = np.zeros(0, dtype=np.int64) if alarms.silenced is None else np.flatnonzero(alarms.silenced)
        values |= {
            f"alerts@{at}": added(places),
            f"suppressed@{at}": added(silenced),
            f"true@{at}": added(places[alarms.true]),
            f"false@{at}": added(places[alarms.false]),
            f"neutral@{at}": added(places[~alarms.true & ~alarms.false]),
            f"acted_alerts@{at}": added(places[alarms.acted]),
        }
    return Rows(
        "watch",
        values,
        stay[first],
        time[first],
        prediction[first],
        band[first],
        np.full(len(first), -1, dtype=np.int64),
    )


def _exposure(judged: Judged) -> Ints:
    """Microseconds from each prediction inside to the next, from the last to the end of the stay."""
    moments = judged.inside.moments
    until = np.append(moments.time[1:], 0)
    last = moments.bounds[1:][moments.counts > 0] - 1
    until[last] = judged.stays.end[moments.stay[last]]
    until -= moments.time
    return until


def _without_prediction(alarms: Sequence[Alarms]) -> tuple[Whole, Ints]:
    """Stays and times of recorded alerts before any prediction of their stay."""
    found = [(one.stay[one.prediction < 0], one.time[one.prediction < 0]) for one in alarms]
    stays, times = [one[0] for one in found], [one[1] for one in found]
    return (
        np.concatenate([np.zeros(0, dtype=np.int32), *stays]),
        np.concatenate([np.zeros(0, dtype=np.int64), *times]),
    )


def _folds(stay: Whole, day: Ints, band: Whole, prediction: Whole, design: Design) -> tuple[Whole, Whole]:
    """The fold of each row, and the first row in time of each fold."""
    code = band.astype(np.int64)
    columns: list[Whole] = [coded.codes for _, coded in sorted(design.groups.items())]
    columns += [] if design.site is None else [design.site.codes]
    columns += [] if design.weight is None else [np.unique(design.weight, return_inverse=True)[1]]
    for column in columns:
        # A row without a prediction has no levels: they are 0, and all others one more.
        own = np.append(column, np.int32(-1))[prediction] + 1
        code = code * (int(own.max(initial=0)) + 1) + own
        if int(code.max(initial=0)) > 2**31:
            code = np.unique(code, return_inverse=True)[1]
    order = np.lexsort((code, day, stay))
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for column in (stay, day, code):
        new[1:] |= column[order][1:] != column[order][:-1]
    fold = np.empty(len(order), dtype=np.int32)
    fold[order] = np.cumsum(new) - 1
    return fold, order[new]


def rows_of_events(judged: Judged) -> Rows:
    """One row per eligible event, in the groups of the last prediction inside at or before it."""
    stays, inside = judged.stays, judged.inside
    events = np.flatnonzero(stays.eligible)
    number = np.full(len(stays.eligible), -1, dtype=np.int64)
    number[events] = np.arange(len(events))
    stay, onset = stays.onsets.stay[events], stays.onsets.time[events]
    scored = predicted_events(np.ones(len(inside.risk), dtype=bool), inside.fates, number, events=len(events))
    values: dict[str, Floats] = {"event": np.ones(len(events))}
    for alarms in judged.alarms:
        at = alarms.label
        found = flagged_events(alarms, number, events=len(events))
        scored |= found.flagged  # a recorded alert judges the event even where no prediction does
        values[f"flagged@{at}"] = found.flagged.astype(np.float64)
        if alarms.above is not None:
            by_score = predicted_events(alarms.above, inside.fates, number, events=len(events))
            values[f"by_score@{at}"] = by_score.astype(np.float64)
        values[f"lead@{at}"] = np.where(found.flagged, (onset - found.first) / HOUR, np.nan)
        values[f"acted@{at}"] = (alarms.first_acted(len(stays))[stay] < onset).astype(np.float64)
    values["scored"] = scored.astype(np.float64)
    return Rows(
        "event",
        values,
        stay,
        onset,
        inside.moments.latest(stay, onset),
        since_start(stays, stay, onset),
        np.full(len(events), -1, dtype=np.int64),
    )


def rows_of_stays(judged: Judged) -> Rows:
    """One row per stay with a prediction inside, in the groups of its first."""
    moments, stays = judged.inside.moments, judged.stays
    stay = np.flatnonzero(moments.counts > 0)
    values = {"stay": np.ones(len(stay))}
    for alarms in judged.alarms:
        for name, alert in (("judged_stay", alarms.true | alarms.false), ("true_stay", alarms.true)):
            found = np.zeros(len(stays))
            found[alarms.stay[alert]] = 1.0
            values[f"{name}@{alarms.label}"] = found[stay]
    nothing = np.full(len(stay), -1, dtype=np.int64)
    return Rows("stay", values, stay, stays.start[stay], moments.bounds[stay], nothing, nothing)


def as_scores(kinds: Sequence[Rows], waiting: Rows | None, judged: Judged, design: Design) -> Scores:
    """Rows of all kinds as one table, with those that wait for their outcome.

    Patients are numbered as in the two tables, so that rows of all kinds, units and models share them.
    """
    table = _Table(judged, design, [*kinds, *([] if waiting is None else [waiting])])
    later = None if waiting is None or not len(waiting) else table.scores([waiting])
    return replace(table.scores(kinds), waiting=later)


@dataclass(frozen=True, eq=False)
class _Table:
    judged: Judged
    design: Design
    everyone: Sequence[Rows]

    def scores(self, kinds: Sequence[Rows]) -> Scores:
        names = dict.fromkeys((*KINDS, *(name for rows in self.everyone for name in rows.values)))
        kind = np.concatenate([np.full(len(rows), KINDS.index(rows.kind), dtype=np.int8) for rows in kinds])
        time = _joined(kinds, "time")
        patient = self.judged.stays.patient[_joined(kinds, "stay")]
        prediction = _joined(kinds, "prediction")
        groups = {name: self._levels(coded, prediction) for name, coded in self.design.groups.items()}
        site = None if self.design.site is None else self._levels(self.design.site, prediction)
        weight = self._weight(kinds, prediction)
        groups[SINCE_START] = self._of_rows(kinds, "since_start", SINCE_START_BANDS)
        if any((rows.landmark >= 0).any() for rows in self.everyone):
            landmarks = tuple(str(one) for one in self.judged.part.landmarks)
            groups[LANDMARK] = self._of_rows(kinds, "landmark", landmarks)
        # In an order that no shuffling of the tables can change: by kind, then as risks are sorted everywhere.
        keys: list[npt.NDArray[np.generic]] = [kind, _column(kinds, "risk"), _column(kinds, "outcome")]
        keys += [levels.codes for _, levels in sorted(groups.items())]
        keys += [] if site is None else [site.codes]
        keys += [time, *([] if weight is None else [weight]), patient]
        order = np.lexsort(keys[::-1])
        return Scores(
            values={name: _column(kinds, name)[order] for name in names},
            patient=patient[order],
            site=None if site is None else site.take(order),
            time=time[order].astype("datetime64[us]"),
            groups={name: levels.take(order) for name, levels in groups.items()},
            weight=None if weight is None else weight[order],
        )

    def _levels(self, coded: Coded, prediction: Whole) -> Levels:
        """The levels of rows, by the names that any row of the table has."""
        codes = np.append(coded.codes, np.int32(-1))  # found by the -1 of a row without a prediction
        return _in_use(codes[prediction], coded.names, [codes[rows.prediction] for rows in self.everyone])

    def _of_rows(self, kinds: Sequence[Rows], name: str, names: tuple[str, ...]) -> Levels:
        return _in_use(_joined(kinds, name), names, [getattr(rows, name) for rows in self.everyone])

    def _weight(self, kinds: Sequence[Rows], prediction: Whole) -> Floats | None:
        if self.design.weight is None and all(rows.factor is None for rows in self.everyone):
            return None
        own = np.ones(len(prediction)) if self.design.weight is None else np.append(self.design.weight, 1.0)[prediction]
        factor = [np.ones(len(rows)) if rows.factor is None else rows.factor for rows in kinds]
        return np.asarray(own * np.concatenate(factor))


def _in_use(codes: Whole, names: tuple[str, ...], used: Sequence[Whole]) -> Levels:
    """Levels by the names in use, with "missing" for -1, the last."""
    in_use = np.zeros(len(names) + 1, dtype=bool)
    for column in used:
        in_use[column] = True
    number = np.cumsum(in_use) - 1
    return Levels(number[codes], tuple(name for name, one in zip((*names, MISSING), in_use, strict=True) if one))


def _joined(kinds: Sequence[Rows], name: str) -> Ints:
    return np.concatenate([getattr(rows, name) for rows in kinds]).astype(np.int64)


def _column(kinds: Sequence[Rows], name: str) -> Floats:
    absent = np.nan if name.startswith(_NOT_A_NUMBER) else 0.0
    return np.concatenate([rows.values[name] if name in rows.values else np.full(len(rows), absent) for rows in kinds])
