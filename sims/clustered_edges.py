"""Do intervals of shares over few clusters cover near 0 and 1, and never fall when a failure becomes a success?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from sims.repetitions import Cell, Outcome, Result, Size, where
from workup.stats.intervals import (
    Ends,
    clustered_share,
    combine_difference,
    effective_ends,
    event_rate_ends,
    paired_shares,
)

NAME = "clustered_edges"
QUESTION = (
    "Do nominal 95 % intervals of clustered shares, of their differences and of rates of bunched events cover at least "
    "93 % (they are conservative by choice, so there is no upper limit), and does no end ever fall when a failure is "
    "turned into a success?"
)
SEED = 20261115
TESTED = ["stats/intervals.py", "stats/random.py"]
MADE_BY = ["clustered_edges.py", "repetitions.py"]

LEAST = (0.93, 1.0)
Floats = npt.NDArray[np.float64]
SIZES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "4": lambda rng, m: np.full(m, 4.0),
    "10": lambda rng, m: np.full(m, 10.0),
    "30": lambda rng, m: np.full(m, 30.0),
    "1-40 log-uniform": lambda rng, m: np.floor(np.exp(rng.uniform(0, np.log(41), m))),
    "1-40 uniform": lambda rng, m: rng.integers(1, 41, m).astype(np.float64),
}
CLUSTERS = (5, 7, 10, 15, 30, 60)
ICCS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
SHARES = (0.5, 0.7, 0.9, 0.95, 0.98, 0.99, 0.999)  # p and 1 − p are mirror images
PAIRS = ((0.5, 0.5), (0.75, 0.7), (0.95, 0.9), (0.98, 0.98), (0.999, 0.999))
FEWER = {"clusters": (7, 15, 30, 60), "icc": (0.0, 0.1, 0.3)}
EVENTS = {"clusters": (5, 15, 30, 60), "mean": (0.05, 0.3, 1.0, 3.0), "world": ("Poisson", "gamma-Poisson", "bunches")}


def cells(size: Size) -> list[Cell]:
    """Single shares in 1,260 cells; differences on the same rows and between patients; counts; and falls."""

    def cell(kind: str, truth: float, band: tuple[float, float] = LEAST, **settings: Any) -> Cell:
        told = ", ".join(f"{name} {value}" for name, value in settings.items())
        return Cell(f"{kind}, {told}", {"kind": kind, **settings}, size, band, truth={kind: truth})

    found = [
        cell("share", p, clusters=m, sizes=n, icc=icc, share=p)
        for m, n, icc, p in product(CLUSTERS, SIZES, ICCS, SHARES)
    ]
    for kind, sizes in (("same rows", ("10", "30", "1-40 uniform")), ("different patients", ("4", "1-40 uniform"))):
        found += [
            cell(kind, b - a, clusters=m, sizes=n, icc=icc, first=a, second=b)
            for m, n, icc, (a, b) in product(FEWER["clusters"], sizes, FEWER["icc"], PAIRS)
        ]
    found += [
        cell("events", mean, clusters=m, mean=mean, world=world)
        for m, mean, world in product(EVENTS["clusters"], EVENTS["mean"], EVENTS["world"])
    ]
    found += [
        cell("falls", 0.0, (1.0, 1.0), clusters=m, sizes=n, weighted=weighted)
        for m, n, weighted in product((3, 7, 15), SIZES, (False, True))
    ]
    return found


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One sample of the kind of the cell."""
    kind = cell.settings["kind"]
    return {kind: _KINDS[kind](cell, rng)}


def _rates(rng: np.random.Generator, p: float, icc: float, clusters: int) -> Floats:
    """Every cluster's own share, beta with this mean and intraclass correlation."""
    if icc == 0:
        return np.full(clusters, p)
    return rng.beta(p * (1 - icc) / icc, (1 - p) * (1 - icc) / icc, clusters)


def _sizes(cell: Cell, rng: np.random.Generator) -> Floats:
    return SIZES[cell.settings["sizes"]](rng, cell.settings["clusters"])


def _drawn(cell: Cell, rng: np.random.Generator, p: float) -> tuple[Floats, Floats]:
    n = _sizes(cell, rng)
    x = rng.binomial(n.astype(np.int64), _rates(rng, p, cell.settings["icc"], n.size))
    return x.astype(np.float64), n


def _ends(x: Floats, n: Floats, *, truth: float | None = None) -> Ends:
    """Ends of a share. Beside a truth, the end on its far side is not worked out: it cannot lie beyond the share."""
    share = clustered_share(x, n, np.arange(n.size), np.ones(n.size))
    if truth is None:
        return effective_ends(share)
    ceiling = share.ceiling()
    if share.share > truth:
        return Ends(0.0 if truth >= ceiling else min(ceiling, share.worse.best_end(0.95)), 1.0)
    return Ends(0.0, 1.0 if 1 - truth >= ceiling else 1 - min(ceiling, share.mirrored.best_end(0.95)))


def _share(cell: Cell, rng: np.random.Generator) -> Outcome:
    p = cell.truth["share"]
    return where(*_ends(*_drawn(cell, rng, p), truth=p), p)


def _different_patients(cell: Cell, rng: np.random.Generator) -> Outcome:
    (xa, na), (xb, nb) = (_drawn(cell, rng, cell.settings[side]) for side in ("first", "second"))
    a, b = float(xa.sum() / na.sum()), float(xb.sum() / nb.sum())
    return where(*combine_difference(b, _ends(xb, nb), a, _ends(xa, na)), cell.truth["different patients"])


def _same_rows(cell: Cell, rng: np.random.Generator) -> Outcome:
    """Two systems that find the same clusters hard, and mostly the same rows."""
    n, icc = _sizes(cell, rng).astype(np.int64), cell.settings["icc"]
    cluster = np.repeat(np.arange(n.size), n)
    hard, own = rng.random(n.size), rng.random((2, cluster.size))
    own[1] = np.where(rng.random(cluster.size) < 0.7, own[0], own[1])
    right = []
    for p, row in zip((cell.settings["first"], cell.settings["second"]), own, strict=True):
        rate = (
            np.full(n.size, p) if icc == 0 else special.betaincinv(p * (1 - icc) / icc, (1 - p) * (1 - icc) / icc, hard)
        )
        right.append((row < rate[cluster]).astype(np.float64))
    return where(*paired_shares(right[0], right[1], cluster).ends(), cell.truth["same rows"])


def _events(cell: Cell, rng: np.random.Generator) -> Outcome:
    """Events over conversations, one or two of a cluster. Where none is seen there is no rate, and nothing to miss."""
    clusters, mean, world = (cell.settings[name] for name in ("clusters", "mean", "world"))
    held = rng.integers(1, 3, clusters).astype(np.float64)
    expected = mean * held
    if world == "Poisson":
        seen = rng.poisson(expected)
    elif world == "gamma-Poisson":
        seen = rng.poisson(rng.gamma(expected / 2, 2.0))  # variance three times the mean
    else:
        bunches = rng.poisson(expected / 4)
        seen = np.array([rng.integers(1, 8, int(k)).sum() for k in bunches])  # one to seven at a time
    if not seen.any():
        return "covered"
    return where(*event_rate_ends(seen.astype(np.float64), held), mean)


def _falls(cell: Cell, rng: np.random.Generator) -> Outcome:
    """One failure turned into a success: "below" where the low end, or the high end, has fallen."""
    n = _sizes(cell, rng).astype(np.int64)
    cluster = np.repeat(np.arange(n.size), n)
    weight = rng.uniform(0.2, 5, cluster.size) if cell.settings["weighted"] else np.ones(cluster.size)
    p = rng.choice([0.3, 0.7, 0.9, 0.97])
    hit = (rng.random(cluster.size) < rng.beta(3 * p, 3 * (1 - p), n.size)[cluster]).astype(np.float64)
    hit[rng.integers(hit.size)] = 0.0
    better = hit.copy()
    better[rng.choice(np.flatnonzero(hit == 0))] = 1.0
    level = float(rng.choice([0.8, 0.9, 0.95, 0.99]))
    before, after = (
        effective_ends(clustered_share(one, np.ones(one.size), cluster, weight), level=level) for one in (hit, better)
    )
    fallen = after.low < before.low - 1e-9 or after.high < before.high - 1e-9
    return "below" if fallen else "covered"


_KINDS: dict[str, Callable[[Cell, np.random.Generator], Outcome]] = {
    "share": _share,
    "same rows": _same_rows,
    "different patients": _different_patients,
    "events": _events,
    "falls": _falls,
}


def summarise(results: Sequence[Result]) -> list[dict[str, Any]]:
    """The least and the mean coverage of each kind, and of single shares by correlation."""
    found = []
    groups = [(kind, [one for one in results if one["kind"] == kind]) for kind in _KINDS]
    groups += [
        (f"share, icc {icc}", [one for one in results if one.get("icc") == icc and one["kind"] == "share"])
        for icc in ICCS
    ]
    for name, of in groups:
        rates = [(one["rate"], one["se"]) for one in of if one["rate"] is not None]
        if not rates:
            continue
        rate, se = min(rates)
        band = (1.0, 1.0) if name == "falls" else LEAST
        found.append(
            {
                "cell": f"{name}: the least of {len(of)} cells",
                "metric": name,
                "rate": rate,
                "se": se,
                "mean": float(np.mean([one[0] for one in rates])),
                "band": list(band),
                "ok": all(one["ok"] for one in of),
            }
        )
    return found
