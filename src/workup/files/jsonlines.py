"""JSON as it comes in files: line by line or as one list, within limits, with errors that say where and never what."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from workup.errors import InputError
from workup.files.received import open_named
from workup.files.unpacking import open_gzip

LONGEST_LINE = 32 * 2**20  # bytes; no note is longer, and a line must fit in memory several times over
LARGEST_FILE = 512 * 2**20  # bytes of a file that must be read as a whole
MOST_VALUES = 1_000_000  # lists and objects on one line: two bytes make one, and each takes the memory of fifty
MOST_IN_FILE = 10_000_000  # of a file that must be read as a whole
_MARK = b"\xef\xbb\xbf"
_BUFFER = 1 << 17  # bytes read at a time: a note is often longer than the 8 kB that Python reads by itself


class KeyTwiceError(ValueError):
    """A key that occurs twice in one object: of two values under one name Python would keep the last."""


def parse(text: bytes | str) -> Any:
    """One JSON value; ValueError or RecursionError for what is none, such as NaN, which Python reads and JSON lacks.

    A key that occurs twice in one object is refused too, as a KeyTwiceError.
    """
    return json.loads(text, parse_constant=_refuse, object_pairs_hook=_each_key_once)


def kind(value: Any) -> str:
    """What sort of JSON value this is, without the value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    kinds: dict[type, str] = {str: "a text", list: "a list", dict: "an object"}
    return kinds.get(type(value), "a number")


def open_binary(path: Path) -> IO[bytes]:
    """The file, unpacked on the way where its name ends in .gz; a folder or a pipe is refused."""
    if not path.is_file():
        raise InputError(
            "a file was expected",
            where=path.name or str(path),
            got="a folder" if path.is_dir() else "something that is no plain file" if path.exists() else "no such file",
            remedy="check the path and the format",
        )
    if path.suffix.lower() == ".gz":
        return open_gzip(path, way_out="unpack it, and give the unpacked file")
    return open_named(path, buffering=_BUFFER)


def lines(
    path: Path, *, longest: int = LONGEST_LINE, blank: bool = False, cut: bool = True
) -> Iterator[tuple[int, bytes]]:
    """Lines with their number from 1, blank ones only where asked; memory holds one at a time.

    Without their end; `cut=False` leaves it there, which no JSON minds and saves a copy of every line.
    """
    number = 0
    try:
        with open_binary(path) as file:
            while line := file.readline(longest + 1):
                number += 1
                if len(line) > longest:
                    raise InputError(
                        f"a line of at most {longest:,} bytes was expected",
                        where=f"{path.name}, line {number}",
                        got="a longer one",
                        remedy="put one document on each line, and cut a document that is longer into several",
                    )
                if len(line) > MOST_VALUES:  # a shorter one cannot hold as many
                    check_number(line, most=MOST_VALUES, where=f"{path.name}, line {number}")
                if number == 1:
                    line = line.removeprefix(_MARK) or b"\n"
                if blank or not line.isspace():
                    yield number, line.rstrip(b"\r\n") if cut else line
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from None


def value_of(line: bytes, *, where: str) -> Any:
    """The JSON value on one line; what is no JSON is refused, and so are numbers that JSON lacks (NaN) and a key that
    stands twice in one object, of which Python would keep the last."""
    return _parsed(decoded(line, where=where), where=where, whole_file=False, once=_each_key_once)


def items(path: Path, *, largest: int = LARGEST_FILE) -> list[Any]:
    """The JSON list that a file holds."""
    try:
        with open_binary(path) as file:
            unpacked = path.suffix.lower() == ".gz" or path.stat().st_size <= largest
            content = file.read(largest + 1) if unpacked else b""
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from None
    if len(content) > largest or not unpacked:
        raise InputError(
            f"a JSON file of at most {largest:,} bytes was expected",
            where=path.name,
            got="a larger one",
            remedy="cut it into several files, or use the line-by-line form, which has no such limit",
        )
    check_number(content, most=MOST_IN_FILE, where=path.name)
    text = decoded(content.removeprefix(_MARK), where=path.name, whole_file=True)
    value = _parsed(text, where=path.name, whole_file=True)
    if not isinstance(value, list):
        raise InputError(
            "a JSON list of documents was expected",
            where=path.name,
            got=kind(value),
            remedy="check the format, or put the document into a list",
        )
    return value


def check_number(content: bytes, *, most: int, where: str) -> None:
    """Refuse JSON of too many lists and objects before any of them is made; brackets in texts count too."""
    if content.count(b"{") + content.count(b"[") > most:
        raise InputError(
            f"at most {most:,} lists and objects were expected",
            where=where,
            got="more",
            remedy="do not trust this file if you did not make it; if it is yours, cut it into several documents",
        )


def decoded(content: bytes, *, where: str, whole_file: bool = False) -> str:
    """Text in UTF-8, or an error that says at which byte (of a whole file, in which line) it is none."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            "text in UTF-8 was expected",
            where=f"{where}, line {line}" if whole_file else where,
            got=f"bytes that are none, from byte {error.start + 1} on",
            remedy="save the file as UTF-8",
        ) from None


def _parsed(
    text: str, *, where: str, whole_file: bool, once: Callable[[list[tuple[str, Any]]], Any] | None = None
) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        place = f"{where}, line {error.lineno}" if whole_file else where
        got = "a NUL byte" if "\0" in text else f"something else at column {error.colno}"
    except RecursionError:
        place, got = where, "brackets nested too deeply"
    except KeyTwiceError:
        place, got = where, "a key that stands twice in one object"
    except ValueError:
        place, got = where, "a number that JSON has no form for, or one of thousands of digits"
    raise InputError("valid JSON was expected", where=place, got=got, remedy="mend the file, or write it anew")


def _refuse(_: str) -> float:
    raise ValueError


def _unreadable(path: Path, error: BaseException) -> InputError:
    return InputError(
        "a file that can be read was expected",
        where=path.name,
        got=getattr(error, "strerror", None) or type(error).__name__,
        remedy="check that the file exists, is whole and may be read",
    )


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise KeyTwiceError
    return found
