"""Input drift of tables with many columns: they come one at a time, each compared as the drift lens compares it.

Nothing is kept of a column but its rows of the report, so that memory does not grow with their number. Only the tests
of all inputs together, which need the whole table at once, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from workup.lenses.drift.inputs import MISSING_SUFFIX, InputLimits, InputReference
from workup.scores import Levels, Scores
from workup.stats.arrays import Floats, Ints
from workup.stats.multiplicity import adjust

Column = Floats | Levels
Positions = npt.NDArray[np.intp]
WINDOW = "window"


class Sides(NamedTuple):
    """One input on both sides, or why it is not compared."""

    name: str
    baseline: Column | None
    window: Column | None
    reason: str = ""


def compare_inputs(
    names: Sequence[str],
    read: Callable[[str], Sides],
    *,
    limits: InputLimits,
    seed: int,
    chance: float,
    workers: int = 1,
    watch: Callable[[int], None] = lambda done: None,
) -> list[dict[str, Any]]:
    """The rows of the drift lens's table of inputs, for every name; false discoveries among all are kept to `chance`.

    `read` gives one input on both sides, a row for each patient. So many inputs are in memory as there are `workers`,
    which change how long it takes and not one digit.
    """
    limits = limits.model_copy(update={"together": "none"})

    def compared(name: str) -> list[dict[str, Any]]:
        return _rows(read(name), limits, seed)

    found: list[dict[str, Any]] = []
    for done, rows in enumerate(_mapped(compared, names, workers), start=1):
        found += rows
        watch(done)
    known = [row for row in found if row["p"] is not None]
    for row, adjusted in zip(known, adjust([row["p"] for row in known], method="bh"), strict=True):
        row |= {"p_adjusted": float(adjusted), "flagged": bool(adjusted <= chance and row["effect"] >= row["limit"])}
    return known + [row for row in found if row["p"] is None]


def _mapped(work: Callable[[str], list[dict[str, Any]]], names: Sequence[str], workers: int) -> Iterator[Any]:
    """Answers in the order of the names; threads, since sorting leaves the interpreter to others."""
    if workers < 2:
        yield from map(work, names)
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="workup") as pool:
        # As many at a time as there are workers: answers are small, columns are not.
        for first in range(0, len(names), workers):
            yield from pool.map(work, names[first : first + workers])


def _rows(sides: Sides, limits: InputLimits, seed: int) -> list[dict[str, Any]]:
    if sides.baseline is None or sides.window is None:
        return [_unknown(sides.name, sides.reason)]
    if isinstance(sides.baseline, Levels) != isinstance(sides.window, Levels):
        return [_unknown(sides.name, "numbers on one side and texts on the other")]
    baseline, window = (_scores(sides.name, column) for column in (sides.baseline, sides.window))
    reference = InputReference.of(baseline, limits=limits, seed=seed)
    # The chance is judged among all inputs, once all are known.
    return [row for row, _ in reference.compared(WINDOW, window, chance=1.0, latest=False)]


class _OneRowEach(Scores):
    """Rows of different patients: to count these anew for every column would cost more than all comparing."""

    @property
    def n_patients(self) -> int:
        """As many as rows."""
        return len(self)


def _scores(name: str, column: Column) -> Scores:
    return _OneRowEach({}, np.arange(len(column), dtype=np.int64), inputs={name: column})


def _unknown(name: str, reason: str) -> dict[str, Any]:
    empty = dict.fromkeys(("test", "statistic", "p", "p_adjusted", "effect", "effect_is", "limit"))
    return {"window": WINDOW, "input": name, **empty, "flagged": None, "reason": f"not compared: {reason}"}


def without_few_lacking(
    rows: Sequence[Mapping[str, Any]], sizes: tuple[int, int], k: int
) -> tuple[list[Mapping[str, Any]], int]:
    """The rows without those that tell that from 1 to `k` - 1 patients lack an input, or have it; and how many went."""
    kept = [row for row in rows if not (row["input"].endswith(MISSING_SUFFIX) and _tells_of_few(row, sizes, k))]
    return kept, len(rows) - len(kept)


def _tells_of_few(row: Mapping[str, Any], sizes: tuple[int, int], k: int) -> bool:
    for share, n in zip((row.get("baseline"), row.get("now")), sizes, strict=True):
        lacking = round((share or 0.0) * n)
        if 0 < lacking < k or 0 < n - lacking < k:
            return True
    return False


# ---- one row of each patient -----------------------------------------------------------------------------------------


def earliest_rows(patient: Ints, time: npt.NDArray[Any] | None, inputs: Iterable[Column]) -> Positions:
    """The rows that `one_row_positions` chooses, without all inputs at once: the earliest of every patient.

    Where rows of a patient are of one moment, `inputs`, from the last to the first, are read one after another until
    one of them tells the rows apart.
    """
    rows = np.arange(len(patient))
    keys: Iterator[npt.NDArray[Any]] = (one.codes if isinstance(one, Levels) else one for one in inputs)
    if time is not None:
        rows = _least(rows, patient, time)
    while len(rows) > len(np.unique(patient)) and (key := next(keys, None)) is not None:
        rows = _least(rows, patient, key)
    _, first = np.unique(patient[rows], return_index=True)
    return np.sort(rows[first])


def _least(rows: Positions, patient: Ints, key: npt.NDArray[Any]) -> Positions:
    """Of each patient's rows those with the least value; what is missing comes last."""
    own, values = patient[rows], key[rows]
    order = np.lexsort((values, own))
    ordered = own[order]
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    least = values[order[first]][np.cumsum(first) - 1]
    here = values[order]
    same = (here == least) | (_missing(here) & _missing(least))
    return np.sort(rows[order[same]])


def _missing(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if values.dtype.kind == "M":
        return np.asarray(np.isnat(values))
    return np.asarray(np.isnan(values)) if values.dtype.kind == "f" else np.zeros(len(values), dtype=np.bool_)
