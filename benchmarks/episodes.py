"""How long a year of a hospital takes: a million predictions of 50,000 stays, alarm metrics in 13 slices, resampled.

`workup run` reads two Parquet files and judges them in a process of its own, with the internal and the subgroups lens,
1,000 resamples and one threshold. Reading and judging are then timed by themselves at three thresholds, also on five
million predictions. Beside it seismometer's own functions on the same tables, where it is installed: they
merge events, reduce to a maximum and count, for each slice in turn, without alerts, exposure or intervals of these.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workup.corpora.generate.episodes.generator import generate

SEED = 20261115
STAYS, MANY = 50_000, 60_000
PER_PATIENT = 1.72  # stays of a patient on average, as planned
_OF_EVENTS = ("event_sensitivity", "event_coverage", "flagged_before", "lead_time_median", "lead_time_mean")
METRICS = (*_OF_EVENTS, "alert_ppv", "nne", "alarm_rate", "encounter_ppv")
# The slices: all, two sexes, three ages, three wards, four hospitals.
REPLICATES = 1_000
SECONDS = 60.0
NOT_INSTALLED = 3
THRESHOLD = 0.1
STUDY = """
name: benchmark of episodes
task: episodes
seed: {seed}
corpus: {{predictions: scores.parquet, events: events.parquet}}
columns: {{site: site, groups: [sex, age, ward, hospital]}}
events:
  target: [sepsis]
  start: [admit]
  end: [discharge]
  death: [death]
  lost: [transfer]
  intervention: [antibiotics]
episodes: {{horizon: 24h, refractory: 8h, act_within: 8h, lead_hours: [4h], time_zone: UTC}}
thresholds: [{threshold}]
bootstrap: {{replicates: {replicates}}}
lenses: {{internal: {{}}, subgroups: {{}}}}
report: {{formats: []}}
"""


# Scores of a stay: 20 on average, and 84, of which 60,000 stays have five million.
SHORT = {"mean_scores": 21.3, "most_scores": 120}
LONG = {"mean_scores": 200, "most_scores": 200}


def write(folder: Path, stays: int, lengths: Mapping[str, float]) -> dict[str, int]:
    """The two tables and a study beside them."""
    plan: dict[str, Any] = {**lengths, "sites": 4}
    if lengths is LONG:
        plan["groups"] = {}
    made = generate(round(stays / PER_PATIENT), seed=SEED, plan=plan)
    predictions = dict(made.predictions)
    if lengths is LONG:
        predictions = {name: predictions[name] for name in ("patient", "encounter", "time", "risk")}
    else:
        predictions["hospital"] = predictions["site"]
    type(made)(predictions, made.events, made.truth, made.plan, made.seed).write(folder / "scores.parquet")
    study = STUDY.format(seed=SEED, threshold=THRESHOLD, replicates=REPLICATES)
    (folder / "study.yaml").write_text(study, encoding="utf-8")
    return {"predictions": len(predictions["risk"]), "stays": len(set(made.events["encounter"].tolist()))}


# ---- the sides, each in a process of its own -------------------------------------------------------------------------


def reading(folder: Path) -> dict[str, Any]:
    """Reading both files, then judging every prediction and alert at three thresholds, without any metric."""
    from workup import plugins
    from workup.tasks.risk.episodes.evaluation import evaluate
    from workup.tasks.risk.episodes.settings import EpisodeColumnsPart, EpisodesPart, EventsPart
    from workup.tasks.risk.episodes.tables import read_events, read_predictions

    part = EpisodesPart.checked({"horizon": "24h", "refractory": "8h", "time_zone": "UTC"}, where="benchmark")
    columns = EpisodeColumnsPart()
    roles = {"target": ["sepsis"], "start": ["admit"], "end": ["discharge"], "death": ["death"], "lost": ["transfer"]}
    read = plugins.find("formats", "parquet")
    begun = time.perf_counter()
    predictions = read_predictions(read(folder / "scores.parquet"), columns, part)
    events = read_events(read(folder / "events.parquet"), EventsPart.checked(roles, where="benchmark"), part)
    found = time.perf_counter()
    scores = evaluate(predictions, events, part, (0.05, 0.1, 0.2)).scores
    return {"read": found - begun, "judge": time.perf_counter() - found, "rows": len(scores)}


def seismometer(folder: Path) -> dict[str, Any]:
    """Its own functions: events merged into predictions, a maximum for each stay, and counts in each slice."""
    try:
        import pandas as pd
        from seismometer.data import pandas_helpers, performance  # type: ignore[import-not-found]
    except ImportError as problem:
        print(f"seismometer cannot be imported: {problem}", file=sys.stderr)
        sys.exit(NOT_INSTALLED)
    begun = time.perf_counter()
    predictions, events = (pd.read_parquet(folder / f"{name}.parquet") for name in ("scores", "events"))
    events = events.rename(columns={"type": "Type", "time": "Time"}).assign(Value=1.0)
    keys = ["patient", "encounter"]
    merged = pandas_helpers.merge_windowed_event(predictions, "time", events, "sepsis", keys, window_hrs=24)
    slices = 0
    for column in (None, "sex", "age", "ward", "hospital"):
        levels = [None] if column is None else sorted(merged[column].unique())
        for level in levels:
            rows = merged if level is None else merged[merged[column] == level]
            reduced = pandas_helpers.event_score(rows, keys, "risk", ref_event="sepsis", aggregation_method="max")
            performance.calculate_bin_stats(reduced["sepsis_Value"], reduced["risk"])
            slices += 1
    return {"seconds": time.perf_counter() - begun, "slices": slices}


SIDES = {"reading": reading, "seismometer": seismometer}


def in_child(words: list[str]) -> tuple[float, float, float, str] | None:
    """A command with one thread: wall and CPU seconds, peak memory in MB and what it wrote; None if not installed."""
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    begun = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(words, env={**os.environ, **single}, stdout=out)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begun
        code = os.waitstatus_to_exitcode(status)
        child.returncode = code
        if code == NOT_INSTALLED and "--side" in words:
            return None
        if code not in (0, 1, 3):
            raise subprocess.CalledProcessError(code, words)
        out.seek(0)
        return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, out.read()


def _side(name: str, folder: Path) -> tuple[float, float, float, str] | None:
    return in_child([sys.executable, "-m", "benchmarks.episodes", "--side", name, "--folder", str(folder)])


# ---- one run, all sides ----------------------------------------------------------------------------------------------


def compare(stays: int, many: int) -> bool:
    """Print every figure; True when all targets are met."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        made = write(folder, stays, SHORT)
        print(f"{made['predictions']:,} predictions of {made['stays']:,} stays, B {REPLICATES:,}; 1 thread, 1 process")
        run = in_child(
            [sys.executable, "-m", "workup.cli", "run", str(folder / "study.yaml"), "-o", str(folder / "run")]
        )
        assert run is not None
        wall, cpu, peak, _ = run
        report = json.loads((folder / "run" / "report.json").read_text(encoding="utf-8"))
        asked = _asked(report)
        told = (
            f"{len(asked)} of {len({name for name, _ in asked})} alarm metrics in {len({at for _, at in asked})} slices"
        )
        print(f"  workup run       {wall:7.1f} s wall {cpu:7.1f} s CPU, {peak:.0f} MB peak: estimates, {told}")
        met = [
            _met("workup run, CPU seconds", cpu, SECONDS),
        ]
        _tell_reading(folder)
        peer = _side("seismometer", folder)
        if peer is None:
            print("  seismometer      SKIPPED: not installed here (pip install seismometer); nothing to compare with")
        else:
            slices = json.loads(peer[3].splitlines()[-1])["slices"]
            told = f"counts in {slices} slices"
            print(f"  seismometer      {peer[0]:7.1f} s wall {peer[1]:7.1f} s CPU, {peer[2]:.0f} MB peak: {told},")
            print("                   no alerts, no refractory period, no exposure, no intervals of these")
    if many:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            made = write(folder, many, LONG)
            print(f"{made['predictions']:,} predictions of {made['stays']:,} stays at three thresholds")
            met.append(_tell_reading(folder))
    return all(met)


def _tell_reading(folder: Path) -> bool:
    found = _side("reading", folder)
    assert found is not None
    _, cpu, peak, told = found
    parts = json.loads(told.splitlines()[-1])
    print(
        f"  reading alone    {parts['read']:7.1f} s, judging {parts['judge']:.1f} s, {parts['rows']:,} rows;", end=" "
    )
    print(f"{cpu:.1f} s CPU in all, {peak:.0f} MB peak")
    return _met("read and judged, CPU seconds", cpu, SECONDS)


def _asked(report: dict[str, Any]) -> set[tuple[str, str]]:
    """The alarm metrics of the record with the slices that they are estimated in."""
    found = set()
    for lens in report["results"].values():
        for one in lens["estimates"]:
            keys = {key: level for key, level in one["slice"].items() if key not in ("threshold", "hours")}
            plain = len(keys) <= 1 and not keys.keys() & {"acted", "since_start"}
            if one["metric"] in METRICS and plain:
                found.add((one["metric"], json.dumps(keys)))
    return found


def _met(what: str, value: float, at_most: float) -> bool:
    print(
        f"  -> {what}: {value:.1f} (target at most {at_most:g}: {'met' if value <= at_most else 'NOT MET'})", flush=True
    )
    return value <= at_most


def main() -> int:
    """Exit code 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stays", type=int, default=STAYS)
    parser.add_argument("--many", type=int, default=MANY, help="stays of the larger tables; 0 leaves them out")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side is not None:
        print(json.dumps(SIDES[given.side](given.folder)))
        return 0
    return 0 if compare(given.stays, given.many) else 1


if __name__ == "__main__":
    sys.exit(main())
