"""One extractor of clinical terms: diseases, drugs, procedures, anatomy, laboratory tests and vital signs in a text.

It looks words up in the shipped vocabularies. It knows nothing of negation, of who has the disease, or of spelling errors.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

from workup.errors import InputError, MissingExtra, near
from workup.lexicon import sources
from workup.lexicon.terms import CATEGORIES, WORD, Surface, all_variants, lowered, unaccented

ENGINES = ("tokens", "ahocorasick")

_WORDS = re.compile(WORD)
# Every ASCII character that is no letter or digit becomes one blank: the fast way to cut most notes into words.
_BLANKED = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))
# Between two words of one term: blanks, at most one line end, one hyphen or one apostrophe. A stop or a comma parts them.
_JOINED = re.compile(r"[^\S\n]*\n?[^\S\n]*|[-\u2010\u2011\u2012\u2013'\u2018\u2019\xad]\n?[^\S\n]*")
# After a single letter also a stop or a stroke: "E. coli", "V/Q scan".
_AFTER_LETTER = re.compile(r"\.[^\S\n]?|/")
# A value: "Na 138", "K+ of 3.4", "BP: 120/80", "T = 98.6", "Cr is 1.2".
_VALUE = re.compile(r"\+?[\s:=~]*(?:(?:of|is|was|at|to)\s+)?[<>~]?[^\S\n]*\d", re.IGNORECASE)
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
    alone: set[str]  # surfaces of one word, in lower case
    pairs: dict[str, tuple[int, ...]]  # the first two words of longer ones: how many words these have, the most first
    openings: set[str]  # first words of either


class _Words(NamedTuple):
    """A text cut into words: the text without accents, its words in lower case, and where each one starts."""

    plain: str
    words: list[str]
    starts: list[int]

    def end(self, word: int) -> int:
        return self.starts[word] + len(self.words[word])


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
        self._search: Callable[[_Words, _Vocabulary], list[Term]] = search

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
        found = self._search(_cut(text), self._vocabulary)
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
    alone: set[str] = set()
    pairs: dict[str, set[int]] = {}
    for surface in [*folded, *cased]:
        words = surface.split(" ", 2)
        if len(words) == 1:
            alone.add(surface)
        else:
            pair = surface if len(words) == 2 else f"{words[0]} {words[1]}"
            pairs.setdefault(pair, set()).add(surface.count(" ") + 1)
    shared: dict[tuple[int, ...], tuple[int, ...]] = {}
    lengths = {pair: tuple(sorted(counts, reverse=True)) for pair, counts in pairs.items()}
    openings = alone.union(pair.split(" ", 1)[0] for pair in pairs)
    return _Vocabulary(
        folded, exact, cased, alone, {pair: shared.setdefault(known, known) for pair, known in lengths.items()}, openings
    )


def _cut(text: str) -> _Words:
    if not text.isascii() or "&" in text:
        return _cut_any(text)
    pieces = text.lower().translate(_BLANKED).split(" ")
    before = list(accumulate(map(len, pieces), initial=0))
    places = [place for place, piece in enumerate(pieces) if piece]
    return _Words(text, [pieces[place] for place in places], [before[place] + place for place in places])


def _cut_any(text: str) -> _Words:
    """The same for any text, by the definition of a word: letters and digits of any script, or an ampersand."""
    plain = unaccented(text)
    matches = list(_WORDS.finditer(lowered(plain)))
    return _Words(plain, [match[0] for match in matches], [match.start() for match in matches])


def _by_tokens(cut: _Words, vocabulary: _Vocabulary) -> list[Term]:
    """From the left, at each word that opens a surface, the longest run of words that is one."""
    words, openings, pairs, alone = [*cut.words, ""], vocabulary.openings, vocabulary.pairs, vocabulary.alone
    found: list[Term] = []
    free = 0
    for first in [place for place, word in enumerate(words) if word in openings]:
        if first < free:
            continue
        word = words[first]
        lengths = pairs.get(f"{word} {words[first + 1]}", ())
        for length in (*lengths, 1) if word in alone else lengths:
            term = _met(cut, vocabulary, first, length)
            if term is not None:
                found.append(term)
                free = first + length
                break
    return found


def _by_automaton(vocabulary: _Vocabulary) -> Callable[[_Words, _Vocabulary], list[Term]]:
    """All runs of words that are surfaces in one pass of an Aho-Corasick automaton, then the same choice among them."""
    try:
        library: Any = importlib.import_module("ahocorasick_rs")
    except ModuleNotFoundError:
        raise MissingExtra("ahocorasick_rs", extra="lexicon", purpose="the engine 'ahocorasick'") from None
    surfaces = sorted({*vocabulary.folded, *map(str.lower, vocabulary.exact)})
    automaton = library.AhoCorasick([f"\0{surface.replace(' ', chr(0))}\0" for surface in surfaces])
    counts = [surface.count(" ") + 1 for surface in surfaces]

    def search(cut: _Words, vocabulary: _Vocabulary) -> list[Term]:
        line = "\0" + "\0".join(cut.words) + "\0"
        starts = [0, *accumulate(len(word) + 1 for word in cut.words)]
        place_of = dict(zip(starts, range(len(cut.words)), strict=False))
        runs = sorted(
            (place_of[start], -counts[surface])
            for surface, start, _ in automaton.find_matches_as_indexes(line, overlapping=True)
        )
        found: list[Term] = []
        free = 0
        for first, minus_length in runs:
            if first >= free:
                term = _met(cut, vocabulary, first, -minus_length)
                if term is not None:
                    found.append(term)
                    free = first - minus_length
        return found

    return search


def _met(cut: _Words, vocabulary: _Vocabulary, first: int, length: int) -> Term | None:
    """The term that these words are, if the vocabulary has it, its case and number fit and nothing parts the words."""
    last = first + length - 1
    if last >= len(cut.words):
        return None
    surface = cut.words[first] if length == 1 else " ".join(cut.words[first : last + 1])
    entry = None
    if surface in vocabulary.cased:
        written = " ".join(cut.plain[cut.starts[word] : cut.end(word)] for word in range(first, last + 1))
        entry = _fitting(vocabulary.exact.get(written), cut, last)
        surface = written if entry else surface
    entry = entry or _fitting(vocabulary.folded.get(surface), cut, last)
    if entry is None:
        return None
    for word in range(first, last):
        if not _joined(cut, word, entry.category):
            return None
    end = cut.starts[last] + len(cut.words[last])
    return Term(cut.starts[first], end, entry.category, entry.concept, surface, entry.ambiguous)


def _joined(cut: _Words, word: int, category: str) -> bool:
    """Whether what stands between this word and the next leaves them in one term; a stroke joins combined drugs."""
    gap = cut.plain[cut.end(word) : cut.starts[word + 1]]
    if gap == " " or gap == "-" or (gap == "/" and category == "drug"):
        return True
    return bool(_JOINED.fullmatch(gap)) or (len(cut.words[word]) == 1 and bool(_AFTER_LETTER.fullmatch(gap)))


def _fitting(entry: _Entry | None, cut: _Words, last: int) -> _Entry | None:
    """The entry, unless it asks for a number and none follows the last word."""
    if entry is None or not entry.needs_number:
        return entry
    end = cut.end(last)
    return entry if _VALUE.match(cut.plain, end, end + _VALUE_REACH) else None
