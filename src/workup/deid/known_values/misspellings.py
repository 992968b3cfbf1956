"""Which known value a misspelt one stands for, in time that does not grow with how many are known.

What is left of a word without a letter or two meets what is left of the value: a letter too few, too many, another
one, or two swapped. Knows strings only."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from workup.text.typos import apart

_LONG = 8  # letters from which on two typos are read
_LONGEST = 40  # what is longer is no word or number that a person types


class Misspellings:
    """Values ready to be met through a typo; through two where they are long and `twice` is asked for.

    >>> known = Misspellings(["trevino", "castellanos"], twice=True)
    >>> known.meant("trevnio"), known.meant("kastelanos"), known.meant("trevor")
    (('trevino', 1), ('castellanos', 2), None)
    """

    def __init__(self, values: Iterable[str], *, twice: bool = False) -> None:
        self._values = [value for value in values if len(value) <= _LONGEST]
        self._most = {value: 2 if twice and len(value) >= _LONG else 1 for value in self._values}
        self._twice = 2 in self._most.values()

    def __bool__(self) -> bool:
        return bool(self._values)

    @cached_property
    def _near(self) -> dict[str, list[str]]:
        """What is left of each value, with the value: made when the first word is asked for."""
        near: dict[str, list[str]] = {}
        for value, most in self._most.items():
            for piece in _shortened(value, most):
                near.setdefault(piece, []).append(value)
        return near

    def meant(self, word: str) -> tuple[str, int] | None:
        """The value that a word stands for and how many typos apart it is; None where none is near."""
        if len(word) > _LONGEST + 2:
            return None
        best: tuple[int, str] | None = None
        near = self._near
        for piece in _shortened(word, 2 if self._twice and len(word) >= _LONG - 1 else 1):
            for value in near.get(piece, ()):
                edits = apart(word, value, self._most[value])
                if 0 < edits <= self._most[value] and (best is None or (edits, value) < best):
                    best = (edits, value)
        return None if best is None else (best[1], best[0])


def _shortened(word: str, times: int) -> set[str]:
    found = {word[:i] + word[i + 1 :] for i in range(len(word))}
    if times == 2:
        found |= {one[:i] + one[i + 1 :] for one in tuple(found) for i in range(len(one))}
    found.add(word)
    return found
