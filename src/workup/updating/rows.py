"""Rows of a table as the updating procedure takes them: risks, outcomes, predictors, and the levels of a group."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from workup.errors import InputError, near, visible
from workup.scores import Levels, Scores
from workup.stats.arrays import Floats
from workup.stats.updating import Sample
from workup.task import Table
from workup.tasks.risk.task import RiskCorpus
from workup.tasks.risk.updating.procedure import Mending, predictors_of, sample_of
from workup.updating.asked import Asked
from workup.validate import Scored


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one table as the procedure takes them, with the risks that the system gave."""

    scores: Scores
    table: Table  # of the same rows
    sample: Sample
    levels: Levels | None
    left_out: int  # rows without a predictor

    def with_risks(self, risk: Floats) -> Scores:
        """The same rows with other risks."""
        return replace(self.scores, values={**self.scores.values, "risk": risk})

    def mended(self, mending: Mending) -> Scores:
        """The same rows with the updated risks."""
        return self.with_risks(mending.apply(self.scores["risk"], self.table))


def rows_of(found: Scored, asked: Asked) -> Rows:
    """The scored rows with their predictors and levels; rows that lack a predictor are left out."""
    corpus, scores = found.corpus, found.scores
    assert isinstance(corpus, RiskCorpus)
    place = scores["row"].astype(np.intp) - 1
    table = {name: column[place] for name, column in corpus.cohort.table.items()}
    seen = corpus.cohort.predictors
    hidden = [name for name in asked.predictors if name in table and name not in seen]
    if hidden:
        raise InputError(
            "a predictor is known when the risk is predicted",
            where="--predictors",
            got=f"'{visible(hidden[0])}', which is the outcome, the risk, a weight, the patient, or made of one",
            remedy="name a column that the model could see",
        )
    predictors = predictors_of(table, asked.predictors, where=f"{visible(corpus.name)}, --predictors")
    whole = np.ones(len(scores), dtype=np.bool_)
    for column in predictors.values():
        whole &= np.isfinite(column)
    if not whole.any():
        raise InputError("some rows must have every predictor", where="--predictors", got="none")
    if asked.by is not None and asked.by not in corpus.cohort.plain_groups:
        raise InputError(
            "--by names a column of columns.groups that is a group as it is, since whoever applies the update must "
            "find the same levels",
            got=f"'{visible(asked.by)}'",
            remedy=near(asked.by, corpus.cohort.plain_groups),
        )
    rows = scores.take(whole) if not whole.all() else scores
    sample = sample_of(
        rows["outcome"],
        rows["risk"],
        {name: column[whole] for name, column in predictors.items()},
        patient=rows.patient,
        weight=rows.weight,
    )
    table = {name: column[whole] for name, column in table.items()}
    levels = None if asked.by is None else Levels.of(table[asked.by])
    return Rows(rows, table, sample, levels, int(np.count_nonzero(~whole)))
