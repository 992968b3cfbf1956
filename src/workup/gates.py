"""Gates judge interval ends: "auroc.low >= 0.75" → pass, fail, unsure or not_assessed. A null never passes.

An unsure verdict also says how many patients would settle it. Knows no file and no task.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workup.errors import GateError, near
from workup.estimate import Estimate
from workup.report import Report, Verdict
from workup.stats.intervals import ASSUMED_ICC, clustered_share

_RULE = re.compile(
    r"""^\s*(?P<metric>[A-Za-z_][\w]*)\s*
        (?:\{(?P<slice>[^{}]*)\})?\s*
        \.\s*(?P<part>value|low|high|n)\s*
        (?P<op>>=|<=|>|<)\s*
        (?:(?P<baseline>baseline)\s*(?:(?P<sign>[+\-\u2212])\s*(?P<shift>[\d.]+(?:[eE][+\-]?\d+)?))?
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
READER, RUN = "reader", "judge_run"  # slice keys of a judged figure, and of the same by one run of the judge
STRADDLED = "the judge's own re-runs lie on both sides"
_CUSTOMARY = 0.95  # level of the intervals that reports print
_DIGITS = 12  # of a number in a record; a threshold of 1/3 and its record are one
_MANY = 10_000_000  # patients beyond which a number is no plan
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
    def parse(cls, rule: str, *, known: Iterable[str] = (), level: float = 0.95) -> Gate:
        """Read a rule; with `known` metrics, refuse one that names another. `level` is that of a rule that names none.

        >>> gate = Gate.parse("auroc{sex=F}.low >= 0.75@0.90")
        >>> gate.metric, dict(gate.slice), gate.number, gate.level
        ('auroc', {'sex': 'F'}, 0.75, 0.9)
        """
        match = _RULE.match(rule)
        if match is None:
            raise GateError(f"cannot read the gate '{rule}'. Expected {_FORM}, for example 'auroc.low >= 0.75'.")
        _refuse_published(rule, match["metric"], match["slice"] or "")
        names = set(known)
        # Some tasks know more metrics than they can list, such as recall at any turn.
        if names and match["metric"] not in names and match["metric"] not in known:
            raise GateError(f"gate '{rule}': unknown metric '{match['metric']}'; {near(match['metric'], names)}.")
        _refuse_descriptive(rule, match["metric"], known)
        keys: dict[str, str] = {}
        for pair in filter(None, (part.strip() for part in (match["slice"] or "").split(","))):
            key, found, value = pair.partition("=")
            if not found or not key.strip() or not value.strip():
                raise GateError(f"gate '{rule}': a slice is key=value; got '{pair}'.")
            if key.strip() in keys:
                raise GateError(f"gate '{rule}': the slice names '{key.strip()}' twice; write a rule for each value.")
            keys[key.strip()] = value.strip()
        try:
            shift = float(match["shift"] or 0) * (1 if match["sign"] == "+" else -1)
            number = None if match["baseline"] else float(match["number"])
        except ValueError:
            raise GateError(f"cannot read the number in the gate '{rule}'. Expected {_FORM}.") from None
        named = float(match["level"] or level)
        if not 0 < named < 1:
            raise GateError(f"gate '{rule}': a level lies between 0 and 1, such as @0.90; got @{named:g}.")
        return cls(rule.strip(), match["metric"], keys, match["part"], match["op"], number, shift, named)

    @property
    def needs_baseline(self) -> bool:
        """Does the rule compare with a baseline report?"""
        return self.number is None


def _refuse_published(rule: str, metric: str, keys: str) -> None:
    """Variants kept for comparison with published work carry known flaws, so nothing may rest on them."""
    if metric.endswith("_published") or re.search(r"(?:=|^)\s*published:", keys):
        raise GateError(
            f"gate '{rule}': variants named 'published' stand in the report for comparison only and cannot be a gate. "
            "To fix: name the plain metric or mode."
        )


def _refuse_descriptive(rule: str, metric: str, known: Iterable[str]) -> None:
    """What shows association alone is for people to weigh, where the cards of a task say so."""
    card = known.get(metric) if isinstance(known, Mapping) else None
    if getattr(card, "section", "") == "descriptive":
        raise GateError(
            f"gate '{rule}': '{metric}' is descriptive: it shows what goes together, and no cause, so it cannot be a "
            "gate. To fix: leave the rule out."
        )


def levels(gates: Iterable[Gate], *, own: float = 0.95) -> tuple[float, ...]:
    """Interval levels a report must hold: 0.95, the one its task judges by, and any other that a rule names."""
    return tuple(sorted({0.95, own, *(gate.level for gate in gates)}, reverse=True))


def judge(
    gates: Sequence[Gate],
    estimates: Sequence[Estimate],
    *,
    primary: Mapping[str, Any] | None = None,
    baseline: Report | None = None,
    alarms: Sequence[str] = (),
    harms: Collection[str] = (),
) -> tuple[Verdict, ...]:
    """The verdict of every gate; a wildcard slice gives one verdict per level.

    `harms` are metrics that count harm done: one that is seen fails a limit on it, whatever is missing beside it.
    While an alarm says that no figure means what it says (`Report.alarms`), none can pass.
    """
    found = tuple(
        verdict
        for gate in gates
        for verdict in _judge_one(gate, estimates, primary or {}, baseline, harm=gate.metric in harms)
    )
    if not alarms:
        return found
    return tuple(
        replace(verdict, outcome="not_assessed", reason=alarms[0]) if verdict.outcome == "pass" else verdict
        for verdict in found
    )


def _judge_one(
    gate: Gate, estimates: Sequence[Estimate], primary: Mapping[str, Any], baseline: Report | None, *, harm: bool
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
    if READER in gate.slice and RUN in gate.slice:
        return [Verdict(gate.rule, "not_assessed", None, "no gate rests on a single run of a judge")]
    wild = any(value == "*" for value in gate.slice.values())
    verdicts = []
    for row in found:
        limit = _threshold(gate, row, baseline)
        verdict = _verdict(gate, _recorded(row), limit, named=wild, harm=harm)
        again = {_verdict(gate, _recorded(run), limit, named=wild, harm=harm).outcome for run in _runs_of(row, rows)}
        if verdict.outcome in ("pass", "fail") and not again <= {verdict.outcome}:
            verdict = replace(verdict, outcome="unsure", reason=STRADDLED)
        verdicts.append(verdict)
    return verdicts


def _runs_of(row: Estimate, rows: Sequence[Estimate]) -> list[Estimate]:
    """The same figure from each run of a judge that was asked several times; a rule must hold for all of them."""
    if READER not in row.slice:
        return []
    return [e for e in rows if RUN in e.slice and {k: v for k, v in e.slice.items() if k != RUN} == dict(row.slice)]


def _matching(rows: Sequence[Estimate], keys: Mapping[str, str], primary: Mapping[str, Any]) -> list[Estimate]:
    """Rows whose slice has exactly the keys of the rule, filled up with the study's primary values."""
    found = []
    for row in rows:
        wanted = dict(keys)
        for key, value in primary.items():
            if key in row.slice:
                wanted.setdefault(key, str(value))
        if set(row.slice) == set(wanted) and all(
            value == "*" or same_value(row.slice[key], value) for key, value in wanted.items()
        ):
            found.append(row)
    return found


def same_slice(held: Mapping[str, Any], named: Mapping[str, Any]) -> bool:
    """Do two slices name the same rows? Numbers are one where a record would write them alike."""
    return set(held) == set(named) and all(same_value(held[key], str(value)) for key, value in named.items())


def same_value(held: Any, named: str) -> bool:
    """Is a value of a slice the one that a rule names?"""
    if isinstance(held, (int, float)) and not isinstance(held, bool):
        try:
            return f"{float(held):.{_DIGITS}g}" == f"{float(named):.{_DIGITS}g}"
        except ValueError:
            return False
    return str(held) == named


def _threshold(gate: Gate, row: Estimate, baseline: Report | None) -> float | str:
    """The number to compare with, or why there is none."""
    if gate.number is not None:
        return gate.number
    if baseline is None:
        return "the rule compares with a baseline and none was given"
    same = [e for e in baseline.estimates(row.metric) if same_slice(e.slice, row.slice) and e.level == 0.95]
    if not same or same[0].value is None or same[0].status != "ok":
        return "the baseline report has no sound value for this metric and slice"
    return _digits(_digits(same[0].value) + gate.shift)


def _recorded(row: Estimate) -> Estimate:
    """An estimate as the record writes it: the verdict of a run and that on its record are then one."""
    value, low, high = (None if x is None else _digits(x) for x in (row.value, row.low, row.high))
    return replace(row, value=value, low=low, high=high)


def _digits(x: float) -> float:
    return float(f"{x:.{_DIGITS}g}")


def _verdict(gate: Gate, row: Estimate, threshold: float | str, *, named: bool, harm: bool) -> Verdict:
    rule = gate.rule
    if named:
        rule += " [" + ", ".join(f"{key}={value}" for key, value in row.slice.items()) + "]"
    observed = {"value": row.value, "low": row.low, "high": row.high, "n": row.n_patients}
    if isinstance(threshold, str):
        return Verdict(rule, "not_assessed", observed, threshold)
    if row.status == "withheld" and not row.n_rows:  # not told at all: how many there are is not known here either
        return Verdict(rule, "not_assessed", {**observed, "n": None}, f"withheld: {row.reason}")
    if gate.part == "n":
        passed = _COMPARE[gate.op](row.n_patients, threshold)
        return Verdict(rule, "pass" if passed else "fail", observed, f"{row.n_patients} patients")
    if row.status == "ok" and not (row.n_patients and row.n_rows):
        return Verdict(rule, "not_assessed", observed, "the figure rests on no patient")
    if harm and _harm_seen(gate, row, threshold):
        return Verdict(rule, "fail", observed, _say(gate, row.value, threshold, "misses"))
    if row.status != "ok" or row.value is None or (gate.part != "value" and (row.low is None or row.high is None)):
        why = row.reason or "no interval"
        return Verdict(rule, "not_assessed", observed, why if row.status == "ok" else f"{row.status}: {why}")
    if row.low is not None and row.high is not None and gate.part != "value" and not row.low <= row.value <= row.high:
        # Records of earlier versions drew a value and its interval by two curves: an end must not pass what the value
        # belies.
        return Verdict(
            rule, "not_assessed", observed, "the value lies outside its own interval, so neither end decides"
        )
    end = {"value": row.value, "low": row.low, "high": row.high}[gate.part]
    if _COMPARE[gate.op](end, threshold):
        return Verdict(rule, "pass", observed, _say(gate, end, threshold, "meets"))
    # The near end decides between fail and unsure: when even the far end misses the limit, more data will not help.
    far = {("low", ">"): row.high, ("high", "<"): row.low}.get((gate.part, gate.op[0]))
    if far is not None and _COMPARE[gate.op](far, threshold):
        if beyond := beyond_reach(gate, threshold, row.ceiling, row.clusters):
            return Verdict(rule, "not_assessed", observed, beyond)
        straddles = f"the interval{_at(gate)} {row.low:.4g} to {row.high:.4g} straddles {threshold:g}"
        return Verdict(rule, "unsure", observed, f"{straddles}; {_settling(gate, row, threshold)}")
    said = (_say(gate, end, threshold, "misses"), beyond_reach(gate, threshold, row.ceiling, row.clusters))
    return Verdict(rule, "fail", observed, "; ".join(filter(None, said)))


def beyond_reach(
    gate: Gate, threshold: float, ceiling: float | None, clusters: int | None, *, at_most: bool = False
) -> str:
    """What says that no result of so many clusters could meet the limit; nothing where a perfect one would.

    `ceiling` is the low end of a perfect share (with `at_most`, an upper bound of it); a perfect rate of failures has
    what it leaves as its high end. Clusters of the same size count in proportion, so the number needed follows from the
    logarithm of either.

    >>> beyond_reach(Gate.parse("recall.low >= 0.95@0.90"), 0.95, 0.846, 7)
    'not attainable: with 7 clusters a perfect model has 0.846; 0.95 needs 23'
    """
    side = {("low", ">"): 1, ("high", "<"): -1}.get((gate.part, gate.op[0]))
    if side is None or ceiling is None or not clusters or not ceiling < 1:
        return ""
    if ceiling <= 0:
        return _gap_beyond_reach(gate, threshold, ceiling, clusters) if side > 0 else ""
    best, limit = (ceiling, threshold) if side > 0 else (1 - ceiling, 1 - threshold)
    if _COMPARE[gate.op](best, threshold):
        return ""
    bounds = {1: "at most ", -1: "at least "}[side] if at_most else ""
    says = f"not attainable: with {clusters} clusters a perfect model has {bounds}{best:.3f}"
    if not 0 < limit < 1:
        return f"{says}, and no number of clusters shows {threshold:g}"
    needed = math.ceil(clusters * math.log(ceiling) / math.log(limit))
    return f"{says}; {threshold:g} needs {'at least ' if at_most else ''}{needed:,}"


def _gap_beyond_reach(gate: Gate, threshold: float, ceiling: float, clusters: int) -> str:
    """The same of a difference of two shares, which is 0 at best: `ceiling` is the low end where none was seen. It
    comes nearer to 0 as clusters are added, about in proportion."""
    if _COMPARE[gate.op](ceiling, threshold):
        return ""
    says = f"not attainable: with {clusters} clusters a model without any gap has {ceiling:.3f}"
    if threshold >= 0:
        return f"{says}, and no number of clusters shows {threshold:g}"
    return f"{says}; {threshold:g} needs about {math.ceil(clusters * ceiling / threshold):,}"


def reached(gate: Gate, estimates: Sequence[Estimate], primary: Mapping[str, Any]) -> Estimate | None:
    """The estimate that a rule on a single slice is judged by, where there is one."""
    rows = [e for e in estimates if e.metric == gate.metric and e.level == gate.level]
    found = _matching(rows, gate.slice, primary)
    return found[0] if found else None


def unattainable(
    gates: Iterable[Gate], sizes: Sequence[float], *, shares: Iterable[str], icc: float = ASSUMED_ICC
) -> list[str]:
    """Gates on these shares that no system could meet, from the number of rows in each cluster alone (or the most there
    can be); for a study whose cases are known before any system is asked. Relative rules are left out.

    >>> [line] = unattainable([Gate.parse("recall.low >= 0.95@0.90")], [18] * 7, shares=["recall"])
    >>> line.partition(": ")[2]
    'not attainable: with 7 clusters a perfect model has at most 0.853; 0.95 needs at least 22'
    """
    n, named = np.asarray(sizes, dtype=np.float64), set(shares)
    n = n[n > 0]
    if n.size < 2:
        return []
    perfect = clustered_share(n, n, np.arange(n.size), np.ones(n.size), icc=icc)
    found = []
    for gate in gates:
        if gate.metric in named and gate.number is not None and not perfect.independent:
            why = beyond_reach(gate, gate.number, perfect.ceiling(gate.level), perfect.clusters, at_most=True)
            found += [f"gate '{gate.rule}': {why}"] if why else []
    return found


def _harm_seen(gate: Gate, row: Estimate, threshold: float) -> bool:
    """Whether more harm was counted than is allowed: it is there, however much was not seen beside it."""
    limits = gate.op[0] == "<" and gate.part in ("value", "high")
    return limits and row.value is not None and not _COMPARE[gate.op](row.value, threshold)


def _say(gate: Gate, end: float | None, threshold: float, word: str) -> str:
    return f"{gate.part}{_at(gate)} {end:.4g} {word} {gate.op} {threshold:g}"


def _at(gate: Gate) -> str:
    """The level of the end that is judged, where it is not the customary one that reports print."""
    return f" ({100 * gate.level:g} %)" if gate.part in ("low", "high") and gate.level != _CUSTOMARY else ""


def _settling(gate: Gate, row: Estimate, threshold: float) -> str:
    """How many patients would settle an unsure verdict, were the value and the variance per patient to stay."""
    assert row.value is not None and row.low is not None and row.high is not None
    if row.value == threshold:
        return "the value is the limit itself, so no number of patients would settle it"
    right = (row.value > threshold) == (gate.op[0] == ">")
    if "pooled" in row.slice:  # the spread is between sites: more patients at the same ones would not narrow it
        more = "more sites, rather than more patients,"
        return f"{more} would settle it" if right else f"the value is on the wrong side; {more} would settle it"
    end = row.low if row.value > threshold else row.high
    needed = patients_needed(row.value, end, threshold, row.n_patients)
    whose = " of this slice" if any(isinstance(row.slice.get(key), str) for key in gate.slice) else ""
    if needed is None:
        number = f"more than {_MANY:,} patients{whose}"
    else:
        number = f"about {needed:,} patients{whose} in all ({needed - row.n_patients:,} more)"
    if right:
        return f"{number} would settle it, if value and spread stay as they are"
    return f"the value is on the wrong side, so more patients would more likely settle it as a fail, at {number}"


def patients_needed(value: float, end: float, threshold: float, n: int) -> int | None:
    """Patients at which an interval that now ends at `end` would just reach the threshold; None for beyond all plans.

    Widths shrink with the square root of n. They are taken on the logit scale where all three lie inside (0, 1).

    >>> patients_needed(2.0, 1.0, 1.5, 100)  # half as wide: four times the patients
    400
    """
    if all(0 < x < 1 for x in (value, end, threshold)):
        value, end, threshold = (math.log(x / (1 - x)) for x in (value, end, threshold))
    gap = abs(value - threshold)
    if gap == 0:
        return None
    needed = max(n * ((value - end) / gap) ** 2, n + 1)
    if needed > _MANY:
        return None
    # Rounded up to three digits: more would promise a precision that a guess of the variance does not have.
    step = 10 ** max(0, math.floor(math.log10(needed)) - 2)
    return int(math.ceil(round(needed / step, 9)) * step)
