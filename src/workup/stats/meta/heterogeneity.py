"""Variance between sites: its estimators, its Q-profile interval, and the weighted fit at a given variance.

Works on one estimate and one sampling variance per site and a design of any width; knows neither sites nor scales.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from workup.stats.arrays import Floats
from workup.stats.intervals import t_critical, z_critical

Method = Literal["REML", "DL", "PM", "ML", "SJ", "HE", "EB", "FE"]
TestKind = Literal["adhoc", "knha", "z"]

GRID_STEP = 0.1  # in log(tau² + smallest variance); the likelihood bends on a scale of 1 there
RELATIVE = 1e-14


@dataclass(frozen=True)
class SiteModel:
    """Estimates `y` with variances `v` on a design, written in an orthonormal basis of its columns.

    `y` is what is left after the fit by 1/v: no result below depends on a shift along the design, and a large common
    value would cost digits.
    """

    y: Floats
    v: Floats
    basis: Floats
    crude: float  # variance of the estimates as they came, divisor k

    @property
    def df(self) -> int:
        """Sites less coefficients."""
        return int(self.basis.shape[0] - self.basis.shape[1])


class Profile(NamedTuple):
    """The weighted fit at each of G values of tau²."""

    weight: Floats  # G × k
    residual: Floats  # G × k
    information: Floats  # G × p × p, X'WX

    @property
    def q(self) -> Floats:
        """Y'PY: the weighted sum of squared residuals."""
        return np.asarray(np.sum(self.weight * self.residual**2, axis=1))


def checked(yi: npt.ArrayLike, vi: npt.ArrayLike, *, method: str, test: str, level: float) -> tuple[Floats, ...]:
    """Estimates and variances as vectors. ValueError when they, or how they are to be pooled, make no sense."""
    y, v = np.asarray(yi, dtype=np.float64), np.asarray(vi, dtype=np.float64)
    if y.ndim != 1 or y.shape != v.shape or y.size == 0:
        raise ValueError(f"expected one estimate and one variance per site, got shapes {y.shape} and {v.shape}")
    if not np.isfinite(y).all():
        raise ValueError(f"every estimate must be finite; leave out {_places(~np.isfinite(y))}")
    if not (np.isfinite(v) & (v > 0)).all():
        wrong = _places(~(np.isfinite(v) & (v > 0)))
        raise ValueError(f"every variance must be finite and above 0, which a site cannot claim; see {wrong}")
    for name, value, known in (("method", method, get_args(Method)), ("test", test, get_args(TestKind))):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    check_level(level)
    return y, v


def check_level(level: float) -> None:
    """ValueError unless a level of confidence lies between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")


def _places(wrong: npt.NDArray[np.bool_]) -> str:
    return "position " + ", ".join(str(i) for i in np.flatnonzero(wrong))


def site_model(y: Floats, v: Floats, design: Floats) -> SiteModel:
    """The model of estimates on a design of full rank."""
    basis = np.asarray(np.linalg.qr(design)[0])
    about = y - np.median(y)  # exactly 0 when all sites agree, which a mean need not give
    shifted = SiteModel(about, v, basis, float(np.var(about)))
    return replace(shifted, y=profile(shifted, np.zeros(1)).residual[0])


def profile(model: SiteModel, tau2: Floats) -> Profile:
    """Weights 1/(v + tau²), the residuals of the weighted fit, and its information."""
    y, x = model.y, model.basis
    k, p = x.shape
    weight = 1 / (model.v + tau2[:, None])
    information = (weight @ (x[:, :, None] * x[:, None, :]).reshape(k, p * p)).reshape(-1, p, p)
    moment = (weight * y) @ x
    if p == 1:
        coefficient = moment / information[:, 0]
    else:
        coefficient = np.asarray(np.linalg.solve(information, moment[:, :, None])[:, :, 0])
    return Profile(weight, y - coefficient @ x.T, information)


def trace_p(model: SiteModel, at: Profile) -> Floats:
    """Trace of P = W − WX(X'WX)⁻¹X'W."""
    x = model.basis
    k, p = x.shape
    squared = (at.weight**2 @ (x[:, :, None] * x[:, None, :]).reshape(k, p * p)).reshape(-1, p, p)
    if p == 1:
        used = squared[:, 0, 0] / at.information[:, 0, 0]
    else:
        used = np.asarray(np.trace(np.linalg.solve(at.information, squared), axis1=1, axis2=2), dtype=np.float64)
    return np.asarray(at.weight.sum(axis=1) - used)


def cochran_q(model: SiteModel) -> float:
    """Q: the weighted sum of squares with no variance between sites."""
    return float(profile(model, np.zeros(1)).q[0])


def typical_variance(model: SiteModel) -> float:
    """Higgins and Thompson's typical sampling variance, (k − p)/tr P at tau² = 0 (for a mean, their s²)."""
    return float(model.df / trace_p(model, profile(model, np.zeros(1)))[0])


def tau_squared(model: SiteModel, method: Method) -> float:
    """The variance between sites, never below 0. EB and PM solve the same equation, so they share one answer."""
    if method == "FE":
        return 0.0
    if method in ("REML", "ML"):
        return _most_likely(model, restricted=method == "REML")
    if method in ("PM", "EB"):
        return _at_q(model, float(model.df))
    return max(0.0, {"DL": _dersimonian_laird, "HE": _hedges, "SJ": _sidik_jonkman}[method](model))


def _dersimonian_laird(model: SiteModel) -> float:
    at = profile(model, np.zeros(1))
    return float((at.q[0] - model.df) / trace_p(model, at)[0])


def _unweighted_residuals(model: SiteModel) -> Floats:
    return model.y - model.basis @ (model.basis.T @ model.y)


def _hedges(model: SiteModel) -> float:
    """Hedges and Olkin: the unweighted residual variance less the mean sampling variance."""
    leverage = np.sum(model.basis**2, axis=1)
    squares = float(np.sum(_unweighted_residuals(model) ** 2))
    return (squares - float(np.sum((1 - leverage) * model.v))) / model.df


def _sidik_jonkman(model: SiteModel) -> float:
    """Sidik and Jonkman's two steps from the crude variance of the estimates; it is 0 only when that is."""
    return model.crude * float(profile(model, np.array([model.crude])).q[0]) / model.df


def _most_likely(model: SiteModel, *, restricted: bool) -> float:
    """Where the (restricted) likelihood of tau² is highest over [0, ∞).

    The likelihood can have several peaks, and a search that climbs from one start stops on any of them. Beyond
    `upper` the score is negative: Y'PPY ≤ RSS/(tau² + least v)² and tr P ≥ (k − p)/(tau² + largest v).
    """
    squares = float(np.sum(_unweighted_residuals(model) ** 2))
    least, most = float(model.v.min()), float(model.v.max())
    n = model.df if restricted else model.y.size
    reach = (squares + np.sqrt(squares**2 + 4 * n * squares * (most - least))) / (2 * n)
    upper = reach - least
    if upper <= 0:
        return 0.0
    span = float(np.log1p(upper / least))
    grid = least * np.expm1(np.linspace(0, span, max(16, int(np.ceil(span / GRID_STEP)) + 1)))

    def score(tau2: Floats) -> Floats:
        at = profile(model, tau2)
        trace = trace_p(model, at) if restricted else at.weight.sum(axis=1)
        return np.asarray(np.sum((at.weight * at.residual) ** 2, axis=1) - trace)

    slope = score(grid)
    slope[-1] = min(slope[-1], 0.0)  # not above 0 but for rounding
    peaks = [0.0] if slope[0] <= 0 else []
    for i in np.flatnonzero((slope[:-1] > 0) & (slope[1:] <= 0)):
        peaks.append(_root(lambda t: float(score(np.array([t]))[0]), float(grid[i]), float(grid[i + 1]), least))
    if len(peaks) == 1:
        return peaks[0]
    return peaks[int(np.argmax(log_likelihood(model, np.array(peaks), restricted=restricted)))]


def log_likelihood(model: SiteModel, tau2: Floats, *, restricted: bool) -> Floats:
    """The (restricted) log-likelihood at each tau², up to a constant."""
    at = profile(model, tau2)
    value = np.sum(np.log(at.weight), axis=1) - at.q
    if restricted:
        value = value - np.linalg.slogdet(at.information)[1]
    return np.asarray(value / 2)


def _root(f: Callable[[float], float], low: float, high: float, scale: float) -> float:
    if f(low) <= 0 or f(high) >= 0:  # the root lies at an end, up to the rounding by which it was bracketed
        return low if f(low) <= 0 else high
    return float(optimize.brentq(f, low, high, xtol=RELATIVE * scale, rtol=RELATIVE))


def _at_q(model: SiteModel, target: float) -> float:
    """The tau² at which Y'PY falls to `target`; 0 when it lies below already. Y'PY ≤ RSS/(tau² + least v)."""

    def excess(tau2: float) -> float:
        return float(profile(model, np.array([tau2])).q[0]) - target

    if excess(0.0) <= 0:
        return 0.0
    upper = float(np.sum(_unweighted_residuals(model) ** 2)) / target
    return _root(excess, 0.0, upper, float(model.v.min()))


def q_profile(model: SiteModel, level: float) -> tuple[float, float]:
    """Viechtbauer's Q-profile interval of tau². When even its upper end would be negative it is given as [0, 0]."""
    tail = (1 - level) / 2
    most, least = (float(special.chdtri(model.df, one)) for one in (tail, 1 - tail))
    return _at_q(model, most), _at_q(model, least)


def inflation(at: Profile, df: int, test: TestKind) -> float:
    """What the variance of a weighted mean is multiplied by: Hartung and Knapp's factor Y'PY/(k − p), 1 for Wald.

    "adhoc" never lets it fall below 1 (Knapp and Hartung 2003; Röver et al. 2015): a few sites that happen to agree
    would otherwise make the interval shorter than that of identical sites, in the end of no width at all.
    """
    if test == "z":
        return 1.0
    factor = float(at.q[0]) / df
    return max(1.0, factor) if test == "adhoc" else factor


def critical(level: float, df: float | None) -> float:
    """The two-sided quantile: of t, or normal when there are no degrees of freedom to count."""
    return z_critical(level) if df is None else t_critical(level, df)


def two_sided_p(estimate: Floats, se: Floats, df: float | None) -> Floats:
    """p of each estimate against 0, by the distribution that `critical` takes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = -np.abs(estimate / se)
    return np.asarray(2 * (special.ndtr(statistic) if df is None else special.stdtr(df, statistic)))


@dataclass(frozen=True)
class HigginsI2:
    """I² from Q, a fraction, with its test-based interval (None for fewer than three sites)."""

    i2: float
    low: float | None
    high: float | None


def higgins_i2(q: float, k: int, level: float = 0.95) -> HigginsI2:
    """I² = (Q − df)/Q with Higgins and Thompson's test-based interval, to compare with I² from tau².

    >>> found = higgins_i2(46.273, 8)
    >>> round(found.i2, 3), round(found.low or 0, 3), round(found.high or 0, 3)
    (0.849, 0.72, 0.918)
    """
    if k < 2 or not q >= 0:
        raise ValueError(f"I² needs Q of at least 0 over two sites or more, got Q = {q} over {k}")
    check_level(level)
    i2 = max(0.0, (q - (k - 1)) / q) if q > 0 else 0.0
    if k == 2:
        return HigginsI2(i2, None, None)
    if q > k:
        se = 0.5 * (np.log(q) - np.log(k - 1)) / (np.sqrt(2 * q) - np.sqrt(2 * k - 3))
    else:
        se = np.sqrt(1 / (2 * (k - 2)) * (1 - 1 / (3 * (k - 2) ** 2)))
    half = z_critical(level) * se
    low, high = (max(1.0, q / (k - 1) * float(np.exp(2 * sign * half))) for sign in (-1, 1))
    return HigginsI2(i2, 1 - 1 / low, 1 - 1 / high)
