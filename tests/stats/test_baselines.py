"""Frozen baselines: how windows stand against them, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from workup.stats.charts.baselines import laney_sigma_z, share_baseline, share_se, standardise, xmr_baseline
from workup.stats.charts.control_charts import p_chart


def test_the_error_of_the_baseline_is_counted() -> None:
    assert standardise([0.9], [0.03], baseline=0.8).tolist() == pytest.approx([0.1 / 0.03])
    assert standardise([0.9], [0.03], baseline=0.8, baseline_se=0.04).tolist() == pytest.approx([2.0])
    per_series = standardise([[0.9, 0.8], [0.5, 0.5]], 0.05, baseline=[0.8, 0.4], baseline_se=[0.0, 0.12])
    assert per_series == pytest.approx(np.array([[2.0, 0.0], [0.1 / 0.13, 0.1 / 0.13]]))


def test_what_is_unknown_stays_unknown() -> None:
    found = standardise([np.nan, 0.5, 0.5, 0.5], [0.1, np.nan, np.inf, 0.0], baseline=0.4)
    assert np.isnan(found).all()
    assert standardise([0.5], [0.0], baseline=0.4, baseline_se=0.05).tolist() == pytest.approx([2.0])
    with pytest.raises(ValueError, match="baseline must be finite"):
        standardise([0.5], [0.1], baseline=np.nan)
    with pytest.raises(ValueError, match="se must not be negative"):
        standardise([0.5], [-0.1], baseline=0.4)


def test_windows_share_the_error_of_their_baseline() -> None:
    """Of correlation 1/(1 + ratio): the reason that limits must know how much a baseline holds."""
    rng = np.random.default_rng(5)
    ratio, series = 4.0, 200_000
    baseline = ratio**-0.5 * rng.standard_normal(series)
    z = standardise(rng.standard_normal((series, 2)), 1.0, baseline=baseline, baseline_se=ratio**-0.5)
    assert z.std() == pytest.approx(1, abs=0.005)
    assert np.corrcoef(z.T)[0, 1] == pytest.approx(1 / (1 + ratio), abs=0.01)


def test_the_standard_error_of_a_share_is_that_under_the_baseline() -> None:
    assert share_se([100, 0], baseline=0.2)[0] == pytest.approx(0.04)
    assert np.isnan(share_se([100, 0], baseline=0.2)[1])
    assert share_se([100], baseline=0.2, baseline_size=300).tolist() == pytest.approx([np.sqrt(0.16 / 75)])
    wide, narrow = p_chart([20], [100], baseline=0.2, baseline_size=300), p_chart([20], [100], baseline=0.2)
    assert wide.upper[0] - 0.2 == pytest.approx((narrow.upper[0] - 0.2) * np.sqrt(4 / 3))
    for share in (0.0, 1.0):
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            share_se([100], baseline=share)
    with pytest.raises(ValueError, match="baseline_size must be above 0"):
        share_se([100], baseline=0.2, baseline_size=0)


def test_baselines_leave_out_windows_without_data() -> None:
    assert share_baseline([[10, np.nan, 20], [1, 1, 1]], [[100, 100, 200], [2, 2, 2]]).tolist() == [0.1, 0.5]
    frozen = xmr_baseline([1.0, 3.0, np.nan, 4.0, 5.0])
    assert float(frozen.centre) == 3.25
    assert float(frozen.mean_range) == 1.5  # 1 → 3 and 4 → 5; nothing across the gap
    with pytest.raises(ValueError, match="two neighbouring observed windows"):
        xmr_baseline([1.0, np.nan, 2.0])
    with pytest.raises(ValueError, match="a baseline needs rows"):
        share_baseline([0, 0], [0, 0])
    with pytest.raises(ValueError, match="one shape"):
        share_baseline([1, 2], [10])


def test_laneys_sigma_sees_more_than_binomial_spread() -> None:
    rng = np.random.default_rng(8)
    size = np.full((200, 30), 2000)
    plain = rng.binomial(2000, 0.2, size.shape)
    spread = rng.binomial(2000, np.clip(rng.normal(0.2, 0.02, size.shape), 0, 1))
    assert laney_sigma_z(plain, size, baseline=0.2).mean() == pytest.approx(1.0, abs=0.03)
    expected = np.sqrt(1 + 0.02**2 / (0.16 / 2000))
    assert laney_sigma_z(spread, size, baseline=0.2).mean() == pytest.approx(expected, rel=0.03)
