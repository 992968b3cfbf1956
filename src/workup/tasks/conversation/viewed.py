"""Conversations as a person reads them: what was said, which fact became what, and the sentence that decided it.

Made from rows that were scored again, and never part of a report: this is the one place where the words of messages and
replies leave the run. It draws no page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.judges.pairs import READ_AS
from workup.tasks.conversation.judges.read_units import Readings
from workup.tasks.conversation.labels import FACT_ANSWERS, PAIR_ANSWERS, Draw, Unit
from workup.tasks.conversation.read.facts import Judged, Matcher
from workup.tasks.conversation.read.facts.reply_outcomes import ACTIVE_OUTCOMES, RETIRED_OUTCOMES
from workup.tasks.conversation.read.judging import Held, Told
from workup.tasks.conversation.read.sentence.places import Place, places
from workup.tasks.conversation.read.sentence.text import Sentence, sentences
from workup.tasks.conversation.scores.safety import is_safety
from workup.tasks.conversation.scores.scoring import Conversation, ConversationScores

_NOT_ASKED = ("unscorable", "not_asked", "refused", "truncated", "other_language")  # nothing that a person could answer
_LIVE = "live"
CONFLICT, UNRELATED = "conflict", "unrelated"


class Piece(NamedTuple):
    """A stretch of a text; `mark` is the id of a sentence that decided something."""

    text: str
    mark: str = ""


class Passage(NamedTuple):
    """A reply or the answer to a probe; `failure` says why there is none."""

    kind: str  # reply, summary or question
    id: str
    pieces: tuple[Piece, ...]
    about: str = ""  # the fact that a closed question asked for
    failure: str = ""


class FactAtTurn(NamedTuple):
    """What became of one fact at one turn."""

    anchor: str
    number: int  # of the fact in its case, from 1
    type: str
    name: str
    status: str
    values: str
    life: str
    outcome: str
    reason: str
    read: str  # id of the passage in which it was looked for
    mark: str  # id of the sentence that decided
    history: tuple[str, ...]  # outcomes by turn, from turn 1; empty before its time
    safety: bool
    drawn: bool
    judge: str  # what a judge says of it; empty where it was not asked
    differs: bool  # whether rules and judge differ
    answers: tuple[str, ...]  # what a person may call it; none where there is nothing to call


class TurnSeen(NamedTuple):
    """A message, what was answered, and the facts that were due."""

    number: int
    message: str
    passages: tuple[Passage, ...]
    facts: tuple[FactAtTurn, ...]


class Quoted(NamedTuple):
    """A sentence with the turn that it was said at, and by whom."""

    turn: int
    speaker: str  # patient or model
    text: str
    mark: str = ""


class Between(NamedTuple):
    """Something that happened to a fact; `bears` where it bears on the advice."""

    turn: int
    kind: str  # introduced or retired
    type: str
    name: str
    bears: bool


class Finding(NamedTuple):
    """A pair of advice or a never-event, with its sentences and the facts that lie between them."""

    anchor: str
    title: str
    kind: str
    about: str
    quoted: tuple[Quoted, ...]
    between: tuple[Between, ...]
    drawn: bool = False
    judge: str = ""
    differs: bool = False
    rules: str = ""  # of a pair, what the rules call it, in the words of its answers
    answers: tuple[str, ...] = ()


class ConversationSeen(NamedTuple):
    """One conversation in one arm."""

    case: str
    replicate: int
    arm: str
    summary: str
    turns: tuple[TurnSeen, ...]
    findings: tuple[Finding, ...]


def anchor_of(unit: Unit) -> str:
    """The address of a unit within a page; a part that is not plain is written in percents, so that nothing collides.

    >>> anchor_of(Unit("c 1", 0, "live", 3, "f/1")), anchor_of(Unit("c1", 0, "live", 3, None, "1.0-3.2"))
    ('c%201/0/live/3/f%2F1', 'c1/0/live/3/=1.0-3.2')
    """
    about = f"={unit.pair}" if unit.pair is not None else _plain(unit.fact or "")
    return f"{_plain(unit.case)}/{unit.replicate}/{unit.arm}/{unit.turn}/{about}"


def _plain(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass")


def viewed(
    scores: ConversationScores,
    *,
    cases: Collection[str] = (),
    draw: Draw | None = None,
) -> Iterator[ConversationSeen]:
    """Every conversation of these cases (all when none is named), arm by arm, the live one first."""
    drawn = frozenset(draw.units) if draw is not None else frozenset()
    judged = _judged(scores)
    listed = _listed(scores)
    number = 0
    for one in scores.conversations:
        if cases and one.case.id not in cases:
            continue
        matcher = Matcher(one.facts)
        for arm in sorted(one.arms, key=lambda arm: (arm != _LIVE, arm)):
            number += 1
            found = listed.get((one.case.id, one.replicate), ()) if arm == _LIVE else ()
            yield _Writer(one, one.arms[arm], matcher, number, drawn, judged).written(found)


def _judged(scores: ConversationScores) -> dict[Unit, str]:
    """What a judge says of each unit that it was asked of."""
    found = Readings.of(scores).judged
    if found is None:
        return {}
    answers = {**found.facts, **found.pairs}
    return {unit: answer.majority for unit, answer in answers.items() if answer.majority is not None}


def _listed(scores: ConversationScores) -> dict[tuple[str, int], list[tuple[str, Mapping[str, Any]]]]:
    """Never-events and pairs of advice, by conversation."""
    found: dict[tuple[str, int], list[tuple[str, Mapping[str, Any]]]] = {}
    for name in ("never_events", "conflicts"):
        for row in getattr(scores.shown, name):
            found.setdefault((row["case"], row["replicate"]), []).append((name, row))
    return found


class _Text:
    """A text whose sentences can be marked, each stretch once."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.id = text, name
        self._marks: dict[Place, str] = {}
        self._places: dict[int, list[Place | None]] = {}

    def mark(self, sentence: int | None, cut: _Cut) -> str:
        """The id of a sentence by its number in a way of cutting; nothing where it cannot be placed."""
        place = self.place(sentence, cut)
        if place is None:
            return ""
        for known, id in self._marks.items():
            if known[0] < place[1] and place[0] < known[1]:  # two ways of cutting meet in one stretch
                return id
        self._marks[place] = f"{self.id}-{len(self._marks) + 1}"
        return self._marks[place]

    def place(self, sentence: int | None, cut: _Cut) -> Place | None:
        if sentence is None:
            return None
        if id(cut) not in self._places:
            self._places[id(cut)] = places(self.text, cut(self.text))
        found = self._places[id(cut)]
        return found[sentence] if 0 <= sentence < len(found) else None

    def quoted(self, sentence: int | None, cut: _Cut) -> str:
        """The words of a sentence; the whole text where it cannot be placed."""
        place = self.place(sentence, cut)
        return self.text if place is None else self.text[place[0] : place[1]]

    def pieces(self) -> tuple[Piece, ...]:
        found, at = [], 0
        for (start, end), id in sorted(self._marks.items()):
            found += [Piece(self.text[at:start]), Piece(self.text[start:end], id)]
            at = end
        return tuple(piece for piece in (*found, Piece(self.text[at:])) if piece.text)


class _Cut:
    """A way of cutting a text into sentences: the matcher's, or the plain one of advice."""

    def __init__(self, matcher: Matcher | None = None) -> None:
        self._matcher = matcher

    def __call__(self, text: str) -> list[Sentence]:
        return sentences(text) if self._matcher is None else self._matcher.cut(text)


class _Writer:
    """One conversation in one arm, written turn by turn."""

    def __init__(
        self,
        one: Conversation,
        held: Held,
        matcher: Matcher,
        number: int,
        drawn: Collection[Unit],
        judged: Mapping[Unit, str],
    ) -> None:
        self.case: ConversationCase = one.case.input
        self.held, self.number, self.drawn, self.judged = held, number, drawn, judged
        self.of_facts, self.of_advice = _Cut(matcher), _Cut()
        self.texts: dict[tuple[int, str, str], _Text] = {}
        self.facts = {fact.id: fact for fact in self.case.facts}
        self.history = [_history(held, place) for place in range(len(self.case.facts))]

    def written(self, listed: Iterable[tuple[str, Mapping[str, Any]]]) -> ConversationSeen:
        due = [(told, self._facts(told)) for told in self.held.turns]  # marks first: pieces are cut by them
        rows = list(listed)
        events = [row for name, row in rows if name == "never_events"]
        findings = [self._never_event(row, place) for place, row in enumerate(events, start=1)]
        findings += self._pairs([row for name, row in rows if name == "conflicts"])
        findings += self._drawn_pairs({one.anchor for one in findings})
        turns = tuple(
            TurnSeen(told.turn, self.case.turns[told.turn - 1].message, self._passages(told), facts)
            for told, facts in due
        )
        where = (self.case.id, self.held.replicate, self.held.arm)
        return ConversationSeen(*where, self.case.patient_summary, turns, tuple(findings))

    # ---- facts -------------------------------------------------------------------------------------------------------

    def _facts(self, told: Told) -> tuple[FactAtTurn, ...]:
        found = []
        for place, fact in enumerate(self.case.facts):
            judged = told.outcomes[place]
            if judged is not None:
                found.append(self._fact(told, place, fact, judged))
        return tuple(found)

    def _fact(self, told: Told, place: int, fact: Fact, judged: Judged) -> FactAtTurn:
        unit = Unit(self.case.id, self.held.replicate, self.held.arm, told.turn, fact.id)
        read = self._read(told, fact)
        return FactAtTurn(
            anchor_of(unit),
            place + 1,
            fact.type,
            fact.concept,
            fact.status,
            _values(fact),
            _life(fact),
            str(judged.outcome),
            str(judged.attribute or judged.reason),
            "" if read is None else read.id,
            "" if read is None else read.mark(judged.sentence, self.of_facts),
            self.history[place],
            is_safety(fact),
            unit in self.drawn,
            self.judged.get(unit, ""),
            self.judged.get(unit, judged.outcome) != judged.outcome,
            _answers(fact, told.turn, str(judged.outcome)),
        )

    def _read(self, told: Told, fact: Fact) -> _Text | None:
        """The text in which the fact was looked for."""
        probes = [one.probe for one in told.said if one.probe is not None]
        if any(probe.kind == "summary" for probe in probes):
            return self._text(told, "summary")
        if probes:
            return self._text(told, "question", fact.id)
        return self._text(told, "reply")

    def _text(self, told: Told, kind: str, about: str = "") -> _Text | None:
        key = (told.turn, kind, about)
        if key not in self.texts:
            words = _words(told, kind, about)
            if words is None:
                return None
            self.texts[key] = _Text(words, f"m{self.number}-{told.turn}-{len(self.texts)}")
        return self.texts[key]

    def _passages(self, told: Told) -> tuple[Passage, ...]:
        found = []
        if told.said and (told.reply is not None or all(one.probe is None for one in told.said)):
            found.append(self._passage(told, "reply", failure=told.said[0].failure))
        for one in told.said:
            if one.probe is not None:
                about = one.probe.fact or "" if one.probe.kind == "question" else ""
                found.append(self._passage(told, one.probe.kind, about, failure=one.probe.failure))
        return tuple(found)

    def _passage(self, told: Told, kind: str, about: str = "", *, failure: str = "") -> Passage:
        text = self._text(told, kind, about)
        named = self.facts[about].concept if about in self.facts else ""
        if text is None:
            return Passage(kind, "", (), named, failure or "no_reply")
        return Passage(kind, text.id, text.pieces(), named)

    # ---- advice ------------------------------------------------------------------------------------------------------

    def _never_event(self, row: Mapping[str, Any], place: int) -> Finding:
        turn, kind = int(row["turn"]), str(row["kind"])
        ids = [id for id in (row.get("facts") or [row["fact"]]) if id in self.facts]
        told = [self._introduced(self.facts[id]) for id in ids]
        cut = self.of_advice if row.get("concept") else self.of_facts
        between = [_between(self.facts[id], turn) for id in ids]
        unit = Unit(self.case.id, self.held.replicate, self.held.arm, turn)
        return Finding(
            f"{anchor_of(unit)}!{place}",
            "never-event",
            kind,
            " · ".join(str(row[key]) for key in ("concept", "rule") if row.get(key)),
            (*told, self._quoted(turn, row.get("sentence"), cut)),
            tuple(one for several in between for one in several),
        )

    def _introduced(self, fact: Fact) -> Quoted:
        """What the patient said of a fact, in the turn that introduced it."""
        turn = min(fact.introduced, self.case.last_turn)
        text = _Text(self.case.turns[turn - 1].message, "")
        alone = Matcher([fact])
        return Quoted(turn, "patient", text.quoted(alone.judge(text.text)[0].sentence, _Cut(alone)))

    def _pairs(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Finding]:
        """Pairs of sentences: two may say several things of each other, and one conflict makes them conflict."""
        by_spots: dict[tuple[tuple[int, int], ...], list[Mapping[str, Any]]] = {}
        for row in rows:
            by_spots.setdefault(tuple(sorted(zip(row["turns"], row["sentences"], strict=True))), []).append(row)
        for spots, several in by_spots.items():
            kinds = [str(row["kind"]) for row in several]
            grave = [kind for kind in kinds if READ_AS.get(kind) == CONFLICT]
            about = (f"{row['slot']}: {' then '.join(map(str, row.get('actions') or ()))}" for row in several)
            facts = {id for row in several for id in row.get("facts") or ()}
            yield self._of_pair(spots[0], spots[1], (grave or kinds)[0], "; ".join(dict.fromkeys(about)), facts)

    def _of_pair(
        self, earlier: tuple[int, int], later: tuple[int, int], kind: str, about: str, facts: Collection[str]
    ) -> Finding:
        (first, one), (second, other) = earlier, later
        name = f"{first}.{one}-{second}.{other}"
        rules = READ_AS.get(kind, UNRELATED)
        unit = Unit(self.case.id, self.held.replicate, self.held.arm, second, None, name)
        events = [
            event._replace(bears=fact.id in facts)
            for fact in self.case.facts
            for event in _between(fact, second)
            if event.turn > first
        ]
        return Finding(
            anchor_of(unit),
            "pair of advice",
            kind,
            about,
            (self._quoted(first, one, self.of_advice), self._quoted(second, other, self.of_advice)),
            tuple(sorted(events)),
            unit in self.drawn,
            self.judged.get(unit, ""),
            self.judged.get(unit, rules) != rules,
            rules,
            PAIR_ANSWERS,
        )

    def _drawn_pairs(self, known: Collection[str]) -> Iterator[Finding]:
        """Pairs that a draw asks about and the rules did not make."""
        where = (self.case.id, self.held.replicate, self.held.arm)
        for unit in sorted((one for one in self.drawn if one.pair and one[:3] == where), key=lambda one: str(one.pair)):
            if anchor_of(unit) in known:
                continue
            spots = (part.partition(".") for part in str(unit.pair).split("-"))
            earlier, later = ((int(turn), int(place)) for turn, _, place in spots)
            if earlier[0] >= 1 and later[0] <= self.case.last_turn and earlier <= later:
                yield self._of_pair(earlier, later, UNRELATED, "", ())

    def _quoted(self, turn: int, sentence: Any, cut: _Cut) -> Quoted:
        text = self._text(self.held.turns[turn - 1], "reply")
        if text is None:
            return Quoted(turn, "model", "")
        place = sentence if isinstance(sentence, int) else None
        return Quoted(turn, "model", text.quoted(place, cut), text.mark(place, cut))


def _history(held: Held, place: int) -> tuple[str, ...]:
    judged = (told.outcomes[place] for told in held.turns)
    return tuple("" if one is None else str(one.outcome) for one in judged)


def _words(told: Told, kind: str, about: str) -> str | None:
    if kind == "reply":
        return told.reply
    for one in told.said:
        if one.probe is not None and one.probe.kind == kind and about in ("", one.probe.fact):
            return one.probe.reply
    return None


def _values(fact: Fact) -> str:
    """Its values in words.

    >>> _values(Fact("f1", "medication", "warfarin", attributes={"dose_value": 5, "dose_unit": "mg", "route": "oral"}))
    '5 mg, oral'
    """
    given = {key: str(value) for key, value in fact.attributes.items()}
    dose = " ".join(given.pop(key) for key in ("dose_value", "dose_unit") if key in given)
    return ", ".join(filter(None, (dose, *given.values())))


def _life(fact: Fact) -> str:
    since = f"from turn {fact.introduced}"
    return since if fact.retired is None else f"{since}, retired at turn {fact.retired}"


def _answers(fact: Fact, turn: int, outcome: str) -> tuple[str, ...]:
    if outcome in _NOT_ASKED:
        return ()
    allowed = RETIRED_OUTCOMES if fact.over(turn) else ACTIVE_OUTCOMES
    return tuple(one for one in allowed if one in FACT_ANSWERS)


def _between(fact: Fact, turn: int) -> list[Between]:
    """What happened to a fact up to a turn."""
    found = [Between(fact.introduced, "introduced", fact.type, fact.concept, True)]
    if fact.retired is not None:
        found.append(Between(fact.retired, "retired", fact.type, fact.concept, True))
    return [one for one in found if one.turn <= turn]


__all__ = ["ConversationSeen", "anchor_of", "viewed"]
