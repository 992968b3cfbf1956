"""The self-test of conversations passes on the scorer as it is, and fails on scorers broken as published ones were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import workup.metric
from workup.metric import Linear
from workup.scores import Floats, Scores
from workup.tasks.conversation import selftest
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.metrics import decay, intervals, metrics
from workup.tasks.conversation.read import judging
from workup.tasks.conversation.scores import rows
from workup.tasks.conversation.scripted.published_traps import TRAPS
from workup.tasks.conversation.talk import conversation


def failures(monkeypatch: pytest.MonkeyPatch, *names: str) -> set[str]:
    """Names of the checks that fail when only these parts are run."""
    every = {**selftest._CHECKS, **TRAPS}
    monkeypatch.setattr(selftest, "_CHECKS", {name: every[name] for name in names})
    monkeypatch.setattr(selftest, "TRAPS", {})
    return {check.name for check in selftest.run() if not check.passed}


def test_every_check_passes_on_the_scorer_as_it_is() -> None:
    checks = selftest.run()
    assert {check.name: check.observed for check in checks if not check.passed} == {}
    assert len({check.name for check in checks}) == len(checks) > 100
    for part in {**selftest._CHECKS, **TRAPS}:
        assert any(check.name.startswith(f"{part}: ") for check in checks), part


def test_another_seed_draws_other_noise_and_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "_CHECKS", {"noise": selftest._CHECKS["forgetful with noise"]})
    monkeypatch.setattr(selftest, "TRAPS", {})
    first, again, other = selftest.run(seed=0), selftest.run(seed=0), selftest.run(seed=1)
    assert first == again
    assert [check.observed for check in first] != [check.observed for check in other]
    assert all(check.passed for check in other)


# ---- scorers that are broken -----------------------------------------------------------------------------------------


def test_a_failed_reply_taken_for_a_forgetful_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgotten(self: Any, reason: str, turn: int) -> Any:
        return self.of([_said("Thank you for your message.")], turn)[0]

    monkeypatch.setattr(judging._Judge, "unscorable", forgotten)
    failed = failures(monkeypatch, "failing", "a missing reply is not forgotten")
    assert {"failing: coverage", "failing: recall, few failures"} <= failed
    assert "a missing reply is not forgotten: recall with turns missing" in failed


def _said(reply: str) -> Any:
    from workup.tasks.conversation.talk.transcripts import Said

    return Said("c", 0, "live", 1, reply)


def test_a_gold_that_is_frozen_at_the_first_turn_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fact, "over", lambda self, turn: False)
    monkeypatch.setattr(Fact, "active", lambda self, turn: self.introduced <= turn)
    failed = failures(monkeypatch, "a stopped drug is not forgotten")
    assert failed & {
        "a stopped drug is not forgotten",
        "a stopped drug is not forgotten: recall after a drug was stopped",
    }


def test_the_published_rule_fails_on_look_alikes(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = judging._Judge.__init__
    monkeypatch.setattr(judging._Judge, "__init__", lambda self, facts, matcher: exact(self, facts, "published"))
    failed = failures(monkeypatch, "look-alikes", "dose-confusing")
    assert {"look-alikes: penicillin V is no allergy", "look-alikes: 50 mg is not 5 mg"} <= failed
    assert "dose-confusing: wrong_value_rate" in failed


def test_undefined_shown_as_zero_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = workup.metric._quotient
    monkeypatch.setattr(workup.metric, "_quotient", lambda sums: np.nan_to_num(exact(sums)))
    failed = failures(monkeypatch, "a missing judge is no zero", "the tenth turn is no other")
    assert {
        "a missing judge is no zero: K without any pair",
        "a missing judge is no zero: published K without a judge",
    } <= failed or "a missing judge is no zero" in failed


def test_rules_that_pass_for_a_judge_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    from workup.tasks.conversation.metrics import held as live_metrics

    exact = live_metrics._conflict_rates

    def trusting(of: Any, *, judged: bool) -> Any:
        [_, by_rules] = exact(of, judged=judged)
        return [replace(by_rules, at={}), by_rules]

    monkeypatch.setattr(live_metrics, "_conflict_rates", trusting)
    failed = failures(monkeypatch, "a missing judge is no zero")
    assert failed == {"a missing judge is no zero: gate on K by rules alone"}


def test_a_last_turn_in_the_place_of_the_tenth_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = rows.row_of

    def carried_on(arms: Any, facts: Any, **more: Any) -> Any:
        row = exact(arms, facts, **more)
        last = max(told.turn for told in arms["live"].turns)
        copied = {name.replace(f"|{last}|", "|10|"): value for name, value in row.items() if f"|{last}|" in name}
        return {**copied, **row}

    monkeypatch.setattr("workup.tasks.conversation.scores.scoring.row_of", carried_on)
    failed = failures(monkeypatch, "the tenth turn is no other")
    assert "the tenth turn is no other: recall_at_10" in failed


def test_a_fact_kept_in_any_run_taken_for_kept_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    from workup.tasks.conversation.scores import scoring

    exact = scoring.score_case

    def best(*given: Any, **more: Any) -> Any:
        found = exact(*given, **more)
        top = max(found, key=lambda pair: sum(v for k, v in pair[1].items() if k.endswith("correct")))
        return [top] * len(found)

    monkeypatch.setattr(scoring, "score_case", best)
    assert "runs are averaged: recall of one run in three" in failures(monkeypatch, "runs are averaged")


def test_a_slope_of_the_averaged_curve_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same slope, with an error that only sees how straight the average is."""

    def straight(form: Linear, scores: Scores, level: float, **more: Any) -> Any:
        found = exact(form, scores, level, **more)
        return found if found.se is None else type(found)(found.low, found.high, found.se / 4, found.method)

    exact = intervals.t_over_cases
    monkeypatch.setattr(intervals, "t_over_cases", straight)
    assert failures(monkeypatch, "slopes are of cases") == {"slopes are of cases: its standard error"}


def test_an_hour_lost_at_the_start_of_the_clock_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decay, "restricted_mean", lambda sums: decay.survival(sums)[..., :-1].sum(axis=-1))
    failed = failures(monkeypatch, "forgetting at the sixth tick", "losing, finding and losing again")
    assert "forgetting at the sixth tick: time_to_loss" in failed
    assert "losing, finding and losing again: time_to_loss (loss sustained)" in failed


def test_a_first_loss_taken_for_a_loss_for_good_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = rows.loss_of

    def hasty(outcomes: Sequence[str | None]) -> Any:
        found = exact(outcomes)
        return found and found._replace(sustained=found.first)

    monkeypatch.setattr(rows, "loss_of", hasty)
    failed = failures(monkeypatch, "losing, finding and losing again")
    assert failed == {"losing, finding and losing again: time_to_loss (loss sustained)"}


def test_a_headline_that_is_shown_whatever_is_missing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "LEAST_COVERAGE", 0.0)
    monkeypatch.setattr("workup.tasks.conversation.task.why_withheld", lambda scores: "")
    assert "failing: recall at a coverage below 0.95" in failures(monkeypatch, "failing")


def test_probes_that_stay_in_the_history_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = conversation.Conversation._say

    def remembering(self: Any, sent: Any, turn: int, purpose: str, *rest: Any, **more: Any) -> Any:
        asked = [{"role": "user", "content": conversation.summary_probe(300)}, {"role": "assistant", "content": "Yes."}]
        early = asked if turn > 1 and purpose == "reply" else []
        return exact(self, [*early, *sent], turn, purpose, *rest, **more)

    monkeypatch.setattr(conversation.Conversation, "_say", remembering)
    failed = failures(monkeypatch, "probes leave no trace")
    assert failed  # the script loses its place, or the traces are counted


def test_a_scorer_that_raises_fails_its_check_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(sums: Floats) -> Floats:
        raise ValueError("survival of nobody")

    monkeypatch.setattr(decay, "restricted_mean", crash)
    monkeypatch.setattr(
        selftest, "_CHECKS", {name: selftest._CHECKS[name] for name in ("forgetting at the sixth tick", "reversing")}
    )
    monkeypatch.setattr(selftest, "TRAPS", {})
    checks = selftest.run()
    assert [check.observed for check in checks if not check.passed] == ["ValueError"]
    assert any(check.passed and check.name.startswith("reversing") for check in checks)
