"""A sample of a corpus: seeded, stratified by the type of its cases, the same whatever their order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def sampled_ids(cases: Iterable[tuple[str, str]], count: int, *, seed: int) -> frozenset[str]:
    """Of cases as (id, type): `count` ids, each type with its share (largest remainders), one of each if it fits.

    >>> chosen = sampled_ids([(str(i), "a" if i < 90 else "b") for i in range(100)], 10, seed=1)
    >>> len(chosen), sum(int(id) >= 90 for id in chosen)
    (10, 1)
    """
    strata: dict[str, list[str]] = {}
    for id, kind in cases:
        strata.setdefault(kind, []).append(id)
    total = sum(map(len, strata.values()))
    if count >= total:
        return frozenset(id for ids in strata.values() for id in ids)
    chosen: set[str] = set()
    for kind, size in _shares({kind: len(ids) for kind, ids in strata.items()}, count).items():
        chosen.update(sorted(strata[kind], key=lambda id: _draw(seed, id))[:size])
    return frozenset(chosen)


def _draw(seed: int, id: str) -> bytes:
    """The place of a case in the drawing: a hash, so that neither order nor platform matters."""
    return hashlib.blake2b(f"{seed}\0{id}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _shares(sizes: dict[str, int], count: int) -> dict[str, int]:
    total = sum(sizes.values())
    exact = {kind: count * size / total for kind, size in sizes.items()}
    found = {kind: int(share) for kind, share in exact.items()}
    if count >= len(sizes):
        found = {kind: max(1, n) for kind, n in found.items()}
    order = sorted(sizes, key=lambda kind: (-(exact[kind] - int(exact[kind])), kind))
    while sum(found.values()) < count:
        for kind in order:
            if sum(found.values()) < count and found[kind] < sizes[kind]:
                found[kind] += 1
    while sum(found.values()) > count:  # types that got their one although their share was less
        found[max(found, key=lambda kind: (found[kind] - exact[kind], kind))] -= 1
    return found
