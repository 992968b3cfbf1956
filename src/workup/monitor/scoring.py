"""Stored rows as Scores, and the metrics that a plan may follow. The only place that knows which task a model has."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from workup import plugins
from workup.lenses.drift.monitor.state import ACTED
from workup.metric import Column, Metric, mean, ratio
from workup.monitor.plan import Measure, Plan
from workup.scores import OUTCOME, RISK, Levels, Scores, patient_codes
from workup.stats.arrays import Floats, Ints
from workup.study import of_task

SCORES = "scores"  # the task of models whose rows carry named numbers
LABEL_DELAY = "label_delay"
_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one stretch of time as they are stored, in the order of time and id; `through` is the last batch."""

    time: Ints
    patient: list[str]
    site: list[str]
    risk: Floats  # NaN where the model gave none
    outcome: Floats  # NaN where it is not known
    acted: Floats  # NaN where it is not known
    known: Floats  # microseconds, NaN where it is not said
    groups: list[str]
    inputs: list[str]
    scores: list[str]
    through: int = 0

    def __len__(self) -> int:
        return len(self.time)

    @property
    def labelled(self) -> npt.NDArray[np.bool_]:
        """Rows whose outcome is known."""
        return np.isfinite(self.outcome)

    @property
    def label_delay(self) -> Floats:
        """Days from each prediction until its outcome was known, NaN where that is not said."""
        return (self.known - self.time) / _DAY


def scores_of(rows: Rows, plan: Plan) -> Scores:
    """The rows that can be judged, with those that wait for their outcome as `waiting`."""
    everything = _everything(rows, plan)
    if plan.task == SCORES:
        return everything
    given = np.isfinite(rows.risk)
    known = np.flatnonzero(given & rows.labelled)
    later = np.flatnonzero(given & ~rows.labelled)
    return replace(everything.take(known), waiting=everything.take(later) if later.size else None)


def _everything(rows: Rows, plan: Plan) -> Scores:
    values: dict[str, Any] = {}
    if plan.task == SCORES:
        values |= _numbers(rows.scores, plan.columns.scores)
    else:
        values |= {OUTCOME: rows.outcome, RISK: rows.risk, LABEL_DELAY: rows.label_delay}
    if np.isfinite(rows.acted).any():
        values[ACTED] = rows.acted
    patients = any(rows.patient)
    return Scores(
        values=values,
        patient=patient_codes(rows.patient) if patients else np.arange(len(rows), dtype=np.int64),
        site=Levels.of(rows.site) if any(rows.site) else None,
        time=rows.time.astype("datetime64[us]"),
        groups=groups_of(rows, list(plan.group_columns())),
    )


def groups_of(rows: Rows, names: Sequence[str]) -> dict[str, Levels]:
    """Groupings of the rows by name; the site is one where a plan asks for it."""
    held = {text: json.loads(text) for text in dict.fromkeys(rows.groups)}
    return {
        name: Levels.of(rows.site if name == "site" else [held[text].get(name, "") for text in rows.groups])
        for name in names
    }


def inputs_of(rows: Rows, plan: Plan, *, levels: Collection[str] | None = None) -> dict[str, Floats | Levels]:
    """The inputs of the rows and the risk itself, whose distribution is watched in the same way.

    Those of `levels` are categories and the others numbers, as they were in the baseline; where that is not said, an
    input that holds a text is a category.
    """
    parsed = [json.loads(text) for text in rows.inputs] if plan.columns.inputs else []
    found: dict[str, Floats | Levels] = {}
    for name in plan.columns.inputs:
        column = [one.get(name) for one in parsed]
        if name in levels if levels is not None else any(isinstance(value, str) for value in column):
            found[name] = Levels.of(column)
        else:  # a text among numbers is a number that is missing
            found[name] = np.array([v if isinstance(v, (int, float)) else np.nan for v in column], dtype=np.float64)
    if plan.task == SCORES:
        return found | _numbers(rows.scores, plan.columns.scores)
    return found | {RISK: rows.risk}


def _numbers(texts: Sequence[str], names: Sequence[str]) -> dict[str, Floats]:
    parsed = [json.loads(text) for text in texts]
    return {
        name: np.array([np.nan if one.get(name) is None else one[name] for one in parsed], dtype=np.float64)
        for name in names
    }


def metrics_of(plan: Plan) -> list[Metric]:
    """Everything that a line of the plan may follow. Metrics that need knots of a whole study are given none."""
    measures = [_measure(name, measure) for name, measure in plan.measures.items()]
    if plan.task == SCORES:
        return measures
    task = plugins.find("tasks", plan.task)()
    content = {
        "name": plan.model,
        "task": plan.task,
        "columns": {"outcome": OUTCOME, "risk": RISK},
        "thresholds": list(plan.thresholds),
    }
    study = of_task(plan.task).of(content, where="plan")
    nobody = Scores.of({OUTCOME: [0.0, 1.0], RISK: [0.25, 0.75]})
    return [*task.metrics(nobody, study), *measures]


def _measure(name: str, measure: Measure) -> Metric:
    """A row without one of its scores counts in neither sum."""

    def known(scores: Scores) -> Floats:
        both = [scores[one] for one in (measure.numerator, measure.denominator) if one is not None]
        return np.asarray(np.all(np.isfinite(both), axis=0), dtype=np.float64)

    def summed(column: str) -> Column:
        return lambda scores: np.nan_to_num(scores[column]) * known(scores)

    fields: dict[str, Any] = {"better": measure.better, "describe": name, "parity": measure.parity}
    below: Callable[[Scores], Floats] = known if measure.denominator is None else summed(measure.denominator)
    if measure.denominator is None and not measure.share:
        return mean(name, summed(measure.numerator), **fields)
    return ratio(name, summed(measure.numerator), below, share=measure.share, **fields)
