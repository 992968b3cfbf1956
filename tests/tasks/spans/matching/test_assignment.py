"""Assignment of knots: small ones enumerated, large ones solved, each compared with every assignment or with scipy."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from workup.stats.random import generator
from workup.tasks.spans.counting import assignment
from workup.tasks.spans.counting.assignment import Edges, assign
from workup.tasks.spans.counting.solver import Edge, solve

_EDGE = st.tuples(
    st.integers(0, 5), st.integers(0, 5), st.booleans(), st.booleans(), st.integers(1, 6), st.integers(0, 6)
)


def _best(edges: list[Edge], rows: int) -> tuple[object, ...]:
    """The best value over all assignments, with the order of places last."""
    by_pair = {(edge.gold, edge.prediction): edge for edge in edges}
    best: tuple[object, ...] = ()
    for choice in permutations([*range(rows), *(None for _ in range(rows))], rows):
        chosen = [by_pair[i, j] for i, j in enumerate(choice) if j is not None and (i, j) in by_pair]
        if len(chosen) == sum(j is not None for j in choice):
            best = max(best, _value(chosen, rows))
    return best


def _value(chosen: list[Edge], rows: int) -> tuple[object, ...]:
    iou = sum((Fraction(edge.overlap, edge.union) for edge in chosen), Fraction(0))
    ranks = tuple(sum(edge.ranks[k] for edge in chosen) for k in range(3))
    partner = {edge.gold: edge.prediction for edge in chosen}
    return (*ranks, iou, tuple(-partner.get(i, rows) for i in range(rows)))


@given(drawn=st.lists(_EDGE, min_size=1, max_size=12))
@settings(max_examples=60)
def test_the_solver_finds_the_best_of_all_assignments_and_settles_ties(drawn: list[tuple[int, ...]]) -> None:
    rows = 4
    must = {i: bool(drawn[0][2]) for i in range(rows)}
    edges = {
        (i % rows, j % rows): Edge(i % rows, j % rows, (int(must[i % rows]), 1, int(same)), overlap, overlap + more)
        for i, j, _, same, overlap, more in drawn
    }
    ordered = [edges[key] for key in sorted(edges)]
    assert _value([ordered[i] for i in solve(ordered)], rows) == _best(ordered, rows)


@given(seed=st.integers(0, 10_000), golds=st.integers(1, 7), predictions=st.integers(1, 7), dense=st.floats(0.2, 1))
@settings(max_examples=120)
def test_enumeration_and_solver_agree_edge_for_edge(seed: int, golds: int, predictions: int, dense: float) -> None:
    rng = generator(seed, "knots")
    there = rng.random((golds, predictions)) < dense
    gold, prediction = np.nonzero(there)
    if not len(gold):
        return
    n = len(gold)
    must = (rng.random(golds) < 0.7)[gold]
    overlap = rng.integers(1, 5, n)
    union = overlap + rng.integers(0, 4, n)
    merits = (must, rng.random(n) < 0.5, rng.random(n) < 0.5)
    edges = Edges(gold, prediction, merits, overlap, union, np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64))
    ranks = [(int(must[i]), 1, *(int(merit[i]) for merit in merits[1:])) for i in range(n)]
    literal = [Edge(int(gold[i]), int(prediction[i]), ranks[i], int(overlap[i]), int(union[i])) for i in range(n)]
    found = assign(gold, prediction, edges)
    assert found.tolist() == solve(literal)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment, "_ENUMERATED", 1)  # nothing is enumerated
        patch.setattr(assignment, "_EXACT_UNION", 0)  # and no star goes through doubles
        assert assign(gold, prediction, edges).tolist() == found.tolist()


@pytest.mark.parametrize("size", [12, 40])
def test_large_components_reach_the_optimum_of_scipy(size: int) -> None:
    rng = generator(size, "large knots")
    overlap, union = rng.integers(1, 50, (size, size)), rng.integers(50, 97, (size, size))
    there = rng.random((size, size)) < 0.25
    edges = [
        Edge(int(i), int(j), (1, 1), int(overlap[i, j]), int(union[i, j]))
        for i, j in zip(*np.nonzero(there), strict=True)
    ]
    chosen = [edges[i] for i in solve(edges)]
    weight = np.where(there, 1000.0 + overlap / union, 0)
    rows, columns = linear_sum_assignment(weight, maximize=True)
    assert len({edge.gold for edge in chosen}) == len({edge.prediction for edge in chosen}) == len(chosen)
    ours = sum(1000 + edge.overlap / edge.union for edge in chosen)
    assert ours == pytest.approx(weight[rows, columns].sum(), rel=1e-12)


def test_sums_that_are_equal_as_fractions_are_tied_whatever_doubles_say() -> None:
    # 1/3 + 1/6 is 1/2 + 0: the assignment with more pairs wins, and between equal ones the first gold's first choice.
    edges = [
        Edge(0, 0, (1, 1), 1, 10),
        Edge(0, 1, (1, 1), 2, 10),
        Edge(1, 0, (1, 1), 1, 10),
        Edge(1, 1, (1, 1), 2, 10),
    ]
    assert solve(edges) == [0, 3]
    thirds = [Edge(0, 0, (1, 1), 1, 3), Edge(0, 1, (1, 1), 1, 2), Edge(1, 0, (1, 1), 1, 3), Edge(1, 1, (1, 1), 1, 2)]
    assert solve(thirds) == [0, 3]


def test_denominators_too_large_for_64_bits_are_left_to_the_solver() -> None:
    union = np.array([2**31 - 1, 2**31 - 19, 2**31 - 61, 2**31 - 69])
    gold, prediction = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    overlap = np.array([1, 2, 2, 1])
    merits = (np.ones(4, dtype=np.bool_),)
    edges = Edges(gold, prediction, merits, overlap, union, np.zeros(4, dtype=np.int64), np.ones(4, dtype=np.int64))
    assert assign(gold, prediction, edges).tolist() == [1, 2]
