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

from workup.runs.state import keep_note, kept_note

_SHELF = "runs"
# Written once when the folder is made. Unpacking or copying gives it another time of change, which nobody can set.
_WITNESS = ".gitignore"


def remember(place: Path, study: Path) -> None:
    """Note that this user made a run directory here; where no note can be kept, the study is asked for later."""
    with contextlib.suppress(OSError, RuntimeError):  # a folder that is gone again
        keep_note(_SHELF, _name(place), _told(place, study))


def made_here(place: Path, study: Path) -> bool:
    """Whether this user made this very folder, here, with this study."""
    try:
        return bool(kept_note(_SHELF, _name(place)) == _told(place, study))
    except (OSError, ValueError, RuntimeError):
        return False


def _name(place: Path) -> str:
    return hashlib.sha256(os.fsencode(place.resolve())).hexdigest()


def _told(place: Path, study: Path) -> dict[str, Any]:
    folder, witness = place.stat(), (place / _WITNESS).lstat()
    seen = [folder.st_dev, folder.st_ino, witness.st_ino, witness.st_ctime_ns]
    return {"folder": str(place.resolve()), "study": str(study.resolve()), "seen": seen}
