"""Names of people as notes write them: cut into parts, and written again with other words in the same form.

Knows no tables and no key; who stands for whom is the caller's to say."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from workup.documents.titles import title_length
from workup.text.unicode import plain_latin
from workup.text.wordlists import words_of

Part = Literal["given", "middle", "family", "any", "suffix", "text"]
LONGEST, MOST_WORDS = 120, 12
_TOKENS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[\W\d_]")
_SUFFIXES = frozenset(("jr", "sr", "ii", "iii", "iv"))
_CREDENTIALS = words_of(
    "md do rn np pa dds dmd phd pharmd dpt lcsw rd msn bsn cnp crna facs mbbs ma ms esq dnp lpn cna pac faap facp aprn "
    "fnp mph psyd od dpm dc"
)
_PARTICLES = words_of(
    "de del della der den di da dos das du la las los le van von bin ibn bint al el ten ter y e mac san st o"
)
_ALLOWED = frozenset(" \t\r\n\u00a0.,-'’\"“”()^/&")
_POSSESSIVE = ("'s", "’s", "'S", "’S")


class Word(NamedTuple):
    """One piece of a written name: the part it plays, and its letters."""

    part: Part
    text: str

    @property
    def is_initial(self) -> bool:
        return len(self.text) == 1 and self.part not in ("text", "suffix")


@dataclass(frozen=True, slots=True)
class NameForm:
    """A name as it is written; its pieces together are the surface, letter for letter."""

    words: tuple[Word, ...]

    def parts(self, *wanted: Part) -> tuple[str, ...]:
        """The words of some parts, folded."""
        return tuple(folded(word.text) for word in self.words if word.part in wanted)

    def written(self, other: Callable[[Word], str]) -> str:
        """The same form with other words.

        >>> read_name("LEE, Ann M.").written(lambda word: "Roe" if word.part == "family" else "Joan")
        'ROE, Joan J.'
        """
        return "".join(
            word.text if word.part in ("text", "suffix") else _cased(other(word), word) for word in self.words
        )


def folded(word: str) -> str:
    """A word in lower case without accents and apostrophes: how two spellings of one name are compared.

    >>> folded("O'Hara"), folded("NÚÑEZ")
    ('ohara', 'nunez')
    >>> folded("Wołąsiewicz"), folded("Østrem")
    ('wolasiewicz', 'ostrem')
    """
    return "".join(letter for letter in plain_latin(word) if letter.isalpha())


def read_name(surface: str) -> NameForm | None:
    """The parts of a name, or None where its parts cannot be told apart: digits, other scripts, too many words.

    Titles, credentials and the possessive are outside; "Last, First", "LAST^FIRST" and "Last F" are turned round.

    >>> [word for word in read_name("Dr. Ana de la Cruz, MD").words if word.part != "text"]
    [Word(part='given', text='Ana'), Word(part='family', text='Cruz')]
    >>> read_name("Ward 3") is None
    True
    """
    if not surface or len(surface) > LONGEST:
        return None
    start = title_length(surface)
    end = len(surface) - 2 if surface.endswith(_POSSESSIVE) and len(surface) - start > 3 else len(surface)
    tokens = _TOKENS.findall(surface[start:end])
    parts: list[Part] = ["text"] * len(tokens)
    spots = [place for place, token in enumerate(tokens) if token[0].isalpha()]
    if not spots or len(spots) > MOST_WORDS:
        return None
    if any(token not in _ALLOWED for place, token in enumerate(tokens) if place not in set(spots)):
        return None
    if not all(folded(tokens[place]).isascii() and folded(tokens[place]) for place in spots):
        return None
    spots = _without_endings(tokens, spots, parts)
    _assign(tokens, spots, parts)
    words = [Word(part, token) for part, token in zip(parts, tokens, strict=True)]
    around = (Word("text", surface[:start]), *words, Word("text", surface[end:]))
    return NameForm(tuple(word for word in around if word.text))


def _without_endings(tokens: list[str], spots: list[int], parts: list[Part]) -> list[int]:
    """Marks suffixes (Jr., III) and leaves out credentials (MD); at least one word is left to be the name."""
    left = list(spots)
    while len(left) > 1:
        last = folded(tokens[left[-1]])
        if last in _SUFFIXES:
            parts[left[-1]] = "suffix"
        elif not (last in _CREDENTIALS and tokens[left[-1]][:1].isupper() and _after_comma(tokens, left[-1])):
            break
        left.pop()
    # "Smith Jr., John": a suffix may also close the family name before the comma.
    for place in left[1:]:
        if folded(tokens[place]) in _SUFFIXES and "," in tokens[place + 1 : place + 3]:
            parts[place] = "suffix"
    return [place for place in left if parts[place] != "suffix"]


def _after_comma(tokens: list[str], place: int) -> bool:
    """MD after a comma is a credential, and so is one in capitals after a name that is not: in JOHN DO it is not."""
    in_capitals = tokens[place].isupper() and not all(token.isupper() for token in tokens[:place] if token[0].isalpha())
    return "," in tokens[max(0, place - 2) : place] or in_capitals


def _assign(tokens: list[str], spots: list[int], parts: list[Part]) -> None:
    carets = [place for place, token in enumerate(tokens) if token == "^"]
    commas = [place for place, token in enumerate(tokens) if token == ","]
    turn = carets[0] if carets else next((place for place in commas if any(spot > place for spot in spots)), -1)
    if turn > 0:
        for spot in spots:
            parts[spot] = "family" if spot < turn else "middle"
        after = [spot for spot in spots if spot > turn]
        if after:
            parts[after[0]] = "given"
    elif len(spots) == 1 or all(tokens[a + 1 : b] == ["-"] for a, b in itertools.pairwise(spots)):
        for spot in spots:
            parts[spot] = "any"
    elif len(tokens[spots[-1]]) == 1 and len(tokens[spots[0]]) > 1 and "." not in tokens[spots[-1] :]:
        for spot in spots:  # Lee A
            parts[spot] = "family"
        parts[spots[-1]] = "given"
    else:
        _in_order(tokens, spots, parts)
    for spot in spots[:-1]:
        # Van is a given name too: the word that opens a name is a particle only in small letters.
        if folded(tokens[spot]) in _PARTICLES and len(tokens[spot]) > 1:
            parts[spot] = "text" if spot != spots[0] or tokens[spot].islower() else parts[spot]


def _in_order(tokens: list[str], spots: list[int], parts: list[Part]) -> None:
    """Given name first; the last word, and those joined to it by a hyphen or after a particle, are the family."""
    for spot in spots:
        parts[spot] = "middle"
    parts[spots[0]], parts[spots[-1]] = "given", "family"
    for at in range(len(spots) - 2, 0, -1):
        joined = "".join(tokens[spots[at] + 1 : spots[at + 1]]) == "-"
        if not joined and folded(tokens[spots[at]]) not in _PARTICLES:
            break
        parts[spots[at]] = "family"


def _cased(new: str, old: Word) -> str:
    if old.is_initial:
        return new[:1].upper() if old.text.isupper() else new[:1].lower()
    if old.text.isupper():
        return new.upper()
    return new.lower() if old.text.islower() else new
