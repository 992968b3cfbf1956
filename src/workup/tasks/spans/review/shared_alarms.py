"""False alarms of several systems that mean the same stretch of text, brought together by overlap.

Complete linkage: every two members of a group overlap with IoU of at least a half, so a chain of half-overlaps is not
taken for agreement. Knows places only, no label and no gold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

LEAST_IOU = 0.5
LONGEST = 200  # places of one chain that are looked at together; no honest detector comes near
Place = tuple[int, int]  # start and end


def groups(places: Sequence[Place]) -> list[list[Place]]:
    """Distinct places of one document in groups, each in order; whatever the order they come in.

    Two groups are joined while their farthest members overlap enough, the nearest groups first.

    >>> groups([(0, 10), (1, 10), (20, 24), (8, 19)])
    [[(0, 10), (1, 10)], [(8, 19)], [(20, 24)]]
    >>> groups([(0, 10), (3, 13), (5, 12)])
    [[(0, 10)], [(3, 13), (5, 12)]]
    """
    return sorted(group for chain in _chains(sorted(set(places))) for group in _joined(chain))


def iou(one: Place, other: Place) -> float:
    """Overlap over union.

    >>> iou((0, 10), (5, 15))
    0.3333333333333333
    """
    overlap = min(one[1], other[1]) - max(one[0], other[0])
    return max(0, overlap) / (one[1] - one[0] + other[1] - other[0] - max(0, overlap))


def middle(group: Sequence[Place]) -> Place:
    """The member that the others overlap most: the one that is shown."""
    return min(group, key=lambda one: (-sum(iou(one, other) for other in group), one))


def _chains(places: Sequence[Place]) -> Iterator[list[Place]]:
    """Runs of places that touch; nothing in one can belong to another, unless it was cut for its length."""
    held: list[Place] = []
    reach = 0
    for place in places:
        if held and (place[0] >= reach or len(held) == LONGEST):
            yield held
            held, reach = [], 0
        held.append(place)
        reach = max(reach, place[1])
    if held:
        yield held


def _joined(chain: list[Place]) -> list[list[Place]]:
    """Nearest first, from a heap of links; one that names a group which has grown since is stale, and passed over."""
    found: dict[int, list[Place]] = {number: [place] for number, place in enumerate(chain)}
    links = _links(chain)
    heap = [(-overlap, found[a], found[b], a, b) for a in links for b, overlap in links[a].items() if a < b]
    heapify(heap)
    fresh = len(chain)
    while heap:
        _, one, other, a, b = heappop(heap)
        if found.get(a) != one or found.get(b) != other:
            continue
        new, fresh = fresh, fresh + 1
        found[new] = sorted(found.pop(a) + found.pop(b))
        of_a, of_b = links.pop(a), links.pop(b)
        # The farthest members decide, so a neighbour must have been near to both.
        links[new] = {c: min(of_a[c], of_b[c]) for c in of_a.keys() & of_b.keys() if c in found}
        for c, overlap in links[new].items():
            links[c][new] = overlap
            first, second = sorted((new, c), key=lambda number: found[number])
            heappush(heap, (-overlap, found[first], found[second], first, second))
    return list(found.values())


def _links(chain: Sequence[Place]) -> dict[int, dict[int, float]]:
    """Which places overlap enough, both ways; in order of their starts, so that few pairs are looked at."""
    found: dict[int, dict[int, float]] = {number: {} for number in range(len(chain))}
    for a, one in enumerate(chain):
        for b in range(a + 1, len(chain)):
            if 2 * (one[1] - chain[b][0]) < one[1] - one[0]:  # less than half of `one` is left to share
                break
            overlap = iou(one, chain[b])
            if overlap >= LEAST_IOU:
                found[a][b] = found[b][a] = overlap
    return found
