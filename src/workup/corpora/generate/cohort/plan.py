"""What a planted cohort is to look like: figures, groups, sites, months. Knows not how they are solved or drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from math import isclose, prod
from typing import Any

import numpy as np

from workup.errors import InputError, near
from workup.scores import MISSING, level_name

PREDICTORS = ("age", "creatinine", "sodium", "diabetes")
OWN_COLUMNS = ("patient", "site", "time", *PREDICTORS, "risk", "outcome")
_MOST_CELLS = 20_000
_WHERE = "cohort plan"
_START = 'write it as "2024-01"'
_GROUPS = "write them as groups: {sex: {F: 0.5, M: 0.5}}"
_SPREADS = ("site_in_the_large_sd", "site_slope_sd")
_FIGURES = ("prevalence", "auroc", "slope", "in_the_large", "missing_groups", "icc", *_SPREADS)


@dataclass(frozen=True)
class Change:
    """What is added to the plan's own figures in a group, or in each month of a drift."""

    prevalence: float = 0.0
    """Added to the share with the event; the risks move along, so calibration holds."""
    auroc: float = 0.0
    """Added to the AUROC, by less or more spread of the risks; calibration holds."""
    slope: float = 0.0
    """Added to the calibration slope."""
    in_the_large: float = 0.0
    """Added to calibration-in-the-large by moving the risks alone: above 0 the group's risks are too low."""
    outcome_log_odds: float = 0.0
    """Added to the true log odds with the risks left as they are: outcomes change, inputs do not."""
    sensitivity: float = 0.0
    """Added to the sensitivity at the plan's first threshold, by the shift in the large that does so (groups only)."""


LEVERS = ("prevalence", "auroc", "slope", "in_the_large", "outcome_log_odds")


def _two_groups() -> Mapping[str, Mapping[str, float]]:
    return {
        "sex": {"F": 0.52, "M": 0.48},
        "ethnicity": {"Asian": 0.10, "Black": 0.18, "Hispanic": 0.12, "White": 0.60},
    }


@dataclass(frozen=True)
class CohortPlan:
    """The figures to plant. They hold exactly wherever no gap, site or drift adds to them.

    >>> CohortPlan.of({"auroc": 0.7, "gaps": {"sex": {"F": {"auroc": -0.05}}}}).gaps["sex", "F"].auroc
    -0.05
    """

    prevalence: float = 0.15
    """Share of rows with the event."""
    auroc: float = 0.80
    """Chance that an event is given a higher risk than a non-event; above 0.5, at most 0.99."""
    slope: float = 1.0
    """Calibration slope: true log odds = shift + slope × log odds of the risk."""
    in_the_large: float = 0.0
    """Calibration-in-the-large: the intercept with the risk's log odds as offset; above 0 risks are too low."""
    thresholds: tuple[float, ...] = (0.1, 0.2, 0.3)
    """Decision thresholds at which the truth is worked out."""
    groups: Mapping[str, Mapping[str, float]] = field(default_factory=_two_groups)
    """Grouping columns, each with its levels and their shares; columns are independent of each other."""
    gaps: Mapping[tuple[str, str], Change] = field(default_factory=dict)
    """What differs in a level, by (column, level)."""
    missing_groups: float = 0.0
    """Share of group values that are blank, completely at random, in each column."""
    sites: int = 1
    """Number of sites, each with an equal share of patients."""
    site_in_the_large_sd: float = 0.0
    """SD between sites of what is added to calibration-in-the-large."""
    site_slope_sd: float = 0.0
    """SD between sites of what is added to the slope."""
    months: int = 12
    """Number of calendar months, each with an equal share of rows."""
    start: str = "2024-01"
    """First month, as year-month."""
    drift: Change = field(default_factory=Change)
    """What each month adds, from the month `drift_from` on."""
    drift_from: int = 2
    """The first month, counted from 1, that differs from the ones before."""
    drift_steps: int | None = None
    """Months after which the drift stands still; 1 makes a jump, none lets it go on."""
    rows_per_patient: int = 1
    """Rows of each patient; the last patient may have fewer."""
    icc: float = 0.3
    """Correlation of a patient's rows on the normal scale, of their risks and of their outcomes given the risks."""

    @classmethod
    def of(cls, plan: CohortPlan | Mapping[str, Any]) -> CohortPlan:
        """A plan from plain data, with gaps nested as {column: {level: {figure: change}}}; checked either way."""
        if not isinstance(plan, CohortPlan):
            if not isinstance(plan, Mapping):
                raise InputError(
                    "a plan must be figures by name", where=_WHERE, remedy="write it as plan: {auroc: 0.7}"
                )
            known = [one.name for one in fields(cls)]
            for name in plan:
                if name not in known:
                    raise InputError(
                        f"'{name}' is no field of a cohort plan", where=_WHERE, remedy=near(str(name), known)
                    )
            given = dict(plan)
            given |= {"thresholds": tuple(given["thresholds"])} if isinstance(given.get("thresholds"), list) else {}
            given |= {"drift": _change(given["drift"], "drift")} if "drift" in given else {}
            given |= {"gaps": _gaps(given["gaps"])} if "gaps" in given else {}
            plan = cls(**given)
        _check(plan)
        return plan

    def as_dict(self) -> dict[str, Any]:
        """Plain data from which `of` makes the same plan again."""
        plain = asdict(self)
        plain["thresholds"] = list(self.thresholds)
        plain["groups"] = {column: dict(shares) for column, shares in self.groups.items()}
        plain["gaps"] = {}
        for (column, level), change in self.gaps.items():
            plain["gaps"].setdefault(column, {})[level] = asdict(change)
        return plain

    def month_names(self) -> list[str]:
        """The months as "2024-01", in order."""
        first = np.datetime64(self.start, "M")
        return [str(first + month) for month in range(self.months)]

    def site_names(self) -> list[str]:
        """The sites as "S01", in order."""
        return [f"S{number:02d}" for number in range(1, self.sites + 1)]


def _change(given: Any, where: str) -> Change:
    if isinstance(given, Change):
        return given
    _require_names(given, where)
    known = [one.name for one in fields(Change)]
    for name in given:
        if name not in known:
            raise InputError(
                f"'{name}' is nothing a plan can change", where=f"{_WHERE}, {where}", remedy=near(name, known)
            )
    return Change(**given)


def _require_names(given: Any, where: str) -> None:
    if not isinstance(given, Mapping) or not all(isinstance(name, (str, tuple)) for name in given):
        raise InputError(
            "changes must stand by name", where=f"{_WHERE}, {where}", remedy="write them as {auroc: -0.05}"
        )


def _check_forms(plan: CohortPlan) -> None:
    """Refuse what is not made as the checks of its content take it to be."""
    listed = isinstance(plan.thresholds, tuple) and all(map(_is_number, plan.thresholds))
    _require(listed, "thresholds must be a list of numbers", repr(plan.thresholds)[:60], "write them as [0.1, 0.2]")
    shares = isinstance(plan.groups, Mapping) and all(
        isinstance(column, str) and isinstance(levels, Mapping) and all(map(_is_number, levels.values()))
        for column, levels in plan.groups.items()
    )
    _require(shares, "groups must be columns, each with the shares of its levels", "another form", _GROUPS)
    _require(isinstance(plan.start, str), "start must be a month as year-month", repr(plan.start)[:60], _START)


def _gaps(given: Mapping[Any, Any]) -> dict[tuple[str, str], Change]:
    """Gaps keyed by (column, level), from that form or from the nested one."""
    found: dict[tuple[str, str], Change] = {}
    _require_names(given, "gaps")
    for key, value in given.items():
        if isinstance(key, tuple):
            found[key] = _change(value, "gaps")
        else:
            _require_names(value, f"gaps, {key}")
            found |= {(key, level): _change(change, f"gaps, {key} {level}") for level, change in value.items()}
    return found


def _require(holds: bool, expected: str, got: Any, remedy: str) -> None:
    if not holds:
        raise InputError(expected, where=_WHERE, got=str(got), remedy=remedy)


def _check(plan: CohortPlan) -> None:
    """Refuse what can be seen to be wrong before anything is solved."""
    figures = {name: getattr(plan, name) for name in _FIGURES} | {
        f"drift {name}": v for name, v in asdict(plan.drift).items()
    }
    for key, change in plan.gaps.items():
        figures |= {f"gap {' '.join(key)} {name}": value for name, value in asdict(change).items()}
    for name, value in figures.items():
        _require(_is_number(value), f"{name} must be a finite number", repr(value), "write it as a number")
    _check_forms(plan)
    _check_ranges(plan)
    good = bool(plan.thresholds) and all(0 < threshold < 1 for threshold in plan.thresholds)
    good = good and len({f"{threshold:g}" for threshold in plan.thresholds}) == len(plan.thresholds)
    _require(good, "thresholds must be distinct risks between 0 and 1", plan.thresholds, "name at least one")
    _require(_is_month(plan.start), "start must be a month as year-month", f"'{plan.start}'", _START)
    _require(
        plan.drift.sensitivity == 0,
        "a drift cannot be given in sensitivity",
        f"{plan.drift.sensitivity:g}",
        "let in_the_large drift, which moves sensitivity",
    )
    _check_groups(plan)
    _check_gaps(plan)
    cells = prod(len(shares) for shares in plan.groups.values()) * plan.sites * plan.months
    _require(
        cells <= _MOST_CELLS,
        f"levels × sites × months must be at most {_MOST_CELLS:,} combinations",
        f"{cells:,}",
        "use fewer groups, sites or months",
    )


def _check_ranges(plan: CohortPlan) -> None:
    for name in ("sites", "months", "rows_per_patient", "drift_from", "drift_steps"):
        value = getattr(plan, name)
        fits = (value is None and name == "drift_steps") or (_is_count(value) and value >= 1)
        _require(fits, f"{name} must be a whole number from 1", value, f"set {name} to 1 or more")
    for name in ("missing_groups", "icc"):
        value = getattr(plan, name)
        _require(0 <= value <= 1, f"{name} must lie between 0 and 1", value, f"set {name} to a share")
    for name in _SPREADS:
        value = getattr(plan, name)
        _require(0 <= value < np.inf, f"{name} must not be negative", value, f"set {name} to 0 or more")


def _is_number(value: Any) -> bool:
    plain = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return plain and bool(np.isfinite(value))


def _is_count(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _is_month(text: str) -> bool:
    try:
        return str(np.datetime64(text, "M")) == text
    except ValueError:
        return False


def _check_groups(plan: CohortPlan) -> None:
    for column, shares in plan.groups.items():
        where = f"{_WHERE}, groups, {column}"
        if column in OWN_COLUMNS:
            expected = "a group must not be named like a column that every cohort has"
            raise InputError(expected, where=where, remedy="rename the group")
        for level in shares:
            if level_name(level) in (MISSING, "") or level_name(level) != level:
                raise InputError(
                    f"a level must be a trimmed text other than '{MISSING}'",
                    where=where,
                    got=f"{level!r}",
                    remedy="rename the level; blanks are planted with missing_groups",
                )
        total = sum(shares.values())
        if not shares or not isclose(total, 1.0, abs_tol=1e-9) or min(shares.values()) <= 0:
            raise InputError(
                "the shares of the levels must be above 0 and add up to 1",
                where=where,
                got=f"{', '.join(f'{share:g}' for share in shares.values()) or 'none'} (together {total:g})",
                remedy="change the shares, or divide each by their sum",
            )


def _check_gaps(plan: CohortPlan) -> None:
    for (column, level), change in plan.gaps.items():
        where = f"{_WHERE}, gaps"
        if column not in plan.groups:
            raise InputError(
                f"'{column}' must be one of the plan's groups",
                where=where,
                remedy=near(column, plan.groups) or "add it",
            )
        if level not in plan.groups[column]:
            raise InputError(
                f"'{level}' must be one of the levels of '{column}'",
                where=where,
                remedy=near(level, plan.groups[column]),
            )
        if change.sensitivity and (change.in_the_large or change.outcome_log_odds):
            raise InputError(
                "a gap in sensitivity is made by a shift of the risks, so no other shift may stand beside it",
                where=f"{where}, {column} {level}",
                got="in_the_large or outcome_log_odds as well",
                remedy="leave sensitivity or the other shift out",
            )
