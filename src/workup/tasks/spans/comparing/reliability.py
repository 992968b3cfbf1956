"""Whether a detector's scores mean what they say: of the predictions with such a score, the share that is credited.

Knows scores, outcomes and patients; knows no spans."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from workup.metric import FEWEST_CLUSTERS, share_interval
from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.stats.paired_gaps import patient_gap
from workup.tasks.spans.counting.verdicts import CREDITED, NEUTRAL, REMOVED

BINS = 10


class Reliability:
    """Gathers predictions that have a score and count; neutral ones count on neither side."""

    def __init__(self) -> None:
        self._scores: list[Floats] = []
        self._credited: list[npt.NDArray[np.bool_]] = []
        self._patient: list[npt.NDArray[np.int64]] = []

    def add(self, scores: Floats, outcome: npt.NDArray[np.int8], patient: npt.NDArray[np.int64]) -> None:
        """Predictions of a batch; a score that is not finite stands for none."""
        counted = np.isfinite(scores) & (outcome != NEUTRAL) & (outcome != REMOVED)
        self._scores.append(scores[counted])
        self._credited.append(outcome[counted] == CREDITED)
        self._patient.append(patient[counted])

    def table(self, *, bins: int = BINS) -> dict[str, Any]:
        """Bins of about equal size, or one per value where there are few, lowest first; and the mean over all."""
        scores, patient = np.concatenate(self._scores), np.concatenate(self._patient)
        credited = np.concatenate(self._credited).astype(np.float64)
        if not scores.size:
            return {"bins": [], "reason": "no prediction with a score counts"}
        shares = bool(scores.min() >= 0 and scores.max() <= 1)
        return {
            "bins": [_bin(scores, credited, patient, here) for here in _bins(scores, bins)],
            "predictions": int(scores.size),
            "gap": _gap(scores, credited, patient) if shares else None,
            "reason": None if shares else "scores lie outside 0 to 1, so they are no chances; only their order counts",
        }


def _bins(scores: Floats, bins: int) -> list[npt.NDArray[np.bool_]]:
    """Equal scores are never parted."""
    distinct = np.unique(scores)
    if distinct.size > bins:
        ordered = np.sort(scores)
        cuts = np.unique(ordered[(np.arange(bins) * ordered.size) // bins])  # where each tenth begins
    else:
        cuts = distinct
    place = np.searchsorted(cuts, scores, side="right")
    return [place == one for one in range(1, len(cuts) + 1)]


def _bin(
    scores: Floats, credited: Floats, patient: npt.NDArray[np.int64], here: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    found = Scores.of({"one": np.ones(int(here.sum()))}, patient=patient[here], weight=np.ones(int(here.sum())))
    interval = share_interval(credited[here], np.ones(int(here.sum())), found, 0.95)
    return {
        "from": float(scores[here].min()),
        "to": float(scores[here].max()),
        "predictions": int(here.sum()),
        "patients": found.n_patients,
        "mean_score": float(scores[here].mean()),
        "credited": int(credited[here].sum()),
        "share": float(credited[here].mean()),
        "low": interval.low,
        "high": interval.high,
        "reason": interval.reason if interval.low is None else None,
    }


def _gap(scores: Floats, credited: Floats, patient: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Share credited less mean score, with its interval over patients: below 0 the detector is too sure of itself."""
    value = float(credited.mean() - scores.mean())
    _, code = np.unique(patient, return_inverse=True)
    adds = np.bincount(code, weights=(credited - scores) - value) / scores.size
    if adds.size < FEWEST_CLUSTERS:
        return {"value": value, "low": None, "high": None, "reason": f"insufficient: {adds.size} patients"}
    low, high = patient_gap(value, adds).ends()
    return {"value": value, "low": low, "high": high, "reason": None}
