"""Groupings that overlap, tied through their atoms: the combinations of levels that occur together. Each level is the
sum of its atoms, so a ledger with atoms says of counts by sex and by "male" what everyone knows of them. Nobody
publishes an atom and its count need not be known: one way of filling them is found that all levels agree with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, sparse

from workup.disclosure.inference import Ledger, Sum, Who, whole
from workup.stats.arrays import Bools, Ints

_SOMEONE = 1e-6  # a count above this in a linear programme is that of someone
_MOST_NODES = 20_000


class DoesNotFit(ValueError):
    """Counts that cannot be those of people in the combinations said to occur."""


@dataclass(frozen=True, eq=False)
class Block:
    """Columns with their levels, and which combinations of them occur."""

    columns: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    occurs: Bools

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Block:
        """From its description: columns, levels, and a 1 or 0 for each combination, the last column fastest.

        >>> block = Block.of({"columns": ["male", "sex"], "levels": [["no", "yes"], ["F", "M"]], "occurs": "1001"})
        >>> block.occurs.tolist()
        [[True, False], [False, True]]
        """
        levels = tuple(tuple(str(level) for level in one) for one in record["levels"])
        occurs = np.array([mark == "1" for mark in str(record["occurs"])], dtype=bool)
        return cls(tuple(map(str, record["columns"])), levels, occurs.reshape([len(one) for one in levels]))

    def fitted(self, columns: Mapping[str, Sequence[str]]) -> Block | None:
        """The same for these columns and levels alone. Of a level that it does not know every combination may occur."""
        own = [name for name in self.columns if name in columns]
        if len(own) < 2:
            return None
        occurs = np.asarray(self.occurs.any(axis=tuple(i for i, name in enumerate(self.columns) if name not in own)))
        for axis, name in enumerate(own):
            known = self.levels[self.columns.index(name)]
            unknown = np.ones([size for i, size in enumerate(occurs.shape) if i != axis], dtype=bool)
            parts = [
                np.take(occurs, known.index(level), axis=axis) if level in known else unknown for level in columns[name]
            ]
            occurs = np.stack(parts, axis=axis)
        return Block(tuple(own), tuple(tuple(columns[name]) for name in own), occurs)

    def ties(self, crossed: Mapping[Who, tuple[Who, Who]]) -> dict[Who, Ints]:
        """The slices that are made of atoms of this block, and the positions of their atoms among those that occur.

        `crossed` are slices that are themselves a combination of two levels.
        """
        flat = np.full(self.occurs.size, -1, dtype=np.int64)
        flat[self.occurs.ravel()] = np.arange(np.count_nonzero(self.occurs))
        place = flat.reshape(self.occurs.shape)

        def chosen(which: Mapping[int, int]) -> Ints:
            picked = np.ravel(place[tuple(which.get(axis, slice(None)) for axis in range(place.ndim))])
            return np.sort(picked[picked >= 0])

        where: dict[Who, tuple[int, int]] = {
            (name, level): (axis, i)
            for axis, name in enumerate(self.columns)
            for i, level in enumerate(self.levels[axis])
        }
        found = {who: chosen(dict([at])) for who, at in where.items()}
        for who, both in crossed.items():
            if all(one in where for one in both):
                found[who] = chosen(dict(where[one] for one in both))
        return found


def loose(block: Block) -> bool:
    """Two columns of which no combination hangs on others: take any one away and its two levels still meet by way of
    the rest. Then each may be more or less, and their sums say of the levels no more than that both make up everyone.
    """
    if len(block.columns) != 2:
        return False
    first, second = np.nonzero(block.occurs)
    graph: dict[int, set[int]] = {}
    for a, b in zip(first.tolist(), (second + block.occurs.shape[0]).tolist(), strict=True):
        graph.setdefault(a, set()).add(b)
        graph.setdefault(b, set()).add(a)
    return len(graph) == sum(block.occurs.shape) and _no_bridge(graph)


def _no_bridge(graph: Mapping[int, set[int]]) -> bool:
    """Is the graph in one piece, and does it stay so whichever one edge is taken away?"""
    edges = {(a, b) for a in graph for b in graph[a] if a < b}
    return all(_reached(graph, edge) == set(graph) for edge in [(-1, -1), *sorted(edges)])


def _reached(graph: Mapping[int, set[int]], without: tuple[int, int]) -> set[int]:
    start = min(graph)
    reached, frontier = {start}, [start]
    while frontier:
        one = frontier.pop()
        new = {other for other in graph[one] - reached if (min(one, other), max(one, other)) != without}
        reached |= new
        frontier += new
    return reached


def without_empty(block: Block, rows: Mapping[Who, int], crossed: Mapping[Who, tuple[Who, Who]]) -> Block:
    """The block without combinations in which, by the rows of all levels, there can be nobody."""
    ties = block.ties(crossed)
    matrix, right = _equations(ties, {who: float(rows[who]) for who in ties if who in rows}, block)
    size = matrix.shape[1]
    in_doubt = np.arange(size)
    while in_doubt.size:
        # The most atoms in doubt that can hold someone at once: the sum of min(1, atom) is concave, so it is linear
        # with a helping variable each, and once it is 0 none of those left can hold anyone.
        n = in_doubt.size
        helping = sparse.csr_array((np.ones(n), (np.arange(n), in_doubt)), shape=(n, size))
        found = optimize.linprog(
            np.concatenate([np.zeros(size), -np.ones(n)]),
            A_eq=sparse.hstack([matrix, sparse.csr_array((matrix.shape[0], n))]),
            b_eq=right,
            A_ub=sparse.hstack([-helping, sparse.identity(n)]),
            b_ub=np.zeros(n),
            bounds=[(0, None)] * size + [(0, 1)] * n,
            method="highs",
        )
        if found.status != 0:
            raise DoesNotFit("the rows of overlapping levels do not add up")
        held = found.x[in_doubt] > _SOMEONE
        if not held.any():
            break
        in_doubt = in_doubt[~held]
    occurs = block.occurs.ravel().copy()
    occurs[np.flatnonzero(occurs)[in_doubt]] = False
    return Block(block.columns, block.levels, occurs.reshape(block.occurs.shape))


def tied(
    counts: Mapping[Who, tuple[int, ...]],
    sums: Sequence[Sum],
    blocks: Sequence[Block],
    *,
    crossed: Mapping[Who, tuple[Who, Who]],
    named: bool,
) -> Ledger:
    """The ledger of some slices with the atoms of the blocks as inner slices."""
    filled: dict[Who, tuple[int, ...]] = dict(counts)
    more: list[Sum] = []
    inner: set[Who] = set()
    for number, block in enumerate(blocks):
        ties = {who: atoms for who, atoms in block.ties(crossed).items() if who in counts}
        names = atom_names(number, block)
        own = _filled(block, ties, counts)
        filled |= {name: tuple(int(n) for n in row) for name, row in zip(names, own, strict=True)}
        inner |= set(names)
        more += [(who, tuple(names[i] for i in atoms)) for who, atoms in ties.items() if atoms.size]
    return Ledger(filled, (*sums, *more), named=named, inner=frozenset(inner))


def atom_names(number: int, block: Block) -> list[Who]:
    """Names that no level has: three parts, where a level has two."""
    return [("combination", f"{number:03}", f"{i:06}") for i in range(np.count_nonzero(block.occurs))]


def _equations(ties: Mapping[Who, Ints], counts: Mapping[Who, float], block: Block) -> tuple[Any, Any]:
    slices = [who for who in ties if who in counts]
    rows = np.repeat(np.arange(len(slices)), [ties[who].size for who in slices])
    columns = np.concatenate([ties[who] for who in slices]) if slices else np.zeros(0, dtype=np.int64)
    shape = (len(slices), int(np.count_nonzero(block.occurs)))
    return sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=shape), np.array([counts[w] for w in slices])


def _filled(block: Block, ties: Mapping[Who, Ints], counts: Mapping[Who, tuple[int, ...]]) -> Ints:
    """Counts of the atoms by bin that give the counts of the slices."""
    bins = len(next(iter(counts.values())))
    found = np.zeros((int(np.count_nonzero(block.occurs)), bins), dtype=np.int64)
    for b in range(bins):
        matrix, right = _equations(ties, {who: float(counts[who][b]) for who in ties}, block)
        for integral in (0, 1):
            solved = optimize.milp(
                np.zeros(len(found)),
                integrality=np.full(len(found), integral),
                bounds=optimize.Bounds(0, np.inf),
                constraints=[optimize.LinearConstraint(matrix, right, right)],
                options={"node_limit": _MOST_NODES},
            )
            if solved.x is None:
                raise DoesNotFit("the counts of overlapping levels do not add up")
            if whole(np.asarray(solved.x)):
                break
        found[:, b] = np.round(solved.x).astype(np.int64)
    return found
