"""How a simulation is run: cells, repetitions over processes, tallies and bands. Knows no statistic and no file."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing import get_context
from types import ModuleType
from typing import Any, Literal

from workup.estimate import Estimate
from workup.stats.random import generator

NOMINAL = 0.95
MOST_REFUSED = 0.01  # share of refused intervals above which a cell that must give intervals has not given them
CHUNK = 50  # repetitions per task of the pool; tallies add, so the size decides nothing

Outcome = Literal["covered", "below", "above", "insufficient"]
Result = dict[str, Any]


@dataclass(frozen=True)
class Size:
    """How much of a simulation is run."""

    repetitions: int = 2000
    replicates: int = 2000


FULL = Size()


@dataclass(frozen=True)
class Cell:
    """One setting of a simulation. `band` None means that the cell is measured but judges nothing; `bands` are those of
    single answers that have their own.

    `refusal` says what an interval that was not given means: a "failure" beyond 1 % of the repetitions, or an
    "answer" as good as one that covers.
    """

    name: str
    settings: Mapping[str, Any]
    size: Size
    band: tuple[float, float] | None
    refusal: Literal["failure", "answer"] = "failure"
    truth: Mapping[str, float] = field(default_factory=dict)
    bands: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def outcome(found: Estimate, truth: float) -> Outcome:
    """Where the interval of an estimate lies beside the truth."""
    return where(found.low, found.high, truth)


def where(low: float | None, high: float | None, truth: float) -> Outcome:
    """Where an interval lies beside the truth; "insufficient" when it was not given."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return "insufficient"
    if high < truth:
        return "below"
    return "above" if low > truth else "covered"


def judged(cell: Cell, answer: str, tally: Mapping[Outcome, int]) -> Result:
    """The result of one cell for one metric: counts, rate, Monte-Carlo standard error, band, and whether it holds."""
    band = cell.bands.get(answer, cell.band)
    given = sum(tally.get(one, 0) for one in ("covered", "below", "above"))
    refused = tally.get("insufficient", 0)
    rate = tally.get("covered", 0) / given if given else None
    se = None if rate is None else math.sqrt(rate * (1 - rate) / given)
    return {
        "cell": cell.name,
        **cell.settings,
        "metric": answer,
        "truth": cell.truth.get(answer),
        "nominal": NOMINAL,
        "repetitions": given + refused,
        "covered": tally.get("covered", 0),
        "below": tally.get("below", 0),
        "above": tally.get("above", 0),
        "insufficient": refused,
        "rate": rate,
        "se": se,
        "band": None if band is None else list(band),
        "ok": _holds(cell, band, rate, se, refused, given + refused),
    }


def _holds(
    cell: Cell,
    band: tuple[float, float] | None,
    rate: float | None,
    se: float | None,
    refused: int,
    repetitions: int,
) -> bool | None:
    if band is None:
        return None
    if rate is None or se is None:
        return cell.refusal == "answer"
    if cell.refusal == "failure" and refused > MOST_REFUSED * repetitions:
        return False
    return within(rate, se, band)


def within(rate: float, se: float, band: tuple[float, float]) -> bool:
    """Is a rate inside a band, each end widened by two Monte-Carlo standard errors?"""
    return band[0] - 2 * se <= rate <= band[1] + 2 * se


def run(
    simulation: ModuleType,
    *,
    size: Size = FULL,
    only: Callable[[Cell], bool] = lambda cell: True,
    workers: int = 1,
    progress: Callable[[str], None] = lambda line: None,
) -> list[Result]:
    """Every cell of a simulation. The number of workers changes nothing but the time."""
    places = [i for i, cell in enumerate(simulation.cells(size)) if only(cell)]
    tasks = [
        (simulation.__name__, size, place, first, min(first + CHUNK, size.repetitions))
        for place in places
        for first in range(0, size.repetitions, CHUNK)
    ]
    tallies: dict[int, dict[str, Counter[Outcome]]] = {place: {} for place in places}
    left = Counter(task[2] for task in tasks)
    cells = simulation.cells(size)
    done = 0
    for place, tally in _mapped(tasks, workers):
        for answer, counts in tally.items():
            tallies[place].setdefault(answer, Counter()).update(counts)
        left[place] -= 1
        if left[place] == 0:
            done += 1
            found = [judged(cells[place], answer, counts) for answer, counts in sorted(tallies[place].items())]
            progress(f"{simulation.NAME} {done}/{len(places)}  {cells[place].name}: {_in_words(found)}")
    return [
        judged(cells[place], answer, counts) for place in places for answer, counts in sorted(tallies[place].items())
    ]


def _in_words(results: Sequence[Result]) -> str:
    def one(result: Result) -> str:
        rate = "no interval" if result["rate"] is None else f"{result['rate']:.4f}"
        return f"{result['metric']} {rate}{'' if result['ok'] in (True, None) else ' OUTSIDE'}"

    return ", ".join(one(result) for result in results)


Task = tuple[str, Size, int, int, int]
Tally = dict[str, Counter[Outcome]]


def _mapped(tasks: Sequence[Task], workers: int) -> Any:
    if workers == 1:
        yield from map(_repetitions, tasks)
        return
    # Workers start afresh, so that the linear algebra library reads this before it makes its threads: two processes
    # of two threads each on two cores would wait for one another.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for finished in as_completed([pool.submit(_repetitions, task) for task in tasks]):
            yield finished.result()


def _repetitions(task: Task) -> tuple[int, Tally]:
    """A run of repetitions of one cell; each draws from a generator of its own name."""
    module, size, place, first, last = task
    simulation = import_module(module)
    cell = simulation.cells(size)[place]
    tally: Tally = {}
    for repetition in range(first, last):
        rng = generator(simulation.SEED, simulation.NAME, cell.name, repetition)
        for answer, found in simulation.repeat(cell, rng).items():
            tally.setdefault(answer, Counter())[found] += 1
    return place, tally
