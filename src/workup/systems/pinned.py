"""Content of a model that is checked before it is loaded: read once, pinned by its sha256, or copied privately.

A copy is hashed while it is made, so that what was checked is what is loaded. It holds plain files alone: links and
devices are refused, and what the caller leaves out (such as bytecode that Python would load in the place of the source)
is not there to be loaded. Knows no library.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from workup.errors import InputError, visible
from workup.systems.settings import UNPINNED

PREFIX = "workup-model-"
_PIECE = 1 << 20  # bytes
_AS_FILES = "put copies of the files in their place (cp -rL follows links)"


def read_once(file: Path, *, sha256: str, where: str) -> bytes:
    """The bytes of the file, read once, so that what is checked is what is loaded."""
    try:
        # A link to the file is followed: its bytes are hashed, wherever they lie.
        with plain_file(file.resolve(), where=where) as opened:
            content = opened.read()
    except (OSError, RuntimeError) as error:  # the latter for links that lead in a circle
        raise InputError(
            "the model must be a file that can be read",
            where=where,
            got=getattr(error, "strerror", None) or type(error).__name__,
            remedy="give the path as seen from the folder of the study",
        ) from None
    check_sha256(hashlib.sha256(content).hexdigest(), sha256, where=where)
    return content


def check_sha256(found: str, pinned: str, *, where: str) -> None:
    """Content that was pinned must not have changed; a pin that is no sha256 is refused, whatever the content is."""
    if pinned == UNPINNED:
        return
    if not isinstance(pinned, str) or not re.fullmatch(r"\s*[0-9a-fA-F]{64}\s*", pinned):
        raise InputError(
            "'sha256' must be 64 hexadecimal digits",
            where=where,
            got="nothing" if not pinned else "something else",
            remedy=f"write the sha256 of the content, which is {found}, or leave the setting out to pin nothing",
        )
    if found != pinned.strip().lower():
        raise InputError(
            "the content of the model must match its sha256, so it was not opened",
            where=where,
            got=f"a file with sha256 {found}",
            remedy="find out who changed the file; if the change is meant, put the new sha256 in the study",
        )


class PrivateCopy:
    """A folder that its owner alone can enter; it is removed with the object, or with the process.

    `files` has the sha256 of each file by its name, with `/` between folders; `remove` removes the copy at once.
    """

    def __init__(self, *, within: Path | None = None) -> None:
        # Copies of worker processes lie within that of the parent, which removes them also where a worker was killed.
        inside = within if within is not None and within.is_dir() else None
        self.home = Path(tempfile.mkdtemp(prefix=PREFIX, dir=inside))
        self.remove = weakref.finalize(self, _remove, self.home)
        self.folder = self.home / "model"
        self.folder.mkdir()
        self.files: dict[str, bytes] = {}

    @classmethod
    def of(
        cls, folder: Path, *, leave_out: Callable[[str], bool], where: str, within: Path | None = None
    ) -> PrivateCopy:
        """All files of a folder, but for the names (of files or whole folders) that are left out."""
        copy = cls(within=within)
        with _told(where):
            for name in _names(folder, "", leave_out, where=where):
                copy.add(folder, name, where=where)
        return copy

    def add(self, folder: Path, name: str, *, where: str) -> None:
        """One file, by its name within the folder."""
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        whole = hashlib.sha256()
        with _told(where), plain_file(folder / name, where=where) as source, target.open("xb") as copied:
            while piece := source.read(_PIECE):
                whole.update(piece)
                copied.write(piece)
        self.files[name] = whole.digest()


@contextlib.contextmanager
def plain_file(file: Path, *, where: str) -> Iterator[io.BufferedReader]:
    """A file that is no link, pipe or device, open for reading; none of them can make the caller wait."""
    # Without O_NONBLOCK, opening a pipe that nobody writes to would never come back.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    if file.is_symlink():
        raise _refused(file.name, "a link", where=where)
    with open(os.open(file, flags), "rb") as content:
        if not stat.S_ISREG(os.fstat(content.fileno()).st_mode):
            raise _refused(file.name, "something that is no plain file", where=where)
        yield content


def names_and_contents(files: Iterable[tuple[str, bytes]]) -> str:
    """sha256 of names and of the digests of their contents, in order of the names."""
    whole = hashlib.sha256()
    for name, digest in sorted(files):
        whole.update(f"{name}\0".encode("utf-8", "surrogateescape"))
        whole.update(digest)
    return whole.hexdigest()


def _remove(home: Path) -> None:
    # A model's code may have put itself on the import path; who makes a folder of that name next is not trusted.
    sys.path[:] = [entry for entry in sys.path if not Path(entry).is_relative_to(home)]
    shutil.rmtree(home, ignore_errors=True)


def _names(folder: Path, prefix: str, leave_out: Callable[[str], bool], *, where: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        name = prefix + entry.name
        if leave_out(entry.name):
            continue
        if entry.is_symlink():
            raise _refused(name, "a link", where=where)
        if entry.is_dir(follow_symlinks=False):
            yield from _names(folder / entry.name, f"{name}/", leave_out, where=where)
        else:
            yield name


def _refused(name: str, what: str, *, where: str) -> InputError:
    return InputError(
        "the folder of the model must hold plain files and folders only, since its hash could not cover more",
        where=where,
        got=f"{what}: '{visible(name)[:200]}'",
        remedy=_AS_FILES,
    )


@contextlib.contextmanager
def _told(where: str) -> Iterator[None]:
    try:
        yield
    except (OSError, RecursionError) as error:
        said = error.strerror if isinstance(error, OSError) else "folders within folders without end"
        raise InputError(
            "the files of the model must be readable, with room for a copy of them in the folder for temporary files",
            where=where,
            got=said or type(error).__name__,
            remedy="mend the rights of the files, or set TMPDIR to a disk with room",
        ) from None
