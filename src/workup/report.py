"""Report and LensResult: the versioned record. Every page is drawn from it alone; it holds no clock reading."""

from __future__ import annotations

import hashlib
import json
import math
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from workup.errors import ReportError, WorkupError, visible
from workup.estimate import Estimate
from workup.files.received import content_of, json_of
from workup.report_schema import SCHEMA_VERSION, SINCE_2, fault_in, unsaid_in_schema_1

__all__ = ["Z_POWER", "Estimate", "LensResult", "Report", "Verdict", "canonical", "digest", "drawing_on"]

# Standard errors in the smallest difference that data of a size would show: the normal quantiles of 0.975 and 0.80
# added, for a two-sided 5 % test with 80 % power.
Z_POWER = 2.80159
_OLDEST_READ = 1
_SHOWN_LEVEL = 0.95
_OF_ONE_LENS = ("pooled", "alerts", "charts_state")  # rows that a single lens adds; absent from the others' results


@dataclass(frozen=True)
class LensResult:
    """What one lens found, as plain data."""

    lens: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    estimates: tuple[Estimate, ...] = ()
    comparisons: tuple[Mapping[str, Any], ...] = ()
    tables: Mapping[str, Any] = field(default_factory=dict)
    charts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    pooled: tuple[Mapping[str, Any], ...] = ()
    alerts: tuple[Mapping[str, Any], ...] = ()
    charts_state: tuple[Mapping[str, Any], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as the record holds it."""
        found = vars(self) | {"estimates": tuple(e.as_dict() for e in self.estimates)}
        del found["lens"]
        return {name: part for name, part in found.items() if part or name not in _OF_ONE_LENS}

    @classmethod
    def from_dict(cls, lens: str, data: Mapping[str, Any]) -> LensResult:
        """Read back from the record."""
        return cls(
            lens=lens,
            settings=data.get("settings", {}),
            estimates=tuple(Estimate(**row) for row in data.get("estimates", ())),
            comparisons=tuple(data.get("comparisons", ())),
            tables=data.get("tables", {}),
            charts=data.get("charts", {}),
            notes=tuple(data.get("notes", ())),
            **{name: tuple(data.get(name, ())) for name in _OF_ONE_LENS},
        )


@dataclass(frozen=True)
class Verdict:
    """The answer of one gate."""

    rule: str
    outcome: str
    observed: Any
    reason: str


@dataclass(frozen=True)
class Report:
    """The record of one study of one system.

    It explains itself: `metrics` are the cards of what was measured (title, meaning, which way is better …), each with
    its place in the `order` of the task; `primary` is the slice that gates and pages take where they name none;
    `gate_level` the level of rules that name none; `summary` which slices a short form leaves out, and of which keys it
    shows the primary value alone.
    """

    study: Mapping[str, Any]
    corpus: Mapping[str, Any]
    system: Mapping[str, Any]
    seed: int
    results: Mapping[str, LensResult]
    verdicts: tuple[Verdict, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    as_of: str | None = None
    contains_phi: bool = False
    workup: str = ""
    metrics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    primary: Mapping[str, Any] = field(default_factory=dict)
    gate_level: float = 0.95
    summary: Mapping[str, Sequence[str]] = field(default_factory=dict)
    schema_version: int = SCHEMA_VERSION

    def as_dict(self) -> dict[str, Any]:
        """The record with its hash, floats at 12 significant digits and undefined values null."""
        record = {
            "schema_version": self.schema_version,
            "workup": self.workup,
            "as_of": self.as_of,
            "study": self.study,
            "corpus": self.corpus,
            "system": self.system,
            "seed": self.seed,
            "contains_phi": self.contains_phi,
            "results": {name: result.as_dict() for name, result in self.results.items()},
            "verdicts": [asdict(verdict) for verdict in self.verdicts],
            "environment": self.environment,
        }
        if self.schema_version > 1:
            record |= {name: getattr(self, name) for name in SINCE_2}
        plain: dict[str, Any] = _plain(record)
        return plain | {"sha256": _hashed(plain)}

    def to_json(self) -> str:
        """The exact text of report.json."""
        return json.dumps(self.as_dict(), indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"

    @cached_property
    def sha256(self) -> str:
        """Hash of the canonical record."""
        return str(self.as_dict()["sha256"])

    @classmethod
    def from_dict(cls, record: Mapping[str, Any], *, where: str = "report") -> Report:
        """Read a record of this schema or the one before; a record that was altered is refused."""
        version = record.get("schema_version")
        if not isinstance(version, int) or isinstance(version, bool) or not _OLDEST_READ <= version <= SCHEMA_VERSION:
            raise ReportError(
                f"{where}: schema_version must be {_OLDEST_READ} to {SCHEMA_VERSION}; got {version!r}. "
                "To fix: read it with the version of Workup that wrote it, or make the report again."
            )
        if record.get("sha256") != digest(record):
            raise ReportError(
                f"{where}: the record does not match its own sha256, so it was changed after it was written. "
                "To fix: make the report again from the study."
            )
        if fault := fault_in(record):
            raise ReportError(
                f"{where}: the record is not whole or not in the form of schema {version}: {fault}. "
                "To fix: make the report again from the study."
            )
        known = record if version > 1 else unsaid_in_schema_1(record["study"])
        return cls(
            **{name: known[name] for name in SINCE_2},
            study=record["study"],
            corpus=record["corpus"],
            system=record["system"],
            seed=record["seed"],
            results={name: LensResult.from_dict(name, data) for name, data in record["results"].items()},
            verdicts=tuple(Verdict(**row) for row in record["verdicts"]),
            environment=record["environment"],
            as_of=record["as_of"],
            contains_phi=record["contains_phi"],
            workup=record["workup"],
            schema_version=version,
        )

    @classmethod
    def read(cls, path: str | Path) -> Report:
        """Read a report.json, or the one inside a run directory."""
        file = Path(path)
        inside = file.is_dir()
        if inside:
            file = file / "report.json"
        try:
            record = json_of(content_of(file, linked=not inside))  # a link that was named is the user's own word
        except FileNotFoundError:
            raise ReportError(f"{file}: there is no report here. To fix: run the study first (workup run).") from None
        except OSError as error:
            raise ReportError(f"{file}: the report could not be read ({error.strerror}).") from None
        except ValueError as error:  # not UTF-8, not JSON, nested without end, numbers without end
            raise ReportError(f"{file}: not a report.json ({error.__class__.__name__}).") from None
        if not isinstance(record, dict):
            raise ReportError(f"{file}: a report is a JSON object; got {type(record).__name__}.")
        return cls.from_dict(record, where=str(file))

    def estimates(self, metric: str | None = None, *, lens: str | None = None) -> Iterator[Estimate]:
        """Estimates of all lenses, or of one, of all metrics or of one."""
        for name, result in self.results.items():
            if lens in (None, name):
                yield from (e for e in result.estimates if metric in (None, e.metric))

    def estimate(self, metric: str, *, level: float | str = 0.95, **slice_keys: Any) -> Estimate:
        """The one estimate of a metric on a slice; keys not given must not apply.

        `report.estimate("sensitivity", threshold=0.2)`, `report.estimate("auroc", sex="F")`. A level that is a number
        is that of the interval; a word is that of labels: `report.estimate("recall", mode="strict", level="leaf")`.
        """
        if isinstance(level, str):
            slice_keys, level = {**slice_keys, "level": level}, 0.95
        rows = [e for e in self.estimates(metric) if e.level == level]
        found = [e for e in rows if dict(e.slice) == slice_keys]
        if not found:
            known = ", ".join(sorted({str(dict(e.slice)) for e in rows})) or "none"
            raise ReportError(
                f"no estimate of '{metric}' on slice {slice_keys} at level {level}; slices held: {known}."
            )
        return found[0]

    def title(self, metric: str) -> str:
        """A metric by its name in reports."""
        return str(self.metrics.get(metric, {}).get("title") or metric.replace("_", " "))

    def shown(self, place: str) -> list[str]:
        """Metrics that a page or a comparison shows in a place, in the order of the task: see workup.metric.Card."""
        held = [name for name, card in self.metrics.items() if place in card.get("shown", ())]
        return sorted(held, key=lambda name: self.metrics[name]["order"])

    def alarms(self) -> tuple[str, ...]:
        """What must be read before any figure, because the figures do not mean what they seem to."""
        held = (alarm for result in self.results.values() for alarm in result.tables.get("alarms", ()))
        return tuple(str(alarm[part]) for alarm in held for part in ("sentence", "remedy"))

    def _identifying(self) -> tuple[str, ...]:
        told = "This report may identify people: the study tells groups of any size (smallest_cell: 1)."
        return (told,) if self.study.get("smallest_cell") == 1 else ()

    def _headline(self) -> list[Estimate]:
        """What is said of the whole; the same by label, turn or another arm is for the report to show."""
        internal = self.results.get("internal")
        if internal is None:
            return []
        finer = set(self.summary.get("leaves_out", ()))
        first = {key: self.primary[key] for key in self.summary.get("shows_only", ()) if key in self.primary}
        return [
            e
            for e in internal.estimates
            if e.level == _SHOWN_LEVEL
            and not finer & set(e.slice)
            and all(e.slice.get(key, value) == value for key, value in first.items())
        ]

    def __str__(self) -> str:
        lines = [
            *self._identifying(),
            *self.alarms(),
            f"Workup report: {self.system.get('name')} on {self.corpus.get('name')}",
        ]
        for e in self._headline():
            value = "undefined" if e.value is None else f"{e.value:.4g}"
            ends = "" if e.low is None or e.high is None else f" ({e.low:.4g} to {e.high:.4g})"
            at = "".join(f" [{key}={value}]" for key, value in e.slice.items())
            lines.append(f"  {e.metric}{at}: {value}{ends}")
        return "\n".join(visible(line) for line in lines)

    def _repr_html_(self) -> str:
        """A short table for notebooks; `workup.reports.html.render` makes the whole page."""
        heads = "".join(f'<th scope="col">{head}</th>' for head in ("metric", "value", "interval", "patients"))
        body = []
        for e in self._headline():
            at = "".join(f" [{key}={value}]" for key, value in e.slice.items())
            value = "undefined" if e.value is None else f"{e.value:.4g}"
            ends = "" if e.low is None or e.high is None else f"{e.low:.4g} to {e.high:.4g} ({e.level:.0%})"
            cells = (f"{e.metric}{at}", value, ends, f"{e.n_patients:,}")
            body.append("<tr>" + "".join(f"<td>{escape(visible(cell))}</td>" for cell in cells) + "</tr>")
        title = escape(visible(" ".join((*self.alarms(), f"{self.system.get('name')} on {self.corpus.get('name')}"))))
        return f"<table><caption>{title}</caption><thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table>"


@contextmanager
def drawing_on(*files: str | Path) -> Iterator[None]:
    """Around work with records that were read from files.

    The schema leaves the tables of lenses and tasks open. One that is not as Workup writes it, under a hash that was
    made to fit, ends here in a message; --debug shows where.
    """
    try:
        yield
    except WorkupError:
        raise
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}"
        raise ReportError(
            f"{' and '.join(map(str, files))}: a part of the record is not in the form that Workup writes ({place}). "
            "To fix: make the report again from the study; if nobody changed the file, please report this."
        ) from error


def digest(record: Mapping[str, Any]) -> str:
    """sha256 of the canonical JSON of a record without its own hash."""
    return _hashed(_plain({key: value for key, value in record.items() if key != "sha256"}))


def canonical(data: Any) -> str:
    """One text for one content: sorted keys, no spaces, UTF-8."""
    return _written(_plain(data))


def _hashed(plain: Any) -> str:
    return hashlib.sha256(_written(plain).encode("utf-8", "surrogatepass")).hexdigest()


def _written(plain: Any) -> str:
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """JSON data only: numpy scalars unwrapped, tuples as lists, floats at 12 digits, NaN and infinity null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float):
        return float(f"{value:.12g}") if math.isfinite(value) else None
    if value is None or isinstance(value, (str, int, bool)):
        return value
    return str(value)
