"""Where the facts of a case are mentioned in a reply: all names compiled once, the longest met. Knows no status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts.expected_values import Wanted, wanted_of
from workup.tasks.conversation.read.facts.names import SIDE, Name, further_names, names_of, stem
from workup.tasks.conversation.read.names import ALIAS, CONCEPT, FUZZY
from workup.tasks.conversation.read.sentence.fuzzy import can_be_misspelled, misspells
from workup.tasks.conversation.read.sentence.reading import Met
from workup.tasks.conversation.read.sentence.vocabulary import table

GIVEN = frozenset({CONCEPT, ALIAS})
_MOST_REMEMBERED = 20_000  # words; a reply of noise must not fill the memory


class Prepared(NamedTuple):
    """A fact with its names and attributes as they are compared."""

    fact: Fact
    names: tuple[Name, ...]
    wanted: Wanted


class Mention(NamedTuple):
    """Words [start, end) of a sentence that name a fact (by its place in the list of facts)."""

    start: int
    end: int
    fact: int
    name: Name
    fuzzy: bool = False


class _Entry(NamedTuple):
    stems: tuple[str, ...]
    fact: int
    name: Name
    # Longer names that mean something else, with how far before the mention they begin.
    others: tuple[tuple[int, tuple[str, ...]], ...]


@cache
def _other_concepts() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(stem(word) for word in line.split()) for line in table("other_concepts")["phrases"])


def prepare_fact(fact: Fact, *, lexicon: bool = False) -> Prepared:
    """Read the names of a fact, with the attributes that a name itself states where the fact does not.

    With `lexicon` it is met by its brands and synonyms as well.
    """
    names, stated = names_of(fact.names, fact.type, fact.status)
    if lexicon:
        known = {name.stems for name in names}
        for name in further_names(names, fact.type):
            if name.stems not in known:
                known.add(name.stems)
                names.append(name)
    return Prepared(fact, tuple(names), wanted_of({**stated, **fact.attributes}))


def prepare_facts(facts: Iterable[Fact], *, lexicon: bool) -> tuple[Prepared, ...]:
    """The facts of a case; a name that the vocabularies add to one is dropped where the case gives it to another."""
    prepared = [prepare_fact(fact, lexicon=lexicon) for fact in facts]
    if not lexicon:
        return tuple(prepared)
    given = [{name.stems for name in one.names if name.via in GIVEN} for one in prepared]
    kept = []
    for place, one in enumerate(prepared):
        others = set().union(*(stems for other, stems in enumerate(given) if other != place)) - given[place]
        names = tuple(name for name in one.names if name.via in GIVEN or name.stems not in others)
        kept.append(one._replace(names=names))
    return tuple(kept)


class Index:
    """The names of all facts of a case, by first words."""

    def __init__(self, prepared: Sequence[Prepared]) -> None:
        self._facts = [(one.fact.id, one.fact.type) for one in prepared]
        self._opened: dict[str, list[_Entry]] = {}
        self._long: dict[str, str] = {}  # word of a name that may be misspelled: its stem
        self._spelled: dict[str, str] = {}  # words of replies seen so far: the stem they misspell, or nothing
        for place, one in enumerate(prepared):
            own = {name.stems for name in one.names}
            for name in one.names:
                others = _longer(name.stems, own)
                if one.fact.type == "medication":
                    others += _measured(name.stems, own)
                entry = _Entry(name.stems, place, name, others)
                for first in _first_stems(name.stems):
                    self._opened.setdefault(first, []).append(entry)
                self._long |= {word: stem(word) for word in name.words if can_be_misspelled(word)}
        self._sides = frozenset(table("values")["sides"])
        self.pairs = frozenset(pair for one in prepared for name in one.names for pair in pairwise(name.words))

    def misspelled(self, words: Iterable[str]) -> dict[str, str]:
        """Words that misspell a word of a name, with the stem of that word."""
        if not self._long:
            return {}
        seen, found = self._spelled, {}
        for word in words:
            if len(word) > 6:
                right = seen.get(word)
                if right is None:
                    right = self._remember(word)
                if right:
                    found[word] = right
        return found

    def met(self, words: list[str]) -> list[Met]:
        """The facts that a sentence names, as the one reading of a reply takes them."""
        found = self.find(words, self.misspelled(words))
        return [Met(*self._facts[one.fact], one.start, one.end, FUZZY if one.fuzzy else one.name.via) for one in found]

    def find(self, words: list[str], misspelled: Mapping[str, str]) -> list[Mention]:
        """The mentions in one sentence; of those that lie inside one another, the longest."""
        stems = [_STEMS.get(word) or _remember_stem(word) for word in words]
        found = self._met(words, stems, fuzzy=False)
        if misspelled and not misspelled.keys().isdisjoint(words):
            spelled = [misspelled.get(word, own) for word, own in zip(words, stems, strict=True)]
            exact = {(one.start, one.end, one.fact) for one in found}
            found += [
                one for one in self._met(words, spelled, fuzzy=True) if (one.start, one.end, one.fact) not in exact
            ]
        if len(found) < 2:
            return found
        return [one for one in found if not any(_inside(one, other) for other in found)]

    def _met(self, words: list[str], stems: list[str], *, fuzzy: bool) -> list[Mention]:
        opened = self._opened
        found: list[Mention] = []
        if opened.keys().isdisjoint(stems):
            return found
        for place, first in enumerate(stems):
            for entry in opened.get(first, ()):
                end = place + len(entry.stems)
                if self._fits(entry.stems, stems, words, place) and not _is_other(entry, stems, place):
                    found.append(Mention(place, end, entry.fact, entry.name, fuzzy))
        return found

    def _fits(self, wanted: tuple[str, ...], stems: list[str], words: list[str], place: int) -> bool:
        if len(wanted) == 1:
            return True
        if tuple(stems[place : place + len(wanted)]) == wanted:
            return True
        if SIDE not in wanted or place + len(wanted) > len(stems):
            return False
        return all(
            one == stems[place + step] or (one == SIDE and words[place + step] in self._sides)
            for step, one in enumerate(wanted)
        )

    def _remember(self, word: str) -> str:
        right = (
            "" if word in self._long else next((own for name, own in self._long.items() if misspells(word, name)), "")
        )
        if stem(word) == right:
            right = ""
        if len(self._spelled) < _MOST_REMEMBERED:
            self._spelled[word] = right
        return right


_STEMS: dict[str, str] = {}  # looked up for every word of every reply


def _remember_stem(word: str) -> str:
    found = stem(word)
    if len(_STEMS) < _MOST_REMEMBERED:
        _STEMS[word] = found
    return found


def _first_stems(stems: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(table("values")["sides"]) if stems[0] == SIDE else stems[:1]


def _longer(stems: tuple[str, ...], own: set[tuple[str, ...]]) -> tuple[tuple[int, tuple[str, ...]], ...]:
    return tuple((place, phrase) for place, phrase in _phrases_around().get(stems, ()) if phrase not in own)


@cache
def _phrases_around() -> Mapping[tuple[str, ...], Sequence[tuple[int, tuple[str, ...]]]]:
    """Runs of words inside the phrases that mean something else, with each phrase and where in it the run begins."""
    found: dict[tuple[str, ...], list[tuple[int, tuple[str, ...]]]] = {}
    for phrase in _other_concepts():
        for size in range(1, len(phrase)):
            for place in range(len(phrase) - size + 1):
                found.setdefault(phrase[place : place + size], []).append((place, phrase))
    return found


def _measured(stems: tuple[str, ...], own: set[tuple[str, ...]]) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """A drug's level in the blood is a result: "lithium level 1.3" neither names the drug taken nor its dose."""
    return tuple((0, (*stems, word)) for word in _measures() if (*stems, word) not in own)


@cache
def _measures() -> tuple[str, ...]:
    return tuple(stem(word) for word in table("other_concepts")["of_a_drug_measured"])


def _is_other(entry: _Entry, stems: list[str], place: int) -> bool:
    return any(
        place >= lead and tuple(stems[place - lead : place - lead + len(phrase)]) == phrase
        for lead, phrase in entry.others
    )


def _inside(one: Mention, other: Mention) -> bool:
    longer = other.end - other.start > one.end - one.start
    return longer and other.start <= one.start and one.end <= other.end
