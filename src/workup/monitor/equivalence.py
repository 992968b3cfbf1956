"""Is a new version of a model equivalent to the one before? Both give risks for the same rows, and the interval of
their paired difference must lie within a margin that was named before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from workup import plugins
from workup.errors import InputError, StudyError
from workup.monitor.plan import Plan, VersionPart, check_known
from workup.monitor.scoring import metrics_of
from workup.scores import OUTCOME, RISK, Scores

BEFORE, AFTER = "risk_before", "risk_after"
_LEVEL = 0.90  # two one-sided tests at 5 % are an interval of 90 %


def equivalence(plan: Plan, part: VersionPart, base: Path) -> dict[str, Any]:
    """The paired comparison that a version declares, from its table of outcome, risk_before and risk_after."""
    assert part.pairs is not None and part.margin is not None
    table = plugins.find("formats", "table")(base / part.pairs)
    columns = {}
    for name in (plan.columns.outcome, BEFORE, AFTER):
        if name not in table:
            raise InputError(f"a column '{name}' was expected", where=part.pairs)
        column = np.asarray(table[name])
        if column.dtype.kind not in "biuf" or not np.isfinite(column.astype(np.float64)).all():
            raise InputError("a number in every row was expected", where=f"{part.pairs}, column '{name}'")
        columns[name] = column.astype(np.float64)
    outcome = columns[plan.columns.outcome]
    risks = [columns[BEFORE], columns[AFTER]]
    if not np.isin(outcome, (0.0, 1.0)).all() or any(np.any((risk < 0) | (risk > 1)) for risk in risks):
        raise InputError("outcomes of 0 or 1 and risks from 0 to 1 were expected", where=part.pairs)
    before, after = (Scores.of({OUTCOME: outcome, RISK: risk}) for risk in risks)
    metrics = metrics_of(plan)
    check_known(plan.watch[0].model_copy(update={"metric": part.metric}), sorted({m.name for m in metrics}))
    metric = next(one for one in metrics if one.name == part.metric)
    if metric.paired is None:
        raise StudyError(f"versions: '{part.metric}' has no paired comparison. To fix: name auroc or a share.")
    gap = metric.paired(before, after, _LEVEL)
    known = gap.low is not None and gap.high is not None
    return {
        "metric": part.metric,
        "difference": gap.value,
        "low": gap.low,
        "high": gap.high,
        "level": _LEVEL,
        "margin": part.margin,
        "rows": len(before),
        "method": gap.method,
        "equivalent": bool(known and -part.margin < gap.low and gap.high < part.margin),  # type: ignore[operator]
        "reason": gap.reason,
    }
