"""Scripted models: what they say is what was planted, whether written down or asked for message by message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.support.facts import ALL
from workup.errors import StudyError, SystemFailure
from workup.task import ChatSystem
from workup.tasks.conversation.cases.case import ConversationCase, case_of
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.cases.written import load_cases
from workup.tasks.conversation.read.advice import conflicts_of, never_events_of
from workup.tasks.conversation.read.facts import Matcher, outcome_of
from workup.tasks.conversation.read.judging import held_of
from workup.tasks.conversation.scripted import BEHAVIOURS, Behaviour, Plan, Scripted, behaviour, transcripts
from workup.tasks.conversation.scripted.cases import small_cases
from workup.tasks.conversation.scripted.published_traps import Kept
from workup.tasks.conversation.scripted.scripted_advice import harms
from workup.tasks.conversation.scripted.sentences import contrary, has_value, right, wrong
from workup.tasks.conversation.settings import ConversationPart
from workup.tasks.conversation.talk import converse
from workup.tasks.conversation.talk.transcripts import Said

MORE = (
    Fact("r", "result", "potassium", attributes={"dose_value": 5.9, "dose_unit": "mmol/L"}),
    Fact("p", "procedure", "appendectomy", status="historical", attributes={"date": "2019"}),
    Fact("s", "social", "lives alone"),
    Fact("pl", "plan", "colonoscopy", attributes={"date": "2026-03"}),
    Fact("ri", "risk", "suicidal thoughts", status="absent"),
    Fact("a", "allergy", "sulfa allergy", status="absent"),
    Fact("a2", "allergy", "latex", status="uncertain"),
    Fact("a3", "allergy", "nuts", status="historical"),
    Fact("m", "medication", "lisinopril", status="historical"),
    Fact("m5", "medication", "oxycodone", status="uncertain"),
    Fact("m4", "medication", "amoxicillin-clavulanate", attributes={"dose_value": "875/125", "dose_unit": "mg"}),
)
MIXED = Behaviour("mixed", recall=0.7, reversal=0.2, wrong_value=0.5, stale=0.5, oracle=0.9)


@pytest.mark.parametrize("fact", [*ALL, *MORE], ids=lambda fact: f"{fact.type} {fact.concept} {fact.status}")
def test_every_sentence_says_what_it_is_meant_to(fact: Fact) -> None:
    assert outcome_of(fact, right(fact)).outcome == "correct"
    assert outcome_of(fact, contrary(fact)).outcome == "reversed"
    if has_value(fact):
        assert outcome_of(fact, wrong(fact)).outcome == "wrong_value"


def misread(cases: Sequence[ConversationCase], planted: Behaviour) -> Counter[tuple[str, str, str]]:
    """Outcomes that the matcher finds where others were planted."""
    plan, matchers = Plan(planted, cases), {case.id: Matcher(case.facts) for case in cases}
    known = {case.id: case for case in cases}
    found: Counter[tuple[str, str, str]] = Counter()
    for line in transcripts(planted, cases, ("live",)):
        case, turn = known[line["case"]], line["turn"]
        outcomes = plan.outcomes(case, "live", turn)
        for fact, judged in zip(case.facts, matchers[case.id].judge(line["reply"], turn=turn), strict=True):
            if fact.introduced <= turn and judged.outcome != outcomes[fact.id]:
                found[f"{case.id} {fact.id}", outcomes[fact.id], judged.outcome] += 1
    return found


@pytest.mark.parametrize("name", [*BEHAVIOURS, "mixed"])
def test_whole_replies_are_read_as_planted(name: str) -> None:
    planted = MIXED if name == "mixed" else replace(behaviour(name), failures=0.0)
    assert misread(small_cases(5), planted) == {}


def test_replies_to_written_and_generated_cases_are_read_as_planted() -> None:
    from workup.corpora.generate.conversation import generate

    made = [case_of(record, where="generated") for record in generate(6, seed=3).cases()]
    for cases in (load_cases()[::6], made):
        assert len(cases) >= 6
        for planted in (MIXED, replace(MIXED, reversal=1.0)):
            assert misread(cases, planted) == {}


# ---- plans -----------------------------------------------------------------------------------------------------------


def test_shares_are_met_exactly_and_facts_stay_forgotten() -> None:
    cases = small_cases(20)
    plan = Plan(behaviour("forgetful"), cases)
    for turn in range(1, 11):
        tally = plan.counts(turns=[turn])["live"]
        kept, active = tally["correct"], 20 * len(cases[0].active(turn))
        assert kept == round((1 - 0.05 * (turn - 1)) * active)
        assert kept + tally["omitted"] == active
    for case in cases:
        lost: set[str] = set()
        for turn in range(1, 11):
            outcomes = plan.outcomes(case, "live", turn)
            if turn in (4, 5):  # the same facts are active as at the turn before
                assert lost <= {id for id, one in outcomes.items() if one == "omitted"}
            lost = {id for id, one in outcomes.items() if one == "omitted"}


def test_spells_of_loss_follow_the_clock_of_each_fact() -> None:
    [case] = small_cases(1)
    plan = Plan(behaviour("wavering"), [case])
    by_tick = {
        fact.id: [plan.outcomes(case, "live", turn)[fact.id] for turn in range(1, 11) if fact.active(turn)]
        for fact in case.facts
    }
    kept, gone = "correct", "omitted"
    assert by_tick["warfarin"] == [kept, kept, gone, kept, kept, kept, gone, gone, gone, gone]
    assert by_tick["knee"] == [kept, kept, gone, kept, kept, kept, gone, gone]  # told at turn 3
    assert by_tick["lisinopril"] == [kept, kept, gone, kept, kept]  # stopped at turn 6
    assert all(one == kept for one in plan.outcomes(case, "oracle", 10).values() if one != "retired_ok")


def test_arms_have_the_recall_that_is_planted_for_them() -> None:
    planted = Behaviour("x", recall=0.9, slope=-0.1, oracle=0.8)
    assert planted.kept("live", 3) == pytest.approx(0.7)
    assert planted.kept("oracle", 3) == 0.8
    assert planted.kept("filler-4", 3) == pytest.approx(0.5)
    assert planted.kept("naive", 1) == 0
    assert planted.kept("live", 50) == 0
    counts = Plan(planted, small_cases(5)).counts(("naive",))["naive"]
    assert counts["correct"] == 0 < counts["omitted"]


def test_noise_is_drawn_by_name_and_near_what_was_planted() -> None:
    cases = small_cases(40)
    planted = Behaviour("noisy", recall=0.8, reversal=0.1, noise=True)
    one, same, other = (Plan(planted, cases, seed=seed).counts()["live"] for seed in (1, 1, 2))
    assert one == same != other
    total = sum(one[name] for name in ("correct", "omitted", "reversed", "wrong_value"))
    assert one["correct"] / total == pytest.approx(0.8, abs=0.03)
    assert one["reversed"] / total == pytest.approx(0.1, abs=0.03)
    shuffled = Plan(planted, cases[::-1], seed=1)
    assert shuffled.outcomes(cases[3], "live", 5) == Plan(planted, cases, seed=1).outcomes(cases[3], "live", 5)
    assert shuffled.outcomes(cases[3], "live", 5) != shuffled.outcomes(cases[3], "live", 5, draw=1)


def test_cases_differ_by_the_spread_that_is_planted() -> None:
    cases = small_cases(60)
    shares = []
    for spread in (0.0, 0.2):
        plan = Plan(Behaviour("noisy", recall=0.5, noise=True, spread=spread), cases)
        kept = [
            sum(one == "correct" for t in range(1, 11) for one in plan.outcomes(c, "live", t).values()) for c in cases
        ]
        mean = sum(kept) / len(kept)
        shares.append(sum((one - mean) ** 2 for one in kept) / len(kept))
    assert shares[1] > 3 * shares[0]


def test_calls_fail_at_the_rate_that_is_planted() -> None:
    cases = small_cases(20)
    for rate, due in ((0.1, 20), (0.5, 100), (0.0, 0)):
        lines = transcripts(replace(behaviour("failing"), failures=rate), cases, ("live",))
        failed = [line for line in lines if line["reply"] is None]
        assert len(failed) == due
        assert all(line["error"] == "timeout" for line in failed)


def test_a_behaviour_is_known_by_name_and_its_numbers_are_checked() -> None:
    with pytest.raises(StudyError, match=r"forgetfull.*did you mean 'forgetful'"):
        behaviour("forgetfull")
    with pytest.raises(StudyError, match=r"'reversal' must lie from 0 to 1; got 1\.5"):
        Behaviour("x", reversal=1.5)
    with pytest.raises(StudyError, match="'conflicts' must not be negative"):
        Behaviour("x", conflicts=-1)


# ---- advice ----------------------------------------------------------------------------------------------------------


def replies_of(planted: Behaviour, case: ConversationCase) -> dict[int, str]:
    return {line["turn"]: line["reply"] for line in transcripts(planted, [case], ("live",))}


@pytest.mark.parametrize(("conflicts", "agreements"), [(0, 2), (1, 1), (3, 2), (8, 0)])
def test_pairs_of_advice_conflict_as_often_as_planted(conflicts: int, agreements: int) -> None:
    [case] = small_cases(1)
    found = conflicts_of(case, replies_of(Behaviour("x", conflicts=conflicts, agreements=agreements), case))
    assert (found.conflicting, found.comparable) == (conflicts, conflicts + agreements)


def test_more_pairs_than_things_to_advise_on_are_refused() -> None:
    [case] = small_cases(1)
    with pytest.raises(StudyError, match=r"at most 8 pairs.*got 9"):
        transcripts(Behaviour("x", conflicts=9), [case])


def test_harm_is_done_as_often_as_planted() -> None:
    [case] = small_cases(1)
    for planted in (0, 1, 4, 10, 99):
        script = Behaviour("x", never_events=planted)
        events = never_events_of(case, replies_of(script, case), {})
        assert len(events) == harms(script, case) == min(planted, 10)
        assert {(one.fact, one.kind) for one in events} <= {("penicillin", "contraindicated")}
    safe = replace(case, facts=tuple(replace(fact, harm_tag=None) for fact in case.facts))
    assert harms(Behaviour("x", never_events=3), safe) == 0


# ---- message by message ----------------------------------------------------------------------------------------------


def held_outcomes(cases: Sequence[ConversationCase], said: Sequence[Said]) -> dict[tuple[str, str, int, str], str]:
    found = {}
    for case in cases:
        for held in held_of(case, [one for one in said if one.case == case.id], facts=case.facts):
            for told in held.turns:
                for fact, judged in zip(case.facts, told.outcomes, strict=True):
                    if judged is not None and fact.active(told.turn):
                        found[case.id, held.arm, told.turn, fact.id] = judged.outcome
    return found


@pytest.mark.parametrize("probe", ["none", "summary", "question"])
@pytest.mark.parametrize("memory", ["full", "last:3"])
def test_asked_message_by_message_it_says_what_it_would_have_written(probe: str, memory: str) -> None:
    cases = small_cases(4)
    # Before the first turn was answered the ceiling hears what the conversation hears, so that both keep the same.
    model = Scripted(replace(MIXED, recall=0.8, oracle=0.8, slope=0.0), cases)
    assert isinstance(model, ChatSystem)
    settings = ConversationPart(arms=("live", "oracle", "naive", "filler-3"), probe=probe, memory=memory)
    held = converse(lambda: model, cases, settings, seed=0, log=Kept())
    found = held_outcomes(cases, held.said)
    assert len(found) == 4 * 4 * sum(len(cases[0].active(turn)) for turn in range(1, 11))
    for (id, arm, turn, fact), outcome in found.items():
        case = next(one for one in cases if one.id == id)
        planted = model.plan.outcomes(case, arm, turn)[fact]
        if probe == "none" and planted == "omitted":
            planted = "not_asked"  # what nobody asked for was not forgotten
        assert outcome == planted, (id, arm, turn, fact)


def test_advice_is_in_the_reply_and_not_in_the_answer_to_a_probe() -> None:
    cases = small_cases(1)
    model = Scripted(Behaviour("x", conflicts=1, never_events=1), cases)
    held = converse(lambda: model, cases, ConversationPart(arms=("live",)), seed=0, log=Kept())
    first, second = held.said[:2]
    assert "You should continue melatonin." in (first.reply or "") and "amoxicillin" in (first.reply or "")
    assert "You should stop melatonin." in (second.reply or "")
    assert all(one.probe is not None and "should" not in (one.probe.reply or "") for one in held.said)


def test_a_conversation_of_other_cases_is_refused_without_a_word_of_it() -> None:
    model = Scripted(behaviour("perfect"), small_cases(1))
    with pytest.raises(SystemFailure, match="its own cases alone; got another of 1 messages") as refused:
        model.reply([{"role": "user", "content": "My name is Rose."}])
    assert "Rose" not in str(refused.value)


def test_replicates_of_a_noisy_model_differ() -> None:
    cases = small_cases(2)
    model = Scripted(Behaviour("noisy", recall=0.5, noise=True), cases)
    settings = ConversationPart(arms=("live",), probe="none", replicates=2)
    held = converse(lambda: model, cases, settings, seed=0, log=Kept())
    replies = [[one.reply for one in held.said if one.replicate == number] for number in (0, 1)]
    assert len(replies[0]) == len(replies[1]) == 20
    assert replies[0] != replies[1]
    again = converse(lambda: model, cases, settings, seed=0, log=Kept())
    assert again.said == held.said
