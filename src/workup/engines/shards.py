"""One share of a study: every n-th batch, so that any scheduler can run the shares side by side and one command joins
what they recorded. Knows nothing of what it maps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from workup.errors import InputError
from workup.task import Engine, Lost

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST = 100_000


class Share(NamedTuple):
    """Which share of how many, counted from one."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Share:
        """Read a share as it is typed.

        >>> Share.parse("3/40")
        Share(number=3, of=40)
        """
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text.strip())
        share = None if found is None else cls(int(found[1]), int(found[2]))
        if share is None or not 1 <= share.number <= share.of <= MOST:
            raise InputError(
                f"a share must be written as NUMBER/OF, such as 3/40, from 1/OF to OF/OF with at most {MOST:,}",
                where="--shard",
                got=repr(text[:20]),
            )
        return share

    def __str__(self) -> str:
        return f"{self.number} of {self.of}"


class Shard:
    """An engine that asks one share of the batches, by way of another engine."""

    def __init__(self, engine: Engine, share: Share) -> None:
        self._engine, self._share = engine, share

    @property
    def in_process(self) -> bool:
        """As of the engine that does the work."""
        return bool(getattr(self._engine, "in_process", False))

    @property
    def seconds(self) -> Any:
        """As of the engine that does the work."""
        return getattr(self._engine, "seconds", ())

    def mine(self, place: int) -> bool:
        """Whether the batch at this place of all, counted from zero, belongs to this share."""
        return place % self._share.of == self._share.number - 1

    def map(self, setup: Callable[[], Callable[[Item], Result]], items: Sequence[Item]) -> Iterator[Result | Lost]:
        """Results in the order of the items, which are those of this share already."""
        return self._engine.map(setup, items)
