"""Study: what to validate, read from study.yaml with errors that teach. Knows nothing of what plug-ins do."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import (
    Field,
    PrivateAttr,
    field_validator,
    model_validator,
)

from workup.files.yaml_files import read_yaml
from workup.settings import FileName
from workup.settings import Part as Part

# Keys by which metrics and lenses slice their estimates; a group of such a name would be overwritten by them.
SLICE_KEYS = frozenset(
    (
        *("threshold", "label", "mode", "level", "policy", "equivalent", "identifier", "category"),
        *("set", "arm", "turn", "loss", "judge", "attribute", "horizon"),
        *("site", "window", "acted", "validation", "pooled", "column"),
    )
)


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


class GroupPart(Part):
    """A grouping of the rows that is more than one plain column: a number cut into bands, or an expression."""

    column: str = Field(description='Column, or an expression such as bmi >= 30 or outcome == "dead"')
    cuts: tuple[float, ...] = Field(
        (), description="Where bands begin, each in the band above it; no bands if empty", examples=[[45, 65, 75]]
    )
    name: str = Field("", description="Name in reports; the column's own when empty")
    labels: tuple[str, ...] = Field((), description="Names of the bands from the lowest; made from the cuts if empty")

    @field_validator("cuts")
    @classmethod
    def _rising(cls, cuts: tuple[float, ...]) -> tuple[float, ...]:
        if not all(map(math.isfinite, cuts)) or any(low >= high for low, high in pairwise(cuts)):
            raise ValueError("expected numbers that rise, such as [45, 65, 75]")
        return cuts

    @field_validator("labels")
    @classmethod
    def _told_apart(cls, labels: tuple[str, ...]) -> tuple[str, ...]:
        # Levels are compared without the spaces around them, and rows without a value are the level "missing".
        plain = tuple(label.strip() for label in labels)
        if any(label.casefold() in ("", "missing") for label in plain):
            raise ValueError("a label must not be empty or 'missing', which is the name of rows without a value")
        if len(set(plain)) < len(plain):
            raise ValueError("expected one label of its own for each band; two are the same")
        return plain

    @model_validator(mode="after")
    def _a_label_each(self) -> Self:
        bands = len(self.cuts) + 1 if self.cuts else 0
        if self.labels and len(self.labels) != bands:
            raise ValueError(f"expected one label of its own for each of {bands} bands; got {len(self.labels)}")
        return self


class ColumnsPart(Part):
    """Which column of the table is what."""

    outcome: str = Field(
        description='Outcome, 0 or 1, or an expression such as status == "dead"; empty cells are not mature yet'
    )
    risk: str | None = Field(
        None, description="Recorded risk in [0, 1], or an expression such as 1 - survival, when no model is run"
    )
    patient: str | None = Field(None, description="Patient id; without it every row is a patient")
    site: str | None = Field(None, description="Hospital or clinic")
    time: str | None = Field(None, description="When the prediction was made")
    weight: str | None = Field(None, description="Design weight (sampling or censoring)")
    groups: tuple[str | GroupPart, ...] = Field(
        (),
        description="Columns whose levels are compared; {column, cuts, name, labels} for a number cut into bands",
        examples=[["sex", {"column": "age", "cuts": [45, 65, 75]}]],
    )
    inputs: tuple[str, ...] = Field(
        (), description="Inputs whose completeness and drift are shown", examples=[["age", "creatinine"]]
    )
    outcome_time: str | None = Field(None, description="When the outcome was known; shows the delay of labels")
    acted: str | None = Field(None, description="1 where someone acted on the risk, else 0")

    @model_validator(mode="after")
    def _no_key_of_another(self) -> Self:
        for given in self.groups:
            plain = given if isinstance(given, str) else given.column
            name = re.sub(r":[-+\d.eE,]+$", "", given) if isinstance(given, str) else given.name or given.column
            if self.patient is not None and plain.partition(":")[0].strip() == self.patient:
                raise ValueError(
                    f"'{self.patient}' is the patient column, and patients are no groups: each would stand in the "
                    "report by name. To fix: name a column that many patients share, such as sex, or leave it out"
                )
            sites_themselves = name == "site" and plain == (self.site or "site")
            if name in SLICE_KEYS and not sites_themselves:
                raise ValueError(
                    f"a group cannot be named '{name}': estimates are already sliced by a key of that name. To fix: "
                    f"give it another name in the study file, such as {{column: {plain.partition(':')[0]}, "
                    f"name: {name}_group}}, or rename the column"
                )
        return self


class SystemPart(Part):
    """A system under test: a plug-in's name, or package.module:Object, with its settings."""

    name: str = Field("", description="Name in reports; the plug-in's name when empty")
    use: str = Field(description="Registered system, or package.module:Object")
    settings: dict[str, Any] = Field(default_factory=dict, alias="with", description="Settings of the system")
    tags: dict[str, str] = Field(
        default_factory=dict, description="Free labels, such as kind: baseline", examples=[{"kind": "baseline"}]
    )


class ConversationPart(Part):
    """How conversations are held and what is asked of them."""

    arms: tuple[str, ...] = Field(
        ("live", "oracle", "naive"), description="Histories compared: live, oracle, naive, filler-k"
    )
    probe: str = Field("summary", description="What is asked off the history each turn: summary, question or none")
    probe_tokens: int = Field(300, ge=16, le=8192, description="Most tokens of a summary that a probe asks for")
    memory: str = Field(
        "full", description="What is sent of the history: full, last:K turns, tokens:N, clean, compact:N; joined by +"
    )
    replicates: int = Field(1, ge=1, le=100, description="Times that every conversation is held")
    matcher: Literal["context", "published"] = Field("context", description="What reads a reply; published is flawed")
    judge: str | None = Field(None, description="Judge of contradictions, package.module:Object; rules without one")
    encoder: str | None = Field(None, description="Sentence encoder for plans, package.module:Object; words without")
    target_plans: FileName | None = Field(None, description="JSON file of plans by case, {case: plan}")
    ratings: FileName | None = Field(
        None,
        description="CSV of PDSQI-9 ratings: case, rater, kind (human or judge), attribute, rating; turn, replicate",
    )
    labelled: FileName | None = Field(None, description="Labelled replies of the model under test, for corrected rates")
    reasoning: Literal["drop", "send"] = Field("drop", description="Whether reasoning is sent back in the history")
    horizon: int = Field(10, ge=2, le=200, description="Turn at which recall is read off as the headline")
    bar: float = Field(0.70, gt=0, lt=1, description="Recall that is asked for at the horizon")

    @field_validator("arms")
    @classmethod
    def _known_arms(cls, arms: tuple[str, ...]) -> tuple[str, ...]:
        for arm in arms:
            if not re.fullmatch(r"live|oracle|naive|filler-[1-9]\d{0,2}", arm):
                raise ValueError("an arm is live, oracle, naive or filler-k with a number for k, such as filler-5")
        if "live" not in arms or len(set(arms)) < len(arms):
            raise ValueError("arms must name live, and each arm once")
        return arms

    @field_validator("probe")
    @classmethod
    def _known_probe(cls, probe: str) -> str:
        if probe not in ("summary", "question", "none"):
            raise ValueError("a probe is summary, question or none")
        return probe

    @field_validator("memory")
    @classmethod
    def _known_memory(cls, memory: str) -> str:
        for part in memory.split("+"):
            if not re.fullmatch(r"full|clean|(last|tokens|compact):[1-9]\d{0,6}", part.strip()):
                raise ValueError("a memory is full, last:K, tokens:N, clean or compact:N, or several joined by +")
        return memory


class BootstrapPart(Part):
    """How resampling intervals are made."""

    replicates: int = Field(2000, ge=200, le=100_000, description="Resamples of whole patients")
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


class CalibrationPart(Part):
    """How the calibration of risks is shown."""

    expected_events: Literal["sampled", "fixed"] = Field(
        "sampled", description="What O/E's interval takes the expected events for; fixed is customary and too wide"
    )
    loess_curve: bool = Field(False, description="Draw a loess curve too, thin; no figure rests on it")


def _internal_only() -> dict[str, dict[str, Any]]:
    return {"internal": {}}


class Study(Part):
    """What to validate, with which lenses and gates. `Study.load("study.yaml")` reads one."""

    name: str = Field(description="Name of the study")
    task: str = Field(description="Kind of system: risk, spans or conversation")
    seed: int = Field(0, ge=0, description="Seed of every random draw")
    corpus: CorpusPart = Field(default_factory=CorpusPart, description="Where the cases come from")
    columns: ColumnsPart | None = Field(None, description="Which column is what")
    time_format: str | None = Field(None, description="Form of the time column, such as %d/%m/%Y, when it is not ISO")
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
    thresholds: tuple[float, ...] = Field((), description="Decision thresholds in (0, 1); none is assumed")
    cost_ratio: float | None = Field(
        None, gt=0, description="Harm of a missed event over that of a false alarm; adds the threshold 1 / (1 + ratio)"
    )
    calibration: CalibrationPart = Field(
        default_factory=CalibrationPart, description="How the calibration of risks is shown"
    )
    ece: bool = Field(False, description="Also show the expected calibration error, a biased measure")
    also: tuple[Literal["accuracy", "f1", "ece"], ...] = Field(
        (), description="Metrics of a risk study that are left out unless asked for: accuracy, f1, ece"
    )
    policies: tuple[str, ...] = Field(
        (), description="What must be masked: policies by name or file; as_annotated if none"
    )
    modes: tuple[str, ...] = Field(
        (),
        description="Matching modes such as strict, iou:0.5, full_mask; five if none",
        examples=[["strict", "full_mask"]],
    )
    levels: tuple[str, ...] = Field(
        (), description="Levels of labels compared: leaf, branch, phi; all if none", examples=[["leaf", "phi"]]
    )
    labels: str = Field(
        "", description="Mapping of the labels to canonical ones: a name, a file, or several joined by +"
    )
    ignore: tuple[str, ...] = Field((), description="Labels that count on neither side")
    equivalent: tuple[str, ...] = Field((), description="Types taken as equal in a second column, such as ORG=LOC")
    utility: Literal["none", "lexicon"] = Field(
        "none", description="What finds the clinical terms whose survival under masking is counted (retention)"
    )
    conversation: ConversationPart = Field(
        default_factory=ConversationPart, description="How conversations are held and read"
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
    engine: str = Field("serial", description="Where the system runs: serial or processes")
    workers: int = Field(
        0, ge=0, description="Worker processes of the engine, and threads of the lenses; 0 is one per core"
    )

    _base: Path = PrivateAttr(default_factory=Path)

    @field_validator("thresholds")
    @classmethod
    def _inside(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        for value in values:
            if not (math.isfinite(value) and 0 < value < 1):
                raise ValueError(f"a threshold must lie between 0 and 1; got {value}")
        if len(set(values)) < len(values):
            raise ValueError("a threshold is named twice")
        return values

    @field_validator("lenses", mode="before")
    @classmethod
    def _empty_settings(cls, lenses: Any) -> Any:
        # `internal:` with nothing after it is YAML for null; a reader means "with its defaults".
        return {name: settings or {} for name, settings in lenses.items()} if isinstance(lenses, Mapping) else lenses

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.task == "risk" and self.columns is None:
            raise ValueError("a risk study needs 'columns' with at least 'outcome'")
        names = [system.name or system.use for system in self.systems]
        if len(set(names)) < len(names):
            raise ValueError("two systems have one name; give each its own 'name'")
        if self.task == "risk" and "threshold" in self.primary:
            self.primary["threshold"] = self._named_threshold(self.primary["threshold"])
        return self

    def _named_threshold(self, value: Any) -> float:
        """The threshold of the study that is meant, digit for digit, so that it is found again in every slice."""
        held = {f"{threshold:.12g}": threshold for threshold in self.all_thresholds()}
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if number and f"{value:.12g}" in held:
            return held[f"{value:.12g}"]
        known = f"choose among {', '.join(held)}, or list it" if held else "list it"
        raise ValueError(f"primary.threshold: {value!r} is not a threshold of the study; {known} under 'thresholds'")

    @property
    def base(self) -> Path:
        """The folder that paths in the study start from."""
        return self._base

    def all_thresholds(self) -> tuple[float, ...]:
        """Thresholds named, with the one that the cost ratio implies."""
        implied = () if self.cost_ratio is None else (1 / (1 + self.cost_ratio),)
        return tuple(dict.fromkeys((*self.thresholds, *implied)))

    def record(self) -> dict[str, Any]:
        """The study as the report holds it: complete, but for what changes no bytes (engine, workers, limits)."""
        limits = dict.fromkeys(("largest_unpacked", "query_seconds", "most_overlaps", "most_depth"), True)
        return self.model_dump(mode="json", by_alias=True, exclude={"engine": True, "workers": True, "corpus": limits})

    @classmethod
    def of(cls, content: Mapping[str, Any], *, base: Path | str = ".", where: str = "study") -> Study:
        """A study from plain data.

        >>> Study.of({"name": "demo", "task": "risk", "columns": {"outcome": "died", "risk": "p"}}).seed
        0
        """
        study = cls.checked(content, where=where)
        study._base = Path(base)
        return study

    @classmethod
    def load(cls, path: str | Path) -> Study:
        """Read a study.yaml."""
        file = Path(path)
        content, lines = read_yaml(file)
        study = cls.checked(content, where=str(file), lines=lines)
        study._base = file.parent
        return study
