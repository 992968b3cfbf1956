"""Records with one field made wrong, each field in turn: of another type, or gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

WRONG: tuple[Any, ...] = ("wrong", 7, 0.5, True, None, [], ["x"], {}, {"a": 1})
Path = tuple[str | int, ...]


def mutations(record: Any, *, values: tuple[Any, ...] = WRONG, every: int = 1) -> Iterator[tuple[str, str, Any]]:
    """(path, what was done, the record with that done): of lists the first entries stand for all.

    A value of the same kind as the one it replaces is left out: it would be another record and not a wrong one.
    With `every`, so many paths are passed over for one that is taken.
    """
    for path in _paths(record)[::every]:
        name = ".".join(map(str, path))
        for value in values:
            if _kind(value) != _kind(_at(record, path)):
                yield name, f"{json.dumps(value)} in place of a {_kind(_at(record, path))}", _with(record, path, value)
        if isinstance(path[-1], str):
            yield name, "gone", _without(record, path)


def _kind(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return "null" if value is None else "truth"
    return {str: "text", int: "number", float: "number", list: "list", dict: "object"}[type(value)]


def _paths(record: Any) -> list[Path]:
    seen: dict[tuple[str, ...], Path] = {}

    def walk(value: Any, path: Path, shape: tuple[str, ...]) -> None:
        if path:
            if shape in seen:
                return
            seen[shape] = path
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(inner, (*path, key), (*shape, key))
        elif isinstance(value, list):
            for place, inner in enumerate(value[:3]):
                walk(inner, (*path, place), (*shape, "[]"))

    walk(record, (), ())
    return list(seen.values())


def _at(record: Any, path: Path) -> Any:
    for step in path:
        record = record[step]
    return record


def _with(record: Any, path: Path, value: Any) -> Any:
    copy = json.loads(json.dumps(record))
    _at(copy, path[:-1])[path[-1]] = value
    return copy


def _without(record: Any, path: Path) -> Any:
    copy = json.loads(json.dumps(record))
    del _at(copy, path[:-1])[path[-1]]
    return copy
