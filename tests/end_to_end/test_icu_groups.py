"""A deployed model on real patients, by group: every group is listed, small ones are not judged, none is dropped."""

from __future__ import annotations

from typing import Any

import pytest

import workup
from tests.support.examples import example
from tests.support.places import DATA

EICU = DATA / "eicu_demo"

pytestmark = pytest.mark.real_data


@pytest.fixture(scope="module")
def report() -> Any:
    apache = example("icu_mortality", "apache")
    plan = apache.study().model_dump(by_alias=True) | {"bootstrap": {"replicates": 200}}
    return workup.validate(workup.Study.of(plan), table=apache.read(EICU))


def test_every_group_is_listed_with_its_n(report: Any) -> None:
    groups = report.results["subgroups"].tables["groups"]
    for column in ("ethnicity", "sex", "age", "beds"):
        assert sum(row["rows"] for row in groups if row["column"] == column) == 1683
        assert sum(row["events"] for row in groups if row["column"] == column) == 139
    names = {row["level"] for row in groups if row["column"] == "ethnicity"}
    assert names >= {"Caucasian", "African American", "Hispanic", "Asian", "Native American", "missing"}


def test_small_groups_say_so_and_every_verdict_has_its_reason(report: Any) -> None:
    result = report.results["subgroups"]
    small = [e for e in result.estimates if e.slice.get("ethnicity") == "Native American" and e.metric == "auroc"]
    assert [e.status for e in small] == ["undefined"]
    few = [e for e in result.estimates if e.slice.get("ethnicity") == "African American" and e.metric == "auroc"]
    assert [e.status for e in few] == ["insufficient"]
    assert few[0].low is None
    for row in result.comparisons:
        assert row["reason"], row
        assert row["verdict"] in ("within", "disparity", "inconclusive", "not_assessed")
    judged = [row for row in result.comparisons if row["verdict"] == "disparity"]
    assert {(row["metric"], row["slice"]["age"]) for row in judged if "age" in row["slice"]} >= {
        ("specificity", "80 and over")
    }


def test_a_gate_on_a_group_too_small_never_passes(report: Any) -> None:
    outcomes = {v.rule.split("[")[-1]: v.outcome for v in report.verdicts if "ethnicity" in v.rule}
    assert outcomes["ethnicity=Caucasian]"] == "pass"
    assert {outcome for name, outcome in outcomes.items() if "Caucasian" not in name} == {"not_assessed"}
