"""A text as the tagger reads it: word pieces, and beside each its word's shape, the gap before it, and what lists know.

The pieces are lower case without accents, so that spelling is learnt once; the shape gives case back and the gap the
layout, both and the lists as one number per piece, its kind. Training and use read texts through this module alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from workup.deid.tagger.word_classes import CLASSES, class_of

if TYPE_CHECKING:
    from tokenizers import Tokenizer

GAPS = ("blank", "newline", "glued")
SHAPES = ("mark", "lower", "Capitalised", "CAPITALS", "initial", "mixedCase", "digits", "alphanumeric")
LAYOUTS = len(SHAPES) * len(GAPS)
KINDS = LAYOUTS * CLASSES
LABELS = ("NAME", "DATE", "STREET", "GEO", "ORG", "ID", "PHONE", "EMAIL", "URL", "AGE", "QUASI")
TAGS = ("O", *(f"{part}-{label}" for label in LABELS for part in "BI"))
_LONE_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")  # no encoder takes half of a pair


class Pieces(NamedTuple):
    """One text in word pieces: their ids, kinds (shape, gap and class) and places (in code points) in the text.

    `first` marks the pieces that begin a word."""

    ids: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    first: npt.NDArray[np.bool_]


def tokenizer_of(vocabulary: Sequence[str]) -> Tokenizer:
    """The word-piece tokenizer of a vocabulary: lower case, without accents, marks apart; it adds and cuts nothing."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    numbered = {piece: number for number, piece in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(numbered, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=True, lowercase=True
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def shape_of(word: str) -> int:
    """The place of a word's shape in `SHAPES`.

    >>> [SHAPES[shape_of(word)] for word in ("Ada", "ICU", "J", "McBride", "b12", "2024", "of", "/")]
    ['Capitalised', 'CAPITALS', 'initial', 'mixedCase', 'alphanumeric', 'digits', 'lower', 'mark']
    """
    if word.isalpha():
        if word.islower() or word.lower() == word:
            return 1
        if len(word) == 1:
            return 4
        if word.isupper():
            return 3
        return 2 if word[0].isupper() and word[1:].islower() else 5
    if word.isdecimal():
        return 6
    return 7 if any(map(str.isalnum, word)) else 0


def encode(tokenizer: Tokenizer, text: str) -> Pieces:
    """The pieces of one text; the tokenizer neither pads, cuts nor adds marks of its own."""
    encoding = tokenizer.encode(text.translate(_LONE_SURROGATES), add_special_tokens=False)
    offsets = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
    words = np.array(encoding.word_ids, dtype=np.int64)
    first = np.ones(len(words), dtype=bool)
    first[1:] = words[1:] != words[:-1]
    opening = np.flatnonzero(first)
    closing = np.append(opening, len(words))[1:] - 1
    kinds_of_words = []
    before = 0
    for start, end in zip(offsets[opening, 0].tolist(), offsets[closing, 1].tolist(), strict=True):
        gap = text[before:start]
        layout = 2 if not gap and start else 1 if "\n" in gap or not start else 0
        word = text[start:end]
        kinds_of_words.append(class_of(word) * LAYOUTS + shape_of(word) * 3 + layout)
        before = end
    kinds = np.repeat(np.array(kinds_of_words, dtype=np.int64), closing - opening + 1)
    kinds[~first] += 2 - kinds[~first] % 3  # a later piece of a word is glued to the one before
    return Pieces(np.array(encoding.ids, dtype=np.int64), kinds, offsets[:, 0], offsets[:, 1], first)
