"""Corpora of one or two files per document: a folder or a zip, read within limits and written whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

from workup.errors import InputError, named, within
from workup.files.disk import replace_whole
from workup.files.jsonlines import decoded
from workup.files.received import is_folder, open_named

LARGEST_MEMBER = 32 * 2**20  # bytes of one file
_STEEPEST = 200  # how many bytes one packed byte may become; text packs to a tenth, and a bomb to a thousandth
_HARMLESS = 8 * 2**20  # bytes that may be packed as tightly as they like
_LONGEST_NAME = 200  # bytes; file systems take 255, an ending and a temporary prefix among them


@dataclass(frozen=True)
class Files:
    """Names of files, with / between folders, in order; and a way to their bytes."""

    place: str
    names: tuple[str, ...]
    content: Callable[[str], bytes]
    given: bool = False  # whether the user named the file, whose name then is no secret

    def where(self, name: str) -> str:
        """A file for a message: by its number among those of its ending, since names of notes are often of patients."""
        if self.given or name == self.place:
            return name if name == self.place else f"{self.place}, {name}"
        return within(self.place, named(f"{PurePosixPath(name).suffix} file".strip(), name, number=self._numbers[name]))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        counts, numbers = Counter[str](), dict[str, int]()
        for name in self.names:
            ending = PurePosixPath(name).suffix
            counts[ending] += 1
            numbers[name] = counts[ending]
        return numbers

    def text(self, name: str) -> str:
        """A file as text, its line ends and byte-order mark as they are; a NUL byte shows that it is none."""
        content = self.content(name)
        where = self.where(name)
        if b"\0" in content:
            raise InputError(
                "a text file was expected",
                where=where,
                got="a NUL byte, as in a binary file or in UTF-16",
                remedy="save the file as UTF-8",
            )
        return decoded(content, where=where)


@contextmanager
def opened(path: Path) -> Iterator[Files]:
    """The files of a folder and the folders in it, of a zip, or one file by itself."""
    path = Path(path)
    if path.is_dir():
        yield _folder(path)
    elif path.is_file() and zipfile.is_zipfile(path):
        try:
            with zipfile.ZipFile(path) as archive:
                yield _archive(path, archive)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
            if isinstance(error, RecursionError):
                raise
            raise InputError(
                "a zip archive that can be read was expected",
                where=path.name,
                got="a damaged one, or one with a password",
                remedy="unpack it, and give the folder",
            ) from None
    elif path.is_file():
        yield Files(path.name, (path.name,), lambda _: bounded(path, linked=True))
    else:
        raise InputError(
            "a folder, a zip archive or a file was expected",
            where=str(path),
            got="something else" if path.exists() else "nothing at this path",
            remedy="check the path",
        )


def _folder(path: Path) -> Files:
    names = files_in(path)
    files = Files(path.name, tuple(filter(_shown, names)), lambda name: bounded(path / name, where=files.where(name)))
    return files


def files_in(folder: Path) -> list[str]:
    """Names of the regular files of a folder and the folders in it, in order, as seen from it.

    A link would bring another file of the reader among the documents of whoever made the folder, so it is refused.
    """
    found = [(one, one.relative_to(folder).as_posix()) for one in sorted(folder.rglob("*"))]
    for number, (one, name) in enumerate(found, start=1):
        if one.is_symlink() and _shown(name):
            raise _link(within(folder.name, named("entry", name, number=number)))
    return sorted(name for one, name in found if not one.is_symlink() and one.is_file())


def _link(where: str) -> InputError:
    return InputError(
        "a folder or archive of documents holds the files themselves",
        where=where,
        got="a link, which is not followed",
        remedy="do not trust what somebody sent you with links in it; put the file in the place of the link",
    )


def bounded(path: Path, *, where: str = "", linked: bool = False) -> bytes:
    """The bytes of a regular file, unless there are too many; `linked` follows a link that the user named."""
    where = where or path.name
    if not linked and path.is_symlink():
        raise _link(where)
    try:
        with open_named(path, linked=linked) as file:
            content = file.read(LARGEST_MEMBER + 1)
    except OSError as error:
        raise InputError(
            "a file that can be read was expected", where=where, got=error.strerror or type(error).__name__
        ) from None
    if len(content) > LARGEST_MEMBER:
        raise _too_large(where)
    return content


def _archive(path: Path, archive: zipfile.ZipFile) -> Files:
    members: dict[str, zipfile.ZipInfo] = {}
    for number, member in enumerate(archive.infolist(), start=1):
        name = member.filename
        if not name or name.startswith(("/", "\\")) or "\\" in name or ":" in name or ".." in PurePosixPath(name).parts:
            raise InputError(
                "names of files inside the archive were expected",
                where=path.name,
                got="a name that leads out of it",
                remedy="do not trust this archive; pack the folder anew",
            )
        if name in members:
            raise InputError("every name in an archive must be its own", where=path.name, got="one name twice")
        if stat.S_ISLNK(member.external_attr >> 16):
            raise _link(within(path.name, named("member", name, number=number)))
        if member.file_size > LARGEST_MEMBER:
            raise _too_large(within(path.name, named("member", name, number=number)))
        if not member.is_dir():
            members[name] = member
    whole = sum(member.file_size for member in members.values())
    if whole > max(_HARMLESS, _STEEPEST * path.stat().st_size):
        raise InputError(
            "an archive of texts was expected",
            where=path.name,
            got=f"{whole:,} bytes packed into {path.stat().st_size:,}, as in a zip bomb",
            remedy="do not trust this archive; if it is yours, unpack it and give the folder",
        )
    return Files(path.name, tuple(sorted(filter(_shown, members))), lambda name: _member(archive, members[name]))


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The bytes of a member. Where the table of an archive is wrong, reading fails in ways that are not of archives."""
    try:
        return archive.read(member)
    except (OSError, ValueError, OverflowError, struct.error):
        raise zipfile.BadZipFile from None


def _shown(name: str) -> bool:
    """What a Mac adds to archives, and hidden files, are no documents."""
    return not any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def _too_large(where: str) -> InputError:
    return InputError(
        f"a file of at most {LARGEST_MEMBER:,} bytes was expected", where=where, got="a larger one", remedy="cut it"
    )


# ---- names -----------------------------------------------------------------------------------------------------------


def ids_of(names: Iterable[str]) -> dict[str, str]:
    """Ids of documents by the names of their files: without folder and ending, unless that leaves two alike.

    >>> ids_of(["a/x.txt", "b/y.txt"]), ids_of(["a/x.txt", "b/x.txt"])
    ({'a/x.txt': 'x', 'b/y.txt': 'y'}, {'a/x.txt': 'a/x', 'b/x.txt': 'b/x'})
    """
    stems = {name: name[: -len(PurePosixPath(name).suffix)] for name in names}
    short = {name: _unquoted(PurePosixPath(stem).name) for name, stem in stems.items()}
    return short if len(set(short.values())) == len(short) else stems


def file_name(id: str, *, number: int | None = None) -> str:
    """A name for a document's files that no system stumbles on, from which its id can be read again.

    >>> file_name("ward 3/note"), ids_of(["ward%203%2Fnote.txt"])
    ('ward%203%2Fnote', {'ward%203%2Fnote.txt': 'ward 3/note'})
    """
    name = quote(id, safe="")
    if name[0] == ".":
        name = f"%2E{name[1:]}"
    if len(name) > _LONGEST_NAME:
        raise InputError(
            "an id that can name a file was expected",
            where=named("document", id, number=number),
            got=f"one that takes {len(name)} characters",
            remedy=f"give ids of at most {_LONGEST_NAME}, or choose a format with one file",
        )
    return name


def _unquoted(name: str) -> str:
    """Only what `file_name` could have written is turned back: a percent sign in a foreign name stays one."""
    if "%" not in name or not re.fullmatch(r"(?:[\w.~-]|%[0-9A-F]{2})+", name, re.ASCII):
        return name
    id = unquote(name, errors="surrogateescape")
    return id if id and _names(id, name) else name


def _names(id: str, name: str) -> bool:
    try:
        return file_name(id) == name
    except (InputError, UnicodeEncodeError):
        return False


# ---- writing ---------------------------------------------------------------------------------------------------------


def write_files(path: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Put all files into a new folder, or into a .zip; the same files give the same bytes."""
    path = Path(path)
    if path.name.lower().endswith(".zip"):
        _write_zip(path, files)
        return
    if os.path.lexists(path) and (not is_folder(path) or any(path.iterdir())):
        raise InputError(
            "a new or empty folder, or a name that ends in .zip, was expected",
            where=str(path),
            got="a link" if path.is_symlink() else "a folder with files in it" if path.is_dir() else "a file",
            remedy="name another folder",
        )
    place = path.resolve()
    made = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        new = made / "new"
        new.mkdir(mode=0o700)
        for name, content in files:
            _private(new / name, content)
        if place.exists():
            place.rmdir()
        os.rename(new, place)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _private(path: Path, content: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def _write_zip(path: Path, files: Iterable[tuple[str, bytes]]) -> None:
    with tempfile.TemporaryFile(dir=path.resolve().parent) as packed:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files:
                member = zipfile.ZipInfo(name)  # its time is 1980: a clock would change the bytes
                member.compress_type = zipfile.ZIP_DEFLATED
                member.external_attr = 0o600 << 16
                archive.writestr(member, content)
        packed.seek(0)
        replace_whole(path, iter(lambda: packed.read(2**20), b""))
