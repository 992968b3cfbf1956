"""Text as shapes ("Xxxx Xxxxx", "999-99-9999") and keyed hashes: what a report may show of a note.

A shape has one character for each of the text, so that offsets hold in it. What it gives away, on purpose: lengths of
words, capitals, and which places are digits, punctuation or blanks. What it never gives away: any letter or digit, the
script (letters of scripts without capitals, emoji, control characters and the punctuation of other scripts are all `o`)
and accents. Whoever has a note can pick its shape out; a shape is for the eyes of those who run the study."""

from __future__ import annotations

import hashlib
import hmac
import re
import string
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple, Protocol

from workup.errors import InputError
from workup.tasks.spans.errors.entities import normalised

UPPER, LOWER, DIGIT, OTHER = "X", "x", "9", "o"
CLASSES = UPPER + LOWER + DIGIT + OTHER
SHORTEST_KEY = 16  # bytes; a shorter key can be guessed, and with it every name that was hashed
_KEPT_BLANKS = " \t\n\r"
# Punctuation that many languages share stays: ASCII with its symbols, Latin-1, and the general punctuation of Unicode.
_KEPT_MARKS = set(string.punctuation) | {
    chr(code)
    for code in (*range(0xA0, 0x100), *range(0x2010, 0x2028), *range(0x2030, 0x205F))
    if unicodedata.category(chr(code)).startswith("P")
}


def _class_of(character: str) -> str:
    if character in _KEPT_BLANKS or character in _KEPT_MARKS:
        return character
    if character.isspace():
        return " "
    kind = unicodedata.category(character)
    if kind in ("Lu", "Lt"):
        return UPPER
    if kind == "Ll" or kind.startswith("M"):  # a mark belongs to a letter
        return LOWER
    return DIGIT if kind.startswith("N") else OTHER


class _Classes(dict[int, str]):
    """Classes by code point, made as they are met."""

    def __missing__(self, code: int) -> str:
        self[code] = found = _class_of(chr(code))
        return found


_TABLE = _Classes({code: _class_of(chr(code)) for code in range(128)})


def shape(text: str) -> str:
    """The text with its letters as X and x, its digits as 9 and the rest as the module says; its length is kept.

    >>> shape("Ann O’Neil, 123-45-6789"), shape("Ünal 李明 ½")
    ('Xxx X’Xxxx, 999-99-9999', 'Xxxx oo 9')
    """
    return text.translate(_TABLE)


def coarse_shape(text: str, *, longest: int = 4) -> str:
    """A shape for counting alike ones: runs of one class are cut at `longest` and blanks collapsed.

    Fewer words have a length of their own in it, so it reveals less; offsets do not hold.

    >>> coarse_shape("Alexandra Wong"), coarse_shape("MRN 00123456")
    ('Xxxxx Xxxx', 'XXX 9999')
    """
    if longest < 1:
        raise InputError("longest must be 1 or more", got=str(longest))
    return " ".join(_longer_runs(longest).sub(r"\1", shape(text)).split())


@cache
def _longer_runs(longest: int) -> re.Pattern[str]:
    """Runs of one class that are longer; the first group is what stays of them."""
    return re.compile(rf"(([Xx9o])\2{{{longest - 1}}})\2+")


class Placed(Protocol):
    """Anything with a start and an end."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


class Run(NamedTuple):
    """A stretch of a document on which the same spans lie: places in the list of gold spans and of predictions."""

    start: int
    end: int
    golds: tuple[int, ...] = ()
    predictions: tuple[int, ...] = ()


class DocumentShape(NamedTuple):
    """A whole document for a viewer: its shape, and runs that cover it from its first to its last character."""

    shape: str
    runs: tuple[Run, ...]


def document_shape(text: str, golds: Sequence[Placed], predictions: Sequence[Placed]) -> DocumentShape:
    """The shape of a document, cut wherever a gold span or a prediction begins or ends.

    What lies outside the text is cut off at its end; a span wholly outside has no run.

    >>> from workup.documents.document import Span
    >>> document_shape("Ann Lee, 44", [Span(0, 7, "name_patient")], [Span(0, 3, "NAME")]).runs
    (Run(start=0, end=3, golds=(0,), predictions=(0,)), Run(start=3, end=7, golds=(0,), predictions=()),
     Run(start=7, end=11, golds=(), predictions=()))
    """
    borders = {0, len(text)}
    opens: dict[int, list[tuple[int, int]]] = {}
    closes: dict[int, list[tuple[int, int]]] = {}
    for side, spans in enumerate((golds, predictions)):
        for place, span in enumerate(spans):
            start, end = max(span.start, 0), min(span.end, len(text))
            if start < end:
                borders.update((start, end))
                opens.setdefault(start, []).append((side, place))
                closes.setdefault(end, []).append((side, place))
    ordered = sorted(borders)
    here: set[tuple[int, int]] = set()
    runs = []
    for start, end in pairwise(ordered):
        here.difference_update(closes.get(start, ()))
        here.update(opens.get(start, ()))
        sides = [tuple(sorted(place for of, place in here if of == side)) for side in (0, 1)]
        runs.append(Run(start, end, sides[0], sides[1]))
    return DocumentShape(shape(text), tuple(runs))


def keyed_hash(surface: str, key: bytes) -> str:
    """HMAC-SHA-256 of the normalised surface, as 64 hexadecimal digits: equal for mentions that say the same.

    Only as secret as its key, which is never stored or shown: names and numbers are few enough to try them all.

    >>> keyed_hash("Ann  LEE", b"0123456789abcdef") == keyed_hash("ann lee,", b"0123456789abcdef")
    True
    """
    if not isinstance(key, bytes | bytearray) or len(key) < SHORTEST_KEY:
        size = f"{len(key)} bytes" if isinstance(key, bytes | bytearray) else "something else"
        raise InputError(
            f"the key of a keyed hash must be {SHORTEST_KEY} random bytes or more",
            got=size,
            remedy="make one with  python -c 'import secrets; print(secrets.token_hex(32))'  and keep it in a file "
            "that only you can read",
        )
    # Half of a surrogate pair is no character, but texts hold them.
    return hmac.new(bytes(key), normalised(surface).encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
