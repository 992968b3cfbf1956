"""Where a command is to write, looked at before anything is made: a slip in one path must not leave half an answer."""

from __future__ import annotations

import os
from pathlib import Path

from workup.errors import InputError


def check_target(target: str | None, *, out: Path | None = None) -> None:
    """Refuse a file that could not be written; None and "-" are no files, and `out` is a folder yet to be made."""
    if target in (None, "-"):
        return
    assert target is not None
    path = Path(target)
    folder = path.parent
    if out is not None and folder.resolve() == out.resolve():
        return
    wrong = (
        "a folder"
        if path.is_dir()
        else "no such folder"
        if not folder.is_dir()
        else ""
        if os.access(folder, os.W_OK)
        else "a folder that may not be written to"
    )
    if wrong:
        raise InputError("the output must be a place that can be written", where=target, got=wrong)
