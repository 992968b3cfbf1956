"""What a drift study may say: windows, baseline, charts, and which change matters. Judges nothing."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from workup.errors import StudyError, near
from workup.lenses.checks import refuse_too_many
from workup.lenses.drift.inputs import InputLimits
from workup.lenses.drift.windows import WINDOWS_A_YEAR, Minimum, Window
from workup.metric import Concern, Metric
from workup.scores import Scores
from workup.settings import Part

MOST_A_YEAR = 1_000
_YEAR = np.timedelta64(365 * 24 + 6, "h")


class MinimumPart(Part):
    """The least a window must hold before it can alarm anyone."""

    rows: int = Field(100, ge=1, description="Rows")
    events: int = Field(10, ge=1, description="Rows with the event")
    others: int = Field(10, ge=1, description="Rows without the event")


class LimitPart(Part):
    """Which change of a metric matters."""

    medium: float = Field(gt=0, allow_inf_nan=False, description="Change of medium concern")
    high: float = Field(gt=0, allow_inf_nan=False, description="Change of high concern")
    in_group: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Change that matters in one group; medium when absent"
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.high < self.medium:
            raise ValueError(f"'high' must not be below 'medium'; got {self.high} and {self.medium}")
        return self

    @property
    def concern(self) -> Concern:
        """The same as charts know it."""
        return Concern(self.medium, self.high, self.in_group or self.medium)


class Settings(Part):
    """Which windows are watched, against what, and what would alarm."""

    window: str | int = Field("month", description="day, week, month, quarter, year, or a number of rows")
    baseline: str | int | None = Field(
        None, description="Date before which rows are the baseline, or its number of windows; half of them when absent"
    )
    label_delay: float = Field(
        0.0, ge=0, le=36_525, description="Days until an outcome is known; younger windows are immature"
    )
    fast_start: bool = Field(False, description="Narrower limits at first: early changes sooner, more false alarms")
    metrics: tuple[str, ...] = Field(
        (), description="Metrics to follow; those with a target or asked for parity if empty"
    )
    by: tuple[str, ...] | None = Field(
        None, description="Columns to follow by group; all of columns.groups when absent"
    )
    charts: tuple[str, ...] = Field(
        ("ewma",), min_length=1, description="ewma, cusum, xmr, p, p_prime, ra_cusum", examples=[["ewma", "cusum"]]
    )
    chance: float = Field(0.05, gt=0, lt=1, description="Share of stable years in which any alert may be raised")
    windows_a_year: int | None = Field(
        None, ge=1, description="Windows of a year, where the window is a number of rows; as in the baseline if absent"
    )
    minimum: MinimumPart = Field(default_factory=MinimumPart, description="The least a window must hold")
    small: Literal["insufficient", "merge"] = Field(
        "insufficient", description="What becomes of a window that holds too little: marked, or joined to the next"
    )
    quiet: int = Field(3, ge=1, description="Quiet windows after which an alert is resolved")
    limits: dict[str, LimitPart] = Field(default_factory=dict, description="Changes that matter, by metric")
    gap: LimitPart | None = Field(None, description="Widening of a gap that matters; 0.05 and 0.10 when absent")
    inputs: InputLimits = Field(default_factory=InputLimits, description="Changes of inputs that matter")
    as_of: str | None = Field(None, description="Date the data speak of; their last time when absent")

    @field_validator("baseline", "as_of", mode="before")
    @classmethod
    def _date(cls, value: Any) -> Any:
        # YAML reads 2024-05-01 without quotes as a date.
        return value.isoformat() if isinstance(value, datetime.date) else value

    @field_validator("window", "baseline", mode="before")
    @classmethod
    def _no_truth(cls, value: Any) -> Any:
        if isinstance(value, bool):
            raise ValueError("a name or a number is expected, not true or false")
        return value

    @field_validator("baseline")
    @classmethod
    def _some(cls, value: str | int | None) -> str | int | None:
        if isinstance(value, int) and value < 1:
            raise ValueError(f"the baseline needs at least 1 window; got {value}")
        return value

    @field_validator("charts", "metrics", "by")
    @classmethod
    def _once(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if names is None else tuple(dict.fromkeys(names))

    @property
    def least(self) -> Minimum:
        """The least a window must hold."""
        return Minimum(**self.minimum.model_dump())

    def followed(self, metrics: Sequence[Metric]) -> list[Metric]:
        """The metrics to follow: those named, else those of which it is known what change matters, else all."""
        known = list(dict.fromkeys(metric.name for metric in metrics))
        for name in (*self.metrics, *self.limits):
            if name not in known:
                raise StudyError(f"lenses.drift: '{name}' is not a metric of this study; {near(name, known)}.")
        judged = [m for m in metrics if m.parity or m.target is not None or m.concern or m.name in self.limits]
        found = [metric for metric in metrics if metric.name in self.metrics] if self.metrics else judged
        found = found or [metric for metric in metrics if not metric.whole_study]
        if not found:
            raise StudyError("lenses.drift: the task has no metric that a window can show. To fix: name some.")
        unused = [name for name in self.limits if name not in {metric.name for metric in found}]
        if unused:
            raise StudyError(
                f"lenses.drift.limits: '{unused[0]}' is not followed, so its limit would be idle. "
                "To fix: add it to lenses.drift.metrics."
            )
        return found

    def columns(self, scores: Scores) -> tuple[str, ...]:
        """The groups to follow."""
        by = tuple(scores.groups) if self.by is None else self.by
        for name in by:
            if name not in scores.groups:
                raise StudyError(
                    f"lenses.drift.by: '{name}' is not one of columns.groups; {near(name, scores.groups)}."
                )
            refuse_too_many(name, scores.groups[name], where="lenses.drift.by")
        return by

    def in_a_year(self, before: Sequence[Window]) -> int:
        """How many windows a year has. Windows of so many rows come as fast as they did in the baseline."""
        if self.windows_a_year is not None:
            return self.windows_a_year
        if isinstance(self.window, str) and self.window in WINDOWS_A_YEAR:
            return WINDOWS_A_YEAR[self.window]
        years = float((before[-1].end - before[0].start) / _YEAR)
        found = max(1, int(np.ceil(len(before) / years)))
        if found > MOST_A_YEAR:
            raise StudyError(
                f"lenses.drift.window: windows of {self.window} rows would come {found:,} times a year, as in the "
                f"baseline; at most {MOST_A_YEAR:,} can be judged together. To fix: name a larger number of rows, or "
                "windows_a_year."
            )
        return found
