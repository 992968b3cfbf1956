"""The planted world in closed form: who has the event by when, who is lost, and what the model says. Draws nothing.

Of a patient with the score z, normal with mean 0 and SD 1, the odds of the event by day t are O(t)·exp(spread·z + what
the patient's groups and site add), where O rises in straight lines through the planned horizons: proportional odds.
Who has no event by the end of the world may have the competing event, at an even pace. Loss is exponential, so that
who is still there at a landmark is lost from it as from the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from workup.corpora.generate.cohort import cells
from workup.corpora.generate.survival.plan import Gap, SurvivalPlan
from workup.errors import InputError
from workup.stats.arrays import Floats
from workup.stats.random import generator

_WHERE = "survival plan"
_BEYOND = 1.25  # the world ends so far behind the last horizon of the last landmark
_DECIMALS = 9  # solved figures are rounded so that a last-bit difference between machines cannot reach a file
_REACH, _NODES = 8.5, 4_001


def normal_grid() -> tuple[Floats, Floats]:
    """Scores with their masses: midpoints of a normal density, exact to about 1e-12 for smooth integrals."""
    z = np.linspace(-_REACH, _REACH, _NODES)
    mass = np.exp(-z * z / 2)
    return z, np.asarray(mass / mass.sum())


class Stratum(NamedTuple):
    """Patients alike in groups and site, and what that adds."""

    levels: tuple[int, ...]  # of every group column, then the site
    share: float
    log_odds: float
    outcome_log_odds: float
    log_censoring: float


@dataclass(frozen=True)
class World:
    """All that is solved of a plan."""

    plan: SurvivalPlan
    spread: float  # SD of the true log odds
    days: Floats  # knots of the odds over time, from day 0 to the end of the world
    odds: Floats
    shifts: Floats  # by horizon: the model's log odds are (true log odds - shift) / slope
    competing_by_end: float  # of those who never have the event, the share with the competing one
    loss_rate: float  # per day

    @classmethod
    def of(cls, plan: SurvivalPlan) -> World:
        """Solve the plan's figures; refused where no such world exists."""
        z, mass = normal_grid()
        spread = cells.solve(cells.Target(plan.risks[-1], plan.auroc, 1.0, 0.0), where=_WHERE).sd
        means = np.array([_centre(z, mass, spread, risk) for risk in plan.risks])
        shifts = np.array([_shift(z, mass, mean + spread * z, plan, at) for at, mean in enumerate(means)])
        ends = _BEYOND * (plan.horizons[-1] + plan.landmarks[-1])
        days = np.array([0.0, *plan.horizons])
        odds = np.array([0.0, *np.exp(means)])
        pace = (odds[-1] - odds[-2]) / (days[-1] - days[-2])
        days, odds = np.append(days, ends), np.append(odds, odds[-1] + pace * (ends - days[-1]))
        never = float(mass @ (1 / (1 + odds[-1] * np.exp(spread * z))))
        by_end = plan.competing / never * ends / plan.horizons[-1]
        if by_end > 1:
            raise InputError(
                "competing must leave room for the event",
                where=_WHERE,
                got=f"{plan.competing:g} where at most {plan.competing / by_end:.3g} can be",
                remedy="lower competing or the risks",
            )
        rate = -np.log1p(-plan.censoring) / plan.horizons[-1]
        return cls(plan, spread, days, odds, shifts, round(by_end, 12), float(rate))

    @property
    def ends(self) -> float:
        """The day on which the last follow-up ends."""
        return float(self.days[-1])

    def strata(self, seed: int) -> list[Stratum]:
        """Every combination of levels and sites."""
        plan = self.plan
        sites = np.round(generator(seed, "survival", "sites").standard_normal(plan.sites), 6) * plan.site_log_odds_sd
        along = np.linspace(-0.5, 0.5, plan.sites) if plan.sites > 1 else np.zeros(1)
        found = []
        for levels in product(*(range(len(one)) for one in plan.groups.values()), range(plan.sites)):
            *of_groups, site = levels
            names = [list(plan.groups[column])[level] for column, level in zip(plan.groups, of_groups, strict=True)]
            gaps = [plan.gaps.get(column, {}).get(name, Gap()) for column, name in zip(plan.groups, names, strict=True)]
            shares = [plan.groups[column][name] for column, name in zip(plan.groups, names, strict=True)]
            found.append(
                Stratum(
                    levels=levels,
                    share=float(np.prod(shares)) / plan.sites,
                    log_odds=sum(gap.log_odds for gap in gaps),
                    outcome_log_odds=sum(gap.outcome_log_odds for gap in gaps) + float(sites[site]),
                    log_censoring=sum(gap.log_censoring for gap in gaps) + plan.censoring_by_site * float(along[site]),
                )
            )
        return found

    # ---- of patients: z and what is added are arrays of one shape, or numbers ---------------------------------------

    def event_by(self, day: float, z: Floats, added: Floats | float) -> Floats:
        """Chance of the event by a day."""
        odds = np.interp(day, self.days, self.odds) * np.exp(self.spread * z + added)
        return np.asarray(odds / (1 + odds))

    def competing_by(self, day: float, z: Floats, added: Floats | float) -> Floats:
        """Chance of the competing event by a day."""
        share = self.competing_by_end * min(day, self.ends) / self.ends
        return np.asarray((1 - self.event_by(self.ends, z, added)) * share)

    def free_at(self, day: float, z: Floats, added: Floats | float) -> Floats:
        """Chance of neither event by a day."""
        return 1 - self.event_by(day, z, added) - self.competing_by(day, z, added)

    def risk_from(self, landmark: float, horizon: float, z: Floats, added: Floats | float) -> Floats:
        """True risk at a horizon of those free of both events at the landmark."""
        came = self.event_by(landmark + horizon, z, added) - self.event_by(landmark, z, added)
        return np.asarray(came / self.free_at(landmark, z, added))

    def predicted(self, landmark: float, at: int, z: Floats, added: Floats | float) -> Floats:
        """The model's log odds at the `at`-th horizon: it knows the landmark, and `added` where the model knows it."""
        true = self.risk_from(landmark, self.plan.horizons[at], z, added)
        return np.asarray((np.log(true) - np.log1p(-true) - self.shifts[at]) / self.plan.slope)

    def loss_rates(self, z: Floats, log_censoring: Floats | float) -> Floats:
        """How fast patients are lost, per day."""
        return np.asarray(self.loss_rate * np.exp(self.plan.censoring_by_risk * z + log_censoring))

    def event_days(self, chance: Floats, z: Floats, added: Floats) -> Floats:
        """The day on which the event comes to a patient whose place among such patients is `chance`; inf if never."""
        with np.errstate(divide="ignore"):
            odds = chance / (1 - chance) * np.exp(-self.spread * z - added)
        return np.where(odds < self.odds[-1], np.interp(odds, self.odds, self.days), np.inf)

    def competing_days(self, chance: Floats) -> Floats:
        """The day of the competing event of one who never has the event; inf if that never comes either."""
        if self.competing_by_end == 0:
            return np.full(chance.size, np.inf)
        share = chance / self.competing_by_end
        return np.where(share < 1, share * self.ends, np.inf)

    def landmarks_and_horizons(self) -> Iterator[tuple[float, int]]:
        """Every landmark with every place of a horizon."""
        yield from product(self.plan.landmarks, range(len(self.plan.horizons)))


def _centre(z: Floats, mass: Floats, spread: float, risk: float) -> float:
    """The mean of the log odds at which so many have the event."""
    from scipy import optimize, special

    def surplus(mean: float) -> float:
        return float(mass @ special.expit(mean + spread * z)) - risk

    reach = 40 + _REACH * spread
    return round(float(optimize.brentq(surplus, -reach, reach, xtol=1e-14)), _DECIMALS)


def _shift(z: Floats, mass: Floats, true: Floats, plan: SurvivalPlan, at: int) -> float:
    """What is taken from the true log odds to give the planned calibration in the large at a horizon."""
    from scipy import optimize, special

    def surplus(shift: float) -> float:
        return float(mass @ special.expit(plan.in_the_large + (true - shift) / plan.slope)) - plan.risks[at]

    reach = plan.slope * 60.0 + float(np.abs(true).max())
    return round(float(optimize.brentq(surplus, -reach, reach, xtol=1e-14)), _DECIMALS)
