"""Phrases with slots for values: read from text such as " on {date} at {time}" and filled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from workup.documents.builder import Marked
from workup.errors import StudyError, near
from workup.values import LEAVES, forms

HARD_NEGATIVE = "hard_negative"
_SLOT = re.compile(r"\{(\w{1,40})(?::([\w|]{1,2000}))?\}")
# What may be right beside a value: blanks and marks that no tokenizer takes into a word.
_BESIDE = frozenset(" \t\r\n,.;:()[]\"'/-#")


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a value of a leaf, in one of some forms of it or, where none is named, in any."""

    leaf: str
    forms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Phrase:
    """Words and slots in reading order."""

    parts: tuple[str | Slot, ...]

    @cached_property
    def leaves(self) -> frozenset[str]:
        """The leaves of its slots; that of a hard negative is `hard_negative`."""
        return frozenset(part.leaf for part in self.parts if isinstance(part, Slot))

    @classmethod
    def read(cls, text: str, *, where: str) -> Phrase:
        """From text with leaves in braces; a value that would be glued to a word or to another is refused.

        >>> Phrase.read(" on {date:iso|long} at {time}", where="sites").parts
        (' on ', Slot(leaf='date', forms=('iso', 'long')), ' at ', Slot(leaf='time', forms=()))
        """
        parts: list[str | Slot] = []
        place = 0
        for match in _SLOT.finditer(text):
            parts += [text[place : match.start()], _slot(match[1], match[2], where)]
            place = match.end()
        parts.append(text[place:])
        kept = tuple(part for part in parts if part != "")
        if not any(isinstance(part, Slot) for part in kept):
            raise StudyError(f"{where}: a phrase needs at least one leaf in braces, such as {{date}}.")
        for one, other in pairwise(kept):
            left = one[-1] if isinstance(one, str) else ""
            right = other[0] if isinstance(other, str) else ""
            if (left or right) not in _BESIDE:  # neither: two values without a word between them
                raise StudyError(
                    f"{where}: a value would be glued to what stands beside it. "
                    "To fix: put a blank or a mark between the brace and the word."
                )
        return cls(kept)

    def filled(self, value: Callable[[Slot], list[str | Marked]], *, left: str, right: str) -> list[str | Marked]:
        """The pieces to insert between two characters of a text, with the blanks that are needed towards them."""
        pieces: list[str | Marked] = []
        for part in self.parts:
            made = [part] if isinstance(part, str) else value(part)
            # A stop that the value brings itself closes the sentence too.
            if pieces and isinstance(made[0], str) and made[0].startswith(".") and _ends(pieces[-1], "."):
                made = [made[0][1:], *made[1:]]
            pieces += made
        if left and not left.isspace() and left not in "([\"'" and _starts(pieces[0]) not in " \n,.;:)":
            pieces.insert(0, " ")
        if right and not right.isspace() and right not in ",.;:)]" and not _last(pieces).isspace():
            pieces.append(" ")
        return [piece for piece in pieces if piece != ""]


def _slot(leaf: str, named: str | None, where: str) -> Slot:
    if leaf != HARD_NEGATIVE and leaf not in LEAVES:
        raise StudyError(f"{where}: '{leaf}' is no leaf that text can hold; {near(leaf, (*LEAVES, HARD_NEGATIVE))}.")
    known = () if leaf == HARD_NEGATIVE else forms(leaf)
    asked = tuple(named.split("|")) if named else ()
    for form in asked:
        if form not in known:
            raise StudyError(f"{where}: '{leaf}' has no form '{form[:40]}'; {near(form, known)}.")
    return Slot(leaf, asked)


def _text(piece: str | Marked) -> str:
    return piece if isinstance(piece, str) else piece.text


def _starts(piece: str | Marked) -> str:
    return _text(piece)[:1]


def _ends(piece: str | Marked, mark: str) -> bool:
    return not isinstance(piece, str) and piece.text.endswith(mark)


def _last(pieces: list[str | Marked]) -> str:
    return next((_text(piece)[-1] for piece in reversed(pieces) if _text(piece)), " ")


def glued(text: str, ranges: Iterator[tuple[int, int]] | list[tuple[int, int]]) -> list[int]:
    """Places in the list of those values that are right beside a letter, a digit or another odd character.

    >>> glued("on 3/4/21, MRN12", [(3, 9), (14, 16)])
    [1]
    """
    return [
        i
        for i, (start, end) in enumerate(ranges)
        if (start > 0 and text[start - 1] not in _BESIDE) or (end < len(text) and text[end] not in _BESIDE)
    ]
