"""Laws that hold for every metric of every chat model, written once and run over all that the task registers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.registered import label
from tests.support.scored_studies import STUDIES, scored_conversations
from workup.estimate import EVERYTHING, Draws, Estimate, estimate, slices_by
from workup.metric import Metric
from workup.scores import Scores
from workup.stats.intervals import clustered_share
from workup.tasks.conversation.cards import CARDS
from workup.tasks.conversation.task import ConversationTask

DRAWS = Draws(seed=3, replicates=200)
# Some need weights, a horizon of their own, cases of several sessions, or an arm in which an error was planted.
ALWAYS = set(CARDS) - {"recall_weighted", "recall_at_horizon", "recall_at_return", "slip_persistence", "slip_spread"}
SHARES = {
    *("recall", "precision", "f1", "hallucination_rate", "omission_rate", "reversal_rate", "wrong_value_rate"),
    *("stale_rate", "unscorable_rate", "coverage", "recall_at_10", "availability", "use", "conflict_rate"),
    *("plan_coverage", "plan_contradicted", "copy_rate", "never_event_rate", "conflict_rate_published"),
}


@pytest.fixture(params=STUDIES, name="scored")
def _fixture(request: pytest.FixtureRequest) -> tuple[Any, tuple[Metric, ...]]:
    return scored_conversations(request.param)


def _numbers(one: Estimate) -> list[float]:
    return [np.nan if x is None else x for x in (one.value, one.low, one.high)]


def test_every_name_of_the_contract_is_measured() -> None:
    _, metrics = scored_conversations("a mixed model")
    assert {metric.name for metric in metrics} == ALWAYS
    assert ConversationTask.cards is CARDS and set(CARDS) >= ALWAYS


def test_a_value_or_a_null_with_its_reason_and_ends_around_it(scored: tuple[Any, tuple[Metric, ...]]) -> None:
    scores, metrics = scored
    for one in estimate(scores, metrics, [EVERYTHING, *slices_by(scores.groups)], draws=DRAWS, levels=(0.95, 0.9)):
        if one.value is None:
            assert one.status == "undefined" and one.reason and one.low is None, one
            continue
        if one.metric in SHARES:
            assert -1e-12 <= one.value <= 1 + 1e-12, one
        if one.status == "ok":
            if one.method == "counted":  # a number that was seen has no interval, and says so
                assert (one.low, one.high) == (None, None) and "no interval" in str(one.reason)
                continue
            assert one.low is not None and one.high is not None
            assert one.low - 1e-9 <= one.value <= one.high + 1e-9, one
            if one.metric in SHARES:
                assert one.low >= 0 and one.high <= 1, one
        else:
            assert one.reason and one.low is None and one.high is None, one


def test_the_four_outcomes_add_up_to_one(scored: tuple[Any, tuple[Metric, ...]]) -> None:
    scores, metrics = scored
    by_slice: dict[frozenset[tuple[str, Any]], dict[str, float]] = {}
    for metric in metrics:
        told_whole = not {"turn", "type", "unanswered"} & set(metric.at)
        if told_whole and metric.name in ("recall", "omission_rate", "reversal_rate", "wrong_value_rate"):
            by_slice.setdefault(frozenset(metric.at.items()), {})[metric.name] = metric.value(scores)
    assert len(by_slice) == 2 * 2
    for where, values in by_slice.items():
        assert len(values) == 4
        total = sum(values.values())
        assert np.isnan(list(values.values())).all() or total == pytest.approx(1, abs=1e-12), where


def test_row_order_changes_nothing(scored: tuple[Any, tuple[Metric, ...]]) -> None:
    scores, metrics = scored
    mixed = scores.take(np.random.default_rng(1).permutation(len(scores)))
    for before, after in zip(
        estimate(scores, metrics, draws=DRAWS), estimate(mixed, metrics, draws=DRAWS), strict=True
    ):
        assert (before.metric, before.slice, before.status) == (after.metric, after.slice, after.status)
        assert _numbers(after) == pytest.approx(_numbers(before), rel=1e-8, abs=1e-10, nan_ok=True), before


@settings(max_examples=10)
@given(seed=st.integers(0, 30), name=st.sampled_from(["a mixed model", "several replicates", "everything lost"]))
def test_an_integer_weight_is_a_repeated_row(seed: int, name: str) -> None:
    scores, metrics = scored_conversations(name)
    counts = np.random.default_rng(seed).integers(0, 4, len(scores))
    repeated = scores.take(np.repeat(np.arange(len(scores)), counts))
    for metric in metrics:
        weighted = metric.compute(scores, counts[None, :].astype(float))[0]
        assert metric.value(repeated) == pytest.approx(weighted, rel=1e-9, abs=1e-12, nan_ok=True), label(metric)


def test_intervals_of_means_take_a_weight_for_repeated_rows_of_a_case() -> None:
    plain, metrics = scored_conversations("several replicates")
    counts = np.random.default_rng(2).integers(1, 4, len(plain))
    weighted = replace(plain, weight=counts.astype(float))
    repeated = plain.take(np.repeat(np.arange(len(plain)), counts))
    seen = 0
    for metric in metrics:
        if metric.name in ("decay_slope", "time_to_loss", "f1", "decay_slope_logistic", "decay_slope_tokens"):
            [one], [other] = (estimate(scores, [metric], draws=DRAWS) for scores in (weighted, repeated))
            assert one.status == other.status
            assert _numbers(one) == pytest.approx(_numbers(other), rel=1e-7, abs=1e-9, nan_ok=True), label(metric)
            seen += one.status == "ok"
    assert seen > 10


def test_a_slice_is_the_scores_of_its_rows(scored: tuple[Any, tuple[Metric, ...]]) -> None:
    scores, metrics = scored
    for one in slices_by(scores.groups):
        part: Scores = scores.take(np.flatnonzero(one.rows))
        found = estimate(scores, metrics, [one], draws=DRAWS)
        alone = estimate(part, metrics, draws=DRAWS)
        for inside, outside in zip(found, alone, strict=True):
            assert _numbers(inside) == pytest.approx(_numbers(outside), nan_ok=True), inside


def test_cases_are_the_unit_and_not_turns_or_replicates() -> None:
    """A conversation copied ten times over tells no more of other cases."""
    few, metrics = scored_conversations("a mixed model")
    many = few.take(np.tile(np.arange(len(few)), 10))
    compared = 0
    for metric in metrics:
        [one], [other] = (estimate(scores, [metric], draws=DRAWS) for scores in (few, many))
        if one.status == other.status == "ok" and one.method != "counted" and not _at_the_floor(metric, few):
            # Resampled conversations would shrink it to 0.32.
            assert other.high - other.low >= 0.5 * (one.high - one.low), label(metric)
            compared += 1
    assert compared > 40


def _at_the_floor(metric: Metric, scores: Scores) -> bool:
    """Whether cases are more alike than chance would have them, so that a share is taken for one of single facts."""
    if metric.counts is None or metric.linear is None:
        return False
    top, bottom = metric.linear.columns(scores).T
    return clustered_share(top, bottom, scores.patient, scores.base_weight).design_effect < 2


def test_a_higher_level_is_wider() -> None:
    scores, metrics = scored_conversations("a mixed model")
    for metric in metrics:
        narrow, wide = estimate(scores, [metric], draws=DRAWS, levels=(0.9, 0.99))
        if narrow.status == "ok" and narrow.method != "counted":
            assert wide.low <= narrow.low <= narrow.high <= wide.high, label(metric)


def test_a_study_whose_calls_failed_shows_no_headline() -> None:
    scores, metrics = scored_conversations("half of the calls failed")
    found = {one.metric: one for one in estimate(scores, metrics, draws=DRAWS) if dict(one.slice) in ({}, LIVE)}
    for name in ("recall", "recall_at_10", "decay_slope", "decay_gap", "time_to_loss"):
        assert found[name].status == "withheld", name
    told = ["refusal_rate", "truncation_rate", "other_language_rate", "unscorable_rate", "coverage"]
    assert [name for name, one in found.items() if one.status == "ok"] == told


LIVE = {"set": "critical", "arm": "live"}
