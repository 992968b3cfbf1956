"""From golds and the predictions of several systems to the frame of a review, with the place of every region.

Reads documents batch by batch, keeps places and counts, and no text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.documents.batch import Batch
from workup.documents.detections import Detections, Found
from workup.documents.document import SpanArrays
from workup.documents.policies import MAY, MUST
from workup.errors import InputError
from workup.stats.arrays import Floats, Ints
from workup.tasks.spans.counting.counting_rules import Golds, Yardstick
from workup.tasks.spans.counting.matchup import PHI, Matchup, Setting
from workup.tasks.spans.counting.outcomes import Outcomes, outcomes
from workup.tasks.spans.counting.verdicts import CREDITED, FALSE_ALARM, NEUTRAL, REMOVED
from workup.tasks.spans.review import frame as frames
from workup.tasks.spans.review.frame import NOT_REVIEWED, Frame
from workup.tasks.spans.review.shared_alarms import Place, groups, middle

Patient = tuple[int, str]
_UNKNOWN: Patient = (2, "")
UNANSWERED = "documents_without_answer_of_system_"  # and the place of the system


@dataclass(frozen=True, eq=False)
class Regions:
    """The frame, a row per region, and where each region is: rows NOT_REVIEWED have no place."""

    frame: Frame
    cases: list[str]
    starts: list[int]
    ends: list[int]
    labels: list[str]
    facts: Mapping[str, int]


@dataclass(eq=False)
class _Gathered:
    """Rows as they come; patients become counters at the end, in an order that documents do not decide."""

    systems: int
    patients: list[Patient] = field(default_factory=list)
    strata: list[int] = field(default_factory=list)
    numbers: list[Sequence[float]] = field(default_factory=list)  # golds, hits…, credits…, alarms…
    places: list[tuple[str, int, int, str]] = field(default_factory=list)
    facts: Counter[str] = field(default_factory=Counter)

    def add(
        self,
        patient: Patient,
        stratum: int,
        place: tuple[str, int, int, str],
        golds: float,
        of_systems: Iterable[Iterable[float]],
    ) -> None:
        self.patients.append(patient)
        self.strata.append(stratum)
        self.numbers.append([golds, *(number for part in of_systems for number in part)])
        self.places.append(place)

    def regions(self) -> Regions:
        """In the order of their places."""
        code = {patient: i for i, patient in enumerate(sorted(set(self.patients)))}
        order = sorted(range(len(self.places)), key=lambda i: (*self.places[i], self.strata[i], self.patients[i]))
        numbers = np.array([self.numbers[i] for i in order], dtype=np.float64).reshape(-1, 1 + 3 * self.systems)
        columns = (numbers[:, 1 + i * self.systems : 1 + (i + 1) * self.systems] for i in range(3))
        frame = Frame(
            np.array([code[self.patients[i]] for i in order], dtype=np.int64),
            np.array([self.strata[i] for i in order], dtype=np.int64),
            np.ones(len(order)),
            numbers[:, 0],
            *columns,
        )
        cases, starts, ends, labels = ([self.places[i][part] for i in order] for part in range(4))
        return Regions(frame, cases, starts, ends, labels, dict(self.facts))  # type: ignore[arg-type]


def triage(batches: Iterable[Batch], systems: Mapping[str, Detections], *, stick: Yardstick) -> Regions:
    """Every gold that must be masked, and every false alarm on no gold, by which systems found it.

    The primary setting of the yardstick decides what is found; types are not asked, since a reviewer says whether a
    region is an identifier and not of which type.
    """
    setting = _checked(stick)
    gathered = _Gathered(len(systems))
    found = list(systems.values())
    for batch in batches:
        if batch.first is not None and not all(batch.first):
            raise InputError(
                "a review needs one list of golds for every document",
                got="documents with those of several annotators",
                remedy="choose union, intersection or majority of them (--annotators)",
            )
        _add_batch(gathered, batch, [one.of(batch.ids) for one in found], stick, setting)
    for place, one in enumerate(found):
        _add_unknown(gathered, one.unknown(), place)
    return gathered.regions()


def _checked(stick: Yardstick) -> Setting:
    setting = stick.primary_setting
    if setting.level != PHI or setting.mode.kind == "partial":
        raise InputError(
            "a review needs a mode that finds a gold or does not, at level phi",
            got=f"{setting.mode.name} at {setting.level}",
            remedy="use full_mask, or another mode that counts whole spans",
        )
    return setting


def _add_batch(gathered: _Gathered, batch: Batch, found: Sequence[Found], stick: Yardstick, setting: Setting) -> None:
    unmapped: Counter[str] = Counter()
    golds = stick.golds(batch, [stick.policy(setting.policy)], unmapped)
    gathered.facts["golds_with_unmapped_labels"] += unmapped.total()
    names = batch.column("patient")
    patients: list[Patient] = [
        (1, name) if name is not None else (0, id) for id, name in zip(batch.ids, names, strict=True)
    ]
    columns = _GoldColumns.of(golds, setting, len(found), ignored=_ignored(golds, stick))
    alarms: list[_Alarms] = []
    for system, one in enumerate(found):
        gathered.facts[f"{UNANSWERED}{system}"] += one.answered.count(False)
        predictions = stick.found(one)
        matchup = stick.matchup(golds, predictions, texts=batch.texts, answered=one.answered)
        fate = outcomes(matchup, setting)
        kept = columns.add(system, matchup, fate)
        alarms.append(_Alarms.of(matchup, fate, golds, setting, columns.ignored))
        for document, times in Counter(predictions.document[kept].tolist()).items():
            _add_fixed(gathered, patients[document], system, credits=times)
        for document, times in Counter(predictions.document[alarms[-1].beside].tolist()).items():
            _add_fixed(gathered, patients[document], system, alarms=times)
        gathered.facts["alarms_beside_golds"] += int(np.count_nonzero(alarms[-1].beside))
        gathered.facts["neutral"] += int(np.count_nonzero(fate.outcome == NEUTRAL))
        gathered.facts["removed"] += int(np.count_nonzero(fate.outcome == REMOVED))
    gathered.facts["documents"] += len(batch)
    _add_golds(gathered, batch, golds, columns, patients)
    _add_alarms(gathered, batch, alarms, patients)


def _add_fixed(gathered: _Gathered, patient: Patient, system: int, *, credits: int = 0, alarms: int = 0) -> None:
    """Predictions that a review does not touch, on a row without a place."""
    none = [0.0] * gathered.systems
    own = [float(i == system) for i in range(gathered.systems)]
    parts = none, [credits * one for one in own], [alarms * one for one in own]
    gathered.add(patient, NOT_REVIEWED, ("", 0, 0, ""), 0.0, parts)


def _add_unknown(gathered: _Gathered, unknown: Found, system: int) -> None:
    if unknown.starts:
        gathered.facts["alarms_in_unknown_documents"] += len(unknown.starts)
        _add_fixed(gathered, _UNKNOWN, system, alarms=len(unknown.starts))


# ---- golds -----------------------------------------------------------------------------------------------------------


def _ignored(golds: Golds, stick: Yardstick) -> npt.NDArray[np.bool_]:
    names = [name in stick.ignored.canonical or name in stick.ignored.labels for name in golds.spans.labels]
    return np.array([*names, False])[golds.spans.label]


@dataclass(eq=False)
class _GoldColumns:
    """Hits and credits of each gold of a batch, by system."""

    must: npt.NDArray[np.bool_]
    ignored: npt.NDArray[np.bool_]
    hits: Floats
    credits: Floats

    @classmethod
    def of(cls, golds: Golds, setting: Setting, systems: int, *, ignored: npt.NDArray[np.bool_]) -> _GoldColumns:
        must = (golds.decisions[setting.policy] == MUST) & ~ignored
        shape = (len(golds.spans), systems)
        return cls(must, ignored, np.zeros(shape), np.zeros(shape))

    def add(self, system: int, matchup: Matchup, fate: Outcomes) -> npt.NDArray[np.bool_]:
        """Take in one system; says which of its credited predictions lie on no gold of this list."""
        self.hits[:, system] = fate.hit & self.must
        credited = fate.outcome == CREDITED
        rests = credited[fate.prediction] & self.must[fate.gold]
        gold, prediction = fate.gold[rests], fate.prediction[rests]
        golds, found = matchup.golds, matchup.predictions
        shared = np.minimum(golds.end[gold], found.end[prediction]) - np.maximum(
            golds.start[gold], found.start[prediction]
        )
        part = np.maximum(shared, 1).astype(np.float64)
        whole = np.bincount(prediction, weights=part, minlength=len(found))
        np.add.at(self.credits[:, system], gold, part / whole[prediction])
        return np.asarray(credited & (whole == 0))


def _add_golds(
    gathered: _Gathered, batch: Batch, golds: Golds, columns: _GoldColumns, patients: Sequence[Patient]
) -> None:
    """Golds that must be masked; those at one place are one region, since a reviewer answers for all of them."""
    spans = golds.spans
    at: dict[tuple[int, int, int], list[int]] = {}
    for i in np.flatnonzero(columns.must).tolist():
        at.setdefault((int(spans.document[i]), int(spans.start[i]), int(spans.end[i])), []).append(i)
    none = [0.0] * gathered.systems
    for (document, start, end), several in at.items():
        hits, credits = columns.hits[several].sum(axis=0), columns.credits[several].sum(axis=0)
        if (hits == len(several)).all():
            stratum = frames.FOUND_BY_ALL
        else:
            stratum = frames.FOUND_BY_SOME if (hits > 0).any() else frames.MISSED_BY_ALL
        label = min(spans.labels[spans.label[i]] for i in several)
        place = (batch.ids[document], start, end, label)
        gathered.add(patients[document], stratum, place, len(several), (hits.tolist(), credits.tolist(), none))


# ---- false alarms ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Alarms:
    """False alarms of one system in a batch: those on no gold, and those `beside` one, which stay false alarms."""

    predictions: SpanArrays
    apart: Ints
    beside: npt.NDArray[np.bool_]

    @classmethod
    def of(
        cls, matchup: Matchup, fate: Outcomes, golds: Golds, setting: Setting, ignored: npt.NDArray[np.bool_]
    ) -> _Alarms:
        alarm = fate.outcome == FALSE_ALARM
        # A gold that must not be masked counts as plain text, here as everywhere.
        counted = (golds.decisions[setting.policy] >= MAY) | ignored
        touched = _touched(matchup.predictions, golds.spans, counted) | fate.stray
        return cls(matchup.predictions, np.flatnonzero(alarm & ~touched), alarm & touched)


def _touched(found: SpanArrays, golds: SpanArrays, counted: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which predictions share a character with one of these golds."""
    if not counted.any() or not len(found):
        return np.zeros(len(found), dtype=np.bool_)
    width = int(max(golds.end.max(), found.end.max())) + 1  # documents one after another on one long line
    start, end = (
        column[counted].astype(np.int64) + golds.document[counted].astype(np.int64) * width
        for column in (golds.start, golds.end)
    )
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    own = found.document.astype(np.int64) * width
    before = np.searchsorted(start, found.end + own, side="left")  # golds that start before the prediction ends
    return np.asarray((before > 0) & (reach[np.maximum(before, 1) - 1] > found.start + own))


def _add_alarms(gathered: _Gathered, batch: Batch, alarms: Sequence[_Alarms], patients: Sequence[Patient]) -> None:
    at: dict[int, dict[Place, list[tuple[int, str]]]] = {}
    for system, one in enumerate(alarms):
        spans = one.predictions
        for i in one.apart.tolist():
            place = int(spans.start[i]), int(spans.end[i])
            here = at.setdefault(int(spans.document[i]), {})
            here.setdefault(place, []).append((system, spans.labels[spans.label[i]]))
    none = [0.0] * gathered.systems
    for document, places in at.items():
        for group in groups(list(places)):
            members = [member for place in group for member in places[place]]
            many: list[Any] = [float(sum(system == own for own, _ in members)) for system in range(gathered.systems)]
            shown = middle(group)
            label = min(label for _, label in places[shown])
            stratum = frames.ALARM_OF_ALL if all(many) else frames.ALARM_OF_SOME
            gathered.add(patients[document], stratum, (batch.ids[document], *shown, label), 0.0, (none, none, many))
