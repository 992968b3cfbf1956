"""Whether an id occurs twice in a stream of a million documents, at eight bytes for each. Knows no file and no text.

Only hashes are kept, so an answer is a suspicion: whoever gets one looks again, id by id. Hashes of sixty-four bits
meet by chance once in ten million corpora of a million documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


class SeenIds:
    """Ids of all batches so far, as sorted runs of hashes; runs of like length are merged, so that there are few.

    >>> seen = SeenIds()
    >>> seen.suspects(["a", "b"]), seen.suspects(["c", "a"]), seen.suspects(["d", "d"])
    (False, True, True)
    """

    def __init__(self) -> None:
        self._runs: list[npt.NDArray[np.int64]] = []

    def suspects(self, ids: Sequence[str]) -> bool:
        """Add a batch; True where one of its ids may have occurred before, there or here."""
        if not ids:
            return False
        run = np.fromiter(map(hash, ids), dtype=np.int64, count=len(ids))
        run.sort()
        twice = bool((run[1:] == run[:-1]).any()) or any(_meet(other, run) for other in self._runs)
        self._runs.append(run)
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            merged = np.concatenate([self._runs.pop(), self._runs.pop()])
            merged.sort(kind="stable")  # two sorted runs: one linear merge
            self._runs.append(merged)
        return twice


def _meet(run: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> bool:
    place = np.searchsorted(run, other)
    return bool((run.take(place, mode="clip") == other).any())
