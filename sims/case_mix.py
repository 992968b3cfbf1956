"""Do 95 % intervals of standardised differences cover, of numbers and of categories, at equal and unequal sizes?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from sims.repetitions import Cell, Outcome, Result, Size, where
from workup.stats.standardised import Standardised, moments, of_categories, of_numbers

NAME = "case_mix"
QUESTION = (
    "Do 95 % intervals of standardised differences cover 93-97 %, from 50 patients on the smaller side; at least 93 % "
    "where there is no difference (a distance of categories cannot lie below it); and what of skewed numbers?"
)
SEED = 20261115
TESTED = ["stats/intervals.py", "stats/random.py", "stats/standardised.py"]
MADE_BY = ["case_mix.py", "repetitions.py"]

BAND = (0.93, 0.97)
AT_LEAST = (0.93, 1.0)
SIZES = ((50, 50), (50, 500), (500, 500))
Floats = npt.NDArray[np.float64]
# Draws of either side, and the true difference.
NUMBERS: dict[str, tuple[Callable[..., Floats], Callable[..., Floats], float]] = {
    "normal, alike": (lambda r, n: r.normal(0, 1, n), lambda r, n: r.normal(0, 1, n), 0.0),
    "normal, half an SD apart": (lambda r, n: r.normal(0.5, 1, n), lambda r, n: r.normal(0, 1, n), 0.5),
    "normal, unequal spread": (
        lambda r, n: r.normal(0.5, 2, n),
        lambda r, n: r.normal(0, 1, n),
        0.5 / float(np.sqrt(2.5)),
    ),
}
SKEWED = "log-normal, skewed"
_E = float(np.e)
NUMBERS[SKEWED] = (
    lambda r, n: r.lognormal(0, 1, n),
    lambda r, n: r.lognormal(0.3, 1, n),
    float((np.exp(0.5) - np.exp(0.8)) / np.sqrt((_E - 1) * (_E + np.exp(1.6)) / 2)),
)
SHARES: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "three levels, alike": ((0.5, 0.3, 0.2), (0.5, 0.3, 0.2)),
    "three levels, apart": ((0.5, 0.3, 0.2), (0.4, 0.3, 0.3)),
    "four levels, far apart": ((0.6, 0.2, 0.1, 0.1), (0.3, 0.3, 0.2, 0.2)),
    "two levels, apart": ((0.5, 0.5), (0.3, 0.7)),
}


def cells(size: Size) -> list[Cell]:
    """Every kind of difference at every pair of sizes. Skewed numbers are measured and not judged."""
    found = []
    for n, m in SIZES:
        for name, (_, _, truth) in NUMBERS.items():
            found.append(_cell(name, n, m, size, None if name == SKEWED else BAND, truth))
        for name, sides in SHARES.items():
            truth = of_categories(*(1e9 * np.array(side) for side in sides)).value
            found.append(_cell(name, n, m, size, AT_LEAST if truth == 0 else BAND, truth))
    return found


def _cell(name: str, n: int, m: int, size: Size, band: tuple[float, float] | None, truth: float) -> Cell:
    return Cell(
        name=f"{name}, {n} and {m} patients",
        settings={"difference": name, "first": n, "second": m},
        size=size,
        band=band,
        truth={"difference": truth},
    )


def repeat(cell: Cell, rng: np.random.Generator) -> dict[str, Outcome]:
    """One pair of samples."""
    name, n, m = (cell.settings[key] for key in ("difference", "first", "second"))
    found: Standardised
    if name in NUMBERS:
        first, second, _ = NUMBERS[name]
        found = of_numbers(moments(first(rng, n)), moments(second(rng, m)))
    else:
        found = of_categories(*(rng.multinomial(k, side) for k, side in zip((n, m), SHARES[name], strict=True)))
    return {"difference": where(found.low, found.high, cell.truth["difference"])}


def summarise(results: Sequence[Result]) -> list[Result]:
    """The lowest and the highest rate of each kind of difference."""
    found = []
    for name in (*NUMBERS, *SHARES):
        of = [one for one in results if one["difference"] == name]
        rates = [one["rate"] for one in of if one["rate"] is not None]
        found.append(
            {
                "cell": name,
                "metric": "difference",
                "lowest": min(rates, default=None),
                "highest": max(rates, default=None),
                "ok": None if name == SKEWED else all(one["ok"] for one in of),
            }
        )
    return found
