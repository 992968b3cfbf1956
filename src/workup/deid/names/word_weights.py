"""How much a single word looks like a name of a person: gazetteer, books, clinical words, typos.

Weights are decimal log-odds for a word with a capital. Knows one word at a time and nothing of its neighbours."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

from workup.deid import gazetteer
from workup.deid.known_words import clinical_words
from workup.deid.names.weights import name_weight
from workup.deid.word_lists import words

PARTICLES = words("names.particles")
SUFFIXES = words("names.suffixes")
_NO_NAME = name_weight("word.no_name")
MOST = name_weight("word.most")
_EVERYDAY_SHIFT = name_weight("word.everyday_shift")
_EVERYDAY_SLOPE = name_weight("word.everyday_slope")
_PROPER_START = name_weight("word.proper_start")
_PROPER_SLOPE = name_weight("word.proper_slope")
_CLINICAL_MOST = name_weight("word.clinical_most")
_CLINICAL = name_weight("word.clinical")
_FEW_BEARERS = name_weight("word.few_bearers")
_LEAST_BEARERS = name_weight("word.least_bearers")
_COMMON_GIVEN = name_weight("word.common_given")
_COMMON_SURNAME = name_weight("word.common_surname")
_UNKNOWN = name_weight("word.unknown")
_UNKNOWN_OF_THREE = name_weight("word.unknown_of_three")
_UNKNOWN_SHORT = name_weight("word.unknown_short")
_TYPO = name_weight("word.typo")
_MISREAD_MOST = name_weight("word.misread_most")
_TYPO_BEARERS = name_weight("word.typo_bearers")
_INITIAL = name_weight("word.initial")
_REMEMBERED = 1 << 16  # words; texts without end hold words without end
_SHORTENED = words("names.shortened")
_LOOKS = str.maketrans("013456789", "olbasbtbg")


class Weight(NamedTuple):
    """Log-odds of a word, and what spoke for it. `given` and `family` say which half of a name it can be."""

    odds: float
    given: bool
    family: bool
    known: bool
    why: str
    common: bool = False
    everyday: bool = False
    surname: bool = False  # borne by ten thousand or more


INITIAL = Weight(_INITIAL, True, False, False, "initial")
CODE = Weight(_NO_NAME, False, False, False, "code")


@lru_cache(maxsize=_REMEMBERED)
def weigh(word: str) -> Weight:
    """The weight of one word in lower case.

    >>> weigh("trevino").odds > 0.5 > weigh("patient").odds, weigh("metformin").odds < -2
    (True, True)
    """
    if "'" in word and word.rpartition("'")[2] in _SHORTENED:
        return Weight(_NO_NAME, False, False, True, "word", everyday=True)
    bare = word.replace("'", "")
    known = gazetteer.people().get(bare)
    clinical = bare in clinical_words()
    if known is None:
        if clinical:
            return Weight(_NO_NAME, False, False, True, "clinical")
        if bare in gazetteer.everyday():
            return Weight(_NO_NAME, False, False, True, "word", everyday=True)
        return _unknown(bare)
    everyday = bare in gazetteer.everyday() or not max(known.given, known.surname)
    if everyday:
        odds = known.balance
        if odds > _NO_NAME:
            odds = max(_NO_NAME, min(MOST, (odds + _EVERYDAY_SHIFT) * _EVERYDAY_SLOPE))
    else:  # books write it with a capital only: it is a name, if not of a place
        odds = max(_NO_NAME, min(MOST, _PROPER_START + _PROPER_SLOPE * known.balance))
    if clinical:
        odds = min(odds, _CLINICAL_MOST) + _CLINICAL
    given, family = known.given >= _LEAST_BEARERS, known.surname >= _LEAST_BEARERS
    if not given and not family:
        return Weight(min(odds, _FEW_BEARERS), False, False, True, "word", everyday=everyday)
    return Weight(
        odds,
        given,
        family,
        True,
        "name" if odds > 0 else "ambiguous",
        known.given >= _COMMON_GIVEN,
        everyday,
        known.surname >= _COMMON_SURNAME,
    )


def _unknown(word: str) -> Weight:
    if not word.isalpha() and any(map(str.isdigit, word)):
        read = word.translate(_LOOKS)
        if len(word) >= 4 and sum(map(str.isalpha, word)) >= max(3, len(word) - 2) and read in gazetteer.people():
            through = weigh(read)
            return through._replace(odds=min(through.odds, _MISREAD_MOST), why="typo") if through.odds > 0 else CODE
        return CODE
    if len(word) < 3:
        return Weight(_UNKNOWN_SHORT, False, False, False, "short")
    if len(word) >= 5 and _is_typo(word):
        return Weight(_TYPO, True, True, False, "typo")
    return Weight(_UNKNOWN if len(word) > 3 else _UNKNOWN_OF_THREE, True, True, False, "unknown")


def _is_typo(word: str) -> bool:
    near = _neighbours()
    return word in near or any(word[:i] + word[i + 1 :] in near for i in range(len(word)))


@cache
def _neighbours() -> frozenset[str]:
    """Common names and what is left of them without one letter: a typo of one letter meets in this set."""
    found: set[str] = set()
    for name, known in gazetteer.people().items():
        if max(known.given, known.surname) >= _TYPO_BEARERS and known.balance > 0 and len(name) >= 5:
            found.add(name)
            found.update(name[:i] + name[i + 1 :] for i in range(len(name)))
    return frozenset(found)


_SOUNDS = str.maketrans("bpfvwcgjkqsxzdtlmnr", "bbvvvkkkkksssttlnnr")
_SILENT = frozenset("aeiouyh'")


@lru_cache(maxsize=_REMEMBERED)
def sound(word: str) -> str:
    """How a name sounds, roughly: the first letter, then groups of consonants, doubles once, vowels dropped.

    >>> sound("meyer") == sound("maier"), sound("schmidt") == sound("schmitt")
    (True, True)
    """
    word = word.replace("ph", "f").replace("ck", "k").replace("sch", "sh").replace("dt", "t").replace("gh", "g")
    tail = "".join(c for c in word[1:] if c not in _SILENT).translate(_SOUNDS)
    kept = [c for i, c in enumerate(tail) if i == 0 or tail[i - 1] != c]
    return word[:1] + "".join(kept)
