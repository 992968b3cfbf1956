"""Files that somebody else may have made: read within limits, and never through a link or from a device.

One way in for a file that the user names, too: a link that they name is followed, and a pipe is not waited for.

Knows nothing of what the files mean. What it refuses is an OSError or a ValueError, with words in it, for the caller to
tell in its own.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from io import DEFAULT_BUFFER_SIZE, BufferedReader, FileIO
from pathlib import Path
from typing import Any

LARGEST_RECORD = 256 * 2**20  # bytes of a report.json; the largest ones made so far have a tenth of that
DEEPEST = 60  # levels of JSON inside one another; a record has a dozen
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)  # opening a pipe must not wait for somebody to write to it


def is_file(path: Path) -> bool:
    """Whether this is a regular file itself, not a link to one."""
    return _is(path, stat.S_ISREG)


def is_folder(path: Path) -> bool:
    """Whether this is a folder itself, not a link to one."""
    return _is(path, stat.S_ISDIR)


def _is(path: Path, kind: Any) -> bool:
    try:
        return bool(kind(path.lstat().st_mode))
    except (OSError, ValueError):  # a NUL in the name is a ValueError
        return False


def open_regular(path: Path, flags: int, mode: int = 0o600, *, linked: bool = False) -> int:
    """A descriptor of a regular file; a link (unless `linked`), folder, pipe or device is an OSError in words."""
    flags |= _NO_WAITING | getattr(os, "O_CLOEXEC", 0) | (0 if linked else _NO_LINK)
    if not _NO_LINK and not linked and path.is_symlink():  # a platform that cannot refuse while it opens
        raise OSError(errno.ELOOP, "a link, which is not followed")
    try:
        descriptor = os.open(path, flags, mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK) and path.is_symlink():
            raise OSError(errno.ELOOP, "a link, which is not followed") from None
        raise
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        if linked and stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        raise OSError(errno.EINVAL, "not a regular file")
    return descriptor


def open_named(path: Path, *, linked: bool = True, buffering: int = DEFAULT_BUFFER_SIZE) -> BufferedReader:
    """A regular file that the user named, to read from; a folder, pipe or device is an OSError in words, at once.

    `linked=False` is for a file that nobody named but a folder holds: a link there may lead anywhere.
    """
    return BufferedReader(FileIO(open_regular(path, os.O_RDONLY, linked=linked)), buffering)


def content_of(path: Path, *, most: int = LARGEST_RECORD, linked: bool = False) -> bytes:
    """The bytes of a regular file that has at most so many; `linked` lets a link that the user named lead to it."""
    with open(open_regular(path, os.O_RDONLY, linked=linked), "rb") as file:
        if os.fstat(file.fileno()).st_size <= most:
            content = file.read(most + 1)
            if len(content) <= most:
                return content
    raise OSError(errno.EFBIG, f"larger than {most:,} bytes")


def text_of(path: Path, *, most: int) -> str:
    """A regular file that the user named, as UTF-8 text of at most so many bytes; every line ends in one sign."""
    text = content_of(path, most=most, linked=True).decode("utf-8-sig")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def json_of(content: bytes) -> Any:
    """What JSON in UTF-8 says, without NaN and infinity and without nesting that a reader could drown in."""
    try:
        value = json.loads(content.decode("utf-8"), parse_constant=_no_number)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    level, depth = [value], 0
    while level := [one for held in level for one in _inside(held) if isinstance(one, (dict, list))]:
        depth += 1
        if depth > DEEPEST:
            raise ValueError("nested too deeply")
    return value


def _inside(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")
