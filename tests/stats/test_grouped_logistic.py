"""Whether groups differ is told from sums per group, and the answer is that of the whole design of dummies."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import special

from workup.stats import calibration, intervals, logistic


def dummies(group: np.ndarray) -> np.ndarray:
    return (group[:, None] == np.unique(group)[None, 1:]).astype(float)


def by_design(outcome: np.ndarray, smaller: np.ndarray, larger: np.ndarray) -> intervals.Test:
    """The likelihood ratio of two designs written out in full."""
    weight, df, found = np.ones(outcome.size), float(larger.shape[1] - smaller.shape[1]), []
    for design in (smaller, larger):
        beta = logistic.fit(design, outcome, weight[None, :]).coefficients[0]
        if not np.isfinite(beta).all():
            return intervals.Test(np.nan, np.nan, df)
        found.append(logistic.deviance(beta, design, outcome, weight))
    saved = found[0] - found[1]
    return intervals.Test(saved, intervals.chi2_p(max(0.0, saved), df), df)


def intercepts_by_design(outcome: np.ndarray, lp: np.ndarray, group: np.ndarray) -> intervals.Test:
    pooled = logistic.with_constant(lp)
    return by_design(outcome, pooled, np.column_stack([pooled, dummies(group)]))


def slopes_by_design(outcome: np.ndarray, lp: np.ndarray, group: np.ndarray) -> intervals.Test:
    common = np.column_stack([logistic.with_constant(lp), dummies(group)])
    return by_design(outcome, common, np.column_stack([common, dummies(group) * lp[:, None]]))


def same(outcome: np.ndarray, lp: np.ndarray, group: np.ndarray) -> tuple[intervals.Test, intervals.Test]:
    found = calibration.intercepts_differ(outcome, lp, group), calibration.slopes_differ(outcome, lp, group)
    for one, expected in zip(found, (intercepts_by_design, slopes_by_design), strict=True):
        dense = expected(outcome, lp, group)
        assert one.df == dense.df
        assert one.statistic == pytest.approx(dense.statistic, rel=1e-9, abs=1e-9, nan_ok=True)
        assert one.p == pytest.approx(dense.p, rel=1e-8, abs=1e-12, nan_ok=True)
    return found


def rows(n: int, groups: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Groups of unequal size, base rate, spread and slope."""
    rng = np.random.default_rng(seed)
    group = rng.choice(groups, n, p=rng.dirichlet(np.full(groups, 3.0)))
    lp = rng.normal(rng.normal(-1.5, 1.0, groups)[group], rng.uniform(0.3, 2.0, groups)[group])
    chance = special.expit(rng.normal(0, 0.4, groups)[group] + rng.uniform(0.3, 1.5, groups)[group] * lp)
    return (rng.random(n) < chance).astype(float), np.clip(lp, -13.8, 13.8), group


@pytest.mark.parametrize("seed", range(60))
def test_the_answer_is_that_of_the_whole_design(seed: int) -> None:
    rng = np.random.default_rng([9, seed])
    same(*rows(int(rng.integers(40, 3000)), int(rng.integers(2, 9)), seed))


@pytest.mark.parametrize("seed", range(40))
def test_small_groups_have_a_finite_fit_exactly_where_the_whole_design_has_one(seed: int) -> None:
    """Groups of about six rows: of one class, parted by a line, parted but for a tie, or well mixed."""
    rng = np.random.default_rng([11, seed])
    outcome, lp, group = rows(int(rng.integers(8, 40)), int(rng.integers(2, 4)), seed)
    same(outcome, np.round(lp, 1 if seed % 2 else 6), group)


def test_some_of_the_small_groups_have_a_fit_and_some_have_none() -> None:
    found = [calibration.slopes_differ(*rows(40, 2, seed)).statistic for seed in range(40)]
    assert 5 < np.isfinite(found).sum() < 38


@pytest.mark.parametrize("kind", ["one class", "parted", "tied", "falling", "constant", "all constant", "single"])
def test_groups_that_have_no_finite_fit(kind: str) -> None:
    outcome, lp, group = rows(600, 4, seed=5)
    third = group == 2
    if kind == "one class":
        outcome[third] = 0.0
    elif kind == "parted":
        outcome[third] = (lp[third] > np.median(lp[third])).astype(float)
    elif kind == "tied":
        lp[third] = np.round(lp[third])
        outcome[third] = (lp[third] > -1).astype(float)
        outcome[np.flatnonzero(third & (lp == -1))[0]] = 1.0
    elif kind == "falling":
        outcome[third] = (lp[third] < np.median(lp[third])).astype(float)
    elif kind == "constant":
        lp[third] = -0.7
    elif kind == "all constant":
        lp = np.array([-1.0, 0.5, 2.0, 3.0])[group]
    else:
        group[:] = 3
    intercepts, slopes = same(outcome, lp, group)
    assert np.isnan(slopes.statistic) or kind == "single"
    assert np.isfinite(intercepts.statistic) or kind in ("one class", "all constant")


def test_all_groups_parted_the_same_way_have_no_common_slope() -> None:
    lp = np.tile(np.linspace(-1, 1, 20), 3) + np.repeat([0.0, 0.3, 1.1], 20)
    outcome = np.tile((np.arange(20) > 9).astype(float), 3)
    group = np.repeat([0, 1, 2], 20)
    assert np.isnan(calibration.intercepts_differ(outcome, lp, group).statistic)
    same(outcome, lp, group)
    outcome[40:] = 1 - outcome[40:]  # the third the other way round: now a common slope has a maximum
    assert np.isfinite(same(outcome, lp, group)[0].statistic)


def test_group_numbers_may_have_gaps_and_be_negative() -> None:
    outcome, lp, group = rows(500, 3, seed=2)
    named = np.array([-1, 7, 900])[group]
    assert calibration.slopes_differ(outcome, lp, named) == calibration.slopes_differ(outcome, lp, group)


def test_extreme_risks_and_rare_events() -> None:
    rng = np.random.default_rng(3)
    group = np.repeat([0, 1, 2, 3], 2000)
    lp = np.clip(rng.normal(-7, 4, 8000), -13.8, 13.8)
    outcome = (rng.random(8000) < special.expit(lp)).astype(float)
    same(outcome, lp, group)


# What a design of dummies would take: 25 levels 2 GB and its products 10 GB; 1,000 levels 3 GB and 3 TB.
BOUNDED = """
import resource, sys
import numpy as np
from scipy import special
from workup.stats import calibration
levels, n = int(sys.argv[1]), 200_000
rng = np.random.default_rng(1)
group = np.arange(n) % levels
lp = rng.normal(-1, 1, n)
outcome = (rng.random(n) < special.expit(lp)).astype(float)
calibration.slopes_differ(outcome[:500], lp[:500], group[:500] % 2)
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + 2**30, held + 2**30))
for test in (calibration.intercepts_differ, calibration.slopes_differ):
    found = test(outcome, lp, group)
    assert np.isfinite(found.statistic) and found.df == levels - 1 and 0.001 < found.p < 0.999, found
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the bound is set through Linux's limit of address space")
@pytest.mark.parametrize("levels", [25, 1000])
def test_two_hundred_thousand_rows_take_less_than_a_gigabyte(levels: int) -> None:
    ran = subprocess.run([sys.executable, "-c", BOUNDED, str(levels)], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
