"""Simulated power of whole procedures: decisions against single tests in turn, and sizes against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from workup.stats.sizes.groups import Testing, pairs
from workup.stats.intervals import chi2_proportions
from workup.stats.multiplicity import adjust
from workup.stats.sizes.proportions import two_proportions, two_proportions_power
from workup.stats.sizes.simulated_power import (
    PROCEDURES,
    Procedure,
    _binomial,
    declared,
    family_power,
    family_size,
    one_apart,
)


def one_study(counts: np.ndarray, sizes: tuple[int, ...], testing: Testing, procedure: Procedure) -> list[bool]:
    """The procedure as the subgroups lens would walk through it, one test at a time."""
    p = []
    for i, j in pairs(len(sizes), testing=testing):
        found = chi2_proportions([counts[i], counts[j]], [sizes[i], sizes[j]]).p
        p.append(1.0 if math.isnan(found) else found)
    adjusted = adjust(p, method="bonferroni" if procedure == "bonferroni" else "holm")
    gate = chi2_proportions(counts, sizes).p <= 0.05 if procedure == "gatekeeper" else True
    return [bool(gate and value <= 0.05) for value in adjusted]


@pytest.mark.parametrize("procedure", PROCEDURES)
@pytest.mark.parametrize("testing", ["all-pairs", "versus-reference"])
def test_decisions_are_those_of_the_tests_one_at_a_time(procedure: Procedure, testing: Testing) -> None:
    rng = np.random.default_rng(2)
    sizes = (30, 60, 45, 25)
    counts = rng.binomial(sizes, (0.8, 0.8, 0.65, 0.5), size=(400, 4))
    counts[0], counts[1] = 0, sizes  # nothing to see where all or none count
    found = declared(counts, sizes, testing=testing, procedure=procedure)
    assert found.tolist() == [one_study(row, sizes, testing, procedure) for row in counts]
    assert 0.05 < found.mean() < 0.95


def test_counts_are_binomial_quantiles() -> None:
    uniform = np.random.default_rng(3).random(20_000)
    for n, p in ((1, 0.5), (5, 0.8), (50, 0.02), (906, 0.8), (100_000, 0.75)):
        assert _binomial(uniform, n, p).tolist() == stats.binom.ppf(uniform, n, p).tolist()


def test_two_groups_are_the_closed_form() -> None:
    """One pair, one test: the whole machinery must find what the formula says, within Monte-Carlo error."""
    for procedure in ("holm", "bonferroni"):
        found = family_power((0.8, 0.7), (294, 294), procedure=procedure, seed=1, repetitions=20_000)
        assert found.weakest == found.any == found.all
        assert found.weakest == pytest.approx(float(two_proportions_power(0.8, 0.7, 294)), abs=4 * found.se + 0.005)
    needed = family_size((0.8, 0.7), procedure="bonferroni", seed=1)
    assert needed.sizes[0] == pytest.approx(two_proportions(0.8, 0.7).first, rel=0.05)


def test_bonferroni_over_pairs_meets_its_closed_form_and_holm_and_the_gate_are_beside_it() -> None:
    rates = one_apart(0.8, -0.1, 4)
    plan = two_proportions(0.8, 0.7, alpha=0.05 / 6)
    sizes = (plan.first,) * 4
    found = {name: family_power(rates, sizes, procedure=name, seed=5, repetitions=20_000) for name in PROCEDURES}
    each = np.array(found["bonferroni"].each)
    true = [j == 3 for _, j in found["bonferroni"].pairs]
    assert each[true] == pytest.approx([0.8] * 3, abs=0.015)
    assert found["holm"].weakest >= found["bonferroni"].weakest
    assert found["gatekeeper"].weakest <= found["holm"].weakest
    assert found["gatekeeper"].all <= found["gatekeeper"].weakest <= found["gatekeeper"].any
    assert all(one.any_false < 0.05 for one in found.values())
    assert all(one.true_gaps == 3 for one in found.values())


def test_identical_groups_have_no_power_and_few_false_gaps() -> None:
    found = family_power((0.8,) * 4, (200,) * 4, seed=5, repetitions=20_000)
    assert math.isnan(found.weakest) and math.isnan(found.any) and math.isnan(found.all)
    assert 0 < found.any_false <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 20_000)
    assert found.omnibus == pytest.approx(0.05, abs=0.01)
    assert found.true_gaps == 0


@pytest.mark.parametrize("goal", ["weakest", "any", "all"])
def test_the_size_reaches_its_goal_and_one_row_fewer_does_not(goal: str) -> None:
    rates = (0.85, 0.85, 0.7)
    found = family_size(rates, goal=goal, seed=7, repetitions=4000)  # type: ignore[arg-type]
    assert getattr(found.reached, goal) >= 0.8
    fewer = tuple(n - 1 for n in found.sizes)
    assert getattr(family_power(rates, fewer, seed=7, repetitions=4000), goal) < 0.8
    assert found.total == sum(found.sizes)


def test_goals_are_ordered_and_shares_kept() -> None:
    rates = (0.85, 0.85, 0.7)
    sizes = {
        goal: family_size(rates, goal=goal, seed=7, repetitions=2000).sizes[0] for goal in ("any", "weakest", "all")
    }  # type: ignore[arg-type]
    assert sizes["any"] < sizes["weakest"] < sizes["all"]
    found = family_size(rates, shares=(0.6, 0.3, 0.1), seed=7, repetitions=2000)
    assert found.sizes[0] == 6 * found.sizes[2]
    assert found.sizes[1] == 3 * found.sizes[2]


def test_a_seed_decides_everything() -> None:
    first = family_size((0.8, 0.8, 0.6), seed=3, repetitions=1000)
    assert first == family_size((0.8, 0.8, 0.6), seed=3, repetitions=1000)
    assert family_power((0.8, 0.6), (50, 50), seed=3) != family_power((0.8, 0.6), (50, 50), seed=4)


def test_versus_reference_compares_with_the_first_group() -> None:
    found = family_power((0.8, 0.8, 0.6), (200,) * 3, testing="versus-reference", seed=1, repetitions=2000)
    assert found.pairs == ((0, 1), (0, 2))
    assert found.true_gaps == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: family_size((0.8, 0.8), seed=1), "no gap to find"),
        (lambda: family_size((0.8, 0.7), shares=(1.0, 0.0), seed=1), "shares"),
        (lambda: family_size((0.8, 0.7), goal="most", seed=1), "goal must be"),
        (lambda: family_power((0.8, 0.7), (10, 10), procedure="fdr", seed=1), "procedure must be"),
        (lambda: family_power((0.8, 1.0), (10, 10), seed=1), "rate must lie"),
        (lambda: family_power((0.8,), (10,), seed=1), "at least 2 groups"),
        (lambda: family_power((0.8, 0.7), (10, 0), seed=1), "at least 1"),
        (lambda: one_apart(0.8, 0.2, 3), "p \\+ gap must lie"),
        (lambda: one_apart(0.8, 0.1, 1), "at least 2 groups"),
    ],
)
def test_inputs_without_sense_are_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
