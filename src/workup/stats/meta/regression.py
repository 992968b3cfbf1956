"""Meta-regression: do characteristics of sites explain how their estimates differ?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats.arrays import Floats
from workup.stats.intervals import chi2_p
from workup.stats.meta import heterogeneity
from workup.stats.meta.heterogeneity import Method, TestKind


@dataclass(frozen=True)
class Regression:
    """A mixed-effects meta-regression; vectors are in the order of the columns of the design.

    `qm` tests all columns but the constant ones: chi-square on `qm_df` under test "z", else F on `qm_df` and `qm_df2`
    degrees of freedom. `qe` is what the columns leave unexplained. `r2` is the share of tau² that they explain, a
    fraction; NaN where there was none to explain, or none was estimated (FE).
    """

    k: int
    method: str
    test: str
    level: float
    coef: Floats
    se: Floats
    low: Floats
    high: Floats
    p: Floats
    df: float | None
    tau2: float
    qm: float
    qm_df: int
    qm_df2: float | None
    qm_p: float
    qe: float
    qe_df: int
    qe_p: float
    r2: float


def regress(
    yi: npt.ArrayLike,
    vi: npt.ArrayLike,
    design: npt.ArrayLike,
    *,
    method: Method = "REML",
    test: TestKind = "adhoc",
    level: float = 0.95,
) -> Regression:
    """Regress the sites' estimates on a design of one row per site, which holds a column of ones.

    With few sites it finds little and invites chance findings: ten per column is the usual advice.

    >>> found = regress([1.0, 1.2, 1.5, 1.9], [0.04, 0.05, 0.04, 0.06], [[1, 0], [1, 1], [1, 2], [1, 3]])
    >>> found.coef.round(3).tolist(), round(found.qm_p, 3)
    ([0.958, 0.293], 0.096)
    """
    y, v = heterogeneity.checked(yi, vi, method=method, test=test, level=level)
    x = _checked_design(design, y.size)
    model = heterogeneity.site_model(y, v, x)
    tau2 = heterogeneity.tau_squared(model, method)
    at = heterogeneity.profile(model, np.array([tau2]))
    coef, covariance = _fit(y, 1 / (v + tau2), x)
    covariance *= heterogeneity.inflation(at, model.df, test)
    se = np.sqrt(np.diag(covariance))
    df = None if test == "z" else model.df
    half = heterogeneity.critical(level, df) * se
    qm, qm_df, qm_p = _omnibus(coef, covariance, x, df)
    qe = heterogeneity.cochran_q(model)
    return Regression(
        k=y.size,
        method=method,
        test=test,
        level=level,
        coef=coef,
        se=se,
        low=coef - half,
        high=coef + half,
        p=heterogeneity.two_sided_p(coef, se, df),
        df=df,
        tau2=tau2,
        qm=qm,
        qm_df=qm_df,
        qm_df2=df,
        qm_p=qm_p,
        qe=qe,
        qe_df=model.df,
        qe_p=chi2_p(qe, model.df),
        r2=_explained(y, v, tau2, method),
    )


def _checked_design(design: npt.ArrayLike, k: int) -> Floats:
    x = np.asarray(design, dtype=np.float64)
    if x.ndim != 2 or x.shape[0] != k:
        raise ValueError(f"the design needs one row per site ({k}) and one column per coefficient, got {x.shape}")
    if not np.isfinite(x).all():
        raise ValueError(
            "every value of the design must be finite; leave out the sites whose characteristic is unknown"
        )
    if not _constant(x).any():
        raise ValueError("the design needs a column of ones, the level from which the other columns depart")
    if k <= x.shape[1]:
        raise ValueError(f"{x.shape[1]} coefficients need at least {x.shape[1] + 1} sites, got {k}")
    scale = np.abs(x).max(axis=0)
    if (scale == 0).any() or np.linalg.matrix_rank(x / scale) < x.shape[1]:
        raise ValueError("the columns of the design are not independent; leave out those that follow from the others")
    return x


def _constant(x: Floats) -> npt.NDArray[np.bool_]:
    return np.asarray((x == x[0]).all(axis=0) & (x[0] != 0))


def _fit(y: Floats, weight: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Weighted least squares through an orthogonal basis, which unlike X'WX does not square the condition."""
    root = np.sqrt(weight)
    q, r = np.linalg.qr(x * root[:, None])
    inverse = np.linalg.inv(r)
    return np.asarray(inverse @ (q.T @ (y * root))), np.asarray(inverse @ inverse.T)


def _omnibus(coef: Floats, covariance: Floats, x: Floats, df: float | None) -> tuple[float, int, float]:
    """All columns but the constant ones at once: statistic, its degrees of freedom, p."""
    tested = ~_constant(x)
    count = int(tested.sum())
    if count == 0:
        return np.nan, 0, np.nan
    b = coef[tested]
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.sqrt(np.diag(covariance)[tested])
        correlation = covariance[np.ix_(tested, tested)] / np.outer(scale, scale)
        z = b / scale
    if not np.isfinite(correlation).all():  # no residual spread at all under plain Hartung-Knapp
        return np.nan, count, np.nan
    wald = float(z @ np.linalg.solve(correlation, z))
    if df is None:
        return wald, count, chi2_p(wald, count)
    return wald / count, count, float(special.fdtrc(count, df, wald / count))


def _explained(y: Floats, v: Floats, tau2: float, method: Method) -> float:
    """Share of the variance between sites that the design takes away."""
    total = heterogeneity.tau_squared(heterogeneity.site_model(y, v, np.ones((y.size, 1))), method)
    return max(0.0, (total - tau2) / total) if total > 0 else np.nan
