"""Inputs made wrong at reduced size: none escapes, each is made by its number alone, and an escape would be noticed."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from sims import mutated_inputs
from sims.mutated_calls import call
from sims.mutated_damage import SECRET, Way, damage
from sims.mutated_seeds import KINDS, notes
from sims.repetitions import Size

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="calls are watched through /proc")
NEEDED = ("duckdb", "pyarrow", "openpyxl", "onnxruntime", "skl2onnx", "sklearn", "mlflow", "spacy")


@pytest.fixture(scope="module")
def results() -> list[dict[str, Any]]:
    """25 of each kind."""
    absent = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if absent:
        pytest.skip(f"files of these libraries cannot be made: {', '.join(absent)}")
    return mutated_inputs.run(size=Size(repetitions=25 * len(KINDS), replicates=0), workers=2)


def test_no_input_escapes(results: list[dict[str, Any]]) -> None:
    assert [one["escapes"] for one in results] == [[] for _ in KINDS]
    assert all(one["ok"] and one["inputs"] == 25 for one in results)


def test_inputs_are_neither_all_refused_nor_all_accepted(results: list[dict[str, Any]]) -> None:
    """Damage that is noticed at the first byte, or not at all, would say nothing of what lies behind."""
    [whole] = mutated_inputs.summarise(results)
    assert whole["inputs"] == 200 == whole["accepted"] + whole["verdict"] + whole["refused"]
    assert whole["refused"] > 100 and whole["accepted"] + whole["verdict"] > 20


@pytest.mark.parametrize("name", ["n.jsonl", "n.json", "n.yaml", "n.csv", "n.xml", "n.zip", "n.bin"])
def test_an_input_is_made_by_its_number_alone(name: str, tmp_path: Path) -> None:
    content = b'{"id": "a", "spans": [{"start": 1}], "note": "x"}\n'
    made = []
    for number in (*range(60), *range(60)):
        (tmp_path / name).write_bytes(content)
        (tmp_path / "other.txt").write_bytes(b"other")
        damage(tmp_path / name, Random(f"{number}"), Way(secret=True), others=[tmp_path / "other.txt"])
        path = tmp_path / name
        made.append(path.read_bytes() if path.is_file() else path.is_dir())
        if path.is_dir():
            path.rmdir()
    assert made[:60] == made[60:]
    assert sum(one != content for one in made[:60]) > 50 and len({repr(one) for one in made}) > 20


# ---- the watch itself ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "outcome"),
    [
        ("raise KeyError('x')", "traceback"),
        ("raise SystemExit(70)", "fault"),
        ("raise SystemExit(5)", "exit code"),
        ("raise SystemExit(1)", "exit code"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "killed"),
        (f"print('{SECRET}')", "secret"),
        (f"import sys; sys.stderr.write('workup: {SECRET}'); raise SystemExit(2)", "secret"),
        ("print('\\x1b[31mred')", "steers"),
        ("raise SystemExit(2)", "silent"),
        ("import sys; sys.stderr.write('workup: no.'); raise SystemExit(2)", "refused"),
        ("print('well')", "accepted"),
        ("x = bytearray(3_000_000_000)", "over memory"),
        ("import time; time.sleep(30)", "hung"),
    ],
)
def test_every_way_out_is_told_apart(what: str, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if outcome == "hung":
        monkeypatch.setattr("sims.mutated_calls.SECONDS", 1.0)
    monkeypatch.setattr("workup.cli.main", lambda: exec(what, {}))
    (tmp_path / "work").mkdir()
    ended = call(tmp_path / "work", ["report"], prepare=lambda: None, judges=False, prints_text=True)
    assert (ended.outcome, ended.escaped) == (outcome, outcome not in ("refused", "accepted"))


def test_a_verdict_is_an_answer_of_commands_that_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workup.cli.main", lambda: sys.exit(1))
    (tmp_path / "work").mkdir()
    ended = call(tmp_path / "work", ["gate"], prepare=lambda: None, judges=True, prints_text=True)
    assert ended.outcome == "verdict"


def test_what_is_put_in_holds_the_secret() -> None:
    assert all(SECRET in one["text"] and SECRET in one["patient"] for one in notes())


def test_replaying_shows_the_command_and_keeps_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here = os.getcwd()
    code = mutated_inputs.main(["replay", "cases", "3", "--keep", str(tmp_path / "kept")])
    said = capsys.readouterr().out
    assert code == 0 and "workup score conversation" in said and os.getcwd() == here
    assert (tmp_path / "kept" / "input" / "work" / "cases.jsonl").exists()
