"""Where a command is to write, looked at before anything is made: a typo in one path must not leave half an answer."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from workup.errors import InputError
from workup.files.disk import refuse_special
from workup.files.received import is_folder


def check_folder(out: Path | None) -> None:
    """Refuse a folder to write to that is a link, which could lead anywhere, or no folder at all."""
    if out is not None and os.path.lexists(out) and not is_folder(out):
        raise InputError(
            "the output must be a folder",
            where=str(out),
            got="a link, which is not followed" if out.is_symlink() else "a file",
            remedy="name the folder itself",
        )


def check_target(target: str | None, *, out: Path | None = None) -> None:
    """Refuse a file that could not be written; None and "-" are no files, and `out` is a folder yet to be made."""
    check_folder(out)
    if target in (None, "-"):
        return
    assert target is not None
    path = Path(target)
    folder = path.parent
    if out is not None and folder.resolve() == out.resolve():
        return
    wrong = ""
    try:
        refuse_special(path)
    except OSError as error:
        wrong = error.strerror or type(error).__name__
    if not wrong and not folder.is_dir():
        wrong = "no such folder"
    if not wrong and not os.access(folder, os.W_OK):
        wrong = "a folder that may not be written to"
    if wrong:
        raise InputError("the output must be a place that can be written", where=target, got=wrong)


@contextlib.contextmanager
def said(path: Path, *, expected: str = "a place that can be written was expected", remedy: str = "") -> Iterator[None]:
    """What the file system refuses, in words."""
    try:
        yield
    except OSError as error:
        got = error.strerror or type(error).__name__
        raise InputError(expected, where=str(path), got=got, remedy=remedy) from None
