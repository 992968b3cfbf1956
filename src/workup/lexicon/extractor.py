"""One extractor of clinical terms: diseases, drugs, procedures, anatomy, laboratory tests and vital signs in a text.

It looks words up in the shipped vocabularies. It knows nothing of negation, of whose disease it is, or of misspelling.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, compress, count
from typing import Any, NamedTuple

from workup.errors import InputError, MissingExtra, near
from workup.lexicon import sources
from workup.lexicon.terms import CATEGORIES, Surface, all_variants
from workup.lexicon.words import Words, cut, joined

ENGINES = ("tokens", "ahocorasick")

# A value: "Na 138", "K+ of 3.4", "BP: 120/80", "T = 98.6", "Cr is 1.2".
_VALUE = re.compile(r"\+?(?:[^\S\n]|[:=~])*(?:(?:of|is|was|at|to)[^\S\n]+)?[<>~]?[^\S\n]*\d", re.IGNORECASE)
_VALUE_REACH = 24


class Term(NamedTuple):
    """One hit: `text[start:end]` in code points, its category, its concept, and the surface of the vocabulary it met.

    `ambiguous` marks a surface that is also a name of people or an everyday word ("colon", "Burns"): a caller that
    protects terms from masking should ask for more than this hit.
    """

    start: int
    end: int
    category: str
    concept: str
    surface: str
    ambiguous: bool = False


class _Entry(NamedTuple):
    category: str
    concept: str
    needs_number: bool
    ambiguous: bool = False


class _Vocabulary(NamedTuple):
    """Surfaces met in any case, surfaces met in one case, and where to look: by the words that open a surface."""

    folded: dict[str, _Entry]
    exact: dict[str, _Entry]
    cased: set[str]  # the latter in lower case
    alone: dict[str, _Entry]  # surfaces of one word that are met whatever their case and neighbours
    guarded: set[str]  # the other surfaces of one word, in lower case
    pairs: dict[str, tuple[int, ...]]  # the first two words of longer ones: how many words these have, the most first
    openings: set[str]  # first words of either


class Extractor:
    """Finds terms of the chosen categories: the longest from the left, never overlapping, in the order of the text.

    A choice of categories filters the answer and never changes it: in "breast cancer" there is no anatomy, whether
    diseases were asked for or not.

    >>> found = Extractor.load().extract("Aspirin 81 mg for CAD; denies chest pain. K 3.4.")
    >>> [(term.start, term.end, term.category, term.concept) for term in found]
    [(0, 7, 'drug', 'aspirin'), (18, 21, 'disease', 'coronary artery disease'),
     (30, 40, 'disease', 'chest pain'), (42, 43, 'lab', 'potassium')]
    """

    name = "lexicon"

    def __init__(self, vocabulary: _Vocabulary, *, categories: frozenset[str], engine: str, version: str) -> None:
        self.categories = tuple(category for category in CATEGORIES if category in categories)
        self.engine = engine
        self.version = version
        self._vocabulary = vocabulary
        self._all = len(self.categories) == len(CATEGORIES)
        search = _by_tokens if engine == "tokens" else _by_automaton(vocabulary)
        self._search: Callable[[Words, _Vocabulary], list[Term]] = search

    @classmethod
    def load(
        cls,
        *,
        categories: Iterable[str] = CATEGORIES,
        more: Mapping[str, Iterable[str]] | None = None,
        engine: str = "tokens",
    ) -> Extractor:
        """Read the vocabularies (once in a process) and make an extractor.

        `more` adds terms of your own by category, in the notation of the hand-written lists: a capital fixes the
        case, a # at the end asks for a number. They win over the shipped ones. The engines give the same answers.
        """
        chosen = _known(categories, CATEGORIES, "categories must be those of the lexicon")
        _known([engine], ENGINES, "engine must be one the lexicon has")
        vocabulary, version = _shipped(), sources.version()
        if more:
            _known(more, CATEGORIES, "the categories of more must be those of the lexicon")
            vocabulary, version = _with_more(vocabulary, more), version + "+more"
        return cls(vocabulary, categories=chosen, engine=engine, version=version)

    def __len__(self) -> int:
        """How many surfaces of the chosen categories are known."""
        tables = (self._vocabulary.folded, self._vocabulary.exact)
        return sum(entry.category in self.categories for table in tables for entry in table.values())

    def extract(self, text: str) -> list[Term]:
        """The terms of one text. Negated, historical and family mentions are hits like any other.

        >>> Extractor.load(categories=["vital"]).extract("BP 120/80, no fever")
        [Term(start=0, end=2, category='vital', concept='blood pressure', surface='bp', ambiguous=False)]
        """
        found = self._search(cut(text), self._vocabulary)
        return found if self._all else [term for term in found if term.category in self.categories]

    def extract_many(self, texts: Iterable[str]) -> Iterator[list[Term]]:
        """The terms of each text, in order, one list at a time: memory holds one text."""
        return (self.extract(text) for text in texts)


def _known(names: Iterable[str], known: Sequence[str], expected: str) -> frozenset[str]:
    asked = [names] if isinstance(names, str) else list(names)
    wrong = [name for name in asked if name not in known]
    if wrong or not asked:
        got = f"'{wrong[0]}'" if wrong else "none"
        remedy = near(wrong[0], known) if wrong else f"name at least one of {', '.join(known)}"
        raise InputError(expected, got=got, remedy=remedy)
    return frozenset(asked)


@cache
def _shipped() -> _Vocabulary:
    folded: dict[str, _Entry] = {}
    exact: dict[str, _Entry] = {}
    for source in sources.provenance():
        for row in sources.read_source(source):
            entry = _Entry(row.category, row.concept, "n" in row.kind)
            (exact if "e" in row.kind else folded).update(dict.fromkeys(row.surfaces, entry))
    for surface in sources.ambiguous():
        if surface in folded:
            folded[surface] = folded[surface]._replace(ambiguous=True)
    return _opened(folded, exact)


def _with_more(shipped: _Vocabulary, more: Mapping[str, Iterable[str]]) -> _Vocabulary:
    folded, exact = dict(shipped.folded), dict(shipped.exact)
    for category in CATEGORIES:
        for text in more.get(category, ()):
            read = sources.surfaces_of_user(text)
            if read is None:
                raise InputError(
                    "a term of more must hold letters or digits",
                    where=f"more['{category}']",
                    got="one with none",
                    remedy="leave it out",
                )
            entry = _Entry(category, read.words.lower(), "n" in read.kind)
            for form in all_variants([Surface(*read)], plural=category != "drug"):
                (exact if "e" in form.kind else folded)[form.words] = entry
    return _opened(folded, exact)


def _opened(folded: dict[str, _Entry], exact: dict[str, _Entry]) -> _Vocabulary:
    """Most words of a note open no surface, and most that do are not followed by its second word: two cheap looks."""
    cased = {surface.lower() for surface in exact}
    single: set[str] = set()
    pairs: dict[str, set[int]] = {}
    for surface in [*folded, *cased]:
        words = surface.split(" ", 2)
        if len(words) == 1:
            single.add(surface)
        else:
            pair = surface if len(words) == 2 else f"{words[0]} {words[1]}"
            pairs.setdefault(pair, set()).add(surface.count(" ") + 1)
    shared: dict[tuple[int, ...], tuple[int, ...]] = {}
    lengths = {pair: tuple(sorted(counts, reverse=True)) for pair, counts in pairs.items()}
    guarded = {word for word in single if word in cased or folded[word].needs_number}
    return _Vocabulary(
        folded,
        exact,
        cased,
        {word: folded[word] for word in single - guarded},
        guarded,
        {pair: shared.setdefault(known, known) for pair, known in lengths.items()},
        single.union(pair.split(" ", 1)[0] for pair in pairs),
    )


def _by_tokens(text: Words, vocabulary: _Vocabulary) -> list[Term]:
    """From the left, at each word that opens a surface, the longest run of words that is one."""
    words, pairs = [*text.words, ""], vocabulary.pairs
    alone, guarded = vocabulary.alone, vocabulary.guarded
    found: list[Term] = []
    free = 0
    for first in compress(count(), map(vocabulary.openings.__contains__, text.words)):
        if first < free:
            continue
        word = words[first]
        for length in pairs.get(f"{word} {words[first + 1]}", ()):
            term = _met(text, vocabulary, first, length)
            if term is not None:
                found.append(term)
                free = first + length
                break
        else:
            entry = alone.get(word)
            if entry is not None:
                start = text.starts[first]
                found.append(Term(start, start + len(word), entry.category, entry.concept, word, entry.ambiguous))
            elif word in guarded and (term := _met(text, vocabulary, first, 1)) is not None:
                found.append(term)
    return found


def _by_automaton(vocabulary: _Vocabulary) -> Callable[[Words, _Vocabulary], list[Term]]:
    """All runs of words that are surfaces in one pass of an Aho-Corasick automaton, then the same choice among them."""
    try:
        library: Any = importlib.import_module("ahocorasick_rs")
    except ModuleNotFoundError:
        raise MissingExtra("ahocorasick_rs", extra="lexicon", purpose="the engine 'ahocorasick'") from None
    surfaces = sorted({*vocabulary.folded, *map(str.lower, vocabulary.exact)})
    automaton = library.AhoCorasick([f"\0{surface.replace(' ', chr(0))}\0" for surface in surfaces])
    counts = [surface.count(" ") + 1 for surface in surfaces]

    def search(text: Words, vocabulary: _Vocabulary) -> list[Term]:
        line = "\0" + "\0".join(text.words) + "\0"
        starts = [0, *accumulate(len(word) + 1 for word in text.words)]
        place_of = dict(zip(starts, range(len(text.words)), strict=False))
        runs = sorted(
            (place_of[start], -counts[surface])
            for surface, start, _ in automaton.find_matches_as_indexes(line, overlapping=True)
        )
        found: list[Term] = []
        free = 0
        for first, minus_length in runs:
            if first >= free:
                term = _met(text, vocabulary, first, -minus_length)
                if term is not None:
                    found.append(term)
                    free = first - minus_length
        return found

    return search


def _met(text: Words, vocabulary: _Vocabulary, first: int, length: int) -> Term | None:
    """The term that these words are, if the vocabulary has it, its case and number fit and nothing parts the words."""
    last = first + length - 1
    if last >= len(text.words):
        return None
    surface = text.words[first] if length == 1 else " ".join(text.words[first : last + 1])
    entry = None
    if surface in vocabulary.cased:
        written = text.written(first, last)
        entry = vocabulary.exact.get(written)
        if entry is not None and entry.needs_number and not _number_follows(text, last):
            entry = None
        surface = surface if entry is None else written
    if entry is None:
        entry = vocabulary.folded.get(surface)
        if entry is None or (entry.needs_number and not _number_follows(text, last)):
            return None
    for word in range(first, last):
        if not joined(text, word, stroke=entry.category == "drug"):
            return None
    end = text.starts[last] + len(text.words[last])
    return Term(text.starts[first], end, entry.category, entry.concept, surface, entry.ambiguous)


def _number_follows(text: Words, last: int) -> bool:
    end = text.end(last)
    return _VALUE.match(text.plain, end, end + _VALUE_REACH) is not None
