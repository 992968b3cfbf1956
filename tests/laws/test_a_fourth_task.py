"""The proof of the hourglass: a task that a stranger wrote gets all five lenses, gates, comparisons and a page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workup
from tests.support.fourth_task import OneTooLow
from workup.compare import compare
from workup.errors import ReportError, StudyError
from workup.report import Report
from workup.reports import flat, html, markdown, text

TASK = "tests.support.fourth_task:TriageTask"
LENSES: dict[str, Any] = {
    "internal": {},
    "subgroups": {"by": ["sex"], "margin": 0.1},
    "power": {"by": ["sex"]},
    "drift": {"window": "month", "baseline": 6},
    "sites": {},
}


def _table() -> dict[str, Any]:
    rng = np.random.default_rng(8)
    n = 1800
    days = np.sort(rng.integers(0, 365, n))
    return {
        "patient": np.arange(n),
        "site": np.array(["north", "south", "east"])[np.arange(n) % 3],
        "time": np.datetime64("2023-01-01") + days.astype("timedelta64[D]"),
        "sex": np.array(["F", "M"])[rng.integers(0, 2, n)],
        "level": (level := rng.integers(1, 6, n)),
        "shown": level,
    }


def _study(**more: Any) -> workup.Study:
    return workup.Study.of({"name": "triage", "task": TASK, "bootstrap": {"replicates": 200}, **more})


@pytest.fixture(scope="module", name="report")
def _report() -> Report:
    gates = ["agreement.low >= 0.5", "under_triage.high <= 0.1", "agreement{sex=F}.low >= 0.5"]
    study = _study(lenses=LENSES, gates=gates, urgent=4)
    return workup.validate(study, system=OneTooLow(), table=_table())


def test_all_five_lenses_look_at_it(report: Report) -> None:
    assert set(report.results) == set(LENSES)
    assert report.estimate("agreement").value == pytest.approx(2 / 3)
    assert report.estimate("agreement", sex="F").n_patients > 800
    assert report.results["sites"].pooled and report.results["drift"].charts_state and report.results["power"].tables


def test_its_gates_are_judged(report: Report) -> None:
    assert [verdict.outcome for verdict in report.verdicts] == ["pass", "fail", "pass"]


def test_it_has_a_page_in_its_own_words(report: Report) -> None:
    pages = {"html": html.render(report), "md": markdown.render(report), "text": text.render(report)}
    for form, page in pages.items():
        for words in ("Agreement", "under-triage", "By sex"):
            assert words.lower() in page.lower(), (form, words)
    for words in ("share of urgent patients who were taken for less", "Agreement"):
        assert words in pages["md"], "what a metric says stands on the page"
    assert "risk" not in pages["md"].lower().replace("inputs and risks", ""), "no word of another task"
    with pytest.raises(ReportError, match="flat form is not known"):
        flat.render(report)


def test_it_is_compared_and_read_again(report: Report) -> None:
    again = Report.from_dict(report.as_dict())
    assert again.metrics["under_triage"]["better"] == "lower"
    rows = compare(report, again).rows
    assert {row["metric"] for row in rows if row["headline"]} == {"agreement", "under_triage"}


def test_its_settings_are_its_own() -> None:
    assert _study(urgent=5).record()["urgent"] == 5
    with pytest.raises(StudyError, match="urgent"):
        _study(urgent="often")
    warned = _study(thresholds=[0.2])
    assert warned.warnings == (
        f"thresholds: a setting of studies of 'episodes' or 'horizon' or 'risk', ignored in one of '{TASK}'; from "
        "version 0.3 on it will be refused. To fix: take it out.",
    )
    with pytest.raises(StudyError, match="tresholds"):
        _study(tresholds=[0.2])
