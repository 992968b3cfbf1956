"""Stays: where each begins and how it ends, the onsets that count in it, and the events that belong to it.

Events without an encounter are placed by patient and time. What belongs nowhere is counted in `aside`, by these names:
`events_without_encounter`, `events_without_time` (other than of the target, which make their stay undated),
`events_after_end` and `merged_onsets` and `later_onsets` (of the target), `duplicate_events` (rows that say again what
another says; they are looked at all the same), `ends_before_start`, `encounters_without_start` (no start and no
prediction) and `events_without_start` (of the target, in these), `encounters_of_other_versions`,
`overlapping_encounters` (of one patient), `begun_after_as_of`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from workup.errors import InputError, StudyError
from workup.stats.arrays import Bools, Ints
from workup.tasks.risk.episodes.clock import MIXED_REMEDY, read_times
from workup.tasks.risk.episodes.moments import FAR, Moments, least
from workup.tasks.risk.episodes.settings import EpisodesPart
from workup.tasks.risk.episodes.tables import Coded, Events, Predictions, refuse_two_patients

HOW = ("death", "discharge", "lost", "open")  # how a stay ended; of several ends at one moment, the first of these
DEATH, DISCHARGE, LOST, OPEN = range(4)


@dataclass(frozen=True, eq=False)
class Stays:
    """One row per encounter, in the order of their names; those of the predictions and those of events alone.

    `number` counts encounters of both tables, those put aside among them, and `patient` through `patient_names`.
    `onsets` are the counted onsets, `eligible` which of them can be predicted at all; `onset` is the first of these,
    FAR where there is none.
    """

    names: tuple[str, ...]
    number: Ints
    patient: Ints
    patient_names: tuple[str, ...]
    start: Ints
    end: Ints
    how: npt.NDArray[np.int8]
    undated: Bools
    present: Bools
    onsets: Moments
    eligible: Bools
    stop: Ints
    interventions: Moments
    alerts: Moments
    predictions: Moments
    aside: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def onset(self) -> Ints:
        """The first eligible onset of each stay, FAR where it has none."""
        return self.onsets.take(self.eligible).first


def find_stays(predictions: Predictions, events: Events, part: EpisodesPart) -> tuple[Stays, npt.NDArray[np.intp]]:
    """The stays of two tables, and which predictions are theirs, in the order of the stays."""
    _refuse_mixed(predictions, events, part)
    as_of = _as_of(predictions, events, part)
    link = _Link.of(predictions, events)
    aside = {"events_without_time": int((~events.dated & ~events.roles["target"]).sum())}
    aside["duplicate_events"] = _copies(link, events)
    spans = _Spans.of(link.stay, link, events)
    stay = _placed(link, events, spans, as_of)
    aside["events_without_encounter"] = int((stay < 0).sum())
    spans = _Spans.of(stay, link, events)
    aside["ends_before_start"] = spans.ends_before_start
    kept = spans.started & ~link.elsewhere
    aside["encounters_without_start"] = int((~spans.started & ~link.elsewhere).sum())
    lost = (stay >= 0) & events.roles["target"]
    lost[lost] = ~spans.started[stay[lost]] & ~link.elsewhere[stay[lost]]
    aside["events_without_start"] = int(lost.sum())
    aside["encounters_of_other_versions"] = int(link.elsewhere.sum())
    _refuse_endless(kept & (spans.end == FAR), link, predictions, events, as_of)
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    stay = np.where(stay >= 0, number[stay], -1)
    n = int(kept.sum())
    start, end, how = spans.start[kept], spans.end[kept], spans.how[kept].astype(np.int8)
    if as_of is not None:
        is_open = end > as_of
        end, how = np.where(is_open, as_of, end), np.where(is_open, OPEN, how).astype(np.int8)
        aside["begun_after_as_of"] = int((start >= as_of).sum())
    patient = link.patient[kept]
    aside["overlapping_encounters"] = _overlapping(patient, start, end)

    def moments(role: str) -> Moments:
        mine = events.roles[role] & events.dated & (stay >= 0)
        return Moments.of(stay[mine], events.time[mine], stays=n)[0]

    targets = moments("target")
    late = targets.time > end[targets.stay]
    aside["events_after_end"] = int(late.sum())
    onsets, merged, later = _counted(targets.take(~late), part)
    aside["merged_onsets"], aside["later_onsets"] = merged, later
    undated = np.zeros(n, dtype=bool)
    undated[stay[events.roles["target"] & ~events.dated & (stay >= 0)]] = True
    begins = start + part.present.microseconds
    alerts = moments("alert")
    mine = number[link.of_predictions]
    chosen = np.flatnonzero(mine >= 0)
    chosen = chosen[np.argsort(mine[chosen], kind="stable")]
    stays = Stays(
        names=tuple(name for name, one in zip(link.names, kept.tolist(), strict=True) if one),
        number=np.flatnonzero(kept),
        patient=patient,
        patient_names=link.patient_names,
        start=start,
        end=end,
        how=how,
        undated=undated,
        present=onsets.first <= begins,
        onsets=onsets,
        eligible=(onsets.time > begins[onsets.stay]) & ~undated[onsets.stay],
        stop=moments("stop_at").first,
        interventions=moments("intervention"),
        alerts=alerts.take(alerts.spaced(1)),
        predictions=Moments.sorted(mine[chosen], predictions.time[chosen], stays=n),
        aside=aside,
    )
    return stays, chosen


@dataclass(frozen=True, eq=False)
class _Link:
    """Encounters of both tables under one number, and the patients of each."""

    names: tuple[str, ...]
    patient: Ints
    patient_names: tuple[str, ...]
    elsewhere: Bools
    first_prediction: Ints
    of_predictions: Ints
    stay: Ints  # of each event, -1 where it names none
    event_patient: Ints  # -1 where it names none that is known

    @classmethod
    def of(cls, predictions: Predictions, events: Events) -> _Link:
        names = tuple(sorted({*predictions.encounter.names, *_used(events.encounter)}))
        patients = tuple(sorted({*predictions.patient.names, *_used(events.patient)}))
        of_predictions = _renumbered(predictions.encounter, names)
        stay, who = _renumbered(events.encounter, names), _renumbered(events.patient, patients)
        patient = np.full(len(names), -1, dtype=np.int64)
        both = (stay >= 0) & (who >= 0)
        if both.any():
            refuse_two_patients(who[both], stay[both], events.row[both], where=events.where)
        patient[stay[both]] = who[both]
        own = _renumbered(predictions.patient, patients)
        scored = np.zeros(len(names), dtype=bool)
        scored[of_predictions] = True
        elsewhere = np.isin(np.arange(len(names)), _renumbered_names(predictions.elsewhere, names))
        scored |= elsewhere
        _refuse_strangers("encounter", stay[stay >= 0], scored, predictions, events)
        if not (stay >= 0).any():
            _refuse_strangers("patient", who[who >= 0], np.isin(np.arange(len(patients)), own), predictions, events)
        patient[of_predictions] = own
        wrong = both & (who != patient[stay])
        if wrong.any():
            raise InputError(
                "an encounter of one patient was expected",
                where=events.where,
                got=f"an encounter that is of another patient in {predictions.where}, in {_rows(events.row[wrong])}",
                remedy="check which columns are patient and encounter in the two tables; if ids of encounters begin "
                "anew with each patient, join the two columns into one",
            )
        nobody = (stay >= 0) & (patient[stay] < 0) & ~elsewhere[stay]
        if nobody.any():
            raise InputError(
                "the patient of every encounter was expected",
                where=events.where,
                got=f"an encounter without one in {_rows(events.row[nobody])}",
                remedy="give these rows the id of their patient",
            )
        return cls(
            names=names,
            patient=patient,
            patient_names=patients,
            elsewhere=elsewhere,
            first_prediction=least(of_predictions, predictions.time, stays=len(names)),
            of_predictions=of_predictions,
            stay=stay,
            event_patient=who,
        )


@dataclass(frozen=True, eq=False)
class _Spans:
    """Start and end of every stay; an end that is not known is FAR."""

    start: Ints
    started: Bools
    end: Ints
    how: Ints
    ends_before_start: int

    @classmethod
    def of(cls, stay: Ints, link: _Link, events: Events) -> _Spans:
        n = len(link.names)
        there = events.dated & (stay >= 0)
        begins = there & events.roles["start"]
        start = least(stay[begins], events.time[begins], stays=n)
        start = np.where(start == FAR, link.first_prediction, start)
        end, how, before = np.full(n, FAR, dtype=np.int64), np.full(n, OPEN, dtype=np.int64), 0
        # From the last of the ways to the first, so that of two ends at one moment the first way stands.
        for way, role in ((LOST, "lost"), (DISCHARGE, "end"), (DEATH, "death")):
            ends = np.flatnonzero(there & events.roles[role])
            early = events.time[ends] < start[stay[ends]]
            before += int((early & (start[stay[ends]] < FAR)).sum())
            ends = ends[~early]
            found = least(stay[ends], events.time[ends], stays=n)
            how = np.where((found <= end) & (found < FAR), way, how)
            end = np.minimum(end, found)
        return cls(start, start < FAR, end, how, before)


def _placed(link: _Link, events: Events, spans: _Spans, as_of: int | None) -> Ints:
    """The stay of every event: the one it names or, where it names none, the one of its patient that it lies in."""
    stay = link.stay.copy()
    loose = np.flatnonzero((stay < 0) & (link.event_patient >= 0) & (events.dated | events.roles["target"]))
    if not loose.size:
        return stay
    by_patient = np.argsort(link.patient, kind="stable")
    by_patient = by_patient[spans.started[by_patient]]
    bounds = np.searchsorted(link.patient[by_patient], np.arange(len(link.patient_names) + 1))
    who = link.event_patient[loose]
    counts = bounds[who + 1] - bounds[who]
    event = np.repeat(loose, counts)
    places = np.arange(len(event)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(bounds[who], counts)
    candidate = by_patient[places]
    end = spans.end if as_of is None else np.minimum(spans.end, as_of)
    time = events.time[event]
    lies = ~events.dated[event] | ((spans.start[candidate] <= time) & (time <= end[candidate]))
    event, candidate = event[lies], candidate[lies]
    several = np.bincount(event, minlength=len(stay)) > 1
    if several.any():
        undated = bool((several & ~events.dated).any())
        raise InputError(
            "an event that lies in one encounter was expected",
            where=events.where,
            got=("neither an encounter nor a time, and a patient with several stays," if undated else "two encounters")
            + f" for the event of {_rows(events.row[several & ~events.dated if undated else several])}",
            remedy="name its encounter in the table of events",
        )
    stay[event] = candidate
    return stay


def _counted(targets: Moments, part: EpisodesPart) -> tuple[Moments, int, int]:
    """The onsets that count, how many others are the same event, and how many are later ones that do not count."""
    rest = max(part.rest.microseconds, 1)  # even without rest, two at one moment are one
    if part.recurrent:
        counted = targets.spaced(rest)
        return targets.take(counted), int((~counted).sum()), 0
    counted = targets.spaced(None)
    same = ~counted & (targets.time - targets.first[targets.stay] < rest)
    return targets.take(counted), int(same.sum()), int((~counted & ~same).sum())


def _overlapping(patient: Ints, start: Ints, end: Ints) -> int:
    """How many stays begin before an earlier stay of the same patient has ended."""
    order = np.lexsort((end, start, patient))
    overlapping, latest, last = 0, -FAR, -1
    for who, begin, stop in zip(patient[order].tolist(), start[order].tolist(), end[order].tolist(), strict=True):
        if who != last:
            last, latest = who, -FAR
        overlapping += begin < latest
        latest = max(latest, stop)
    return int(overlapping)


def _copies(link: _Link, events: Events) -> int:
    """How many rows say again what another row says."""
    roles = np.zeros(len(events), dtype=np.int64)
    for place, mask in enumerate(events.roles.values()):
        roles |= mask.astype(np.int64) << place
    columns = (roles, np.where(events.dated, events.time, -FAR), link.event_patient, link.stay)
    order = np.lexsort(columns)
    same = np.ones(max(len(events) - 1, 0), dtype=bool)
    for column in columns:
        same &= column[order][1:] == column[order][:-1]
    return int(same.sum())


def _as_of(predictions: Predictions, events: Events, part: EpisodesPart) -> int | None:
    if part.as_of is None:
        return None
    found = read_times(
        np.array([part.as_of], dtype=object), time_format=None, time_zone=part.time_zone, where="episodes.as_of"
    )
    if not found.known[0]:
        return None
    if part.time_zone is None and ((found.naive and predictions.zoned) or (found.zoned and predictions.naive)):
        raise StudyError(
            "episodes.as_of must have a zone where the times of the tables have one, and none where they have none. "
            f"To fix: {MIXED_REMEDY}."
        )
    return int(found.time[0])


def _refuse_mixed(predictions: Predictions, events: Events, part: EpisodesPart) -> None:
    if part.time_zone is None and ((predictions.zoned and events.naive) or (predictions.naive and events.zoned)):
        with_zone, without = (predictions, events) if predictions.zoned else (events, predictions)
        raise InputError(
            "times that all have a zone, or all have none, were expected",
            where=f"{predictions.where} and {events.where}",
            got=f"zones in {with_zone.where} and none in {without.where}",
            remedy=MIXED_REMEDY,
        )


def _refuse_strangers(what: str, of_events: Ints, known: Bools, predictions: Predictions, events: Events) -> None:
    """Two tables that share no id would make every event a missed one, and every prediction a control."""
    if of_events.size and not known[of_events].any():
        raise InputError(
            f"ids of {what}s that stand in both tables were expected",
            where=f"{predictions.where} and {events.where}",
            got="none that the two share",
            remedy=f"check which column is the {what} in each, and that ids are written alike (007 and 7 are two)",
        )


def _refuse_endless(endless: Bools, link: _Link, predictions: Predictions, events: Events, as_of: int | None) -> None:
    if as_of is not None or not endless.any():
        return
    of_predictions = endless[link.of_predictions]
    rows = predictions.row[of_predictions]
    named = (link.stay >= 0) & endless[link.stay]
    where, row = (predictions.where, rows.min()) if rows.size else (events.where, events.row[named].min())
    raise InputError(
        "an end of every stay (end, death or lost) at or after its start was expected",
        where=events.where,
        got=f"none for {int(endless.sum()):,} of {len(endless):,} stays; one of them is that of {where}, row {row} "
        "below the header",
        remedy="add their ends, name the types that are ends under 'events', or say with episodes.as_of when the data "
        "were cut: these stays are open then",
    )


def _rows(rows: Ints) -> str:
    least_row = int(rows.min())
    return f"row {least_row} below the header" + (f" and {len(rows) - 1:,} more" if len(rows) > 1 else "")


def _used(coded: Coded) -> set[str]:
    return {coded.names[code] for code in np.unique(coded.codes[~coded.missing]).tolist()}


def _renumbered(coded: Coded, names: tuple[str, ...]) -> Ints:
    place = {name: number for number, name in enumerate(names)}
    numbers = np.array([*(place.get(name, -1) for name in coded.names), -1], dtype=np.int64)
    return numbers[coded.codes]  # -1, a missing cell, finds the last


def _renumbered_names(chosen: tuple[str, ...], names: tuple[str, ...]) -> list[int]:
    wanted = set(chosen)
    return [number for number, name in enumerate(names) if name in wanted]
