"""A text read once: the clinical terms in it, each placed in the sentence that says something of it.

The lexicon finds terms, the matcher's ConText says how they are meant. It knows no fact and no case.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from workup.lexicon import Extractor, Term
from workup.tasks.conversation.read.content.lists import listed
from workup.tasks.conversation.read.content.readings import Reading, reading_of
from workup.tasks.conversation.read.facts.names import stem
from workup.tasks.conversation.read.sentence.allergies import relation_of
from workup.tasks.conversation.read.sentence.context import said_of
from workup.tasks.conversation.read.sentence.folding import without_reasoning, word_tokens
from workup.tasks.conversation.read.sentence.mention import Mention
from workup.tasks.conversation.read.sentence.text import Sentence, sentences
from workup.tasks.conversation.read.sentence.vocabulary import table

# A value that makes a result of a test's name: "K 3.4", "A1c of 8.2 %", "BP: 120/80", "glucose level is 90".
_VALUE = re.compile(r"\+?[\s:=~]{0,3}(?:(?:levels?|of|is|was|at|to)\s{1,3}){0,3}[<>~]?\s{0,2}\d", re.IGNORECASE)
_VALUE_REACH = 32
_MOST_REMEMBERED = 20_000
_MOST_TRIES, _MOST_LOST = 50, 200  # a reply of one repeated word must not take for ever
_MOST_MENTIONS = 50  # of one concept; a reply that repeats itself more often has said it
_STRUCK = re.compile(r"~~[^~\n]{0,400}~~")
_ADDRESS = re.compile(r"\]\([^()\n]{0,400}\)")
KINDS = {"drug": "medication", "disease": "diagnosis", "procedure": "procedure", "lab": "result", "vital": "result"}
_PLAIN = Mention()


class Entity(NamedTuple):
    """A clinical term in a text: its concept, and words [start, end) of a sentence."""

    concept: str
    category: str
    words: tuple[str, ...]  # as the matcher folds them
    sentence: int
    start: int
    end: int
    allergy: bool  # the term itself says that it is one: "penicillin allergy"

    @property
    def kind(self) -> str:
        """What kind of fact such a term would be."""
        if self.category == "disease" and is_symptom(self.concept):
            return "symptom"
        return KINDS[self.category]


@cache
def extractor() -> Extractor:
    """The lexicon's extractor of terms, made once."""
    return Extractor.load()


@cache
def is_symptom(concept: str) -> bool:
    """Whether a disease of the lexicon is a finding that patients speak of.

    >>> is_symptom("chest pain"), is_symptom("asthma")
    (True, False)
    """
    return concept in listed("symptoms") or concept.rsplit(" ", 1)[-1] in ("pain", "ache")


@cache
def is_generic(concept: str) -> bool:
    """Whether a concept is too general to be a fact: "pain", "surgery".

    >>> is_generic("pain"), is_generic("chest pain")
    (True, False)
    """
    return concept in listed("generic") or listed("generic_words").issuperset(concept.split())


@cache
def allergen(concept: str) -> str:
    """The drug of an allergy that the vocabularies hold as a disease; nothing for other concepts.

    >>> allergen("penicillin allergy"), allergen("asthma")
    ('penicillin', '')
    """
    head = concept.removesuffix(" allergy")
    if head == concept or is_generic(concept):
        return ""
    found = extractor().extract(head)
    return found[0].concept if len(found) == 1 and found[0].end - found[0].start == len(head) else head


_FOLDED: dict[str, tuple[str, ...]] = {}
_STEMMED: dict[tuple[str, ...], tuple[str, ...]] = {}


def folded(written: str) -> tuple[str, ...]:
    """The words of a term in the form in which the matcher reads them."""
    found = _FOLDED.get(written)
    if found is None:
        found = word_tokens(written)
        if len(_FOLDED) < _MOST_REMEMBERED:
            _FOLDED[written] = found
    return found


def stems_of(words: tuple[str, ...]) -> tuple[str, ...]:
    """One form of these words and their inflections."""
    found = _STEMMED.get(words)
    if found is None:
        found = tuple(stem(word) for word in words)
        if len(_STEMMED) < _MOST_REMEMBERED:
            _STEMMED[words] = found
    return found


def _counts(term: Term, text: str) -> bool:
    """Anatomy asserts nothing, nor does a test without its value; generic words are left out."""
    if term.category == "anatomy" or is_generic(term.concept):
        return False
    if term.category in ("lab", "vital"):
        return _VALUE.match(text, term.end, term.end + _VALUE_REACH) is not None
    return True


class Passage:
    """The entities of a text, and what the text says of each.

    >>> passage = Passage("Allergic to penicillin. No chest pain; her mother had a stroke. The pain is gone.")
    >>> [(one.concept, one.sentence) for one in passage.entities]
    [('penicillin', 0), ('chest pain', 1), ('stroke', 1)]
    >>> passage.said(passage.entities[1], "symptom").negated
    True
    """

    __slots__ = ("_read", "entities", "sentences")

    def __init__(self, text: str, *, names_alone: bool = False) -> None:
        """With `names_alone` tests count without a value too, as in a plan ("check the TSH")."""
        spoken = _spoken(text)
        terms = extractor().extract(spoken)
        kept = [term for term in terms if _counts(term, spoken) or (names_alone and _names(term))]
        self.sentences: list[Sentence] = sentences(spoken) if kept else []
        placed = _placed(kept, spoken, self.sentences) if kept else []
        self.entities: list[Entity] = [one for one in placed if not self._is_reaction(one)]
        self._read: dict[int, Reading] = {}

    def _is_reaction(self, entity: Entity) -> bool:
        """The hives of "penicillin (hives), an allergy" are part of the allergy, and no finding of today."""
        if entity.category != "disease" or not _reactions().issuperset(entity.words):
            return False
        one = self.sentences[entity.sentence]
        return not (_allergy_nouns().isdisjoint(one.words) and _allergy_nouns().isdisjoint(one.heading))

    def said(self, entity: Entity, kind: str, *, closely: bool = False) -> Mention:
        """What is said of an entity as a fact of this kind. Plain sentences are read `closely` only where asked."""
        reading = self._read.get(entity.sentence) or self._reading(entity.sentence)
        if not closely and not reading.decisive:
            return _PLAIN
        key = (entity.start, entity.end, kind)
        found = reading.said.get(key)
        if found is None:
            analysed = reading.analysed
            shift = analysed.shift
            found = reading.said[key] = said_of(analysed, entity.start + shift, entity.end + shift, kind)
        return found

    def allergy(self, entity: Entity) -> str:
        """Whether a drug is mentioned as an allergy, as avoided or tolerated; empty where merely as a drug."""
        if entity.allergy:
            return "allergy"
        analysed = self._reading(entity.sentence).analysed
        return relation_of(analysed, entity.start + analysed.shift, entity.end + analysed.shift).kind

    def of_allergy(self, sentence: int) -> bool:
        """Whether a sentence, or its heading, has a word of allergy at all."""
        return self._reading(sentence).of_allergy

    def _reading(self, sentence: int) -> Reading:
        found = self._read.get(sentence)
        if found is None:
            after = sentence + 1
            following = self.sentences[after] if after < len(self.sentences) else None
            found = self._read[sentence] = reading_of(self.sentences[sentence], following)
        return found


@cache
def _reactions() -> frozenset[str]:
    return frozenset(word for line in table("allergies")["reactions"] for word in line.split())


@cache
def _allergy_nouns() -> frozenset[str]:
    return frozenset(word for line in table("allergies")["nouns"] for word in line.split())


def _names(term: Term) -> bool:
    return term.category in ("lab", "vital") and not is_generic(term.concept)


def _spoken(text: str) -> str:
    """The text without what was thought aloud or struck out, and without the addresses of links."""
    text = without_reasoning(text)
    if "~~" in text:
        text = _STRUCK.sub(" ", text)
    return _ADDRESS.sub("]", text) if "](" in text else text


def _placed(terms: list[Term], text: str, cut: list[Sentence]) -> list[Entity]:
    """Terms in the sentences: both run through the text from its start, and words are folded alike in both."""
    flat: list[str] = []
    openings: list[int] = []
    for sentence in cut:
        openings.append(len(flat))
        flat += sentence.words
    found: list[Entity] = []
    seen: dict[str, int] = {}
    free = lost = number = 0
    for start, end, category, concept, _, _ in terms:
        words = folded(text[start:end])
        if lost > _MOST_LOST or seen.get(concept, 0) >= _MOST_MENTIONS:
            continue
        at, after = _next(flat, words, free) if words else (-1, 0)
        if at < 0:
            lost += 1
            continue
        free = after
        seen[concept] = seen.get(concept, 0) + 1
        while number + 1 < len(openings) and openings[number + 1] <= at:
            number += 1
        first = openings[number]
        drug = allergen(concept) if category == "disease" and concept.endswith(" allergy") else ""
        last = min(after - first, len(cut[number].words))
        if drug:
            found.append(Entity(drug, "drug", words, number, at - first, last, True))
        else:
            found.append(Entity(concept, category, words, number, at - first, last, False))
    return found


def _next(flat: list[str], words: tuple[str, ...], free: int) -> tuple[int, int]:
    """The next place [start, end) of these words from `free` on, signs between them passed over; or -1."""
    size = len(words)
    for _ in range(_MOST_TRIES):
        try:
            at = flat.index(words[0], free)
        except ValueError:
            break
        if size == 1 or tuple(flat[at : at + size]) == words:
            return at, at + size
        signless = [place for place in range(at, min(at + 2 * size, len(flat))) if flat[place][0].isalnum()][:size]
        if tuple(flat[place] for place in signless) == words:
            return at, signless[-1] + 1
        free = at + 1
    return -1, 0


__all__ = [
    "KINDS",
    "Entity",
    "Passage",
    "allergen",
    "extractor",
    "folded",
    "is_generic",
    "is_symptom",
    "stems_of",
]
