"""A type of document of few patients is withheld as a group; nor do the tables and pages that list documents and errors
one by one tell it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import workup
from workup.cli.report import render
from workup.report import Report

SECRET = "hiv_clinic"


def _report(types: list[str | None], **more: Any) -> Report:
    """Every document has a name that the detector misses, and one that it makes up."""
    text = "Ann Lee came on 9 May. Seen by Bo Ray."
    gold = [
        {
            "id": f"d{i}",
            "text": text,
            "spans": [
                {"start": 0, "end": 7, "label": "name_patient"},
                {"start": 31, "end": 37, "label": "name_provider"},
            ],
            "patient": f"p{i}",
            **({} if one is None else {"type": one}),
        }
        for i, one in enumerate(types)
    ]
    found = {
        one["id"]: [{"start": 0, "end": 7, "label": "name_patient"}, {"start": 16, "end": 21, "label": "date"}]
        for one in gold
    }
    return workup.score_spans(gold, found, replicates=200, **more)


TYPES: list[str | None] = ["letter"] * 20 + ["note"] * 20 + ["consult"] * 9 + [SECRET] * 3


def test_a_withheld_type_is_in_no_table() -> None:
    report = _report(TYPES)
    tables = json.loads(report.to_json())["results"]["internal"]["tables"]
    [held] = [row for row in tables["withheld_groups"] if row["column"] == "type"]
    assert SECRET in held["levels"]
    for name, table in tables.items():
        if name != "withheld_groups":
            assert SECRET not in json.dumps(table), name
    kinds = {row["type"] for row in tables["documents"]}
    assert kinds <= {"letter", "note", "consult", held["together"]} and held["together"] in kinds
    rows = [row for row in tables["errors"]["misses"] if row["type"] == held["together"]]
    assert sum(row["count"] for row in rows) >= 5


@pytest.mark.parametrize("form", ["md", "text", "html"])
def test_nor_in_a_page(form: str) -> None:
    page = str(render(_report(TYPES), form)).replace("\\_", "_")
    for line in page.splitlines():
        if SECRET in line and form != "html":
            assert "ithheld" in line or "fewer than" in line, line
    assert f"{SECRET} 3" not in page and f"{SECRET}</bdi></td><td>3" not in page


def test_documents_without_a_type_are_not_told_where_they_are_few() -> None:
    tables = _report([*TYPES[:49], None, None]).results["internal"].tables
    assert None not in {row["type"] for row in (*tables["documents"], *tables["errors"]["misses"])}


def test_all_types_are_told_where_none_is_small() -> None:
    tables = _report(["letter"] * 20 + ["note"] * 20).results["internal"].tables
    assert {row["type"] for row in tables["documents"]} == {"letter", "note"}
    assert {row["type"] for row in _report(TYPES, smallest_cell=1).results["internal"].tables["documents"]} == set(
        TYPES
    )
