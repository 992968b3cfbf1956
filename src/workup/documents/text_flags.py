"""Characters of many texts as flags and running counts: what is ignorable, what a letter or digit, what a token.

Knows Unicode; knows no spans and keeps no text beyond the block it is given."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Bools, Whole

_SOLID, _ALNUM, _WORD = 1, 2, 4
_PAGE = 256
_PAGES = 0x110000 // _PAGE


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
    """Bools by code point, filled page by page as pages are met: a full table takes longer than most corpora."""

    def __init__(self) -> None:
        self._ascii = bytes(_flags(chr(code)) if code < 128 else 0 for code in range(256))
        self._table = np.zeros(_PAGES * _PAGE, dtype=np.uint8)
        self._filled = np.zeros(_PAGES, dtype=np.bool_)

    def of(self, text: str) -> npt.NDArray[np.uint8]:
        """The flags of each character."""
        if text.isascii():
            return np.frombuffer(text.encode("ascii").translate(self._ascii), dtype=np.uint8)
        # A half of a surrogate pair is no character, but texts hold them and offsets count them.
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        pages = np.flatnonzero(np.bincount((codes // _PAGE).astype(np.int64), minlength=_PAGES))
        for page in pages[~self._filled[pages]].tolist():
            first = page * _PAGE
            self._table[first : first + _PAGE] = [_flags(chr(code)) for code in range(first, first + _PAGE)]
            self._filled[page] = True
        return self._table.take(codes)


_CLASSES = _Classes()


class BlockText:
    """The texts of a block laid end to end, one place between neighbours; counts are made when they are asked for.

    >>> text = BlockText(["Dr. Ann", "x_1"])
    >>> text.solid(np.array([0]), np.array([7])).tolist(), text.tokens(np.array([3]), np.array([9]))
    ([5], (array([1]), array([3])))
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        self._flags = _CLASSES.of("\n".join(texts) + "\n")

    def solid(self, start: Whole, end: Whole) -> Whole:
        """Characters between two places that are neither white space nor punctuation."""
        return self._solid_before.take(end) - self._solid_before.take(start)

    def alnum(self, start: Whole, end: Whole) -> Whole:
        """Letters and digits between two places."""
        return self._alnum_before.take(end) - self._alnum_before.take(start)

    def tokens(self, start: Whole, end: Whole) -> tuple[Whole, Whole]:
        """The half-open range of tokens (`\\w+`) of which a stretch holds at least one character."""
        return self._tokens_before.take(start) - self._within.take(start), self._tokens_before.take(end)

    def token_counts(self) -> Whole:
        """Tokens of each text."""
        ends = np.cumsum(self._lengths + 1)
        return np.diff(self._tokens_before.take(np.append(0, ends)))

    @cached_property
    def _solid_before(self) -> npt.NDArray[np.int64]:
        return _before((self._flags & _SOLID) != 0)

    @cached_property
    def _alnum_before(self) -> npt.NDArray[np.int64]:
        return _before((self._flags & _ALNUM) != 0)

    @cached_property
    def _starts(self) -> Bools:
        word: Bools = (self._flags & _WORD) != 0
        starts = word.copy()
        starts[1:] &= ~word[:-1]
        return starts

    @cached_property
    def _tokens_before(self) -> npt.NDArray[np.int64]:
        return _before(self._starts)

    @cached_property
    def _within(self) -> Bools:
        """Places inside a token, past its first character."""
        inside = np.zeros(len(self._flags) + 1, dtype=np.bool_)
        np.logical_and((self._flags & _WORD) != 0, ~self._starts, out=inside[:-1])
        return inside


def _before(marks: Bools) -> npt.NDArray[np.int64]:
    """How many places are marked before each place, and before the end."""
    found = np.zeros(len(marks) + 1, dtype=np.int64)
    np.cumsum(marks, out=found[1:])
    return found
