"""What a reply says of each fact: correct, reversed, wrong_value, omitted; of retired facts retired_ok or stale.

Rules and lists, no model: the same reply has the same outcome on every machine. Its measured error is in `probes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, get_args

from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts.mention_rules import AGREES, CONTRADICTS, OPPOSES
from workup.tasks.conversation.read.facts.mention_verdicts import Ballot, Reader
from workup.tasks.conversation.read.facts.mentions import Prepared, prepare_facts
from workup.tasks.conversation.read.sentence.allergies import speaks_of_allergy
from workup.tasks.conversation.read.sentence.folding import without_reasoning
from workup.tasks.conversation.read.sentence.text import Sentence, sentences

Outcome = Literal["correct", "reversed", "wrong_value", "omitted", "retired_ok", "stale", "unscorable"]
NamesWanted = Literal["lexicon", "given"]
# Of a reply that is no answer to what was asked, and of a fact that nobody asked for; a matcher gives none of them.
Unanswered = Literal["refused", "truncated", "other_language", "not_asked"]
OUTCOMES: tuple[str, ...] = get_args(Outcome)
ACTIVE_OUTCOMES = ("correct", "reversed", "wrong_value", "omitted", "unscorable")
RETIRED_OUTCOMES = ("retired_ok", "stale", "unscorable")


class Judged(NamedTuple):
    """The outcome of one fact in one reply. `sentence` is the place of the sentence that decided, never its text."""

    outcome: Outcome | Unanswered
    sentence: int | None
    reason: str
    attribute: str | None = None
    fuzzy: bool = False
    via: str = ""  # by which kind of name it was met: concept, alias, synonym, brand, abbreviation
    flag: str = ""  # self_contradiction


_MOST_MENTIONS = 200  # of one fact in one reply; a model that repeats itself more often has said it
_KINDS_DENIED = ("kind_denied", "others_denied")
_UNMENTIONED = Judged("omitted", None, "no_mention")


class Matcher:
    """The facts of a case prepared once, to be judged in any number of replies.

    Facts are met by brands and synonyms too; with `names="given"` only by those that the case gives. With `asked`
    orders count for what they ask for, as plans are read: "stop warfarin" then ends warfarin.

    >>> matcher = Matcher([Fact("f1", "allergy", "penicillin"), Fact("f2", "symptom", "chest pain", status="absent")])
    >>> [judged.outcome for judged in matcher.judge("Allergic to penicillin, denies chest pain.")]
    ['correct', 'correct']
    """

    def __init__(self, facts: Iterable[Fact], *, asked: bool = False, names: NamesWanted = "lexicon") -> None:
        self.facts: tuple[Fact, ...] = tuple(facts)
        self._prepared: tuple[Prepared, ...] = prepare_facts(self.facts, lexicon=names == "lexicon")
        self._reader = Reader(self._prepared, asked=asked)
        self._replaced = _replaced_by_namesakes(self._prepared)

    def judge(self, reply: str | None, *, turn: int | None = None) -> list[Judged]:
        """The outcome of every fact, in the order of the facts."""
        reason = _unreadable(reply)
        if reason:
            return [Judged("unscorable", None, reason)] * len(self.facts)
        cut = self.cut(reply or "")
        if not any(word[0].isalnum() for sentence in cut for word in sentence.words):  # stops at the first word
            return [Judged("unscorable", None, "no_words")] * len(self.facts)
        ballots = self._ballots(cut)
        return [self._outcome(place, ballots, turn) for place in range(len(self.facts))]

    def cut(self, reply: str) -> list[Sentence]:
        """The sentences of a reply as they are counted in `Judged.sentence`."""
        return sentences(reply, pairs=self._reader.pairs)

    def _ballots(self, cut: Sequence[Sentence]) -> list[list[Ballot]]:
        ballots: list[list[Ballot]] = [[] for _ in self.facts]
        last = len(cut) - 1
        for place, sentence in enumerate(cut):
            for number, ballot in self._reader.read(sentence, cut[place + 1] if place < last else None):
                if len(ballots[number]) < _MOST_MENTIONS:
                    ballots[number].append(ballot._replace(sentence=place))
        named = sum(speaks_of_allergy(sentence.words) for sentence in cut) > 1
        for place, cast in enumerate(ballots):
            # "No other allergies" denies nothing that the reply names, and says nothing where it names none.
            kept = [one for one in cast if one.vote.reason != "others_denied"]
            if len(kept) < len(cast) and (kept or not named):
                ballots[place] = kept
        return ballots

    def _outcome(self, place: int, ballots: list[list[Ballot]], turn: int | None) -> Judged:
        fact = self.facts[place]
        if turn is not None and turn < fact.introduced:
            return Judged("unscorable", None, "not_yet_introduced")
        if turn is not None and fact.over(turn):
            namesakes = [
                number
                for number, other in enumerate(self.facts)
                if other.type == fact.type and other.active(turn) and ballots[number]
            ]
            right = {(one.sentence, one.place) for number in namesakes for one in ballots[number] if _is_right(one)}
            return _of_retired(ballots[place], namesake=place in self._replaced, right=right)
        return _of_active(ballots[place])


def _is_right(ballot: Ballot) -> bool:
    return ballot.vote.side == AGREES and not ballot.attribute


def _unreadable(reply: object) -> str:
    if reply is None:
        return "no_reply"
    if not isinstance(reply, str):
        return "no_text"
    if not reply.strip():
        return "empty_reply"
    return "" if without_reasoning(reply).strip() else "only_reasoning"


def _replaced_by_namesakes(prepared: Sequence[Prepared]) -> frozenset[int]:
    """Facts superseded by one of the same name: "warfarin" without a dose then speaks of the new one."""
    places = {one.fact.id: place for place, one in enumerate(prepared)}
    found = set()
    for place, one in enumerate(prepared):
        successor = places.get(one.fact.superseded_by or "")
        if successor is not None:
            names = {name.stems for name in one.names} & {name.stems for name in prepared[successor].names}
            if names:
                found.add(place)
    return frozenset(found)


def _of_active(ballots: list[Ballot]) -> Judged:
    """Reversed if any current assertion contradicts, else wrong_value if one differs, else correct if any agrees."""
    if not ballots:
        return _UNMENTIONED
    agreeing = [one for one in ballots if one.vote.side == AGREES]
    for outcome, chosen in (
        ("reversed", [one for one in ballots if one.vote.side == CONTRADICTS]),
        ("wrong_value", [one for one in agreeing if one.attribute]),
        ("correct", agreeing),
        ("reversed", [one for one in ballots if one.vote.side == OPPOSES]),
    ):
        if chosen:
            judged = _judged(outcome, chosen)  # type: ignore[arg-type]
            both = outcome == "reversed" and agreeing and judged.reason in _KINDS_DENIED
            return judged._replace(flag="self_contradiction") if both else judged
    return Judged("omitted", ballots[0].sentence, ballots[0].vote.reason, None, ballots[0].fuzzy, ballots[0].via)


def _judged(outcome: Outcome, chosen: list[Ballot]) -> Judged:
    # An exact mention decides before a misspelled one, so that the flag is raised only where it matters.
    first = next((one for one in chosen if not one.fuzzy), chosen[0])
    reason = "value_differs" if outcome == "wrong_value" else first.vote.reason
    attribute = first.attribute or None if outcome == "wrong_value" else None
    return Judged(outcome, first.sentence, reason, attribute, first.fuzzy, first.via)


def _of_retired(ballots: list[Ballot], *, namesake: bool, right: set[tuple[int, int]]) -> Judged:
    """Stale if the reply still says it of now, with no other value; where a namesake took its place, its value too.

    `right` are the places where the reply is right of a fact that holds now (10 mg, 20 mg, and 10 mg again).
    """
    stale = [
        one
        for one in ballots
        if _is_right(one)
        and one.vote.current
        and (one.stated or not namesake)
        and (one.sentence, one.place) not in right
    ]
    if stale:
        return _judged("stale", stale)
    if ballots:
        return Judged("retired_ok", ballots[0].sentence, ballots[0].vote.reason, None, ballots[0].fuzzy, ballots[0].via)
    return Judged("retired_ok", None, "no_mention")


def outcomes(facts: Iterable[Fact] | Matcher, reply: str | None, *, turn: int | None = None) -> list[Judged]:
    """The outcome of every fact in one reply. Give a `Matcher` where there are several replies to one case.

    >>> facts = [Fact("f1", "medication", "warfarin", attributes={"dose_value": 5, "dose_unit": "mg"})]
    >>> outcomes(facts, "She takes Coumadin 50 mg daily.")[0][:6]
    ('wrong_value', 0, 'value_differs', 'dose_value', False, 'brand')
    """
    matcher = facts if isinstance(facts, Matcher) else Matcher(facts)
    return matcher.judge(reply, turn=turn)


def outcome_of(fact: Fact, reply: str | None, *, turn: int | None = None) -> Judged:
    """The outcome of one fact in one reply. Without a turn the fact counts as active.

    >>> asthma = Fact("f1", "diagnosis", "asthma", retired=5)
    >>> outcome_of(asthma, "No change in her asthma.").outcome, outcome_of(asthma, "She has asthma.", turn=6).outcome
    ('correct', 'stale')
    """
    return Matcher([fact]).judge(reply, turn=turn)[0]
