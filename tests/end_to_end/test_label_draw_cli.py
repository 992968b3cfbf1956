"""`workup label draw` on a run directory, and a judged run verified without asking anyone again."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.support.loopback import Service
from tests.support.shell import call
from tests.tasks.conversation.judges.studies import JudgeServer, label, write_study
from workup.tasks.conversation.labels import read_draw

pytest.importorskip("httpx", reason="the http extra is not installed")


def test_a_judged_study_from_run_to_labels_and_back(tmp_path: Path) -> None:
    brain = JudgeServer()
    service = Service(brain, path="/v1/chat/completions")
    settings = {"base_url": f"{service.origin}/v1", "model": "reader", "retries": 0, "concurrency": 4}
    path = write_study(tmp_path, gates=("recall{reader=ppi}.low >= 0.5",), judge={"facts": settings})
    place = tmp_path / "run"
    try:
        done = call("run", path, "-o", place)
        assert done.code == 3, done.err  # nobody has labelled: not assessed
    finally:
        service.close()
    assert call("verify", place).code == 0
    done = call("label", "draw", place, "--count", "120")
    assert done.code == 0, done.err
    file = place / "draw.json"
    drawn = read_draw(file)
    assert len(drawn.units) == 120 and "reader" in drawn.reader and drawn.id in done.err
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "warfarin." not in file.read_text()  # ids and digests, no sentence
    assert call("label", "draw", place, "--count", "120").code == 0
    again = call("label", "draw", place, "--count", "80")
    assert again.code == 2 and "another draw" in again.err and read_draw(file) == drawn

    label(path, drawn)
    (tmp_path / "draw.json").write_text(file.read_text())
    asked = brain.asked
    done = call("run", path, "-o", place)
    assert done.code == 0, done.err
    assert brain.asked == asked
    record = json.loads((place / "report.json").read_text())
    assert record["verdicts"][0]["outcome"] == "pass"
    page = call("report", place, "-f", "md").out
    assert "Agreement with people" in page and "prediction-powered" in page


def test_another_task_has_nothing_to_label(tmp_path: Path) -> None:
    table = tmp_path / "p.csv"
    table.write_text("id,died,p\n" + "".join(f"{n},{n % 2},{0.2 + 0.5 * (n % 2)}\n" for n in range(60)))
    study = tmp_path / "study.yaml"
    study.write_text(
        json.dumps(
            {
                "name": "risk",
                "task": "risk",
                "corpus": {"path": "p.csv"},
                "columns": {"outcome": "died", "risk": "p", "patient": "id"},
                "lenses": {"internal": {}},
                "bootstrap": {"replicates": 200},
            }
        )
    )
    assert call("run", study, "-o", tmp_path / "run").code == 0
    done = call("label", "draw", tmp_path / "run")
    assert done.code == 2 and "chat model" in done.err
