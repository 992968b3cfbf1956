"""A study with several systems: a run for each, and a paired comparison beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.shell import call

MODEL = """
import numpy as np

class Age:
    version = "1"

    def __init__(self, *, name, slope):
        self.name, self.slope = name, slope

    def predict(self, table):
        return list(1 / (1 + np.exp(-(self.slope * (table["age"] - 60) - 1.7))))
"""
STUDY = """
name: two
task: risk
corpus: {generate: {kind: cohort, count: 400, seed: 3}}
columns: {outcome: outcome, patient: patient, groups: [sex]}
systems:
  - {name: steep, use: "age_models:Age", with: {slope: 0.09}}
  - {name: flat, use: "age_models:Age", with: {slope: 0.02}}
thresholds: [0.2]
bootstrap: {replicates: 200}
"""


def test_every_system_is_held_against_the_first(tmp_path: Path) -> None:
    (tmp_path / "age_models.py").write_text(MODEL)
    (tmp_path / "study.yaml").write_text(STUDY)
    found = call("run", tmp_path / "study.yaml", "-o", tmp_path / "out")
    assert found.code == 0, found.err
    for name in ("steep", "flat"):
        assert (tmp_path / "out" / name / "report.json").exists()
    record = json.loads((tmp_path / "out" / "comparison.json").read_text())
    [comparison] = record["comparisons"]
    rows = {row["metric"]: row for row in comparison["rows"] if "sex" not in row["slice"]}
    # Both models rank by age alone, so their AUROC is one and the same; their calibration is not.
    assert rows["auroc"]["value"] == 0
    assert abs(rows["calibration_slope"]["value"]) > 1
    assert (tmp_path / "out" / "comparison.json").stat().st_mode & 0o777 == 0o600


def test_a_comparison_shows_each_system_as_its_own_report_does_and_can_be_turned_round(tmp_path: Path) -> None:
    """Curves of both systems once bent at the knots of the first, so that B's ICI was another one than its own."""
    (tmp_path / "age_models.py").write_text(MODEL)
    (tmp_path / "study.yaml").write_text(STUDY)
    assert call("run", tmp_path / "study.yaml", "-o", tmp_path / "out").code == 0
    turned = call("compare", tmp_path / "out" / "flat", tmp_path / "out" / "steep", "-o", tmp_path / "turned")
    assert turned.code == 0, turned.err
    there, back = (
        json.loads((tmp_path / place / "comparison.json").read_text())["comparisons"][0] for place in ("out", "turned")
    )
    assert (there["pairing"], back["pairing"]) == ("paired", "paired")
    own = {}
    for name in ("steep", "flat"):
        record = json.loads((tmp_path / "out" / name / "report.json").read_text())
        rows = record["results"]["internal"]["estimates"]
        own[name] = {(e["metric"], str(e["slice"])): e["value"] for e in rows}
    for one, other in zip(there["rows"], back["rows"], strict=True):
        what = (one["metric"], str(one["slice"]))
        assert what == (other["metric"], str(other["slice"]))
        assert one["first"]["value"] == other["second"]["value"], what
        if what in own["steep"]:
            assert one["first"]["value"] == pytest.approx(own["steep"][what], rel=1e-9), what
            assert one["second"]["value"] == pytest.approx(own["flat"][what], rel=1e-9), what
        for end, mirrored in (("value", "value"), ("low", "high"), ("high", "low")):
            negated = None if other[mirrored] is None else pytest.approx(-other[mirrored], rel=1e-9, abs=1e-11)
            assert one[end] == negated, what
        assert one["p"] == (None if other["p"] is None else pytest.approx(other["p"], rel=1e-9)), what
    assert ("ici", "{}") in own["steep"]


def test_three_systems_stand_in_one_table(tmp_path: Path) -> None:
    (tmp_path / "age_models.py").write_text(MODEL)
    third = '  - {name: steeper, use: "age_models:Age", with: {slope: 0.09}}\n'
    (tmp_path / "study.yaml").write_text(STUDY.replace("thresholds", f"{third}thresholds"))
    assert call("run", tmp_path / "study.yaml", "-o", tmp_path / "out").code == 0
    models = json.loads((tmp_path / "out" / "comparison.json").read_text())["models"]
    placed = {one["system"]["name"]: one["rank"] for one in models["systems"]}
    assert placed["steep"] == placed["steeper"], "one and the same model"
    places = [tmp_path / "out" / name for name in ("flat", "steep", "steeper")]
    found = call(
        "compare", *places, "--reference", places[1], "-o", tmp_path / "again", "--study", tmp_path / "study.yaml"
    )
    assert found.code == 0, found.err
    assert "3 systems against A" in found.out
    again = json.loads((tmp_path / "again" / "comparison.json").read_text())
    assert again["models"]["reference"] == "A"
    assert {one["first"]["system"]["name"] for one in again["comparisons"]} == {"steep"}
    standing = {one["system"]["name"]: one["against_reference"] for one in again["models"]["systems"]}
    assert (standing["steep"], standing["steeper"]) == ("reference", "not told apart")
    sheet = tmp_path / "again" / "comparison.csv"
    assert len(sheet.read_text().splitlines()) == 4 and sheet.stat().st_mode & 0o777 == 0o600


def test_a_reference_is_for_three(tmp_path: Path) -> None:
    (tmp_path / "age_models.py").write_text(MODEL)
    (tmp_path / "study.yaml").write_text(STUDY)
    assert call("run", tmp_path / "study.yaml", "-o", tmp_path / "out").code == 0
    steep, flat = tmp_path / "out" / "steep", tmp_path / "out" / "flat"
    found = call("compare", steep, flat, "--reference", steep)
    assert found.code == 2 and "three reports or more" in found.err
