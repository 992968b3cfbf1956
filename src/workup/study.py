"""Study: what to validate, read from study.yaml with errors that teach. Knows nothing of what plug-ins do."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import (
    Field,
    PrivateAttr,
    field_validator,
    model_validator,
)

from workup import plugins
from workup.errors import WorkupError
from workup.files.yaml_files import read_yaml
from workup.settings import FileName
from workup.settings import Part as Part


class CorpusPart(Part):
    """Where the cases come from: a file, or a generator with a seed."""

    path: FileName | None = Field(None, description="File of cases, relative to the study file")
    generate: dict[str, Any] | None = Field(None, description="Settings of a generator instead of a file")
    format: str = Field("", description="Format of the file; by its ending when empty")
    query: str = Field("", description="SQL for a DuckDB file")
    decimal: str = Field("", description="Decimal sign of a text file, '.' or ',', where the file alone cannot tell")
    sheet: str = Field("", description="Sheet of an Excel file; the first when empty")
    largest_unpacked: int = Field(
        0, ge=0, description="Most bytes that a packed table, a workbook or a query may become; 0 is 2 GiB"
    )
    query_seconds: float = Field(0, ge=0, allow_inf_nan=False, description="Longest time for a query; 0 is ten minutes")
    most_overlaps: int = Field(
        0, ge=0, description="Most overlaps of golds and predictions that rival one another in a document; 0 is 2,500"
    )
    most_depth: int = Field(
        0, ge=0, description="Most golds, or predictions, over a character of a document on average; 0 is 50"
    )
    offsets: str = Field(
        "codepoint", description="How spans are counted: codepoint, utf16 or byte; -inclusive behind it"
    )
    trim: Literal["", "titles"] = Field("", description="titles: cut leading titles from every gold")
    annotators: Literal["each", "union", "intersection", "majority"] = Field(
        "each", description="How the golds of several annotators are read"
    )
    sample: int | None = Field(None, ge=1, description="So many cases only: a seeded sample, stratified by type")
    name: str = Field("", description="Name of the corpus in reports; the file's name when empty")
    version: str = Field("", description="Version of the corpus, as its owner counts it")


class SystemPart(Part):
    """A system under test: a plug-in's name, or package.module:Object, with its settings."""

    name: str = Field("", description="Name in reports; the plug-in's name when empty")
    use: str = Field(description="Registered system, or package.module:Object")
    settings: dict[str, Any] = Field(default_factory=dict, alias="with", description="Settings of the system")
    tags: dict[str, str] = Field(
        default_factory=dict, description="Free labels, such as kind: baseline", examples=[{"kind": "baseline"}]
    )


class BootstrapPart(Part):
    """How resampling intervals are made."""

    replicates: int = Field(2000, ge=50, le=100_000, description="Resamples of whole patients")
    strata: str | None = Field(None, description="Group column fixed by the design, such as case or control")


class ReportPart(Part):
    """What is drawn from the record."""

    formats: tuple[str, ...] = Field(
        ("md", "text"), description="Forms written beside report.json", examples=[["md", "html"]]
    )
    as_of: str | None = Field(None, description="Date the report speaks of; given, never read from a clock")

    @field_validator("as_of", mode="before")
    @classmethod
    def _date(cls, value: Any) -> Any:
        # YAML reads 2024-05-01 without quotes as a date.
        return value.isoformat() if isinstance(value, datetime.date) else value


def _internal_only() -> dict[str, dict[str, Any]]:
    return {"internal": {}}


class Study(Part):
    """What to validate, with which lenses and gates. `Study.load("study.yaml")` reads one.

    These are the fields of every study. A task that has fields of its own brings a Study with them (`Task.Settings`),
    and what is read of a study that names this task is one of those. Such a form may have a static method
    `reads_as(content)`, which answers with the name of another task where the content is a study of that.
    """

    name: str = Field(description="Name of the study")
    task: str = Field(description="Kind of system: an installed task, such as risk, or package.module:Object")
    seed: int = Field(0, ge=0, description="Seed of every random draw")
    corpus: CorpusPart = Field(default_factory=CorpusPart, description="Where the cases come from")
    systems: tuple[SystemPart, ...] = Field((), description="Systems under test")
    lenses: dict[str, dict[str, Any]] = Field(
        default_factory=_internal_only,
        description="Questions asked, each with its settings",
        examples=[{"internal": {}, "subgroups": {"margin": 0.05}}],
    )
    bootstrap: BootstrapPart = Field(default_factory=BootstrapPart, description="How resampling intervals are made")
    smallest_cell: int = Field(
        5,
        ge=1,
        le=10_000,
        description="Groups of fewer patients are withheld, and what gives them away; 1 tells all, may identify",
    )
    icc: float | None = Field(
        None,
        ge=0,
        le=1,
        description="How alike rows of one patient are taken to be where data cannot show it (ICC); 1/3 if absent",
    )
    sites: FileName | None = Field(None, description="CSV of site characteristics: site, name, type, region, volume, …")
    intended_settings: tuple[str, ...] = Field((), description="Kinds of place where the system will be used")
    split: FileName | None = Field(None, description="split.json that made this corpus, shown in the report")
    primary: dict[str, Any] = Field(
        default_factory=dict,
        description="Slice keys that gates take when they name none",
        examples=[{"threshold": 0.2}],
    )
    baseline: FileName | None = Field(None, description="report.json that relative gates compare with")
    gates: tuple[str, ...] = Field(
        (), description='Rules such as "auroc.low >= 0.75"', examples=[["auroc.low >= 0.75"]]
    )
    report: ReportPart = Field(default_factory=ReportPart, description="What is drawn from the record")
    engine: str = Field("serial", description="Where the system runs: serial, processes, dask or spark")
    engine_settings: dict[str, Any] = Field(
        default_factory=dict, description="Settings of the engine", examples=[{"timeout": 600}]
    )
    workers: int = Field(
        0, ge=0, description="Worker processes of the engine, and threads of the lenses; 0 is one per core"
    )

    _base: Path = PrivateAttr(default_factory=Path)
    _warnings: tuple[str, ...] = PrivateAttr(default=())

    @field_validator("lenses", mode="before")
    @classmethod
    def _empty_settings(cls, lenses: Any) -> Any:
        # `internal:` with nothing after it is YAML for null; a reader means "with its defaults".
        return {name: settings or {} for name, settings in lenses.items()} if isinstance(lenses, Mapping) else lenses

    @model_validator(mode="after")
    def _whole(self) -> Self:
        names = [system.name or system.use for system in self.systems]
        if len(set(names)) < len(names):
            raise ValueError("two systems have one name; give each its own 'name'")
        return self

    @property
    def base(self) -> Path:
        """The folder that paths in the study start from."""
        return self._base

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is accepted now and will not be."""
        return self._warnings

    @classmethod
    def checked(cls, content: Any, *, where: str, lines: Mapping[tuple[str, ...], int] | None = None) -> Self:
        """Read plain data with the settings of the task that it names, or raise one StudyError with every fault."""
        if not isinstance(content, Mapping) or cls is not Study:
            return super().checked(content, where=where, lines=lines)
        content = _as_meant(content)
        model = of_task(content.get("task"))
        known = {field.alias or name for name, field in model.model_fields.items()}
        foreign = _owners(set(content) - known)
        own = {key: value for key, value in content.items() if key not in foreign}
        study = super(Study, model).checked(own, where=where, lines=lines)
        study._warnings = tuple(
            f"{key}: a setting of studies of {owner}, ignored in one of '{study.task}'; from version 0.3 on it will "
            "be refused. To fix: take it out."
            for key, owner in foreign.items()
        )
        return study  # type: ignore[return-value]

    def record(self) -> dict[str, Any]:
        """The study as the report holds it: complete, but for what changes no bytes (engine, workers, limits)."""
        limits = dict.fromkeys(("largest_unpacked", "query_seconds", "most_overlaps", "most_depth"), True)
        unrecorded: Any = {"engine": True, "engine_settings": True, "workers": True, "corpus": limits}
        return self.model_dump(mode="json", by_alias=True, exclude=unrecorded)

    @classmethod
    def of(cls, content: Mapping[str, Any], *, base: Path | str = ".", where: str = "study") -> Self:
        """A study from plain data.

        >>> Study.of({"name": "demo", "task": "risk", "columns": {"outcome": "died", "risk": "p"}}).seed
        0
        """
        study = cls.checked(content, where=where)
        study._base = Path(base)
        return study

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a study.yaml."""
        file = Path(path)
        content, lines = read_yaml(file)
        study = cls.checked(content, where=str(file), lines=lines)
        study._base = file.parent
        return study


def of_task(name: Any) -> type[Study]:
    """The form of a study of a task: with its own fields, or the plain one where it has none or is not known."""
    try:
        found = getattr(plugins.find("tasks", name), "Settings", None) if isinstance(name, str) else None
    except WorkupError:  # said by whoever needs the task
        found = None
    return found if isinstance(found, type) and issubclass(found, Study) else Study


def _as_meant(content: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The content under the task that it is a study of: one whose form says so (`reads_as`) may have a part that is
    of a finer task, which takes it over where it is installed."""
    meant = getattr(of_task(content.get("task")), "reads_as", None)
    task = None if meant is None else meant(content)
    return {**content, "task": task} if task in plugins.registered("tasks") else content


def _owners(keys: Collection[Any]) -> dict[str, str]:
    """Which installed tasks have a field of each name, in words."""
    forms = {task: of_task(task) for task in sorted(plugins.registered("tasks"))} if keys else {}
    found: dict[str, list[str]] = {}
    for task, form in forms.items():
        for key in sorted(map(str, keys)):
            if key in form.model_fields:
                found.setdefault(key, []).append(f"'{task}'")
    return {key: " or ".join(tasks) for key, tasks in found.items()}
