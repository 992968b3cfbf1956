"""The sample-size report: what a board must find in it, the same in every form, and names that can do nothing."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from tests.support.hostile import NAMES
from workup.estimate import Draws
from workup.lenses.power.lens import power
from workup.lenses.power.plans import (
    Group,
    plan_auc,
    plan_decay,
    plan_develop,
    plan_leak,
    plan_precision,
    plan_proportions,
    plan_report,
)
from workup.metric import ratio
from workup.report import LensResult, Report
from workup.reports import html, markdown, text
from workup.reports.charts import drawing
from workup.reports.layout import Section
from workup.reports.power.report import figures, sections
from workup.scores import Scores

PLANS: dict[str, LensResult] = {
    "proportions": plan_proportions(
        0.8, difference=0.05, groups=[Group("A", 0.6, 0.1), Group("B", 0.3, 0.2), Group("C", 0.1, 0.1)], n=300
    ),
    "no prevalence": plan_proportions(0.8, p2=0.7, of="positives"),
    "auc": plan_auc(0.8, difference=0.05, prevalence=0.1, n=1000),
    "models": plan_auc(0.8, auc2=0.82, prevalence=0.1, correlation=0.5),
    "precision": plan_precision(0.1, cstatistic=0.8),
    "develop": plan_develop(0.2, parameters=10, cox_snell=0.2),
    "leak": plan_leak(bound=0.01, leak_rate=0.002, icc=0.1, golds_per_document=8, n=2000),
    "recall": plan_leak(recall1=0.95, recall2=0.9, n=100),
    "decay": plan_decay(slope=-0.02, slope_sd=0.03, n=10),
}
EVERY = pytest.mark.parametrize("kind", PLANS)


def read_back(result: LensResult) -> Report:
    """As a reader has it, after the record was written."""
    return Report.from_dict(json.loads(plan_report(result).to_json()))


def by_key(report: Report) -> dict[str, Section]:
    return {section.key: section for section in sections(report)}


def cells(section: Section) -> list[str]:
    return [cell for table in section.tables for row in table.rows for cell in row]


def pilot(**groups: tuple[int, int]) -> Report:
    hit = [float(i < found) for found, n in groups.values() for i in range(n)]
    names = [name for name, (_, n) in groups.items() for _ in range(n)]
    scores = Scores.of({"hit": hit}, groups={"ward": names})
    recall = ratio("recall", lambda s: s["hit"], lambda s: np.ones(len(s)), describe="share found")
    found = power(scores, [recall], settings={"half_width": 0.03}, draws=Draws())
    about: dict[str, Any] = {"name": "c", "version": "", "seed": None, "n_cases": len(hit), "sha256": ""}
    report = Report(
        {"name": "pilot", "task": "x"},
        {**about, "n_patients": len(hit)},
        {"name": "s", "version": ""},
        0,
        {"power": found},
    )
    return Report.from_dict(json.loads(report.to_json()))


@EVERY
def test_every_plan_has_parameters_expectations_and_a_requirement(kind: str) -> None:
    found = by_key(read_back(PLANS[kind]))
    assert list(found)[:3] == ["power-parameters", "power-expected", "power-needed"]
    assert list(found)[-1] == "power-curve"
    for section in found.values():
        for table in section.tables:
            assert table.rows
            assert {len(row) for row in table.rows} == {len(table.heads)}
            assert len(set(table.heads)) == len(table.heads), "two columns of one name"


@EVERY
def test_no_cell_is_a_raw_float_or_a_nothing_that_looks_like_a_number(kind: str) -> None:
    for section in by_key(read_back(PLANS[kind])).values():
        for cell in cells(section):
            assert cell not in ("nan", "None", "inf")
            assert not re.search(r"\d\.\d{6}", cell)


def test_a_board_finds_alpha_power_comparisons_and_the_numbers() -> None:
    found = by_key(read_back(PLANS["proportions"]))
    parameters = dict(zip(*[iter(cells(found["power-parameters"]))] * 2, strict=True))
    assert parameters["Alpha, two-sided"] == "0.05"
    assert parameters["Power wanted"] == "80.0 %"
    assert parameters["Comparisons planned"] == "3"
    assert parameters["Alpha of each comparison"] == "0.01667"
    rows = {row[0]: row for row in found["power-needed"].tables[0].rows}
    assert set(rows) == {"A", "B", "C", "total"}
    heads = found["power-needed"].tables[0].heads
    total = dict(zip(heads, rows["total"], strict=True))
    each = PLANS["proportions"].tables["requirement"]
    assert total["patients"] == f"{each[-1]['patients']:,}"
    assert total["enrolled as they come"] == f"{each[-1]['enrolled']:,}"
    assert total["expected with the outcome"] == f"{round(each[-1]['positives']):,}"


def test_patients_that_cannot_be_counted_are_a_dash_with_its_reason() -> None:
    section = by_key(read_back(PLANS["no prevalence"]))["power-needed"]
    assert any("no prevalence was given" in cell for cell in cells(section))
    assert "patients" not in section.tables[0].heads


def test_a_smallest_gap_that_does_not_exist_is_a_dash_with_its_reason() -> None:
    section = by_key(read_back(PLANS["recall"]))["power-at-hand"]
    assert "–" in cells(section)
    assert any("up: no difference" in cell for cell in cells(section))


@EVERY
def test_a_curve_stands_beside_the_requirement_with_words_and_figures(kind: str) -> None:
    [chart] = figures(read_back(PLANS[kind]))["power-needed"]
    assert chart.says
    assert chart.table.rows
    rules = [layer for layer in chart.spec["layer"] if layer["mark"]["type"] == "rule"]
    assert rules, "what is wanted is marked"
    svg = drawing.svg(chart.spec, name="c")
    assert svg.startswith("<svg")
    assert "NaN" not in svg


def test_the_power_curve_marks_what_is_wanted_needed_and_at_hand() -> None:
    [chart] = figures(read_back(PLANS["auc"]))["power-needed"]
    marked = [row for layer in chart.spec["layer"] for row in layer["data"]["values"] if "label" in row]
    needed = PLANS["auc"].tables["requirement"][0]["needed"]
    assert {row["label"] for row in marked} == {f"{needed:,} needed", "1,000 at hand"}
    assert any(row == {"y": 0.8} for layer in chart.spec["layer"] for row in layer["data"]["values"])
    assert f"{needed:,}" in " ".join(chart.says)


@EVERY
@pytest.mark.parametrize("render", [text.render, markdown.render, html.render], ids=["text", "markdown", "html"])
def test_every_form_says_the_same_before_and_after_it_was_kept(kind: str, render: Any) -> None:
    report = plan_report(PLANS[kind], name="Spring")
    shown = render(report)
    assert shown == render(Report.from_dict(json.loads(report.to_json())))
    assert "How many are needed" in shown
    number = PLANS[kind].tables["requirement"][0]["needed"]
    assert f"{number:,}" in shown


def test_a_pilot_shows_needed_reached_and_smallest_with_every_group() -> None:
    found = by_key(pilot(A=(400, 500), B=(350, 500), few=(6, 8)))
    for key in ("power-needed", "power-reached", "power-smallest"):
        groups = [row[0] for row in found[key].tables[0].rows]
        assert groups == ["everyone", "ward B", "ward few", "ward few"]
        assert any(cell.startswith("insufficient: 8 patients") for cell in cells(found[key]))
    widths = found["power-widths"].tables[0]
    assert [row[0] for row in widths.rows] == ["everyone", "ward A", "ward B", "ward few"]


def test_a_pilot_has_a_chart_for_each_metric() -> None:
    report = pilot(A=(400, 500), B=(350, 500))
    [chart] = figures(report)["power-needed"]
    assert "recall" in chart.title
    assert {row["line"] for row in chart.spec["layer"][0]["data"]["values"]} == {
        "everyone and a fixed value",
        "ward B and A",
    }
    assert drawing.svg(chart.spec, name="c").startswith("<svg")


@pytest.mark.parametrize("name", [NAMES[key] for key in ("html", "template", "bidi", "control", "chart")])
def test_a_hostile_name_of_a_group_can_do_nothing(name: str) -> None:
    plan = plan_proportions(0.8, p2=0.7, groups=[Group(name, 0.5, 0.1), Group("B", 0.5, 0.1)])
    for report in (plan_report(plan, name=name), pilot(**{name: (400, 500), "B": (350, 500)})):
        page = html.render(report)
        assert "<script>alert" not in page
        assert "onerror=alert(2)>" not in page.replace("&gt;", "")
        assert "\u202e" not in page
        for shown in (text.render(report), markdown.render(report)):
            assert "\x1b" not in shown
            assert "\u202e" not in shown


def test_a_report_without_a_plan_has_no_section_of_one() -> None:
    report = Report({"name": "x"}, {}, {}, 0, {})
    assert sections(report) == []
    assert figures(report) == {}
