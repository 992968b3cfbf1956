"""A program under test that looks for the secrets of whoever runs the study, in a real process of its own."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.shell import call, cohort, write
from workup.errors import InputError
from workup.systems.any.command import Command

SPY = """import json, os, sys
with open("seen.json", "w") as file:
    json.dump(dict(os.environ), file)
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "risk": 0.5}))
"""
SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "ZZSECRET1",
    "RISK_TOKEN": "ZZSECRET2",
    "DATABASE_URL": "ZZSECRET3",
    "PYTHONPATH": "ZZSECRET4",
    "LD_PRELOAD_X": "ZZSECRET5",
}


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)


def seen(folder: Path, **settings: Any) -> dict[str, str]:
    (folder / "spy.py").write_text(SPY)
    system = Command(name="spy", base=folder, run=[sys.executable, "spy.py"], **settings)
    assert system.predict({"age": np.array([1.0])}) == [0.5]
    found: dict[str, str] = json.loads((folder / "seen.json").read_text())
    return found


def test_a_program_sees_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_TIME", "C.UTF-8")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    found = seen(tmp_path)
    assert "ZZSECRET" not in json.dumps(found)
    assert found["PATH"] == os.environ["PATH"] and found["LC_TIME"] == "C.UTF-8" and found["TMPDIR"] == str(tmp_path)


def test_a_program_gets_what_the_study_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert seen(tmp_path, env=["RISK_TOKEN"])["RISK_TOKEN"] == "ZZSECRET2"
    monkeypatch.delenv("RISK_TOKEN")
    with pytest.raises(InputError, match="RISK_TOKEN must be set"):
        seen(tmp_path, env=["RISK_TOKEN"])


def test_a_named_secret_reaches_no_record(tmp_path: Path) -> None:
    write(
        tmp_path / "cohort.csv", {name: cells for name, cells in cohort(40).items() if name not in ("patient", "note")}
    )
    (tmp_path / "spy.py").write_text(SPY)
    (tmp_path / "study.yaml").write_text(
        "name: s\ntask: risk\ncorpus: {path: cohort.csv}\ncolumns: {outcome: died}\nlenses: {internal: {}}\n"
        "bootstrap: {replicates: 200}\n"
        f"systems:\n  - use: command\n    with: {{run: ['{sys.executable}', spy.py], env: [RISK_TOKEN]}}\n"
    )
    done = call("run", tmp_path / "study.yaml", "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert "ZZSECRET2" in (tmp_path / "seen.json").read_text()
    for file in (tmp_path / "out").rglob("*"):
        assert not file.is_file() or b"ZZSECRET" not in file.read_bytes(), file.name
    assert "ZZSECRET" not in done.out + done.err


@pytest.mark.parametrize("env", ["[A=B]", "['']", "[1]", "RISK_TOKEN", "{RISK_TOKEN: value}", "['A B']", '["A\\0"]'])
def test_only_names_of_variables_are_taken(tmp_path: Path, env: str) -> None:
    write(tmp_path / "cohort.csv", cohort(40))
    (tmp_path / "study.yaml").write_text(
        "name: s\ntask: risk\ncorpus: {path: cohort.csv}\ncolumns: {outcome: died}\n"
        f"systems:\n  - use: command\n    with: {{run: [python], env: {env}}}\n"
    )
    done = call("run", tmp_path / "study.yaml", "--dry-run")
    assert done.code == 2 and "env" in done.err and "value" not in done.err.replace("values", "")
