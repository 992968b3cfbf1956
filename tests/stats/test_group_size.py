"""From classes to patients, and from one comparison to several."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from workup.stats.sizes.groups import Need, family, pairs, patients_for, population, trials_for


def test_positives_become_patients_by_prevalence() -> None:
    assert patients_for(906, 0, prevalence=0.1) == (9060, "positives")
    assert patients_for(906, 906, prevalence=0.1) == (9060, "positives")
    assert patients_for(100, 906, prevalence=0.1) == (1007, "negatives")
    assert patients_for(0, 0, prevalence=0.1) == (0, "positives")
    with pytest.raises(ValueError, match="prevalence"):
        patients_for(10, 10, prevalence=1.0)
    with pytest.raises(ValueError, match="cannot be negative"):
        patients_for(-1, 10, prevalence=0.5)


@given(st.integers(1, 400), st.floats(0.01, 0.99), st.floats(0.5, 0.99))
def test_an_assured_number_is_the_fewest(successes: int, chance: float, assurance: float) -> None:
    found = trials_for(successes, chance, assurance=assurance)
    assert stats.binom.sf(successes - 1, found, chance) >= assurance - 1e-9
    if found > successes:
        assert stats.binom.sf(successes - 1, found - 1, chance) < assurance + 1e-9


def test_on_average_is_about_a_coin_toss_short_of_assured() -> None:
    average, assured = trials_for(100, 0.1), trials_for(100, 0.1, assurance=0.9)
    assert average == 1000
    assert assured > 1100


def test_every_group_reaches_its_need() -> None:
    needs = [Need("A", 294, 0, 0.10, 0.7), Need("B", 294, 300, 0.20, 0.25), Need("C", 294, 0, 0.05, 0.05)]
    plan = population(needs)
    assert plan.decided_by == "C"
    assert plan.total == math.ceil(294 / 0.05 / 0.05)
    for need, group in zip(needs, plan.groups, strict=True):
        assert group.group == need.group
        assert group.positives_expected >= need.positives - 1e-6
        assert group.negatives_expected >= need.negatives - 1e-6
        assert group.enrolled == math.floor(plan.total * need.share + 1e-9)
        assert group.total_needed <= plan.total
    assert [group.patients for group in plan.groups] == [2940, 1470, 5880]
    assert sum(group.enrolled for group in plan.groups) <= plan.total


def test_an_assured_total_is_larger() -> None:
    needs = [Need("A", 50, 0, 0.1, 0.5), Need("B", 50, 0, 0.1, 0.5)]
    assert population(needs, assurance=0.95).total > population(needs).total == 1000


@pytest.mark.parametrize(
    ("needs", "words"),
    [
        ([], "no group"),
        ([Need("A", 1, 1, 0.1, 0.6), Need("B", 1, 1, 0.1, 0.6)], "more than 1"),
        ([Need("A", 1, 1, 0.1, 0.5), Need("A", 1, 1, 0.1, 0.5)], "named once"),
        ([Need("A", 1, 1, 0.1, 0.0)], "share of group A"),
    ],
)
def test_groups_without_sense_are_refused(needs: list[Need], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        population(needs)


@given(st.integers(2, 12))
def test_the_comparisons_of_g_groups(groups: int) -> None:
    every, against_one = family(groups), family(groups, testing="versus-reference")
    assert every.comparisons == len(pairs(groups)) == groups * (groups - 1) // 2
    assert against_one.comparisons == groups - 1
    assert every.alpha_each == 0.05 / every.comparisons
    assert every.alpha_each <= every.alpha_sidak <= 0.05
    assert 1 - (1 - every.alpha_sidak) ** every.comparisons == pytest.approx(0.05)


def test_holm_plans_at_its_first_step() -> None:
    holm, plain, none = (family(4, correction=name) for name in ("holm", "bonferroni", "none"))  # type: ignore[arg-type]
    assert holm.alpha_each == plain.alpha_each == 0.05 / 6
    assert (holm.alpha_last, plain.alpha_last) == (0.05, 0.05 / 6)
    assert none.alpha_each == 0.05


def test_families_without_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 groups"):
        family(1)
    with pytest.raises(ValueError, match="testing must be"):
        family(3, testing="some")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="correction must be"):
        family(3, correction="fdr")  # type: ignore[arg-type]


def test_expected_positives_and_negatives_add_to_those_enrolled() -> None:
    plan = population([Need("A", 100, 0, 0.1, 0.9), Need("B", 100, 0, 0.3, 0.1)])
    for group, share, prevalence in zip(plan.groups, (0.9, 0.1), (0.1, 0.3), strict=True):
        assert group.positives_expected == pytest.approx(plan.total * share * prevalence)
        assert group.negatives_expected == pytest.approx(plan.total * share * (1 - prevalence))
