"""Traps into which published scorers of conversations have fallen, each with what a sound one answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workup.gates import Gate, judge
from workup.task import Reply
from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.read.content import plan_score, published_alignment
from workup.tasks.conversation.scripted.behaviours import Behaviour, behaviour
from workup.tasks.conversation.scripted.cases import small_cases
from workup.tasks.conversation.scripted.model import Scripted
from workup.tasks.conversation.scripted.plan import Plan
from workup.tasks.conversation.scripted.recording import transcripts
from workup.tasks.conversation.scripted.scored import Scored
from workup.tasks.conversation.settings import ConversationPart
from workup.tasks.conversation.talk import converse
from workup.tasks.conversation.talk.prompts import summary_probe
from workup.tasks.selftests import Check

_EXACT = 1e-12


def _near(name: str, expected: float, observed: float) -> Check:
    return Check(name, f"{expected:.6g}", f"{observed:.6g}", bool(abs(observed - expected) <= _EXACT))


def _is(name: str, expected: object, observed: object) -> Check:
    return Check(name, str(expected), str(observed), expected == observed)


# ---- the run ---------------------------------------------------------------------------------------------------------


class Overheard:
    """A scripted model that keeps what it is sent, and fails at the calls of some turns."""

    name, version = "overheard", "1"

    def __init__(self, model: Scripted, *, fails_at: int | None = None) -> None:
        self.model, self.fails_at = model, fails_at
        self.sent: list[list[dict[str, str]]] = []

    def reply(self, messages: Sequence[Mapping[str, str]], *, seed: int = 0) -> Reply:
        """As the model answers; a failure at the turn that fails."""
        self.sent.append([dict(message) for message in messages])
        asked = sum(message["role"] == "user" for message in messages)
        if self.fails_at == asked and not messages[-1]["content"].startswith(_PROBE):
            return Reply(None, failure="timeout")
        return self.model.reply(messages, seed=seed)


class Kept:
    """A log of calls in memory."""

    def __init__(self) -> None:
        self.records: dict[str, Any] = {}

    def known(self) -> Mapping[str, Any]:
        """What was recorded so far."""
        return dict(self.records)

    def append(self, outputs: Mapping[str, Any]) -> None:
        """Record some more."""
        self.records |= outputs


_PROBE = summary_probe(300).partition(",")[0]


def _held(model: Overheard, cases: Sequence[ConversationCase], log: Kept | None = None) -> Any:
    settings = ConversationPart(arms=("live",), probe="summary")
    return converse(lambda: model, cases, settings, seed=0, log=log or Kept())


def _probes_leave_no_trace(seed: int) -> Iterator[Check]:
    cases = small_cases(1)
    model = Overheard(Scripted(behaviour("perfect"), cases))
    _held(model, cases)
    probes = [sent for sent in model.sent if sent[-1]["content"].startswith(_PROBE)]
    live = [sent for sent in model.sent if not sent[-1]["content"].startswith(_PROBE)]
    yield _is("a probe at every turn", 10, len(probes))
    asked_before = sum(message["content"].startswith(_PROBE) for sent in model.sent for message in sent[:-1])
    yield _is("probes in a history", 0, asked_before)
    yield _is("user messages of the live calls", list(range(1, 11)), [_of(sent, "user") for sent in live])
    own = [_of(sent, "assistant") for sent in probes]
    yield _is("own replies that a probe is asked behind", list(range(1, 11)), own)


def _of(sent: Sequence[Mapping[str, str]], role: str) -> int:
    return sum(message["role"] == role for message in sent)


def _failure_spoils_what_follows(seed: int) -> Iterator[Check]:
    """Turns held after one that failed belong to another conversation, and are held anew once it is there."""
    cases, log = small_cases(1), Kept()
    model = Scripted(behaviour("perfect"), cases)
    broken = _held(Overheard(model, fails_at=4), cases, log)
    yield _is("turns with a reply", [1, 2, 3], [said.turn for said in broken.said if said.reply is not None])
    again = Overheard(model)
    whole = _held(again, cases, log)
    yield _is("turns with a reply after all", 10, sum(said.reply is not None for said in whole.said))
    asked = sorted(_of(sent, "user") for sent in again.sent if not sent[-1]["content"].startswith(_PROBE))
    yield _is("turns asked again", list(range(4, 11)), asked)


# ---- the facts -------------------------------------------------------------------------------------------------------


def _retired_is_not_forgotten(seed: int) -> Iterator[Check]:
    cases = small_cases(4)
    seen = Scored(cases, transcripts(behaviour("perfect"), cases))
    yield _near("recall after a drug was stopped", 1.0, seen.value("recall", turn=10))
    yield _near("stale facts of a model that keeps up", 0.0, seen.value("stale_rate"))


_LOOK_ALIKES = (
    ("penicillin V is no allergy", "penicillin", "We started penicillin V.", "omitted"),
    ("the allergy itself", "penicillin", "She is allergic to penicillin.", "correct"),
    ("50 mg is not 5 mg", "warfarin", "She takes warfarin 50 mg once daily.", "wrong_value"),
    ("5 mg is", "warfarin", "She takes warfarin 5 mg once daily.", "correct"),
    ("a denial is not a mention", "asthma", "She does not have asthma.", "reversed"),
)


def _look_alikes(seed: int) -> Iterator[Check]:
    cases = small_cases(1, turns=1)
    for name, fact, reply, expected in _LOOK_ALIKES:
        asked = {"kind": "summary", "reply": reply}
        seen = Scored(cases, [{"case": cases[0].id, "turn": 1, "reply": None, "probe": asked}])
        [one] = seen.scores.conversations
        place = [known.id for known in one.facts].index(fact)
        judged = one.arms["live"].turns[0].outcomes[place]
        yield _is(name, expected, None if judged is None else judged.outcome)


def _no_last_turn_for_the_tenth(seed: int) -> Iterator[Check]:
    """Of conversations that end early the tenth turn is unknown; their last one does not stand in for it."""
    long, short = small_cases(20), [replace(case, id=f"{case.id}-short") for case in small_cases(20, turns=6)]
    planted = replace(behaviour("forgetful"), slope=-0.05)
    lines = [*transcripts(planted, long), *transcripts(planted, short)]
    yield _near("recall_at_10", 0.55, Scored([*long, *short], lines).value("recall_at_10"))
    alone = Scored(short, transcripts(planted, short))
    yield _is("recall_at_10 where nobody reaches it", "undefined", alone.estimate("recall_at_10").status)


def _replicates_are_averaged(seed: int) -> Iterator[Check]:
    """A fact kept in one of three runs counts a third, and not as kept."""
    cases = small_cases(3)
    kept, lost = behaviour("perfect"), replace(behaviour("perfect"), recall=0.0)
    lines = [
        {**line, "replicate": replicate}
        for replicate, planted in enumerate((kept, lost, lost))
        for line in transcripts(planted, cases, ("live",))
    ]
    seen = Scored(cases, lines)
    yield _near("recall of one run in three", 1 / 3, seen.value("recall"))
    yield _is("cases behind nine conversations", 3, seen.scores.n_patients)


# ---- what is not there -----------------------------------------------------------------------------------------------


def _missing_judge_is_no_zero(seed: int) -> Iterator[Check]:
    cases = small_cases(12)
    silent = Scored(cases, transcripts(behaviour("perfect"), cases, ("live",)))
    lines = transcripts(replace(behaviour("perfect"), agreements=2), cases, ("live",))
    agreeing = Scored(cases, lines, settings={"published": True})
    yield _is("K without any pair", None, silent.estimate("conflict_rate").value)
    yield _is("published K without a judge", None, agreeing.estimate("conflict_rate_published").value)
    for name, seen in (("without any pair", silent), ("by rules alone", agreeing)):
        found = seen.estimate("conflict_rate", level=0.9)
        [verdict] = judge([Gate.parse("conflict_rate.high <= 0.5", level=0.90)], [found])
        yield _is(f"gate on K {name}", "not_assessed", verdict.outcome)


def _missing_replies_are_not_forgotten(seed: int) -> Iterator[Check]:
    cases = small_cases(20)
    lines = transcripts(behaviour("perfect"), cases)
    thinned = [line for number, line in enumerate(lines) if number % 25]
    seen = Scored(cases, thinned)
    yield _near("recall with turns missing", 1.0, seen.value("recall"))
    heard = {line["case"] for line in lines[:200]}
    part = Scored(cases, [line for line in lines if line["case"] in heard])
    yield _is("a case without transcript lowers the coverage", True, part.value("coverage") < 1)


def _slopes_are_of_cases(seed: int) -> Iterator[Check]:
    """The error of a slope comes from how cases differ, and not from how straight their average is."""
    cases = small_cases(20)
    steep, flat = replace(behaviour("forgetful"), slope=-0.1), behaviour("perfect")
    lines = [*transcripts(steep, cases[:10], ("live",)), *transcripts(flat, cases[10:], ("live",))]
    found = Scored(cases, lines).estimate("decay_slope")
    # Ten cases fall by 0.1 of a turn on average and ten by nothing.
    slopes = _slopes(steep, cases[:10]) + [0.0] * 10
    yield _near("decay_slope", float(np.mean(slopes)), found.value or 0.0)
    yield _near("its standard error", float(np.std(slopes, ddof=1) / np.sqrt(20)), found.se or 0.0)


def _slopes(planted: Behaviour, cases: Sequence[ConversationCase]) -> list[float]:
    plan, found = Plan(planted, cases), []
    for case in plan.cases:
        kept = []
        for turn in range(1, case.last_turn + 1):
            outcomes = plan.outcomes(case, "live", turn)
            active = [outcomes[fact.id] == "correct" for fact in case.active(turn)]
            kept.append(sum(active) / len(active))
        found.append(float(np.polyfit(np.arange(1, case.last_turn + 1), kept, 1)[0]))
    return found


class _Short:
    """An encoder that reads four words, and finds all that begin alike the same."""

    name, version, max_tokens = "short", "1", 4

    def count_tokens(self, text: str) -> int:
        """Words."""
        return len(text.split())

    def encode(self, sentences: Sequence[str]) -> list[list[float]]:
        """By the first letters."""
        return [[float(ord(letter)) for letter in f"{text:4.4}"] for text in sentences]


def _nothing_is_cut_in_silence(seed: int) -> Iterator[Check]:
    """What an encoder would cut off is not compared, and a plan that is carried out and taken back is not kept."""
    plan, long = "Continue lithium daily", "Continue lithium daily as you do. STOP ALL LITHIUM NOW."
    cut = published_alignment(plan, long, _Short())
    yield _is("cosine with a text beyond the encoder's reach", None, cut.value)
    yield _is("a text within it", True, published_alignment(plan, plan, _Short()).value is not None)
    score = plan_score(plan, ["Keep taking your lithium.", "STOP ALL LITHIUM NOW."])
    yield _is("items covered, contradicted", (0, 1), (score.covered, score.contradicted))


TRAPS: dict[str, Callable[[int], Iterator[Check]]] = {
    "probes leave no trace": _probes_leave_no_trace,
    "a failure spoils what follows": _failure_spoils_what_follows,
    "a stopped drug is not forgotten": _retired_is_not_forgotten,
    "look-alikes": _look_alikes,
    "the tenth turn is no other": _no_last_turn_for_the_tenth,
    "runs are averaged": _replicates_are_averaged,
    "a missing judge is no zero": _missing_judge_is_no_zero,
    "a missing reply is not forgotten": _missing_replies_are_not_forgotten,
    "slopes are of cases": _slopes_are_of_cases,
    "nothing is cut in silence": _nothing_is_cut_in_silence,
}
