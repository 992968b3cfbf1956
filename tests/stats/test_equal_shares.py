"""Equal shares of levels when rows come in patients: Pearson's test without repeats, few false alarms with them."""

from __future__ import annotations

import numpy as np
import pytest

from workup.stats.equal_shares import equal_shares
from workup.stats.intervals import chi2_proportions


def test_one_row_a_patient_is_pearsons_test() -> None:
    draw = np.random.default_rng(3)
    level = draw.integers(0, 4, 300)
    hit = draw.random(300) < 0.1
    expected = chi2_proportions([hit[level == k].sum() for k in range(4)], np.bincount(level))
    for patient in (None, draw.permutation(300)):
        assert equal_shares(hit, level, patient=patient) == pytest.approx(expected, rel=1e-9)


def test_patients_whose_rows_are_all_alike_count_once() -> None:
    draw = np.random.default_rng(4)
    level, hit = draw.integers(0, 3, 80), draw.random(80) < 0.3
    once = equal_shares(hit, level)
    five_times = equal_shares(np.repeat(hit, 5), np.repeat(level, 5), patient=np.repeat(np.arange(80), 5))
    assert five_times == pytest.approx(once, rel=1e-9)


@pytest.mark.parametrize(("levels", "own"), [(2, True), (14, True), (2, False), (5, False)])
def test_false_alarms_stay_near_five_percent(levels: int, own: bool) -> None:
    draw = np.random.default_rng(20261115)
    studies, alarms = 500, 0
    for _ in range(studies):
        patient = np.repeat(np.arange(60), draw.integers(1, 20, 60))
        level = draw.integers(0, levels, 60)[patient] if own else draw.integers(0, levels, patient.size)
        hit = draw.random(patient.size) < draw.beta(0.05, 0.2, 60)[patient]
        alarms += equal_shares(hit, level, patient=patient).p < 0.05
    assert alarms / studies <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / studies)


def test_a_true_difference_between_patients_is_found() -> None:
    patient = np.repeat(np.arange(60), 10)
    level = patient % 3
    hit = (level == 0) & (patient % 2 == 0)
    assert equal_shares(hit, level, patient=patient).p < 0.001


@pytest.mark.parametrize(("hit", "level"), [([0, 0, 0], [0, 1, 1]), ([1, 1], [0, 1]), ([0, 1], [2, 2])])
def test_nothing_to_compare_has_no_p_value(hit: list[int], level: list[int]) -> None:
    assert np.isnan(equal_shares(hit, level).p)


def test_a_level_spread_evenly_over_whole_patients_cannot_differ() -> None:
    found = equal_shares([1, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 1], patient=[0, 0, 1, 1, 2, 2])
    assert np.isnan(found.p) and found.df == 0
