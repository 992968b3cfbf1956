"""Rules by which thresholds are chosen, as a user writes them: "sensitivity >= 0.90 @0.95", "cost_ratio 9"."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from workup.errors import InputError, visible
from workup.estimate import Estimate
from workup.scores import Scores
from workup.stats import thresholds
from workup.stats.arrays import Floats, Ints

Kind = Literal["sensitivity", "alert_rate", "alerts_per_day", "cost_ratio"]

LEVEL = 0.95
ASSURANCE = 0.95
_FORM = (
    'one of "sensitivity >= 0.90 @0.95", "alert_rate <= 0.15 @0.95", "alerts_per_day <= 12" or "cost_ratio 9", '
    "with a name and a colon before it where two would be called the same"
)
_RULE = re.compile(
    r"""^\s*(?:(?P<name>[A-Za-z][A-Za-z0-9_]{0,39})\s*:)?\s*
        (?P<kind>sensitivity|alert_rate|alerts_per_day|cost_ratio)\s*
        (?P<op>>=|<=|=)?\s*
        (?P<number>\d{1,9}(?:\.\d{1,12})?|\.\d{1,12})\s*
        (?:@\s*(?P<assurance>0?\.\d{1,6}))?\s*$""",
    re.VERBOSE,
)
_OPERATORS = {"sensitivity": (">=",), "alert_rate": ("<=",), "alerts_per_day": ("<=",), "cost_ratio": (None, "=")}
_MOST_CANDIDATES = 500  # thresholds tried for a budget per day


@dataclass(frozen=True)
class Rule:
    """One rule. `Rule.parse("sensitivity >= 0.90 @0.95")` reads one."""

    name: str
    kind: Kind
    number: float
    assurance: float | None

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read a rule.

        >>> rule = Rule.parse("sensitivity >= 0.90")
        >>> rule.name, rule.number, rule.assurance
        ('sensitivity_0_9', 0.9, 0.95)
        >>> Rule.parse("page_the_team: cost_ratio 9").name
        'page_the_team'
        """
        where = f"rule '{visible(text[:80])}'"
        match = _RULE.match(text) if len(text) <= 200 else None
        if match is None or match["op"] not in _OPERATORS[match["kind"]]:
            raise InputError(f"a rule is {_FORM}", where=where, got="something else")
        kind: Any = match["kind"]
        number = float(match["number"])
        assurance = float(match["assurance"]) if match["assurance"] else None
        if kind in ("sensitivity", "alert_rate") and not 0 < number < 1:
            raise InputError("a share lies between 0 and 1", where=where, got=f"{number:g}")
        if number <= 0:
            raise InputError("a budget or a ratio is above 0", where=where, got=f"{number:g}")
        if kind == "cost_ratio" and assurance is not None:
            raise InputError(
                "a threshold from a cost ratio is not chosen by data, so nothing about it can be assured",
                where=where,
                got=f"@{assurance:g}",
                remedy="leave it out",
            )
        if assurance is not None and not 0.5 <= assurance < 1:
            raise InputError("an assurance is a chance from 0.5 to below 1", where=where, got=f"@{assurance:g}")
        if assurance is None and kind in ("sensitivity", "alert_rate"):
            assurance = ASSURANCE
        own = f"{kind}_{number:.12g}".replace(".", "_")
        return cls(match["name"] or own, kind, number, assurance)

    @property
    def text(self) -> str:
        """The rule in one way of writing it."""
        sign = {"sensitivity": " >=", "cost_ratio": ""}.get(self.kind, " <=")
        assured = "" if self.assurance is None else f" @{self.assurance:g}"
        return f"{self.kind}{sign} {self.number:.12g}{assured}"


def parse_rules(texts: Sequence[str]) -> list[Rule]:
    """All rules, each with a name of its own."""
    rules = [Rule.parse(text) for text in texts]
    names = [rule.name for rule in rules]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            "each threshold needs a name of its own, since a column of flags is called by it",
            where="--threshold",
            got=f"'{twice}' twice",
            remedy='write a name before the rule, as in "ward: sensitivity >= 0.9 @0.95"',
        )
    return rules


@dataclass(frozen=True)
class Chosen:
    """A threshold with what it will do on new patients; `value` None where the data carry none, and `reason` says why.

    `naive` is the threshold that just meets the rule on these rows, with its chance of meeting it again.
    """

    rule: Rule
    value: float | None
    chance: float | None
    expected: tuple[Estimate, ...]
    method: str = ""
    reason: str = ""
    naive: dict[str, Any] | None = None
    beside: dict[str, Any] | None = None  # what only some rules have: days, a search

    def as_record(self) -> dict[str, Any]:
        """As update.json holds it."""
        return {
            "name": self.rule.name,
            "rule": self.rule.text,
            "value": self.value,
            "assurance": self.rule.assurance,
            "chance": self.chance,
            "expected": [one.as_dict() for one in self.expected],
        }

    def as_told(self) -> dict[str, Any]:
        """The same with what a page shows beside it."""
        beside = {"method": self.method, "reason": self.reason, "naive": self.naive, "beside": self.beside}
        return {**self.as_record(), **beside}


def choose(rule: Rule, scores: Scores, *, held_out: bool, search: bool, replicates: int, seed: int) -> Chosen:
    """The threshold of a rule on honest risks; `held_out` False where they are cross-fitted."""
    common: dict[str, Any] = {
        "patient": None if scores.independent or scores.n_patients == len(scores) else scores.patient,
        "weight": scores.weight,
        "replicates": replicates,
        "seed": seed,
        "level": LEVEL,
    }
    outcome, risk = scores["outcome"], scores["risk"]
    if rule.kind == "cost_ratio":
        return _of_costs(rule, scores, common, search=search)
    if rule.kind == "alerts_per_day":
        return choose_by_day(rule, _predictions_by_day(rule, scores), replicates=replicates, seed=seed)
    common |= {"assurance": rule.assurance, "held_out": held_out}
    if rule.kind == "sensitivity":
        found = thresholds.for_sensitivity(outcome, risk, rule.number, **common)
    else:
        found = thresholds.for_alert_rate(outcome, risk, rule.number, **common)
    return Chosen(
        rule,
        None if found.assured is None else found.assured.value,
        None if found.assured is None else found.assured.chance,
        () if found.assured is None else _estimates(found.assured.figures, found.assured.value, scores),
        method=found.method,
        reason=found.reason or "",
        naive=None if found.naive is None else _naive(found.naive, scores),
        beside=_next_events(found.assured),
    )


def _next_events(found: thresholds.Threshold | None) -> dict[str, Any] | None:
    return None if found is None or found.next_flagged is None else {"next_flagged": list(found.next_flagged)}


def _naive(found: thresholds.Threshold, scores: Scores) -> dict[str, Any]:
    expected = _estimates(found.figures, found.value, scores)
    return {
        "value": found.value,
        "apparent": found.apparent,
        "chance": found.chance,
        "expected": [one.as_dict() for one in expected],
    }


def _of_costs(rule: Rule, scores: Scores, common: dict[str, Any], *, search: bool) -> Chosen:
    outcome, risk = scores["outcome"], scores["risk"]
    value = thresholds.for_cost_ratio(rule.number)
    how = "from the harms alone, t = 1 / (1 + ratio); no data choose it"
    beside = None
    if search:
        found = thresholds.search_net_benefit(outcome, risk, rule.number, **common)
        beside = {"search": vars(found) | {"net_benefit": vars(found.net_benefit)}}
        value, how = found.value, "searched on these rows for the greatest net benefit, as was asked"
    figures = thresholds.figures_at(outcome, risk, value, **common)
    if search:
        # The cut was chosen for this figure, so its own is shown corrected; the others are of the cut as it stands.
        figures = tuple(found.net_benefit if one.name == "net_benefit" else one for one in figures)
    return Chosen(rule, value, None, _estimates(figures, value, scores), method=how, beside=beside)


@dataclass(frozen=True, eq=False)
class Watched:
    """What a threshold would have fired over whole calendar days: `alerts(t)` gives patient and day of each alert.

    `exposure` is how many predictions or patient-days these alerts are of, as `unit` says.
    """

    risk: Floats
    alerts: Callable[[float], tuple[Ints, Ints]]
    days: int
    patients: int
    events: int
    exposure: float
    unit: str = "predictions"


def choose_by_day(rule: Rule, watched: Watched, *, replicates: int, seed: int) -> Chosen:
    """The threshold of a budget of alerts per calendar day."""
    if watched.days < 2:
        raise InputError(
            "a budget per day needs two whole days or more; the first and the last are left out, for they may be cut",
            where=f"rule '{rule.text}'",
            got=f"{watched.days}",
        )
    assured = {} if rule.assurance is None else {"assurance": rule.assurance}
    found = thresholds.for_alerts_per_day(
        _candidates(watched.risk),
        watched.alerts,
        rule.number,
        days=watched.days,
        patients=watched.patients,
        replicates=replicates,
        seed=seed,
        level=LEVEL,
        **assured,
    )
    rests_on = _Counted(watched.patients, watched.risk.size, watched.events)
    one = found.naive if rule.assurance is None else found.assured
    other = found.assured if rule.assurance is None else found.naive
    beside: dict[str, Any] = {"days": watched.days}
    naive = None
    if other is not None and rule.assurance is not None:
        naive = {
            "value": other.value,
            "apparent": other.per_day.value,
            "chance": other.chance,
            "expected": [_estimate(other.per_day, other.value, rests_on).as_dict()],
        }
    if one is None:
        why = found.reason or "no threshold keeps to the budget"
        return Chosen(rule, None, None, (), reason=why, naive=naive, beside=beside)
    per_100 = 100 * len(watched.alerts(one.value)[0]) / watched.exposure
    beside |= {"busiest": one.busiest, "above_budget": one.above_budget, "per_100": per_100, "unit": watched.unit}
    if other is not None and rule.assurance is None:
        beside["assured"] = {"value": other.value, "chance": other.chance}
    expected = (_estimate(one.per_day, one.value, rests_on),)
    return Chosen(rule, one.value, one.chance, expected, method=one.per_day.method, naive=naive, beside=beside)


def _predictions_by_day(rule: Rule, scores: Scores) -> Watched:
    """Rows of a table as alerts: each flagged prediction is one."""
    if scores.time is None or np.isnat(scores.time).any():
        raise InputError(
            "a budget per day needs the time of every prediction",
            where=f"rule '{rule.text}'",
            got="a study without columns.time" if scores.time is None else "rows without a time",
            remedy="name the column under columns.time, or give a share with alert_rate",
        )
    day = scores.time.astype("datetime64[D]").astype(np.int64)
    first, last = int(day.min()), int(day.max())
    dates_alone = bool((scores.time == scores.time.astype("datetime64[D]")).all())
    if not dates_alone:  # with times of day, the first and the last day may be cut in the middle
        first, last = first + 1, last - 1
    rows = np.flatnonzero((day >= first) & (day <= last))
    risk, day = scores["risk"][rows], day[rows] - first
    people, patient = np.unique(scores.patient[rows], return_inverse=True)

    def alerts(threshold: float) -> tuple[Ints, Ints]:
        flagged = risk >= threshold
        return patient[flagged], day[flagged]

    events = int(np.count_nonzero(scores["outcome"][rows] > 0))
    return Watched(risk, alerts, max(0, last - first + 1), people.size, events, float(rows.size))


def _candidates(risk: Any) -> list[float]:
    """Thresholds to try: that which flags all, and quantiles of the risks, closer to each other the higher they are.

    Rounded up to 4 digits, which tightens a budget and names nobody.
    """
    spread = np.quantile(risk, 1 - np.geomspace(1 / risk.size, 1, _MOST_CANDIDATES))
    found = {thresholds.rounded_down(float(risk.min())), *(thresholds.rounded_above(float(one)) for one in spread)}
    return sorted(one for one in found if one <= 1)


class _Counted(NamedTuple):
    """What a figure rests on."""

    patients: int
    rows: int
    events: int


def _estimates(figures: Sequence[thresholds.Figure], value: float, scores: Scores) -> tuple[Estimate, ...]:
    counted = _Counted(scores.n_patients, len(scores), int(np.count_nonzero(scores["outcome"] > 0)))
    return tuple(_estimate(one, value, counted) for one in figures)


def _estimate(figure: thresholds.Figure, threshold: float, counted: _Counted) -> Estimate:
    """A figure of a threshold as records hold it. A value is never shown outside its own interval."""
    low, high, reason = figure.low, figure.high, None
    if figure.value is None or low is None or high is None:
        reason = "no interval could be had from these rows"
    elif not low <= figure.value <= high:
        low, high = min(low, figure.value), max(high, figure.value)
        reason = "widened to hold the value, which nearly all resamples lie to one side of"
    missing = "undefined" if figure.value is None else "insufficient"
    return Estimate(
        metric=figure.name,
        slice={"threshold": threshold},
        value=figure.value,
        low=low,
        high=high,
        level=LEVEL,
        method=figure.method,
        se=None,
        n_patients=counted.patients,
        n_rows=counted.rows,
        n_events=counted.events,
        status=missing if low is None else "ok",  # type: ignore[arg-type]
        reason=reason,
    )
