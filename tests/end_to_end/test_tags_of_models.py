"""Kinds of models: five of each are tested against one another, fewer are called descriptive."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.support.shell import call


def _study(folder: Path, of_a_kind: int) -> Path:
    assert (
        call(
            "corpus",
            "generate",
            "--kind",
            "conversation",
            "--count",
            "6",
            "--seed",
            "4",
            "--turns",
            "6",
            "-o",
            folder / "cases.jsonl",
        ).code
        == 0
    )
    systems = [
        {
            "name": f"{kind}-{number}",
            "use": "scripted",
            "tags": {"kind": kind},
            "with": {"cases": "cases.jsonl", "recall": recall - 0.01 * number, "noise": True, "seed": number},
        }
        for kind, recall in (("plain", 0.7), ("reasoning", 0.95))
        for number in range(of_a_kind)
    ]
    content = {
        "name": "kinds",
        "task": "conversation",
        "seed": 1,
        "corpus": {"path": "cases.jsonl"},
        "systems": systems,
        "conversation": {"arms": ["live"]},
        "report": {"formats": ["md"]},
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(content))
    return folder / "study.yaml"


@pytest.mark.parametrize(("of_a_kind", "verdict"), [(2, "descriptive"), (5, "differ")])
def test_kinds_of_models(tmp_path: Path, of_a_kind: int, verdict: str) -> None:
    done = call("run", _study(tmp_path, of_a_kind), "-o", tmp_path / "run")
    assert done.code == 0, done.err
    rows = json.loads((tmp_path / "run" / "comparison.json").read_text())["tags"]
    [recall] = [row for row in rows if row["metric"] == "recall"]
    assert recall["verdict"] == verdict and recall["systems"] == [of_a_kind] * 2
    assert (recall["first"], recall["second"]) == ("plain", "reasoning") and recall["value"] > 0.1
    assert (recall["p"] is None) == (verdict == "descriptive")
    assert f"{verdict}" in done.out and "kind reasoning − plain" in done.out
