"""How many notes with known truth are written in a second, with one process and with two, and in how much memory.

Each run writes a corpus as `workup corpus generate` does, JSONL and a sidecar for each note, in a process of its own
and into a temporary folder that is removed. Wall-clock seconds say what a busy machine let through, CPU seconds what
the work costs: on two cores that are free, two workers write as many notes a second as two cores have CPU seconds for,
as long as the process that gathers their lines keeps up, so its own CPU seconds are shown apart. Every rate is that of
the fastest of several repeats. Memory must not grow with the corpus.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SEED = 42
NOTES = 10_000
REPEATS = 3
FEW, MANY, MILLION = 20_000, 200_000, 1_000_000
TARGETS = {"rate": 1_000.0, "characters": 1_200.0, "growth_mb": 40.0}
_STEPS = 1_000


def written(notes: int, workers: int, folder: Path) -> dict[str, Any]:
    """One corpus, in this process and its workers: seconds, CPU seconds and peak memory of either."""
    from workup.cli.common import Progress
    from workup.corpora.generate.notes import generate

    begun, before = time.perf_counter(), _cpu()
    with Progress() as progress:
        jsonl, truth = generate(notes, seed=SEED).write(folder / "notes.jsonl", workers=workers, watch=progress)
    wall, after = time.perf_counter() - begun, _cpu()
    return {
        "notes": notes,
        "wall": wall,
        "parent": after[0] - before[0],
        "workers": after[1] - before[1],
        "parent_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "worker_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
        "megabytes": jsonl.stat().st_size / 1e6,
        "characters": _characters(jsonl),
        "sidecars": sum(1 for _ in os.scandir(truth)),
    }


def _cpu() -> tuple[float, float]:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    own, children = (one.ru_utime + one.ru_stime for one in used)
    return own, children


def _characters(jsonl: Path) -> float:
    """Characters of a note, on average over the first thousand."""
    with jsonl.open(encoding="utf-8") as file:
        lengths = [len(json.loads(line)["text"]) for line, _ in zip(file, range(1_000), strict=False)]
    return sum(lengths) / len(lengths)


def in_child(notes: int, workers: int) -> dict[str, Any]:
    """A run in a process of its own, so that its peak of memory is its own too."""
    with tempfile.TemporaryDirectory(prefix="workup-bench-") as folder:
        command = [sys.executable, __file__, "--folder", folder, "--notes", str(notes), "--workers", str(workers)]
        done = subprocess.run(
            command, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, stdout=subprocess.PIPE, check=True, text=True
        )
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found


def speed(notes: int, repeats: int) -> bool:
    """One process and two workers, by turns, so that both meet the same neighbours."""
    load = os.getloadavg()[0]
    runs: dict[int, list[dict[str, Any]]] = {1: [], 2: []}
    for _ in range(repeats):
        for workers, found in runs.items():
            found.append(in_child(notes, workers))
    one = min(runs[1], key=lambda run: run["parent"])
    two = min(runs[2], key=lambda run: run["parent"] + run["workers"])
    alone, apart, gathering = (1000 * cpu / notes for cpu in (one["parent"], two["workers"], two["parent"]))
    size = one["megabytes"] * 1000 / notes
    print(f"{notes:,} notes of {one['characters']:,.0f} characters, {size:.1f} kB of JSONL each, with their sidecars;")
    print(f"load {load:.1f} on {os.cpu_count()} cores before the first run")
    best = {workers: max(run["notes"] / run["wall"] for run in found) for workers, found in runs.items()}
    for workers, rate in best.items():
        busy = max((run["parent"] + run["workers"]) / run["wall"] for run in runs[workers])
        print(
            f"  {workers} at work: {rate:8,.0f} notes a second of wall clock, on {busy:.2f} cores that they were given"
        )
    print(f"  CPU: {alone:.2f} ms a note in one process; {apart:.2f} ms in two workers, their start included,")
    print(
        f"       and {gathering:.3f} ms in the process that gathers, which could serve {apart / gathering:.0f} workers"
    )
    # A core that is not shared gives a process all of its time; this one lost a tenth or more of it to others.
    quiet = max(run["parent"] / run["wall"] for run in runs[1]) >= 0.9
    rate = best[2] if quiet else 2000 / (apart + gathering)
    how = "wall clock" if quiet else "from CPU seconds, since other work takes part of both cores"
    met = [
        _met(f"notes a second on two cores ({how})", rate, at_least=TARGETS["rate"]),
        _met("characters of a note", one["characters"], at_least=TARGETS["characters"]),
        _met("notes without a sidecar", float(notes - two["sidecars"]), at_most=0.0),
    ]
    return all(met)


def memory(sizes: list[int]) -> bool:
    """Two workers, at several sizes: what the largest holds beyond the smallest."""
    peaks = []
    for size in sizes:
        run = in_child(size, 2)
        cpu = 1000 * (run["parent"] + run["workers"]) / size
        parent, worker, rate = run["parent_mb"], run["worker_mb"], size / run["wall"]
        print(f"  {size:9,} notes: {parent:.0f} MB in the process that gathers, {worker:.0f} MB in a worker;")
        print(
            f"            {run['megabytes']:,.0f} MB of JSONL, {rate:,.0f} notes a second, {cpu:.2f} ms of CPU a note"
        )
        sys.stdout.flush()
        peaks.append((run["parent_mb"], run["worker_mb"]))
    growth = max(last - first for first, last in zip(peaks[0], peaks[-1], strict=True))
    return _met(f"MB more at {sizes[-1]:,} notes than at {sizes[0]:,}", growth, at_most=TARGETS["growth_mb"])


def _met(what: str, value: float, *, at_least: float | None = None, at_most: float | None = None) -> bool:
    good = value >= at_least if at_least is not None else at_most is None or value <= at_most
    target = f"at least {at_least:,g}" if at_least is not None else f"at most {at_most:,g}"
    print(f"  -> {what}: {value:,.1f} (target {target}: {'met' if good else 'NOT MET'})", flush=True)
    return good


def main() -> int:
    """Exit code 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=NOTES, help="notes of a run for speed")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="runs for speed, of which the fastest counts")
    parser.add_argument(
        "--million", action="store_true", help="memory also at a million notes (about 10 GB for a while)"
    )
    parser.add_argument("--workers", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.folder is not None:
        print(json.dumps(written(given.notes, given.workers, given.folder)))
        return 0
    begun = time.process_time()
    for _ in range(200):
        sum(place * place for place in range(_STEPS))
    step = (time.process_time() - begun) / 200
    print(f"calibration: {step * 1e6:.0f} us for a loop of 1,000 steps (about 30 us on a quiet core)")
    met = [speed(given.notes, given.repeats), memory([FEW, MANY, *([MILLION] if given.million else [])])]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
