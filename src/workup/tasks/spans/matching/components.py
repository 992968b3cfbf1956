"""Which golds and predictions overlap, and which of those overlaps belong together. Knows positions on one line only.

Documents are laid end to end on that line with a gap, so nothing ever overlaps across documents."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Whole: TypeAlias = npt.NDArray[np.signedinteger[Any]]  # 32 bits where a block's line is short enough, else 64
Flags: TypeAlias = npt.NDArray[np.bool_]
_STEPS = 4  # neighbours looked at one by one; what reaches farther is found by bisection


class Pairs(NamedTuple):
    """Places of a gold and a prediction that share at least one position, in no special order."""

    gold: Whole
    prediction: Whole


def overlapping_pairs(gold_start: Whole, gold_end: Whole, start: Whole, end: Whole) -> Pairs:
    """Every gold and prediction that overlap, each pair once. Both sides must be sorted by start.

    Of two that overlap, either the prediction starts inside the gold or the gold starts inside the prediction, after
    its start. Each kind is a run of neighbours in one merged order of starts, so the work grows with the pairs found
    and not with what a long span could have met.

    >>> found = overlapping_pairs(*(np.array(x) for x in ([0, 10], [10, 20], [5, 10, 20], [12, 11, 30])))
    >>> sorted(zip(found.gold.tolist(), found.prediction.tolist()))
    [(0, 0), (1, 0), (1, 1)]
    """
    if not len(gold_start) or not len(start):
        none = np.empty(0, dtype=np.int64)
        return Pairs(none, none)
    # One packed key: twice the start, odd for a prediction, so that a gold stands before a prediction of equal start.
    merged = np.concatenate([gold_start << 1, (start << 1) | 1])
    merged.sort(kind="stable")  # two sorted runs: one linear merge
    from_prediction = (merged & 1).astype(np.bool_)
    golds_before = np.flatnonzero(from_prediction)
    golds_before -= np.arange(len(start))
    predictions_before = np.flatnonzero(~from_prediction)
    predictions_before -= np.arange(len(gold_start))
    gold, inside = _runs(predictions_before, gold_end, start)
    prediction, swallowed = _runs(golds_before, end, gold_start)
    return Pairs(np.concatenate([gold, swallowed]), np.concatenate([inside, prediction]))


def _runs(first: Whole, end: Whole, starts: Whole) -> tuple[Whole, Whole]:
    """For each owner the run of `starts` from its place `first` on that lie before its end: (owner, place) pairs."""
    padded = np.append(starts, starts.dtype.type(np.iinfo(starts.dtype).max))
    owner = np.flatnonzero(padded.take(first) < end)
    owners, places = [owner], [first.take(owner)]
    owner = np.flatnonzero(padded[1:].take(first, mode="clip") < end)  # past the last start, the clip says no again
    place = first.take(owner) + 1
    for _ in range(_STEPS):
        if not len(owner):
            break
        owners.append(owner)
        places.append(place)
        place = place + 1
        going = np.flatnonzero(padded.take(place) < end.take(owner))
        owner, place = owner.take(going), place.take(going)
    else:
        count = np.searchsorted(starts, end.take(owner), side="left") - place
        step = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        owners.append(np.repeat(owner, count))
        places.append(np.repeat(place, count) + step)
    return np.concatenate(owners), np.concatenate(places)


def lone(pairs: Pairs, golds: int, predictions: int) -> Flags:
    """Which pairs overlap each other and nothing else; almost all of them do in practice."""
    degree_gold = np.bincount(pairs.gold, minlength=golds)
    degree = np.bincount(pairs.prediction, minlength=predictions)
    return (degree_gold.take(pairs.gold) == 1) & (degree.take(pairs.prediction) == 1)


def clusters(start: Whole, end: Whole) -> Whole:
    """A number for each stretch such that stretches that overlap, directly or through others, share theirs.

    >>> clusters(np.array([0, 20, 4, 9]), np.array([5, 30, 10, 12])).tolist()
    [0, 1, 0, 0]
    """
    order = np.argsort(start, kind="stable")
    reach = np.maximum.accumulate(end.take(order))
    fresh = np.ones(len(start), dtype=np.int64)
    fresh[1:] = start.take(order)[1:] >= reach[:-1]
    found = np.empty(len(start), dtype=np.int64)
    found[order] = np.cumsum(fresh) - 1
    return found
