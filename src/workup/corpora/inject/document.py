"""Injection into one document: sites chosen on the original text, the new text built by pieces, every offset checked.

Nothing of the source is changed: without the inserted ranges the text is the source again. Knows no file."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from workup.corpora.inject.insertion import Insertion, built, without
from workup.corpora.inject.insertion_points import Place, SiteKind, collect, default_sites
from workup.corpora.inject.phrases import HARD_NEGATIVE, Phrase, Slot
from workup.corpora.inject.residual_phi import sweep
from workup.documents.builder import Gold, Marked
from workup.documents.document import Document
from workup.documents.labels import SCHEME
from workup.errors import InputError, near
from workup.values import HARD_NEGATIVES, LEAVES, Patient, make
from workup.values.draws import Chance

VERSION = "1"  # of the sites, the phrases and what is drawn: equal seeds give equal bytes within one version only
DENSITY = {"low": 2.0, "medium": 5.0, "high": 12.0}  # values per 1,000 characters of source text
AMBIGUITY = {"none": 0.0, "standard": 0.1, "high": 0.3}  # hard negatives per value
DENSEST = 50.0  # more than one value in twenty characters is no text
_DUE = 3  # leaves that come first in each document, in turn, so that small sources see every leaf too
_LEFT = 4  # of so many sites that could hold a hard negative, one may: the others are for values
_DAYS = 30  # the note is written within so many days of the patient's first contact


@dataclass(frozen=True)
class Injected:
    """A document with injected values. `inserted` are the ranges of its text that the source did not have.

    `asked` is how many values its length and the density call for, `placed` how many found a site; `residues` counts
    what the source seemed to hold already.
    """

    document: Document
    inserted: tuple[tuple[int, int], ...]
    kinds: tuple[str, ...]
    asked: int
    placed: int
    residues: int

    def source_text(self) -> str:
        """The text as it was: all that was inserted taken out."""
        return without(self.document.text, self.inserted)


@dataclass(frozen=True)
class Injector:
    """Settings of an injection, checked; `inject` works on one document at a time, in any order.

    `density` is low, medium, high, or a number of values per 1,000 characters; `leaves` limits what is injected.

    >>> injector = Injector(seed=1, density=20)
    >>> found = injector.inject(Document("a", "The patient was seen in clinic. No fever was noted."), index=0)
    >>> found.source_text()
    'The patient was seen in clinic. No fever was noted.'
    >>> found.placed > 0, all(found.document.text[span.start : span.end] for span in found.document.spans)
    (True, True)
    """

    seed: int
    density: str | float = "medium"
    ambiguity: str = "standard"
    leaves: tuple[str, ...] = LEAVES
    kinds: Sequence[SiteKind] = field(default_factory=default_sites)
    sweeps: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise InputError("a seed must be a whole number, 0 or more", where="seed", got=repr(self.seed)[:40])
        values_per_1000(self.density)
        if self.ambiguity not in AMBIGUITY:
            raise InputError(
                "ambiguity must be none, standard or high",
                where="ambiguity",
                got=repr(str(self.ambiguity)[:40]),
                remedy=near(str(self.ambiguity), AMBIGUITY),
            )
        for leaf in self.leaves:
            if leaf not in LEAVES:
                raise InputError(
                    "a leaf that text can hold was expected",
                    where="leaf",
                    got=repr(leaf[:40]),
                    remedy=near(leaf, LEAVES),
                )
        names = [kind.name for kind in self.kinds]
        if not self.leaves or not any(self.phrases.values()) or len(set(names)) < len(names):
            raise InputError(
                "kinds of sites with names of their own, one of them for the leaves at least, were expected",
                got=f"{len(names)} kinds for {len(self.leaves)} leaves",
                remedy="add a kind whose phrase holds these leaves alone, or allow more leaves",
            )

    def inject(self, document: Document, *, index: int, patient: int | None = None) -> Injected:
        """The document with values put in; `index` is its place in the source, `patient` that of its patient.

        The gold spans it has already move with their characters. Equal settings, document and numbers give equal bytes.
        """
        known = [*document.spans, *(span for layer in document.layers.values() for span in layer)]
        residues = sweep(document.text, known=known) if self.sweeps else ()
        persona = Patient.of(self.seed, index if patient is None else patient, ambiguity=self.ambiguity)
        places = collect(document.text, self.kinds, apart_from=[*known, *residues])
        asked = max(1, round(values_per_1000(self.density) * len(document.text) / 1000))
        choice = _Choice(self, document, persona, places)
        choice.leaves(self._due(index), asked)
        choice.hard_negatives(AMBIGUITY[self.ambiguity] * asked)
        choice.fill(asked)
        insertions = sorted(choice.taken)
        made, inserted = built(document, insertions, residues)
        groups = {**tags(persona), **document.groups}
        made = replace(made, patient=document.patient or persona.id, groups=groups)
        return Injected(made, inserted, tuple(one.kind for one in insertions), asked, choice.values, len(residues))

    def _due(self, index: int) -> list[str]:
        """The leaves whose turn it is; in every round through all of them another one of the three comes first."""
        order = self._turns
        rounds = index * _DUE // len(order)
        turns = [index * _DUE + (rounds + turn) % _DUE for turn in range(_DUE)]
        return list(dict.fromkeys(order[turn % len(order)] for turn in turns))

    @cached_property
    def phrases(self) -> dict[str, list[Phrase]]:
        """By kind of site, the phrases whose leaves are all allowed; hard negatives are chosen apart."""
        allowed = set(self.leaves)
        return {kind.name: [phrase for phrase in kind.phrases if phrase.leaves <= allowed] for kind in self.kinds}

    @cached_property
    def negatives(self) -> dict[str, list[Phrase]]:
        """By kind of site, the phrases with a hard negative and nothing else."""
        alone = {HARD_NEGATIVE}
        return {kind.name: [phrase for phrase in kind.phrases if phrase.leaves == alone] for kind in self.kinds}

    @cached_property
    def _turns(self) -> list[str]:
        return Chance.of(self.seed, "inject", "leaves").shuffled(self.leaves)


def values_per_1000(density: str | float) -> float:
    """A density as a number: values per 1,000 characters of the source.

    >>> values_per_1000("medium"), values_per_1000(7)
    (5.0, 7.0)
    """
    if isinstance(density, str) and density in DENSITY:
        return DENSITY[density]
    try:
        number = math.nan if isinstance(density, bool) else float(density)
    except ValueError:
        number = math.nan
    if not 0 < number <= DENSEST:
        raise InputError(
            f"a density must be low, medium, high, or a number of values per 1,000 characters up to {DENSEST:g}",
            where="density",
            got=repr(density)[:40],
            remedy=near(density, DENSITY) if isinstance(density, str) else "choose a number that a text has room for",
        )
    return number


class _Choice:
    """The sites chosen so far in one document, and what comes in at each."""

    def __init__(
        self, settings: Injector, document: Document, patient: Patient, places: dict[str, list[Place]]
    ) -> None:
        self._text = document.text
        self._patient = patient
        self._chance = chance = Chance.of(settings.seed, "inject", document.id)
        self._when = patient.visit + datetime.timedelta(days=chance.integer(0, _DAYS))
        self._blocked = bytearray(len(document.text) + 1)
        self._phrases, self._negative = settings.phrases, settings.negatives
        self._places = {kind: chance.shuffled(found) for kind, found in places.items() if found}
        self.taken: list[Insertion] = []
        self.values = 0

    def leaves(self, due: Iterable[str], asked: int) -> None:
        """A site for each of these leaves, as far as the text has sites and values are asked for."""
        for leaf in due:
            if self.values >= asked:
                return
            options = [
                (kind, phrase) for kind in self._places for phrase in self._phrases[kind] if leaf in phrase.leaves
            ]
            fitting = [option for option in options if len(option[1].leaves) <= asked - self.values]
            any(self._take(kind, phrase) for kind, phrase in self._chance.shuffled(fitting or options))

    def hard_negatives(self, count: float) -> None:
        """So many phrases that look like PHI and must stay; a fraction is one more with that probability."""
        options = [(kind, phrase) for kind in self._places for phrase in self._negative[kind]]
        room = max((len(self._places[kind]) for kind, _ in options), default=0) // _LEFT
        for _ in range(min(room, int(count + self._chance.uniform()))):
            self._take(*self._chance.pick(options))

    def fill(self, asked: int) -> None:
        """One site of each kind after another, in an order of chance, until there are values enough or no sites."""
        kinds = self._chance.shuffled([kind for kind in self._places if self._phrases[kind]])
        while kinds and self.values < asked:
            for kind in list(kinds):
                if self.values >= asked:
                    return
                fitting = [phrase for phrase in self._phrases[kind] if len(phrase.leaves) <= asked - self.values]
                if not self._take(kind, self._chance.pick(fitting or self._phrases[kind])):
                    kinds.remove(kind)

    def _take(self, kind: str, phrase: Phrase) -> bool:
        place = self._free(kind)
        if place is None:
            return False
        left, right = self._text[place.at - 1 : place.at] if place.at else "", self._text[place.at : place.at + 1]
        pieces = phrase.filled(self._made, left=left, right=right)
        if "\r\n" in self._text:
            pieces = [piece.replace("\n", "\r\n") if isinstance(piece, str) else piece for piece in pieces]
        self.taken.append(Insertion(place.at, kind, tuple(pieces)))
        self.values += sum(counts(piece) for piece in pieces if not isinstance(piece, str))
        self._blocked[place.start : place.end + 1] = b"\x01" * (place.end + 1 - place.start)
        return True

    def _free(self, kind: str) -> Place | None:
        """The next place of a kind that no chosen one touches; those that are touched are dropped for good."""
        waiting = self._places[kind]
        while waiting:
            place = waiting.pop()
            if self._blocked.find(1, place.start, place.end + 1) < 0:
                return place
        return None

    def _made(self, slot: Slot) -> list[str | Marked]:
        if slot.leaf == HARD_NEGATIVE:
            found = self._chance.pick(HARD_NEGATIVES)
            inner = Gold(found.inner, found.leaf or "misc", None, "no_mask", f"hard_negative:{found.kind}")
            return [piece for piece in (found.text[: found.start], inner, found.text[found.end :]) if piece != ""]
        form = self._chance.pick(slot.forms) if slot.forms else None
        return [make(slot.leaf, patient=self._patient, chance=self._chance, when=self._when, form=form)]


def tags(patient: Patient) -> dict[str, str]:
    """Groups of a document by the name that it holds, under the names that generated notes use."""
    person = patient.person
    return {
        "sex": person.sex,
        "origin": person.origin,
        "decade": f"{person.decade}s",
        "popularity": person.popularity,
        "ambiguous_name": "yes" if person.ambiguous else "no",
    }


def counts(value: Marked) -> bool:
    """Whether a value counts towards the density: clinical terms and what must stay do not."""
    return value.identifier != "no_mask" and SCHEME[value.label].branch != "CLIN"
