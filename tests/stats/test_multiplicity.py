"""Adjusted p values, against R and against their definitions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.oracles import Case, cases
from workup.stats.multiplicity import adjust

METHODS = {
    "bonferroni": "bonferroni",
    "holm": "holm",
    "hochberg": "hochberg",
    "hommel": "hommel",
    "BH": "bh",
    "BY": "by",
}
some_p = st.lists(st.floats(0, 1, allow_nan=False), min_size=1, max_size=7)


@cases("p_adjust")
@pytest.mark.parametrize("r_name", METHODS)
def test_adjusted_p_values_meet_r(case: Case, r_name: str) -> None:
    assert adjust(case.input["p"], method=METHODS[r_name]).tolist() == case.near(r_name)


@pytest.mark.parametrize("method", METHODS.values())
def test_a_test_that_was_not_made_is_not_counted(method: str) -> None:
    made = adjust([0.01, 0.04, 0.03], method=method)
    found = adjust([0.01, np.nan, 0.04, 0.03, np.nan], method=method)
    assert np.isnan(found[[1, 4]]).all()
    assert found[[0, 2, 3]].tolist() == made.tolist()
    assert np.isnan(adjust([np.nan, np.nan], method=method)).all()
    assert adjust([], method=method).size == 0


def test_an_unknown_method_is_an_error() -> None:
    with pytest.raises(ValueError, match="method must be bonferroni, holm"):
        adjust([0.1], method="sidak")  # type: ignore[arg-type]


@given(some_p)
def test_holm_is_the_closure_of_bonferroni(p: list[float]) -> None:
    """Closed testing by brute force: a hypothesis falls when every set that holds it falls by Bonferroni."""
    assert adjust(p, method="holm") == pytest.approx(_closed(p, lambda q: min(1.0, len(q) * q[0])), rel=1e-12)


@given(some_p)
def test_hommel_is_the_closure_of_simes(p: list[float]) -> None:
    def simes(q: list[float]) -> float:
        return min(len(q) * value / rank for rank, value in enumerate(q, start=1))

    assert adjust(p, method="hommel") == pytest.approx(_closed(p, simes), rel=1e-12)


def _closed(p: list[float], test: object) -> list[float]:
    assert callable(test)
    adjusted = []
    for i in range(len(p)):
        sets = [s for size in range(1, len(p) + 1) for s in combinations(range(len(p)), size) if i in s]
        adjusted.append(max(test(sorted(p[j] for j in s)) for s in sets))
    return adjusted


@given(some_p)
def test_order_of_severity(p: list[float]) -> None:
    """No method is milder than the raw p; each step-up is no stricter than its step-down."""
    found = {method: adjust(p, method=method) for method in METHODS.values()}
    slack = 1e-12
    for values in found.values():
        assert np.all(values >= np.array(p) - slack)
        assert np.all(values <= 1)
    for mild, strict in [
        ("holm", "bonferroni"),
        ("hochberg", "holm"),
        ("hommel", "hochberg"),
        ("bh", "hommel"),
        ("bh", "by"),
    ]:
        assert np.all(found[mild] <= found[strict] + slack)
