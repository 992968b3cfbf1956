"""Which run directories this user made on this machine, and by which study: what a folder says of itself is no proof.

A study names programs and Python objects, so running one that a received folder points to would run a stranger's code.
Notes of the user's own runs are kept in the user's own state folder, one small file for each place; without them, as on
another machine or after a folder was moved or copied, a study has to be named or trusted on the command line.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import Any

from workup.files.disk import make_folder, replace_whole
from workup.files.received import content_of, is_file, json_of, open_regular
from workup.report import canonical

_LARGEST = 2**16  # bytes of a note
# Written once when the folder is made. Unpacking or copying gives it another time of change, which nobody can set.
_WITNESS = ".gitignore"


def state_folder() -> Path:
    """Where this user's programs keep what they remember between calls; Workup has a folder of its own in it."""
    if os.name == "nt" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / "workup"
    given = os.environ.get("XDG_STATE_HOME", "")
    return (Path(given) if Path(given).is_absolute() else Path.home() / ".local" / "state") / "workup"


def remember(place: Path, study: Path) -> None:
    """Note that this user made a run directory here; where no note can be kept, the study is asked for later."""
    with contextlib.suppress(OSError, RuntimeError):  # no home, or none that can be written
        note = _note(place)
        make_folder(note.parent)
        replace_whole(note, [canonical(_told(place, study)) + "\n"])


def made_here(place: Path, study: Path) -> bool:
    """Whether this user made this very folder, here, with this study."""
    try:
        note = _note(place)
        return is_file(note) and _own(note) and json_of(content_of(note, most=_LARGEST)) == _told(place, study)
    except (OSError, ValueError, RuntimeError):
        return False


def _note(place: Path) -> Path:
    return state_folder() / "runs" / f"{hashlib.sha256(os.fsencode(place.resolve())).hexdigest()}.json"


def _told(place: Path, study: Path) -> dict[str, Any]:
    folder, witness = place.stat(), (place / _WITNESS).lstat()
    seen = [folder.st_dev, folder.st_ino, witness.st_ino, witness.st_ctime_ns]
    return {"folder": str(place.resolve()), "study": str(study.resolve()), "seen": seen}


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
