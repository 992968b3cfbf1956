"""Which censoring weights the rows of a slice get: their own curve, a curve per stratum, or those of a Cox model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from workup.errors import InputError
from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.stats.cox import Cox, cox
from workup.stats.horizon_weights import CENSORED, HorizonWeights

FOLLOWUP, STATUS, ROW = "followup", "status", "row"
STRATUM, COVARIATE = "censoring_stratum", "censoring_covariate@"  # columns of Scores, where a study names such columns
Kind = Literal["marginal", "strata", "cox"]


class Horizon(NamedTuple):
    """A moment after the prediction, as the study writes it and in days."""

    name: str
    days: float

    @property
    def risk(self) -> str:
        """The column of Scores with the risks."""
        return f"risk@{self.name}"

    @property
    def outcome(self) -> str:
        """The column of Scores with what happened by then, NaN where a row was lost before."""
        return f"outcome@{self.name}"


class Followed(Scores):
    """Rows with follow-up. Where one was lost before a horizon, textbook intervals of independent rows do not hold."""

    @cached_property
    def independent(self) -> bool:
        """One row per patient, no design weights, and every outcome known."""
        plain = self.weight is None and self.n_patients == len(self)
        return plain and not any(np.isnan(self[name]).any() for name in self.values if name.startswith("outcome@"))


@dataclass(frozen=True, eq=False)
class Censoring:
    """How censoring weights are made. `name` tells two ways apart that are used on the same rows.

    Marginal and stratified curves are re-estimated in every slice and resample. Those of a Cox model, and with `scope`
    study those of any slice but the whole study, are made once on the whole study and then taken as known.
    """

    name: str = "marginal"
    kind: Kind = "marginal"
    scope: Literal["slice", "study"] = "slice"
    stratum: str = STRATUM
    study: Scores | None = None  # all rows, for what is made once
    _made: dict[str, tuple[Floats, Callable[[Floats, Floats], Floats] | None]] = field(default_factory=dict, repr=False)

    def weights(self, scores: Scores, horizon: Horizon) -> HorizonWeights:
        """The rows of a slice at a horizon, sorted once."""
        t, status = scores[FOLLOWUP], scores[STATUS]
        if not self.taken_as_known(scores):
            strata = scores[self.stratum] if self.kind == "strata" else None
            return HorizonWeights.of(t, status, horizon.days, strata=strata)
        by_row, through = self._of_study(horizon)
        everyone = self.is_study(scores)
        return HorizonWeights.of(
            *(t, status, horizon.days),
            known_weights=by_row[scores[ROW].astype(np.int64)],
            through_model=through if everyone else None,
        )

    def is_study(self, scores: Scores) -> bool:
        """Are these all rows of the study?"""
        return self.study is not None and np.array_equal(scores[ROW], self.study[ROW])

    def taken_as_known(self, scores: Scores) -> bool:
        """Do these rows get weights that were made on other rows, or by a model?"""
        return self.kind == "cox" or (self.scope == "study" and not self.is_study(scores))

    def said(self, scores: Scores) -> str:
        """What the method of an interval must say of the weights; empty where they are the slice's own."""
        if self.kind == "strata" and not self.taken_as_known(scores):
            return ", censoring curve within strata"
        if self.kind == "cox":
            known = "" if self.is_study(scores) else ", taken as known"
            return f", censoring weights of a Cox model of the whole study{known}"
        return ", censoring weights of the whole study, taken as known" if self.taken_as_known(scores) else ""

    def _of_study(self, horizon: Horizon) -> tuple[Floats, Callable[[Floats, Floats], Floats] | None]:
        """Weights by row number, made on the whole study, and what each row does by way of the model there."""
        if horizon.name not in self._made:
            assert self.study is not None
            rows, w = self.study, self.study.base_weight
            through = None
            seen = HorizonWeights.of(
                *(rows[FOLLOWUP], rows[STATUS], horizon.days),
                strata=rows[self.stratum] if self.kind == "strata" else None,
            )
            v = seen.under(w[None, :]).v[0]
            if self.kind == "cox":
                model = cox_of_censoring(rows)
                chance = model.before(seen.until)
                # Of those lost before, who have no weight, some had no chance at all to be followed so far.
                v = np.divide(1.0, chance, out=np.zeros_like(chance), where=seen.known)
                through = model.through
            by_row = np.zeros(int(rows[ROW].max()) + 1)
            by_row[rows[ROW].astype(np.int64)] = v
            self._made[horizon.name] = by_row, through
        return self._made[horizon.name]


def cox_of_censoring(scores: Scores) -> Cox:
    """Cox's model of being censored on the columns that the study names."""
    columns = np.column_stack([scores[name] for name in sorted(scores.values) if name.startswith(COVARIATE)])
    status = scores[STATUS]
    found = cox(
        scores[FOLLOWUP],
        status == CENSORED,
        columns,
        weight=scores.base_weight,
        cluster=scores.patient,
        goes_first=status != CENSORED,
    )
    if not found.fitted:
        raise InputError(
            "the Cox model of censoring has no finite fit",
            where="censoring.cox",
            got="columns that do not vary, that repeat each other, or that tell who is censored",
            remedy="name other columns, or use strata or the marginal curve",
        )
    return found
