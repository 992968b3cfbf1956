"""A run scored again from its corpus and its recorded outputs: for `verify`, and for comparisons paired by row. Asks no
system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from workup import plugins
from workup.errors import RunError
from workup.files.received import is_folder
from workup.preflight import Ready
from workup.report import Report, canonical
from workup.runs import RunDirectory
from workup.study import Study
from workup.task import Watch, silent
from workup.validate import Opener, Scored, scored, validate

# Fields of a study that may change after a run without changing its rows.
_BESIDE = ("name", "systems", "gates", "report", "baseline", "lenses", "sites", "split", "intended_settings")


class Unasked:
    """The engine of what has recorded outputs to score and asks no system."""

    asks = False

    def map(self, setup: Any, items: Sequence[Any]) -> Iterator[Any]:
        """Nothing, or an error where outputs are missing."""
        if items:
            raise RunError(
                f"outputs of {len(items)} batches are not recorded (any more), and no system is asked here. "
                "To fix: run the study again."
            )
        return iter(())


def report_again(directory: Path, held: Report, study: Study, *, watch: Watch = silent) -> Report:
    """The report of a run directory made anew from its recorded outputs."""
    plan = study.model_copy(update={"engine": f"{__name__}:{Unasked.__name__}", "engine_settings": {}})
    with RunDirectory.open(directory) as run:
        return validate(plan, system=_system_of(held, plan), run=run, watch=watch)


def scored_again(directory: Path, held: Report, study: Study) -> Scored:
    """The rows of a run directory, or an error that says why they cannot be had any more."""
    _check_study(study, held, directory)
    system = _system_of(held, study)
    opener = Opener(study, system)
    if opener.identity() != dict(held.system):
        raise RunError(f"{directory}: the system is no longer the one of the report.")
    task = plugins.find("tasks", study.task)()
    ready = Ready(task, task.read(study), gates=[], baseline=None, engine=Unasked(), split={}, beside={})
    kept = is_folder(directory / "outputs") and any((directory / "outputs").glob("*.jsonl"))
    rows = None
    if getattr(opener(), "recorded", False):
        try:
            rows = scored(study, ready, system=system)
        except RunError:
            if not kept:  # a judge may have read recorded answers, and what it said is in the log
                raise
    elif not kept:
        raise RunError(f"{directory}: its outputs were removed.")
    if rows is None:
        with RunDirectory.open(directory) as run:
            rows = scored(study, ready, system=system, run=run)
    if rows.corpus.as_dict()["sha256"] != held.corpus["sha256"]:  # known once the corpus was read
        raise RunError(f"{directory}: the corpus is no longer the one of the report.")
    return rows


def sample_of(held: Report, directory: Path) -> int | None:
    """How many cases were drawn, as the record says."""
    corpus = held.study.get("corpus")
    sample = corpus.get("sample") if isinstance(corpus, dict) else None
    if sample is None or (isinstance(sample, int) and not isinstance(sample, bool) and sample > 0):
        return sample
    raise RunError(f"{directory}: the record does not say how many cases were sampled in the form that Workup writes.")


def _system_of(held: Report, study: Study) -> str | None:
    return str(held.system["name"]) if study.systems else None


def _check_study(study: Study, held: Report, directory: Path) -> None:
    """Rows made by another study than the record's would be compared under its names."""
    now, then = ({k: v for k, v in one.items() if k not in _BESIDE} for one in (study.record(), held.study))
    fields = [name for name in now if name in then and canonical(now[name]) != canonical(then[name])]
    if fields:
        raise RunError(f"{directory}: the study was changed since this run ({', '.join(fields)}).")
