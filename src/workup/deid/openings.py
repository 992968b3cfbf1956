"""Where a pattern can begin: the first characters that its matches may have, so that it is tried at few places.

Characters are folded: letters in lower case, every digit as 0, blanks as one, what is not ASCII as one sign."""

from __future__ import annotations

import re
import string
from re import _constants as codes  # type: ignore[attr-defined]
from typing import Any

OTHER = "\u00a4"
_SYMBOLS = frozenset(string.ascii_lowercase + "0_ " + string.punctuation + OTHER + "\x00")
_WORD = frozenset(string.ascii_lowercase + "0_" + OTHER)
_MOST = 4_000
_DEPTH = 3
_TABLE = {ord(c): "0" for c in string.digits} | {ord(c): " " for c in string.whitespace + "\x1c\x1d\x1e\x1f"}
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")


class TooManyError(Exception):
    """The pattern opens in more ways than are worth listing."""


def fold(low: str) -> str:
    """A text in lower case with every character folded; as many characters as before.

    >>> fold("dob\\t1/2 é")
    'dob 0/0 ¤'
    """
    text = low.translate(_TABLE)
    if not text.isascii():
        text = _NOT_ASCII.sub(lambda match: "0" if match[0].isdigit() else " " if match[0].isspace() else OTHER, text)
    return _CONTROL.sub("\x00", text) if not text.isprintable() else text


def heads(parsed: Any) -> frozenset[str] | None:
    """The folded first characters of all matches: three where matches are that long, else fewer; None for any.

    >>> from re import _parser
    >>> sorted(heads(_parser.parse("[Jj]an|feb(?:ruary)?")))
    ['feb', 'jan']
    """
    for depth in range(min(_DEPTH, int(parsed.getwidth()[0])), 0, -1):
        try:
            found = _grown({""}, parsed, depth)
        except TooManyError:
            continue
        return frozenset(head[:depth] for head in found)
    return None


def _grown(begun: set[str], items: Any, depth: int) -> set[str]:
    """What the beginnings may become with these items behind them, cut at a depth."""
    for kind, about in items:
        if all(len(head) >= depth for head in begun):
            return begun
        begun = _with(begun, kind, about, depth)
        if len(begun) > _MOST:
            raise TooManyError
    return begun


def _with(begun: set[str], kind: Any, about: Any, depth: int) -> set[str]:
    if kind in (codes.ASSERT, codes.ASSERT_NOT, codes.AT):
        return begun
    if kind in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        low, high, body = about
        found, now = (set(begun) if int(low) == 0 else set()), begun
        for count in range(1, min(int(high), int(low) + depth) + 1):
            now = _grown(now, body, depth)
            if count >= int(low):
                found |= now
        return found
    if kind is codes.SUBPATTERN:
        return _grown(begun, about[-1], depth)
    if kind is codes.ATOMIC_GROUP:
        return _grown(begun, about, depth)
    if kind is codes.BRANCH:
        return set().union(*(_grown(begun, part, depth) for part in about[1]))
    symbols = _symbols(kind, about)
    return {head if len(head) >= depth else head + symbol for head in begun for symbol in symbols}


def _symbols(kind: Any, about: Any) -> frozenset[str]:
    if kind is codes.LITERAL:
        return frozenset(fold(chr(about).lower()[:1]))
    if kind is not codes.IN:
        return _SYMBOLS
    found: set[str] = set()
    for one, what in about:
        if one is codes.LITERAL:
            found |= set(fold(chr(what).lower()[:1]))
        elif one is codes.RANGE:
            found |= {fold(chr(code).lower()[:1]) for code in range(what[0], min(what[1], 0x2FF) + 1)}
        elif one is codes.CATEGORY:
            found |= _category(what)
    if about[0][0] is codes.NEGATE:
        # A class that leaves out some letters or digits leaves others of the same folded sign.
        single = {s for s in found if not s.isalnum() and s not in (OTHER, " ", "\x00")}
        words = (
            _WORD if any(one is codes.CATEGORY and what is codes.CATEGORY_WORD for one, what in about) else frozenset()
        )
        return _SYMBOLS - single - words
    return frozenset(found)


def _category(category: Any) -> frozenset[str]:
    if category is codes.CATEGORY_DIGIT:
        return frozenset("0")
    if category is codes.CATEGORY_WORD:
        return _WORD
    if category is codes.CATEGORY_SPACE:
        return frozenset(" ")
    return _SYMBOLS
