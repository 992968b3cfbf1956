"""JSON files of cases and transcripts, line by line or as one list, with errors that say where and never what."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from os.path import isdir, isfile
from pathlib import Path
from typing import Any

from workup.errors import InputError, near
from workup.files.jsonlines import LARGEST_FILE, MOST_IN_FILE, KeyTwiceError, check_number, kind, parse
from workup.files.received import open_named


def records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a file with their places: a JSON list, or one object on each line."""
    path = Path(path)
    text = _text(path)
    if text.lstrip()[:1] == "[":
        listed = _parsed(text, where=path.name, whole=True)
        for number, value in enumerate(listed, start=1):
            yield f"{path.name}, entry {number}", _object(value, where=f"{path.name}, entry {number}")
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f"{path.name}, line {number}"
            yield where, _object(_parsed(line, where=where, whole=False), where=where)


def _text(path: Path) -> str:
    if not isfile(path):
        got = "a folder" if isdir(path) else "no such file"
        raise InputError("a file was expected", where=path.name or str(path), got=got, remedy="check the path")
    try:
        with open_named(path) as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputError("a file that can be read was expected", where=path.name, got=error.strerror or "") from None
    if len(content) > LARGEST_FILE:
        raise InputError(
            f"a file of at most {LARGEST_FILE:,} bytes was expected", where=path.name, remedy="cut it in parts"
        )
    check_number(content, most=MOST_IN_FILE, where=path.name)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            "text in UTF-8 was expected",
            where=f"{path.name}, line {line}",
            got="bytes that are none",
            remedy="save the file as UTF-8",
        ) from None


def _parsed(text: str, *, where: str, whole: bool) -> Any:
    try:
        return parse(text)
    except json.JSONDecodeError as error:
        place = f"{where}, line {error.lineno}" if whole else where
        got = f"something else at column {error.colno}"
        if not whole and text.strip() in ("{", "}"):
            got = "an object spread over several lines"
    except RecursionError:
        place, got = where, "brackets nested too deeply"
    except KeyTwiceError:
        place, got = where, "a key that stands twice in one object"
    except ValueError:
        place, got = where, "a number that JSON has no form for"
    raise InputError(
        "valid JSON was expected",
        where=place,
        got=got,
        remedy="put all objects into one list in [ ], or each whole object on a line of its own",
    )


def _object(value: Any, *, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError("a JSON object was expected", where=where, got=kind(value))
    return value


def needed(record: Mapping[str, Any], key: str, *, where: str, known: Iterable[str], remedy: str = "") -> Any:
    """The value of a key that must be there; a missing one tells of a near name that is."""
    if key in record:
        return record[key]
    close = [other for other in record if other not in known and _like(key, other)]
    hint = f"'{close[0][:40]}' is written where '{key}' was expected" if close else remedy or f"add '{key}'"
    raise InputError(f"'{key}' is needed", where=where, got="no such key", remedy=hint)


def refuse_misspelt(record: Mapping[str, Any], known: Iterable[str], *, where: str) -> None:
    """Keys of the user's own are passed over; one that is nearly a known key is a typo."""
    names = list(known)
    for key in record:
        if key in names:
            continue
        for name in names:
            if _like(name, key) and name not in record:
                raise InputError(f"unknown key '{key[:40]}'", where=where, remedy=near(key[:40], names))


def refuse_unknown(record: Mapping[str, Any], known: Iterable[str], *, where: str) -> None:
    """Every key must be one of these; an error names the near ones."""
    names = list(known)
    for key in record:
        if key not in names:
            # A key that resembles no known one may be anything, and is not repeated.
            shown = f" '{key[:40]}'" if any(_like(name, key) for name in names) else ""
            raise InputError(f"unknown key{shown}", where=where, remedy=near(key[:40], names))


def _like(name: str, written: str) -> bool:
    import difflib

    return difflib.SequenceMatcher(None, name, written.casefold()).ratio() >= 0.8


def text_of(value: Any, *, field: str, where: str, empty: bool = False) -> str:
    """A text, or an error that names the field."""
    if not isinstance(value, str) or (not empty and not value.strip()):
        got = "an empty text" if isinstance(value, str) else kind(value)
        raise InputError(f"'{field}' must be a text", where=where, got=got, remedy="write it in quotes")
    return value


def whole_of(value: Any, *, field: str, where: str, least: int = 1) -> int:
    """A whole number from `least` on."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"'{field}' must be a whole number from {least}", where=where, got=kind(value))
    return value


def list_of(value: Any, *, field: str, where: str) -> list[Any]:
    """A list, or an error that names the field."""
    if not isinstance(value, list):
        raise InputError(f"'{field}' must be a list", where=where, got=kind(value), remedy="put it into [ ]")
    return value
