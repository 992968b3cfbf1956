"""What a study of risks at horizons may say: follow-up and how it ended, a risk for every horizon, and censoring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from workup.scores import Scores
from workup.settings import Part
from workup.stats.horizon_weights import CENSORED, COMPETING, EVENT
from workup.tasks.risk.durations import Duration
from workup.tasks.risk.horizon.censoring import Censoring, Horizon, Kind
from workup.tasks.risk.settings import GroupPart, RiskStudy, check_groups

# Microseconds in a unit of follow-up. A month and a year are the mean ones of the calendar.
DAY = 86_400_000_000
UNITS = {"min": DAY // 1440, "h": DAY // 24, "d": DAY, "week": 7 * DAY, "month": 30.4375 * DAY, "year": 365.25 * DAY}
Unit = Literal["min", "h", "d", "week", "month", "year"]
_MEANT = {"censored": CENSORED, "event": EVENT, "competing": COMPETING}


class FollowupPart(Part):
    """The column of follow-up with its unit."""

    column: str = Field(description="Time from the prediction to the event, or to when the patient was last seen")
    unit: Unit = Field("d", description="Unit of the column: min, h, d, week, month (30.4375 d) or year (365.25 d)")


class StatusPart(Part):
    """The column that says how follow-up ended, and what its values mean."""

    column: str = Field(description="How follow-up ended: 0 censored, 1 event, 2 competing event, or names for these")
    codes: dict[str, Literal["censored", "event", "competing"]] = Field(
        default_factory=dict,
        description="What each value means; 0, 1 and 2 mean censored, event and competing when this is empty",
        examples=[{"alive": "censored", "relapse": "event", "dead": "competing"}],
    )

    @field_validator("codes", mode="before")
    @classmethod
    def _numbers_too(cls, codes: Any) -> Any:
        if not isinstance(codes, Mapping):
            return codes
        names = {str(code): name for name, code in _MEANT.items()}
        return {str(value): names.get(str(meant), meant) for value, meant in codes.items()}

    def meaning(self) -> dict[str, int]:
        """The status that each value of the column stands for."""
        return {value: _MEANT[name] for value, name in self.codes.items()} or {str(c): c for c in _MEANT.values()}


class CensoringPart(Part):
    """How the chance of being followed is estimated."""

    strata: tuple[str, ...] = Field((), description="Columns within whose levels censoring is estimated")
    cox: tuple[str, ...] = Field((), description="Columns of a Cox model of censoring, fitted once on the whole study")
    scope: Literal["slice", "study"] = Field(
        "slice", description="slice: every group, site and window by its own rows; study: by those of the whole study"
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.strata and self.cox:
            raise ValueError("expected strata or cox, not both. To fix: leave one of them out")
        return self

    @property
    def kind(self) -> Kind:
        """Which of the three ways."""
        return "strata" if self.strata else "cox" if self.cox else "marginal"


class HorizonColumns(Part):
    """Which column of the table is what."""

    followup: str | FollowupPart | None = Field(
        None, description="Follow-up from the prediction on, in days unless {column, unit} says otherwise"
    )
    event_time: str | None = Field(
        None, description="Instead of followup: date of the event or of the last contact; needs time"
    )
    status: str | StatusPart = Field(
        description="How follow-up ended: 0 censored, 1 event, 2 competing event; {column, codes} for names of these"
    )
    risk: dict[str, str] = Field(
        description="Column of the risk by each horizon, or an expression such as 1 - survival",
        examples=[{"365d": "risk_1y", "730d": "risk_2y"}],
    )
    patient: str | None = Field(None, description="Patient id; without it every row is a patient")
    site: str | None = Field(None, description="Hospital or clinic")
    time: str | None = Field(None, description="When the prediction was made")
    weight: str | None = Field(None, description="Design weight of sampling; censoring weights are made, never given")
    landmark: str | None = Field(
        None, description="Landmark of the row, where patients have several; follow-up starts there, and it is a group"
    )
    groups: tuple[str | GroupPart, ...] = Field(
        (),
        description="Columns whose levels are compared; {column, cuts, name, labels} for a number cut into bands",
        examples=[["sex", {"column": "age", "cuts": [45, 65, 75]}]],
    )
    inputs: tuple[str, ...] = Field(
        (), description="Inputs whose completeness and drift are shown", examples=[["age", "creatinine"]]
    )
    entry: str | None = Field(None, description="Not handled: rows that are seen only from a later moment on")

    @field_validator("risk", mode="before")
    @classmethod
    def _a_column_each(cls, risk: Any) -> Any:
        if not isinstance(risk, Mapping):
            raise ValueError("expected a column for each horizon, as in risk: {365d: risk_1y, 730d: risk_2y}")
        if not risk:
            raise ValueError("expected at least one horizon with its column, as in risk: {365d: risk_1y}")
        found: dict[str, str] = {}
        lengths: set[Duration] = set()
        for written, column in risk.items():
            horizon = Duration.of(written)
            if horizon.microseconds == 0:
                raise ValueError("a horizon must lie after the prediction; got 0")
            if horizon in lengths:
                raise ValueError(f"the horizon {horizon} is named twice")
            if not isinstance(column, str) or not column.strip():
                raise ValueError(f"the horizon {horizon} has no risk column. To fix: name it, or leave the horizon out")
            lengths.add(horizon)
            found[str(horizon)] = column
        return found

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.entry is not None:
            raise ValueError(
                "entry: patients who are seen only from a later moment on (left truncation) cannot be scored yet, and "
                "leaving it out would count only those who lived to be seen. To fix: predict at the moment of entry "
                "and count follow-up from there"
            )
        if (self.followup is None) == (self.event_time is None):
            got = "neither" if self.followup is None else "both"
            raise ValueError(f"expected followup, or event_time with time; got {got}")
        if self.event_time is not None and self.time is None:
            raise ValueError("event_time needs time, the moment of the prediction, or follow-up cannot be counted")
        if self.landmark is not None and self.patient is None:
            raise ValueError("landmark needs patient: the landmarks of one patient are not independent")
        check_groups(self.groups, patient=self.patient, site=self.site)
        return self

    @property
    def horizons(self) -> tuple[Horizon, ...]:
        """From the nearest to the farthest."""
        found = [Horizon(name, Duration.of(name).days) for name in self.risk]
        return tuple(sorted(found, key=lambda one: one.days))

    @property
    def followup_part(self) -> FollowupPart | None:
        """The column of follow-up with its unit, where there is one."""
        return FollowupPart(column=self.followup) if isinstance(self.followup, str) else self.followup

    @property
    def status_part(self) -> StatusPart:
        """The column of the status with what its values mean."""
        return StatusPart(column=self.status) if isinstance(self.status, str) else self.status


class HorizonStudy(RiskStudy):
    """A study of risks at one or several horizons, some patients lost before them."""

    columns: HorizonColumns | None = Field(None, description="Which column is what")  # type: ignore[assignment]
    censoring: Literal["marginal"] | CensoringPart = Field(
        "marginal",
        description="How the chance of being followed is estimated: marginal, {strata: [columns]} or {cox: [columns]}",
        examples=["marginal", {"strata": ["site"]}],
    )
    also: tuple[Literal["accuracy", "f1", "c_index", "cloglog_slope"], ...] = Field(  # type: ignore[assignment]
        (),
        description="Left out unless asked for: accuracy, f1, c_index (Uno's C to the last horizon) and cloglog_slope "
        "(a second route to the calibration slope, by pseudo-values)",
    )

    @model_validator(mode="after")
    def _of_risk(self) -> Self:
        if self.columns is None:
            raise ValueError("a study of horizons needs 'columns' with at least followup, status and risk")
        if self.ece:
            raise ValueError("ece: it has no form under censoring. To fix: leave it out; ici is shown")
        if self.systems:
            raise ValueError(
                "systems: a model cannot be run on time to event yet. To fix: put its risks in the table and name "
                "their columns under columns.risk"
            )
        if "threshold" in self.primary:
            self.primary["threshold"] = self._named_threshold(self.primary["threshold"])
        if "horizon" in self.primary:
            self.primary["horizon"] = self._named_horizon(self.primary["horizon"])
        if "drift" in self.lenses:
            # Until the last horizon has passed, those of a window whose outcome is known are all events.
            young: dict[str, Any] = {"label_delay": self.horizons[-1].days}
            known = {} if self.report.as_of is None else {"as_of": self.report.as_of}
            self.lenses["drift"] = {**young, **known, **self.lenses["drift"]}
        return self

    def _named_horizon(self, value: Any) -> str:
        asked = Duration.of(value)
        for one in self.horizons:
            if Duration.of(one.name) == asked:
                return one.name
        known = ", ".join(one.name for one in self.horizons)
        raise ValueError(f"primary.horizon: {asked} is not a horizon of the study; choose among {known}")

    @property
    def horizons(self) -> tuple[Horizon, ...]:
        """From the nearest to the farthest."""
        assert self.columns is not None
        return self.columns.horizons

    @property
    def censoring_part(self) -> CensoringPart:
        """How censoring is estimated, with its scope."""
        return CensoringPart() if self.censoring == "marginal" else self.censoring

    def censoring_on(self, scores: Scores) -> Censoring:
        """How censoring is estimated on these rows, which are all of the study."""
        part = self.censoring_part
        name = f"{part.kind} {part.scope}"
        return scores.kept(f"censoring {name}", lambda: Censoring(name, part.kind, part.scope, study=scores))
