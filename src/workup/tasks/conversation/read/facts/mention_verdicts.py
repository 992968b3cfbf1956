"""What each mention in a sentence says of its fact, with the value it states. It knows sentences, not whole replies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workup.tasks.conversation.read.facts.attached import differing
from workup.tasks.conversation.read.facts.kinds import ALLERGY, allergen_kind, denial_of, denied_kinds, may_deny
from workup.tasks.conversation.read.facts.mention_rules import (
    AGREES,
    CONTRADICTS,
    NEITHER,
    OPPOSES,
    Vote,
    allergy_vote,
    vote,
)
from workup.tasks.conversation.read.facts.mentions import Index, Mention, Prepared
from workup.tasks.conversation.read.sentence.allergies import is_reaction, relation_of, speaks_of_allergy
from workup.tasks.conversation.read.sentence.analysed import Analysed
from workup.tasks.conversation.read.sentence.context import said_of
from workup.tasks.conversation.read.sentence.mention import AFFIRMED, DENIED
from workup.tasks.conversation.read.sentence.orders import SETTING
from workup.tasks.conversation.read.sentence.text import Sentence

_MOST_REMEMBERED = 1_000  # sentences of one case


class Ballot(NamedTuple):
    """What one mention says of a fact; `sentence` and `place` are where it stands in the reply."""

    vote: Vote
    fuzzy: bool
    attribute: str = ""  # that is stated and differs
    stated: bool = False  # an attribute was stated, and agrees
    place: int = -1
    sentence: int = -1
    via: str = ""


_Key = tuple[tuple[str, ...], tuple[str, ...], bool, tuple[str, ...], bool | None]
_Read = list[tuple[int, Ballot]]


class Reader:
    """The facts of a case, looked for in one sentence after the other; a sentence met again is not read again."""

    def __init__(self, prepared: Sequence[Prepared], *, asked: bool = False) -> None:
        self._asked = asked
        self._prepared = prepared
        self._index = Index(prepared)
        self.pairs = self._index.pairs
        self._denials = [denial_of(one.fact.type, one.fact.status) for one in prepared]
        self._allergens = [_allergen(one) for one in prepared]
        self._kinds = frozenset(kind for kind in self._denials if kind)
        self._own_too = _family_and_own(prepared)
        self._remembered: dict[_Key, _Read] = {}

    def read(self, sentence: Sentence, following: Sentence | None) -> _Read:
        """The facts that a sentence speaks of, by their places, with a ballot for each mention."""
        after = ((), None) if following is None else (tuple(following.words), following.question)
        key: _Key = (tuple(sentence.words), sentence.heading, sentence.question, *after)
        known = self._remembered.get(key)
        if known is None:
            known = self._read(sentence, following)
            if len(self._remembered) < _MOST_REMEMBERED:
                self._remembered[key] = known
        return known

    def _read(self, sentence: Sentence, following: Sentence | None) -> _Read:
        words = sentence.words
        found = self._index.find(words, self._index.misspelled(words))
        read: _Read = []
        if found:
            analysed = Analysed(sentence, following)
            read = [(one.fact, self._cast(analysed, one, found)._replace(via=one.name.via)) for one in found]
        if self._kinds and not sentence.question and (may_deny(words) or may_deny(sentence.heading)):
            # An allergen that is named as a drug alone is denied with its kind: "NKDA, so penicillin is fine".
            named = {number for number, one in read if one.vote.reason != "not_as_allergy"}
            for denied in denied_kinds(sentence, self._kinds):
                for number, denial in enumerate(self._denials):
                    if denial != denied.kind or number in named:
                        continue
                    if denied.allergens and self._allergens[number] not in denied.allergens:
                        continue
                    absent = self._prepared[number].fact.status == "absent"
                    reason = "others_denied" if denied.others else "kind_denied"
                    read.append((number, Ballot(Vote(AGREES if absent else CONTRADICTS, reason), False)))
        return read

    def _cast(self, analysed: Analysed, mention: Mention, found: list[Mention]) -> Ballot:
        one = self._prepared[mention.fact]
        kind, status = one.fact.type, one.fact.status
        start, end = mention.start + analysed.shift, mention.end + analysed.shift
        if kind == "allergy" and not mention.name.whole:
            relation = relation_of(analysed, start, end)
            more = frozenset({"negated", "stopped"}) if relation.kind == "avoided" else frozenset()
            core = start if relation.start < start else None
            said = said_of(analysed, relation.start, relation.end, kind, more=more, core=core)
            cast = allergy_vote(said, relation.kind, status)
        else:
            said = said_of(analysed, start, end, kind)
            if mention.name.inverted:
                said = said._replace(polarity=AFFIRMED if said.negated else DENIED)
            cast = vote(said, kind, status, asked=self._asked)
            if kind == "symptom" and speaks_of_allergy(analysed.words) and is_reaction(analysed, start, end):
                cast = Vote(NEITHER, "reaction")
            drug = kind == "medication" and cast.side != NEITHER and not said.ended
            if drug and speaks_of_allergy(analysed.words) and relation_of(analysed, start, end).kind == "allergy":
                cast = Vote(NEITHER, "as_allergy")
        if mention.fact in self._own_too and cast.reason == "of_the_patient":
            cast = Vote(NEITHER, "of_the_patient")  # the case has a fact of the patient's own for that
        if cast.side == NEITHER or not one.wanted.anything:
            return Ballot(cast, mention.fuzzy, place=mention.start)
        others = [
            (other.start + analysed.shift, other.end + analysed.shift)
            for other in found
            if (other.start, other.end) != (mention.start, mention.end)
        ]
        if said.order in SETTING and not self._asked:
            return Ballot(cast, mention.fuzzy, place=mention.start)  # the order gives it a new value
        attribute, stated = differing(one.wanted, analysed, start, end, kind, others)
        if cast.side != AGREES or status == "absent":
            return Ballot(_of_another(cast, attribute), mention.fuzzy, place=mention.start)
        return Ballot(cast, mention.fuzzy, attribute, stated, mention.start)


def _of_another(cast: Vote, attribute: str) -> Vote:
    """What is denied or ended of the other side or another dose is not this fact: "no left knee pain, but right"."""
    if attribute == "laterality" and cast.current:
        return Vote(NEITHER, "other_side")
    if attribute in ("laterality", "dose_value", "dose_unit") and cast.side == CONTRADICTS:
        return cast._replace(side=OPPOSES)
    return cast


def _family_and_own(prepared: Sequence[Prepared]) -> frozenset[int]:
    """Facts of the family whose name is also that of a fact of the patient's own."""
    own = {name.stems for one in prepared if one.fact.status != "family" for name in one.names}
    return frozenset(
        place
        for place, one in enumerate(prepared)
        if one.fact.status == "family" and any(name.stems in own for name in one.names)
    )


def _allergen(one: Prepared) -> str:
    """The kind of allergen of a fact; of "no known drug allergies" the kind that it denies."""
    if one.fact.type != ALLERGY:
        return ""
    return allergen_kind([" ".join(name.words) for name in one.names] + list(one.fact.names))
