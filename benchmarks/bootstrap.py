"""How long 9 metrics on 13 slices take to resample, against scikit-learn and fairlearn; and DeLong against its sort.

Every side runs in a process of its own, on the same data, with one linear-algebra thread; times are printed as CPU
seconds and wall seconds, and ratios are taken from CPU seconds, which other work on the machine disturbs least.
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
from scipy import special

from workup.estimate import EVERYTHING, Draws, replicate, slices_by
from workup.scores import Levels, Scores
from workup.stats import rank
from workup.stats.random import generator
from workup.tasks.risk import metrics as risk

SEED = 20261115
THRESHOLD = 0.3
REPLICATES = 1000
SPACE = " " * 16
NAMES = ("auroc", "auprc", "calibration_slope", "oe_ratio", "brier", "sensitivity", "specificity", "ppv", "npv")
TARGETS = {"sklearn": 100.0, "fairlearn": 300.0, "memory_mb": 1000.0, "delong": 2.0}


# ---- data, the same for every side -----------------------------------------------------------------------------------


def cohort(n: int) -> Scores:
    """A cohort of n patients with three groupings of four levels, sorted by risk as the risk task keeps its rows."""
    rng = generator(SEED, "benchmark", n)
    log_odds = np.sort(rng.normal(-1.2, 1.2, n))
    outcome = rng.random(n) < special.expit(0.8 * log_odds)
    groups = {
        name: Levels(rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1]).astype(np.int64), tuple("abcd"))
        for name in ("age", "ethnicity", "payer")
    }
    values = {"outcome": outcome.astype(np.float64), "risk": special.expit(log_odds)}
    return Scores(values=values, patient=np.arange(n, dtype=np.int64), groups=groups)


class Clock:
    """CPU and wall seconds since it was made."""

    def __init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def read(self) -> dict[str, float]:
        """Seconds so far."""
        return {"cpu": time.process_time() - self._cpu, "wall": time.perf_counter() - self._wall}


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# ---- the sides -------------------------------------------------------------------------------------------------------


def ours(n: int, repeats: int) -> dict[str, Any]:
    """All replicates of all metrics on all slices; the fastest of `repeats`."""
    scores = cohort(n)
    found = risk.discrimination() + risk.calibration_metrics() + risk.at_threshold(THRESHOLD)
    metrics = [metric for metric in found if metric.name in NAMES]
    slices = [EVERYTHING, *slices_by(scores.groups)]
    before = _peak_mb()
    times = []
    for _ in range(repeats):
        clock = Clock()
        values = replicate(scores, metrics, slices, draws=Draws(seed=SEED, replicates=REPLICATES))
        times.append(clock.read())
    assert values.shape == (13, 9, REPLICATES)
    assert np.isfinite(values).all()
    return {**min(times, key=lambda one: one["cpu"]), "peak_mb": _peak_mb(), "before_mb": before}


def sklearn_loop(n: int, measured: int) -> dict[str, Any]:
    """The same metrics and slices by scikit-learn's functions on resampled rows; `measured` replicates."""
    scores = cohort(n)
    y, p = scores["outcome"].astype(np.int64), scores["risk"]
    masks = [np.ones(n, dtype=bool), *(one.rows for one in slices_by(scores.groups) if one.rows is not None)]
    rng = generator(SEED, "peer")
    _sklearn_metrics(y[::50], p[::50])  # what is imported and compiled on first use is not counted
    clock = Clock()
    for _ in range(measured):
        rows = rng.integers(0, n, n)
        y_drawn, p_drawn = y[rows], p[rows]
        for mask in masks:
            inside = mask[rows]
            assert len(_sklearn_metrics(y_drawn[inside], p_drawn[inside])) == len(NAMES)
    return _extrapolated(clock.read(), measured)


def _sklearn_metrics(y: npt.NDArray[np.int64], p: npt.NDArray[np.float64]) -> list[float]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import average_precision_score, brier_score_loss, confusion_matrix, roc_auc_score

    (tn, fp), (fn, tp) = confusion_matrix(y, p >= THRESHOLD, labels=[0, 1])
    fit = LogisticRegression(C=np.inf).fit(special.logit(p)[:, None], y)  # unpenalised
    return [
        roc_auc_score(y, p),
        average_precision_score(y, p),
        brier_score_loss(y, p),
        float(fit.coef_[0, 0]),
        float(y.mean() / p.mean()),
        tp / (tp + fn),
        tn / (tn + fp),
        tp / (tp + fp),
        tn / (tn + fn),
    ]


def fairlearn_frames(n: int, measured: int) -> dict[str, Any]:
    """Four metrics by MetricFrame, one frame for each grouping; `measured` replicates beyond the plain frames."""
    from fairlearn.metrics import MetricFrame  # type: ignore[import-untyped]
    from sklearn.metrics import brier_score_loss, precision_score, recall_score, roc_auc_score

    scores = cohort(n)
    y, p = scores["outcome"].astype(np.int64), scores["risk"]
    functions: dict[str, Callable[..., float]] = {
        "auroc": roc_auc_score,
        "brier": brier_score_loss,
        "sensitivity": lambda y_true, y_pred: recall_score(y_true, y_pred >= THRESHOLD),
        "ppv": lambda y_true, y_pred: precision_score(y_true, y_pred >= THRESHOLD),
    }

    def frames(replicates: int | None) -> dict[str, float]:
        clock = Clock()
        for name, levels in scores.groups.items():
            MetricFrame(
                metrics=functions,
                y_true=y,
                y_pred=p,
                sensitive_features={name: np.array(levels.names)[levels.codes]},
                n_boot=replicates,
                ci_quantiles=None if replicates is None else [0.025, 0.975],
                random_state=1,
            )
        return clock.read()

    frames(None)
    plain, drawn = frames(None), frames(measured)
    return _extrapolated({name: max(0.0, drawn[name] - plain[name]) for name in drawn}, measured)


def _extrapolated(seconds: dict[str, float], measured: int) -> dict[str, Any]:
    whole = {name: value * REPLICATES / measured for name, value in seconds.items()}
    return {**whole, "measured": measured, "measured_wall": seconds["wall"]}


def delong(n: int, repeats: int) -> dict[str, Any]:
    """DeLong's variance and numpy's argsort of the same scores, turn by turn; the fastest CPU seconds of each."""
    rng = generator(SEED, "delong", n)
    score = rng.standard_normal(n)
    outcome = rng.random(n) < special.expit(score - 1)
    best = {"delong": np.inf, "argsort": np.inf}
    for _ in range(repeats):
        clock = Clock()
        np.argsort(score)
        best["argsort"] = min(best["argsort"], clock.read()["cpu"])
        clock = Clock()
        rank.delong(outcome, score)
        best["delong"] = min(best["delong"], clock.read()["cpu"])
    return best


SIDES: dict[str, Callable[[int, int], dict[str, Any]]] = {
    "ours": ours,
    "sklearn": sklearn_loop,
    "fairlearn": fairlearn_frames,
    "delong": delong,
}


# ---- one run, both sides ---------------------------------------------------------------------------------------------


def in_child(side: str, n: int, times: int) -> dict[str, Any]:
    """A side in a fresh process, so that its memory is its own and it has one linear-algebra thread."""
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, __file__, "--side", side, "--n", str(n), "--times", str(times)]
    done = subprocess.run(command, env={**os.environ, **single}, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compare(*, small: bool) -> bool:
    """Print every comparison; True when all targets are met."""
    n = 100_000
    print(
        f"{len(NAMES)} metrics x 13 slices x {REPLICATES} replicates, n = {n:,}; one linear-algebra thread on each side"
    )
    mine = in_child("ours", n, 3)
    extra = mine["peak_mb"] - mine["before_mb"]
    print(f"  workup        {mine['cpu']:9.2f} s CPU {mine['wall']:9.2f} s wall, fastest of 3")
    print(f"  workup memory {mine['peak_mb']:9.0f} MB peak, {extra:.0f} MB above the loaded data and libraries")
    met = [_met("peak memory, MB", mine["peak_mb"], at_most=TARGETS["memory_mb"])]
    for side, text, measured in (
        ("sklearn", "scikit-learn loop", 5),
        ("fairlearn", "fairlearn MetricFrame, 4 metrics, a frame for each of 3 groupings", 3),
    ):
        peer = in_child(side, n, measured)
        print(f"  {side:13s} {peer['cpu']:9.1f} s CPU {peer['wall']:9.1f} s wall: {text},")
        print(f"{SPACE}EXTRAPOLATED linearly from {measured} replicates measured in {peer['measured_wall']:.2f} s")
        met.append(_met(f"{side} / workup", peer["cpu"] / mine["cpu"], at_least=TARGETS[side]))
    if not small:
        large = in_child("ours", 1_000_000, 1)
        print(
            f"n = 1,000,000: workup {large['cpu']:.1f} s CPU {large['wall']:.1f} s wall, {large['peak_mb']:.0f} MB peak"
        )
    sort = in_child("delong", 1_000_000, 11)
    print(f"DeLong, n = 1,000,000: {sort['delong']:.4f} s CPU; numpy.argsort {sort['argsort']:.4f} s; fastest of 11")
    met.append(_met("DeLong / argsort", sort["delong"] / sort["argsort"], at_most=TARGETS["delong"]))
    return all(met)


def _met(what: str, value: float, *, at_least: float | None = None, at_most: float | None = None) -> bool:
    good = value >= at_least if at_least is not None else at_most is None or value <= at_most
    target = f"at least {at_least:g}" if at_least is not None else f"at most {at_most:g}"
    print(f"  -> {what}: {value:.2f} (target {target}: {'met' if good else 'NOT MET'})", flush=True)
    return good


def main() -> int:
    """Exit code 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="leave out the run at a million patients")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--n", type=int, default=100_000, help=argparse.SUPPRESS)
    parser.add_argument("--times", type=int, default=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side is not None:
        json.dump(SIDES[given.side](given.n, given.times), sys.stdout)
        return 0
    return 0 if compare(small=given.small) else 1


if __name__ == "__main__":
    sys.exit(main())
