"""What every engine must do, asked of one as it stands. Knows nothing of how an engine does it.

The work that is mapped stands here too, because a worker process has to find it by name."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from workup.errors import SystemFailure
from workup.task import Lost

_ITEMS = 13  # not a multiple of any likely number of workers
_MANY = 400
_MOST_AHEAD = 128  # items that may be at work or finished before the first result is read
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
        yield from _pressure(engine, place)
        if can_lose:
            yield from _losses(engine, place)


def _results(engine: Any, folder: Path) -> Iterator[str]:
    """One result for each item and in order, from a system that is opened once in each worker."""
    if _read(engine, _must_not_open, []) != []:
        yield "no item must give no result, and open no system"
    opened = folder / "opened"
    opened.mkdir()
    found = _read(engine, partial(_slow_at_first, opened), list(range(_ITEMS)))
    if isinstance(found, Exception):
        yield f"a plain map must give its results; it raised {type(found).__name__}"
        return
    expected = [n * n for n in range(_ITEMS)]
    if len(found) < len(expected):
        yield f"every item must have a result; {_ITEMS} items gave {len(found)}"
    elif len(found) > len(expected):
        yield f"no item may have two results; {_ITEMS} items gave {len(found)}"
    elif found != expected:
        told = "the results must stand in the order of the items" if sorted(found) == expected else "a result is wrong"
        yield told
    notes = [file.name for file in opened.iterdir()]
    if len(notes) > len({name.partition("-")[0] for name in notes}):
        yield "the system must be opened once in each worker; one opened it twice"


def _errors(engine: Any) -> Iterator[str]:
    """What the work raises must arrive, as it was raised, after the results before it; so must what setup raises."""
    found: list[Any] = []
    error = _read_into(engine, _refusing, list(range(_ITEMS)), found)
    if error is None:
        yield "an error that the work raises must be raised by the map; it was swallowed"
    elif not isinstance(error, SystemFailure) or _REFUSED not in str(error):
        yield f"an error must arrive as it was raised; got {type(error).__name__}"
    if error is not None and found != list(range(4)):
        yield f"the results before an error must be given first; {len(found)} of 4 were"
    refused = _read(engine, _never_opens, [1])
    if not isinstance(refused, SystemFailure):
        yield "an error on opening the system must be raised by the map; it was swallowed"


def _pressure(engine: Any, folder: Path) -> Iterator[str]:
    """Items are handed over as results are read, so that a slow reader does not fill the memory."""
    started = folder / "started"
    started.mkdir()
    results = engine.map(partial(_noting, started), list(range(_MANY)))
    next(results)
    time.sleep(0.3)
    ahead = len(list(started.iterdir()))
    with contextlib.suppress(AttributeError):
        results.close()
    if ahead > _MOST_AHEAD:
        yield f"items must wait until results are read; {ahead} of {_MANY} were worked on before the second was"


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
            if len(found) > 10 * _MANY:  # an engine that never ends
                break
    except Exception as error:  # whatever the engine raises is what is asked about
        return error
    return None


# What is mapped.


def _must_not_open() -> Callable[[Any], Any]:
    raise SystemFailure("opened without an item")


def _never_opens() -> Callable[[Any], Any]:
    raise SystemFailure("the system under test cannot be opened")


def _slow_at_first(folder: Path) -> Callable[[int], int]:
    (folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()

    def work(item: int) -> int:
        time.sleep(0.05 if item == 0 else 0.0)  # the first item ends last
        return item * item

    return work


def _refusing() -> Callable[[int], int]:
    def work(item: int) -> int:
        if item == 4:
            raise SystemFailure(_REFUSED)
        return item

    return work


def _noting(folder: Path) -> Callable[[int], int]:
    def work(item: int) -> int:
        (folder / str(item)).touch()
        return item

    return work


def _deadly(folder: Path) -> Callable[[int], int]:
    def work(item: int) -> int:
        if item in (_DIES, _HANGS):
            (folder / f"{item}-{time.monotonic_ns()}").touch()
            os._exit(1) if item == _DIES else time.sleep(3_600)
        return item

    return work
