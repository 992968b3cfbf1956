"""Two tables of episodes as a corpus: read once, hashed whatever the order of their rows, and evaluated for the column
of risks that is asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from workup import plugins
from workup.errors import InputError, StudyError
from workup.scores import Scores
from workup.task import Case, Corpus, Table
from workup.tasks.risk.episodes.evaluation import Evaluated, evaluate
from workup.tasks.risk.episodes.study import EpisodesCorpusPart, EpisodesStudy
from workup.tasks.risk.episodes.tables import Events, Predictions, read_events, read_predictions

_READ_AS = ("format", "query", "sheet", "decimal", "largest_unpacked", "query_seconds")


@dataclass(frozen=True, eq=False)
class EpisodeScores(Scores):
    """Scores of episodes, with all that they were counted from."""

    evaluated: Evaluated = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Tables:
    """Predictions and events of a study as they were read, with the names of their files."""

    predictions: Table
    events: Table
    names: tuple[str, str]
    seed: int | None = None

    @classmethod
    def read(cls, study: EpisodesStudy, given: Any = None) -> Tables:
        """The tables that a study names, or those given in their place: a pair, or a mapping of both names."""
        part = study.corpus
        read = plugins.find("formats", "table")
        if given is not None:
            first, second = _pair(given)
            return cls(read(first), read(second), ("predictions", "events"))
        if part.generate is not None:
            made, _, seed = plugins.generated(
                part.generate, kind="episodes", seed=study.seed, where="corpus.generate", gives="predictions"
            )
            return cls(read(made.predictions), read(made.events), ("predictions", "events"), seed)
        if not part.predictions:
            raise StudyError("corpus: give 'predictions' and 'events' (a table of each), or 'generate'.")
        first, second = (_joined(study, names, part) for names in (part.predictions, part.events))
        return cls(first, second, (part.predictions[0].rpartition("/")[2], part.events[0].rpartition("/")[2]))


def _pair(given: Any) -> tuple[Any, Any]:
    """Two tables in memory: a pair of them, or a mapping of both names."""
    if isinstance(given, Mapping) and set(given) == {"predictions", "events"}:
        return given["predictions"], given["events"]
    if isinstance(given, (tuple, list)) and len(given) == 2:
        return given[0], given[1]
    raise InputError(
        "episodes need two tables, predictions and events",
        where="tables in memory",
        got="one table" if isinstance(given, Mapping) else "something else",
        remedy="give both, as (predictions, events)",
    )


def _joined(study: EpisodesStudy, names: Sequence[str], part: EpisodesCorpusPart) -> Table:
    """The rows of several files, one after the other."""
    said = {name: getattr(part, name) for name in _READ_AS}
    tables = [plugins.find("formats", "table")(study.base / name, **said) for name in names]
    first = tables[0]
    for name, table in zip(names[1:], tables[1:], strict=True):
        if set(table) != set(first):
            raise InputError(
                f"files whose rows follow each other must have the same columns as '{names[0]}'",
                where=name,
                got=f"{len(set(table) ^ set(first))} columns in one of them alone",
                remedy="write all of them with the same columns",
            )
    if len(tables) == 1:
        return dict(first)
    return {name: _together([table[name] for table in tables]) for name in first}


def _together(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    if len({column.dtype.kind for column in columns}) > 1:
        return np.concatenate([column.astype(object) for column in columns])
    return np.concatenate(columns)


@dataclass(frozen=True)
class EpisodesCorpus(Corpus):
    """Episodes as a corpus. What is evaluated is kept by the column of risks."""

    study: EpisodesStudy = None  # type: ignore[assignment]
    tables: Tables = None  # type: ignore[assignment]
    kept: dict[str, Evaluated] = field(default_factory=dict)

    def evaluated(self, column: str) -> Evaluated:
        """What became of every prediction, alert and event, with the risks of one column."""
        if column not in self.kept:
            predictions, events = read_both(self.study, self.tables, column)
            study = self.study
            self.kept[column] = evaluate(predictions, events, study.episodes, study.all_thresholds())
        return self.kept[column]


def corpus_of(study: EpisodesStudy, tables: Tables, task: str) -> EpisodesCorpus:
    """The corpus of a study, with all its tables checked."""
    predictions, events = read_both(study, tables, study.columns.risk)
    found = evaluate(predictions, events, study.episodes, study.all_thresholds())
    part = study.corpus
    digest = _hashed(predictions, events)
    for column in _other_columns(study):
        digest.update(column.encode() + read_both(study, tables, column)[0].risk.astype("<f8").tobytes())
    return EpisodesCorpus(
        name=part.name or ("generated episodes" if part.generate is not None else tables.names[0]),
        version=part.version,
        task=task,
        cases=_Cases(predictions),
        sha256=digest.hexdigest(),
        source=part.predictions[0] if part.predictions else "",
        seed=tables.seed,
        n_patients=found.of_stays["patients"],
        notes=found.notes,
        study=study,
        tables=tables,
        kept={study.columns.risk: found},
    )


def read_both(study: EpisodesStudy, tables: Tables, column: str) -> tuple[Predictions, Events]:
    """Both tables checked, with the risks of one column."""
    columns = study.columns.model_copy(update={"risk": column})
    form = study.time_format
    return (
        read_predictions(tables.predictions, columns, study.episodes, where=tables.names[0], time_format=form),
        read_events(tables.events, study.events, study.episodes, where=tables.names[1], time_format=form),
    )


def _other_columns(study: EpisodesStudy) -> Iterator[str]:
    """Columns of risks that systems of the study name beside its own."""
    named = {str(part.settings.get("column", "")) for part in study.systems}
    yield from sorted(named - {study.columns.risk, ""})


def _hashed(predictions: Predictions, events: Events) -> Any:
    """Hash of what is evaluated, in an order that no shuffling of rows can change."""
    digest = hashlib.sha256(b"workup episodes 1")

    def add(name: str, column: npt.NDArray[Any]) -> None:
        digest.update(name.encode() + len(column).to_bytes(8, "little") + np.ascontiguousarray(column).tobytes())

    def add_names(name: str, names: Sequence[str]) -> None:
        for text in names:
            encoded = text.encode("utf-8", "surrogatepass")
            digest.update(name.encode() + len(encoded).to_bytes(4, "little") + encoded)

    for name, coded in (("patient", predictions.patient), ("encounter", predictions.encounter)):
        add(name, coded.codes.astype("<i8"))
        add_names(name, coded.names)
    add("time", predictions.time.astype("<i8"))
    add("risk", predictions.risk.astype("<f8"))
    if predictions.weight is not None:
        add("weight", predictions.weight.astype("<f8"))
    placed = [] if predictions.site is None else [("site", predictions.site)]
    for name, one in (*placed, *sorted(predictions.groups.items())):
        add(name, one.codes.astype("<i8"))
        add_names(name, one.names)
    roles = np.zeros(len(events), dtype=np.int64)
    for place, role in enumerate(sorted(events.roles)):
        roles |= events.roles[role].astype(np.int64) << place
    order = np.lexsort((roles, events.time, events.dated, events.encounter.codes, events.patient.codes))
    for name, column in (
        ("patient of event", events.patient.codes),
        ("encounter of event", events.encounter.codes),
        ("time of event", np.where(events.dated, events.time, 0)),
        ("dated", events.dated.astype(np.int64)),
        ("roles", roles),
    ):
        add(name, column[order].astype("<i8"))
    add_names("patient of event", events.patient.names)
    add_names("encounter of event", events.encounter.names)
    return digest


class _Cases(Sequence[Case]):
    """Predictions as cases, made when asked for: a year of hourly scores costs nothing."""

    def __init__(self, predictions: Predictions) -> None:
        self._predictions = predictions

    def __len__(self) -> int:
        return len(self._predictions)

    @overload
    def __getitem__(self, row: int) -> Case: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[Case]: ...

    def __getitem__(self, row: int | slice) -> Case | Sequence[Case]:
        if isinstance(row, slice):
            return [self._case(place) for place in range(*row.indices(len(self)))]
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        return self._case(row % len(self))

    def _case(self, place: int) -> Case:
        time = np.datetime64(int(self._predictions.time[place]), "us")
        return Case(str(place + 1), None, None, time=time)
