"""What happens when things die: the feed and the worker are killed, and the database is restarted under them."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import pytest

from sims import monitor_kills
from tests.monitor.test_store import registered, sent
from tests.support.postgresql import Server
from workup.monitor.store import tables
from workup.monitor.store.database import Store, StoreUnavailable, open_store


@pytest.fixture(scope="module")
def feed() -> monitor_kills.Feed:
    return monitor_kills.Feed()


def test_a_feed_and_a_worker_that_are_killed_lose_and_double_nothing(
    store_url: str, tmp_path: Path, feed: monitor_kills.Feed
) -> None:
    whole = open_store(str(tmp_path / "whole.db"))
    whole.close()
    wanted = monitor_kills.unbroken(str(tmp_path / "whole.db"), feed, tmp_path)
    found = monitor_kills.killed(store_url, kills=5, seed=7, feed=feed, folder=tmp_path)
    assert found["hit"] >= 3
    assert found["held"] == wanted
    assert wanted.opened_twice == 0
    assert len(wanted.alerts) >= 1


def test_a_database_that_is_restarted_under_load_loses_and_doubles_nothing(postgresql: Server) -> None:
    store = open_store(postgresql.new_database())
    model = registered(store)
    acknowledged: list[str] = []
    stopped = threading.Event()

    def send() -> None:
        batch = 0
        while not stopped.is_set() and batch < 400:
            ids = [f"{batch}-{i}" for i in range(20)]
            try:
                sent(store, model, 20, id=ids)
            except StoreUnavailable:
                time.sleep(0.05)
                continue  # the same batch again
            acknowledged.extend(ids)
            batch += 1

    thread = threading.Thread(target=send)
    thread.start()
    for how in (signal.SIGQUIT, signal.SIGINT):
        until = time.monotonic() + 20
        before = len(acknowledged)
        while len(acknowledged) < before + 60 and time.monotonic() < until:
            time.sleep(0.01)
        postgresql.stop(how)
        postgresql.start()
    before = len(acknowledged)
    until = time.monotonic() + 20
    while len(acknowledged) < before + 60 and time.monotonic() < until:
        time.sleep(0.01)
    stopped.set()
    thread.join()
    with store.read() as connection:
        there = (
            connection.execute(tables.PREDICTIONS.select().with_only_columns(tables.PREDICTIONS.c.id)).scalars().all()
        )
    store.close()
    assert len(acknowledged) > before
    assert set(acknowledged) <= set(there)
    assert len(there) == len(set(there)) and len(there) - len(acknowledged) in (0, 20)


def test_a_store_that_is_busy_is_waited_for(tmp_path: Path) -> None:
    """A read before a write does not fail because another has written in between."""
    first, second = (open_store(str(tmp_path / "monitor.db")) for _ in range(2))
    model = registered(first)
    failures: list[BaseException] = []

    def send(store: Store, part: int) -> None:
        try:
            for batch in range(15):
                sent(store, model, 8, id=[f"{part}-{batch}-{i}" for i in range(8)])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=send, args=(store, part)) for part, store in enumerate((first, second))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with first.read() as connection:
        assert len(connection.execute(tables.PREDICTIONS.select()).all()) == 240
    first.close()
    second.close()
