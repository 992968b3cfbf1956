"""The plain engine: one item after another in this process. Knows nothing of what it maps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Serial:
    """An ordered map in this process.

    >>> list(Serial().map(lambda: abs, [-1, 2]))
    [1, 2]
    """

    def __init__(self) -> None:
        self.seconds: list[float] = []  # that the work on each item took

    def map(self, setup: Callable[[], Callable[[Item], Result]], items: Sequence[Item]) -> Iterator[Result]:
        """Results in the order of the items; `setup` runs once, and not at all when there is no item."""
        if not items:
            return
        work = setup()
        for item in items:
            began = time.perf_counter()
            result = work(item)
            self.seconds.append(time.perf_counter() - began)
            yield result
