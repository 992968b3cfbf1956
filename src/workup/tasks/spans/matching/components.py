"""Which golds and predictions overlap, and which of those overlaps belong together. Knows positions on one line only.

Documents are laid end to end on that line with a gap, so nothing ever overlaps across documents."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Whole: TypeAlias = npt.NDArray[np.integer[Any]]  # 32 bits where a block's line is short enough, else 64
Flags: TypeAlias = npt.NDArray[np.bool_]
_STEPS = 4  # neighbours looked at one by one; what reaches farther is found by bisection


class Pairs(NamedTuple):
    """Places of a gold and a prediction that share at least one position, in no special order.

    `alone` are the pairs that overlap each other and nothing else; almost all of them do in practice.
    """

    gold: Whole
    prediction: Whole
    alone: Flags


def overlapping_pairs(gold_start: Whole, gold_end: Whole, start: Whole, end: Whole) -> Pairs:
    """Every gold and prediction that overlap, each pair once. Both sides must be sorted by start.

    >>> found = overlapping_pairs(*(np.array(x) for x in ([0, 10, 40], [10, 20, 50], [5, 10, 41], [12, 11, 43])))
    >>> sorted(zip(found.gold.tolist(), found.prediction.tolist(), found.alone.tolist()))
    [(0, 0, False), (1, 0, False), (1, 1, False), (2, 2, True)]
    """
    if not len(gold_start) or not len(start):
        none = np.empty(0, dtype=np.int64)
        return Pairs(none, none, none.astype(np.bool_))
    # One packed key: twice the start, odd for a prediction, so that a gold stands before a prediction of equal start.
    merged = np.concatenate([gold_start << 1, (start << 1) | 1])
    merged.sort(kind="stable")  # two sorted runs: one linear merge
    from_prediction = (merged & 1).astype(np.bool_)
    golds_before = np.flatnonzero(from_prediction)
    golds_before -= np.arange(len(start))  # golds that start no later than each prediction
    if bool((gold_end[:-1] <= gold_start[1:]).all()):
        return _pairs_of_disjoint(gold_start, gold_end, start, end, golds_before)
    predictions_before = np.flatnonzero(~from_prediction)
    predictions_before -= np.arange(len(gold_start))  # predictions that start before each gold
    return _pairs(gold_start, gold_end, start, end, golds_before, predictions_before)


def _pairs_of_disjoint(gold_start: Whole, gold_end: Whole, start: Whole, end: Whole, golds_before: Whole) -> Pairs:
    """Golds apart from each other: those of a prediction are neighbours, from the last that starts before it on."""
    reached = np.append(gold_end[-1:] * 0, gold_end).take(golds_before) > start  # by the last gold, where there is one
    prediction, gold, further = _runs(golds_before - reached, end, gold_start)
    # The first gold of each prediction never falls from one prediction to the next, so shared golds are neighbours.
    first = gold[: len(gold) - further]
    shared = np.zeros(len(gold_start), dtype=np.bool_)
    shared[first[1:][first[1:] == first[:-1]]] = True
    shared[gold[len(first) :]] = True
    several = np.zeros(len(start), dtype=np.bool_)
    several[prediction[len(first) :]] = True
    alone = np.zeros(len(gold), dtype=np.bool_)
    np.logical_or(shared.take(first), several.take(prediction[: len(first)]), out=alone[: len(first)])
    np.logical_not(alone[: len(first)], out=alone[: len(first)])
    return Pairs(gold, prediction, alone)


def _pairs(
    gold_start: Whole, gold_end: Whole, start: Whole, end: Whole, golds_before: Whole, predictions_before: Whole
) -> Pairs:
    """The general case. Of two that overlap, one starts inside the other, and the starts inside one are a run.

    So the work grows with the pairs found and not with what a long span could have met.
    """
    gold, inside, _ = _runs(predictions_before, gold_end, start)
    prediction, swallowed, _ = _runs(golds_before, end, gold_start)
    gold, prediction = np.concatenate([gold, swallowed]), np.concatenate([inside, prediction])
    single_gold = np.bincount(gold, minlength=1).take(gold) == 1
    return Pairs(gold, prediction, single_gold & (np.bincount(prediction, minlength=1).take(prediction) == 1))


def _runs(first: Whole, end: Whole, starts: Whole) -> tuple[Whole, Whole, int]:
    """For each owner the run of `starts` from its place `first` on that lie before its end: (owner, place) pairs.

    The first of every run come first, in order; how many others follow is told.
    """
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
    return np.concatenate(owners), np.concatenate(places), sum(map(len, owners[1:]))


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
