"""Censored cohorts with planted truth: a table of patients with a model's risks at several horizons, how long each was
followed and how that ended; and what every figure at a horizon ought to be. Knows nothing of scoring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from workup.corpora.generate.planted_table import write_planted
from workup.corpora.generate.survival import planted_truth
from workup.corpora.generate.survival.plan import SurvivalPlan
from workup.corpora.generate.survival.world import Stratum, World
from workup.errors import InputError
from workup.stats.arrays import Floats
from workup.stats.random import generator

__all__ = ["PlantedSurvival", "SurvivalPlan", "draw", "generate"]

DEFAULT = SurvivalPlan()
CENSORED, EVENT, COMPETING = 0.0, 1.0, 2.0
RISK_DECIMALS = 8
_DAY_DECIMALS = 4


@dataclass(frozen=True, eq=False)
class PlantedSurvival:
    """A generated table with its truth. `table` is plain columns; `truth` is plain data, by horizon and metric name."""

    table: Mapping[str, npt.NDArray[Any]]
    patients: int
    plan: SurvivalPlan
    seed: int

    @cached_property
    def truth(self) -> Mapping[str, Any]:
        """What each figure tends to; worked out when it is first asked for, since that takes longer than the draw."""
        about = {"generator": "survival", "patients": self.patients, "seed": self.seed}
        plan = self.plan.model_dump(mode="json")
        return {**about, "plan": plan, **planted_truth.truth(World.of(self.plan), self.seed)}

    def write(self, path: Path) -> tuple[Path, Path]:
        """Write the table as CSV and the truth as `<stem>.truth.json` beside it; the same bytes every time."""
        days = 0 if self.plan.whole_days else _DAY_DECIMALS
        risks = {self.plan.column(horizon): RISK_DECIMALS for horizon in self.plan.horizons}
        decimals = {"score": 4, "landmark": days, "followup": days, "status": 0, **risks}
        return write_planted(path, self.table, self.truth, decimals=decimals)


def generate(
    count: Annotated[int, Field(ge=1, le=100_000_000, description="Patients; with landmarks each may have more rows")],
    *,
    seed: int,
    plan: SurvivalPlan | Mapping[str, Any] = DEFAULT,
) -> PlantedSurvival:
    """Draw patients under a plan, given as SurvivalPlan or as plain data; equal arguments give equal bytes.

    >>> made = generate(500, seed=1, plan={"horizons": [90], "risks": [0.2], "auroc": 0.75, "slope": 0.8})
    >>> made.truth["overall"]["90d"]["auroc"], made.truth["overall"]["90d"]["calibration_slope"]
    (0.75, 0.8)
    """
    if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or count < 1:
        raise InputError("count must be a whole number of patients, 1 or more", where="survival", got=repr(count))
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or seed < 0:
        raise InputError("seed must be a whole number, 0 or more", where="survival", got=repr(seed))
    plan = plan if isinstance(plan, SurvivalPlan) else SurvivalPlan.checked(plan, where="survival plan")
    world = World.of(plan)
    _refuse_falling(world)
    return PlantedSurvival(draw(int(count), seed=int(seed), world=world), int(count), plan, int(seed))


def _refuse_falling(world: World) -> None:
    """A risk must not fall from one horizon to the next, which a steep or flat slope can do at a late landmark."""
    z = np.linspace(-6, 6, 241)
    for landmark in world.plan.landmarks:
        risks = np.stack([world.predicted(landmark, at, z, 0.0) for at in range(len(world.plan.horizons))])
        if (np.diff(risks, axis=0) < 0).any():
            raise InputError(
                "risks must not fall from an earlier to a later horizon",
                where="survival plan",
                got=f"they do at the landmark of {landmark:g} days",
                remedy="bring slope nearer 1, or take horizons further apart",
            )


def draw(count: int, *, seed: int, world: World) -> dict[str, npt.NDArray[Any]]:
    """The table: patients in order, each with one row for every landmark at which they were still followed."""
    plan = world.plan
    strata = world.strata(seed)
    codes = _uniform("stratum", count, seed)
    stratum = np.searchsorted(np.cumsum([one.share for one in strata])[:-1], codes, side="right")
    z = np.round(generator(seed, "survival", "score").standard_normal(count), 4)
    known, hidden = (_each(strata, name, stratum) for name in ("log_odds", "outcome_log_odds"))
    entry = _entry(plan, count, seed)
    followup, status = _lives(world, seed, z, known + hidden, _each(strata, "log_censoring", stratum), entry)
    rows = [np.flatnonzero(followup > landmark) for landmark in plan.landmarks]
    patient = np.concatenate(rows)
    landmark = np.repeat(np.array(plan.landmarks), [one.size for one in rows])
    order = np.lexsort((landmark, patient))
    patient, landmark = patient[order], landmark[order]
    levels = np.array([one.levels for one in strata])[stratum[patient]]
    time = entry[patient] + np.round(landmark * 1440).astype(np.int64).astype("timedelta64[m]")
    found: dict[str, npt.NDArray[Any]] = {
        "patient": np.array([f"P{number:06d}" for number in (patient + 1).tolist()], dtype=object),
        "site": np.array(plan.site_names(), dtype=object)[levels[:, -1]],
        "time": time.astype("datetime64[us]"),
    }
    for place, (column, of_column) in enumerate(plan.groups.items()):
        found[column] = np.array(list(of_column), dtype=object)[levels[:, place]]
    found["score"] = z[patient]
    if plan.landmarks != (0.0,):
        found["landmark"] = landmark
    found["followup"] = np.round(followup[patient] - landmark, _DAY_DECIMALS)
    found["status"] = status[patient]
    for at, horizon in enumerate(plan.horizons):
        log_odds = np.empty(patient.size)
        for one in plan.landmarks:
            here = landmark == one
            log_odds[here] = world.predicted(one, at, z[patient[here]], known[patient[here]])
        found[plan.column(horizon)] = np.round(1 / (1 + np.exp(-log_odds)), RISK_DECIMALS)
    return found


def _uniform(name: str, count: int, seed: int) -> Floats:
    return generator(seed, "survival", name).random(count)


def _each(strata: list[Stratum], name: str, stratum: npt.NDArray[np.intp]) -> Floats:
    return np.array([getattr(one, name) for one in strata])[stratum]


def _entry(plan: SurvivalPlan, count: int, seed: int) -> npt.NDArray[np.datetime64]:
    """The moment of entry, evenly over the months; a whole day where follow-up is counted in days."""
    minutes = (_uniform("entry", count, seed) * plan.months * 30 * 1440).astype(np.int64)
    if plan.whole_days:
        minutes -= minutes % 1440
    return np.asarray(np.datetime64(plan.start, "m") + minutes.astype("timedelta64[m]"))


def _lives(
    world: World, seed: int, z: Floats, added: Floats, log_censoring: Floats, entry: npt.NDArray[np.datetime64]
) -> tuple[Floats, Floats]:
    """Days from entry to the first of event, competing event and loss, and which it was.

    Whole days are made of each before they are compared: an event and a loss on one day are an event, as scorers take
    it, and a horizon of whole days parts the same patients as before.
    """
    event = world.event_days(_uniform("event", z.size, seed), z, added)
    competing = np.where(np.isinf(event), world.competing_days(_uniform("competing", z.size, seed)), np.inf)
    with np.errstate(divide="ignore"):
        lost = -np.log(_uniform("loss", z.size, seed)) / world.loss_rates(z, log_censoring)
    lost = np.minimum(lost, world.ends)
    if world.plan.as_of is not None:
        until = (np.datetime64(world.plan.as_of, "m") - entry).astype(np.int64) / 1440
        lost = np.minimum(lost, until)
    if world.plan.whole_days:
        event, competing, lost = np.ceil(event), np.ceil(competing), np.ceil(lost)
    else:  # as the file holds it, with nobody leaving at the very moment of entry
        event, competing, lost = (np.maximum(np.round(one, _DAY_DECIMALS), 1e-4) for one in (event, competing, lost))
    first = np.minimum(event, competing)
    status = np.where(first <= lost, np.where(np.isfinite(event), EVENT, COMPETING), CENSORED)
    return np.minimum(first, lost), status
