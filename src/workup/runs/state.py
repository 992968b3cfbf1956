"""What Workup remembers between calls: small private files in this user's own state folder.

A note that is missing, damaged, another user's or writable by others counts as none, and one that cannot be kept is
let go: whoever asks must be able to do without."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from workup.files.disk import make_folder, replace_whole
from workup.files.received import content_of, is_file, json_of, open_regular
from workup.report import canonical

_LARGEST = 2**16  # bytes of a note


def state_folder() -> Path:
    """Where this user's programs keep what they remember between calls; Workup has a folder of its own in it."""
    if os.name == "nt" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / "workup"
    given = os.environ.get("XDG_STATE_HOME", "")
    return (Path(given) if Path(given).is_absolute() else Path.home() / ".local" / "state") / "workup"


def keep_note(shelf: str, name: str, content: Any) -> None:
    """Keep plain data under a name, whole or not at all."""
    with contextlib.suppress(OSError, RuntimeError):  # no home, or none that can be written
        note = _place(shelf, name)
        make_folder(note.parent)
        replace_whole(note, [canonical(content) + "\n"])


def kept_note(shelf: str, name: str) -> Any:
    """What was kept under a name, or None."""
    try:
        note = _place(shelf, name)
        return json_of(content_of(note, most=_LARGEST)) if is_file(note) and _own(note) else None
    except (OSError, ValueError, RuntimeError):
        return None


def _place(shelf: str, name: str) -> Path:
    return state_folder() / shelf / f"{name}.json"


def _own(note: Path) -> bool:
    """A note that others may write to, or that is another user's, proves nothing."""
    if not hasattr(os, "geteuid"):
        return True
    descriptor = open_regular(note, os.O_RDONLY)
    try:
        seen = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    return seen.st_uid == os.geteuid() and not seen.st_mode & 0o022
