"""Kinds of models on the same cases: the two-way variance by hand, and its coverage when both are drawn at random."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workup.stats.crossed_effects import crossed_gap
from workup.stats.random import generator


def test_worked_by_hand() -> None:
    first, second = np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 5.0]]), np.array([[2.0, 4.0, 4.0], [3.0, 3.0, 7.0]])
    found = crossed_gap(first, second)
    assert found is not None
    assert found.value == pytest.approx(first.mean() * -1 + second.mean())
    by_model = np.var([2.0, 3.0], ddof=1) / 2 + np.var([10 / 3, 13 / 3], ddof=1) / 2
    by_case = np.var(second.mean(axis=0) - first.mean(axis=0), ddof=1) / 3
    assert found.se >= math.sqrt(max(by_model, by_case))
    assert found.se <= math.sqrt(by_model + by_case)


@pytest.mark.parametrize("shape", [((1, 5), (3, 5)), ((3, 1), (3, 1))])
def test_too_few_to_show_a_variance_are_refused(shape: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(ValueError, match="two models"):
        crossed_gap(np.zeros(shape[0]), np.zeros(shape[1]))


def test_no_variance_at_all() -> None:
    assert crossed_gap(np.zeros((3, 4)), np.ones((3, 4))) is None


@pytest.mark.parametrize(("models", "cases"), [(5, 30), (8, 30)])
@pytest.mark.parametrize("by_model", [0.0, 0.5])
def test_coverage_when_models_and_cases_are_drawn(models: int, cases: int, by_model: float) -> None:
    draw, times, inside = generator(20261115, "crossed", models, str(by_model)), 2_000, 0
    for _ in range(times):
        case, kind = draw.normal(size=cases), draw.normal(scale=0.3, size=(2, cases))
        sides = [
            case + kind[k] + draw.normal(scale=by_model, size=(models, 1)) + draw.normal(size=(models, cases))
            for k in (0, 1)
        ]
        found = crossed_gap(*sides)
        assert found is not None
        inside += found.low <= 0.0 <= found.high
    slack = 2 * math.sqrt(0.05 * 0.95 / times)
    # Never too short; with models all alike the larger of two variances is taken, which is the safe side.
    assert inside / times >= 0.93 - slack, inside / times
    if by_model:
        assert inside / times <= 0.97 + slack, inside / times
