"""Advice that contradicts itself over a conversation: K, conflicting pairs over comparable pairs.

A pair is comparable where both are firm advice on one slot. Opposed advice is a conflict unless an event between the
two turns points in the direction of the change; where one points the other way it is `against_fact` and counts as a
conflict. Changes that an event licenses, or of which it cannot be told, are none of K's, and neither is advice that
stays as it was although an event asked for a change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.advice.judges import THRESHOLD, Judge, asked, judge_name
from workup.tasks.conversation.read.advice.licensing import (
    AWAY,
    TOWARD,
    UNCLEAR,
    binds,
    dose_of,
    points,
)
from workup.tasks.conversation.read.advice.message_events import message_events
from workup.tasks.conversation.read.advice.relevant_facts import (
    CHANGED,
    LEDGER,
    MESSAGE,
    RETIRED,
    Happened,
    forbids,
    happenings,
    names_of_case,
    things_of_fact,
)
from workup.tasks.conversation.read.advice.stances import (
    AGAINST,
    DOWN,
    VISIT,
    Stance,
    conflict,
    moves_toward,
    same_advice,
    stances_of,
    with_classes,
)
from workup.tasks.conversation.read.advice.statements import statements_of
from workup.tasks.conversation.read.advice.targets import CARE, REFERRAL, Thing, Words
from workup.tasks.conversation.read.sentence.doses import same_amount
from workup.tasks.conversation.read.sentence.text import sentences

CONFLICT, LICENSED, FAILURE = "conflict", "licensed", "failure_to_update"
BY_MESSAGE, AGAINST_FACT, UNSURE = "licensed (message)", "against_fact", "unclear"
RULES = "rules"


class ConflictPair(NamedTuple):
    """Two pieces of advice on one slot that conflict, that an event licenses, or that an event should have changed.

    `source` is where the events stand that decided: the ledger, or only what a turn's message said.
    """

    kind: str
    slot: str
    turns: tuple[int, int]
    actions: tuple[str, str]
    sentences: tuple[int, int]
    facts: tuple[str, ...] = ()  # ids of the facts whose events lie between
    source: str = LEDGER


class Conflicts(NamedTuple):
    """Counts of one conversation. `method` is rules, or the name of the judge that was asked as well.

    `judged` counts the comparable pairs that the judge calls contradictions, None without one; `unjudged` those that it
    could not judge, which leave `judged` None too. `conflicting` holds the pairs `against_fact`, `licensed` those that
    only a message licenses.
    """

    comparable: int
    conflicting: int
    licensed: int
    failures_to_update: int
    pairs: tuple[ConflictPair, ...] = ()
    method: str = RULES
    judged: int | None = None
    unjudged: int = 0
    against_fact: int = 0
    unclear: int = 0
    licensed_by_message: int = 0

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
    happened = (*happenings(case), *message_events(case))
    tally = _Tally(case, replies, judge, {one.turn: one for one in by_thing.get(VISIT, ())})
    for thing in sorted(by_thing, key=lambda one: (one == VISIT, one)):  # how soon, after what and where
        bearing = [(event, points(event, thing)) for event in happened]
        events = [(event, ways) for event, ways in bearing if ways]
        for one, other in combinations(by_thing[thing], 2):
            if not (one.derived and other.derived):
                between = [(event, ways) for event, ways in events if one.turn < event.turn <= other.turn]
                tally.add(one, other, between)
    return tally.result()


_Events = list[tuple[Happened, frozenset[str]]]


class _Tally:
    """Counts pairs as they come."""

    def __init__(
        self,
        case: ConversationCase,
        replies: Mapping[int, str | None],
        judge: Judge | None,
        how_soon: Mapping[int, Stance],
    ) -> None:
        self.case, self.replies, self.judge, self.how_soon = case, replies, judge, how_soon
        self.comparable = self.judged = self.unjudged = 0
        self.pairs: list[ConflictPair] = []
        self._opposed: set[tuple[int, int]] = set()  # turns that contradict each other on where to be seen
        self._cut: dict[int, list[str]] = {}

    def add(self, one: Stance, other: Stance, events: _Events) -> None:
        if one.turn == other.turn and one.sentence == other.sentence:
            return  # one sentence that says two things of a drug is a plan in steps
        turns = (one.turn, other.turn)
        opposed = conflict(one, other)
        if one.thing == VISIT and (turns in self._opposed or (not opposed and one.said_of == other.said_of)):
            return  # said already of the place itself
        if one.thing.kind in (CARE, REFERRAL) and not opposed and self._told_by_urgency(one, other):
            return
        if opposed:
            if one.thing.kind in (CARE, REFERRAL):
                self._opposed.add(turns)
            kind, deciding = _kind(one, other, events)
            self._note(kind, one, other, deciding)
            if kind not in (CONFLICT, AGAINST_FACT):
                return
        elif events:
            due = [event for event, _ in events if same_advice(one, other) and _asks(self.case, one, other, event)]
            if due:
                self._note(FAILURE, one, other, due)
            return
        self.comparable += 1
        if self.judge is not None:
            self._ask(self.judge, one, other)

    def _told_by_urgency(self, one: Stance, other: Stance) -> bool:
        """ "See your doctor this week", then "next month": one pair, which differs in how soon."""
        first, second = self.how_soon.get(one.turn), self.how_soon.get(other.turn)
        if first is None or second is None or not conflict(first, second):
            return False
        return first.said_of == one.thing == second.said_of

    def _note(self, kind: str, one: Stance, other: Stance, events: list[Happened]) -> None:
        facts = tuple(dict.fromkeys(event.fact.id for event in events if event.source != MESSAGE))
        turns, actions = (one.turn, other.turn), (one.action, other.action)
        source = MESSAGE if events and not facts else LEDGER
        self.pairs.append(
            ConflictPair(kind, one.thing.slot, turns, actions, (one.sentence, other.sentence), facts, source)
        )

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
        count = Counter(pair.kind for pair in self.pairs)
        judged = self.judged if self.judge is not None and not self.unjudged else None
        return Conflicts(
            self.comparable,
            count[CONFLICT] + count[AGAINST_FACT],
            count[LICENSED] + count[BY_MESSAGE],
            count[FAILURE],
            tuple(sorted(self.pairs, key=lambda pair: (pair.turns, pair.slot, pair.actions, pair.kind))),
            RULES if self.judge is None else f"{RULES}, {judge_name(self.judge)}",
            judged,
            self.unjudged,
            count[AGAINST_FACT],
            count[UNSURE],
            count[BY_MESSAGE],
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


def _kind(one: Stance, other: Stance, events: _Events) -> tuple[str, list[Happened]]:
    """The kind of an opposed pair, and the events that decide it."""
    way, back = (TOWARD, AWAY) if moves_toward(one, other) else (AWAY, TOWARD)
    read = [(event, _on_pair(event, ways, one, other)) for event, ways in events]
    licensing = [event for event, ways in read if way in ways]
    if licensing:
        held = [event for event in licensing if event.source != MESSAGE]
        return (LICENSED, held) if held else (BY_MESSAGE, licensing)
    against = [event for event, ways in read if back in ways]
    if against:
        return AGAINST_FACT, against
    unsure = [event for event, ways in read if UNCLEAR in ways]
    return (UNSURE, unsure) if unsure else (CONFLICT, [])


def _on_pair(event: Happened, ways: frozenset[str], one: Stance, other: Stance) -> frozenset[str]:
    """A dose that was changed licenses advice of that dose, and no stop."""
    if event.kind != CHANGED or event.fact.type != "medication":
        return ways
    if AGAINST in (one.side, other.side):
        return frozenset()
    dose = dose_of(event.fact)
    if dose is None or other.dose is None or other.dose[1] != dose[1]:
        return ways
    if same_amount(other.dose[0], dose[0]):
        return frozenset({TOWARD, AWAY})
    way = TOWARD if moves_toward(one, other) else AWAY
    return ways - {way}


def _asks(case: ConversationCase, one: Stance, other: Stance, event: Happened) -> bool:
    """Whether an event asks for a change of advice that both turns give: the table of `points` read from its end."""
    fact, thing = event.fact, other.thing
    if event.kind == CHANGED and fact.type == "medication":
        old = event.before
        return old is not None and _old_dose(old, other) and not _old_dose(fact, other)
    if thing == VISIT:
        return False
    direction = TOWARD if one.side == AGAINST else AWAY
    if DOWN in (one.side, other.side) and direction == AWAY:
        return False  # less of it is the way the event points
    if not binds(event, thing, direction):
        return False
    if event.kind != RETIRED:
        return fact.active(other.turn) or event.source == MESSAGE
    if direction == TOWARD:
        return not any(forbids(held, thing) for held in case.active(other.turn))
    return not any(held.type == "medication" and thing in things_of_fact(held) for held in case.active(other.turn))


def _old_dose(fact: Fact, stance: Stance) -> bool:
    """Whether advice states exactly the dose of a fact."""
    dose = dose_of(fact)
    return (
        dose is not None
        and stance.dose is not None
        and stance.dose[1] == dose[1]
        and same_amount(dose[0], stance.dose[0])
    )
