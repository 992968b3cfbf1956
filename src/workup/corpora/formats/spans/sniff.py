"""A look at the beginning of a file, to tell which format it is in. Never raises for what it finds there."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workup.errors import WorkupError
from workup.files.jsonlines import lines
from workup.files.received import open_named

_LONGEST_LOOK = 4 * 2**20  # bytes


def first_line(path: Path) -> dict[str, Any]:
    """The object on the first line of a file of JSON lines, or nothing."""
    if not path.is_file():
        return {}
    try:
        _, line = next(lines(path))
        found = json.loads(line.decode("utf-8"))
    except (WorkupError, StopIteration, ValueError, RecursionError, OSError):
        return {}
    return found if isinstance(found, dict) else {}


def first_item(path: Path) -> dict[str, Any]:
    """The first object of a file that holds a JSON list, or nothing."""
    if not path.is_file():
        return {}
    try:
        with open_named(path) as file:
            text = file.read(_LONGEST_LOOK).decode("utf-8-sig", errors="ignore").lstrip()
        if not text.startswith("["):
            return {}
        found, _ = json.JSONDecoder().raw_decode(text[1:].lstrip())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def names_in(path: Path) -> Iterator[str]:
    """Names of the files in a folder or zip, or the name of a file."""
    try:
        if path.is_dir():
            yield from (found.name for found in path.rglob("*"))
        elif not path.is_file():  # a pipe would be waited for, and a device read without end
            return
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                yield from archive.namelist()
        else:
            yield path.name
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return
