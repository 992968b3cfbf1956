"""How long matching 100,000 documents (about 2.5 million spans) takes, kernel alone, against nervaluate.

Both sides count the four SemEval modes for 20 types on the same generated documents: spans in memory, in the form that
each side wants them, so reading files is no part of it. Every side runs in a process of its own with one thread; times
are CPU seconds, the least of several repeats, with their median beside it (nervaluate: once, since it takes a minute).
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
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
DOCUMENTS = 100_000
TYPES = tuple(f"type_{i:02d}" for i in range(20))
MODES = {
    "strict": ("strict", "leaf"),
    "exact": ("exact", "phi"),
    "partial": ("partial", "phi"),
    "ent_type": ("overlap", "leaf"),
}
TARGETS = {"nervaluate": 500.0, "memory_mb": 300.0}
NOT_INSTALLED = 3
_LENGTH = 2000  # characters of a document

Ints = npt.NDArray[np.int32]
Columns = tuple[Ints, Ints, Ints, Ints]


def corpus(documents: int) -> tuple[Columns, Columns]:
    """Golds and predictions as (document, start, end, type), sorted: what a fair detector makes of clinical notes.

    Of 100 golds 5 are missed, 82 found exactly, 6 with a border off, 4 under another type, 2 in two pieces, 1 as one
    detection with the next; 5 predictions of 100 lie on plain text.
    """
    rng = np.random.default_rng(SEED)
    per_document = rng.poisson(12.5, documents).clip(0, 40)
    document = np.repeat(np.arange(documents), per_document)
    n = len(document)
    slot = np.arange(n) - np.repeat(np.cumsum(per_document) - per_document, per_document)
    start = slot * (_LENGTH // 40) + rng.integers(0, 12, n)
    end = start + rng.integers(3, 30, n)
    kind = rng.choice(len(TYPES), n, p=_frequencies())
    golds = np.column_stack([document, start, end, kind])
    fate = rng.random(n)
    parts = [golds[(fate >= 0.05) & (fate < 0.87)]]
    off = golds[(fate >= 0.87) & (fate < 0.93)].copy()
    off[:, 1] += rng.integers(0, 3, len(off))
    off[:, 2] += rng.integers(0, 4, len(off))
    other = golds[(fate >= 0.93) & (fate < 0.97)].copy()
    other[:, 3] = (other[:, 3] + rng.integers(1, len(TYPES), len(other))) % len(TYPES)
    split = golds[(fate >= 0.97) & (fate < 0.99)]
    first, second = split.copy(), split.copy()
    first[:, 2] = split[:, 1] + (split[:, 2] - split[:, 1]) // 2
    second[:, 1] = first[:, 2] + 1
    joined = golds[fate >= 0.99].copy()
    joined[:, 2] += _LENGTH // 40
    plain = golds[rng.random(n) < 0.05].copy()
    plain[:, 1] += 35
    plain[:, 2] = plain[:, 1] + 8
    found = np.concatenate([*parts, off, other, first, second[second[:, 2] > second[:, 1]], joined, plain])
    return _sorted(golds), _sorted(found)


def _frequencies() -> npt.NDArray[np.float64]:
    weights = 1 / np.arange(1, len(TYPES) + 1)
    return weights / weights.sum()


def _sorted(table: npt.NDArray[np.int64]) -> Columns:
    ordered = table[np.lexsort(table.T[::-1])].astype(np.int32)
    return ordered[:, 0].copy(), ordered[:, 1].copy(), ordered[:, 2].copy(), ordered[:, 3].copy()


def peak_mb() -> float:
    """The most memory this process has held since it began or since the mark was last set back."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def set_peak_back() -> float:
    """Give freed memory back and set the mark of the peak to what is held now, where the system lets us."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as marks:
        marks.write("5")
    return peak_mb()


# ---- the sides -------------------------------------------------------------------------------------------------------


def ours(documents: int) -> dict[str, Any]:
    """The four modes, all types and every document; then all modes that need no text at three levels."""
    from workup.documents.document import SpanArrays
    from workup.tasks.spans.counting.counts import count
    from workup.tasks.spans.counting.matchup import Level, Matchup, Setting
    from workup.tasks.spans.counting.modes import parse_mode
    from workup.documents.policies import MUST

    golds, found = (SpanArrays(*columns, TYPES) for columns in corpus(documents))
    half = {name: f"branch_{i // 4}" for i, name in enumerate(TYPES)}
    levels = (Level("leaf", {name: name for name in TYPES}), Level("branch", half, half), Level("phi"))
    decisions = {"all": np.full(len(golds), MUST, dtype=np.int8)}
    matchup = Matchup(golds, found, documents, decisions, levels=levels)
    four = [Setting(parse_mode(mode), level, "all") for mode, level in MODES.values()]
    every = matchup.settings(
        ["strict", "exact", "iou:0.5", "iou:0.75", "overlap", "partial", "i2b2", "cover:1", "char"]
    )
    before = set_peak_back()
    seconds, counts = _timed(lambda: count(matchup, four), 15)
    held = peak_mb()
    more, _ = _timed(lambda: count(matchup, every), 3)
    totals = {name: counts.total(setting)["hits"] for name, setting in zip(MODES, four, strict=True)}
    return {
        "cpu": min(seconds),
        "median": float(np.median(seconds)),
        "every": min(more),
        "settings": len(every),
        "spans": len(golds) + len(found),
        "peak_mb": held,
        "extra_mb": held - before,
        "hits": totals,
    }


def nervaluate(documents: int) -> dict[str, Any]:
    """nervaluate's evaluator on lists of dictionaries; its ends are inclusive. Loading them is not timed."""
    try:
        from nervaluate import Evaluator  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError as problem:
        print(f"nervaluate cannot be imported: {problem}", file=sys.stderr)
        sys.exit(NOT_INSTALLED)
    sides = []
    for columns in corpus(documents):
        lists: list[list[dict[str, Any]]] = [[] for _ in range(documents)]
        for document, start, end, kind in zip(*(column.tolist() for column in columns), strict=True):
            lists[document].append({"label": TYPES[kind], "start": start, "end": end - 1})
        sides.append(lists)
    evaluator = Evaluator(sides[0], sides[1], tags=list(TYPES), loader="dict")
    before = set_peak_back()
    begun = time.process_time()
    overall = evaluator.evaluate()["overall"]
    seconds = time.process_time() - begun
    hits = {name: overall[name].correct + overall[name].partial for name in MODES}
    return {"cpu": seconds, "peak_mb": peak_mb(), "extra_mb": peak_mb() - before, "hits": hits}


def _timed(work: Callable[[], Any], repeats: int) -> tuple[list[float], Any]:
    """CPU seconds of every repeat, and what the last one found."""
    seconds, found = [], None
    for _ in range(repeats):
        begun = time.process_time()
        found = work()
        seconds.append(time.process_time() - begun)
    return seconds, found


SIDES: dict[str, Callable[[int], dict[str, Any]]] = {"ours": ours, "nervaluate": nervaluate}


# ---- one run, both sides ---------------------------------------------------------------------------------------------


def in_child(side: str, documents: int, python: str) -> dict[str, Any] | None:
    """A side in a fresh process with one thread; None when its library is not installed there."""
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [python, __file__, "--side", side, "--documents", str(documents)]
    done = subprocess.run(command, env={**os.environ, **single}, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode == NOT_INSTALLED:
        return None
    done.check_returncode()
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def compare(documents: int, peer_python: str) -> bool:
    """Print the comparison; True when all targets are met."""
    mine = in_child("ours", documents, sys.executable)
    assert mine is not None
    print(f"{documents:,} documents, {mine['spans']:,} spans, {len(MODES)} modes x {len(TYPES)} types; 1 thread each")
    print(f"  workup      {mine['cpu']:8.4f} s CPU; {mine['peak_mb']:.0f} MB peak, {mine['extra_mb']:.0f} above arrays")
    print(f"  workup      {mine['every']:8.4f} s CPU for {mine['settings']} settings (9 modes at their levels)")
    met = [_met("memory above the arrays, MB", mine["extra_mb"], at_most=TARGETS["memory_mb"])]
    peer = in_child("nervaluate", documents, peer_python)
    if peer is None:
        print("  nervaluate  SKIPPED: not installed there (pip install nervaluate), or pass --peer-python PATH")
        return all(met)
    print(
        f"  nervaluate  {peer['cpu']:8.2f} s CPU; {peer['peak_mb']:.0f} MB peak, {peer['extra_mb']:.0f} above its lists"
    )
    for name in MODES:
        ours_, theirs = mine["hits"][name], peer["hits"][name]
        print(f"     {name:9s} hits {ours_:,} against {theirs:,}, which greedy matching finds")
        assert ours_ >= theirs, "an optimal assignment finds at least as many as a greedy one"
    again = in_child("ours", documents, sys.executable)  # a shared machine may have changed its pace meanwhile
    assert again is not None
    fastest = min(mine["cpu"], again["cpu"])
    print(f"  workup      {again['cpu']:8.4f} s CPU once more, after it")
    typical = (mine["median"] + again["median"]) / 2
    print(f"     by the median of the repeats, {typical:.4f} s: {peer['cpu'] / typical:.0f} times")
    met.append(_met("nervaluate / workup", peer["cpu"] / fastest, at_least=TARGETS["nervaluate"]))
    return all(met)


def _met(what: str, value: float, *, at_least: float | None = None, at_most: float | None = None) -> bool:
    good = value >= at_least if at_least is not None else at_most is None or value <= at_most
    target = f"at least {at_least:g}" if at_least is not None else f"at most {at_most:g}"
    print(f"  -> {what}: {value:.1f} (target {target}: {'met' if good else 'NOT MET'})", flush=True)
    return good


def main() -> int:
    """Exit code 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="documents to generate")
    parser.add_argument(
        "--peer-python", default=sys.executable, help="a Python that has nervaluate, if this one has not"
    )
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side is not None:
        print(json.dumps(SIDES[given.side](given.documents)))
        return 0
    return 0 if compare(given.documents, given.peer_python) else 1


if __name__ == "__main__":
    sys.exit(main())
