"""Pairs of advice that a judge reads: those that the rules made, and a sample of those that they did not make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import NamedTuple

from workup.stats.random import generator
from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.judges.questions import Original, Question
from workup.tasks.conversation.labels import Unit
from workup.tasks.conversation.read.advice import conflicts_of
from workup.tasks.conversation.read.advice.relevant_facts import names_of_case
from workup.tasks.conversation.read.advice.stances import Stance, stances_of, with_classes
from workup.tasks.conversation.read.advice.statements import statements_of
from workup.tasks.conversation.read.content.passages import extractor

MOST_UNMADE = 30  # pairs of a conversation that the rules did not make
Spot = tuple[int, int]  # turn and sentence
# Kinds of listed pairs as a judge would name them. Where something in between bears without a direction, the rules do
# not call it a conflict; advice that stayed as it was although it should have changed is none either.
READ_AS = {
    "conflict": "conflict",
    "against_fact": "conflict",
    "licensed": "licensed",
    "licensed (message)": "licensed",
    "unclear": "licensed",
    "failure_to_update": "unrelated",
}
_GRAVITY = ("unrelated", "licensed", "conflict")


class Pair(NamedTuple):
    """Two sentences of advice. `rules` is what the rules call them; None where they made no pair of them."""

    question: Question
    rules: str | None
    weight: float = 1.0  # for how many pairs it stands


class Pairs(NamedTuple):
    """All pairs of one conversation that are read, and how many the rules did not make."""

    pairs: tuple[Pair, ...]
    unmade: int  # of which at most MOST_UNMADE are among them


def pairs_of(case: ConversationCase, replicate: int, replies: Mapping[int, str], *, seed: int) -> Pairs:
    """Pairs of one conversation, in order of their places."""
    more = tuple(dict.fromkeys(names_of_case(case)))
    said = {turn: statements_of(reply, more=more) for turn, reply in sorted(replies.items())}
    stances = {turn: stances_of(turn, statements) for turn, statements in said.items()}
    made = _made(case, replies, stances)
    kinds: dict[Spot, set[str]] = {}
    for turn, statements in said.items():
        for one in statements:
            if one.firm:
                kinds.setdefault((turn, one.sentence), set()).add(one.thing.kind)
    written = {turn: Original(reply) for turn, reply in replies.items()}
    unmade = [pair for pair in _sharing(written, kinds) if pair not in made]
    draws = generator(seed, "unmade pairs", case.id, replicate)
    chosen = sorted(draws.permutation(len(unmade))[:MOST_UNMADE].tolist())
    found = [Pair(_question(case, replicate, pair, written), kind) for pair, kind in sorted(made.items())]
    found += [
        Pair(_question(case, replicate, unmade[place], written), None, len(unmade) / len(chosen)) for place in chosen
    ]
    return Pairs(tuple(sorted(found, key=lambda one: _order(one.question.unit))), len(unmade))


def _order(unit: Unit) -> tuple[int, ...]:
    return tuple(int(part) for part in (unit.pair or "").replace("-", ".").split("."))


def _made(
    case: ConversationCase, replies: Mapping[int, str], by_turn: Mapping[int, list[Stance]]
) -> dict[tuple[Spot, Spot], str]:
    """Sentences with firm advice on one thing, and what the rules call the two."""
    drugs = sorted({one.thing for stances in by_turn.values() for one in stances})
    by_thing: dict[object, list[Stance]] = {}
    for stances in by_turn.values():
        for one in with_classes(stances, drugs):
            by_thing.setdefault(one.thing, []).append(one)
    found: dict[tuple[Spot, Spot], str] = {}
    for stances in by_thing.values():
        for one, other in combinations(stances, 2):
            spots = (one.turn, one.sentence), (other.turn, other.sentence)
            if spots[0] != spots[1] and not (one.derived and other.derived):
                found[min(spots), max(spots)] = "unrelated"
    for pair in conflicts_of(case, replies).pairs:
        both = sorted(zip(pair.turns, pair.sentences, strict=True))
        key = both[0], both[1]
        # What two sentences say of one thing may differ from what they say of another: the gravest counts.
        found[key] = max(READ_AS[pair.kind], found.get(key, "unrelated"), key=_GRAVITY.index)
    return found


def _sharing(written: Mapping[int, Original], kinds: Mapping[Spot, set[str]]) -> Iterable[tuple[Spot, Spot]]:
    """Sentences of two turns that share a concept of the lexicon, or advice on a kind of thing."""
    by_topic: dict[str, list[Spot]] = {}
    for turn, text in sorted(written.items()):
        for place in range(len(text)):
            concepts = {f"concept {term.concept}" for term in extractor().extract(text.sentence(place))}
            for topic in sorted(concepts | {f"kind {kind}" for kind in kinds.get((turn, place), ())}):
                by_topic.setdefault(topic, []).append((turn, place))
    found = {
        (one, other)
        for spots in by_topic.values()
        for one, other in combinations(dict.fromkeys(spots), 2)
        if one[0] != other[0]
    }
    return sorted(found)


def _question(
    case: ConversationCase, replicate: int, pair: tuple[Spot, Spot], written: Mapping[int, Original]
) -> Question:
    (first, one), (second, other) = pair
    unit = Unit(case.id, replicate, "live", second, None, f"{first}.{one}-{second}.{other}")
    between = "\n".join(turn.message for turn in case.turns if first < turn.turn <= second)
    return Question(unit, (written[first].sentence(one), written[second].sentence(other), between))
