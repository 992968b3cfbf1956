"""A system under test that breaks in a way that can be foreseen is one message with exit code 2, without its words."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.support.shell import SECRET, Done, cohort, spawn, write

SYSTEMS = {
    "an error of our own kind": f"raise InputError('{SECRET}', where='{SECRET}', remedy='{SECRET}')",
    "a failure of our own kind": f"raise SystemFailure('{SECRET}')",
    "our own words through our own code": f"value_of(b'x', where='{SECRET}')",
    "a list of texts": f"return ['{SECRET}'] * len(next(iter(table.values())))",
    "a list of lists": "return [[0.1], [0.2, 0.3]] * 30",
    "one text": f"return '{SECRET}'",
    "nothing": "return None",
    "a number": "return 0.5",
    "an answer that breaks when it is read": f"return (int('{SECRET}') for _ in range(60))",
    "objects that break": "return [Odd() for _ in range(60)]",
    "an exit": "raise SystemExit(1)",
    "an exit without a fault": "sys.exit(0)",
    "the end of a generator": f"raise GeneratorExit('{SECRET}')",
    "of its own kind": f"raise type('{SECRET}', (BaseException,), {{}})('{SECRET}')",
}
MODULE = """
import sys, threading
from workup.errors import InputError, SystemFailure
from workup.files.jsonlines import value_of

class Odd:
    def __float__(self):
        raise RuntimeError("{secret}")

class Thing:
    name, version = "m", "1"
    {members}
    def predict(self, table):
        {body}
"""
BROKEN = f"raise RuntimeError('{SECRET}')"
MEMBERS = {
    member: f"@property\n    def {member}(self): {BROKEN}"
    for member in ("name", "version", "notes", "batch", "predict_proba", "timings", "versioned")
}
MEMBERS["constructor"] = f"def __init__(self): raise InputError('{SECRET}')"
MEMBERS["constructor that exits"] = "def __init__(self): raise SystemExit(0)"


def run(
    folder: Path, *, body: str = "return [0.5] * 60", members: str = "", before: str = "", engine: str = ""
) -> Done:
    write(folder / "cohort.csv", cohort(60))
    module = MODULE.format(secret=SECRET, members=members, body=body)
    (folder / "broken_thing.py").write_text(before + module, encoding="utf-8")
    content = {
        "name": "mine",
        "task": "risk",
        "corpus": {"path": "cohort.csv"},
        "columns": {"outcome": "died"},
        "systems": [{"name": "a", "use": "broken_thing:Thing"}],
        "bootstrap": {"replicates": 200},
        "lenses": {"internal": {}},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    return spawn("run", folder / "study.yaml", "-o", folder / "run", *(("--engine", engine) if engine else ()))


def one_message(done: Done) -> str:
    assert done.code == 2, done
    assert done.err.count("\n") == 1 and "Traceback" not in done.err, done.err
    assert SECRET.lower() not in (done.out + done.err).replace(f"{SECRET} at ", "").lower()
    return done.err


@pytest.mark.parametrize("body", SYSTEMS.values(), ids=SYSTEMS)
def test_what_a_system_does_at_work(body: str, tmp_path: Path) -> None:
    one_message(run(tmp_path, body=body))


def test_a_thread_of_a_system_that_breaks(tmp_path: Path) -> None:
    """Nobody waits for it, so that it is noticed when all is done: the run is then no success, whatever was written."""
    body = f"t = threading.Thread(target=lambda: int('{SECRET}')); t.start(); t.join(); return [0.5] * 60"
    done = run(tmp_path, body=body)
    assert done.code == 2 and "Traceback" not in done.err and SECRET not in done.out + done.err
    assert "a thread of a plug-in ended in an error (ValueError at broken_thing.py:" in done.err


def test_in_a_process_of_its_own(tmp_path: Path) -> None:
    for place, name in enumerate(("an error of our own kind", "an exit", "a list of texts")):
        (tmp_path / str(place)).mkdir()
        one_message(run(tmp_path / str(place), body=SYSTEMS[name], engine="processes"))


@pytest.mark.parametrize("members", MEMBERS.values(), ids=MEMBERS)
def test_what_a_system_does_when_it_is_looked_at(members: str, tmp_path: Path) -> None:
    done = run(tmp_path, members=members)
    if "predict_proba" in members:  # nobody needs it of a system that is named
        assert SECRET not in done.out + done.err
        return
    one_message(done)


@pytest.mark.parametrize("raised", ["raise SystemExit(0)", f"raise BaseException('{SECRET}')"])
def test_what_a_module_does_when_it_is_imported(raised: str, tmp_path: Path) -> None:
    one_message(run(tmp_path, before=f"{raised}\n"))


def test_a_task_in_our_own_kind_of_words(tmp_path: Path) -> None:
    """A task is called by everything; what it says of itself is no more shown than what a system says."""
    write(tmp_path / "cohort.csv", cohort(60))
    (tmp_path / "own_task.py").write_text(
        "from workup.errors import InputError\nfrom workup.tasks.risk.task import RiskTask\n"
        f"class Task(RiskTask):\n    def read(self, *given, **named):\n        raise InputError('{SECRET}')\n",
        encoding="utf-8",
    )
    content = {
        "name": "mine",
        "task": "own_task:Task",
        "corpus": {"path": "cohort.csv"},
        "columns": {"outcome": "died", "risk": "p"},
    }
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    message = one_message(spawn("run", tmp_path / "study.yaml", "-o", tmp_path / "run"))
    assert "InputError at own_task.py:5" in message


def test_a_detector_and_an_assistant(tmp_path: Path) -> None:
    note = tmp_path / "n.txt"
    note.write_text("Rose came.\n", encoding="utf-8")
    bodies = (
        f"raise InputError('{SECRET}')",
        f"return ['{SECRET}']",
        "return 5",
        "raise SystemExit(0)",
        "return [[5]]",
    )
    for place, body in enumerate(bodies):
        code = (
            "from workup.errors import InputError\nclass Thing:\n    name, version = 'x', '1'\n"
            f"    def detect(self, texts):\n        {body}\n"
        )
        (tmp_path / f"detector{place}.py").write_text(code, encoding="utf-8")
        for words in (("redact", note, "-o", tmp_path / "o"), ("detect", note, "-o", tmp_path / "o")):
            done = spawn(*words, "--system", f"detector{place}:Thing", PYTHONPATH=f"{tmp_path}:{_path()}")
            one_message(done)


def _path() -> str:
    import os

    return os.environ.get("PYTHONPATH", "")
