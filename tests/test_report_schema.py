"""The schema that tools read records by holds for records as they are written, and refuses what is none."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from tests.support.places import FIXTURE
from tests.support.shell import call
from workup import score_risk, score_spans
from workup.report import Report
from workup.report_schema import report_schema

CHECK = Draft202012Validator(report_schema())


def _risk() -> dict[str, Any]:
    table = {"died": [0, 1, 0, 1] * 20, "p": [0.1, 0.8, 0.4, 0.3] * 20, "sex": ["F", "M"] * 40}
    return score_risk(table, outcome="died", risk="p", by=["sex"], gates=["auroc.low >= 0.5"]).as_dict()


def _spans() -> dict[str, Any]:
    gold = [{"id": "a", "text": "Ann Lee, 9 May", "spans": [{"start": 0, "end": 7, "label": "name_patient"}]}]
    return score_spans(gold, {"a": [{"start": 0, "end": 3, "label": "name_patient"}]}).as_dict()


@pytest.mark.parametrize("record", [_risk, _spans])
def test_records_hold_to_it(record: Any) -> None:
    CHECK.validate(record())


def test_records_of_schema_1_hold_to_theirs_and_are_explained_as_they_were_meant() -> None:
    held = json.loads(FIXTURE.read_text())
    Draft202012Validator(report_schema(1)).validate(held)
    read = Report.from_dict(held)
    assert read.title("oe_ratio") == "observed / expected" and read.gate_level == 0.95
    assert json.loads(read.to_json()) == held, "what is written of it again is the record itself"


def test_a_record_explains_its_metrics() -> None:
    held = Report.from_dict(_risk())
    assert held.metrics["brier"]["better"] == "lower" and held.metrics["oe_ratio"]["target"] == 1.0
    assert held.metrics["auroc"]["describe"].startswith("chance that a patient with the event")
    assert held.shown("cards") == ["auroc", "calibration_slope", "oe_ratio"]
    spans = Report.from_dict(_spans())
    assert spans.primary == {"mode": "full_mask", "level": "phi"}
    assert spans.title("leak_rate_document") == "leak rate, documents"


@pytest.mark.parametrize("field", ["sha256", "results", "verdicts", "schema_version"])
def test_a_record_that_lacks_a_part_is_refused(field: str) -> None:
    record = _risk()
    del record[field]
    with pytest.raises(ValidationError):
        CHECK.validate(record)


def test_an_estimate_without_its_n_is_refused() -> None:
    record = copy.deepcopy(_risk())
    del record["results"]["internal"]["estimates"][0]["n_patients"]
    with pytest.raises(ValidationError):
        CHECK.validate(record)


def test_it_is_printed() -> None:
    assert json.loads(call("schema", "report").out) == json.loads(json.dumps(report_schema()))
