"""Which spans overlap: compared with every pair, on lines with nested, equal and long stretches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workup.tasks.spans.counting.components import clusters, overlapping_pairs

_STRETCHES = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 15)), max_size=12)
_LONG = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 60)), max_size=25)


def _columns(drawn: list[tuple[int, int]], dtype: type) -> tuple[np.ndarray, np.ndarray]:
    ordered = sorted((start, start + length) for start, length in drawn)
    return np.array([a for a, _ in ordered], dtype=dtype), np.array([b for _, b in ordered], dtype=dtype)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("disjoint", [False, True])
@given(golds=_STRETCHES | _LONG, found=_STRETCHES | _LONG)
@settings(max_examples=100)
def test_pairs_are_all_that_overlap_and_alone_those_without_rivals(golds, found, disjoint, dtype) -> None:  # type: ignore[no-untyped-def]
    gold_start, gold_end = _columns(golds, dtype)
    if disjoint and len(gold_start):  # cut where the next begins
        gold_end[:-1] = np.minimum(gold_end[:-1], gold_start[1:])
        kept = gold_end > gold_start
        gold_start, gold_end = gold_start[kept], gold_end[kept]
    start, end = _columns(found, dtype)
    pairs = overlapping_pairs(gold_start, gold_end, start, end)
    expected = {
        (i, j)
        for i in range(len(gold_start))
        for j in range(len(start))
        if min(gold_end[i], end[j]) > max(gold_start[i], start[j])
    }
    seen = list(zip(pairs.gold.tolist(), pairs.prediction.tolist(), strict=True))
    assert len(seen) == len(set(seen)) and set(seen) == expected
    lone = set(zip(pairs.lone_gold.tolist(), pairs.lone_prediction.tolist(), strict=True))
    for pair in seen:
        rivals = [other for other in expected if other != pair and (other[0] == pair[0] or other[1] == pair[1])]
        assert (pair in lone) == (not rivals)


@given(drawn=_STRETCHES)
@settings(max_examples=60)
def test_clusters_are_the_stretches_joined_by_overlap(drawn: list[tuple[int, int]]) -> None:
    start, end = np.array([a for a, _ in drawn]), np.array([a + b for a, b in drawn])
    found = clusters(start, end) if drawn else np.empty(0)
    places = [set(range(a, a + b)) for a, b in drawn]
    for i, one in enumerate(places):
        for j, other in enumerate(places):
            if one & other:
                assert found[i] == found[j]
    for number in set(found.tolist()):  # and only those
        reached, *rest = (places[i] for i in np.flatnonzero(found == number))
        while joined := [one for one in rest if one & reached]:
            rest = [one for one in rest if not one & reached]
            reached = reached.union(*joined)
        assert not rest
