"""How long input drift of a wide table takes, from two Parquet files to the record, and how much memory.

The whole task is 3,000,000 rows against 300,000 in 1,000 columns: `--full`. Without it 20 of the columns are measured,
with all their rows, and the whole is extrapolated by columns, which are read one after another; that is said.
Evidently, where it is installed, is given the numbers among the same 20 columns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.drift import NOT_INSTALLED, column

ROWS, WINDOW, COLUMNS = 3_000_000, 300_000, 1_000
SOME = 20
SECONDS, MEGABYTES = 600.0, 2_000.0  # wall seconds on two cores, and at the peak


def write(folder: Path, rows: int, window: int, columns: int) -> None:
    """Both tables, a few columns at a time; every tenth is a category."""
    import pyarrow
    import pyarrow.parquet

    names = [f"input_{number:04d}" for number in range(columns)]
    schema = pyarrow.schema(
        [(name, pyarrow.string() if number % 10 == 9 else pyarrow.float64()) for number, name in enumerate(names)]
    )
    size = 100_000
    for side, (name, n) in enumerate((("baseline", rows), ("window", window))):
        pool = [column(number % 10, size + 997, side) for number in range(10)]
        levels = np.array(["ward A", "ward B", "clinic", "home"])
        with pyarrow.parquet.ParquetWriter(folder / f"{name}.parquet", schema) as writer:
            for first in range(0, n, size):
                rng = np.random.default_rng([first, side])
                many = min(size, n - first)
                arrays = []
                for number in range(columns):
                    at = int(rng.integers(0, 997))
                    if number % 10 == 9:
                        arrays.append(pyarrow.array(levels[rng.integers(0, 4, many)]))
                    else:
                        arrays.append(pyarrow.array(pool[number % 10][at : at + many] + 1e-9 * first))
                writer.write_table(pyarrow.table(arrays, schema=schema))


def ours(folder: Path, workers: int) -> dict[str, float]:
    """The command, in a process of its own."""
    command = [sys.executable, "-m", "workup.cli", "drift", str(folder / "baseline.parquet")]
    command += [str(folder / "window.parquet"), "--json", str(folder / "drift.json"), "--workers", str(workers)]
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    begun = time.perf_counter()
    with subprocess.Popen(command, env={**os.environ, **single}, stdout=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"the command ended with {child.returncode}")
    found = json.loads((folder / "drift.json").read_text())
    return {
        "wall": time.perf_counter() - begun,
        "cpu": used.ru_utime + used.ru_stime,
        "peak_mb": used.ru_maxrss / 1024,
        "compared": len(found["inputs"]),
    }


def evidently(folder: Path) -> dict[str, float]:
    """Evidently's default drift of some of the columns, tables in memory beforehand."""
    try:
        import pandas as pd
        from evidently import DataDefinition, Dataset, Report  # type: ignore[import-not-found]
        from evidently.presets import DataDriftPreset  # type: ignore[import-not-found]
    except ImportError as problem:
        print(f"evidently cannot be imported: {problem}", file=sys.stderr)
        sys.exit(NOT_INSTALLED)
    names = [f"input_{number:04d}" for number in range(SOME) if number % 10 != 9]
    definition = DataDefinition(numerical_columns=names)
    sides = [
        Dataset.from_pandas(pd.read_parquet(folder / f"{side}.parquet", columns=names), data_definition=definition)
        for side in ("window", "baseline")
    ]
    begun = time.process_time()
    Report([DataDriftPreset()]).run(*sides)
    return {"cpu": (time.process_time() - begun) / len(names)}


def of_evidently(folder: Path) -> dict[str, float] | None:
    """The peer in a process of its own; None where it is not installed."""
    command = [sys.executable, "-m", "benchmarks.wide_drift", "--evidently", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == NOT_INSTALLED:
        return None
    done.check_returncode()
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(*, full: bool, workers: int) -> dict[str, Any]:
    """Everything that is printed."""
    columns = COLUMNS if full else SOME
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), ROWS, WINDOW, columns)
        mine = ours(Path(name), workers)
        peer = of_evidently(Path(name))
    return {"columns": columns, "workup": mine, "evidently": peer}


def main() -> int:
    """Exit code 1 when a target is missed; extrapolated ones count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="3,000,000 rows, 1,000 columns: half an hour to write")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--evidently", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.evidently is not None:
        print(json.dumps(evidently(given.evidently)))
        return 0
    found = measured(full=given.full, workers=given.workers)
    mine, times = found["workup"], COLUMNS / found["columns"]
    print(f"{ROWS:,} against {WINDOW:,} rows in {found['columns']:,} columns, {given.workers} threads")
    each = mine["cpu"] / found["columns"]
    print(f"  workup drift {mine['cpu']:8.1f} s CPU, {mine['wall']:.1f} s wall, {mine['peak_mb']:.0f} MB at the peak")
    print(f"               {each:8.3f} s CPU a column")
    whole, said = mine["cpu"] / 2 * times, "" if times == 1 else f", EXTRAPOLATED from {found['columns']} columns"
    print(f"  {ROWS:,} x {WINDOW:,} x {COLUMNS:,}: {whole:.0f} s on two cores{said}")
    if found["evidently"] is None:
        print("  evidently is not installed")
    else:
        peer = found["evidently"]["cpu"]
        print(f"  evidently    {peer:8.3f} s CPU a column: {peer / each:.1f} times as much")
    met = whole <= SECONDS and mine["peak_mb"] <= MEGABYTES
    print(f"  -> at most {SECONDS:.0f} s and {MEGABYTES:.0f} MB: {'met' if met else 'NOT MET'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
