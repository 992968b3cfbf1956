"""The rows of a run read again from its corpus and its recorded outputs, and two such runs paired. Asks no system."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workup.errors import RunError
from workup.files.received import is_folder
from workup.stats.arrays import Bools

if TYPE_CHECKING:
    from workup.estimate import Draws
    from workup.metric import Metric
    from workup.report import Report
    from workup.scores import Scores
    from workup.study import Study

StudyOf = Callable[[Path], Path]

# Fields of a study that may change after a run without changing its rows.
_BESIDE = ("name", "systems", "gates", "report", "baseline", "lenses", "sites", "split", "intended_settings")


@dataclass(frozen=True)
class Rows:
    """One run as it was scored."""

    study: Study
    task: Any
    scores: Scores
    metrics: Sequence[Metric]


@dataclass(frozen=True)
class PairedRuns:
    """Differences of two runs on the same rows, before any verdict."""

    rows: list[dict[str, Any]]
    notes: tuple[str, ...] = ()
    tables: dict[str, Any] | None = None


def paired_runs(first: Path, old: Report, second: Path, new: Report, *, study: StudyOf) -> PairedRuns:
    """Both runs on the rows both answered: by the task's own pairing, or by the numbers of their rows.

    `study` says which study file to read again for a run directory, or refuses.
    """
    import numpy as np

    from workup.compare import compare_scores

    mine, theirs = (rows_of(place, held, study=study) for place, held in ((first, old), (second, new)))
    if hasattr(mine.task, "paired"):
        return _by_task(mine, theirs)
    shared, of_second = _shared(mine, theirs)
    told = _told(mine, mine.scores, only=np.isin(mine.scores["row"], theirs.scores["row"]))
    found = compare_scores(
        told,
        theirs.scores,
        shared,
        _draws(mine.study, mine.scores),
        of_second=of_second,
        groups=_groups(mine.study, told),
    )
    answered = [set(rows.scores["row"]) for rows in (mine, theirs)]
    if answered[0] == answered[1]:
        return PairedRuns(found)
    both = f"{len(answered[0] & answered[1]):,}"
    sizes = f"{len(mine.scores):,} and {len(theirs.scores):,}"
    return PairedRuns(found, (f"Compared on the {both} rows both answered, of {sizes}.",))


def _told(mine: Rows, scores: Scores, *, only: Bools | None = None) -> Scores:
    """Rows with the groups that the run's own report tells, and of these only such as hold enough of the rows that
    both systems answered."""
    import numpy as np

    from workup.lenses.withholding import withhold

    told = withhold(mine.scores, mine.study).applied(scores)
    shared = told if only is None or only.all() else told.take(np.flatnonzero(only))
    return withhold(shared, mine.study).applied(told)


def _by_task(mine: Rows, theirs: Rows) -> PairedRuns:
    from workup.compare import compare_scores

    pair = mine.task.paired(mine.scores, theirs.scores, mine.study)
    told = _told(mine, pair.first)
    shared, of_second = _shared(mine, theirs)
    found = compare_scores(
        told,
        pair.second,
        shared,
        _draws(mine.study, pair.first),
        of_second=of_second,
        groups=_groups(mine.study, told),
        intervals=pair.intervals,
    )
    return PairedRuns(found, tuple(pair.notes), dict(pair.tables))


def _shared(mine: Rows, theirs: Rows) -> tuple[list[Metric], list[Metric]]:
    """The metrics that both systems have, as the first and as the second has them."""
    others = {_named(metric): metric for metric in theirs.metrics}
    shared = [metric for metric in mine.metrics if _named(metric) in others]
    return shared, [others[_named(metric)] for metric in shared]


def _named(metric: Metric) -> tuple[str, tuple[tuple[str, Any], ...]]:
    return metric.name, tuple(metric.at.items())


def _groups(study: Study, scores: Scores) -> list[str]:
    return list(scores.groups) if "subgroups" in study.lenses else []


def _draws(study: Study, scores: Scores) -> Draws:
    from workup.estimate import Draws
    from workup.validate import strata

    return Draws(study.seed, study.bootstrap.replicates, strata(study, scores))


def rows_of(place: Path, held: Report, *, study: StudyOf) -> Rows:
    """The rows of a run directory, or an error that says why they cannot be had any more."""
    from workup import plugins
    from workup.cli.run import Unasked, load
    from workup.runs import RunDirectory, Unrecorded
    from workup.task import Budget
    from workup.validate import Opener, output_log

    place = place if place.is_dir() else place.parent
    plan = load(study(place), sample=_sample(held, place))
    _check_study(plan, held, place)
    task = plugins.find("tasks", plan.task)()
    opener = Opener(plan, str(held.system["name"]) if plan.systems else None)
    if opener.identity() != dict(held.system):
        raise RunError(f"{place}: the system is no longer the one of the report.")
    corpus = task.read(plan)
    if getattr(opener(), "recorded", False):
        outputs = task.run(opener, corpus, Unasked(), Unrecorded(), _silent, budget=Budget())
    elif not is_folder(place / "outputs") or not any((place / "outputs").glob("*.jsonl")):
        raise RunError(f"{place}: its outputs were removed.")
    else:
        with RunDirectory.open(place) as run:
            outputs = task.run(opener, corpus, Unasked(), output_log(run, opener, corpus), _silent, budget=Budget())
    scores = task.scores(corpus, outputs)
    if corpus.as_dict()["sha256"] != held.corpus["sha256"]:  # known once the corpus was read
        raise RunError(f"{place}: the corpus is no longer the one of the report.")
    metrics = task.metrics(scores, plan)
    return Rows(plan, task, scores, task.compared(metrics, plan) if hasattr(task, "compared") else metrics)


def _sample(held: Report, place: Path) -> int | None:
    """How many cases were drawn, as the record says."""
    corpus = held.study.get("corpus")
    sample = corpus.get("sample") if isinstance(corpus, dict) else None
    if sample is None or (isinstance(sample, int) and not isinstance(sample, bool) and sample > 0):
        return sample
    raise RunError(f"{place}: the record does not say how many cases were sampled in the form that Workup writes.")


def _check_study(study: Study, held: Report, place: Path) -> None:
    """Rows made by another study than the record's would be compared under its names."""
    from workup.report import canonical

    now, then = ({k: v for k, v in one.items() if k not in _BESIDE} for one in (study.record(), held.study))
    fields = [name for name in now if name in then and canonical(now[name]) != canonical(then[name])]
    if fields:
        raise RunError(f"{place}: the study was changed since this run ({', '.join(fields)}).")


def _silent(what: str, done: int, total: int) -> None:
    pass
