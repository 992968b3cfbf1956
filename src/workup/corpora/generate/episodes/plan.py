"""What planted stays are to look like: scores, events, sites, faults, and the question that is asked of them.

Knows not how anything is drawn or worked out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from workup.scores import MISSING, level_name
from workup.settings import Part
from workup.stats.arrays import Floats

TARGET, START, END, DEATH, LOST, INTERVENTION = "sepsis", "admit", "discharge", "death", "transfer", "antibiotics"
TYPES = (START, TARGET, INTERVENTION, LOST, END, DEATH)  # as events of one moment are ordered
OWN_COLUMNS = ("patient", "encounter", "time", "risk", "site", "ward")
_MOST_CELLS = 2_000

Share = Annotated[float, Field(ge=0, le=1)]
Hours = Annotated[float, Field(ge=0, le=10_000)]


def _adding_up(shares: Mapping[str, float]) -> Mapping[str, float]:
    if not shares or min(shares.values()) <= 0 or abs(sum(shares.values()) - 1) > 1e-9:
        raise ValueError("expected shares above 0 that add up to 1")
    if any(level_name(level) in (MISSING, "") or level_name(level) != level for level in shares):
        raise ValueError(f"expected levels that are trimmed texts other than '{MISSING}'")
    return shares


Levels = Annotated[Mapping[str, float], AfterValidator(_adding_up)]


class Fault(Part):
    """What is wrong with the scores of some stays. Several faults of one stay add up."""

    where: Mapping[str, str] = Field(
        default={}, description="Stays it is planted in: a level of a group, or of site; all when empty"
    )
    from_month: int = Field(default=1, ge=1, description="First month, counted from 1, in which stays begin with it")
    late_hours: Hours = Field(default=0.0, description="The score sees the patient of this long ago")
    signal: Share = Field(default=1.0, description="What is left of everything the score knows; 0 makes pure noise")
    shift: float = Field(default=0.0, ge=-10, le=10, description="Added to the score's log odds: above 0 it floods")
    missing: Share = Field(default=0.0, description="Share of scores that are not there, at random")
    missing_before_event: Share = Field(
        default=0.0, description="Share not there in the hours in which a score could have seen the event coming"
    )


class EpisodesPlan(Part):
    """Stays as they are to be. Scores stand on a grid from the start of each stay, one in every `every_hours`.

    >>> EpisodesPlan.of({"faults": [{"where": {"site": "S02"}, "shift": 1.5}]}).faults[0].shift
    1.5
    """

    every_hours: float = Field(default=4.0, gt=0, le=168, description="Hours between scores")
    stays: tuple[float, ...] = Field(
        default=(0.55, 0.25, 0.13, 0.07), min_length=1, description="Shares of patients with 1, 2, 3, … stays"
    )
    mean_scores: float = Field(default=18.0, ge=2, le=200, description="Scores of a stay on average, before the cut")
    most_scores: int = Field(default=60, ge=2, le=200, description="Longest stay, in scores")
    event_chance: float = Field(
        default=0.006, gt=0, lt=1, description="Chance of the event between two scores, for the typical patient"
    )
    frailty: float = Field(default=0.8, ge=0, le=3, description="SD between patients of that chance's log odds")
    present: Share = Field(default=0.02, description="Share of stays that begin with the event")
    knows_frailty: float = Field(default=0.6, ge=0, le=3, description="How far the score rises with frailty")
    rise: float = Field(default=1.9, ge=0, le=10, description="How far it has risen when the event comes, in SDs")
    ramp_hours: Hours = Field(default=24.0, gt=0, description="Hours before the event in which it rises")
    missing: Share = Field(default=0.03, description="Share of scores that are not there, at random")
    death_after_event: Share = Field(default=0.15, description="Share of stays with the event that end in death")
    death: Share = Field(default=0.02, description="Share of the other stays that do")
    lost: Share = Field(default=0.03, description="Share of stays that end in a transfer")
    treated: Share = Field(default=0.01, description="Chance of the intervention between two scores, before the event")
    treated_after_event: Share = Field(default=0.35, description="The same after the event")
    sites: int = Field(default=3, ge=1, le=200, description="Number of sites, each with an equal share of patients")
    months: int = Field(default=6, ge=1, le=240, description="Calendar months in which patients' first stays begin")
    start: str = Field(default="2024-01", description="First month, as year-month")
    groups: Mapping[str, Levels] = Field(
        default={"sex": {"F": 0.52, "M": 0.48}, "age": {"18-49": 0.3, "50-69": 0.4, "70+": 0.3}},
        description="Groups of patients, each with its levels and their shares",
    )
    faults: tuple[Fault, ...] = Field(default=(), max_length=50, description="What is wrong with the scores")
    horizon_hours: Hours = Field(default=24.0, gt=0, description="The question: an event within so many hours")
    gap_hours: Hours = Field(default=0.0, description="The least useful warning")
    refractory_hours: Hours | Literal["encounter"] = Field(default=8.0, description="No second alert for so long")
    act_within_hours: Hours = Field(default=8.0, description="An intervention this soon after an alert acted on it")
    lead_hours: tuple[float, ...] = Field(default=(1.0, 2.0, 4.0, 6.0, 12.0), description="Warnings of interest")
    thresholds: tuple[float, ...] = Field(default=(0.05, 0.1, 0.2), min_length=1, description="Risks that alert")

    @classmethod
    def of(cls, plan: EpisodesPlan | Mapping[str, Any]) -> EpisodesPlan:
        """A plan from plain data, checked."""
        return plan if isinstance(plan, EpisodesPlan) else cls.checked(plan, where="episodes plan")

    def as_dict(self) -> dict[str, Any]:
        """Plain data from which `of` makes the same plan again."""
        return self.model_dump(mode="json")

    def slots(self, hours: float) -> int:
        """A length of time as a number of scores."""
        return round(hours / self.every_hours)

    @property
    def refractory_slots(self) -> int:
        """How many scores from one that fired to the next that may."""
        if self.refractory_hours == "encounter":
            return self.most_scores
        return max(1, self.slots(self.refractory_hours))

    @property
    def every_minutes(self) -> int:
        """Minutes between scores."""
        return round(self.every_hours * 60)

    def lengths(self) -> Floats:
        """The share of stays of each length in scores, from 0: a cut geometric law from 2 scores on."""
        count = np.arange(self.most_scores + 1)
        keep = 1 - 1 / max(self.mean_scores - 1, 1 + 1e-9)
        shares = np.where(count >= 2, keep ** np.maximum(count - 2.0, 0.0), 0.0)
        return np.asarray(shares / shares.sum())

    def site_names(self) -> list[str]:
        """The sites as "S01", in order."""
        return [f"S{number:02d}" for number in range(1, self.sites + 1)]

    def splits(self) -> dict[str, dict[str, float]]:
        """What patients are divided by: site and every group, with the shares of their levels."""
        sites = self.site_names()
        return {"site": dict.fromkeys(sites, 1 / len(sites)), **{name: dict(of) for name, of in self.groups.items()}}

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for fault in self._faults_found():
            raise ValueError(fault)
        return self

    def _faults_found(self) -> Iterator[str]:
        minutes = self.every_hours * 60
        if minutes < 2 or abs(minutes - round(minutes)) > 1e-9:
            yield "expected every_hours to be whole minutes, 2 or more"
        named = {name: getattr(self, name) for name in _ON_THE_GRID if getattr(self, name) != "encounter"}
        named |= {f"fault {place}, late_hours": fault.late_hours for place, fault in enumerate(self.faults, start=1)}
        for name, hours in named.items():
            if abs(hours / self.every_hours - round(hours / self.every_hours)) > 1e-9:
                yield f"expected {name} to be a multiple of every_hours, so that the truth can be worked out"
        if self.gap_hours >= self.horizon_hours:
            yield "expected gap_hours to be below horizon_hours"
        if min(self.stays) < 0 or abs(sum(self.stays) - 1) > 1e-9:
            yield "expected the shares of stays to add up to 1"
        if not all(0 < one < 1 for one in self.thresholds) or len(set(self.thresholds)) < len(self.thresholds):
            yield "expected thresholds to be distinct risks between 0 and 1"
        if not _is_month(self.start):
            yield "expected start to be a month as year-month, such as 2024-01"
        if self.death + self.lost > 1 or self.death_after_event + self.lost > 1:
            yield "expected the shares of stays that end in death and in a transfer to be at most 1 together"
        yield from self._misplaced()

    def _misplaced(self) -> Iterator[str]:
        for name in self.groups:
            if name in OWN_COLUMNS:
                yield "expected groups whose names are none of " + ", ".join(OWN_COLUMNS)
        splits = self.splits()
        if np.prod([float(len(levels)) for levels in splits.values()]) > _MOST_CELLS:
            yield f"expected at most {_MOST_CELLS:,} combinations of sites and levels"
        for place, fault in enumerate(self.faults, start=1):
            for name, level in fault.where.items():
                if level not in splits.get(name, ()):
                    yield f"expected fault {place} to be planted in a level of a group or a site that there is"


_ON_THE_GRID = ("ramp_hours", "horizon_hours", "gap_hours", "refractory_hours", "act_within_hours")


def _is_month(text: str) -> bool:
    try:
        return str(np.datetime64(text, "M")) == text
    except ValueError:
        return False
