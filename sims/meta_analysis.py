"""Does the interval of a pooled mean cover it, with few sites of unequal size and any spread between them?

Each repetition draws its own sites. A site has 100 to 2,000 patients (log-uniform), a fifth of them events, and an AUC
near 0.80; its sampling variance is Hanley and McNeil's at 0.80 on the logit scale, from 0.0076 at 2,000 patients to
0.153 at 100. True values are normal about logit 0.80 with standard deviation tau, estimates normal about those.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sims.repetitions import Cell, Outcome, Result, Size, where
from workup.stats.meta.pooling import pool

NAME = "meta_analysis"
QUESTION = (
    "Does the default interval of a pooled mean cover at least 93.5 % for 4 to 20 sites, and plain Hartung-Knapp 93 to "
    "97 %?"
)
SEED = 20261115
TESTED = ["stats/meta/heterogeneity.py", "stats/intervals.py", "stats/meta/pooling.py", "stats/random.py"]
MADE_BY = ["meta_analysis.py", "repetitions.py"]

SITES = (4, 6, 10, 20)
TAUS = (0.0, 0.2, 0.5)
AUC = 0.80
MEAN = float(np.log(AUC / (1 - AUC)))
PREVALENCE = 0.2
BANDS: dict[str, tuple[float, float] | None] = {"adhoc": (0.935, 1.0), "knha": (0.93, 0.97), "prediction": None}


def cells(size: Size) -> list[Cell]:
    """Each number of sites and each tau, for the default interval, the plain one and the prediction interval."""
    return [
        Cell(
            f"{k} sites, tau {tau}, {kind}",
            {"sites": k, "tau": tau, "interval": kind},
            size,
            band=band,
            truth={} if kind == "prediction" else {"mean": MEAN},
        )
        for kind, band in BANDS.items()
        for tau in TAUS
        for k in SITES
    ]


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One set of sites; for a prediction interval also the true value of a site that was not in it."""
    k, tau, kind = cell.settings["sites"], cell.settings["tau"], cell.settings["interval"]
    vi = variances(rng, k)
    yi = rng.normal(MEAN, np.sqrt(tau**2 + vi))
    if kind == "prediction":
        found = pool(yi, vi)
        return {"new site": where(found.pi_low, found.pi_high, float(rng.normal(MEAN, tau)))}
    found = pool(yi, vi, test=kind)
    return {"mean": where(found.low, found.high, MEAN)}


def variances(rng: np.random.Generator, k: int) -> npt.NDArray[np.float64]:
    """Hanley and McNeil's variance of a logit AUC at sites of 100 to 2,000 patients."""
    patients = np.exp(rng.uniform(np.log(100), np.log(2000), k))
    events = PREVALENCE * patients
    others = patients - events
    q1, q2 = AUC / (2 - AUC), 2 * AUC**2 / (1 + AUC)
    spread = AUC * (1 - AUC) + (events - 1) * (q1 - AUC**2) + (others - 1) * (q2 - AUC**2)
    return np.asarray(spread / (events * others) / (AUC * (1 - AUC)) ** 2)


def summarise(results: Sequence[Result]) -> list[Result]:
    """The lowest and the highest rate of each kind of interval."""
    found = []
    for kind in BANDS:
        rates = [one["rate"] for one in results if one["interval"] == kind and one["rate"] is not None]
        extremes = {"lowest": min(rates, default=None), "highest": max(rates, default=None)}
        found.append({"cell": "all cells", "metric": kind, **extremes, "ok": None})
    return found
