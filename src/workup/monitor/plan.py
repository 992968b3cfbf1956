"""The plan of a monitor, monitor.yaml: what is watched, by which limit and chart, and who does what when it alarms."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from workup.errors import StudyError, near
from workup.files.yaml_files import read_yaml
from workup.lenses.drift.charts import KNOWN_CHARTS
from workup.lenses.drift.inputs import InputLimits
from workup.lenses.drift.settings import MinimumPart
from workup.monitor.columns import Columns
from workup.report import canonical
from workup.settings import FileName, Part

Cadence = Literal["day", "week", "month", "quarter", "year"]
# How the chance of a false alarm in a stable year is shared out; together they are the whole of it. The feed has two
# families, its charts and its inputs, which spend its share each.
LINES, ROWS, LABELS, FEED = 0.80, 0.05, 0.05, 0.05


class Agreed(Part):
    """Who owns an alert, what was agreed to do about it, and who is asked when that is not enough."""

    owner: str = Field("", max_length=200, description="Who is told, and answers for it")
    action: str = Field("", max_length=1_000, description="What was agreed to do")
    escalation: str = Field("", max_length=1_000, description="Who decides where the action is not enough, and when")

    def agreed(self, otherwise: Agreed) -> dict[str, str]:
        """The three of them, those of `otherwise` where a field is empty."""
        return {name: getattr(self, name) or getattr(otherwise, name) for name in Agreed.model_fields}


class Line(Agreed):
    """One line of the plan: a metric on everyone, on each group of a column, on one group, or the gap of each group."""

    metric: str = Field(min_length=1, description="Metric of the task, or a measure of this plan")
    at: dict[str, float] = Field(default_factory=dict, description="Where it is taken", examples=[{"threshold": 0.2}])
    by: str | None = Field(None, description="Column of groups: the metric in each group of it")
    gap: str | None = Field(None, description="Column of groups: the gap between each group and all others")
    group: dict[str, str] = Field(default_factory=dict, description="One group alone", examples=[{"sex": "F"}])
    limit: float = Field(gt=0, allow_inf_nan=False, description="Change from the baseline that matters")
    high: float | None = Field(None, gt=0, allow_inf_nan=False, description="Change of high concern; twice the limit")
    chart: str = Field("ewma", description="ewma, cusum, xmr, p, p_prime or ra_cusum")
    cadence: Cadence | None = Field(None, description="Length of its windows; that of the plan when absent")

    @field_validator("chart")
    @classmethod
    def _known(cls, chart: str) -> str:
        if chart not in KNOWN_CHARTS:
            raise ValueError(f"'{chart}' is not a known chart; {near(chart, KNOWN_CHARTS)}")
        return chart

    @model_validator(mode="after")
    def _one_slice(self) -> Self:
        if sum(map(bool, (self.by, self.gap, self.group))) > 1 or len(self.group) > 1:
            raise ValueError("a line is by one column, of one gap, of one group, or of everyone; got more than one")
        if self.high is not None and self.high < self.limit:
            raise ValueError(f"'high' must not be below 'limit'; got {self.high} and {self.limit}")
        return self

    @property
    def column(self) -> str | None:
        """The column of groups that it needs."""
        return self.by or self.gap or next(iter(self.group), None)

    @property
    def said(self) -> str:
        """The line in words."""
        at = "".join(f" at {name} {value:g}" for name, value in self.at.items())
        where = (
            f" in each group of {self.by}" if self.by else f": gaps between groups of {self.gap}" if self.gap else ""
        )
        where = where or "".join(f" where {name} is {level}" for name, level in self.group.items())
        return f"{self.metric}{at}{where}"


class BaselinePart(Part):
    """The rows that are frozen and compared with: those of a stretch of time."""

    start: datetime.date | None = Field(
        None, alias="from", description="Its first day; that of the first row if absent"
    )
    until: datetime.date = Field(description="The day on which it ends, which is the first one that is watched")


class VersionPart(Part):
    """What a version of the model is compared with: a baseline of its own, or that of a version it is equivalent to."""

    baseline: BaselinePart | None = Field(None, description="A baseline of its own")
    equivalent_to: str | None = Field(None, description="Version whose baseline it takes over")
    start: datetime.date | None = Field(None, alias="from", description="First day of it that is watched")
    pairs: FileName | None = Field(None, description="Table of rows with both versions' risks, beside the plan")
    metric: str = Field("", description="Metric in which they must agree")
    margin: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Largest difference that is no difference"
    )

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.baseline is None) == (self.equivalent_to is None):
            raise ValueError("a version has a baseline of its own, or is equivalent_to another; exactly one of them")
        if self.equivalent_to is not None and not (self.pairs and self.metric and self.margin and self.start):
            raise ValueError("equivalence needs 'pairs', 'metric', 'margin' and 'from'")
        return self


class Measure(Part):
    """A figure made of named scores: the mean of one, or the ratio of the sums of two."""

    numerator: str = Field(min_length=1, description="Score that is summed")
    denominator: str | None = Field(None, description="Score that it is divided by; the rows when absent")
    share: bool = Field(False, description="Whether it counts cases out of all: 0 to 1, charted as a share")
    better: Literal["higher", "lower", "neither"] = Field("higher", description="Which way is better")
    parity: bool = Field(True, description="Whether gaps between groups are looked at")


class IntegrityPart(Agreed):
    """What the feed itself must be like."""

    rows: float = Field(0.25, gt=0, description="Change of rows a day, as a share of the expected, that matters")
    silence: float | None = Field(
        None, gt=0, description="Days without a row that matter; a window, or twice the longest before, when absent"
    )
    share: float = Field(0.05, gt=0, description="Rise of duplicates, of rows without risk or without outcome")
    inputs: InputLimits = Field(default_factory=InputLimits, description="Changes of inputs and scores that matter")


class Plan(Agreed):
    """What is watched of one model, and what is done about it."""

    model: str = Field(min_length=1, max_length=200, description="Name of the model")
    version: str = Field(min_length=1, max_length=200, description="Version in use, where the rows do not say")
    task: str = Field("risk", description="risk, or scores where rows carry named numbers")
    columns: Columns = Field(default_factory=Columns, description="Which column of the feed is what")
    cadence: Cadence = Field("month", description="Length of a window")
    label_delay: float = Field(0.0, ge=0, le=3_650, description="Days after which the outcomes of a window are known")
    baseline: BaselinePart = Field(description="Rows of the version above that are compared with")
    versions: dict[str, VersionPart] = Field(default_factory=dict, description="Other versions, by name")
    chance: float = Field(0.05, gt=0, lt=1, description="Share of stable years in which anything may alarm")
    quiet: int = Field(3, ge=1, description="Quiet windows after which an alert is resolved")
    minimum: MinimumPart = Field(default_factory=MinimumPart, description="The least a window must hold")
    thresholds: tuple[float, ...] = Field((), description="Decision thresholds")
    measures: dict[str, Measure] = Field(default_factory=dict, description="Figures made of named scores")
    hashed_ids: bool = Field(False, description="Whether ids are kept as a keyed hash")
    watch: tuple[Line, ...] = Field(min_length=1, description="The lines of the plan")
    integrity: IntegrityPart = Field(default_factory=IntegrityPart, description="What the feed must be like")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        known = {*self.columns.groups, *(("site",) if self.columns.site else ())}
        for line in (*self.watch, self.integrity):
            lacking = [name for name, said in line.agreed(self).items() if not said.strip()]
            if lacking:
                said = line.said if isinstance(line, Line) else "integrity"
                raise ValueError(
                    f"'{said}' has no {' and no '.join(lacking)}: an alert that nobody owns helps nobody. "
                    "To fix: name them in the line, or at the top for all lines"
                )
        for line in self.watch:
            if line.column is not None and line.column not in known:
                raise ValueError(f"'{line.column}' is not one of columns.groups; {near(line.column, known)}")
        if self.task == "scores" and not (self.measures and self.columns.scores):
            raise ValueError("a plan of scores needs columns.scores, and measures made of them")
        for name, measure in self.measures.items():
            for score in filter(None, (measure.numerator, measure.denominator)):
                if score not in self.columns.scores:
                    raise ValueError(f"measure '{name}': '{score}' is not one of columns.scores")
        watched = [canonical(line.model_dump(mode="json", exclude={*Agreed.model_fields})) for line in self.watch]
        if len(set(watched)) < len(watched):
            raise ValueError("two lines of the plan watch the same")
        if self.version in self.versions:
            raise ValueError(f"version '{self.version}' stands at the top and under versions")
        return self

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a monitor.yaml."""
        content, lines = read_yaml(Path(path), noun="plan")
        return cls.checked(content, where=str(path), lines=lines)

    @classmethod
    def of(cls, content: Mapping[str, Any], *, where: str = "plan") -> Plan:
        """A plan from plain data."""
        return cls.checked(content, where=where)

    def record(self) -> dict[str, Any]:
        """The plan as plain data, complete with its defaults."""
        return self.model_dump(mode="json", by_alias=True)

    @property
    def sha256(self) -> str:
        """What tells one plan from another."""
        return hashlib.sha256(canonical(self.record()).encode()).hexdigest()

    def part_of(self, version: str) -> VersionPart | None:
        """What a version is compared with; None where the plan does not know it."""
        if version == self.version:
            return VersionPart(baseline=self.baseline)
        return self.versions.get(version)

    def cadence_of(self, line: Line) -> Cadence:
        """How long the windows of a line are."""
        return line.cadence or self.cadence

    def cadences(self) -> list[Cadence]:
        """All lengths of windows, that of the plan first."""
        return list(dict.fromkeys([self.cadence, *(self.cadence_of(line) for line in self.watch)]))

    def group_columns(self) -> Iterator[str]:
        """Columns of groups that a line needs."""
        yield from dict.fromkeys(line.column for line in self.watch if line.column is not None)


def moment_of(day: datetime.date) -> int:
    """The beginning of a day in microseconds since 1970, UTC."""
    return int(np.datetime64(day, "us").astype(np.int64))


def check_known(line: Line, names: list[str]) -> None:
    """Refuse a line whose metric the model does not have."""
    if line.metric not in names:
        raise StudyError(f"watch: '{line.metric}' is not a metric of this model; {near(line.metric, names)}.")
