"""What referees ask for, as the reports show it: thresholds, curves by group, bands, parity, case mix, optimism."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import workup
from tests.support.hostile import NAMES
from tests.support.places import FIXTURE
from workup import Study, validate
from workup.report import Report
from workup.reports import flat, html, markdown, text
from workup.reports.charts import drawing
from workup.reports.risk.panels import panels
from workup.reports.sections import Section, figures, sections
from workup.reports.wording import number


def table(names: tuple[str, ...] = ("F", "M"), n: int = 400) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    risk = rng.beta(1.5, 4, n)
    return {
        "died": (rng.random(n) < risk).astype(float),
        "p": risk,
        "sex": np.array(names, dtype=object)[rng.integers(0, len(names), n)],
        "lab": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
    }


@pytest.fixture(scope="module", name="report")
def _report() -> Report:
    study = {
        "name": "asked",
        "task": "risk",
        "columns": {"outcome": "died", "risk": "p", "groups": ["sex"], "inputs": ["lab"]},
        "thresholds": [0.22],
        "lenses": {"internal": {}, "subgroups": {}},
        "bootstrap": {"replicates": 200},
    }
    return validate(Study.of(study), table=table())


def part(report: Report, key: str) -> Section:
    return next(section for section in sections(report) if section.key == key)


def test_a_record_made_before_shows_none_of_it() -> None:
    old = Report.read(FIXTURE)
    keys = {section.key.partition(":")[0] for section in sections(old)}
    assert not {"sweep", "curves-by", "parity", "case-mix"} & keys
    assert "sweep" not in figures(old)
    assert text.render(old)


def test_every_threshold_stands_with_interval_and_n(report: Report) -> None:
    section = part(report, "sweep")
    held = [row for row in report.results["internal"].tables["threshold_sweep"]["rows"] if not row["slice"]]
    assert len(section.tables[0].rows) == len(held) == 20
    assert "0.22" in [row[0] for row in section.tables[0].rows]
    row = next(row for row in held if row["threshold"] == 0.22)
    shown = next(cells for cells in section.tables[0].rows if cells[0] == "0.22")
    needed = row["needed_to_evaluate"]
    assert shown[-1] == f"{number(needed['value'])} ({number(needed['low'])} to {number(needed['high'])})"
    assert shown[1] == str(int(row["ppv"]["n"]))
    assert "400 patients" in section.sentences[0]
    assert "per 100 patients" in section.sentences[0]
    assert all(len(sentence) <= 300 for sentence in section.sentences), "longer ones are cut on the page"


def test_what_is_undefined_is_a_dash_with_its_reason(report: Report) -> None:
    last = part(report, "sweep").tables[0].rows[-1]
    assert last[0] == "0.99"
    assert last[4] == "– (no row is flagged)"


def test_repeated_patients_have_alerts_per_100_predictions() -> None:
    content = table()
    content["id"] = np.arange(400) % 150
    found = workup.score_risk(content, outcome="died", risk="p", patient="id", replicates=200)
    assert "per 100 predictions" in part(found, "sweep").sentences[0]


def test_curves_by_group_hold_every_group_on_the_same_axes(report: Report) -> None:
    section = part(report, "curves-by:sex")
    calibration, thresholds = section.tables
    assert {row[0] for row in calibration.rows} == {row[0] for row in thresholds.rows} == {"F", "M"}
    charts = figures(report)["curves-by:sex"]
    assert [chart.title for chart in charts] == ["Calibration by sex", "Thresholds by sex"]
    for chart in charts:
        assert {row["place"] for row in chart.spec["data"]["values"]} == {0, 1}
        assert drawing.svg(chart.spec, name="x").startswith("<svg")


def test_the_decision_curve_has_a_band_and_its_table_the_gain(report: Report) -> None:
    figure = next(one for one in panels(report) if one.key == "decision-curve")
    band = figure.spec["layer"][0]
    held = {row["threshold"]: row for row in report.results["internal"].tables["decision_curve"]}
    assert band["mark"]["type"] == "area"
    assert all(row["low"] <= held[row["threshold"]]["model"] <= row["high"] for row in band["data"]["values"])
    shown = next(cells for cells in part(report, "decision-curve").tables[0].rows if cells[0] == "0.2")
    row = held[0.2]
    assert shown[5] == f"{number(row['over_all_low'])} to {number(row['over_all_high'])}"
    assert row["over_all"] == pytest.approx(row["model"] - row["treat_all"])


def test_spiegelhalters_test_stands_with_p_and_n_and_no_interval(report: Report) -> None:
    found = part(report, "overall").tables[-1]
    [row] = report.results["internal"].tables["calibration_tests"]
    assert found.rows[0][0] == "Spiegelhalter's z"
    assert found.rows[0][2] == f"{row['p']:.3f}"
    assert "interval" not in found.heads
    assert "proves nothing" in found.caption


def test_parity_and_case_mix_are_described_and_not_judged(report: Report) -> None:
    parity = part(report, "parity")
    assert {row[1] for row in parity.tables[0].rows} >= {"alert rate at 0.22", "false positive rate at 0.22"}
    assert any("biased downwards" in sentence for sentence in parity.sentences)
    mix = part(report, "case-mix")
    assert {row[2] for row in mix.tables[0].rows} == {"lab", "risk"}
    assert all("to" in row[4] for row in mix.tables[0].rows)


def test_the_flat_form_has_the_familiar_names(report: Report) -> None:
    found = json.loads(flat.render(report))
    rows = [row for row in report.results["subgroups"].comparisons if row["against"] == "all groups"]
    ratio = next(row for row in rows if row["kind"] == "ratio" and row["metric"] == "alert_rate")
    assert found["demographic_parity_ratio_sex"] == pytest.approx(ratio["value"])
    assert found["number_needed_to_evaluate"] == pytest.approx(1 / found["precision"])
    assert found["alerts_per_100_lower"] < found["alerts_per_100"] < found["alerts_per_100_upper"]


def test_names_from_files_stay_words() -> None:
    names = tuple(NAMES)[:6]
    found = workup.score_risk(table(names, 900), outcome="died", risk="p", by=["sex"], replicates=200)
    page = html.render(found)
    assert "<script>alert" not in page
    assert markdown.render(found)
    for chart in figures(found)["curves-by:sex"]:
        assert drawing.svg(chart.spec, name="x").startswith("<svg")


def test_the_error_of_the_optimism_stands_beside_it() -> None:
    content = table(n=150)

    class Fixed:
        name = version = "fixed"

        def __init__(self, shift: float) -> None:
            self.shift = shift

        def predict(self, rows: Any) -> Any:
            return np.clip(rows["p"] + self.shift, 0.001, 0.999)

    study = Study.of(
        {
            "name": "refitted",
            "task": "risk",
            "columns": {"outcome": "died", "risk": "p"},
            "lenses": {"internal": {"optimism": 5}},
            "bootstrap": {"replicates": 200},
        }
    )
    report = validate(study, table=content, refit=lambda rows: Fixed(float(rows["died"].mean() - rows["p"].mean())))
    section = part(report, "refitted:optimism-corrected")
    errors = section.tables[1]
    held = {row["metric"]: row for row in report.results["internal"].tables["optimism"]}
    brier = next(row for row in errors.rows if row[0] == "Brier score")
    assert brier[3] == number(held["brier"]["monte_carlo_se"])
    assert any("tenth of the standard error" in sentence for sentence in section.sentences)
