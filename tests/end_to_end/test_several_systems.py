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
