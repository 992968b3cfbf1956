"""Typed settings: `Part`, which every piece of a study is made of, and its faults in the words of YAML: where, what was
expected, what was got, what to do.

Knows pydantic's models and error types, and nothing of what the settings mean.
"""

from __future__ import annotations

import datetime
import difflib
import math
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self, Union, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    SecretBytes,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import FieldInfo

from workup.errors import StudyError, near, visible

_OURS = ("value_error", "assertion_error")  # messages written in this project's own validators
_LONGEST_NAME, _LONGEST_PATH = 255, 4_096  # bytes, as file systems have them
_SHOWN = 60  # characters of a value in a message
_SECRET = re.compile(r"(^|_)(key|token|secret|password|passphrase|credentials?)($|_)")
_ITEMS: dict[Any, str] = {str: "[first, second]", float: "[0.1, 0.2]", int: "[1, 2]", bool: "[true, false]"}
_ONE = {str: "text", float: "a number", int: "a whole number", bool: "true or false", Path: "a path"}
_SEVERAL = {str: "texts", float: "numbers", int: "whole numbers", Path: "paths"}


def _nameable(text: str) -> str:
    parts = [len(part.encode("utf-8", "surrogatepass")) for part in text.split("/")]
    if "\0" in text or max(parts) > _LONGEST_NAME or sum(parts) + len(parts) > _LONGEST_PATH:
        raise ValueError("expected the path of a file; no file can have this name")
    return text


FileName = Annotated[str, AfterValidator(_nameable)]  # as the system would say, but with the field and its line


class Part(BaseModel):
    """A piece of a study: every field known, with a default or required; nothing else is let in."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        # Python counts true as 1: `seed: yes` would be read as a seed of 1.
        if isinstance(value, bool):
            kinds = _kinds(cls.model_fields[str(info.field_name)].annotation)
            if kinds & {int, float} and not kinds & {bool, Any}:
                raise ValueError(f"expected a number; got {shape(value)}")
        return value

    @classmethod
    def checked(cls, content: Any, *, where: str, lines: Mapping[tuple[str, ...], int] | None = None) -> Self:
        """Read plain data, or raise one StudyError that names every fault."""
        if not isinstance(content, Mapping):
            # Of a whole file that is no mapping nothing is repeated: it may be a note, or a table of patients.
            got = "a text" if isinstance(content, str) and lines is not None else shape(content)
            raise StudyError(f"{where}: expected a mapping of fields; got {got}.")
        try:
            return cls.model_validate(dict(content))
        except ValidationError as error:
            raise StudyError(taught(error, cls, where=where, lines=lines)) from None


@dataclass(frozen=True)
class _Slot:
    """A place that a value can stand in: its type, the limits on it, and an example where the field gives one."""

    type: Any
    limits: tuple[Any, ...] = ()
    example: str = ""

    @classmethod
    def of(cls, annotation: Any, limits: Sequence[Any] = (), example: str = "") -> _Slot:
        """A slot without the wrappers of its type: `Annotated`, a named alias, `X | None`."""
        limits = tuple(limits)
        while True:
            if get_origin(annotation) is Annotated:
                annotation, *more = get_args(annotation)
                limits = (*limits, *_limits(more))
            elif hasattr(annotation, "__value__"):  # `type X = …` of Python 3.12 on
                annotation = annotation.__value__
            elif len(members := _members(annotation)) == 1 and members[0] is not annotation:
                annotation = members[0]
            else:
                return cls(annotation, limits, example)

    @classmethod
    def of_field(cls, field: FieldInfo) -> _Slot:
        """The slot of a model's field."""
        example = "" if not field.examples else _written(field.examples[0])
        return cls.of(field.annotation, _limits(field.metadata), example)

    @property
    def model(self) -> type[BaseModel] | None:
        """The model that stands here, if one does."""
        return self.type if isinstance(self.type, type) and issubclass(self.type, BaseModel) else None

    @property
    def members(self) -> list[_Slot]:
        """The kinds of value that may stand here; one, unless the type is a union."""
        members = [_Slot.of(member, self.limits) for member in _members(self.type)]
        shape_of = {"[": "list", "{": "mapping"}.get(self.example[:1])
        return [replace(one, example=self.example) if one.kind == shape_of else one for one in members]

    def inner(self, step: str | int) -> _Slot | None:
        """The slot one step further in: a field, an item of a list, a value of a mapping."""
        if self.model is not None:
            for name, field in self.model.model_fields.items():
                if step in (name, field.alias, field.validation_alias):
                    return _Slot.of_field(field)
            return None
        arguments = [argument for argument in get_args(self.type) if argument is not Ellipsis]
        if not arguments or self.kind not in ("list", "mapping"):
            return None
        if self.kind == "mapping":
            return _Slot.of(arguments[-1])
        place = step if isinstance(step, int) and len(arguments) > 1 else 0
        return _Slot.of(arguments[min(place, len(arguments) - 1)])

    @property
    def kind(self) -> str:
        """Which shape of YAML is expected: mapping, list, text, number, truth, choice or other."""
        origin = get_origin(self.type) or self.type
        if self.model is not None or _is(origin, Mapping):
            return "mapping"
        if origin is Literal:
            return "choice"
        if origin in (str, Path, SecretStr, SecretBytes, datetime.date, datetime.datetime):
            return "text"
        if _is(origin, (list, tuple, set, frozenset, Sequence)):
            return "list"
        return {int: "number", float: "number", bool: "truth"}.get(origin, "other")

    def words(self) -> str:
        """What belongs here, as one would say it to someone who writes YAML."""
        members = self.members
        if len(members) > 1:
            return " or ".join(dict.fromkeys(member.words() for member in members))
        if self.model is not None:
            fields = [field.alias or name for name, field in self.model.model_fields.items()]
            return f"a mapping of fields ({', '.join(fields[:6])}{', …' if len(fields) > 6 else ''})"
        if self.kind == "choice":
            return "one of " + ", ".join(_written(value) for value in get_args(self.type))
        if self.kind in ("list", "mapping"):
            return self._collection()
        plain = _ONE.get(self.type, "text" if self.kind == "text" else "another value")
        return plain + _limited(self.limits, self.kind)

    def _collection(self) -> str:
        item = self.inner(0)
        if self.kind == "mapping":
            value = "value" if item is None else {"number": "0.1", "truth": "true"}.get(item.kind, "value")
            return f"a mapping such as {self.example or f'{{name: {value}}}'}"
        arguments = get_args(self.type)
        fixed = len(arguments) if _is(get_origin(self.type), tuple) and Ellipsis not in arguments else 0
        count = f"{fixed} " if fixed else ""
        if item is None:
            return "a list"
        if item.model is not None:
            return f"a list, each item {item.words()}"
        what = _SEVERAL.get(item.type, "items" if item.kind != "list" else "lists")
        example = self.example or (f"[{_ITEMS[str]}]" if item.kind == "list" else _ITEMS.get(item.type, "[a, b]"))
        return f"a list of {count}{what} such as {example}{_limited(self.limits, 'list')}"


@dataclass(frozen=True)
class _Fault:
    """One fault of pydantic's with its union tags taken out of the way."""

    path: tuple[str | int, ...]
    slot: _Slot | None
    within: _Slot | None
    type: str
    message: str
    given: Any


def taught(
    error: ValidationError, model: type[BaseModel], *, where: str, lines: Mapping[tuple[str, ...], int] | None = None
) -> str:
    """One message with every fault, each with its line where `lines` knows it.

    >>> class Part(BaseModel):
    ...     thresholds: tuple[float, ...] = ()
    >>> try:
    ...     Part.model_validate({"thresholds": 0.2})
    ... except ValidationError as error:
    ...     print(taught(error, Part, where="study.yaml"))
    study.yaml: 'thresholds': expected a list of numbers such as [0.1, 0.2]; got 0.2. To fix: write [0.2].
    """
    faults = []
    for fault in _faults(error, model):
        path = tuple(str(part) for part in fault.path)
        known = lines or {}
        line = next((known[path[:end]] for end in range(len(path), 0, -1) if path[:end] in known), None)
        faults.append(visible((f"line {line}, " if line else "") + _sentence(fault)))
    faults = list(dict.fromkeys(faults))
    head = f"{where}: " if len(faults) == 1 else f"{where}: {len(faults)} things to mend:\n  "
    return head + "\n  ".join(faults)


# ---- which faults ----------------------------------------------------------------------------------------------------


def _faults(error: ValidationError, model: type[BaseModel]) -> Iterator[_Fault]:
    """Every fault once: of a value that may be of several kinds only those of the kind that was meant."""
    pending: dict[tuple[str | int, ...], list[tuple[dict[str, Any], str | int]]] = {}
    slots: dict[tuple[str | int, ...], _Slot] = {}
    for raw in error.errors(include_url=False, include_context=False):
        fault, tag = _located(dict(raw), _Slot(model))
        if tag is None:
            yield fault
        else:
            pending.setdefault(fault.path, []).append((dict(raw), tag))
            assert fault.slot is not None  # a tag is only found at a slot
            slots[fault.path] = fault.slot
    for path, faults in pending.items():
        yield from _meant(path, slots[path], faults)


def _located(raw: dict[str, Any], root: _Slot) -> tuple[_Fault, str | int | None]:
    """A fault at its slot; or, inside a value of several possible kinds, that value and pydantic's tag of the kind."""
    slot: _Slot | None = root
    within: _Slot | None = None
    path: list[str | int] = []
    tag = None
    for step in raw["loc"]:
        if slot is not None and len(slot.members) > 1:
            tag = step
            break
        path.append(step)
        within, slot = slot, None if slot is None else slot.inner(step)
    return _Fault(tuple(path), slot, within, raw["type"], raw["msg"], raw["input"]), tag


def _meant(
    path: tuple[str | int, ...], slot: _Slot, faults: list[tuple[dict[str, Any], str | int]]
) -> Iterator[_Fault]:
    """Faults of the kind whose shape the value has, or one fault of the whole value where it has none of them."""
    tags = dict.fromkeys(tag for _, tag in faults)
    for tag, member in zip(tags, slot.members, strict=False):
        own = [raw for raw, other in faults if other == tag]
        deeper = any(len(raw["loc"]) > len(path) + 1 for raw in own)
        if not deeper and not any(raw["type"] in _OURS or "_than" in raw["type"] for raw in own):
            continue
        for raw in own:
            inner, _ = _located({**raw, "loc": raw["loc"][len(path) + 1 :]}, member)
            yield replace(inner, path=(*path, *inner.path))
        return
    yield _Fault(path, slot, None, "kind", "", faults[0][0]["input"])


# ---- what is said ----------------------------------------------------------------------------------------------------


def _sentence(fault: _Fault) -> str:
    if fault.type == "missing" and fault.within is not None and fault.within.kind == "list":
        fault = replace(fault, path=fault.path[:-1], slot=fault.within, type="too_short")
    path = [str(step) for step in fault.path]
    field = ".".join(path)
    name = path[-1] if path else ""
    if fault.type in _OURS:
        said = re.sub(r"^(Value error|Assertion failed), ", "", fault.message)
        return f"'{field}': {said}." if field else f"{said}."
    if fault.type == "extra_forbidden":
        return f"'{field}' is not a known field; {near(name, _fields(fault.within))}."
    if fault.type == "missing":
        return f"'{field}' is missing ({_fields(fault.within).get(name) or 'it is required'})."
    if fault.type == "invalid_key" or name == "[key]":
        field = ".".join(path[:-1]) if name == "[key]" else field
        return f"'{field}': expected text as the name of a field; got {shape(fault.given)}. To fix: put it in quotes."
    if fault.slot is None:
        said = fault.message.removeprefix("Input should be ")
        return f"'{field}': expected {said[:1].lower() + said[1:]}; got {shape(fault.given)}."
    secret = fault.slot.type in (SecretStr, SecretBytes) or _SECRET.search(name.lower())
    got = "a value that is not shown" if secret else shape(fault.given)
    remedy = "" if secret else _remedy(fault.slot, fault.given)
    return f"'{field}': expected {fault.slot.words()}; got {got}." + (f" To fix: {remedy}." if remedy else "")


def _fields(slot: _Slot | None) -> dict[str, str]:
    """Names and descriptions of the fields that may stand in a slot."""
    if slot is None or slot.model is None:
        return {}
    return {field.alias or name: field.description or "" for name, field in slot.model.model_fields.items()}


def shape(value: Any) -> str:
    """A value as a message shows it: short, in the words of YAML."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        if isinstance(value, float) and not math.isfinite(value):
            return f"{value}, which is not finite"
        # Python refuses to write out whole numbers of thousands of digits.
        return str(value) if abs(value) < 10**_SHOWN else "a number of many digits"
    if isinstance(value, (datetime.date, datetime.datetime)):
        return f"the date {value.isoformat()}"
    if isinstance(value, Mapping):
        names = [str(name)[:20] for name in list(value)[:4]]
        return f"a mapping ({', '.join(names)}{', …' if len(value) > 4 else ''})" if names else "an empty mapping"
    if isinstance(value, (list, tuple, set)):
        return f"a list of {len(value)}" if value else "an empty list"
    if isinstance(value, (str, Path)):
        text = str(value)
        return f"'{text[:_SHOWN]}{'…' if len(text) > _SHOWN else ''}'"
    return f"a {type(value).__name__}"


def _remedy(slot: _Slot, given: Any) -> str:
    kinds = {member.kind for member in slot.members}
    if given is None:
        return "give a value, or leave the field out"
    scalar = isinstance(given, (str, int, float))
    if slot.kind == "list" and scalar and slot.inner(0) is not None and not slot.limits:
        item = slot.inner(0)
        assert item is not None
        fits = item.kind == "text" if isinstance(given, str) else item.kind in ("number", "truth")
        return f"write [{_written(given)[:_SHOWN]}]" if fits and get_args(slot.type)[-1] is Ellipsis else ""
    if slot.kind == "list" and isinstance(given, Mapping):
        return "begin each item on a line of its own with a dash"
    if "text" in kinds and isinstance(given, (int, float, datetime.date)):
        # A number has lost how it was written: leading zeros, and the end of what is too long to show.
        patterned = any(getattr(one, "pattern", None) for one in slot.limits)
        lost = isinstance(given, (int, float)) and (patterned or abs(given) >= 10**_SHOWN)
        return "put it in quotes, as it is written" if lost else f'put it in quotes: "{str(given)[:_SHOWN]}"'
    if slot.kind == "choice" and isinstance(given, str):
        close = difflib.get_close_matches(given, [str(choice) for choice in get_args(slot.type)], n=1, cutoff=0.6)
        return f"write {close[0]}" if close else ""
    if "number" in kinds and isinstance(given, str) and re.fullmatch(r"\s*[\d.,]+\s*%?\s*", given):
        return "write the number with a decimal point and no other sign, such as 0.2"
    return ""


def _written(value: Any) -> str:
    """A value as YAML writes it on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_written(item)}" for name, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_written, value)) + "]"
    return str(value) if re.fullmatch(r"[\w.:/%-]+", str(value)) else f'"{value}"'


def _limits(metadata: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(one for one in metadata if any(hasattr(one, name) for name in _LIMITS))


_LIMITS = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern")


def _limited(limits: Sequence[Any], kind: str) -> str:
    """The limits on a value, behind its kind: " of at least 200", " above 0 and below 1"."""
    found = {name: getattr(one, name) for one in limits for name in _LIMITS if getattr(one, name, None) is not None}
    unit = "items" if kind == "list" else "characters"
    words = {"ge": "at least {:,}", "gt": "above {:,}", "le": "at most {:,}", "lt": "below {:,}"}
    said = [words[name].format(found[name]) for name in words if name in found and _plain_number(found[name])]
    said += [f"a multiple of {found['multiple_of']:,}"] if "multiple_of" in found else []
    if "min_length" in found:
        said.append(f"at least {found['min_length']} {unit[:-1] if found['min_length'] == 1 else unit}")
    if "max_length" in found:
        said.append(f"at most {found['max_length']} {unit}")
    if "pattern" in found:
        said.append(f"of the form {getattr(found['pattern'], 'pattern', found['pattern'])}")
    if not said:
        return ""
    joint = ", " if kind in ("list", "text") else " of " if said[0].startswith("at ") else " "
    return joint + " and ".join(said)


def _plain_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _members(annotation: Any) -> list[Any]:
    """The alternatives of a union without None; of anything else itself."""
    if get_origin(annotation) in (Union, types.UnionType):
        return [member for member in get_args(annotation) if member is not type(None)]
    return [annotation]


def _is(kind: Any, of: Any) -> bool:
    return isinstance(kind, type) and kind not in (str, bytes) and issubclass(kind, of)


def _kinds(annotation: Any) -> set[Any]:
    """An annotation with all that it is made of: `X | None` holds X, `tuple[X, ...]` too."""
    return {annotation, *(inner for part in get_args(annotation) for inner in _kinds(part))}
