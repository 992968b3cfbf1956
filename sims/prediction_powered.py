"""Do prediction-powered shares cover near 1, with a judge that errs in bunches and few labels?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from sims.repetitions import Cell, Outcome, Result, Size, where
from workup.stats.intervals import ClusteredShare
from workup.stats.prediction_powered import PoweredShare, powered_share

NAME = "prediction_powered"
QUESTION = (
    "Do nominal 95 % intervals of a share that a judge of known poor quality reads on all rows, and people on some of "
    "them, cover at least 93 % (they are conservative by choice, so there is no upper limit)?"
)
SEED = 20261115
TESTED = ["stats/prediction_powered.py", "stats/intervals.py", "stats/random.py"]
MADE_BY = ["prediction_powered.py", "repetitions.py"]

LEAST = (0.93, 1.0)
ROWS = 20  # of a cluster
CLUSTERS = (15, 30, 60)
LABELS = (60, 100, 200)
SHARES = (0.9, 0.95, 0.99)
JUDGES = ((0.97, 0.95), (0.9, 0.8), (0.97, 0.6))  # sensitivity and specificity
ICCS = (0.1, 0.3)
ERRORS_ICC = 0.1  # a judge that misreads one reply of a cluster misreads others too
Floats = npt.NDArray[np.float64]


def cells(size: Size) -> list[Cell]:
    """162 designs: clusters, labels, shares, judges and likeness of rows."""
    return [
        Cell(
            f"clusters {m}, labels {labels}, share {p}, judge {right}/{kept}, icc {icc}",
            {"clusters": m, "labels": labels, "share": p, "sensitivity": right, "specificity": kept, "icc": icc},
            size,
            LEAST,
            truth={"share": p},
        )
        for m, labels, p, (right, kept), icc in product(CLUSTERS, LABELS, SHARES, JUDGES, ICCS)
    ]


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One study: rows, what the judge says of them, and what people say of those that were drawn."""
    verdict, truth, cluster = study(rng, **cell.settings)
    found = powered_share(verdict, truth, cluster)
    return {"share": beside(found, cell.truth["share"])}


def beside(found: PoweredShare, truth: float) -> Outcome:
    """Where the interval lies beside the truth: `where(*found.ends(), truth)`, with the end that can miss it alone.

    Ceilings cost nothing and decide most samples: no end of a part can pass its own.
    """
    f, a, b = found.parts
    if a < b:
        return where(*found.ends(), truth)
    parts = ((found.read, f, a - b), (found.confirmed, a, f), (found.missed, b, 1 - f))
    above, gap = found.value > truth, abs(found.value - truth)

    def reach(of: Callable[[ClusteredShare], float]) -> float:
        """How far the near end lies off, where each part's best share on its side is told by `of`."""
        best = [0.0 if one is None else min(of(one), share if above else 1 - share) for one, share, _ in parts]
        return float(
            np.linalg.norm(
                [
                    (share - end if above else 1 - end - share) * by
                    for end, (_, share, by) in zip(best, parts, strict=True)
                ]
            )
        )

    if reach(lambda one: one.ceiling()) < gap:
        worked = reach(lambda one: min(one.ceiling(), (one.worse if above else one.mirrored).best_end(0.95)))
        if worked < gap:
            return "above" if above else "below"
    return "covered"


def study(
    rng: np.random.Generator,
    *,
    clusters: int,
    labels: int,
    share: float,
    sensitivity: float,
    specificity: float,
    icc: float,
) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """Verdicts of the judge, answers of people (NaN where not asked) and clusters of every row."""
    cluster = np.repeat(np.arange(clusters), ROWS)
    right = rng.random(cluster.size) < _of_cluster(rng, share, icc, clusters)[cluster]
    said = np.where(
        right, *(_of_cluster(rng, p, ERRORS_ICC, clusters)[cluster] for p in (sensitivity, 1 - specificity))
    )
    verdict = (rng.random(cluster.size) < said).astype(np.float64)
    drawn = np.concatenate([spread(rng, np.flatnonzero(verdict == one), labels // 2) for one in (0.0, 1.0)])
    truth = np.full(cluster.size, np.nan)
    truth[drawn] = right[drawn]
    return verdict, truth, cluster


def spread(rng: np.random.Generator, rows: npt.NDArray[np.intp], count: int) -> npt.NDArray[np.intp]:
    """So many rows at even distances from a random start, all if there are fewer: rows stand cluster by cluster."""
    if rows.size <= count:
        return rows
    step = rows.size / count
    return rows[((rng.random() + np.arange(count)) * step).astype(np.intp)]


def _of_cluster(rng: np.random.Generator, p: float, icc: float, clusters: int) -> Floats:
    """Every cluster's own rate, beta with this mean and intraclass correlation."""
    return rng.beta(p * (1 - icc) / icc, (1 - p) * (1 - icc) / icc, clusters)


def summarise(results: Sequence[Result]) -> list[dict[str, Any]]:
    """The least and the mean coverage, over all and by labels and judge."""
    groups = [("all", list(results))]
    for name, values in (("labels", LABELS), ("sensitivity", None), ("icc", ICCS), ("share", SHARES)):
        levels = values or sorted({one["sensitivity"] for one in results})
        groups += [(f"{name} {value}", [one for one in results if one[name] == value]) for value in levels]
    found = []
    for name, of in groups:
        rates = [(one["rate"], one["se"]) for one in of if one["rate"] is not None]
        if rates:
            rate, se = min(rates)
            found.append(
                {
                    "cell": f"{name}: the least of {len(of)} cells",
                    "metric": name,
                    "rate": rate,
                    "se": se,
                    "mean": float(np.mean([one[0] for one in rates])),
                    "band": list(LEAST),
                    "ok": all(one["ok"] for one in of),
                }
            )
    return found
