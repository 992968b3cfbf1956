"""Mentions that speak of one thing, so that they get one number: spellings of a value, and parts of a name where safe.

Knows no token and no key."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from workup.redaction.surrogates.name_forms import NameForm, folded, read_name
from workup.redaction.tokens import WORDS
from workup.text import states
from workup.text.unicode import caseless

Key = tuple[Hashable, ...]
_MOST_ALIKE = 50  # names that share a word: beyond that a part of a name belongs to nobody in particular
_STATES = {state.name.casefold(): state.code for state in states.STATES} | {
    short.casefold().replace(".", "").replace(" ", ""): code for code, short in states.OLD_ABBREVIATIONS.items()
}


class Mention(NamedTuple):
    """A span with the words under it; `day` is the date that it writes, where it is a date that could be read."""

    label: str
    surface: str
    entity: str | None = None
    day: str | None = None


def normalised(surface: str) -> str:
    """Letters and digits in lower case without accents: how two spellings of one value are compared.

    >>> normalised("(617) 555-0142"), normalised("ST. MARY’S  Hospital")
    ('6175550142', 'stmaryshospital')
    """
    return "".join(one for one in caseless(surface) if one.isalnum())


def value_key(label: str, surface: str) -> str:
    """What a value of this kind is compared by; a surface of signs alone is its own.

    >>> value_key("phone", "+1 617-555-0142") == value_key("phone", "(617) 555-0142")
    True
    >>> value_key("state", "Mass."), value_key("state", "MA"), value_key("state", "Massachusetts")
    ('ma', 'ma', 'ma')
    """
    plain = normalised(surface) or surface
    if label in ("phone", "fax") and plain.isdigit() and len(plain) == 11 and plain[0] == "1":
        return plain[1:]
    if label == "county":
        words = [word for word in surface.casefold().split() if word not in ("county", "parish", "of", "co", "co.")]
        return normalised(" ".join(words)) or plain
    if label == "state":
        code = _STATES.get(" ".join(surface.casefold().split())) or _STATES.get(plain)
        return code.lower() if code else plain
    return plain


def entities(mentions: Sequence[Mention]) -> list[Key]:
    """A key for each mention: equal keys are one thing.

    Equal are mentions with one entity id, with one normalised value, or with one date. A part of a name ("Lee",
    "A. Lee", "Ann") is the person of the one longer name it fits, under the same label or a coarser one; where it fits
    two, or none, it is a thing of its own.

    >>> both = [Mention("name_patient", said) for said in ("Ann Lee", "LEE, ANN", "Ms. Lee", "Ray")]
    >>> keys = entities(both)
    >>> keys[0] == keys[1] == keys[2], keys[3] == keys[0]
    (True, False)
    """
    people = _People(mention for mention in mentions if WORDS[mention.label] == "NAME" and mention.entity is None)
    return [_key(mention, people) for mention in mentions]


def _key(mention: Mention, people: _People) -> Key:
    word = WORDS[mention.label]
    if mention.entity is not None:
        return (word, "id", mention.entity)
    if word == "NAME":
        return (word, *people.of(mention))
    if mention.day is not None:
        return (word, "day", mention.day)
    return (word, value_key(mention.label, mention.surface))


class _Name(NamedTuple):
    """The folded parts of a name; `loose` words may be given or family."""

    given: str
    middle: tuple[str, ...]
    family: tuple[str, ...]
    suffix: str
    loose: tuple[str, ...]


def _name(form: NameForm) -> _Name:
    given = form.parts("given")
    suffix = form.parts("suffix")
    return _Name(
        given[0] if given else "",
        (*given[1:], *form.parts("middle")),
        form.parts("family"),
        suffix[0] if suffix else "",
        form.parts("any"),
    )


class _People:
    """Which name a part of a name belongs to."""

    def __init__(self, mentions: Iterable[Mention]) -> None:
        self._labels: dict[_Name, set[str]] = {}
        for mention in mentions:
            form = read_name(mention.surface)
            if form is not None:
                self._labels.setdefault(_name(form), set()).add(mention.label)
        self._by_word: dict[str, list[_Name]] = {}
        for name in self._labels:
            for word in {name.given, *name.family, *(one[:1] for one in (name.given, *name.family))} - {""}:
                self._by_word.setdefault(word, []).append(name)
        self._found: dict[tuple[_Name, str], _Name] = {}

    def of(self, mention: Mention) -> Key:
        form = read_name(mention.surface)
        if form is None:
            return ("surface", normalised(mention.surface) or mention.surface)
        name = _name(form)
        known = (name, mention.label)
        if known not in self._found:
            self._found[known] = self._whole(name, mention.label)
        return ("person", self._found[known])

    def _whole(self, name: _Name, label: str) -> _Name:
        """The longest name that this is a part of, if there is one that no other contradicts."""
        words = [*name.loose, *name.family, *([name.given] if name.given else [])]
        alike = min((self._by_word.get(word, []) for word in words), key=len, default=[])
        if not alike or len(alike) > _MOST_ALIKE:
            return name
        wider = [other for other in alike if other != name and self._may_be(label, other) and _fits(name, other)]
        # Only the fullest names: "Ann Lee" between "Lee" and "Ann M. Lee" is no second person.
        fullest = [one for one in wider if not any(_fits(one, other) for other in wider if other != one)]
        return fullest[0] if len(fullest) == 1 else name

    def _may_be(self, label: str, other: _Name) -> bool:
        labels = self._labels[other]
        return label in labels or label == "NAME" or "NAME" in labels


def _fits(part: _Name, whole: _Name) -> bool:
    """Whether every word of a name is in a longer one, an initial for the word it begins."""
    if not whole.given or not whole.family or (part.suffix and part.suffix != whole.suffix):
        return False
    if part.loose:
        alone = len(part.loose) == 1 and len(part.loose[0]) > 1 and part.loose[0] in (whole.given, *whole.family)
        return alone or part.loose == whole.family
    if not part.family or _weight(part) >= _weight(whole):
        return False
    if len(part.family) > len(whole.family) or not all(
        _begins(one, other) for one, other in zip(part.family, whole.family, strict=False)
    ):
        return False
    if part.given and not _begins(part.given, whole.given):
        return False
    middles = zip(part.middle, whole.middle, strict=False)
    return len(part.middle) <= len(whole.middle) and all(_begins(one, other) for one, other in middles)


def _weight(name: _Name) -> int:
    """How much a name says: letters of all its parts."""
    return len(name.given) + len(name.suffix) + sum(map(len, (*name.middle, *name.family)))


def _begins(one: str, other: str) -> bool:
    return one == other or (len(one) == 1 and other.startswith(one))


def folded_words(texts: Iterable[str]) -> set[str]:
    """Every word of some texts, folded: what a surrogate must not be taken for."""
    found: set[str] = set()
    for text in texts:
        words = "".join(one if one.isalpha() or one in "'’" else " " for one in text).split()
        found.update(folded(word) for word in set(words))
    return found
