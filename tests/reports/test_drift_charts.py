"""Charts of the monitoring report: signals, limits and lost windows are marked; words and tables hold the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.drift_record import BOUND, FELL, MONTHS, alert, compared, report, result, states, window
from tests.support.hostile import NAMES
from workup.report import Report
from workup.reports.charts import drawing
from workup.reports.drift.charts import MOST_CHARTS
from workup.reports.drift.dots import MOST_INPUTS
from workup.reports.drift.report import figures, sections

needs_charts = pytest.mark.skipif(not drawing.available(), reason="vl-convert-python is not installed (extra 'report')")


def points_of(spec: Any, shape: str) -> list[Any]:
    return [row for layer in spec["layer"] if layer["mark"].get("shape") == shape for row in layer["data"]["values"]]


def test_a_control_chart_marks_signals_limits_and_windows_without_a_value(six: Report) -> None:
    charts = figures(six)["drift-charts"]
    assert [chart.title for chart in charts[:2]] == ["AUROC: EWMA", "Specificity at 0.2: EWMA"]
    values, statistic = charts[0].spec["vconcat"]
    assert [row["at"] for row in points_of(values, "diamond")] == [3, 4]
    assert [row["at"] for row in points_of(values, "cross")] == [2, 5]
    assert values["layer"][0]["data"]["values"] == [{"value": 0.8}], "the baseline"
    bar = next(layer for layer in values["layer"] if layer["encoding"].get("y2"))["data"]["values"][0]
    assert (bar["low"], bar["high"]) == pytest.approx((0.8 - 1.96 * 0.02, 0.8 + 1.96 * 0.02), abs=1e-5)
    dashed = [
        layer["data"]["values"][0]["statistic"] for layer in statistic["layer"] if layer["mark"].get("strokeDash")
    ]
    assert dashed == [-BOUND, BOUND]
    assert "Diamonds: signals in 2015-04, 2015-05." in charts[0].says
    assert "Crosses: 2 windows without a value; the table says why." in charts[0].says
    assert [row[0] for row in charts[0].table.rows] == MONTHS


def test_a_chart_of_values_draws_its_limits_among_them() -> None:
    made = result()
    shares = [
        {**row, "chart": "p", "statistic": row["value"], "lower": 0.55, "upper": 0.65}
        for row in states("sensitivity", (0.6,) * 6, keys={"threshold": 0.2}, baseline=0.6)
    ]
    chart = figures(report(replace(made, charts_state=tuple(shares), alerts=())))["drift-charts"][0]
    [panel] = chart.spec["vconcat"]
    dashed = [layer["data"]["values"][0] for layer in panel["layer"] if layer["mark"].get("interpolate")]
    assert [row["value"] for row in dashed] == [0.55, 0.65]
    assert "Dashed orange: the limits, 0.550 to 0.650 in 2015-06." in chart.says


def test_only_so_many_are_drawn_and_the_words_say_so() -> None:
    made = result()
    many = [row for i in range(12) for row in states("auroc", FELL, keys={"ward": f"w{i:02}"})]
    found = report(replace(made, charts_state=(*many, *made.charts_state)))
    charts = figures(found)["drift-charts"]
    assert len(charts) == MOST_CHARTS
    assert charts[0].title == "AUROC: EWMA", "the one with an alert"
    assert "Drawn are 5 of 16 series, those with alerts first; the table below holds all." in charts[0].says
    wide = [compared("2015-06", f"input {i:02}", 0.05, 0.1, flagged=i == 30) for i in range(MOST_INPUTS + 12)]
    chart = figures(report(replace(made, tables={**made.tables, "inputs": wide})))["drift-inputs"][0]
    assert f"The {MOST_INPUTS} most often flagged of {MOST_INPUTS + 12} are drawn; the table holds all." in chart.says
    labels = [row["label"] for layer in chart.spec["layer"] for row in layer["data"]["values"] if "label" in row]
    assert labels[0] == "input 30"
    assert len(chart.table.rows) == MOST_INPUTS + 12


def test_inputs_are_drawn_by_window_and_unjudged_ones_are_crosses(six: Report) -> None:
    chart = figures(six)["drift-inputs"][0]
    flagged = points_of(chart.spec, "diamond")
    assert sorted((row["at"], row["size"]) for row in flagged) == [(4, pytest.approx(3.0)), (5, 4.0), (5, 4.0)]
    assert [row["at"] for row in points_of(chart.spec, "cross")] == [5]


def test_gaps_are_drawn_with_their_bars(six: Report) -> None:
    [chart] = figures(six)["drift-fairness"]
    assert chart.title == "Gap in AUROC"
    assert "sex F: 0.100 in 2015-04, 0 in the baseline." in chart.says
    drawn = next(layer for layer in chart.spec["layer"] if layer["mark"]["type"] == "line")
    assert [row["at"] for row in drawn["data"]["values"]] == [0, 1, 3]


@needs_charts
def test_all_charts_can_be_drawn(six: Report) -> None:
    for charts in figures(six).values():
        for i, chart in enumerate(charts):
            drawn = drawing.svg(chart.spec, name=f"a{i}")
            assert "2015-01" in drawn


@needs_charts
@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name_is_a_word(name: str) -> None:
    hostile = NAMES[name]
    made = result()
    tables = {
        **made.tables,
        "inputs": [compared(hostile, hostile, 0.3, 0.1, flagged=True)],
        "windows": [window("2014-01", "baseline"), {**window("2015-01", "watched"), "window": hostile}],
    }
    states_of = tuple(
        {**row, "window": hostile} for row in states("auroc", FELL, keys={hostile: hostile}, kind="fairness")[:1]
    )
    named = replace(made, tables=tables, charts_state=states_of, alerts=(alert("auroc", {hostile: hostile}),))
    found = report(named)
    assert hostile in {line[0] for line in sections(found)[0].tables[0].rows}
    for charts in figures(found).values():
        drawn = drawing.svg(charts[0].spec, name="a")
        assert "<script" not in drawn
        assert "onerror=" not in drawn.replace("onerror=alert(2)&gt;", "")
