"""What a corpus of conversations is asked to be, checked before anything is made."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workup.corpora.checks import whole_number
from workup.corpora.generate.conversation.sources import specialties as known_specialties
from workup.errors import InputError, near

VERSION = "1"  # of what is drawn: equal seeds give equal bytes within one version only
FEWEST_TURNS, MOST_TURNS = 6, 60
_MOST = 1_000_000
_WHERE = "conversation"


@dataclass(frozen=True)
class ConversationSettings:
    """A corpus of conversations, as asked for. Without `turns` each conversation has 10 to 18."""

    count: int
    seed: int
    turns: int | None = None
    specialties: tuple[str, ...] = ()
    start: datetime.date = datetime.date(2024, 1, 1)
    months: int = 12


def checked(
    *, count: Any, seed: Any, turns: Any, specialties: Sequence[str], start: Any, months: Any
) -> ConversationSettings:
    """The settings, or an error that names the one that cannot be."""
    whole_number("count", count, low=1, high=_MOST, where=_WHERE)
    whole_number("seed", seed, low=0, high=2**63 - 1, where=_WHERE)
    whole_number("months", months, low=1, high=240, where=_WHERE)
    if turns is not None:
        whole_number("turns", turns, low=FEWEST_TURNS, high=MOST_TURNS, where=_WHERE)
    if isinstance(specialties, str) or not isinstance(specialties, Sequence):
        raise InputError("specialties must be a list of names", where=_WHERE, got=type(specialties).__name__)
    for name in specialties:
        if name not in known_specialties():
            raise InputError(
                "specialties must be among those that there are",
                where=_WHERE,
                got=repr(name)[:40],
                remedy=near(str(name)[:40], known_specialties()),
            )
    return ConversationSettings(
        int(count),
        int(seed),
        None if turns is None else int(turns),
        tuple(dict.fromkeys(specialties)),
        _first_day(start),
        int(months),
    )


def _first_day(start: Any) -> datetime.date:
    if isinstance(start, datetime.date) and not isinstance(start, datetime.datetime):
        return start
    try:
        return datetime.date.fromisoformat(str(start))
    except ValueError:
        raise InputError("start must be the first day, as in 2024-01-01", where=_WHERE, got=repr(start)[:40]) from None
