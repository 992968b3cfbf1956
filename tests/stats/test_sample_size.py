"""Two proportions: sizes, power and detectable gaps against R, and the flaws of common planning formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.oracles import Case, cases
from workup.stats.sizes.groups import family
from workup.stats.sizes.pilot import scaled_detectable, scaled_power, scaled_size
from workup.stats.sizes.proportions import (
    METHODS,
    Method,
    detectable_gap,
    one_proportion_and_gap,
    power_curve,
    two_proportions,
    two_proportions_power,
    whole,
)

# ---- R ---------------------------------------------------------------------------------------------------------------


@cases("power_proportions", prefix="n_two_prop")
def test_sizes_are_those_of_r(case: Case) -> None:
    p1, p2 = case.input["p1"], case.input["p2"]
    rates = {"alpha": case.input["alpha"], "power": case.input["power"]}
    pooled = two_proportions(p1, p2, **rates)
    assert pooled.n1 == pooled.n2 == case.near("n_pooled_formula")
    assert pooled.n1 == pytest.approx(case.expected["n_power_prop_test"], rel=1e-4)  # R's own root is that coarse
    assert two_proportions(p1, p2, strict=True, **rates).n1 == pytest.approx(case.expected["n_strict"], rel=1e-4)
    assert two_proportions(p1, p2, method="arcsine", **rates).n1 == case.near("n_arcsine_pwr")
    assert two_proportions(p1, p2, method="continuity", **rates).n1 == case.near("n_fleiss_continuity")
    assert two_proportions(p1, p2, method="unpooled", **rates).n1 == case.near("n_unpooled")


@cases("power_proportions", prefix="n_two_prop")
def test_the_formula_without_the_factor_2_is_not_ours(case: Case) -> None:
    """It gives half the rows, and about half the power that was asked for."""
    p1, p2, alpha = case.input["p1"], case.input["p2"], case.input["alpha"]
    naive = case.expected["naive_formula_n"]
    for method in METHODS:
        assert two_proportions(p1, p2, alpha=alpha, power=case.input["power"], method=method).first > 1.8 * naive
    at_naive = two_proportions_power(p1, p2, naive, alpha=alpha, strict=True)
    assert float(at_naive) == case.near("true_power_at_naive_n")
    assert float(at_naive) < case.input["power"] - 0.25


@cases("power_proportions", prefix="power_n")
def test_power_is_that_of_r(case: Case) -> None:
    n, p1, p2, alpha = (case.input[name] for name in ("n", "p1", "p2", "alpha"))
    assert float(two_proportions_power(p1, p2, n, alpha=alpha)) == case.near("power_pooled")
    assert float(two_proportions_power(p1, p2, n, alpha=alpha, strict=True)) == case.near("power_strict")
    assert float(two_proportions_power(p1, p2, n, alpha=alpha, method="arcsine")) == case.near("power_arcsine")


@cases("power_proportions", prefix="unequal")
def test_unequal_groups_are_those_of_hmisc(case: Case) -> None:
    p1, p2, share, alpha = (case.input[name] for name in ("p1", "p2", "frac", "alpha"))
    found = two_proportions(p1, p2, share=share, alpha=alpha, power=case.input["power"])
    assert found.n1 == case.near("n1_bsamsize")
    assert found.n2 == case.near("n2_bsamsize")
    m, n = found.first, found.second
    assert float(two_proportions_power(p1, p2, m, n, alpha=alpha, strict=True)) == case.near("bpower_at_ceil")
    arcsine = two_proportions_power(p1, p2, m, n, alpha=alpha, method="arcsine")
    assert float(arcsine) == case.near("arcsine_power_at_ceil")


@cases("power_proportions", prefix="bonferroni")
def test_bonferroni_over_the_pairs_of_groups(case: Case) -> None:
    groups = {3: 3, 10: 5}[case.input["m"]]
    plan = family(groups, alpha=case.input["alpha"])
    assert plan.comparisons == case.input["m"]
    assert plan.alpha_each == case.near("alpha_bonf")
    assert plan.alpha_sidak == case.near("alpha_sidak")
    found = two_proportions(case.input["p1"], case.input["p2"], alpha=plan.alpha_each, power=case.input["power"])
    assert found.n1 == pytest.approx(case.expected["n_bonf"], rel=1e-4)


# ---- flaws of common planning ----------------------------------------------------------------------------------------


def test_the_factor_2_is_there() -> None:
    """0.80 against 0.85 needs 906 a group, not 454; the other direction needs more."""
    assert (two_proportions(0.80, 0.85).first, two_proportions(0.80, 0.75).first) == (906, 1094)
    plan = one_proportion_and_gap(0.80, 0.05)
    assert plan.down is not None and plan.up is not None
    assert (plan.down.first, plan.up.first, plan.needed.first) == (1094, 906, 1094)
    assert plan.not_possible == ()


def test_75_events_a_group_detect_21_points_and_not_10() -> None:
    found = detectable_gap(0.80, 75)
    assert found.down == pytest.approx(0.209, abs=0.001)
    assert found.up == pytest.approx(0.150, abs=0.001)
    assert found.value == found.down
    assert float(two_proportions_power(0.80, 0.70, 75)) == pytest.approx(0.291, abs=0.001)
    plan = one_proportion_and_gap(0.80, 0.10)
    assert plan.needed.first == 294
    assert plan.needed.p2 == pytest.approx(0.70)


# ---- directions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("p", "gap"), [(0.80, 0.20), (0.9, 0.1), (0.95, 0.10), (0.7, 0.3)])
def test_a_direction_that_ends_at_1_is_not_possible_and_the_other_is_returned(p: float, gap: float) -> None:
    plan = one_proportion_and_gap(p, gap)
    assert plan.up is None
    assert plan.needed == plan.down
    assert plan.needed.p2 == pytest.approx(p - gap)
    [reason] = plan.not_possible
    assert reason.startswith("up")
    assert "not between 0 and 1" in reason


def test_a_direction_that_ends_at_0_is_not_possible() -> None:
    plan = one_proportion_and_gap(0.05, 0.05)
    assert plan.down is None
    assert plan.needed == plan.up


def test_a_gap_that_fits_nowhere_is_an_error() -> None:
    with pytest.raises(ValueError, match="not possible in either direction"):
        one_proportion_and_gap(0.5, 0.6)
    with pytest.raises(ValueError, match="gap must be positive"):
        one_proportion_and_gap(0.5, 0.0)


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.1, 1.2, math.nan])
def test_proportions_must_lie_inside(bad: float) -> None:
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        two_proportions(bad, 0.5)
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        two_proportions(0.5, bad)
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        two_proportions_power(0.5, bad, 10)


def test_other_inputs_that_make_no_sense_are_errors() -> None:
    with pytest.raises(ValueError, match="no number of rows"):
        two_proportions(0.5, 0.5)
    with pytest.raises(ValueError, match="power must exceed alpha"):
        two_proportions(0.5, 0.6, power=0.04)
    with pytest.raises(ValueError, match="share"):
        two_proportions(0.5, 0.6, share=1.0)
    with pytest.raises(ValueError, match="method must be one of"):
        two_proportions(0.5, 0.6, method="exact")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="positive size"):
        two_proportions_power(0.5, 0.6, 0)


# ---- laws ------------------------------------------------------------------------------------------------------------

SHARES = st.floats(0.02, 0.98)


@given(SHARES, SHARES, st.floats(0.05, 0.95), st.floats(0.001, 0.2), st.floats(0.3, 0.99), st.sampled_from(METHODS))
def test_the_power_at_the_size_is_the_power_asked_for(
    p1: float, p2: float, share: float, alpha: float, power: float, method: Method
) -> None:
    if abs(p1 - p2) < 0.005:
        return
    found = two_proportions(p1, p2, share=share, alpha=alpha, power=power, method=method)
    reached = two_proportions_power(p1, p2, found.n1, found.n2, alpha=alpha, method=method)
    assert float(reached) == pytest.approx(power, abs=1e-8)
    assert found.n2 / found.n1 == pytest.approx((1 - share) / share)
    strict = two_proportions(p1, p2, share=share, alpha=alpha, power=power, method=method, strict=True)
    assert strict.n1 <= found.n1 * (1 + 1e-6)


@given(SHARES, SHARES, st.floats(0.1, 0.9))
def test_the_groups_and_the_outcome_may_be_called_either_way_round(p1: float, p2: float, share: float) -> None:
    if abs(p1 - p2) < 0.005:
        return
    here = two_proportions(p1, p2, share=share)
    there = two_proportions(p2, p1, share=1 - share)
    assert (here.n1, here.n2) == pytest.approx((there.n2, there.n1))
    assert two_proportions(1 - p1, 1 - p2, share=share).n1 == pytest.approx(here.n1)


@given(st.floats(0.05, 0.95), st.integers(5, 5000), st.sampled_from(METHODS))
def test_the_detectable_gap_is_detected_with_the_power_asked_for(p: float, n: int, method: Method) -> None:
    found = detectable_gap(p, n, method=method)
    for gap, other in ((found.down, p - found.down), (found.up, p + found.up)):
        if math.isfinite(gap):
            assert float(two_proportions_power(p, other, n, method=method)) == pytest.approx(0.8, abs=1e-6)
    assert len(found.reasons) == math.isnan(found.down) + math.isnan(found.up)


def test_a_direction_without_a_detectable_gap_says_so_and_takes_its_room() -> None:
    found = detectable_gap(0.95, 75)
    assert math.isnan(found.up)
    assert found.reasons[0].startswith("up: no difference from 0.95")
    assert found.value == found.down > 0.05
    few = detectable_gap(0.5, 4)
    assert math.isnan(few.down) and math.isnan(few.up) and math.isnan(few.value)
    assert len(few.reasons) == 2
    # Above 0.98 nothing is found in 400 rows, and below more than the room above is.
    assert detectable_gap(0.98, 300).value == detectable_gap(0.98, 300).down


def test_rounding_up_forgives_arithmetic_and_nothing_more() -> None:
    assert (whole(906.0000000001), whole(906.001), whole(905.3), whole(906.0)) == (906, 907, 906, 906)


def test_planned_power_is_met_by_the_whole_numbers() -> None:
    """At the rounded size power is at least the one asked for, one row fewer leaves it short."""
    assert float(two_proportions_power(0.80, 0.85, 906)) >= 0.8 > float(two_proportions_power(0.80, 0.85, 905))


def test_a_curve_holds_the_size_needed_and_rises() -> None:
    curve = power_curve(lambda n: two_proportions_power(0.80, 0.75, n), needed=1093.7)
    assert 1094 in curve.n
    assert (np.diff(curve.power) > 0).all()
    assert curve.power[curve.n == 1094][0] == pytest.approx(0.8, abs=0.001)
    assert curve.n[-1] == round(2 * 1093.7)


# ---- from a pilot ----------------------------------------------------------------------------------------------------


def test_a_pilot_of_two_groups_plans_as_the_unpooled_formula_does() -> None:
    p1, p2, n = 0.8, 0.7, 150
    se = math.sqrt(p1 * (1 - p1) / n + p2 * (1 - p2) / n)
    needed = scaled_size(p1 - p2, se=se, n=n)
    assert needed == pytest.approx(two_proportions(p1, p2, method="unpooled", strict=True).n1, rel=1e-9)
    assert float(scaled_power(p1 - p2, se=se, n=n, at=needed)) == pytest.approx(0.8)
    assert scaled_detectable(se=se, n=n, at=needed) == pytest.approx(p1 - p2)
    assert scaled_power(0.1, se=se, n=n).shape == ()
    assert scaled_power(0.1, se=se, n=n, at=[50, 100, 200]).shape == (3,)


def test_a_pilot_without_spread_is_refused() -> None:
    with pytest.raises(ValueError, match="must be positive"):
        scaled_size(0.1, se=0.0, n=100)
    with pytest.raises(ValueError, match="must not be 0"):
        scaled_size(0.0, se=0.1, n=100)


def test_one_wrong_share_among_many_is_refused() -> None:
    for p1, p2, n1 in (([0.8, 1.2], 0.7, 75), (0.8, [0.7, 0.0], 75), (0.8, 0.7, [75, 0])):
        with pytest.raises(ValueError, match="strictly between 0 and 1, and every group needs a positive size"):
            two_proportions_power(p1, p2, n1)
