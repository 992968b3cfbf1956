"""What a risk study may say beside what every study says: columns, thresholds, and how calibration is shown."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from workup.settings import Part
from workup.study import Study

# Keys by which metrics and lenses slice their estimates; a group of such a name would be overwritten by them.
SLICE_KEYS = frozenset(
    (
        *("threshold", "label", "mode", "level", "policy", "equivalent", "identifier", "category"),
        *("set", "arm", "turn", "loss", "judge", "attribute", "horizon"),
        *("site", "window", "acted", "validation", "pooled", "column"),
    )
)


class GroupPart(Part):
    """A grouping of the rows that is more than one plain column: a number cut into bands, or an expression."""

    column: str = Field(description='Column, or an expression such as bmi >= 30 or outcome == "dead"')
    cuts: tuple[float, ...] = Field(
        (), description="Where bands begin, each in the band above it; no bands if empty", examples=[[45, 65, 75]]
    )
    name: str = Field("", description="Name in reports; the column's own when empty")
    labels: tuple[str, ...] = Field((), description="Names of the bands from the lowest; made from the cuts if empty")

    @field_validator("cuts")
    @classmethod
    def _rising(cls, cuts: tuple[float, ...]) -> tuple[float, ...]:
        if not all(map(math.isfinite, cuts)) or any(low >= high for low, high in pairwise(cuts)):
            raise ValueError("expected numbers that rise, such as [45, 65, 75]")
        return cuts

    @field_validator("labels")
    @classmethod
    def _told_apart(cls, labels: tuple[str, ...]) -> tuple[str, ...]:
        # Levels are compared without the spaces around them, and rows without a value are the level "missing".
        plain = tuple(label.strip() for label in labels)
        if any(label.casefold() in ("", "missing") for label in plain):
            raise ValueError("a label must not be empty or 'missing', which is the name of rows without a value")
        if len(set(plain)) < len(plain):
            raise ValueError("expected one label of its own for each band; two are the same")
        return plain

    @model_validator(mode="after")
    def _a_label_each(self) -> Self:
        bands = len(self.cuts) + 1 if self.cuts else 0
        if self.labels and len(self.labels) != bands:
            raise ValueError(f"expected one label of its own for each of {bands} bands; got {len(self.labels)}")
        return self


class ColumnsPart(Part):
    """Which column of the table is what."""

    outcome: str = Field(
        description='Outcome, 0 or 1, or an expression such as status == "dead"; empty cells are not mature yet'
    )
    risk: str | None = Field(
        None, description="Recorded risk in [0, 1], or an expression such as 1 - survival, when no model is run"
    )
    patient: str | None = Field(None, description="Patient id; without it every row is a patient")
    site: str | None = Field(None, description="Hospital or clinic")
    time: str | None = Field(None, description="When the prediction was made")
    weight: str | None = Field(None, description="Design weight (sampling or censoring)")
    groups: tuple[str | GroupPart, ...] = Field(
        (),
        description="Columns whose levels are compared; {column, cuts, name, labels} for a number cut into bands",
        examples=[["sex", {"column": "age", "cuts": [45, 65, 75]}]],
    )
    inputs: tuple[str, ...] = Field(
        (), description="Inputs whose completeness and drift are shown", examples=[["age", "creatinine"]]
    )
    outcome_time: str | None = Field(None, description="When the outcome was known; shows the delay of labels")
    acted: str | None = Field(None, description="1 where someone acted on the risk, else 0")

    @model_validator(mode="after")
    def _no_key_of_another(self) -> Self:
        check_groups(self.groups, patient=self.patient, site=self.site)
        return self


def check_groups(
    groups: tuple[str | GroupPart, ...],
    *,
    patient: str | None,
    site: str | None,
    keys: frozenset[str] = SLICE_KEYS,
) -> None:
    """Refuse groups that estimates could not be sliced by: the patients themselves, and names of other keys."""
    for given in groups:
        plain = given if isinstance(given, str) else given.column
        name = re.sub(r":[-+\d.eE,]+$", "", given) if isinstance(given, str) else given.name or given.column
        if patient is not None and plain.partition(":")[0].strip() == patient:
            raise ValueError(
                f"'{patient}' is the patient column, and patients are no groups: each would stand in the "
                "report by name. To fix: name a column that many patients share, such as sex, or leave it out"
            )
        sites_themselves = name == "site" and plain == (site or "site")
        if name in keys and not sites_themselves:
            raise ValueError(
                f"a group cannot be named '{name}': estimates are already sliced by a key of that name. To fix: "
                f"give it another name in the study file, such as {{column: {plain.partition(':')[0]}, "
                f"name: {name}_group}}, or rename the column"
            )


class CalibrationPart(Part):
    """How the calibration of risks is shown."""

    expected_events: Literal["sampled", "fixed"] = Field(
        "sampled", description="What O/E's interval takes the expected events for; fixed is customary and too wide"
    )
    loess_curve: bool = Field(False, description="Draw a loess curve too, thin; no figure rests on it")


class RiskStudy(Study):
    """A study of a risk model."""

    columns: ColumnsPart | None = Field(None, description="Which column is what")
    time_format: str | None = Field(None, description="Form of the time column, such as %d/%m/%Y, when it is not ISO")
    thresholds: tuple[float, ...] = Field((), description="Decision thresholds in (0, 1); none is assumed")
    cost_ratio: float | None = Field(
        None, gt=0, description="Harm of a missed event over that of a false alarm; adds the threshold 1 / (1 + ratio)"
    )
    calibration: CalibrationPart = Field(
        default_factory=CalibrationPart, description="How the calibration of risks is shown"
    )
    ece: bool = Field(False, description="Also show the expected calibration error, a biased measure")
    also: tuple[Literal["accuracy", "f1", "ece"], ...] = Field(
        (), description="Metrics of a risk study that are left out unless asked for: accuracy, f1, ece"
    )

    @staticmethod
    def reads_as(content: Mapping[Any, Any]) -> str | None:
        """Many predictions before an event, or time until one, are tasks of their own."""
        if "episodes" in content or "events" in content:
            return "episodes"
        columns = content.get("columns")
        timed = isinstance(columns, Mapping) and ("followup" in columns or "event_time" in columns)
        return "horizon" if timed else None

    @field_validator("thresholds")
    @classmethod
    def _inside(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        for value in values:
            if not (math.isfinite(value) and 0 < value < 1):
                raise ValueError(f"a threshold must lie between 0 and 1; got {value}")
        if len(set(values)) < len(values):
            raise ValueError("a threshold is named twice")
        return values

    @model_validator(mode="after")
    def _of_risk(self) -> Self:
        if self.columns is None:
            raise ValueError("a risk study needs 'columns' with at least 'outcome'")
        if "threshold" in self.primary:
            self.primary["threshold"] = self._named_threshold(self.primary["threshold"])
        return self

    def _named_threshold(self, value: Any) -> float:
        """The threshold of the study that is meant, digit for digit, so that it is found again in every slice."""
        held = {f"{threshold:.12g}": threshold for threshold in self.all_thresholds()}
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if number and f"{value:.12g}" in held:
            return held[f"{value:.12g}"]
        known = f"choose among {', '.join(held)}, or list it" if held else "list it"
        raise ValueError(f"primary.threshold: {value!r} is not a threshold of the study; {known} under 'thresholds'")

    def all_thresholds(self) -> tuple[float, ...]:
        """Thresholds named, with the one that the cost ratio implies."""
        implied = () if self.cost_ratio is None else (1 / (1 + self.cost_ratio),)
        return tuple(dict.fromkeys((*self.thresholds, *implied)))
