"""A study of episodes: two tables, what counts as an event and an alert, and thresholds."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from workup.settings import FileName
from workup.study import CorpusPart
from workup.tasks.risk.episodes.settings import STAY, EpisodeColumnsPart, EpisodesPart, EventsPart
from workup.tasks.risk.settings import RiskStudy


class EpisodesCorpusPart(CorpusPart):
    """Where predictions and events come from: a table of each, or a generator with a seed."""

    predictions: tuple[FileName, ...] = Field(
        (), description="Table of predictions, or several whose rows follow each other", examples=["scores.parquet"]
    )
    events: tuple[FileName, ...] = Field((), description="Table of events, or several", examples=["events.parquet"])

    @field_validator("predictions", "events", mode="before")
    @classmethod
    def _one_or_several(cls, names: Any) -> Any:
        return (names,) if isinstance(names, str) else names

    @model_validator(mode="after")
    def _both_or_made(self) -> Self:
        if self.path is not None:
            raise ValueError("path names one table, and episodes need two. To fix: name them as predictions and events")
        if self.generate is not None and (self.predictions or self.events):
            raise ValueError("give predictions and events, or generate, not both")
        if bool(self.predictions) != bool(self.events):
            missing = "events" if self.predictions else "predictions"
            raise ValueError(f"{missing}: expected a table of {missing} beside the other; got none")
        return self


class EpisodesStudy(RiskStudy):
    """A study of predictions made again and again during stays, and of events that come later."""

    corpus: EpisodesCorpusPart = Field(
        default_factory=EpisodesCorpusPart, description="Where predictions and events come from"
    )
    columns: EpisodeColumnsPart = Field(  # type: ignore[assignment]
        default_factory=EpisodeColumnsPart, description="Which column of the predictions is what"
    )
    events: EventsPart = Field(description="Which types of events mean what, and which column of them is what")
    episodes: EpisodesPart = Field(description="What counts as an event, a warning and an alert")

    @model_validator(mode="after")
    def _of_episodes(self) -> Self:
        if self.episodes.policy == "recorded":
            if self.all_thresholds():
                raise ValueError(
                    "thresholds: policy: recorded takes the alerts that were fired, and no threshold applies to them. "
                    "To fix: leave thresholds out, or set policy to level or crossing"
                )
            if not self.events.alert:
                raise ValueError("events.alert: policy: recorded needs the types of events that are alerts; got none")
        if "drift" in self.lenses and self.episodes.horizon != STAY:
            # An outcome is known one horizon after the prediction; a window that is younger is not judged.
            days = self.episodes.horizon.days  # type: ignore[union-attr]
            self.lenses["drift"] = {"label_delay": days, **self.lenses["drift"]}
        return self

    def alarms(self) -> tuple[float | None, ...]:
        """Thresholds at which alarms are counted; None stands for alerts as they were recorded."""
        return (None,) if self.episodes.policy == "recorded" else self.all_thresholds()
