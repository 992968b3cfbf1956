"""What advice can be about: drugs by any of their names, classes, tests, care, safety plans, and ways of life.

Brands and generics come from the clinical vocabularies and data/advice_drugs.yaml; it knows nothing of who takes what.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from workup.tasks.conversation.read.names import generic_names, plain
from workup.tasks.conversation.read.sentence.fuzzy import can_be_misspelled, misspells
from workup.tasks.conversation.read.sentence.vocabulary import table

DRUG, CLASS, TEST, REFERRAL, CARE, SAFETY, NAMED = "drug", "class", "test", "referral", "care", "safety_plan", "named"
SUBSTANCE, FOOD, ACTIVITY, MEANS, URGENCY = "substance", "food", "activity", "means", "urgency"
THINGS = (TEST, REFERRAL, CARE, SAFETY, MEANS, SUBSTANCE, FOOD, ACTIVITY, URGENCY)
LIFE = frozenset({SUBSTANCE, FOOD, ACTIVITY})  # what is eaten, drunk, smoked or done beside the drugs
Words = tuple[str, ...]


class Thing(NamedTuple):
    """One slot of advice: its kind, and its name in the project's own tables (never the words of a reply)."""

    kind: str
    name: str

    @property
    def slot(self) -> str:
        """The slot as one word."""
        return f"{self.kind}:{self.name}"


class Found(NamedTuple):
    """Words [start, end) of a sentence that name a thing; several where only the verb tells which."""

    start: int
    end: int
    things: tuple[Thing, ...]
    stated: float | None = None  # mg, where the name itself states a dose
    fuzzy: bool = False


class _Entry(NamedTuple):
    words: Words
    things: tuple[Thing, ...]
    stated: float | None


@cache
def class_names() -> Mapping[str, str]:
    """Every way to write a class, one of it or many, with its key."""
    found: dict[str, str] = {}
    for key, record in table("advice_classes").items():
        own = plain(key)
        for name in (own, *(plain(name) for name in record.get("names", ()))):
            for form in (name, *_other_number(name)):
                found.setdefault(form, key)
    return found


def _other_number(name: str) -> Iterator[str]:
    if name.endswith("ies"):
        yield name[:-3] + "y"
    elif name.endswith("s"):
        yield name[:-1]
    elif name.endswith("y") and name[-2:-1] not in "aeiou":
        yield name[:-1] + "ies"
    else:
        yield name + "s"


@cache
def parts_of(name: str) -> frozenset[str]:
    """The ingredients of a drug by its generic name; a single drug is its own.

    >>> sorted(parts_of("oxycodone acetaminophen"))
    ['acetaminophen', 'oxycodone', 'oxycodone acetaminophen']
    """
    words = name.split()
    names = generic_names()
    parts: set[str] = {name}
    place = 0
    while place < len(words) and len(words) > 1:
        for end in range(len(words), place, -1):
            piece = " ".join(words[place:end])
            if piece != name and names.get(piece, name) != name:
                parts |= parts_of(names[piece])
                place = end
                break
        else:
            place += 1
    return frozenset(parts)


def _spellings(name: str) -> Iterator[Words]:
    """A name and, of a combination, its ingredients with a stroke, an "and" or in the other order."""
    words = tuple(name.split())
    yield words
    if len(words) > 1 and words[-1].isdecimal():
        yield (*words[:-1], "#", words[-1])  # "Tylenol #3"
    names = generic_names()
    if len(words) == 2 and all(word in names for word in words):
        one, other = words
        for joint in ("/", "and", "&", "+"):
            yield (one, joint, other)
            yield (other, joint, one)
        yield (other, one)


@cache
def _entries() -> Mapping[str, tuple[_Entry, ...]]:
    """Every name by its first word, the longest first."""
    met: dict[Words, list[Thing]] = {}
    names, classes = generic_names(), class_names()
    for name, generic in names.items():
        key = classes.get(name) or classes.get(generic)
        member = generic in members(key) if key else False
        thing = Thing(CLASS, key) if key and not member else Thing(DRUG, generic)
        for words in _spellings(name):
            met.setdefault(words, [thing])
    for name, key in classes.items():
        met.setdefault(tuple(name.split()), [Thing(CLASS, key)])
    for kind in THINGS:
        for slot, written in table("advice_things")[kind].items():
            for name in map(plain, written):
                for form in (name, *_other_number(name)) if len(name) > 3 else (name,):
                    met.setdefault(tuple(form.split()), []).append(Thing(kind, slot))
    doses = {plain(name): float(dose) for name, dose in table("advice_drugs")["stated_doses"].items()}
    opened: dict[str, list[_Entry]] = {}
    for words, things in met.items():
        opened.setdefault(words[0], []).append(_Entry(words, tuple(dict.fromkeys(things)), doses.get(" ".join(words))))
    return {first: tuple(sorted(some, key=lambda one: -len(one.words))) for first, some in opened.items()}


@cache
def members(key: str) -> frozenset[str]:
    """Generic names of the drugs of a class.

    >>> "amoxicillin" in members("beta_lactams"), "penicillamine" in members("penicillins")
    (True, False)
    """
    record = table("advice_classes")[key]
    names = generic_names()
    found = {names[plain(name)] for name in record.get("members", ())}
    for other in record.get("includes", ()):
        found |= members(other)
    return frozenset(found - {names[plain(name)] for name in record.get("but", ())})


@cache
def _long_names() -> Mapping[tuple[str, int], tuple[str, ...]]:
    """Single names that may be misspelled, by their first or last letters: a misspelling keeps one of the two."""
    found: dict[tuple[str, int], list[str]] = {}
    for name in generic_names():
        if " " not in name and can_be_misspelled(name):
            found.setdefault((name[:4], 0), []).append(name)
            found.setdefault((name[-4:], 1), []).append(name)
    return {key: tuple(names) for key, names in found.items()}


_SPELLED: dict[str, str] = {}  # words of replies seen so far, with the name that they misspell, or nothing
_MOST_REMEMBERED = 20_000  # a reply of noise must not fill the memory


def _meant(word: str) -> str:
    found = _SPELLED.get(word)
    if found is None:
        near = (*_long_names().get((word[:4], 0), ()), *_long_names().get((word[-4:], 1), ()))
        fits = {generic_names()[name] for name in near if word.isalpha() and misspells(word, name)}
        found = next(iter(fits)) if len(fits) == 1 else ""
        if len(_SPELLED) < _MOST_REMEMBERED:
            _SPELLED[word] = found
    return found


class Names:
    """The tables, with further names of one case. Made once, asked of every sentence."""

    def __init__(self, more: Iterable[tuple[Words, str]] = ()) -> None:
        self._opened: Mapping[str, tuple[_Entry, ...]] = _entries()
        own: dict[str, list[_Entry]] = {}
        for words, name in more:
            if words and words not in _met_words(words[0]):
                own.setdefault(words[0], []).append(_Entry(words, (Thing(NAMED, name),), None))
        if own:
            joined = {first: (*some, *self._opened.get(first, ())) for first, some in own.items()}
            ordered = {first: tuple(sorted(some, key=lambda one: -len(one.words))) for first, some in joined.items()}
            self._opened = {**self._opened, **ordered}

    def find(self, words: Sequence[str]) -> list[Found]:
        """The things named in one sentence, from the left, the longest names first."""
        found: list[Found] = []
        opened, done = self._opened, 0
        for place in [place for place, word in enumerate(words) if word in opened]:
            if place < done:
                continue
            for entry in opened[words[place]]:
                length = len(entry.words)
                if length == 1 or tuple(words[place : place + length]) == entry.words:
                    done = place + length
                    found.append(Found(place, done, entry.things, entry.stated))
                    break
        return self._misspelled(words, found)

    def _misspelled(self, words: Sequence[str], found: list[Found]) -> list[Found]:
        long = [word for word in words if len(word) > 6]
        if not any(_SPELLED[word] if word in _SPELLED else _meant(word) for word in long):
            return found
        taken = {place for one in found for place in range(one.start, one.end)}
        more = [
            Found(place, place + 1, (Thing(DRUG, name),), None, True)
            for place, word in enumerate(words)
            if len(word) > 6 and place not in taken and (name := _meant(word))
        ]
        return sorted([*found, *more])


def _met_words(first: str) -> set[Words]:
    return {entry.words for entry in _entries().get(first, ())}


@cache
def acted() -> Mapping[str, Thing]:
    """Verbs that are things themselves, with the thing: "do not drive"."""
    things = {slot: kind for kind in LIFE for slot in table("advice_things")[kind]}
    listed = table("advice_things")["acts"]
    return {verb: Thing(things[slot], slot) for slot, verbs in listed.items() for verb in verbs}


def way_of_life(name: str) -> Thing | None:
    """The substance, food or activity that a name stands for, or None.

    >>> way_of_life("grapefruit juice"), way_of_life("ibuprofen")
    (Thing(kind='food', name='grapefruit'), None)
    """
    return _thing_of(name, LIFE)


def thing_of(name: str) -> Thing | None:
    """The drug or class that a name stands for, or None.

    >>> thing_of("Advil"), thing_of("NSAIDs"), thing_of("moonlight")
    (Thing(kind='drug', name='ibuprofen'), Thing(kind='class', name='nsaids'), None)
    """
    return _thing_of(name, frozenset({DRUG, CLASS}))


def _thing_of(name: str, kinds: frozenset[str]) -> Thing | None:
    wanted = tuple(plain(name).split())
    for entry in _entries().get(wanted[0], ()) if wanted else ():
        if entry.words == wanted:
            return next((thing for thing in entry.things if thing.kind in kinds), None)
    return None
