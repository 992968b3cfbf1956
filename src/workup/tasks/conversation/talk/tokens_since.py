"""How many tokens have passed since a fact was introduced: by the provider's count, else by a named one of our own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workup.tasks.conversation.read.judging import Held
from workup.tasks.conversation.talk.transcripts import Said

TOKENIZER = "words and signs (workup 1)"  # named in reports wherever a provider's count is absent
_PIECE = re.compile(r"\w+|[^\w\s]")


def count_tokens(text: str) -> int:
    """Words and signs of a text: a stand-in where a provider does not say.

    >>> count_tokens("Allergic to penicillin (rash).")
    7
    """
    return sum(1 for _ in _PIECE.finditer(text))


def tokens_by_turn(held: Held) -> tuple[list[int], bool]:
    """Tokens heard up to and with each turn's message, and whether the provider counted them.

    A run says at each turn how much the model had heard. Where lines do not say, messages and replies are counted one
    by one, replies by the provider as far as it gave a count.
    """
    heard = [_whole(told.said, "heard_tokens") for told in held.turns]
    if all(one is not None for one in heard):
        by_provider = all(told.said[0].usage.get("counted_by") == "provider" for told in held.turns)
        return [one for one in heard if one is not None], by_provider
    total, counted, found = 0, True, []
    for turn, told in zip(held.case.turns, held.turns, strict=True):
        total += count_tokens(turn.message)
        found.append(total)
        given = _whole(told.said, "completion_tokens")
        counted &= given is not None
        total += given if given is not None else count_tokens(told.reply or "")
    return found, counted


def _whole(said: Sequence[Said], name: str) -> int | None:
    given = said[0].usage.get(name) if said else None
    return given if isinstance(given, int) and not isinstance(given, bool) and given >= 0 else None
