"""Stability index, Jensen–Shannon and chi-square against R and scipy; bins where values pile up; false flags."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import spatial, stats

from tests.support.oracles import Case, cases
from workup.stats import categorical_distances
from workup.stats.categorical_distances import (
    categories,
    chi_square,
    decile_cuts,
    jensen_shannon,
    psi,
    psi_null,
)
from workup.stats.random import generator
from workup.stats.reference import Reference

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

tables = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=8).filter(
    lambda rows: sum(one[0] for one in rows) > 0 and sum(one[1] for one in rows) > 0
)


def deciles(case: Case) -> tuple[Any, Any, Any]:
    x, y = np.sort(case.array("x")), np.sort(case.array("y"))
    cuts = decile_cuts(x)
    return cuts, cuts.counts(x), cuts.counts(y)


# ---- against R and scipy ---------------------------------------------------------------------------------------------


@cases("drift_continuous")
def test_deciles_and_shares_meet_r(case: Case) -> None:
    cuts, reference, window = deciles(case)
    assert cuts.values.tolist() == pytest.approx(case.expected["decile_edges_ref"][1:-1], rel=1e-12)
    assert (reference / reference.sum()).tolist() == case.near("ref_props")
    assert (window / window.sum()).tolist() == case.near("cur_props")


@cases("drift_continuous")
def test_index_and_divergence_meet_r(case: Case) -> None:
    _, reference, window = deciles(case)
    found = psi(reference, window, seed=1)
    assert found.value == case.near("psi")
    large = psi_null(found.value, found.bins, reference.sum(), window.sum())
    assert large.critical == case.near("psi_null95_yurdakul")
    assert jensen_shannon(reference, window).divergence == case.near("js_divergence_nats")
    assert jensen_shannon(reference, window).distance == case.near("js_distance_base2")


@cases("drift_categorical")
def test_categories_meet_r(case: Case) -> None:
    reference, window = case.input["ref"], case.input["cur"]
    found = chi_square(reference, window, seed=1)
    assert found.method == "asymptotic"
    assert (found.statistic, found.df) == (case.near("chi2"), case.expected["df"])
    assert (found.p, found.cramers_v) == (case.near("p"), case.near("cramers_v"))
    assert psi(reference, window, seed=1).value == case.near("psi")
    assert jensen_shannon(reference, window).divergence == case.near("js_nats")


@given(tables)
def test_statistics_meet_scipy(rows: list[tuple[int, int]]) -> None:
    reference, window = np.array(rows).T
    found = jensen_shannon(reference, window)
    assert found.distance == pytest.approx(spatial.distance.jensenshannon(reference, window, base=2), abs=1e-7)
    assert 0 <= found.divergence <= np.log(2) and 0 <= found.distance <= 1
    held = (reference + window) > 0
    test = chi_square(reference, window, seed=1, draws=19)
    if held.sum() == 1:
        assert test[:4] == (0.0, 0, 1.0, 0.0)
        return
    scipys = stats.chi2_contingency([reference[held], window[held]], correction=False)
    assert (test.statistic, test.df) == (pytest.approx(scipys.statistic, rel=1e-9, abs=1e-12), scipys.dof)
    assert test.smallest_expected == pytest.approx(scipys.expected_freq.min())
    assert (test.method == "monte carlo") == bool(test.smallest_expected < 5)


@given(tables, st.integers(2, 5))
def test_laws_of_counts(rows: list[tuple[int, int]], times: int) -> None:
    reference, window = np.array(rows).T
    found, divergence = psi(reference, window, seed=1, draws=9), jensen_shannon(reference, window)
    assert jensen_shannon(window, reference) == pytest.approx(divergence, abs=1e-12)
    assert psi(window, reference, seed=1, draws=9).value == pytest.approx(found.value, rel=1e-12, abs=1e-15)
    assert psi(reference[::-1], window[::-1], seed=1, draws=9).value == pytest.approx(found.value, rel=1e-9, abs=1e-15)
    assert psi(times * reference, times * window, seed=1, draws=9).value == pytest.approx(found.value, rel=1e-9)
    assert psi(reference, times * reference, seed=1, draws=9).value == 0
    assert jensen_shannon(reference, times * reference).divergence == pytest.approx(0, abs=1e-15)
    once, more = (
        chi_square(reference, window, seed=1, draws=9),
        chi_square(times * reference, times * window, seed=1, draws=9),
    )
    assert more.statistic == pytest.approx(times * once.statistic, rel=1e-9, abs=1e-12)
    assert more.cramers_v == pytest.approx(once.cramers_v, rel=1e-9, abs=1e-9)
    empty = np.append(reference, 0), np.append(window, 0)
    assert psi(*empty, seed=1, draws=9).value == pytest.approx(found.value, rel=1e-12, abs=1e-15)
    assert chi_square(*empty, seed=1, draws=9) == once


# ---- bins ------------------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(-1e6, 1e6), min_size=10, max_size=80, unique=True))
def test_cuts_are_rs_quantiles_and_bins_close_on_the_right(values: list[float]) -> None:
    ascending = np.sort(values)
    cuts = decile_cuts(ascending)
    expected = np.quantile(ascending, np.arange(1, 10) / 10)
    if cuts.values.size == 9 and not cuts.before.any():
        assert cuts.values.tolist() == pytest.approx(expected.tolist(), rel=1e-9, abs=1e-9)
    counts = cuts.counts(ascending)
    assert counts.sum() == ascending.size
    by_hand = [np.count_nonzero(ascending <= one) for one in cuts.values[~cuts.before]]
    assert np.cumsum(counts)[:-1][~cuts.before].tolist() == by_hand


@given(st.integers(1, 12), st.randoms(use_true_random=False))
def test_an_order_preserving_change_of_unit_leaves_the_index(tens: int, random: Any) -> None:
    """With 10k + 1 rows deciles are rows themselves, and only order counts."""
    x = np.array([random.randint(-9, 9) / 2 for _ in range(10 * tens + 1)])
    y = np.array([random.randint(-9, 9) / 2 for _ in range(30)])
    found = []
    for bend in (lambda value: value, np.exp, lambda value: 5 * value**3 - 2):
        ascending = np.sort(bend(x))
        cuts = decile_cuts(ascending)
        found.append(psi(cuts.counts(ascending), cuts.counts(np.sort(bend(y))), seed=1, draws=9).value)
    assert found == pytest.approx([found[0]] * 3, rel=1e-12, abs=1e-15)


def test_a_pile_of_equal_values_is_a_bin_of_its_own() -> None:
    rng = generator(7, "atoms")
    reference = np.sort(np.where(rng.random(5000) < 0.3, 0.0, rng.gamma(2, 2, 5000)))
    cuts = decile_cuts(reference)
    assert cuts.values[:2].tolist() == [0.0, 0.0] and cuts.before[:2].tolist() == [True, False]
    counts = cuts.counts(reference)
    assert counts[0] == 0 and counts[1] == np.count_nonzero(reference == 0)
    # Zeros that turn negative leave every bin closed on the right as it was; here they are seen.
    fallen = np.sort(np.where(reference == 0, -1.0, reference))
    assert psi(counts, cuts.counts(fallen), seed=1).value > 2
    assert psi(counts, counts, seed=1).value == 0


def _psi_as_in_r(reference: list[float], window: list[float]) -> float:
    """unique(quantile(x, 1:9 / 10)), bins (a, b], shares raised to 1e-4: written out, without this package."""
    ordered, edges = sorted(reference), set()
    for tenth in range(1, 10):
        place, rest = divmod(tenth * (len(ordered) - 1), 10)
        above = ordered[min(place + 1, len(ordered) - 1)]
        edges.add(ordered[place] if above == ordered[place] else ordered[place] + rest / 10 * (above - ordered[place]))
    ends = [float("-inf"), *sorted(edges), float("inf")]
    total = 0.0
    for low, high in pairwise(ends):
        e, a = (max(1e-4, sum(low < one <= high for one in side) / len(side)) for side in (reference, window))
        total += (a - e) * math.log(a / e)
    return total


@pytest.mark.parametrize("seed", range(6))
def test_merged_deciles_are_those_of_r(seed: int) -> None:
    rng = np.random.default_rng(seed)
    reference = np.sort(np.where(rng.random(400) < 0.35, 0.0, rng.poisson(3, 400).astype(float)))
    window = np.sort(rng.poisson(3.5, 250).astype(float))
    cuts = decile_cuts(reference, ties="merge")
    assert not cuts.before.any()
    assert np.unique(cuts.values).size == cuts.values.size < 9
    counts = cuts.counts(reference), cuts.counts(window)
    assert psi(*counts, seed=1, draws=9).value == pytest.approx(_psi_as_in_r(reference.tolist(), window.tolist()))
    for make in (Reference.exact, Reference.binned):
        found = make(reference, ties="merge").compare(window, seed=1).psi.value
        assert found == pytest.approx(_psi_as_in_r(reference.tolist(), window.tolist()))


@cases("drift_continuous")
def test_without_ties_both_conventions_are_one(case: Case) -> None:
    x, y = np.sort(case.array("x")), np.sort(case.array("y"))
    cuts = decile_cuts(x, ties="merge")
    assert psi(cuts.counts(x), cuts.counts(y), seed=1, draws=9).value == case.near("psi")


def test_what_merging_cannot_see() -> None:
    """Zeros that turn negative stay in the lowest bin of R's convention: no index, where the own bin shows it."""
    reference = np.sort(np.where(np.arange(1_000) % 3 == 0, 0.0, np.arange(1_000) / 100))
    fallen = np.sort(np.where(reference == 0, -1.0, reference))
    merged, own = (decile_cuts(reference, ties=ties) for ties in ("merge", "own_bin"))  # type: ignore[arg-type]
    assert psi(merged.counts(reference), merged.counts(fallen), seed=1).value == 0
    assert psi(own.counts(reference), own.counts(fallen), seed=1).value > 2


@pytest.mark.parametrize("moved", [-1.0, 1.0])
def test_a_constant_column_that_moves_is_seen_either_way(moved: float) -> None:
    reference = np.zeros(200)
    cuts = decile_cuts(reference)
    window = np.full(100, moved)
    found = psi(cuts.counts(reference), cuts.counts(window), seed=1)
    assert found.value > 15 and found.p < 0.001
    same = psi(cuts.counts(reference), cuts.counts(reference), seed=1)
    assert (same.value, same.bins, same.p) == (0.0, 1, 1.0)


def test_a_quantile_that_is_a_row_is_that_row() -> None:
    # 0.3 times 10 is not 3 in every arithmetic; the edge must be the row, or its bin loses it.
    for n in range(11, 500, 10):
        ascending = np.sort(generator(8, n).normal(size=n))
        assert decile_cuts(ascending).values.tolist() == ascending[(n - 1) // 10 : -1 : (n - 1) // 10].tolist()


# ---- chance ----------------------------------------------------------------------------------------------------------


def false_flags(n: int, m: int, *, chi2: bool, times: int = 400) -> float:
    rng = generator(9, "psi null", n, m)
    flags = 0
    for one in range(times):
        x, y = np.sort(rng.normal(size=n)), np.sort(rng.normal(size=m))
        cuts = decile_cuts(x)
        found = psi(cuts.counts(x), cuts.counts(y), seed=one, draws=199)
        if chi2:
            found = psi_null(found.value, found.bins, n, m)
        else:
            assert (found.p <= 0.05) == (found.value >= found.critical) or found.p == pytest.approx(0.05, abs=0.011)
        flags += found.p <= 0.05
    return flags / times


@pytest.mark.parametrize(("n", "m"), [(1000, 20), (1000, 100), (60, 50), (700, 600)])
def test_the_index_flags_one_in_twenty_without_drift(n: int, m: int) -> None:
    assert 0.02 <= false_flags(n, m, chi2=False) <= 0.085  # 0.05 with 400 repetitions, 3 standard errors


def test_chi_square_alone_would_flag_small_windows() -> None:
    assert false_flags(1000, 20, chi2=True) > 0.5


def test_null_of_the_index_meets_its_moments() -> None:
    null = categorical_distances._null_indices(np.full(10, 1000.0), 8000, generator(1, "null"), 4000)
    large = psi_null(0.0, 10, 10_000, 8000)
    assert null.mean() == pytest.approx(large.expected, rel=0.03)
    assert np.quantile(null, 0.95) == pytest.approx(large.critical, rel=0.05)
    assert psi_null(large.critical, 10, 10_000, 8000).p == pytest.approx(0.05, rel=1e-9)


def test_drawn_tables_meet_the_exact_test() -> None:
    n, m, hits = 30, 12, 5
    found = chi_square([1, 29], [4, 8], seed=3)
    hypergeometric = stats.hypergeom(n + m, hits, m)
    k = np.arange(hits + 1)
    gap = np.abs(k - m * hits / (n + m))
    exact = hypergeometric.pmf(k[gap >= gap[4] - 1e-9]).sum()
    assert found.method == "monte carlo"
    assert found.p == pytest.approx(exact, abs=4 * np.sqrt(exact / 9999))
    assert chi_square([1, 29], [4, 8], seed=3) == found
    assert chi_square([1, 29], [4, 8], seed=4).p != found.p


def test_no_drawn_p_is_zero() -> None:
    assert chi_square([1000, 2, 0], [0, 0, 1000], seed=1, draws=99).p == 0.01


# ---- levels ----------------------------------------------------------------------------------------------------------


def test_levels_of_one_side_only_are_counted() -> None:
    found = categories(["b", "a", "b"], ["c", "a", "c", "d"])
    assert found.levels.tolist() == ["a", "b", "c", "d"]
    assert found.reference.tolist() == [1, 2, 0, 0] and found.window.tolist() == [1, 0, 2, 1]
    assert found.unseen == 2
    assert chi_square(found.reference, found.window, seed=1).df == 3


def test_codes_and_numbers_are_levels_and_nan_is_left_out() -> None:
    found = categories(np.array([1.0, np.nan, 2.0]), np.array([2.0, 2.0, np.nan]))
    assert found.levels.tolist() == [1.0, 2.0] and found.window.tolist() == [0, 2]
    assert categories([3, 1], np.array([True])).reference.tolist() == [1, 1]


@pytest.mark.parametrize("pair", [(["a"], [1]), ([["a"]], ["a"]), ([None, "a"], ["a"])])
def test_levels_of_two_kinds_are_refused(pair: Any) -> None:
    with pytest.raises(ValueError, match=r"categories must|different kinds"):
        categories(*pair)


@pytest.mark.parametrize("call", [psi, chi_square])
@pytest.mark.parametrize(
    "counts", [([0, 0], [1, 2]), ([1], [1, 2]), ([1, -1], [1, 2]), ([1, np.nan], [1, 2]), ([], [])]
)
def test_counts_are_checked(call: Any, counts: Any) -> None:
    with pytest.raises(ValueError, match=r"counts must|count for each bin|no rows"):
        call(*counts, seed=1)


def test_weighted_small_counts_and_senseless_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="whole counts"):
        chi_square([1.5, 20], [3, 8], seed=1)
    with pytest.raises(ValueError, match="at least one"):
        chi_square([1, 20], [3, 8], seed=1, draws=0)
    with pytest.raises(ValueError, match="at least one"):
        psi([1, 20], [3, 8], seed=1, draws=0)
    with pytest.raises(ValueError, match="at least 2 bins"):
        decile_cuts(np.arange(5.0), bins=1)
