"""The JSON Schema of report.json, for tools that read records. The record itself is made in report.py."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from workup.estimate import Estimate
from workup.report import SCHEMA_VERSION

_NUMBER: dict[str, Any] = {"type": ["number", "null"]}
_TEXT: dict[str, Any] = {"type": "string"}
_OBJECT: dict[str, Any] = {"type": "object"}
_WHOLE: dict[str, Any] = {"type": "integer", "minimum": 0}
_OF_ESTIMATE: dict[str, dict[str, Any]] = {
    "metric": _TEXT,
    "slice": _OBJECT,
    "value": _NUMBER,
    "low": _NUMBER,
    "high": _NUMBER,
    "level": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
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


def report_schema() -> dict[str, Any]:
    """The schema of a record of this version; rows that a lens or a task adds stay open.

    >>> report_schema()["properties"]["schema_version"]
    {'const': 1}
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Workup report",
        "description": "The record of one study of one system; undefined values are null and carry a reason.",
        "type": "object",
        "required": [*_properties()],
        "properties": _properties(),
        "$defs": {"Estimate": _estimate(), "Result": _result(), "Verdict": _verdict()},
    }


def _properties() -> dict[str, Any]:
    return {
        "schema_version": {"const": SCHEMA_VERSION},
        "workup": _TEXT,
        "as_of": {"type": ["string", "null"]},
        "study": _OBJECT,
        "corpus": {"type": "object", "required": ["name", "version", "seed", "n_cases", "n_patients", "sha256"]},
        "system": {"type": "object", "required": ["name", "version"]},
        "seed": {"type": "integer"},
        "contains_phi": {"type": "boolean"},
        "results": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Result"}},
        "verdicts": {"type": "array", "items": {"$ref": "#/$defs/Verdict"}},
        "environment": _OBJECT,
        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
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
    rows = {"type": "array", "items": _OBJECT}
    parts = {
        "settings": _OBJECT,
        "estimates": {"type": "array", "items": {"$ref": "#/$defs/Estimate"}},
        "comparisons": rows,
        "tables": _OBJECT,
        "charts": _OBJECT,
        "notes": {"type": "array", "items": _TEXT},
    }
    more = {"pooled": rows, "alerts": rows, "charts_state": rows}
    return {"type": "object", "required": [*parts], "properties": {**parts, **more}, "additionalProperties": False}


def _verdict() -> dict[str, Any]:
    outcome = {"enum": ["pass", "fail", "unsure", "not_assessed"]}
    return {
        "type": "object",
        "required": ["rule", "outcome", "observed", "reason"],
        "properties": {"rule": _TEXT, "outcome": outcome, "observed": {"type": ["object", "null"]}, "reason": _TEXT},
        "additionalProperties": False,
    }
