"""Cohorts with planted truth: a table of patients with a model's risks, and what every risk metric ought to find in it.

In each combination of group levels, site and month the risk's log odds x are normal and the outcome's log odds are
shift + slope·x, so that the truth is an integral and not an estimate. Knows nothing of scoring.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from workup.corpora.generate.cohort import planted_truth
from workup.corpora.generate.cohort.mix import Mix, Split
from workup.corpora.generate.cohort.plan import PREDICTORS, Change, CohortPlan
from workup.corpora.generate.planted_table import write_planted
from workup.errors import InputError
from workup.scores import MISSING
from workup.stats.arrays import Floats, Ints
from workup.stats.random import generator

__all__ = ["Change", "CohortPlan", "PlantedCohort", "generate"]

DEFAULT = CohortPlan()
RISK_DECIMALS = 8
_DECIMALS: Mapping[str, int] = {
    "age": 1,
    "creatinine": 2,
    "sodium": 4,
    "diabetes": 0,
    "risk": RISK_DECIMALS,
    "outcome": 0,
}


@dataclass(frozen=True, eq=False)
class PlantedCohort:
    """A generated table with its truth. `table` is plain columns; `truth` is plain data, keyed by metric names."""

    table: Mapping[str, npt.NDArray[Any]]
    truth: Mapping[str, Any]
    plan: CohortPlan
    seed: int

    def write(self, path: Path) -> tuple[Path, Path]:
        """Write the table as CSV and the truth as `<stem>.truth.json` beside it; the same bytes every time."""
        return write_planted(path, self.table, self.truth, decimals=_DECIMALS)


def generate(
    count: Annotated[int, Field(ge=1, le=100_000_000, description="Rows")],
    *,
    seed: int,
    plan: CohortPlan | Mapping[str, Any] = DEFAULT,
) -> PlantedCohort:
    """Draw `count` rows under a plan, given as CohortPlan or as plain data; equal arguments give equal bytes.

    >>> cohort = generate(1000, seed=1, plan={"prevalence": 0.3, "auroc": 0.75, "slope": 0.6})
    >>> cohort.truth["overall"]["auroc"], cohort.truth["overall"]["calibration_slope"]
    (0.75, 0.6)
    """
    if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or count < 1:
        raise InputError("count must be a whole number of rows, 1 or more", where="cohort", got=repr(count))
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or seed < 0:
        raise InputError("seed must be a whole number, 0 or more", where="cohort", got=repr(seed))
    plan = CohortPlan.of(plan)
    mix = Mix.of(plan, seed=int(seed))
    model = _Model.of(mix.base)
    table = _draw(int(count), int(seed), plan, mix, model)
    return PlantedCohort(table, _truth(int(count), int(seed), plan, mix, model), plan, int(seed))


# ---- the rows --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Model:
    """The model under test: log odds = intercept + Σ coefficient × predictor, without noise."""

    intercept: float
    coefficients: Mapping[str, float]
    mean: float
    sd: float

    @classmethod
    def of(cls, base: planted_truth.Cell) -> _Model:
        """Coefficients in proportion to the spread of the log odds, for predictors on their usual scales."""
        per_unit = {"age": 0.35 / 12, "creatinine": 0.3 / 0.35, "sodium": -0.2, "diabetes": 0.3}
        coefficients = {name: round(per_unit[name] * base.sd, 8) for name in PREDICTORS}
        typical = {"age": 62.0, "creatinine": 1.1, "sodium": 138.0, "diabetes": 0.25}
        intercept = base.mean - sum(coefficients[name] * typical[name] for name in PREDICTORS)
        return cls(round(intercept, 8), coefficients, base.mean, base.sd)

    def predictors(self, log_odds: Floats, seed: int) -> dict[str, Floats]:
        """Predictors whose linear combination is the log odds; sodium takes up what the others leave.

        Sodium's four decimals move the log odds by less than 1e-5 SD, evenly either way: the truth moves by 1e-10.
        """
        z = (log_odds - self.mean) / self.sd
        noise = {name: generator(seed, "cohort", name).standard_normal(z.size) for name in PREDICTORS}
        found: dict[str, Floats] = {
            "age": np.clip(62 + 12 * (0.4 * z + 0.9 * noise["age"]), 18.0, 100.0).round(1),
            "creatinine": np.maximum(1.1 + 0.35 * (0.3 * z + 0.95 * noise["creatinine"]), 0.3).round(2),
            "diabetes": (0.3 * z + 0.95 * noise["diabetes"] > 0.67).astype(np.float64),
        }
        rest = self.log_odds(found | {"sodium": np.zeros(z.size)})
        found["sodium"] = np.round((log_odds - rest) / self.coefficients["sodium"], 4)
        return {name: found[name] for name in PREDICTORS}

    def log_odds(self, predictors: Mapping[str, Floats]) -> Floats:
        """What the model answers for the predictors as they are in the table."""
        total = np.full(predictors["age"].size, self.intercept)
        for name in PREDICTORS:
            total = total + self.coefficients[name] * predictors[name]
        return total


def _draw(count: int, seed: int, plan: CohortPlan, mix: Mix, model: _Model) -> dict[str, npt.NDArray[Any]]:
    from scipy import special

    patient = np.arange(count, dtype=np.int64) // plan.rows_per_patient
    codes = [_codes(split, patient, seed) for split in mix.splits]
    cell = mix.cell[tuple(codes)]
    mean, sd, shift, slope = np.array(mix.cells).T
    wanted = mean[cell] + sd[cell] * _normals("risk", patient, plan.icc, seed)
    predictors = model.predictors(wanted, seed)
    log_odds = model.log_odds(predictors)
    chance = special.expit(shift[cell] + slope[cell] * log_odds)
    # A Gaussian copula: outcomes of a patient go together while each row's chance stays what it is.
    outcome = special.ndtr(_normals("outcome", patient, plan.icc, seed)) < chance
    *groups, site, month = zip(mix.splits, codes, strict=True)
    return {
        "patient": np.array([f"P{number:06d}" for number in (patient + 1).tolist()], dtype=object),
        "site": np.array(site[0].levels, dtype=object)[site[1]],
        "time": _times(plan, month[1], seed),
        **{split.name: _labels(split, of_row, patient, plan, seed) for split, of_row in groups},
        **predictors,
        "risk": np.round(special.expit(log_odds), RISK_DECIMALS),
        "outcome": outcome.astype(np.float64),
    }


def _codes(split: Split, patient: Ints, seed: int) -> npt.NDArray[np.intp]:
    """The level of each row: groups and site belong to the patient, the month to the row."""
    rng = generator(seed, "cohort", split.kind, split.name)
    edges = np.cumsum(split.shares)[:-1]
    if split.kind == "month":
        return np.searchsorted(edges, rng.random(patient.size), side="right")
    return np.searchsorted(edges, rng.random(int(patient[-1]) + 1), side="right")[patient]


def _normals(name: str, patient: Ints, icc: float, seed: int) -> Floats:
    """A standard normal for each row, correlated by `icc` within patients."""
    shared = generator(seed, "cohort", name, "patient").standard_normal(int(patient[-1]) + 1)[patient]
    own = generator(seed, "cohort", name, "row").standard_normal(patient.size)
    return np.asarray(np.sqrt(icc) * shared + np.sqrt(1 - icc) * own)


def _times(plan: CohortPlan, month: npt.NDArray[np.intp], seed: int) -> npt.NDArray[np.datetime64]:
    """A minute within the row's month."""
    starts = np.array(plan.month_names(), dtype="datetime64[M]")
    minutes = ((starts + 1).astype("datetime64[m]") - starts.astype("datetime64[m]")).astype(np.int64)
    share = generator(seed, "cohort", "time").random(month.size)
    since = (share * minutes[month]).astype(np.int64).astype("timedelta64[m]")
    return np.asarray(starts[month].astype("datetime64[us]") + since)


def _labels(split: Split, codes: npt.NDArray[np.intp], patient: Ints, plan: CohortPlan, seed: int) -> npt.NDArray[Any]:
    """The level's name, blank for the share of patients whose value is missing."""
    labels = np.array(split.levels, dtype=object)[codes]
    blank = generator(seed, "cohort", "missing", split.name).random(int(patient[-1]) + 1) < plan.missing_groups
    labels[blank[patient]] = None
    return labels


# ---- the truth -------------------------------------------------------------------------------------------------------


def _truth(count: int, seed: int, plan: CohortPlan, mix: Mix, model: _Model) -> dict[str, Any]:
    """Overall and for every level, as plain data. Values missing at random leave each level as it was."""
    keys = [(place, level) for place, split in enumerate(mix.splits) for level in range(len(split.levels))]
    shares = np.stack([mix.shares(), *(mix.shares(place, level=level) for place, level in keys)])
    overall, *parts = planted_truth.mixtures(mix.cells, shares, thresholds=plan.thresholds)
    found: dict[str, dict[str, Any]] = {"group": {}, "site": {}, "month": {}}
    for (place, level), part in zip(keys, parts, strict=True):
        split = mix.splits[place]
        kept = 1 - plan.missing_groups if split.kind == "group" else 1.0
        levels = found[split.kind].setdefault(split.name, {})
        levels[split.levels[level]] = {"share": round(float(split.shares[level]) * kept, 10), **part}
    if plan.missing_groups > 0:
        for levels in found["group"].values():
            levels[MISSING] = {"share": plan.missing_groups, **overall}
    return {
        "generator": "cohort",
        "count": count,
        "seed": seed,
        "plan": plan.as_dict(),
        "model": {"intercept": model.intercept, **model.coefficients},
        "overall": overall,
        "groups": found["group"],
        "sites": found["site"]["site"],
        "months": found["month"]["month"],
    }
