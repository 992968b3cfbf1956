"""Sizes from a pilot: the standard error it showed, scaled to other numbers of patients."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats.arrays import Floats
from workup.stats.intervals import z_critical
from workup.stats.sizes.proportions import check_error_rates, inside, z_shift


def scaled_size(difference: float, *, se: float, n: float, alpha: float = 0.05, power: float = 0.8) -> float:
    """Patients needed for a difference whose standard error was `se` with n patients (variance falls as 1/n).

    >>> round(scaled_size(0.05, se=0.05, n=100), 1)
    784.9
    """
    check_error_rates(alpha, power)
    if not (se > 0 and n > 0 and difference != 0):
        raise ValueError(f"difference must not be 0, se and n must be positive; got {difference:g}, {se:g} and {n:g}")
    return n * (se * z_shift(alpha, power) / difference) ** 2


def scaled_power(
    difference: npt.ArrayLike, *, se: float, n: float, at: npt.ArrayLike | None = None, alpha: float = 0.05
) -> Floats:
    """Power of a two-sided z test with `at` patients (those of the pilot when left out)."""
    inside("alpha", alpha)
    size = np.asarray(n if at is None else at, dtype=np.float64)
    shift = np.abs(np.asarray(difference, dtype=np.float64)) / (se * np.sqrt(n / size))
    z = z_critical(1 - alpha)
    return np.asarray(special.ndtr(shift - z) + special.ndtr(-shift - z))


def scaled_detectable(
    *, se: float, n: float, at: float | None = None, alpha: float = 0.05, power: float = 0.8
) -> float:
    """The smallest difference that `at` patients (those of the pilot when left out) detect."""
    check_error_rates(alpha, power)
    return z_shift(alpha, power) * se * math.sqrt(n / (n if at is None else at))
