"""Residual values: what was masked in one place of a document and stayed visible in another.

For one document: every masked value, in other case or spacing, and its words, searched in what the masks leave visible.
A screen for review: it answers places and counts, holds no text, and knows nothing but this document."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Literal, NamedTuple

from workup.documents.ambiguous_words import BRANCH_OF, empty_words, name_words
from workup.documents.visible import Borders, Range, says_something, visible_ranges
from workup.lexicon.words import Words, cut, words_alone
from workup.text.unicode import lowered, unaccented

Kind = Literal["whole", "token"]
SHORTEST = 3  # letters and digits of a value or a word; shorter ones are met by chance
SHORTEST_NUMBER = 4  # digits of a word that is all digits: three are met in any dose
LONGEST = 200  # letters and digits of a value that are compared: of a longer one, a passage, its first words
_READ = 2 * LONGEST  # characters of a value that are looked at
_LOOSE_NUMBER = 6  # digits from which a number is looked for in any spacing: 12/5 must not meet 125
_WIDEST_GAP = 3  # characters between two words that a spacing variant may have
_WORD = re.compile(r"[^\W_]+")
_MASK = "\0"
_FEW = 100  # values for which a plain look at each is cheaper than a look at every word
# Branches whose single words tell who someone is. Parts of dates, ages and job titles are met everywhere.
_WITH_TOKENS = frozenset({"NAME", "GEO", "ORG", "CONTACT", "NET", "ID", ""})


class Masked(NamedTuple):
    """A gold that must be masked: its place, and its canonical name (None where it has none)."""

    start: int
    end: int
    label: str | None = None


class Place(NamedTuple):
    """Where a masked value is visible: `gold` is the place, in the list of golds, of the first one that holds it.

    `known` says that the place lies on a gold itself, that is, a miss which is counted already; otherwise the gold has
    a gap or the word means something else there.
    """

    start: int
    end: int
    gold: int
    kind: Kind
    known: bool


class Residue(NamedTuple):
    """Counts of distinct masked values in one document, and the places where they are visible.

    `searched` values were looked for, `unsearched` ones are too short or too common; `found_whole` are visible as a
    whole somewhere, `found_in_part` by a word of theirs only.
    """

    searched: int
    unsearched: int
    found_whole: int
    found_in_part: int
    places: tuple[Place, ...]


class _Value(NamedTuple):
    gold: int
    written: list[str]  # as the text writes it, each time
    form: str  # what is looked for: letters and digits in lower case; of a short number the form it was written in
    exact: bool  # a short number
    like_a_name: bool  # its words count only where they are written like a name: those of firms are words of every day
    words: tuple[str, ...]  # words of it that are searched, in lower case

    def spelt(self, word: str) -> bool:
        """Whether the text writes one of its words so."""
        return any(word in _WORD.findall(written) for written in self.written)


def residue(text: str, golds: Sequence[Masked], masks: Sequence[Range]) -> Residue:
    """Search the visible text of a document for what its masks hide.

    A value is what masks cover of a gold: all of it where they leave only blanks and punctuation, else each piece. It
    is met in any case, without accents, and in any spacing: "Ann-Lee", "ANN LEE", "annlee"; a number of fewer than six
    digits only in its own form. A word of it (three characters, four if all digits) is met as a whole word. Function
    words, months and the words of addresses and firms are not searched by themselves; names that are everyday words
    (Rose, Will) and words of organisations count where they are written like a name and open no sentence. Words of
    dates, ages and professions are not searched, nor are words without a digit of identifiers.

    >>> note = "Ann Lee came. Mrs LEE said so; ann-lee signed."
    >>> found = residue(note, [Masked(0, 7, "name_patient")], [(0, 7)])
    >>> found.found_whole, [(place.start, place.end, place.kind) for place in found.places]
    (1, [(18, 21, 'token'), (31, 38, 'whole')])
    """
    shown = visible_ranges(0, len(text), masks)
    values, unsearched = _values(text, golds, Borders(visible_ranges(0, len(text), shown)))
    if not values:
        return Residue(0, unsearched, 0, 0, ())
    visible = _Visible(text, shown)
    wholes = _wholes(visible, values)
    tokens = _tokens(visible, values)
    if not wholes and not tokens:
        return Residue(len(values), unsearched, 0, 0, ())
    whole = {value for found in wholes.values() for value in found}
    part = {value for found in tokens.values() for value in found} - whole
    covered, marked = Borders(wholes), Borders((gold.start, gold.end) for gold in golds)
    met: list[tuple[Range, list[int], Kind]] = [(at, found, "whole") for at, found in wholes.items()]
    met += [(at, found, "token") for at, found in tokens.items() if not covered.touch(*at)]
    places = sorted(Place(*at, values[min(found)].gold, kind, marked.touch(*at)) for at, found, kind in met)
    return Residue(len(values), unsearched, len(whole), len(part), tuple(places))


# ---- what is searched ------------------------------------------------------------------------------------------------


def _values(text: str, golds: Sequence[Masked], hidden: Borders) -> tuple[list[_Value], int]:
    """Distinct masked values in the order of the golds, and how many are not worth a search."""
    found: dict[tuple[str, str], _Value] = {}
    skipped: set[tuple[str, str]] = set()
    read: set[tuple[str, str]] = set()  # mentions repeat
    empty = empty_words()
    for place, gold in enumerate(golds):
        branch = BRANCH_OF.get(gold.label or "", "")
        for start, end in _covered(text, gold, hidden):
            written = text[start : min(end, start + _READ)]
            if (written, branch) in read:
                continue
            read.add((written, branch))
            plain = _plain(written)
            words = _WORD.findall(plain)
            if end - start > _READ:
                words = words[:-1]  # it may be cut
            form = "".join(words)
            if len(form) > LONGEST:
                ends = accumulate(map(len, words))
                form = "".join(word for word, end in zip(words, ends, strict=True) if end <= LONGEST)
            exact = form.isdigit() and len(form) < _LOOSE_NUMBER
            worth = len(form) >= SHORTEST and form not in empty
            if exact and worth:
                form = plain[plain.index(words[0]) : plain.rindex(words[-1]) + len(words[-1])]
            key = (form, branch)
            if not worth:
                skipped.add(key)
                continue
            if key not in found:
                telling = () if exact else _telling(words, branch)
                found[key] = _Value(place, [], form, exact, branch == "ORG", telling)
            found[key].written.append(written)
    return list(found.values()), len(skipped)


def _covered(text: str, gold: Masked, hidden: Borders) -> list[Range]:
    """What masks cover of a gold: all of it where nothing telling is left, else each piece."""
    near = hidden.touching(gold.start, gold.end)
    if not near or (near[0][0] <= gold.start and gold.end <= near[0][1]):
        return [(gold.start, gold.end)] if near else []
    left = visible_ranges(gold.start, gold.end, near)
    if not any(says_something(text[start:end]) for start, end in left):
        return [(gold.start, gold.end)]
    return [(max(start, gold.start), min(end, gold.end)) for start, end in near]


def _telling(words: Iterable[str], branch: str) -> tuple[str, ...]:
    if branch not in _WITH_TOKENS:
        return ()
    empty = empty_words()
    return tuple(
        word
        for word in dict.fromkeys(words)
        if len(word) >= (SHORTEST_NUMBER if word.isdigit() else SHORTEST)
        and word not in empty
        and (branch != "ID" or not word.isalpha())  # "No. 123456" must not find every "no"
    )


def _plain(text: str) -> str:
    """Lower case without accents; the number of characters is kept."""
    return lowered(unaccented(text))


# ---- where it is searched --------------------------------------------------------------------------------------------


class _Visible:
    """The words that stayed visible, and all of them with nothing between; their places where they are asked for."""

    def __init__(self, text: str, shown: Sequence[Range]) -> None:
        self.text = text
        pieces = []
        at = 0
        for start, end in shown:
            pieces += [_MASK * (start - at), text[start:end]]
            at = end
        self.shown = "".join(pieces) + _MASK * (len(text) - at)
        # The lexicon takes an ampersand for a word; here it is a sign like any other.
        self._readable = self.shown.replace("&", "+")
        self.words = words_alone(self._readable)
        self.different = set(self.words)
        self.glued = "".join(self.words)

    @cached_property
    def _cut(self) -> Words:
        return cut(self._readable)

    @property
    def plain(self) -> str:
        """The text without accents, as long as it was."""
        return self._cut.plain

    @property
    def starts(self) -> list[int]:
        """Where each word starts."""
        return self._cut.starts

    def end(self, word: int) -> int:
        """Where a word ends in the text."""
        return self.starts[word] + len(self.words[word])

    def places(self, wanted: Collection[str]) -> Iterator[tuple[str, int]]:
        """The words that are wanted, each time they are met, and where."""
        if not self.different.isdisjoint(wanted):
            yield from ((word, at) for word, at in zip(self.words, self.starts, strict=True) if word in wanted)

    @cached_property
    def reach(self) -> list[int]:
        """Of each word, the last one up to which nothing but a few characters, none masked, stands between words."""
        found = list(range(len(self.words)))
        for word in range(len(self.words) - 2, -1, -1):
            gap = self.shown[self.end(word) : self.starts[word + 1]]
            if len(gap) <= _WIDEST_GAP and _MASK not in gap:
                found[word] = found[word + 1]
        return found


_Found = dict[Range, list[int]]
_Forms = dict[int, dict[str, list[int]]]  # by length, by form: the values


def _wholes(visible: _Visible, values: Sequence[_Value]) -> _Found:
    """Values met as a whole, by place. A hash of how they open picks the words at which a look pays."""
    loose: dict[str, _Forms] = {}
    exact: dict[str, _Forms] = {}
    few = len(values) <= _FEW
    for number, (_, _, form, is_exact, _, _) in enumerate(values):
        if is_exact:
            forms = exact.setdefault(_WORD.findall(form)[0], {})
        elif few and form not in visible.glued:
            continue
        else:
            forms = loose.setdefault(form[:SHORTEST], {})
        forms.setdefault(len(form), {}).setdefault(form, []).append(number)
    found: _Found = {}
    if loose:
        _add_loose(visible, values, loose, found)
    for word, start in visible.places(exact.keys()):
        for length, by_form in exact[word].items():
            numbers = by_form.get(visible.plain[start : start + length])
            if numbers is not None and _stands_alone(visible.plain, start, start + length):
                found.setdefault((start, start + length), []).extend(numbers)
    return found


def _add_loose(visible: _Visible, values: Sequence[_Value], wanted: dict[str, _Forms], found: _Found) -> None:
    """In any spacing: a run of neighbouring words that reads like the value once nothing stands between them."""
    glued, offsets = visible.glued, [0, *accumulate(map(len, visible.words))]
    ends = dict(zip(offsets[1:], range(len(visible.words)), strict=True))
    for first, at in enumerate(offsets[:-1]):
        known = wanted.get(glued[at : at + SHORTEST])
        for length, forms in known.items() if known else ():
            last = ends.get(at + length)
            numbers = None if last is None else forms.get(glued[at : at + length])
            if last is None or numbers is None or last > visible.reach[first]:
                continue
            place = (visible.starts[first], visible.end(last))
            for number in numbers:
                if first < last or _in_its_case(visible, place, values[number]):
                    found.setdefault(place, []).append(number)


# 12/5 is no part of 12/5/98 or 3-12/5; a number without signs may have a hyphen beside it: 94110-1234 shows 94110.
_BESIDE = {
    False: (re.compile(r"[^\W_]|[.,/:-]\d"), re.compile(r"\d[.,/:-]$")),
    True: (re.compile(r"[^\W_]|[.,/:]\d"), re.compile(r"\d[.,/:]$")),
}


def _stands_alone(plain: str, start: int, end: int) -> bool:
    """Whether nothing beside a short number makes it part of another."""
    after, before = _BESIDE[plain[start:end].isdigit()]
    return not after.match(plain, end) and not before.search(plain[max(0, start - 2) : start])


def _tokens(visible: _Visible, values: Sequence[_Value]) -> _Found:
    """Words of values met as words, by place."""
    wanted: dict[str, list[int]] = {}
    for number, value in enumerate(values):
        for word in value.words:
            wanted.setdefault(word, []).append(number)
    found: _Found = {}
    for word, start in visible.places(wanted.keys()):
        place = (start, start + len(word))
        for number in wanted[word]:
            if _in_its_case(visible, place, values[number], every=values[number].like_a_name):
                found.setdefault(place, []).append(number)
    return found


_OPENS = re.compile(r"(?:^|[.!?:;•\n\r])[\s\"'“”‘’(\[*-]*$")
_BEFORE = 12  # characters in which the opening of a sentence shows


def _in_its_case(visible: _Visible, place: Range, value: _Value, *, every: bool = False) -> bool:
    """A name that is an everyday word (or every word) counts where it is written like one and opens no sentence.

    Like a name: with one capital, or as it was where it is masked. In a note in capitals every word looks like one.
    """
    start, end = place
    word = visible.text[start:end]
    if not every and _plain(word) not in name_words():
        return True
    if not (word.istitle() or (word[0].isupper() and value.spelt(word))):
        return False
    return _OPENS.search(visible.shown[max(0, start - _BEFORE) : start]) is None
