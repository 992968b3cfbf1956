"""Holds every conversation of a study: each case, in every arm and replicate, several at a time, in one order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from itertools import groupby
from typing import Any

from workup.errors import PluginError, StudyError
from workup.stats.random import generator
from workup.task import UNLIMITED, Budget, OutputLog, Watch
from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.settings import ConversationPart
from workup.tasks.conversation.talk.calls import Caller, Spent
from workup.tasks.conversation.talk.conversation import LIVE, Conversation, tokens_as_heard
from workup.tasks.conversation.talk.cost_estimate import estimate_for
from workup.tasks.conversation.talk.memory import Memory, canonical_name
from workup.tasks.conversation.talk.passages import Passages
from workup.tasks.conversation.talk.token_counts import Tokenizer
from workup.tasks.conversation.talk.transcripts import Said, Transcripts, slip_turn
from workup.tasks.conversation.talk.workers import Crew, workers_of

_LARGEST_SEED = 2**31 - 1


def converse(
    open_system: Callable[[], Any],
    cases: Sequence[ConversationCase],
    settings: ConversationPart,
    *,
    seed: int,
    log: OutputLog,
    watch: Watch = lambda what, done, total: None,
    budget: Budget = UNLIMITED,
    workers: int = 0,
    ask: bool = True,
    spent: Spent | None = None,
) -> Transcripts:
    """Hold the conversations; calls that the log knows the answer to are not made again.

    So many calls are under way at a time as the system bears (its `concurrency`, 1 where it says nothing), or fewer
    where `workers` says so. The transcripts come in the order of cases, replicates, arms and turns, whatever the order
    in which the model answered. With `ask` false the record alone is read, and a call that is not in it is an error.

    >>> from workup.runs import Unrecorded
    >>> from workup.tasks.conversation.cases.case import Turn
    >>> from workup.tasks.conversation.cases.facts import Fact
    >>> class Parrot:
    ...     name, version = "parrot", "1"
    ...     def reply(self, messages):
    ...         return " ".join(one["content"] for one in messages if one["role"] == "user")
    >>> turns = (Turn(1, "I take warfarin."), Turn(2, "Shall I walk more?"))
    >>> case = ConversationCase("c1", "", turns, (Fact("f1", "medication", "warfarin"),))
    >>> held = converse(Parrot, [case], ConversationPart(probe="none"), seed=1, log=Unrecorded())
    >>> [(one.arm, one.turn, one.available) for one in held.said][:4]
    [('live', 1, ('f1',)), ('live', 2, ('f1',)), ('naive', 1, ()), ('naive', 2, ())]
    """
    system = open_system()
    if not callable(getattr(system, "reply", None)):
        raise PluginError(
            f"system '{getattr(system, 'name', type(system).__name__)}' cannot hold a conversation: it has no method "
            "reply(messages). To fix: name a chat model, such as one behind 'openai_chat'."
        )
    _check_session(system, settings)
    words = [Passages(case) for case in cases]
    if ask:
        known = len(log.known())
        on_record = f"; {known:,} calls are on record already" if known else ""
        budget.tell(f"Before the first call: {estimate_for(words, settings, system).telling()}{on_record}")
    caller = Caller(
        system,
        memory=canonical_name(settings.memory),
        log=log,
        budget=budget,
        tokens=Tokenizer.of(system),
        ask=ask,
        spent=spent,
    )
    crew = Crew(workers_of(system, workers))
    hall = _Hall(words, settings, seed, caller, crew)
    hall.invite()
    total = hall.due
    watch("holding conversations", 0, total)
    crew.work(lambda: watch("holding conversations", min(hall.done, total), total))
    watch("holding conversations", total, total)
    return Transcripts(tuple(hall.lines()), ())


def _check_session(system: Any, settings: ConversationPart) -> None:
    """Refuse a way to probe that does not fit what the endpoint remembers."""
    sessions = getattr(system, "sessions", None)
    how = settings.probe_in
    wrong, fix = "", ""
    if sessions is None or sessions.history:
        if how is not None:
            wrong, fix = "conversation.probe_in is for an endpoint that remembers", "give its 'session'"
    elif any(slip_turn(arm) is not None for arm in settings.arms):
        # Its memory holds the reply as it was, so what comes after would not have heard the error.
        wrong, fix = "a reply that an endpoint remembers cannot be edited", "leave the slip arms out"
    elif settings.memory != "full":
        wrong, fix = "conversation.memory is the endpoint's affair where it remembers", "leave it out"
    elif settings.probe != "none" and how is None:
        wrong, fix = "an endpoint must not remember probes", "give conversation.probe_in: fork, twin or end"
    elif how == "fork" and not sessions.fork:
        wrong, fix = "a fork needs the name under which a session is copied", "give 'fork' of the system's 'session'"
    elif how == "end" and settings.probe == "question":
        wrong, fix = "one probe can be asked at the end, and questions are many", "give probe: summary"
    if wrong:
        raise StudyError(f"{wrong}. To fix: {fix}.")


class _Hall:
    """The conversations under way and the lines that came of them so far."""

    def __init__(
        self, words: Sequence[Passages], settings: ConversationPart, seed: int, caller: Caller, crew: Crew
    ) -> None:
        self._words, self._settings, self._seed = words, settings, seed
        self._cases = cases = [one.case for one in words]
        self._caller, self._crew = caller, crew
        self._order = {case.id: place for place, case in enumerate(cases)}
        self._lines: list[Said] = []
        self._lock = threading.Lock()
        self.due = settings.replicates * sum(self._lines_of(case, arm) for case in cases for arm in settings.arms)

    @property
    def done(self) -> int:
        """Lines that are there."""
        return len(self._lines)

    def _lines_of(self, case: ConversationCase, arm: str) -> int:
        turns = [turn.turn for turn in case.turns if turn.turn >= (slip_turn(arm) or 1)]
        if self._settings.probe != "question":
            return len(turns)
        return sum(max(1, len(case.active(turn))) for turn in turns)

    def invite(self) -> None:
        """Put the conversations in line: the live ones first, whose turns wait for one another, then the rest."""
        for place, passages in enumerate(self._words):
            for replicate in range(self._settings.replicates):
                draws = generator(self._seed, "conversation", passages.case.id, replicate)
                seed = int(draws.integers(0, _LARGEST_SEED))
                arms = [
                    Conversation(passages, replicate, arm, seed, self._settings, self._caller, self._put, self._seed)
                    for arm in sorted(self._settings.arms, key=lambda arm: (arm != LIVE, arm))
                ]
                slips = [held for held in arms if slip_turn(held.arm) is not None]
                for held in arms:
                    if slip_turn(held.arm) is None:
                        self._begin(held, (place, replicate), slips)

    def _begin(self, held: Conversation, order: tuple[int, int], slips: Sequence[Conversation]) -> None:
        if held.arm == LIVE:
            forks = [partial(self._slip, slip, order) for slip in slips]
            self._crew.add((0, *order, held.arm, 0), lambda: held.live(self._later(held.arm, order), forks))
            return
        for turn in held.passages.case.turns:
            self._crew.add((2, *order, held.arm, turn.turn), partial(held.at, turn.turn))

    def _slip(self, held: Conversation, order: tuple[int, int], state: Any, said: Any) -> None:
        """An arm that edits the reply of its turn begins there, with what the live conversation has come to."""
        if state.turn == slip_turn(held.arm):
            state = deepcopy(state)  # the live conversation goes on with its own
            self._crew.add((1, *order, held.arm, 0), lambda: held.slipped(state, said, self._later(held.arm, order)))

    def _later(self, arm: str, order: tuple[int, int]) -> Callable[[int, Callable[[], None]], None]:
        return lambda turn, job: self._crew.add((1, *order, arm, turn), job)

    def _put(self, line: Said) -> None:
        with self._lock:
            self._lines.append(line)

    def lines(self) -> list[Said]:
        """All lines in one order."""
        facts = {(case.id, fact.id): place for case in self._cases for place, fact in enumerate(case.facts)}

        def order(one: Said) -> tuple[Any, ...]:
            fact = facts.get((one.case, one.probe.fact or ""), -1) if one.probe else -1
            return self._order[one.case], one.replicate, one.arm, one.turn, fact

        whole = Memory.of(self._settings.memory).keeps_all
        found: list[Said] = []
        for (_, _, arm), some in groupby(
            sorted(self._lines, key=order), key=lambda one: (one.case, one.replicate, one.arm)
        ):
            held = list(some)
            found += tokens_as_heard(held, whole_history=whole) if arm == LIVE else held
        return found
