"""How much a single word looks like a name of a person: gazetteer, books, clinical words, slips of the pen.

Weights are decimal log-odds for a word with a capital. Knows one word at a time and nothing of its neighbours."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

from workup.deid import gazetteer
from workup.deid.known_words import clinical_words
from workup.deid.word_lists import words

PARTICLES = words("names.particles")
SUFFIXES = words("names.suffixes")
_UNKNOWN = 0.25
_SLIP = 0.7  # a common name but for one letter
_LEAST_BEARERS = 3.75  # log10: names common enough to be recognised through a slip
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


CODE = Weight(-3.0, False, False, False, "code")


@lru_cache(maxsize=_REMEMBERED)
def weigh(word: str) -> Weight:
    """The weight of one word in lower case.

    >>> weigh("trevino").odds > 0.5 > weigh("patient").odds, weigh("metformin").odds < -2
    (True, True)
    """
    if "'" in word and word.rpartition("'")[2] in _SHORTENED:
        return Weight(-3.0, False, False, True, "word", everyday=True)
    bare = word.replace("'", "")
    known = gazetteer.people().get(bare)
    clinical = bare in clinical_words()
    if known is None:
        if clinical:
            return Weight(-3.0, False, False, True, "clinical")
        if bare in gazetteer.everyday():
            return Weight(-3.0, False, False, True, "word", everyday=True)
        return _unknown(bare)
    everyday = bare in gazetteer.everyday() or not max(known.given, known.surname)
    if everyday:
        odds = known.balance if known.balance <= -3 else max(-3.0, min(1.4, (known.balance + 0.35) * 1.8))
    else:  # books write it with a capital only: it is a name, if not of a place
        odds = max(-3.0, min(1.4, 1.25 + 1.15 * known.balance))
    if clinical:
        odds = min(odds, 0.2) - 1.2
    given, family = known.given >= 2.0, known.surname >= 2.0
    if not given and not family:
        return Weight(min(odds, -2.5), False, False, True, "word", everyday=everyday)
    return Weight(
        odds,
        given,
        family,
        True,
        "name" if odds > 0 else "ambiguous",
        known.given >= 4.25,
        everyday,
        known.surname >= 4,
    )


def _unknown(word: str) -> Weight:
    if not word.isalpha() and any(map(str.isdigit, word)):
        read = word.translate(_LOOKS)
        if len(word) >= 4 and sum(map(str.isalpha, word)) >= max(3, len(word) - 2) and read in gazetteer.people():
            through = weigh(read)
            return through._replace(odds=min(through.odds, 0.8), why="slip") if through.odds > 0 else CODE
        return CODE
    if len(word) < 3:
        return Weight(-0.8, False, False, False, "short")
    if len(word) >= 5 and _slipped(word):
        return Weight(_SLIP, True, True, False, "slip")
    return Weight(_UNKNOWN if len(word) > 3 else -0.3, True, True, False, "unknown")


def _slipped(word: str) -> bool:
    near = _neighbours()
    return word in near or any(word[:i] + word[i + 1 :] in near for i in range(len(word)))


@cache
def _neighbours() -> frozenset[str]:
    """Common names and what is left of them without one letter: a slip of one letter meets in this set."""
    found: set[str] = set()
    for name, known in gazetteer.people().items():
        if max(known.given, known.surname) >= _LEAST_BEARERS and known.balance > 0 and len(name) >= 5:
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
