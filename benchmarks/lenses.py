"""How long one risk model with all five lenses and every form of report takes, by lens and by form.

The cohort is generated: 7,472 patients in five groupings, eight sites and twelve months, with four thresholds and some
gates. CPU seconds count every thread and worker process; the least of the repeats is kept, which other work on the
machine disturbs least. Wall seconds beside them show how well the cores are used.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import hashlib
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy import special

from workup import plugins
from workup.cli.report import render
from workup.reports.charts import drawing
from workup.stats.random import generator
from workup.study import Study
from workup.validate import validate

SEED = 20261115
ROWS = 7_472
FORMS = ("html", "pdf", "md", "text", "json", "json-flat")
GROUPS: dict[str, tuple[tuple[str, ...], tuple[float, ...]]] = {
    "sex": (("female", "male"), (0.44, 0.56)),
    "age_band": (("18-44", "45-64", "65-74", "75-84", "85+"), (0.16, 0.36, 0.24, 0.18, 0.06)),
    "ethnicity": (("white", "black", "hispanic", "asian", "other"), (0.72, 0.15, 0.06, 0.04, 0.03)),
    "insurance": (("public", "private", "uninsured"), (0.55, 0.38, 0.07)),
    "admission": (("emergency", "planned", "transfer"), (0.61, 0.27, 0.12)),
}
# CPU seconds of the same study at commit 0666c88, one worker, on two shared cores (least of three runs).
BEFORE: dict[str, float] = {
    "internal lens": 2.9,
    "subgroups lens": 53.9,
    "power lens": 13.9,
    "drift lens": 2.6,
    "sites lens": 0.7,
    "everything before the reports": 74.5,
    "report as html": 4.6,
    "report as pdf": 56.5,
    "report as md": 1.2,
    "report as text": 1.2,
    "report as json": 1.3,
    "report as json-flat": 0.8,
}


# ---- the study -------------------------------------------------------------------------------------------------------


def write_cohort(folder: Path, rows: int) -> Path:
    """A cohort of one row per patient, with risks that are a little too extreme, as a table and a study beside it."""
    rng = generator(SEED, "benchmark of lenses", rows)
    log_odds = rng.normal(-0.9, 1.3, rows)
    died = rng.random(rows) < special.expit(0.8 * log_odds + 0.1)
    columns: dict[str, Any] = {
        "patient": [f"p{i:06d}" for i in range(rows)],
        "died": died.astype(int),
        "risk": np.round(special.expit(log_odds), 6),
        "site": rng.choice([f"hospital {name}" for name in "ABCDEFGH"], rows),
        "day": [
            (datetime.date(2024, 1, 1) + datetime.timedelta(days=int(day))).isoformat()
            for day in rng.integers(0, 366, rows)
        ],
        "lactate": np.round(rng.lognormal(0.6, 0.5, rows), 2),
    }
    columns |= {name: rng.choice(levels, rows, p=shares) for name, (levels, shares) in GROUPS.items()}
    path = folder / "cohort.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(columns)
        table.writerows(zip(*columns.values(), strict=True))
    return path


def study(table: Path, workers: int) -> Study:
    """All five lenses on the cohort."""
    content = {
        "name": "benchmark of lenses",
        "task": "risk",
        "seed": SEED,
        "corpus": {"path": table.name},
        "columns": {
            "outcome": "died",
            "risk": "risk",
            "patient": "patient",
            "site": "site",
            "time": "day",
            "groups": list(GROUPS),
            "inputs": ["lactate"],
        },
        "thresholds": [0.1, 0.2, 0.3, 0.5],
        "also": ["accuracy", "f1"],
        "lenses": {"internal": {}, "subgroups": {"margin": 0.05}, "power": {}, "drift": {}, "sites": {}},
        "gates": ["auroc.low >= 0.70", "sensitivity{sex=*,threshold=0.2}.low >= 0.60", "oe_ratio.high <= 1.2"],
        "workers": workers,
    }
    return Study.of(content, base=table.parent)


# ---- clocks ----------------------------------------------------------------------------------------------------------


def cpu_seconds() -> float:
    """Of this process with all its threads, and of the worker processes it has waited for."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


class Clock:
    """Seconds by part, the least of the repeats."""

    def __init__(self) -> None:
        self.cpu: dict[str, float] = {}
        self.wall: dict[str, float] = {}

    @contextmanager
    def on(self, part: str) -> Iterator[None]:
        """Measure what is done inside."""
        cpu, wall = cpu_seconds(), time.perf_counter()
        yield
        self.cpu[part] = min(cpu_seconds() - cpu, self.cpu.get(part, np.inf))
        self.wall[part] = min(time.perf_counter() - wall, self.wall.get(part, np.inf))


@contextmanager
def lenses_on(clock: Clock) -> Iterator[None]:
    """Every lens is measured by its name, and nothing else changes."""
    find = plugins.find

    def measured(kind: str, name: str) -> Any:
        found = find(kind, name)
        if kind != "lenses":
            return found

        def look(*args: Any, **kwargs: Any) -> Any:
            with clock.on(f"{name} lens"):
                return found(*args, **kwargs)

        return look

    plugins.find = measured
    try:
        yield
    finally:
        plugins.find = find


def measure(rows: int, workers: int, repeats: int) -> tuple[Clock, str]:
    """Seconds by part, and the hash of the record."""
    clock, record = Clock(), ""
    with tempfile.TemporaryDirectory() as folder:
        plan = study(write_cohort(Path(folder), rows), workers)
        for _ in range(repeats):
            drawing._drawn.cache_clear()  # drawn anew for the page, as in a process of its own; print shares them
            with lenses_on(clock), clock.on("everything before the reports"):
                report = validate(plan)
            for form in FORMS:
                with clock.on(f"report as {form}"):
                    render(report, form)
            record = hashlib.sha256(report.to_json().encode()).hexdigest()
    return clock, record


def main() -> None:
    """Print one line per part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--workers", type=int, default=0, help="0 is one per core")
    parser.add_argument("--repeats", type=int, default=2)
    chosen = parser.parse_args()
    clock, record = measure(chosen.rows, chosen.workers, chosen.repeats)
    same = chosen.rows == ROWS
    sys.stdout.write(f"{'part':32}{'CPU s':>9}{'wall s':>9}{'cores':>7}{'before':>9}{'ratio':>7}\n")
    for part, cpu in clock.cpu.items():
        _line(part, cpu, clock.wall[part], BEFORE.get(part) if same else None)
    reports = [part for part in clock.cpu if part.startswith("report")]
    parts = ["everything before the reports", *reports]
    before = sum(BEFORE.get(part, np.nan) for part in parts) if same and BEFORE else None
    _line("all of it", sum(clock.cpu[p] for p in parts), sum(clock.wall[p] for p in parts), before)
    sys.stdout.write(f"record {record}\n")


def _line(part: str, cpu: float, wall: float, before: float | None) -> None:
    against = "" if before is None else f"{before:9.1f}{before / cpu:7.1f}"
    sys.stdout.write(f"{part:32}{cpu:9.1f}{wall:9.1f}{cpu / max(wall, 1e-9):7.2f}{against}\n")


if __name__ == "__main__":
    main()
