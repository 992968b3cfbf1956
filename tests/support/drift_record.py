"""A record of the drift lens made by hand: six watched months, two of which could not be judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workup.estimate import Estimate
from workup.metric import in_order
from workup.report import LensResult, Report
from workup.task import primary_of
from workup.tasks.risk import RiskTask
from workup.tasks.risk.cards import CARDS

MONTHS = [f"2015-{month:02d}" for month in range(1, 7)]
STATUS = ["ok", "ok", "insufficient", "ok", "ok", "immature"]
BOUND = 1.2


def window(name: str, period: str, status: str = "ok", **fields: Any) -> dict[str, Any]:
    reason = {
        "insufficient": "41 rows; at least 100 are needed",
        "immature": "its outcomes are known from 2015-07-31 on",
    }
    year, month = int(name[:4]), int(name[5:7])
    after = f"{year + month // 12}-{month % 12 + 1:02d}-01"
    plain = {"window": name, "period": period, "start": f"{name[:7]}-01", "end": after, "rows": 900, "patients": 880}
    return {**plain, "events": 200, "waiting": 0, "status": status, "reason": reason.get(status, ""), **fields}


def figure(metric: str, value: float | None, half: float, keys: dict[str, Any], **fields: Any) -> Estimate:
    ends = {"low": None if value is None else value - half, "high": None if value is None else value + half}
    plain: dict[str, Any] = {"level": 0.95, "method": "made up", "n_patients": 900, "n_rows": 900, "n_events": 200}
    return Estimate(metric=metric, slice=keys, value=value, se=half / 2, **{**ends, **plain, **fields})


def states(
    metric: str,
    values: Sequence[float | None],
    *,
    keys: dict[str, Any] | None = None,
    kind: str = "performance",
    baseline: float = 0.8,
    statistic: Sequence[float] = (0.0,) * 6,
    chart: str = "ewma",
) -> list[dict[str, Any]]:
    rows = []
    for name, value, at in zip(MONTHS, values, statistic, strict=True):
        known = value is not None
        rows.append(
            {
                "chart": chart,
                "type": kind,
                "metric": metric,
                "slice": keys or {},
                "window": name,
                "value": value,
                "se": 0.02 if known else None,
                "baseline": baseline,
                "z": None if value is None else (value - baseline) / 0.02,
                "statistic": at,
                "lower": -BOUND,
                "upper": BOUND,
                "limit": 3.6,
                "signal": known and abs(at) > BOUND,
                "status": "ok" if known else "insufficient",
                "reason": "" if known else "the window holds too little",
            }
        )
    return rows


def alert(metric: str, keys: dict[str, Any], **fields: Any) -> dict[str, Any]:
    plain = {"type": "performance", "metric": metric, "slice": keys, "window": "2015-04", "severity": "high"}
    life = {"last_window": "2015-05", "worst_window": "2015-05", "resolved_window": "", "quiet": 0, "relapses": 0}
    message = f"{metric} 0.7 against 0.8 in the baseline: a change of -0.1"
    return {**plain, "effect": -0.1, "state": "open", "message": message, **life, **fields}


def compared(window: str, name: str, effect: float | None, limit: float, *, flagged: bool | None, **more: Any) -> Any:
    row = {"window": window, "input": name, "test": "Kolmogorov–Smirnov", "statistic": 0.2, "p": 0.001}
    return {**row, "p_adjusted": 0.002, "effect": effect, "effect_is": "Wasserstein/SD", "limit": limit} | {
        "flagged": flagged,
        "reason": "" if flagged is not None else "insufficient: 12 patients; at least 20 are needed",
        **more,
    }


def trend(metric: str, slope: float | None, reason: str = "", **fields: Any) -> dict[str, Any]:
    ends = {"low": None if slope is None else slope - 0.1, "high": None if slope is None else slope + 0.1}
    plain: dict[str, Any] = {"metric": metric, "slice": {}, "type": "performance", "slope_a_year": slope, **ends}
    return {**plain, "crosses": None, "reason": reason, **fields}


FELL = (0.80, 0.79, None, 0.71, 0.70, None)
DOWN = (0.0, -0.1, -0.1, -1.5, -2.5, -2.5)
SETTINGS = {"window": "month", "label_delay": 30.0, "by": ["sex"], "chance": 0.05, "quiet": 3, "small": "insufficient"}


def result(**fields: Any) -> LensResult:
    """Six watched months, two of which could not be judged, in which AUROC fell and an input stopped coming."""
    at = {"threshold": 0.2}
    estimates = (
        figure("auroc", 0.80, 0.02, {"window": "baseline"}, n_patients=9_000),
        figure("sensitivity", 0.60, 0.03, {"window": "baseline", **at}),
        figure("auroc", 0.80, 0.03, {"window": "baseline", "sex": "F"}),
        figure("auroc", 0.70, 0.05, {"window": "latest"}),
        figure("sensitivity", 1.0, 0.0, {"window": "latest", **at}),
        figure("auroc", None, 0.0, {"window": "latest", "sex": "F"}, status="undefined", reason="no events"),
    )
    charts = [
        *states("auroc", FELL, statistic=DOWN),
        *states("sensitivity", (0.6,) * 6, keys=at, baseline=0.6),
        *states(
            "specificity", (0.9, 0.9, None, 0.95, 0.97, None), keys=at, baseline=0.9, statistic=(0, 0, 0, 1, 1.4, 1.4)
        ),
        *states("auroc", (0.0, 0.01, None, 0.1, None, None), keys={"sex": "F"}, kind="fairness", baseline=0.0),
    ]
    tables = {
        "windows": [
            *(window(f"2014-{month:02d}", "baseline") for month in range(1, 13)),
            *(window(name, "watched", status) for name, status in zip(MONTHS, STATUS, strict=True)),
        ],
        "inputs": [
            compared("2015-05", "age", 0.3, 0.1, flagged=True, psi=0.2, psi_null=0.05),
            compared("2015-06", "age", 0.05, 0.1, flagged=False, psi=0.02, psi_null=0.05),
            compared("2015-06", "lactate (missing)", 0.4, 0.05, flagged=True, baseline=0.01, now=0.41),
            compared("2015-06", "unit", None, 0.1, flagged=True),
            compared("2015-06", "weight", None, 0.1, flagged=None, test=None, effect_is=None, p_adjusted=None),
        ],
        "kinds": [
            {"window": "2015-04", "kind": "prior", "baseline": 0.2, "now": 0.2, "low": -0.02, "high": 0.02, "p": 0.9},
            {"window": "2015-05", "kind": "prior", "baseline": 0.2, "now": 0.26, "low": 0.02, "high": 0.1, "p": 0.02},
            {"window": "2015-05", "kind": "concept", "metric": "calibration_slope", "p": 0.04, "reason": ""},
            {
                "window": "2015-05",
                "kind": "concept",
                "metric": "calibration_in_the_large",
                "p": None,
                "reason": "too sure",
            },
        ],
        "drift_kind": [
            {"window": "2015-04", "drift": "none", "reason": "", "options": ""},
            {"window": "2015-05", "drift": "concept", "reason": "outcomes follow the risks in another slope"}
            | {"options": "recalibration of intercept and slope"},
        ],
        "forecast": [
            trend("sensitivity", None, "3 windows with a value; a trend needs at least 4"),
            trend("auroc", -0.3, crosses="2015-09-01", crosses_low="2015-07-10", crosses_high=None),
            trend("specificity", 0.2, "it moves for the better"),
        ],
        "without_labels": [
            {
                "window": "2015-05",
                "status": "ok",
                "metric": "auroc",
                "slice": {},
                "value": 0.8,
                "low": 0.78,
                "high": 0.82,
            }
            | {"rows": 900},
            {"window": "2015-06", "status": "immature", "metric": "auroc", "slice": {}, "value": 0.79, "low": None}
            | {"high": None, "rows": 890},
        ],
        "held_back": [],
        "holdings": {"label_delay_days": {"p25": 10.0, "median": 21.0, "p75": 30.0, "p90": 45.0}},
    }
    alerts = (
        alert("auroc", {}),
        alert("oe_ratio", {"sex": "F"}, severity="medium", state="acknowledged", relapses=2),
        alert("ppv", at, state="resolved", window="2015-01", resolved_window="2015-05"),
        alert("lactate (missing)", {"input": "lactate (missing)"}, type="input", message="lactate (missing): 0.4"),
    )
    given = {"tables": tables, "alerts": alerts, "charts_state": tuple(charts), **fields}
    return LensResult("drift", settings=SETTINGS, estimates=estimates, **given)


def report(found: LensResult, **columns: Any) -> Report:
    corpus = {"name": "c", "version": "", "seed": 0, "n_cases": 1, "n_patients": 1, "sha256": ""}
    study = {"name": "s", "task": "risk", "columns": {"outcome": "y", **columns}}
    own = {"metrics": in_order(CARDS), "primary": primary_of(RiskTask, study)}
    made = Report(study, corpus, {"name": "m", "version": ""}, 0, {"drift": found}, **own)
    return Report.from_dict(made.as_dict())
