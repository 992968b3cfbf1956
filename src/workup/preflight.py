"""Everything that can be known to be wrong with a study before its system is asked, in one message.

Knows names and settings through the plug-ins and the corpus through its task; runs no system.
"""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import isfile  # of any name: Path.is_file() raises where one is too long or must not be looked at
from pathlib import Path
from typing import Any, TypeVar

from workup import plugins
from workup.disclosure.identifying import name_warnings, near_unique, refusal
from workup.errors import PluginError, StudyError, WorkupError, in_our_words, near, visible
from workup.files.received import content_of
from workup.gates import Gate, same_value
from workup.lenses.withholding import asked_by
from workup.report import Report
from workup.report_schema import fault_in_split
from workup.settings import Part
from workup.study import Study, SystemPart
from workup.task import Corpus, StudyDesign, Task, gate_level_of

Found = TypeVar("Found")

NO_SYSTEM = "name a system under 'systems', or the column of recorded risks as 'columns.risk'."
_SHOWN = 50  # levels that a message lists


@dataclass(frozen=True)
class Ready:
    """A study whose parts were all found and fit each other."""

    task: Task
    corpus: Corpus
    gates: list[Gate]
    baseline: Report | None
    engine: Any
    split: Mapping[str, Any]  # the record of the split that made the corpus, where the study names one
    beside: Mapping[str, Mapping[str, Any]]  # what each lens asked for beside the scores
    warnings: tuple[str, ...] = ()  # what a person should look at before anything is printed
    rows_read: bool = True  # a dry run reads none where a query would have to be run for them


def checked(
    study: Study,
    *,
    table: Any = None,
    refit: bool = False,
    systems: bool = True,
    more: Sequence[str] = (),
    dry_run: bool = False,
) -> Ready:
    """Read and check all that a study names, or raise one StudyError with every fault.

    `table` takes the place of the corpus file, `refit` says that the caller brings a refit function, and without
    `systems` an object takes the place of the systems named. `more` are faults that the caller found itself. A
    `dry_run` reads no rows that a query would have to be run for.
    """
    faults = _Faults(list(more))
    task: Task | None = faults.within(_task, study.task)
    lenses = {name: faults.within(_lens, name) for name in study.lenses}
    engine = faults.within(_engine, study)
    if systems and not study.systems and task is not None and unnamed_system(task, study) is None:
        faults.said.append(NO_SYSTEM)
    baseline = faults.within(Report.read, study.base / study.baseline) if study.baseline else None
    split = faults.within(_split, study)
    beside = {
        name: faults.within(_beside, study, name, look) or {} for name, look in lenses.items() if look is not None
    }
    faults.said += _no_sites(study)
    faults.said += _missing_files(study, task)
    gates: list[Gate] = []
    corpus: Corpus | None = None
    warnings: tuple[str, ...] = ()
    if task is not None:
        read = [faults.within(Gate.parse, rule, known=task.cards, level=gate_level_of(task)) for rule in study.gates]
        gates = [gate for gate in read if gate is not None]
        corpus, whole = faults.within(_corpus, task, study, table, dry_run=dry_run) or (None, False)
        rows = corpus if whole else None
        for part in study.systems if systems else ():
            faults.within(_check_system, study, part, task, rows)
        design = faults.within(design_of, task, study, rows, refit=refit)
        if design is not None:
            strata = study.bootstrap.strata
            if strata is not None and design.groups is not None and strata not in design.groups:
                faults.said.append(
                    f"bootstrap.strata: '{strata}' is not one of columns.groups; {near(strata, design.groups)}."
                )
            faults.said += _persons(study, design)
            warnings = (*study.warnings, *name_warnings(design.groups or {}))
            asked = _asked(study, lenses, faults)
            for lens in asked:
                faults.said += lens.faults(design)
            faults.said += _gate_faults(gates, study, _slice_keys(asked, design), design)
    faults.refuse()
    assert task is not None and corpus is not None
    return Ready(task, corpus, gates, baseline, engine, split or {}, beside, warnings, whole)


def unnamed_system(task: Any, study: Study) -> SystemPart | None:
    """What is tested where a study names no system: what its task takes for it, if anything."""
    own = getattr(task, "unnamed", None)
    return None if own is None else own(study)


def _persons(study: Study, design: StudyDesign) -> Iterator[str]:
    """Groupings that tell persons apart and not groups: any that the study names. What stands in the cases beside them
    is nobody's choice, and withheld where it is small."""
    if design.patient is None:
        return
    for name, levels in (design.groups or {}).items():
        if (design.named or name in asked_by(study)) and near_unique(levels, design.patient):
            yield refusal(name)


def _corpus(task: Task, study: Study, table: Any, *, dry_run: bool) -> tuple[Corpus, bool]:
    """The corpus, and whether its rows were read: for a dry run not where that would run a query."""
    unread = getattr(task, "unread", None)
    known: Corpus | None = unread(study) if dry_run and table is None and unread is not None else None
    return (task.read(study, table), True) if known is None else (known, False)


def _task(name: str) -> Task:
    found = plugins.find("tasks", name)
    try:
        task: Task = plugins.fitting("tasks", name, found(), "cards", "read", "run", "scores", "metrics")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # code of others, which raises what it pleases
        if isinstance(error, WorkupError) and in_our_words(error):
            raise
        raise PluginError(
            f"the task '{visible(name[:200])}' could not be made: it raised {type(error).__name__}. To fix: name a "
            "class that is made without arguments."
        ) from None
    return task


def _lens(name: str) -> Any:
    look = plugins.find("lenses", name)
    try:
        inspect.signature(look).bind(None, None, settings={}, draws=None, levels=(), progress=None)
    except (TypeError, ValueError):
        raise PluginError(
            f"'{visible(name[:200])}' does not fit: a lens is called with scores and metrics, and with settings, "
            f"draws, levels and progress by name; a {type(look).__name__} that takes these was expected."
        ) from None
    return look


def _engine(study: Study) -> Any:
    context = {"workers": study.workers}
    made = plugins.make("engines", study.engine, study.engine_settings, where="engine", context=context)
    return plugins.fitting("engines", study.engine, made, "map")


def design_of(task: Task, study: Study, corpus: Corpus | None, *, refit: bool = False) -> StudyDesign:
    """What is known of the rows before a system is asked; the task's own answer, where it has one."""
    own = getattr(task, "design", None)
    known = StudyDesign() if own is None else own(study, corpus)
    return replace(known, cards=task.cards, refit=refit)


def check_settings(study: Study, part: SystemPart) -> None:
    """Refuse a system of the study whose settings it cannot take, without building it."""
    plugins.check("systems", part.use, part.settings, **placed(study.base, part))


def asked_of(task: Any) -> tuple[str, ...]:
    """What a task calls a system by, where it says so."""
    return (task.asks,) if getattr(task, "asks", "") else ()


def placed(base: Path, part: SystemPart) -> dict[str, Any]:
    """Where a system's settings stand, for messages, and what it is told beside them."""
    name = part.name or part.use
    return {"where": f"systems.{name}", "context": {"name": name, "base": base}}


def _check_system(study: Study, part: SystemPart, task: Task, corpus: Corpus | None) -> None:
    """A system's settings; where its answers were recorded, these too, since nothing is run for that."""
    check_settings(study, part)
    factory = plugins.find("systems", part.use)
    if inspect.isclass(factory) and factory.__module__.startswith("workup."):  # others may make it when they are built
        plugins.fitting("systems", part.use, factory, *asked_of(task))
    check_recorded = getattr(task, "check_recorded", None)
    if (
        check_recorded is not None
        and corpus is not None
        and getattr(plugins.find("systems", part.use), "recorded", False)
    ):
        check_recorded(plugins.make("systems", part.use, part.settings, **placed(study.base, part)), corpus)


class _Faults:
    """Faults gathered one after another, each said once."""

    def __init__(self, said: list[str]) -> None:
        self.said = said
        self._raised: dict[str, WorkupError] = {}

    def within(self, call: Callable[..., Found], *arguments: Any, **named: Any) -> Found | None:
        """What a call answers; None where it refused, which is one more fault."""
        try:
            return call(*arguments, **named)
        except WorkupError as error:
            self.said.append(str(error))
            self._raised[str(error)] = error
            return None

    def refuse(self) -> None:
        """One error for all of them."""
        said = list(dict.fromkeys(self.said))
        if len(said) == 1:
            raise self._raised.get(said[0]) or StudyError(said[0])
        if said:
            many = f"{len(said)} things to mend before the system is asked:\n  "
            raise StudyError(many + "\n  ".join(said))


def _missing_files(study: Study, task: Task | None) -> Iterator[str]:
    """Files beside the study that are not there; what stands in them is read by whoever needs it."""
    named = getattr(task, "files", None)
    for field, name in ({} if named is None else named(study)).items():
        if name is not None and not isfile(study.base / name):
            yield _no_file(field, name, study.base)


def _no_file(field: str, name: str, base: Path) -> str:
    return f"{field}: '{name}' is not a file beside the study{_near_files(base / name)}."


def _no_sites(study: Study) -> Iterator[str]:
    if study.sites is not None and not isfile(study.base / study.sites):
        yield _no_file("sites", study.sites, study.base)


def _beside(study: Study, name: str, look: Any) -> dict[str, Any]:
    """What a lens needs beside the scores, such as files that the study names: by its own `beside(study, settings)`."""
    own = lens_member(look, "beside")
    return {} if own is None else own(study, study.lenses[name])


def lens_member(look: Any, name: str) -> Any:
    """An optional member of a lens: on the object itself, or beside it in its module."""
    own = getattr(look, name, None)
    module = getattr(look, "__module__", None)
    return own if own is not None or not module else getattr(importlib.import_module(module), name, None)


def _split(study: Study) -> dict[str, Any]:
    """How the corpus was split off, where the study names the record of the split."""
    if study.split is None:
        return {}
    path = study.base / study.split
    if not isfile(path):
        raise StudyError(_no_file("split", study.split, study.base))
    try:
        record = json.loads(content_of(path, linked=True).decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        record = None
    if fault := fault_in_split(record):
        raise StudyError(
            f"split: '{study.split}' must be the split.json that 'workup split' wrote; got another file ({fault})."
        )
    return {"split": record}


def _near_files(path: Path) -> str:
    try:
        names = [one.name for one in path.parent.iterdir() if one.is_file()][:200]
    except (OSError, ValueError):  # no folder, none that may be read, or no name of one
        names = []
    said = near(path.name, names) if names else ""
    return f" ({said.split(' Known:')[0]})" if said.startswith("did you mean") else ""


# ---- lenses ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Asked:
    """A lens of the study with its settings read."""

    name: str
    look: Any
    settings: Any

    def member(self, name: str) -> Any:
        """An optional member of the lens."""
        return lens_member(self.look, name)

    def faults(self, design: StudyDesign) -> list[str]:
        """What the lens finds wrong with its settings, given what is known of the rows."""
        found: list[str] = []
        check = self.member("check")
        try:
            found.extend(f"lenses.{self.name}{fault}" for fault in (check(self.settings, design) if check else ()))
        except WorkupError as error:
            found.append(str(error))
        return found

    def slice_keys(self, design: StudyDesign) -> Collection[str] | None:
        """Keys by which the lens slices its estimates, where it says so."""
        keys = self.member("slice_keys")
        return None if keys is None else keys(self.settings, design)


def _asked(study: Study, lenses: Mapping[str, Any], faults: _Faults) -> list[_Asked]:
    """The lenses whose settings can be read."""
    found = []
    for name, look in lenses.items():
        asked = _Asked(name, look, study.lenses[name])
        form = None if look is None else asked.member("Settings")
        if isinstance(form, type) and issubclass(form, Part):
            asked = replace(asked, settings=faults.within(form.checked, study.lenses[name], where=f"lenses.{name}"))
        if look is not None and asked.settings is not None:
            found.append(asked)
    return found


# ---- gates -----------------------------------------------------------------------------------------------------------


def _gate_faults(
    gates: Sequence[Gate], study: Study, keys: Collection[str] | None, design: StudyDesign
) -> Iterator[str]:
    for gate in gates:
        if gate.needs_baseline and study.baseline is None:
            yield f"gate '{gate.rule}': it compares with a baseline, and the study names none. To fix: add 'baseline:'."
        measured = design.measured(gate.metric)
        if measured is None:
            for key, value in gate.slice.items():
                known = design.keys.get(key)
                if known is not None and value != "*" and not any(same_value(one, value) for one in known):
                    yield f"gate '{gate.rule}': the study has no {key} '{value}'; {near(value, map(str, known))}."
            continue
        if not measured:
            why = design.absent.get(gate.metric, "the study does not measure it")
            yield f"gate '{gate.rule}': there will be no '{gate.metric}': {why}."
            continue
        own = {key for metric in measured for key in metric.at}
        for key, value in gate.slice.items():
            held = [metric.at[key] for metric in measured if key in metric.at]
            if key in own:
                if value != "*" and not any(same_value(one, value) for one in held):
                    shown = ", ".join(f"{one:g}" if isinstance(one, float) else str(one) for one in held)
                    yield f"gate '{gate.rule}': the study has no {key} {value}. To fix: name one that it has: {shown}."
            else:
                yield from _group_faults(gate, key, value, keys, design)


def _slice_keys(asked: Sequence[_Asked], design: StudyDesign) -> Collection[str] | None:
    """Keys by which the lenses of the study slice; None where one of them does not say."""
    found: set[str] = set()
    for lens in asked:
        keys = None if design.groups is None else lens.slice_keys(design)
        if keys is None:
            return None
        found |= set(keys)
    return found


def _group_faults(gate: Gate, key: str, value: str, keys: Collection[str] | None, design: StudyDesign) -> Iterator[str]:
    if keys is not None and key not in keys:
        if design.groups and key in design.groups:
            yield (
                f"gate '{gate.rule}': no lens of this study shows '{gate.metric}' by '{key}'. "
                "To fix: add 'subgroups:' under lenses."
            )
        else:
            yield f"gate '{gate.rule}': nothing in this study is sliced by '{key}'; {near(key, keys)}."
        return
    levels = design.levels(key)
    if levels is not None and value != "*" and value not in levels:
        yield f"gate '{gate.rule}': '{key}' has no level '{value}'; {near(value, list(levels)[:_SHOWN])}."
