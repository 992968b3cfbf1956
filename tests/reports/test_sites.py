"""The external validation report shows every site, keeps interval and prediction interval apart, and hides nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.hostile import NAMES
from tests.support.report_parts import words
from workup.estimate import Estimate
from workup.evidence import SiteEvidence
from workup.lenses.sites.pooling import Goal, PoolSettings, pool_sites
from workup.metric import in_order
from workup.report import LensResult, Report
from workup.reports.charts import drawing
from workup.reports.charts.forest import MOST_GROUPS
from workup.reports.layout import Section
from workup.reports.sites.report import figures, sections
from workup.stats.intervals import wilson
from workup.tasks.risk.cards import CARDS

needs_charts = pytest.mark.skipif(not drawing.available(), reason="vl-convert-python is not installed (extra 'report')")
SCALES = {"auroc": "logit", "calibration_slope": "identity", "oe_ratio": "log", "sensitivity": "logit"}
GOALS = {
    "auroc": Goal("higher"),
    "sensitivity": Goal("higher"),
    "oe_ratio": Goal("target", 1.0),
    "calibration_slope": Goal("target", 1.0),
}


def figure(metric: str, value: float | None, se: float, **fields: Any) -> Estimate:
    ends = {"low": None if value is None else value - 2 * se, "high": None if value is None else value + 2 * se}
    plain = {"slice": {}, "level": 0.95, "method": "made up", "n_patients": 400, "n_rows": 400, "n_events": 60}
    return Estimate(metric=metric, value=value, se=se, **{**ends, **plain, **fields})


def flagged(hits: int, of: int, **keys: Any) -> Estimate:
    low, high = wilson(hits / of, of)
    se = float(np.sqrt(hits / of * (1 - hits / of) / of))
    counts = {"numerator": float(hits), "denominator": float(of), "method": "Wilson", "low": low, "high": high}
    return figure("sensitivity", hits / of, se, slice={"threshold": 0.2, **keys}, **counts)


def site(name: str, auc: float | None, hits: int, patients: int = 400, **facts: Any) -> SiteEvidence:
    estimates = [
        figure("auroc", auc, 0.02, n_patients=patients)
        if auc
        else figure("auroc", None, 0.0, status="undefined", reason="no events"),
        figure("calibration_slope", 0.9, 0.1),
        figure("oe_ratio", 1.1, 0.05),
        flagged(hits, 60),
        flagged(hits // 2, 30, sex="F"),
        flagged(hits // 2 + 1, 30, sex="M"),
    ]
    held = {
        "patients": patients,
        "rows": patients,
        "waiting": 3,
        "groups": {"sex": {"F": {"patients": patients // 2}, "M": {"patients": patients - patients // 2}}},
        "inputs": [{"input": "age", "missing": 4, "rows": patients, "share": 4 / patients}],
        "label_delay_days": {"p25": 3.0, "median": 7.0, "p75": 12.0, "p90": 30.0},
    }
    gap = {"metric": "sensitivity", "slice": {"threshold": 0.2, "sex": "F"}, "against": "rest", "kind": "difference"}
    gap |= {"value": -0.04, "low": -0.2, "high": 0.12, "se": 0.08, "level": 0.95, "method": "square and add"}
    return SiteEvidence(name, tuple(estimates), gaps=(gap,), facts=facts, holdings=held)


def report(evidence: list[SiteEvidence], *, intended: tuple[str, ...] = ("Rural", "ICU"), **settings: Any) -> Report:
    chosen = {"limit": {"auroc": 0.7, "oe_ratio": 0.3}, "moderators": ("volume",), **settings}
    found = pool_sites(evidence, scales=SCALES, goals=GOALS, settings=PoolSettings(**chosen), intended=intended)
    corpus = {"name": "c", "version": "", "seed": 0, "n_cases": 1, "n_patients": 1, "sha256": ""}
    study = {"name": "s", "task": "risk"}
    own = {"metrics": in_order(CARDS)}
    made = Report(study, corpus, {"name": "m", "version": ""}, 0, {"sites": found}, **own)
    return Report.from_dict(made.as_dict())


@pytest.fixture(scope="module")
def five() -> Report:
    return report(
        [
            site("Home", 0.9, 50, type="academic", region="north", volume=5000),
            site("A", 0.80, 45, type="academic", region="north", volume=900, notes="paper records"),
            site("B", 0.82, 48, type="rural", region="south", volume=300),
            site("C", 0.78, 44, 120, type="rural", region="south", volume=200),
            site("D", 0.81, 46, type="urban", volume=700),
            site("X", None, 43, type="urban", volume=500),
        ],
        development="Home",
    )


def section(found: Report, key: str) -> Section:
    return next(one for one in sections(found) if one.key == key)


def test_the_sections_stand_in_the_order_people_know(five: Report) -> None:
    assert [one.key for one in sections(five)] == [
        "sites",
        "sites-settings",
        "sites-completeness",
        "sites-internal",
        "sites-each",
        "sites-pooled",
        "sites-subsets",
        "sites-without",
        "sites-withheld",
        "sites-regression",
        "sites-gaps",
        "sites-against",
        "sites-meaning",
    ]


def test_every_site_is_in_every_table_of_sites(five: Report) -> None:
    for key in ("sites", "sites-completeness", "sites-each"):
        for table in section(five, key).tables:
            assert [line[0] for line in table.rows] == ["A", "B", "C", "D", "Home", "X"]


def test_sites_and_samples(five: Report) -> None:
    one = section(five, "sites")
    assert one.sentences == ("5 sites with 1,720 patients.",)
    said = words(one)
    for expected in ("paper records", "built here; not pooled", "small", "5,000", "3 rows wait for their outcome"):
        assert expected in said


def test_settings_and_completeness(five: Report) -> None:
    assert section(five, "sites-settings").sentences == ("Not validated: ICU.",)
    assert "not validated" in words(section(five, "sites-settings"))
    assert "3.3 %" in words(section(five, "sites-completeness"))
    assert "7.000 (90th percentile 30.0)" in words(section(five, "sites-completeness"))


def test_site_by_site_has_what_a_reader_looks_for(five: Report) -> None:
    table = section(five, "sites-each").tables[0]
    assert table.heads == (
        *("site", "type", "region", "patients", "AUROC", "calibration slope", "observed / expected"),
        *("sensitivity at 0.2", "remarks"),
    )
    rows = {line[0]: line for line in table.rows}
    assert rows["A"][4] == "0.80 (0.76 to 0.84)"
    assert rows["X"][4] == "undefined"
    assert rows["D"][2] == "–"


def test_interval_and_prediction_interval_stand_apart(five: Report) -> None:
    means, groups, spread = section(five, "sites-pooled").tables
    held = five.results["sites"].pooled[0]
    line = means.rows[0]
    assert line[0] == "AUROC"
    assert line[4] == f"{held['low']:.3f} to {held['high']:.3f}"
    assert line[5] == f"{held['pi_low']:.3f} to {held['pi_high']:.3f}" != line[4]
    assert line[6] == held["verdict"]
    assert {cells[0] for cells in groups.rows} == {"sex F", "sex M"}
    assert spread.rows[0][0] == "AUROC"
    assert spread.rows[0][3] == "logit"


def test_what_is_left_out_says_why(five: Report) -> None:
    said = words(section(five, "sites-withheld"))
    assert "X" in said
    assert "undefined: no events" in said


def test_internal_against_external_and_the_meaning(five: Report) -> None:
    assert "worse at the external sites" in words(section(five, "sites-against"))
    assert "development site Home" in section(five, "sites-internal").sentences[0]
    first = section(five, "sites-meaning").points[0]
    assert first.startswith("AUROC: 0.80")
    verdict = five.results["sites"].pooled[0]["verdict"]
    assert verdict in first


def test_a_report_of_two_sites_promises_nothing_of_a_third() -> None:
    found = report([site("A", 0.8, 45), site("B", 0.8, 45)], moderators=())
    assert "nothing can be said of a new one" in section(found, "sites-meaning").points[0]
    assert section(found, "sites-pooled").tables[0].rows[0][5] == "–"
    assert "no kind" not in words(section(found, "sites-settings"))
    assert not [one for one in sections(found) if one.key in ("sites-subsets", "sites-without", "sites-against")]
    assert section(found, "sites-internal").sentences[0].startswith("No internal reference")


def test_a_minority_of_sites_is_shown_and_not_judged() -> None:
    found = report([*(site(n, 0.8, 45) for n in "ABC"), *(site(f"X{i}", None, 45) for i in range(4))], moderators=())
    first = section(found, "sites-meaning").points[0]
    assert first.endswith("but only 3 of 7 sites could be pooled, and those left out are not like them: not judged.")


def test_no_sites_lens_no_sections(five: Report) -> None:
    bare = Report(five.study, five.corpus, five.system, 0, {"internal": LensResult("internal")})
    assert sections(bare) == []
    assert figures(bare) == {}


def layers(found: Report, metric: str = "auroc") -> list[Any]:
    one = next(chart for chart in figures(found)["sites-pooled"] if chart.key == f"sites-{metric}")
    return list(one.spec["layer"])


def test_a_forest_per_main_metric_with_words_and_table(five: Report) -> None:
    charts = figures(five)["sites-pooled"]
    assert [chart.key for chart in charts] == [
        "sites-auroc",
        "sites-calibration_slope",
        "sites-oe_ratio",
        "sites-sensitivity",
    ]
    auroc = charts[0]
    held = five.results["sites"].pooled[0]
    assert f"pooled over 4 sites, {held['value']:.3f}" in auroc.says[0]
    assert auroc.says[1].startswith("Thick bar: where a new site may lie")
    assert "Dashed: the limit set beforehand, 0.7." in auroc.says
    assert "Grey: shown and not pooled." in auroc.says
    assert "1 site without an interval: the table says why." in auroc.says
    assert sorted(line[0] for line in auroc.table.rows) == ["A", "B", "C", "D", "Home", "X"]


def test_a_forest_draws_diamond_bar_and_limit(five: Report) -> None:
    held = five.results["sites"].pooled[0]
    drawn = layers(five)
    limit = [layer for layer in drawn if layer["mark"].get("strokeDash")]
    assert limit[0]["data"]["values"] == [{"value": 0.7}]
    diamond = next(layer for layer in drawn if layer["mark"]["type"] == "area")
    assert [corner["value"] for corner in diamond["data"]["values"]] == [held["low"], held["value"], held["high"]]
    bar = next(layer for layer in drawn if layer["mark"].get("strokeWidth") == 5)
    assert bar["data"]["values"][0]["low"] == held["pi_low"]
    squares = next(layer for layer in drawn if layer["mark"].get("shape") == "square")
    assert {row["label"].split(" (")[0]: row["pooled"] for row in squares["data"]["values"]} == {
        **dict.fromkeys("ABCD", True),
        "Home": False,
    }
    low, high = squares["encoding"]["x"]["scale"]["domain"]
    assert low < held["pi_low"] < held["pi_high"] < high, "the prediction interval is seen whole"


def test_many_sites_are_drawn_in_part_and_listed_in_full() -> None:
    found = report([site(f"S{i:02}", 0.8, 45, 300 + i) for i in range(MOST_GROUPS + 4)], moderators=())
    chart = figures(found)["sites-pooled"][0]
    assert f"The {MOST_GROUPS} largest of {MOST_GROUPS + 4} sites are drawn; the table holds all." in chart.says
    assert len(chart.table.rows) == MOST_GROUPS + 4


@needs_charts
def test_forests_can_be_drawn(five: Report) -> None:
    for chart in figures(five)["sites-pooled"]:
        drawn = drawing.svg(chart.spec, name="a")
        assert "pooled (4 sites)" in drawn or "pooled (5 sites)" in drawn
        assert "a new site" in drawn


@needs_charts
@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_site_is_a_word(name: str) -> None:
    hostile = NAMES[name]
    found = report(
        [site("A", 0.8, 45), site("B", 0.8, 45), site(hostile, 0.7, 40, type=hostile, region=hostile)], moderators=()
    )
    assert hostile in {line[0] for line in section(found, "sites").tables[0].rows}
    drawn = drawing.svg(figures(found)["sites-pooled"][0].spec, name="a")
    assert "<script" not in drawn
    assert "onerror=" not in drawn.replace("onerror=alert(2)&gt;", "")
