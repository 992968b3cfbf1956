"""A share read off by an imperfect reader, corrected for its errors.

Rogan and Gladen (1978), American Journal of Epidemiology 107:71-76; the interval by the delta method counts the error
of the share and of both rates of the reader (Reiczigel, Földi and Ózsvári 2010 discuss its coverage).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workup.stats.intervals import Ends, z_critical


class Corrected(NamedTuple):
    """The corrected share, its standard error and interval, all in [0, 1]."""

    value: float
    low: float
    high: float
    se: float


def corrected_share(
    share: float, se: float, *, sensitivity: tuple[int, int], specificity: tuple[int, int], level: float = 0.95
) -> Corrected | None:
    """The true share behind one that a reader reports; None where the reader is no better than chance.

    `sensitivity` and `specificity` are counts of right answers and of all labelled cases of their kind.

    >>> found = corrected_share(0.80, 0.02, sensitivity=(95, 100), specificity=(90, 100))
    >>> round(found.value, 4), found.low < found.value < found.high
    (0.8235, True)
    """
    if not sensitivity[1] or not specificity[1]:
        return None
    right, kept_out = sensitivity[0] / sensitivity[1], specificity[0] / specificity[1]
    youden = right + kept_out - 1
    if youden <= 0:
        return None
    value = (share + kept_out - 1) / youden
    inside = float(np.clip(value, 0.0, 1.0))
    variance = (se**2 + inside**2 * _variance(*sensitivity) + (1 - inside) ** 2 * _variance(*specificity)) / youden**2
    spread = float(np.sqrt(variance))
    ends = Ends(*(float(np.clip(value + sign * z_critical(level) * spread, 0.0, 1.0)) for sign in (-1, 1)))
    return Corrected(inside, ends.low, ends.high, spread)


def _variance(right: int, n: int) -> float:
    """Of a share, with Agresti and Coull's two added successes and failures: none wrong is not the same as no error."""
    share = (right + 2) / (n + 4)
    return share * (1 - share) / (n + 4)
