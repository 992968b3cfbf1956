"""The kinds of noise: where each may strike, and what it puts there. Knows characters, but neither spans nor rates."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from workup.corpora.noise.tables import KEYS, UNICODE
from workup.errors import InputError, near
from workup.text.typos import SCANNED
from workup.text.unicode import HOMOGLYPHS

# A surface, a number in [0, 1) that decides, whether a character may go, and the text's own line end: what comes of it.
Replacing = Callable[[str, float, bool, str], str]


@dataclass(frozen=True)
class Kind:
    """One kind. `strikes` finds its places; two edits keep `apart` characters between them.

    A place is a match, or its first group where the pattern looks ahead. `whole_words` says that a place is a word,
    of which a part may be taken where the rest would be too much.
    """

    name: str
    describe: str
    strikes: re.Pattern[str]
    replace: Replacing
    apart: int = 0
    whole_words: bool = False


def find_kind(name: str) -> Kind:
    """The kind of that name, or an error with the near ones.

    >>> find_kind("ocr").apart
    1
    """
    if name not in KINDS:
        raise InputError(
            "a known kind of noise was expected", where="kind", got=repr(name[:40]), remedy=near(name, KINDS)
        )
    return KINDS[name]


def _one_of(options: Sequence[str], chance: float) -> str:
    return options[int(chance * len(options))]


def _from_table(table: Mapping[str, Sequence[str]]) -> Replacing:
    return lambda surface, chance, roomy, line_end: _one_of(table[surface], chance)


def _any_of(table: Mapping[str, Sequence[str]]) -> re.Pattern[str]:
    # The longest first, so that "rn" is seen before "r".
    return re.compile("|".join(re.escape(key) for key in sorted(table, key=lambda key: (-len(key), key))))


def _typed_wrong(surface: str, chance: float, roomy: bool, _: str) -> str:
    """A neighbouring key instead (half), a letter left out (a fifth), a neighbour struck too, or the letter twice."""
    slip, chance = int(chance * 10), chance * 10 % 1
    keys = KEYS[surface]
    if slip < 5 or (slip < 7 and not roomy):
        return _one_of(keys, chance)
    if slip < 7:
        return ""
    return surface * 2 if slip < 8 else surface + _one_of(keys, chance)


def _upper(surface: str, *_: object) -> str:
    return surface.upper()


def _lower(surface: str, *_: object) -> str:
    return surface.lower()


def _either_case(surface: str, chance: float, *_: object) -> str:
    """Capitals throughout or none, whichever comes up; the other where the word is in that case already."""
    options = [other for other in (surface.upper(), surface.lower()) if other != surface]
    return _one_of(options, chance) if options else surface


def _spaced(surface: str, chance: float, roomy: bool, _: str) -> str:
    """A blank goes or comes twice; between two characters that are together comes a blank."""
    if not surface:
        return " "
    return "" if roomy and chance < 0.5 else surface * 2


def _wrapped(surface: str, _: float, __: bool, line_end: str) -> str:
    """A line end for the blank, or after the mark that a writer would break at."""
    return line_end if surface.isspace() else surface + line_end


_WORD = r"[^\W\d_]{1,60}"
_INSIDE = r"(?<=[^\W_])(?=[^\W_])"

_ALL = (
    Kind("ocr", "Confusions of character recognition: 0 and O, rn and m", _any_of(SCANNED), _from_table(SCANNED),
         apart=1),
    Kind("typo", "Slips of the keyboard: a neighbouring key, one too few, one too many", re.compile("[0-9A-Za-z]"),
         _typed_wrong, apart=1),
    Kind("transposition", "Two neighbouring letters or digits swapped", re.compile(r"(?=(([^\W_])(?!\2)[^\W_]))"),
         lambda surface, *_: surface[::-1], apart=1),
    Kind("case", "Words in capitals or in small letters throughout", re.compile(_WORD), _either_case, whole_words=True),
    Kind("upper", "Words in capitals", re.compile(_WORD), _upper, whole_words=True),
    Kind("lower", "Words in small letters", re.compile(_WORD), _lower, whole_words=True),
    Kind("spacing", "Blanks lost, doubled, or come into words", re.compile(rf"(?<=\S) (?=\S)|{_INSIDE}"), _spaced,
         apart=1),
    Kind("unicode", "Accents, dashes, quotes, blanks and digits in other code points", _any_of(UNICODE),
         _from_table(UNICODE)),
    Kind("homoglyph", "Letters of other scripts that look the same", _any_of(HOMOGLYPHS), _from_table(HOMOGLYPHS)),
    Kind("line_breaks", "Line ends inside values: at blanks and behind hyphens, strokes, commas, stops, @ and colons",
         re.compile(r"(?<=\S)[ \t](?=\S)|(?<=\w)[-/,.@:](?=\w)"), _wrapped, apart=1),
)  # fmt: skip
KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in _ALL})
