"""What the spread seen in a pilot says of other numbers of patients, as plain rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from workup.estimate import Estimate
from workup.metric import FEWEST_CLUSTERS, FEWEST_PATIENTS, Metric
from workup.stats.intervals import z_critical
from workup.stats.sizes.pilot import scaled_detectable, scaled_power
from workup.stats.sizes.proportions import power_curve, whole

NO_DIFFERENCE = "no difference was declared for this metric"
NO_WIDTH = "no half-width was declared for this metric"
FLOORED = f"the formula asks for fewer than {FEWEST_PATIENTS} patients in a group, with which no interval is trusted"
_FARTHEST = 4.0  # times the size needed, up to which a curve goes on to show the data at hand


@dataclass(frozen=True)
class Spread:
    """A metric on one slice of the pilot: its standard error and its patients, or why no plan rests on it."""

    metric: str
    slice: Mapping[str, Any]
    value: float | None
    se: float | None
    patients: int
    events: int | None
    share: bool  # lies between 0 and 1, so that a gap may be too large to exist
    unusable: str = ""

    @classmethod
    def of(cls, metric: Metric, e: Estimate) -> Spread:
        """From an estimate; a spread that is 0, or was seen in a handful of patients, is no ground for a plan."""
        return cls(metric.name, e.slice, e.value, e.se, e.n_patients, e.n_events, metric.scale == "logit", _unusable(e))

    @property
    def variance_per_patient(self) -> float | None:
        """The squared standard error that one patient alone would leave."""
        return None if self.unusable or self.se is None else self.se**2 * self.patients

    def as_row(self) -> dict[str, Any]:
        """As the record holds it."""
        return {
            "metric": self.metric,
            "slice": dict(self.slice),
            "value": self.value,
            "se": self.se,
            "patients": self.patients,
            "events": self.events,
            "variance_per_patient": self.variance_per_patient,
            **_status(self.unusable),
        }


def _unusable(e: Estimate) -> str:
    if e.status != "ok" or e.se is None:
        return e.reason or "it has no standard error"
    if e.n_patients < FEWEST_PATIENTS:
        return f"{e.n_patients} patients; a spread seen in fewer than {FEWEST_PATIENTS} is no ground for a plan"
    # A share rests on the rows it counts (a sensitivity on the events), any other metric on the rarer outcome.
    if e.denominator is not None:
        if e.clusters is not None and e.clusters < FEWEST_CLUSTERS:
            return f"it rests on {e.clusters} clusters; at least {FEWEST_CLUSTERS} are needed to see how it varies"
        if e.denominator < FEWEST_CLUSTERS:
            return f"it rests on {e.denominator:g} rows; at least {FEWEST_CLUSTERS} are needed to see how it varies"
    elif e.n_events is not None and min(e.n_events, e.n_rows - e.n_events) < FEWEST_CLUSTERS:
        fewer = min(e.n_events, e.n_rows - e.n_events)
        return f"{fewer} rows of the rarer outcome; at least {FEWEST_CLUSTERS} are needed to see how it varies"
    # None or all of the rows: a standard error of 0 would ask for no patients at all.
    return "" if e.se > 0 else f"every row is alike (value {e.value:g}), so its spread cannot be seen"


@dataclass(frozen=True)
class Pair:
    """Two slices to be compared, or one slice (`second` None) against a fixed value.

    `joint_se` replaces the two standard errors where patients are in both slices; as text it says why there is none.
    """

    first: Spread
    second: Spread | None
    against: str
    joint_se: float | str | None = None

    @property
    def unusable(self) -> str:
        """Why no figure can be given, or nothing."""
        for side, who in ((self.first, "it"), (self.second, self.against)):
            if side is not None and side.unusable:
                return side.unusable if who == "it" else f"{who}: {side.unusable}"
        return self.joint_se if isinstance(self.joint_se, str) else ""

    @property
    def se(self) -> float:
        """Standard error of the difference in these data."""
        assert not self.unusable
        if isinstance(self.joint_se, float):
            return self.joint_se
        return math.hypot(self.first.se or 0.0, 0.0 if self.second is None else self.second.se or 0.0)

    def equal_groups_se(self) -> float | None:
        """Standard error of the difference with one patient in each group; None where the groups share patients."""
        if self.joint_se is not None or self.second is None:
            return None
        parts = (self.first.variance_per_patient, self.second.variance_per_patient)
        return math.sqrt(sum(part or 0.0 for part in parts))

    def as_row(self) -> dict[str, Any]:
        """What is compared with what, and with how many patients."""
        return {
            "metric": self.first.metric,
            "slice": dict(self.first.slice),
            "against": self.against,
            "patients_here": self.first.patients,
            "against_here": None if self.second is None else self.second.patients,
        }


class Procedure(Protocol):
    """How comparisons are tested, and so what gap a pair of slices shows."""

    @property
    def alpha(self) -> float:
        """At which a comparison is tested."""

    @property
    def power(self) -> float:
        """That is wanted."""

    def detectable(self, pair: Pair) -> float:
        """The smallest gap found with the wanted power in these data; it falls with the root of their number."""

    def detectable_each(self, pair: Pair) -> float | None:
        """The same with one patient in each group; None where the groups share patients."""

    def reached(self, pair: Pair, gap: float, *, times: float = 1.0) -> float:
        """Power for a gap in data `times` as many."""


@dataclass(frozen=True)
class Separate:
    """Every comparison by its own two-sided z test at one alpha."""

    alpha: float
    power: float

    def detectable(self, pair: Pair) -> float:
        """The smallest gap found with the wanted power in these data."""
        return scaled_detectable(se=pair.se, n=1, alpha=self.alpha, power=self.power)

    def detectable_each(self, pair: Pair) -> float | None:
        """The same with one patient in each group."""
        alone = pair.equal_groups_se()
        return None if alone is None else scaled_detectable(se=alone, n=1, alpha=self.alpha, power=self.power)

    def reached(self, pair: Pair, gap: float, *, times: float = 1.0) -> float:
        """Power for a gap in data `times` as many."""
        return float(scaled_power(gap, se=pair.se, n=1, at=times, alpha=self.alpha))


@dataclass(frozen=True)
class Goal:
    """The gap that matters, and the procedure that is to tell it from none."""

    difference: float | None
    procedure: Procedure

    @property
    def error_rates(self) -> dict[str, float]:
        """Alpha of a comparison and the power wanted."""
        return {"alpha": self.procedure.alpha, "power": self.procedure.power}


def _status(unusable: str, *, otherwise: str = "") -> dict[str, Any]:
    if unusable in (NO_DIFFERENCE, NO_WIDTH):
        return {"status": "not_assessed", "reason": unusable}
    return {"status": "insufficient", "reason": unusable} if unusable else {"status": "ok", "reason": otherwise or None}


def needed_row(pair: Pair, goal: Goal, cohort: int) -> dict[str, Any]:
    """Patients for the gap: in two groups of one size, and with the groups as unequal as they are here."""
    row = {
        **pair.as_row(),
        "kind": "difference",
        "target": goal.difference,
        **goal.error_rates,
        **dict.fromkeys(("patients_each", "patients", "against_patients", "events", "cohort", "times")),
    }
    why = pair.unusable or ("" if goal.difference else NO_DIFFERENCE)
    if why or goal.difference is None:
        return row | _status(why)
    times = (goal.procedure.detectable(pair) / goal.difference) ** 2
    alone = goal.procedure.detectable_each(pair)
    each = None if alone is None else (alone / goal.difference) ** 2
    found = _patients(pair, cohort, times)
    if each is not None:
        found["patients_each"] = max(FEWEST_PATIENTS, whole(each))
    floored = found["times"] > times or (each is not None and each < FEWEST_PATIENTS)
    return row | found | _status("", otherwise=FLOORED if floored else "")


def _patients(pair: Pair, cohort: int, times: float) -> dict[str, Any]:
    """Patients of either slice and of the whole cohort when it grows, mix unchanged, to `times` its size."""
    smallest = min(pair.first.patients, pair.first.patients if pair.second is None else pair.second.patients)
    times = max(times, FEWEST_PATIENTS / smallest)
    return {
        "patients": whole(times * pair.first.patients),
        "against_patients": None if pair.second is None else whole(times * pair.second.patients),
        "events": None if pair.first.events is None else times * pair.first.events,
        "cohort": whole(times * cohort),
        "times": times,
    }


def precision_row(spread: Spread, width: float | None, level: float, cohort: int) -> dict[str, Any]:
    """Patients with which the interval of one slice reaches the wanted distance to either side."""
    pair = Pair(spread, None, "")
    row = {
        **pair.as_row(),
        "kind": "half_width",
        "target": width,
        "alpha": 1 - level,
        "power": None,
        **dict.fromkeys(("patients_each", "patients", "against_patients", "events", "cohort", "times")),
    }
    why = spread.unusable or ("" if width else NO_WIDTH)
    if why or width is None or spread.se is None:
        return row | _status(why)
    times = (z_critical(level) * spread.se / width) ** 2
    found = _patients(pair, cohort, times)
    return row | found | _status("", otherwise=FLOORED if found["times"] > times else "")


def reached_row(pair: Pair, goal: Goal) -> dict[str, Any]:
    """The chance with which these data would have shown the gap, were it there."""
    row = {**pair.as_row(), "target": goal.difference, "alpha": goal.procedure.alpha, "power": None}
    why = pair.unusable or ("" if goal.difference else NO_DIFFERENCE)
    if why or goal.difference is None:
        return row | _status(why)
    return row | {"power": goal.procedure.reached(pair, goal.difference)} | _status("")


def smallest_row(pair: Pair, goal: Goal) -> dict[str, Any]:
    """The smallest true gap that these data find with the wanted power."""
    row = {**pair.as_row(), **goal.error_rates, "smallest_difference": None}
    if pair.unusable:
        return row | _status(pair.unusable)
    found = goal.procedure.detectable(pair)
    value = pair.first.value if pair.second is None else pair.second.value
    beyond = pair.first.share and value is not None and found >= max(value, 1 - value)
    said = "no gap that large can exist on this scale: these data could have shown none" if beyond else ""
    return row | {"smallest_difference": found} | _status("", otherwise=said)


def curve_rows(found: Sequence[Pair], goal: Goal, cohort: int, *, points: int = 25) -> list[dict[str, Any]]:
    """Power over the size of the whole cohort, for the comparison among these that needs the most patients."""
    usable = [pair for pair in found if not pair.unusable]
    if not usable or goal.difference is None:
        return []
    wanted, procedure = goal.difference, goal.procedure
    sizes = {id(pair): cohort * (procedure.detectable(pair) / wanted) ** 2 for pair in usable}
    hardest = max(usable, key=lambda pair: sizes[id(pair)])
    needed = sizes[id(hardest)]
    curve = power_curve(
        lambda sizes: [procedure.reached(hardest, wanted, times=n / cohort) for n in sizes.tolist()],
        needed=needed,
        points=points,
        reach=min(_FARTHEST, max(2.0, 1.1 * cohort / needed)),
    )
    about = {key: value for key, value in hardest.as_row().items() if key in ("metric", "slice", "against")}
    return [
        {**about, "target": wanted, "alpha": procedure.alpha, "patients": int(n), "power": float(reached)}
        for n, reached in zip(curve.n, curve.power, strict=True)
    ]
