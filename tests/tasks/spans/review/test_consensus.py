"""Reviewers together: rules of consensus, and agreement against another library."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from workup.errors import InputError
from workup.tasks.spans.review.consensus import agreed, agreement, pairwise


def test_kappa_is_that_of_scikit_learn_also_with_weights() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        first = (rng.random(120) < 0.6).astype(float)
        second = np.where(rng.random(120) < 0.8, first, 1 - first)
        weight = rng.uniform(1, 9, 120)
        plain = agreement(first, second, np.arange(120), names=("a", "b"))
        assert plain.kappa == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
        assert plain.share == pytest.approx(np.mean(first == second), abs=1e-12)
        heavy = agreement(first, second, np.arange(120), names=("a", "b"), weight=weight)
        assert heavy.kappa == pytest.approx(cohen_kappa_score(first, second, sample_weight=weight), abs=1e-12)
        assert plain.kappa_low is not None and plain.kappa_high is not None
        assert plain.kappa_low < plain.kappa < plain.kappa_high


def test_the_interval_of_kappa_is_by_patients() -> None:
    rng = np.random.default_rng(4)
    first = (rng.random(60) < 0.5).astype(float)
    second = np.where(rng.random(60) < 0.8, first, 1 - first)
    alone = agreement(first, second, np.arange(60), names=("a", "b"))
    # Every region five times in one patient tells no more than once.
    often = agreement(np.tile(first, 5), np.tile(second, 5), np.tile(np.arange(60), 5), names=("a", "b"))
    assert (often.kappa, often.kappa_low) == pytest.approx((alone.kappa, alone.kappa_low))
    assert often.share_low == pytest.approx(alone.share_low, abs=0.01)


def test_only_regions_that_both_answered_count() -> None:
    answers = np.array([[1, 1, np.nan], [0, 1, np.nan], [1, np.nan, 1], [np.nan, 0, 0]] * 10)
    found = {(one.first, one.second): one for one in pairwise(answers, np.arange(40), ["x", "y", "z"])}
    assert found["x", "y"].regions == 20 and found["x", "y"].share == 0.5
    assert found["x", "z"].regions == 10 and found["x", "z"].share == 1.0
    assert found["x", "z"].kappa is None and "one answer throughout" in found["x", "z"].reason
    none = agreement(np.array([1.0, np.nan]), np.array([np.nan, 1.0]), np.arange(2), names=("a", "b"))
    assert none.share is None and none.regions == 0 and "answered by both" in none.reason


def test_few_patients_have_no_interval_and_say_so() -> None:
    found = agreement(np.array([1.0, 0.0] * 10), np.array([1.0, 0.0] * 10), np.repeat([0, 1], 10), names=("a", "b"))
    assert found.kappa == 1.0 and found.kappa_low is None and "2 patients" in found.reason


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(InputError, match="majority"):
        agreed(np.ones((1, 1)), rule="majorty")  # type: ignore[arg-type]
