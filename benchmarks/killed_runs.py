"""A run that is killed at twenty random moments, on one engine after the other, and resumed to its end: the report must
have the bytes of a run that nobody disturbed, and every case must be recorded once.

Work in flight may be asked twice, which is counted by what the system itself noted."""

from __future__ import annotations

import argparse
import json
import math
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from workup.runs import RunDirectory
from workup.study import Study
from workup.task import Table
from workup.validate import validate

SEED = 20261117
ROWS, BATCH = 6_000, 20
ENGINES = ("serial", "processes")
MOST_BATCHES = 13  # that a run records before it is killed
IN_ITS_START = 0.2  # share of the runs that are killed before they have asked anything


class Noting:
    """A formula that takes its time, and adds a line to a file for every batch that it was asked."""

    version = "1"

    def __init__(self, *, name: str = "noting", notes: str, pause: float) -> None:
        self.name, self.batch, self._notes, self._pause = name, BATCH, Path(notes), pause

    def predict(self, table: Table) -> list[float]:
        """One risk for each row."""
        time.sleep(self._pause)
        with self._notes.open("a") as file:
            file.write(f"{int(table['number'][0])}\n")
        return [1 / (1 + math.exp(2 - x)) for x in table["x"]]


def table() -> dict[str, Any]:
    """Rows with an outcome and a predictor."""
    made = np.random.default_rng(SEED)
    x = made.normal(1.0, 1.0, ROWS)
    died = (made.random(ROWS) < 1 / (1 + np.exp(2 - x))).astype(float)
    return {"number": np.arange(ROWS, dtype=float), "x": x, "died": died, "who": [f"p{n // 2}" for n in range(ROWS)]}


def study(notes: Path, engine: str) -> Study:
    """The study that is killed."""
    system = {"use": "benchmarks.killed_runs:Noting", "name": "noting", "with": {"notes": str(notes), "pause": 0.01}}
    return Study.of(
        {
            "name": "killed",
            "task": "risk",
            "columns": {"outcome": "died", "patient": "who"},
            "systems": [system],
            "bootstrap": {"replicates": 50},
            "engine": engine,
            "workers": 2,
        }
    )


def one_run(place: Path, notes: Path, engine: str) -> None:
    """What is killed: a run that goes on where the one before it ended."""
    with RunDirectory.open(place) as run:
        run.write("report.json", validate(study(notes, engine), table=table(), run=run).to_json())


def recorded(place: Path) -> int:
    """Cases on disk."""
    return sum(log.read_bytes().count(b"\n") for log in (place / "outputs").glob("*.jsonl"))


def wait_for(place: Path, run: subprocess.Popen[bytes], more: int) -> None:
    """Until so many cases more are recorded, or the run is over."""
    before = recorded(place)
    while recorded(place) < before + more and run.poll() is None:
        time.sleep(0.005)


def main() -> None:
    """Kill, resume, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--child", nargs=3, metavar=("PLACE", "NOTES", "ENGINE"))
    given = parser.parse_args()
    if given.child:
        one_run(Path(given.child[0]), Path(given.child[1]), given.child[2])
        return
    moments = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        place, notes = Path(folder) / "run", Path(folder) / "notes.txt"
        killed = attempts = 0
        while True:
            engine = ENGINES[attempts % len(ENGINES)]
            words = [sys.executable, "-m", "benchmarks.killed_runs", "--child", str(place), str(notes), engine]
            run = subprocess.Popen(words)
            attempts += 1
            if killed < given.kills:
                if moments.random() >= IN_ITS_START:
                    wait_for(place, run, moments.randint(0, MOST_BATCHES) * BATCH)
                time.sleep(moments.uniform(0, 0.05))
                if run.poll() is None:
                    run.send_signal(signal.SIGKILL)
                    killed += 1
                    run.wait()
                    continue
            if run.wait() == 0:
                break
            raise SystemExit(f"a run ended with {run.returncode}")
        report = (place / "report.json").read_text()
        (log,) = (place / "outputs").iterdir()
        cases = [json.loads(line)["case"] for line in log.read_text().splitlines()]
        batches = notes.read_text().split()
        same = report == validate(study(notes, "serial"), table=table()).to_json()
    print(f"{killed} kills of {attempts} runs; bytes {'the same' if same else 'DIFFERENT'}")
    print(f"cases recorded {len(cases):,}, of them different {len(set(cases)):,}, expected {ROWS:,}")
    again = len(batches) - ROWS // BATCH
    print(f"batches asked {len(batches):,} for {ROWS // BATCH:,}: {again} were in flight and asked again")
    if not same or len(cases) != ROWS or len(set(cases)) != ROWS:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
