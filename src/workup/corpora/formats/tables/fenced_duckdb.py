"""One question to a DuckDB database, behind a fence: whoever wrote the database or the query reads nothing else by it.

The connection is read-only, opens no other file, loads no extension, sees no Python variable, writes nothing to disk
and cannot be told otherwise; one SELECT is run, for a limited time and up to a limited number of bytes. DuckDB does not
count all that it takes (a constant of a gigabyte, the rows on their way out), so the process is held to a limit too.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from workup.corpora.formats.tables.columns import check_width
from workup.errors import InputError, MissingExtra, WorkupError, visible
from workup.files.unpacking import limit, too_large

LONGEST_QUERY = 600.0  # seconds

_FENCE = {
    "enable_external_access": "false",  # no other file: COPY, ATTACH, read_text, glob, a view or macro over them
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",  # a name that is no table must not become a variable of ours
    "temp_directory": "",  # rows of patients are not spilled beside the database
    "max_temp_directory_size": "0KiB",
    "threads": "1",  # sums of fractions hang on who adds first: the same query gives the same bytes
    "lock_configuration": "true",
}
_BATCH = 2048  # rows between two looks at how much has come
_LEAST_MEMORY = 256 * 2**20
_ROOM = 512 * 2**20  # bytes for what DuckDB and arrow take beside rows
_SELECT = "write one statement that begins with select … from …"


class Database:
    """An open database, to be asked once."""

    def __init__(self, connection: Any, name: str, *, largest: int, seconds: float) -> None:
        self._connection, self._name, self._largest, self._seconds = connection, name, largest, seconds

    def columns(self, query: str = "") -> list[str]:
        """The names of the columns that the query would give; it is read and not run."""
        with self._said_in_words():
            return [str(name) for name in self._relation(query).columns]

    def table(self, query: str = "") -> Any:
        """The answer as an arrow table."""
        import pyarrow

        with self._said_in_words(), _held_to(2 * max(_LEAST_MEMORY, limit(self._largest)) + _ROOM):
            relation = self._relation(query)
            check_width(len(relation.columns), where=self._name)
            reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
            stream, batches, size = reader(_BATCH), [], 0
            for batch in stream:
                size += batch.nbytes
                if size > limit(self._largest):
                    raise too_large(where=self._name, largest=self._largest)
                batches.append(batch)
            return pyarrow.Table.from_batches(batches, schema=stream.schema)

    def _relation(self, query: str) -> Any:
        asked = query or f'select * from "{self._only_table()}"'
        self._refuse_others(asked)
        return self._connection.sql(asked)

    def _refuse_others(self, query: str) -> None:
        """Let one SELECT pass. What a statement is, DuckDB's own parser says."""
        import duckdb

        statements = self._connection.extract_statements(query)
        kinds = [statement.type for statement in statements]
        if kinds != [duckdb.StatementType.SELECT]:
            names = ", ".join(str(kind).rpartition(".")[2] for kind in kinds[:5])
            raise InputError(
                "the query cannot be run: it must be one SELECT statement",
                where=self._name,
                got=f"{len(kinds)} statements ({names})" if len(kinds) != 1 else names,
                remedy=_SELECT,
            )

    def _only_table(self) -> str:
        tables = "select table_name from information_schema.tables where table_schema = 'main' order by 1"
        names = [str(row[0]) for row in self._connection.execute(tables).fetchall()]
        if len(names) != 1:
            raise InputError(
                "a database with one table was expected",
                where=self._name,
                got=f"{len(names)} tables: {visible(', '.join(names[:20]))}" if names else "no table",
                remedy="say what to read with the setting 'query', such as select * from one_of_them",
            )
        return names[0].replace('"', '""')

    @contextmanager
    def _said_in_words(self) -> Iterator[None]:
        """Stop what takes too long; turn DuckDB's errors into ours, without what they quote of rows or files."""
        import duckdb

        late = threading.Event()

        def stop() -> None:
            late.set()
            self._connection.interrupt()

        timer = threading.Timer(self._seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            yield
        except WorkupError:
            raise
        except Exception as error:  # an interrupted stream raises OSError
            if late.is_set():
                got, remedy = f"one that ran for {self._seconds:g} seconds", "mend it, or raise corpus.query_seconds"
            elif isinstance(error, duckdb.PermissionException):
                got = "one that reaches outside the database: another file, an extension or the network"
                remedy = "read from the tables of the database alone; do not trust a database whose views read files"
            elif isinstance(error, (duckdb.OutOfMemoryException, MemoryError)) or "Out of Memory" in str(error):
                got, remedy = "one that needs more memory than it may take", "raise corpus.largest_unpacked"
            elif isinstance(error, (duckdb.ParserException, duckdb.CatalogException, duckdb.BinderException)):
                # These three speak of the query and the names in it, never of rows.
                got, remedy = visible(str(error).splitlines()[0]), "mend the query"
            elif isinstance(error, OSError) and "maximum total string size" in str(error):
                got = f"one that gives more than 2 GiB of text in {_BATCH:,} rows"
                remedy = "leave such columns out; do not trust a database whose views make them"
            else:
                got, remedy = type(error).__name__, "try it in DuckDB itself"
            raise InputError("the query cannot be run", where=self._name, got=got, remedy=remedy) from None
        finally:
            timer.cancel()


@contextmanager
def _held_to(more: int) -> Iterator[None]:
    """Let this process take so many bytes more than it has, and no others, for a while.

    Whoever asks for more gets an error in the place of memory, other threads of the process too. Where the platform has
    no such limit (it is Linux's) there is none.
    """
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = pages * os.sysconf("SC_PAGE_SIZE") + more
        held = wanted if soft == resource.RLIM_INFINITY else min(wanted, soft)
        resource.setrlimit(resource.RLIMIT_DATA, (held, hard))
    except (ImportError, OSError, ValueError, IndexError):
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


@contextmanager
def opened(path: Path, *, largest: int = 0, seconds: float = LONGEST_QUERY) -> Iterator[Database]:
    """The database of a plain file, behind the fence."""
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MissingExtra(error.name or "duckdb", extra="tables", purpose="reading DuckDB databases") from None
    if path.is_symlink() or not path.is_file():
        raise InputError(
            "a DuckDB database was expected",
            where=path.name,
            got="a link" if path.is_symlink() else "something that is no plain file",
            remedy="name the file of the database itself",
        )
    memory = f"{max(_LEAST_MEMORY, limit(largest)) // 2**20}MiB"
    try:
        connection = duckdb.connect(str(path), read_only=True, config={**_FENCE, "memory_limit": memory})
    except Exception as error:  # a damaged file raises more than duckdb.Error
        raise InputError(
            "a DuckDB database was expected",
            where=path.name,
            got=f"a file that cannot be read as one ({type(error).__name__})",
            remedy="check that the file is whole, that its ending says what it is and that nobody has it open",
        ) from None
    with connection:
        yield Database(connection, path.name, largest=largest, seconds=seconds)
