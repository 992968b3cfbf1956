"""A stored reference: kept whole it answers as scipy does, kept as quantiles it stays within the bound it states."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.support.oracles import Case, cases
from workup.stats import reference
from workup.stats.distances import kolmogorov_smirnov, missingness, wasserstein
from workup.stats.random import generator
from workup.stats.reference import BinnedReference, Distances, Reference

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

Floats = npt.NDArray[np.float64]

# Point masses, halves between them, and values nobody else has.
values = st.sampled_from([0.0, 0.0, 0.0, 1.0, -2.0]) | st.integers(-6, 6).map(lambda k: k / 2) | st.floats(-50, 50)
columns = st.lists(values, min_size=1, max_size=150)

SHAPES = ("continuous", "zeros", "whole", "long tail", "two values", "constant", "answers")


def column(shape: str, n: int, *names: str | int) -> Floats:
    """Columns as clinics have them: a third zeros, counts, long tails, yes and no."""
    rng = generator(11, shape, n, *names)
    if shape == "zeros":
        return np.where(rng.random(n) < 0.3, 0.0, rng.gamma(2, 2, n))
    if shape == "whole":
        return rng.poisson(40, n).astype(np.float64)
    if shape == "long tail":
        return np.exp(2 * rng.normal(size=n))
    if shape == "two values":
        return np.where(rng.random(n) < 0.5, -1.5, 7.25)
    if shape == "constant":
        return np.full(n, 0.1 + 0.2)
    if shape == "answers":
        return (rng.random(n) < 0.04).astype(np.float64)
    return rng.normal(size=n)


def assert_within_bound(whole: Distances, kept: Distances, bound: float) -> None:
    """What a binned reference says may miss the exact answer by what it states, and no more."""
    rounding = 1e-12 * (1 + whole.wasserstein.distance)
    assert kept.ks_error <= bound + 1e-15
    assert kept.ks.statistic - 1e-12 <= whole.ks.statistic <= kept.ks.statistic + kept.ks_error + 1e-12
    assert abs(kept.wasserstein.distance - whole.wasserstein.distance) <= kept.wasserstein_error + rounding
    assert kept.psi == whole.psi
    assert kept.jensen_shannon == whole.jensen_shannon
    assert kept.missing == whole.missing
    assert (kept.rows_reference, kept.rows_window) == (whole.rows_reference, whole.rows_window)


# ---- kept whole ------------------------------------------------------------------------------------------------------


@cases("drift_continuous")
def test_one_comparison_meets_r(case: Case) -> None:
    found = Reference.exact(case.array("x")).compare(case.array("y"), seed=1)
    assert found.ks.statistic == case.near("ks_D")
    assert found.wasserstein.distance == case.near("wasserstein1")
    assert found.wasserstein.scaled == case.near("wasserstein1_over_ref_sd")
    assert found.psi.value == case.near("psi")
    assert found.jensen_shannon.divergence == case.near("js_divergence_nats")
    assert (found.ks_error, found.wasserstein_error) == (0.0, 0.0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rows", [20_000, 13_337])
def test_a_stored_reference_meets_scipy(shape: str, rows: int) -> None:
    x, y = column(shape, 20_000, "before"), column(shape, rows, "after")
    y[: rows // 50] += 0.3
    found = Reference.exact(x).compare(y, seed=1)
    assert found.ks.statistic == pytest.approx(stats.ks_2samp(x, y, method="asymp").statistic, abs=1e-12)
    assert found.wasserstein.distance == pytest.approx(stats.wasserstein_distance(x, y), rel=1e-9)


def test_a_comparison_is_what_the_functions_say() -> None:
    x, y = column("zeros", 400, "before"), column("zeros", 300, "after")
    x[:20], y[:45] = np.nan, np.nan
    found = Reference.exact(x).compare(y, seed=1)
    assert found.ks == kolmogorov_smirnov(x, y)
    assert found.wasserstein == wasserstein(x, y)
    assert found.missing == missingness(20, 400, 45, 300)
    assert (found.rows_reference, found.rows_window) == (380, 255)
    assert found == Reference.exact(x[::-1]).compare(generator(1, "order").permutation(y), seed=1)
    assert found.psi != Reference.exact(x).compare(y, seed=2).psi  # 255 rows in bins: the null is drawn
    assert found.psi.value == Reference.exact(x).compare(y, seed=2).psi.value


def test_precisions_meet_in_the_coarser() -> None:
    x, y = np.round(column("continuous", 3000, "before"), 1), np.round(column("continuous", 2000, "after"), 1)
    both = Reference.exact(x.astype(np.float32)).compare(y.astype(np.float32), seed=1)
    assert Reference.exact(x).compare(y.astype(np.float32), seed=1) == both
    assert Reference.exact(x.astype(np.float32)).compare(y, seed=1) == both
    assert both.ks.statistic == Reference.exact(x).compare(y, seed=1).ks.statistic
    assert Reference.exact(x.astype(np.float32)).ascending.dtype == np.float32


# ---- kept as quantiles -----------------------------------------------------------------------------------------------


@settings(max_examples=120)
@given(columns, columns, st.integers(1, 25))
def test_the_bound_holds_whatever_piles_up(x: list[float], y: list[float], quantiles: int) -> None:
    kept = Reference.binned(x, quantiles=quantiles)
    assert kept.ks_bound < 1 / quantiles
    assert_within_bound(Reference.exact(x).compare(y, seed=1), kept.compare(y, seed=1), kept.ks_bound)


@settings(max_examples=40)
@given(
    st.sampled_from(SHAPES),
    st.sampled_from(SHAPES),
    st.floats(-0.5, 0.5).map(lambda shift: shift if abs(shift) > 0.1 else 0.0),
    st.sampled_from([1, 7, 2500, 30_000]),
)
def test_two_thousand_quantiles_are_within_half_a_thousandth(before: str, after: str, shift: float, m: int) -> None:
    x, y = column(before, 30_000, "before"), column(after, m, "after") + shift
    kept = Reference.binned(x)
    assert kept.ks_bound <= 0.0005
    assert_within_bound(Reference.exact(x).compare(y, seed=1), kept.compare(y, seed=1), 0.0005)


def test_what_the_bound_allows_for_does_happen() -> None:
    x = np.arange(2000.0)
    kept = Reference.binned(x, quantiles=10)
    y = np.full(50, 1190.25)  # 191 rows of the reference lie between the edge at 1000 and the whole window
    whole, found = Reference.exact(x).compare(y, seed=1), kept.compare(y, seed=1)
    assert whole.ks.statistic == pytest.approx(1191 / 2000)
    assert found.ks.statistic == pytest.approx(1001 / 2000)
    assert whole.ks.statistic - found.ks.statistic <= found.ks_error <= kept.ks_bound < 0.1


@pytest.mark.parametrize("shape", ["whole", "two values", "constant", "answers"])
def test_few_distinct_values_lose_nothing(shape: str) -> None:
    x, y = column(shape, 9000, "before"), column(shape, 4000, "after")
    y[:300] -= 1
    kept = Reference.binned(x)
    whole, found = Reference.exact(x).compare(y, seed=1), kept.compare(y, seed=1)
    assert kept.ks_bound == 0 and found.ks_error == 0
    assert found.ks.statistic == whole.ks.statistic
    # A window may still lie between two values of the reference, which only Wasserstein's distance notices.
    slack = found.wasserstein_error + 1e-12
    assert found.wasserstein.distance == pytest.approx(whole.wasserstein.distance, abs=slack)
    assert (found.wasserstein_error == 0) == (shape != "two values")


def test_what_is_kept_does_not_grow() -> None:
    sizes = {}
    for n in (50_000, 200_000):
        kept = Reference.binned(column("continuous", n))
        sizes[n] = kept.grid.edges.size
        assert kept.counts.size == 2 * sizes[n] + 1
        assert not any(np.size(held) >= n for held in (*vars(kept).values(), *vars(kept.grid).values()))
    assert max(sizes.values()) < 2050


def test_rows_far_outside_keep_their_distance() -> None:
    x, y = column("continuous", 5000, "before"), np.array([-300.0, 0.0, 500.0])
    whole, found = Reference.exact(x).compare(y, seed=1), Reference.binned(x).compare(y, seed=1)
    assert found.wasserstein.distance == pytest.approx(whole.wasserstein.distance, abs=found.wasserstein_error)
    assert found.wasserstein_error < 2  # of some 267


def test_the_note_states_the_bound() -> None:
    kept = Reference.binned(column("continuous", 40_000))
    assert "40,000 rows" in kept.note() and f"{kept.ks_bound:.6f}" in kept.note()
    assert 0 < kept.ks_bound <= 0.0005


# ---- batches ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_batches_in_any_order_and_merged_are_the_whole(shape: str) -> None:
    x, y = column(shape, 8000, "before"), column(shape, 5000, "after")
    y[::17] = np.nan
    kept = Reference.binned(x)
    whole = kept.compare(y, seed=1)
    parts = np.array_split(y, [1, 900, 900, 3100])
    there = kept.window().update(parts[4]).update(parts[0])
    here = kept.window().update(parts[2]).update(parts[1]).merge(there).update(parts[3])
    assert here.missing == np.isnan(y).sum() and here.rows == 5000 - here.missing
    found = kept.compare(here, seed=1)
    assert found._replace(wasserstein=whole.wasserstein) == whole
    assert found.wasserstein == pytest.approx(whole.wasserstein, rel=1e-12, nan_ok=True)


def test_windows_of_another_reference_are_refused() -> None:
    first, second = (Reference.binned(column("continuous", 3000, name)) for name in ("first", "second"))
    again = Reference.binned(column("continuous", 3000, "first"))
    with pytest.raises(ValueError, match="different references"):
        first.compare(second.window().update([1.0]), seed=1)
    with pytest.raises(ValueError, match="different references"):
        first.window().merge(second.window())
    assert first.compare(again.window().update([1.0]), seed=1) == first.compare([1.0], seed=1)


# ---- what a column may hold ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [Reference.exact, Reference.binned])
def test_columns_are_checked(make: Any) -> None:
    for bad, why in (([], "holds no value"), ([np.nan], "holds no value"), ([1.0, np.inf], "infinite")):
        with pytest.raises(ValueError, match=f"the reference {why}|the reference holds {why}"):
            make(bad)
        with pytest.raises(ValueError, match=f"the window {why}|the window holds {why}"):
            make([1.0, 2.0]).compare(bad, seed=1)
    with pytest.raises(ValueError, match="the window must be one column"):
        make([1.0]).compare([[1.0]], seed=1)


def test_a_refused_batch_leaves_the_window_as_it_was() -> None:
    kept = Reference.binned(column("continuous", 1000))
    window = kept.window().update([0.5, np.nan, 9.0])
    before = window.counts.copy(), window.missing, window.outside
    with pytest.raises(ValueError, match="infinite"):
        window.update([0.1, np.nan, -np.inf])
    assert window.counts.tolist() == before[0].tolist()
    assert (window.missing, window.outside) == before[1:]
    assert window.update([]).rows == 2


def test_single_precision_is_kept_or_refused_never_mixed() -> None:
    tenths = np.round(column("continuous", 5000), 1)
    single = Reference.binned(tenths.astype(np.float32))
    assert single.compare(tenths, seed=1).ks.statistic == 0  # rounded alike
    assert single.compare(tenths.astype(np.float32), seed=1).wasserstein.distance == 0
    with pytest.raises(ValueError, match="float32"):
        Reference.binned(tenths).compare(tenths.astype(np.float32), seed=1)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_table_counts_as_sorting_does(shape: str, dtype: Any) -> None:
    x, y = column(shape, 20_000, "before").astype(dtype), column(shape, 70_000, "after").astype(dtype)
    y[:5], y[5:10] = -1e30, 1e30
    grid = Reference.binned(x).grid
    counts = grid.count(y)
    assert counts.tolist() == grid.by_sorting(y).tolist()
    assert counts[0] >= 5 and counts[-1] >= 5 and counts.sum() == y.size
    assert counts[1::2].tolist() == [np.count_nonzero(y == edge) for edge in grid.edges.astype(dtype)]


def test_both_ways_of_counting_are_used() -> None:
    ways = {shape: Reference.binned(column(shape, 20_000)).grid.by_table for shape in SHAPES}
    assert ways["continuous"] and ways["whole"] and not ways["long tail"] and not ways["constant"]


def test_neighbouring_and_huge_numbers_are_told_apart() -> None:
    near = 1.0 + np.arange(3000) * np.finfo(float).eps
    for x in (near, np.arange(-1500, 1500) * 1e305, np.arange(3000) * 5e-324):
        kept: BinnedReference = Reference.binned(x, quantiles=500)
        assert kept.grid.count(x).tolist() == kept.grid.by_sorting(x).tolist() == kept.counts.tolist()


def test_quantiles_are_checked() -> None:
    with pytest.raises(ValueError, match="at least one quantile"):
        Reference.binned([1.0], quantiles=0)


def test_missing_values_are_counted_among_all_rows_in_both_ways_of_keeping() -> None:
    before = np.append(np.arange(60.0), np.full(40, np.nan))
    after = np.append(np.arange(30.0), np.full(10, np.nan))
    expected = missingness(40, 100, 10, 40, level=0.95)
    for kept in (Reference.exact(before), Reference.binned(before, quantiles=20)):
        assert kept.compare(after, seed=1).missing == expected


def test_the_bound_of_the_area_is_reached_by_the_worst_case_and_no_wider() -> None:
    """All of one side at the lower edge of a bin, all of the other at the upper one: the lines drawn are the same."""
    drawn, bound = reference._area(np.array([0.0, 1.0]), np.array([0, 0, 10, 0, 0]), np.array([0, 0, 5, 0, 0]))
    assert (drawn, bound) == (0.0, 1.0)
