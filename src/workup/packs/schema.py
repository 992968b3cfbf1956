"""The form of a pack, checked field by field before anything in it is believed."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Name = Annotated[str, Field(max_length=400)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Number = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=10**12)]
Share = Annotated[float, Field(gt=0, lt=1)]
Keys = Annotated[dict[Name, Name | Number], Field(max_length=10)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class SystemForm(_Strict):
    """Which system was validated."""

    name: Name
    version: Name


class SettingsForm(_Strict):
    """How it was measured."""

    thresholds: Annotated[list[Share], Field(max_length=1000)]
    levels: Annotated[list[Share], Field(min_length=1, max_length=20)]
    replicates: Count | None
    comparator: Name | dict[Name, Name] | None
    intersections: Annotated[list[Annotated[list[Name], Field(min_length=2, max_length=2)]], Field(max_length=100)]


class EstimateForm(_Strict):
    """One figure, or the fact that it was withheld."""

    metric: Name
    slice: Keys
    level: Share
    status: Literal["ok", "undefined", "insufficient", "withheld"]
    reason: Name | None = None
    method: Name | None = None
    value: Number | None = None
    low: Number | None = None
    high: Number | None = None
    se: Annotated[Number, Field(ge=0)] | None = None
    n_patients: Count | None = None
    n_rows: Count | None = None
    n_events: Count | None = None
    numerator: Number | None = None
    denominator: Annotated[Number, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        told = self.model_dump(exclude={"metric", "slice", "level", "status", "reason"}, exclude_none=True)
        if self.status == "withheld":
            if told:
                raise ValueError("a withheld estimate must tell nothing")
            return self
        if self.n_patients is None or self.n_rows is None or self.method is None:
            raise ValueError("an estimate needs n_patients, n_rows and method")
        if untold := set(EstimateForm.model_fields) - self.model_fields_set:
            raise ValueError(f"an estimate that is not withheld says {min(untold)}, if only as null")
        if self.n_patients > self.n_rows or (self.n_events or 0) > self.n_rows:
            raise ValueError("an estimate cannot rest on more patients or events than rows")
        if self.status == "ok" and (self.value is None or self.low is None or self.high is None):
            raise ValueError("an estimate with status ok needs value, low and high")
        _in_order(self.low, self.high)
        return self


class GapForm(_Strict):
    """One gap between groups, or the fact that it was withheld."""

    metric: Name
    slice: Keys
    against: Name
    kind: Literal["difference"]
    level: Share
    status: Literal["ok", "insufficient", "withheld"]
    reason: Name | None = None
    method: Name | None = None
    value: Number | None = None
    low: Number | None = None
    high: Number | None = None
    se: Annotated[Number, Field(ge=0)] | None = None
    p: Annotated[Number, Field(ge=0, le=1)] | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.status == "withheld" and not (self.value is self.low is self.high is self.se is self.p is None):
            raise ValueError("a withheld gap must tell nothing")
        if self.status == "ok" and self.value is None:
            raise ValueError("a gap with status ok needs a value")
        _in_order(self.low, self.high)
        return self


def _in_order(low: float | None, high: float | None) -> None:
    if low is not None and high is not None and low > high:
        raise ValueError("the lower end of an interval cannot lie above the upper one")


class SizesForm(_Strict):
    """Patients and rows of a group; null where withheld."""

    patients: Count | None
    rows: Count | None


class InputForm(_Strict):
    """How complete an input is."""

    input: Name
    missing: Count | None
    rows: Count | None
    share: Annotated[Number, Field(ge=0, le=1)] | None


class HoldingsForm(_Strict):
    """What the data hold."""

    patients: Count | None
    rows: Count | None
    waiting: Count | None
    groups: dict[Name, dict[Name, SizesForm]]
    inputs: Annotated[list[InputForm], Field(max_length=10_000)]
    label_delay_days: dict[Name, Number] | None


class WithheldForm(_Strict):
    """What was kept back, without any number."""

    metric: Name | None
    slice: Keys
    what: Name
    reason: Name


class StudyForm(_Strict):
    """Which study it is of, and the hash of the settings that must agree."""

    name: Name
    sha256: Sha256


class PackForm(_Strict):
    """A whole pack of this version, or of the one before, which named no study and had no number."""

    pack_version: Literal[1, 2]
    workup: Name
    task: Name
    site: Annotated[Name, Field(min_length=1)]
    study: StudyForm | None = None
    sequence: Annotated[int, Field(ge=1, le=10**9)] | None = None
    system: SystemForm
    as_of: Name | None
    settings: SettingsForm
    k: Count
    columns: Annotated[list[Name], Field(max_length=1000)]
    estimates: Annotated[list[EstimateForm], Field(max_length=200_000)]
    gaps: Annotated[list[GapForm], Field(max_length=200_000)]
    holdings: HoldingsForm
    facts: Annotated[dict[Name, Name | Number], Field(max_length=100)]
    withheld: Annotated[list[WithheldForm], Field(max_length=500_000)]
    sha256: Sha256
    signature: dict[Name, Name] | None = None

    @model_validator(mode="before")
    @classmethod
    def _known(cls, content: Any) -> Any:
        if isinstance(content, dict) and content.get("signature", {}) is None:
            raise ValueError("a signature cannot be null")
        return content

    @model_validator(mode="after")
    def _numbered(self) -> Self:
        if self.pack_version > 1 and (self.study is None or self.sequence is None):
            raise ValueError("a pack names its study and its sequence number")
        if self.pack_version == 1 and {"study", "sequence"} & self.model_fields_set:
            raise ValueError("a pack of version 1 names no study and no sequence number")
        return self
