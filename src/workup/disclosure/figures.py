"""How the figures of a task are tied to counts of people: what a task says of its metrics so that small counts can be
withheld from a pack. Knows names and no numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SIDES = ("events", "non-events")


@dataclass(frozen=True)
class CountedFigures:
    """Which metrics count one side of the two-by-two table at a threshold.

    Given the events and the rows of a slice, a sensitivity tells how many events are flagged and a specificity how many
    non-events. Every other figure at a threshold is made of both sides; even net benefit, which is one equation in two
    whole numbers, mostly has a single solution. With repeated rows, metrics in `say_few` say by "insufficient" that few
    patients are behind one of the outcomes. `outcomes` is a slice key at each of whose values the outcome is another
    one, such as the moment by which the event has happened; a figure there may also say that few were followed so far.
    """

    sensitivity: str
    specificity: str
    say_few: tuple[str, ...] = ()
    outcomes: str = ""

    def sides_of(self, metric: str, at: Mapping[str, Any]) -> tuple[str, ...]:
        """Which sides of the two-by-two table a figure would tell: none without a threshold.

        >>> CountedFigures("recall", "specificity").sides_of("recall", {"threshold": 0.2})
        ('events',)
        """
        if "threshold" not in at:
            return ()
        return {self.sensitivity: SIDES[:1], self.specificity: SIDES[1:]}.get(metric, SIDES)
