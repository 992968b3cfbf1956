"""The scale on which a metric is about normal (identity, logit or log): the way there and back. Undefined is None."""

from __future__ import annotations

import numpy as np
from scipy import special


def there(value: float, scale: str) -> float:
    """From the natural scale to the metric's own; a share of 0 or 1 has no logit and gives an infinity.

    >>> there(0.5, "logit"), there(1.0, "log"), there(0.3, "identity")
    (0.0, 0.0, 0.3)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return float({"logit": special.logit, "log": np.log}.get(scale, float)(value))


def back(value: float | None, scale: str) -> float | None:
    """From the metric's own scale to the natural one.

    >>> back(0.0, "logit"), back(0.0, "log"), back(None, "logit")
    (0.5, 1.0, None)
    """
    if value is None or not np.isfinite(value):
        return None
    return float({"logit": special.expit, "log": np.exp}.get(scale, float)(value))


def steepness(value: float, scale: str) -> float:
    """How fast the natural value moves with that on the metric's scale: turns standard errors into each other.

    >>> steepness(0.5, "logit"), steepness(0.8, "log"), steepness(0.8, "identity")
    (0.25, 0.8, 1.0)
    """
    return {"logit": value * (1 - value), "log": value}.get(scale, 1.0)


def or_none(value: float | None) -> float | None:
    """Undefined is None; a count stays whole.

    >>> or_none(float("nan")), or_none(3), or_none(0.5)
    (None, 3, 0.5)
    """
    if value is None or not np.isfinite(value):
        return None
    return value if isinstance(value, int) else float(value)
