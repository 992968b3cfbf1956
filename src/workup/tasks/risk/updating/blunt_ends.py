"""The ends of an update as a file may hold them: those of its steps, and those of the risks that it was fitted on,
would be the risks of single patients. Knows an update and the rows that made it; decides nothing of its method."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from workup.scores import Levels
from workup.stats import isotonic
from workup.stats.arrays import Bools, Floats, Ints
from workup.stats.calibration import CLIP, logit
from workup.stats.updating import FEWEST_PATIENTS, Sample, Update
from workup.tasks.risk.updating.procedure import Mending

_STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0)  # of log odds, to which the least and the greatest are rounded outwards
_LEAST = -14.0  # below the log odds of any risk, since these are clipped


def blunted(mending: Mending, sample: Sample, levels: Levels | None, *, k: int) -> Mending:
    """The same update with no end that is of fewer than `k` patients."""
    if k <= 1:
        return mending
    rows: Mapping[str, Bools] = {"": np.ones(len(sample.outcome), dtype=bool)}
    if levels is not None:
        rows = dict(levels.masks())
    return Mending(
        {level: _blunted(one, sample.take(rows[level]), k) for level, one in mending.updates.items()}, mending.group
    )


def _blunted(update: Update, sample: Sample, k: int) -> Update:
    if sample.weight is not None:
        sample = sample.take(sample.weight > 0)
    if not sample.outcome.size:
        return update
    known, patient = np.clip(sample.risk, CLIP, 1 - CLIP), sample.clusters
    lp = logit(known)
    low, high = _least(lp, patient, k), -_least(-lp, patient, k)
    parameters = update.parameters
    if update.method == "isotonic":
        steps = isotonic.pooled(sample.outcome, known, sample.weight)
        steps = isotonic.merged(steps, known, patient, fewest=max(FEWEST_PATIENTS, k))
        x, y = _of_many(steps, known, patient, k).points()
        parameters = {"x": isotonic.blurred(x).tolist(), "y": y.tolist()}
    return replace(update, parameters=parameters, fitted_on=(low, high))


def _least(lp: Floats, patient: Ints, k: int) -> float:
    """The least log odds, rounded down so far that at least `k` patients lie within one step of where they come to.

    >>> _least(np.array([-2.21, -0.31, -0.32, -0.33, 0.6]), np.arange(5), 3)
    -4.0
    >>> _least(np.array([-2.21, -2.22, -2.28, 0.6]), np.arange(4), 3)
    -2.3
    """
    for step in _STEPS:
        low = round(math.floor(float(lp.min()) / step) * step, 1)
        if np.unique(patient[lp < low + step]).size >= k:
            return low
    return _LEAST


def _of_many(steps: isotonic.Steps, risk: Floats, patient: Ints, k: int) -> isotonic.Steps:
    """The steps, each from the mean of the least risks of `k` patients in it to that of the greatest."""
    inside = np.searchsorted(steps.first, risk, side="right") - 1
    first, last = steps.first.copy(), steps.last.copy()
    for place in range(len(first)):
        own = np.flatnonzero(inside == place)
        for ends, sign in ((first, 1.0), (last, -1.0)):
            order = own[np.argsort(sign * risk[own], kind="stable")]
            _, each = np.unique(patient[order], return_index=True)  # of each patient the row that is nearest the end
            ends[place] = float(np.mean(risk[order[np.sort(each)[:k]]]))
    return isotonic.Steps(first, last, steps.share, steps.weight)
