"""Where a pattern can begin: the first characters that its matches may have, so that it is tried at few places.

Characters are folded: every digit as 0, blanks as one, what is not ASCII as one sign. Letters keep their case, which
tells most shapes (a code in capitals, a name) from the plain words around them."""

from __future__ import annotations

import re
import string
from re import _constants as codes  # type: ignore[attr-defined]
from typing import Any

OTHER = "\u00a4"
_SYMBOLS = frozenset(string.ascii_letters + "0_ " + string.punctuation + OTHER + "\x00")
WORD = frozenset(string.ascii_letters + "0_" + OTHER)
_MOST = 4_000
DEPTH = 3
_TABLE = {ord(c): "0" for c in string.digits} | {ord(c): " " for c in string.whitespace + "\x1c\x1d\x1e\x1f"}
_TABLE |= {0x17F: "s", 0x131: "i", 0x130: "i", 0x212A: "k"}  # that a pattern blind to case takes for ASCII letters
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")


class TooManyError(Exception):
    """The pattern opens in more ways than are worth listing."""


def fold(plain: str) -> str:
    """A text with every character folded; as many characters as before.

    >>> fold("DOB\\t1/2 é")
    'DOB 0/0 ¤'
    """
    text = plain.translate(_TABLE)
    if not text.isascii():
        text = _NOT_ASCII.sub(lambda match: "0" if match[0].isdigit() else " " if match[0].isspace() else OTHER, text)
    return _CONTROL.sub("\x00", text) if not text.isprintable() else text


def heads(parsed: Any) -> frozenset[str] | None:
    """The folded first characters of all matches, three or all of a shorter match; fewer if too many; None for any.

    >>> from re import _parser
    >>> sorted(heads(_parser.parse("[Jj]an|feb(?:ruary)?")))
    ['Jan', 'feb', 'jan']
    """
    blind = bool(parsed.state.flags & re.IGNORECASE)
    for depth in range(DEPTH, 0, -1):
        try:
            return frozenset(head[:depth] for head in _Growth(depth).grown({""}, parsed, blind=blind))
        except TooManyError:
            continue
    return None


class _Growth:
    """Beginnings that grow item by item up to a depth; `blind` patterns do not see the case of letters."""

    def __init__(self, depth: int) -> None:
        self._depth = depth

    def grown(self, begun: set[str], items: Any, *, blind: bool) -> set[str]:
        """What the beginnings may become with these items after them."""
        for kind, about in items:
            if all(len(head) >= self._depth for head in begun):
                return begun
            begun = self._with(begun, kind, about, blind=blind)
            if len(begun) > _MOST:
                raise TooManyError
        return begun

    def _with(self, begun: set[str], kind: Any, about: Any, *, blind: bool) -> set[str]:
        if kind in (codes.ASSERT, codes.ASSERT_NOT, codes.AT):
            return begun
        if kind in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            return self._repeated(begun, *about, blind=blind)
        if kind is codes.SUBPATTERN:
            _, added, removed, body = about
            inside = (blind or bool(added & re.IGNORECASE)) and not removed & re.IGNORECASE
            return self.grown(begun, body, blind=inside)
        if kind is codes.ATOMIC_GROUP:
            return self.grown(begun, about, blind=blind)
        if kind is codes.BRANCH:
            return set().union(*(self.grown(begun, part, blind=blind) for part in about[1]))
        signs = symbols(kind, about, blind=blind)
        return {head if len(head) >= self._depth else head + sign for head in begun for sign in signs}

    def _repeated(self, begun: set[str], low: Any, high: Any, body: Any, *, blind: bool) -> set[str]:
        found, now = (set(begun) if int(low) == 0 else set()), begun
        for count in range(1, min(int(high), int(low) + self._depth) + 1):
            now = self.grown(now, body, blind=blind)
            if count >= int(low):
                found |= now
        return found


def symbols(kind: Any, about: Any, *, blind: bool) -> frozenset[str]:
    """The folded signs that one item of a pattern may be."""
    signs = _signs(kind, about)
    return frozenset(case for one in signs for case in (one.lower(), one.upper())) if blind else signs


def _signs(kind: Any, about: Any) -> frozenset[str]:
    if kind is codes.LITERAL:
        return frozenset(fold(chr(about)))
    if kind is not codes.IN:
        return _SYMBOLS
    found: set[str] = set()
    for one, what in about:
        if one is codes.LITERAL:
            found |= set(fold(chr(what)))
        elif one is codes.RANGE:
            found |= {fold(chr(code)) for code in range(what[0], min(what[1], 0x2FF) + 1)}
        elif one is codes.CATEGORY:
            found |= _category(what)
    if about[0][0] is codes.NEGATE:
        # A class that leaves out some letters or digits leaves others of the same folded sign.
        single = {s for s in found if not s.isalnum() and s not in (OTHER, " ", "\x00")}
        words = (
            WORD if any(one is codes.CATEGORY and what is codes.CATEGORY_WORD for one, what in about) else frozenset()
        )
        return _SYMBOLS - single - words
    return frozenset(found)


def _category(category: Any) -> frozenset[str]:
    if category is codes.CATEGORY_DIGIT:
        return frozenset("0")
    if category is codes.CATEGORY_WORD:
        return WORD
    if category is codes.CATEGORY_SPACE:
        return frozenset(" ")
    return _SYMBOLS
