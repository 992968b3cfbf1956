"""Cohen's kappa of answers without an order: any disagreement counts the same. With an interval over clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from workup.stats.arrays import Floats
from workup.stats.intervals import clustered_share, t_critical

_ROUNDING = 1e-12


class NominalKappa(NamedTuple):
    """A mean of kappas over pairs of readers; NaN where the answers leave chance no room, or cannot show an error."""

    value: float
    low: float
    high: float
    agreement: float  # the plain share of equal answers
    clusters: int
    units: int  # that at least one pair answered


def nominal_kappa(
    table: npt.ArrayLike,
    *,
    pairs: Sequence[tuple[int, int]],
    clusters: npt.ArrayLike,
    level: float = 0.95,
) -> NominalKappa:
    """The mean of Cohen's kappas (Light 1971) of these pairs of columns, each over the units that both answered.

    Answers are whole numbers from 0, NaN where there is none. The interval is a delete-one jackknife over clusters
    with a t quantile. So many clusters can only show so much: the low end is never above the one of no disagreement at
    all, 1 − (1 − A) / (1 − chance) with A the most that the low end of their agreement can be.

    >>> table = [[0, 0], [1, 1], [1, 1], [0, 1], [0, 0], [1, 1], [0, 0], [1, 0]]
    >>> found = nominal_kappa(table, pairs=[(0, 1)], clusters=range(8))
    >>> round(found.value, 3), round(found.agreement, 3), found.low < found.value
    (0.5, 0.75, True)
    """
    x = np.asarray(table, dtype=np.float64)
    names, codes = np.unique(np.asarray(clusters), return_inverse=True)
    if x.ndim != 2 or codes.size != x.shape[0]:
        raise ValueError("a table of units by readers and one cluster for each unit were expected")
    known = np.isfinite(x)
    if np.any(x[known] < 0) or np.any(x[known] != np.rint(x[known])):
        raise ValueError("answers must be whole numbers from 0")
    size = int(x[known].max()) + 1 if known.any() else 1
    counts = np.zeros((names.size, len(pairs), size, size))
    for place, (a, b) in enumerate(pairs):
        both = known[:, a] & known[:, b]
        spots = (codes[both], np.full(int(both.sum()), place), *(x[both, side].astype(np.intp) for side in (a, b)))
        np.add.at(counts, spots, 1.0)
    units = int(np.any([known[:, a] & known[:, b] for a, b in pairs], axis=0).sum()) if pairs else 0
    whole = counts.sum(axis=0)
    kappas, chances = _kappas(whole)
    used = np.isfinite(kappas)
    if not used.any():
        return NominalKappa(np.nan, np.nan, np.nan, np.nan, 0, units)
    value, chance = float(kappas[used].mean()), float(chances[used].mean())
    mine = counts[:, used]
    mine = mine[mine.sum(axis=(1, 2, 3)) > 0]
    same = np.einsum("cpii->c", mine)
    share = clustered_share(same, mine.sum(axis=(1, 2, 3)), np.arange(len(mine)), np.ones(len(mine)))
    most = 1 - (1 - share.ceiling(level)) / (1 - chance)
    low, high = value, 1.0
    if share.share < 1:
        low, high = _jackknife(value, _kappas(whole[used] - mine)[0], level)
    low = float(np.maximum(-1.0, np.minimum(low, most)))  # which, unlike max and min, keep what is not known
    return NominalKappa(value, low, high, share.share, len(mine), units)


def _kappas(counts: Floats) -> tuple[Floats, Floats]:
    """Kappa and the agreement of chance of each table in [..., answers, answers]; NaN where chance leaves no room."""
    total = counts.sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = np.einsum("...ii->...", counts) / total
        chance = np.einsum("...i,...i->...", counts.sum(axis=-1), counts.sum(axis=-2)) / total**2
        room = (total > 0) & (1 - chance > _ROUNDING)
        return np.where(room, (observed - chance) / (1 - chance), np.nan), np.where(room, chance, np.nan)


def _jackknife(value: float, without: Floats, level: float) -> tuple[float, float]:
    n = without.shape[0]
    if n < 2 or not np.isfinite(without).all():
        return np.nan, np.nan  # a cluster without which kappa is undefined holds all that is known of it
    means = without.mean(axis=1)
    half = t_critical(level, n - 1) * float(np.sqrt((n - 1) / n * np.sum((means - means.mean()) ** 2)))
    return value - half, min(1.0, value + half)
