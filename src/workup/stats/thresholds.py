"""Thresholds chosen from data, with what they will do on new patients rather than what they did on those seen.

A row is flagged where its risk is at or above the threshold. Values are rounded to 4 significant digits on the safe
side (down for a sensitivity, up for a budget), so that they name no patient's risk, and every figure is of the rounded
value.

The laws, and ties. Of n₁ event risks sorted up, the k-th as threshold has a sensitivity on new patients that is
Beta(n₁ − k + 1, k), whatever the risks' distribution, as long as no two are equal. With ties (and rounding down makes
ties: it is the same rule on risks cut to 4 digits) more than the law says is flagged: the sensitivity is stochastically
larger, so the chance of reaching a target is at least the law's, its low end holds, and the high end is widened to
Clopper and Pearson's for the events really flagged. For a budget ties go the wrong way: a threshold *at* the m-th
largest risk flags all that are equal to it. Strictly *above* it the alert rate is at most Beta(m, n − m + 1), ties or
not, so the value is the least number of 4 digits above that risk.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.stats.arrays import Floats, Ints
from workup.stats.bootstrap import Resamples
from workup.stats.chosen_cuts import Below, Chosen, Cuts, Table, chosen_ends
from workup.stats.intervals import Ends, clustered_share, wilson

REPLICATES = 2_000
DIGITS = 4
LARGEST_ODDS = 1e9  # those of a threshold of 1, at which net benefit says nothing
Places = Callable[[npt.NDArray[np.int64]], npt.NDArray[np.int64]]  # from how many there are to the place chosen


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
    apparent: float  # sensitivity or alert rate on these rows
    chance: float  # that the target is met on new patients
    figures: tuple[Figure, ...]
    next_flagged: tuple[int, int] | None = None  # of the next so many events

    def figure(self, name: str) -> Figure:
        """The figure of this name."""
        return next(one for one in self.figures if one.name == name)


@dataclass(frozen=True)
class Choice:
    """The threshold for a target with the assurance asked for, and the naive one beside it."""

    rule: str  # sensitivity or alert_rate
    target: float
    assurance: float
    assured: Threshold | None
    naive: Threshold | None
    reason: str | None  # why there is no assured threshold
    needed: int  # events (for a budget: rows) below which none exists
    method: str  # how exact the chances are


# ---- rounding on the safe side ---------------------------------------------------------------------------------------


def rounded_down(risk: float) -> float:
    """The greatest number of 4 significant digits that is not above the risk.

    >>> rounded_down(0.18258), rounded_down(0.1825), rounded_down(0.00123456)
    (0.1825, 0.1825, 0.001234)
    """
    return float(_rounded(risk, ROUND_FLOOR))


def rounded_above(risk: float) -> float:
    """The least number of 4 significant digits that is above the risk.

    >>> rounded_above(0.43561), rounded_above(0.25), rounded_above(0.0)
    (0.4357, 0.2501, 1e-06)
    """
    if risk == 0:
        return 1e-6  # risks are clipped there
    up = _rounded(risk, ROUND_CEILING)
    exact = Decimal(repr(risk))
    return float(up if up > exact else up + Decimal(1).scaleb(up.adjusted() - DIGITS + 1))


def _rounded(risk: float, direction: str) -> Decimal:
    exact = Decimal(repr(risk))  # the shortest decimal that reads back: 0.1825 is 0.1825
    return exact.quantize(Decimal(1).scaleb(exact.adjusted() - DIGITS + 1), rounding=direction) if exact else exact


# ---- the laws --------------------------------------------------------------------------------------------------------


def chance_of_sensitivity(place: npt.ArrayLike, events: npt.ArrayLike, target: float, effect: float = 1.0) -> Floats:
    """Chance that the k-th smallest of so many event risks has at least this sensitivity on new patients.

    `effect` is the design effect where event rows repeat within patients: the law on effective events.

    >>> round(float(chance_of_sensitivity(11, 100, 0.90)), 3), round(float(chance_of_sensitivity(5, 100, 0.90)), 3)
    (0.417, 0.976)
    """
    k, n = np.asarray(place, dtype=np.float64), np.asarray(events, dtype=np.float64)
    return np.asarray(special.betainc((k - 1) / effect + 1, (n - k + 1) / effect, 1 - target))


def chance_of_budget(place: npt.ArrayLike, rows: npt.ArrayLike, share: float, effect: float = 1.0) -> Floats:
    """Chance that a threshold just above the m-th largest of so many risks flags at most this share of new patients.

    >>> round(float(chance_of_budget(60, 400, 0.15)), 3)
    0.521
    """
    m, n = np.asarray(place, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    return np.asarray(special.betainc((m - 1) / effect + 1, (n - m + 1) / effect, share))


def events_needed(target: float, assurance: float, effect: float = 1.0) -> int:
    """Events below which no threshold is assured: even the lowest event risk would not do.

    >>> events_needed(0.90, 0.95)
    29
    """
    return math.ceil(effect * math.log(1 - assurance) / math.log(target) - 1e-9)


Chance = Callable[[npt.ArrayLike, npt.ArrayLike], Floats]


def _farthest(size: npt.NDArray[np.int64], chance: Chance, assurance: float) -> npt.NDArray[np.int64]:
    """For every size the greatest place whose chance reaches the assurance, by halving; 0 where none does."""
    low, high = np.zeros_like(size), size.copy()
    while np.any(low < high):
        middle = (low + high + 1) // 2
        holds = chance(np.maximum(middle, 1), np.maximum(size, 1)) >= assurance
        low, high = np.where(holds, middle, low), np.where(holds, high, middle - 1)
    return low


def _next_flagged(flagged: float, missed: float, size: int, tail: float) -> int:
    """Quantile of how many of the next so many events are flagged, beta-binomial."""
    j = np.arange(size + 1)
    log = special.gammaln(size + 1) - special.gammaln(j + 1) - special.gammaln(size - j + 1)
    log = log + special.betaln(j + flagged, size - j + missed) - special.betaln(flagged, missed)
    return min(size, int(np.searchsorted(np.cumsum(np.exp(log)), tail)))


# ---- for a sensitivity -----------------------------------------------------------------------------------------------


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
    _inside("target", target)
    _inside("assurance", assurance)
    table = Table.of(outcome, risk, patient, weight)
    events = np.flatnonzero(table.outcome == 1)
    n = events.size
    if n == 0:
        least = events_needed(target, assurance)
        return Choice("sensitivity", target, assurance, None, None, "there are no events", least, "")
    rule = _Sensitivity(table, events, target)
    first = rule.naive(n)
    effect = _effect_at(rule.effect, first, lambda e: rule.assured(n, assurance, e))
    found = rule.assured(n, assurance, effect)
    how = _Way(replicates, seed, level, held_out)
    needed = events_needed(target, assurance, effect)

    def picked(place: int, by: Places) -> _Picked:
        value = rounded_down(rule.risk_at(place))
        return _Picked(place, value, Chosen(table.cut(value), _odds(value), rule.chooser(by)))

    def made(one: _Picked, figures: dict[str, Figure]) -> Threshold:
        flagged, total = (float(x[0]) for x in table.below.tallies(np.array([one.chosen.cut]))["sensitivity"])
        f, tail = flagged / total * n, (1 - level) / 2
        own = rule.effect(one.place).own
        law = (n - one.place + 1) / own, (one.place - 1) / own + 1
        more = f > n - one.place + 1 + 1e-9  # ties, or rows between the value and the risk that it was rounded from
        high = ((f + 1) / own, max(n - f, 0.0) / own) if more else law
        ends = Ends(
            float(special.betaincinv(*law, tail)), float(special.betaincinv(*high, 1 - tail)) if high[1] > 0 else 1.0
        )
        figures["sensitivity"] = Figure("sensitivity", f / (n + own), *ends, how.law("event", own))
        upper = _next_flagged(f / own, (n - f) / own + 1, next_events, 1 - tail)
        return Threshold(
            value=one.value,
            risk=rule.risk_at(one.place),
            place=one.place,
            apparent=flagged / total,
            chance=float(chance_of_sensitivity(one.place, n, target, effect)),
            figures=tuple(figures.values()),
            next_flagged=(_next_flagged(*law, next_events, tail), upper),
        )

    naive, assured = _both(
        table,
        picked(first, rule.naive_of),
        picked(found, lambda size: np.maximum(rule.assured_of(size, assurance, effect), 1)) if found else None,
        how,
        made,
        ordinary="specificity",  # the threshold depends on event rows alone: the others are a sample like any other
    )
    reason = None if found else f"no threshold is assured with fewer than {needed} events; there are {n}"
    return Choice("sensitivity", target, assurance, assured, naive, reason, needed, how.law("event", effect))


@dataclass(frozen=True, eq=False)
class _Sensitivity:
    """Event rows of a table, and which of them a target picks."""

    table: Table
    events: npt.NDArray[np.intp]
    target: float

    def naive_of(self, size: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The greatest place whose apparent sensitivity is the target."""
        return np.asarray(np.minimum(np.floor(size * (1 - self.target) + 1e-9) + 1, size), dtype=np.int64)

    def naive(self, size: int) -> int:
        return int(self.naive_of(np.array([size]))[0])

    def assured_of(self, size: npt.NDArray[np.int64], assurance: float, effect: float) -> npt.NDArray[np.int64]:
        """The greatest place that keeps the assurance, 0 for none."""
        sizes, where = np.unique(size, return_inverse=True)
        found = _farthest(sizes, lambda k, n: chance_of_sensitivity(k, n, self.target, effect), assurance)
        return np.asarray(found[where])

    def assured(self, size: int, assurance: float, effect: float) -> int:
        return int(self.assured_of(np.array([size]), assurance, effect)[0])

    @property
    def unit(self) -> float:
        """The mean weight of an event: places count events, thresholds their weight."""
        return float(self.table.weight[self.events].mean())

    @property
    def first_of_ties(self) -> Cuts:
        """The cut at each event's risk."""
        risk = self.table.risk
        return np.searchsorted(risk, risk[self.events], side="left")

    def chooser(self, place: Places) -> Callable[[Below], Cuts]:
        """The rule for resamples: the highest event risk with fewer than so many events below it."""
        cuts, unit = self.first_of_ties, self.unit

        def choose(below: Below) -> Cuts:
            size = np.rint(below.events[:, -1] / unit).astype(np.int64)
            allowed = (place(size) - 1) * unit
            under = below.events[:, cuts] <= allowed[:, None] + 1e-9
            return np.asarray(cuts[np.maximum(under.sum(axis=1) - 1, 0)])

        return choose

    def risk_at(self, place: int) -> float:
        """The risk at a place among the events."""
        [cut] = self.chooser(lambda size: np.full(size.size, place))(self.table.below)
        return float(self.table.risk[cut])

    def effect(self, place: int) -> _Effect:
        """The design effect of the sensitivity at a place."""
        rows, table = self.events, self.table
        flagged = (table.risk[rows] >= self.risk_at(place)).astype(np.float64)
        return _design_effect(flagged, table.patient[rows], table.weight[rows])


class _Effect(NamedTuple):
    """By how much rows that repeat within patients, or have weights, count for less; 1 for independent rows."""

    own: float  # what intervals rest on
    safe: float  # what a threshold is chosen by: its error, in few patients, allowed for


def _design_effect(flagged: Floats, patient: Ints, weight: Floats) -> _Effect:
    if np.all(weight == weight[0]) and np.unique(patient).size == patient.size:
        return _Effect(1.0, 1.0)
    share = clustered_share(flagged, np.ones(flagged.size), patient, weight)
    return _Effect(max(1.0, share.weighed_effect), max(1.0, share.rows / share.effective_n()))


def _effect_at(effect: Callable[[int], _Effect], naive: int, assured: Callable[[float], int]) -> float:
    """The design effect to choose by: the greater of those at the naive threshold and at the one it leads to."""
    first = effect(naive).safe
    found = assured(first)
    return max(first, effect(found).safe) if found else first


# ---- for an alert rate -----------------------------------------------------------------------------------------------


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
    _inside("share", share)
    _inside("assurance", assurance)
    table = Table.of(outcome, risk, patient, weight)
    n = table.risk.size
    if n == 0:
        raise ValueError("no threshold can be chosen from no rows")
    rule = _Budget(table, share)
    first = rule.naive(n)
    effect = _effect_at(rule.effect, max(first, 1), lambda e: rule.assured(n, assurance, e))
    found = rule.assured(n, assurance, effect)
    how = _Way(replicates, seed, level, held_out)
    needed = events_needed(1 - share, assurance, effect)

    def picked(place: int, by: Places) -> _Picked:
        value = rounded_above(rule.risk_at(place))
        return _Picked(place, value, Chosen(table.cut(value), _odds(value), rule.chooser(by)))

    def made(one: _Picked, figures: dict[str, Figure]) -> Threshold:
        flagged, total = (float(x[0]) for x in table.below.tallies(np.array([one.chosen.cut]))["alert_rate"])
        f, tail = flagged / total * n, (1 - level) / 2
        own = rule.effect(one.place).own
        law = (one.place - 1) / own + 1, (n - one.place + 1) / own
        fewer = f < one.place - 1 - 1e-9
        low = (f / own, (n - f) / own + 1) if fewer else law
        ends = Ends(
            float(special.betaincinv(*low, tail)) if low[0] > 0 else 0.0, float(special.betaincinv(*law, 1 - tail))
        )
        figures["alert_rate"] = Figure("alert_rate", (f + own) / (n + own), *ends, how.law("row", own))
        return Threshold(
            value=one.value,
            risk=rule.risk_at(one.place),
            place=one.place,
            apparent=flagged / total,
            chance=float(chance_of_budget(one.place, n, share, effect)),
            figures=tuple(figures.values()),
        )

    naive, assured = _both(
        table,
        picked(first, rule.naive_of) if first else None,
        picked(found, lambda size: np.maximum(rule.assured_of(size, assurance, effect), 1)) if found else None,
        how,
        made,
    )
    reason = None if found else f"no threshold is assured with fewer than {needed} rows; there are {n}"
    return Choice("alert_rate", share, assurance, assured, naive, reason, needed, how.law("row", effect))


@dataclass(frozen=True, eq=False)
class _Budget:
    """Rows of a table, and which of them a budget picks."""

    table: Table
    share: float

    def naive_of(self, size: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """As many rows as the budget allows."""
        return np.asarray(np.floor(size * self.share + 1e-9), dtype=np.int64)

    def naive(self, size: int) -> int:
        return int(self.naive_of(np.array([size]))[0])

    def assured_of(self, size: npt.NDArray[np.int64], assurance: float, effect: float) -> npt.NDArray[np.int64]:
        """The greatest place that keeps the assurance, 0 for none."""
        sizes, where = np.unique(size, return_inverse=True)
        found = _farthest(sizes, lambda m, n: chance_of_budget(m, n, self.share, effect), assurance)
        return np.asarray(found[where])

    def assured(self, size: int, assurance: float, effect: float) -> int:
        return int(self.assured_of(np.array([size]), assurance, effect)[0])

    def _row_of(self, below: Below, place: npt.NDArray[np.int64]) -> Cuts:
        """The row whose risk is the m-th largest: the highest with at least m at or above it."""
        unit = float(self.table.weight.mean())
        above = below.rows[:, -1:] - below.rows[:, :-1]
        return np.asarray(np.maximum((above >= place[:, None] * unit - 1e-9).sum(axis=1) - 1, 0))

    def chooser(self, place: Places) -> Callable[[Below], Cuts]:
        """The rule for resamples: a threshold just above the risk at the place."""
        unit = float(self.table.weight.mean())
        past = np.searchsorted(self.table.risk, self.table.risk, side="right")

        def choose(below: Below) -> Cuts:
            size = np.rint(below.rows[:, -1] / unit).astype(np.int64)
            return np.asarray(past[self._row_of(below, np.maximum(place(size), 1))])

        return choose

    def risk_at(self, place: int) -> float:
        """The risk at a place from the top."""
        [row] = self._row_of(self.table.below, np.array([place]))
        return float(self.table.risk[row])

    def effect(self, place: int) -> _Effect:
        """The design effect of the alert rate at a place."""
        table = self.table
        return _design_effect((table.risk >= self.risk_at(place)).astype(np.float64), table.patient, table.weight)


# ---- figures ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Way:
    """How intervals are made, in numbers and in words."""

    replicates: int
    seed: int
    level: float
    held_out: bool

    def law(self, of: str, effect: float) -> str:
        """What the Beta law rests on."""
        if effect > 1:
            return f"Beta law on effective {of}s (design effect {effect:.2f}), approximate"
        if not self.held_out:
            return "Beta law, approximate: the risks are cross-fitted, and the fold models are not the final one"
        return f"Beta law, exact for held-out risks with one {of} a patient"

    @property
    def resampled(self) -> str:
        return f"patients resampled {self.replicates} times, threshold chosen anew in each"


class _Picked(NamedTuple):
    """A place, the value that it is rounded to, and how resamples choose theirs."""

    place: int
    value: float
    chosen: Chosen


def _both(
    table: Table,
    naive: _Picked | None,
    assured: _Picked | None,
    how: _Way,
    made: Callable[[_Picked, dict[str, Figure]], Threshold],
    *,
    ordinary: str | None = None,
) -> tuple[Threshold | None, Threshold | None]:
    """Both thresholds with their figures, from the same resamples."""
    asked = [one for one in (naive, assured) if one is not None]
    ends = iter(
        chosen_ends(table, [one.chosen for one in asked], replicates=how.replicates, seed=how.seed, level=how.level)
    )

    def found(one: _Picked | None) -> Threshold | None:
        return None if one is None else made(one, _figures(table, one.chosen, next(ends), how, ordinary=ordinary))

    return found(naive), found(assured)


def _figures(
    table: Table, chosen: Chosen, ends: dict[str, Ends], how: _Way, *, ordinary: str | None
) -> dict[str, Figure]:
    """Every figure of a threshold that data chose."""
    tallies = _tallies(table, chosen.cut)
    found = {}
    for name, (x, n) in tallies.items():
        if n <= 0:
            found[name] = Figure(name, None, None, None, "undefined")
        elif name == ordinary and table.independent:
            found[name] = Figure(name, x / n, *wilson(x / n, n, level=how.level), "Wilson")
        else:
            found[name] = Figure(name, x / n, *ends[name], how.resampled)
    if chosen.odds < LARGEST_ODDS:
        found["net_benefit"] = Figure(
            "net_benefit", _net_benefit(tallies, chosen.odds), *ends["net_benefit"], how.resampled
        )
    return found


def _tallies(table: Table, cut: int) -> dict[str, tuple[float, float]]:
    return {name: (float(x[0]), float(n[0])) for name, (x, n) in table.below.tallies(np.array([cut])).items()}


def _net_benefit(tallies: Mapping[str, tuple[float, float]], odds: float) -> float:
    hits, (alerts, rows) = tallies["sensitivity"][0], tallies["alert_rate"]
    return (hits - odds * (alerts - hits)) / rows


def _odds(value: float) -> float:
    return value / (1 - value) if value < 1 else LARGEST_ODDS


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
    table = Table.of(outcome, risk, patient, weight)
    cut, odds = table.cut(threshold), _odds(threshold)
    given = Chosen(cut, odds, lambda below: np.full(len(below.rows), cut))
    [ends] = chosen_ends(table, [given], replicates=replicates, seed=seed, level=level)
    tallies, words = _tallies(table, cut), f"patients resampled {replicates} times"
    found = []
    for name, (x, n) in tallies.items():
        if n <= 0:
            found.append(Figure(name, None, None, None, "undefined"))
        elif table.independent:
            found.append(Figure(name, x / n, *wilson(x / n, n, level=level), "Wilson"))
        else:
            found.append(Figure(name, x / n, *ends[name], words))
    return (*found, Figure("net_benefit", _net_benefit(tallies, odds), *ends["net_benefit"], words))


def _inside(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie between 0 and 1; got {value}")


# ---- for harms -------------------------------------------------------------------------------------------------------


def for_cost_ratio(ratio: float) -> float:
    """The threshold at which flagging pays, where a missed event is `ratio` times as bad as a needless alert.

    It follows from the harms and holds for calibrated risks; data do not choose it.

    >>> for_cost_ratio(9)
    0.1
    """
    if not (ratio > 0 and math.isfinite(ratio)):
        raise ValueError(f"the cost ratio must be above 0; got {ratio}")
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
    table = Table.of(outcome, risk, patient, weight)
    t = for_cost_ratio(ratio)
    odds = t / (1 - t)
    data = table.below
    cuts = np.append(np.unique(np.searchsorted(table.risk, table.risk, side="left")), table.risk.size)

    def benefits(below: Below) -> Floats:
        hits = below.events[:, -1:] - below.events
        alerts = below.rows[:, -1:] - below.rows
        return np.asarray((hits - odds * (alerts - hits)) / below.rows[:, -1:])

    here = benefits(data)[0]
    gaps: list[Floats] = []
    for one in table.replicates(Resamples(table.patients, replicates, seed)):
        found = benefits(one)[:, cuts]
        best = found.argmax(axis=1)
        gaps.append(found[np.arange(best.size), best] - here[cuts[best]])
    gap = np.concatenate(gaps)
    best_cut = int(cuts[here[cuts].argmax()])
    value = rounded_down(float(table.risk[best_cut])) if best_cut < table.risk.size else 1.0
    apparent, optimism = float(here[table.cut(value)]), float(gap.mean())
    high, low = np.quantile(gap, [(1 - level) / 2, (1 + level) / 2])
    words = f"less an optimism of {optimism:.4g} by {replicates} resamples of patients, threshold chosen anew in each"
    figure = Figure("net_benefit", apparent - optimism, apparent - float(low), apparent - float(high), words)
    return Searched(value, figure, apparent, optimism, t, float(here[table.cut(t)]))


# ---- for a number of alerts a day ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DailyThreshold:
    """A threshold for a budget of alerts a day."""

    value: float
    per_day: Figure
    chance: float  # that the mean of new patients keeps to the budget
    busiest: float  # 95th percentile of days
    above_budget: float  # share of days with more alerts than the budget


@dataclass(frozen=True)
class DailyChoice:
    """Thresholds for a budget of alerts a day: that of the mean, and that whose upper end keeps to the budget."""

    budget: float
    assurance: float
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
    """The lowest of the candidates from which on the mean number of alerts a day stays within the budget; assured, the
    lowest whose interval does.

    `alerts(t)` gives, for each alert fired at a threshold, its patient (0 to `patients` − 1) and its day (0 to `days`
    − 1). All whole calendar days count, those without an alert too. Candidates are rounded up to 4 digits first. "From
    which on", because under suppression a higher threshold can fire more often than a lower one.
    """
    values = sorted({float(_rounded(one, ROUND_CEILING)) for one in candidates})
    fired = [alerts(one) for one in values]
    totals = np.array([np.bincount(patient, minlength=patients) for patient, _ in fired], dtype=np.float64)
    drawn = Resamples(patients, replicates, seed)
    scaled = np.log(np.concatenate([drawn.counts(block) @ totals.T for block in drawn.blocks()]) + 0.5)
    here = np.log(totals.sum(axis=1) + 0.5)
    mean = totals.sum(axis=1) / days
    # At a fixed threshold; the highest that fails decides, so the assurance is kept whichever threshold is taken.
    tail = min(1 - assurance, (1 - level) / 2)
    upper = np.exp(here - np.quantile(scaled - here, tail, axis=0)) / days

    def at(place: int, most: float) -> DailyThreshold:
        within = np.exp(scaled) - 0.5 <= most * days + 1e-9
        own = np.minimum(_last_run(within), len(values) - 1)
        shift = scaled[np.arange(replicates), own] - here[own]
        ends = np.exp(here[place] - np.quantile(shift, [(1 + level) / 2, (1 - level) / 2])) / days
        per_day = np.bincount(fired[place][1], minlength=days)
        words = f"patients resampled {replicates} times, threshold chosen anew in each"
        return DailyThreshold(
            value=values[place],
            per_day=Figure("alerts_per_day", float(mean[place]), float(ends[0]), float(ends[1]), words),
            chance=float(np.mean(np.exp(here[place] - shift) / days <= budget)),
            busiest=float(np.quantile(per_day, 0.95)),
            above_budget=float(np.mean(per_day > budget)),
        )

    first, sure = (int(_last_run(row[None, :])[0]) for row in (mean <= budget + 1e-12, upper <= budget))
    assured = None
    for place in range(sure, len(values)):
        # In a resample the same margin is kept below the budget as here, without resampling the resample.
        assured = at(place, budget * float(mean[place] / upper[place]))
        if assured.per_day.high is not None and assured.per_day.high <= budget:
            break
        assured = None
    return DailyChoice(
        budget=budget,
        assurance=assurance,
        assured=assured,
        naive=at(first, budget) if first < len(values) else None,
        reason=None if assured is not None else "no candidate threshold keeps to the budget with this assurance",
    )


def _last_run(holds: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """In each row the first place from which on everything holds; the length of the row where the last does not."""
    fails = ~holds[:, ::-1]
    size = holds.shape[1]
    return np.asarray(np.where(fails.any(axis=1), size - fails.argmax(axis=1), 0))
