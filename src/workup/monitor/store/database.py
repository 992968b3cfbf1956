"""Opening a store by its URL, its transactions, and its migrations. Knows databases, and nothing of what they hold."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from workup.errors import InputError, MissingExtra, RunError
from workup.files.disk import open_private

BUSY_SECONDS = 60.0  # that a writer waits for another
_WRITES = "workup_writes"
_MIGRATIONS = Path(__file__).parent / "migrations"


@dataclass(frozen=True, eq=False)
class Store:
    """An open store. Everything is read and written in a transaction of `read` or `write`."""

    engine: Engine

    @property
    def is_postgresql(self) -> bool:
        """Is it PostgreSQL, and not SQLite?"""
        return self.engine.dialect.name == "postgresql"

    @property
    def shown(self) -> str:
        """Where it is, without its password."""
        return self.engine.url.render_as_string(hide_password=True)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One view of the store, however many questions are asked of it."""
        with _in_words(self), self.engine.connect() as connection:
            options = {"isolation_level": "REPEATABLE READ"} if self.is_postgresql else {}
            with connection.execution_options(**options).begin():
                yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that is kept whole or not at all.

        On SQLite it takes the right to write at once: one that reads first and then writes is refused as soon as
        another has written in between, however long it would have waited.
        """
        with (
            _in_words(self),
            self.engine.connect().execution_options(**{_WRITES: True}) as connection,
            connection.begin(),
        ):
            yield connection

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()


def open_store(url: str, *, migrated: bool = True, new: bool = True) -> Store:
    """The store at a URL: sqlite:///monitor.db, postgresql://user@host/name, or the path of an SQLite file.

    Its tables are made, or brought up to this version, unless `migrated` is false; a file that is not there is made
    where it may be `new`.
    """
    place = _checked(url)
    if not new and place.get_backend_name() == "sqlite" and not Path(str(place.database)).exists():
        raise InputError(
            "a store was expected",
            where=str(place.database),
            got="no file",
            remedy="name it with --store, or make one with  workup monitor init monitor.yaml",
        )
    store = Store(_engine(place))
    if migrated:
        try:
            migrate(store)
        except BaseException:
            store.close()
            raise
    return store


def migrate(store: Store, revision: str = "head") -> None:
    """Bring the tables up to a revision, or down to one; `base` takes them all away."""
    script = ScriptDirectory.from_config(_config())
    # Which of several starting programs makes the tables is decided by the database; the others find them made.
    with store.write() as connection:
        if store.is_postgresql:
            connection.execute(sqlalchemy.text("SELECT pg_advisory_xact_lock(7726455)"))
        held = MigrationContext.configure(connection).get_current_revision()
        known = {one.revision: place for place, one in enumerate(reversed(list(script.walk_revisions())))}
        if held is not None and held not in known:
            raise RunError(
                "the store was made by a later version of Workup. To fix: use that version, or another store."
            )
        wanted = script.get_current_head() if revision == "head" else revision
        if held == wanted:
            return
        config = _config()
        config.attributes["connection"] = connection
        down = wanted == "base" or (held is not None and known[str(wanted)] < known[held])
        (command.downgrade if down else command.upgrade)(config, revision)


def revision_of(store: Store) -> str | None:
    """The revision of the tables; None where there are none."""
    with store.read() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def microseconds(moment: float | None = None) -> int:
    """Now, or a moment in seconds, as the store holds it."""
    return round((time.time() if moment is None else moment) * 1_000_000)


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    return config


def _checked(url: str) -> URL:
    try:
        found = make_url(url if "://" in url else f"sqlite:///{url}")
    except ArgumentError:
        raise _unknown("another form") from None
    kind = found.get_backend_name()
    if kind == "sqlite":
        return found.set(drivername="sqlite")
    if kind in ("postgresql", "postgres"):
        return found.set(drivername="postgresql+psycopg")
    raise _unknown(f"'{kind}'")


def _unknown(got: str) -> InputError:
    return InputError(
        "the store must be sqlite:///file, postgresql://user@host/name, or the path of an SQLite file", got=got
    )


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "postgresql":
        try:
            import psycopg  # noqa: F401
        except ImportError:
            raise MissingExtra("psycopg", extra="monitor", purpose="a store on PostgreSQL") from None
        return sqlalchemy.create_engine(
            url, pool_pre_ping=True, connect_args={"connect_timeout": 10, "application_name": "workup monitor"}
        )
    if url.database in (None, "", ":memory:"):
        raise InputError("an SQLite store must be a file", got="none", remedy="name one, such as monitor.db")
    path = Path(str(url.database))
    try:
        os.close(open_private(path, os.O_RDWR))  # before SQLite makes it, for everyone to read
    except OSError as error:
        raise InputError(
            "the store must be a file that can be written", where=str(path), got=error.strerror or "an error"
        ) from None
    engine = sqlalchemy.create_engine(url, connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False})
    event.listen(engine, "connect", _prepared)
    event.listen(engine, "begin", _begun)
    return engine


def _prepared(connection: Any, record: Any) -> None:
    """Readers do not wait for a writer (WAL), and what was committed outlives a loss of power (FULL)."""
    connection.isolation_level = None  # transactions begin where we say, not where the driver thinks
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "cache_size = -65536"):
        connection.execute(f"PRAGMA {pragma}")


def _begun(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def _in_words(store: Store) -> Iterator[None]:
    """What a database refuses, without the statement and its values, which hold rows of patients."""
    try:
        yield
    except OperationalError as error:
        raise StoreUnavailable(store.shown, type(error.orig).__name__) from None
    except DBAPIError as error:
        if error.connection_invalidated:
            raise StoreUnavailable(store.shown, type(error.orig).__name__) from None
        raise RunError(f"the store refused a statement ({type(error.orig).__name__}).") from None


class StoreUnavailable(RunError):
    """The database cannot be reached, is busy for too long, or is full; the same call may succeed later."""

    def __init__(self, shown: str, kind: str) -> None:
        super().__init__(
            f"the store {shown} cannot be used now ({kind}). To fix: check that the database runs, has room and may be "
            "written, and try again; what was not acknowledged is not stored."
        )
