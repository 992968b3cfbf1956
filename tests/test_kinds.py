"""Rows of several kinds in one table: each lens looks at each kind by itself, and the error is shared among kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workup
from tests.support.fourth_task import OneTooLow
from workup.errors import StudyError
from workup.kinds import KINDS, ROWS_OF
from workup.report import Report
from workup.reports import html, text

N = 900
LENSES: dict[str, Any] = {
    "internal": {},
    "subgroups": {"by": ["sex"], "margin": {"agreement": 0.1, "urgent_calls": 0.1}},
    "power": {"by": ["sex"]},
    "drift": {"window": "month", "baseline": 6, "metrics": ["agreement", "urgent_calls"]},
    "sites": {},
}


def _table() -> dict[str, Any]:
    rng = np.random.default_rng(8)
    days = np.sort(rng.integers(0, 365, N))
    return {
        "patient": np.arange(N) // 2,
        "site": np.array(["north", "south", "east"])[np.arange(N) % 3],
        "time": np.datetime64("2023-01-01") + days.astype("timedelta64[D]"),
        "sex": np.array(["F", "M"])[np.arange(N) // 2 % 2],
        "level": (level := rng.integers(1, 6, N)),
        "shown": level,
    }


def _validated(task: str, **more: Any) -> Report:
    # Every figure is told: what few people between two kinds hide has tests of its own.
    content = {"name": "kinds", "task": f"tests.support.two_kinds:{task}", "bootstrap": {"replicates": 100}}
    content |= {"smallest_cell": 1, **more}
    return workup.validate(workup.Study.of(content), system=OneTooLow(), table=_table())


@pytest.fixture(scope="module", name="report")
def _report() -> Report:
    return _validated("TwoKinds", lenses=LENSES, gates=["urgent_calls.low >= 0.2", "agreement{sex=F}.low >= 0.99"])


def test_every_kind_is_what_its_own_rows_would_give(report: Report) -> None:
    alone = _validated("Visits", lenses={"internal": {}, "subgroups": {"by": ["sex"]}})
    for metric in ("agreement", "under_triage"):
        for keys in ({}, {"sex": "F"}):
            assert report.estimate(metric, **keys) == alone.estimate(metric, **keys)
    calls = report.estimate("urgent_calls")
    assert (calls.n_rows, calls.denominator) == (N // 2, N // 2)


def test_gates_judge_metrics_of_every_kind(report: Report) -> None:
    assert [verdict.outcome for verdict in report.verdicts] == ["pass", "fail"]


def test_the_error_of_a_family_is_divided_among_kinds(report: Report) -> None:
    groups, watched = report.results["subgroups"], report.results["drift"]
    assert groups.settings["alpha"] == {"visit": 0.025, "call": 0.025}
    assert watched.settings["chance"] == {"visit": 0.025, "call": 0.025}
    rows = {row["metric"]: row["level"] for row in groups.comparisons if row["margin"] is not None}
    assert set(rows) == {"agreement", "urgent_calls"} and all(level >= 0.975 for level in rows.values())
    only = _validated("TwoKinds", lenses={"subgroups": {"by": ["sex"], "margin": {"agreement": 0.1}}})
    assert only.results["subgroups"].settings["alpha"] == {"visit": 0.05, "call": 0.05}


def test_rows_of_joined_tables_say_of_which_kind_they_are(report: Report) -> None:
    for lens, table in (("subgroups", "groups"), ("drift", "windows"), ("power", "spread")):
        rows = report.results[lens].tables[table]
        assert {row[ROWS_OF] for row in rows} == {"visit", "call"}
    assert report.results["drift"].settings[KINDS] == {"visit": ["agreement", "under_triage"], "call": ["urgent_calls"]}
    assert {row[ROWS_OF] for row in report.results["sites"].pooled} == {"visit", "call"}


def test_all_kinds_are_watched_over_the_same_time(report: Report) -> None:
    rows = report.results["drift"].tables["windows"]
    assert report.results["drift"].settings["baseline"] == "2023-07-01"
    for kind in ("visit", "call"):
        assert [row["window"] for row in rows if row[ROWS_OF] == kind and row["period"] == "baseline"][-1] == "2023-06"


def test_no_note_is_said_twice(report: Report) -> None:
    for result in report.results.values():
        assert len(set(result.notes)) == len(result.notes)


def test_the_record_is_whole_and_drawn(report: Report) -> None:
    again = Report.from_dict(report.as_dict())
    assert again.to_json() == report.to_json()
    assert "urgent calls" in text.render(again) and "urgent calls" in html.render(again)


def test_what_a_lens_cannot_do_for_one_kind_is_a_note_and_for_all_an_error() -> None:
    lenses = {"drift": {"window": "month", "metrics": ["urgent_calls"]}}
    found = _validated("TwoKinds", lenses=lenses).results["drift"]
    assert list(found.settings[KINDS]) == ["call"]
    with pytest.raises(StudyError, match="windows of 50 rows"):
        _validated("TwoKinds", lenses={"drift": {"window": 50}})
    with pytest.raises(StudyError, match="not a metric of this study"):
        _validated("TwoKinds", lenses={"drift": {"window": "month", "metrics": ["urgent_cals"]}})
