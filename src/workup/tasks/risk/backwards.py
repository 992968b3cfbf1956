"""Risks that run backwards: those with the event were given the lower ones, as when survival is given for risk."""

from __future__ import annotations

import re

import numpy as np

from workup.metric import Interval
from workup.scores import Scores
from workup.tasks.risk.calibration_metrics import calibration_metrics
from workup.tasks.risk.discrimination import discrimination

_NAME = re.compile(r"[A-Za-z_]\w*")


def runs_backwards(scores: Scores, column: str | None) -> dict[str, str] | None:
    """What must be read first where the AUROC is surely below 0.5, or the calibration slope surely below 0.

    A model that merely ranks no better than chance has an interval that reaches 0.5, and nothing is said of it.
    """
    auroc, slope = (_interval(name, scores) for name in ("auroc", "calibration_slope"))
    seen = []
    if auroc is not None and auroc[1].high is not None and auroc[1].high < 0.5:
        seen.append(f"AUROC {auroc[0]:.2f}, 95 % interval {auroc[1].low:.2f} to {auroc[1].high:.2f}")
    if slope is not None and slope[1].high is not None and slope[1].high < 0:
        seen.append(f"calibration slope {slope[0]:.2f}, 95 % interval {slope[1].low:.2f} to {slope[1].high:.2f}")
    if not seen:
        return None
    told = f"THE RISKS RUN BACKWARDS: patients with the event were given the lower risks ({'; '.join(seen)})."
    remedy = f"{_remedy(column)} Or the outcome is coded the other way round. Until then no figure means what it says."
    return {"code": "runs_backwards", "sentence": told, "remedy": remedy}


def _interval(name: str, scores: Scores) -> tuple[float, Interval] | None:
    [metric] = [one for one in (*discrimination(), *calibration_metrics()) if one.name == name]
    value = metric.value(scores)
    if not np.isfinite(value) or metric.interval is None:
        return None
    found = metric.interval(scores, 0.95)
    return (value, found) if found.status == "ok" else None


def _remedy(column: str | None) -> str:
    if column is None:
        return (
            "The model may answer the chance of NOT having the event (in scikit-learn, the other column of "
            "predict_proba): then have it answer 1 minus that."
        )
    named = f', as in risk: "1 - {column}"' if _NAME.fullmatch(column) else ""
    return (
        f"The risk column may hold the chance of NOT having the event, such as survival: then give 1 minus it{named}."
    )
