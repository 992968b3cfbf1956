"""Thresholds chosen from data, with what they will do on new patients rather than what they did on those seen.

A row is flagged where its risk is at or above the threshold. Values are rounded to 4 significant digits on the safe
side, and every figure is of the rounded value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workup.stats.arrays import Floats, Ints

REPLICATES = 2_000


@dataclass(frozen=True)
class Figure:
    """What a threshold does: a share, a rate or net benefit with its interval on new patients."""

    name: str  # sensitivity, specificity, ppv, alert_rate, net_benefit, alerts_per_day
    value: float | None
    low: float | None
    high: float | None
    method: str


@dataclass(frozen=True)
class Threshold:
    """One threshold. `risk` is the patient's risk that it was rounded from: for tests, never to be written."""

    value: float
    risk: float
    place: int  # k-th smallest risk of events, or m-th largest risk of all
    apparent: float  # sensitivity, alert rate or alerts per day on these rows
    chance: float | None  # that the target is met on new patients
    figures: tuple[Figure, ...]
    next_flagged: tuple[int, int] | None = None  # of the next so many events

    def figure(self, name: str) -> Figure:
        """The figure of this name."""
        return next(one for one in self.figures if one.name == name)


@dataclass(frozen=True)
class Choice:
    """The threshold for a target with the assurance asked for, and the naive one beside it."""

    rule: str
    target: float
    assurance: float | None
    assured: Threshold | None
    naive: Threshold | None
    reason: str | None  # why there is no assured threshold
    events_needed: int | None  # events below which none exists
    method: str  # how exact the chances are


def for_sensitivity(
    outcome: Floats,
    risk: Floats,
    target: float,
    *,
    assurance: float = 0.95,
    patient: Ints | None = None,
    weight: Floats | None = None,
    next_events: int = 100,
    held_out: bool = True,
    replicates: int = REPLICATES,
    seed: int = 0,
    level: float = 0.95,
) -> Choice:
    """The highest threshold whose sensitivity on new patients reaches `target` with probability `assurance`.

    `held_out` False says that the risks are cross-fitted, which makes the laws approximate.
    """
    raise NotImplementedError


def for_alert_rate(
    outcome: Floats,
    risk: Floats,
    share: float,
    *,
    assurance: float = 0.95,
    patient: Ints | None = None,
    weight: Floats | None = None,
    held_out: bool = True,
    replicates: int = REPLICATES,
    seed: int = 0,
    level: float = 0.95,
) -> Choice:
    """The lowest threshold that flags at most `share` of new patients with probability `assurance`."""
    raise NotImplementedError


@dataclass(frozen=True)
class DailyThreshold:
    """A threshold for a budget of alerts per day."""

    value: float
    per_day: Figure
    busiest: float  # 95th percentile of days
    above_budget: float  # share of days with more alerts than the budget


@dataclass(frozen=True)
class DailyChoice:
    """Thresholds for a budget of alerts per day: that of the mean, and that whose upper end keeps to the budget."""

    budget: float
    assurance: float | None
    assured: DailyThreshold | None
    naive: DailyThreshold | None
    reason: str | None


def for_alerts_per_day(
    candidates: Sequence[float],
    alerts: Callable[[float], tuple[Ints, Ints]],
    budget: float,
    *,
    days: int,
    patients: int,
    assurance: float = 0.95,
    replicates: int = REPLICATES,
    seed: int = 0,
    level: float = 0.95,
) -> DailyChoice:
    """The lowest of the candidates from which on the mean number of alerts a day stays within the budget.

    `alerts(t)` gives, for each alert fired at a threshold, its patient (0 to `patients` − 1) and its day (0 to `days`
    − 1). All whole calendar days count, those without an alert too.
    """
    raise NotImplementedError


def for_cost_ratio(ratio: float) -> float:
    """The threshold at which flagging pays, where a missed event is `ratio` times as bad as a needless alert."""
    return 1 / (1 + ratio)


@dataclass(frozen=True)
class Searched:
    """The cut with the greatest net benefit at a fixed cost ratio, and how much of that is luck."""

    value: float
    net_benefit: Figure  # corrected for optimism
    apparent: float
    optimism: float
    from_costs: float  # 1 / (1 + ratio)
    at_costs: float  # net benefit there


def search_net_benefit(
    outcome: Floats,
    risk: Floats,
    ratio: float,
    *,
    patient: Ints | None = None,
    weight: Floats | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
    level: float = 0.95,
) -> Searched:
    """The cut that maximises net benefit on these rows at the odds of the cost ratio, and the optimism of doing so."""
    raise NotImplementedError


def figures_at(
    outcome: Floats,
    risk: Floats,
    threshold: float,
    *,
    patient: Ints | None = None,
    weight: Floats | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[Figure, ...]:
    """Sensitivity, specificity, ppv, alert rate and net benefit of a threshold that data did not choose."""
    raise NotImplementedError
