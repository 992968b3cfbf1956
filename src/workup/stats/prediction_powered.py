"""A share from a reader that erred and people who read some of the same rows: prediction-powered, by verdict.

Fisch and others (2024) stratify prediction-powered inference (Angelopoulos, Duchi and Zrnic 2023) by what the reader
said. A poor reader makes the interval wide, and not wrong. It knows rows in clusters; not who reads or what is read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Floats
from workup.stats.intervals import ASSUMED_ICC, ClusteredShare, Ends, clustered_share, effective_ends


@dataclass(frozen=True, eq=False)
class PoweredShare:
    """θ = f a + (1 − f) b: the reader's share f over all rows, and the shares a and b that people confirm among the
    labelled rows that it calls 1 and 0.

    `confirmed` and `missed` are None where no row of that verdict is labelled; nothing is known of it then.
    """

    read: ClusteredShare
    confirmed: ClusteredShare | None
    missed: ClusteredShare | None

    @property
    def parts(self) -> tuple[float, float, float]:
        """f, a and b; a verdict without a label is taken at the reader's word, with an interval from 0 to 1."""
        a = 1.0 if self.confirmed is None else self.confirmed.share
        b = 0.0 if self.missed is None else self.missed.share
        return self.read.share, a, b

    @property
    def value(self) -> float:
        """The share, corrected."""
        f, a, b = self.parts
        return f * a + (1 - f) * b

    def ends(self, level: float = 0.95) -> Ends:
        """Both ends: what each part may be too low or too high by, squared and added.

        Parts have the ends of clustered shares, so that no part is taken for certain because all its rows agree.
        """
        f, a, b = self.parts
        of_f, of_a, of_b = (_ends(one, level) for one in (self.read, self.confirmed, self.missed))
        # Where people confirm fewer of those called 1 than of those called 0, more of the former lower the share.
        lower, upper = (of_f.low, of_f.high) if a >= b else (of_f.high, of_f.low)
        below = (f * (a - of_a.low), (1 - f) * (b - of_b.low), (a - b) * (f - lower))
        above = (f * (of_a.high - a), (1 - f) * (of_b.high - b), (a - b) * (upper - f))
        low, high = self.value - float(np.linalg.norm(below)), self.value + float(np.linalg.norm(above))
        return Ends(max(0.0, low), min(1.0, high))


def _ends(share: ClusteredShare | None, level: float) -> Ends:
    return Ends(0.0, 1.0) if share is None else effective_ends(share, level=level)


def powered_share(
    verdict: Floats,
    truth: Floats,
    cluster: npt.NDArray[np.int64],
    *,
    weight: Floats | None = None,
    chance: Floats | None = None,
    icc: float = ASSUMED_ICC,
) -> PoweredShare:
    """The share of rows for which people would say 1, from the reader's 0 or 1 on every row.

    `truth` is what people said, NaN where nobody was asked, and may lie between 0 and 1 where they differ. `chance` is
    the known chance with which a labelled row was drawn, as far as it differs within a verdict; `weight` is for how
    many rows each row stands.

    >>> verdict = np.tile([1.0, 1.0, 1.0, 1.0, 0.0], 24)
    >>> truth = np.where(np.arange(120) % 2, np.nan, verdict)
    >>> truth[:10:2] = 1.0
    >>> found = powered_share(verdict, truth, np.arange(120) // 5)
    >>> round(found.value, 4), [round(end, 3) for end in found.ends()]
    (0.8167, [0.693, 0.927])
    """
    weight = np.ones(verdict.size) if weight is None else weight
    drawn = weight if chance is None else weight / chance
    labelled = np.isfinite(truth)
    parts = []
    for said in (1.0, 0.0):
        use = labelled & (verdict == said)
        parts.append(
            clustered_share(truth[use], np.ones(int(use.sum())), cluster[use], drawn[use], icc=icc)
            if use.any()
            else None
        )
    return PoweredShare(clustered_share(verdict, np.ones(verdict.size), cluster, weight, icc=icc), *parts)
