"""What the headline of a chat model's report is taken at, its numbers by name, and the record seen at it alone.

Knows which slice keys belong to the task; every other key of a slice is a group, a site or a window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from workup.report import Estimate, LensResult, Report

LEVEL = 0.95  # of the intervals that are shown
ONE_SIDED = 0.90  # two-sided level whose ends are one-sided 95 % bounds: what the gates of this task go by
ARMS = ("live", "oracle", "naive")
SETS = ("critical", "extended")
_OF_TASK = ("set", "arm")
_OTHER_KEYS = ("turn", "attribute", "loss", "judge", "reader", "judge_run")
_DEFAULTS: dict[str, Any] = {"horizon": 10, "bar": 0.70, "memory": "full", "matcher": "context", "probe": "summary"}


def is_conversation(report: Report) -> bool:
    """Is this a report of a chat model over many turns?"""
    return report.study.get("task") == "conversation"


@dataclass(frozen=True)
class Setting:
    """Set and arm of the headline, and how the study held and read its conversations."""

    kind: str
    arm: str
    study: Mapping[str, Any]
    recorded: bool  # transcripts were given, so the study's memory is not what they were made with

    @classmethod
    def of(cls, report: Report) -> Setting:
        """As the study names them, else the defaults of the gates."""
        named = report.study.get("primary") or {}
        part = {**_DEFAULTS, **(report.study.get("conversation") or {})}
        systems = report.study.get("systems") or ()
        own = [one for one in systems if one.get("name") == report.system.get("name")] or systems
        recorded = not systems or any(one.get("use") == "recorded" for one in own)
        return cls(str(named.get("set") or "critical"), str(named.get("arm") or "live"), part, recorded)

    @property
    def bar(self) -> float:
        """Recall that is asked for at the horizon."""
        return float(self.study["bar"])

    @property
    def horizon(self) -> int:
        """The turn at which it is asked for."""
        return int(self.study["horizon"])

    @property
    def judge(self) -> str:
        """What found the conflicting advice of the headline: rules, or in a record of the first version the judge that
        it names. Since then what a judge says stands behind people's labels, under a key of its own (`reader`)."""
        named = self.study.get("judge")
        return named if isinstance(named, str) else ""

    def keys(self, **more: Any) -> dict[str, Any]:
        """Slice keys of a number of the headline."""
        return {"set": self.kind, "arm": self.arm, **more}


class Numbers:
    """The estimates of the internal lens, to be asked for by metric and slice."""

    def __init__(self, internal: LensResult) -> None:
        self._held = {(e.metric, e.level, frozenset(e.slice.items())): e for e in internal.estimates}
        self.turns = max((e.slice["turn"] for e in internal.estimates if "turn" in e.slice), default=0)
        seen = dict.fromkeys(str(e.slice["arm"]) for e in internal.estimates if "arm" in e.slice)
        self.arms = tuple(sorted(seen, key=_order))

    @classmethod
    def of(cls, report: Report) -> Numbers:
        """Those of a report; none where it has no internal lens."""
        return cls(report.results.get("internal", LensResult("internal")))

    def get(self, metric: str, keys: Mapping[str, Any] | None = None, *, level: float = LEVEL) -> Estimate | None:
        """The estimate on exactly this slice."""
        return self._held.get((metric, level, frozenset((keys or {}).items())))

    def gap_at(self, turn: int, kind: str, *, level: float = LEVEL) -> Estimate | None:
        """D at a turn; withheld where the headline is, since it is one."""
        e = self.get("decay_gap", {"set": kind, "arm": "live", "turn": turn}, level=level)
        whole = self.get("decay_gap", {"set": kind, "arm": "live"})
        if e is None or whole is None or whole.status != "withheld":
            return e
        return replace(e, value=None, low=None, high=None, se=None, status="withheld", reason=whole.reason)

    def conflicts(self, setting: Setting) -> Estimate | None:
        """K with its interval: the judge's, or that of the rules by name."""
        return self.get("conflict_rate") if setting.judge else self.get("conflict_rate", {"judge": "rules"})

    def turn_ends(self, metric: str, kind: str, arm: str) -> list[Estimate | None]:
        """A metric at every turn, in order."""
        return [self.get(metric, {"set": kind, "arm": arm, "turn": turn}) for turn in range(1, self.turns + 1)]


def _order(arm: str) -> tuple[int, int, str]:
    """Live, oracle and naive first; those with neutral turns by how many."""
    turns = arm.rpartition("-")[2]
    return (ARMS.index(arm) if arm in ARMS else len(ARMS), int(turns) if turns.isdecimal() else 0, arm)


def noun(report: Report) -> str:
    """What intervals count: cases, or clusters of them where cases share a persona or patient."""
    return "cases" if report.corpus.get("n_cases") == report.corpus.get("n_patients") else "clusters of cases"


def narrowed(report: Report) -> Report:
    """The record as the lenses saw the primary set and arm, with the keys that name them left out of every slice."""
    if not is_conversation(report):
        return report
    setting = Setting.of(report)
    return replace(report, results={name: _narrowed(one, setting) for name, one in report.results.items()})


def _sees(keys: Mapping[str, Any], setting: Setting) -> bool:
    return not set(keys) & set(_OTHER_KEYS) and all(
        keys.get(key, value) == value for key, value in setting.keys().items()
    )


def _narrowed(result: LensResult, setting: Setting) -> LensResult:
    estimates = tuple(
        replace(e, slice=_without(e.slice))
        for e in result.estimates
        if not e.metric.endswith("_published") and _sees(e.slice, setting)
    )
    # An alert that is not looked at is worse than one too many, so all of them stay.
    alerts = tuple(
        {**row, "slice": _without(row["slice"])} if _sees(row["slice"], setting) else row for row in result.alerts
    )
    tables = {
        name: list(_rows(table, setting)) if isinstance(table, (list, tuple)) else table
        for name, table in result.tables.items()
        if name != "outcomes"
    }
    return replace(
        result,
        estimates=estimates,
        comparisons=tuple(_rows(result.comparisons, setting)),
        tables=tables,
        pooled=tuple(_rows(result.pooled, setting)),
        alerts=alerts,
        charts_state=tuple(_rows(result.charts_state, setting)),
    )


def _rows(rows: Any, setting: Setting) -> Iterator[Any]:
    for row in rows:
        place = next(
            (key for key in ("slice", "at") if isinstance(row, Mapping) and isinstance(row.get(key), Mapping)), ""
        )
        if not place:
            yield row
        elif _sees(row[place], setting):
            yield {**row, place: _without(row[place])}


def _without(keys: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in keys.items() if key not in _OF_TASK}
