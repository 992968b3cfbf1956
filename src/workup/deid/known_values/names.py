"""Known names in a text: whole, turned round, in part, as initials, in short forms, misspelt, joined or torn apart.

What is a single word of a name must be supported (`support.py`); two parts of one name side by side support each
other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from workup.deid.finding import Finding
from workup.deid.known_values.misspellings import Misspellings
from workup.deid.known_values.support import CAN_BE_MISSPELT, NEEDS, Need, Support, is_of_sentences
from workup.deid.names.word_weights import PARTICLES, SUFFIXES, weigh
from workup.deid.names.words import ABBREVIATIONS, KIN
from workup.deid.text_view import Page, words_in
from workup.deid.word_lists import words
from workup.text.typos import as_letters
from workup.text.wordlists import function_words, read_lists

WHOSE = {"name_patient": "patient's name", "name_relative": "relative's name", "name_provider": "clinician's name"}
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_SURE, _MISSPELT = 0.99, 0.9
_SPELT_OUT = 6  # letters from which on a word in capitals is no abbreviation
_LONGEST_NAME = 8  # words
_LEAST_MISSPELT = 4  # letters of a name that is known through a typo
_CREDENTIALS = words("names.mixed_credentials") | {"md", "do", "rn", "np", "pa", "dds", "dmd", "dpm", "lpn"}
_TITLES = words("names.abbreviated_titles") | {"doctor", "miss", "mister", "professor"}
_BESIDE = SUFFIXES | _TITLES | KIN
_ASIDE = re.compile(r"\([^()]{0,200}\)")
_BETWEEN = frozenset(" \t\n.,^-\"'()")
_SMALL_PARTS = PARTICLES | SUFFIXES
_AFTER_INITIAL = frozenset((" ", ". ", ".", "\n", ".\n"))
_WHOLE_GAPS = frozenset((" ", ", ", "-", ". ", "\n", ",", "^", "  ", "- ", " -", " - ", "-\n", ".", ",\n", ' "', '" '))


class Person(NamedTuple):
    """A name as a register has it, in plain small letters: what comes first, and what the family is called."""

    leaf: str
    given: tuple[str, ...]
    family: tuple[str, ...]


def person(leaf: str, value: str) -> Person | None:
    """A full name taken apart: "Ada de la Cruz", "CRUZ, Ada", "CRUZ^ADA"; None where no word of a name is left.

    >>> person("name_patient", "Dr. Ada R. de la Cruz, Jr.")
    Person(leaf='name_patient', given=('ada', 'r'), family=('cruz',))
    >>> person("name_relative", "O'Hara, Rose (sister)")
    Person(leaf='name_relative', given=('rose',), family=("o'hara",))
    """
    said = _ASIDE.sub(" ", value)
    head, comma, tail = said.partition("^" if "^" in said else ",")
    before, after = _name_words(head), _name_words(tail.replace("^", " ").replace(",", " "))
    if comma and before and after:
        return Person(leaf, after, before)
    every = before or after
    if not every:
        return None
    return Person(leaf, every[:-1], every[-1:]) if len(every) > 1 else Person(leaf, (), every)


def _name_words(text: str) -> tuple[str, ...]:
    """The words of a name, without titles, relations, suffixes and small words; one that closes a name is no small one.

    >>> _name_words("Mr. Tran Van Do"), _name_words("Jr."), _name_words("Ludwig van Beek, MD")
    (('tran', 'do'), (), ('ludwig', 'beek'))
    """
    found = [word for word in words_in(text) if not (word in _BESIDE or any(map(str.isdigit, word)))]
    if len(found) > 2 and found[-1] in _CREDENTIALS - PARTICLES:
        found.pop()
    return tuple(word for place, word in enumerate(found, start=1) if word not in PARTICLES or place == len(found))


def small_family(value: str) -> str | None:
    """A family name of one letter with the small words before it, which is looked for as a phrase.

    >>> small_family("Maria de la O"), small_family("Maria O. Lopez")
    ('de la o', None)
    """
    found = words_in(value.partition(",")[0])
    if len(found) < 2 or len(found[-1]) > 1 or found[-2] not in PARTICLES:
        return None
    first = len(found) - 2
    while first and found[first - 1] in PARTICLES:
        first -= 1
    return " ".join(found[first:])


@cache
def _short_forms() -> dict[str, tuple[str, ...]]:
    read = read_lists((files("workup.deid") / "data" / "short_forms.yaml").read_text(encoding="utf-8"))
    return {name: tuple(short.split()) for name, short in read.items()}


class _Part(NamedTuple):
    people: frozenset[int]
    need: Need
    short: bool  # a short form, which nobody wrote down for this patient


class Names:
    """The names of one patient and of the people around, ready to be found."""

    def __init__(self, people: Sequence[Person]) -> None:
        self._people = people
        parts: dict[str, set[int]] = {}
        short: dict[str, set[int]] = {}
        for number, one in enumerate(people):
            for word in (*one.given, *one.family):
                for form in {word, word.replace("'", "")}:
                    if len(form) > 1:
                        parts.setdefault(form, set()).add(number)
            for word in one.given:
                for form in _short_forms().get(word, ()):
                    short.setdefault(form, set()).add(number)
        self._parts = {word: _Part(frozenset(who), NEEDS[word], False) for word, who in parts.items()}
        for word, who in short.items():
            if word not in self._parts:
                self._parts[word] = _Part(frozenset(who), max(Need.CAPITAL, NEEDS[word]), True)
        self._letters = [frozenset(word[0] for word in (*one.given, *one.family)) for one in people]
        self._initials = _initials(people)
        self._joined = _joined(people)
        self._misspelt = Misspellings((word for word in parts if len(word) >= _LEAST_MISSPELT), twice=True)
        self._torn = {word for word in parts if len(word) >= 5}

    def find(self, page: Page, support: Support) -> Iterator[Finding]:
        """All mentions on a page."""
        hits = self._hits(page, support)
        places = sorted(hits)
        at = 0
        while at < len(places):
            run = [places[at]]
            while at + 1 < len(places) and len(run) < _LONGEST_NAME and self._goes_on(page, run, places[at + 1], hits):
                at += 1
                run.append(places[at])
            yield from self._mentions(page, run, hits, support)
            at += 1
        yield from self._torn_apart(page, support)
        yield from self._as_initials(page, support)
        yield from self._as_one_word(page)

    def _hits(self, page: Page, support: Support) -> dict[int, tuple[str, str]]:
        """Words of the page that are words of a name: the name's own spelling, and how the text's differs."""
        in_sentences = function_words().__contains__ if support.small else is_of_sentences
        hits = {
            at: (page.words[at], "")
            for at in page.of(self._parts)
            if page.cases[at] != "l" or not in_sentences(page.words[at])
        }
        read: dict[str, tuple[str, str]] = {}
        for word in filter(CAN_BE_MISSPELT.__getitem__, page.vocabulary):
            if word not in self._parts and (meant := self._misspelt.meant(word)) is not None:
                name, edits = meant
                if len(name) > _LEAST_MISSPELT or word[0] == name[0]:
                    read[word] = (name, "one letter off" if edits == 1 else "two letters off")
        for at in page.figures:
            word = page.words[at]
            if not word.isdigit() and len(word) <= 24 and sum(map(str.isalpha, word)) >= 3:
                meant_word = next((one for one in as_letters(word) if one in self._parts), None)
                if meant_word is not None:
                    read[word] = (meant_word, "figures for letters")
        if read:
            hits |= {at: read[page.words[at]] for at in page.of(read)}
        # A word of its own is read as a typo only where a name is due: after a title, beside a part of the name.
        due = {at + 1 for at in page.of(support.titles)} | {at + step for at in hits for step in (-1, 1)}
        for at in due:
            if 0 <= at < page.size and at not in hits and page.cases[at] in "tu" and len(page.words[at]) > 3:
                near = self._misspelt.meant(page.words[at])
                if near is not None and near[1] == 1:
                    hits[at] = (near[0], "one letter off")
        return hits

    def _torn_apart(self, page: Page, support: Support) -> Iterator[Finding]:
        """Words that a stray blank or the end of a line tore apart."""
        if self._torn.isdisjoint(map(str.__add__, page.words, page.words[1:])):
            return
        for at, two in enumerate(map(str.__add__, page.words, page.words[1:])):
            if two in self._torn and page.gaps[at] in (" ", "-", "-\n", "\n", "- ", "'"):
                part = self._parts[two]
                if part.need is Need.NOTHING or page.cases[at] in "tu":
                    yield self._finding(page, at, at + 1, min(part.people), ["torn apart"], "known", support)

    def _goes_on(self, page: Page, run: list[int], following: int, hits: dict[int, tuple[str, str]]) -> bool:
        last = run[-1]
        if following - last > 3 or (following - last > 1 and not self._share(hits[last][0], hits[following][0])):
            return False
        for place in range(last, following):
            gap = page.gaps[place]
            if gap == ". " and len(page.words[place]) > 2:
                return False  # the end of a sentence
            if gap not in _WHOLE_GAPS and not (len(gap) < 6 and _BETWEEN.issuperset(gap) and gap.count("\n") < 2):
                return False
        between = range(last + 1, following)
        if not between:
            return True
        # What is between two parts of a name is an initial, a particle, or a name that the register lacks.
        small = all(len(page.words[one]) == 1 or page.words[one] in _SMALL_PARTS for one in between)
        if small or len(between) > 1:
            return small
        capital = page.cases[last + 1] in "tu" and page.cases[following] in "tu"
        return capital or weigh(page.words[last + 1]).odds > 0

    def _share(self, one: str, other: str) -> bool:
        return not self._parts[one].people.isdisjoint(self._parts[other].people)

    def _mentions(
        self, page: Page, run: list[int], hits: dict[int, tuple[str, str]], support: Support
    ) -> Iterator[Finding]:
        who = self._whole(page, run, hits)
        if who is not None:
            yield self._finding(page, run[0], run[-1], who, [hits[at][1] for at in run], "pair", support)
            return
        for at in run:
            name, how = hits[at]
            part = self._parts[name]
            first, last = self._with_initials(page, at, at, part.people, support)
            cue: str | None
            if (first, last) != (at, at) and (support.small or page.cases[at] in "tum") and len(name) > 2:
                cue = "initial"
            else:
                cue = support.of(at, part.need)
                if cue == "known" and how and page.cases[at] == "l" and (len(name) < 6 or how.startswith("two")):
                    cue = support.of(at, Need.CUE)  # a short word in small letters, and not even the name itself
            if how and page.cases[at] == "u" and len(page.words[at]) < _SPELT_OUT and not page.capitals[at]:
                cue = cue if cue in ("title", "label") else None  # PACU is no Pace
            if cue is not None:
                yield self._finding(page, first, last, min(part.people), [how], cue, support)

    def _whole(self, page: Page, run: Sequence[int], hits: dict[int, tuple[str, str]]) -> int | None:
        """Whose name it is, where two words or more of one are side by side and not both are words of sentences."""
        named = {hits[at][0] for at in run}
        if len(named) < 2:
            return None
        counts: dict[int, int] = {}
        for name in named:
            for one in self._parts[name].people:
                counts[one] = counts.get(one, 0) + 1
        who = min(counts, key=lambda one: (-counts[one], one))
        if counts[who] < 2:
            return None
        small = all(page.cases[at] == "l" for at in run)
        if small and all(self._parts[name].need is Need.CUE for name in named):
            return None
        return who

    def _with_initials(
        self, page: Page, first: int, last: int, people: Iterable[int], support: Support
    ) -> tuple[int, int]:
        letters = frozenset().union(*(self._letters[one] for one in people))
        loose = (support.small and letters - {"a", "i"}) or ()  # letters that are initials without a capital or a point
        for _ in range(2):
            before = first - 1
            if before < 0 or page.words[before] not in letters or page.gaps[before] not in _AFTER_INITIAL:
                break
            if page.cases[before] != "i" and page.gaps[before][:1] != "." and page.words[before] not in loose:
                break
            first = before
        for _ in range(2):
            after = last + 1
            if after >= page.size or page.words[after] not in letters:
                break
            if page.cases[after] != "i" and page.gaps[after][:1] != "." and page.words[after] not in loose:
                break
            if page.gaps[last] not in (" ", ", ", ",", "\n", ". " if after - 1 > first else " ", "^"):
                break
            last = after
        return first, last

    def _finding(
        self, page: Page, first: int, last: int, who: int, hows: Sequence[str], cue: str, support: Support
    ) -> Finding:
        first, last = self._with_initials(page, first, last, (who,), support)
        if cue == "pair" and last + 1 < page.size and page.gaps[last] == " " and len(page.words[last + 1]) == 1:
            last += page.gaps[last + 1][:1] == "."  # an initial that the register lacks
        if last + 1 < page.size and page.words[last + 1] in SUFFIXES and page.gaps[last] in (" ", ", ", ","):
            last += 1
        start, end = page.starts[first], page.ends[last]
        if page.plain[end : end + 1] == "." and (len(page.words[last]) == 1 or page.words[last] in ("jr", "sr")):
            end += 1
        leaf = self._people[who].leaf
        how = sorted({one for one in hows if one})
        return Finding(
            start,
            end,
            leaf,
            _MISSPELT if how else _SURE,
            "known.name",
            (f"known: {WHOSE.get(leaf, 'name')}{''.join(f', {one}' for one in how)}", cue),
        )

    def _as_initials(self, page: Page, support: Support) -> Iterator[Finding]:
        """J.M.S. with its points wherever it is no abbreviation, JMS where nothing else is called so, JS by a cue."""
        end = -1
        for at in page.of(_LETTERS) if self._initials else ():
            if at <= end or not (support.small or page.cases[at] == "i"):
                continue
            end = at
            while (
                end + 1 < page.size and len(page.words[end + 1]) == 1 and page.gaps[end] in (".", ". ") and end - at < 3
            ):
                end += 1
            letters = "".join(page.words[at : end + 1])
            dotted = end > at and page.gaps[end][:1] == "."
            if dotted and letters in self._initials and self._is_own(at, letters, support):
                yield self._initials_finding(page.starts[at], page.ends[end] + 1, letters)
        for at in page.of(self._initials):
            letters = page.words[at]
            if page.cases[at] == "u" and not page.capitals[at]:
                cue = support.of(at, Need.CUE)
                plain = len(letters) == 3 and letters not in ABBREVIATIONS and NEEDS[letters] is Need.NOTHING
                if cue in ("title", "kin", "label") or plain:
                    yield self._initials_finding(page.starts[at], page.ends[at], letters)

    def _is_own(self, at: int, letters: str, support: Support) -> bool:
        return letters not in ABBREVIATIONS or support.of(at, Need.CUE) in ("title", "label")

    def _initials_finding(self, start: int, end: int, letters: str) -> Finding:
        leaf = self._people[self._initials[letters]].leaf
        return Finding(
            start, end, leaf, _MISSPELT, "known.name", (f"known: {WHOSE.get(leaf, 'name')}, initials", "initial")
        )

    def _as_one_word(self, page: Page) -> Iterator[Finding]:
        """MariaLopez, and login names made of a name: mlopez, lopezm2."""
        figures = {page.words[at].rstrip("0123456789"): at for at in page.figures} if self._joined else {}
        for at in page.of(self._joined):
            yield self._login(page, at, page.words[at])
        for base in figures.keys() & self._joined.keys():
            word = page.words[figures[base]]
            for at in page.of((word,)):
                yield self._login(page, at, base)

    def _login(self, page: Page, at: int, base: str) -> Finding:
        whole, who = self._joined[base]
        leaf = self._people[who].leaf
        label = leaf if whole and page.words[at] == base else "username"
        start = page.starts[at] - (page.plain[page.starts[at] - 1 : page.starts[at]] == "@")
        return Finding(
            start, page.ends[at], label, _SURE, "known.name", (f"known: {WHOSE.get(leaf, 'name')}", "joined")
        )


def _initials(people: Sequence[Person]) -> dict[str, int]:
    found: dict[str, int] = {}
    for number, one in enumerate(people):
        given, family = [word[0] for word in one.given], [word[0] for word in one.family]
        if given and family:
            for last in {family[0], family[-1]}:
                found.setdefault(given[0] + last, number)
                found.setdefault("".join(given[:2]) + last, number)
            for letters in (given + family, [given[0], *family]):
                found.setdefault("".join(letters), number)
    return found


def _joined(people: Sequence[Person]) -> dict[str, tuple[bool, int]]:
    """Names written as one word, and whether both are there in full."""
    found: dict[str, tuple[bool, int]] = {}
    for number, one in enumerate(people):
        family = "".join(one.family).replace("'", "")
        for given in one.given[:1]:
            if len(given) > 1 and len(family) > 1:
                for whole in (given + family, family + given):
                    found.setdefault(whole, (True, number))
                for login in (given[0] + family, family + given[0]):
                    if len(login) > 4 and NEEDS[login] is Need.NOTHING:
                        found.setdefault(login, (False, number))
    return found
