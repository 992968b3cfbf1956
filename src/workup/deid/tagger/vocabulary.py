"""The tagger's vocabulary: word pieces in lower case without accents, one a line, known by their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workup.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def tokenizer_of(vocabulary: str) -> Tokenizer:
    """The tokenizer of a vocabulary's lines; it neither pads, cuts nor adds marks of its own."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    pieces = {piece: place for place, piece in enumerate(vocabulary.removesuffix("\n").split("\n"))}
    if not pieces.keys() >= set(MARKS):
        raise InputError("the vocabulary must hold [PAD], [UNK], [CLS] and [SEP]", where="vocab.txt")
    tokenizer = Tokenizer(WordPiece(pieces, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True, strip_accents=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer
