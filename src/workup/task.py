"""The left half of the hourglass: Case and Corpus, and what a System, a Task and an Engine must be able to do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from workup.errors import RunError, named
from workup.estimate import Slice
from workup.metric import Card, Metric
from workup.scores import Levels, Scores

# A table is plain columns of one length: float64 for numbers (NaN missing), datetime64[us] for times (NaT missing),
# object for everything else (None missing).
Table = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Case:
    """One thing put to the system, with its right answer."""

    id: str
    input: Any
    expected: Any
    patient: str | None = None
    site: str | None = None
    time: np.datetime64 | None = None
    groups: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Corpus:
    """What was tested, provably: the cases with a name, a version and a hash of their content."""

    name: str
    version: str
    task: str
    cases: Sequence[Case]
    sha256: str
    shown_sha256: str = ""  # of what the system sees; outputs are kept under it, so another group asks nothing again
    source: str = ""
    seed: int | None = None
    n_patients: int | None = None
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """What a report says of its corpus."""
        return {
            "name": self.name,
            "version": self.version,
            "seed": self.seed,
            "n_cases": len(self.cases),
            "n_patients": self.n_patients,
            "sha256": self.sha256,
        }


@dataclass(frozen=True)
class StudyDesign:
    """What is known of a study before its system is asked: how rows are grouped, placed and timed, what is measured.

    None is what cannot be known yet, and nothing is refused because of it. `groups` are the groupings of the rows and
    `keys` slice keys of the task's own with all their values, where `metrics` are not known. `absent` says of metrics
    that this study does not measure what they would need. `cards` are those of the task, and `refit` whether the caller
    brings a function that fits anew. `patient` numbers the patient of every row that is grouped;
    `named` says that all groups are those which the study itself names.
    """

    groups: Mapping[str, Levels] | None = None
    patient: npt.NDArray[np.int64] | None = None
    named: bool = False
    sites: Collection[str] | None = None
    placed: bool | None = None
    timed: bool | None = None
    metrics: Sequence[Metric] | None = None
    keys: Mapping[str, Collection[Any]] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    cards: Mapping[str, Card] = field(default_factory=dict)
    refit: bool = False

    def measured(self, name: str) -> list[Metric] | None:
        """Every metric of this name, one for each threshold or the like; None where that is not known yet."""
        return None if self.metrics is None else [metric for metric in self.metrics if metric.name == name]

    def metric_names(self) -> list[str]:
        """The metrics that the study can hold."""
        return list(self.cards) if self.metrics is None else list(dict.fromkeys(m.name for m in self.metrics))

    def scale(self, name: str) -> str | None:
        """The scale of a metric, where it is known: logit for shares and AUCs, log for ratios, else identity."""
        measured = self.measured(name)
        if measured:
            return measured[0].scale
        return self.cards[name].scale if name in self.cards else None

    def levels(self, key: str) -> Collection[str] | None:
        """The levels of a slice key, where they are known."""
        found = (self.groups or {}).get(key)
        return self.sites if key == "site" else None if found is None else found.names


@runtime_checkable
class RiskSystem(Protocol):
    """A risk model under test: rows in, one risk per row out, None where it refuses a row."""

    name: str
    version: str

    def predict(self, table: Table) -> Sequence[float | None]:
        """A risk in [0, 1] for each row, in the order of the rows."""
        ...


@runtime_checkable
class SpanSystem(Protocol):
    """A detector under test: texts in, the spans found in each out, None for a text it refuses.

    A span is anything with `start`, `end` and `label` (and perhaps `score`) as attributes, or a mapping with these
    keys; offsets are code points, half-open. Two attributes are optional: `mapping`, the name of the label mapping that
    its labels belong to, and `emits`, the labels it can give at all. So are two methods, for a detector that must know
    whose a text is: `told_patients(patients)`, called once with the patient of every document (None where none is
    named), and `detect_of_patients(texts, patients)`, then called in the place of `detect`.
    """

    name: str
    version: str

    def detect(self, texts: Sequence[str]) -> Sequence[Sequence[Any] | None]:
        """The spans of each text, in the order of the texts."""
        ...


@dataclass(frozen=True)
class Reply:
    """What a chat model answered. Reasoning is kept apart and never scored; `usage` counts tokens as the provider does.

    A call that failed for good has no content and says why as a code (`timeout`, `http_500`, `bad_json`); it scores
    nothing and is never read as a model that forgot.
    """

    content: str | None
    reasoning: str | None = None
    finish_reason: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    fingerprint: str | None = None
    failure: str = ""
    tools: Sequence[Mapping[str, Any]] = ()  # what an agent called first: name, arguments and, where known, result
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)  # texts that retrieval or a memory gave it


@runtime_checkable
class ChatSystem(Protocol):
    """A chat model under test: the messages so far in, one reply out.

    A message has `role` (system, user, assistant) and `content`. An answer may be a text or a Reply. Keywords
    `max_tokens` and `seed` are passed where `reply` takes them; `concurrency` (how many calls at once it bears) and
    `tags` (such as kind: reasoning) are optional attributes.
    """

    name: str
    version: str

    def reply(self, messages: Sequence[Mapping[str, str]]) -> str | Reply:
        """The next message of the assistant."""
        ...


# Called as work goes on: what is being done, how much is done, how much there is.
Watch = Callable[[str, int, int], None]


def silent(what: str, done: int, total: int) -> None:
    """The watch of nobody."""


Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Budget:
    """How much a system that costs may be asked for. `tell` is called with the estimate before the first call."""

    calls: int | None = None
    cost: float | None = None
    tell: Callable[[str], None] = lambda said: None


UNLIMITED = Budget()


@dataclass(frozen=True)
class Lost:
    """What an engine gives in the place of a result where every worker that tried the item died or took too long."""

    reason: Literal["died", "timeout"]


class Engine(Protocol):
    """An ordered map. `setup` runs once in each worker and gives the function that does the work there.

    `workup.testing.check_engine` asks for all of it: one result for each item, in order, as they come; no setup where
    there is no item; the error that the work raised, after the results before it; only so many items handed over as
    keep the workers busy. A worker that dies or hangs ends neither the map nor another item: its item is tried again,
    and then has `Lost` in its place. Optional: `seconds`, how long the work on each item took; `asks`, False where no
    system is asked; `in_process`, True where the work is done in this process, which then dies with it; and
    `mine(place)`, whether the batch at this place of all is asked here, where others are asked elsewhere.
    """

    def map(self, setup: Callable[[], Callable[[Item], Result]], items: Sequence[Item]) -> Iterator[Result | Lost]:
        """Results in the order of the items, as they come."""
        ...


def misrecorded(case: str, expected: str) -> RunError:
    """What a task says of a recorded output that it could not have recorded."""
    return RunError(
        f"the recorded output of {named('case', case) or 'a case'} must be {expected}; got something else, though its "
        "checksum is right. To fix: run with --fresh, which asks the system again."
    )


class OutputLog(Protocol):
    """Where a run keeps what the system answered, so that a killed run resumes.

    Optional: `fail(reasons)`, which records cases on which the system failed, with an output of null, and `failed()`,
    those recorded so far.
    """

    def known(self) -> Mapping[str, Any]:
        """Outputs recorded so far, by case id."""
        ...

    def append(self, outputs: Mapping[str, Any]) -> None:
        """Record outputs; they are on disk when this returns."""
        ...


class Part(NamedTuple):
    """Finer rows of their own, what is measured on them, and the slices it is measured on."""

    scores: Scores
    metrics: Sequence[Metric]
    slices: Sequence[Slice]


class Kind(NamedTuple):
    """Rows of one kind in a table that holds several, and what is measured on these rows alone.

    `settings` are those of lenses, by name, that suit rows of this kind where the study says nothing of its own. Rows
    that stand for people are counted before a group of them is told; where they are things that happened to some of the
    people whom other rows stand for (`people` False), it is these who are counted. `rows_of` is what a row stands for,
    where rows of other kinds stand for the same. Where few have rows of one kind that stands for people and none of
    another, not both are told by group: that which `yields` is left out, or else the later one.
    """

    name: str
    scores: Scores
    metrics: Sequence[Metric]
    settings: Mapping[str, Mapping[str, Any]] = {}
    people: bool = True
    rows_of: str = ""
    yields: bool = False


class Paired(NamedTuple):
    """Two systems on the same rows, in one order; `tables` and `notes` are what only the task can tell of the pair."""

    first: Scores
    second: Scores
    tables: Mapping[str, Any] = {}
    notes: Sequence[str] = ()
    intervals: Literal["resampled", "linearised"] = "resampled"


class Ranked(NamedTuple):
    """A column of the table in which several systems stand side by side, and what it decides.

    `slice` are the keys that the primary slice does not have, or has otherwise. Systems are told apart by `safety`
    before `effect`; what stands `beside` decides nothing. A column that a record does not hold is left out.
    """

    metric: str
    slice: Mapping[str, Any] = {}
    decides: Literal["safety", "effect", "beside"] = "beside"


def primary_of(task: Any, study: Mapping[str, Any]) -> dict[str, Any]:
    """The slice that gates and pages take where they name none: what the study says, over what its task says."""
    own = getattr(task, "primary", None)
    return {**({} if own is None else own(study)), **(study.get("primary") or {})}


def gate_level_of(task: Any) -> float:
    """The two-sided level at which a rule judges that names none."""
    return float(getattr(task, "gate_level", 0.95))


class Task(Protocol):
    """How one kind of system is run and scored. `study` is a workup.study.Study.

    `design(study, corpus)` is optional: the StudyDesign of the rows, with `corpus` None where it could not be read; so
    is `check_recorded(system, corpus)`, which refuses answers made elsewhere that could not be scored;
    `unnamed(study)`, the system of a study that names none; `files(study)`, files beside the study that it names; and
    `Settings`, a Study with fields of the task's own.
    Optional too: `primary(study)`, a static method that gives the slice which gates and pages take where they name
    none, from a study as the record holds it; `gate_level`, the level at which rules judge that name none, 0.95 without
    it; `leaves_out` and `shows_only`, keys of slices that a short form of a report leaves out, or shows at the primary
    slice alone. Three more serve comparisons: `footing(report)`, a static method that names what must be equal in two
    reports, as far as both name it, for them to be compared;
    `compared(metrics, study)`, those that a comparison shows; and `paired(first, second, study)`, which answers with
    `Paired` where rows have no column "row" to be matched by, or where there is more to tell of the pair.
    Of several systems in one table: `ranked(study)`, a static method that gives its columns as `Ranked`, from a study
    as the record holds it; `replicates(scores)`, the number of the run that each row belongs to, where cases are put
    to a system several times; and `costed`, the word for what one row stands for.
    `kinds(scores, metrics)` is for a task whose table holds rows of several kinds: each Kind has its own rows and those
    of these metrics that speak of them, and every lens looks at each kind by itself (`workup.kinds`).
    `in_batches`, True where the system is asked by way of `workup.tasks.asking`, so that a run can be cut into shards.
    `counted`, a CountedFigures, is optional too: how figures are tied to counts, without which a site pack of the task
    cannot withhold small ones.
    """

    name: str
    cards: Mapping[str, Card]  # every metric that it can measure, by name and in the order of a report
    batch: int  # cases asked for at a time, where a system does not say
    shows_text: bool  # whether a report can hold text of documents, when asked for

    def read(self, study: Any, table: Any = None) -> Corpus:
        """The cases a study names, checked; `table` takes the place of the file when given."""
        ...

    def run(
        self,
        open_system: Callable[[], Any],
        corpus: Corpus,
        engine: Engine,
        log: OutputLog,
        watch: Watch,
        *,
        budget: Budget = UNLIMITED,
    ) -> Any:
        """Put every case to the system; outputs already in the log are not asked for again."""
        ...

    def score(self, case: Case, output: Any) -> list[dict[str, float]]:
        """Rows of values from one case and its output: a pure function."""
        ...

    def scores(self, corpus: Corpus, outputs: Any) -> Scores:
        """The whole table, with the design of the cases; equal to score() case by case."""
        ...

    def metrics(self, scores: Scores, study: Any) -> list[Metric]:
        """What is measured on the scores."""
        ...

    def followed(self, metrics: Sequence[Metric], study: Any) -> Sequence[Metric]:
        """Those that groups, sites, windows and plans are looked at by; the internal lens shows all."""
        ...

    def parts(self, scores: Scores, study: Any) -> Iterator[Part]:
        """Finer rows, such as one per label, that the internal lens measures beside the whole."""
        ...

    def tables(self, scores: Scores, study: Any, *, show_text: bool = False) -> dict[str, Any]:
        """Curves and counts that the internal report shows; text of documents only where that was asked for."""
        ...

    def notes(self, corpus: Corpus, outputs: Any, scores: Scores, study: Any) -> list[str]:
        """What a reader must know before the first number."""
        ...

    def details(self, scores: Scores, study: Any, *, every: bool = False) -> Iterator[dict[str, Any]]:
        """One record per unit: what became of it, by position and never by text; with `every`, in every setting."""
        ...

    def refit(self, corpus: Corpus, scores: Scores, fit: Any) -> Callable[[npt.NDArray[np.intp]], Scores]:
        """A function that fits the system anew on chosen rows and scores every row with it."""
        ...
