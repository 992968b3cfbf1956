"""Tests of many columns at once: discrepancy against R and its definition, and no more false alarms than said."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from tests.support.oracles import Case, cases
from workup.stats import kernel_tests
from workup.stats.kernel_tests import classifier_test, mmd
from workup.stats.random import generator

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

Floats = npt.NDArray[np.float64]


def rows(n: int, k: int, *names: str | int) -> Floats:
    return generator(21, n, k, *names).normal(size=(n, k))


# ---- discrepancy -----------------------------------------------------------------------------------------------------


@cases("drift_mmd")
def test_discrepancy_meets_r(case: Case) -> None:
    x, y = (case.array(name).reshape(case.input["d"], -1).T for name in ("x", "y"))
    found = mmd(x, y, seed=1, scale=False, permutations=0)
    assert found.bandwidth == case.near("median_bandwidth")
    assert found.squared == case.near("mmd2_unbiased")
    assert found.squared_biased == case.near("mmd2_biased")
    assert np.sqrt(found.squared_biased) == case.near("kernlab_mmd_first_order")
    assert np.isnan(found.p) and (found.rows_reference, found.rows_window) == (len(x), len(y))


@cases("drift_continuous")
def test_discrepancy_of_one_column_meets_r(case: Case) -> None:
    found = mmd(case.array("x"), case.array("y"), seed=1, scale=False, permutations=0)
    assert found.bandwidth == case.near("mmd_median_bandwidth")
    assert found.squared == case.near("mmd2_unbiased")
    assert found.squared_biased == case.near("mmd2_biased")


def test_strips_of_the_kernel_add_up_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    values, width = rows(70, 3, "strips"), 1.7
    sides = (generator(22, "sides").random((70, 5)) < 0.4).astype(np.float64)
    kernel = np.exp(-np.sum((values[:, None] - values) ** 2, axis=2) / (2 * width**2))
    expected = [
        np.einsum("ib,ij,jb->b", first, kernel, second)
        for first, second in ((sides, sides), (sides, 1 - sides), (1 - sides, 1 - sides))
    ]
    for strip in (512, 16, 1):
        monkeypatch.setattr(kernel_tests, "_KERNEL_ROWS_AT_ONCE", strip)
        for found, wanted in zip(kernel_tests._kernel_sums(values, sides, width), expected, strict=True):
            assert found == pytest.approx(wanted, rel=1e-12)


@given(
    st.lists(st.integers(-3, 3).map(float), min_size=2, max_size=12),
    st.lists(st.integers(-3, 3).map(float), min_size=2, max_size=12),
)
def test_laws_of_the_discrepancy(x: list[float], y: list[float]) -> None:
    found, turned = (mmd(*pair, seed=1, permutations=0, scale=False) for pair in ((x, y), (y, x)))
    assert (found.squared, found.squared_biased) == pytest.approx(turned[:2], abs=1e-12)
    assert mmd(x, x, seed=1, permutations=0).squared_biased == pytest.approx(0, abs=1e-12)
    assert mmd(x[::-1], y[::-1], seed=1, permutations=0, scale=False)[:3] == pytest.approx(found[:3], abs=1e-12)


def test_the_unit_of_a_column_does_not_decide() -> None:
    x, y = rows(60, 2, "x"), rows(50, 2, "y") + np.array([0.0, 0.8])
    unit = np.array([1e4, 1e-3])
    here, there = (mmd(a, b, seed=1, permutations=99) for a, b in ((x, y), (x * unit + 5, y * unit + 5)))
    assert there == pytest.approx(here, rel=1e-9)
    assert here.p == 0.01
    assert mmd(x * unit, y * unit, seed=1, permutations=99, scale=False).p > 0.05


def test_permutations_flag_one_in_twenty_without_drift() -> None:
    p = [mmd(rows(40, 2, "x", i), rows(30, 2, "y", i), seed=i, permutations=39).p for i in range(400)]
    assert 0.02 <= np.mean(np.array(p) <= 0.05) <= 0.085
    assert min(p) == 1 / 40  # the deal seen counts: never 0


def test_most_rows_tie_and_all_rows_tie() -> None:
    mostly = np.zeros(20)
    mostly[:2] = 3.0
    found = mmd(mostly, np.append(np.zeros(9), 5.0), seed=1, permutations=9, scale=False)
    assert found.bandwidth > 0 and np.isfinite(found.squared)
    same = mmd(np.ones(5), np.ones(6), seed=1, permutations=9)
    assert (same.squared, same.p) == (0.0, 1.0)


# ---- classifier ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["shift", "spread", "together"])
def test_each_kind_of_change_is_seen(kind: str) -> None:
    x, y = rows(400, 3, "x"), rows(400, 3, "y")
    if kind == "shift":
        y[:, 1] += 0.5
    elif kind == "spread":
        y[:, 1] *= 2
    else:
        y[:, 1] = 0.7 * y[:, 0] + np.sqrt(1 - 0.49) * y[:, 1]  # each column is as it was
    told, kernel = classifier_test(x, y, seed=1, permutations=99), mmd(x, y, seed=1, permutations=99)
    assert told.auc > 0.58 and told.p == 0.01
    assert told.terms == 9
    assert kernel.p <= 0.05


@pytest.mark.parametrize(("n", "m", "k"), [(80, 60, 3), (60, 40, 8)])
def test_the_classifier_flags_one_in_twenty_without_drift(n: int, m: int, k: int) -> None:
    found = [classifier_test(rows(n, k, "x", i), rows(m, k, "y", i), seed=i, permutations=39) for i in range(400)]
    assert 0.02 <= np.mean([one.p <= 0.05 for one in found]) <= 0.085
    aucs, se = np.array([one.auc for one in found]), np.mean([one.se for one in found])
    assert aucs.mean() == pytest.approx(0.5, abs=4 * se / 20)
    assert aucs.std() == pytest.approx(se, rel=0.15)
    # A rank-sum test of the mean over folds would claim far less spread.
    assert se > 1.2 * np.sqrt((n + m + 1) / (12 * n * m))


def test_aucs_of_held_out_rows_meet_scikit_learn_with_ties() -> None:
    terms = generator(23, "terms").integers(0, 3, (60, 2)).astype(np.float64)
    weights = rows(2, 4, "weights")
    labels = (generator(23, "labels").random((4, 60)) < 0.4).astype(np.float64)
    found = kernel_tests._aucs(terms, weights, labels)
    # Products of equal rows may differ in the last bit, so equal rows are given one score.
    _, code = np.unique(terms, axis=0, return_inverse=True)
    for deal in range(4):
        score = (np.unique(terms, axis=0) @ weights[:, deal])[code.ravel()]
        assert found[deal] == pytest.approx(roc_auc_score(labels[deal], score), rel=1e-12)


def test_only_order_within_a_column_counts() -> None:
    x, y = rows(100, 3, "x"), rows(80, 3, "y") + 0.2
    plain, bent = (classifier_test(a, b, seed=1, permutations=19) for a, b in ((x, y), (np.exp(3 * x), np.exp(3 * y))))
    assert bent == plain


def test_columns_that_say_nothing() -> None:
    x, y = np.ones((30, 2)), np.ones((20, 2))
    assert classifier_test(x, y, seed=1, permutations=9)[:3] == (0.5, 0.0, 1.0)
    x[:15, 0], y[:10, 0] = 0, 0  # two values, equally frequent: the square does not vary
    assert classifier_test(x, y, seed=1, permutations=9).terms == 1


def test_many_columns_leave_their_products_out() -> None:
    x = rows(60, 19, "x")
    assert classifier_test(x[:30, :18], x[30:, :18], seed=1, permutations=1).terms == 18 * 21 // 2
    assert classifier_test(x[:30], x[30:], seed=1, permutations=1).terms == 38


# ---- rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", [mmd, classifier_test])
def test_rows_are_chosen_by_the_seed_and_never_more_than_asked(test: Any) -> None:
    x, y = rows(300, 2, "x"), rows(250, 2, "y")
    first, again, other = (test(x, y, seed=seed, most_rows=50, permutations=19) for seed in (1, 1, 2))
    assert first == again != other
    assert (first.rows_reference, first.rows_window) == (50, 50)
    assert kernel_tests.MOST_ROWS == 5000


@pytest.mark.parametrize("test", [mmd, classifier_test])
def test_a_change_in_what_is_missing_is_drift_and_no_row_is_dropped(test: Any) -> None:
    x, y = rows(150, 2, "x"), rows(120, 2, "y")
    x[:5, 0], y[:60, 0] = np.nan, np.nan
    found = test(x, y, seed=1, permutations=99)
    assert (found.rows_reference, found.rows_window) == (150, 120)
    assert found.p == 0.01
    y[:, 1] = np.nan
    assert test(x, y, seed=1, permutations=99).p == 0.01


@pytest.mark.parametrize("test", [mmd, classifier_test])
def test_rows_are_checked(test: Any) -> None:
    x = rows(30, 2, "x")
    with pytest.raises(ValueError, match="same columns"):
        test(x, x[:, :1], seed=1)
    with pytest.raises(ValueError, match="window holds infinite"):
        test(x, np.where(x > 1, np.inf, x), seed=1)
    with pytest.raises(ValueError, match="at least 2 are needed"):
        test(x, x[:1], seed=1)
    with pytest.raises(ValueError, match="rows by columns"):
        test(x[:, :0], x[:, :0], seed=1)
    with pytest.raises(ValueError, match="limit of 1"):
        test(x, x, seed=1, most_rows=1)


def test_folds_are_checked() -> None:
    x = rows(9, 2, "x")
    with pytest.raises(ValueError, match="5 folds need 10 rows"):
        classifier_test(x, x, seed=1)
    for bad in ({"folds": 1}, {"permutations": 0}):
        with pytest.raises(ValueError, match="at least 2 folds and 1 permutation"):
            classifier_test(x, x, seed=1, **bad)  # type: ignore[arg-type]
