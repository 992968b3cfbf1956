"""What every engine must do, asked of one as it stands. Knows nothing of how an engine does it.

The work that is mapped stands here too, because a worker process has to find it by name."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from workup.errors import SystemFailure
from workup.task import Lost

_ITEMS = 151  # not a multiple of any likely number of workers
_MOST_AHEAD = 64  # items that may be at work or finished before the first result is read
_DIES, _HANGS = 1, 4  # items
_REFUSED = "the system under test refuses item 4"


def engine_faults(engine: Any, *, can_lose: bool) -> Iterator[str]:
    """Every fault of an engine, in words."""
    if not callable(getattr(engine, "map", None)):
        yield "it must have a method map(setup, items)"
        return
    with tempfile.TemporaryDirectory(prefix="workup-") as folder:
        place = Path(folder)
        yield from _results(engine, place)
        yield from _errors(engine)
        if can_lose:
            yield from _losses(engine, place)


def _results(engine: Any, folder: Path) -> Iterator[str]:
    """One result for each item and in order, from a system that is opened once in each worker; and items are handed
    over as results are read, so that a slow reader does not fill the memory."""
    if _read(engine, _must_not_open, []) != []:
        yield "no item must give no result, and open no system"
    opened, started = folder / "opened", folder / "started"
    opened.mkdir()
    started.mkdir()
    found: list[Any] = []
    results = _Paused(engine, started)
    error = _read_into(results, partial(_slow_at_first, opened, started), list(range(_ITEMS)), found)
    if error is not None:
        yield f"a plain map must give its results; it raised {type(error).__name__}"
        return
    expected = [n * n for n in range(_ITEMS)]
    if len(found) < len(expected):
        yield f"every item must have a result; {_ITEMS} items gave {len(found)}"
    elif len(found) > len(expected):
        yield f"no item may have two results; {_ITEMS} items gave {len(found)}"
    elif found != expected:
        in_disorder = sorted(map(repr, found)) == sorted(map(repr, expected))
        yield "the results must stand in the order of the items" if in_disorder else "a result is wrong"
    if results.ahead > _MOST_AHEAD:
        yield (
            f"items must wait until results are read; {results.ahead} of {_ITEMS} were worked on before the second was"
        )
    notes = [file.name for file in opened.iterdir()]
    if len(notes) > len({name.partition("-")[0] for name in notes}):
        yield "the system must be opened once in each worker; one opened it twice"


class _Paused:
    """The engine as it is, read by somebody who takes a rest after the first result."""

    def __init__(self, engine: Any, started: Path) -> None:
        self._engine, self._started, self.ahead = engine, started, 0

    def map(self, setup: Any, items: list[Any]) -> Iterator[Any]:
        for place, result in enumerate(self._engine.map(setup, items)):
            if place == 0:
                time.sleep(0.3)
                self.ahead = len(list(self._started.iterdir()))
            yield result


def _errors(engine: Any) -> Iterator[str]:
    """What the work raises must arrive, as it was raised, after the results before it; so must what setup raises."""
    found: list[Any] = []
    error = _read_into(engine, _refusing, list(range(13)), found)
    if error is None:
        yield "an error that the work raises must be raised by the map; it was swallowed"
    elif not isinstance(error, SystemFailure) or _REFUSED not in str(error):
        yield f"an error must arrive as it was raised; got {type(error).__name__}"
    if error is not None and found != list(range(4)):
        yield f"the results before an error must be given first; {len(found)} of 4 were"
    refused = _read(engine, _never_opens, [1])
    if not isinstance(refused, SystemFailure):
        yield "an error on opening the system must be raised by the map; it was swallowed"


def _losses(engine: Any, folder: Path) -> Iterator[str]:
    """A worker that dies of an item, or hangs, costs that item and no other, after a second try."""
    tries = folder / "tries"
    tries.mkdir()
    found = _read(engine, partial(_deadly, tries), list(range(6)))
    if isinstance(found, Exception):
        yield f"a worker that dies or hangs must not end the map; it raised {type(found).__name__}"
        return
    wanted = [Lost("died") if item == _DIES else Lost("timeout") if item == _HANGS else item for item in range(6)]
    if found != wanted:
        yield "a worker that dies or hangs must leave Lost in the place of its item, and all other results"
    for item, does in ((_DIES, "died of it"), (_HANGS, "hung")):
        if len(list(tries.glob(f"{item}-*"))) < 2:
            yield f"an item must be tried again when its worker {does}"


def _read(engine: Any, setup: Callable[[], Callable[[Any], Any]], items: list[Any]) -> list[Any] | Exception:
    found: list[Any] = []
    error = _read_into(engine, setup, items, found)
    return found if error is None else error


def _read_into(engine: Any, setup: Any, items: list[Any], found: list[Any]) -> Exception | None:
    try:
        for result in engine.map(setup, items):
            found.append(result)
            if len(found) > 10 * _ITEMS:  # an engine that never ends
                break
    except Exception as error:  # whatever the engine raises is what is asked about
        return error
    return None


# What is mapped.


def _must_not_open() -> Callable[[Any], Any]:
    raise SystemFailure("opened without an item")


def _never_opens() -> Callable[[Any], Any]:
    raise SystemFailure("the system under test cannot be opened")


def _slow_at_first(opened: Path, started: Path) -> Callable[[int], int]:
    (opened / f"{os.getpid()}-{time.monotonic_ns()}").touch()

    def work(item: int) -> int:
        (started / str(item)).touch()
        time.sleep(0.05 if item == 0 else 0.0)  # the first item ends last
        return item * item

    return work


def _refusing() -> Callable[[int], int]:
    def work(item: int) -> int:
        if item == 4:
            raise SystemFailure(_REFUSED)
        return item

    return work


def _deadly(folder: Path) -> Callable[[int], int]:
    def work(item: int) -> int:
        if item in (_DIES, _HANGS):
            (folder / f"{item}-{time.monotonic_ns()}").touch()
            os._exit(1) if item == _DIES else time.sleep(3_600)
        return item

    return work
