"""Patterns that cannot be made slow by a hostile text: checked before they are compiled, refused otherwise.

Python's matcher backtracks. With an upper end on every repeat, and few ways to match the same characters, what it does
at one place of a text is bounded by a constant, so that time grows with the length of the text and no faster."""

from __future__ import annotations

import re
from collections.abc import Callable
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as reader  # type: ignore[attr-defined]
from typing import Any

from workup.errors import InputError

MOST_WAYS = 20_000  # in which one stretch of text may be tried at one place
MOST_WIDTH = 1_200
_ALL = frozenset(range(128))
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)
_LOOKS = (codes.ASSERT, codes.ASSERT_NOT, codes.AT)


def compiled(pattern: str, *, where: str) -> re.Pattern[str]:
    """The pattern, if it is one and cannot be made slow.

    >>> compiled("[A-Z]{2}[0-9]{4,9}", where="rule 'badge'").pattern
    '[A-Z]{2}[0-9]{4,9}'
    >>> compiled("(a+)+b", where="rule 'slow'")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    workup.errors.InputError: rule 'slow': a pattern must have an upper end on every repeat; got one with none. ...
    """
    try:
        parsed = reader.parse(pattern)
        found = re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        raise InputError(
            "a pattern must be a regular expression of Python",
            where=where,
            got="one that cannot be read",
            remedy="try it with re.compile",
        ) from None
    if _unbounded(parsed):
        raise InputError(
            "a pattern must have an upper end on every repeat",
            where=where,
            got="one with none",
            remedy="write {0,40} for *, {1,40} for +, or another bound that is wide enough",
        )
    narrow, width = parsed.getwidth()
    if int(narrow) == 0 or int(width) > MOST_WIDTH or _ways(parsed) > MOST_WAYS:
        raise InputError(
            f"a pattern must match at least one and at most {MOST_WIDTH:,} characters, in few ways",
            where=where,
            got=f"{int(narrow):,} to {int(width):,} characters, in up to {_ways(parsed):,} ways",
            remedy="put a mark that the repeated part cannot hold between repeats, or lower their upper ends",
        )
    return found


def _unbounded(parsed: Any) -> bool:
    for kind, about in parsed:
        if kind in (*_REPEATS, codes.POSSESSIVE_REPEAT):
            if about[1] is codes.MAXREPEAT or _unbounded(about[2]):
                return True
        elif any(_unbounded(part) for part in _parts(kind, about)):
            return True
    return False


def _parts(kind: Any, about: Any) -> list[Any]:
    if kind is codes.SUBPATTERN:
        return [about[-1]]
    if kind is codes.BRANCH:
        return list(about[1])
    if kind in (codes.ASSERT, codes.ASSERT_NOT):
        return [about[1]]
    if kind is codes.ATOMIC_GROUP:
        return [about]
    return [part for part in about[1:] if part is not None] if kind is codes.GROUPREF_EXISTS else []


def _ways(parsed: Any) -> int:
    """An upper estimate of the ways in which a sequence can match one text.

    A repeat whose characters cannot open what follows ends in one place only."""
    ways = 1
    items = list(parsed)
    for place, (kind, about) in enumerate(items):
        if kind in _REPEATS:
            low, high, body = about
            inner = _ways(body)
            variable = len({int(end) for end in body.getwidth()}) > 1
            own = _opens(items[place : place + 1]) if not variable else _holds(body)
            free = 1 if own.isdisjoint(_opens(items[place + 1 :])) else int(high) - int(low) + 1
            shapes = inner * (int(body.getwidth()[1]) - int(body.getwidth()[0]) + 1)
            nested = shapes ** min(int(high), 30) if shapes > 1 and int(high) > 1 and not _parted(body) else inner
            ways *= free * nested
        elif kind is codes.BRANCH:
            ways *= max(1, sum(_ways(part) for part in about[1]) - len(about[1]) + 1)
        elif kind is codes.SUBPATTERN:
            ways *= _ways(about[-1])
        if ways > 10**9:
            return 10**9
    return ways


def _parted(body: Any) -> bool:
    """Whether every round of it has a mark that nothing else in it holds."""
    items = [item for item in body if item[0] not in _LOOKS]
    for place, item in enumerate(items):
        if item[0] in (codes.LITERAL, codes.IN):
            rest = frozenset().union(*(_holds([other]) for i, other in enumerate(items) if i != place))
            if _holds([item]).isdisjoint(rest):
                return True
    return False


def _holds(parsed: Any) -> frozenset[int]:
    """Every ASCII character that the sequence may hold; all others are taken for letters."""
    found: set[int] = set()
    for kind, about in parsed:
        found |= _characters(kind, about)
    return frozenset(found)


def _characters(kind: Any, about: Any) -> frozenset[int]:
    if kind is codes.LITERAL:
        one = chr(about) if about < 0x110000 else "a"
        return frozenset({ord(one.lower()) & 127, ord(one.upper()) & 127})
    if kind is codes.NOT_LITERAL or kind is codes.ANY:
        return _ALL
    if kind is codes.IN:
        return _of_set(about)
    if kind in (*_REPEATS, codes.POSSESSIVE_REPEAT):
        return _holds(about[2])
    if kind in _LOOKS:
        return frozenset()
    if kind is codes.GROUPREF:
        return _ALL
    return frozenset().union(*(_holds(part) for part in _parts(kind, about)))


def _of_set(items: Any) -> frozenset[int]:
    found: set[int] = set()
    for kind, about in items:
        if kind is codes.LITERAL:
            found |= _characters(kind, about)
        elif kind is codes.RANGE:
            found |= {code for code in range(128) if about[0] <= code <= about[1]}
        elif kind is codes.CATEGORY:
            found |= _of_category(about)
    return _ALL - found if items and items[0][0] is codes.NEGATE else frozenset(found)


def _of_category(category: Any) -> set[int]:
    tests: dict[Any, Callable[[str], bool]] = {codes.CATEGORY_DIGIT: str.isdigit, codes.CATEGORY_SPACE: str.isspace,
             codes.CATEGORY_WORD: lambda c: c.isalnum() or c == "_"}  # fmt: skip
    for known, test in tests.items():
        if category is known:
            return {code for code in range(128) if test(chr(code))}
    return set(_ALL)


def _opens(items: Any) -> frozenset[int]:
    """Characters that the first thing with a width may be, and those of optional things before it; empty at the end."""
    found: set[int] = set()
    for kind, about in items:
        if kind in _LOOKS:
            continue
        if kind in (*_REPEATS, codes.POSSESSIVE_REPEAT):
            found |= _opens(about[2])
            if int(about[0]) > 0:
                return frozenset(found)
        elif kind in (codes.SUBPATTERN, codes.BRANCH, codes.ATOMIC_GROUP, codes.GROUPREF_EXISTS):
            parts = _parts(kind, about)
            found |= frozenset().union(*(_opens(part) for part in parts))
            if all(int(part.getwidth()[0]) > 0 for part in parts):
                return frozenset(found)
        else:
            return frozenset(found | _characters(kind, about))
    return frozenset(found)
