"""How much of a plan the replies carry, item by item: covered and not opposed, contradicted, or neither.

Whether a sentence opposes an item is always decided by rule, for vectors cannot tell "stop" from "continue".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from workup.errors import InputError
from workup.stats.arrays import Floats
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.content.encoders import Encoder, encoded, fits
from workup.tasks.conversation.read.content.extended import aliases_of, values_behind
from workup.tasks.conversation.read.content.lists import actions, listed, opposed
from workup.tasks.conversation.read.content.passages import Entity, Passage
from workup.tasks.conversation.read.content.plans import Plan, items_of
from workup.tasks.conversation.read.facts import Judged, Matcher
from workup.tasks.conversation.read.facts.names import stem
from workup.tasks.conversation.read.sentence.allergies import speaks_of_allergy
from workup.tasks.conversation.read.sentence.cues import word_set
from workup.tasks.conversation.read.sentence.folding import without_reasoning, word_tokens
from workup.tasks.conversation.read.sentence.orders import AVOID, STOP
from workup.tasks.conversation.read.sentence.text import Sentence, sentences
from workup.text.sentences import sentences_of

SIMILAR = 0.60  # cosine from which a sentence carries an item
_SHARED = 0.60  # share of an item's words that a sentence must hold, where the item has no clinical term
_RULE = "rule-based"
_TAKEN_UP = frozenset({"it", "this", "that", "these", "they"})
_BEFORE = 4  # words before an action in which it may be denied
_UNNAMED = frozenset({"no_mention", "no_words", "empty_reply", "only_reasoning"})
_NOT_STATED = frozenset({"question", "conditional", "supposed"})
_TREATMENTS = ("drug", "procedure", "lab", "vital")


class PlanScore(NamedTuple):
    """Items of a plan, those covered and not opposed, those contradicted; and how that was found.

    `refused` are items and sentences that the encoder would have cut; such items are in none of the counts.
    """

    items: int
    covered: int
    contradicted: int
    method: str
    refused: int = 0

    @property
    def coverage(self) -> float | None:
        """The covered share; None of a plan without items."""
        return self.covered / self.items if self.items else None

    @property
    def contradiction(self) -> float | None:
        """The contradicted share; None of a plan without items."""
        return self.contradicted / self.items if self.items else None


class _Item(NamedTuple):
    text: str
    facts: tuple[Fact, ...]  # what it asks for, as facts that a reply can say or deny; empty without clinical terms
    treats: bool  # a drug, a test or a procedure: saying no to it opposes the item
    groups: frozenset[str]  # of its words of action
    stems: frozenset[str]  # of its other words
    denies: bool


class _Line(NamedTuple):
    """One sentence of a reply, under its heading, with the next where that takes it up."""

    text: str
    words: tuple[str, ...]
    groups: frozenset[str]
    question: bool


def plan_score(
    plan: str | Plan | Sequence[str], replies: Sequence[str], *, encoder: Encoder | None = None
) -> PlanScore:
    """Items of the plan that some reply carries and none opposes, and items that some reply opposes.

    A plan is a text, or the list of its items.

    >>> score = plan_score("Continue lithium. Check TSH.", ["Keep taking your lithium. STOP ALL LITHIUM NOW."])
    >>> score.items, score.covered, score.contradicted, score.method
    (2, 0, 1, 'rule-based')
    """
    listed_items = items_of(plan) if isinstance(plan, (str, Plan)) else plan
    items = [_item(text, number) for number, text in enumerate(listed_items)]
    spoken = [without_reasoning(reply) for reply in replies if reply]
    rules = _Rules(items)
    covered, contradicted = rules.found(spoken)
    if encoder is None:
        return PlanScore(len(items), len(covered - contradicted), len(contradicted), _RULE)
    near, cut, refused = _near(items, spoken, encoder, rules)
    left = {place for place in range(len(items)) if place not in cut}
    method = f"{_RULE}, or cosine of sentences >= {SIMILAR:.2f} by {encoder.name} ({encoder.version})"
    held = (covered | near) - contradicted
    return PlanScore(len(left), len(left & held), len(left & contradicted), method, refused)


# ---- items ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _item(text: str, number: int) -> _Item:
    passage = Passage(text, names_alone=True)
    treats = [one for one in passage.entities if one.category in _TREATMENTS]
    chosen = treats or passage.entities
    by_concept = {one.concept: one for one in reversed(chosen)}
    facts = tuple(_asked(passage, one, f"{number}.{place}") for place, one in enumerate(reversed(by_concept.values())))
    words = word_tokens(text)
    return _Item(text, facts, bool(treats), _groups(words), _content(words), _denied(words))


def _asked(passage: Passage, entity: Entity, id: str) -> Fact:
    """What an item asks for: a drug that is taken, or one that is not; a test that is done."""
    type = "medication" if entity.category == "drug" else "procedure" if entity.category in _TREATMENTS else entity.kind
    said = passage.said(entity, type, closely=True)
    off = said.negated or said.ruled_out or said.ended or said.order in (STOP, AVOID) or entity.allergy
    values = values_behind(passage, entity, type) if type == "medication" and not off else {}
    names = aliases_of(entity.concept, " ".join(entity.words))
    status = "absent" if off else "present"
    try:
        return Fact(id, type, entity.concept, names, status, values)
    except InputError:  # a value that no ledger would take is not compared
        return Fact(id, type, entity.concept, names, status)


def _groups(words: Iterable[str]) -> frozenset[str]:
    known = actions()
    return frozenset(known[word] for word in words if word in known)


def _content(words: Iterable[str]) -> frozenset[str]:
    plain = [word for word in words if word not in listed("stopwords")]
    without = [word for word in plain if word not in actions()]
    return frozenset(stem(word) for word in without or plain)


def _denied(words: Sequence[str]) -> bool:
    return not word_set("negators").isdisjoint(words) or "stop" in _groups(words)


# ---- by rule --------------------------------------------------------------------------------------------------------


class _Rules:
    """The items made ready to be looked for in sentences."""

    def __init__(self, items: Sequence[_Item]) -> None:
        self._items = items
        self._facts = [fact for item in items for fact in item.facts]
        self._matcher = Matcher(self._facts, asked=True)

    def found(self, replies: Sequence[str]) -> tuple[set[int], set[int]]:
        """The places of items that are carried by some reply, and of those that are opposed by some."""
        carried: set[str] = set()  # things that items ask for
        covered: set[int] = set()
        contradicted: set[int] = set()
        seen: set[str] = set()  # models repeat themselves, and a sentence says the same each time
        for reply in dict.fromkeys(replies):
            whole = self.judged(reply)
            contradicted |= self._opposed_whole(whole)
            named = any(one.reason not in _UNNAMED for one in whole.values())
            for line in _lines(sentences(reply)):
                if line.text in seen:
                    continue
                seen.add(line.text)
                self._line(line, carried, covered, contradicted, judged=self.judged(line.text) if named else whole)
        for place, item in enumerate(self._items):
            # Every one of the things that an item asks for, not any one of them.
            if item.facts and carried.issuperset(fact.id for fact in item.facts):
                covered.add(place)
        return covered, contradicted

    def judged(self, text: str) -> dict[str, Judged]:
        """What a text says of each thing that the items ask for."""
        return dict(zip([fact.id for fact in self._facts], self._matcher.judge(text), strict=True))

    def _opposed_whole(self, judged: Mapping[str, Judged]) -> set[int]:
        return {
            place
            for place, item in enumerate(self._items)
            if item.treats and any(judged[fact.id].outcome in ("reversed", "wrong_value") for fact in item.facts)
        }

    def _line(
        self,
        line: _Line,
        carried: set[str],
        covered: set[int],
        contradicted: set[int],
        *,
        judged: Mapping[str, Judged],
    ) -> None:
        for place, item in enumerate(self._items):
            if line.question:
                continue
            if not item.facts:
                self._by_words(line, place, item, covered, contradicted)
                continue
            named = [fact for fact in item.facts if judged[fact.id].reason not in _UNNAMED]
            if not named:
                continue
            if _at_odds(item, line):
                contradicted.add(place)
                continue
            for fact in named:
                said = judged[fact.id].outcome == "correct" or not item.treats
                if said and (not item.groups or item.groups & line.groups or fact.status == "absent"):
                    carried.add(fact.id)

    def _by_words(self, line: _Line, place: int, item: _Item, covered: set[int], contradicted: set[int]) -> None:
        if not item.stems:
            return
        held = {stem(word) for word in line.words}
        if len(item.stems & held) / len(item.stems) < _SHARED:
            return
        if item.denies and speaks_of_allergy(list(line.words)):
            return  # "allergic to peanut" is why peanut is avoided, and neither does nor undoes it
        if _denied(line.words) != item.denies:
            contradicted.add(place)
        elif not item.groups or item.groups & line.groups:
            covered.add(place)


def _at_odds(item: _Item, line: _Line) -> bool:
    """Whether a sentence about the same thing asks for the opposite, or denies the action that the item asks for."""
    if not item.groups & line.groups and any((a, b) in opposed() for a in item.groups for b in line.groups):
        # "Stop" is read by the matcher, which knows what it reaches; here only a change the other way.
        return bool({"more", "less"} & item.groups & {"more", "less"}) and not item.denies
    if item.treats or not item.groups & line.groups or item.denies:
        return False
    known, negators = actions(), word_set("negators")
    return any(
        known.get(word) in item.groups and not negators.isdisjoint(line.words[max(0, place - _BEFORE) : place])
        for place, word in enumerate(line.words)
    )


def _lines(cut: Sequence[Sentence]) -> Iterable[_Line]:
    for place, one in enumerate(cut):
        words = [*one.heading, *one.words]
        text = " ".join(words) + ("?" if one.question else ".")
        following = cut[place + 1] if place + 1 < len(cut) else None
        if following is not None and following.words[0] in _TAKEN_UP:
            text += " " + " ".join(following.words) + "."
        yield _Line(text, tuple(words), _groups(words), one.question)


# ---- by an encoder --------------------------------------------------------------------------------------------------


def _near(
    items: Sequence[_Item], replies: Sequence[str], encoder: Encoder, rules: _Rules
) -> tuple[set[int], set[int], int]:
    """Items that some sentence lies close to, items that the encoder would cut, and how much was refused in all."""
    said = list(dict.fromkeys(sentence for reply in replies for sentence in sentences_of(reply)))
    told = [sentence for sentence in said if fits(encoder, sentence)]
    refused = {place for place, item in enumerate(items) if not fits(encoder, item.text)}
    kept = [place for place in range(len(items)) if place not in refused]
    total = len(said) - len(told) + len(refused)
    told = [sentence for sentence in told if not sentence.rstrip().endswith("?")]
    if not told or not kept:
        return set(), refused, total
    alike: Floats = encoded(encoder, [items[place].text for place in kept]) @ encoded(encoder, told).T
    found: set[int] = set()
    for row, place in enumerate(kept):
        close = [told[column] for column in range(len(told)) if round(float(alike[row, column]), 4) >= SIMILAR]
        if any(_speaks_of(items[place], sentence, rules) for sentence in close):
            found.add(place)
    return found, refused, total


def _speaks_of(item: _Item, sentence: str, rules: _Rules) -> bool:
    """Sentences about another drug, and mere suppositions, lie close to an item and carry nothing of it."""
    own = {fact.concept for fact in item.facts if fact.type == "medication"}
    drugs = _drugs(sentence) if own else set()
    if drugs and not own & drugs:
        return False
    judged = rules.judged(sentence)
    return all(
        judged[fact.id].reason not in _NOT_STATED and judged[fact.id].outcome not in ("reversed", "wrong_value")
        for fact in item.facts
    )


def _drugs(sentence: str) -> set[str]:
    return {one.concept for one in Passage(sentence).entities if one.category == "drug"}


__all__ = ["SIMILAR", "PlanScore", "plan_score"]
