"""Who judges an update: patients who did not make it.

The first that there is: another table, the later side of a temporal split, or cross-fitting by whole patients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from workup.errors import InputError, visible
from workup.estimate import Draws
from workup.preflight import Ready
from workup.scores import Scores
from workup.stats.updating import folds_of_patients
from workup.task import Watch
from workup.tasks.risk.task import RiskCorpus
from workup.tasks.risk.updating.procedure import Mending, Procedure
from workup.tasks.risk.updating.used import days_of
from workup.updating.asked import Asked
from workup.updating.rows import Rows, rows_of
from workup.validate import Scored, scored

FOLDS = 10
How = Literal["validate", "temporal", "cross-fitted"]


@dataclass(frozen=True, eq=False)
class Honest:
    """The rows that judge: with the risks as they were, and as they are after the update."""

    how: How
    original: Scores
    updated: Scores
    draws: Draws
    apparent: Scores | None = None  # rows that made the update, where these are the same, to move intervals by
    methods: Mapping[str, Sequence[str]] | None = None  # of the folds, by level
    notes: tuple[str, ...] = ()


def honest_rows(
    found: Scored, rows: Rows, mending: Mending, procedure: Procedure, asked: Asked, draws: Draws, watch: Watch
) -> Honest:
    """The first that there is: another table, the later side of a temporal split, or cross-fitting."""
    if asked.validate is not None:
        return _held_out(found, rows, mending, asked, asked.validate.resolve(), "validate", watch)
    later = _later_side(found)
    if later is not None:
        return _held_out(found, rows, mending, asked, later, "temporal", watch)
    if asked.method == "none":  # nothing was fitted, so nothing has to be fitted anew
        return Honest("cross-fitted", rows.scores, rows.mended(mending), draws)
    patients = rows.scores.n_patients
    if patients < FOLDS:
        raise InputError(f"cross-fitting needs at least {FOLDS} patients", got=f"{patients}")
    fold = folds_of_patients(rows.scores.patient, folds=FOLDS, seed=draws.seed)
    watch("fitting anew without each fold", 0, FOLDS)
    risk, methods = procedure.cross_fitted(rows.sample, rows.levels, fold)
    return Honest("cross-fitted", rows.scores, rows.with_risks(risk), draws, rows.mended(mending), methods)


def _later_side(found: Scored) -> Path | None:
    """The validation file of a temporal split, where the study is on its development file."""
    study = found.study
    record = found.ready.split.get("split", {})
    if study.split is None or study.corpus.path is None or record.get("strategy") != "temporal":
        return None
    folder = (study.base / study.split).resolve().parent
    own = (study.base / study.corpus.path).resolve()
    later = folder / "validation.csv"
    return later if own == folder / "development.csv" and later.is_file() else None


def _held_out(found: Scored, rows: Rows, mending: Mending, asked: Asked, path: Path, how: How, watch: Watch) -> Honest:
    """Rows of another table, with the risks of the same system."""
    study = found.study
    part = study.corpus.model_copy(update={"path": str(path), "generate": None, "format": "", "name": "", "query": ""})
    other = study.model_copy(update={"corpus": part})
    corpus = found.task.read(other)
    own = found.corpus
    assert isinstance(corpus, RiskCorpus) and isinstance(own, RiskCorpus)
    ready: Ready = replace(found.ready, corpus=corpus)
    theirs = scored(other, ready, system=_name_of(found), watch=watch)
    if theirs.corpus.sha256 == own.sha256:
        raise InputError(
            "an update is judged by other rows than those that made it",
            where=visible(path.name),
            got="the table of the study itself",
            remedy="give a later table or one from elsewhere, or leave --validate out for cross-fitting",
        )
    held = rows_of(theirs, asked)
    notes = [*(f"{visible(path.name)}: {note}" for note in corpus.notes), *_shared(own, corpus, path)]
    mine, others = days_of(rows.scores), days_of(held.scores)
    if mine is not None and others is not None and others[0] <= mine[1] and mine[0] <= others[1]:
        notes.append(
            f"{visible(path.name)}: its dates ({others[0]} to {others[1]}) overlap those that made the update "
            f"({mine[0]} to {mine[1]}), so it shows another place at most, and no later time."
        )
    return Honest(how, held.scores, held.mended(mending), theirs.draws(held.scores), notes=tuple(notes))


def _name_of(found: Scored) -> str | None:
    """The system of the study by its name there; None for the only one."""
    return found.opener.identity()["name"] if len(found.study.systems) > 1 else None


def _shared(own: RiskCorpus, other: RiskCorpus, path: Path) -> Iterator[str]:
    if own.cohort.patient is None or other.cohort.patient is None:
        return
    both = set(own.cohort.patient.tolist()) & set(other.cohort.patient.tolist())
    if both:
        yield (
            f"Warning: {visible(path.name)}: {len(both):,} patient ids stand in the table of the study too. If they "
            "are the same people, they judge an update that they made: take their rows out. If each place counts its "
            "own ids, put the name of the place before them."
        )
