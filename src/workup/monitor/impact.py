"""What became of the model's alarms, window by window: counted, and never called an effect. Knows no chart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from workup.monitor.plan import Plan
from workup.monitor.scoring import Rows
from workup.monitor.watching import ALL
from workup.report import canonical
from workup.stats.intervals import wilson

NOTE = "Counts of what happened. They describe, and do not show what the model changed."


def impact(rows: Rows, plan: Plan) -> Iterator[dict[str, Any]]:
    """Alarms fired, acted on and overridden at each threshold, and the share with the event, each with its interval."""
    labelled = rows.labelled
    yield _share("outcome_rate", {}, int(np.sum(rows.outcome[labelled])), int(labelled.sum()))
    given = np.isfinite(rows.risk)
    told = np.isfinite(rows.acted)
    for threshold in plan.thresholds:
        at = {"threshold": threshold}
        fired = given & (np.nan_to_num(rows.risk) >= threshold)
        yield _share("alarms_fired", at, int(fired.sum()), int(given.sum()))
        if told.any():
            answered = fired & told
            acted = int(np.sum(rows.acted[answered] > 0))
            yield _share("acted_on", at, acted, int(answered.sum()))
            yield _share("overridden", at, int(answered.sum()) - acted, int(answered.sum()))


def _share(metric: str, at: dict[str, float], count: int, of: int) -> dict[str, Any]:
    low, high = wilson(count / of, of) if of else (None, None)
    return {
        "watch": "",
        "kind": "impact",
        "metric": metric,
        "slice": canonical(at),
        "part": ALL,
        "value": count / of if of else None,
        "low": None if low is None else float(low),
        "high": None if high is None else float(high),
        "n": float(of),
        "baseline": None,
        "chart": "",
        "statistic": None,
        "lower": None,
        "upper": None,
        "signal": None,
        "status": "ok" if of else "undefined",
        "reason": "" if of else "no row counts in it",
    }
