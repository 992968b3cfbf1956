"""Charts show the figures of the record, say them in words, and let no string of a record become more than data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest

import workup
from tests.support.hostile import NAMES, hostile
from workup.report import Report
from workup.reports.charts import drawing
from workup.reports.charts.figure import FIRST, Figure
from workup.reports.charts.forest import MOST_GROUPS, forests
from workup.reports.risk.panels import panels
from workup.reports.wording import number


def _panel(report: Report, key: str) -> Figure:
    return next(figure for figure in panels(report) if figure.key == key)


def _data(figure: Figure) -> Iterator[list[dict[str, Any]]]:
    yield from (layer["data"]["values"] for layer in figure.spec["layer"])


def test_the_four_panels_stand_in_order(report: Report) -> None:
    assert [figure.key for figure in panels(report)] == ["roc", "calibration", "decision-curve", "risks"]


def test_the_roc_curve_is_that_of_the_record_with_the_named_threshold_on_it(report: Report) -> None:
    figure = _panel(report, "roc")
    _, curve, point, _ = _data(figure)
    held = report.results["internal"].tables["roc"]
    assert [(row["fpr"], row["sensitivity"]) for row in curve] == [(row["fpr"], row["sensitivity"]) for row in held]
    assert point[0]["sensitivity"] == report.estimate("sensitivity", threshold=0.2).value
    assert point[0]["fpr"] == pytest.approx(1 - report.estimate("specificity", threshold=0.2).value)
    auroc = report.estimate("auroc")
    assert f"Area under the curve {number(auroc.value)}" in " ".join(figure.says)


def test_the_calibration_panel_has_band_diagonal_curve_tenths_and_rug(report: Report) -> None:
    figure = _panel(report, "calibration")
    held = report.results["internal"].tables["calibration_curve"]
    band, diagonal, curve, dots, rug, thin = _data(figure)  # a record of the first version, which held a loess curve
    assert [(row["low"], row["high"]) for row in band] == [(row["low"], row["high"]) for row in held["spline"]]
    assert diagonal[1]["risk"] == diagonal[1]["observed"] <= 1
    assert [row["observed"] for row in curve] == [row["observed"] for row in held["spline"]]
    assert len(thin) == len(held["loess"])
    assert dots == rug == held["rug"]
    assert len(figure.table.rows) == 10


def test_the_decision_curve_has_three_choices_told_apart_without_colour(report: Report) -> None:
    layer = _panel(report, "decision-curve").spec["layer"][0]
    assert {row["choice"] for row in layer["data"]["values"]} == {"the model", "treat all", "treat none"}
    dashes = layer["encoding"]["strokeDash"]["scale"]["range"]
    assert len({str(dash) for dash in dashes}) == 3


def test_risks_of_the_two_outcomes_lie_on_two_sides_and_sum_to_one(report: Report) -> None:
    rows = next(_data(_panel(report, "risks")))
    above = [row["share"] for row in rows if row["who"] == "with the event"]
    below = [row["share"] for row in rows if row["who"] == "without the event"]
    assert sum(above) == pytest.approx(1)
    assert sum(below) == pytest.approx(-1)


def test_one_outcome_only_draws_what_it_can() -> None:
    table = {"died": [0] * 40, "p": [0.1, 0.2, 0.3, 0.4] * 10}
    assert panels(workup.score_risk(table, outcome="died", risk="p", replicates=200)) == []


def test_a_forest_keeps_a_row_for_every_group_and_says_which_have_no_interval(report: Report) -> None:
    figures = {figure.title: figure for figure in forests(report)["ethnicity"]}
    assert {"AUROC", "calibration slope", "sensitivity at 0.2"} <= set(figures)
    rows = list(_data(figures["AUROC"]))[-1]
    held = [e for e in report.estimates("auroc", lens="subgroups") if e.level == 0.95]
    assert [row["label"] for row in rows] == [f"{e.slice['ethnicity']} ({e.n_patients})" for e in held]
    for row, e in zip(rows, held, strict=True):
        assert (row["low"], row["high"]) == ((e.low, e.high) if e.low is not None else (None, None))
        assert row["figure"].startswith(f"{e.value:.2f} (" if e.low is not None else e.status)
    assert any(e.status != "ok" for e in held)
    assert "the table says why" in " ".join(figures["AUROC"].says)
    assert len(figures["AUROC"].table.rows) == len(held)


def test_many_groups_are_drawn_in_part_and_listed_in_full() -> None:
    n = 40 * 30
    table = {
        "y": [i % 3 == 0 for i in range(n)],
        "p": [0.1 + (i * 37 % 80) / 100 for i in range(n)],
        "ward": [f"ward {i % 30}" for i in range(n)],
    }
    found = workup.score_risk(
        {**table, "y": [int(v) for v in table["y"]]}, outcome="y", risk="p", by=["ward"], replicates=200
    )
    figure = forests(found)["ward"][0]
    assert len(figure.table.rows) == 30
    assert len(list(_data(figure))[-1]) == MOST_GROUPS
    assert f"{MOST_GROUPS} largest of 30" in " ".join(figure.says)


@pytest.mark.parametrize("name", NAMES.values(), ids=list(NAMES))
def test_no_string_of_a_record_is_a_field_or_an_expression(name: str, report: Report) -> None:
    for figure in [*panels(hostile(report, name)), *(f for fs in forests(hostile(report, name)).values() for f in fs)]:
        bare = json.loads(json.dumps(figure.spec))
        for layer in bare["layer"]:
            del layer["data"]
        assert name[:12] not in json.dumps(bare, ensure_ascii=False)


# Drawing

needs_charts = pytest.mark.skipif(not drawing.available(), reason="vl-convert-python is not installed (extra 'report')")


@needs_charts
def test_a_drawing_is_the_same_each_time_and_holds_shapes_and_words_only(report: Report) -> None:
    figure = _panel(report, "decision-curve")
    first, again = (drawing.svg(figure.spec, name="a") for _ in range(2))
    assert first == again
    root = ElementTree.fromstring(first)
    tags = {element.tag.partition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "g", "path", "line", "rect", "text", "circle", "defs", "clipPath"}
    keys = {key for element in root.iter() for key in element.attrib}
    assert not {key for key in keys if key.startswith("on") or key in ("style", "href", "class")}
    assert any(element.attrib.get("stroke") == FIRST for element in root.iter())
    assert "http" not in first.replace("http://www.w3.org/2000/svg", "")


@needs_charts
def test_inner_names_of_two_drawings_differ(report: Report) -> None:
    spec = _panel(report, "calibration").spec
    ids = [
        {
            element.attrib["id"]
            for element in ElementTree.fromstring(drawing.svg(spec, name=name)).iter()
            if "id" in element.attrib
        }
        for name in ("a", "b")
    ]
    assert ids[0] and not ids[0] & ids[1]


@needs_charts
@pytest.mark.parametrize("name", [NAMES["html"], NAMES["chart"], NAMES["bidi"]], ids=["html", "chart", "bidi"])
def test_a_hostile_group_is_a_word_in_the_drawing(name: str, report: Report) -> None:
    figure = next(iter(forests(hostile(report, name)).values()))[0]
    drawn = drawing.svg(figure.spec, name="a")
    words = [element.text or "" for element in ElementTree.fromstring(drawn).iter() if element.tag.endswith("}text")]
    assert any(word.startswith(list(_data(figure))[-1][0]["label"][:10]) for word in words)
    assert "<script" not in drawn and "<img" not in drawn
    assert all(word.isprintable() for word in words)
