"""Characters made comparable: accents, cases, look-alikes and compatibility forms. Knows no words.

Two kinds of folding. Where offsets must stay true, `unaccented`, `lowered` and `folded` give one character for one.
Where two spellings are only compared, `caseless`, `plain_latin`, `without_marks` and `compatibility_caseless` may
change the length.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal

from workup.text.wordlists import alternatives

NOT_ASCII = re.compile(r"[^\x00-\x7f]")

# Cyrillic, Greek and other letters that most fonts draw like Latin ones (the everyday part of Unicode's confusables).
# What looks like a letter and like a digit (О, ӏ) is folded to the letter, which comes first.
HOMOGLYPHS = alternatives("""
    A=А|Α B=В|Β C=С|Ϲ E=Е|Ε H=Н|Η I=І|Ι J=Ј K=К|Κ M=М|Μ N=Ν O=О|Ο P=Р|Ρ S=Ѕ T=Т|Τ X=Х|Χ Y=Ү|Υ Z=Ζ
    a=а c=с d=ԁ e=е g=ɡ h=һ i=і j=ј l=ӏ o=о|ο p=р q=ԛ s=ѕ u=υ v=ν w=ԝ x=х y=у 0=О|Ο 1=ӏ 3=З 6=б
""")
# Latin letters that no decomposition takes apart, dashes, quotes and strokes.
_PAIRS = """
łl đd øo ßs æa œo ıi ŁL ĐD ØO
‐- ‑- ‒- –- —- ―- −- ﹣- ’' ‘' ʼ' ´' `' ′' “" ”" „" ⁄/ ∕/ ‚, ．. ：: ＠@
"""
_SPELT_OUT = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "æ": "ae", "œ": "oe", "ŋ": "n"}
)
_FOLD = {ord(alike): plain for plain, glyphs in reversed(tuple(HOMOGLYPHS.items())) for alike in glyphs}
_FOLD |= {ord(pair[0]): pair[1] for pair in _PAIRS.split()}
_FOLD |= dict.fromkeys((160, 8199, 8200, 8201, 8202, 8194, 8195, 8239, 12288), " ")
_FOLD |= {0xFF01 + i: chr(0x21 + i) for i in range(94)}  # full width


def folded(text: str) -> str:
    """The text in plain letters, digits, blanks, dashes and quotes, as many characters as before.

    >>> folded("Núñez\u00a0–\u00a0О’Hara")
    "Nunez - O'Hara"
    """
    return text if text.isascii() else unaccented(text.translate(_FOLD))


def unaccented(text: str) -> str:
    """The same number of characters, accented Latin letters without their accents: offsets stay true.

    >>> unaccented("Ménière")
    'Meniere'
    """
    return text if text.isascii() else NOT_ASCII.sub(lambda match: _plain_letter(match[0]), text)


@lru_cache(maxsize=1 << 14)
def _plain_letter(character: str) -> str:
    """A letter whose decomposition opens with an ASCII letter becomes that letter; all else stays."""
    first = unicodedata.normalize("NFD", character)[0]
    return first if first < "\x80" else character


def lowered(text: str) -> str:
    """Lower case with the same number of characters: a capital dotted I, for one, would otherwise become two.

    >>> lowered("ÜBER İ")
    'über İ'
    """
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def caseless(text: str) -> str:
    """Taken apart by compatibility and case-folded, marks still in place: what is then kept is up to the caller.

    >>> [c for c in caseless("ﬁÉ") if c.isalpha()]
    ['f', 'i', 'e']
    """
    return unicodedata.normalize("NFKD", text).casefold()


def plain_latin(text: str) -> str:
    """`caseless`, with the Latin letters spelt out that no decomposition takes apart.

    >>> plain_latin("Østrem"), plain_latin("Æsa")
    ('ostrem', 'aesa')
    """
    return caseless(text).translate(_SPELT_OUT)


def without_marks(text: str, *, form: Literal["NFD", "NFKD"] = "NFD") -> str:
    """The text without its accents; NFKD takes ligatures, fractions and full-width letters apart as well.

    >>> without_marks("José ½"), without_marks("ﬁ", form="NFKD")
    ('Jose ½', 'fi')
    """
    return "".join(c for c in unicodedata.normalize(form, text) if not unicodedata.combining(c))


def compatibility_caseless(text: str) -> str:
    """Unicode's compatibility caseless form: one round alone leaves a few letters that a second would change.

    >>> compatibility_caseless("ＳＭＩＴＨ")
    'smith'
    """
    once = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
    return unicodedata.normalize("NFKC", once.casefold())
