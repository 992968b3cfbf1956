"""Whatever a plug-in or a fault of our own raises ends in one line without its message, and never in exit code 1."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.shell import COMMAND, SECRET, Done, cohort, spawn, write

RAISED = {
    "exit 1": "raise SystemExit(1)",
    "exit 0": "sys.exit(0)",
    "exit with a text": f"sys.exit('{SECRET}')",
    "a typer exit": "import typer; raise typer.Exit(1)",
    "a typer abort": "import typer; raise typer.Abort()",
    "a usage error": f"import typer; raise typer.BadParameter('{SECRET}')",
    "end of file": f"raise EOFError('{SECRET}')",
    "a broken pipe": f"raise BrokenPipeError(32, '{SECRET}')",
    "out of memory": f"raise MemoryError('{SECRET}')",
    "recursion": "f = lambda: f(); f()",
    "unicode": f"'{SECRET}\\udc80'.encode()",
    "a key": f"{{}}['{SECRET}']",
    "a group": f"raise BaseExceptionGroup('{SECRET}', [SystemExit(1)])",
    "of its own kind": f"raise type('Own', (BaseException,), {{}})('{SECRET}')",
    "end of a generator": f"raise GeneratorExit('{SECRET}')",
}
# A task is the plug-in that nothing guards: what it raises goes all the way up.
TASK = """
import sys
from workup.tasks.risk.task import RiskTask

class Task(RiskTask):
    def read(self, *given, **named):
        {raised}
"""


def study(folder: Path, raised: str, *, where: str = "") -> Path:
    write(folder / "cohort.csv", cohort(60))
    (folder / "mine.py").write_text(where or TASK.format(raised=raised))
    content = {
        "name": "mine",
        "task": "mine:Task",
        "corpus": {"path": "cohort.csv"},
        "columns": {"outcome": "died", "risk": "p"},
        "bootstrap": {"replicates": 200},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    return folder / "study.yaml"


def one_line(done: Done, *codes: int) -> None:
    assert done.code in codes, done
    assert done.err.count("\n") == 1 and "Traceback" not in done.err, done.err
    assert SECRET not in done.out + done.err


@pytest.mark.parametrize("raised", RAISED.values(), ids=RAISED)
def test_what_a_plug_in_raises_is_one_line_and_never_a_verdict(raised: str, tmp_path: Path) -> None:
    done = spawn("run", study(tmp_path, raised), "-o", tmp_path / "run")
    one_line(done, 70)
    assert re.search(r"\w+ \([\w/]+\.py:\d+\)", done.err), "kind, and place in Workup"


def test_debug_names_a_private_file_with_the_traceback(tmp_path: Path) -> None:
    file = study(tmp_path, f"raise ValueError('{SECRET}')")
    done = spawn("run", file, "-o", tmp_path / "run", "--debug", XDG_STATE_HOME=str(tmp_path / "state"))
    assert done.code == 70 and SECRET not in done.out + done.err
    [place] = re.findall(r"Traceback: (\S+)", done.err)
    assert stat.S_IMODE(os.stat(place).st_mode) == 0o600
    assert "Traceback (most recent call last)" in Path(place).read_text() and SECRET in Path(place).read_text()
    unwritable = spawn(
        "run", file, "-o", tmp_path / "run", "--debug", XDG_STATE_HOME="/proc/none", TMPDIR=str(tmp_path)
    )
    assert unwritable.code == 70 and str(tmp_path) in unwritable.err


def test_an_error_of_ours_keeps_its_code_under_debug(tmp_path: Path) -> None:
    done = spawn("report", tmp_path / "nowhere", "--debug")
    assert done.code == 2
    assert "there is no report here" in done.err and "Traceback: " in done.err


@pytest.mark.parametrize("ends", ["raise ValueError('{0}')", "raise SystemExit(1)"])
def test_a_thread_that_breaks_prints_no_message(ends: str, tmp_path: Path) -> None:
    body = f"""
import threading
from workup.tasks.risk.task import RiskTask

def work():
    {ends.format(SECRET)}

class Task(RiskTask):
    def read(self, *given, **named):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return super().read(*given, **named)
"""
    done = spawn("run", study(tmp_path, "", where=body), "-o", tmp_path / "run")
    assert SECRET not in done.err and "Traceback" not in done.err
    assert done.code == (2 if "ValueError" in ends else 0)  # a plug-in's own thread is no fault of ours


def test_what_is_raised_while_an_object_is_put_away_is_not_printed(tmp_path: Path) -> None:
    body = f"""
from workup.tasks.risk.task import RiskTask

class Gone:
    def __del__(self):
        raise ValueError('{SECRET}')

class Task(RiskTask):
    def read(self, *given, **named):
        Gone()
        return super().read(*given, **named)
"""
    done = spawn("run", study(tmp_path, "", where=body), "-o", tmp_path / "run")
    assert done.code == 0 and SECRET not in done.err


def test_an_interrupt_is_130_wherever_it_comes(tmp_path: Path) -> None:
    file = study(tmp_path, "print('ready', flush=True); import time; time.sleep(60)")
    process = subprocess.Popen(
        [*COMMAND, "run", str(file), "-o", str(tmp_path / "run")], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and b"Traceback" not in said


def test_a_word_that_is_no_text_is_one_message(tmp_path: Path) -> None:
    done = subprocess.run(
        [*map(os.fsencode, COMMAND), b"report", b"\xff\xfe"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 2 and b"Traceback" not in done.stderr
