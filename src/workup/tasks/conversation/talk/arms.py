"""What is sent in the arms that are not live: the ceiling, the floor, and the ceiling behind neutral turns.

In all of them the user has said something, the assistant has noted it, and then comes the probe, so that they differ in
what was said alone.
"""

from __future__ import annotations

from workup.tasks.conversation.talk.passages import Passages
from workup.tasks.conversation.talk.prompts import NOTED, OPENING

LIVE, ORACLE, NAIVE = "live", "oracle", "naive"
_FILLER = "filler-"


def context_of(arm: str, passages: Passages, turn: int) -> list[dict[str, str]]:
    """The messages before a probe at a turn."""
    said = passages.without_facts(turn) if arm == NAIVE else passages.oracle(turn)
    return [*_noted(said), *_filled(arm, passages)]


def reply_context_of(arm: str, passages: Passages, turn: int) -> list[dict[str, str]]:
    """The messages up to and with the message of a turn, where the reply to it is what is scored."""
    if arm == NAIVE:
        said = passages.without_facts(turn - 1)
        now = " ".join(passages.without_facts(turn, first=turn)) or OPENING
    else:
        said, now = passages.oracle(turn, before=turn), passages.message(turn)
    # Nothing was said before the first turn, and then nothing is made up.
    before = _noted(said) if said or turn > 1 else []
    return [*before, *_filled(arm, passages), {"role": "user", "content": now}]


def _noted(said: list[str]) -> list[dict[str, str]]:
    return _exchange("\n".join(said) or OPENING)


def _filled(arm: str, passages: Passages) -> list[dict[str, str]]:
    count = int(arm.removeprefix(_FILLER)) if arm.startswith(_FILLER) else 0
    return [message for sentence in passages.neutral(count) for message in _exchange(sentence)]


def _exchange(said: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": said}, {"role": "assistant", "content": NOTED}]
