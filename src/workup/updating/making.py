"""The whole procedure on one study of risks: test, choose, fit, judge on others, choose thresholds, write it down."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from workup.errors import StudyError
from workup.estimate import Draws
from workup.lenses.internal import internal
from workup.lenses.withholding import withhold
from workup.preflight import checked
from workup.report import canonical
from workup.scores import Scores
from workup.study import Study
from workup.task import Watch, silent
from workup.tasks.risk.backwards import runs_backwards
from workup.tasks.risk.settings import RiskStudy
from workup.tasks.risk.task import RiskCorpus, RiskTask, missing_risk_notes
from workup.tasks.risk.updating.blunt_ends import blunted
from workup.tasks.risk.updating.file import UpdateFile, update_record, written
from workup.tasks.risk.updating.procedure import Mending, Procedure, Updating
from workup.tasks.risk.updating.rules import Chosen, Rule, choose
from workup.tasks.risk.updating.used import UNTOLD, days_of, risks_sha256
from workup.updating.asked import Asked
from workup.updating.honest import Honest, honest_rows
from workup.updating.judged import LEVEL, SHOWN, Verdict, compared_of, figures_of, metrics_of, verdict_of
from workup.updating.rows import Rows, rows_of
from workup.validate import Scored, scored
from workup.version import __version__

_OF_THE_SYSTEM = "risk before the update"  # column that holds the risks for refits


@dataclass(frozen=True)
class Made:
    """What came of it: the bytes of update.json (None where none was made), what is told, and the verdict."""

    content: bytes | None
    told: Mapping[str, Any]
    verdict: Verdict | Literal["backwards"]


def make_update(
    study: Study,
    asked: Asked,
    *,
    table: Any = None,
    system: str | None = None,
    key: bytes | None = None,
    watch: Watch = silent,
) -> Made:
    """Test, choose, fit, judge on others, choose thresholds: the whole procedure on one study of risks.

    `table` takes the place of the corpus file, `system` names one of several in the study, and `key` signs the update.
    """
    asked.check()
    if study.task != RiskTask.name or not isinstance(study, RiskStudy):
        raise StudyError(
            f"an update is of a study of risks with one outcome each (task: risk); this one is of '{study.task}'."
        )
    ready = checked(study, table=table)
    found = scored(study, ready, system=system, watch=watch)
    rows = rows_of(found, asked)
    procedure = Procedure(asked.method, asked.alpha, asked.by).measured_on(rows.sample, rows.levels)
    mending = blunted(procedure.fit(rows.sample, rows.levels), rows.sample, rows.levels, k=study.smallest_cell)
    told = {**_about(found, rows, asked), **_chosen(mending, procedure, asked)}
    column = study.columns.risk if study.columns is not None and not study.systems else None
    backwards = runs_backwards(rows.scores, column)
    if backwards is not None or mending.backwards:
        said = backwards["sentence"] if backwards is not None else ""
        remedy = backwards["remedy"] if backwards is not None else ""
        return Made(None, {**told, "verdict": "backwards", "alarm": [said, remedy]}, "backwards")
    needed = any(one["method"] != "none" or one["pointed_to"] != "none" for one in told["updates"])
    needed &= asked.method != "none"
    mending = _as_written(mending)
    draws = found.draws(rows.scores)
    honest = honest_rows(found, rows, mending, procedure, asked, draws, watch)
    figures = figures_of(found.task, study, honest, rows.mended(mending), mending, draws)
    compared = compared_of(found.task, study, honest)
    verdict = verdict_of(compared, needed=needed)
    chosen = [_threshold(rule, honest, asked) for rule in asked.thresholds]
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
        "notes": [*told["notes"], *honest.notes],
        "untold": f"{UNTOLD[:1].upper()}{UNTOLD[1:]}",
    }
    return Made(written(record, key=key), json.loads(canonical(told)), verdict)


def _about(found: Scored, rows: Rows, asked: Asked) -> dict[str, Any]:
    """What was updated, on whom."""
    events = int(np.count_nonzero(rows.scores["outcome"] > 0))
    study, corpus = found.study, found.corpus
    assert isinstance(corpus, RiskCorpus)
    groups = withhold(found.scores, study).scores.groups
    missing = missing_risk_notes(corpus.cohort, found.outputs, groups=groups, smallest_cell=study.smallest_cell)
    notes = [*missing, *corpus.notes]
    if rows.left_out:
        notes.append(f"Rows that lack one of the predictors, left out: {rows.left_out:,}.")
    return {
        "study": study.name,
        "corpus": corpus.as_dict(),
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


def _threshold(rule: Rule, honest: Honest, asked: Asked) -> Chosen:
    # Where nothing was fitted, no row had a part in its own risk, and the laws of held-out risks hold exactly.
    held_out = honest.how != "cross-fitted" or honest.apparent is None
    return choose(
        rule,
        honest.updated,
        held_out=held_out,
        search=asked.search,
        replicates=honest.draws.replicates,
        seed=honest.draws.seed,
    )


def _optimism(
    found: Scored, rows: Rows, mending: Mending, procedure: Procedure, asked: Asked, draws: Draws
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
    metrics = metrics_of(found.task, study, scores, SHOWN)
    result = internal(scores, metrics, settings={"optimism": asked.optimism}, draws=draws, levels=(LEVEL,), refit=refit)
    return [e.as_dict() for e in result.estimates if e.slice.get("validation") == "optimism-corrected"]
