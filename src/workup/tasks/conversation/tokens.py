"""How many tokens have passed since a fact was introduced: by the provider's count, else by a named one of our own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workup.tasks.conversation.judging import Held

TOKENIZER = "words and signs (workup 1)"  # named in reports wherever a provider's count is absent
_PIECE = re.compile(r"\w+|[^\w\s]")


def count_tokens(text: str) -> int:
    """Words and signs of a text: a stand-in where a provider does not say.

    >>> count_tokens("Allergic to penicillin (rash).")
    7
    """
    return sum(1 for _ in _PIECE.finditer(text))


def tokens_by_turn(held: Held) -> tuple[list[int], bool]:
    """Tokens written up to and with each turn's message, and whether all replies were counted by the provider."""
    total, counted, found = 0, True, []
    for turn, told in zip(held.case.turns, held.turns, strict=True):
        total += count_tokens(turn.message)
        found.append(total)
        given = _given(told.said)
        counted &= given is not None
        total += given if given is not None else count_tokens(told.reply or "")
    return found, counted


def _given(said: Sequence[object]) -> int | None:
    usage = getattr(said[0], "usage", {}) if said else {}
    given = usage.get("completion_tokens")
    return given if isinstance(given, int) and not isinstance(given, bool) and given >= 0 else None
