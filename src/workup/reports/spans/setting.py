"""The setting that the headline numbers of a detector are taken at, and the record seen at that setting alone.

Knows which slice keys name a rule set; every other key of a slice is a group of patients, a site or a window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workup.report import Estimate, LensResult, Report
from workup.reports.narrowing import Narrowing

LEVEL = 0.95  # of the intervals that are shown; others are held for gates
RULE_KEYS = ("mode", "level", "equivalent", "policy")
_DEFAULT = {"mode": "full_mask", "level": "phi"}  # what a gate takes that names neither


def is_spans(report: Report) -> bool:
    """Is this a report of a span detector?"""
    return report.study.get("task") == "spans"


@dataclass(frozen=True)
class Primary:
    """Mode, level and policy of the headline; `several` says that slices name their policy."""

    mode: str
    level: str
    policy: str
    several: bool

    @classmethod
    def of(cls, report: Report) -> Primary:
        """As the study names them, else the defaults of the gates."""
        internal = report.results.get("internal", LensResult("internal"))
        named = report.study.get("primary") or {}
        held = [str(row["name"]) for row in internal.tables.get("policies", ())] or ["as_annotated"]
        chosen = {**_DEFAULT, **{key: str(named[key]) for key in ("mode", "level", "policy") if named.get(key)}}
        return cls(chosen["mode"], chosen["level"], chosen.get("policy", held[0]), len(held) > 1)

    def rule(self, **more: Any) -> dict[str, Any]:
        """Slice keys of a number that a mode and a level decide."""
        return {"mode": self.mode, "level": self.level, **self.policy_key(), **more}

    def policy_key(self, policy: str | None = None) -> dict[str, Any]:
        """Slice keys of a number that the policy alone decides."""
        return {"policy": policy or self.policy} if self.several else {}

    def sees(self, keys: Mapping[str, Any]) -> bool:
        """Whether a slice belongs to the headline: nothing in it names another rule, a label or a kind of entity."""
        if set(keys) & {"equivalent", "label", "identifier", "category"}:
            return False
        wanted = {"mode": self.mode, "level": self.level, "policy": self.policy}
        return all(keys.get(key, value) == value for key, value in wanted.items())


def found(rows: Iterator[Estimate] | tuple[Estimate, ...], metric: str, keys: Mapping[str, Any]) -> Estimate | None:
    """The 95 % estimate of a metric on exactly this slice."""
    return next((e for e in rows if e.metric == metric and e.level == LEVEL and dict(e.slice) == dict(keys)), None)


def narrowed(report: Report) -> Report:
    """The record as the lenses saw the primary setting."""
    if not is_spans(report):
        return report
    return Narrowing(Primary.of(report).sees, RULE_KEYS, unlisted=("documents",)).of(report)
