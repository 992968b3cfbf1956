"""The best one-to-one assignment of one component, exactly: sums are compared as whole numbers of any size.

Knows edges and weights; the ordering of preferences is the caller's. For components too large to enumerate."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import lcm
from typing import NamedTuple


class Edge(NamedTuple):
    """A gold and a prediction that may be assigned. `ranks` are summed over the assignment, the first weighing most."""

    gold: int
    prediction: int
    ranks: tuple[int, ...]
    overlap: int
    union: int


def solve(edges: Sequence[Edge]) -> list[int]:
    """The places in `edges` of the assignment that is best in each rank in turn, then in the sum of IoU.

    What is still tied is settled by places: the first gold takes the first prediction it can have, then the next gold.

    >>> edges = [Edge(0, 0, (1,), 2, 4), Edge(0, 1, (1,), 1, 9), Edge(1, 0, (1,), 4, 4)]
    >>> solve(edges)
    [1, 2]
    """
    weights = _weights(edges)
    by_gold: dict[int, list[int]] = {}
    for i, edge in enumerate(edges):
        by_gold.setdefault(edge.gold, []).append(i)
    taken: dict[int, int] = {}  # prediction → edge
    for gold in sorted(by_gold):
        _insert(gold, edges, weights, by_gold, taken)
    return sorted(taken.values())


def _weights(edges: Sequence[Edge]) -> list[int]:
    """Each edge as one whole number whose sums compare like the tuple (ranks…, sum of IoU, order of places)."""
    golds = {gold: i for i, gold in enumerate(sorted({edge.gold for edge in edges}))}
    predictions = {one: i for i, one in enumerate(sorted({edge.prediction for edge in edges}))}
    most = min(len(golds), len(predictions)) + 1
    common = lcm(*(edge.union for edge in edges))
    base = len(predictions) + 1
    places = base ** len(golds)
    weights = []
    for edge in edges:
        weight = 0
        for rank in edge.ranks:
            weight = weight * most + rank
        weight = weight * most * common + edge.overlap * (common // edge.union)
        place = (base - 1 - predictions[edge.prediction]) * base ** (len(golds) - 1 - golds[edge.gold])
        weights.append(weight * places + place)
    return weights


def _insert(
    gold: int,
    edges: Sequence[Edge],
    weights: Sequence[int],
    by_gold: dict[int, list[int]],
    taken: dict[int, int],
) -> None:
    """One more gold: the best path of exchanges that starts with it (an assignment of the others is already best)."""
    gain = {gold: 0}
    came: dict[int, int] = {}  # gold set free → the edge that took its prediction
    queue = deque([gold])
    best, last = 0, -1
    while queue:
        current = queue.popleft()
        for i in by_gold[current]:
            total = gain[current] + weights[i]
            holder = taken.get(edges[i].prediction)
            if holder is None:
                if total > best:
                    best, last = total, i
                continue
            freed = edges[holder].gold
            total -= weights[holder]
            if freed != current and (freed not in gain or total > gain[freed]):
                gain[freed] = total
                came[freed] = i
                if freed not in queue:
                    queue.append(freed)
    leaves = max((one for one in gain if one != gold), key=lambda one: gain[one], default=gold)
    if gain[leaves] > best:  # better that an earlier gold goes without
        last = came[leaves]
    while last >= 0:
        taken[edges[last].prediction] = last
        last = came.get(edges[last].gold, -1)
