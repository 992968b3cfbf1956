"""The plain engine: one item after another in this process. Knows nothing of what it maps."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from workup.engines.supervised import RETRIES, TIMEOUT, Retries, Timeout
from workup.task import Lost

Item = TypeVar("Item")
Result = TypeVar("Result")


class Serial:
    """An ordered map in this process, which a system that crashes in native code takes with it.

    A batch that takes too long is left where Python can be interrupted: in the main thread of a program, on a system
    with timers, and not inside native code. The engine of processes ends it anywhere.

    >>> list(Serial().map(lambda: abs, [-1, 2]))
    [1, 2]
    """

    in_process = True

    def __init__(self, *, timeout: Timeout = TIMEOUT, retries: Retries = RETRIES) -> None:
        self.seconds: list[float] = []  # that the work on each item took
        self._timeout, self._tries = timeout, 1 + retries

    def map(self, setup: Callable[[], Callable[[Item], Result]], items: Sequence[Item]) -> Iterator[Result | Lost]:
        """Results in the order of the items; `setup` runs once, and not at all when there is no item."""
        if not items:
            return
        work = setup()
        for item in items:
            yield self._worked(work, item)

    def _worked(self, work: Callable[[Item], Result], item: Item) -> Result | Lost:
        for _ in range(self._tries):
            began = time.perf_counter()
            try:
                with _at_most(self._timeout):
                    result = work(item)
            except _TookTooLong:
                continue
            self.seconds.append(time.perf_counter() - began)
            return result
        return Lost("timeout")


class _TookTooLong(KeyboardInterrupt):
    """The time for a batch is over. Of the one kind of error that nobody takes for a failure of the work."""


def _over(*_: object) -> None:
    raise _TookTooLong


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Interrupt what runs longer, where that can be done and nobody else has set the clock."""
    timed = seconds and hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not timed or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return
    before: Any = signal.signal(signal.SIGALRM, _over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
