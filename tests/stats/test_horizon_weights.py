"""Censoring weights under many weight vectors: two identities, repeated rows, strata, and what ties must not do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.stats.horizon_weights import HorizonWeights
from workup.stats.survival import aalen_johansen, at_horizon, kaplan_meier, median_followup

T = [1, 2, 2, 2, 3, 3, 4, 5, 5, 6]
STATUS = [1, 0, 1, 1, 0, 1, 0, 1, 0, 0]
tied = st.lists(
    st.tuples(st.integers(1, 9), st.integers(0, 2), st.one_of(st.integers(0, 3), st.floats(0.1, 4.0))),
    min_size=1,
    max_size=40,
)


def _columns(rows: list[tuple[int, int, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    t, status, w = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    return t, status.astype(int), w


def test_the_worked_example() -> None:
    seen = HorizonWeights.of(T, STATUS, 3)
    v, estimable = seen.under(np.ones((1, 10)))
    assert v[0] == pytest.approx([1, 0, 1, 1, *[7 / 6] * 6], abs=1e-12)
    assert v[0].sum() == pytest.approx(10, abs=1e-12) and estimable[0]
    assert seen.followed(np.ones(10)) == pytest.approx(6 / 7)


def test_plain_kaplan_meier_of_the_flipped_status_is_another_number() -> None:
    flipped = kaplan_meier(T, [status == 0 for status in STATUS])
    naive = np.array([1 / flipped.before(min(t, 3)) if t >= 3 or s else 0 for t, s in zip(T, STATUS, strict=True)])
    assert naive.sum() == pytest.approx(9.75)
    assert HorizonWeights.of(T, STATUS, 3).under(np.ones((1, 10))).v.sum() == pytest.approx(10)


@given(tied, st.integers(1, 10))
def test_weights_add_up_and_give_aalen_and_johansens_risk(rows: list[tuple[int, int, float]], h: int) -> None:
    t, status, w = _columns(rows)
    if not w.sum():
        return
    seen = HorizonWeights.of(t, status, h)
    v, estimable = seen.under(w[None, :])
    old = at_horizon(t, status, h, weight=w)
    assert estimable[0] == (old.reason == "")
    if not estimable[0]:
        assert (w * v[0]).sum() < w.sum() * (1 - 1e-9)
        return
    assert (w * v[0]).sum() == pytest.approx(w.sum(), rel=1e-12)
    risk = (w * v[0] * np.nan_to_num(seen.outcome)).sum() / w.sum()
    assert risk == pytest.approx(float(aalen_johansen(t, status, w).at([h]).event[0]), rel=1e-12, abs=1e-12)
    held = w > 0
    assert v[0][held] == pytest.approx(old.weight[held], rel=1e-12)


@given(tied, st.integers(1, 10))
def test_many_weight_vectors_at_once_are_each_by_itself(rows: list[tuple[int, int, float]], h: int) -> None:
    t, status, w = _columns(rows)
    many = np.random.default_rng(0).integers(0, 3, (5, t.size)) * w
    seen = HorizonWeights.of(t, status, h, strata=t % 2)
    v, estimable = seen.under(many)
    for b, one in enumerate(many):
        alone = seen.under(one[None, :])
        assert np.array_equal(alone.v[0], v[b]) and alone.estimable[0] == estimable[b]


@given(tied, st.integers(1, 10))
def test_a_whole_weight_is_so_many_repeated_rows(rows: list[tuple[int, int, float]], h: int) -> None:
    t, status, w = _columns(rows)
    times = np.round(w).astype(int)
    if not times.sum():
        return
    weighted = HorizonWeights.of(t, status, h).under(times[None, :].astype(float))
    repeated = HorizonWeights.of(np.repeat(t, times), np.repeat(status, times), h).under(np.ones((1, times.sum())))
    assert np.repeat(weighted.v[0], times) == pytest.approx(repeated.v[0], rel=1e-12)
    assert weighted.estimable[0] == repeated.estimable[0]


@given(tied, st.integers(1, 10))
def test_competing_events_counted_as_censored_raise_the_risk(rows: list[tuple[int, int, float]], h: int) -> None:
    t, status, w = _columns(rows)
    if not w.sum():
        return
    right = float(aalen_johansen(t, status, w).at([h]).event[0])
    merged = float(aalen_johansen(t, np.where(status == 2, 0, status), w).at([h]).event[0])
    assert merged >= right - 1e-12


def test_competing_events_counted_as_censored_raise_the_risk_strictly_where_an_event_follows_one() -> None:
    assert aalen_johansen([1, 2, 3, 4], [2, 1, 1, 0]).at([3]).event == pytest.approx([0.5])
    assert aalen_johansen([1, 2, 3, 4], [0, 1, 1, 0]).at([3]).event == pytest.approx([2 / 3])


def test_strata_keep_their_own_sum_and_one_without_anyone_left_ends_it_all() -> None:
    group = np.array([0, 1] * 5)
    seen = HorizonWeights.of(T, STATUS, 3, strata=group)
    v = seen.under(np.ones((1, 10))).v[0]
    assert [v[group == one].sum() for one in (0, 1)] == pytest.approx([5, 5])
    assert not HorizonWeights.of([1, 2, 9], [0, 0, 1], 5, strata=[0, 0, 1]).under(np.ones((1, 3))).estimable[0]


def test_who_is_cut_at_the_horizon_is_known_to_be_free() -> None:
    seen = HorizonWeights.of([1, 5, 5, 5], [1, 0, 0, 1], 5)
    assert seen.outcome.tolist() == [1, 0, 0, 1]
    assert seen.under(np.ones((1, 4))).v[0] == pytest.approx(np.ones(4))


def test_the_last_event_has_a_finite_weight_though_no_one_outlives_it() -> None:
    # The curve at the moment of the last censoring is 0; just before it, it is not.
    seen = HorizonWeights.of([1, 2, 2], [1, 1, 0], 2)
    assert np.isfinite(seen.under(np.ones((1, 3))).v).all()


def test_nobody_at_the_horizon_is_nothing_however_far_a_curve_is_drawn() -> None:
    assert not HorizonWeights.of([1, 2, 3], [1, 1, 0], 5).under(np.ones((1, 3))).estimable[0]
    assert HorizonWeights.of([1, 2, 3], [0, 1, 1], 5).under(np.ones((1, 3))).estimable[0]


def test_median_followup_counts_events_as_cut_short() -> None:
    assert median_followup([1, 2, 3, 4, 5], [0, 0, 1, 0, 0]) == 4
    assert median_followup([1, 2, 3], [1, 1, 0]) == 3
    assert np.isnan(median_followup([1, 2, 3], [1, 1, 1]))
