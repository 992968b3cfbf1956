"""Transcripts held against the ledger: what became of every fact at every turn. Knows outcomes, no metric.

What was not said, failed or is missing is unscorable with its reason, and never a fact forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts import Judged, Matcher
from workup.tasks.conversation.read.facts.published_rule import published_outcome
from workup.tasks.conversation.talk.transcripts import Said, slip_turn

MatcherName = Literal["context", "published"]
_MISSING = "missing_turn"
_UNHEARD = "no_transcript"
_YES = re.compile(r"\W*(yes|yeah|correct|that is (right|correct)|that's (right|correct))\b", re.IGNORECASE)
_NO = re.compile(r"\W*(no|nope|not correct|that is (wrong|incorrect)|that's (wrong|incorrect))\b", re.IGNORECASE)


class Told(NamedTuple):
    """One turn of a conversation: the lines that tell it, and the outcome of each fact (None before its time)."""

    turn: int
    said: tuple[Said, ...]  # several where closed questions were asked; none where the turn is missing
    outcomes: tuple[Judged | None, ...]
    text: str | None  # the reply or summary that was read, where it was one
    replied: tuple[Judged | None, ...] = ()  # what the turn's own reply says of each fact, in the live arm

    @property
    def reply(self) -> str | None:
        """What the model answered to the turn's message."""
        return self.said[0].reply if self.said else None


class Held(NamedTuple):
    """One conversation, held once: its turns in one arm."""

    case: ConversationCase
    replicate: int
    arm: str
    turns: tuple[Told, ...]


def held_of(
    case: ConversationCase,
    said: Iterable[Said],
    *,
    facts: Sequence[Fact],
    runs: Sequence[tuple[int, str]] = (),
    matcher: MatcherName = "context",
) -> Iterator[Held]:
    """A case in every replicate and arm that its lines tell of, in order.

    `runs` are the replicates and arms of the other cases: one of which nothing was recorded counts as not heard in each
    of them, and one that lacks an arm as not heard in that arm.
    """
    lines: dict[tuple[int, str], dict[int, list[Said]]] = {}
    for one in said:
        lines.setdefault((one.replicate, one.arm), {}).setdefault(one.turn, []).append(one)
    judge = _Judge(facts, matcher)
    heard = {arm for _, arm in lines}
    first = min((replicate for replicate, _ in lines), default=0)
    due = [(run, arm) for run, arm in runs if slip_turn(arm) is None]  # a case with nothing to slip has no such arm
    wanted = {*lines, *((first, arm) for _, arm in due if arm not in heard)} if lines else {*due}
    for replicate, arm in sorted(wanted):
        by_turn = lines.get((replicate, arm), {})
        turns = range(slip_turn(arm) or 1, case.last_turn + 1)
        yield Held(case, replicate, arm, _told(turns, by_turn, judge, live=arm == "live", unheard=not by_turn))


def _told(
    turns: Iterable[int], by_turn: Mapping[int, list[Said]], judge: _Judge, *, live: bool, unheard: bool
) -> tuple[Told, ...]:
    found = []
    for turn in turns:
        said = tuple(by_turn.get(turn, ()))
        if said:
            outcomes, text = judge.of(said, turn)
        else:
            outcomes, text = judge.unscorable(_UNHEARD if unheard else _MISSING, turn), None
        reply = said[0].reply if said and live else None
        replied = () if reply is None else outcomes if reply == text else judge.reply(reply, turn)
        found.append(Told(turn, said, outcomes, text, replied))
    return tuple(found)


class _Judge:
    """The facts of one case made ready, to be looked for in all of its replies."""

    def __init__(self, facts: Sequence[Fact], matcher: MatcherName) -> None:
        self._facts = tuple(facts)
        self._place = {fact.id: place for place, fact in enumerate(self._facts)}
        self._matcher = Matcher(self._facts)
        self._published = matcher == "published"

    def of(self, said: Sequence[Said], turn: int) -> tuple[tuple[Judged | None, ...], str | None]:
        """Outcomes at a turn: of the summary, of each fact's own question, or of the reply where nothing was asked."""
        probes = [one.probe for one in said if one.probe is not None]
        questions = {probe.fact: probe for probe in probes if probe.kind == "question"}
        summary = next((probe for probe in probes if probe.kind == "summary"), None)
        if questions and summary is None:
            found = list(self.unscorable("not_asked", turn))
            for id, probe in questions.items():
                place = self._place.get(str(id))
                if place is not None and found[place] is not None:
                    found[place] = self._answer(place, probe.reply, probe.failure, turn)
            return tuple(found), None
        text, failure = (summary.reply, summary.failure) if summary else (said[0].reply, said[0].failure)
        if text is None:
            return self.unscorable(failure or "no_reply", turn), None
        return self._in_time(self._read(text, turn), turn), text

    def reply(self, text: str, turn: int) -> tuple[Judged | None, ...]:
        """Outcomes of the turn's own reply."""
        return self._in_time(self._read(text, turn), turn)

    def unscorable(self, reason: str, turn: int) -> tuple[Judged | None, ...]:
        """Nothing can be read, and why."""
        return self._in_time([Judged("unscorable", None, reason)] * len(self._facts), turn)

    def _in_time(self, judged: Sequence[Judged], turn: int) -> tuple[Judged | None, ...]:
        return tuple(one if fact.introduced <= turn else None for fact, one in zip(self._facts, judged, strict=True))

    def _read(self, text: str, turn: int) -> list[Judged]:
        if not self._published:
            return self._matcher.judge(text, turn=turn)
        found = []
        for fact in self._facts:
            one = published_outcome(fact, text)
            if fact.over(turn) and one.outcome != "unscorable":
                one = one._replace(outcome="stale" if one.outcome == "correct" else "retired_ok")
            found.append(one)
        return found

    def _answer(self, place: int, reply: str | None, failure: str, turn: int) -> Judged:
        """The answer to a closed question, in which a bare yes or no speaks of the fact that was asked for."""
        if reply is None:
            return Judged("unscorable", None, failure or "no_reply")
        one = self._read(reply, turn)[place]
        if one.reason != "no_mention":
            return one
        yes, no = bool(_YES.match(reply)), bool(_NO.match(reply))
        return _bare(self._facts[place], turn, yes=yes) if yes or no else one


def _bare(fact: Fact, turn: int, *, yes: bool) -> Judged:
    """A yes or no without another word to "does it hold now?": no is right of what is absent, and says no value."""
    if fact.over(turn):
        return Judged("stale" if yes else "retired_ok", 0, "bare_answer")
    if fact.status not in ("present", "absent") or (yes and fact.status == "present" and fact.attributes):
        return Judged("unscorable", None, "bare_answer")
    return Judged("correct" if yes == (fact.status == "present") else "reversed", 0, "bare_answer")
