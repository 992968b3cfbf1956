"""How much a packed file may become: bytes in all, and bytes for each packed one. Knows no format.

A small file can unpack into more than a machine holds. What is read through here stops at a limit with one message,
before the memory is gone. The limit of a table is the study's `corpus.largest_unpacked`; who sets it has said how large
the table is, so the ratio is then not looked at.
"""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

from workup.errors import InputError
from workup.files.received import open_named

LARGEST_UNPACKED = 2 * 2**30  # bytes
STEEPEST = 200  # how many bytes one packed byte may become; tables and texts pack to a tenth, a bomb to a thousandth
HARMLESS = 16 * 2**20  # bytes that may be packed as tightly as they like

_BUFFER = 1 << 17
_SET = "raise corpus.largest_unpacked in the study, or --largest-unpacked of workup score risk"


def limit(largest: int) -> int:
    """The most bytes: what was asked for, or the default where nothing (0) was.

    >>> limit(0), limit(10)
    (2147483648, 10)
    """
    return largest or LARGEST_UNPACKED


def check_unpacked(size: int, *, packed: int, where: str, largest: int = 0, way_out: str = _SET) -> None:
    """Refuse a size that is over the limit, or, where none was set, out of proportion to what is packed."""
    if size > limit(largest):
        raise too_large(where=where, largest=largest, way_out=way_out)
    if not largest and size > max(HARMLESS, STEEPEST * packed):
        raise InputError(
            f"data that unpack to at most {STEEPEST} times their packed size were expected",
            where=where,
            got=f"{packed:,} bytes that become {size:,} or more, as in a zip bomb",
            remedy=f"do not trust this file; if it is yours, {way_out}",
        )


def too_large(*, where: str, largest: int = 0, way_out: str = _SET) -> InputError:
    """Over the limit."""
    return InputError(
        f"at most {limit(largest):,} bytes, unpacked, were expected",
        where=where,
        got="more",
        remedy=f"do not trust this file if you did not make it; if it is yours, {way_out}",
    )


def open_gzip(path: Path, *, largest: int = 0, way_out: str = _SET) -> io.BufferedReader:
    """A gzip file to read from, which ends in an error where it becomes too much."""
    return io.BufferedReader(_Watched(path, largest, way_out), buffer_size=_BUFFER)


class _Watched(io.RawIOBase):
    """Unpacked bytes, held on their way against the packed ones that they came from."""

    def __init__(self, path: Path, largest: int, way_out: str) -> None:
        self._where, self._largest, self._way_out = path.name, largest, way_out
        self._packed = open_named(path)
        self._file = gzip.GzipFile(fileobj=self._packed, mode="rb")
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object, /) -> int:
        count = self._file.readinto(buffer)  # type: ignore[arg-type]
        self._read += count
        packed = self._packed.tell()
        check_unpacked(self._read, packed=packed, where=self._where, largest=self._largest, way_out=self._way_out)
        return count

    def close(self) -> None:
        self._file.close()
        self._packed.close()
        super().close()


def check_zip(path: Path, *, largest: int = 0, way_out: str = _SET) -> None:
    """Refuse an archive whose members would become too much. Python reads no member beyond the size it states."""
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    check_unpacked(size, packed=path.stat().st_size, where=path.name, largest=largest, way_out=way_out)
