"""From transcripts to Scores and tables: one row for each conversation, in one order, and nothing left out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.scores.scoring import ConversationScores
from workup.tasks.conversation.scripted import Behaviour, Plan, behaviour, transcripts
from workup.tasks.conversation.scripted.cases import small_cases
from workup.tasks.conversation.scripted.scored import Scored
from workup.tasks.conversation.tables import outcome_rows, tables_of

NOISY = Behaviour("noisy", recall=0.9, slope=-0.04, reversal=0.1, wrong_value=0.2, stale=0.3, noise=True)
CASES = small_cases(6)


@pytest.fixture(scope="module", name="lines")
def _lines() -> list[dict[str, Any]]:
    return transcripts(NOISY, CASES, ("live", "oracle"), replicates=2)


@pytest.fixture(scope="module", name="scored")
def _scored(lines: list[dict[str, Any]]) -> Scored:
    return Scored(CASES, lines)


def same(first: ConversationScores, second: ConversationScores) -> None:
    assert first.values.keys() == second.values.keys()
    for name, column in first.values.items():
        assert second.values[name] == pytest.approx(column, abs=1e-12), name
    assert (first.patient == second.patient).all()
    assert tables_of(first) == tables_of(second)


def test_a_row_for_each_case_and_replicate(scored: Scored) -> None:
    scores = scored.scores
    assert len(scores) == 12 and scores.n_patients == 6
    assert [(one.case.id, one.replicate) for one in scores.conversations] == [
        (case.id, number) for case in CASES for number in (0, 1)
    ]
    assert scores.arms == ("live", "oracle") and scores.turns == 10
    assert len(set(scores.values["row"])) == 12
    assert scores.groups["half"].names == ("first", "second")


def test_outcomes_are_those_that_were_planted(scored: Scored) -> None:
    plan = Plan(NOISY, CASES)
    counted = plan.counts(("live", "oracle"), replicates=2)
    for arm in ("live", "oracle"):
        for outcome in ("correct", "reversed", "wrong_value", "omitted", "stale"):
            found = sum(
                float(column.sum())
                for name, column in scored.scores.values.items()
                if name.startswith(f"{arm}|critical|") and name.endswith(f"|{outcome}")
            )
            assert found == counted[arm][outcome], (arm, outcome)


def test_the_order_of_lines_and_cases_changes_nothing(lines: list[dict[str, Any]], scored: Scored) -> None:
    mixed, cases = list(lines), list(CASES)
    random.Random(1).shuffle(mixed)
    random.Random(2).shuffle(cases)
    same(scored.scores, Scored(cases, mixed).scores)


def test_the_order_of_facts_changes_no_value(lines: list[dict[str, Any]], scored: Scored) -> None:
    turned = [replace(case, facts=case.facts[::-1]) for case in CASES]
    again = Scored(turned, lines).scores
    for name, column in scored.scores.values.items():
        assert again.values[name] == pytest.approx(column, abs=1e-9), name


def test_two_halves_add_up_to_the_whole(lines: list[dict[str, Any]], scored: Scored) -> None:
    def half(cases: Sequence[ConversationCase]) -> ConversationScores:
        ids = {case.id for case in cases}
        return Scored(cases, [line for line in lines if line["case"] in ids]).scores

    first, second = half(CASES[:2]), half(CASES[2:])
    for name, column in scored.scores.values.items():
        if name == "row":
            continue
        parts = [part.values.get(name, np.zeros(1)).sum() for part in (first, second)]
        assert sum(parts) == pytest.approx(column.sum(), abs=1e-9), name


def test_cases_of_one_persona_are_one_cluster(lines: list[dict[str, Any]]) -> None:
    named = [replace(case, metadata={"persona": "ab"[number % 2], "site": "s1"}) for number, case in enumerate(CASES)]
    scores = Scored(named, lines).scores
    assert scores.n_patients == 2 and len(scores) == 12
    assert scores.site is not None and scores.site.names == ("s1",)


def test_a_case_without_any_line_counts_as_not_heard(lines: list[dict[str, Any]]) -> None:
    heard = [line for line in lines if line["case"] != CASES[0].id]
    found = Scored(CASES, heard)
    assert len(found.scores) == 12
    assert found.value("coverage") == pytest.approx(5 / 6)
    assert found.value("coverage", arm="oracle") == pytest.approx(5 / 6)
    # Two replicates of two arms: 83 times a fact was active, 9 times it was over.
    assert tables_of(found.scores)["unscorable"] == {"no_transcript": 2 * 2 * (83 + 9)}


def test_an_unreadable_conversation_gives_null_and_never_zero() -> None:
    cases = small_cases(3)
    failed = {"reply": None, "error": "timeout"}
    lines = [
        {**line, **failed, "probe": {"kind": "summary", **failed}} for line in transcripts(behaviour("perfect"), cases)
    ]
    found = Scored(cases, lines)
    assert found.value("coverage") == 0
    for name in ("recall", "omission_rate", "decay_slope", "decay_gap", "time_to_loss", "stale_rate", "never_events"):
        estimate = found.estimate(name)
        assert estimate.value is None and estimate.status == "undefined" and estimate.reason, name


def test_one_turn_and_one_case() -> None:
    cases = small_cases(1, turns=1)
    found = Scored(cases, transcripts(behaviour("perfect"), cases))
    recall = found.estimate("recall")
    assert (recall.value, recall.low, recall.status) == (1.0, None, "insufficient")
    assert "one case" in (recall.reason or "")
    for name in ("decay_slope", "time_to_loss", "recall_at_10"):
        assert found.estimate(name).status == "undefined", name
    gap = found.estimate("decay_gap")
    assert (gap.value, gap.low) == (0.0, None)


# ---- tables ----------------------------------------------------------------------------------------------------------


def test_every_outcome_is_listed_without_a_word(scored: Scored) -> None:
    rows = list(outcome_rows(scored.scores, sentences=True))
    per_conversation = sum(len([f for f in CASES[0].facts if f.introduced <= turn]) for turn in range(1, 11))
    assert len(rows) == 6 * 2 * 2 * per_conversation
    assert {key for row in rows for key in row} == {
        *("case", "replicate", "arm", "turn", "fact", "outcome", "sentence"),
    }
    assert {row["outcome"] for row in rows} == {
        *("correct", "reversed", "wrong_value", "omitted", "stale", "retired_ok"),
    }


def test_a_curve_of_losses_is_listed_with_those_at_risk() -> None:
    cases = small_cases(4)
    scores = Scored(cases, transcripts(behaviour("dropping"), cases, ("live",))).scores
    curve = [row for row in tables_of(scores)["losses"] if row["set"] == "critical" and row["loss"] == "first"]
    assert [row["clock"] for row in curve] == list(range(1, 11))
    assert [row["kept"] for row in curve] == [1.0] * 5 + [0.0] * 5
    # Ten facts: the new dose is followed for 4 turns, lisinopril for 5, the old dose for 6.
    assert [row["at_risk"] for row in curve] == [40, 40, 40, 40, 36, 32, 0, 0, 0, 0]
    assert [row["lost"] for row in curve] == [0] * 5 + [32] + [0] * 4


def test_short_conversations_bound_the_recall_at_the_tenth_turn() -> None:
    long, short = small_cases(2), [replace(one, id=f"{one.id}-s") for one in small_cases(1, turns=5)]
    planted = replace(behaviour("perfect"), recall=0.5)
    lines = [*transcripts(planted, long, ("live",)), *transcripts(planted, short, ("live",))]
    scored = Scored([*long, *short], lines)
    [bounds] = [row for row in tables_of(scored.scores)["horizon"] if row["set"] == "critical"]
    # 8 of 16 facts are kept at turn 10; the short one has 9 when it ends.
    assert (bounds["conversations"], bounds["shorter"]) == (2, 1)
    assert (bounds["worst"], bounds["best"]) == (pytest.approx(8 / 25), pytest.approx(17 / 25))
    assert scored.value("recall_at_10") == 0.5


def test_what_was_sent_is_told_apart_from_what_was_used() -> None:
    cases = small_cases(1, turns=2)
    lines = transcripts(replace(behaviour("perfect"), recall=0.5), cases, ("live",))
    sent = [{**line, "available": ["warfarin", "asthma"]} for line in lines]
    scored = Scored(cases, sent)
    used = tables_of(scored.scores)["use"]
    assert used["sendable"] == 16 and used["sent"] == 4
    assert used["sent_correct"] + used["unsent_correct"] == 8
    assert scored.value("availability") == 0.25
    assert scored.value("use") == used["sent_correct"] / 4
    unsaid = Scored(cases, lines).estimate("availability")
    assert (unsaid.value, unsaid.reason) == (None, "the transcripts do not say what was sent")


def test_turns_are_columns_of_their_own(scored: Scored) -> None:
    for turn in (1, 5, 10):
        kept = scored.scores.values[columns.at_turn("live", "critical", turn, "correct")].sum()
        facts = scored.scores.values[columns.at_turn("live", "critical", turn, "scorable")].sum()
        assert scored.value("recall", turn=turn) == pytest.approx(kept / facts)
