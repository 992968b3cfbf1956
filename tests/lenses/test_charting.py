"""Charts of a family: limits frozen before the first window is judged, for all series at once, kept in simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from workup.errors import StudyError
from workup.lenses.drift.charts import CHARTS, MOST_FOR_CUSUM, Family
from workup.lenses.drift.series import Point, Series
from workup.metric import mean, ratio
from workup.stats.charts.control_charts import LIMIT
from workup.stats.charts.family_limits import false_alarm_chance, family_limit

LEVEL = mean("level", lambda s: s["x"], describe="a level")
SHARE = ratio("share", lambda s: s["x"], lambda s: np.ones(len(s)), describe="a share")


def point(value: float, se: float = 0.1, n: float = float("nan")) -> Point:
    return Point(value, se, value, se, n)


def levels(values: Any, se: float = 1.0) -> tuple[Point, ...]:
    return tuple(point(value, se) if math.isfinite(value) else Point(status="insufficient") for value in values)


def family(series: int = 1, windows: int = 12, *, charts: tuple[str, ...] = ("ewma",), **more: Any) -> Family:
    """Series of unit errors about 0 whose baseline is worth so many windows."""
    rng = np.random.default_rng(1)
    return Family(
        (Series(LEVEL),) * series,
        (point(0.0, 1 / math.sqrt(windows)),) * series,
        tuple(levels(rng.normal(size=windows)) for _ in range(series)),
        charts,
        **{"windows_a_year": 12, "chance": 0.05, "fast_start": False, **more},
    )


# ---- limits ----------------------------------------------------------------------------------------------------------


def test_the_limit_is_solved_for_the_whole_family_and_not_for_one_series() -> None:
    limits = [family(series).limits()["ewma"] for series in (1, 5, 25)]
    assert limits[0] < limits[1] < limits[2]
    assert limits[2] == pytest.approx(family_limit(25, 12, baseline_windows=12), abs=1e-6)
    assert limits[2] > LIMIT + 1
    # What the single-series limit would do to the same family: most stable years would raise an alarm.
    assert false_alarm_chance(25, 12, limit=LIMIT, baseline_windows=12) > 0.5


def test_more_windows_a_year_need_wider_limits() -> None:
    monthly, weekly = (family(5, windows_a_year=count).limits()["ewma"] for count in (12, 52))
    assert weekly > monthly


def test_charts_that_are_drawn_together_share_the_chance() -> None:
    alone, shared = family(charts=("ewma",)).limits(), family(charts=("ewma", "cusum")).limits()
    assert shared["ewma"] > alone["ewma"]
    assert shared["ewma"] == pytest.approx(family(chance=0.025).limits()["ewma"], abs=1e-9)


def test_a_fast_start_has_wider_limits_for_the_same_chance() -> None:
    assert family(5, fast_start=True).limits()["ewma"] > family(5).limits()["ewma"]


def test_a_small_baseline_is_counted_in_the_limits() -> None:
    assert family(5, windows=2).limits()["ewma"] > family(5, windows=24).limits()["ewma"] + 0.3


def test_the_largest_watched_window_decides_the_limits() -> None:
    one = family(5)
    small, both = [levels([0.0], 1.4)] * 5, [(*levels([0.0], 1.4), *levels([0.0], 0.5))] * 5
    assert one.limits(small)["ewma"] == pytest.approx(family_limit(5, 12, baseline_windows=23), abs=1e-9)
    assert one.limits(both)["ewma"] == pytest.approx(family_limit(5, 12, baseline_windows=3), abs=1e-9)
    nothing = [(Point(status="insufficient"),)] * 5
    assert one.limits(nothing) == one.limits(), "the baseline's own windows stand for those not yet seen"


def test_a_year_of_one_window_is_held_to_its_chance_over_a_long_run() -> None:
    yearly = family(5, windows_a_year=1).limits()["ewma"]
    # Twelve years at 5 % each, and not one window of a running mean that has hardly begun.
    assert yearly == pytest.approx(family_limit(5, 12, chance=1 - 0.95**12, baseline_windows=12), abs=1e-9)
    assert yearly > family_limit(5, 1, baseline_windows=12)


def test_series_without_a_baseline_do_not_count_in_the_family() -> None:
    one = family(2)
    other = Family(
        one.series, (one.baseline[0], Point(status="insufficient")), one.phase_one, one.charts, 12, 0.05, False
    )
    assert other.limits()["ewma"] == pytest.approx(family(1).limits()["ewma"], abs=1e-9)


@pytest.mark.parametrize("name", ["shewhart", "EWMA", "p-chart"])
def test_an_unknown_chart_is_an_error_that_names_the_known_ones(name: str) -> None:
    with pytest.raises(StudyError, match=r"is not a known chart.*cusum.*ewma.*p_prime.*ra_cusum.*xmr"):
        family(charts=(name,))


def test_a_cusum_over_hundreds_of_windows_is_refused_with_the_reason() -> None:
    with pytest.raises(StudyError, match="adds up the baseline's own error over 365 windows"):
        family(charts=("cusum",), windows_a_year=365)
    assert family(charts=("cusum",), windows_a_year=MOST_FOR_CUSUM).limits()["cusum"] > 0


# ---- frozen ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chart", sorted(CHARTS))
def test_no_limit_is_computed_from_the_windows_it_judges(chart: str) -> None:
    rng = np.random.default_rng(4)
    sizes, shares = np.full(12, 300.0), rng.binomial(300, 0.6, 12) / 300
    phase = tuple(point(share, math.sqrt(0.24 / 300), n) for share, n in zip(shares, sizes, strict=True))
    base = point(0.6, math.sqrt(0.24 / 3600), 3600)
    held = Family((Series(SHARE),), (base,), (phase,), (chart,), 12, 0.05, False)
    limits = held.limits()
    calm = [point(0.6, math.sqrt(0.24 / 300), 300.0)] * 6
    wild = [point(v, math.sqrt(v * (1 - v) / 300), 300.0) for v in (0.6, 0.3, 0.9, 0.2, 0.95, 0.6)]
    [quiet], [loud] = held.drawn([calm], limits), held.drawn([wild], limits)
    for end in ("lower", "upper"):
        np.testing.assert_allclose(getattr(quiet, end), getattr(loud, end), rtol=1e-12)
    assert not quiet.signal.any()
    assert loud.signal.any()  # and the limits are used


def test_windows_already_judged_are_not_judged_anew_when_others_come() -> None:
    held = family(2, charts=("ewma", "cusum", "xmr"))
    limits = held.limits()
    rng = np.random.default_rng(5)
    rows = [levels(rng.normal(size=10)), levels(rng.normal(2, 1, size=10))]
    whole = held.drawn(rows, limits)
    early = held.drawn([row[:6] for row in rows], limits)
    for long, short in zip(whole, early, strict=True):
        np.testing.assert_allclose(long.statistic[:, :6], short.statistic, rtol=1e-12)
        assert (long.signal[:, :6] == short.signal).all()


def test_the_latest_window_is_judged_as_in_the_whole_chart() -> None:
    held = family(3, charts=("ewma", "cusum", "xmr"))
    limits = held.limits()
    rng = np.random.default_rng(6)
    rows = [levels(rng.normal(mean, 1, size=8)) for mean in (0, 30, -30)]
    z = held.departures(rows)
    latest = held.latest(rows, limits, z)
    for chart, side in zip(held.drawn(rows, limits, z), latest, strict=True):
        assert (side != 0).tolist() == chart.signal[:, -1].tolist()
    assert (latest[:, 1] == 1).all() and (latest[:, 2] == -1).all()


def test_a_window_that_is_unknown_holds_the_statistic_and_never_signals() -> None:
    held = family(charts=("ewma",))
    [chart] = held.drawn([levels([5, 5, math.nan, 5])], held.limits())
    assert chart.statistic[0, 2] == chart.statistic[0, 1]
    assert not chart.signal[0, 2]


# ---- charts of single windows ----------------------------------------------------------------------------------------


def test_a_chart_of_shares_leaves_other_series_out_and_says_which() -> None:
    shares = tuple(point(0.6 + 0.01 * (i % 3), 0.03, 300.0) for i in range(8))
    held = Family(
        (Series(SHARE), Series(LEVEL)),
        (point(0.61, 0.01, 2400.0), point(0.0, 0.3)),
        (shares, levels(np.arange(8.0))),
        ("p", "p_prime", "xmr"),
        12,
        0.05,
        False,
    )
    assert held.suited("p").tolist() == [True, False]
    assert held.suited("p_prime").tolist() == [True, False]
    assert held.suited("xmr").tolist() == [True, True]
    [p, _, xmr] = held.drawn([[point(0.2, 0.03, 300.0)], levels([0.5])], held.limits())
    assert p.signal.tolist() == [[True], [False]]
    assert np.isnan(p.statistic[1, 0]) and not np.isnan(xmr.statistic[1, 0])


def test_xmr_needs_a_baseline_of_several_neighbouring_windows() -> None:
    short = Family((Series(LEVEL),), (point(0.0),), (levels([0, 1, 0, 1, 0]),), ("xmr",), 12, 0.05, False)
    assert not short.suited("xmr").any()
    gaps = Family((Series(LEVEL),), (point(0.0),), (levels([0, math.nan] * 8),), ("xmr",), 12, 0.05, False)
    assert not gaps.suited("xmr").any()
    assert family(windows=6).suited("xmr").all()


def test_limits_of_a_p_chart_widen_for_small_windows_and_stay_inside_0_and_1() -> None:
    held = Family(
        (Series(SHARE),), (point(0.97, 0.001, 30_000.0),), ((point(0.97, 0.01, 300.0),) * 8,), ("p",), 12, 0.05, False
    )
    [chart] = held.drawn([[point(0.97, 0.01, 1000.0), point(0.97, 0.03, 100.0)]], held.limits())
    assert chart.lower[0, 1] < chart.lower[0, 0]
    assert (chart.upper <= 1).all() and (chart.lower >= 0).all()


def test_laney_widens_by_what_the_baseline_showed_and_never_narrows() -> None:
    rng = np.random.default_rng(3)
    wild = tuple(point(v, 0.03, 300.0) for v in np.clip(rng.normal(0.6, 0.12, 12), 0.2, 0.95))
    still = (point(0.6, 0.03, 300.0),) * 12
    made = [
        Family((Series(SHARE),), (point(0.6, 0.008, 3600.0),), (phase,), ("p", "p_prime"), 12, 0.05, False)
        for phase in (wild, still)
    ]
    widths = []
    for held in made:
        p, laney = held.drawn([[point(0.6, 0.03, 300.0)]], held.limits())
        widths.append((laney.upper - laney.lower)[0, 0] / (p.upper - p.lower)[0, 0])
    assert widths[0] > 2
    assert widths[1] == pytest.approx(1.0)


# ---- the chance that was promised ------------------------------------------------------------------------------------


def stable_years(charts: tuple[str, ...], *, series: int, baseline: int, years: int, seed: int) -> float:
    """Share of stable years in which any chart signals, when baselines are estimated from their own windows."""
    rng = np.random.default_rng(seed)
    alarms = 0
    limits = None
    for _ in range(years):
        phase = rng.normal(size=(series, baseline))
        held = Family(
            (Series(LEVEL),) * series,
            tuple(point(value, 1 / math.sqrt(baseline)) for value in phase.mean(axis=1)),
            tuple(levels(row) for row in phase),
            charts,
            12,
            0.05,
            False,
        )
        limits = limits or held.limits()
        drawn = held.drawn([levels(row) for row in rng.normal(size=(series, 12))], limits)
        alarms += any(chart.signal.any() for chart in drawn)
    return alarms / years


@pytest.mark.parametrize("charts", [("ewma",), ("cusum",), ("xmr",), ("ewma", "xmr")])
def test_at_most_one_stable_year_in_twenty_raises_any_signal(charts: tuple[str, ...]) -> None:
    share = stable_years(charts, series=10, baseline=8, years=400, seed=11)
    assert share <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)
    assert share > 0.0  # limits so wide that nothing passes them would keep the promise too
