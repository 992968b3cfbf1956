"""update.json: an update as a file that another place can apply. Aggregates alone, hashed, signed with a key.

What is read is taken for hostile until its size, form, numbers, hash and (where a key is given) signature are found
right; the first fault is one message.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from workup.errors import InputError, visible
from workup.files.received import content_of, json_of
from workup.report import canonical, digest
from workup.signing import sign, signed_by
from workup.stats.updating import CandidateRow, Update
from workup.tasks.risk.updating.procedure import Mending

SCHEMA_VERSION = 1
LARGEST_FILE = 64 * 1024
VERDICTS = ("better", "worse", "no gain shown", "none needed")
BY_GROUP = "by_group"
_AGAIN = "make the update again with  workup update STUDY -o update.json"
_LARGEST_NUMBER = 1e6

Name = Annotated[str, Field(min_length=1, max_length=400)]
Text = Annotated[str, Field(max_length=2_000)]
Number = Annotated[float, Field(ge=-_LARGEST_NUMBER, le=_LARGEST_NUMBER, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
LogOdds = Annotated[float, Field(ge=-50, le=50, allow_inf_nan=False)]
Factor = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=10**12)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Level = Annotated[float, Field(gt=0, lt=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class NoneForm(_Strict):
    """Risks as they are."""


class InTheLargeForm(_Strict):
    """All log odds moved by one number."""

    intercept: LogOdds


class RecalibrationForm(_Strict):
    """Log odds stretched and moved; a slope of 0 or less would turn the ranking round."""

    intercept: LogOdds
    slope: Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)]


class BetaForm(_Strict):
    """Log odds c + a ln p − b ln(1 − p)."""

    a: Factor
    b: Factor
    c: Number


class IsotonicForm(_Strict):
    """Points between which risks are drawn straight."""

    x: Annotated[list[Share], Field(min_length=1, max_length=4_000)]
    y: Annotated[list[Share], Field(min_length=1, max_length=4_000)]

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if len(self.x) != len(self.y):
            raise ValueError("x and y must have one length")
        for name, values in (("x", self.x), ("y", self.y)):
            if any(later < earlier for earlier, later in pairwise(values)):
                raise ValueError(f"{name} must not fall")
        return self


class RefitForm(_Strict):
    """Coefficients of 1, the log odds and the columns."""

    columns: Annotated[list[Name], Field(min_length=1, max_length=200)]
    coefficients: Annotated[list[Number], Field(min_length=3, max_length=202)]

    @model_validator(mode="after")
    def _one_each(self) -> Self:
        if len(self.coefficients) != len(self.columns) + 2 or len(set(self.columns)) < len(self.columns):
            raise ValueError("a refit has a coefficient of 1, of the log odds and of each of its columns")
        return self


_PARAMETERS: dict[str, type[_Strict]] = {
    "none": NoneForm,
    "in_the_large": InTheLargeForm,
    "recalibration": RecalibrationForm,
    "beta": BetaForm,
    "isotonic": IsotonicForm,
    "refit": RefitForm,
}


def _check_parameters(form: type[_Strict], parameters: Mapping[str, Any]) -> None:
    """Parameters are checked by the form of their method; a fault is told with its place among them."""
    try:
        form.model_validate(parameters)
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(("parameters", *(str(part)[:40] for part in fault["loc"])))
        raise ValueError(f"{place}: {_said(fault)}") from None


class TestForm(_Strict):
    """One candidate against the largest model."""

    candidate: Literal["none", "in_the_large", "recalibration"]
    statistic: Annotated[float, Field(ge=-1e-6, le=1e9, allow_inf_nan=False)] | None
    df: Annotated[int, Field(ge=0, le=1_000)]
    p: Share | None
    kind: Name


class FittedForm(_Strict):
    """The log odds that the update was fitted on."""

    low: LogOdds
    high: LogOdds

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.low > self.high:
            raise ValueError("the lower end cannot lie above the upper one")
        return self


class OneForm(_Strict):
    """One update: of everybody, or of a level."""

    method: Literal["none", "in_the_large", "recalibration", "beta", "isotonic", "refit"]
    chosen_by: Literal["closed test", "named"]
    parameters: dict[Name, Any]
    clip: Annotated[float, Field(gt=0, le=0.01)]
    fitted_on: FittedForm
    test: Annotated[list[TestForm], Field(max_length=3)]

    @model_validator(mode="after")
    def _parameters_of_its_method(self) -> Self:
        _check_parameters(_PARAMETERS[self.method], self.parameters)
        return self


class ByGroupForm(_Strict):
    """Updates by the level of a column."""

    group: Name
    levels: Annotated[dict[Name, OneForm], Field(min_length=1, max_length=200)]


class EstimateForm(_Strict):
    """One figure with its interval."""

    metric: Name
    slice: Annotated[dict[Name, Name | Number], Field(max_length=5)]
    value: Number | None
    low: Number | None
    high: Number | None
    level: Level
    method: Name
    se: Annotated[Number, Field(ge=0)] | None
    n_patients: Count
    n_rows: Count
    n_events: Count | None
    numerator: Number | None = None
    denominator: Annotated[Number, Field(ge=0)] | None = None
    status: Literal["ok", "undefined", "insufficient", "withheld"]
    reason: Text | None
    clusters: Count | None = None
    ceiling: Number | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError("the lower end of an interval cannot lie above the upper one")
        if self.n_patients > self.n_rows:
            raise ValueError("an estimate cannot rest on more patients than rows")
        return self


class ThresholdForm(_Strict):
    """A threshold, or the fact that the data carry none."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,59}$")]
    rule: Name
    value: Share | None
    assurance: Level | None
    chance: Share | None
    expected: Annotated[list[EstimateForm], Field(max_length=12)]


class UsedForm(_Strict):
    """Which data made the update: hashes, dates and counts."""

    corpus_sha256: Sha256
    risks_sha256: Sha256
    first: Annotated[str | None, Field(alias="from")]
    last: Annotated[str | None, Field(alias="to")]
    n_patients: Count
    n_rows: Count
    n_events: Count

    @field_validator("first", "last")
    @classmethod
    def _date(cls, value: str | None) -> str | None:
        if value is not None:
            datetime.date.fromisoformat(value)
            if len(value) != 10:
                raise ValueError("a date is written 2024-05-01")
        return value

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if (self.first is None) != (self.last is None) or (self.first or "") > (self.last or ""):
            raise ValueError("'from' and 'to' are two dates in order, or both null")
        return self


class HonestForm(_Strict):
    """What it did for patients who did not make it."""

    how: Literal["validate", "temporal", "cross-fitted"]
    estimates: Annotated[list[EstimateForm], Field(max_length=60)]
    verdict: Literal["better", "worse", "no gain shown", "none needed"]


class SystemForm(_Strict):
    """Whose risks are mended; `column` where they were read from a column of a table."""

    name: Name
    version: Annotated[str, Field(max_length=400)]
    column: Name | None


class SignatureForm(_Strict):
    """Made with a key."""

    method: Name
    value: Annotated[str, Field(pattern=r"^[0-9a-f]{1,1024}$")]


class UpdateForm(_Strict):
    """A whole update.json."""

    schema_version: Literal[1]
    kind: Literal["update"]
    workup: Name
    system: SystemForm
    task: Literal["risk"]
    horizon: None
    method: Literal["none", "in_the_large", "recalibration", "beta", "isotonic", "refit", "by_group"]
    chosen_by: Literal["closed test", "named"]
    parameters: dict[Name, Any]
    clip: Annotated[float, Field(gt=0, le=0.01)]
    fitted_on: FittedForm
    test: Annotated[list[TestForm], Field(max_length=3)]
    thresholds: Annotated[list[ThresholdForm], Field(max_length=20)]
    used: UsedForm
    honest: HonestForm
    as_of: Name | None
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)]
    sha256: Sha256
    signature: SignatureForm | None = None

    @model_validator(mode="before")
    @classmethod
    def _signed_or_not(cls, content: Any) -> Any:
        if isinstance(content, dict) and content.get("signature", {}) is None:
            raise ValueError("a signature cannot be null")
        return content

    @model_validator(mode="after")
    def _whole(self) -> Self:
        names = [one.name for one in self.thresholds]
        if len(set(names)) < len(names):
            raise ValueError("two thresholds have one name")
        _check_parameters(ByGroupForm if self.method == BY_GROUP else _PARAMETERS[self.method], self.parameters)
        return self


# ---- written ---------------------------------------------------------------------------------------------------------


def update_record(mending: Mending, **rest: Any) -> dict[str, Any]:
    """The content of update.json before its hash: the update itself, and the parts that the caller knows."""
    if mending.group is None:
        own = _one(mending.updates[""])
    else:
        # Every level is an update of its own; what stands at the top is what they share.
        levels = {level: _one(one) for level, one in mending.updates.items()}
        first = next(iter(levels.values()))
        own = {
            "method": BY_GROUP,
            "chosen_by": first["chosen_by"],
            "parameters": {"group": mending.group, "levels": levels},
            "clip": first["clip"],
            "fitted_on": {
                "low": min(one["fitted_on"]["low"] for one in levels.values()),
                "high": max(one["fitted_on"]["high"] for one in levels.values()),
            },
            "test": [],
        }
    return {"schema_version": SCHEMA_VERSION, "kind": "update", "task": "risk", "horizon": None, **own, **rest}


def _one(update: Update) -> dict[str, Any]:
    low, high = update.fitted_on
    return {
        "method": update.method,
        "chosen_by": update.chosen_by,
        "parameters": dict(update.parameters),
        "clip": update.clip,
        "fitted_on": {"low": low, "high": high},
        "test": [row._asdict() for row in update.test],
    }


def written(record: Mapping[str, Any], *, key: bytes | None = None) -> bytes:
    """The exact bytes of update.json: canonical JSON, signed where a key is given, with its hash.

    The hash is over all else in the file, the signature too, so that no byte of it can change unseen.
    """
    plain: dict[str, Any] = json.loads(canonical(record))
    if key is not None:
        plain["signature"] = sign(plain, key)
    plain["sha256"] = digest(plain)
    content = _bytes(plain)
    if len(content) > LARGEST_FILE:
        raise InputError(
            f"an update is at most {LARGEST_FILE // 1024} KB, so that it cannot carry rows",
            got=f"{len(content):,} bytes",
            remedy="name fewer thresholds or groups, or a method with fewer parameters",
        )
    _checked(plain, "update.json")
    return content


def _bytes(plain: Mapping[str, Any]) -> bytes:
    return canonical(plain).encode("utf-8", "surrogatepass") + b"\n"


# ---- read ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class UpdateFile:
    """An update that was read and found whole; `where` is the file it came from."""

    where: str
    record: Mapping[str, Any]

    @property
    def sha256(self) -> str:
        """The hash it carries, which was checked."""
        return str(self.record["sha256"])

    @property
    def mark(self) -> str:
        """What the version of an updated system carries of it."""
        return f"updated sha256:{self.sha256[:12]}"

    @property
    def system(self) -> Mapping[str, Any]:
        """Name, version and column of the system whose risks it mends."""
        return dict(self.record["system"])

    @property
    def mending(self) -> Mending:
        """What it does to risks."""
        record = self.record
        if record["method"] != BY_GROUP:
            return Mending({"": _update(record)})
        held = record["parameters"]
        return Mending({level: _update(one) for level, one in held["levels"].items()}, held["group"])

    @property
    def flags(self) -> dict[str, float]:
        """Thresholds by name, those that the data carried."""
        return {one["name"]: one["value"] for one in self.record["thresholds"] if one["value"] is not None}


def _update(record: Mapping[str, Any]) -> Update:
    return Update(
        record["method"],
        dict(record["parameters"]),
        (record["fitted_on"]["low"], record["fitted_on"]["high"]),
        chosen_by=record["chosen_by"],
        test=tuple(CandidateRow(**row) for row in record["test"]),
        clip=record["clip"],
    )


def read_update(path: str | Path, *, key: bytes | None = None) -> UpdateFile:
    """Read an update.json. It is refused when it was altered, is of another version or form, or, where a key is given,
    when it is not signed with it."""
    where = visible(str(path))
    try:
        raw = content_of(Path(path), most=LARGEST_FILE, linked=True)
    except OSError as error:
        raise InputError(
            f"an update is a file of at most {LARGEST_FILE // 1024} KB that can be read",
            where=where,
            got=error.strerror or type(error).__name__,
            remedy="check its name",
        ) from None
    content = _parsed(raw, where)
    if not isinstance(content, dict) or content.get("kind") != "update":
        raise _refused(where, "expected an update", "a file of another kind")
    version = content.get("schema_version")
    if isinstance(version, bool) or version != SCHEMA_VERSION:
        raise InputError(
            f"schema_version must be {SCHEMA_VERSION}",
            where=where,
            got=visible(repr(version)[:20]),
            remedy="read it with the version of Workup that wrote it",
        )
    if content.get("sha256") != digest(content) or raw != _bytes(content):
        raise _refused(where, "an update must match its own sha256", "one that was changed after it was made")
    if key is not None:
        _check_signature(content, key, where)
    return UpdateFile(where, _checked(content, where))


def _parsed(raw: bytes, where: str) -> Any:
    try:
        found = json_of(raw)
        canonical(found)  # goes deeper for each level than reading did
        return found
    except RecursionError:
        raise _refused(where, "expected an update", "JSON nested too deeply") from None
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise _refused(where, "expected an update", "a file that is not JSON") from None
    except ValueError as error:  # NaN, nested without end, a whole number of thousands of digits
        raise _refused(where, "expected an update", visible(str(error))[:80]) from None


def _check_signature(content: Mapping[str, Any], key: bytes, where: str) -> None:
    if "signature" not in content:
        raise InputError(
            "the update must be signed, since a key was given",
            where=where,
            got="one without a signature",
            remedy="make it again with --key-file, or leave the key out and trust the file as it is",
        )
    if not signed_by({name: part for name, part in content.items() if name != "sha256"}, [key]):
        raise InputError(
            "the update must be signed with the key given here",
            where=where,
            got="a signature of another key",
            remedy="give the key that it was signed with, or ask who made it",
        )


def _refused(where: str, expected: str, got: str) -> InputError:
    return InputError(expected, where=where, got=got, remedy=_AGAIN)


def _checked(content: Mapping[str, Any], where: str) -> dict[str, Any]:
    try:
        UpdateForm.model_validate(content)
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False)[0]
        place = visible(".".join(str(part)[:40] for part in fault["loc"])) or "the whole"
        raise _refused(where, "expected an update in its known form", f"at {place}: {_said(fault)}") from None
    except RecursionError:
        raise _refused(where, "expected an update", "JSON nested too deeply") from None
    return dict(content)


_FAULTS = {
    "missing": "a field that is not there",
    "extra_forbidden": "a field that does not belong there",
    "literal_error": "a value that is none of those known",
    "string_pattern_mismatch": "a text of another form",
    "string_too_long": "a text that is too long",
    "string_too_short": "a text that is empty",
    "finite_number": "a number without end",
    "too_long": "more entries than there can be",
    "too_short": "fewer entries than there must be",
}


def _said(fault: Mapping[str, Any]) -> str:
    """A fault of form in words of our own; the library's speak of types and parsing."""
    kind = str(fault["type"])
    if kind == "value_error":
        return visible(str(fault["msg"]).removeprefix("Value error, ").partition("\n")[0][:120])
    if kind.startswith(("greater_than", "less_than")):
        return "a number out of bounds"
    return _FAULTS.get(kind, "something of another kind")
