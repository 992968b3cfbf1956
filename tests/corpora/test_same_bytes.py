"""The same seed gives the same bytes: on another day, in another time zone and locale, at any number of workers."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.pinned_notes import PINNED
from tests.support.places import ROOT
from tests.support.shell import call, spawn
from workup.values import versions

# Read by every Python that has this folder on its path, workers too: a clock that is off by as many days as asked.
CLOCK = """
import datetime, os, time

SECONDS = 86400 * int(os.environ["DAYS_OFF"])
now, now_ns = time.time, time.time_ns
time.time = lambda: now() + SECONDS
time.time_ns = lambda: now_ns() + SECONDS * 10**9
moment = datetime.datetime  # datetime.date asks time.time by itself


class Moment(moment):
    @classmethod
    def now(cls, tz=None):
        return moment.now(tz) + datetime.timedelta(seconds=SECONDS)

    today = utcnow = now


datetime.datetime = Moment
"""
WORLDS = {
    "one worker, 2003, Samoa, a locale of plain ASCII": (1, -8000, {
        "TZ": "Pacific/Apia", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONHASHSEED": "1",
    }),
    "four workers, 2070, Alaska, another locale": (4, 16_000, {
        "TZ": "America/Adak", "LC_ALL": "tr_TR.UTF-8", "LANG": "de_DE.UTF-8", "PYTHONHASHSEED": "271828",
    }),
}  # fmt: skip


def digests(folder: Path) -> dict[str, str]:
    """The sha256 of every file below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """The corpus of 1,000 notes of seed 42, made in each of the worlds."""
    clock = tmp_path_factory.mktemp("clock")
    (clock / "sitecustomize.py").write_text(CLOCK)
    found = {}
    for name, (workers, days, environment) in WORLDS.items():
        out = tmp_path_factory.mktemp("made") / "corpus"
        words = ("--kind", "notes", "--count", "1000", "--seed", "42", "--workers", str(workers), "-o", out)
        done = spawn("corpus", "generate", *words, PYTHONPATH=str(clock), DAYS_OFF=str(days), **environment)
        assert done.code == 0, done.err
        found[name] = digests(out)
    return found


def test_a_corpus_is_the_same_in_every_world(worlds: dict[str, dict[str, str]]) -> None:
    one, other = worlds.values()
    assert one["corpus.jsonl"] == other["corpus.jsonl"] == PINNED
    assert one == other and len(one) == 1001


def test_the_clocks_of_these_worlds_were_really_off(tmp_path: Path) -> None:
    """What a clock decides does differ: else the test above would show nothing."""
    (tmp_path / "sitecustomize.py").write_text(CLOCK)
    said = []
    for days in ("-8000", "16000"):
        asked = [sys.executable, "-c", "import datetime as d; print(d.date.today().year, d.datetime.now().year)"]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "DAYS_OFF": days}
        said.append(subprocess.run(asked, env=environment, capture_output=True, text=True, check=True).stdout.split())
    assert all(int(after) - int(before) in (65, 66) for before, after in zip(*said, strict=True))


def test_another_seed_gives_other_text(tmp_path: Path) -> None:
    made = []
    for seed in ("42", "43"):
        out = tmp_path / f"{seed}.jsonl"
        words = ("--kind", "notes", "--count", "20", "--seed", seed, "-o", out)
        assert call("corpus", "generate", *words).code == 0
        made.append([json.loads(line)["text"] for line in out.read_text(encoding="utf-8").splitlines()])
    assert not set(made[0]) & set(made[1])


def test_what_values_were_drawn_from_is_recorded_in_every_truth(tmp_path: Path) -> None:
    assert call("corpus", "generate", "--kind", "notes", "--count", "3", "--seed", "1", "-o", tmp_path / "c").code == 0
    for path in (tmp_path / "c" / "truth").iterdir():
        libraries = json.loads(path.read_text(encoding="utf-8"))["injectionConfig"]["libraries"]
        assert {**libraries, **versions()} == libraries
        assert {"workup", "notes", "values"} <= set(libraries)
        assert all("sha256" in libraries[name] for name in libraries if name.endswith((".tsv", ".txt")))


FORBIDDEN = {"time", "random", "locale", "uuid", "secrets", "socket", "getpass", "platform"}
CLOCKS = {"now", "today", "utcnow", "environ", "getenv", "urandom"}


def test_no_module_that_makes_corpora_can_read_a_clock_a_locale_or_the_environment() -> None:
    rooms = ("corpora", "documents", "text", "values")
    for path in sorted(path for room in rooms for path in (ROOT / "src/workup" / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not FORBIDDEN & {name.split(".")[0] for name in names}, path.name
            assert not (isinstance(node, ast.Attribute) and node.attr in CLOCKS), path.name
