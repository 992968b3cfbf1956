"""Whether levels have the same share of rows when rows come in patients."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from workup.stats.intervals import Test, chi2_p

_ZERO = 1e-12  # of the variance of all rows: a direction in which the levels cannot differ


def equal_shares(hit: npt.ArrayLike, level: npt.ArrayLike, *, patient: npt.ArrayLike | None = None) -> Test:
    """Score test that all levels (codes 0, 1, …) have one share of hits, rows of a patient being alike.

    The covariance of the levels' counts is that of an exchangeable correlation within patients, which is estimated
    from all rows under the hypothesis: levels may change from row to row of a patient, or be the patient's own. With
    one row a patient it is Pearson's chi-square. p is NaN where there is nothing to compare.

    >>> found = equal_shares([1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1])
    >>> round(found.statistic, 6), found.df
    (3.0, 1)
    """
    y = np.asarray(hit, dtype=np.float64)
    _, code = np.unique(np.asarray(level), return_inverse=True)
    who = np.arange(y.size) if patient is None else np.unique(np.asarray(patient), return_inverse=True)[1]
    share = y.mean()
    variance = share * (1 - share)
    if variance == 0 or code.max() == 0:
        return Test(np.nan, np.nan, 0)
    rows = np.bincount(who).astype(np.float64)
    hits = np.bincount(who, y)
    within = variance
    if y.size > rows.size:  # what is left of the variance inside patients
        within = min(variance, float(np.sum(hits - hits**2 / rows)) / (y.size - rows.size))
    counts = sparse.csr_array((np.ones(y.size), (who, code)), shape=(rows.size, int(code.max()) + 1))
    size = np.bincount(code).astype(np.float64)
    part = size / y.size
    crossed = np.outer(counts.T @ rows, part)
    alike = (counts.T @ counts).toarray() - crossed - crossed.T + (rows @ rows) * np.outer(part, part)
    covariance = within * (np.diag(size) - np.outer(size, part)) + (variance - within) * alike
    gap = np.bincount(code, y) - size * share
    scale, direction = np.linalg.eigh(covariance)
    used = scale > _ZERO * variance * y.size
    df = int(used.sum())
    if not df:
        return Test(np.nan, np.nan, 0)
    statistic = float(np.sum((direction.T @ gap)[used] ** 2 / scale[used]))
    return Test(statistic, chi2_p(statistic, df), df)
