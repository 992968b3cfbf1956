"""How long 50 columns of a million rows take to compare with a million, against scipy and evidently.

Every side runs in a process of its own, on the same columns, with one thread; times are CPU seconds, the least of
several repeats of each column, averaged over columns. Scipy and evidently are timed on one column of each shape.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

SEED = 20261115
ROWS = 1_000_000
COLUMNS = 50
SHAPES = ("normal", "long tail", "third zeros", "counts", "with missing")
METHODS = {"ks": "KS", "wasserstein": "Wasserstein", "psi": "PSI", "jensenshannon": "Jensen–Shannon"}
TARGETS = {"evidently": 50.0, "scipy_exact": 3.0, "scipy_binned": 10.0, "memory_mb": 2000.0}
NOT_INSTALLED = 3

Floats = npt.NDArray[np.float64]


def column(number: int, rows: int, side: int) -> Floats:
    """One side of a column: 0 the reference, 1 the window, which has drifted a little."""
    rng = np.random.default_rng([SEED, number, side])
    shape = SHAPES[number % len(SHAPES)]
    if shape == "long tail":
        return np.exp(2 * rng.normal(size=rows) + 0.01 * side)
    if shape == "third zeros":
        return np.where(rng.random(rows) < 0.3, 0.0, rng.gamma(2, 2 + 0.01 * side, rows))
    if shape == "counts":
        return rng.poisson(40 + 0.1 * side, rows).astype(np.float64)
    found = rng.normal(0.01 * side, 1, rows)
    if shape == "with missing":
        found[rng.random(rows) < 0.02] = np.nan
    return found


def least_cpu(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """CPU seconds of the fastest repeat, and what it found."""
    best, found = np.inf, None
    for _ in range(repeats):
        begun = time.process_time()
        found = work()
        best = min(best, time.process_time() - begun)
    return best, found


def peak_mb() -> float:
    """The most memory this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# ---- the sides -------------------------------------------------------------------------------------------------------


def ours(rows: int, columns: int, *, binned: bool) -> dict[str, Any]:
    """KS, Wasserstein, PSI and Jensen–Shannon with their tests, all columns, against references kept beforehand."""
    from workup.stats.reference import Reference

    make = Reference.binned if binned else Reference.exact
    kept, references = [], []
    for i in range(columns):
        values = column(i, rows, 0)
        cpu, reference = least_cpu(lambda values=values: make(values), 1)
        kept.append(cpu)
        references.append(reference)
    seconds, statistics, errors = [], [], []
    windows = [column(i, rows, 1) for i in range(columns)]
    for reference, window in zip(references, windows, strict=True):
        cpu, found = least_cpu(lambda kept=reference, now=window: kept.compare(now, seed=SEED), 3)
        seconds.append(cpu)
        statistics.append(found.ks.statistic)
        errors.append(found.ks_error)
    by_shape = {shape: float(np.mean(seconds[i :: len(SHAPES)])) for i, shape in enumerate(SHAPES)}
    return {
        "cpu": float(np.mean(seconds)),
        "by_shape": by_shape,
        "keep": float(np.mean(kept)),
        "ks": statistics,
        "error": max(errors),
        "peak_mb": peak_mb(),
    }


def scipy_ks(rows: int, columns: int) -> dict[str, Any]:
    """scipy's KS test alone; both samples are sorted anew, since it keeps nothing."""
    from scipy import stats

    seconds, statistics = [], []
    for i in range(columns):
        x, y = (values[~np.isnan(values)] for values in (column(i, rows, 0), column(i, rows, 1)))
        cpu, found = least_cpu(lambda x=x, y=y: stats.ks_2samp(x, y, method="asymp"), 3)
        seconds.append(cpu)
        statistics.append(float(found.statistic))
    return {"cpu": float(np.mean(seconds)), "ks": statistics, "peak_mb": peak_mb()}


def evidently(rows: int, columns: int) -> dict[str, Any]:
    """evidently's drift of a column by the same four measures, each a report of one metric."""
    try:
        import pandas as pd
        from evidently import DataDefinition, Dataset, Report  # type: ignore[import-not-found]
        from evidently.metrics import ValueDrift  # type: ignore[import-not-found]
    except ImportError as problem:
        print(f"evidently cannot be imported: {problem}", file=sys.stderr)
        sys.exit(NOT_INSTALLED)
    definition = DataDefinition(numerical_columns=["x"])
    seconds: dict[str, list[float]] = {method: [] for method in METHODS}
    for i in range(columns):
        sides = [
            Dataset.from_pandas(pd.DataFrame({"x": column(i, rows, side)}), data_definition=definition)
            for side in (1, 0)
        ]
        for method in METHODS:
            cpu, found = least_cpu(lambda m=method, s=sides: Report([ValueDrift(column="x", method=m)]).run(*s), 2)
            assert np.isfinite(found.dict()["metrics"][0]["value"])
            seconds[method].append(cpu)
    each = {method: float(np.mean(times)) for method, times in seconds.items()}
    return {"cpu": sum(each.values()), "each": each, "peak_mb": peak_mb()}


SIDES: dict[str, Callable[[int, int], dict[str, Any]]] = {
    "exact": lambda rows, columns: ours(rows, columns, binned=False),
    "binned": lambda rows, columns: ours(rows, columns, binned=True),
    "scipy": scipy_ks,
    "evidently": evidently,
}


# ---- one run, all sides ----------------------------------------------------------------------------------------------


def in_child(side: str, rows: int, columns: int, python: str) -> dict[str, Any] | None:
    """A side in a fresh process with one thread; None when its library is not installed there."""
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
    command = [python, __file__, "--side", side, "--rows", str(rows), "--columns", str(columns)]
    done = subprocess.run(command, env={**os.environ, **single}, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode == NOT_INSTALLED:
        return None
    done.check_returncode()
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def compare(rows: int, columns: int, evidently_python: str) -> bool:
    """Print every comparison; True when all targets are met."""
    few = min(columns, len(SHAPES))
    print(f"{columns} columns of {rows:,} rows against {rows:,}; CPU seconds for each column; 1 thread on every side")
    exact, binned = (in_child(side, rows, columns, sys.executable) for side in ("exact", "binned"))
    scipys = in_child("scipy", rows, few, sys.executable)
    assert exact is not None and binned is not None and scipys is not None
    apart = max(abs(a - b) for a, b in zip(exact["ks"], scipys["ks"], strict=False))
    assert apart <= 1e-12, f"our KS statistics differ from scipy's by {apart}"
    missed = max(b - a for a, b in zip(binned["ks"], exact["ks"], strict=True))
    assert 0 <= missed <= binned["error"] <= 0.0005, "the binned statistics are not within their bound"
    for name, one in (("exact", exact), ("binned", binned)):
        shapes = ", ".join(f"{shape} {1000 * cpu:.1f}" for shape, cpu in one["by_shape"].items())
        print(f"  workup {name:7s} {one['cpu']:8.4f} s: KS + Wasserstein + PSI + Jensen–Shannon ({shapes} ms);")
        print(f"{' ' * 17}{one['keep']:8.4f} s to make and keep the reference; {one['peak_mb']:.0f} MB peak")
    print(f"  KS: exact within {apart:.0e} of scipy's; binned at most {missed:.6f} below, {binned['error']:.6f} stated")
    print(f"  scipy          {scipys['cpu']:8.4f} s: KS alone, on {few} columns, one of each shape")
    met = [
        _met("scipy KS / workup exact", scipys["cpu"] / exact["cpu"], at_least=TARGETS["scipy_exact"]),
        _met("scipy KS / workup binned", scipys["cpu"] / binned["cpu"], at_least=TARGETS["scipy_binned"]),
        _met("peak memory, MB", max(exact["peak_mb"], binned["peak_mb"]), at_most=TARGETS["memory_mb"]),
    ]
    peer = in_child("evidently", rows, few, evidently_python)
    if peer is None:
        print(
            "  evidently      SKIPPED: not installed there; it needs pandas < 3, so give it an environment of its own"
        )
        print("                 (pip install evidently 'pandas<3') and pass --evidently-python PATH")
        return all(met)
    each = ", ".join(f"{METHODS[method]} {cpu:.2f}" for method, cpu in peer["each"].items())
    print(
        f"  evidently      {peer['cpu']:8.4f} s: the same four on {few} columns ({each}); {peer['peak_mb']:.0f} MB peak"
    )
    print(f"     KS alone / workup exact with all four: {peer['each']['ks'] / exact['cpu']:.0f}")
    met.append(_met("evidently / workup exact", peer["cpu"] / exact["cpu"], at_least=TARGETS["evidently"]))
    met.append(_met("evidently / workup binned", peer["cpu"] / binned["cpu"], at_least=TARGETS["evidently"]))
    return all(met)


def _met(what: str, value: float, *, at_least: float | None = None, at_most: float | None = None) -> bool:
    good = value >= at_least if at_least is not None else at_most is None or value <= at_most
    target = f"at least {at_least:g}" if at_least is not None else f"at most {at_most:g}"
    print(f"  -> {what}: {value:.1f} (target {target}: {'met' if good else 'NOT MET'})", flush=True)
    return good


def main() -> int:
    """Exit code 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="rows on each side")
    parser.add_argument("--columns", type=int, default=COLUMNS, help="columns that workup compares")
    parser.add_argument(
        "--evidently-python", default=sys.executable, help="a Python that has evidently, if this one has not"
    )
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side is not None:
        print(json.dumps(SIDES[given.side](given.rows, given.columns)))
        return 0
    return 0 if compare(given.rows, given.columns, given.evidently_python) else 1


if __name__ == "__main__":
    sys.exit(main())
