"""Who forgets what, and when: a behaviour laid out over the facts of all cases, before a word is said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from workup.stats.random import generator
from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.scripted.behaviours import Behaviour
from workup.tasks.conversation.scripted.sentences import has_value

_GOLDEN = (5**0.5 - 1) / 2  # multiples of it, less their whole part, spread evenly over [0, 1)
Key = tuple[int, int]  # a case and a fact of it, by their places


class Plan:
    """The planted outcome of every fact at every turn.

    Without noise each fact has a fixed place in one long line, and shares are cut off that line: a share of 0.8 of 50
    facts is 40 of them, in every turn the same ones first. With noise each outcome is a draw of its own name.

    >>> from workup.tasks.conversation.cases.case import Turn
    >>> case = ConversationCase("c", "", (Turn(1, "I take warfarin."),), (Fact("f", "medication", "warfarin"),))
    >>> Plan(Behaviour(), [case]).outcomes(case, "live", 1)
    {'f': 'correct'}
    """

    def __init__(self, behaviour: Behaviour, cases: Sequence[ConversationCase], *, seed: int = 0) -> None:
        self.behaviour, self.seed = behaviour, seed
        self.cases = tuple(cases)
        self._number = {case.id: number for number, case in enumerate(self.cases)}
        self._lines: dict[tuple[str, int], dict[Key, float]] = {}

    def outcomes(self, case: ConversationCase, arm: str, turn: int, *, draw: int | str = 0) -> dict[str, str]:
        """The outcome of every fact that was introduced by a turn."""
        found = {}
        for place, fact in enumerate(case.facts):
            if fact.introduced <= turn:
                line = self._drawn if self.behaviour.noise else self._cut
                found[fact.id] = line(case, place, arm, turn, draw)
        return found

    def fails(self, case: ConversationCase, arm: str, turn: int, *, draw: int | str = 0) -> bool:
        """Whether the call at a turn fails."""
        share = self.behaviour.failures
        if not share:
            return False
        if self.behaviour.noise:
            return bool(self._rng("call", case.id, arm, turn, draw).random() < share)
        return self._calls[self._number[case.id], turn] < share

    def counts(
        self, arms: Iterable[str] = ("live",), *, replicates: int = 1, turns: Iterable[int] | None = None
    ) -> dict[str, Counter[str]]:
        """How many facts have each outcome, by arm; those of failed calls are `unscorable` or `retired_unscorable`."""
        wanted = None if turns is None else set(turns)
        found: dict[str, Counter[str]] = {arm: Counter() for arm in arms}
        for arm, tally in found.items():
            for case in self.cases:
                for replicate in range(replicates):
                    for turn in range(1, case.last_turn + 1):
                        if wanted is None or turn in wanted:
                            tally.update(self._told(case, arm, turn, replicate))
        return found

    def _told(self, case: ConversationCase, arm: str, turn: int, draw: int) -> list[str]:
        outcomes = self.outcomes(case, arm, turn, draw=draw)
        if not self.fails(case, arm, turn, draw=draw):
            return list(outcomes.values())
        retired = {fact.id for fact in case.retired(turn)}
        return ["retired_unscorable" if id in retired else "unscorable" for id in outcomes]

    # ---- without noise ----------------------------------------------------------------------------------------------

    def _cut(self, case: ConversationCase, place: int, arm: str, turn: int, draw: int | str) -> str:
        fact, key = case.facts[place], (self._number[case.id], place)
        if fact.over(turn):
            return "stale" if self._line("over", turn).get(key, 1.0) < self.behaviour.stale else "retired_ok"
        valued = self._line("valued", turn).get(key, 1.0)
        return self._became(
            case, fact, arm, turn, self._line("active", turn)[key], valued, self.behaviour.kept(arm, turn)
        )

    def _became(
        self, case: ConversationCase, fact: Fact, arm: str, turn: int, u: float, valued: float, kept: float
    ) -> str:
        planted = self.behaviour
        if arm == "naive" or planted.lost(arm, turn - fact.introduced + 1):
            return "omitted"
        if u >= 1 - planted.reversal and self._alone(case, fact):
            return "reversed"
        if u >= kept:
            return "omitted"
        return "wrong_value" if has_value(fact) and valued < planted.wrong_value else "correct"

    def _line(self, which: str, turn: int) -> dict[Key, float]:
        """The middle of each fact's share of the line of facts that are active, over or have a value at a turn."""
        if (which, turn) not in self._lines:
            chosen = [
                (self._alone(self.cases[key[0]], fact), spread, key)
                for spread, key, fact in self._facts
                if turn <= self.cases[key[0]].last_turn and self._in_line(which, turn, self.cases[key[0]], fact)
            ]
            self._lines[which, turn] = {
                key: (rank + 0.5) / len(chosen) for rank, (*_, key) in enumerate(sorted(chosen))
            }
        return self._lines[which, turn]

    def _alone(self, case: ConversationCase, fact: Fact) -> bool:
        """Whether no other fact has its name: what is said of one dose of a drug is heard of the other too.

        Facts with a namesake stand first in the line. They are kept longest, never turned round and never stale.
        """
        return (case.id, fact.id) not in self._namesakes

    @cached_property
    def _namesakes(self) -> frozenset[tuple[str, str]]:
        return frozenset((case.id, fact.id) for case in self.cases for fact in case.facts if _has_namesake(case, fact))

    def _in_line(self, which: str, turn: int, case: ConversationCase, fact: Fact) -> bool:
        if which == "over":
            return fact.over(turn) and self._alone(case, fact)
        return fact.active(turn) and (which == "active" or has_value(fact))

    @cached_property
    def _facts(self) -> list[tuple[float, Key, Fact]]:
        keys = [(number, place) for number, case in enumerate(self.cases) for place in range(len(case.facts))]
        return [(index * _GOLDEN % 1, key, self.cases[key[0]].facts[key[1]]) for index, key in enumerate(keys, start=1)]

    @cached_property
    def _calls(self) -> dict[tuple[int, int], float]:
        places = [(number, turn.turn) for number, case in enumerate(self.cases) for turn in case.turns]
        spread = sorted(range(len(places)), key=lambda index: (index + 1) * _GOLDEN % 1)
        return {places[index]: (rank + 0.5) / len(places) for rank, index in enumerate(spread)}

    # ---- with noise -------------------------------------------------------------------------------------------------

    def _drawn(self, case: ConversationCase, place: int, arm: str, turn: int, draw: int | str) -> str:
        fact = case.facts[place]
        u, valued = self._rng("fact", case.id, fact.id, arm, turn, draw).random(2)
        if fact.over(turn):
            return "stale" if u < self.behaviour.stale and self._alone(case, fact) else "retired_ok"
        kept = float(np.clip(self.behaviour.kept(arm, turn) + self._apart(case), 0, 1))
        return self._became(case, fact, arm, turn, float(u), float(valued), kept)

    def _apart(self, case: ConversationCase) -> float:
        """How much better or worse a case goes than the others."""
        if not self.behaviour.spread:
            return 0.0
        return float(self.behaviour.spread * self._rng("case", case.id).standard_normal())

    def _rng(self, *names: str | int) -> np.random.Generator:
        return generator(self.seed, "scripted", self.behaviour.name, *names)


def _has_namesake(case: ConversationCase, fact: Fact) -> bool:
    names = {name.casefold() for name in fact.names}
    return any(one is not fact and names & {name.casefold() for name in one.names} for one in case.facts)
