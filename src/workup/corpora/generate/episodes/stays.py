"""Stays and their scores, drawn under a plan: who, when, how long, the event, the end, and the risks on the grid.

Knows nothing of tables and files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workup.corpora.generate.episodes.plan import DEATH, END, LOST, TYPES, EpisodesPlan, Fault
from workup.corpora.generate.episodes.planted_truth import Line
from workup.corpora.generate.episodes.scorer import Scorer, chance_of_event
from workup.stats.arrays import Floats, Ints
from workup.stats.random import generator

RISK_DECIMALS = 6
_MINUTE = np.timedelta64(1, "m")
_LONGEST_WAIT = 60 * 24 * 60  # minutes from one stay of a patient to the next


@dataclass(frozen=True)
class Stays:
    """One row per stay, in the order of patients. Minutes are counted from the first month."""

    patient: Ints
    frailty: Floats
    splits: Mapping[str, Ints]  # site and groups, as codes of their levels
    start: Ints
    length: Ints  # scores on the grid, there or not
    onset: Ints  # the score before the event; -1: began with it; beyond the longest stay: none
    onset_minutes: Ints  # from that score
    end: Ints  # minutes from the start
    how: Ints  # LOST, END or DEATH, as a code of TYPES
    kind: Ints  # which of the plan's faults stand here, as bits

    def __len__(self) -> int:
        return self.patient.size

    @classmethod
    def draw(cls, patients: int, plan: EpisodesPlan, *, seed: int) -> Stays:
        """The stays of so many patients."""
        stays = 1 + np.searchsorted(np.cumsum(plan.stays)[:-1], stream(seed, "stays").random(patients), side="right")
        patient = np.repeat(np.arange(patients), stays)
        count = patient.size
        frailty = stream(seed, "frailty").standard_normal(patients)[patient]
        splits = {
            name: np.searchsorted(
                np.cumsum(list(levels.values()))[:-1], stream(seed, "split", name).random(patients), side="right"
            )[patient]
            for name, levels in plan.splits().items()
        }
        edges = np.cumsum(plan.lengths())[:-1]
        length = np.searchsorted(edges, stream(seed, "length").random(count), side="right")
        onset = _onsets(plan, frailty, length, seed)
        dated = (onset >= 0) & (onset < plan.most_scores)
        end = (length - 1) * plan.every_minutes + offsets(plan, count, stream(seed, "end"))
        start = _starts(plan, stays, end, seed)
        return cls(
            patient=patient,
            frailty=frailty,
            splits=splits,
            start=start,
            length=length,
            onset=onset,
            onset_minutes=np.where(dated, offsets(plan, count, stream(seed, "onset minutes")), 0),
            end=end,
            how=_endings(plan, onset < plan.most_scores, seed),
            kind=_faults_of(plan, splits, start),
        )

    def periods(self, plan: EpisodesPlan) -> Ints:
        """How many of the months in which a fault begins have begun with each stay."""
        return np.searchsorted(beginnings(plan), _months(plan, self.start), side="right")


def _onsets(plan: EpisodesPlan, frailty: Floats, length: Ints, seed: int) -> Ints:
    """The score before the event; -1 where the stay began with it, and a number beyond any stay where there is none."""
    uniform = stream(seed, "onset").random(frailty.size)
    after = np.floor(np.log1p(-uniform) / np.log1p(-chance_of_event(plan, frailty)))  # geometric
    onset = np.where(after <= length - 2, after, plan.most_scores).astype(np.int64)
    return np.where(stream(seed, "present").random(frailty.size) < plan.present, -1, onset)


def _endings(plan: EpisodesPlan, event: Any, seed: int) -> Ints:
    uniform = stream(seed, "how").random(event.size)
    lost, death = plan.lost, np.where(event, plan.death_after_event, plan.death)
    codes = {kind: TYPES.index(kind) for kind in (LOST, END, DEATH)}
    return np.where(uniform < lost, codes[LOST], np.where(uniform < lost + death, codes[DEATH], codes[END]))


def _starts(plan: EpisodesPlan, stays: Ints, end: Ints, seed: int) -> Ints:
    """When each stay begins: a patient's first anywhere in the plan's months, the next some days after the last."""
    months = np.datetime64(plan.start, "M") + np.array([0, plan.months])
    minutes = int((months[1].astype("datetime64[m]") - months[0].astype("datetime64[m]")).astype(np.int64))
    first = stream(seed, "start").integers(0, minutes, stays.size)
    wait = stream(seed, "wait").integers(24 * 60, _LONGEST_WAIT, end.size)
    passed = np.cumsum(np.concatenate([[0], (end + wait)[:-1]]))
    of_first = np.cumsum(stays) - stays
    return np.asarray(np.repeat(first - passed[of_first], stays) + passed)


def _months(plan: EpisodesPlan, minutes: Ints) -> Ints:
    """The month of a moment, counted from 1."""
    first = np.datetime64(plan.start, "M")
    month = (first.astype("datetime64[m]") + minutes * _MINUTE).astype("datetime64[M]")
    return np.asarray((month - first).astype(np.int64) + 1)


def beginnings(plan: EpisodesPlan) -> list[int]:
    """The months, after the first, in which a fault begins."""
    return sorted({fault.from_month for fault in plan.faults} - {1})


def _faults_of(plan: EpisodesPlan, splits: Mapping[str, Ints], start: Ints) -> Ints:
    found = np.zeros(start.size, dtype=np.int64)
    levels = {name: list(of) for name, of in plan.splits().items()}
    for place, fault in enumerate(plan.faults):
        here = _months(plan, start) >= fault.from_month
        for name, level in fault.where.items():
            here &= splits[name] == levels[name].index(level)
        found |= np.where(here, 1 << place, 0)
    return found


@dataclass(frozen=True)
class Scored:
    """One row per score that is there, in the order of stays and times."""

    stay: Ints
    place: Ints  # on the grid of the stay
    risk: Floats

    @classmethod
    def draw(cls, stays: Stays, plan: EpisodesPlan, line: Line, *, seed: int) -> Scored:
        """The scores of the stays, each with the faults of its stay."""
        from scipy import special

        stay = np.repeat(np.arange(len(stays)), stays.length)
        place = np.arange(stay.size) - np.repeat(np.cumsum(stays.length) - stays.length, stays.length)
        onset = np.where(stays.onset == plan.most_scores, np.inf, stays.onset)[stay]
        noise = stream(seed, "noise").standard_normal(stay.size)
        lost = stream(seed, "missing").random(stay.size)
        score, absent = np.empty(stay.size), np.empty(stay.size)
        for kind in np.unique(stays.kind).tolist():
            rows = stays.kind[stay] == kind
            scorer = Scorer.of(plan, standing(plan, kind))
            before = onset[rows] - place[rows]
            frailty = stays.frailty[stay[rows]]
            score[rows] = scorer.centre(plan, frailty, scorer.seen(plan, before)) + noise[rows]
            absent[rows] = scorer.absent(plan, before, place[rows])
        there = lost >= absent
        risk = np.round(special.expit(line.intercept + line.slope * score[there]), RISK_DECIMALS)
        return cls(stay[there], place[there], risk)


def standing(plan: EpisodesPlan, kind: int) -> list[Fault]:
    """The faults whose bits are set."""
    return [fault for place, fault in enumerate(plan.faults) if kind >> place & 1]


def offsets(plan: EpisodesPlan, count: int, rng: np.random.Generator) -> Ints:
    """Whole minutes strictly between two scores."""
    return rng.integers(1, plan.every_minutes, count)


def stream(seed: int, *names: str) -> np.random.Generator:
    """The random numbers of one purpose."""
    return generator(seed, "episodes", *names)
