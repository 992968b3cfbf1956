"""A study with several systems: a run for each, and a paired comparison beside them."""

from __future__ import annotations

import json
from pathlib import Path

from shell import call

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
