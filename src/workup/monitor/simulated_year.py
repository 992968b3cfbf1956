"""A simulated year of a deployed model, after a year of baseline: in one group the ranking gets worse from a month on,
and outcomes come weeks after the predictions. For trying a monitor out, and for measuring how soon it notices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from workup import plugins
from workup.stats.random import generator

MODEL, VERSION = "readmission", "1"
START, WATCHED = "2024-01", "2025-01-01"
MONTHS = 24  # a year of baseline and a year that is watched
DRIFTS = "F"  # the group that drifts
_DAY = 86_400_000_000  # microseconds
_EARLIEST, _LATEST = 5, 28  # days until an outcome is known

Table = Mapping[str, np.ndarray[Any, Any]]


class Year(NamedTuple):
    """Predictions and outcomes as two tables, in the order in which they are made and known."""

    predictions: Table
    outcomes: Table


def plan_of(*, acted: bool = False) -> dict[str, Any]:
    """The plan that such a year is watched by."""
    return {
        "model": MODEL,
        "version": VERSION,
        "columns": {
            "outcome": "readmitted",
            "known": "known",
            "groups": ["sex"],
            "inputs": ["age", "creatinine"],
            **({"acted": "acted"} if acted else {}),
        },
        "label_delay": 30,
        "baseline": {"until": WATCHED},
        "thresholds": [0.2],
        "owner": "Ward lead for readmissions",
        "action": "Review twenty flagged patients, then decide on recalibration",
        "escalation": "Model oversight board, within two weeks",
        "watch": [
            {"metric": "auroc", "limit": 0.05},
            {"metric": "auroc", "by": "sex", "limit": 0.08, "owner": "Equity lead"},
            {"metric": "calibration_slope", "limit": 0.2},
            {"metric": "oe_ratio", "limit": 0.2},
            {"metric": "sensitivity", "at": {"threshold": 0.2}, "gap": "sex", "limit": 0.1, "owner": "Equity lead"},
        ],
    }


def simulated_year(
    seed: int, *, rows_a_month: int = 1_200, drift_month: int | None = 8, auroc: float = -0.15, until: int | None = None
) -> Year:
    """Two years of rows; in the second, from a month counted from 1, the AUROC of one group differs.

    Without a `drift_month` nothing changes; `until` lets the change end with that month.
    """
    parts = [_group(level, seed, rows_a_month // 2, drift_month, auroc, until) for level in (DRIFTS, "M")]
    table = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.argsort(table["time"], kind="stable")
    table = {name: column[order] for name, column in table.items()}
    count = len(order)
    rng = generator(seed, "simulated year")
    known = table["time"] + (rng.uniform(_EARLIEST, _LATEST, count) * _DAY).astype("timedelta64[us]")
    ids = np.array([f"{seed}-{number:07d}" for number in range(count)])
    predictions = {"id": ids, **{name: table[name] for name in ("time", "risk", "sex", "age", "creatinine")}}
    by_known = np.argsort(known, kind="stable")
    outcomes = {"id": ids[by_known], "readmitted": table["outcome"][by_known], "known": known[by_known]}
    return Year(predictions, outcomes)


def _group(level: str, seed: int, rows: int, month: int | None, auroc: float, until: int | None) -> dict[str, Any]:
    """All months of one group: before, during and after its change, each from a plan of its own."""
    make = plugins.find("generators", "cohort")
    first = MONTHS if month is None or level != DRIFTS else MONTHS // 2 + month - 1
    last = MONTHS if until is None else MONTHS // 2 + until
    parts = []
    for number, (begin, end, change) in enumerate(((0, first, 0.0), (first, last, auroc), (last, MONTHS, 0.0))):
        if end <= begin:
            continue
        start = str(np.datetime64(START, "M") + begin)
        plan = {
            "months": end - begin,
            "start": start,
            "groups": {"sex": {level: 1.0}},
            "prevalence": 0.2,
            "auroc": 0.8 + change,
            "thresholds": [0.2],
        }
        own = int(generator(seed, "simulated year", level, str(number)).integers(2**31))
        parts.append(make((end - begin) * rows, seed=own, plan=plan).table)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
