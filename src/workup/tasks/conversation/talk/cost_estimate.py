"""Calls, tokens and cost of a study before the first call: an upper estimate from the words of the cases alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.settings import ConversationPart
from workup.tasks.conversation.talk.arms import LIVE, context_of, reply_context_of
from workup.tasks.conversation.talk.calls import most_tokens, price_of
from workup.tasks.conversation.talk.conversation import probe_tokens, probes_at
from workup.tasks.conversation.talk.memory import Exchange, Memory, Tools
from workup.tasks.conversation.talk.passages import Passages
from workup.tasks.conversation.talk.token_counts import Tokenizer
from workup.tasks.conversation.talk.transcripts import slip_turn


@dataclass(frozen=True)
class Estimate:
    """What a study would ask for. Replies are taken to be as long as they may be, so tokens and cost are upper ends."""

    conversations: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    counted_by: str

    def telling(self) -> str:
        """In a sentence."""
        cost = "cost not known (the system names no price)" if self.cost is None else f"cost {self.cost:,.4g}"
        return (
            f"{self.conversations:,} conversations, at most {self.calls:,} calls, {self.prompt_tokens:,} tokens sent "
            f"and {self.completion_tokens:,} answered (counted by {self.counted_by}, replies at full length), {cost}"
        )


def estimate_of(cases: Sequence[ConversationCase], settings: ConversationPart, system: Any) -> Estimate:
    """The calls, tokens and cost of holding every case in every arm and replicate.

    >>> from workup.tasks.conversation.cases.case import Turn
    >>> from workup.tasks.conversation.cases.facts import Fact
    >>> turns = (Turn(1, "I take warfarin."), Turn(2, "What now?"))
    >>> case = ConversationCase("c1", "", turns, (Fact("f1", "medication", "warfarin"),))
    >>> estimate_of([case], ConversationPart(replicates=3), None).calls
    24
    """
    return estimate_for([Passages(case) for case in cases], settings, system)


def estimate_for(cases: Sequence[Passages], settings: ConversationPart, system: Any) -> Estimate:
    """The same, for cases whose words are searched already."""
    tokens = Tokenizer.of(system)
    longest = most_tokens(system)
    calls = prompt = completion = 0
    for passages in cases:
        for arm in settings.arms:
            count = _live if arm == LIVE or slip_turn(arm) is not None else _probed
            asked, sent, answered = count(passages, arm, settings, tokens, longest)
            calls, prompt, completion = calls + asked, prompt + sent, completion + answered
    times = settings.replicates
    calls, prompt, completion = calls * times, prompt * times, completion * times
    return Estimate(
        len(cases) * times * len(settings.arms),
        calls,
        prompt,
        completion,
        price_of(system, prompt, completion),
        tokens.name,
    )


def _live(
    passages: Passages, arm: str, settings: ConversationPart, tokens: Tokenizer, longest: int
) -> tuple[int, int, int]:
    first = slip_turn(arm) or 0  # what was said up to there is the live conversation's own
    folds: list[tuple[int, int]] = []

    def write(request: str, most: int) -> str:
        folds.append((tokens.count(request), most))
        return "word " * most

    memory, tools = Memory.of(settings.memory), Tools(tokens, write)
    past: tuple[Exchange, ...] = ()
    recalled = memory.recall(past, tools)
    calls = prompt = completion = 0
    for turn in passages.case.turns:
        message = passages.message(turn.turn)
        if turn.turn > first:
            prompt += tokens.messages(recalled.messages(message))
            calls, completion = calls + 1, completion + longest
        past = (*past, Exchange(turn.turn, message, "word " * longest))
        recalled = memory.recall(past, tools)
        if turn.turn < first:
            folds.clear()
            continue
        for kind, _, words in probes_at(passages, turn.turn, settings):
            prompt += tokens.messages(recalled.messages(words))
            calls, completion = calls + 1, completion + probe_tokens(kind, settings)
            if settings.probe_in == "twin":  # which hears every message before it is asked
                calls, completion = calls + turn.turn, completion + longest * turn.turn
    return calls + len(folds), prompt + sum(sent for sent, _ in folds), completion + sum(most for _, most in folds)


def _probed(
    passages: Passages, arm: str, settings: ConversationPart, tokens: Tokenizer, longest: int
) -> tuple[int, int, int]:
    calls = prompt = completion = 0
    for turn in passages.case.turns:
        if settings.probe == "none":
            prompt += tokens.messages(reply_context_of(arm, passages, turn.turn))
            calls, completion = calls + 1, completion + longest
            continue
        asks = probes_at(passages, turn.turn, settings)
        context = tokens.messages(context_of(arm, passages, turn.turn)) if asks else 0
        for kind, _, words in asks:
            if settings.probe_in is not None:  # an endpoint that remembers hears them one by one
                told = len(context_of(arm, passages, turn.turn)) // 2
                calls, completion = calls + told, completion + longest * told
            prompt += context + tokens.messages([{"content": words}])
            calls, completion = calls + 1, completion + probe_tokens(kind, settings)
    return calls, prompt, completion
