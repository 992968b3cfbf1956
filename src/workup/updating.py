"""A study becomes an update: the least change that its data support, judged on patients who did not make it.

What is honest comes first: another table, the later side of a temporal split, or cross-fitting by whole patients.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from workup.errors import InputError, StudyError, near, visible
from workup.estimate import EVERYTHING, Draws, Estimate, estimate, slices_by
from workup.lenses.internal import internal
from workup.lenses.paired import compare_scores
from workup.lenses.withholding import withhold
from workup.metric import Metric
from workup.preflight import Ready, checked
from workup.report import canonical
from workup.scores import Levels, Scores
from workup.stats.arrays import Floats
from workup.stats.intervals import Ends
from workup.stats.updating import METHODS, Sample, folds_of_patients, moved
from workup.study import Study
from workup.task import Table, Watch, silent
from workup.tasks.risk.backwards import runs_backwards
from workup.tasks.risk.settings import RiskStudy
from workup.tasks.risk.task import RiskCorpus, RiskTask
from workup.tasks.risk.updating.file import UpdateFile, update_record, written
from workup.tasks.risk.updating.procedure import CLOSED, Mending, Procedure, Updating, predictors_of, sample_of
from workup.tasks.risk.updating.rules import Chosen, Rule, choose
from workup.tasks.risk.updating.used import UNTOLD, days_of, risks_sha256
from workup.validate import Scored, scored
from workup.version import __version__

FOLDS = 10
LEVEL = 0.95
MARGIN = 0.2  # of O/E from 1 that a group may have, where the study's subgroups lens names none
_SHOWN = ("brier", "oe_ratio", "calibration_in_the_large", "calibration_slope")
_DISTANCE = "oe_distance"
_OF_THE_SYSTEM = "risk before the update"  # column that holds the risks for refits
Verdict = Literal["better", "worse", "no gain shown", "none needed", "backwards"]
How = Literal["validate", "temporal", "cross-fitted"]


@dataclass(frozen=True)
class Asked:
    """What is asked of an update."""

    method: str = CLOSED
    alpha: float = 0.05
    predictors: tuple[str, ...] = ()
    by: str | None = None
    validate: Path | None = None
    thresholds: tuple[Rule, ...] = ()
    search: bool = False
    optimism: int = 0

    def check(self) -> None:
        """Refuse what no data could mend."""
        known = (CLOSED, *METHODS)
        if self.method not in known:
            raise InputError(
                f"a method is one of {', '.join(known)}",
                where="--method",
                got=f"'{visible(self.method[:40])}'",
                remedy=near(self.method, known),
            )
        if not 0 < self.alpha < 1:
            raise InputError("alpha lies between 0 and 1", where="--alpha", got=f"{self.alpha:g}")
        if self.method == "refit" and not self.predictors:
            raise InputError(
                "a refit needs predictors", where="--method refit", got="none", remedy="name them with --predictors"
            )
        twice = [name for name in self.predictors if self.predictors.count(name) > 1]
        if twice:
            raise InputError("a predictor is named once", where="--predictors", got=f"'{visible(twice[0])}' twice")
        if self.search and not any(rule.kind == "cost_ratio" for rule in self.thresholds):
            raise InputError(
                "--search looks for the cut of the greatest net benefit at a cost ratio",
                got="no cost ratio",
                remedy='add --threshold "cost_ratio 9"',
            )
        if self.optimism < 0 or self.optimism > 10_000:
            raise InputError("refits for the optimism are 0 to 10,000", where="--optimism", got=f"{self.optimism:,}")


@dataclass(frozen=True)
class Made:
    """What came of it: the bytes of update.json (None where none was made), what is told, and the verdict."""

    content: bytes | None
    told: Mapping[str, Any]
    verdict: Verdict


@dataclass(frozen=True, eq=False)
class _Rows:
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


@dataclass(frozen=True, eq=False)
class _Honest:
    """The rows that judge: with the risks as they were, and as they are after the update."""

    how: How
    original: Scores
    updated: Scores
    apparent: Scores | None = None  # rows that made the update, where these are the same, to move intervals by
    methods: Mapping[str, Sequence[str]] | None = None  # of the folds, by level
    notes: tuple[str, ...] = ()


def make_update(
    study: Study, asked: Asked, *, system: str | None = None, key: bytes | None = None, watch: Watch = silent
) -> Made:
    """Test, choose, fit, judge on others, choose thresholds: the whole procedure on one study of risks."""
    asked.check()
    if not isinstance(study, RiskStudy):
        raise StudyError(f"an update is of a study of risks; this one is of '{study.task}'.")
    ready = checked(study)
    found = scored(study, ready, system=system, watch=watch)
    rows = _rows(found, asked)
    procedure = Procedure(asked.method, asked.alpha, asked.by).measured_on(rows.sample, rows.levels)
    mending = procedure.fit(rows.sample, rows.levels)
    told = {**_about(found, rows, asked), **_chosen(mending, procedure, asked)}
    column = study.columns.risk if study.columns is not None and not study.systems else None
    backwards = runs_backwards(rows.scores, column)
    if backwards is not None or mending.backwards:
        said = backwards["sentence"] if backwards is not None else ""
        remedy = backwards["remedy"] if backwards is not None else ""
        return Made(None, {**told, "verdict": "backwards", "alarm": [said, remedy]}, "backwards")
    mending = _as_written(mending)
    draws = found.draws(rows.scores)
    honest = _honest(found, rows, mending, procedure, asked, draws, watch)
    figures = _figures(found.task, study, honest, rows.mended(mending), mending, draws)
    compared = _compared(found.task, study, honest, draws)
    verdict = _verdict(mending, compared)
    chosen = [_threshold(rule, honest, asked, draws) for rule in asked.thresholds]
    record = update_record(
        mending,
        workup=__version__,
        system=_system(found),
        thresholds=[one.as_record() for one in chosen],
        used=_used(found, rows.mended(mending)),
        honest={
            "how": honest.how,
            "estimates": [e.as_dict() for e in figures["honest"]],
            "verdict": verdict,
        },
        as_of=study.report.as_of,
        seed=study.seed,
    )
    told |= {
        "verdict": verdict,
        "honest": {
            "how": honest.how,
            "methods": honest.methods,
            "rows": len(honest.updated),
            "patients": honest.updated.n_patients,
            "events": int(np.count_nonzero(honest.updated["outcome"] > 0)),
        },
        "figures": {name: [e.as_dict() for e in part] for name, part in figures.items()},
        "keeps_order": mending.keeps_order,
        "compared": compared["all"],
        "groups": compared["groups"],
        "thresholds": [one.as_told() for one in chosen],
        "optimism": _optimism(found, rows, mending, procedure, asked, draws) if asked.optimism else [],
        "notes": [*told["notes"], *honest.notes, UNTOLD[0].upper() + UNTOLD[1:]],
    }
    return Made(written(record, key=key), json.loads(canonical(told)), verdict)


# ---- rows ------------------------------------------------------------------------------------------------------------


def _rows(found: Scored, asked: Asked) -> _Rows:
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
    return _Rows(rows, table, sample, levels, int(np.count_nonzero(~whole)))


def _about(found: Scored, rows: _Rows, asked: Asked) -> dict[str, Any]:
    """What was updated, on whom."""
    events = int(np.count_nonzero(rows.scores["outcome"] > 0))
    notes = list(found.corpus.notes)
    if rows.left_out:
        notes.append(f"Rows that lack one of the predictors, left out: {rows.left_out:,}.")
    return {
        "study": found.study.name,
        "corpus": found.corpus.as_dict(),
        "system": _system(found),
        "rows": len(rows.scores),
        "patients": rows.scores.n_patients,
        "events": events,
        "days": days_of(rows.scores),
        "alpha": asked.alpha,
        "asked": asked.method,
        "predictors": list(asked.predictors),
        "by": asked.by,
        "notes": notes,
    }


def _system(found: Scored) -> dict[str, Any]:
    return {**found.opener.identity(), "column": getattr(found.opener(), "column", None) or None}


def _chosen(mending: Mending, procedure: Procedure, asked: Asked) -> dict[str, Any]:
    """What was chosen for whom, and what was not on offer."""
    levels = []
    for level, one in mending.updates.items():
        refused = dict((procedure.forbidden or {}).get(level, {}))
        if not asked.predictors:
            refused.pop("refit", None)  # nobody asked for it
        levels.append(
            {
                "level": level,
                "method": one.method,
                "chosen_by": one.chosen_by,
                "parameters": one.parameters,
                "test": [row._asdict() for row in one.test],
                "pointed_to": _pointed_to(one.test, asked.alpha),
                "reason": one.reason,
                "refused": refused,
            }
        )
    return {"updates": levels}


def _pointed_to(test: Sequence[Any], alpha: float) -> str | None:
    """The candidate that the closed test would choose."""
    for row in test:
        if row.p is None or row.p > alpha:
            return str(row.candidate)
    return "refit" if test else None


def _as_written(mending: Mending) -> Mending:
    """The update as the file holds it, to 12 digits: every figure is of what will be applied."""
    return UpdateFile("", json.loads(canonical(update_record(mending)))).mending


def _used(found: Scored, mended: Scores) -> dict[str, Any]:
    days = days_of(mended) or (None, None)
    return {
        "corpus_sha256": found.corpus.sha256,
        "risks_sha256": risks_sha256(mended),
        "from": days[0],
        "to": days[1],
        "n_patients": mended.n_patients,
        "n_rows": len(mended),
        "n_events": int(np.count_nonzero(mended["outcome"] > 0)),
    }


# ---- who judges ------------------------------------------------------------------------------------------------------


def _honest(
    found: Scored, rows: _Rows, mending: Mending, procedure: Procedure, asked: Asked, draws: Draws, watch: Watch
) -> _Honest:
    """The first that there is: another table, the later side of a temporal split, or cross-fitting."""
    if asked.validate is not None:
        return _held_out(found, rows, mending, asked, asked.validate.resolve(), "validate", watch)
    later = _later_side(found)
    if later is not None:
        return _held_out(found, rows, mending, asked, later, "temporal", watch)
    if asked.method == "none":  # nothing was fitted, so nothing has to be fitted anew
        return _Honest("cross-fitted", rows.scores, rows.mended(mending))
    patients = rows.scores.n_patients
    if patients < FOLDS:
        raise InputError(f"cross-fitting needs at least {FOLDS} patients", got=f"{patients}")
    fold = folds_of_patients(rows.scores.patient, folds=FOLDS, seed=draws.seed)
    watch("fitting anew without each fold", 0, 1)
    risk, methods = procedure.cross_fitted(rows.sample, rows.levels, fold)
    return _Honest("cross-fitted", rows.scores, rows.with_risks(risk), rows.mended(mending), methods)


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


def _held_out(
    found: Scored, rows: _Rows, mending: Mending, asked: Asked, path: Path, how: How, watch: Watch
) -> _Honest:
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
    held = _rows(theirs, asked)
    notes = [*(f"{visible(path.name)}: {note}" for note in corpus.notes), *_shared(own, corpus, path)]
    mine, others = days_of(rows.scores), days_of(held.scores)
    if mine is not None and others is not None and others[0] <= mine[1] and mine[0] <= others[1]:
        notes.append(
            f"{visible(path.name)}: its dates ({others[0]} to {others[1]}) overlap those that made the update "
            f"({mine[0]} to {mine[1]}), so it shows another place at most, and no later time."
        )
    return _Honest(how, held.scores, held.mended(mending), notes=tuple(notes))


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


# ---- figures ---------------------------------------------------------------------------------------------------------


def _metrics(task: Any, study: RiskStudy, scores: Scores, names: Sequence[str]) -> list[Metric]:
    found = {metric.name: metric for metric in task.metrics(scores, study) if not metric.at}
    return [found[name] for name in names]


def _figures(
    task: Any, study: RiskStudy, honest: _Honest, apparent: Scores, mending: Mending, draws: Draws
) -> dict[str, list[Estimate]]:
    """The same figures of the original, of the update on others, and of the update on those who made it."""
    # What keeps the order of risks cannot change the AUROC: a change would be noise that looks like news.
    names = _SHOWN if mending.keeps_order else (*_SHOWN, "auroc")
    of_honest = draws if honest.how == "cross-fitted" else replace(draws, strata=None)

    def of(scores: Scores, drawn: Draws) -> list[Estimate]:
        return estimate(scores, _metrics(task, study, scores, names), (EVERYTHING,), draws=drawn, levels=(LEVEL,))

    seen = of(apparent, draws)
    updated = of(honest.updated, of_honest)
    if honest.apparent is not None:
        scale = {metric.name: metric.scale for metric in _metrics(task, study, apparent, names)}
        updated = [_moved(own, beside, scale[own.metric]) for own, beside in zip(updated, seen, strict=True)]
    return {"original": of(honest.original, of_honest), "honest": updated, "apparent": seen}


def _moved(honest: Estimate, apparent: Estimate, scale: str) -> Estimate:
    """A cross-fitted value with the apparent interval moved to it: the folds' own would not count that they share
    their rows."""
    if honest.value is None or apparent.value is None or apparent.low is None or apparent.high is None:
        return replace(
            honest, low=None, high=None, se=None, status=apparent.status, reason=apparent.reason or honest.reason
        )
    ends = moved(Ends(apparent.low, apparent.high), apparent.value, honest.value, scale=scale)
    return replace(
        honest,
        low=ends.low,
        high=ends.high,
        se=apparent.se,
        status=apparent.status,
        method=f"{apparent.method}, moved to the value of {FOLDS}-fold cross-fitting",
    )


def _distance(oe: Metric) -> Metric:
    """|ln O/E|: how far from as many events as expected, the same for twice as many and for half."""

    def compute(scores: Scores, weights: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            away = np.abs(np.log(oe.compute(scores, weights)))
        return np.where(np.isfinite(away), away, np.nan)

    return Metric(
        name=_DISTANCE,
        compute=compute,
        describe="absolute logarithm of observed over expected events",
        better="lower",
        undefined="there are no events",
    )


def _compared(task: Any, study: RiskStudy, honest: _Honest, draws: Draws) -> dict[str, list[dict[str, Any]]]:
    """Updated less original on the rows that judge, by patients; and by group."""
    kept = withhold(honest.original, study)
    first = kept.scores
    second = replace(honest.updated, groups=first.groups)
    drawn = draws if honest.how == "cross-fitted" else replace(draws, strata=None)
    brier, oe = _metrics(task, study, first, ("brier", "oe_ratio"))
    rows = compare_scores(first, second, [brier, _distance(oe)], drawn, groups=list(first.groups))
    everyone = [_pair(row) for row in rows if not row["slice"]]
    by_group: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        for name, level in row["slice"].items():
            by_group.setdefault((name, level), {})[row["metric"]] = _pair(row)
    slices = slices_by(first.groups)
    margin = _margin(study)
    values = [estimate(one, [oe], slices, draws=drawn, levels=(LEVEL,)) for one in (first, second)] if slices else []
    groups = []
    for place, one in enumerate(slices):
        [(name, level)] = one.key.items()
        before, after = (side[place] for side in values)
        groups.append(
            {
                "group": name,
                "level": level,
                "n_patients": before.n_patients,
                "original": _ends(before),
                "updated": _ends(after),
                "differences": by_group.get((name, level), {}),
                "margin": margin,
                "verdict": _of_group(before, after, margin),
            }
        )
    return {"all": everyone, "groups": groups}


def _pair(row: Mapping[str, Any]) -> dict[str, Any]:
    held = ("metric", "value", "low", "high", "p", "method", "reason", "n_patients")
    return {name: row[name] for name in held} | {side: row[side]["value"] for side in ("first", "second")}


def _ends(e: Estimate) -> dict[str, Any]:
    return {"value": e.value, "low": e.low, "high": e.high, "reason": e.reason}


def _margin(study: RiskStudy) -> float:
    named = study.lenses.get("subgroups", {}).get("margin")
    given = named.get("oe_ratio") if isinstance(named, Mapping) else None  # a bare number is meant for shares
    return float(given) if isinstance(given, (int, float)) and not isinstance(given, bool) else MARGIN


def _of_group(before: Estimate, after: Estimate, margin: float) -> str:
    """Whether a group's O/E is outside its margin after the update, and was not before."""
    if after.value is None:
        return "not assessed"
    low, high = 1 - margin, 1 + margin
    if after.low is not None and after.high is not None and (after.low > high or after.high < low):
        return "outside its margin"
    if before.value is not None and low <= before.value <= high and not low <= after.value <= high:
        return "leaves its margin"
    return ""


def _verdict(mending: Mending, compared: Mapping[str, list[dict[str, Any]]]) -> Verdict:
    """Better or worse where the paired interval of Brier or of |ln O/E| says so; worse if either does."""
    unmended = [one for one in mending.updates.values() if one.method != "none"]
    refused = [one for one in mending.updates.values() if one.method == "none" and one.reason]
    if not unmended and not refused:
        return "none needed"
    rows = [row for row in compared["all"] if row["low"] is not None and row["high"] is not None]
    if any(row["low"] > 0 for row in rows):
        return "worse"
    return "better" if any(row["high"] < 0 for row in rows) else "no gain shown"


def _threshold(rule: Rule, honest: _Honest, asked: Asked, draws: Draws) -> Chosen:
    # Where nothing was fitted, no row had a part in its own risk, and the laws of held-out risks hold exactly.
    held_out = honest.how != "cross-fitted" or honest.apparent is None
    return choose(
        rule,
        honest.updated,
        held_out=held_out,
        search=asked.search,
        replicates=draws.replicates,
        seed=draws.seed,
    )


def _optimism(
    found: Scored, rows: _Rows, mending: Mending, procedure: Procedure, asked: Asked, draws: Draws
) -> list[dict[str, Any]]:
    """The apparent figures less their optimism, by the internal lens with the whole procedure as its refit function."""
    study, corpus = found.study, found.corpus
    assert isinstance(corpus, RiskCorpus) and isinstance(study, RiskStudy) and study.columns is not None
    columns = study.columns
    # The risks of the system do not change from refit to refit, so they are asked for once.
    table = {**corpus.cohort.table, _OF_THE_SYSTEM: found.outputs}
    held = replace(corpus, cohort=replace(corpus.cohort, table=table))
    fit = Updating(
        outcome=columns.outcome,
        risk=_OF_THE_SYSTEM,
        patient=columns.patient if rows.sample.patient is not None else None,
        weight=columns.weight,
        predictors=asked.predictors,
        method=asked.method,
        alpha=asked.alpha,
        group=asked.by,
        forbidden=procedure.forbidden,
    )
    scores = rows.mended(mending)
    refit = RiskTask().refit(held, scores, fit)
    metrics = _metrics(found.task, study, scores, _SHOWN)
    result = internal(scores, metrics, settings={"optimism": asked.optimism}, draws=draws, levels=(LEVEL,), refit=refit)
    return [e.as_dict() for e in result.estimates if e.slice.get("validation") == "optimism-corrected"]
