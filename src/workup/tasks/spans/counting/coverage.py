"""How much of one side the other covers, each place once: unions, not sums, so overlapping spans count for no more.

Knows pairs sorted by their owner and the owner's partners by start; knows no labels."""

from __future__ import annotations

import numpy as np

from workup.stats.arrays import Bools, Whole


def fresh_starts(owner: Whole, origin: Whole, start: Whole, end: Whole) -> Whole:
    """Later starts for stretches, such that those of one owner no longer overlap and still cover the same.

    Owners never fall, starts never fall within an owner; `origin` is where the owner itself begins.

    >>> owner, origin = np.array([0, 0, 1]), np.array([0, 0, 5])
    >>> fresh_starts(owner, origin, np.array([0, 2, 5]), np.array([4, 9, 7])).tolist()
    [0, 4, 5]
    """
    if not len(owner):
        return start
    # Each owner gets a room of its own on a line, so one running maximum serves all of them.
    room = int((end - origin).max()) + 1
    shift = owner * room - origin
    reach = np.maximum.accumulate(end + shift)
    begun = start.astype(np.int64)
    np.maximum(start[1:], reach[:-1] - shift[1:], out=begun[1:])
    return np.minimum(begun, end)


def covered(owner: Whole, origin: Whole, start: Whole, end: Whole, owners: int) -> Whole:
    """Places of each owner that its stretches cover."""
    lengths = end - fresh_starts(owner, origin, start, end)
    return np.bincount(owner, weights=lengths, minlength=owners).astype(np.int64)


def union_starts(start: Whole, end: Whole, chosen: Bools | None = None) -> Whole:
    """Later starts for the chosen of some stretches on one line, sorted by start, that make them disjoint.

    What is not chosen becomes empty.

    >>> union_starts(np.array([0, 2, 9]), np.array([4, 3, 12]), np.array([True, True, True])).tolist()
    [0, 3, 9]
    """
    if not len(start):
        return start
    reach = np.maximum.accumulate(end if chosen is None else np.where(chosen, end, start.min()))
    begun = start.copy()
    np.maximum(start[1:], reach[:-1], out=begun[1:])
    begun = np.minimum(begun, end)
    return begun if chosen is None else np.where(chosen, begun, end)
