"""Which regions are reviewed: plans that fit, and draws with the chances they claim."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.errors import InputError
from workup.tasks.spans.review.frame import STRATA
from workup.tasks.spans.review.sampling import LEAST, drawn, planned_sizes

_SIZES = st.lists(st.integers(0, 3000), min_size=5, max_size=5)


@given(_SIZES, st.integers(0, 2000))
def test_a_plan_fits_the_work_and_the_strata(sizes: list[int], total: int) -> None:
    plan = planned_sizes(sizes, total=total)
    assert all(0 <= many <= there for many, there in zip(plan, sizes, strict=True))
    assert sum(plan) == min(total, sum(sizes))
    if total >= LEAST * 5:
        assert all(many >= min(LEAST, there) for many, there in zip(plan, sizes, strict=True))


@given(_SIZES, st.integers(120, 2000))
def test_suspects_are_reviewed_whole_where_half_the_work_allows(sizes: list[int], total: int) -> None:
    plan = planned_sizes(sizes, total=total)
    if sizes[0] + sizes[3] <= total // 2:
        assert (plan[0], plan[3]) == (sizes[0], sizes[3])


def test_sizes_that_are_given_are_kept() -> None:
    plan = planned_sizes([50, 400, 3000, 20, 250], total=300, fixed={"found_by_all": 7, "missed_by_all": 900})
    assert plan[2] == 7 and plan[0] == 50 and sum(plan) == 300
    assert planned_sizes([50, 400, 3000, 20, 250], total=300, fixed={"found_by_all": 0})[2] == 0


def test_unknown_strata_and_negative_sizes_are_refused() -> None:
    with pytest.raises(InputError, match="missed_by_all"):
        planned_sizes([1, 1, 1, 1, 1], fixed={"missed_by_al": 3})
    with pytest.raises(InputError, match="negative"):
        planned_sizes([1, 1, 1, 1, 1], total=-1)


def test_a_draw_is_seeded_without_repeats_and_within_strata() -> None:
    stratum = np.random.default_rng(1).integers(-1, 5, 400)
    sizes = [5, 10, 15, 20, 25]
    one = drawn(stratum, sizes, seed=4)
    assert one.tolist() == drawn(stratum, sizes, seed=4).tolist() != drawn(stratum, sizes, seed=5).tolist()
    assert len(set(one.tolist())) == len(one)
    assert np.bincount(stratum[one], minlength=len(STRATA)).tolist() == sizes


def test_every_region_of_a_stratum_has_the_same_chance() -> None:
    stratum = np.repeat([0, 4], [12, 30])
    times = np.zeros(42)
    for seed in range(4000):
        times[drawn(stratum, [3, 0, 0, 0, 10], seed=seed)] += 1
    expected = np.repeat([1000, 4000 / 3], [12, 30])
    assert np.abs(times - expected).max() < 4.5 * np.sqrt(4000 * 0.25 * 0.75)
