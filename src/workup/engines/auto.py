"""The engine of those who name none: this process for short work, worker processes once the work proves to be long."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from workup.engines.processes import Processes, Workers, cores
from workup.engines.serial import Serial
from workup.engines.supervised import GROWTH_MB, RETRIES, TIMEOUT, Growth, Retries, Timeout, resident
from workup.task import Lost

Item = TypeVar("Item")
Result = TypeVar("Result")

_TRIED_SECONDS = 2.0  # of work before it is judged
_WORTH_SECONDS = 15.0  # of work left that make up for starting workers, each of which opens the system anew
_SHARE = 0.5  # of the memory that is free, for all workers together


class Automatic:
    """An ordered map that begins here and moves to worker processes where much is left to do."""

    in_process = True  # at first, and so it cannot promise to survive the work

    def __init__(
        self,
        *,
        workers: Workers = 0,
        timeout: Timeout = TIMEOUT,
        retries: Retries = RETRIES,
        growth_mb: Growth = GROWTH_MB,
    ) -> None:
        self._workers = workers
        self._serial = Serial(timeout=timeout, retries=retries)
        self._settings: dict[str, Any] = {"timeout": timeout, "retries": retries, "growth_mb": growth_mb}
        self.seconds = self._serial.seconds

    def map(self, setup: Callable[[], Callable[[Item], Result]], items: Sequence[Item]) -> Iterator[Result | Lost]:
        """Results in the order of the items, wherever each was worked on."""
        spent = 0.0
        for done, result in enumerate(self._serial.map(setup, items), start=1):
            yield result
            spent += self.seconds[-1] if self.seconds else 0.0
            left = (len(items) - done) * spent / done
            if spent > _TRIED_SECONDS and left > _WORTH_SECONDS and (workers := self._spread(setup)) > 1:
                many = Processes(workers=workers, **self._settings)
                many.seconds = self.seconds
                yield from many.map(setup, items[done:])
                return

    def _spread(self, setup: Callable[[], Any]) -> int:
        """How many workers there may be: as many as asked for, or as cores and free memory allow; none where the
        system cannot travel."""
        try:
            pickle.dumps(setup)
        except Exception:  # pickle and the classes it asks raise what they please
            return 0
        return self._workers or min(cores(), _fitting())


def _fitting() -> int:
    """How many processes as large as this one, which holds the system too, fit into the memory that is free."""
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return cores()
    return int(_SHARE * free / max(resident(), 1))
