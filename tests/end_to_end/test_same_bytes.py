"""The same study gives the same bytes: at any engine and worker count, after a kill, in any row order, anywhere."""

from __future__ import annotations

import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

from tests.support.shell import COMMAND, Done, call, cohort, differing, shuffled, spawn, write

BATCH = 20
ROWS = 200

# A row-wise model that counts its calls: a line for each time it is started, with the number of rows it was given.
MODEL = """
import json, math, os, sys, time
rows = [json.loads(line) for line in sys.stdin]
with open("calls.txt", "a") as calls:
    calls.write(f"{len(rows)}\\n")
time.sleep(float(os.environ.get("MODEL_SECONDS", "0")))
for row in rows:
    risk = 1 / (1 + math.exp(-(-1 + 1.1 * row["x1"] + 0.6 * row["x2"])))
    print(json.dumps({"id": row["id"], "risk": risk}))
"""


def command_study(folder: Path, *, rows: dict[str, list[str]] | None = None, **changes: object) -> Path:
    """A study of a program that is started once for each batch."""
    write(folder / "cohort.csv", rows or cohort(ROWS, per_patient=2))
    (folder / "model.py").write_text(MODEL)
    settings = {"run": [sys.executable, "model.py"], "batch": BATCH, "send": ["x1", "x2"]}
    return _study(folder, {"name": "program", "use": "command", "with": settings}, **changes)


def pickle_study(folder: Path, *, rows: dict[str, list[str]] | None = None, **changes: object) -> Path:
    """A study of a pickled scikit-learn model."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    write(folder / "cohort.csv", rows or cohort(ROWS, per_patient=2))
    train = cohort(400, seed=9)
    x = np.column_stack([np.array(train[name], dtype=float) for name in ("x1", "x2")])
    model = linear_model.LogisticRegression().fit(x, np.array(train["died"], dtype=int))
    (folder / "model.pkl").write_bytes(pickle.dumps(model))
    settings = {"path": "model.pkl", "trust": True, "features": ["x1", "x2"], "batch": BATCH}
    return _study(folder, {"name": "pickled", "use": "sklearn", "with": settings}, **changes)


def _study(folder: Path, system: dict[str, object], **changes: object) -> Path:
    content: dict[str, object] = {
        "name": "same",
        "task": "risk",
        "seed": 3,
        "corpus": {"path": "cohort.csv"},
        "columns": {"outcome": "died", "patient": "patient", "site": "site", "time": "visit", "groups": ["sex"]},
        "systems": [system],
        "thresholds": [0.3],
        "lenses": {"internal": {}, "subgroups": {}},
        "bootstrap": {"replicates": 200},
        "gates": ["auroc.low >= 0.5"],
    }
    file = folder / "study.yaml"
    file.write_text(yaml.safe_dump({**content, **changes}))
    return file


def _record(done: Done, run: Path) -> bytes:
    assert done.code == 0, done.err
    return (run / "report.json").read_bytes()


def run(study: Path, *words: str, into: str = "run") -> bytes:
    """report.json of a run in this process."""
    place = study.parent / into
    return _record(call("run", study, "-o", place, *words), place)


def calls(folder: Path) -> int:
    """How often the program was started."""
    file = folder / "calls.txt"
    return len(file.read_text().splitlines()) if file.exists() else 0


# Each worker of the second loads scikit-learn, which takes seconds, so one count is enough there.
@pytest.mark.parametrize(
    ("make", "counts"), [(command_study, ("1", "2", "4")), (pickle_study, ("4",))], ids=["command", "sklearn"]
)
def test_engine_and_workers_change_no_byte(make: Callable[..., Path], counts: tuple[str, ...], tmp_path: Path) -> None:
    study = make(tmp_path)
    serial = run(study, "--engine", "serial", into="serial")
    record = json.loads(serial)
    assert record["corpus"]["n_cases"] == ROWS
    assert record["results"]["internal"]["estimates"][0]["value"] > 0.7
    for workers in counts:
        assert run(study, "--engine", "processes", "--workers", workers, into=f"by{workers}") == serial, workers
    log = next((tmp_path / "by4" / "outputs").glob("*.jsonl"))
    assert log.read_bytes() == next((tmp_path / "serial" / "outputs").glob("*.jsonl")).read_bytes()


def test_a_second_run_asks_the_system_nothing(tmp_path: Path) -> None:
    study = command_study(tmp_path)
    first = run(study)
    assert calls(tmp_path) == ROWS // BATCH
    assert run(study) == first
    assert calls(tmp_path) == ROWS // BATCH
    assert run(study, "--fresh") == first
    assert calls(tmp_path) == 2 * ROWS // BATCH


def _killed(study: Path, *words: str, by: signal.Signals, seconds: str = "0.15") -> int:
    """Start a run, stop it with a signal when some batches are recorded, and say how many rows were."""
    place = study.parent / "run"
    process = subprocess.Popen(
        [*COMMAND, "run", str(study), "-o", str(place), *words],
        env={**os.environ, "MODEL_SECONDS": seconds},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline and _recorded(place) < 2 * BATCH:
        time.sleep(0.01)
    assert process.poll() is None, "the run ended before it could be stopped"
    if by is signal.SIGKILL:
        os.killpg(process.pid, by)
    else:
        process.send_signal(by)
    _, err = process.communicate(timeout=60)
    if by is signal.SIGINT:
        assert process.returncode == 130, err.decode(errors="replace")[-600:]
        assert b"Traceback" not in err
        assert b"the same command goes on from there" in err
    time.sleep(2 * float(seconds))  # programs in flight write their line before they notice that nobody listens
    return _recorded(place)


def _recorded(run: Path) -> int:
    return sum(file.read_bytes().count(b"\n") for file in (run / "outputs").glob("*.jsonl"))


@pytest.mark.parametrize(
    ("by", "words", "in_flight"),
    [
        (signal.SIGKILL, ("--engine", "serial"), 1),
        (signal.SIGKILL, ("--engine", "processes", "--workers", "2"), 4),
        (signal.SIGINT, ("--engine", "serial"), 1),
    ],
    ids=["killed", "killed with workers", "Ctrl-C"],
)
def test_a_run_that_was_stopped_goes_on_without_asking_again(
    by: signal.Signals, words: tuple[str, ...], in_flight: int, tmp_path: Path
) -> None:
    whole = run(command_study(tmp_path / "whole"))
    study = command_study(tmp_path / "stopped")
    recorded = _killed(study, *words, by=by)
    assert 2 * BATCH <= recorded < ROWS
    assert not (study.parent / "run" / "report.json").exists()
    before = calls(study.parent)
    assert run(study, *words) == whole
    batches = ROWS // BATCH
    assert calls(study.parent) - before == batches - recorded // BATCH, "a recorded batch was asked for again"
    assert batches <= calls(study.parent) <= batches + in_flight


def test_a_torn_last_line_is_repaired_and_only_its_batch_asked_again(tmp_path: Path) -> None:
    study = command_study(tmp_path)
    whole = run(study)
    log = next((tmp_path / "run" / "outputs").glob("*.jsonl"))
    log.write_bytes(log.read_bytes()[:-9])
    assert run(study) == whole
    assert calls(tmp_path) == ROWS // BATCH + 1


OWN_HASHES = {"sha256", "corpus.sha256"}


@pytest.mark.parametrize("make", [command_study, pickle_study], ids=["command", "sklearn"])
def test_row_order_changes_nothing_but_the_hash_of_the_table(make: Callable[..., Path], tmp_path: Path) -> None:
    columns = cohort(ROWS, per_patient=2)
    record = json.loads(run(make(tmp_path / "one", rows=columns)))
    other = json.loads(run(make(tmp_path / "other", rows=shuffled(columns))))
    assert differing(record, other) == OWN_HASHES


@pytest.mark.parametrize("words", [(), ("--patient", "patient")], ids=["rows as patients", "patients"])
def test_row_order_of_recorded_risks_changes_nothing_but_the_hash(words: tuple[str, ...], tmp_path: Path) -> None:
    columns = cohort(ROWS, per_patient=2)
    columns["p"] = [f"{float(p):.1f}" for p in columns["p"]]  # ties, which an unstable order would show
    records = []
    for place, rows in (("one", columns), ("other", shuffled(columns))):
        table = write(tmp_path / place / "cohort.csv", rows)
        options = ("--replicates", "200", "--by", "sex", "--threshold", "0.3", "--site", "site", "--json", "-")
        done = call("score", "risk", table, "--outcome", "died", "--risk", "p", *words, *options)
        records.append(json.loads(done.out))
    assert differing(*records) == OWN_HASHES


def test_another_seed_moves_resampled_intervals_and_nothing_else(tmp_path: Path) -> None:
    study = pickle_study(tmp_path)
    first = json.loads(run(study))
    other = json.loads(run(pickle_study(tmp_path, seed=4), into="other"))
    moved = differing(first, other)
    assert {"seed", "study.seed", "sha256"} < moved
    assert "corpus.sha256" not in moved
    estimates = [re.fullmatch(r"results\.(\w+)\.estimates\[(\d+)\]\.(\w+)", path) for path in moved]
    for path in filter(None, estimates):
        lens, place, part = path.groups()
        assert first["results"][lens]["estimates"][int(place)]["method"].startswith("BCa"), path[0]
        assert part in ("low", "high", "se", "reason", "method", "status"), path[0]
    assert any(path and path[3] == "low" for path in estimates)


def test_place_language_clock_and_hashing_change_no_byte(tmp_path: Path) -> None:
    whole = run(command_study(tmp_path / "here"))
    surroundings = [
        {"LC_ALL": "C", "PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu"},
        {"LC_ALL": "C.UTF-8", "LANG": "de_DE.UTF-8", "PYTHONHASHSEED": "12345", "TZ": "America/St_Johns"},
    ]
    for number, environment in enumerate(surroundings):
        study = command_study(tmp_path / f"there {number}")
        place = study.parent / "run"
        assert _record(spawn("run", "study.yaml", "-o", "run", cwd=study.parent, **environment), place) == whole


CHANGES: list[tuple[str, dict[str, object]]] = [
    ("a threshold", {"thresholds": [0.3, 0.5]}),
    ("a lens less", {"lenses": {"internal": {}}}),
    ("gates", {"gates": ["auroc.low >= 0.6@0.90", "brier.high <= 0.5"]}),
    ("seed and resamples", {"seed": 8, "bootstrap": {"replicates": 300}}),
    ("the report", {"report": {"formats": ["md"], "as_of": "2024-05-01"}}),
]


def test_what_is_asked_of_the_answers_never_asks_the_system_again(tmp_path: Path) -> None:
    study = command_study(tmp_path)
    run(study)
    for why, changes in CHANGES:
        report = json.loads(run(command_study(tmp_path, **changes)))
        assert calls(tmp_path) == ROWS // BATCH, why
        assert report["corpus"]["n_cases"] == ROWS


def test_another_group_to_look_at_never_asks_the_system_again(tmp_path: Path) -> None:
    run(command_study(tmp_path))
    columns = {"outcome": "died", "patient": "patient", "site": "site", "time": "visit", "groups": ["sex", "site"]}
    report = json.loads(run(command_study(tmp_path, columns=columns)))
    assert report["results"]["subgroups"]["settings"]["by"] == ["sex", "site"]
    assert calls(tmp_path) == ROWS // BATCH


def test_another_model_or_another_table_is_asked_anew(tmp_path: Path) -> None:
    study = command_study(tmp_path)
    first = run(study)
    (tmp_path / "model.py").write_text(MODEL.replace("1.1 *", "1.3 *"))
    other = run(study)
    assert calls(tmp_path) == 2 * ROWS // BATCH
    changed = differing(json.loads(first), json.loads(other))
    assert "system.version" in changed
    columns = cohort(ROWS, per_patient=2)
    columns["x1"][5] = "0.123456"
    write(tmp_path / "cohort.csv", columns)
    run(study)
    assert calls(tmp_path) == 3 * ROWS // BATCH
