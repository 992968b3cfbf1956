"""Tables with follow-up: censored, with competing events, tied in whole days, over several hospitals."""

from __future__ import annotations

from typing import Any

import numpy as np

from workup.study import Study

COLUMNS: dict[str, Any] = {
    "followup": {"column": "days", "unit": "d"},
    "status": "ended",
    "risk": {"365d": "p1", "730d": "p2"},
    "patient": "id",
    "groups": ["sex"],
}


def followed_table(
    n: int = 600, *, seed: int = 1, lost: float = 1500.0, competing: float = 4000.0, by_risk: float = 0.0
) -> dict[str, Any]:
    """`lost` and `competing` are mean times in days; with `by_risk` those at risk are lost sooner."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    event = rng.exponential(1000 * np.exp(-x))
    censored = rng.exponential(lost * np.exp(-by_risk * x))
    other = rng.exponential(competing, size=n)
    first = np.minimum(np.minimum(event, censored), other)
    status = np.where(first == event, 1, np.where(first == other, 2, 0))
    rate = 0.95 * np.exp(x) / 1000
    return {
        "days": np.ceil(first),
        "ended": status.astype(float),
        "p1": np.round(1 - np.exp(-365 * rate), 4),
        "p2": np.round(1 - np.exp(-730 * rate), 4),
        "id": np.arange(n).astype(float),
        "sex": rng.choice(["F", "M"], n).astype(object),
        "hospital": rng.choice(["North", "South", "West"], n).astype(object),
        "age": np.round(60 + 10 * x + rng.normal(size=n)),
        "seen": np.datetime64("2018-01-01", "us") + rng.integers(0, 1000, n) * np.timedelta64(86_400_000_000, "us"),
    }


def horizon_study(**changes: Any) -> Study:
    """A study of two horizons; `columns` are added to those of the table above."""
    columns = {**COLUMNS, **changes.pop("columns", {})}
    content: dict[str, Any] = {
        "name": "relapse",
        "task": "horizon",
        "columns": {name: value for name, value in columns.items() if value is not None},
        "thresholds": [0.2],
        "bootstrap": {"replicates": 200},
        "smallest_cell": 1,
    }
    return Study.of({**content, **changes})
