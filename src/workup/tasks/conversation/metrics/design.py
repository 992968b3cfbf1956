"""What the metrics of a conversation study are made for: its arms, turns and clusters; and how columns are summed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from workup.estimate import Draws
from workup.metric import Column, Metric
from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.settings import CLOCK

TENTH = 10  # the turn at which recall is customarily read off


@dataclass(frozen=True)
class Design:
    """What the metrics are made for: the arms and turns there are, and how many clusters."""

    arms: tuple[str, ...]
    turns: int
    horizon: int
    clusters: int
    further: tuple[int, ...] = ()  # more turns at which recall is read off
    clock: int = CLOCK  # turns after its introduction to which the loss of a fact is followed
    asked_turns: tuple[int, ...] = ()  # turns at which facts were asked for; every turn where empty
    sessions: tuple[int, ...] = ()  # numbers of the sessions, where a case has several
    sources: tuple[str, ...] = ()  # what gave the model facts, where more than the history is known
    draws: Draws = field(default_factory=Draws)  # how clusters are resampled where there are many
    withheld: str = ""  # why the headline is withheld, where it is
    weighted: bool = False  # facts carry weights that differ
    asked: bool = True  # somebody asked for the facts at some turn
    unasked: bool = False  # and at some turn nobody did
    types: tuple[str, ...] = ()  # types of fact in the primary set
    primary: tuple[str, str] = ("critical", "live")  # set and arm that facts are told by type in
    published: bool = False  # variants kept for comparison with published work are wanted
    more: tuple[Metric, ...] = ()  # metrics made elsewhere, of a second reader and of people's labels
    slips: tuple[str, ...] = ()  # arms in which an error was planted

    @property
    def horizons(self) -> tuple[int, ...]:
        """Turns at which recall is read off: the tenth, and the study's own."""
        return tuple(dict.fromkeys((TENTH, self.horizon, *self.further)))

    @property
    def by_turn(self) -> tuple[int, ...]:
        """Turns that have figures of their own."""
        return self.asked_turns or tuple(range(1, self.turns + 1))


def summed(arm: str, kind: str, turns: Sequence[int], field: str) -> Column:
    """A count over some turns of one arm and set; 0 where no conversation has it."""
    names = [columns.at_turn(arm, kind, turn, field) for turn in turns]

    def column(scores: Scores) -> Floats:
        held = [scores.values[name] for name in names if name in scores.values]
        return np.sum(held, axis=0) if held else np.zeros(len(scores))

    return column


def of_row(scores: Scores, column: str) -> Floats:
    """A column that some studies lack, 0 where it is absent."""
    return scores.values.get(column, np.zeros(len(scores)))


def quotient(sums: Floats) -> Floats:
    """The first of two sums over the second, along the last axis; NaN over nothing."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(sums[..., 1] > 0, sums[..., 0] / sums[..., 1], np.nan))
