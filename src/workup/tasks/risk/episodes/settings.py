"""What a study of episodes says: what is predicted and when it counts, which event type is what, which column is what.

Knows words and durations, no tables. Every default stands in the report.
"""

from __future__ import annotations

import datetime
import zoneinfo
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from workup.settings import Part
from workup.tasks.risk.durations import Duration
from workup.tasks.risk.settings import SLICE_KEYS, GroupPart, check_groups

# Groups that the rows of episodes have anyway, and a key of the estimates made from them.
OWN_KEYS = frozenset(("since_start", "landmark", "hours"))
STAY = "stay"
ENCOUNTER = "encounter"
REDUCED = ("max", "last", "mean")  # a score of many predictions, which is no risk at one horizon
_NONE = Duration.of("0h")


class EpisodesPart(Part):
    """What counts as an event, a warning and an alert. Horizon and gap are both measured from the prediction."""

    horizon: Duration | Literal["stay"] = Field(
        description="How far ahead a prediction looks, such as 24h, or stay: until the stay ends", examples=["24h"]
    )
    gap: Duration = Field(_NONE, description="Least useful warning; a prediction nearer to the event is late")
    present: Duration = Field(
        _NONE, description="An event up to this long after the start was there when the patient came"
    )
    recurrent: bool = Field(False, description="Whether a stay may have several events; else only the first counts")
    rest: Duration = Field(_NONE, description="An onset sooner than this after the last counted one is the same event")
    discharge: Literal["free", "censored"] = Field(
        "free", description="Whether who leaves alive stayed free of the event, or is not known about from then on"
    )
    stop_at: tuple[str, ...] = Field(
        (), description="Event types from which on predictions are not judged", examples=[["antibiotics"]]
    )
    as_of: str | None = Field(None, description="When the data were cut; stays without an end are open then")
    unit: Literal["encounter", "prediction", "patient", "landmark"] = Field(
        "encounter", description="What one risk and one outcome belong to"
    )
    score: Literal["max", "first", "last", "mean"] = Field(
        "max", description="How the predictions of an encounter or patient become one"
    )
    landmarks: tuple[Duration, ...] = Field(
        (), description="Times after the start at which the score in force is judged", examples=[["6h", "12h", "24h"]]
    )
    stale: Duration = Field(Duration.of("24h"), description="How old a score may be and still be in force")
    policy: Literal["level", "crossing", "recorded"] = Field(
        "level", description="When an alert fires: above the threshold, on crossing it, or as the events record it"
    )
    refractory: Duration | Literal["encounter"] = Field(
        _NONE, description="How long an alert silences the next; encounter: one alert a stay"
    )
    act_within: Duration = Field(Duration.of("6h"), description="How soon after an alert an intervention answers it")
    lead_hours: tuple[Duration, ...] = Field(
        tuple(Duration.of(hours) for hours in ("1h", "2h", "4h", "6h", "12h")),
        description="Warning times whose share of all events is shown",
        examples=[["1h", "6h"]],
    )
    weight: Literal["row", "stay"] = Field(
        "row", description="Whether every row of a stay counts fully, or the rows of a stay count as one in all"
    )
    version: str | None = Field(None, description="Version of the model, where the predictions are of several")
    time_zone: str | None = Field(
        None, description="Zone of the clock that times without a zone were read from, such as Europe/Berlin or UTC"
    )

    @field_validator("as_of", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return value.isoformat() if isinstance(value, (datetime.date, datetime.datetime)) else value

    @field_validator("version", mode="before")
    @classmethod
    def _numbers_too(cls, value: Any) -> Any:
        return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, name: str | None) -> str | None:
        if name is not None:
            try:
                zoneinfo.ZoneInfo(name)
            except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
                raise ValueError("expected the name of a time zone, such as Europe/Berlin or UTC") from None
        return name

    @field_validator("landmarks", "lead_hours")
    @classmethod
    def _each_once(cls, durations: tuple[Duration, ...]) -> tuple[Duration, ...]:
        if len(set(durations)) < len(durations):
            raise ValueError("a duration is named twice")
        return tuple(sorted(durations))

    @field_validator("stop_at")
    @classmethod
    def _named(cls, types: tuple[str, ...]) -> tuple[str, ...]:
        return _types(types)

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if not isinstance(self.horizon, str):
            if self.horizon == _NONE:
                raise ValueError("horizon: expected a duration above 0, such as 24h; got 0")
            if self.gap >= self.horizon:
                raise ValueError(
                    f"gap ({self.gap}) must be shorter than horizon ({self.horizon}): both are measured from the "
                    "prediction, so no event could ever be predicted. To fix: for a window of length W that begins "
                    "after the gap, set horizon to gap + W"
                )
        elif self.discharge == "censored":
            raise ValueError(
                "horizon: stay asks for events until the stay ends, and discharge: censored for events after it. "
                "To fix: give a horizon such as 24h, or leave discharge at free"
            )
        if self.unit == "landmark" and not self.landmarks:
            raise ValueError("unit: landmark needs landmarks, such as landmarks: [6h, 12h, 24h]")
        if self.landmarks and self.stale == _NONE:
            raise ValueError("stale: with 0 no score is ever in force at a landmark; give a duration such as 24h")
        if self.unit in ("prediction", "landmark") and self.score != "max":
            raise ValueError(
                f"score: {self.score} says how the predictions of a stay become one, and unit: {self.unit} takes each "
                "by itself. To fix: leave score out, or set unit to encounter or patient"
            )
        if self.policy == "recorded" and self.refractory != _NONE:
            raise ValueError(
                "refractory silences alerts that a threshold would fire; policy: recorded takes the alerts that were "
                "fired. To fix: leave refractory out, or set policy to level or crossing"
            )
        return self


class EventColumnsPart(Part):
    """Which column of the events is what."""

    patient: str = Field("patient", description="Patient id")
    encounter: str | None = Field("encounter", description="Id of the stay; empty cells are placed by patient and time")
    type: str = Field("type", description="What happened")
    time: str = Field("time", description="When it happened")


class EventsPart(Part):
    """What the events are: their columns, and which types mean what. A type may have two roles."""

    columns: EventColumnsPart = Field(default_factory=EventColumnsPart, description="Which column is what")
    target: tuple[str, ...] = Field(description="Types that are the event predicted", examples=[["sepsis"]])
    start: tuple[str, ...] = Field(
        (), description="Types that begin a stay; without one its first prediction does", examples=[["admit"]]
    )
    end: tuple[str, ...] = Field((), description="Types that end a stay alive", examples=[["discharge"]])
    death: tuple[str, ...] = Field((), description="Types that mean death", examples=[["death"]])
    lost: tuple[str, ...] = Field(
        (), description="Types from which on nothing is known: transfer, end of data", examples=[["transfer"]]
    )
    intervention: tuple[str, ...] = Field(
        (), description="Types that answer an alert or show that clinicians knew", examples=[["antibiotics"]]
    )
    alert: tuple[str, ...] = Field(
        (), description="Types that are alerts really fired, for policy: recorded", examples=[["alert"]]
    )

    @field_validator("target", "start", "end", "death", "lost", "intervention", "alert")
    @classmethod
    def _named(cls, types: tuple[str, ...]) -> tuple[str, ...]:
        return _types(types)

    @model_validator(mode="after")
    def _a_target_and_one_way_to_end(self) -> Self:
        if not self.target:
            raise ValueError("target: expected at least one type of event, such as [sepsis]; got none")
        ends = [*self.end, *self.death, *self.lost]
        twice = next((name for name in ends if ends.count(name) > 1), None)
        if twice is not None:
            raise ValueError(
                f"'{twice}' is named twice among end, death and lost, and a stay ends in one of these ways. To fix: "
                "name it once"
            )
        return self

    def roles(self) -> dict[str, tuple[str, ...]]:
        """The types of each role."""
        return {
            "target": self.target,
            "start": self.start,
            "end": self.end,
            "death": self.death,
            "lost": self.lost,
            "intervention": self.intervention,
            "alert": self.alert,
        }


class EpisodeColumnsPart(Part):
    """Which column of the predictions is what; groups, site and weight as known at the prediction."""

    patient: str = Field("patient", description="Patient id")
    encounter: str = Field("encounter", description="Id of the stay")
    time: str = Field("time", description="When the prediction was made")
    risk: str = Field("risk", description="Predicted risk in [0, 1]")
    version: str | None = Field(None, description="Version of the model")
    site: str | None = Field(None, description="Hospital or clinic")
    groups: tuple[str | GroupPart, ...] = Field(
        (),
        description="Columns whose levels are compared; {column, cuts, name, labels} for a number cut into bands",
        examples=[["sex", {"column": "age", "cuts": [45, 65, 75]}]],
    )
    weight: str | None = Field(None, description="Design weight (sampling)")

    @model_validator(mode="after")
    def _groups_of_many(self) -> Self:
        check_groups(self.groups, patient=self.patient, site=self.site, keys=SLICE_KEYS | OWN_KEYS)
        columns = (given if isinstance(given, str) else given.column for given in self.groups)
        if self.encounter in {column.partition(":")[0].strip() for column in columns}:
            raise ValueError(
                f"'{self.encounter}' is the encounter column, and stays are no groups: each would stand in the report "
                "by name. To fix: name a column that many stays share, such as ward, or leave it out"
            )
        return self


def _types(types: tuple[str, ...]) -> tuple[str, ...]:
    plain = tuple(name.strip() for name in types)
    if not all(plain):
        raise ValueError("a type of event must not be empty")
    if len(set(plain)) < len(plain):
        raise ValueError("a type of event is named twice")
    return plain
