"""What one unit of each kind of work costs on one core, measured; `--write` keeps it in benchmarks/results.json.

A unit is a note, a million rows, a reply, a column or a replicate. Every measurement runs in a process of its own with
one thread, and what start-up costs is left out of it; times are CPU seconds. scripts/draw_scale.py puts the results
into docs/scale.md. Sizes are small, so that the whole takes some minutes; the page says what is extrapolated from them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.spans_kernel import peak_mb, set_peak_back

RESULTS = Path(__file__).with_name("results.json")
ROWS, NOTES, CONVERSATIONS, SEED = 1_000_000, 10_000, 60, 20261117
Found = dict[str, Any]


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.process_time()
    found = work()
    return time.process_time() - begun, found


# ---- tables ----------------------------------------------------------------------------------------------------------


def predictions(rows: int) -> dict[str, Any]:
    """A log of predictions: two rows of each patient, a date, three groups, a laboratory value, outcome and risk."""
    rng = np.random.default_rng(SEED)
    risk = rng.random(rows)
    lab = np.round(rng.normal(5, 2, rows), 3)
    lab[::13] = np.nan
    return {
        "patient": [f"P{place // 2:07d}" for place in range(rows)],
        "admitted": (np.datetime64("2024-01-01") + rng.integers(0, 700, rows)).astype(str),
        "site": rng.choice([f"site {place}" for place in range(12)], rows),
        "sex": rng.choice(["F", "M"], rows),
        "ethnicity": rng.choice(["White", "Black", "Asian", "Other"], rows),
        "age": rng.integers(18, 95, rows).astype(np.float64),
        "lab": lab,
        "outcome": (rng.random(rows) < risk).astype(np.float64),
        "risk": risk,
    }


def _csv(folder: Path) -> Path:
    from workup.cli.csv_tables import text_lines

    path = folder / "predictions.csv"
    table = {name: np.asarray(column) for name, column in predictions(ROWS).items()}
    cells = [
        ["" if value != value else f"{value:g}" if name == "age" else repr(value) for value in column.tolist()]
        if column.dtype.kind == "f"
        else column.tolist()
        for name, column in table.items()
    ]
    with path.open("w", encoding="utf-8") as file:
        file.writelines(text_lines(list(table), cells))
    return path


def csv_by_lines(folder: Path) -> Found:
    """A million rows of CSV, line by line, as without pyarrow."""
    from workup.corpora.formats.tables import delimited

    delimited._WORTH_ARROW = sys.maxsize
    return csv_by_arrow(folder)


def csv_by_arrow(folder: Path) -> Found:
    """A million rows of CSV as the program reads them where pyarrow is installed."""
    from workup.corpora.formats.tables.delimited import read_csv

    path = _csv(folder)
    before = set_peak_back()
    seconds, table = _timed(lambda: read_csv(path))
    assert len(table["risk"]) == ROWS
    return {"cpu": seconds, "units": ROWS / 1e6, "megabytes": peak_mb() - before}


def parquet(folder: Path) -> Found:
    """A million rows of Parquet."""
    import pyarrow
    import pyarrow.parquet

    from workup.corpora.formats.tables.columnar import read_parquet

    path = folder / "predictions.parquet"
    pyarrow.parquet.write_table(pyarrow.table(predictions(ROWS)), path)
    before = set_peak_back()
    seconds, _ = _timed(lambda: read_parquet(path))
    return {"cpu": seconds, "units": ROWS / 1e6, "megabytes": peak_mb() - before}


def replicates(folder: Path) -> Found:
    """Replicates of nine metrics on thirteen slices of 100,000 patients."""
    from benchmarks.bootstrap import NAMES, cohort
    from workup.estimate import EVERYTHING, Draws, replicate, slices_by
    from workup.tasks.risk import metrics as risk

    scores = cohort(100_000)
    every = risk.discrimination() + risk.calibration_metrics() + risk.at_threshold(0.3)
    metrics = [metric for metric in every if metric.name in NAMES]
    slices = [EVERYTHING, *slices_by(scores.groups)]
    before = set_peak_back()
    first, _ = _timed(lambda: replicate(scores, metrics, slices, draws=Draws(seed=1, replicates=50)))
    more, _ = _timed(lambda: replicate(scores, metrics, slices, draws=Draws(seed=2, replicates=250)))
    return {"cpu": max(0.0, more - first), "units": 200, "megabytes": peak_mb() - before, "once": first}


def column_of_drift(folder: Path) -> Found:
    """One input of three million rows compared with three hundred thousand, both in memory."""
    from benchmarks.drift import column
    from workup.lenses.drift.inputs import InputLimits
    from workup.lenses.drift.wide_inputs import Sides, compare_inputs

    sides = {str(k): Sides(str(k), column(k, 3_000_000, 0), column(k, 300_000, 1)) for k in range(5)}
    before = set_peak_back()
    seconds, _ = _timed(
        lambda: compare_inputs(list(sides), sides.__getitem__, limits=InputLimits(), seed=1, chance=0.05)
    )
    return {"cpu": seconds, "units": len(sides), "megabytes": peak_mb() - before}


# ---- notes and conversations -----------------------------------------------------------------------------------------


def scored_notes(folder: Path) -> Found:
    """Notes of 2,000 characters with 12 golds each, scored against recorded spans, with everything that is reported."""
    from benchmarks.spans import write
    from workup import score_spans

    write(folder, NOTES)
    before = set_peak_back()
    seconds, _ = _timed(lambda: score_spans(folder / "golds.jsonl", folder / "found.jsonl"))
    return {"cpu": seconds, "units": NOTES, "megabytes": peak_mb() - before}


def deidentified_notes(folder: Path) -> Found:
    """Notes of 1,500 characters read by the native de-identifier, none of them met before."""
    from benchmarks.deid import notes
    from workup.systems.spans.native import Native

    texts, system = notes(300), Native(name="native", base=folder)
    system.detect(texts[:5])
    seconds, _ = _timed(lambda: system.detect(texts[5:]))
    return {"cpu": seconds, "units": len(texts) - 5, "megabytes": peak_mb()}


def replies(folder: Path) -> Found:
    """Replies of recorded conversations of 20 turns and 10 facts, read and scored."""
    from benchmarks.conversation import scored

    found = scored("context", CONVERSATIONS)
    return {"cpu": found["cpu"], "units": found["replies"], "megabytes": peak_mb()}


# ---- one run ---------------------------------------------------------------------------------------------------------

WORK: dict[str, tuple[str, Callable[[Path], Found]]] = {
    "csv_by_lines": ("a million rows of CSV, without pyarrow", csv_by_lines),
    "csv_by_arrow": ("a million rows of CSV, with pyarrow", csv_by_arrow),
    "parquet": ("a million rows of Parquet", parquet),
    "replicates": ("a replicate: 9 metrics, 13 slices, 100,000 patients", replicates),
    "column_of_drift": ("a drift input, 3,000,000 rows against 300,000", column_of_drift),
    "scored_notes": ("a note scored: 2,000 characters, 12 golds", scored_notes),
    "deidentified_notes": ("a note de-identified: 1,500 characters", deidentified_notes),
    "replies": ("a reply of a conversation read", replies),
}


def machine() -> Found:
    """What a reader needs to know of the machine, and nothing that names it."""
    import scipy

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "architecture": platform.machine(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "load": "shared with other work, so that CPU seconds vary from run to run",
    }


def in_child(name: str) -> Found:
    """One measurement in a fresh process with one thread."""
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, "-m", "benchmarks.scale", "--side", name]
    done = subprocess.run(command, env={**os.environ, **single}, stdout=subprocess.PIPE, check=True, text=True)
    found: Found = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print the cost of each unit, and keep it where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep the results for the page")
    parser.add_argument(
        "--only", choices=WORK, action="append", help="measure this alone; others stay as they are kept"
    )
    parser.add_argument("--side", choices=WORK, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side is not None:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(WORK[given.side][1](Path(folder))))
        return
    costs: Found = json.loads(RESULTS.read_text())["costs"] if given.only and RESULTS.exists() else {}
    for name in given.only or WORK:
        what, found = WORK[name][0], in_child(name)
        each = found["cpu"] / found["units"]
        costs[name] = {"what": what, "cpu_seconds": float(f"{each:.3g}"), "megabytes": round(found["megabytes"])}
        print(f"{what:58s} {each:10.3g} s CPU, {found['megabytes']:6.0f} MB", flush=True)
    if given.write:
        kept = {"machine": machine(), "costs": {name: costs[name] for name in WORK if name in costs}}
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
