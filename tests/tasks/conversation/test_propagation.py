"""Errors that spread: as they came, held against a plain count; and as they were planted, against models that copy."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.support.chat_models import Log, Model, case, hold
from workup.errors import GateError, StudyError
from workup.estimate import Draws, Estimate, estimate
from workup.gates import Gate, judge
from workup.runs import Unrecorded
from workup.task import Reply
from workup.tasks.conversation.cards import CARDS
from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.scores.propagation import error_counts
from workup.tasks.conversation.scores.scoring import ConversationScores
from workup.tasks.conversation.scripted import Behaviour, Scripted, behaviour
from workup.tasks.conversation.scripted.cases import small_cases
from workup.tasks.conversation.settings import ConversationPart, ConversationStudy
from workup.tasks.conversation.talk import converse, estimate_of
from workup.tasks.conversation.talk.slips import slip_of
from workup.tasks.conversation.task import ConversationTask, GivenTranscripts

STUDY = ConversationStudy.of(
    {"name": "slips", "task": "conversation", "conversation": {"arms": ["live", "slip-5"], "horizon": 6}}
)


def _told(scores: ConversationScores, study: ConversationStudy = STUDY) -> dict[tuple[Any, ...], Estimate]:
    names = ("persistence", "spread", "slip_persistence", "slip_spread")
    chosen = [one for one in ConversationTask().metrics(scores, study) if one.name in names]
    found = estimate(scores, chosen, draws=Draws(1, 200), levels=(0.95, 0.90))
    return {(one.metric, one.slice.get("slip"), one.level): one for one in found}


@cache
def _slipped(planted: Behaviour) -> ConversationScores:
    cases = small_cases(10, turns=6)
    held = converse(lambda: Scripted(planted, cases), cases, STUDY.conversation, seed=1, log=Unrecorded())
    task = ConversationTask()
    return task.scores(task.read(STUDY, cases), held)


# ---- planted ---------------------------------------------------------------------------------------------------------


def test_a_model_that_copies_its_own_words_keeps_the_slip_and_a_perfect_one_does_not() -> None:
    copying, perfect = (_told(_slipped(behaviour(name))) for name in ("copying", "perfect"))
    assert copying["slip_persistence", None, 0.95].value == 1.0
    assert perfect["slip_persistence", None, 0.95].value == 0.0
    for found in (copying, perfect):
        spread = found["slip_spread", None, 0.95]
        assert spread.low is not None and spread.high is not None and spread.low <= 0 <= spread.high
    low = copying["slip_persistence", None, 0.95].low
    assert low is not None and low > 0.5


def test_a_model_that_copies_doses_alone_keeps_doses_alone() -> None:
    found = _told(_slipped(replace(behaviour("perfect"), copies="doses")))
    assert found["slip_persistence", "dose", 0.95].value == 1.0
    assert found["slip_persistence", "denial", 0.95].value == 0.0
    assert found["slip_persistence", None, 0.95].value == 0.5


def test_below_ten_clusters_nothing_is_told_of_a_slip() -> None:
    fewer = _slipped(behaviour("copying")).take(np.arange(9))
    found = _told(fewer)  # type: ignore[arg-type]
    assert {found[name, None, 0.95].status for name in ("slip_persistence", "slip_spread")} == {"undefined"}


def test_what_a_slip_adds_is_less_what_was_wrong_anyway() -> None:
    """A model that is always wrong on the dose is not made worse by a slip of it."""
    scores = _slipped(behaviour("perfect"))
    names = [f"slip-5|slip|dose|{side}" for side in ("live", "slip")]
    wrong = {**scores.values, **dict.fromkeys(names, scores.values["slip-5|slip|dose|units"])}
    assert _told(replace(scores, values=wrong))["slip_persistence", "dose", 0.95].value == 0.0


def test_a_gate_may_rest_on_what_a_slip_causes_and_on_no_association() -> None:
    copying = list(_told(_slipped(behaviour("copying"))).values())
    [verdict] = judge([Gate.parse("slip_persistence{arm=slip-5}.high <= 0.2@0.95", known=CARDS)], copying)
    assert verdict.outcome == "fail"
    for rule in ("persistence.value <= 1", "spread.low <= 1@0.95"):
        with pytest.raises(GateError, match="descriptive"):
            Gate.parse(rule, known=CARDS)


def test_a_slip_must_come_before_the_horizon() -> None:
    with pytest.raises(StudyError, match="slip-10 must edit a turn before the horizon"):
        ConversationStudy.of({"name": "x", "task": "conversation", "conversation": {"arms": ["live", "slip-10"]}})


def test_the_live_conversation_is_the_same_with_and_without_the_arm() -> None:
    cases = [case("c1", turns=6), case("c2", turns=5)]
    for memory in ("full", "last:2", "compact:60"):
        plain = hold(Model(), cases, arms=("live",), memory=memory)
        beside = hold(Model(concurrency=4), cases, arms=("live", "slip-3"), memory=memory)
        assert [one for one in beside.said if one.arm == "live"] == list(plain.said)
        later = [one for one in beside.said if one.arm == "slip-3"]
        assert {one.turn for one in later if one.case == "c1"} == {3, 4, 5, 6}
        assert later[0].usage["slipped"] == {"dose": "w2", "denial": "pcn"} or later[0].usage["slipped"] == {
            "denial": "pcn"
        }
        assert beside.complete


def test_nothing_is_asked_twice_for_what_was_said_before_the_slip() -> None:
    model, log = Model(), Log()
    cases = [case("c1", turns=6)]
    hold(model, cases, arms=("live", "slip-3"), log=log)
    # Live: six replies and six probes; behind the edited reply three replies and four probes.
    assert len(model.calls) == 12 + 7
    part = ConversationPart(arms=("live", "slip-3"))
    assert estimate_of(cases, part, model).calls == 12 + 7


def test_a_conversation_that_breaks_before_the_slip_has_none() -> None:
    def failing(messages: Any) -> Any:
        return Reply(None, failure="timeout") if len(messages) > 2 else "Yes."

    held = hold(Model(failing), [case("c1", turns=6)], arms=("live", "slip-3"))
    assert {one.arm for one in held.said} == {"live"}


def test_a_slip_changes_what_the_reply_says_and_leaves_the_rest() -> None:
    facts = (
        Fact("w", "medication", "warfarin", attributes={"dose_value": 5, "dose_unit": "mg"}),
        Fact("p", "allergy", "penicillin"),
        Fact("a", "diagnosis", "asthma"),
    )
    one = ConversationCase(
        "c", "", (Turn(1, "I take warfarin. I have asthma and a penicillin allergy."), Turn(2, "And now?")), facts
    )

    def slipped(reply: str) -> str:
        found = slip_of(one, 1, reply, horizon=2, seed=1, replicate=0)
        assert found is not None and found.facts == {"dose": "w", "denial": "p"}
        return found.text

    listed = "- Warfarin 5 mg at night, 15 drops of tea.\n- Your penicillin allergy matters.\n- Asthma: stable."
    assert slipped(listed) == (
        "- Warfarin 10 mg at night, 15 drops of tea.\nYou are not allergic to penicillin.\n- Asthma: stable."
    )
    both = "With penicillin and asthma in mind, be careful."
    assert slipped(both) == f"{both} You take warfarin 10 mg. You are not allergic to penicillin."
    nothing = ConversationCase("c", "", one.turns, facts[:1] * 0)
    assert slip_of(nothing, 1, "Yes.", horizon=2, seed=1, replicate=0) is None


def test_transcripts_with_a_slip_are_read_like_those_that_were_held() -> None:
    cases = small_cases(10, turns=6)
    held = converse(lambda: Scripted(behaviour("copying"), cases), cases, STUDY.conversation, seed=1, log=Unrecorded())
    lines = [
        {
            "case": one.case,
            "arm": one.arm,
            "turn": one.turn,
            "reply": one.reply,
            "usage": dict(one.usage),
            "probe": {"kind": one.probe.kind, "reply": one.probe.reply} if one.probe else None,
        }
        for one in held.said
    ]
    task = ConversationTask()
    corpus = task.read(STUDY, cases)
    read = GivenTranscripts(lines).of(corpus)
    assert read.complete
    assert _told(task.scores(corpus, read))["slip_persistence", None, 0.95].value == 1.0


# ---- as they came ----------------------------------------------------------------------------------------------------

DRUGS = ("warfarin", "metformin", "lisinopril", "digoxin")
TURNS = 5
PLAIN = ConversationStudy.of(
    {"name": "errors", "task": "conversation", "conversation": {"arms": ["live"], "probe": "none"}}
)


def _errors(wrong: np.ndarray[Any, Any]) -> ConversationScores:
    """Conversations whose replies state the dose of each drug, wrongly where [conversation, turn, drug] says so."""
    facts = [
        {"id": drug, "type": "medication", "concept": drug, "attributes": {"dose_value": 5, "dose_unit": "mg"}}
        for drug in DRUGS
    ]
    told = "I take " + ", ".join(f"{drug} 5 mg" for drug in DRUGS) + "."
    turns = [{"turn": turn, "message": told} for turn in range(1, TURNS + 1)]
    cases = [{"id": f"c{n:02}", "patient_summary": "", "facts": facts, "turns": turns} for n in range(len(wrong))]
    lines = [
        {
            "case": f"c{n:02}",
            "turn": turn + 1,
            "reply": " ".join(f"You take {drug} {50 if wrong[n, turn, i] else 5} mg." for i, drug in enumerate(DRUGS)),
        }
        for n in range(len(wrong))
        for turn in range(TURNS)
    ]
    task = ConversationTask()
    corpus = task.read(PLAIN, cases)
    return task.scores(corpus, GivenTranscripts(lines).of(corpus))


def _brute(wrong: np.ndarray[Any, Any]) -> tuple[float, list[float]]:
    """Persistence, and the gap of each conversation that has both kinds of turns: written out, one by one."""
    again = total = 0
    rates = []
    for t in range(TURNS - 1):
        new = sum(int(w[t + 1, i] and not w[t, i]) for w in wrong for i in range(len(DRUGS)))
        at_risk = sum(int(not w[t, i]) for w in wrong for i in range(len(DRUGS)))
        rates.append(new / at_risk)
    gaps = []
    for w in wrong:
        after: dict[bool, list[float]] = {True: [], False: []}
        for t in range(TURNS - 1):
            for i in range(len(DRUGS)):
                total += int(w[t, i])
                again += int(w[t, i] and w[t + 1, i])
            others = [i for i in range(len(DRUGS)) if not w[t, i]]
            new = sum(int(w[t + 1, i]) for i in others)
            after[bool(w[t].any())].append(new - rates[t] * len(others))
        if after[True] and after[False]:
            gaps.append(float(np.mean(after[True]) - np.mean(after[False])))
    return again / total, gaps


def test_persistence_and_spread_are_what_a_plain_count_gives() -> None:
    wrong = np.random.default_rng(4).random((16, TURNS, len(DRUGS))) < 0.15
    found = _told(_errors(wrong), PLAIN)
    persistence, gaps = _brute(wrong)
    assert found["persistence", None, 0.95].value == pytest.approx(persistence)
    spread = found["spread", None, 0.95]
    assert spread.value == pytest.approx(np.mean(gaps))
    assert len(gaps) >= 10 and spread.low is not None and spread.high is not None
    # Conversations left out one at a time, each a patient of its own here: near what the influences add up to.
    left = [np.mean(_brute(np.delete(wrong, n, axis=0))[1]) for n in range(len(wrong))]
    se = np.sqrt((len(wrong) - 1) / len(wrong) * np.sum((left - np.mean(left)) ** 2))
    half = (spread.high - spread.low) / 2
    assert half == pytest.approx(stats.t.ppf(0.975, len(wrong) - 1) * se, rel=0.15)


def test_planted_persistence_and_planted_spread_are_found() -> None:
    rng = np.random.default_rng(9)
    wrong = np.zeros((100, TURNS, len(DRUGS)), dtype=bool)
    wrong[:, 0] = rng.random((100, len(DRUGS))) < 0.15
    for t in range(1, TURNS):
        stays = wrong[:, t - 1] & (rng.random((100, len(DRUGS))) < 0.5)
        chance = np.where(wrong[:, t - 1].any(axis=1), 0.35, 0.04)[:, None]
        wrong[:, t] = stays | (~wrong[:, t - 1] & (rng.random((100, len(DRUGS))) < chance))
    found = _told(_errors(wrong), PLAIN)
    persistence, spread = (found[name, None, 0.95] for name in ("persistence", "spread"))
    assert persistence.low is not None and persistence.high is not None and spread.low is not None
    assert persistence.low < 0.5 < persistence.high
    assert spread.low > 0, "errors were planted to follow errors"
    assert "no gate takes it" in str(spread.reason)


def test_below_ten_conversations_nothing_is_told() -> None:
    wrong = np.zeros((12, TURNS, len(DRUGS)), dtype=bool)
    wrong[:9, 1, 0] = True
    found = _told(_errors(wrong), PLAIN)
    assert found["persistence", None, 0.95].value is None and found["spread", None, 0.95].value is None
    wrong[9, 1, 0] = True
    found = _told(_errors(wrong), PLAIN)
    assert found["persistence", None, 0.95].value == 0.0 and found["spread", None, 0.95].value is not None


def test_a_slice_has_its_own_pooled_rates() -> None:
    wrong = np.random.default_rng(4).random((36, TURNS, len(DRUGS))) < 0.15
    half = _errors(wrong).take(np.arange(18))
    assert _told(half, PLAIN)["spread", None, 0.95].value == pytest.approx(np.mean(_brute(wrong[:18])[1]))  # type: ignore[arg-type]


def test_advice_against_a_fact_is_an_error_too() -> None:
    from types import SimpleNamespace as Thing

    scores = _errors(np.zeros((1, TURNS, len(DRUGS)), dtype=bool))
    one = scores.conversations[0]
    event = Thing(turn=2, fact="warfarin", kind="contraindicated")
    pair = Thing(turns=(1, 3), facts=("digoxin",), kind="against_fact")
    row = error_counts(one.arms["live"], one.facts, [event, Thing(turn=4, fact="x", kind="stale")], [pair])
    assert [row[f"next|{turn}|erred"] for turn in (1, 2, 3, 4)] == [0, 1, 1, 0]
    assert [row[f"next|{turn}|new"] for turn in (1, 2, 3, 4)] == [1, 1, 0, 0]
    assert (row["wrong"], row["again"]) == (2, 0)
