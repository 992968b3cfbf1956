"""Transcripts held against the ledger: what became of every fact at every turn. Knows outcomes, no metric.

What was not said, failed or is missing is unscorable with its reason, and never a fact forgotten; neither is what a
reply declines to say, breaks off before, or says in another language. A fact that nobody asked for cannot be omitted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Literal, NamedTuple

from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts import Judged, Matcher, Outcome
from workup.tasks.conversation.read.facts.published_rule import published_outcome
from workup.tasks.conversation.read.facts.reply_outcomes import NamesWanted, Unanswered
from workup.tasks.conversation.read.unanswered import (
    declines,
    in_other_language,
    is_cut,
    is_filtered,
    whole_sentences,
)
from workup.tasks.conversation.talk.transcripts import Probe, Said, slip_turn

MatcherName = Literal["context", "published"]
SCORED = ("correct", "reversed", "wrong_value", "omitted")  # of active facts: what recall and its failures count
REFUSED: Unanswered = "refused"
TRUNCATED: Unanswered = "truncated"
OTHER_LANGUAGE: Unanswered = "other_language"
UNANSWERED = (REFUSED, TRUNCATED, OTHER_LANGUAGE)
NOT_ASKED: Unanswered = "not_asked"
_NO_MENTION = "no_mention"
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
    asked: bool = True  # whether anybody asked for the facts here, so that one left out was forgotten
    foreign: bool = False  # whether the turn's own reply is in another language, so that nothing can be read in it

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
    names: NamesWanted = "lexicon",
    asked: bool | None = None,
) -> Iterator[Held]:
    """A case in every replicate and arm that its lines tell of, in order.

    `runs` are the replicates and arms of the other cases: one of which nothing was recorded counts as not heard in each
    of them, and one that lacks an arm as not heard in that arm. `asked` says whether a turn of which nothing is told
    would have been asked about: whether any was, where it is left out.
    """
    said = list(said)
    if asked is None:
        asked = any(one.probe is not None for one in said)
    lines: dict[tuple[int, str], dict[int, list[Said]]] = {}
    for one in said:
        lines.setdefault((one.replicate, one.arm), {}).setdefault(one.turn, []).append(one)
    judge = _Judge(facts, matcher, names)
    heard = {arm for _, arm in lines}
    first = min((replicate for replicate, _ in lines), default=0)
    due = [(run, arm) for run, arm in runs if slip_turn(arm) is None]  # a case with nothing to slip has no such arm
    wanted = {*lines, *((first, arm) for _, arm in due if arm not in heard)} if lines else {*due}
    for replicate, arm in sorted(wanted):
        by_turn = lines.get((replicate, arm), {})
        left_out = _left_out(lines.get((replicate, "live"), {}))
        due_turns = range(slip_turn(arm) or 1, case.last_turn + 1)
        turns = _told(due_turns, by_turn, judge, live=arm == "live", asked=asked, left_out=left_out)
        yield Held(case, replicate, arm, turns)


def _left_out(by_turn: Mapping[int, list[Said]]) -> frozenset[int]:
    """Turns of a probed conversation that the study asks nothing at: an arm that has no line there lacks none."""
    without = {turn for turn, said in by_turn.items() if all(one.probe is None for one in said)}
    return frozenset(without) if len(without) < len(by_turn) else frozenset()


def _told(
    turns: Iterable[int],
    by_turn: Mapping[int, list[Said]],
    judge: _Judge,
    *,
    live: bool,
    asked: bool,
    left_out: Set[int],
) -> tuple[Told, ...]:
    found = []
    unheard = not by_turn
    for turn in turns:
        said = tuple(by_turn.get(turn, ()))
        probed = any(one.probe is not None for one in said) if said else asked and turn not in left_out
        outcomes: tuple[Judged | None, ...]
        text: str | None
        if not said and turn in left_out:
            outcomes, text = judge.not_asked(), None
        elif said:
            outcomes, text = judge.of(said, turn)
        else:
            outcomes, text = judge.unscorable(_UNHEARD if unheard else _MISSING, turn), None
        reply = said[0].reply if said and live else None
        foreign = reply is not None and in_other_language(reply)
        replied = () if reply is None or foreign else judge.reply(reply, turn)
        found.append(Told(turn, said, outcomes, text, replied, probed, foreign))
    return tuple(found)


class _Judge:
    """The facts of one case made ready, to be looked for in all of its replies."""

    def __init__(self, facts: Sequence[Fact], matcher: MatcherName, names: NamesWanted = "lexicon") -> None:
        self._facts = tuple(facts)
        self._place = {fact.id: place for place, fact in enumerate(self._facts)}
        self._matcher = Matcher(self._facts, names=names)
        self._published = matcher == "published"
        self._kept: tuple[str, int, list[Judged]] = ("", 0, [])  # what was read last: a reply may be what is scored too

    def of(self, said: Sequence[Said], turn: int) -> tuple[tuple[Judged | None, ...], str | None]:
        """Outcomes at a turn: of the summary, of each fact's own question, or of the reply where nothing was asked."""
        probes = [one.probe for one in said if one.probe is not None]
        questions = {probe.fact: probe for probe in probes if probe.kind == "question"}
        summary = next((probe for probe in probes if probe.kind == "summary"), None)
        if questions and summary is None:
            found = list(self._all("not_asked", NOT_ASKED, turn))
            for id, probe in questions.items():
                place = self._place.get(str(id))
                if place is not None and found[place] is not None:
                    found[place] = self._answer(place, probe, turn)
            return tuple(found), None
        answer: Said | Probe = summary or said[0]
        if answer.reply is None:
            return self._silent(answer, turn), None
        judged = self._answered(answer.reply, answer.finish, turn)
        if summary is None:
            judged = [_unasked(one) for one in judged]
        foreign = any(one.outcome == OTHER_LANGUAGE for one in judged)
        return self._in_time(judged, turn), None if foreign else answer.reply

    def _silent(self, answer: Said | Probe, turn: int) -> tuple[Judged | None, ...]:
        """No text at all: withheld by a filter, or failed."""
        if is_filtered(answer.failure) or is_filtered(answer.finish):
            return self._all("refused", "content_filter", turn)
        return self.unscorable(answer.failure or "no_reply", turn)

    def _answered(self, text: str, finish: str, turn: int) -> list[Judged]:
        """What a reply says of each fact; of those that it says nothing of, whether it declined to or was cut off.

        What was said before a cut, or before a filter set in, was said: harm must not vanish with the end of a reply.
        """
        judged = self._read(text, turn)
        if in_other_language(text):
            return [Judged("other_language", None, OTHER_LANGUAGE)] * len(judged)
        named = any(one.reason != _NO_MENTION and one.outcome != "unscorable" for one in judged)
        if is_filtered(finish):
            return [_left_open(one, "refused") for one in judged]
        if not named and declines(text):
            return [Judged("refused", None, "declined") if one.reason == _NO_MENTION else one for one in judged]
        if is_cut(finish):
            return self._cut(judged, text, turn)
        return judged

    def _cut(self, judged: Sequence[Judged], text: str, turn: int) -> list[Judged]:
        """What a reply says that was cut off. In the sentence that breaks off a value may be cut short itself ("5" of
        "50 mg"), so a fact that has one must have been said before it."""
        whole = whole_sentences(text)
        before = self._read(whole, turn) if whole else [None] * len(judged)
        found = []
        for fact, one, earlier in zip(self._facts, judged, before, strict=True):
            sure = (
                one.outcome in ("reversed", "unscorable")
                or not fact.attributes
                or (earlier and earlier.outcome == one.outcome)
            )
            found.append(_left_open(one, "truncated") if sure else Judged("truncated", None, TRUNCATED))
        return found

    def not_asked(self) -> tuple[Judged | None, ...]:
        """Nothing to judge, for nobody asked."""
        return (None,) * len(self._facts)

    def reply(self, text: str, turn: int) -> tuple[Judged | None, ...]:
        """Outcomes of the turn's own reply."""
        return self._in_time(self._read(text, turn), turn)

    def unscorable(self, reason: str, turn: int) -> tuple[Judged | None, ...]:
        """Nothing can be read, and why."""
        return self._all("unscorable", reason, turn)

    def _all(self, outcome: Outcome | Unanswered, reason: str, turn: int) -> tuple[Judged | None, ...]:
        return self._in_time([Judged(outcome, None, reason)] * len(self._facts), turn)

    def _in_time(self, judged: Sequence[Judged], turn: int) -> tuple[Judged | None, ...]:
        return tuple(one if fact.introduced <= turn else None for fact, one in zip(self._facts, judged, strict=True))

    def _read(self, text: str, turn: int) -> list[Judged]:
        if self._kept[:2] != (text, turn):
            self._kept = text, turn, self._read_anew(text, turn)
        return self._kept[2]

    def _read_anew(self, text: str, turn: int) -> list[Judged]:
        if not self._published:
            return self._matcher.judge(text, turn=turn)
        found = []
        for fact in self._facts:
            one = published_outcome(fact, text)
            if fact.over(turn) and one.outcome != "unscorable":
                one = one._replace(outcome="stale" if one.outcome == "correct" else "retired_ok")
            found.append(one)
        return found

    def _answer(self, place: int, probe: Probe, turn: int) -> Judged:
        """The answer to a closed question, in which a bare yes or no speaks of the fact that was asked for."""
        if probe.reply is None:
            silent = self._silent(probe, turn)[place]
            assert silent is not None
            return silent
        one = self._answered(probe.reply, probe.finish, turn)[place]
        if one.reason != _NO_MENTION:
            return one
        yes, no = bool(_YES.match(probe.reply)), bool(_NO.match(probe.reply))
        return _bare(self._facts[place], turn, yes=yes) if yes or no else one


def _left_open(one: Judged, outcome: Unanswered) -> Judged:
    """What a reply said before its end stands; what it did not say is left open."""
    said = one.outcome in ("correct", "reversed", "wrong_value", "stale")
    said |= one.outcome == "retired_ok" and one.reason != _NO_MENTION
    return one if said or one.outcome == "unscorable" else Judged(outcome, None, outcome)


def _unasked(one: Judged) -> Judged:
    """Where nobody asked, silence about a fact says nothing of it."""
    silent = one.outcome in ("omitted", *UNANSWERED) or (one.outcome == "retired_ok" and one.reason == _NO_MENTION)
    return Judged("not_asked", None, NOT_ASKED) if silent and one.outcome != OTHER_LANGUAGE else one


def _bare(fact: Fact, turn: int, *, yes: bool) -> Judged:
    """A yes or no without another word to "does it hold now?": no is right of what is absent, and says no value."""
    if fact.over(turn):
        return Judged("stale" if yes else "retired_ok", 0, "bare_answer")
    if fact.status not in ("present", "absent") or (yes and fact.status == "present" and fact.attributes):
        return Judged("unscorable", None, "bare_answer")
    return Judged("correct" if yes == (fact.status == "present") else "reversed", 0, "bare_answer")
