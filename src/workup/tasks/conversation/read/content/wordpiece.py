"""WordPiece, the tokens of BERT models without case: text to numbers of a vocabulary. It knows no model."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_LONGEST_WORD = 100  # letters; a longer one is unknown, as in BERT
_MOST_REMEMBERED = 50_000
_CJK = (
    *((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F)),
    *((0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)),
)


class WordPiece:
    """Splits words greedily into the longest pieces that a vocabulary holds.

    >>> pieces = WordPiece(["[UNK]", "[CLS]", "[SEP]", "war", "##far", "##in", ","])
    >>> pieces.numbers("Warfarin, Zürich")
    [1, 3, 4, 5, 6, 0, 2]
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._unknown = self._numbers["[UNK]"]
        self._opens, self._closes = self._numbers["[CLS]"], self._numbers["[SEP]"]
        self._known: dict[str, list[int]] = {}

    def numbers(self, text: str) -> list[int]:
        """The pieces of a text by number, between the marks that open and close it; never cut."""
        found = [self._opens]
        for word in words_of(text):
            pieces = self._known.get(word)
            if pieces is None:
                pieces = self._pieces(word)
                if len(self._known) < _MOST_REMEMBERED:
                    self._known[word] = pieces
            found += pieces
        found.append(self._closes)
        return found

    def _pieces(self, word: str) -> list[int]:
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        found: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self._numbers.get(word[start:end] if start == 0 else f"##{word[start:end]}")
                if number is not None:
                    break
            else:
                return [self._unknown]
            found.append(number)
            start = end
        return found


def words_of(text: str) -> list[str]:
    """Words in lower case without accents; every sign, and every Chinese character, is a word of its own."""
    spaced = "".join(_spaced(sign) for sign in text)
    plain = "".join(sign for sign in unicodedata.normalize("NFD", spaced.lower()) if unicodedata.category(sign) != "Mn")
    found: list[str] = []
    for word in plain.split():
        piece = ""
        for sign in word:
            if _is_sign(sign):
                found += [piece, sign] if piece else [sign]
                piece = ""
            else:
                piece += sign
        if piece:
            found.append(piece)
    return found


def _spaced(sign: str) -> str:
    code = ord(sign)
    if sign in "\t\n\r" or unicodedata.category(sign) == "Zs":
        return " "
    if code in (0, 0xFFFD) or unicodedata.category(sign) in ("Cc", "Cf", "Co", "Cs"):
        return ""
    return f" {sign} " if code >= 0x3400 and any(low <= code <= high for low, high in _CJK) else sign


def _is_sign(sign: str) -> bool:
    code = ord(sign)
    if 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    return unicodedata.category(sign).startswith("P")
