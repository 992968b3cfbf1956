"""The conformance suite: every engine that is offered passes it, and an engine with any one fault is caught."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.engines.conftest import SparkServer
from workup.engines import auto
from workup.engines.auto import Automatic
from workup.engines.dask_cluster import Dask
from workup.engines.processes import Processes
from workup.engines.serial import Serial
from workup.engines.shards import Shard, Share
from workup.engines.spark_connect import Spark
from workup.errors import PluginError, WorkupError
from workup.plugins import registered
from workup.task import Lost
from workup.testing import check_engine
from workup.testing.engines import _losses

SECONDS = 3.0  # for a batch, of which each takes a few milliseconds on a machine that is not busy


def test_the_engines_that_are_offered_are_those_tested_here() -> None:
    assert set(registered("engines")) == {"auto", "serial", "processes", "dask", "spark"}


@pytest.mark.parametrize("engine", [Serial, Automatic])
def test_serial_and_automatic_pass(engine: type) -> None:
    check_engine(engine())


def test_automatic_moves_long_work_to_processes_and_goes_on_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "_TRIED_SECONDS", 0.0)
    monkeypatch.setattr(auto, "_WORTH_SECONDS", 0.0)
    pids = list(Automatic(workers=2).map(own_pid, range(6)))
    assert len(pids) == 6
    assert pids[0] == os.getpid() and os.getpid() not in pids[1:]
    here = list(Automatic(workers=2).map(lambda: lambda item: os.getpid(), range(3)))  # which cannot travel
    assert here == [os.getpid()] * 3


def own_pid() -> Callable[[Any], int]:
    return lambda item: os.getpid()


def test_processes_pass() -> None:
    check_engine(Processes(workers=2, timeout=SECONDS))


def test_dask_passes(dask_cluster: Any) -> None:
    check_engine(Dask(address=dask_cluster.scheduler_address, timeout=SECONDS))


def test_spark_passes(spark_server: SparkServer) -> None:
    check_engine(Spark(address=spark_server.address, workers=2, timeout=SECONDS))


class MergedShards:
    """Shares of the items, each asked by itself, and their results put together: what shards and merge do to a run."""

    in_process = True

    def __init__(self, of: int) -> None:
        self._of = of

    def map(self, setup: Callable[[], Callable[[Any], Any]], items: Sequence[Any]) -> Iterator[Any]:
        shards = [Shard(Serial(), Share(number, self._of)) for number in range(1, self._of + 1)]
        open_once = functools.cache(setup)  # each shard is a process of its own in truth
        results = [
            iter(shard.map(open_once, [item for place, item in enumerate(items) if shard.mine(place)]))
            for shard in shards
        ]
        for place in range(len(items)):
            owners = [number for number, shard in enumerate(shards) if shard.mine(place)]
            assert len(owners) == 1
            yield next(results[owners[0]])


@pytest.mark.parametrize("of", [1, 3, 20])
def test_shards_pass(of: int) -> None:
    check_engine(MergedShards(of))


# Engines with one fault each


class Faulty(Serial):
    """The serial engine, spoilt by what `spoil` does to its results."""

    def spoil(self, results: list[Any]) -> list[Any]:
        return results

    def map(self, setup: Callable[[], Callable[[Any], Any]], items: Sequence[Any]) -> Iterator[Any]:
        given: list[Any] = []
        error: Exception | None = None
        try:
            for one in super().map(setup, items):
                given.append(one)
        except WorkupError as raised:
            error = raised
        yield from self.spoil(given)
        if error is not None:
            raise error


class Drops(Faulty):
    def spoil(self, results: list[Any]) -> list[Any]:
        return results[:3] + results[4:]


class Doubles(Faulty):
    def spoil(self, results: list[Any]) -> list[Any]:
        return results[:3] + results[2:]


class Reorders(Faulty):
    def spoil(self, results: list[Any]) -> list[Any]:
        return results[:-2] + results[:-3:-1]


class Changes(Faulty):
    def spoil(self, results: list[Any]) -> list[Any]:
        return [*results[:-1], *(0 for _ in results[-1:])]


class Swallows(Serial):
    def map(self, setup: Callable[[], Callable[[Any], Any]], items: Sequence[Any]) -> Iterator[Any]:
        results = super().map(setup, items)
        while True:
            try:
                yield next(results)
            except (StopIteration, WorkupError):
                return


class OpensTwice(Serial):
    def map(self, setup: Callable[[], Callable[[Any], Any]], items: Sequence[Any]) -> Iterator[Any]:
        for item in items:
            yield from super().map(setup, [item])


class TakesAllAtOnce(Serial):
    def map(self, setup: Callable[[], Callable[[Any], Any]], items: Sequence[Any]) -> Iterator[Any]:
        return iter(list(super().map(setup, items)))


class AnotherError(Serial):
    def map(self, setup: Callable[[], Callable[[Any], Any]], items: Sequence[Any]) -> Iterator[Any]:
        try:
            yield from super().map(setup, items)
        except WorkupError as error:
            raise RuntimeError("something went wrong") from error


@pytest.mark.parametrize(
    ("engine", "says"),
    [
        (Drops, "every item must have a result; 151 items gave 150"),
        (Doubles, "no item may have two results; 151 items gave 152"),
        (Reorders, "the results must stand in the order of the items"),
        (Changes, "a result is wrong"),
        (Swallows, "must be raised by the map; it was swallowed"),
        (OpensTwice, "opened once in each worker; one opened it twice"),
        (TakesAllAtOnce, r"items must wait until results are read; 151 of 151"),
        (TakesAllAtOnce, "the results before an error must be given first; 0 of 4 were"),
        (AnotherError, "an error must arrive as it was raised; got RuntimeError"),
        (object, r"it must have a method map"),
    ],
)
def test_an_engine_with_a_fault_is_caught(engine: type, says: str) -> None:
    with pytest.raises(PluginError, match=says):
        check_engine(engine())


class NoSecondTry:
    """What killed a worker is given up at once, or was never tried."""

    def map(self, setup: Callable[[], Callable[[Any], Any]], items: Sequence[Any]) -> Iterator[Any]:
        return iter([0, Lost("died"), 2, 3, Lost("timeout"), 5])


class LosesTheRest:
    """One worker that dies takes what comes after it along."""

    def map(self, setup: Callable[[], Callable[[Any], Any]], items: Sequence[Any]) -> Iterator[Any]:
        return iter([0, *(Lost("died") for _ in range(5))])


def test_an_engine_that_gives_up_too_soon_is_caught(tmp_path: Path) -> None:
    faults = list(_losses(NoSecondTry(), tmp_path))
    assert faults == [f"an item must be tried again when its worker {does}" for does in ("died of it", "hung")]


def test_an_engine_that_loses_more_than_the_item_is_caught(tmp_path: Path) -> None:
    assert "all other results" in " ".join(_losses(LosesTheRest(), tmp_path))
