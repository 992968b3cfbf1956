"""The updating procedure (test, choice, fit) as something that is fitted to a table and then predicts.

The statistics are those of `workup.stats.updating`. Here columns of a table become what they need, one update for all
rows or one for each level of a group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.errors import InputError, near, visible
from workup.scores import Levels, patient_codes
from workup.stats.arrays import Bools, Floats, Ints
from workup.stats.updating import (
    FEWEST_PATIENTS,
    CannotUpdate,
    RunsBackwards,
    Sample,
    Update,
    cross_fit,
    not_offered,
    update,
)
from workup.task import RiskSystem, Table
from workup.tasks.risk.checks import check_outcome, check_risk, check_weight, numbers

CLOSED = "closed"


@dataclass(frozen=True, eq=False)
class Mending:
    """How the risks of all rows are mended: by one update, or by one for each level of a column."""

    updates: Mapping[str, Update]  # by level; one under the empty name where no column is named
    group: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of a table that it needs beside the risk."""
        named = (name for one in self.updates.values() for name in one.parameters.get("columns", ()))
        return tuple(dict.fromkeys((*((self.group,) if self.group is not None else ()), *named)))

    @property
    def keeps_order(self) -> bool:
        """Whether it can change no ranking of two rows, and so not the AUROC."""
        kept = ("none", "in_the_large", "recalibration", "beta")
        return self.group is None and all(one.method in kept for one in self.updates.values())

    @property
    def backwards(self) -> tuple[str, ...]:
        """Levels in which higher risks go with fewer events."""
        return tuple(level for level, one in self.updates.items() if one.backwards)

    def apply(self, risk: Floats, table: Table, *, where: str = "table") -> Floats:
        """The updated risk of every row; NaN where it or a predictor is missing, unchanged in an unknown level."""
        found = risk.copy()
        predictors = predictors_of(table, [name for name in self.columns if name != self.group], where=where)
        for one, rows in self._parts(table, len(risk), where):
            named = {name: predictors[name] for name in one.parameters.get("columns", ())}
            usable = rows & np.isfinite(risk)
            for column in named.values():
                usable &= np.isfinite(column)
            found[rows & ~usable] = np.nan
            if usable.any():
                found[usable] = one.apply(risk[usable], {name: column[usable] for name, column in named.items()})
        return found

    def beyond(self, risk: Floats, table: Table, *, where: str = "table") -> int:
        """Rows whose risk lies outside those that their update was fitted on."""
        known = np.isfinite(risk)
        return sum(one.beyond(risk[rows & known]) for one, rows in self._parts(table, len(risk), where))

    def unknown(self, table: Table, rows: int, *, where: str = "table") -> int:
        """Rows of a level for which there is no update."""
        return rows - sum(int(part.sum()) for _, part in self._parts(table, rows, where))

    def _parts(self, table: Table, rows: int, where: str) -> list[tuple[Update, Bools]]:
        if self.group is None:
            return [(self.updates[""], np.ones(rows, dtype=np.bool_))]
        levels = Levels.of(column_of(table, self.group, where=where))
        return [(self.updates[level], inside) for level, inside in levels.masks() if level in self.updates]


@dataclass(frozen=True)
class Procedure:
    """What is done to the rows it is given: the closed test at `alpha` or a named method, by levels of `group` or not.

    `forbidden` are methods that the whole table is too small for, by level; None has every fit ask its own rows.
    """

    method: str = CLOSED
    alpha: float = 0.05
    group: str | None = None
    forbidden: Mapping[str, Mapping[str, str]] | None = None

    def measured_on(self, sample: Sample, levels: Levels | None) -> Procedure:
        """The same with what these rows forbid, so that refits to parts of them are held to the same methods."""
        found = {level: not_offered(sample.take(rows)) for level, rows in _rows(sample, levels)}
        if levels is not None:
            found = {level: {name: _uncounted(why) for name, why in whys.items()} for level, whys in found.items()}
        return replace(self, forbidden=found)

    def fit(self, sample: Sample, levels: Levels | None = None) -> Mending:
        """The update of these rows; `levels` are those of the group, where one is named."""
        made = {}
        for level, rows in _rows(sample, levels):
            try:
                made[level] = self.fit_level(sample.take(rows), level)
            except CannotUpdate as error:
                raise InputError(
                    _uncounted(str(error)) if self.group else str(error),
                    where=f"method {self.method}" + (f", {visible(self.group)} {visible(level)}" if self.group else ""),
                    remedy="name a method that asks for less, or leave it to the closed test",
                ) from None
        if not made:
            raise InputError(
                f"an update of each level needs {FEWEST_PATIENTS} patients in one of them",
                where=f"group '{visible(self.group or '')}'",
                got="fewer in every level",
                remedy="make one update for all",
            )
        return Mending(made, self.group)

    def fit_level(self, part: Sample, level: str) -> Update:
        """The update of the rows of one level. Risks that run backwards are left as they are, and marked."""
        forbidden = None if self.forbidden is None else self.forbidden.get(level, {})
        try:
            return update(part, method=self.method, alpha=self.alpha, forbidden=forbidden)
        except RunsBackwards as error:
            return replace(update(part, method="none", forbidden={}), backwards=True, reason=str(error))

    def cross_fitted(self, sample: Sample, levels: Levels | None, fold: Ints) -> tuple[Floats, dict[str, list[str]]]:
        """The risk of every row by a procedure made anew without its fold, and the methods of the folds by level."""
        risk, methods = sample.risk.copy(), {}
        for level, rows in _rows(sample, levels):
            found = cross_fit(sample.take(rows), partial(self.fit_level, level=level), fold[rows])
            risk[rows] = found.risk
            methods[level] = list(found.methods)
        return risk, methods


def _uncounted(why: str) -> str:
    """What a method asks for, without how many a level has: all but one counted would give the last away."""
    return why.partition("; there are ")[0]


def _rows(sample: Sample, levels: Levels | None) -> list[tuple[str, Bools]]:
    """Who is updated together; a level of so few patients that its update would speak of them is left as it is."""
    if levels is None:
        return [("", np.ones(len(sample.outcome), dtype=np.bool_))]
    people = sample.clusters
    return [(level, rows) for level, rows in levels.masks() if np.unique(people[rows]).size >= FEWEST_PATIENTS]


# ---- as a refit function ---------------------------------------------------------------------------------------------


class UpdatedModel:
    """A mended model: predicts from the rows of a table, with the risks that the model itself gave or gives them."""

    def __init__(self, mending: Mending, risks: RiskColumn) -> None:
        self.name, self.version = "updated", ""
        self.mending, self._risks = mending, risks

    def predict(self, table: Table) -> list[float | None]:
        """The updated risk of each row, None where it or a predictor is missing."""
        risk = self.mending.apply(self._risks.of(table), table)
        return [None if np.isnan(one) else float(one) for one in risk]


@dataclass(frozen=True)
class RiskColumn:
    """Where risks come from: a column of the table, or a system that is asked for them."""

    column: str | None = None
    system: RiskSystem | None = None

    def of(self, table: Table) -> Floats:
        """The risk of every row, NaN where there is none."""
        if self.system is not None:
            return np.array([np.nan if one is None else one for one in self.system.predict(table)], dtype=np.float64)
        assert self.column is not None
        return check_risk(column_of(table, self.column, where="table"), where=f"column '{self.column}'")[0]


@dataclass(frozen=True)
class Updating:
    """A refit function: `fit(table)` makes the whole procedure anew on these rows and answers a model that predicts.

    Give it to `workup.validate(study, refit=…)`, and the internal lens corrects an update for its optimism or
    cross-validates it.

    >>> rng = np.random.default_rng(3)
    >>> p = rng.uniform(0.05, 0.95, 400)
    >>> table = {"died": (rng.uniform(size=400) < p).astype(float), "p": p}
    >>> model = Updating(outcome="died", risk="p", method="in_the_large")(table)
    >>> bool(abs(np.mean(model.predict(table)) - table["died"].mean()) < 1e-9)
    True
    """

    outcome: str
    risk: str | None = None
    system: RiskSystem | None = None
    patient: str | None = None
    weight: str | None = None
    predictors: tuple[str, ...] = ()
    method: str = CLOSED
    alpha: float = 0.05
    group: str | None = None
    forbidden: Mapping[str, Mapping[str, str]] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if (self.risk is None) == (self.system is None):
            raise InputError(
                "an update is of risks in a column, or of those of a system",
                got="neither" if self.risk is None else "both",
                remedy="give risk='column' or system=model",
            )

    def __call__(self, table: Table) -> UpdatedModel:
        source = RiskColumn(self.risk, self.system)
        outcome = check_outcome(column_of(table, self.outcome, where="table"), where=f"column '{self.outcome}'")
        risk = source.of(table)
        predictors = predictors_of(table, self.predictors, where="table")
        usable = np.isfinite(outcome) & np.isfinite(risk)
        for column in predictors.values():
            usable &= np.isfinite(column)
        patient = None if self.patient is None else patient_codes(column_of(table, self.patient, where="table"))
        weight = None
        if self.weight is not None:
            weight = check_weight(column_of(table, self.weight, where="table"), where=f"column '{self.weight}'")
        levels = None if self.group is None else Levels.of(column_of(table, self.group, where="table"))
        whole = sample_of(outcome, risk, predictors, patient=patient, weight=weight)
        procedure = Procedure(self.method, self.alpha, self.group, self.forbidden)
        kept = None if levels is None else levels.take(usable)
        return UpdatedModel(procedure.fit(whole.take(usable), kept), source)


def sample_of(
    outcome: Floats,
    risk: Floats,
    predictors: Mapping[str, Floats],
    *,
    patient: Ints | None,
    weight: Floats | None,
) -> Sample:
    """Rows to update on; patients matter only where one has several rows."""
    repeated = patient is not None and np.unique(patient).size < len(patient)
    return Sample(outcome, risk, dict(predictors), patient if repeated else None, weight)


def predictors_of(table: Table, names: Sequence[str], *, where: str) -> dict[str, Floats]:
    """The predictors of a refit as numbers."""
    return {
        name: numbers(column_of(table, name, where=where), role="predictor", where=f"{where}, column '{visible(name)}'")
        for name in names
    }


def column_of(table: Table, name: str, *, where: str) -> npt.NDArray[Any]:
    """A column that must be there."""
    if name not in table:
        raise InputError(
            f"the table must have the column '{visible(name)}'",
            where=where,
            got="a table without it",
            remedy=near(name, table),
        )
    return np.asarray(table[name])
