"""What a surface form is: how it is written and how often. Leaves hold their forms by name; knows no leaf."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from workup.values.draws import Chance
from workup.values.patients import Patient

# Text, and what it names within the patient's world ("phone", "relative:1"); "" for nothing that is met again.
Written = tuple[str, str]
Write = Callable[[Patient, Chance, datetime.date], Written]
_OFTEN = 4  # how many times as often as the others a usual form comes


class Form(NamedTuple):
    """One surface form of a leaf."""

    write: Write
    weight: int
    subtype: str | None


Forms = dict[str, Form]


def drawn(
    writes: Mapping[str, Write], *, usual: Collection[str] = (), subtypes: Mapping[str, str] | None = None
) -> Forms:
    """Forms that need draws or the day; `usual` ones come four times as often as the others."""
    kinds = subtypes or {}
    return {name: Form(write, _OFTEN if name in usual else 1, kinds.get(name)) for name, write in writes.items()}


def own(
    thing: str,
    writes: Mapping[str, Callable[[Patient], str]],
    *,
    usual: Collection[str] = (),
    others: Collection[str] = (),
    subtypes: Mapping[str, str] | None = None,
) -> Forms:
    """Forms that depend on the patient alone. All name one thing, but for `others`, each a thing of its own."""

    def fixed(name: str, write: Callable[[Patient], str]) -> Write:
        called = f"{thing}:{name}" if name in others else thing
        return lambda patient, chance, when: (write(patient), called)

    return drawn({name: fixed(name, write) for name, write in writes.items()}, usual=usual, subtypes=subtypes)


def listed(thing: str, lists: Mapping[str, tuple[str, ...]], *, usual: Collection[str] = ()) -> Forms:
    """Forms that are drawn from lists of texts."""

    def picked(options: tuple[str, ...]) -> Write:
        def write(patient: Patient, chance: Chance, when: datetime.date) -> Written:
            text = chance.pick(options)
            return text, f"{thing}:{text.casefold()}" if thing else ""

        return write

    return drawn({name: picked(options) for name, options in lists.items()}, usual=usual)


def grouped(text: str, *sizes: int, joint: str = " ") -> str:
    """The first characters of a text in groups of these sizes.

    >>> grouped("123456789", 3, 2, 4, joint="-")
    '123-45-6789'
    """
    pieces, at = [], 0
    for size in sizes:
        pieces.append(text[at : at + size])
        at += size
    return joint.join(pieces)


def fours(text: str) -> str:
    """Groups of four, as on cards."""
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))
