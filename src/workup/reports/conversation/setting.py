"""What the headline of a chat model's report is taken at, its numbers by name, and the record seen at it alone.

Knows which slice keys belong to the task; every other key of a slice is a group, a site or a window."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workup.report import Estimate, LensResult, Report
from workup.reports.narrowing import Narrowing
from workup.reports.wording import plural

LEVEL = 0.95  # of the intervals that are shown
ONE_SIDED = 0.90  # two-sided level whose ends are one-sided 95 % bounds: what the gates of this task go by
ARMS = ("live", "oracle", "naive")
SETS = ("critical", "extended")
_OF_TASK = ("set", "arm")
_OTHER_KEYS = (
    *("turn", "attribute", "loss", "judge", "reader", "judge_run", "type", "basis", "unanswered", "source", "session"),
)
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


_SLIP = "slip-"  # arms in which an error was put into the model's own reply, which measure nothing else


class Numbers:
    """The estimates of the internal lens, to be asked for by metric and slice."""

    def __init__(self, internal: LensResult) -> None:
        counted = list(_counted(internal.tables.get("by_turn") or ()))
        self._held = {_key(e): e for e in (*counted, *internal.estimates)}
        self.turns = max((e.slice["turn"] for e in internal.estimates if "turn" in e.slice), default=0)
        seen = dict.fromkeys(str(e.slice["arm"]) for e in internal.estimates if "arm" in e.slice)
        self.arms = tuple(sorted((arm for arm in seen if not arm.startswith(_SLIP)), key=_order))
        self.slips = tuple(sorted(arm for arm in seen if arm.startswith(_SLIP)))

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


def _key(e: Estimate) -> tuple[str, float, frozenset[tuple[str, Any]]]:
    return e.metric, e.level, frozenset(e.slice.items())


UNREAD = "unread"  # facts that were asked for and of which no answer can be read, for whatever reason
_SHARES = {
    "recall": ("correct", "scorable"),
    "omission_rate": ("omitted", "scorable"),
    "reversal_rate": ("reversed", "scorable"),
    "wrong_value_rate": ("wrong_value", "scorable"),
    "stale_rate": ("stale", "retired"),
    "precision": ("supported", "listed"),
    "hallucination_rate": ("ungrounded", "entities"),
    "coverage": ("scorable", "facts"),
    UNREAD: (UNREAD, "facts"),
}


def _counted(rows: Sequence[Mapping[str, Any]]) -> Iterator[Estimate]:
    """Shares at each turn from the record's counts. They have no interval; where the record gives one, it stands."""
    for row in rows:
        counts: dict[str, Any] = {**row, UNREAD: row.get("facts", 0) - row.get("scorable", 0)}
        found = {name: (counts.get(top, 0), counts.get(bottom, 0)) for name, (top, bottom) in _SHARES.items()}
        keys = {key: row[key] for key in ("set", "arm", "turn")}
        for name, (top, bottom) in found.items():
            yield _share(name, keys, top, bottom, top / bottom if bottom else None)
        recall, precision = (found[name][0] / (found[name][1] or math.nan) for name in ("recall", "precision"))
        if not math.isnan(recall + precision):
            both = recall + precision
            yield _share("f1", keys, None, None, 2 * recall * precision / both if both else 0.0)


def _share(name: str, keys: Mapping[str, Any], top: Any, bottom: Any, value: float | None) -> Estimate:
    return Estimate(
        metric=name,
        slice=keys,
        value=value,
        low=None,
        high=None,
        level=LEVEL,
        method="counted",
        se=None,
        n_patients=0,
        n_rows=0,
        numerator=top,
        denominator=bottom,
        status="undefined" if value is None else "ok",
        reason="nothing to count at this turn" if value is None else "counted; its interval is not in the record",
    )


def _order(arm: str) -> tuple[int, int, str]:
    """Live, oracle and naive first; those with neutral turns by how many."""
    turns = arm.rpartition("-")[2]
    return (ARMS.index(arm) if arm in ARMS else len(ARMS), int(turns) if turns.isdecimal() else 0, arm)


def noun(report: Report) -> str:
    """What intervals count: patients, each with all of their cases."""
    return "patients"


def size_words(report: Report) -> str:
    """Cases and the patients that they are of: always both, since intervals count patients."""
    return f"{plural(int(report.corpus['n_cases']), 'case')} of {plural(int(report.corpus['n_patients']), 'patient')}"


def narrowed(report: Report) -> Report:
    """The record as the lenses saw the primary set and arm."""
    if not is_conversation(report):
        return report
    wanted = Setting.of(report).keys()

    def sees(keys: Mapping[str, Any]) -> bool:
        return not set(keys) & set(_OTHER_KEYS) and all(keys.get(key, value) == value for key, value in wanted.items())

    return Narrowing(sees, _OF_TASK, unlisted=("outcomes",)).of(report)
