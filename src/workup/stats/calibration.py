"""Calibration of predicted risks: slope, calibration-in-the-large and observed/expected, with honest intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import optimize, special

from workup.stats import logistic
from workup.stats.arrays import Floats, Ints
from workup.stats.grouped_logistic import Grouped
from workup.stats.intervals import Ends, Test, chi2_p, t_critical, z_critical

CLIP = 1e-6


def logit(risk: Floats, *, clip: float = CLIP) -> Floats:
    """Log odds, with risks clipped to [1e-6, 1 - 1e-6] because 0 and 1 have none."""
    return np.asarray(special.logit(np.clip(risk, clip, 1 - clip)))


def at_an_end(risk: Floats) -> Ints:
    """1 for a risk of 0, 2 for one of 1 (or nearer to them than 1e-6), 0 for all that have log odds of their own."""
    return np.asarray(np.where(risk < CLIP, 1, np.where(risk > 1 - CLIP, 2, 0)), dtype=np.int64)


def n_clipped(risk: Floats) -> int:
    """How many risks a logit had to clip."""
    return int(np.count_nonzero(at_an_end(risk)))


class Fitted(NamedTuple):
    """One coefficient with its standard error; NaN when the likelihood has no finite maximum."""

    value: float
    se: float


def slope(outcome: Floats, lp: Floats, weight: Floats) -> Fitted:
    """Calibration slope: the coefficient of the log odds in an unpenalised logistic fit (1 is perfect)."""
    fits = logistic.fit(logistic.with_constant(lp), outcome, weight[None, :])
    return Fitted(float(fits.coefficients[0, 1]), float(np.sqrt(fits.inverse_information[0, 1, 1])))


def joint_intercept(outcome: Floats, lp: Floats, weight: Floats) -> Fitted:
    """Intercept of the slope's fit. Not calibration-in-the-large: it can be 0 while O/E is far from 1."""
    fits = logistic.fit(logistic.with_constant(lp), outcome, weight[None, :])
    return Fitted(float(fits.coefficients[0, 0]), float(np.sqrt(fits.inverse_information[0, 0, 0])))


def in_the_large(outcome: Floats, lp: Floats, weight: Floats) -> Fitted:
    """Calibration-in-the-large: the intercept with the log odds as offset (0 is perfect)."""
    fits = logistic.fit(np.ones((lp.size, 1)), outcome, weight[None, :], offset=lp)
    return Fitted(float(fits.coefficients[0, 0]), float(np.sqrt(fits.inverse_information[0, 0, 0])))


# ---- profile likelihood, for independent rows ------------------------------------------------------------------------


def slope_profile(outcome: Floats, lp: Floats, fitted: Fitted, *, level: float = 0.95) -> Ends:
    """Profile-likelihood interval of the slope: the slopes whose deviance, intercept refitted, is not worse by more
    than the chi-square quantile."""
    weight, constant = np.ones(lp.size), np.ones((lp.size, 1))
    middle = float(special.logit(outcome.mean()))

    def profiled(value: float) -> float:
        offset = value * lp
        # The intercept that makes expected equal observed lies where the offset can at most carry it.
        ends = middle - float(offset.max()) - 1e-9, middle - float(offset.min()) + 1e-9
        root = optimize.brentq(lambda a: float(np.sum(logistic.expit(a + offset) - outcome)), *ends, xtol=1e-12)
        return logistic.deviance(np.array([root]), constant, outcome, weight, offset=offset)

    return _profile_ends(profiled, fitted, level)


def in_the_large_profile(outcome: Floats, lp: Floats, fitted: Fitted, *, level: float = 0.95) -> Ends:
    """Profile-likelihood interval of calibration-in-the-large."""
    weight, constant = np.ones(lp.size), np.ones((lp.size, 1))

    def profiled(value: float) -> float:
        return logistic.deviance(np.array([value]), constant, outcome, weight, offset=lp)

    return _profile_ends(profiled, fitted, level)


def _profile_ends(profiled: object, fitted: Fitted, level: float) -> Ends:
    """Where the deviance has risen by the chi-square quantile, either side of the maximum."""
    assert callable(profiled)
    limit = profiled(fitted.value) + z_critical(level) ** 2

    def end(direction: int) -> float:
        reach = z_critical(level) * fitted.se
        for _ in range(40):
            far = fitted.value + direction * reach
            if profiled(far) > limit:
                return float(optimize.brentq(lambda v: profiled(v) - limit, *sorted((fitted.value, far)), xtol=1e-10))
            reach *= 1.6
        return direction * np.inf

    return Ends(end(-1), end(1))


# ---- CR2, for rows that repeat within patients or carry weights -----------------------------------------------------


def slope_robust(
    outcome: Floats, lp: Floats, weight: Floats, cluster: Ints, *, level: float = 0.95
) -> tuple[Ends, float]:
    """CR2 interval of the slope with Satterthwaite's degrees of freedom (Bell and McCaffrey 2002), and its SE."""
    design = logistic.with_constant(lp)
    fits = logistic.fit(design, outcome, weight[None, :])
    mu = special.expit(design @ fits.coefficients[0])
    return _robust(design, outcome, mu, weight, cluster, fits, np.array([0.0, 1.0]), level)


def in_the_large_robust(
    outcome: Floats, lp: Floats, weight: Floats, cluster: Ints, *, level: float = 0.95
) -> tuple[Ends, float]:
    """CR2 interval of calibration-in-the-large, and its SE."""
    design = np.ones((lp.size, 1))
    fits = logistic.fit(design, outcome, weight[None, :], offset=lp)
    mu = special.expit(lp + fits.coefficients[0, 0])
    return _robust(design, outcome, mu, weight, cluster, fits, np.array([1.0]), level)


def _robust(
    design: Floats,
    outcome: Floats,
    mu: Floats,
    weight: Floats,
    cluster: Ints,
    fits: logistic.Fits,
    contrast: Floats,
    level: float,
) -> tuple[Ends, float]:
    value = float(fits.coefficients[0] @ contrast)
    se, df = cr2(design, outcome - mu, weight * mu * (1 - mu), weight, cluster, fits.inverse_information[0], contrast)
    if not (np.isfinite(se) and df >= 1):
        return Ends(np.nan, np.nan), np.nan
    half = t_critical(level, df) * se
    return Ends(value - half, value + half), se


def cr2(
    design: Floats,
    residual: Floats,
    working: Floats,
    weight: Floats,
    cluster: Ints,
    bread: Floats,
    contrast: Floats,
) -> tuple[float, float]:
    """Standard error and Satterthwaite degrees of freedom of a contrast by the CR2 sandwich.

    The usual form adjusts each cluster's residuals by (I - H_ii)^(-1/2), a matrix as large as the cluster. With
    S_i the cluster's information and B the bread, (I - Z B Z')^(-1/2) Z = Z (I - B S)^(-1/2): matrices as small as the
    model suffice, whatever the clusters' sizes.
    """
    units, codes = np.unique(cluster, return_inverse=True)
    k, size = design.shape[1], units.size
    if size < 2:
        return np.nan, 0.0
    scores = np.stack([np.bincount(codes, weights=weight * residual * design[:, i]) for i in range(k)], axis=1)
    information = np.empty((size, k, k))
    for i in range(k):
        for j in range(i, k):
            information[:, i, j] = np.bincount(codes, weights=working * design[:, i] * design[:, j])
            information[:, j, i] = information[:, i, j]
    adjust = _inverse_root(np.eye(k) - bread @ information)
    if not np.isfinite(adjust).all():
        return np.nan, 0.0
    p = np.einsum("uij,jk,k->ui", adjust, bread, contrast)
    variance = float(np.sum(np.einsum("ui,ui->u", p, scores) ** 2))
    f = np.einsum("uij,uj->ui", information, p)
    d = np.einsum("ui,ui->u", p, f)
    pull = np.einsum("ui,ij,uj->u", f, bread, f)
    gram = bread @ (f.T @ f)
    trace, trace_square = float(np.sum(d - pull)), float(np.sum(d**2 - 2 * d * pull) + np.trace(gram @ gram))
    df = trace**2 / trace_square if trace_square > 0 else 0.0
    return float(np.sqrt(variance)), df


def _inverse_root(matrix: Floats) -> Floats:
    """Inverse square roots of a stack of 1×1 or 2×2 matrices with positive eigenvalues; NaN elsewhere."""
    with np.errstate(invalid="ignore", divide="ignore"):
        if matrix.shape[1] == 1:
            return np.where(matrix > 1e-12, 1 / np.sqrt(matrix), np.nan)
        determinant = np.linalg.det(matrix)
        s = np.sqrt(np.where(determinant > 1e-12, determinant, np.nan))
        t = np.sqrt(np.trace(matrix, axis1=1, axis2=2) + 2 * s)
        root = (matrix + s[:, None, None] * np.eye(2)) / t[:, None, None]
        bad = ~np.isfinite(root).all(axis=(1, 2))
        root[bad] = np.eye(2)
        inverse = np.linalg.inv(root)
        inverse[bad] = np.nan
        return inverse


# ---- do groups differ? -----------------------------------------------------------------------------------------------


def intercepts_differ(outcome: Floats, lp: Floats, group: Ints) -> Test:
    """Likelihood ratio that groups share one intercept, a common slope fitted."""
    rows, together = Grouped.of(outcome, lp, group), Grouped.of(outcome, lp, np.zeros_like(group))
    return _saved(together.with_common_slope(), rows.with_common_slope(), rows.sizes.size)


def slopes_differ(outcome: Floats, lp: Floats, group: Ints) -> Test:
    """Likelihood ratio that groups share one slope, each with an intercept of its own."""
    rows = Grouped.of(outcome, lp, group)
    return _saved(rows.with_common_slope(), rows.with_own_slopes(), rows.sizes.size)


def _saved(smaller: float, larger: float, groups: int) -> Test:
    """The deviance that the larger model saves; NaN where either has no finite fit. For one group both are the same."""
    saved = smaller - larger if groups > 1 else 0.0 * (smaller + larger)
    p = chi2_p(max(0.0, saved), groups - 1.0) if np.isfinite(saved) else np.nan
    return Test(saved, p, groups - 1.0)


# ---- observed over expected ------------------------------------------------------------------------------------------


def oe_interval(
    outcome: Floats, risk: Floats, weight: Floats, cluster: Ints, *, level: float = 0.95
) -> tuple[Ends, float]:
    """Interval of O/E on the log scale from the pair of totals, and the log SE.

    Both the events and the sum of the risks come from the patients who happened to be sampled, and they rise and fall
    together: log O/E has the variance of the patients' y/O - p/E (delta method). Taking E as fixed leaves out that
    covariance, and the interval is too wide. Clusters of one row are the case of independent rows.
    """
    observed, expected = float(np.sum(weight * outcome)), float(np.sum(weight * risk))
    _, codes = np.unique(cluster, return_inverse=True)
    pull = np.bincount(codes, weights=weight * (outcome / observed - risk / expected))
    units = pull.size
    if units < 2:
        return Ends(np.nan, np.nan), np.nan
    se = float(np.sqrt(units / (units - 1) * np.sum(pull**2)))
    return _log_ends(observed / expected, t_critical(level, units - 1) * se), se


def oe_interval_expected_fixed(
    observed: float, expected: float, n: float, *, level: float = 0.95
) -> tuple[Ends, float]:
    """The customary interval for independent rows, the expected count taken as fixed; and the log SE."""
    se = float(np.sqrt((1 - observed / n) / observed))
    return _log_ends(observed / expected, z_critical(level) * se), se


def oe_interval_expected_fixed_clustered(
    outcome: Floats, risk: Floats, weight: Floats, cluster: Ints, *, level: float = 0.95
) -> tuple[Ends, float]:
    """The customary interval from the totals per cluster, with a t quantile; clusters of one row give the customary
    standard error of independent rows."""
    ratio = float(np.sum(weight * outcome) / np.sum(weight * risk))
    _, codes = np.unique(cluster, return_inverse=True)
    residual = np.bincount(codes, weights=weight * (outcome - np.average(outcome, weights=weight)))
    units = residual.size
    se = float(np.sqrt(units / (units - 1) * np.sum(residual**2)) / np.sum(weight * outcome))
    return _log_ends(ratio, t_critical(level, units - 1) * se), se


def _log_ends(ratio: float, half: float) -> Ends:
    with np.errstate(over="ignore"):  # at extreme levels the high end is beyond all numbers, and infinite says so
        return Ends(float(ratio * np.exp(-half)), float(ratio * np.exp(half)))


# ---- Spiegelhalter's test --------------------------------------------------------------------------------------------


def spiegelhalter(outcome: Floats, risk: Floats, weight: Floats | None = None, cluster: Ints | None = None) -> Test:
    """Spiegelhalter's z: is the Brier score what it would be if every risk were right (1986)?

    z = Σ(y − p)(1 − 2p) / √Σ(1 − 2p)² p(1 − p), as rms::val.prob computes it. That variance holds for independent rows
    only; with `cluster` it is the sum of squared cluster totals, which allows for any dependence within a cluster and
    for weights. NaN where all risks are 0, ½ or 1, which leaves no variance, and where an outcome contradicts a risk of
    exactly 0 or 1, which is impossible if the risks are right: there is nothing left to test.
    """
    if np.any((risk == 0) & (outcome > 0)) or np.any((risk == 1) & (outcome < 1)):
        return Test(np.nan, np.nan)
    pull = (outcome - risk) * (1 - 2 * risk)
    if cluster is None:
        total, variance = float(pull.sum()), float(np.sum((1 - 2 * risk) ** 2 * risk * (1 - risk)))
    else:
        _, codes = np.unique(cluster, return_inverse=True)
        totals = np.bincount(codes, weights=pull if weight is None else weight * pull)
        total, variance = float(totals.sum()), float(np.sum(totals**2))
    if not variance > 0:
        return Test(np.nan, np.nan)
    z = total / np.sqrt(variance)
    return Test(float(z), float(2 * special.ndtr(-abs(z))))
