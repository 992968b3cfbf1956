"""Sizes for AUCs: two groups, two models, one against chance, and the width of an interval."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from tests.support.oracles import Case, cases
from workup.stats.rank import hanley_mcneil
from workup.stats.sizes import auc as auc_size
from workup.stats.sizes.auc import (
    auc_above_chance,
    auc_above_chance_power,
    auc_and_gap,
    auc_detectable,
    auc_groups,
    auc_groups_power,
    auc_interval_size,
    auc_models,
    auc_models_power,
)
from workup.stats.sizes.auc_variance import auc_variance, obuchowski_variance

AUCS = st.floats(0.52, 0.98)
PREVALENCES = st.floats(0.02, 0.9)


@cases("power_auc", prefix="auc_diff_two_groups")
def test_two_groups_are_those_of_the_root_solved_in_r(case: Case) -> None:
    auc1, auc2, prev, alpha = (case.input[name] for name in ("auc1", "auc2", "prev", "alpha"))
    found = auc_groups(auc1, auc2, prevalence=prev, alpha=alpha, power=case.input["power"])
    assert found.n1 == found.n2 == case.near("n_per_group_independent")
    positives, negatives, *_ = found.classes
    assert float(auc_variance(auc1, positives, negatives)) == case.near("var1_at_n")


@cases("power_auc", prefix="auc_diff_two_groups")
def test_disjoint_groups_are_not_correlated(case: Case) -> None:
    """A correlation of 0.5 between different patients halves the size, and leaves about half the power."""
    auc1, auc2, prev, alpha = (case.input[name] for name in ("auc1", "auc2", "prev", "alpha"))
    naive = case.expected["n_per_group_naive_rho0.5"]
    found = auc_groups(auc1, auc2, prevalence=prev, alpha=alpha, power=case.input["power"])
    assert found.n1 > 1.9 * naive
    classes = {"positives": naive * prev, "negatives": naive * (1 - prev)}
    assert float(auc_groups_power(auc1, auc2, alpha=alpha, **classes)) == case.near("true_power_at_naive_n")
    # Where the same patients are scored twice that number is right, and the correlation must be said.
    paired = auc_models(auc1, auc2, correlation=0.5, prevalence=prev, alpha=alpha, power=case.input["power"])
    assert paired.n1 == case.near("n_per_group_naive_rho0.5")
    power = auc_models_power(auc1, auc2, correlation=0.5, alpha=alpha, **classes)
    assert float(power) == pytest.approx(case.input["power"], abs=1e-9)


def test_groups_take_no_correlation_and_models_have_no_default_one() -> None:
    for function in (auc_groups, auc_groups_power, auc_and_gap, auc_detectable):
        assert "correlation" not in inspect.signature(function).parameters
    for function in (auc_models, auc_models_power):
        assert inspect.signature(function).parameters["correlation"].default is inspect.Parameter.empty


@cases("power_auc", prefix="obuchowski_one")
def test_one_auc_is_that_of_proc(case: Case) -> None:
    auc, alpha, power, kappa, n = (case.input[name] for name in ("auc", "alpha", "power", "kappa", "ncases"))
    found = auc_above_chance(auc, controls_per_case=kappa, alpha=alpha, power=power)
    assert found.cases == case.near("ncases")
    assert found.controls == case.near("ncontrols")
    assert found.variance == float(obuchowski_variance(auc, controls_per_case=kappa)) == case.near("obuchowski_V")
    reached = auc_above_chance_power(auc, cases=n, controls=n * kappa, alpha=alpha)
    assert float(reached) == case.near("power_at_ncases")


@cases("power_auc", prefix="auc_ci_width")
def test_the_width_of_an_interval(case: Case) -> None:
    auc, prev, width = (case.input[name] for name in ("auc", "prev", "width"))
    assert auc_interval_size(auc, prevalence=prev, width=width) == case.near("n_hanley_for_ci_width")


@given(AUCS, AUCS, PREVALENCES, PREVALENCES, st.floats(0.1, 0.9))
def test_the_power_at_the_size_is_the_power_asked_for(
    auc1: float, auc2: float, prevalence: float, other: float, share: float
) -> None:
    if abs(auc1 - auc2) < 0.005:
        return
    found = auc_groups(auc1, auc2, prevalence=prevalence, prevalence2=other, share=share)
    m1, n1, m2, n2 = found.classes
    power = float(auc_groups_power(auc1, auc2, positives=m1, negatives=n1, positives2=m2, negatives2=n2))
    fewest = min(m1, n1, m2, n2)
    assert power == pytest.approx(0.8, abs=1e-7) or (fewest == pytest.approx(2) and power >= 0.8)
    assert found.total == found.first + found.second
    turned = auc_groups(auc2, auc1, prevalence=other, prevalence2=prevalence, share=1 - share)
    assert (turned.n2, turned.n1) == pytest.approx((found.n1, found.n2), rel=1e-7)


def test_the_vector_form_is_the_variance_of_hanley_and_mcneil() -> None:
    found = auc_variance([0.7, 0.9], [20, 50], 100)
    assert found.tolist() == pytest.approx([hanley_mcneil(0.7, 20, 100), hanley_mcneil(0.9, 50, 100)])


def test_two_models_of_the_same_patients_are_one_set_of_patients() -> None:
    paired = auc_models(0.80, 0.85, correlation=0.5, prevalence=0.1)
    assert paired.total == paired.first == paired.second
    more = auc_models(0.80, 0.85, correlation=0.8, prevalence=0.1)
    assert more.n1 < paired.n1 < auc_models(0.80, 0.85, correlation=0.0, prevalence=0.1).n1


def test_both_directions_and_the_larger() -> None:
    plan = auc_and_gap(0.80, 0.05, prevalence=0.1)
    assert plan.up is not None and plan.down is not None
    assert plan.up.first == 4224
    assert plan.needed == plan.down
    assert plan.down.n1 > plan.up.n1
    edge = auc_and_gap(0.95, 0.05, prevalence=0.1)
    assert edge.up is None
    assert edge.not_possible[0].startswith("up")


def test_the_detectable_gap_is_found_with_the_power_asked_for() -> None:
    sizes = {"positives": 60.0, "negatives": 540.0, "positives2": 30.0, "negatives2": 300.0}
    found = auc_detectable(0.75, **sizes)
    assert float(auc_groups_power(0.75, 0.75 - found.down, **sizes)) == pytest.approx(0.8, abs=1e-6)
    assert float(auc_groups_power(0.75, 0.75 + found.up, **sizes)) == pytest.approx(0.8, abs=1e-6)
    assert found.value == max(found.down, found.up)


@pytest.mark.parametrize("bad", [0.0, 1.0, 1.1, math.nan])
def test_an_auc_at_the_end_of_its_scale_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="auc2 must lie strictly between 0 and 1"):
        auc_groups(0.8, bad, prevalence=0.1)


def test_what_cannot_be_found_raises_with_a_sentence() -> None:
    with pytest.raises(ValueError, match="no number of patients"):
        auc_groups(0.8, 0.8, prevalence=0.1)
    with pytest.raises(ValueError, match=r"not feasible: even .* patients"):
        auc_groups(0.8, 0.8 + 1e-7, prevalence=0.1)
    with pytest.raises(ValueError, match="correlation must lie strictly between -1 and 1"):
        auc_models(0.8, 0.85, correlation=1.0, prevalence=0.1)
    with pytest.raises(ValueError, match=r"auc must lie strictly between 0\.5 and 1"):
        auc_above_chance(0.5)


def test_a_size_never_falls_below_two_of_either_class() -> None:
    found = auc_groups(0.999, 0.5, prevalence=0.5, power=0.3)
    assert min(found.classes) >= auc_size.FEWEST - 1e-9


def test_power_is_a_curve() -> None:
    n = np.array([500.0, 1000.0, 4224.0, 8000.0])
    power = auc_groups_power(0.80, 0.85, positives=n * 0.1, negatives=n * 0.9)
    assert (np.diff(power) > 0).all()
    assert power[2] == pytest.approx(0.8, abs=1e-4)


@pytest.mark.parametrize(("auc", "m", "n"), [(0.8, 30, 200), (0.8, 200, 30), (0.65, 60, 60)])
@pytest.mark.parametrize("shape", ["exponential", "normal"])
def test_either_variance_is_that_of_drawn_scores(auc: float, m: int, n: int, shape: str) -> None:
    """4,000 samples: their variance has a relative standard error of about 2.2 %."""
    rng = np.random.default_rng(6)
    if shape == "exponential":
        above, below = rng.exponential(auc / (1 - auc), (4000, m)), rng.exponential(1.0, (4000, n))
    else:
        above, below = rng.normal(math.sqrt(2) * special.ndtri(auc), 1.0, (4000, m)), rng.normal(size=(4000, n))
    ranks = np.argsort(np.argsort(np.hstack([above, below]), axis=1), axis=1)[:, :m] + 1
    drawn = (ranks.sum(axis=1) - m * (m + 1) / 2) / (m * n)
    assert drawn.mean() == pytest.approx(auc, abs=0.005)
    assert drawn.var() == pytest.approx(float(auc_variance(auc, m, n, scores=shape)), rel=0.09)  # type: ignore[arg-type]


def test_the_shape_of_the_scores_matters_most_where_the_classes_are_unequal() -> None:
    """Hanley and McNeil's plan is large for normal scores with few positives and too small with few negatives."""
    for prevalence, larger in ((0.1, True), (0.9, False)):
        usual = auc_groups(0.80, 0.85, prevalence=prevalence)
        normal = auc_groups(0.80, 0.85, prevalence=prevalence, scores="normal")
        assert (usual.n1 > 1.2 * normal.n1) is larger
        assert (normal.n1 > 1.2 * usual.n1) is not larger
        m, n, *_ = usual.classes
        reached = float(auc_groups_power(0.80, 0.85, positives=m, negatives=n, scores="normal"))
        assert reached > 0.9 if larger else reached < 0.65
    with pytest.raises(ValueError, match="scores must be"):
        auc_groups(0.80, 0.85, prevalence=0.1, scores="uniform")  # type: ignore[arg-type]
