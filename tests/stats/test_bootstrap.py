"""Which units a replicate holds, and intervals from replicates: against R's boot and against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.oracles import Case, cases
from workup.stats import bootstrap

# ---- intervals, against R --------------------------------------------------------------------------------------------


@cases("bootstrap_bca")
def test_bca_meets_boot(case: Case) -> None:
    t0, t, influence = case.input["t0"], case.array("t"), case.array("L")
    z0, a = bootstrap.bias_correction(t0, t, ties="none"), bootstrap.acceleration(influence)
    assert (z0, a) == (case.near("z0"), case.near("a"))
    assert bootstrap.adjusted_levels(z0, a).tolist() == case.near("alpha_adj")
    found = bootstrap.bca(t0, t, influence, ties="none")
    assert [found.low, found.high] == case.near("bca_norm_inter")
    assert found.method == "BCa bootstrap"
    linear = bootstrap.bca(t0, t, influence, ties="none", interpolation="linear")
    assert [linear.low, linear.high] == case.near("bca_quantile_type7")


@cases("bootstrap_bca")
def test_simpler_intervals_meet_boot(case: Case) -> None:
    t0, t = case.input["t0"], case.array("t")
    assert bootstrap.percentile(t).tolist() == case.near("percentile_boot")
    assert bootstrap.percentile(t, interpolation="linear").tolist() == case.near("percentile_type7")
    assert bootstrap.basic(t0, t).tolist() == case.near("basic_boot")
    assert bootstrap.normal(t0, t).tolist() == case.near("normal_boot")


def test_ties_count_half() -> None:
    """A statistic of few values: strict counting would call a symmetric bootstrap biased."""
    replicates = np.repeat([0.4, 0.5, 0.6], [200, 600, 200])
    assert bootstrap.bias_correction(0.5, replicates) == 0.0
    assert bootstrap.bias_correction(0.5, replicates, ties="none") < -0.8


def test_acceleration_is_free_of_the_scale_of_the_influence() -> None:
    influence = np.random.default_rng(1).exponential(size=40) - 1
    assert bootstrap.acceleration(39 * influence) == pytest.approx(bootstrap.acceleration(influence), rel=1e-12)
    assert bootstrap.acceleration(np.zeros(5)) == 0.0


@pytest.mark.parametrize(
    ("value", "influence"),
    [(0.5, np.zeros(10)), (-9.0, np.linspace(-1, 1, 10)), (9.0, np.linspace(-1, 1, 10))],
    ids=["no jackknife variance", "value below all replicates", "value above all replicates"],
)
def test_percentile_stands_in_where_bca_cannot_be_formed(value: float, influence: np.ndarray) -> None:
    replicates = np.random.default_rng(2).normal(size=999)
    found = bootstrap.bca(value, replicates, influence)
    assert found.method == "percentile bootstrap"
    assert [found.low, found.high] == bootstrap.percentile(replicates).tolist()


def test_quantiles_beyond_the_replicates_are_their_ends() -> None:
    assert bootstrap.quantiles(np.arange(9.0), np.array([1e-4, 0.9999])).tolist() == [0.0, 8.0]
    assert bootstrap.quantiles(np.arange(9.0), np.array([0.5])).tolist() == [4.0]


# ---- draws -----------------------------------------------------------------------------------------------------------


def _all(n: int, replicates: int, **options: object) -> np.ndarray:
    return np.concatenate(list(bootstrap.unit_counts(n, replicates, **options)))  # type: ignore[arg-type]


@given(
    n=st.integers(1, 40),
    replicates=st.integers(1, 70),
    cells=st.sampled_from([1, 50, 700, 5_000, 4_000_000]),
    seed=st.integers(0, 9),
)
def test_memory_never_decides_a_draw(n: int, replicates: int, cells: int, seed: int) -> None:
    found = _all(n, replicates, seed=seed, cells=cells)
    assert found.shape == (replicates, n)
    assert np.array_equal(found, _all(n, replicates, seed=seed))
    assert np.all(found.sum(axis=1) == n)
    assert np.all((found >= 0) & (found == np.round(found)))


def test_blocks_hold_about_as_many_cells_as_asked_for() -> None:
    sizes = [block.shape[0] for block in bootstrap.unit_counts(100, 200, seed=0, cells=100 * 64)]
    assert sizes == [64, 64, 64, 8]


def test_fewer_replicates_are_the_first_of_more() -> None:
    assert np.array_equal(_all(17, 32, seed=4), _all(17, 100, seed=4)[:32])


def test_seeds_differ() -> None:
    assert not np.array_equal(_all(30, 10, seed=1), _all(30, 10, seed=2))


@given(strata=st.lists(st.integers(0, 4), min_size=1, max_size=30), cells=st.sampled_from([1, 300, 4_000_000]))
def test_strata_are_kept(strata: list[int], cells: int) -> None:
    codes = np.array(strata, dtype=np.int64)
    found = _all(codes.size, 20, seed=3, strata=codes, cells=cells)
    for code in np.unique(codes):
        assert np.all(found[:, codes == code].sum(axis=1) == np.count_nonzero(codes == code))
    assert np.array_equal(found, _all(codes.size, 20, seed=3, strata=codes))


def test_draws_are_a_multinomial() -> None:
    """Mean 1, variance 1 - 1/n and covariance -1/n, each within five standard errors of 20,000 draws."""
    n = 8
    found = _all(n, 20_000, seed=11)
    assert found.mean(axis=0) == pytest.approx(np.ones(n), abs=5 * np.sqrt(1 / 20_000))
    covariance = np.cov(found.T)
    assert np.diag(covariance) == pytest.approx(np.full(n, 1 - 1 / n), abs=5 * np.sqrt(3 / 20_000))
    off = covariance[~np.eye(n, dtype=bool)]
    assert off == pytest.approx(np.full(off.size, -1 / n), abs=5 * np.sqrt(1.2 / 20_000))
