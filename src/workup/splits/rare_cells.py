"""Cells too small to be on both sides are joined with neighbours, one step at a time, and every step is logged."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from workup.stats.arrays import Ints

MOST_JOINED = 200  # joined cells whose share is held together; each costs a row of the rounding's matrix
Names = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class _Stratum:
    levels: tuple[tuple[int, ...], ...]  # of each variable, those it holds
    cells: tuple[int, ...]
    patients: int
    expected: Fraction

    def joined(self, other: _Stratum) -> _Stratum:
        both = zip(self.levels, other.levels, strict=True)
        return _Stratum(
            tuple(tuple(sorted({*mine, *theirs})) for mine, theirs in both),
            tuple(sorted((*self.cells, *other.cells))),
            self.patients + other.patients,
            self.expected + other.expected,
        )

    @property
    def rare(self) -> bool:
        """Fewer than one patient is expected on one of the sides, and not because all were asked for."""
        rest = self.patients - self.expected
        return self.expected < 1 or 0 < rest < 1


def collapsed(
    codes: Ints, sizes: Ints, expected: Sequence[Fraction], *, names: Names
) -> tuple[list[tuple[int, ...]], list[dict[str, Any]]]:
    """Which cells are counted together, and the log of how that came about.

    `codes[cell, variable]` holds the level of each variable, the most important variable first. A rare cell is joined
    with the smaller of the cells beside it (in the order of levels, so that bands of age meet their neighbours) that
    differ in the last variable alone; where there is none, in the last two; and so on. Margins of single variables are
    not touched by this: they are held apart.
    """
    strata = [
        _Stratum(tuple((int(level),) for level in row), (cell,), int(size), expected[cell])
        for cell, (row, size) in enumerate(zip(codes.tolist(), sizes.tolist(), strict=True))
    ]
    log: list[dict[str, Any]] = []
    variables = list(names)
    for depth in range(len(variables) - 1, -1, -1):
        if not any(stratum.rare for stratum in strata):
            break
        groups: dict[Any, list[_Stratum]] = {}
        for stratum in strata:
            groups.setdefault(stratum.levels[:depth], []).append(stratum)
        strata = [kept for group in groups.values() for kept in _pooled(group, variables[depth], names, log)]
    strata, more = _fewer(strata, variables)
    return [stratum.cells for stratum in strata if len(stratum.cells) > 1], log + more


def _pooled(group: list[_Stratum], variable: str, names: Names, log: list[dict[str, Any]]) -> list[_Stratum]:
    """Join the smallest rare one with the smaller of its two neighbours in the order of levels, until none is rare."""
    row: list[_Stratum | None] = [*sorted(group, key=lambda stratum: stratum.levels)]
    before, after = [place - 1 for place in range(len(row))], [place + 1 for place in range(len(row))]
    heap = [(stratum.patients, place) for place, stratum in enumerate(row) if stratum is not None and stratum.rare]
    heapq.heapify(heap)
    while heap:
        patients, place = heapq.heappop(heap)
        smallest = row[place]
        if smallest is None or smallest.patients != patients or not smallest.rare:
            continue  # joined since it was put there
        beside = [at for at in (before[place], after[place]) if 0 <= at < len(row)]
        if not beside:
            break
        at = min(beside, key=lambda at: (_patients(row[at]), at))
        partner = row[at]
        assert partner is not None
        log.append(_entry(smallest, partner, variable, names))
        kept, gone = min(place, at), max(place, at)
        row[kept], row[gone] = smallest.joined(partner), None
        after[kept] = after[gone]
        if after[gone] < len(row):
            before[after[gone]] = kept
        heapq.heappush(heap, (_patients(row[kept]), kept))
    return [stratum for stratum in row if stratum is not None]


def _patients(stratum: _Stratum | None) -> int:
    return 0 if stratum is None else stratum.patients


def _entry(smallest: _Stratum, partner: _Stratum, variable: str, names: Names) -> dict[str, Any]:
    return {
        "step": variable,
        "cell": _described(smallest, names),
        "patients": smallest.patients,
        "joined_with": _described(partner, names),
        "joined_patients": partner.patients,
        "reason": _reason(smallest),
    }


def _reason(stratum: _Stratum) -> str:
    side = "validation" if stratum.expected < 1 else "development"
    rate = stratum.expected / stratum.patients
    needed = math.ceil(1 / (rate if side == "validation" else 1 - rate))
    verb = "patient is" if stratum.patients == 1 else "patients are"
    return f"{stratum.patients} {verb} too few to be on both sides; at this share it takes {needed}"


def _described(stratum: _Stratum, names: Names) -> dict[str, list[str]]:
    return {
        variable: [known[level] for level in levels]
        for (variable, known), levels in zip(names.items(), stratum.levels, strict=True)
    }


def _fewer(strata: list[_Stratum], variables: list[str]) -> tuple[list[_Stratum], list[dict[str, Any]]]:
    """Drop variables from the joined cells, the last first, until their number can be held."""
    log: list[dict[str, Any]] = []
    for depth in range(len(variables) - 1, -1, -1):
        joined = sum(len(stratum.cells) > 1 for stratum in strata)
        if joined <= MOST_JOINED:
            break
        groups: dict[Any, _Stratum] = {}
        for stratum in strata:
            key = stratum.levels[:depth]
            groups[key] = groups[key].joined(stratum) if key in groups else stratum
        strata = list(groups.values())
        reason = f"{joined:,} joined cells are more than the {MOST_JOINED} whose shares can be held at once"
        log.append(
            {
                "step": variables[depth],
                "cell": {variables[depth]: ["every level"]},
                "patients": sum(stratum.patients for stratum in strata),
                "joined_with": {variables[depth]: ["every other level"]},
                "joined_patients": 0,
                "reason": reason,
            }
        )
    return strata, log
