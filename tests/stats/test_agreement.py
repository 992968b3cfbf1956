"""Agreement of raters against published and independent values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from workup.stats.agreement import icc_agreement, paired_kappa, weighted_kappa
from workup.stats.intervals import t_critical

# Shrout and Fleiss (1979), table 2: six targets, four judges.
SHROUT_FLEISS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
SCALE = (1, 2, 3, 4, 5)


def test_icc_of_shrout_and_fleiss() -> None:
    found = icc_agreement(SHROUT_FLEISS)
    # Mean squares of their table 3: between targets 11.24, judges 32.49, residual 1.02.
    assert found.single.value == pytest.approx((11.2417 - 1.0194) / (11.2417 + 3 * 1.0194 + 4 * 31.4667 / 6), abs=1e-4)
    assert found.single.value == pytest.approx(0.2898, abs=1e-4)
    assert found.mean.value == pytest.approx(0.6201, abs=1e-4)
    # The intervals that R's psych::ICC prints for the same table.
    assert (found.single.low, found.single.high) == pytest.approx((0.019, 0.761), abs=5e-4)
    assert (found.mean.low, found.mean.high) == pytest.approx((0.071, 0.927), abs=5e-4)
    assert (found.units, found.raters) == (6, 4)


def test_icc_interval_of_the_mean_is_mcgraw_and_wongs_own() -> None:
    """Their direct form for the mean of k raters, against Spearman and Brown's way that is taken here."""
    from scipy.special import fdtri

    x = SHROUT_FLEISS.astype(float)
    n, k = x.shape
    rows = k * x.mean(1).var(ddof=1)
    columns = n * x.mean(0).var(ddof=1)
    rest = x - x.mean(1, keepdims=True) - x.mean(0, keepdims=True) + x.mean()
    error = (rest**2).sum() / ((n - 1) * (k - 1))
    r = (rows - error) / (rows + (columns - error) / n)
    a, b = r / (n * (1 - r)), 1 + r * (n - 1) / (n * (1 - r))
    df = (a * columns + b * error) ** 2 / ((a * columns) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1)))
    down, up = fdtri(n - 1, df, 0.975), fdtri(df, n - 1, 0.975)
    low = n * (rows - down * error) / (down * (columns - error) + n * rows)
    high = n * (up * rows - error) / (columns - error + n * up * rows)
    found = icc_agreement(x).mean
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9)


def test_icc_with_a_rater_who_is_always_harsher_is_below_one() -> None:
    found = icc_agreement([[1, 2], [2, 3], [3, 4], [4, 5]])
    # Perfectly consistent, never equal: MSR = 10/3, MSC = 2, MSE = 0, so 3.333 / (3.333 + 2 * 2 / 4).
    assert found.single.value == pytest.approx((10 / 3) / (10 / 3 + 1))
    assert found.mean.value == pytest.approx((10 / 3) / (10 / 3 + 0.5))


def test_icc_that_cannot_be_told_is_undefined() -> None:
    same = icc_agreement([[4, 4], [4, 4], [4, 4]])
    assert np.isnan([same.single.value, same.mean.value, same.single.low]).all()
    equal = icc_agreement([[1, 1], [3, 3], [5, 5]])
    assert equal.single.value == 1 and np.isnan([equal.single.low, equal.single.high]).all()
    assert np.isnan(icc_agreement([[1, 2, 3]]).single.value)
    assert np.isnan(icc_agreement([[1], [2]]).mean.value)
    with pytest.raises(ValueError, match="complete table"):
        icc_agreement(np.array([[1, np.nan], [2, 3]]))


tables = arrays(np.float64, st.tuples(st.integers(3, 8), st.integers(2, 4)), elements=st.integers(1, 5).map(float))


@settings(max_examples=60, deadline=None)
@given(tables, st.randoms(use_true_random=False))
def test_order_of_units_and_raters_changes_no_icc(table: np.ndarray, random: object) -> None:
    rows, columns = list(range(table.shape[0])), list(range(table.shape[1]))
    random.shuffle(rows)  # type: ignore[attr-defined]
    random.shuffle(columns)  # type: ignore[attr-defined]
    here, there = icc_agreement(table), icc_agreement(table[rows][:, columns])
    for one, other in ((here.single, there.single), (here.mean, there.mean)):
        assert one == pytest.approx(other, nan_ok=True, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(tables, st.floats(0.5, 20), st.floats(-50, 50))
def test_another_scale_of_rating_changes_no_icc(table: np.ndarray, step: float, shift: float) -> None:
    here, there = icc_agreement(table), icc_agreement(table * step + shift)
    assert here.single == pytest.approx(there.single, nan_ok=True, abs=1e-6)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(SCALE), st.sampled_from(SCALE)), min_size=2, max_size=40), st.integers(1, 2))
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[int, int]], power: int) -> None:
    from sklearn.metrics import cohen_kappa_score

    first, second = zip(*pairs, strict=True)
    found = weighted_kappa(first, second, levels=SCALE, power=power)
    if len({*first, *second}) == 1:
        assert np.isnan(found)  # both said one thing only: scikit-learn warns and answers NaN
        return
    weights = "quadratic" if power == 2 else "linear"
    assert found == pytest.approx(cohen_kappa_score(first, second, labels=list(SCALE), weights=weights), abs=1e-12)
    assert found == pytest.approx(weighted_kappa(second, first, levels=SCALE, power=power), abs=1e-12)


def test_kappa_by_hand() -> None:
    # Observed disagreement 1 + 1 = 2 over 4; expected: sums of squared steps over margins (1,2,3,4) x (1,2,4,3).
    first, second = [1, 2, 3, 4], [1, 2, 4, 3]
    expected = sum((a - b) ** 2 for a in first for b in second) / 16
    assert weighted_kappa(first, second, levels=SCALE) == pytest.approx(1 - (2 / 4) / expected)


def test_ratings_off_the_scale_are_refused() -> None:
    with pytest.raises(ValueError, match="level of the scale"):
        weighted_kappa([1, 6], [1, 2], levels=SCALE)
    with pytest.raises(ValueError, match="level of the scale"):
        weighted_kappa([1, 2.5], [1, 2], levels=SCALE)
    with pytest.raises(ValueError, match="rising order"):
        weighted_kappa([1, 2], [1, 2], levels=[2, 1])
    with pytest.raises(ValueError, match="same units"):
        weighted_kappa([1, 2, 3], [1, 2], levels=SCALE)


def test_paired_kappa_is_the_mean_with_a_jackknife_over_clusters() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(1, 6, size=24)
    table = np.clip(truth[:, None] + rng.integers(-1, 2, size=(24, 3)), 1, 5).astype(float)
    table[3, 2] = table[17, 0] = np.nan
    clusters = np.repeat(np.arange(8), 3)
    pairs = [(0, 1), (0, 2), (1, 2)]

    def mean_kappa(keep: np.ndarray) -> float:
        kappas = []
        for a, b in pairs:
            use = keep & np.isfinite(table[:, a]) & np.isfinite(table[:, b])
            kappas.append(weighted_kappa(table[use, a], table[use, b], levels=SCALE))
        return float(np.mean(kappas))

    found = paired_kappa(table, pairs=pairs, clusters=clusters, levels=SCALE)
    assert found.value == pytest.approx(mean_kappa(np.ones(24, dtype=bool)))
    left_out = np.array([mean_kappa(clusters != one) for one in range(8)])
    se = np.sqrt(7 / 8 * np.sum((left_out - left_out.mean()) ** 2))
    assert found.se == pytest.approx(se)
    assert found.high == pytest.approx(min(1.0, found.value + t_critical(0.95, 7) * se))
    assert (found.clusters, found.pairs, found.ratings) == (8, 3, 24 + 24 + 24 - 4)


def test_paired_kappa_without_a_common_unit_or_any_room_is_undefined() -> None:
    apart = paired_kappa([[1, np.nan], [np.nan, 2]], pairs=[(0, 1)], clusters=[0, 1], levels=SCALE)
    assert np.isnan(apart.value) and apart.pairs == 0
    same = paired_kappa([[4, 4], [4, 4]], pairs=[(0, 1)], clusters=[0, 1], levels=SCALE)
    assert np.isnan(same.value) and same.ratings == 2
    alike = paired_kappa([[4, 4], [3, 3], [2, 2]], pairs=[(0, 1)], clusters=[0, 1, 2], levels=SCALE)
    assert alike.value == 1 and np.isnan(alike.low)
    one = paired_kappa([[4, 4], [3, 2]], pairs=[(0, 1)], clusters=[7, 7], levels=SCALE)
    assert np.isfinite(one.value) and np.isnan(one.low) and one.clusters == 1


def test_a_scale_of_two_levels_is_plain_kappa() -> None:
    """Agreement 7/10; chance .6·.5 + .4·.5 = .5."""
    first = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    second = [1, 1, 1, 1, 0, 0, 0, 0, 0, 1]
    assert weighted_kappa(first, second, levels=[0, 1]) == pytest.approx((0.7 - 0.5) / 0.5)
    with pytest.raises(ValueError, match="at least two"):
        weighted_kappa([1, 1], [1, 1], levels=[1])
