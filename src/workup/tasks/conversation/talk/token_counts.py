"""Tokens of a text, counted by the model's own tokenizer where it has one, else by one that is named in the record."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

PIECES = "pieces-of-six"
_PIECE = re.compile(r"\w{1,6}|[^\w\s]")
_PER_MESSAGE = 4  # tokens that mark who speaks, as in most chat templates


def pieces(text: str) -> int:
    """Words cut into pieces of at most six letters, and signs: near what tokenizers of English text count.

    >>> pieces("Warfarin 5 mg.")
    5
    """
    return len(_PIECE.findall(text))


def _remembering(count: Callable[[str], int]) -> Callable[[str], int]:
    return lru_cache(maxsize=4096)(count)  # a history is counted anew at every turn


@dataclass(frozen=True)
class Tokenizer:
    """What counts tokens, and its name."""

    name: str
    count: Callable[[str], int]

    @classmethod
    def of(cls, system: Any) -> Tokenizer:
        """The system's own (`count_tokens(text)`, named by `tokenizer`), or pieces of words."""
        own = getattr(system, "count_tokens", None)
        if callable(own):
            return cls(str(getattr(system, "tokenizer", "") or getattr(system, "name", "system")), _remembering(own))
        return cls(PIECES, _remembering(pieces))

    def messages(self, messages: Iterable[Mapping[str, str]]) -> int:
        """Tokens of messages, with what marks their speakers."""
        return sum(self.count(one["content"]) + _PER_MESSAGE for one in messages)

    def exchange(self, message: str, reply: str) -> int:
        """Tokens of a message and the reply to it."""
        return self.count(message) + self.count(reply) + 2 * _PER_MESSAGE
