"""Two systems compared: paired where their rows are at hand, from their two records where not. Reads no file.

Every difference is second − first. What counts as better is a matter of the metric: higher, lower, or nearer a target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from workup.errors import InputError
from workup.estimate import Estimate
from workup.gates import primary_values, same_slice
from workup.lenses.paired import LEVEL, Gap, Row, compare_scores, comparison_row
from workup.report import Report
from workup.stats.intervals import Ends, combine_difference, normal_p, z_critical
from workup.stats.multiplicity import adjust

__all__ = ["Comparison", "compare", "compare_reports", "compare_scores", "gain"]

SIGNIFICANT = 0.05
HIGHER = frozenset(
    ["auroc", "auprc", "scaled_brier", "sensitivity", "specificity", "ppv", "npv", "f1", "accuracy", "net_benefit"]
)
LOWER = frozenset(["brier", "ici", "e50", "e90", "emax", "ece"])
TARGETS: Mapping[str, float] = {"calibration_slope": 1.0, "calibration_in_the_large": 0.0, "oe_ratio": 1.0}
# Judged together, and so adjusted together; a margin is put to those that are shares, where one number suits all.
HEADLINE = ("auroc", "auprc", "brier", "sensitivity", "specificity", "ppv", "npv", *TARGETS)
PAIRINGS: Mapping[str, str] = {
    "paired": "paired: the same rows answered by both, so what they share cancels out",
    "unpaired_same_corpus": "unpaired, conservative: both answered the same cases, but from the records alone the "
    "intervals are joined as if independent; they are too wide where the systems agree",
    "independent": "independent: different corpora; the intervals are joined as those of different "
    "patients, which is conservative where the corpora share some",
}


@dataclass(frozen=True)
class Comparison:
    """A second system against a first: every row of what both were measured on, with verdicts."""

    first: Mapping[str, Any]
    second: Mapping[str, Any]
    pairing: str
    margin: float | None
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


# ---- from records ----------------------------------------------------------------------------------------------------


def compare_reports(first: Report, second: Report) -> list[Row]:
    """Every metric and slice that both records hold, the ends of their own intervals joined by square and add."""
    others = {_key(e): e for e in second.estimates() if e.level == LEVEL}
    rows = []
    for key, mine in {_key(e): e for e in first.estimates() if e.level == LEVEL}.items():
        if key in others:
            theirs = others[key]
            target = TARGETS.get(mine.metric)
            distance = None if target is None else _unpaired(_away(mine, target), _away(theirs, target))
            sides = tuple({"value": e.value, "low": e.low, "high": e.high} for e in (mine, theirs))
            n = min(mine.n_patients, theirs.n_patients)
            rows.append(comparison_row(mine.metric, mine.slice, sides, _unpaired(mine, theirs), distance, n_patients=n))
    return rows


def _key(e: Estimate) -> tuple[str, tuple[tuple[str, str], ...]]:
    return _named(e.metric, e.slice)


def _named(metric: str, keys: Mapping[str, Any]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """One name for one metric and slice; numbers as the record writes them."""
    texts = ((key, f"{value:.12g}" if isinstance(value, float) else str(value)) for key, value in keys.items())
    return metric, tuple(sorted(texts))


def _unpaired(first: Estimate, second: Estimate) -> Gap:
    ends = []
    for e in (first, second):
        if e.status != "ok" or e.value is None or e.low is None or e.high is None:
            return Gap(reason=f"{e.status} in one of them: {e.reason or 'no interval'}")
        if not e.low <= e.value <= e.high:
            return Gap(reason="the value of one lies outside its own interval, which belongs to another curve")
        ends.append((e.value, Ends(e.low, e.high)))
    (a, of_a), (b, of_b) = ends
    gap, (low, high) = b - a, combine_difference(b, of_b, a, of_a)
    near = gap - low if gap > 0 else high - gap
    # The p value is read off the near end, so that it cannot contradict the interval beside it.
    p = 1.0 if gap == 0 else normal_p(gap / near * z_critical(LEVEL)) if near > 0 else None
    return Gap(gap, low, high, p, "square and add")


def _away(e: Estimate, target: float) -> Estimate:
    """The distance from a target, with the nearest and the farthest that the interval allows."""
    if e.value is None or e.low is None or e.high is None:
        return e
    ends = abs(e.low - target), abs(e.high - target)
    value = abs(e.value - target)
    nearest = 0.0 if e.low <= target <= e.high else min(ends)
    return replace(e, value=value, low=min(nearest, value), high=max(*ends, value))


# ---- verdicts --------------------------------------------------------------------------------------------------------


def compare(
    first: Report,
    second: Report,
    *,
    margin: float | None = None,
    metrics: Sequence[str] = (),
    paired: Sequence[Row] | None = None,
    notes: Sequence[str] = (),
) -> Comparison:
    """A second record against a first; `paired` rows take the place of what the records alone can say.

    `metrics` are the headline, judged with Holm's adjustment and, where there is one, against the margin.
    """
    if first.study.get("task") != second.study.get("task"):
        raise InputError(
            "only reports of one task can be compared",
            got=f"'{first.study.get('task')}' and '{second.study.get('task')}'",
        )
    if margin is not None and not (np.isfinite(margin) and margin > 0):
        raise InputError("a margin must be a positive number on the metric's own scale", got=f"{margin:g}")
    same = first.corpus.get("sha256") == second.corpus.get("sha256")
    pairing = "paired" if paired is not None else "unpaired_same_corpus" if same else "independent"
    rows = compare_reports(first, second) if paired is None else _with_ends(paired, first, second)
    if not rows:
        raise InputError("the two reports must share at least one metric and slice", got="none in common")
    said = [*notes, PAIRINGS[pairing]]
    judged = _judged(rows, metrics, primary_values(first.study), margin)
    return Comparison(_identity(first), _identity(second), pairing, margin, tuple(judged), tuple(said))


def _with_ends(rows: Sequence[Row], first: Report, second: Report) -> list[Row]:
    """Paired rows with each side's own interval, where its record gives the same value."""
    held = {
        side: {_key(e): e for e in report.estimates() if e.level == LEVEL}
        for side, report in (("first", first), ("second", second))
    }
    found = []
    for row in rows:
        name = _named(row["metric"], row["slice"])
        sides = {}
        for side, estimates in held.items():
            e, value = estimates.get(name), row[side]["value"]
            if e is not None and e.value is not None and value is not None and np.isclose(e.value, value, rtol=1e-9):
                sides[side] = {"value": value, "low": e.low, "high": e.high}
        found.append({**row, **sides})
    return found


def _identity(report: Report) -> dict[str, Any]:
    return {"system": dict(report.system), "corpus": dict(report.corpus), "report": report.sha256}


def _judged(rows: Sequence[Row], metrics: Sequence[str], primary: Mapping[str, Any], margin: float | None) -> list[Row]:
    chosen = metrics or HEADLINE
    judged = [{**row, "headline": row["metric"] in chosen and _overall(row["slice"], primary)} for row in rows]
    absent = [name for name in metrics if not any(row["headline"] and row["metric"] == name for row in judged)]
    if absent:
        held = sorted({row["metric"] for row in rows if _overall(row["slice"], primary)})
        raise InputError(f"both reports must hold '{absent[0]}'", remedy=f"choose among {', '.join(held)}")
    head = [row for row in judged if row["headline"]]
    adjusted = adjust([np.nan if row["p"] is None else row["p"] for row in head], method="holm")
    for row, p in zip(head, adjusted, strict=True):
        row["p_adjusted"] = None if np.isnan(p) else float(p)
    for row in judged:
        row["direction"] = row["verdict"] = _direction(row)
        if margin is not None and row["headline"] and (metrics or row["metric"] not in TARGETS):
            row["margin"], row["verdict"] = margin, _no_worse(row, margin)
    return judged


def _overall(keys: Mapping[str, Any], primary: Mapping[str, Any]) -> bool:
    return same_slice(keys, {key: primary[key] for key in keys if key in primary})


def gain(row: Row) -> tuple[float | None, float | None, float | None]:
    """How much better the second is, with its ends: up is always better. None where nothing says which way is."""
    if row["distance"] is not None:
        value, low, high = (row["distance"][end] for end in ("value", "low", "high"))
    else:
        value, low, high = row["value"], row["low"], row["high"]
    if row["metric"] in HIGHER:
        return value, low, high
    if row["metric"] in LOWER or row["distance"] is not None:
        return tuple(None if end is None else -end for end in (value, high, low))  # type: ignore[return-value]
    return None, None, None


def _direction(row: Row) -> str:
    value, low, high = gain(row)
    if value is None:
        row["reason"] = row["reason"] or "neither more nor less of it is better in itself"
        return "not_assessed"
    if low is None or high is None:
        return "no_clear_difference" if row["p"] == 1.0 else "not_assessed"
    clear = row["p_adjusted"] is None or row["p_adjusted"] < SIGNIFICANT
    return "better" if clear and low > 0 else "worse" if clear and high < 0 else "no_clear_difference"


def _no_worse(row: Row, margin: float) -> str:
    """within: worse by less than the margin at most; worse: by more than it at least; else unsure."""
    value, low, high = gain(row)
    if value is None or low is None or high is None:
        return "unsure" if value is not None and row["p"] == 1.0 else "not_assessed"
    return "within" if low > -margin else "worse" if high < -margin else "unsure"
