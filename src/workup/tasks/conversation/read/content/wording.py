"""How a reply is worded: how much of it is copied or repeated, and its first words. It knows nothing of medicine."""

from __future__ import annotations

import re

from workup.errors import InputError
from workup.tasks.conversation.read.sentence.folding import without_reasoning

SHINGLE = 8  # tokens; shorter runs are phrases that any two texts share
_TOKEN = re.compile(r"[^\W_]+")
_TOKEN_OR_SIGN = re.compile(r"\w+|[^\w\s]")


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(without_reasoning(text).casefold())


def _shingles(tokens: list[str], size: int) -> list[tuple[str, ...]]:
    return list(zip(*(tokens[first:] for first in range(size)), strict=False))


def _checked(size: int) -> None:
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise InputError("the number of tokens must be a whole number from 1", where="shingle")


def copy_rate(reply: str, heard: str, *, shingle: int = SHINGLE) -> float | None:
    """The share of the reply's runs of 8 tokens that stand, word for word, in what it was sent.

    Case and signs do not count. None where the reply has fewer tokens than one run.

    >>> heard = "I take warfarin 5 mg once a day for my heart."
    >>> copy_rate("You said: I take warfarin 5 mg once a day, right?", heard)
    0.25
    >>> copy_rate("Understood.", heard) is None
    True
    """
    _checked(shingle)
    own = _shingles(_tokens(reply), shingle)
    if not own:
        return None
    sent = set(_shingles(_tokens(heard), shingle))
    return sum(run in sent for run in own) / len(own)


def repetition_share(reply: str, *, shingle: int = SHINGLE) -> float | None:
    """The share of the reply's tokens that stand in a run of 8 it has said before; None where it has no whole run.

    >>> repetition_share("Please call us if you have any pain today. " * 2)
    0.5
    """
    _checked(shingle)
    tokens = _tokens(reply)
    if len(tokens) < shingle:
        return None
    seen: set[tuple[str, ...]] = set()
    repeated = reached = 0
    for first, run in enumerate(_shingles(tokens, shingle)):
        if run in seen:
            repeated += first + shingle - max(first, reached)
            reached = first + shingle
        seen.add(run)
    return repeated / len(tokens)


def first_tokens(reply: str, k: int) -> str:
    """The reply up to its k-th token, a word or a sign; reasoning is left out, for it is never scored.

    >>> first_tokens("<think>Hm.</think>Warfarin, 5 mg. Allergic to penicillin.", 5)
    'Warfarin, 5 mg.'
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InputError("the number of tokens must be a whole number from 1", where="first_tokens")
    spoken = without_reasoning(reply)
    for number, token in enumerate(_TOKEN_OR_SIGN.finditer(spoken), start=1):
        if number == k:
            return spoken[: token.end()]
    return spoken
