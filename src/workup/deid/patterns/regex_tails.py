"""What may end the first word of a match, and what may follow it: so a pattern is tried at few places.

An address in the net is tried at words with a point or an at sign after them, a misread month before a figure. All
that could match is listed, and more: being tried in vain costs little, being left out would lose a finding."""

from __future__ import annotations

import re
from re import _constants as codes  # type: ignore[attr-defined]
from typing import Any

from workup.deid.patterns.regex_heads import OTHER, WORD, TooManyError, symbols

ANY = "*"
_MOST = 6_000
_OPEN, _FREE = "", ANY * 3
_LETTERS = WORD - {OTHER}
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


def tail(last: str, after: str) -> str:
    """The last character of a word by its kind, and the two signs after it.

    >>> tail("h", " 0"), tail("H", ". ")
    ('a 0', 'A. ')
    """
    return _kind(last) + after


def wider(exact: str) -> tuple[str, str, str, str]:
    """The entries of a list of tails that hold a tail: itself, and those that leave its end open."""
    return exact, exact[:2] + ANY, exact[:1] + ANY * 2, _FREE


def tails(parsed: Any) -> frozenset[str] | None:
    """The tails of all first words of matches, `*` for any sign; None where that says nothing.

    >>> from re import _parser
    >>> sorted(tails(_parser.parse("[A-Z]{2,4}[. ][0-9]")))
    ['A 0', 'A.0']
    """
    try:
        found = _after(frozenset({_OPEN}), list(parsed), blind=bool(parsed.state.flags & re.IGNORECASE), ends=True)
    except TooManyError:
        return None
    closed = frozenset(_FREE if len(one) < 2 else one.ljust(3, ANY) for one in found)
    return None if _FREE in closed else closed


def least_run(parsed: Any) -> int:
    """The least letters and digits that a match opens with.

    >>> from re import _parser
    >>> least_run(_parser.parse("(?<!x)[A-Z]{2}[0-9]{5,12}-?[0-9]")), least_run(_parser.parse("(?:[a-z]{3})?[0-9]"))
    (7, 0)
    """
    return _least(list(parsed))[0]


def _least(items: list[Any]) -> tuple[int, bool]:
    """Letters and digits in a row from the start of a sequence, and whether the row may go on after it."""
    total = 0
    for kind, about in items:
        if kind in (codes.ASSERT, codes.ASSERT_NOT, codes.AT):
            continue
        if kind in (codes.LITERAL, codes.IN):
            one, whole = int(symbols(kind, about, blind=False) <= _LETTERS), True
        elif kind in _REPEATS:
            one, whole = _least(list(about[2]))
            one *= int(about[0]) if whole else min(1, int(about[0]))
        elif kind is codes.SUBPATTERN:
            one, whole = _least(list(about[-1]))
        else:
            one, whole = 0, False
        if not one:
            return total, False
        total += one
        if not whole:
            return total, False
    return total, True


def _kind(symbol: str) -> str:
    return "a" if symbol.islower() else "A" if symbol.isupper() else symbol


def _after(states: frozenset[str], items: list[Any], *, blind: bool, ends: bool = False) -> frozenset[str]:
    """How tails grow by a sequence: empty before the word, one sign inside it, two and three after it.

    `ends` where nothing follows the sequence, so that what it looks ahead for belongs to the match."""
    for place, (kind, about) in enumerate(items):
        if all(len(one) == 3 for one in states):
            return states
        final = ends and place + 1 == len(items)
        states = _grown(states, kind, about, blind=blind, ends=final)
        if len(states) > _MOST:
            raise TooManyError
    return states


def _grown(states: frozenset[str], kind: Any, about: Any, *, blind: bool, ends: bool) -> frozenset[str]:
    if kind is codes.ASSERT:
        return _after(states, list(about[1]), blind=blind, ends=True) if ends and about[0] > 0 else states
    if kind is codes.ASSERT_NOT:
        closes = about[0] > 0 and _refuses_words(about[1])
        return frozenset(one + ANY * 2 if closes and len(one) == 1 else one for one in states)
    if kind is codes.AT:
        closes = about in (codes.AT_BOUNDARY, codes.AT_END, codes.AT_END_STRING)
        return frozenset(one + ANY * 2 if closes and len(one) == 1 else one for one in states)
    if kind in _REPEATS:
        return _repeated(states, *about, blind=blind)
    if kind is codes.SUBPATTERN:
        _, added, removed, body = about
        inside = (blind or bool(added & re.IGNORECASE)) and not removed & re.IGNORECASE
        return _after(states, list(body), blind=inside, ends=ends)
    if kind is codes.ATOMIC_GROUP:
        return _after(states, list(about), blind=blind, ends=ends)
    if kind is codes.BRANCH:
        return frozenset().union(*(_after(states, list(part), blind=blind, ends=ends) for part in about[1]))
    if kind not in (codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY):
        raise TooManyError  # a reference back, a condition: not worth following
    signs = symbols(kind, about, blind=blind)
    return frozenset(grown for one in states for sign in signs for grown in _with(one, sign))


def _with(state: str, sign: str) -> tuple[str, ...]:
    """A tail with one more sign of the match."""
    if len(state) == 3:
        return (state,)
    if len(state) == 2:
        return (state + sign,)
    within = (_kind(sign),) if sign in WORD else ()
    if not state:  # a match that opens with a mark is not held to a tail
        return within
    outside = (state + sign,) if sign not in WORD or sign == OTHER else ()
    return (*within, *outside)


def _repeated(states: frozenset[str], low: Any, high: Any, body: Any, *, blind: bool) -> frozenset[str]:
    found, now = (states if int(low) == 0 else frozenset()), states
    for count in range(1, int(high) + 1):
        before, now = now, _after(now, list(body), blind=blind)
        if count >= int(low):
            if now <= found:
                break
            found |= now
        elif now == before:
            found |= now
            break
    return found


def _refuses_words(body: Any) -> bool:
    """Whether a look ahead refuses every letter and digit, so that a word ends there."""
    items = list(body)
    if len(items) != 1:
        return False
    kind, about = items[0]
    if kind is codes.BRANCH:
        return any(_refuses_words(part) for part in about[1])
    return kind is codes.IN and about[0][0] is not codes.NEGATE and (codes.CATEGORY, codes.CATEGORY_WORD) in about
