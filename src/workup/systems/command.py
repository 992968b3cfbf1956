"""A risk model behind any program: rows as JSON lines on its stdin, risks as JSON lines on its stdout. No shell."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import IO, ClassVar

from workup.errors import InputError, SystemFailure
from workup.systems.json_rows import parse, risk_in, rows_out
from workup.task import Table

_LONGEST_LINE = 1_000_000  # bytes; an answer is an id and a number, so a longer line is a program gone wrong
_SEE_ABOVE = "see its messages above"


class Command:
    """Runs the program once for each call of predict(), in the folder `base`, and reads one answer per row, in order.

    A row goes out as `{"id": "1", "age": 63.0, …}` (missing values null, times ISO) and comes back as
    `{"id": "1", "risk": 0.21}`, or with a null risk where the program refuses the row. What the program writes to
    stderr is shown as it comes. The version is a hash of the command and of the files it names; what those files load
    in turn is not seen.
    """

    recorded: ClassVar[bool] = False

    def __init__(
        self,
        *,
        name: str,
        base: Path,
        run: list[str],
        timeout: float = 600.0,
        batch: int = 1000,
        send: list[str] | None = None,
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
        if batch < 1:
            raise InputError("'batch' must be at least 1 row", where=where, got=str(batch))
        self.name, self.base, self.command = name, base, list(run)
        self.timeout, self.batch, self.send = timeout, batch, send
        self.version = f"{Path(run[0]).name} sha256:{_fingerprint(run, base)[:12]}"
        self.notes: tuple[str, ...] = ()

    def predict(self, table: Table) -> list[float | None]:
        """One risk per row, None where the program refuses it."""
        rows = [(json.dumps(row) + "\n").encode() for row in rows_out(table, send=self.send, system=self.name)]
        if not rows:
            return []
        started = time.monotonic()
        process = self._start()
        answers = _Answers(process, expected=len(rows))
        sender = threading.Thread(target=_feed, args=(process.stdin, rows), daemon=True)
        reader = threading.Thread(target=answers.read, daemon=True)
        try:
            # Two threads, so that a program that answers as it reads cannot block against a full pipe.
            sender.start()
            reader.start()
            reader.join(self.timeout)
            if reader.is_alive():
                raise self._too_slow(answers)
            if answers.problem:
                raise SystemFailure(f"system '{self.name}', answer line {answers.line}: {answers.problem}.")
            try:
                code = process.wait(max(0.05, self.timeout - (time.monotonic() - started)))
            except subprocess.TimeoutExpired:
                raise self._too_slow(answers) from None
            self._judge(code, answers)
            return answers.risks
        finally:
            _end(process)
            for thread in (sender, reader):
                if thread.ident is not None:  # Ctrl-C may come before it was started, and must stay a Ctrl-C
                    thread.join(1.0)
            if not reader.is_alive() and process.stdout is not None:  # closing under a blocked reader would block too
                process.stdout.close()

    def _start(self) -> subprocess.Popen[bytes]:
        program = self.command[0]
        where = f"system '{self.name}'"
        if not self.base.is_dir():
            raise SystemFailure(f"{where}: the folder to run in, '{self.base}', does not exist.")
        try:
            return subprocess.Popen(
                self.command,
                cwd=self.base,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
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

    def _too_slow(self, answers: _Answers) -> SystemFailure:
        return SystemFailure(
            f"system '{self.name}': not finished after {self.timeout:g} s, with {len(answers.risks)} of "
            f"{answers.expected} rows answered; it was stopped. To fix: raise 'timeout', lower 'batch', or check that "
            "the program ends when its input ends."
        )

    def _judge(self, code: int, answers: _Answers) -> None:
        """A program that ended must have answered every row and have said that all is well."""
        if len(answers.risks) < answers.expected:
            torn = f" (line {answers.line} is cut off)" if answers.torn else ""
            raise SystemFailure(
                f"system '{self.name}': the program ended with {_said(code)} after {len(answers.risks)} of "
                f"{answers.expected} answers{torn}, so line {len(answers.risks) + 1} is missing; {_SEE_ABOVE}."
            )
        if code != 0:
            raise SystemFailure(
                f"system '{self.name}': the program answered every row but ended with {_said(code)}, so its answers "
                f"are not trusted; {_SEE_ABOVE}."
            )


class _Answers:
    """Reads answers as they come and stops at the first that is out of form."""

    def __init__(self, process: subprocess.Popen[bytes], *, expected: int) -> None:
        self._stdout = process.stdout
        self.expected = expected
        self.risks: list[float | None] = []
        self.line = 0
        self.problem = ""
        self.torn = False

    def read(self) -> None:
        """Until the end of the output or the first problem."""
        assert self._stdout is not None
        while text := self._stdout.readline(_LONGEST_LINE):
            self.line += 1
            problem = self._take(text)
            if problem:
                # Half a line before the end of the output is an early exit, whose code says more than the half line.
                self.torn = not text.endswith(b"\n") and len(text) < _LONGEST_LINE
                self.problem = "" if self.torn else problem
                return

    def _take(self, text: bytes) -> str:
        """Keep one answer, or say what is wrong with it; never what it holds."""
        if self.line > self.expected:
            return f"there must be one answer for each of the {self.expected} rows sent; got more"
        try:
            answer = parse(text)
        except (ValueError, RecursionError):
            return 'must be JSON such as {"id": "1", "risk": 0.2}; messages belong on stderr'
        risk, problem = risk_in(answer, due=self.line, rows=self.expected)
        if not problem:
            self.risks.append(risk)
        return problem


def _said(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def _feed(stdin: IO[bytes] | None, rows: list[bytes]) -> None:
    """Send the rows; a program that stops reading is judged by its answers and its exit code."""
    assert stdin is not None
    with contextlib.suppress(OSError, ValueError), stdin:
        stdin.writelines(rows)


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


def _fingerprint(run: list[str], base: Path) -> str:
    """sha256 of the words of the command and of the content of each that is a file."""
    whole = hashlib.sha256()
    for word in run:
        whole.update(f"{len(word)}:{word}".encode())
        file = base / word
        with contextlib.suppress(OSError, ValueError), file.open("rb") as content:
            whole.update(hashlib.file_digest(content, "sha256").digest())
    return whole.hexdigest()
