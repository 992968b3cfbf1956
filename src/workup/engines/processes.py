"""The engine of many cores: an ordered map over worker processes on this machine. Knows nothing of what it maps."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import Field

from workup.engines.supervised import (
    GROWTH_MB,
    RETRIES,
    TIMEOUT,
    Answer,
    Growth,
    Job,
    Retries,
    Supervised,
    Timeout,
    in_order,
    packed,
    unpacked,
)
from workup.errors import InputError
from workup.task import Lost

Item = TypeVar("Item")
Result = TypeVar("Result")

_PENDING_PER_WORKER = 2  # one at work and one waiting: no worker idles, and items never pile up
Workers = Annotated[int, Field(ge=0, le=1_000, description="Worker processes; 0 is one per core")]


class Processes:
    """An ordered map over worker processes; `workers: 0` means one for each core this process may use."""

    def __init__(
        self,
        *,
        workers: Workers = 0,
        timeout: Timeout = TIMEOUT,
        retries: Retries = RETRIES,
        growth_mb: Growth = GROWTH_MB,
    ) -> None:
        if isinstance(workers, bool) or not isinstance(workers, int) or workers < 0:
            raise InputError(
                "workers must be a whole number, 0 for one per core",
                where="engine 'processes'",
                got=repr(workers)[:20],
                remedy="set workers to 0 or more",
            )
        self.workers = workers or cores()
        self.seconds: list[float] = []  # that the work on each item took, in its worker
        self._settings = {"timeout": timeout, "retries": retries, "growth_mb": growth_mb}

    def map(self, setup: Callable[[], Callable[[Item], Result]], items: Sequence[Item]) -> Iterator[Result | Lost]:
        """Results in the order of the items; `setup` runs once in each worker, and not at all when there is no item."""
        job = Job.of(setup, **self._settings)
        return self._results(job, items) if items else iter(())

    def _results(self, job: Job, items: Sequence[Any]) -> Iterator[Any]:
        count = min(self.workers, len(items))
        waiting: queue.SimpleQueue[tuple[int, bytes] | None] = queue.SimpleQueue()
        answers: queue.SimpleQueue[tuple[int, bytes | BaseException]] = queue.SimpleQueue()
        crew = [Supervised(job) for _ in range(count)]
        for worker in crew:
            threading.Thread(target=_tend, args=(worker, waiting, answers), daemon=True).start()

        def next_answer() -> tuple[int, Answer]:
            place, answer = answers.get()
            if isinstance(answer, BaseException):
                raise answer
            return place, unpacked(answer)

        try:
            yield from in_order(
                len(items),
                count * _PENDING_PER_WORKER,
                lambda place: waiting.put((place, packed(items[place]))),
                next_answer,
                self.seconds,
            )
        finally:
            for _ in crew:
                waiting.put(None)
            # After an error or Ctrl-C nobody waits for batches that no one will read: all are told before any is
            # waited for.
            for worker in crew:
                worker.stop()
            for worker in crew:
                worker.close()


def _tend(
    worker: Supervised,
    waiting: queue.SimpleQueue[tuple[int, bytes] | None],
    answers: queue.SimpleQueue[tuple[int, bytes | BaseException]],
) -> None:
    """Give one worker item after item; a thread of its own, so that a hanging worker holds up no other."""
    while (task := waiting.get()) is not None:
        place, item = task
        try:
            answers.put((place, worker.ask(item)))
        except BaseException as error:  # whatever it is belongs to whoever reads the results
            answers.put((place, error))
            return


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1
