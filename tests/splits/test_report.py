"""The split as a report shows it: drawn from the record alone, every level and every warning in it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.support.hostile import NAMES
from tests.support.split_tables import objects
from workup.reports.layout import Section
from workup.reports.split import sections
from workup.reports.text import section_text
from workup.splits import split


def _table() -> dict[str, Any]:
    rng = np.random.default_rng(2)
    n = 300
    return {
        "died": (rng.random(n) < 0.2).astype(float),
        "sex": objects(rng.choice(["F", "M", ""], n, p=[0.5, 0.45, 0.05]).tolist()),
        "race": objects(rng.choice(["A", "B", "C"], n, p=[0.9, 0.09, 0.01]).tolist()),
        "ward": objects(rng.choice(["N", "S", "W"], n).tolist()),
        "day": np.datetime64("2024-01-01") + np.arange(n).astype("timedelta64[D]"),
    }


def _drawn(**settings: Any) -> tuple[dict[str, Any], list[Section]]:
    found = split(_table(), outcome="died", by=["sex", "race"], **settings)
    record = json.loads(json.dumps(found.record()))
    return record, sections(record)


def _by_key(found: list[Section]) -> dict[str, Section]:
    return {section.key: section for section in found}


def test_sizes_levels_joined_cells_and_warnings_are_all_there() -> None:
    record, found = _drawn(strategy="multidimensional")
    parts = _by_key(found)
    sizes = {row[0]: row for row in parts["split"].tables[0].rows}
    held = record["sides"]["validation"]
    assert sizes["validation"][1] == f"{held['patients']}" and sizes["validation"][4] == f"{held['events']}"
    assert "within one patient of their share" in " ".join(parts["split"].sentences)
    shown = {(table.heads[0], row[0]) for table in parts["split-levels"].tables for row in table.rows}
    assert shown == {(row["variable"], row["level"]) for row in record["levels"]}
    assert ("sex", "missing") in shown
    assert len(parts["split-joined"].points) == len(record["collapsed"]) > 0
    assert parts["split-warnings"].points == tuple(row["message"] for row in record["warnings"])
    assert len(parts["split-changes"].tables[0].rows) == len(record["changes"])


def test_dates_cut_and_rows_left_out_are_told() -> None:
    _, found = _drawn(strategy="temporal", time="day", embargo=10)
    sizes = _by_key(found)["split"]
    assert "rows from 2024-08-28 on are for validation, the 10 days before it left out" in sizes.sentences[0]
    rows = {row[0]: row for row in sizes.tables[0].rows}
    assert rows["left out: embargoed"][3] == "10"
    assert rows["development"][-2:] == ("2024-01-01", "2024-08-17")


def test_sites_and_weights_are_told() -> None:
    _, found = _drawn(strategy="site", site="ward", hold_out=["S"])
    assert "S for validation, named" in _by_key(found)["split"].sentences[0]
    _, found = _drawn(strategy="demographics", quota={"race": {"B": 15}})
    said = " ".join(_by_key(found)["split"].sentences)
    assert "effective patients" in said and "use the weights" in said
    assert "split-changes" not in _by_key(found)


def test_a_margin_that_is_missed_is_not_called_held() -> None:
    rows = [(a, b, (a + b) % 3, (a + 2 * b) % 3) for a in range(3) for b in range(3)]
    table = {f"v{i}": objects(f"L{row[i]}" for row in rows) for i in range(4)}
    record = split(table, strategy="demographics", by=list(table), share=0.33).record()
    parts = _by_key(sections(record))
    assert any(said.startswith("All but") for said in parts["split"].sentences)
    assert any("no draw within one patient" in point for point in parts["split-warnings"].points)


def test_a_long_log_is_cut_with_a_word() -> None:
    record, _ = _drawn(strategy="multidimensional")
    record["collapsed"] = record["collapsed"] * 60
    points = _by_key(sections(record))["split-joined"].points
    assert len(points) == 41
    assert points[-1] == f"… and {len(record['collapsed']) - 40:,} more, in split.json."


@pytest.mark.parametrize("record", [{}, {"kind": "report"}, {"strategy": "random"}])
def test_a_record_of_another_kind_is_not_drawn_as_one(record: dict[str, Any]) -> None:
    [section] = sections(record)
    assert "was not written by 'workup split'" in section.sentences[0]


@pytest.mark.parametrize("name", NAMES, ids=str)
def test_hostile_names_lay_out_in_text(name: str) -> None:
    table = {NAMES[name]: objects([NAMES[name]] * 30 + ["x"] * 30)}
    record = split(table, strategy="demographics", by=list(table)).record()
    text = "\n".join(section_text(section) for section in sections(record))
    assert all(c.isprintable() or c == "\n" for c in text)
