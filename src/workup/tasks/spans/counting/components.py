"""Which golds and predictions overlap, and which of those overlaps belong together. Knows positions on one line only.

Documents are laid end to end on that line with a gap, so nothing ever overlaps across documents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workup.stats.arrays import Bools, Whole

_STEPS = 4  # neighbours looked at one by one; what reaches farther is found by bisection


@dataclass(frozen=True, eq=False)
class Pairs:
    """Places of a gold and a prediction that share at least one position, in no special order.

    Those that overlap each other and nothing else are lone, almost all of them in practice; the others are tied.
    """

    lone_gold: Whole
    lone_prediction: Whole
    tied_gold: Whole
    tied_prediction: Whole

    @cached_property
    def gold(self) -> Whole:
        """Of all pairs, lone ones first."""
        return np.concatenate([self.lone_gold, self.tied_gold])

    @cached_property
    def prediction(self) -> Whole:
        """Of all pairs, lone ones first."""
        return np.concatenate([self.lone_prediction, self.tied_prediction])

    @classmethod
    def split(cls, gold: Whole, prediction: Whole, alone: Bools) -> Pairs:
        """Told apart by a flag."""
        lone, tied = np.flatnonzero(alone), np.flatnonzero(~alone)
        return cls(gold.take(lone), prediction.take(lone), gold.take(tied), prediction.take(tied))


def overlapping_pairs(gold_start: Whole, gold_end: Whole, start: Whole, end: Whole) -> Pairs:
    """Every gold and prediction that overlap, each pair once. Both sides must be sorted by start.

    >>> found = overlapping_pairs(*(np.array(x) for x in ([0, 10, 40], [10, 20, 50], [5, 10, 41], [12, 11, 43])))
    >>> sorted(zip(found.tied_gold.tolist(), found.tied_prediction.tolist()))
    [(0, 0), (1, 0), (1, 1)]
    >>> found.lone_gold.tolist(), found.lone_prediction.tolist()
    ([2], [2])
    """
    if not len(gold_start) or not len(start):
        none = np.empty(0, dtype=np.int64)
        return Pairs(none, none, none, none)
    # One packed key: twice the start, odd for a prediction, so that a gold stands before a prediction of equal start.
    merged = np.empty(len(gold_start) + len(start), dtype=start.dtype)
    np.left_shift(gold_start, 1, out=merged[: len(gold_start)])
    np.left_shift(start, 1, out=merged[len(gold_start) :])
    merged[len(gold_start) :] |= 1
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
    """Golds apart from each other: a prediction meets the last that starts no later, and a run of those after it."""
    last_end = np.append(gold_end[:1] * 0, gold_end).take(golds_before)  # 0 where no gold starts that early
    reached = last_end > start
    prediction = np.flatnonzero(reached)
    gold = golds_before.take(prediction) - 1
    further = np.flatnonzero(last_end < end)  # those that end with their gold or inside it go no further
    owner, later_gold = _runs(golds_before.take(further), end.take(further), gold_start)
    later = further.take(owner)
    taken, several = np.zeros(len(gold_start), dtype=np.bool_), np.zeros(len(start), dtype=np.bool_)
    taken[later_gold] = True
    several[later] = True
    alone = ~(taken.take(gold) | several.take(prediction))
    apart = gold[1:] != gold[:-1]  # golds never fall from one prediction to the next, so shared ones are neighbours
    alone[1:] &= apart
    alone[:-1] &= apart
    taken[:] = False
    taken[gold] = True
    later_alone = _once(later_gold) & _once(later) & ~taken.take(later_gold) & ~reached.take(later)
    first, rest = Pairs.split(gold, prediction, alone), Pairs.split(later_gold, later, later_alone)
    return Pairs(
        np.concatenate([first.lone_gold, rest.lone_gold]),
        np.concatenate([first.lone_prediction, rest.lone_prediction]),
        np.concatenate([first.tied_gold, rest.tied_gold]),
        np.concatenate([first.tied_prediction, rest.tied_prediction]),
    )


def _pairs(
    gold_start: Whole, gold_end: Whole, start: Whole, end: Whole, golds_before: Whole, predictions_before: Whole
) -> Pairs:
    """The general case. Of two that overlap, one starts inside the other, and the starts inside one are a run.

    So the work grows with the pairs found and not with what a long span could have met.
    """
    gold, inside = _runs(predictions_before, gold_end, start)
    prediction, swallowed = _runs(golds_before, end, gold_start)
    gold, prediction = np.concatenate([gold, swallowed]), np.concatenate([inside, prediction])
    return Pairs.split(gold, prediction, _once(gold) & _once(prediction))


def _once(places: Whole) -> Bools:
    """Places that occur once."""
    found: Bools = np.bincount(places, minlength=1).take(places) == 1
    return found


def _runs(first: Whole, end: Whole, starts: Whole) -> tuple[Whole, Whole]:
    """For each owner the run of `starts` from its place `first` on that lie before its end: (owner, place) pairs."""
    padded = np.append(starts, starts.dtype.type(np.iinfo(starts.dtype).max))
    owners: list[Whole] = [np.empty(0, dtype=np.int64)]
    places: list[Whole] = [np.empty(0, dtype=np.int64)]
    owner: Whole = np.flatnonzero(padded.take(first) < end)
    place = first.take(owner)
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
