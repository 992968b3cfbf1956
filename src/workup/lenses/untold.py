"""How a lens says that a figure is not told: where it would stand, and why it does not. Decides nothing."""

from __future__ import annotations

import re

from workup.estimate import Estimate

FEW = "it would tell of few patients, or let a group of few be worked out"
_COUNTED = re.compile(r"(?<![\d.,])(\d+)(?= (?:rows?|events?|patients?)\b)")


def untold(e: Estimate, reason: str = FEW) -> Estimate:
    """An estimate with nothing in it but its name and the reason.

    >>> told = Estimate("auroc", {"sex": "X"}, 0.9, 0.8, 1.0, 0.95, "DeLong", 0.1, 3, 4, 1)
    >>> untold(told).value, untold(told).n_patients, untold(told).status
    (None, 0, 'withheld')
    """
    return Estimate(e.metric, e.slice, None, None, None, e.level, "none", None, 0, 0, status="withheld", reason=reason)


def without_small_counts(text: str, k: int) -> str:
    """A sentence in which counts of people from 1 to k - 1 are not told.

    >>> without_small_counts("3 rows; at least 100 are needed", 5)
    'fewer than 5 rows; at least 100 are needed'
    """
    return _COUNTED.sub(lambda found: f"fewer than {k}" if 0 < int(found[1]) < k else found[1], text)
