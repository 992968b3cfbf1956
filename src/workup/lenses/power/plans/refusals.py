"""What a plan refuses, in sentences that say which plan it was: words, numbers and sizes that cannot be meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, get_args

from workup.errors import InputError, near

MOST = 10**10  # more than there are people; beyond it a plan is a typo


@contextmanager
def refusing(kind: str) -> Iterator[None]:
    """An argument that the formulas refuse becomes an error that names the plan."""
    try:
        yield
    except ValueError as error:
        raise InputError(str(error), where=f"plan {kind}") from None


def one_of(name: str, value: str, known: Any, *, kind: str) -> None:
    """Refuse a word that is none of those a Literal lists."""
    words = get_args(known)
    if value not in words:
        raise InputError(
            f"{name} must be one of {', '.join(words)}",
            where=f"plan {kind}",
            got=f"'{value}'",
            remedy=near(value, words),
        )


def attainable(n: int, words: str) -> int:
    """The size, refused where no study can have it."""
    if n > MOST:
        raise ValueError(
            f"not feasible: more than {MOST:,} {words} would be needed; check what is given, or ask for less"
        )
    return n


def check_at_hand(n: int, *, least: int, words: str) -> None:
    """The number at hand, refused where nothing can be tested with it or nobody has so many."""
    if not least <= n <= MOST:
        raise ValueError(f"n must be at least {least}{words}, and no more than {MOST:,}; got {n}")


def unused(given: Mapping[str, bool], *, belongs: str, kind: str) -> None:
    """Refuse settings that the plan would leave out of account: who gives them expects an effect."""
    named = [name for name, changed in given.items() if changed]
    if named:
        raise InputError(
            f"{' and '.join(named)} belong{'s' if len(named) == 1 else ''} to {belongs}, which this plan is not",
            where=f"plan {kind}",
            remedy="leave it out" if len(named) == 1 else "leave them out",
        )
