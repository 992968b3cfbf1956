"""Shares corrected for the errors of their reader: worked by hand, at the edges, and by simulated coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workup.stats.misclassification import corrected_share
from workup.stats.random import generator


def test_worked_by_hand() -> None:
    found = corrected_share(0.30, 0.02, sensitivity=(180, 200), specificity=(190, 200))
    assert found is not None
    assert found.value == pytest.approx((0.30 + 0.95 - 1) / (0.90 + 0.95 - 1))
    share = (180 + 2) / 204, (190 + 2) / 204
    parts = [p * (1 - p) / 204 for p in share]
    variance = (0.02**2 + found.value**2 * parts[0] + (1 - found.value) ** 2 * parts[1]) / 0.85**2
    assert found.se == pytest.approx(math.sqrt(variance))


def test_a_perfect_reader_changes_nothing_but_the_interval() -> None:
    found = corrected_share(0.7, 0.03, sensitivity=(100, 100), specificity=(100, 100))
    assert found is not None
    assert found.value == pytest.approx(0.7)
    assert found.se > 0.03


@pytest.mark.parametrize(
    "rates", [((50, 100), (50, 100)), ((20, 100), (30, 100)), ((0, 0), (9, 10)), ((9, 10), (0, 0))]
)
def test_a_reader_no_better_than_chance_or_unmeasured_corrects_nothing(rates: tuple[tuple[int, int], ...]) -> None:
    assert corrected_share(0.5, 0.1, sensitivity=rates[0], specificity=rates[1]) is None


def test_it_stays_between_0_and_1() -> None:
    low = corrected_share(0.01, 0.01, sensitivity=(90, 100), specificity=(90, 100))
    high = corrected_share(0.99, 0.01, sensitivity=(90, 100), specificity=(90, 100))
    assert low is not None and high is not None
    assert (low.value, low.low, high.value, high.high) == (0.0, 0.0, 1.0, 1.0)


@pytest.mark.parametrize(("truth", "right", "kept_out"), [(0.7, 0.95, 0.9), (0.4, 0.9, 0.95), (0.9, 0.98, 0.9)])
def test_coverage(truth: float, right: float, kept_out: float) -> None:
    draw, times, inside = generator(20261115, "misread", str(truth)), 4_000, 0
    seen = truth * right + (1 - truth) * (1 - kept_out)
    for _ in range(times):
        share = draw.binomial(600, seen) / 600
        found = corrected_share(
            share,
            math.sqrt(share * (1 - share) / 600),
            sensitivity=(int(draw.binomial(120, right)), 120),
            specificity=(int(draw.binomial(80, kept_out)), 80),
        )
        assert found is not None
        inside += found.low <= truth <= found.high
    slack = 2 * math.sqrt(0.05 * 0.95 / times)
    # Near the edge the four labels added to each rate make the interval wide, which is the safe side.
    most = 1.0 if truth == 0.9 else 0.97 + slack
    assert 0.93 - slack <= inside / times <= most, np.round(inside / times, 4)
