"""One call of `workup` in a process of its own, forked from one that has everything imported, and watched from outside.

Knows how a process can end, and nothing of what was put in. Linux alone: it forks and reads /proc.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import os
import re
import resource
import select
import signal
import sys
import time
import traceback
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sims.mutated_damage import SECRET

SECONDS = 60.0
BYTES = 2_000_000_000  # of memory that is in use at a time, beside what the parent held when it was forked
_LARGEST_FILE = 200_000_000  # bytes that a call may write into one file
_RAISED, _NOT_MADE = 97, 98  # exit codes that Workup does not have
_FAULT = 70
MODULES = "modules"
_PAGE, _TICKS = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\u2028\u2029]")
_READ_BY_OTHERS = ("report.json", "report.txt", "report.md", "timings.json", "details.jsonl", "run.log", "split.json")


@dataclass(frozen=True)
class Ended:
    """How a call ended: a word for the tally, and what to say of it."""

    outcome: str  # accepted, verdict, refused; or why it escaped
    said: str
    seconds: float
    memory: int

    @property
    def escaped(self) -> bool:
        """Whether it ended in a way that no input may cause."""
        return self.outcome not in ("accepted", "verdict", "refused")


def call(folder: Path, words: Sequence[str], *, prepare: Callable[[], None], judges: bool, prints_text: bool) -> Ended:
    """`workup` with these words in that folder, after `prepare`, each in a process of its own.

    What `prepare` needs to make a file of sixty million lines is not the command's memory, nor its time.
    Beside the folder it leaves what was said, and the names of the modules that were needed.
    """
    out, err = folder.parent / "stdout", folder.parent / "stderr"
    sys.stdout.flush()
    sys.stderr.flush()
    _prepare(prepare)
    brought = _held(os.getpid())  # a fork counts what it shares with its parent as its own
    pid = os.fork()
    if pid == 0:
        _child(folder, words, out, err)
    started = time.monotonic()
    stopped, memory = _watch(pid, started, brought)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)  # what it started and left behind, while its number is still its own
    _, status, usage = os.wait4(pid, 0)
    memory = max(memory, usage.ru_maxrss * 1024 - brought)
    seconds = time.monotonic() - started
    outcome, said = _judged(status, stopped, memory, folder, out, err, judges=judges, prints_text=prints_text)
    return Ended(outcome, said, seconds, memory)


def _prepare(prepare: Callable[[], None]) -> None:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            prepare()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
        raise RuntimeError("the input could not be made")


def _child(folder: Path, words: Sequence[str], out: Path, err: Path) -> None:
    """Never returns: whatever happens, the process ends here."""
    code: Any = _NOT_MADE
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
        for number, path, way in ((0, "/dev/null", os.O_RDONLY), (1, out, _FRESH), (2, err, _FRESH)):
            os.dup2(os.open(path, way, 0o600), number)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        os.chdir(folder)
        code = _called(words)
        (folder.parent / MODULES).write_text("\n".join(sys.modules))
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


_FRESH = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


def _called(words: Sequence[str]) -> int:
    from workup.cli import main

    sys.argv = ["workup", *words]
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0) & 0xFF if not isinstance(ended.code, str) else _RAISED
    except BaseException:
        traceback.print_exc()
        return _RAISED
    return 0


def _watch(pid: int, started: float, brought: int) -> tuple[str, int]:
    """Wait for the end, or bring it about where time or memory ran out."""
    memory = 0
    handle = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    try:
        for looked in itertools.count():
            if poll.poll(40):
                break
            memory = max(memory, (_held(pid) if looked % 10 else sum(map(_held, _group(pid)))) - brought)
            stopped = "hung" if _hangs(pid, time.monotonic() - started) else "over memory" if memory > BYTES else ""
            if stopped:
                os.killpg(pid, signal.SIGKILL)
                return stopped, memory
    except ProcessLookupError:
        pass
    finally:
        os.close(handle)
    return "", memory


def _held(pid: int) -> int:
    """Bytes of memory that a process has in use; none where it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


def _group(pid: int) -> Iterator[int]:
    """A process and those that it started."""
    for one in os.listdir("/proc"):
        if one.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                if int(Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[2]) == pid:
                    yield int(one)


def _hangs(pid: int, seconds: float) -> bool:
    """Whether a process had its time. One that is ready to go on while others hold the processor gets what it lacks."""
    if seconds <= SECONDS:
        return False
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False  # it just ended
    worked = (int(fields[11]) + int(fields[12])) / _TICKS
    return fields[0] != "R" or worked > SECONDS or seconds > 10 * SECONDS


def _judged(
    status: int, stopped: str, memory: int, folder: Path, out: Path, err: Path, *, judges: bool, prints_text: bool
) -> tuple[str, str]:
    shown, told = _text(out), _text(err)
    last = _place(told)
    if stopped or memory > BYTES:
        return stopped or "over memory", last
    if os.WIFSIGNALED(status):
        return "killed", f"signal {signal.Signals(os.WTERMSIG(status)).name}: {last}"
    code = os.WEXITSTATUS(status)
    if code == _NOT_MADE:
        return "not made", told[-2000:]
    if code == _RAISED or "Traceback (most recent call last)" in told + shown:
        return "traceback", last
    if code == _FAULT:
        return "fault", last
    if code not in (0, 1, 2, 3) or (code in (1, 3) and not judges):
        return "exit code", f"{code}: {last}"
    if leaks := [name for name, text in _outputs(folder, shown, told) if SECRET in text]:
        return "secret", f"in {leaks[0]}: {_around(shown + told)}"
    if code == 2 and not told.strip():
        return "silent", "refused without a word"
    if found := _STEERING.search(told + (shown if prints_text else "")):
        return "steers", f"{unicodedata.name(found[0], repr(found[0]))}: {_around(told + shown, found[0])}"
    if code == 2:
        return "refused", told.strip()
    return ("verdict" if code else "accepted"), (told or shown).strip()[:2000]


def _outputs(folder: Path, shown: str, told: str) -> list[tuple[str, str]]:
    found = [("stdout", shown), ("stderr", told)]
    for path in sorted(folder.rglob("*")):
        if path.name in _READ_BY_OTHERS and path.is_file() and path.parent.name in ("out", folder.name):
            found.append((path.name, _text(path)))
    return found


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""


def _around(text: str, what: str = SECRET) -> str:
    at = text.find(what)
    return repr(text[max(0, at - 100) : at + 60])


def _place(told: str) -> str:
    """The last lines of a traceback: what was raised, and where in Workup."""
    lines = told.strip().splitlines()
    own = [line.strip() for line in lines if re.search(r'File ".*/(workup|sims)/', line)]
    where = re.sub(r'File ".*/((?:workup|sims)/[^"]*)", line (\d+), in (.*)', r"\1:\2 \3", own[-1]) if own else ""
    return f"{lines[-1][:300] if lines else 'nothing was said'} @ {where}"


# ---- what is forked --------------------------------------------------------------------------------------------------


def import_all(names: Sequence[str]) -> None:
    """Import modules by name, so that those that are forked from here need not."""
    for name in names:
        if name not in sys.modules and name != "model":  # that of a scenario, which lies in its folder
            with contextlib.suppress(Exception):
                importlib.import_module(name)
