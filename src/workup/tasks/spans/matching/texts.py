"""Characters of many texts as flags and running counts: what is ignorable, what a letter or digit, what a token.

Knows Unicode; knows no spans and keeps no text beyond the block it is given."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from workup.tasks.spans.matching.components import Whole

_SOLID, _ALNUM, _WORD = 1, 2, 4
_PAGE = 256
_PAGES = 0x110000 // _PAGE
_HALF = 32
_LOW = np.int64(2**_HALF - 1)


def ignorable(character: str) -> bool:
    """White space and Unicode punctuation: a mask that leaves only these has leaked nothing.

    >>> [ignorable(c) for c in (" ", "-", "\\u2019", "$", "7")]
    [True, True, True, False, False]
    """
    return character.isspace() or unicodedata.category(character).startswith("P")


def _flags(character: str) -> int:
    alnum = character.isalnum()
    word = alnum or character == "_"  # what `\w` matches
    return _SOLID * (not ignorable(character)) + _ALNUM * alnum + _WORD * word


class _Classes:
    """Flags by code point, filled page by page as pages are met: a full table takes longer than most corpora."""

    def __init__(self) -> None:
        self.table = np.zeros(_PAGES * _PAGE, dtype=np.uint8)
        self.filled = np.zeros(_PAGES, dtype=np.bool_)

    def of(self, text: str) -> npt.NDArray[np.uint8]:
        """The flags of each character."""
        if text.isascii():
            codes: npt.NDArray[np.integer] = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
            pages = np.zeros(1, dtype=np.int64)
        else:
            # A half of a surrogate pair is no character, but texts hold them and offsets count them.
            codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
            pages = np.flatnonzero(np.bincount((codes // _PAGE).astype(np.int64), minlength=_PAGES))
        for page in pages[~self.filled[pages]].tolist():
            first = page * _PAGE
            self.table[first : first + _PAGE] = [_flags(chr(code)) for code in range(first, first + _PAGE)]
            self.filled[page] = True
        return self.table.take(codes)


_CLASSES = _Classes()


class BlockText:
    """The texts of a block laid end to end, one place between neighbours, with counts up to every place.

    >>> text = BlockText(["Dr. Ann", "x_1"])
    >>> text.base.tolist(), text.solid(np.array([0]), np.array([7])).tolist(), text.tokens(np.array([3]), np.array([9]))
    ([0, 8], [5], (array([1]), array([3])))
    """

    def __init__(self, texts: Sequence[str]) -> None:
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        self.base: Whole = np.cumsum(lengths + 1) - lengths - 1
        flags = _CLASSES.of("\n".join(texts) + "\n")
        # Two counts in one running sum: solid characters below, letters and digits above.
        both = (flags & _SOLID).astype(np.int64) | ((flags & _ALNUM).astype(np.int64) << (_HALF - 1))
        self._counts = np.concatenate([[0], np.cumsum(both)])
        word = (flags & _WORD) != 0
        starts = word.copy()
        starts[1:] &= ~word[:-1]
        self._begun = np.concatenate([[0], np.cumsum(starts)])
        self._within = np.append(word & ~starts, False)  # a place inside a token, past its first character

    def solid(self, start: Whole, end: Whole) -> Whole:
        """Characters between two places that are neither white space nor punctuation."""
        found: Whole = (self._counts.take(end) - self._counts.take(start)) & _LOW
        return found

    def alnum(self, start: Whole, end: Whole) -> Whole:
        """Letters and digits between two places."""
        found: Whole = (self._counts.take(end) - self._counts.take(start)) >> _HALF
        return found

    def tokens(self, start: Whole, end: Whole) -> tuple[Whole, Whole]:
        """The half-open range of tokens (`\\w+`) of which a stretch holds at least one character."""
        return self._begun.take(start) - self._within.take(start), self._begun.take(end)

    def token_counts(self, documents: int) -> Whole:
        """Tokens of each text."""
        edges = np.append(self.base, len(self._begun) - 1)
        return np.diff(self._begun.take(edges))[:documents]
