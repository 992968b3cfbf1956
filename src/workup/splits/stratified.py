"""Patients drawn one by one with the margins of the chosen variables held, and quotas for groups to be larger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from workup.errors import InputError
from workup.splits.assignment import DEVELOPMENT, VALIDATION, Drawn
from workup.splits.checks import Plan, level_codes
from workup.splits.patients import Rows
from workup.splits.rare_cells import collapsed
from workup.splits.rounding import Margin, rounded
from workup.stats.arrays import Bools, Floats, Ints
from workup.stats.random import generator

_ROUNDS = 1000


@dataclass(frozen=True, eq=False)
class _Cells:
    """Combinations of levels that occur, and which of them each patient is in."""

    of_patient: Ints
    codes: Ints  # of each cell, a level per variable
    sizes: Ints
    names: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, patients: dict[str, Ints], names: dict[str, tuple[str, ...]], n: int) -> _Cells:
        if not patients:
            return cls(np.zeros(n, dtype=np.int64), np.zeros((1, 0), dtype=np.int64), np.array([n]), {})
        codes, places, sizes = np.unique(
            np.column_stack(list(patients.values())), axis=0, return_inverse=True, return_counts=True
        )
        return cls(places.reshape(-1).astype(np.int64), codes.astype(np.int64), sizes.astype(np.int64), names)

    def margins(self) -> list[tuple[str, int, Ints]]:
        """Every level of every variable that occurs, with its cells."""
        return [
            (variable, level, np.flatnonzero(self.codes[:, place] == level))
            for place, variable in enumerate(self.names)
            for level in np.unique(self.codes[:, place]).tolist()
        ]


def stratified(rows: Rows, plan: Plan, patients: dict[str, Ints], *, where: str) -> Drawn:
    """Draw validation patients. Chance decides the rounding and who is drawn within a cell, nothing else."""
    names = {name: rows.levels[name].names for name in plan.strata}
    cells = _Cells.of({name: patients[name] for name in plan.strata}, names, rows.n_patients)
    rates = _rates(cells, plan, rows, where)
    expected = [rate * int(size) for rate, size in zip(rates, cells.sizes.tolist(), strict=True)]
    joined, log = collapsed(cells.codes, cells.sizes, expected, names=names)
    found = cells.margins()
    margins = [Margin(of_level) for *_, of_level in found]
    margins += [Margin(np.arange(len(expected))), *(Margin(np.array(stratum), hard=False) for stratum in joined)]
    counts = rounded(expected, cells.sizes, margins, rng=generator(plan.seed, "split", "rounding"))
    drawn = _members(cells, counts, generator(plan.seed, "split", "patients"))
    side = np.where(drawn, VALIDATION, DEVELOPMENT).astype(np.int8)[rows.patient]
    wanted = {name: [Fraction(0)] * len(names[name]) for name in names}
    for variable, level, of_level in found:
        wanted[variable][level] = sum((expected[cell] for cell in of_level.tolist()), Fraction(0))
    weight: Floats | None = None
    about: dict[str, Any] = {}
    if plan.quota:
        weights, about = _weights(cells, rates, drawn)
        weight = weights[rows.patient]
    return Drawn(side, weight, wanted, sum(expected, Fraction(0)), log, about)


def _members(cells: _Cells, counts: Ints, rng: np.random.Generator) -> Bools:
    """So many of each cell, by the order of a random number given to each patient."""
    order = np.lexsort((rng.random(len(cells.of_patient)), cells.of_patient))
    starts = np.concatenate([[0], np.cumsum(cells.sizes)[:-1]])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) - starts[cells.of_patient[order]]
    return place < counts[cells.of_patient]


def _rates(cells: _Cells, plan: Plan, rows: Rows, where: str) -> list[Fraction]:
    """The chance of validation in each cell: the share, or more where a quota asks for it."""
    n = int(cells.sizes.sum())
    # A tiny table still gets a patient on each side.
    share = min(max(plan.share, Fraction(1, n)), Fraction(n - 1, n))
    rates = [share] * len(cells.sizes)
    for variable, quota in plan.quota.items():
        column = list(cells.names).index(variable)
        for level, wanted in zip(
            level_codes(rows.levels[variable], list(quota), where=f"{where}, column '{variable}'"),
            quota.values(),
            strict=True,
        ):
            members = np.flatnonzero(cells.codes[:, column] == level)
            there = int(cells.sizes[members].sum())
            if not 0 < wanted <= there:
                raise InputError(
                    f"the quota of a level must be 1 to {there:,}, the patients it has",
                    where=f"{where}, column '{variable}'",
                    got=f"{wanted:,}",
                    remedy="ask for fewer",
                )
            for cell in members.tolist():
                rates[cell] = max(rates[cell], Fraction(wanted, there))
    return rates


def _weights(cells: _Cells, rates: Sequence[Fraction], drawn: Bools) -> tuple[Floats, dict[str, Any]]:
    """Inverse-probability weights of each side, raked so that weighted margins equal those of all patients.

    The probabilities alone are right on average; raking (Deming and Stephan 1940) takes out what rounding left.
    """
    chance = np.array([float(rate) for rate in rates])[cells.of_patient]
    weight = np.full(len(drawn), np.nan)
    about: dict[str, Any] = {}
    for name, mask, probability in (("development", ~drawn, 1 - chance), ("validation", drawn, chance)):
        weight[mask] = _raked(cells, mask, 1 / np.maximum(probability[mask], 0.5 / len(drawn)))
        found = weight[mask]
        gaps = [
            abs(float(found[cells.codes[cells.of_patient[mask], column] == level].sum()) - total)
            for column in range(len(cells.names))
            for level, total in enumerate(np.bincount(cells.codes[:, column], weights=cells.sizes).tolist())
        ]
        about[name] = {
            "sum": float(found.sum()),
            "smallest": float(found.min()),
            "largest": float(found.max()),
            "effective_patients": float(found.sum() ** 2 / np.sum(found**2)),
            "largest_gap_of_a_margin": max(gaps, default=0.0),
        }
    return weight, {"weights": about}


def _raked(cells: _Cells, mask: Bools, start: Floats) -> Floats:
    weight, n = start.copy(), int(cells.sizes.sum())
    groups = []
    for column in range(len(cells.names)):
        codes = cells.codes[cells.of_patient[mask], column]
        total = np.bincount(cells.codes[:, column], weights=cells.sizes)
        present = np.bincount(codes, minlength=len(total)) > 0
        # A level with no one on this side cannot be represented; the others keep their proportions.
        groups.append((codes, np.where(present, total * n / total[present].sum(), 0.0)))
    for _ in range(_ROUNDS):
        before = weight.copy()
        for codes, total in groups:
            sums = np.bincount(codes, weights=weight, minlength=len(total))
            weight *= np.divide(total, sums, out=np.zeros_like(total), where=sums > 0)[codes]
        if np.allclose(weight, before, rtol=1e-13, atol=0):
            break
    return weight
