"""A program that reads JSON lines on its stdin and answers by JSON lines on its stdout. Knows no task. No shell.

It gets a small environment: where programs and the home are, the language, and what the study names beside. Secrets of
whoever runs the study are not for the system under test.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

from workup.errors import InputError, SystemFailure, visible_lines
from workup.files.jsonlines import parse
from workup.files.received import open_named

_SEE_ABOVE = "see its messages above"
_LONGEST_MESSAGE = 2**16  # bytes of a line of stderr that are shown at once
_PASSED = frozenset({"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP"})
_PASSED_ON_WINDOWS = frozenset({"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE"})

Answer = TypeVar("Answer")


class Unanswered(SystemFailure):
    """A program that was started and gave no good answer; `code` says how, for those that can go on without."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Exchange(Generic[Answer]):
    """What goes out, one line each, and how what comes back is read.

    `read(value, due)` gives the answer to line `due` (from 1) and what is wrong with it; `longest(due)` says how many
    bytes that answer may have. `noun` is what a line asks about, and `example` an answer in the right form.
    """

    lines: Sequence[bytes]
    read: Callable[[Any, int], tuple[Answer, str]]
    longest: Callable[[int], int]
    noun: str
    example: str


class Program:
    """Started once for each exchange, in the folder `base`; what it writes to stderr is shown as it comes.

    `env` names variables that it gets beside the few that every program needs; their values are read when it starts.
    """

    def __init__(
        self, *, name: str, base: Path, run: list[str], timeout: float, env: Sequence[str] | None = None
    ) -> None:
        where = f"system '{name}'"
        if isinstance(run, str) or not run or not all(isinstance(word, str) and word for word in run):
            raise InputError(
                "'run' must be a list of words, the program first",
                where=where,
                got="a text" if isinstance(run, str) else "an empty list or an entry that is not a text",
                remedy="write it as run: [python, score.py]; no shell reads it, so quotes and pipes have no meaning",
            )
        if not timeout > 0:
            raise InputError("'timeout' must be more than 0 seconds", where=where, got=str(timeout))
        self.name, self.base, self.words, self.timeout, self.env = name, base, list(run), timeout, tuple(env or ())

    @property
    def fingerprint(self) -> str:
        """sha256 of the words of the command and of the content of each that is a file."""
        whole = hashlib.sha256()
        for word in self.words:
            whole.update(f"{len(word)}:{word}".encode())
            file = self.base / word
            with contextlib.suppress(OSError, ValueError), open_named(file) as content:
                whole.update(hashlib.file_digest(content, "sha256").digest())
        return whole.hexdigest()

    def ask(self, exchange: Exchange[Answer]) -> list[Answer]:
        """One answer for each line, in order; with no lines the program is not started."""
        if not exchange.lines:
            return []
        started = time.monotonic()
        process = self._start()
        answers = _Answers(process, exchange)
        sender = threading.Thread(target=_feed, args=(process.stdin, exchange.lines), daemon=True)
        reader = threading.Thread(target=answers.read, daemon=True)
        listener = threading.Thread(target=_show, args=(process.stderr,), daemon=True)
        try:
            # Two threads, so that a program that answers as it reads cannot block against a full pipe.
            listener.start()
            sender.start()
            reader.start()
            reader.join(self.timeout)
            if reader.is_alive():
                raise self._too_slow(answers)
            if answers.problem:
                raise Unanswered(
                    f"system '{self.name}', answer line {answers.line}: {answers.problem}.", code="bad_answer"
                )
            try:
                code = process.wait(max(0.05, self.timeout - (time.monotonic() - started)))
            except subprocess.TimeoutExpired:
                raise self._too_slow(answers) from None
            self._judge(code, answers)
            return answers.kept
        finally:
            _end(process)
            for thread in (sender, reader, listener):
                if thread.ident is not None:  # Ctrl-C may come before it was started, and must stay a Ctrl-C
                    thread.join(1.0)
            if not reader.is_alive() and process.stdout is not None:  # closing under a blocked reader would block too
                process.stdout.close()

    def _start(self) -> subprocess.Popen[bytes]:
        program = self.words[0]
        where = f"system '{self.name}'"
        if not self.base.is_dir():
            raise SystemFailure(f"{where}: the folder to run in, '{self.base}', does not exist.")
        try:
            return subprocess.Popen(
                self.words,
                cwd=self.base,
                env=environment(self.env, where=where),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # a group of its own, so that a timeout ends its children too
            )
        except FileNotFoundError:
            raise SystemFailure(
                f"{where}: the program '{program}' was not found. To fix: give a path that starts from the folder of "
                "the study, such as ./score, or install it; a script's #! line must name an interpreter that exists."
            ) from None
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.ENOEXEC):
                raise SystemFailure(f"{where}: the program '{program}' did not start ({error.strerror}).") from None
            raise SystemFailure(
                f"{where}: the program '{program}' cannot be executed. To fix: make it executable (chmod +x), begin it "
                "with a #! line, or name its interpreter first, as in run: [python, score.py]."
            ) from None

    def _too_slow(self, answers: _Answers[Any]) -> Unanswered:
        return Unanswered(
            f"system '{self.name}': not finished after {self.timeout:g} s, with {len(answers.kept)} of "
            f"{answers.expected} {answers.noun}s answered; it was stopped. To fix: raise 'timeout', lower 'batch', or "
            "check that the program ends when its input ends.",
            code="timeout",
        )

    def _judge(self, code: int, answers: _Answers[Any]) -> None:
        """A program that ended must have answered every line and have said that all is well."""
        if len(answers.kept) < answers.expected:
            torn = f" (line {answers.line} is cut off)" if answers.torn else ""
            raise Unanswered(
                f"system '{self.name}': the program ended with {_said(code)} after {len(answers.kept)} of "
                f"{answers.expected} answers{torn}, so line {len(answers.kept) + 1} is missing; {_SEE_ABOVE}.",
                code="crashed",
            )
        if code != 0:
            raise Unanswered(
                f"system '{self.name}': the program answered every {answers.noun} but ended with {_said(code)}, so its "
                f"answers are not trusted; {_SEE_ABOVE}.",
                code="crashed",
            )


def environment(named: Sequence[str], *, where: str) -> dict[str, str]:
    """What a program under test is told of the environment; made for one start and to be kept nowhere."""
    usual = _PASSED | (_PASSED_ON_WINDOWS if os.name == "nt" else frozenset())
    passed = {name: value for name, value in os.environ.items() if name in usual or name.startswith("LC_")}
    for name in named:
        if name not in os.environ:
            raise InputError(
                f"the environment variable {name} must be set, since 'env' names it",
                where=where,
                got="nothing",
                remedy=f"set {name} where Workup runs, or take it out of 'env'",
            )
        passed[name] = os.environ[name]
    return passed


class _Answers(Generic[Answer]):
    """Reads answers as they come and stops at the first that is out of form."""

    def __init__(self, process: subprocess.Popen[bytes], exchange: Exchange[Answer]) -> None:
        self._stdout, self._exchange = process.stdout, exchange
        self.expected, self.noun = len(exchange.lines), exchange.noun
        self.kept: list[Answer] = []
        self.line = 0
        self.problem = ""
        self.torn = False

    def read(self) -> None:
        """Until the end of the output or the first problem."""
        assert self._stdout is not None
        while text := self._stdout.readline(longest := self._exchange.longest(min(self.line + 1, self.expected))):
            self.line += 1
            problem = self._take(text)
            if problem:
                # Half a line before the end of the output is an early exit, whose code says more than the half line.
                self.torn = not text.endswith(b"\n") and len(text) < longest
                self.problem = "" if self.torn else problem
                return

    def _take(self, text: bytes) -> str:
        """Keep one answer, or say what is wrong with it; never what it holds."""
        if self.line > self.expected:
            return f"there must be one answer for each of the {self.expected} {self.noun}s sent; got more"
        try:
            value = parse(text)
        except (ValueError, RecursionError):
            return f"must be JSON such as {self._exchange.example}, each key once; messages belong on stderr"
        answer, problem = self._exchange.read(value, self.line)
        if not problem:
            self.kept.append(answer)
        return problem


def _said(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def _feed(stdin: IO[bytes] | None, lines: Sequence[bytes]) -> None:
    """Send the lines; a program that stops reading is judged by its answers and its exit code."""
    assert stdin is not None
    with contextlib.suppress(OSError, ValueError), stdin:
        stdin.writelines(lines)


def _show(said: IO[bytes] | None) -> None:
    """What a program writes to stderr, as it comes; characters that would steer a terminal as their numbers."""
    assert said is not None
    with contextlib.suppress(OSError, ValueError), said:
        while line := said.readline(_LONGEST_MESSAGE):
            text = line.decode("utf-8", "backslashreplace")
            sys.stderr.write(visible_lines(f"{text[:-2]}\n" if text.endswith("\r\n") else text))
            sys.stderr.flush()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop the program with every child in its group, unless it has ended by itself."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
