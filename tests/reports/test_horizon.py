"""The page of risks at horizons: what is said by each horizon, what stands under a time axis, and awkward records."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from workup import Study, score_horizon, validate
from workup.corpora.generate.survival.generator import generate
from workup.report import Report
from workup.reports import flat, html, markdown, text
from workup.reports.charts.figure import Figure
from workup.reports.horizon.page import HorizonPage
from workup.reports.horizon.setting import at, horizons, primary, words
from workup.reports.page import page_of
from workup.reports.sections import figures, sections

RISKS = {"365d": "risk_365d", "1095d": "risk_1095d"}


def scored(table: Any, **given: Any) -> Report:
    named = {"followup": "followup", "unit": "d", "status": "status", "risk": RISKS, "patient": "patient"}
    return score_horizon(table, **{**named, "thresholds": [0.2], "replicates": 200, **given})


def said(report: Report) -> str:
    """The text of a report on one line."""
    return re.sub(r"\s+", " ", text.render(report))


@pytest.fixture(scope="module")
def table() -> Any:
    return generate(500, seed=3).table


@pytest.fixture(scope="module")
def report(table: Any) -> Report:
    content = {
        "name": "relapse",
        "task": "horizon",
        "columns": {
            "followup": {"column": "followup", "unit": "d"},
            "status": "status",
            "risk": RISKS,
            "patient": "patient",
            "site": "site",
            "groups": ["sex"],
        },
        "thresholds": [0.2],
        "lenses": {"internal": {}, "subgroups": {"margin": 0.1}, "sites": {}},
        "bootstrap": {"replicates": 200},
        "primary": {"horizon": "1095d"},
        "gates": ["auroc.low >= 0.6"],
    }
    return validate(Study.of(content), table=table)


def test_the_task_has_its_page_and_the_primary_horizon(report: Report) -> None:
    assert isinstance(page_of(report), HorizonPage)
    assert (horizons(report), primary(report)) == (["365d", "1095d"], "1095d")
    seen = at(report, "365d")
    assert seen.estimate("auroc").value == report.estimate("auroc", horizon="365d").value
    assert seen.results["internal"].tables["summary"]["predicted"] == pytest.approx(0.12, abs=0.03)
    assert all("horizon" not in e.slice for e in seen.estimates())


def test_sentences_say_what_became_of_everyone_and_name_their_horizon(report: Report, table: Any) -> None:
    words_of_all = said(report)
    lost = int(np.sum((table["status"] == 0) & (table["followup"] < 1095)))
    events = int(np.sum((table["status"] == 1) & (table["followup"] <= 1095)))
    assert f"500 patients: by 3 years {events} had the event," in words_of_all
    assert f"and {lost} were lost before; those who stayed stand in for them." in words_of_all
    assert "By 1 year (365 days)" in words_of_all and "the model predicted" in words_of_all
    assert f"Leaving out the {lost} lost before 3 years would have given" in words_of_all
    assert "By 1 year: 4 comparisons between groups" in words_of_all
    assert "By 3 years: 4 comparisons between groups" in words_of_all
    for horizon in ("1 year", "3 years"):
        assert words_of_all.count(f"By {horizon}: for every 100 events the model expected") == 1


def test_intervals_over_horizons_are_said_to_be_pointwise(report: Report) -> None:
    assert "Intervals are pointwise: each is for its horizon alone" in said(report)
    for figure in page_of(report).panels(report):
        assert any("pointwise" in sentence for sentence in figure.says)


def _under(figure: Figure) -> list[list[str]]:
    """The lines of figures under the axis of a chart."""
    layers = figure.spec["layer"]
    return [
        [row["n"] for row in layer["data"]["values"]]
        for layer in layers
        if layer["mark"]["type"] == "text" and "n" in layer["data"]["values"][0]
    ]


def test_those_at_risk_events_and_competing_events_stand_under_every_time_axis(report: Report) -> None:
    panels = page_of(report).panels(report)
    assert [figure.key for figure in panels] == ["over-auroc", "over-brier", "over-scaled_brier", "over-oe_ratio"]
    [row, last] = [row for row in report.results["internal"].tables["followup"] if not row["slice"]]
    for figure in panels:
        at_risk, events, competing = _under(figure)
        assert at_risk == ["500", f"{row['at_risk']:.0f}", f"{last['at_risk']:.0f}"]
        assert events == ["0", f"{row['events']:.0f}", f"{last['events']:.0f}"]
        assert competing == ["0", f"{row['competing']:.0f}", f"{last['competing']:.0f}"]
    [over_time] = figures(report)["observed-curves"]
    lines = _under(over_time)
    assert len(lines) == 3  # those at risk in everyone, for few of a fifth are lost at a time; events, competing events
    assert all(len(line) == 6 for line in lines) and lines[-2][0] == "0"


def test_each_horizon_has_its_calibration_plot_and_decision_curve(report: Report) -> None:
    drawn = figures(report)
    for horizon in ("365d", "1095d"):
        keys = [figure.key for figure in drawn[f"at-horizon:{horizon}"]]
        assert keys == [f"calibration-{horizon}", f"decision-curve-{horizon}"]
    titles = [section.title for section in sections(report)]
    assert "By 1 year (365 days)" in titles and "By 3 years (1095 days)" in titles


def test_groups_are_told_at_every_horizon_and_in_order(report: Report) -> None:
    titles = [section.title for section in sections(report)]
    for title in ("By sex, by 3 years", "By sex, by 1 year", "Gaps between groups, by 1 year"):
        assert title in titles
    assert titles.index("By sex, by 3 years") < titles.index("By sex, by 1 year") < titles.index("Limits")


def test_every_form_is_drawn(report: Report) -> None:
    page = html.render(report)
    assert "The model over the horizons" in page and "AUROC by 3 years" in page
    assert "Observed and predicted risk over time" in markdown.render(report)
    found = flat.render(report)
    assert '"horizon": "1095d"' in found and '"auc_roc"' in found


def test_no_sentence_is_longer_than_a_page_shows(report: Report) -> None:
    few = scored({name: column[:40] for name, column in generate(500, seed=3).table.items()})
    for one in (report, few):
        told = [sentence for section in sections(one) for sentence in (*section.sentences, *section.points)]
        told += [sentence for charts in figures(one).values() for figure in charts for sentence in figure.says]
        told += [sentence for figure in page_of(one).panels(one) for sentence in figure.says]
        assert [sentence for sentence in told if len(sentence) > html.LONGEST] == []


def test_losses_show_who_was_lost_with_the_remedy(report: Report) -> None:
    words_of_all = said(report)
    assert "censoring: {strata: [column]} or {cox: [column]}" in words_of_all
    assert "hazard ratio of being lost" in words_of_all and "a curve for each fifth of risk" in words_of_all


# ---- awkward records -------------------------------------------------------------------------------------------------


def test_one_horizon_has_the_four_views_of_a_model(table: Any) -> None:
    report = scored(table, risk={"365d": "risk_365d"})
    assert [figure.key for figure in page_of(report).panels(report)] == [
        "roc",
        "calibration",
        "decision-curve",
        "risks",
    ]
    assert "pointwise: each is for its horizon" not in said(report)


def test_a_horizon_beyond_all_follow_up_says_that_nothing_can_be_said(table: Any) -> None:
    report = scored({**table, "far": table["risk_1095d"]}, risk={"365d": "risk_365d", "3000d": "far"})
    words_of_all = said(report)
    assert "By 3000 days nothing can be said: no one was followed to the horizon." in words_of_all
    assert "500 patients: by 1 year" in words_of_all
    assert "3000" in html.render(report)


def test_nobody_lost_and_nothing_competing_is_said_plainly() -> None:
    report = scored(generate(300, seed=3, plan={"censoring": 0.0, "competing": 0.0}).table)
    words_of_all = said(report)
    assert "had the event, and nobody was lost before." in words_of_all
    assert "one less Kaplan and Meier's estimate" in words_of_all and "Leaving out" not in words_of_all


def test_predictions_at_landmarks_are_not_called_patients() -> None:
    table = generate(200, seed=3, plan={"landmarks": [0, 90, 180]}).table
    report = scored(table, landmark="landmark")
    assert f"200 patients with {table['followup'].size} predictions, of which by 3 years" in said(report)


def test_weighted_counts_are_said_to_be_sums(table: Any) -> None:
    report = scored({**table, "w": np.resize([1.0, 2.5], 500)}, weight="w")
    assert "These counts are sums of design weights." in said(report)


def test_risks_that_run_backwards_get_no_plain_sentence(table: Any) -> None:
    turned = {**table, "risk_365d": 1 - table["risk_1095d"], "risk_1095d": 1 - table["risk_365d"]}
    words_of_all = said(scored(turned))
    assert "the lower risk was given to the one with the event" in words_of_all
    assert "for every 100 events" not in words_of_all and "Leaving out" not in words_of_all


@pytest.mark.parametrize(("horizon", "expected"), [("24h", "24 hours"), ("1461d", "4 years (1461 days)"), ("?", "?")])
def test_horizons_are_said_as_people_say_them(horizon: str, expected: str) -> None:
    assert words(horizon) == expected


def test_sites_are_shown_by_the_primary_horizon_and_say_so(report: Report) -> None:
    found = sections(report)
    assert "Pooled over the sites, by 3 years" in [section.title for section in found]
    assert "Sites and windows are shown by the primary horizon" in found[-1].points[-1]
