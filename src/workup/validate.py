"""The whole pipeline on one screen: Study → corpus → outputs → Scores → lenses → gates → Report."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from platform import python_version
from typing import Any, Literal

import numpy as np

from workup import plugins
from workup.disclosure.identifying import name_warnings
from workup.errors import StudyError, WorkupError, near
from workup.estimate import Draws
from workup.evidence import holdings
from workup.gates import judge, levels
from workup.kinds import Looked, joined, kind_holdings, looked_at, of_each, tried, withheld_notes, withheld_table
from workup.lenses.few_between_kinds import left_out
from workup.lenses.near_thresholds import ShownRows, near_thresholds
from workup.lenses.withholding import withhold
from workup.metric import Metric, in_order
from workup.preflight import NO_SYSTEM, Ready, asked_of, check_settings, checked, lens_member, placed, unnamed_system
from workup.report import LensResult, Report
from workup.runs import Outputs, RunDirectory, Unrecorded, content_key
from workup.scores import Levels, Scores
from workup.study import Study, SystemPart
from workup.task import UNLIMITED, Budget, Corpus, OutputLog, Task, Watch, gate_level_of, primary_of, silent
from workup.version import __version__


def validate(
    study: Study,
    *,
    system: Any = None,
    table: Any = None,
    refit: Callable[..., Any] | None = None,
    run: RunDirectory | None = None,
    budget: Budget = UNLIMITED,
    show_text: bool = False,
    details: Literal["primary", "all"] = "primary",
    watch: Watch = silent,
    ready: Ready | None = None,
) -> Report:
    """Give one system the work-up a study asks for: `scored`, then `look`.

    `system` is a name in the study, or an object to test in its place; `table` takes the place of the corpus file;
    `refit(table)` fits a new model, for optimism correction; `run` keeps outputs so that a killed run resumes.
    `budget` bounds what a system that costs is asked for. `show_text` writes text of the documents into the record,
    which then holds PHI and says so; `details` of single units are kept of the primary setting, or of every one.
    `ready` is the study as `workup.preflight.checked` found it, where the caller has asked before.
    """
    given = system is not None and not isinstance(system, str)
    ready = ready or checked(study, table=table, refit=refit is not None, systems=not given)
    rows = scored(study, ready, system=system, run=run, budget=budget, watch=watch)
    return look(rows, refit=refit, run=run, show_text=show_text, details=details, watch=watch)


@dataclass(frozen=True)
class Scored:
    """A study as far as its waist: what the system answered, and the rows that it made. Lenses look at nothing else."""

    study: Study
    ready: Ready
    opener: Opener
    outputs: Any
    scores: Scores  # of everyone: what a report withholds is decided when it is looked at
    failed: Mapping[str, str] = field(default_factory=dict)  # cases on which the system failed, and why

    @property
    def task(self) -> Task:
        """How this kind of system is scored."""
        return self.ready.task

    @property
    def corpus(self) -> Corpus:
        """The cases that were put to it."""
        return self.ready.corpus

    def draws(self, scores: Scores | None = None) -> Draws:
        """The resamples of the study, of its own rows or of others with the same design."""
        rows = self.scores if scores is None else scores
        return Draws(
            self.study.seed, self.study.bootstrap.replicates, strata(self.study, rows), workers=_workers(self.study)
        )


def scored(
    study: Study,
    ready: Ready,
    *,
    system: Any = None,
    run: RunDirectory | None = None,
    budget: Budget = UNLIMITED,
    watch: Watch = silent,
) -> Scored:
    """Put the cases to one system of a study, or take what is recorded in `run`, and score the answers."""
    opener = Opener(study, system)
    log = output_log(run, opener, ready.corpus)
    outputs = ready.task.run(opener, ready.corpus, ready.engine, log, watch, budget=budget)
    scores = ready.task.scores(ready.corpus, outputs)
    if study.icc is not None:
        scores = replace(scores, icc=study.icc)
    failed: Mapping[str, str] = getattr(log, "failed", dict)()
    return Scored(study, ready, opener, outputs, scores, {case: failed[case] for case in sorted(failed)})


def asked(
    study: Study,
    ready: Ready,
    *,
    run: RunDirectory,
    system: str | None = None,
    budget: Budget = UNLIMITED,
    watch: Watch = silent,
) -> Outputs:
    """Put cases to one system of a study and score none: a shard asks those that are its own, and others the rest.

    Answers with the log of what is recorded by then.
    """
    opener = Opener(study, system)
    log = run.outputs(output_key(opener, ready.corpus), opener.identity()["name"])
    ready.task.run(opener, ready.corpus, ready.engine, log, watch, budget=budget)
    return log


def look(
    rows: Scored,
    *,
    refit: Callable[..., Any] | None = None,
    run: RunDirectory | None = None,
    show_text: bool = False,
    details: Literal["primary", "all"] = "primary",
    watch: Watch = silent,
) -> Report:
    """Look at scored rows through every lens of their study, judge its gates, and write the record."""
    study, ready, opener, task, corpus = rows.study, rows.ready, rows.opener, rows.task, rows.corpus
    kept, names = withhold(rows.scores, study), name_warnings(rows.scores.groups)
    kept = left_out(kept, getattr(task, "in_turn", ()))
    scores = kept.scores
    metrics = task.metrics(scores, study)
    _refuse_hidden_groups(scores, metrics, study)
    looked = looked_at(task, study, kept, metrics, rows.draws)
    cards = _cards(task, metrics)
    primary = primary_of(task, study.record())

    # What a lens may ask for by the name of a parameter, beside what every lens is given.
    offered = _refit(task, corpus, scores, study, refit) | {"parts": task.parts(scores, study), "primary": primary}
    results: dict[str, LensResult] = {}
    at = levels(ready.gates, own=gate_level_of(task))
    with _one_thread_per_worker():
        for lens in study.lenses:
            results[lens] = _through(lens, looked, offered | dict(ready.beside.get(lens, {})), at, watch)
    said = withheld_notes(kept, looked)
    told = [*_failures(rows), *task.notes(corpus, rows.outputs, scores, study), *opener.notes()]
    notes = [*names, *said, *told]
    withheld = {"withheld_groups": table} if (table := withheld_table(kept, looked)) else {}
    tables = {
        "holdings": looked[0].kept.holdings(holdings(looked[0].kept.scores)),
        **kind_holdings(looked),
        **withheld,
        **kept.split(ready.split),
        **task.tables(scores, study, show_text=show_text),
    }
    if len(rows.failed) > _FEW_FAILED * rows.corpus.as_dict()["n_cases"]:
        tables["alarms"] = [*tables.get("alarms", ()), {"code": "failed", **_FAILED}]
    apparent = opener.apparent(corpus, scores)
    if apparent:
        tables["alarms"] = [*tables.get("alarms", ()), {"code": "apparent", **_APPARENT}]
    results = {lens: _without_withheld(result) for lens, result in _introduce(results, notes, tables).items()}
    if apparent:
        results = {lens: _apparent(result, apparent) for lens, result in results.items()}

    verdicts = judge(
        ready.gates,
        [e for r in results.values() for e in r.estimates],
        primary=primary,
        baseline=ready.baseline,
        harms=[name for name, card in cards.items() if card["harm"]],
        alarms=[alarm["sentence"] for alarm in tables.get("alarms", ())],
    )
    if run is not None:
        run.details(task.details(scores, study, every=details == "all"))
        run.failures(rows.failed)
        # Calls, retries and tokens, where the system or the task counts them.
        counted = {**getattr(opener(), "timings", {}), **getattr(task, "timings", {})}
        if any(counted.values()):
            run.timings({"system": counted})
        if latency := _latency(ready.engine, int(getattr(opener(), "batch", 0) or task.batch)):
            run.timings({"latency": latency})
    return Report(
        study=study.record(),
        corpus=corpus.as_dict(),
        system=opener.identity(),
        seed=study.seed,
        results=results,
        verdicts=verdicts,
        environment={"python": python_version(), **{lib: version(lib) for lib in ("numpy", "scipy")}},
        as_of=study.report.as_of,
        contains_phi=show_text and task.shows_text,
        workup=__version__,
        metrics=cards,
        primary=primary,
        gate_level=gate_level_of(task),
        summary={key: list(getattr(task, key)) for key in ("leaves_out", "shows_only") if hasattr(task, key)},
    )


def _through(
    lens: str, looked: Sequence[Looked], offered: Mapping[str, Any], at: Sequence[float], watch: Watch
) -> LensResult:
    """What a lens finds on all rows, or on each kind of them."""
    through = plugins.find("lenses", lens)
    found: dict[str, LensResult] = {}
    measured: dict[str, Sequence[Metric]] = {}
    refused: dict[str, WorkupError] = {}
    asked = list(of_each(lens, looked))
    near = near_thresholds(lens, [ShownRows(kind.kept, kind.measured(lens), settings) for kind, settings in asked])
    for kind, settings in asked:
        metrics, kept = kind.measured(lens), kind.kept
        shown = kept.lens_scores(lens, settings)
        result: LensResult | None = kept.nothing(lens)
        if shown is not None:
            look = partial(
                through,
                shown,
                metrics,
                settings=kept.settings(lens, settings),
                draws=kind.draws,
                levels=at,
                progress=partial(watch, f"{lens} lens"),
                **_asked_for(through, offered),
                **kept.own(lens, settings),
            )
            result = tried(look, kind.name, refused)
            offered = {**offered, "parts": ()}  # finer rows are beside the whole, not beside each kind of it
        if result is not None:
            found[kind.name], measured[kind.name] = kept.told(result, settings, metrics, at), metrics
    return near.told(joined(lens, found, measured, refused))


def _asked_for(through: Callable[..., Any], offered: Mapping[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(through).parameters
    return {name: value for name, value in offered.items() if name in parameters}


def _failures(rows: Scored) -> Iterator[str]:
    """What the record says of cases on which the system failed: how many and why, as far as few may be counted."""
    if not rows.failed:
        return
    count, total, least = len(rows.failed), rows.corpus.as_dict()["n_cases"], rows.study.smallest_cell
    many = f"{count:,} of {total:,} cases" if count >= least else f"fewer than {least} of {total:,} cases"
    reasons = Counter(rows.failed.values())
    by_reason = ", ".join(
        f"{reason} {reasons[reason]:,}" if reasons[reason] >= least and count >= least else reason
        for reason in sorted(reasons)
    )
    yield (
        f"The system failed on {many} ({by_reason}), each asked alone and again: they count as not answered. Which "
        "they are is kept in failures.jsonl of the run directory."
    )


def _cards(task: Task, metrics: Sequence[Metric]) -> dict[str, dict[str, Any]]:
    """What the record says of each metric that was measured, in the order of the task; others after its own."""
    held = {metric.name: metric.described() for metric in reversed(metrics)}
    return in_order({name: held[name] for name in (*task.cards, *held) if name in held})


def _workers(study: Study) -> int:
    """How many threads the lenses may use: as many as the study allows worker processes, one per core by default."""
    processes = plugins.make("engines", "processes", {}, where="workers", context={"workers": study.workers})
    return int(processes.workers)


def _one_thread_per_worker() -> AbstractContextManager[Any]:
    """The lenses' own workers share the cores; a library of linear algebra that starts more threads would only make
    them wait for each other."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped,unused-ignore]

    limits: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return limits


def _without_withheld(result: LensResult) -> LensResult:
    """A number that is withheld is not in the record: only why."""
    if all(e.status != "withheld" for e in result.estimates):
        return result
    kept = (
        replace(e, value=None, low=None, high=None, se=None, numerator=None, denominator=None, ceiling=None)
        if e.status == "withheld"
        else e
        for e in result.estimates
    )
    return replace(result, estimates=tuple(kept))


# A system that fails on the cases that it would get wrong looks perfect on the rest.
_FEW_FAILED = 0.001
_FAILED = {
    "sentence": "THE SYSTEM FAILED ON MORE THAN ONE CASE IN A THOUSAND: figures tell how well it does on the others.",
    "remedy": "See failures.jsonl of the run directory, mend the system and run again. Until then no gate can pass.",
}

_APPARENT = {
    "sentence": "THESE DATA MADE THE SYSTEM: what is shown is how well it fits the patients it was made from.",
    "remedy": "Judge it by later patients, or by those of another place. Until then no gate can pass.",
}


def _apparent(result: LensResult, reason: str) -> LensResult:
    """Figures of a system on the rows that made it: shown, with the reason why nothing may rest on them."""
    marked = (
        replace(e, status="insufficient" if e.status == "ok" else e.status, reason=reason) for e in result.estimates
    )
    return replace(result, estimates=tuple(marked))


def _latency(engine: Any, batch: int) -> dict[str, float]:
    """Seconds a case took, averaged within the batches that were asked for; nothing where all was recorded."""
    seconds = np.asarray(getattr(engine, "seconds", ()), dtype=np.float64) / batch
    if not seconds.size:
        return {}
    p50, p95 = np.quantile(seconds, [0.5, 0.95])
    return {"batch": batch, "p50_seconds": float(p50), "p95_seconds": float(p95), "cases_a_second": 1 / seconds.mean()}


class Opener:
    """Opens the system under test: once here, and once in each worker process it is sent to."""

    def __init__(self, study: Study, system: Any) -> None:
        self._base, self._open = study.base, None
        self._asked = asked_of(plugins.find("tasks", study.task))
        self._part = None if system is not None and not isinstance(system, str) else _chosen(study, system)
        if self._part is None:
            self._open = _wrapped(system) if hasattr(system, "predict_proba") else system
        else:
            check_settings(study, self._part)  # before a corpus is read or a model loaded

    def __call__(self) -> Any:
        if self._open is None:
            assert self._part is not None
            made = plugins.make("systems", self._part.use, self._part.settings, **placed(self._base, self._part))
            plugins.fitting("systems", self._part.use, made, *self._asked)
            self._open = plugins.looked_at(self._part.use, made)
        return self._open

    def __getstate__(self) -> dict[str, Any]:
        # A system that a study names is opened anew in the worker; only an object given by hand must travel itself.
        return {**self.__dict__, "_open": None if self._part is not None else self._open}

    def identity(self) -> dict[str, str]:
        """Name and version, as reports hold them."""
        opened = self()
        return {
            "name": str(getattr(opened, "name", type(opened).__name__)),
            "version": str(getattr(opened, "version", "")),
        }

    def notes(self) -> tuple[str, ...]:
        """What the system itself has to say, such as a model saved by another version of its library."""
        return tuple(getattr(self(), "notes", ()))

    def apparent(self, corpus: Corpus, scores: Scores) -> str:
        """Why no figure on these rows is honest, where the system knows that they made it, such as an update."""
        asked = getattr(self(), "apparent", None)
        return "" if asked is None else str(asked(corpus, scores))

    def key(self) -> Mapping[str, Any]:
        """All that decides the system's answers."""
        # A system whose version tells all that decides its answers may be given more patience or another price.
        told = self._part is None or getattr(self(), "versioned", False)
        settings = {} if told or self._part is None else self._part.settings
        return {**self.identity(), "settings": settings}


def _wrapped(model: Any) -> Any:
    """A fitted scikit-learn classifier becomes a system."""
    return plugins.find("systems", "sklearn").of(model)


def _chosen(study: Study, name: str | None) -> SystemPart:
    """The named system of the study, or its only one, or the recorded risk column."""
    systems = {part.name or part.use: part for part in study.systems}
    if name is not None:
        if name not in systems:
            raise StudyError(f"the study names no system '{name}'; {near(name, systems)}.")
        return systems[name]
    if len(systems) > 1:
        raise StudyError(f"the study names several systems ({', '.join(systems)}); say which one to validate.")
    if systems:
        return next(iter(systems.values()))
    unnamed = unnamed_system(plugins.find("tasks", study.task)(), study)
    if unnamed is None:
        raise StudyError(NO_SYSTEM)
    return unnamed


def output_log(run: RunDirectory | None, opener: Opener, corpus: Corpus) -> OutputLog:
    """Where the answers of this system to this corpus are kept."""
    if run is None:
        return Unrecorded()
    return run.outputs(output_key(opener, corpus), opener.identity()["name"])


def output_key(opener: Opener, corpus: Corpus) -> str:
    """All that decides what this system answers to this corpus, as one key."""
    return content_key(opener.key(), corpus.shown_sha256 or corpus.sha256, corpus.task)


def strata(study: Study, scores: Scores) -> Levels | None:
    """The group column that the design fixed, when the study names one."""
    name = study.bootstrap.strata
    if name is None:
        return None
    if name not in scores.groups:
        raise StudyError(f"bootstrap.strata: '{name}' is not one of columns.groups; {near(name, scores.groups)}.")
    return scores.groups[name]


def _refuse_hidden_groups(scores: Scores, metrics: Sequence[Metric], study: Study) -> None:
    """Groups that stand in the cases themselves must not be named like a key that would overwrite their level."""
    taken = {key for metric in metrics for key in metric.at} | {"window", "validation", "pooled"}
    for lens, settings in study.lenses.items():
        hidden = sorted(taken & set(scores.groups) & set(settings.get("by") or scores.groups))
        if hidden and not lens_member(plugins.find("lenses", lens), "KEEPS_GROUPS_TOGETHER"):
            raise StudyError(
                f"lenses.{lens}: a group of the cases is named '{hidden[0]}', but estimates are sliced by a key "
                "of that name already. To fix: rename the group in the corpus, or list those to compare under 'by'."
            )


def _refit(task: Task, corpus: Corpus, scores: Scores, study: Study, fit: Callable[..., Any] | None) -> dict[str, Any]:
    """The internal lens's way to fit a model anew, when the caller or the study gives one."""
    named = study.lenses.get("internal", {}).get("refit")
    if fit is None and named:
        fit = plugins.find("systems", str(named))
    return {} if fit is None else {"refit": task.refit(corpus, scores, fit)}


def _introduce(
    results: dict[str, LensResult], notes: Sequence[str], tables: Mapping[str, Any]
) -> dict[str, LensResult]:
    """What a reader must know first stands in the first result."""
    first = next(iter(results), None)
    if first is None:
        return results
    result = results[first]
    introduced = LensResult(**{**vars(result), "notes": (*notes, *result.notes), "tables": {**tables, **result.tables}})
    return {**results, first: introduced}
