"""`workup new episodes` from end to end: the good model passes its gates, and a planted fault fails what it spoils."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.shell import call
from workup import plugins

# Fault by fault, the gates that it must not pass.
FAULTS: dict[str, tuple[dict[str, float], set[str]]] = {
    "none": ({}, set()),
    "late": ({"late_hours": 12}, {"event_sensitivity", "flagged_before", "alert_ppv"}),
    "noise": ({"signal": 0}, {"event_sensitivity", "flagged_before", "alert_ppv"}),
    "flood": ({"shift": 1.5}, {"alert_ppv", "alarm_rate"}),
    "silent": ({"missing": 0.6}, {"event_sensitivity", "flagged_before"}),
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study as `workup new` makes it, with fewer resamples and without groups, which are judged elsewhere."""
    folder = tmp_path_factory.mktemp("episodes") / "mine"
    assert call("new", "episodes", folder).code == 0
    file = folder / "study.yaml"
    text = file.read_text(encoding="utf-8").replace("replicates: 2000", "replicates: 200")
    file.write_text(text.replace("  subgroups: {margin: 0.10}", "# "), encoding="utf-8")
    return file


@pytest.mark.parametrize("name", FAULTS)
def test_the_good_model_passes_and_a_planted_fault_does_not(name: str, study: Path, tmp_path: Path) -> None:
    fault, expected = FAULTS[name]
    if fault:
        made = plugins.find("generators", "episodes")(800, seed=1, plan={"faults": [fault]})
        made.write(tmp_path / "scores.csv")
        (tmp_path / "study.yaml").write_text(study.read_text(encoding="utf-8"), encoding="utf-8")
        study = tmp_path / "study.yaml"
    done = call("run", study, "-o", tmp_path / "run")
    assert done.code in ((1, 3) if expected else (0,)), done.err
    report: dict[str, Any] = json.loads((tmp_path / "run" / "report.json").read_text(encoding="utf-8"))
    missed = {verdict["rule"].partition("{")[0] for verdict in report["verdicts"] if verdict["outcome"] != "pass"}
    assert missed == expected


def test_the_planted_truth_is_in_the_intervals_of_the_report(study: Path, tmp_path: Path) -> None:
    call("run", study, "-o", tmp_path / "run")
    report = json.loads((tmp_path / "run" / "report.json").read_text(encoding="utf-8"))
    truth = json.loads((study.parent / "scores.truth.json").read_text(encoding="utf-8"))
    planted = truth["overall"]["thresholds"]["0.1"]
    seen = 0
    for one in report["results"]["internal"]["estimates"]:
        if one["metric"] in planted and one["slice"] == {"threshold": 0.1}:
            assert one["low"] <= planted[one["metric"]] <= one["high"], one["metric"]
            seen += 1
    assert seen >= 8
