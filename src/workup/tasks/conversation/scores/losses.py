"""When a fact is first lost, and when it is lost for good, on its own clock d = turn − introduced + 1.

A fact is lost at a turn where it is scorable and not correct. It is followed until the end of the conversation, its
retirement or the fact that takes its place; turns that cannot be scored, or at which nobody asked, tell nothing and are
passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workup.tasks.conversation.read.judging import SCORED


class Loss(NamedTuple):
    """Ticks of the clock: until which the fact was followed, and when it was lost (None where it was not)."""

    followed: int
    first: int | None
    sustained: int | None


def loss_of(outcomes: Sequence[str | None]) -> Loss | None:
    """The loss of one fact from its outcomes at d = 1, 2, …; None where no turn can be scored.

    >>> loss_of(["correct", "omitted", "correct", "reversed", "omitted"])
    Loss(followed=5, first=2, sustained=4)
    >>> loss_of(["correct", "unscorable", "correct"])
    Loss(followed=3, first=None, sustained=None)
    """
    known = [(tick, one == "correct") for tick, one in enumerate(outcomes, start=1) if one in SCORED]
    if not known:
        return None
    lost = [tick for tick, kept in known if not kept]
    last_kept = max((tick for tick, kept in known if kept), default=0)
    return Loss(known[-1][0], lost[0] if lost else None, next((tick for tick in lost if tick > last_kept), None))
