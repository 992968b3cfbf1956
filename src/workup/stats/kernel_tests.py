"""Tests whether many columns together have drifted: maximum mean discrepancy, and a classifier that tells the samples
apart. Both see changes between columns that no single column shows; rows count as independent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats.arrays import Floats
from workup.stats.random import generator

MOST_ROWS = 5_000
_ROWS_FOR_BANDWIDTH = 2_000
_KERNEL_ROWS_AT_ONCE = 512
_MOST_TERMS = 200


# ---- rows ------------------------------------------------------------------------------------------------------------


class Rows(NamedTuple):
    """Both samples with the same columns, no value missing: the reference's rows, then the window's."""

    values: Floats
    reference: int
    window: int


def _rows(reference: npt.ArrayLike, window: npt.ArrayLike, *, seed: int, most: int, scale: bool) -> Rows:
    """At most `most` rows of each side, chosen by the seed, with missing values filled in and marked.

    A missing value becomes the column's median, and a column of zeros and ones beside it says where: no row is dropped
    (with fifty inputs few rows are complete), and a change in what is missing counts as drift. Medians and spreads are
    those of all rows together, since a permutation test holds only if nothing was fitted to one side.
    """
    sides = [_matrix(reference, "reference"), _matrix(window, "window")]
    if sides[0].shape[1] != sides[1].shape[1]:
        raise ValueError(f"both samples need the same columns, got {sides[0].shape[1]} and {sides[1].shape[1]}")
    if most < 2:
        raise ValueError(f"at least 2 rows of each side are needed, got a limit of {most}")
    names = ("reference", "window")
    first, second = (_some(side, most, generator(seed, "rows", name)) for side, name in zip(sides, names, strict=True))
    values = np.concatenate([first, second])
    missing = np.isnan(values)
    if missing.any():
        values = np.where(missing, [_median(column) for column in values.T], values)
    if scale:
        spread = values.std(axis=0)
        values = (values - values.mean(axis=0)) / np.where(np.ptp(values, axis=0) > 0, spread, 1.0)
    marked = missing[:, missing.any(axis=0) & ~missing.all(axis=0)].astype(np.float64)
    return Rows(np.column_stack([values, marked]), len(first), len(second))


def _matrix(values: npt.ArrayLike, name: str) -> Floats:
    table = np.asarray(values, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or table.shape[1] == 0:
        raise ValueError(f"the {name} must be rows by columns, got shape {table.shape}")
    if len(table) < 2:
        raise ValueError(f"the {name} has {len(table)} rows: at least 2 are needed on each side")
    if np.isinf(table).any():
        raise ValueError(
            f"the {name} holds infinite values: replace them by numbers, or by NaN where they mean missing"
        )
    return table


def _some(rows: Floats, most: int, rng: np.random.Generator) -> Floats:
    return rows if len(rows) <= most else rows[np.sort(rng.choice(len(rows), most, replace=False))]


def _median(column: Floats) -> float:
    known = column[~np.isnan(column)]
    return float(np.median(known)) if known.size else 0.0


# ---- maximum mean discrepancy ----------------------------------------------------------------------------------------


class Mmd(NamedTuple):
    """Squared discrepancy, without and with bias, the kernel's bandwidth, and the p of a permutation test."""

    squared: float
    squared_biased: float
    bandwidth: float
    p: float
    permutations: int
    rows_reference: int
    rows_window: int


def mmd(
    reference: npt.ArrayLike,
    window: npt.ArrayLike,
    *,
    seed: int,
    permutations: int = 499,
    most_rows: int = MOST_ROWS,
    scale: bool = True,
) -> Mmd:
    """Maximum mean discrepancy with a Gaussian kernel exp(−d²/2h²) (Gretton and others 2012).

    h is the median distance between two pooled rows (of at most 2,000 chosen rows; the mean of the positive distances
    when most are 0). With `scale` columns are first divided by their standard deviation (of all rows), without which
    the column of the largest unit decides. p compares the unbiased estimate with those of rows dealt anew, the deal
    seen included; 0 permutations leave it NaN.

    >>> found = mmd([[0.0], [1.0], [2.0]], [[5.0], [6.0], [7.0]], seed=1, permutations=0, scale=False)
    >>> round(found.squared, 4), found.bandwidth
    (0.9458, 4.0)
    """
    rows = _rows(reference, window, seed=seed, most=most_rows, scale=scale)
    n, m = rows.reference, rows.window
    values = rows.values - rows.values.mean(axis=0)  # distances from sums of squares lose digits far from 0
    width = _bandwidth(_some(values, _ROWS_FOR_BANDWIDTH, generator(seed, "bandwidth")))
    if width == 0:
        return Mmd(0.0, 0.0, 0.0, 1.0 if permutations else np.nan, permutations, n, m)
    sides = np.zeros((n + m, permutations + 1))
    sides[:n, 0] = 1
    rng = generator(seed, "mmd")
    for deal in range(1, permutations + 1):
        sides[rng.permutation(n + m)[:n], deal] = 1
    within, between, other = _kernel_sums(values, sides, width)
    unbiased = (within - n) / (n * (n - 1)) + (other - m) / (m * (m - 1)) - 2 * between / (n * m)
    biased = within[0] / n**2 + other[0] / m**2 - 2 * between[0] / (n * m)
    as_far = int(np.count_nonzero(unbiased[1:] >= unbiased[0] - 1e-12))
    p = (1 + as_far) / (1 + permutations) if permutations else np.nan
    return Mmd(float(unbiased[0]), float(max(0.0, biased)), width, p, permutations, n, m)


def _bandwidth(values: Floats) -> float:
    squares = _squared_distances(values, values)
    distances = np.sqrt(squares[np.triu_indices(len(values), 1)])
    middle = float(np.median(distances))
    if middle > 0:
        return middle
    positive = distances[distances > 0]
    return float(positive.mean()) if positive.size else 0.0


def _squared_distances(a: Floats, b: Floats) -> Floats:
    squares = (-2 * a) @ b.T
    squares += np.sum(a * a, axis=1)[:, None]
    squares += np.sum(b * b, axis=1)
    return np.maximum(squares, 0.0, out=squares)


def _kernel_sums(values: Floats, sides: Floats, width: float) -> tuple[Floats, Floats, Floats]:
    """For each deal of the rows to two sides the kernel summed within the one, between both, and within the other.

    The kernel is made strip by strip above its diagonal and never held whole: it is symmetric, and 10,000 rows would
    take 800 MB.
    """
    total = np.zeros(len(values))
    within = np.zeros(sides.shape[1])
    for begin in range(0, len(values), _KERNEL_ROWS_AT_ONCE):
        end = min(begin + _KERNEL_ROWS_AT_ONCE, len(values))
        kernel = _squared_distances(values[begin:end], values[begin:])
        kernel *= -0.5 / width**2
        np.exp(kernel, out=kernel)
        np.einsum("ii->i", kernel[:, : end - begin])[:] = 1.0  # no row is away from itself, whatever was rounded
        total[begin:end] += kernel.sum(axis=1)
        total[end:] += kernel[:, end - begin :].sum(axis=0)
        kernel[:, end - begin :] *= 2
        within += np.einsum("ib,ib->b", sides[begin:end], kernel @ sides[begin:])
    touching = total @ sides
    return within, touching - within, total.sum() - 2 * touching + within


# ---- classifier ------------------------------------------------------------------------------------------------------


class ClassifierTest(NamedTuple):
    """How well a classifier tells the window from the reference on rows it was not fitted to.

    `se` is the spread of that AUC when rows are dealt anew, and p the share of deals that reach it.
    """

    auc: float
    se: float
    p: float
    permutations: int
    folds: int
    terms: int
    rows_reference: int
    rows_window: int


def classifier_test(
    reference: npt.ArrayLike,
    window: npt.ArrayLike,
    *,
    seed: int,
    folds: int = 5,
    permutations: int = 499,
    most_rows: int = MOST_ROWS,
) -> ClassifierTest:
    """A two-sample test by classification (Lopez-Paz and Oquab 2017): without drift the AUC is 0.5.

    A ridge discriminant of the columns' normal scores, their squares and, up to 200 terms in all, their products: it
    sees shifts, changes of spread and of correlation. Scores are of pooled ranks, so units and long tails do not
    matter. The AUC is the mean over folds of rows held out. Folds share rows they are fitted to, and the rank-sum test
    of that mean would be wrong twice as often as it says; so labels are dealt anew within folds, which for a linear fit
    costs one product, and all is fitted again.

    >>> rng = np.random.default_rng(1)
    >>> found = classifier_test(rng.normal(size=(300, 2)), rng.normal(0.5, 1, size=(300, 2)), seed=1)
    >>> bool(found.auc > 0.6), found.p
    (True, 0.002)
    """
    rows = _rows(reference, window, seed=seed, most=most_rows, scale=False)
    n, m = rows.reference, rows.window
    if folds < 2 or permutations < 1:
        raise ValueError(f"at least 2 folds and 1 permutation are needed, got {folds} and {permutations}")
    if min(n, m) < 2 * folds:
        raise ValueError(f"{folds} folds need {2 * folds} rows on each side, got {n} and {m}")
    terms = _terms(rows.values)
    rng = generator(seed, "folds")
    fold = np.concatenate([rng.permutation(np.arange(size) % folds) for size in (n, m)])
    labels = _deals(np.repeat([0.0, 1.0], [n, m]), fold, permutations, rng)
    if terms.shape[1] == 0:  # every column is constant, the same on both sides
        return ClassifierTest(0.5, 0.0, 1.0, permutations, folds, 0, n, m)
    auc = np.zeros(permutations + 1)
    for held_out in range(folds):
        inside = fold != held_out
        weights = _discriminants(terms[inside], labels[:, inside])
        auc += _aucs(terms[~inside], weights, labels[:, ~inside]) / folds
    as_far = int(np.count_nonzero(auc[1:] >= auc[0] - 1e-12))
    p = (1 + as_far) / (1 + permutations)
    return ClassifierTest(float(auc[0]), float(auc[1:].std()), p, permutations, folds, terms.shape[1], n, m)


def _deals(label: Floats, fold: npt.NDArray[np.intp], permutations: int, rng: np.random.Generator) -> Floats:
    """The labels as they are, then dealt anew inside each fold, so that every fold keeps its share of both sides."""
    labels = np.tile(label, (permutations + 1, 1))
    for one in np.unique(fold):
        rows = np.flatnonzero(fold == one)
        labels[1:, rows] = rng.permuted(labels[1:, rows], axis=1)
    return labels


def _terms(values: Floats) -> Floats:
    """Normal scores, their squares and products, standardised; columns that do not vary are left out."""
    scores = special.ndtri((_midranks(values) - 0.5) / len(values))[:, np.ptp(values, axis=0) > 0]
    k = scores.shape[1]
    first, second = np.triu_indices(k) if k * (k + 3) // 2 <= _MOST_TERMS else (np.arange(k), np.arange(k))
    terms = np.column_stack([scores, scores[:, first] * scores[:, second]])
    spread = terms.std(axis=0)
    varied = spread > 1e-9  # the square of two equally frequent values does not vary
    return np.asarray((terms[:, varied] - terms[:, varied].mean(axis=0)) / spread[varied])


def _midranks(values: Floats) -> Floats:
    """Ranks from 1 within each column, ties sharing their mean."""
    found = np.empty_like(values)
    for column, into in zip(values.T, found.T, strict=True):
        _, code, size = np.unique(column, return_inverse=True, return_counts=True)
        into[:] = (np.cumsum(size) - (size - 1) / 2)[code]
    return found


def _discriminants(terms: Floats, labels: Floats) -> Floats:
    """Ridge regression of every row of labels on the terms; the penalty grows with their number."""
    centred = terms - terms.mean(axis=0)
    information = centred.T @ centred
    information[np.diag_indices_from(information)] += terms.shape[1]
    return np.asarray(np.linalg.solve(information, centred.T @ labels.T))


def _aucs(terms: Floats, weights: Floats, labels: Floats) -> Floats:
    """The AUC of each column of weights for its own row of labels; equal rows tie and count half."""
    distinct, code = np.unique(terms, axis=0, return_inverse=True)
    belongs = np.zeros((len(terms), len(distinct)), dtype=np.float64)
    belongs[np.arange(len(terms)), code.ravel()] = 1
    both = belongs.sum(axis=0)
    order = np.argsort(np.ascontiguousarray((distinct @ weights).T), axis=1)
    positive = np.take_along_axis(labels @ belongs, order, axis=1)
    negative = both[order] - positive
    below = np.cumsum(negative, axis=1) - negative / 2
    return np.asarray(np.sum(positive * below, axis=1) / (positive.sum(axis=1) * negative.sum(axis=1)))
