"""Standard output and standard error that fail in one way: in words, once, and never as a traceback at the very end.

A reader that stops early (`workup gate RUN | head -1`) must not change a verdict, so what it did not read is dropped
and the command goes on to its own exit code. A full disk or a closed standard output is an error: what was asked for
got lost.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any

from workup.errors import InputError


class _Stream(io.RawIOBase):
    """A descriptor to write to. Once it failed it takes everything and keeps nothing."""

    def __init__(self, descriptor: int, *, must_arrive: bool, closed: bool = False) -> None:
        self._descriptor, self._must_arrive = descriptor, must_arrive
        self._lost = closed and not must_arrive
        self._closed = closed

    def write(self, content: Any) -> int:
        """Write what fits; the buffer above comes again with the rest."""
        if not self._lost:
            try:
                if self._closed:
                    raise OSError("closed")
                return os.write(self._descriptor, content)
            except BrokenPipeError:
                self._lost = True
            except OSError as error:
                self._lost = True
                if self._must_arrive:
                    raise InputError(
                        "standard output must be a place that can be written",
                        got=error.strerror or "a closed one",
                        remedy="make room, or write to a file with -o or --json",
                    ) from None
        return memoryview(content).nbytes

    def writable(self) -> bool:
        """Always."""
        return True

    def fileno(self) -> int:
        """The descriptor, for programs that ask whether it is a terminal."""
        return self._descriptor

    def isatty(self) -> bool:
        """Whether a person reads along."""
        return not self._closed and os.isatty(self._descriptor)


@contextlib.contextmanager
def guarded_streams() -> Iterator[None]:
    """Take the place of the process's own streams; streams that a test or a notebook put there are left as they are."""
    absent = _fill_descriptors()
    before = sys.stdin, sys.stdout, sys.stderr
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  (lives as long as the process)
    if sys.stdout is sys.__stdout__:
        sys.stdout = _text(sys.stdout, 1, must_arrive=True, closed=1 in absent)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _text(sys.stderr, 2, must_arrive=False, closed=2 in absent)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a character shows its number and not a traceback
            stream.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        sys.stdin, sys.stdout, sys.stderr = before


def _fill_descriptors() -> set[int]:
    """Put the empty device where a standard stream was closed: the next file opened would take its number."""
    absent = set()
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, which is this one
            absent.add(number)
    return absent


def _text(stream: Any, descriptor: int, *, must_arrive: bool, closed: bool) -> Any:
    if stream is not None:
        stream.flush()
    raw = _Stream(descriptor, must_arrive=must_arrive, closed=closed or stream is None)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(stream, "encoding", None) or "utf-8",
        errors="backslashreplace",
        line_buffering=raw.isatty() or not must_arrive,
        write_through=not must_arrive,
    )
