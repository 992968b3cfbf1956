"""What the readers got right on replies that no rule was written from, when they first met them."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from workup.tasks.conversation.read.facts.probes import Rate, share_of
from workup.tasks.conversation.read.sentence.vocabulary import table


class FirstSight(NamedTuple):
    """Shares read rightly; `warnings` are those that were not read as a denial of the condition that they name."""

    outcomes: Rate
    advice: Rate
    never_events: Rate
    warnings: Rate
    sentences: Rate


@cache
def first_sight() -> FirstSight:
    """As they were recorded, not as they would be measured today.

    >>> first_sight().outcomes.n, first_sight().advice.n, first_sight().never_events.n
    (348, 80, 60)
    """
    held = table("unseen")["first_sight"]
    return FirstSight(*(share_of(*map(int, held[name])) for name in FirstSight._fields))
