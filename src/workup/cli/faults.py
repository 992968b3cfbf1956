"""What no command foresaw, told in one line without a word of the data: kind and place, never the message.

The exit code is 70. Exit code 1 belongs to verdicts alone: a program that broke must not look like a gate that failed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

from workup.errors import SystemFailure, WorkupError, in_our_words, raised, visible

EXIT_CODE = 70  # EX_SOFTWARE of sysexits.h
_HOME = Path(__file__).resolve().parents[1]
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)


class Unforeseen(Exception):
    """An exception of any kind on its way out of a command, so that nothing on the way gives it another meaning."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


def raised_here(error: BaseException) -> bool:
    """Whether it was raised by a line of Workup, and not by a plug-in that it called."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and _ours(frames[-1].filename)


def told(error: BaseException, *, debug: bool) -> str:
    """The line for the person at the terminal, and with --debug the file that the traceback is in."""
    kind = visible(type(error).__name__)[:60]
    if isinstance(error, OSError) and error.errno in _DISK:
        said = f"the disk could not be used: {os.strerror(error.errno or 0)} ({_place(error)}). To fix: make room, or "
        said += "choose a place that can be written."
    else:
        said = (
            f"an error that nobody foresaw: {kind} ({_place(error)}). Its message may hold values of patients and is "
        )
        said += "not shown. To fix: please report this line"
        said += "." if debug else "; --debug writes the traceback to a file for your eyes only."
    return f"workup: {said}\n" + (kept_traceback(error) if debug else "")


def words_of(error: WorkupError) -> str:
    """The message of an error of our kind, unless code of others raised it: then its kind and place."""
    if in_our_words(error):
        return str(error)
    return (
        f"a plug-in raised {raised(error)}. Its message may hold patient values and is not repeated. To fix: call it "
        "by itself, or see all with --debug."
    )


def of_thread(error: BaseException) -> Exception:
    """What ended a thread, for the command to end with: a thread of a plug-in is the plug-in's own fault."""
    if in_our_words(error) or raised_here(error):
        return Unforeseen(error)
    failure = SystemFailure(
        f"a thread of a plug-in ended in an error ({raised(error)}), and a result that rests on its work is none. Its "
        "message may hold patient values and is not repeated. To fix: call it by itself, or see all with --debug."
    )
    failure.__cause__ = error
    return failure


def code_of(error: BaseException) -> int:
    """2 where the machine refused, 70 where the program is at fault."""
    return 2 if isinstance(error, OSError) and error.errno in _DISK else EXIT_CODE


def kept_traceback(error: BaseException) -> str:
    """Write the whole traceback to a file that its owner alone can read, and say where it is."""
    text = "".join(traceback.format_exception(error))
    for folder in (_state(), None):
        try:
            descriptor, name = tempfile.mkstemp(prefix="traceback-", suffix=".txt", dir=folder)  # 0600, and new
            with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError:
            continue
        return f"Traceback: {visible(name)}  (it may hold values of patients: read it before you send it)\n"
    return "The traceback could not be written: neither the state folder nor the temporary one can be used.\n"


def _state() -> Path | None:
    from workup.files.disk import make_folder
    from workup.runs.state import state_folder

    with contextlib.suppress(OSError, RuntimeError):
        folder = state_folder() / "tracebacks"
        make_folder(folder)
        return folder
    return None


def _place(error: BaseException) -> str:
    """The last line of Workup that was reached, by file and number."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _ours(frame.filename)]
    if not frames:
        return "outside of Workup"
    return f"{Path(frames[-1].filename).resolve().relative_to(_HOME).as_posix()}:{frames[-1].lineno}"


def _ours(file: str) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return Path(file).resolve().is_relative_to(_HOME)
    return False


@contextlib.contextmanager
def watched_threads() -> Iterator[list[BaseException]]:
    """Gather what ends a thread, or is raised where nobody can catch it: Python would print it, message and all."""
    found: list[BaseException] = []

    def ended(thread: threading.ExceptHookArgs) -> None:
        if thread.exc_value is not None and not isinstance(thread.exc_value, SystemExit):  # a thread may end that way
            found.append(thread.exc_value)

    def unraisable(_: object) -> None:
        """An object could not be put away, or a handler at the end failed: nothing that was reported rests on it."""

    before = threading.excepthook, sys.unraisablehook
    threading.excepthook, sys.unraisablehook = ended, unraisable
    try:
        yield found
    finally:
        threading.excepthook, sys.unraisablehook = before
