"""The sign-flip test against enumeration, R's exact binomial and its own draws; gaps against t by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.oracles import Case, cases
from workup.stats.intervals import t_critical
from workup.stats.paired_gaps import patient_gap, sign_flip


@settings(max_examples=80)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=11))
def test_the_exact_p_is_the_share_of_all_sign_patterns(differences: list[int]) -> None:
    reach = abs(sum(differences))
    sums = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    found = sign_flip(differences)
    assert found.p == pytest.approx(np.mean([abs(one) >= reach for one in sums]), abs=1e-12)
    assert (found.total, found.differing) == (sum(differences), sum(d != 0 for d in differences))


@cases("mcnemar")
def test_with_one_gold_a_patient_it_is_mcnemars_exact_test(case: Case) -> None:
    first, second = case.input["b"], case.input["c"]
    differences = [-1] * first + [1] * second + [0] * (case.input["a"] + case.input["d"])
    assert sign_flip(differences).p == case.near("p_exact")


def test_order_and_agreement_change_nothing_and_the_other_way_round_is_the_same() -> None:
    differences = [3, -1, 1, 2, -2, 1]
    assert sign_flip(differences) == sign_flip([0, *reversed(differences), 0])
    assert sign_flip([-d for d in differences]).p == sign_flip(differences).p


def test_drawn_patterns_come_near_the_exact_share_and_are_seeded() -> None:
    differences = np.random.default_rng(3).integers(-3, 4, 400) + (np.arange(400) % 9 == 0)
    exact, drawn = sign_flip(differences), sign_flip(differences, seed=1, steps=0)
    assert (exact.method, drawn.method) == ("exact", "20,000 draws")
    assert 0.01 < exact.p < 0.9
    assert drawn.p == pytest.approx(exact.p, abs=4 * np.sqrt(exact.p * (1 - exact.p) / 20_000))
    assert sign_flip(differences, seed=1, steps=0) == drawn != sign_flip(differences, seed=2, steps=0)


def test_drawn_p_is_never_0() -> None:
    assert sign_flip([1] * 200, steps=0).p == pytest.approx(1 / 20_001)


def test_no_difference_is_no_evidence() -> None:
    assert sign_flip([0, 0, 0]) == (0, 0, 1.0, "no patient differs")
    assert sign_flip([]).p == 1.0


@pytest.mark.parametrize("wrong", [[0.5, 1], [[1, 2]], [np.nan]])
def test_what_is_no_count_is_refused(wrong: list[float]) -> None:
    with pytest.raises(ValueError, match="one whole number per patient"):
        sign_flip(wrong)


# Gaps


def test_a_mean_difference_by_hand() -> None:
    differences = np.array([0.2, -0.1, 0.4, 0.0, 0.3, 0.1])
    mean = differences.mean()
    gap = patient_gap(mean, (differences - mean) / 6)
    assert gap.se == pytest.approx(differences.std(ddof=1) / np.sqrt(6))
    squares = (differences - mean) ** 2
    assert gap.df == pytest.approx(squares.sum() ** 2 / np.sum(squares**2))
    assert gap.ends(0.9) == pytest.approx(
        (mean - t_critical(0.9, gap.df) * gap.se, mean + t_critical(0.9, gap.df) * gap.se)
    )


# An influence whose square is no number any more is none.
_INFLUENCES = st.floats(-1, 1).map(lambda x: x if abs(x) > 1e-50 else 0.0)


@given(st.lists(_INFLUENCES, min_size=3, max_size=40), st.floats(-1, 1))
def test_p_and_interval_never_contradict_each_other(influence: list[float], value: float) -> None:
    gap = patient_gap(value, influence)
    if gap.se > 1e-9:
        low, high = gap.ends(0.95)
        assert 1 <= gap.df <= max(1, len(influence) - 1)
        if min(abs(low), abs(high)) > 1e-6:
            assert (gap.p() < 0.05) == (low > 0 or high < 0)


def test_four_who_differ_all_one_way_are_not_yet_evidence() -> None:
    """A normal interval would leave out 0 here, with one chance in eight of being wrong when nothing differs."""
    influence = np.array([0.01] * 4 + [0.0] * 96) - 0.0004
    low, _ = patient_gap(0.04, influence).ends()
    assert low < 0 < 0.04 - 1.96 * patient_gap(0.04, influence).se


def test_strata_are_centred_apart() -> None:
    influence, strata = [1.0, 1.2, -1.0, -1.2], [0, 0, 1, 1]
    assert patient_gap(0.0, influence, strata=strata).se == pytest.approx(np.sqrt(2 * 4 * 0.1**2))
    assert patient_gap(0.0, influence).se > 1


def test_alike_in_every_patient_has_no_error_to_go_by() -> None:
    assert np.isnan(patient_gap(0.1, [0.0, 0.0, 0.0]).p())
    with pytest.raises(ValueError, match="two patients or more"):
        patient_gap(0.1, [0.0])
