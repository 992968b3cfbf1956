"""The risk-adjusted CUSUM over windows: a kept promise in stable years, frozen limits, and no climb from the order."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.planted_months import STABLE, Month, looked, months, planted, rows_of, with_values
from workup.errors import StudyError
from workup.lenses.drift.risk_adjusted_chart import RiskAdjusted
from workup.metric import ratio
from workup.report import LensResult
from workup.scores import Scores

BASE = planted(months((10, Month(rows=2000))), seed=50, groups=False)
CHART = RiskAdjusted.start(BASE, "outcome", rows_a_year=12 * 400, chance=0.05, seed=1)


def month(name: str, plan: Month, *, seed: int) -> Scores:
    columns = rows_of(name, plan, seed=seed)
    return Scores.of({key: columns[key] for key in ("outcome", "risk")}, time=columns["time"])


def year(chart: RiskAdjusted, plan: Month, *, seed: int, change: Any = lambda rows: rows) -> list[dict[str, Any]]:
    states = []
    for name, _ in months((12, plan), start="2024-01"):
        chart, state, _ = chart.after(name, change(month(name, plan, seed=seed)))
        states.append(state)
    return states


def signals(states: list[dict[str, Any]]) -> bool:
    return any(state["signal"] for state in states)


def test_a_stable_year_seldom_signals() -> None:
    share = np.mean([signals(year(CHART, Month(rows=400), seed=seed)) for seed in range(120)])
    assert share <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 120)


def test_a_changed_year_always_does() -> None:
    assert all(signals(year(CHART, Month(rows=400, shift=shift), seed=3)) for shift in (0.7, -0.7))


def coarse(rows: Scores) -> Scores:
    """Dates without a time of day, risks that tie, and a table sorted as tables are: events stand last in each tie."""
    tied = replace(
        with_values(rows, risk=np.round(rows["risk"], 1).clip(0.05, 0.95)),
        time=rows.time.astype("datetime64[M]").astype("datetime64[us]"),
    )
    return tied.take(np.lexsort((tied["outcome"], tied["risk"], tied.time)))


def test_rows_of_one_moment_are_not_taken_in_the_order_of_their_outcomes() -> None:
    chart = RiskAdjusted.start(coarse(BASE), "outcome", rows_a_year=12 * 400, chance=0.05, seed=1)
    share = np.mean([signals(year(chart, Month(rows=400), seed=seed, change=coarse)) for seed in range(60)])
    assert share <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 60)


def test_a_shuffled_window_gives_the_same_sums() -> None:
    rows = coarse(month("2024-01", Month(rows=500, shift=0.4), seed=2))
    other = rows.take(np.random.default_rng(1).permutation(500))
    first, second = (CHART.after("2024-01", part) for part in (rows, other))
    assert first[0].up == pytest.approx(second[0].up, abs=1e-12)
    assert first[1] == {**second[1], **{k: pytest.approx(second[1][k]) for k in ("value", "statistic")}}


def test_sums_are_carried_from_window_to_window() -> None:
    rows = month("2024-01", Month(rows=600, shift=0.5), seed=2)
    order = np.argsort(rows.time)
    whole, _, _ = CHART.after("x", rows)
    chart = CHART
    for part in np.array_split(order, 4):
        chart, _, _ = chart.after("x", rows.take(part))
    assert (chart.up, chart.down) == pytest.approx((whole.up, whole.down), abs=1e-9)


# ---- in the lens -----------------------------------------------------------------------------------------------------


def adjusted(*plans: tuple[int, Month], **more: Any) -> LensResult:
    return looked(planted(months(*plans), groups=False), baseline=plans[0][0], charts=["ra_cusum"], **more)


def test_events_commoner_than_the_risks_say_are_an_alert_and_limits_are_frozen() -> None:
    result = adjusted((10, STABLE), (1, STABLE), (2, Month(shift=0.8)))
    [alert] = result.alerts
    assert (alert["metric"], alert["window"]) == ("risk_adjusted_cusum", "2023-12")
    assert alert["effect"] > 0.2 and "were expected" in alert["message"]
    assert [row["signal"] for row in result.charts_state] == [False, True, True]
    # The same first window, whatever comes after it and however large.
    longer = adjusted((10, STABLE), (1, STABLE), (1, Month(rows=3000, shift=-1)))
    assert longer.charts_state[0] == result.charts_state[0]


def test_it_is_held_back_when_only_acted_rows_show_the_change() -> None:
    plain = planted(months((10, Month(rows=2000)), (3, Month(rows=2000))), groups=False)
    rng = np.random.default_rng(4)
    chosen = (plain.time >= np.datetime64("2023-11-01")) & (rng.random(len(plain)) < 0.5)
    outcome = np.where(chosen, plain["outcome"] * (rng.random(len(plain)) < 0.2), plain["outcome"])
    result = looked(with_values(plain, acted=chosen, outcome=outcome), baseline=10, charts=["ra_cusum"])
    assert any(row["signal"] for row in result.charts_state)
    assert result.alerts == ()
    assert {row["metric"] for row in result.tables["held_back"]} == {"risk_adjusted_cusum"}
    assert "but where no one acted" in result.tables["held_back"][0]["reason"]


def test_it_shares_the_chance_with_the_other_charts() -> None:
    scores = planted(months((8, STABLE), (1, STABLE)), groups=False)
    both = looked(scores, baseline=8, charts=["ewma", "ra_cusum"])
    alone, halved = (looked(scores, baseline=8, chance=chance).charts_state[0]["limit"] for chance in (0.05, 0.025))
    limit = {row["chart"]: row["limit"] for row in both.charts_state}
    assert limit["ewma"] == pytest.approx(halved)
    assert limit["ewma"] > alone


def test_it_needs_risks_outcomes_and_unweighted_rows() -> None:
    found = ratio("found", lambda s: s["outcome"], lambda s: np.ones(len(s)), describe="share")
    scores = planted(months((8, STABLE), (1, STABLE)), groups=False)
    with pytest.raises(StudyError, match="needs a risk and an outcome"):
        looked(scores, metrics=[found], baseline=8, charts=["ra_cusum"])
    with pytest.raises(StudyError, match="weights"):
        looked(replace(scores, weight=np.ones(len(scores))), baseline=8, charts=["ra_cusum"])


def test_risks_too_small_for_any_limit_are_told_with_the_chart() -> None:
    rng = np.random.default_rng(5)
    risk = rng.uniform(0.0005, 0.0015, 4000)
    baseline = Scores.of({"risk": risk, "outcome": (np.arange(4000) % 1000 == 0).astype(float)})
    with pytest.raises(StudyError, match=r"lenses\.drift\.charts: 'ra_cusum' has no limit here"):
        RiskAdjusted.start(baseline, "outcome", rows_a_year=4.0, chance=0.5, seed=1)
