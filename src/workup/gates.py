"""Gates judge interval ends: "auroc.low >= 0.75" → pass, fail, unsure or not_assessed. A null never passes."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workup.errors import GateError, near
from workup.estimate import Estimate
from workup.report import Report, Verdict

_RULE = re.compile(
    r"""^\s*(?P<metric>[A-Za-z_][\w]*)\s*
        (?:\{(?P<slice>[^{}]*)\})?\s*
        \.\s*(?P<part>value|low|high|n)\s*
        (?P<op>>=|<=|>|<)\s*
        (?:(?P<baseline>baseline)\s*(?:(?P<sign>[+\-\u2212])\s*(?P<shift>[\d.eE]+))?
          |(?P<number>[+\-]?[\d.]+(?:[eE][+\-]?\d+)?))
        \s*(?:@\s*(?P<level>0?\.\d+))?\s*$""",
    re.VERBOSE,
)
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}
_FORM = "METRIC[{key=value,…}].(value|low|high|n) OP NUMBER[@LEVEL], or … OP baseline [± NUMBER]"


@dataclass(frozen=True)
class Gate:
    """One rule. `Gate.parse("sensitivity{threshold=0.2}.low >= 0.8")` reads one."""

    rule: str
    metric: str
    slice: Mapping[str, str]
    part: str
    op: str
    number: float | None
    shift: float
    level: float

    @classmethod
    def parse(cls, rule: str, *, known: Iterable[str] = ()) -> Gate:
        """Read a rule; with `known` metrics, refuse one that names another.

        >>> gate = Gate.parse("auroc{sex=F}.low >= 0.75@0.90")
        >>> gate.metric, dict(gate.slice), gate.number, gate.level
        ('auroc', {'sex': 'F'}, 0.75, 0.9)
        """
        match = _RULE.match(rule)
        if match is None:
            raise GateError(f"cannot read the gate '{rule}'. Expected {_FORM}, for example 'auroc.low >= 0.75'.")
        names = set(known)
        if names and match["metric"] not in names:
            raise GateError(f"gate '{rule}': unknown metric '{match['metric']}'; {near(match['metric'], names)}.")
        keys: dict[str, str] = {}
        for pair in filter(None, (part.strip() for part in (match["slice"] or "").split(","))):
            key, found, value = pair.partition("=")
            if not found or not key.strip() or not value.strip():
                raise GateError(f"gate '{rule}': a slice is key=value; got '{pair}'.")
            keys[key.strip()] = value.strip()
        try:
            shift = float(match["shift"] or 0) * (1 if match["sign"] == "+" else -1)
            number = None if match["baseline"] else float(match["number"])
        except ValueError:
            raise GateError(f"cannot read the number in the gate '{rule}'. Expected {_FORM}.") from None
        level = float(match["level"] or 0.95)
        return cls(rule.strip(), match["metric"], keys, match["part"], match["op"], number, shift, level)

    @property
    def needs_baseline(self) -> bool:
        """Does the rule compare with a baseline report?"""
        return self.number is None


def levels(gates: Iterable[Gate]) -> tuple[float, ...]:
    """Interval levels a report must hold for its gates: 0.95 and any other that a rule names."""
    return tuple(sorted({0.95, *(gate.level for gate in gates)}, reverse=True))


def judge(
    gates: Sequence[Gate],
    estimates: Sequence[Estimate],
    *,
    primary: Mapping[str, Any] | None = None,
    baseline: Report | None = None,
) -> tuple[Verdict, ...]:
    """The verdict of every gate; a wildcard slice gives one verdict per level."""
    return tuple(verdict for gate in gates for verdict in _judge_one(gate, estimates, primary or {}, baseline))


def _judge_one(
    gate: Gate, estimates: Sequence[Estimate], primary: Mapping[str, Any], baseline: Report | None
) -> list[Verdict]:
    rows = [e for e in estimates if e.metric == gate.metric and e.level == gate.level]
    found = _matching(rows, gate.slice, primary)
    if not found:
        held = [e for e in estimates if e.metric == gate.metric]
        why = (
            f"the report holds no interval at level {gate.level:g}"
            if held and not rows
            else "no such slice in the report"
        )
        return [Verdict(gate.rule, "not_assessed", None, why)]
    wild = any(value == "*" for value in gate.slice.values())
    return [_verdict(gate, row, _threshold(gate, row, baseline), named=wild) for row in found]


def _matching(rows: Sequence[Estimate], keys: Mapping[str, str], primary: Mapping[str, Any]) -> list[Estimate]:
    """Rows whose slice has exactly the keys of the rule, filled up with the study's primary values."""
    found = []
    for row in rows:
        wanted = dict(keys)
        for key, value in primary.items():
            if key in row.slice:
                wanted.setdefault(key, str(value))
        if set(row.slice) == set(wanted) and all(
            value == "*" or _same(row.slice[key], value) for key, value in wanted.items()
        ):
            found.append(row)
    return found


def _same(held: Any, named: str) -> bool:
    if isinstance(held, (int, float)) and not isinstance(held, bool):
        try:
            return float(held) == float(named)
        except ValueError:
            return False
    return str(held) == named


def _threshold(gate: Gate, row: Estimate, baseline: Report | None) -> float | str:
    """The number to compare with, or why there is none."""
    if gate.number is not None:
        return gate.number
    if baseline is None:
        return "the rule compares with a baseline and none was given"
    same = [e for e in baseline.estimates(row.metric) if dict(e.slice) == dict(row.slice) and e.level == 0.95]
    if not same or same[0].value is None or same[0].status != "ok":
        return "the baseline report has no sound value for this metric and slice"
    return same[0].value + gate.shift


def _verdict(gate: Gate, row: Estimate, threshold: float | str, *, named: bool) -> Verdict:
    rule = gate.rule
    if named:
        rule += " [" + ", ".join(f"{key}={value}" for key, value in row.slice.items()) + "]"
    observed = {"value": row.value, "low": row.low, "high": row.high, "n": row.n_patients}
    if isinstance(threshold, str):
        return Verdict(rule, "not_assessed", observed, threshold)
    if gate.part == "n":
        passed = _COMPARE[gate.op](row.n_patients, threshold)
        return Verdict(rule, "pass" if passed else "fail", observed, f"{row.n_patients} patients")
    if row.status != "ok" or row.value is None or (gate.part != "value" and (row.low is None or row.high is None)):
        return Verdict(rule, "not_assessed", observed, f"{row.status}: {row.reason or 'no interval'}")
    end = {"value": row.value, "low": row.low, "high": row.high}[gate.part]
    if _COMPARE[gate.op](end, threshold):
        return Verdict(rule, "pass", observed, _say(gate, end, threshold, "meets"))
    # The near end decides between fail and unsure: when even the far end misses the limit, more data will not help.
    far = {("low", ">"): row.high, ("high", "<"): row.low}.get((gate.part, gate.op[0]))
    if far is not None and _COMPARE[gate.op](far, threshold):
        return Verdict(
            rule, "unsure", observed, f"the interval {row.low:.4g} to {row.high:.4g} straddles {threshold:g}"
        )
    return Verdict(rule, "fail", observed, _say(gate, end, threshold, "misses"))


def _say(gate: Gate, end: float | None, threshold: float, word: str) -> str:
    return f"{gate.part} {end:.4g} {word} {gate.op} {threshold:g}"
