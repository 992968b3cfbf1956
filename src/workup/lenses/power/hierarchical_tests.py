"""Power of a test of all groups together that must reject first, then Holm over the pairs, for any metric with a
standard error per group. Simulated on normal estimates, because no closed form has it; proportions planned without a
pilot have `workup.stats.sizes.simulated_power`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import special

from workup.lenses.power.pilots import Pair, Spread
from workup.stats.arrays import Floats
from workup.stats.random import generator
from workup.stats.sizes.groups import pairs
from workup.stats.sizes.pilot import scaled_detectable
from workup.stats.sizes.simulated_power import holm

REPETITIONS = 2000  # simulated studies: a power of 0.80 is known to ± 0.02
_STEPS = 18  # halvings of the bracket around the smallest gap; what is left is far below the error of the simulation


class Gatekeeper:
    """The procedure on the groups of one column: how surely it declares a group that is apart from all others."""

    def __init__(self, groups: Sequence[Spread], *, alpha: float, power: float, seed: int, name: str) -> None:
        self.alpha, self.power = alpha, power
        self._groups = [group for group in groups if not group.unusable]
        self._known: dict[tuple[str, str, bool], float] = {}
        self._draws = generator(seed, "gatekeeper", name).standard_normal((REPETITIONS, len(self._groups)))

    def detectable(self, pair: Pair) -> float:
        """The smallest gap that is found with the wanted power in these data."""
        return self._once(pair, [group.se or math.nan for group in self._groups], alone=False)

    def detectable_each(self, pair: Pair) -> float | None:
        """The same with one patient in every group, from which any equal number follows."""
        se = [math.sqrt(group.variance_per_patient or math.nan) for group in self._groups]
        return self._once(pair, se, alone=True)

    def reached(self, pair: Pair, gap: float, *, times: float = 1.0) -> float:
        """Share of studies `times` as large as these data in which the pair is declared different."""
        se = np.array([group.se for group in self._groups], dtype=np.float64)
        return self._share(pair, se)(gap * math.sqrt(times))

    def _once(self, pair: Pair, se: Sequence[float], *, alone: bool) -> float:
        """Several tables ask for the same gap, and each answer takes a search."""
        key = (str(pair.first.slice), pair.against, alone)
        if key not in self._known:
            self._known[key] = self._smallest(pair, se)
        return self._known[key]

    def _smallest(self, pair: Pair, se: Sequence[float]) -> float:
        found = self._share(pair, np.asarray(se))
        m = len(pairs(len(se)))
        low, high = 0.0, scaled_detectable(se=math.sqrt(2) * max(se), n=1, alpha=self.alpha / m, power=self.power)
        while found(high) < self.power:
            low, high = high, 2 * high
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (low, middle) if found(middle) >= self.power else (middle, high)
        return high

    def _share(self, pair: Pair, se: Floats) -> Callable[[float], float]:
        """Of simulated studies in which the pair is declared, by the gap that sets its first group apart."""
        apart, other = (
            next(g for g, one in enumerate(self._groups) if one is side) for side in (pair.first, pair.second)
        )
        planned = pairs(len(se))
        i, j = (np.array(side) for side in zip(*planned, strict=True))
        place = planned.index((min(apart, other), max(apart, other)))
        weight = 1 / se**2
        noise = self._draws * se
        limit = float(special.chdtri(len(se) - 1, self.alpha))

        def share(gap: float) -> float:
            values = noise.copy()
            values[:, apart] += gap
            mean = values @ weight / weight.sum()
            opened = ((values - mean[:, None]) ** 2) @ weight >= limit
            p = 2 * special.ndtr(-np.abs(values[:, i] - values[:, j]) / np.hypot(se[i], se[j]))
            return float(np.mean(opened & holm(p, self.alpha)[:, place]))

        return share
