"""Jobs that are worked on several at a time, in one order; the first error ends all. Knows no conversation."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable
from typing import Any

_LOOK = 0.2  # seconds between two looks at how far the work is
_MOST_WORKERS = 256
_PATIENCE = 0.5  # seconds that work under way is given on Ctrl-C

Job = Callable[[], None]


class Crew:
    """Threads that take the first of the jobs in order, while jobs may add others. With one worker there is no thread.

    >>> done, crew = [], Crew(1)
    >>> crew.add((2,), lambda: done.append("second"))
    >>> crew.add((1,), lambda: done.append("first"))
    >>> crew.work(lambda: None)
    >>> done
    ['first', 'second']
    """

    def __init__(self, workers: int) -> None:
        self._workers = max(1, workers)
        self._jobs: list[tuple[tuple[Any, ...], int, Job]] = []
        self._added = self._busy = 0
        lock = threading.Lock()
        self._ready = threading.Condition(lock)  # workers wait for jobs,
        self._ended = threading.Condition(lock)  # and the one who asked for the work for its end
        self._error: BaseException | None = None

    def add(self, order: tuple[Any, ...], job: Job) -> None:
        """A job to be done; of those that wait, the one that is first by `order` is taken."""
        with self._ready:
            heapq.heappush(self._jobs, (order, self._added, job))
            self._added += 1
            self._ready.notify()

    def work(self, look: Callable[[], None]) -> None:
        """Do all jobs, with those that they add; `look` is called now and then."""
        if self._workers == 1:
            while self._jobs:
                heapq.heappop(self._jobs)[2]()
                look()
            return
        threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(self._workers)]
        for thread in threads:
            thread.start()
        patience: float | None = None  # what is under way when a job fails was paid for, and is waited for
        try:
            while self._goes_on():
                look()
        except BaseException:
            patience = _PATIENCE
            raise
        finally:
            self._stop()
            for thread in threads:
                thread.join(patience)
                patience = patience and 0.0
        if self._error is not None:
            raise self._error

    def _goes_on(self) -> bool:
        """Wait a little, and say whether there is more to wait for."""
        with self._ended:
            if (self._jobs or self._busy) and self._error is None:
                self._ended.wait(_LOOK)
            return bool(self._jobs or self._busy) and self._error is None

    def _stop(self) -> None:
        with self._ready:
            self._workers = 0
            self._ready.notify_all()

    def _serve(self) -> None:
        while True:
            with self._ready:
                while self._workers and not self._jobs:
                    self._ready.wait()
                if not self._workers or self._error is not None:
                    return
                job = heapq.heappop(self._jobs)[2]
                self._busy += 1
            try:
                job()
            except BaseException as error:  # told by the thread that waits
                with self._ready:
                    self._error = self._error or error
            finally:
                with self._ready:
                    self._busy -= 1
                    if self._error is not None or not (self._jobs or self._busy):
                        self._ended.notify()


def workers_of(system: Any, asked: int) -> int:
    """How many calls may be under way at a time: as many as the system bears, or fewer where that was asked for."""
    bears = getattr(system, "concurrency", 1)
    bears = bears if isinstance(bears, int) and not isinstance(bears, bool) and bears > 0 else 1
    return min(bears, asked or bears, _MOST_WORKERS)
