"""Probes put on recorded conversations afterwards, by a second system that hears the recorded history up to each turn.

What comes of it is what that system can tell from the history, so every answer carries the name of who gave it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from workup.errors import PluginError
from workup.stats.random import generator
from workup.task import UNLIMITED, Budget, OutputLog, Watch
from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.settings import ConversationPart
from workup.tasks.conversation.talk.arms import LIVE
from workup.tasks.conversation.talk.calls import Caller, Place
from workup.tasks.conversation.talk.conversation import probe_tokens
from workup.tasks.conversation.talk.memory import Exchange, Recalled
from workup.tasks.conversation.talk.passages import Passages
from workup.tasks.conversation.talk.prompts import summary_probe
from workup.tasks.conversation.talk.token_counts import Tokenizer
from workup.tasks.conversation.talk.transcripts import Probe, Said, Transcripts
from workup.tasks.conversation.talk.workers import Crew, workers_of

MISSING = "missing_turn"
_LARGEST_SEED = 2**31 - 1


def probe_after(
    transcripts: Transcripts,
    cases: Sequence[ConversationCase],
    open_prober: Callable[[], Any],
    settings: ConversationPart,
    *,
    seed: int,
    log: OutputLog,
    watch: Watch = lambda what, done, total: None,
    budget: Budget = UNLIMITED,
    workers: int = 0,
    ask: bool = True,
) -> Transcripts:
    """The transcripts with a summary at every turn that is asked for and has none yet, as the prober gives it."""
    prober = open_prober()
    if not callable(getattr(prober, "reply", None)) or getattr(prober, "recorded", False):
        raise PluginError("conversation.prober: a chat model that can be asked was expected, such as 'openai_chat'.")
    caller = Caller(prober, memory="full", log=log, budget=budget, tokens=Tokenizer.of(prober), ask=ask)
    known = {case.id: Passages(case) for case in cases}
    found: list[list[Said]] = []
    crew = Crew(workers_of(prober, workers))
    for place, ((id, replicate, arm), some) in enumerate(
        groupby(transcripts.said, key=lambda one: (one.case, one.replicate, one.arm))
    ):
        lines = list(some)
        found.append(lines)
        if arm != LIVE:
            continue
        one = _Asking(known[id], replicate, seed, settings, caller, str(getattr(prober, "name", "prober")))
        for at, history in one.due(lines):
            crew.add((place, at), partial(one.put, lines, at, history))
    watch("asking after the event", 0, len(transcripts.said))
    crew.work(lambda: watch("asking after the event", caller.made, len(transcripts.said)))
    return Transcripts(tuple(one for lines in found for one in lines), transcripts.missing, transcripts.unheard)


class _Asking:
    """One recorded conversation that is asked about."""

    def __init__(
        self, passages: Passages, replicate: int, seed: int, settings: ConversationPart, caller: Caller, by: str
    ) -> None:
        self._passages, self._replicate, self._settings, self._caller = passages, replicate, settings, caller
        draws = generator(seed, "conversation", passages.case.id, replicate)
        self._seed, self._by = int(draws.integers(0, _LARGEST_SEED)), by

    def due(self, lines: Sequence[Said]) -> list[tuple[int, tuple[Exchange, ...] | None]]:
        """Places of the lines to be asked about, each with its history; None where a turn before it is missing."""
        past: tuple[Exchange, ...] = ()
        whole, found, last = True, [], 0
        for place, line in enumerate(lines):
            if line.turn > last + 1:
                whole = False
            if line.turn != last and line.turn:
                past = (*past, Exchange(line.turn, self._passages.message(line.turn), line.reply or ""))
            last = line.turn
            if line.turn and line.probe is None and self._settings.asked_at(line.turn):
                found.append((place, past if whole else None))
        return found

    def put(self, lines: list[Said], at: int, history: tuple[Exchange, ...] | None) -> None:
        """Ask, and put the answer where the line stands."""
        line = lines[at]
        if history is None:
            lines[at] = line._replace(probe=Probe("summary", None, None, MISSING, by=self._by))
            return
        words = summary_probe(self._settings.probe_tokens)
        opening = lines[0].reply if lines[0].turn == 0 else None
        before: list[Mapping[str, str]] = [{"role": "assistant", "content": opening}] if opening else []
        sent = [*before, *Recalled(history).messages(words)]
        place = Place(line.case, self._replicate, line.arm, line.turn, "summary")
        said = self._caller.say(sent, place=place, seed=self._seed, max_tokens=probe_tokens("summary", self._settings))
        available = self._passages.available((one["content"] for one in sent[:-1]), line.turn)
        probe = Probe("summary", said.content, None, said.failure, by=self._by)
        lines[at] = line._replace(probe=probe, available=available)
