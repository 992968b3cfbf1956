"""Golds and documents for a leak bound or a recall gap: each answer against the interval or the test it plans for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from workup.stats.sizes.clustered import (
    Bound,
    Sides,
    clustered,
    clusters_for_none,
    design_effect,
    golds_for_bound,
    leak_power,
    leak_size,
    recall_gap_size,
)
from workup.stats.intervals import clopper_pearson, clustered_share, effective_ends, wilson
from workup.stats.sizes.proportions import two_proportions

METHODS = st.sampled_from(["wilson", "clopper-pearson"])
SIDES = st.sampled_from(["one", "two"])


def upper(misses: int, golds: int, level: float, sides: Sides, method: Bound) -> float:
    two_sided = level if sides == "two" else 2 * level - 1
    if method == "wilson":
        return wilson(misses / golds, golds, level=two_sided).high
    return clopper_pearson(misses, golds, level=two_sided).high


@given(st.integers(0, 30), st.floats(0.002, 0.4), st.sampled_from([0.9, 0.95, 0.99]), SIDES, METHODS)
def test_the_fewest_golds_are_the_fewest(misses: int, bound: float, level: float, sides: Sides, method: Bound) -> None:
    golds = golds_for_bound(misses, bound, level=level, sides=sides, method=method)
    assert upper(misses, golds, level, sides, method) <= bound * (1 + 1e-9)
    if golds - 1 > misses:
        assert upper(misses, golds - 1, level, sides, method) > bound * (1 - 1e-9)


def test_the_rule_of_three() -> None:
    assert golds_for_bound(0, 0.01, sides="one", method="clopper-pearson") == 299
    assert golds_for_bound(0, 0.01, sides="two", method="clopper-pearson") == 368
    assert golds_for_bound(0, 0.01, sides="one") == 268
    assert golds_for_bound(0, 0.01, sides="two") == 381


def assurance(golds: int, bound: float, rate: float, sides: Sides, method: Bound) -> float:
    """By going through every count of misses that can happen."""
    counts = np.arange(0, golds)
    under = [upper(int(x), golds, 0.95, sides, method) <= bound * (1 + 1e-12) for x in counts[: int(bound * golds) + 2]]
    allowed = sum(under) - 1
    return float(stats.binom.cdf(allowed, golds, rate)) if allowed >= 0 else 0.0


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson"])
@pytest.mark.parametrize("sides", ["one", "two"])
@pytest.mark.parametrize(("bound", "rate"), [(0.02, 0.005), (0.05, 0.01), (0.1, 0.05)])
def test_the_first_size_with_enough_assurance_and_the_one_from_which_it_stays(
    bound: float, rate: float, sides: Sides, method: Bound
) -> None:
    plan = leak_size(bound, leak_rate=rate, sides=sides, method=method)
    every = np.array([assurance(n, bound, rate, sides, method) for n in range(1, 3 * plan.steady_golds)])
    sizes = np.arange(1, 3 * plan.steady_golds)
    assert plan.golds == sizes[every >= 0.8][0]
    assert plan.steady_golds == sizes[every < 0.8][-1] + 1
    assert plan.assurance == pytest.approx(every[plan.golds - 1])
    assert plan.allowed_misses == golds_allowed(plan.golds, bound, sides, method)
    curve = leak_power(sizes, bound, leak_rate=rate, sides=sides, method=method)
    assert curve == pytest.approx(every, abs=1e-12)


def golds_allowed(golds: int, bound: float, sides: Sides, method: Bound) -> int:
    return max(x for x in range(golds) if upper(x, golds, 0.95, sides, method) <= bound)


def test_no_leak_expected_allows_none_and_is_sure() -> None:
    plan = leak_size(0.005)
    assert (plan.allowed_misses, plan.golds, plan.steady_golds, plan.assurance) == (0, 765, 765, 1.0)


def test_a_rate_near_the_bound_needs_very_many_and_one_at_it_is_refused() -> None:
    assert leak_size(0.01, leak_rate=0.009, method="clopper-pearson").golds > 60_000
    for rate in (0.01, 0.02, -0.1):
        with pytest.raises(ValueError, match="not feasible"):
            leak_size(0.01, leak_rate=rate)
    with pytest.raises(ValueError, match="not feasible"):
        leak_size(0.5, leak_rate=0.49999)


def test_documents_follow_the_design_effect_when_misses_are_allowed() -> None:
    plan = leak_size(0.02, leak_rate=0.005, design_effect=1.7, golds_per_document=8)
    assert plan.allowed_misses > 0
    assert plan.clustered == clustered(plan.golds, design_effect=1.7, golds_per_document=8)
    assert plan.documents == plan.clustered.documents == math.ceil(math.ceil(plan.golds * 1.7) / 8)


def test_when_none_may_be_missed_documents_are_counted_as_the_analysis_counts_them() -> None:
    """With no miss the design effect cannot be seen: eight golds in each of 48 documents are not worth 381."""

    def upper(documents: int, size: float = 8.0) -> float:
        golds = np.full(documents, size)
        return effective_ends(clustered_share(0 * golds, golds, np.arange(documents), np.ones(documents))).high

    plan = leak_size(0.01, golds_per_document=8)
    assert plan.documents > plan.clustered.documents
    assert upper(plan.clustered.documents) > 0.02
    assert upper(plan.documents) <= 0.01 < upper(plan.documents - 1)
    # No design makes do with fewer, whatever is missed.
    more = leak_size(0.01, leak_rate=0.001, golds_per_document=80)
    assert more.allowed_misses > 0
    assert upper(more.documents, 80.0) <= 0.01 < upper(more.documents - 1, 80.0)


@pytest.mark.parametrize(("bound", "clusters"), [(0.10, 11), (0.05, 22), (0.02, 55)])
def test_the_rule_of_thumb_for_clusters(bound: float, clusters: int) -> None:
    assert clusters_for_none(bound, size=18, sides="one") == clusters
    assert abs((1 + 2 / 18) / -math.log1p(-bound) - clusters) < 1


@given(st.floats(0, 1), st.floats(1, 50), st.floats(0, 2))
def test_a_design_effect_is_at_least_1_and_grows(icc: float, size: float, cv: float) -> None:
    assert design_effect(icc=icc, size=size) >= 1
    assert design_effect(icc=icc, size=size, size_cv=cv) >= design_effect(icc=icc, size=size)


def test_design_effects_by_hand() -> None:
    assert design_effect(icc=0.1, size=8) == pytest.approx(1.7)
    assert design_effect(icc=0.1, size=8, size_cv=0.5) == pytest.approx(1.9)
    assert design_effect(icc=-0.05, size=8) == 1.0
    with pytest.raises(ValueError, match="icc"):
        design_effect(icc=1.5, size=8)
    with pytest.raises(ValueError, match="design_effect must be at least 1"):
        clustered(100, design_effect=0.5)


def test_a_recall_gap_scales_the_plan_of_two_proportions() -> None:
    plan = recall_gap_size(0.95, 0.90, share=0.25, design_effect=1.7, golds_per_document=8)
    pair = two_proportions(0.95, 0.90, share=0.25)
    assert plan.pair == pair
    assert plan.first.independent == pair.first
    assert plan.second.golds == int(np.ceil(pair.n2 * 1.7))
    assert plan.second.documents == int(np.ceil(plan.second.golds / 8))


@settings(max_examples=20)
@given(st.floats(0.005, 0.1), st.floats(0.0, 0.6), SIDES, METHODS)
def test_more_assurance_needs_no_fewer_golds(bound: float, part: float, sides: Sides, method: Bound) -> None:
    sizes = [
        leak_size(bound, leak_rate=part * bound, assurance=a, sides=sides, method=method).golds for a in (0.5, 0.8, 0.9)
    ]
    assert sizes == sorted(sizes)


def test_left_alone_a_document_holds_one_gold_and_golds_are_independent() -> None:
    plan = leak_size(0.01, sides="one", method="clopper-pearson")
    assert (plan.golds, plan.documents, plan.clustered.documents) == (299, 299, 299)
