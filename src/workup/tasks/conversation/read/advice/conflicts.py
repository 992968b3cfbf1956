"""Advice that contradicts itself over a conversation: K, conflicting pairs over comparable pairs.

A pair is comparable where both are firm advice on one slot and no event between them bears on it. A change that an
event licenses is none of K's, and neither is advice that stays as it was although an event took away its ground.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.advice.judges import THRESHOLD, Judge, asked, judge_name
from workup.tasks.conversation.read.advice.relevant_facts import (
    INTRODUCED,
    RETIRED,
    Happened,
    bears_on,
    forbids,
    happenings,
    names_of_case,
    things_of_fact,
)
from workup.tasks.conversation.read.advice.stances import (
    AGAINST,
    Stance,
    conflict,
    same_advice,
    stances_of,
    with_classes,
)
from workup.tasks.conversation.read.advice.statements import statements_of
from workup.tasks.conversation.read.advice.targets import Thing, Words
from workup.tasks.conversation.read.facts.mentions import prepare_fact
from workup.tasks.conversation.read.sentence.doses import same_amount
from workup.tasks.conversation.read.sentence.text import sentences

CONFLICT, LICENSED, FAILURE = "conflict", "licensed", "failure_to_update"
RULES = "rules"


class ConflictPair(NamedTuple):
    """Two pieces of advice on one slot that conflict, that an event licenses, or that an event should have changed."""

    kind: str
    slot: str
    turns: tuple[int, int]
    actions: tuple[str, str]
    sentences: tuple[int, int]
    facts: tuple[str, ...] = ()  # ids of the facts whose events lie between


class Conflicts(NamedTuple):
    """Counts of one conversation. `method` is rules, or the name of the judge that was asked as well.

    `judged` counts the comparable pairs that the judge calls contradictions, None without one; `unjudged` those that it
    could not judge, which leave `judged` None too.
    """

    comparable: int
    conflicting: int
    licensed: int
    failures_to_update: int
    pairs: tuple[ConflictPair, ...] = ()
    method: str = RULES
    judged: int | None = None
    unjudged: int = 0

    @property
    def rate(self) -> float | None:
        """K by the rules; None where no pair can be compared."""
        return self.conflicting / self.comparable if self.comparable else None

    @property
    def judged_rate(self) -> float | None:
        """K by the judge; None without a judge, without a pair, or where pairs went unjudged."""
        return self.judged / self.comparable if self.judged is not None and self.comparable else None


def conflicts_of(case: ConversationCase, replies: Mapping[int, str | None], *, judge: Judge | None = None) -> Conflicts:
    """All pairs of advice in the replies of one conversation, not only neighbours.

    >>> from workup.tasks.conversation.cases.case import Turn
    >>> from workup.tasks.conversation.cases.facts import Fact
    >>> turns = tuple(Turn(number, "I take warfarin.") for number in (1, 2, 3))
    >>> case = ConversationCase("c1", "", turns, (Fact("f1", "medication", "warfarin"),))
    >>> found = conflicts_of(case, {1: "Keep taking Coumadin.", 2: "All is well.", 3: "Stop warfarin."})
    >>> found.comparable, found.conflicting, found.pairs[0].turns, found.method
    (1, 1, (1, 3), 'rules')
    """
    more = tuple(dict.fromkeys(names_of_case(case)))
    by_turn = {
        turn: stances_of(turn, statements_of(reply, more=more))
        for turn, reply in sorted(replies.items())
        if reply is not None
    }
    drugs = {one.thing for stances in by_turn.values() for one in stances}
    by_thing: dict[Thing, list[Stance]] = {}
    for stances in by_turn.values():
        for one in with_classes(stances, sorted(drugs)):
            by_thing.setdefault(one.thing, []).append(one)
    happened = happenings(case)
    tally = _Tally(case, replies, judge)
    for thing in sorted(by_thing):
        events = [one for one in happened if bears_on(one.fact, thing)]
        for one, other in combinations(by_thing[thing], 2):
            if not (one.derived and other.derived):
                tally.add(one, other, [event for event in events if one.turn < event.turn <= other.turn])
    return tally.result()


class _Tally:
    """Counts pairs as they come."""

    def __init__(self, case: ConversationCase, replies: Mapping[int, str | None], judge: Judge | None) -> None:
        self.case, self.replies, self.judge = case, replies, judge
        self.comparable = self.judged = self.unjudged = 0
        self.pairs: list[ConflictPair] = []
        self._cut: dict[int, list[str]] = {}

    def add(self, one: Stance, other: Stance, events: list[Happened]) -> None:
        if one.turn == other.turn and one.sentence == other.sentence:
            return  # one sentence that says two things of a drug is a plan in steps
        if events:
            if conflict(one, other):
                self._note(LICENSED, one, other, events)
            elif same_advice(one, other):
                due = [event for event in events if _asks_for_change(self.case, one, other, event)]
                if due:
                    self._note(FAILURE, one, other, due)
            return
        self.comparable += 1
        if conflict(one, other):
            self._note(CONFLICT, one, other, [])
        if self.judge is not None:
            self._ask(self.judge, one, other)

    def _note(self, kind: str, one: Stance, other: Stance, events: list[Happened]) -> None:
        facts = tuple(dict.fromkeys(event.fact.id for event in events))
        turns, actions = (one.turn, other.turn), (one.action, other.action)
        self.pairs.append(ConflictPair(kind, one.thing.slot, turns, actions, (one.sentence, other.sentence), facts))

    def _ask(self, judge: Judge, one: Stance, other: Stance) -> None:
        texts = self._sentence(one), self._sentence(other)
        answers = [asked(judge, *texts), asked(judge, *reversed(texts))]
        if any(answer is None for answer in answers):
            self.unjudged += 1
        else:
            self.judged += max(answer for answer in answers if answer is not None) >= THRESHOLD

    def _sentence(self, stance: Stance) -> str:
        """The sentence of a stance for the judge alone, in the folded form in which it was read."""
        if stance.turn not in self._cut:
            self._cut[stance.turn] = [_spoken(one.words) for one in sentences(self.replies[stance.turn] or "")]
        return self._cut[stance.turn][stance.sentence]

    def result(self) -> Conflicts:
        count = {kind: sum(pair.kind == kind for pair in self.pairs) for kind in (CONFLICT, LICENSED, FAILURE)}
        judged = self.judged if self.judge is not None and not self.unjudged else None
        method = RULES if self.judge is None else f"{RULES}, {judge_name(self.judge)}"
        pairs = tuple(sorted(self.pairs, key=lambda pair: (pair.turns, pair.slot, pair.actions, pair.kind)))
        return Conflicts(
            self.comparable, count[CONFLICT], count[LICENSED], count[FAILURE], pairs, method, judged, self.unjudged
        )


_SPOKEN = {"ca": "can", "wo": "will", "sha": "shall"}  # what folding leaves of "can't", "won't", "shan't"


def _spoken(folded: Words | list[str]) -> str:
    words = [
        _SPOKEN.get(word, word) if folded[place + 1 : place + 2] == ["not"] else word
        for place, word in enumerate(folded)
    ]
    text = " ".join(words)
    for sign in (",", ".", ";", ":", ")"):
        text = text.replace(f" {sign}", sign)
    return text


def _asks_for_change(case: ConversationCase, one: Stance, other: Stance, event: Happened) -> bool:
    """Whether an event takes the ground from advice that both turns give: forbidden, stopped, no longer forbidden."""
    fact, thing = event.fact, other.thing
    if one.side != AGAINST and event.kind == INTRODUCED and fact.active(other.turn) and forbids(fact, thing):
        return True
    if event.kind != RETIRED or not fact.over(other.turn):
        return False
    if one.side == AGAINST:
        still = any(forbids(held, thing) for held in case.active(other.turn))
        return forbids(fact, thing) and not still
    if fact.type != "medication" or thing not in things_of_fact(fact) or fact.status != "present":
        return False
    held_now = [held for held in case.active(other.turn) if thing in things_of_fact(held) and held.type == "medication"]
    if not held_now:
        return True
    return _old_dose(fact, other) and not any(_old_dose(held, other) for held in held_now)


def _old_dose(fact: Fact, stance: Stance) -> bool:
    """Whether advice states exactly the dose of a fact."""
    wanted = prepare_fact(fact).wanted
    if stance.dose is None or wanted.unit is None or not wanted.amounts:
        return False
    return wanted.unit.measure == stance.dose[1] and same_amount(wanted.amounts[0] * wanted.unit.factor, stance.dose[0])
