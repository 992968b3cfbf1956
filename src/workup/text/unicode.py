"""Look-alike letters, dashes, quotes, blanks and accents as plain ones, character for character. Knows no words."""

from __future__ import annotations

import re
import unicodedata

# Letters that most fonts draw like Latin ones, dashes, quotes, blanks and strokes: one character for one.
_PAIRS = """
АA ВB СC ЕE НH ІI ЈJ КK МM ОO РP ЅS ТT ХX ҮY аa сc ԁd еe ɡg һh іi јj ӏl оo рp ԛq ѕs уy ԝw хx З3 б6
ΑA ΒB ϹC ΕE ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΧX ΥY ΖZ οo υu νv łl đd øo ßs æa œo ıi ŁL ĐD ØO
‐- ‑- ‒- –- —- ―- −- ﹣- ’' ‘' ʼ' ´' `' ′' “" ”" „" ⁄/ ∕/ ‚, ．. ：: ＠@
"""
_FOLD = {ord(pair[0]): pair[1] for pair in _PAIRS.split()}
_FOLD |= dict.fromkeys((160, 8199, 8200, 8201, 8202, 8194, 8195, 8239, 12288), " ")
_FOLD |= {0xFF01 + i: chr(0x21 + i) for i in range(94)}
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def folded(text: str) -> str:
    """The text in plain letters, digits, blanks, dashes and quotes, as many characters as before.

    >>> folded("Núñez\u00a0–\u00a0О’Hara")
    "Nunez - O'Hara"
    """
    if text.isascii():
        return text
    return _NOT_ASCII.sub(lambda match: _plain(match[0]), text.translate(_FOLD))


def _plain(character: str) -> str:
    first = unicodedata.normalize("NFD", character)[0]
    return first if first < "\x80" else character
