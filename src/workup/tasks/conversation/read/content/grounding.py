"""What a reply asserts, against what it could know: the facts of the case, the summary, and what was said so far.

Counts of distinct clinical terms, for precision and for fabrication. It knows no text once it has counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from workup.lexicon import measured_error
from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.content.naming import Naming
from workup.tasks.conversation.read.content.passages import Entity, Passage, extractor, stems_of
from workup.tasks.conversation.read.facts.mention_rules import AGREES, CONTRADICTS, OPPOSES, allergy_vote, vote
from workup.tasks.conversation.read.sentence.folding import word_tokens
from workup.tasks.conversation.read.sentence.fuzzy import can_be_misspelled, misspells
from workup.tasks.conversation.read.sentence.mention import AFFIRMED, STATEMENT, UNMARKED, Mention

_NEVER = 10**9
# A mention that neither agrees nor contradicts still names the fact, where all it leaves out is doubt or time.
_NAMES_IT = frozenset(
    {
        ("present", "doubted"),
        ("historical", "doubted"),
        ("historical", "not_now"),
        ("historical", "no_time"),
        ("family", "doubted"),
        ("uncertain", "without_doubt"),
        ("absent", "no_attack"),
    }
)
_TIMED = frozenset({"historical", "family", "uncertain"})  # of these, how it is said decides: plain sentences too


class Support(NamedTuple):
    """Distinct clinical terms that a reply asserts, and how many of them something stands behind.

    `in_critical` and `in_extended` name a fact that is active at the turn and do not say its opposite. `ungrounded`
    are in no fact active or past, not in the summary and in no message so far. `denied` were only denied or said to be
    over, of no active fact: they are in none of the other counts.
    """

    entities: int
    in_critical: int
    in_extended: int
    ungrounded: int
    denied: int = 0


class _Mention(NamedTuple):
    entity: Entity
    relation: str  # of a drug: allergy, avoided, tolerated or nothing


class Grounding:
    """A case prepared once, to be held against any number of replies.

    `facts` are those of the extended set; the ledger's own are added where they are not among them.

    >>> from workup.tasks.conversation.cases.case import Turn
    >>> facts = (Fact("f1", "medication", "warfarin"), Fact("f2", "symptom", "chest pain", status="absent"))
    >>> turns = (Turn(1, "I take warfarin, I have no chest pain. My knee arthritis is bad."),)
    >>> grounding = Grounding(ConversationCase("c1", "", turns, facts), facts)
    >>> grounding.support("Warfarin, asthma and arthritis; no chest pain, no fever.", 1)
    Support(entities=4, in_critical=2, in_extended=2, ungrounded=1, denied=1)
    """

    def __init__(self, case: ConversationCase, facts: Sequence[Fact]) -> None:
        held = {fact.id: fact for fact in (*case.facts, *facts)}
        self.facts: tuple[Fact, ...] = tuple(held.values())
        self._naming = Naming(self.facts)
        self._heard = _Heard([case.patient_summary, *(turn.message for turn in case.turns)])

    def support(self, reply: str | None, turn: int) -> Support:
        """The counts of one reply at a turn; of a reply that is missing or empty, none of anything."""
        if not reply:
            return Support(0, 0, 0, 0)
        passage = Passage(reply)
        by_key: dict[tuple[str, bool], list[_Mention]] = {}
        for entity in passage.entities:
            relation = self._relation(passage, entity)
            by_key.setdefault((entity.concept, bool(relation)), []).append(_Mention(entity, relation))
        entities = critical = extended = ungrounded = denied = 0
        for (_, as_allergy), mentions in by_key.items():
            known = self._naming.named(mentions[0].entity, as_allergy=as_allergy)
            if len(mentions) > 1:
                every = {place for one in mentions for place in self._naming.named(one.entity, as_allergy=as_allergy)}
                known = tuple(sorted(every))
            active = [self.facts[place] for place in known if self.facts[place].active(turn)]
            standing = _standing(passage, mentions, active)
            if standing is None:
                continue
            if not active and standing.denied:
                denied += 1
                continue
            entities += 1
            critical += standing.critical
            extended += standing.extended
            if not active and not any(self.facts[place].introduced <= turn for place in known):
                ungrounded += min(self._heard.first(one.entity) for one in mentions) > turn
        return Support(entities, critical, extended, ungrounded, denied)

    def _relation(self, passage: Passage, entity: Entity) -> str:
        """An allergy, however it is said; avoided and tolerated only of what the patient is allergic to."""
        if entity.category != "drug":
            return ""
        known = self._naming.allergen(entity)
        if not (entity.allergy or known or passage.of_allergy(entity.sentence)):
            return ""
        relation = passage.allergy(entity)
        return relation if relation == "allergy" or known else ""


class _Standing(NamedTuple):
    critical: bool
    extended: bool
    denied: bool


def _standing(passage: Passage, mentions: list[_Mention], active: list[Fact]) -> _Standing | None:
    """How the mentions of one entity stand to the active facts that they name; None where none is a statement."""
    if not active:
        denied = True
        stated = False
        for entity, relation in mentions:
            said = passage.said(entity, "allergy" if relation else entity.kind)
            if said.silent:
                continue
            stated = True
            denied = said.negated or said.ruled_out or said.ended
            if not denied:
                break
        return _Standing(False, False, denied) if stated else None
    supported, stated = [], False
    for fact in active:
        ballots = [_ballot(passage, one, fact) for one in mentions]
        cast = [side for side in ballots if side]
        stated = stated or bool(cast)
        agrees = AGREES in cast
        opposed = CONTRADICTS in cast or (OPPOSES in cast and not agrees)
        if not opposed and (agrees or "names" in cast):
            supported.append(fact)
    if not stated:
        return None
    return _Standing(any(fact.critical for fact in supported), bool(supported), False)


def _ballot(passage: Passage, mention: _Mention, fact: Fact) -> str:
    """The side that one mention takes on a fact; empty where it is a question, a condition or merely supposed."""
    entity, relation = mention
    said: Mention = passage.said(entity, fact.type, closely=fact.status in _TIMED)
    if relation == "avoided" and fact.type == "allergy":
        said = said._replace(polarity=AFFIRMED, time=UNMARKED, mood=STATEMENT)
    if said.silent:
        return ""
    cast = allergy_vote(said, relation, fact.status) if fact.type == "allergy" else vote(said, fact.type, fact.status)
    return "names" if (fact.status, cast.reason) in _NAMES_IT else cast.side


class _Heard:
    """What the summary (turn 0) and the messages speak of, and from which turn on."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._concepts: dict[str, int] = {}
        self._lines: list[str] = []
        self._long: dict[str, int] = {}  # words that may be misspelled, with their first turn
        self._known: dict[tuple[str, tuple[str, ...]], int] = {}
        for turn, text in enumerate(texts):
            for term in extractor().extract(text):
                self._concepts.setdefault(term.concept, turn)
            words = word_tokens(text)
            self._lines.append(f" {' '.join(stems_of(words))} ")
            for word in words:
                if len(word) > 6:
                    self._long.setdefault(word, turn)

    def first(self, entity: Entity) -> int:
        """The first turn that speaks of an entity: by its concept, its words, the head of a name, or misspelled."""
        key = (entity.concept, entity.words)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._look(entity)
        return found

    def _look(self, entity: Entity) -> int:
        stems = stems_of(entity.words)
        sought = f" {' '.join(stems)} "
        turns = [self._concepts.get(entity.concept, _NEVER)]
        turns += [turn for turn, line in enumerate(self._lines) if sought in line][:1]
        if len(entity.words) == 1 and can_be_misspelled(entity.words[0]):
            turns += [turn for word, turn in self._long.items() if misspells(word, entity.words[0])]
        return min(turns)


def support_of(reply: str | None, case: ConversationCase, turn: int, facts: Sequence[Fact]) -> Support:
    """The counts of one reply. Make a `Grounding` where there are several replies to one case.

    >>> from workup.tasks.conversation.cases.case import Turn
    >>> case = ConversationCase("c1", "", (Turn(1, "I take warfarin."),), (Fact("f1", "medication", "warfarin"),))
    >>> support_of("You take warfarin and metformin.", case, 1, case.facts).ungrounded
    1
    """
    return Grounding(case, facts).support(reply, turn)


def extractor_facts() -> dict[str, Any]:
    """Name, version and measured error of what finds the terms, to stand beside precision and fabrication.

    >>> found = extractor_facts()
    >>> found["name"], found["error"][-1]["category"]
    ('lexicon', 'all')
    """
    made = extractor()
    return {
        "name": made.name,
        "version": made.version,
        "counted": ["disease", "drug", "procedure", "lab with a value", "vital with a value"],
        "error_on": "60 written sentences with 188 marked terms; read them as the best case",
        "error": [row._asdict() for row in measured_error()],
    }
