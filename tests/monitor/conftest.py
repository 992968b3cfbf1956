"""A store on each of the two databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.postgresql import Server, running_server
from workup.monitor.store.database import Store, open_store


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    yield from running_server()


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty store may be made."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'monitor.db'}"
    server: Server = request.getfixturevalue("postgresql")
    return server.new_database()


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    opened = open_store(store_url)
    yield opened
    opened.close()
