"""Known addresses and other known phrases in a text: the street with its number, unit and any form of its kind, the
town, and what else a register names in words (employer, hospital).

A house number by itself, a street's name without its kind or number, and a town that is an everyday word are left."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workup.deid.finding import Finding
from workup.deid.known_values.misspellings import Misspellings
from workup.deid.known_values.support import CAN_BE_MISSPELT, NEEDS, Need, Support
from workup.deid.settings import Settings
from workup.deid.text_view import Page, words_in
from workup.deid.word_lists import words
from workup.text.states import STATES
from workup.text.wordlists import words_of

_SURE, _MISSPELT = 0.99, 0.9
_UNITS = words("places.units") | {"unit", "room", "rm", "lot", "bldg", "building", "floor", "fl", "trailer", "no"}
_DIRECTIONS = words_of("n s e w ne nw se sw north south east west northeast northwest southeast southwest")
_ZIP = re.compile(r"(?<!\d)\d{5}(?:-\d{4})?(?!\d)")
_STATES = {name.lower() for state in STATES for name in (state.code, state.name)}
_IN = frozenset(("in", "of", "from", "to", "near", "at"))
_LONGEST = 400


class _Street(NamedTuple):
    number: str
    name: tuple[str, ...]


def address_parts(value: str, kinds: frozenset[str]) -> list[tuple[str, str]]:
    """An address written as one text, as leaves with their values: street, town, ZIP code. A state is left.

    >>> kinds = frozenset(("street", "st"))
    >>> address_parts("12 Elm St, Apt 4B, Springfield, IL 62704", kinds)
    [('street_address', '12 Elm St, Apt 4B'), ('city', 'Springfield'), ('zip', '62704')]
    >>> address_parts("12 Elm St", kinds)
    [('street_address', '12 Elm St')]
    """
    found: list[tuple[str, str]] = []
    streets: list[str] = []
    for piece in re.split(r"[,\n;]", value[:_LONGEST]):
        zips = _ZIP.findall(piece) if streets else []
        rest = _ZIP.sub(" ", piece).strip() if zips else piece.strip()
        own = words_in(rest)
        if not own or " ".join(own) in _STATES:
            pass
        elif any(word in _UNITS or word in kinds or any(map(str.isdigit, word)) for word in own) or not streets:
            streets.append(rest)
        else:
            state = own[-1] in _STATES and len(own) > 1
            found.append(("city", " ".join(rest.split()[:-1]) if state else rest))
        found += [("zip", one) for one in zips]
    return [("street_address", ", ".join(streets)), *found] if streets else found


class Places:
    """The addresses and phrases of one patient, ready to be found."""

    def __init__(self, values: Sequence[tuple[str, str]], settings: Settings) -> None:
        self._kinds = settings.lists["street_types"]
        self._streets: dict[str, list[_Street]] = {}
        self._phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for leaf, value in values:
            own = words_in(value[:_LONGEST])
            if not own or len(own) > 24:
                continue
            if leaf == "street_address":
                self._add_street(own)
            else:
                self._phrases.setdefault(own[0], []).append((tuple(own), leaf))
        self._misspelt = Misspellings(
            word for word in (*self._streets, *self._phrases) if len(word) > 4 and word.isalpha()
        )

    def _add_street(self, own: list[str]) -> None:
        at = next((place for place, word in enumerate(own) if word in _UNITS and place), len(own))
        line = own[:at]
        number = line.pop(0) if line and line[0][:1].isdigit() else ""
        while len(line) > 1 and line[0] in _DIRECTIONS:
            line.pop(0)
        while len(line) > 1 and (line[-1] in _DIRECTIONS or line[-1] in self._kinds):
            line.pop()
        if line and not (len(line) == 1 and (line[0] in self._kinds or len(line[0]) < 2)):
            self._streets.setdefault(line[0], []).append(_Street(number, tuple(line)))

    def find(self, page: Page, support: Support) -> Iterator[Finding]:
        """All of them on a page."""
        read: dict[str, str] = {}
        if self._misspelt:
            for word in filter(CAN_BE_MISSPELT.__getitem__, page.vocabulary):
                if word not in self._streets and word not in self._phrases and (meant := self._misspelt.meant(word)):
                    read[word] = meant[0]
        opened = self._streets.keys() | self._phrases.keys() | read.keys()
        for at in page.of(opened):
            word = read.get(page.words[at], page.words[at])
            off = page.words[at] in read
            for street in self._streets.get(word, ()):
                yield from self._street(page, at, street, off=off)
            for phrase, leaf in self._phrases.get(word, ()):
                yield from _phrase(page, at, phrase, leaf, support, off=off)

    def _street(self, page: Page, at: int, street: _Street, *, off: bool) -> Iterator[Finding]:
        last = at + len(street.name) - 1
        if tuple(page.words[at + 1 : last + 1]) != street.name[1:]:
            return
        first = at
        if first and page.words[first - 1] in _DIRECTIONS and page.gaps[first - 1] in (" ", ". "):
            first -= 1
        numbered = bool(street.number) and first > 0 and page.words[first - 1] == street.number
        first -= numbered
        kind = last + 1 < page.size and page.words[last + 1] in self._kinds and page.gaps[last] in (" ", "\n", "  ")
        if not numbered and not (kind and page.cases[at] != "l"):
            return
        last += kind
        last = _with_unit(page, last)
        evidence = "known: address" if numbered else "known: street"
        if off:
            evidence += ", one letter off"
        score = _MISSPELT if off else _SURE
        yield Finding(page.starts[first], page.ends[last], "street_address", score, "known.place", (evidence, "shape"))


def _with_unit(page: Page, last: int) -> int:
    """The address with its direction and unit."""
    towards = last + 1 < page.size and page.words[last + 1] in _DIRECTIONS and page.gaps[last] in (" ", ". ")
    if towards and page.cases[last + 1] in "iut":
        last += 1
    if last + 2 < page.size and page.words[last + 1] in _UNITS and page.gaps[last].strip(" .,\n") == "":
        value = page.words[last + 2]
        if len(value) < 6 and (value[:1].isdigit() or len(value) == 1) and len(page.gaps[last + 1]) < 4:
            return last + 2
    if last + 1 < page.size and page.gaps[last].strip(" ,.") == "#" and len(page.words[last + 1]) < 6:
        return last + 1
    return last


def _phrase(
    page: Page, at: int, phrase: tuple[str, ...], leaf: str, support: Support, *, off: bool
) -> Iterator[Finding]:
    last = at + len(phrase) - 1
    if tuple(page.words[at + 1 : last + 1]) != phrase[1:] or any(len(page.gaps[one]) > 3 for one in range(at, last)):
        return
    if not _stands(page, at, last, phrase, leaf, support, off=off):
        return
    what = "known: town" if leaf == "city" else "known: what the register names"
    if off:
        what += ", one letter off"
    score = _MISSPELT if off else _SURE
    yield Finding(page.starts[at], page.ends[last], leaf, score, "known.place", (what, "label"))


def _stands(page: Page, at: int, last: int, phrase: tuple[str, ...], leaf: str, support: Support, *, off: bool) -> bool:
    """Whether what is written there is the phrase and not a word of the sentence."""
    capital = page.cases[at] in "tu" or support.small  # where nothing has a capital, its absence says nothing
    if leaf == "city" and _before_state(page, last):
        return True
    if len(phrase) > 1:
        capital = capital or any(page.cases[one] in "tui" for one in range(at, last + 1))
        return capital or any(NEEDS[word] is Need.NOTHING for word in phrase)
    need = NEEDS[phrase[0]]
    if need is Need.NOTHING:
        return capital or not off
    if leaf == "city":  # a town that is a word is one where somebody is in it
        return capital and need is Need.CAPITAL and at > 0 and page.words[at - 1] in _IN and page.gaps[at - 1] == " "
    return need is Need.CAPITAL and page.cases[at] == "t" and not page.opens_sentence(at)


def _before_state(page: Page, last: int) -> bool:
    """Whether a state follows: a town that is a word is one beside it."""
    if last + 1 >= page.size or page.gaps[last] not in (", ", " ", "\n", ","):
        return False
    two = " ".join(page.words[last + 1 : last + 3])
    return page.words[last + 1] in _STATES - {"in", "or", "me", "ok", "hi", "oh"} or two in _STATES
