"""The JSON Schema of report.json, for tools that read records, and the check of a record against it.

The record itself is made in report.py. What a lens or a task puts in its tables stays open.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib.resources import files
from typing import Any

from workup.errors import visible
from workup.estimate import Estimate

SCHEMA_VERSION = 2
SINCE_2 = ("metrics", "primary", "gate_level", "summary")  # fields by which a record explains itself

_NUMBER: dict[str, Any] = {"type": ["number", "null"]}
_TEXT: dict[str, Any] = {"type": "string"}
_OBJECT: dict[str, Any] = {"type": "object"}
_WHOLE: dict[str, Any] = {"type": "integer", "minimum": 0}
_WORDS: dict[str, Any] = {"type": ["string", "null"]}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_SLICE: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
}
_LEVEL: dict[str, Any] = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
_OF_ESTIMATE: dict[str, dict[str, Any]] = {
    "metric": _TEXT,
    "slice": _SLICE,
    "value": _NUMBER,
    "low": _NUMBER,
    "high": _NUMBER,
    "level": _LEVEL,
    "method": _TEXT,
    "se": _NUMBER,
    "n_patients": _WHOLE,
    "n_rows": _WHOLE,
    "n_events": {"type": ["integer", "null"], "minimum": 0},
    "numerator": _NUMBER,
    "denominator": _NUMBER,
    "status": {"enum": ["ok", "undefined", "insufficient", "withheld"]},
    "reason": {"type": ["string", "null"]},
    "clusters": {"type": ["integer", "null"], "minimum": 0},
    "ceiling": _NUMBER,
}
_LATER = ("clusters", "ceiling")  # fields that records made before them do not hold

# Rows of lenses hold more than this; what they have under these names is read by pages, gates and packs.
_OF_ROW: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("value", "low", "high", "se", "p", "p_adjusted", "margin", "z", "statistic"), _NUMBER),
    **dict.fromkeys(("lower", "upper", "baseline", "scale_se", "tau", "tau_low", "tau_high", "i2", "i2_low"), _NUMBER),
    **dict.fromkeys(("i2_high", "pi_low", "pi_high", "q", "q_p", "n_patients", "k", "q_df", "lost"), _NUMBER),
    **dict.fromkeys(("kind", "verdict", "reason", "method", "status", "chart", "window", "type", "rule"), _WORDS),
    "signal": {"type": ["boolean", "null"]},
    "test": _WORDS,
    "limit": {"type": ["number", "array", "null"]},  # a pair, where both ends are bounded
    "metric": _TEXT,
    "slice": _SLICE,
    "level": {"anyOf": [_LEVEL, {"type": "null"}]},
    "sites": _TEXTS,
    "weights": {"type": "array", "items": _NUMBER},
}
_OF_STUDY: dict[str, dict[str, Any]] = {
    "name": _TEXT,
    "task": _TEXT,
    "seed": {"type": "integer"},
    **dict.fromkeys(("gates", "policies", "modes", "levels", "intended_settings", "ignore", "equivalent"), _TEXTS),
    "thresholds": {"type": "array", "items": {"type": "number"}},
    "lenses": {"type": "object", "additionalProperties": _OBJECT},
    **dict.fromkeys(("primary", "corpus", "report", "conversation", "bootstrap"), _OBJECT),
    "columns": {"type": ["object", "null"]},
    "systems": {"type": "array", "items": _OBJECT},
    "time_format": _WORDS,
}
_OF_CORPUS: dict[str, dict[str, Any]] = {
    "name": _TEXT,
    "version": _WORDS,
    "seed": {"type": ["integer", "null"]},
    # Null where sites that were pooled held counts back.
    "n_cases": {"type": ["integer", "null"], "minimum": 0},
    "n_patients": {"type": ["integer", "null"], "minimum": 0},
    "sha256": _TEXT,
}

_SIZE: dict[str, Any] = {
    "type": "object",
    "required": ["patients", "rows"],
    "properties": dict.fromkeys(("patients", "rows", "events", "non_events", "outcome_missing"), _WHOLE)
    | dict.fromkeys(("event_patients", "non_event_patients"), _WHOLE)
    | {"share_of_patients": {"type": "number"}, "first_date": _WORDS, "last_date": _WORDS},
}


def _rows(required: Sequence[str], **kinds: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "object", "required": [*required], "properties": kinds}}


_NAME: dict[str, Any] = {"type": ["string", "number", "boolean"]}
_BOTH: dict[str, Any] = {"type": "object", "required": ["development", "validation"]}
_CHANGE = ("development", "validation", "difference", "low", "high", "cohens_h")
_OF_SPLIT: dict[str, dict[str, Any]] = {
    "kind": {"const": "split"},
    "strategy": _TEXT,
    "seed": {"type": "integer"},
    "columns": {
        "type": "object",
        "required": ["patient", "outcome", "by", "site", "time", "stratified_by"],
        "properties": {**dict.fromkeys(("patient", "outcome", "site", "time"), _WORDS), "by": _TEXTS}
        | {"stratified_by": _TEXTS},
    },
    "settings": {
        "type": "object",
        "required": ["share", "quota"],
        "properties": {"share": _NUMBER, "quota": {"type": "object", "additionalProperties": _OBJECT}},
    },
    "whole": _SIZE,
    "sides": {**_BOTH, "additionalProperties": _SIZE},
    "left_out": _rows(("reason", "patients", "rows"), reason=_TEXT, **dict.fromkeys(("patients", "rows"), _WHOLE)),
    "levels": _rows(
        ("variable", "level", "patients", "share", "representation", "rows"),
        variable=_TEXT,
        level=_NAME,
        events={**_BOTH, "additionalProperties": {"type": "object", "additionalProperties": _WHOLE}},
        patients={**_BOTH, "additionalProperties": _WHOLE},
        share={"type": "object", "additionalProperties": _NUMBER},
        representation={"type": "object", "additionalProperties": _NUMBER},
        rows={**_BOTH, "additionalProperties": _WHOLE},
    ),
    "margins": {"type": ["object", "null"]},
    "collapsed": {"type": "array", "items": _OBJECT},
    "changes": _rows(
        ("variable", "level", *_CHANGE),
        **{**dict.fromkeys(_CHANGE, _NUMBER), "p": _NUMBER, "p_adjusted": _NUMBER},
        variable=_TEXT,
        level=_NAME,
        changed={"type": "boolean"},
        test=_WORDS,
    ),
    "about": _OBJECT,
    "notes": _TEXTS,
    "warnings": {"type": "array", "items": _OBJECT},
}


def report_schema(version: int = SCHEMA_VERSION) -> dict[str, Any]:
    """The schema of a record; rows that a lens or a task adds stay open.

    >>> report_schema()["properties"]["schema_version"]
    {'const': 2}
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Workup report",
        "description": "The record of one study of one system; undefined values are null and carry a reason.",
        "type": "object",
        "required": [*_properties(version)],
        "properties": _properties(version),
        "$defs": {"Estimate": _estimate(), "Result": _result(), "Verdict": _verdict()},
    }


def _properties(version: int) -> dict[str, Any]:
    return {
        "schema_version": {"const": version},
        "workup": _TEXT,
        "as_of": {"type": ["string", "null"]},
        "study": {"type": "object", "required": ["name", "task"], "properties": _OF_STUDY},
        "corpus": {"type": "object", "required": [*_OF_CORPUS], "properties": _OF_CORPUS},
        "system": {
            "type": "object",
            "required": ["name", "version"],
            "properties": {"name": _TEXT, "version": _TEXT},
        },
        "seed": {"type": "integer"},
        "contains_phi": {"type": "boolean"},
        "results": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Result"}},
        "verdicts": {"type": "array", "items": {"$ref": "#/$defs/Verdict"}},
        "environment": {"type": "object", "additionalProperties": _TEXT},
        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        **(_explaining() if version > 1 else {}),
    }


def _explaining() -> dict[str, Any]:
    """How a record explains itself, since schema 2."""
    words = {"type": "array", "items": _TEXT}
    card = {
        "title": _TEXT,
        "describe": _TEXT,
        "better": {"enum": ["higher", "lower", "target", "neither"]},
        "target": {"type": ["number", "null"]},
        "scale": {"enum": ["identity", "logit", "log"]},
        "unit": _TEXT,
        "section": _TEXT,
        "shown": words,
        "concern": {"type": ["object", "null"]},
        "harm": {"type": "boolean"},
        "pooled": {"type": "boolean"},
        "order": {"type": "integer"},
    }
    held = {"type": "object", "required": [*card], "properties": card, "additionalProperties": False}
    return {
        "metrics": {"type": "object", "additionalProperties": held},
        "primary": _OBJECT,
        "gate_level": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "summary": {"type": "object", "additionalProperties": words},
    }


@cache
def _schema_1() -> Mapping[str, Any]:
    text = (files("workup") / "report_schema_1.json").read_text(encoding="utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


def unsaid_in_schema_1(study: Mapping[str, Any]) -> dict[str, Any]:
    """What a record of schema 1 left unsaid and its readers knew: the cards and the primary slice of its task."""
    known = _schema_1().get(str(study.get("task")), {})
    primary = dict(known.get("primary", {}))
    if study.get("policies"):
        primary["policy"] = study["policies"][0]
    thresholds = list(study.get("thresholds") or ())
    if study.get("cost_ratio") is not None:
        thresholds.append(1 / (1 + float(study["cost_ratio"])))
    if thresholds:
        primary["threshold"] = thresholds[0]
    return {
        "metrics": known.get("metrics", {}),
        "primary": {**primary, **(study.get("primary") or {})},
        "gate_level": known.get("gate_level", 0.95),
        "summary": known.get("summary", {}),
    }


def _estimate() -> dict[str, Any]:
    names = [one.name for one in fields(Estimate)]
    return {
        "type": "object",
        "required": [name for name in names if name not in _LATER],
        "properties": {name: _OF_ESTIMATE[name] for name in names},
        "additionalProperties": False,
    }


def _result() -> dict[str, Any]:
    rows = {"type": "array", "items": {"type": "object", "required": ["metric", "slice"], "properties": _OF_ROW}}
    parts = {
        "settings": _OBJECT,
        "estimates": {"type": "array", "items": {"$ref": "#/$defs/Estimate"}},
        "comparisons": rows,
        "tables": {"type": "object", "properties": {"split": _split()}},
        "charts": _OBJECT,
        "notes": _TEXTS,
    }
    open_rows = {"type": "array", "items": _OBJECT}  # alerts and charts stand by cause, each in a form of its own
    more = {"pooled": rows, "alerts": open_rows, "charts_state": open_rows}
    return {"type": "object", "required": [*parts], "properties": {**parts, **more}, "additionalProperties": False}


def _split() -> dict[str, Any]:
    return {"type": "object", "required": [*_OF_SPLIT], "properties": _OF_SPLIT}


def _verdict() -> dict[str, Any]:
    outcome = {"enum": ["pass", "fail", "unsure", "not_assessed"]}
    ends = dict.fromkeys(("value", "low", "high", "n", "baseline"), _NUMBER)
    observed = {"type": ["object", "null"], "properties": ends}
    return {
        "type": "object",
        "required": ["rule", "outcome", "observed", "reason"],
        "properties": {"rule": _TEXT, "outcome": outcome, "observed": observed, "reason": _TEXT},
        "additionalProperties": False,
    }


# ---- the check -------------------------------------------------------------------------------------------------------

Fault = tuple[tuple[str | int, ...], str]  # the place, from the inside out as it is found, and what is wrong there
Check = Callable[[Any], Fault | None]
_KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}
_NAMES = {"object": "an object", "array": "a list", "string": "a text", "number": "a number"} | {
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}


def fault_in(record: Mapping[str, Any]) -> str:
    """Where a record is not of its schema and what was expected there; nothing where it is whole.

    >>> fault_in({"schema_version": 1})
    "'workup' is missing"
    """
    version = record.get("schema_version")
    return _told(_compiled(1 if version == 1 else SCHEMA_VERSION)(record))


def fault_in_split(record: Any) -> str:
    """The same for the record of a split, which a report shows among its tables.

    >>> fault_in_split({"kind": "split"})
    "'strategy' is missing"
    """
    return _told(_check_of(_split(), {})(record))


def _told(fault: Fault | None) -> str:
    if fault is None:
        return ""
    place = visible(".".join(str(step)[:60] for step in fault[0]))
    return f"'{place}' {fault[1]}" if place else f"it {fault[1]}"


@cache
def _compiled(version: int) -> Check:
    whole = report_schema(version)
    return _check_of(whole, whole["$defs"])


def _check_of(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Check:
    """A schema as a function, so that thousands of rows are checked without reading it again.

    Knows the words of JSON Schema that `report_schema` uses.
    """
    if "$ref" in schema:
        return _check_of(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        options = [_check_of(one, definitions) for one in schema["anyOf"]]
        return lambda value: None if any(option(value) is None for option in options) else options[0](value)
    steps = [_check_value(schema)]
    if "items" in schema:
        steps.append(_check_items(_check_of(schema["items"], definitions)))
    if "properties" in schema or "additionalProperties" in schema or "required" in schema:
        steps.append(_check_fields(schema, definitions))

    def check(value: Any) -> Fault | None:
        for step in steps:
            if fault := step(value):
                return fault
        return None

    return check if len(steps) > 1 else steps[0]


def _check_value(schema: Mapping[str, Any]) -> Check:
    listed = schema.get("enum") or ([schema["const"]] if "const" in schema else None)
    if listed is not None:
        wrong: Fault = ((), f"must be {' or '.join(str(one) for one in listed)}")
        return lambda value: None if any(value == one and type(value) is type(one) for one in listed) else wrong
    names = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", [])
    kinds = tuple(kind for name in names for kind in _KINDS[name])
    truth = "boolean" in names
    other: Fault = ((), f"must be {' or '.join(_NAMES[name] for name in names)}")
    least, above, below = (schema.get(key) for key in ("minimum", "exclusiveMinimum", "exclusiveMaximum"))
    pattern = re.compile(schema["pattern"]) if "pattern" in schema else None

    def check(value: Any) -> Fault | None:
        if kinds and (not isinstance(value, kinds) or (value.__class__ is bool and not truth)):
            return other
        if pattern is not None and not pattern.search(value):
            return (), "must be of another form"
        if least is not None and value is not None and value < least:
            return (), f"must be {least} or more"
        if above is not None and not above < value < below:
            return (), f"must be between {above} and {below}"
        return None

    return check


def _check_items(each: Check) -> Check:
    def check(values: Any) -> Fault | None:
        for place, value in enumerate(values):
            if fault := each(value):
                return (place, *fault[0]), fault[1]
        return None

    return check


def _check_fields(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Check:
    needed, known = schema.get("required", ()), schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    checks = {name: _check_of(one, definitions) for name, one in known.items()}
    other = _check_of(others, definitions) if isinstance(others, dict) else None

    def check(record: Any) -> Fault | None:
        if record is None:
            return None
        for name in needed:
            if name not in record:
                return (name,), "is missing"
        for name, value in record.items():
            own = checks.get(name, other)
            if own is not None:
                if fault := own(value):
                    return (name, *fault[0]), fault[1]
            elif others is False:
                return (name,), "is not a field of a record"
        return None

    return check
