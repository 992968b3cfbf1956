"""Series: points with honest errors, gaps between a group and the rest, and which move is for the worse."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import special

from workup.lenses.drift.series import GAP, Departure, Point, Series, departure, every_series, points
from workup.lenses.drift.windows import Minimum
from workup.metric import Concern, Interval, Metric, mean, ratio
from workup.scores import Scores
from workup.tasks.risk.metrics import Smoother, risk_metrics

FOUND = ratio("found", lambda s: s["hit"], lambda s: np.ones(len(s)), describe="share found", parity=True)
WAIT = mean("wait", lambda s: s["wait"], describe="minutes waited", better="lower")
ANY = Minimum(rows=1, events=1, others=1)


def hits(n: int, found: int, **more: Any) -> Scores:
    return Scores.of({"hit": np.arange(n) < found}, **more)


def cohort(n: int = 400, seed: int = 3) -> Scores:
    rng = np.random.default_rng(seed)
    lp = rng.normal(-0.5, 1.2, n)
    return Scores.of(
        {"outcome": (rng.random(n) < special.expit(lp)).astype(float), "risk": special.expit(lp)},
        groups={"sex": rng.choice(["F", "M"], n), "ward": rng.choice(["A", "B", "C"], n)},
    )


RISK = {metric.name: metric for metric in risk_metrics(thresholds=[0.3], smoother=Smoother.of(cohort()))}


# ---- points ----------------------------------------------------------------------------------------------------------


def test_a_share_carries_its_binomial_error_and_its_denominator() -> None:
    point = Series(FOUND).point(hits(200, 150), ANY)
    assert (point.value, point.n, point.status) == (0.75, 200, "ok")
    assert point.se == pytest.approx(math.sqrt(0.75 * 0.25 / 200), rel=1e-12)


@pytest.mark.parametrize("found", [0, 200])
def test_none_or_all_has_an_error_of_half_a_row_and_not_none(found: int) -> None:
    point = Series(FOUND).point(hits(200, found), ANY)
    near = 0.5 / 201
    assert point.known
    assert point.se == pytest.approx(math.sqrt(near * (1 - near) / 200), rel=1e-12)


def test_none_or_all_among_few_patients_counts_patients_and_not_rows() -> None:
    repeated = Series(FOUND).point(hits(200, 200, patient=np.repeat(np.arange(20), 10)), ANY)
    near = 0.5 / 201
    assert repeated.se == pytest.approx(math.sqrt(near * (1 - near) / 20), rel=1e-12)


def test_the_unit_of_design_weights_changes_nothing() -> None:
    rng = np.random.default_rng(2)
    weight = rng.uniform(0.5, 2, 300)
    one, small = (Series(FOUND).point(hits(300, 200, weight=weight * unit), ANY) for unit in (1.0, 1e-4))
    assert small.value == pytest.approx(one.value, rel=1e-12)
    assert small.se == pytest.approx(one.se, rel=1e-12)
    assert small.n == pytest.approx(one.n, rel=1e-12)


def test_an_area_is_charted_on_the_logit_scale() -> None:
    point = Series(RISK["auroc"]).point(cohort(), ANY)
    assert point.chart_value == pytest.approx(special.logit(point.value))
    assert point.chart_se == pytest.approx(point.se / (point.value * (1 - point.value)))


def test_a_ratio_is_charted_on_the_log_scale_and_a_slope_as_it_is() -> None:
    ratio_point = Series(RISK["oe_ratio"]).point(cohort(), ANY)
    assert ratio_point.chart_value == pytest.approx(math.log(ratio_point.value))
    slope = Series(RISK["calibration_slope"]).point(cohort(), ANY)
    assert (slope.chart_value, slope.chart_se) == (slope.value, slope.se)


def test_a_mean_without_an_interval_of_its_own_gets_the_error_of_leaving_patients_out() -> None:
    wait = np.random.default_rng(1).gamma(2, 10, 150)
    point = Series(WAIT).point(Scores.of({"wait": wait}), ANY)
    assert point.se == pytest.approx(wait.std(ddof=1) / math.sqrt(150), rel=1e-9)


def test_leaving_out_needs_patients() -> None:
    point = Series(WAIT).point(Scores.of({"wait": np.arange(19.0)}), ANY)
    assert (point.status, point.known) == ("insufficient", False)
    assert "19 patients" in point.reason


def test_too_few_rows_events_or_counted_rows_are_insufficient_and_say_so() -> None:
    assert Series(FOUND).point(hits(99, 50), Minimum()).reason == "99 rows; at least 100 are needed"
    rows = cohort()
    few = replace(rows, values={**rows.values, "outcome": (np.arange(len(rows)) < 9).astype(float)})
    assert Series(RISK["auroc"]).point(few, Minimum()).reason == "9 events; at least 10 are needed"
    low = replace(rows, values={**rows.values, "risk": np.where(np.arange(len(rows)) < 4, 0.9, 0.01)})
    point = Series(RISK["ppv"]).point(low, Minimum())
    assert (point.status, point.reason) == ("insufficient", "4 rows count in it; at least 10 are needed")


def test_undefined_is_not_zero() -> None:
    rows = cohort()
    never = replace(rows, values={**rows.values, "risk": np.full(len(rows), 0.01)})
    point = Series(RISK["ppv"]).point(never, Minimum())
    assert (point.status, point.reason) == ("undefined", "no row is flagged")
    assert math.isnan(point.value) and math.isnan(point.se)


def test_a_perfect_ranking_has_no_error_on_its_scale_and_says_so() -> None:
    y = (np.arange(200) < 80).astype(float)
    point = Series(RISK["auroc"]).point(Scores.of({"outcome": y, "risk": np.where(y > 0, 0.9, 0.1)}), ANY)
    assert not point.known and point.reason


def test_an_interval_that_is_refused_is_no_point() -> None:
    refused = Metric(
        name="odd",
        compute=lambda s, w: np.ones(len(w)),
        describe="always refused",
        interval=lambda s, level: Interval.refused("too odd"),
    )
    point = Series(refused).point(hits(100, 50), ANY)
    assert (point.status, point.reason) == ("insufficient", "too odd")


# ---- groups and gaps -------------------------------------------------------------------------------------------------


def test_every_group_is_followed_and_two_groups_have_one_gap() -> None:
    rows = cohort()
    series = list(every_series(rows, [FOUND, WAIT], ["sex", "ward"]))
    named = [(one.metric.name, dict(one.key), one.gap) for one in series]
    assert named[:2] == [("found", {}, False), ("wait", {}, False)]
    assert [key for name, key, gap in named if gap] == [{"sex": "M"}, {"ward": "A"}, {"ward": "B"}, {"ward": "C"}]
    assert all(name == "found" for name, _, gap in named if gap)  # parity is asked of that metric alone
    assert len(named) == 2 + 2 * 2 + 3 * 2 + 4


def test_a_level_without_rows_is_no_series_and_missing_is_one() -> None:
    rows = Scores.of({"hit": np.ones(4)}, groups={"sex": np.array(["F", None, "M", "F"], dtype=object)})
    assert {one.key["sex"] for one in every_series(rows, [FOUND], ["sex"]) if one.key} == {"F", "M", "missing"}
    women = rows.take(np.array([0, 3]))
    assert [dict(one.key) for one in every_series(women, [FOUND], ["sex"])] == [{}, {"sex": "F"}]


@pytest.mark.parametrize("column", ["sex", "ward"])
def test_points_made_together_are_those_made_one_by_one(column: str) -> None:
    rows = cohort()
    metrics = [RISK[name] for name in ("auroc", "calibration_slope", "sensitivity")]
    series = list(every_series(rows, metrics, [column]))
    for one, together in zip(series, points(series, rows, ANY), strict=True):
        if one.gap:
            inside = rows.groups[column].codes == rows.groups[column].names.index(one.key[column])
            own, rest = (Series(one.metric).point(rows.take(np.flatnonzero(side)), ANY) for side in (inside, ~inside))
            assert together.value == pytest.approx(own.value - rest.value, abs=1e-14)
            assert together.se == pytest.approx(math.hypot(own.se, rest.se), rel=1e-12)
        else:
            assert together == one.point(rows, ANY)


def test_a_gap_says_which_side_lacks_what() -> None:
    rows = hits(300, 150, groups={"sex": np.array(["F"] * 40 + ["M"] * 260)})
    women, men = (Series(FOUND, {"sex": level}, gap=True).point(rows, Minimum()) for level in ("F", "M"))
    assert women.reason == "in the group: 40 rows; at least 100 are needed"
    assert men.reason == "outside it: 40 rows; at least 100 are needed"


def test_patients_on_both_sides_of_a_gap_are_not_compared_as_if_they_were_two() -> None:
    rows = hits(40, 20, patient=np.repeat(np.arange(20), 2), groups={"ward": np.array(["A", "B"] * 20)})
    point = Series(FOUND, {"ward": "A"}, gap=True).point(rows, ANY)
    assert (point.status, point.reason) == ("insufficient", "patients are in the group and outside it")


def test_a_gap_of_two_perfect_groups_can_be_judged() -> None:
    rows = hits(400, 400, groups={"sex": np.array(["F", "M"] * 200)})
    series = Series(FOUND, {"sex": "M"}, gap=True)
    base = series.point(rows, Minimum())
    assert base.known and base.value == 0 and base.se > 0
    worse = replace(rows, values={"hit": np.where(np.arange(400) % 8 == 1, 0.0, 1.0)})  # a quarter of the men missed
    moved = departure(FOUND, base, series.point(worse, Minimum()))
    assert moved.effect == pytest.approx(-0.25)
    assert math.isfinite(moved.z) and moved.z < -5


def test_a_level_that_has_vanished_is_insufficient_and_not_a_crash() -> None:
    rows = hits(200, 100, groups={"sex": np.array(["M"] * 200)})
    assert Series(FOUND, {"sex": "F"}).point(rows, Minimum()).reason == "0 rows; at least 100 are needed"


# ---- departures ------------------------------------------------------------------------------------------------------


def test_the_errors_of_both_sides_count_in_a_departure() -> None:
    base, now = Point(0.8, 0.01, 2.0, 0.3), Point(0.7, 0.03, 1.5, 0.4)
    moved = departure(RISK["auroc"], base, now)
    assert moved.z == pytest.approx(-0.5 / 0.5)
    assert moved.effect == pytest.approx(-0.1)
    assert moved.ends == pytest.approx(
        (-0.1 - 1.959964 * math.hypot(0.01, 0.03), -0.1 + 1.959964 * math.hypot(0.01, 0.03))
    )


def test_a_share_is_judged_by_the_error_it_would_have_if_the_baseline_were_true() -> None:
    base = Series(FOUND).point(hits(1000, 900), ANY)
    perfect = Series(FOUND).point(hits(100, 100), ANY)
    moved = departure(FOUND, base, perfect)
    assert moved.z == pytest.approx(0.1 / math.sqrt(0.9 * 0.1 / 100 + 0.9 * 0.1 / 1000))
    assert moved.se >= math.sqrt(0.9 * 0.1 / 100)


def test_rows_that_cluster_make_a_departure_less_sure() -> None:
    rng = np.random.default_rng(0)
    base = Series(FOUND).point(hits(4000, 3600), ANY)
    own = np.repeat(rng.random(60) < 0.7, 10).astype(float)  # ten equal rows of each patient
    single = Scores.of({"hit": own})
    clustered = Scores.of({"hit": own}, patient=np.repeat(np.arange(60), 10))
    z = [departure(FOUND, base, Series(FOUND).point(rows, ANY)).z for rows in (single, clustered)]
    assert abs(z[1]) < 0.45 * abs(z[0])  # a design effect of about 10


def test_a_baseline_of_all_found_still_judges() -> None:
    base = Series(FOUND).point(hits(500, 500), ANY)
    moved = departure(FOUND, base, Series(FOUND).point(hits(200, 180), ANY))
    assert math.isfinite(moved.z) and moved.z < -10


# ---- for the worse ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "before", "now", "worse"),
    [
        ({"better": "higher"}, 0.8, 0.7, True),
        ({"better": "higher"}, 0.8, 0.9, False),
        ({"better": "lower"}, 0.1, 0.2, True),
        ({"better": "lower"}, 0.2, 0.1, False),
        ({"better": "target", "target": 1.0}, 0.9, 1.2, True),
        ({"better": "target", "target": 1.0}, 0.7, 1.1, False),
        ({"better": "target", "target": 0.0}, -0.1, 0.3, True),
        ({"better": "neither"}, 0.2, 0.4, True),
        ({"better": "neither"}, 0.4, 0.2, True),
        ({"better": "higher"}, 0.8, 0.8, False),
    ],
)
def test_which_move_is_for_the_worse(fields: dict[str, Any], before: float, now: float, worse: bool) -> None:
    metric = mean("m", lambda s: s["wait"], describe="m", **fields)
    assert Series(metric).worse(before, now) is worse


def test_a_gap_is_worse_when_it_is_wider_on_either_side() -> None:
    gap = Series(FOUND, {"sex": "F"}, gap=True)
    assert gap.worse(0.01, -0.08) and gap.worse(-0.01, 0.08)
    assert not gap.worse(-0.08, 0.01)


def test_the_customary_limits() -> None:
    assert Series(RISK["auroc"]).concern == Concern(0.05, 0.10, 0.08)
    assert Series(RISK["calibration_slope"]).concern.medium == 0.20
    assert Series(RISK["auroc"], {"sex": "F"}, gap=True).concern == GAP == Concern(0.05, 0.10, 0.05)
    assert Series(FOUND).concern == Concern(0.05, 0.10, 0.08)
    assert Series(WAIT).concern == Concern(0.20, 0.40, 0.20)


def test_five_points_are_no_gap_between_minutes() -> None:
    timed = mean("wait", lambda s: s["wait"], describe="m", parity=True, concern=Concern(5.0, 10.0, 8.0))
    assert Series(timed, {"sex": "F"}, gap=True).concern == Concern(5.0, 10.0, 8.0)


def test_the_interval_of_a_change_is_symmetric_about_it() -> None:
    low, high = Departure(-3.0, -0.06, 0.02).ends
    assert (low + high) / 2 == pytest.approx(-0.06)
    assert high - low == pytest.approx(2 * 1.9599639845 * 0.02)
