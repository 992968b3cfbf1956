"""A hostile database or query, met through `workup run`: it reads no other file, changes nothing, ends, and is told
in one message."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest

from tests.support import shell

CANARY = "ZZCANARY"


def database(folder: Path, *statements: str) -> Path:
    path = folder / "hospital.duckdb"
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def good_table(rows: int = 240) -> str:
    return (
        f"create table visits as select hash(range) % 5 = 0 as died_, (hash(range) % 5 = 0)::int as died, "
        f"0.1 + (hash(range * 7) % 800) / 1000 as p from range({rows})"
    )


def study(folder: Path, query: str, **corpus: object) -> Path:
    content = {
        "name": "fenced",
        "task": "risk",
        "corpus": {"path": "hospital.duckdb", "query": query, **corpus},
        "columns": {"outcome": "died", "risk": "p"},
        "bootstrap": {"replicates": 200},
        "lenses": {"internal": {}},
    }
    path = folder / "study.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def one_message(done: shell.Done) -> str:
    """A refusal of bad input in one message, which quotes neither the canary nor a traceback."""
    assert done.code == 2, done
    assert CANARY not in done.out + done.err
    assert "Traceback" not in done.err
    return done.err


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    path = tmp_path / "canary.csv"
    path.write_text(f"died,p\n1,0.5 {CANARY}\n", encoding="utf-8")
    return path


def test_a_well_meant_query_runs(tmp_path: Path) -> None:
    database(tmp_path, good_table())
    done = shell.call("run", study(tmp_path, "select died, p from visits where p < 0.85"), "-o", tmp_path / "run")
    assert done.code == 0, done.err


READERS = (
    "select 1 as died, length(content) / 1000.0 as p from read_text('{canary}')",
    "select 1 as died, size / 1000.0 as p from read_blob('{canary}')",
    "select * from read_csv('{canary}', ignore_errors = true)",
    "select * from '{canary}'",
    "select 1 as died, length(file) / 1000.0 as p from glob('{folder}/*')",
    "select * from query('select * from read_text(''{canary}'')')",
)


@pytest.mark.parametrize("reading", READERS)
@pytest.mark.parametrize("through", ["query", "view", "macro"])
def test_no_other_file_is_read(tmp_path: Path, canary: Path, reading: str, through: str) -> None:
    asked = reading.format(canary=canary, folder=tmp_path)
    if through == "view":
        database(tmp_path, f"create view visits as {asked}")
    elif through == "macro":
        database(tmp_path, good_table(), f"create macro peek() as table {asked}")
    else:
        database(tmp_path, good_table())
    query = {"view": "", "macro": "select * from peek()", "query": asked}[through]
    message = one_message(shell.call("run", study(tmp_path, query), "-o", tmp_path / "run"))
    assert "the query cannot be run" in message


@pytest.mark.parametrize(
    "query",
    [
        "copy visits to '{folder}/out.csv'",
        "copy (select 1) to '{folder}/out.csv'; select died, p from visits",
        "select died, p from visits; copy visits to '{folder}/out.csv'",
        "attach '{folder}/out.csv' as other",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true; select died, p from visits",
        "pragma database_list",
        "call pragma_version()",
        "export database '{folder}/out.csv'",
        "delete from visits",
        "explain analyze select died, p from visits",
        "-- nothing",
        "; ;",
    ],
)
def test_one_select_and_nothing_else(tmp_path: Path, query: str) -> None:
    path = database(tmp_path, good_table())
    before = path.read_bytes()
    message = one_message(shell.call("run", study(tmp_path, query.format(folder=tmp_path)), "-o", tmp_path / "run"))
    assert "must be one SELECT statement" in message
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "run") == ["hospital.duckdb", "study.yaml"]


FOREVER = "with recursive again(died) as (select 1 union all select died from again) select count(*) as died from again"


@pytest.mark.parametrize("through", ["query", "view"])
def test_a_query_without_end_is_stopped(tmp_path: Path, through: str) -> None:
    database(tmp_path, good_table() if through == "query" else f"create view visits as {FOREVER}")
    file = study(tmp_path, FOREVER if through == "query" else "", query_seconds=1)
    started = time.monotonic()
    message = one_message(shell.spawn("run", file, "-o", tmp_path / "run"))
    assert "ran for 1 seconds" in message and "corpus.query_seconds" in message
    assert time.monotonic() - started < 30


def test_a_billion_rows_are_stopped_at_the_limit(tmp_path: Path) -> None:
    database(tmp_path, good_table())
    file = study(tmp_path, "select 1 as died, 0.5 as p from range(10000000000)", largest_unpacked=50_000_000)
    message = one_message(shell.spawn("run", file, "-o", tmp_path / "run"))
    assert "at most 50,000,000 bytes" in message and "corpus.largest_unpacked" in message


def test_a_sort_that_needs_more_memory_than_allowed_spills_nothing(tmp_path: Path) -> None:
    database(tmp_path, good_table())
    query = "select random() as p, 1 as died, random() as z, random() as y from range(2000000000) order by p, z, y"
    message = one_message(
        shell.spawn("run", study(tmp_path, query, largest_unpacked=1_000_000), "-o", tmp_path / "run")
    )
    assert "more memory than it may take" in message
    assert not any(found.name.endswith(".tmp") for found in tmp_path.rglob("*"))


LONG = {
    "one constant": "repeat('A', 1000000000)",
    "one for each row": "repeat('A', (100000000 + p * 1000)::int)",
    "in lists": "list_value(repeat('A', (100000000 + p * 1000)::int))",
}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the limit on a process is Linux's")
@pytest.mark.parametrize("through", ["query", "view"])
@pytest.mark.parametrize("long", LONG.values(), ids=LONG)
def test_values_of_gigabytes_take_no_gigabytes(tmp_path: Path, long: str, through: str) -> None:
    asked = f"select died, p, {long} as x from "
    database(tmp_path, good_table(60).replace("visits", "base"), f"create view visits as {asked} base")
    file = study(
        tmp_path, asked + "base" if through == "query" else "select * from visits", largest_unpacked=200_000_000
    )
    code = (
        "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:]); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(done.returncode)"
    )
    words = [sys.executable, "-c", code, *shell.COMMAND, "run", str(file), "-o", str(tmp_path / "run")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    message = one_message(shell.Done(done.returncode, done.stdout, done.stderr))
    assert "more memory than it may take" in message and "corpus.largest_unpacked" in message
    assert int(done.stdout.split()[-1]) * 1024 < 2 * 256 * 2**20 + 512 * 2**20 + 700 * 2**20  # and what Python takes


def test_a_query_within_its_limits_leaves_those_of_the_process_alone(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    from workup.corpora.formats.tables.columnar import read_duckdb

    before = resource.getrlimit(resource.RLIMIT_DATA)
    assert len(read_duckdb(database(tmp_path, good_table()))["died"]) == 240
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_no_variable_of_the_program_is_a_table(tmp_path: Path) -> None:
    database(tmp_path, good_table())
    for name in ("path", "query", "table", "batches"):
        message = one_message(shell.call("run", study(tmp_path, f"select * from {name}"), "-o", tmp_path / "run"))
        assert "the query cannot be run" in message


@pytest.mark.parametrize("kind", ["link", "text", "empty", "fifo"])
def test_what_is_no_database_is_told_in_one_message(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "hospital.duckdb"
    if kind == "link":
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        path.symlink_to(database(elsewhere, good_table()))
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.write_bytes(b"" if kind == "empty" else f"{CANARY}\n".encode() * 1000)
    message = one_message(shell.spawn("run", study(tmp_path, "select died, p from visits"), "-o", tmp_path / "run"))
    assert ("a file with a table" if kind == "fifo" else "a DuckDB database") + " was expected" in message


@pytest.mark.parametrize("words", [(), ("--engine", "serial")])
def test_a_dry_run_runs_no_query(tmp_path: Path, words: Sequence[str]) -> None:
    """A query that would take for ever, whose columns are known at once."""
    database(tmp_path, good_table())
    query = "select max(range) as p, 1 as died from range(100000000000000)"
    started = time.monotonic()
    done = shell.spawn("run", study(tmp_path, query), "--dry-run", *words, "-o", tmp_path / "run")
    assert done.code == 0, done.err
    assert "not read" in done.out and "columns p, died" in done.out
    assert time.monotonic() - started < 30
    assert not (tmp_path / "run").exists()


def test_a_dry_run_refuses_what_a_run_would_refuse(tmp_path: Path, canary: Path) -> None:
    database(tmp_path, good_table())
    for query in (f"select * from read_text('{canary}')", "drop table visits", "select * from absent"):
        one_message(shell.call("run", study(tmp_path, query), "--dry-run", "-o", tmp_path / "run"))
