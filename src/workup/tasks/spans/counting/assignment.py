"""One-to-one assignment of many components at once, optimal in each. Knows edges with their merits, not modes.

The order of preferences: most golds that must be masked, most pairs, the other merits in turn, the sum of IoU; what is
still tied goes to the first gold and its first prediction by place. Greedy choices lose pairs and depend on the
order of the input, so none is made: pairs without rival are taken, stars (one prediction over several golds, or the
reverse) take their best edge, small knots are enumerated, and the few that are left are solved exactly."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Bools, Whole
from workup.tasks.spans.counting.components import clusters
from workup.tasks.spans.counting.solver import Edge, solve

_ENUMERATED = 4  # golds and predictions of a component whose assignments are all tried
_EXACT_UNION = (
    2**22
)  # below it quotients of lengths differ in a double whenever they differ, with the merits above them
_NEVER = np.int64(-(2**60))


class Edges(NamedTuple):
    """Pairs that may be assigned, sorted by gold and then prediction. `merits` are bits, the first weighing most.

    The first merit is that the gold must be masked. `left` and `right` bound the stretch that either covers.
    """

    gold: Whole
    prediction: Whole
    merits: tuple[Bools, ...]
    overlap: Whole
    union: Whole
    left: Whole
    right: Whole

    def score(self, which: Whole) -> npt.NDArray[np.float64] | None:
        """One number for each of some edges."""
        some = self.edges(which)
        return scores(some.merits, some.overlap, some.union)

    def edges(self, which: Whole) -> Edges:
        """Some of the edges, by place."""
        return Edges(
            self.gold.take(which),
            self.prediction.take(which),
            tuple(merit.take(which) for merit in self.merits),
            *(column.take(which) for column in self[3:]),
        )


class Merits(Protocol):
    """What rivals are weighed by; asked for them alone, since most pairs have none."""

    def score(self, which: Whole) -> npt.NDArray[np.float64] | None:
        """One number for each edge by which single edges compare; None where doubles cannot hold it exactly."""

    def edges(self, which: Whole) -> Edges:
        """The edges in full."""


def assign(gold: Whole, prediction: Whole, merits: Merits) -> Whole:
    """The places of the pairs that make up the best assignment. Pairs are sorted by gold and then prediction.

    >>> def row(*x): return np.array(x)
    >>> two_by_two = Edges(row(0, 0, 1), row(0, 1, 0), (row(1, 1, 1) == 1,), row(4, 1, 4), row(8, 9, 4),
    ...                    row(0, 0, 0), row(9, 9, 9))
    >>> assign(two_by_two.gold, two_by_two.prediction, two_by_two).tolist()
    [1, 2]
    """
    single_gold = np.bincount(gold, minlength=1).take(gold) == 1
    single = np.bincount(prediction, minlength=1).take(prediction) == 1
    found = single_gold & single
    rivals = np.flatnonzero(~found)
    if not len(rivals):
        return np.arange(len(gold))
    taken: list[Whole] = []
    single_gold, single = single_gold.take(rivals), single.take(rivals)
    gold, prediction = gold.take(rivals), prediction.take(rivals)
    # A star: every partner of the centre has no other partner.
    around_prediction = single_gold & ~_marked(prediction, ~single_gold)
    around_gold = single & ~_marked(gold, ~single)
    for star, centre in ((around_prediction, prediction), (around_gold, gold)):
        which = np.flatnonzero(star)
        if len(which):
            some = rivals.take(which)
            score = merits.score(some)
            if score is None:
                taken.append(some[_solved(merits.edges(some), centre.take(which))])
            else:
                taken.append(some[_best_of_each(score, centre.take(which))])
    left = rivals[~(around_prediction | around_gold)]
    if len(left):
        taken.append(left[_knots(merits.edges(left))])
    found[np.concatenate(taken)] = True
    return np.flatnonzero(found)


def scores(merits: Sequence[Bools], overlap: Whole, union: Whole) -> npt.NDArray[np.float64] | None:
    """Merits and IoU of single edges in one number: merits as bits above the quotient."""
    if len(union) and union.max() >= _EXACT_UNION:
        return None
    score: npt.NDArray[np.float64] = overlap / union
    for i, merit in enumerate(reversed(merits)):
        score += merit * float(2 ** (i + 1))
    return score


class Stars(NamedTuple):
    """Pairs around golds that no other gold competes with, where each star begins and how many pairs it has."""

    pair: Whole
    first: Whole
    size: Whole

    def best(self, allowed: Bools, score: npt.NDArray[np.float64]) -> Whole:
        """The best allowed pair of every star that has one; of equal ones the first."""
        own = np.where(allowed.take(self.pair), score.take(self.pair), -1.0)
        top = np.maximum.reduceat(own, self.first)
        reached = np.flatnonzero((own == np.repeat(top, self.size)) & (own >= 0))
        star = np.repeat(np.arange(len(self.first)), self.size).take(reached)
        return self.pair.take(reached.take(groups(star)[0]))


def _marked(node: Whole, marks: Bools) -> Bools:
    """Edges whose node has any marked edge."""
    has = np.zeros(int(node.max()) + 1, dtype=np.bool_)
    has[node[marks]] = True
    return has.take(node)


def _best_of_each(score: npt.NDArray[np.float64], centre: Whole) -> Whole:
    """The best edge of every star; of equal ones the first."""
    order = np.arange(len(centre))
    if not bool((centre[1:] >= centre[:-1]).all()):
        order = np.argsort(centre, kind="stable")
        centre, score = centre.take(order), score.take(order)
    first, count = groups(centre)
    star = np.repeat(np.arange(len(first)), count)
    reached = np.flatnonzero(score == np.maximum.reduceat(score, first).take(star))
    return order.take(reached.take(groups(star.take(reached))[0]))


def groups(ordered: Whole) -> tuple[Whole, Whole]:
    """Where each run of equal numbers begins, and how long it is."""
    change = np.empty(len(ordered), dtype=np.bool_)
    change[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=change[1:])
    first = np.flatnonzero(change)
    return first, np.diff(np.append(first, len(ordered)))


def _knots(edges: Edges) -> Whole:
    """Components in which both sides have rivals."""
    component = clusters(edges.left, edges.right)
    order = np.argsort(component, kind="stable")
    first, _ = groups(component.take(order))
    gold, prediction = (_place_within(component, node) for node in (edges.gold, edges.prediction))
    size = np.maximum.reduceat(np.maximum(gold, prediction).take(order), first) + 1
    weight, exact = _weights(edges, component, order, first)
    small = exact & (size <= _ENUMERATED)
    taken: list[Whole] = []
    for n in range(2, _ENUMERATED + 1):
        chosen = small & (size == n)
        if chosen.any():
            which = np.flatnonzero(chosen.take(component))
            row = (np.cumsum(chosen) - 1).take(component.take(which))
            cell = row, gold.take(which), prediction.take(which)
            taken.append(which[_enumerated(*cell, weight.take(which), n)])
    if not small.all():
        which = np.flatnonzero(~small.take(component))
        taken.append(which[_solved(edges.edges(which), component.take(which))])
    return np.concatenate(taken)


def _place_within(component: Whole, node: Whole) -> Whole:
    """The place of a node among the nodes of its component, in order."""
    low = int(node.min())
    key = component * (int(node.max()) - low + 1) + (node - low)
    order = np.argsort(key, kind="stable")
    first, count = groups(key.take(order))  # one run for each node
    of_component, nodes = groups(component.take(order.take(first)))
    place = np.arange(len(first)) - np.repeat(of_component, nodes)
    found = np.empty(len(node), dtype=np.int64)
    found[order] = np.repeat(place, count)
    return found


def _weights(edges: Edges, component: Whole, order: Whole, first: Whole) -> tuple[Whole, Bools]:
    """Each edge as one whole number whose sums compare like tuples, and the components where 64 bits hold them.

    IoU is put over a common multiple of the component's denominators, so sums that are equal are seen to be equal.
    """
    common = np.lcm.reduceat(edges.union.take(order), first)
    base = _ENUMERATED + 1
    limit = 2**60 // base ** (len(edges.merits) + 3)
    exact: Bools = (common > 0) & (common < limit)
    common = np.where(exact, common, 1)
    # A multiple that overflowed unseen is told by what does not divide it.
    odd = common.take(component) % edges.union != 0
    exact &= ~np.logical_or.reduceat(odd.take(order), first)
    must, *others = edges.merits
    weight: Whole = must.astype(np.int64) * base + 1
    for merit in others:
        weight = weight * base + merit
    each: Whole = common.take(component)
    return weight * base * each + edges.overlap * (each // edges.union), exact


@cache
def _assignments(n: int) -> Whole:
    """All one-to-one assignments of n golds to n predictions or none (n), in the order in which ties prefer them."""
    found = [
        choice
        for choice in product(range(n + 1), repeat=n)
        if all(choice.count(prediction) < 2 for prediction in range(n))
    ]
    return np.array(found, dtype=np.int64)


def _enumerated(component: Whole, gold: Whole, prediction: Whole, weight: Whole, n: int) -> Whole:
    """The edges of the best assignment of each component of at most n golds and n predictions."""
    table = np.full((n, n + 1, int(component.max()) + 1), _NEVER)
    table[:, n] = 0
    table[gold, prediction, component] = weight
    choices = _assignments(n)
    total = table[0].take(choices[:, 0], axis=0)
    for i in range(1, n):
        total += table[i].take(choices[:, i], axis=0)
    which = np.argmax(total, axis=0)  # of equal ones the first
    return np.flatnonzero(choices[which.take(component), gold] == prediction)


def _solved(edges: Edges, component: Whole) -> Whole:
    """Components of any size, one by one."""
    order = np.argsort(component, kind="stable")
    first, _ = groups(component.take(order))
    taken: list[int] = []
    must, *others = edges.merits
    columns = [edges.gold, edges.prediction, edges.overlap, edges.union, must, *others]
    for some in np.split(order, first[1:]):
        gold, prediction, overlap, union, forced, *rest = (column.take(some).tolist() for column in columns)
        ranks = zip(forced, (1,) * len(some), *rest, strict=True)
        found = solve([Edge(*one) for one in zip(gold, prediction, ranks, overlap, union, strict=True)])
        taken += some.take(found).tolist()
    return np.array(taken, dtype=np.int64)
