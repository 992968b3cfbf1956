"""Two systems compared: paired where their scored rows are at hand, from their two records where not. Reads no file.

Every difference is second − first. What counts as better (higher, lower, or nearer a target), and which metrics are
judged together, is for the task to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from workup import plugins
from workup.errors import InputError, visible
from workup.estimate import Estimate
from workup.gates import same_slice
from workup.kinds import without_persons
from workup.lenses.near_thresholds import ShownRows, near_thresholds
from workup.lenses.paired import LEVEL, Gap, Row, compare_scores, comparison_row
from workup.lenses.withholding import Withholding, withhold
from workup.metric import Metric, in_order
from workup.report import Report
from workup.scores import Scores
from workup.stats.arrays import Bools
from workup.stats.intervals import Ends, combine_difference, p_of_ends
from workup.stats.multiplicity import adjust
from workup.task import primary_of
from workup.validate import Scored

__all__ = [
    "Comparison",
    "PairedRuns",
    "cards_of",
    "check_footing",
    "compare",
    "compare_reports",
    "compare_scores",
    "compared_metrics",
    "gain",
    "headline_of",
    "paired_runs",
    "primary_slice",
    "task_of",
]

SIGNIFICANT = 0.05
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
    task: str = ""
    tables: Mapping[str, Any] = field(default_factory=dict)  # what only the task can tell of the pair

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


# ---- from rows -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairedRuns:
    """Differences of two systems on the same rows, before any verdict."""

    rows: list[Row]
    notes: tuple[str, ...] = ()
    tables: Mapping[str, Any] | None = None


def paired_runs(mine: Scored, theirs: Scored, *, only: Callable[[Metric], bool] | None = None) -> PairedRuns:
    """Both systems on the rows both answered: by the task's own pairing, or by the numbers of their rows.

    `only` chooses among all metrics of the task; groups are then left out.
    """
    if getattr(mine.task, "kinds", None) is not None:
        return _paired_kinds(mine, theirs, only)
    pairing = getattr(mine.task, "paired", None)
    shared, of_second = _shared(*(_chosen(rows, only) for rows in (mine, theirs)))
    if pairing is not None:
        pair = pairing(mine.scores, theirs.scores, mine.study)
        first, second, drawn = _told(mine, pair.first), pair.second, pair.first
        intervals, notes, tables = pair.intervals, tuple(pair.notes), dict(pair.tables)
    else:
        both = np.isin(mine.scores["row"], theirs.scores["row"])
        first, second, drawn = _told(mine, mine.scores, only=both), theirs.scores, mine.scores
        intervals, notes, tables = "resampled", _left_out(mine.scores, theirs.scores), None
    groups = list(first.groups) if only is None and "subgroups" in mine.study.lenses else []
    found = compare_scores(
        first, second, shared, mine.draws(drawn), of_second=of_second, groups=groups, intervals=intervals
    )
    return PairedRuns(_without_near(found, mine, (first, second), shared), notes, tables)


def _paired_kinds(mine: Scored, theirs: Scored, only: Callable[[Metric], bool] | None) -> PairedRuns:
    """Both systems on rows of several kinds, each kind by itself: by the numbers of its rows, or row by row where both
    systems made the same ones."""
    shared, of_second = _shared(*(_chosen(rows, only) for rows in (mine, theirs)))
    other = dict(zip(map(id, shared), of_second, strict=True))
    told = withhold(mine.scores, mine.study).scores
    seconds = {kind.name: kind.scores for kind in theirs.task.kinds(theirs.scores, of_second)}  # type: ignore[attr-defined]
    found: list[Row] = []
    notes: list[str] = []
    for kind in mine.task.kinds(told, shared):  # type: ignore[attr-defined]
        if not kind.metrics or not len(kind.scores):
            continue
        second = seconds.get(kind.name)
        if second is None or not _same_rows(kind.scores, second):
            notes.append(
                f"The two systems do not have the same {kind.name} rows, so figures of these are not compared."
            )
            continue
        by_number = "row" in kind.scores.values
        notes += _left_out(kind.scores, second) if by_number else ()
        first = withhold(without_persons(kind.scores), mine.study).scores
        groups = list(first.groups) if only is None and "subgroups" in mine.study.lenses else []
        rows = compare_scores(
            first,
            second,
            kind.metrics,
            mine.draws(kind.scores),
            of_second=[other[id(metric)] for metric in kind.metrics],
            groups=groups,
        )
        found += _without_near(rows, mine, (first, second), kind.metrics)
    return PairedRuns(found, tuple(notes))


def _without_near(rows: list[Row], mine: Scored, sides: Sequence[Scores], metrics: Sequence[Metric]) -> list[Row]:
    """Rows without those of a group at a threshold that few of it set apart from another, by either system."""
    if not any(name in row["slice"] for row in rows for name in sides[0].groups):
        return rows
    told = withhold(mine.scores, mine.study)
    shown = [Withholding(told.k, one if i == 0 else told.applied(one)) for i, one in enumerate(sides)]
    near = near_thresholds("subgroups", [ShownRows(one, metrics, {}) for one in shown])
    return [row for row in rows if not near.hides("subgroups", row["slice"])]


def _same_rows(first: Scores, second: Scores) -> bool:
    """Can two systems' rows be paired: by number, or because they are of the same patients at the same times?"""
    if "row" in first.values and "row" in second.values:
        return True
    if len(first) != len(second) or (first.time is None) != (second.time is None):
        return False
    return first.time is None or second.time is None or bool(np.array_equal(first.time, second.time))


def compared_metrics(rows: Scored) -> Sequence[Metric]:
    """What a comparison measures on these rows: what the task says, or all."""
    metrics = rows.task.metrics(rows.scores, rows.study)
    chosen = getattr(rows.task, "compared", None)
    return metrics if chosen is None else chosen(metrics, rows.study)


def _chosen(rows: Scored, only: Callable[[Metric], bool] | None) -> Sequence[Metric]:
    if only is None:
        return compared_metrics(rows)
    return [metric for metric in rows.task.metrics(rows.scores, rows.study) if only(metric)]


def _told(mine: Scored, scores: Scores, *, only: Bools | None = None) -> Scores:
    """Rows with the groups that the run's own report tells, and of these only such as hold enough of the rows that
    both systems answered."""
    told = withhold(mine.scores, mine.study).applied(scores)
    shared = told if only is None or only.all() else told.take(np.flatnonzero(only))
    return withhold(shared, mine.study).applied(told)


def _left_out(first: Scores, second: Scores) -> tuple[str, ...]:
    answered = set(first["row"]), set(second["row"])
    if answered[0] == answered[1]:
        return ()
    both = f"{len(answered[0] & answered[1]):,}"
    return (f"Compared on the {both} rows both answered, of {len(first):,} and {len(second):,}.",)


def _shared(mine: Sequence[Metric], theirs: Sequence[Metric]) -> tuple[list[Metric], list[Metric]]:
    """The metrics that both systems have, as the first and as the second has them."""
    others = {(metric.name, tuple(metric.at.items())): metric for metric in theirs}
    shared = [metric for metric in mine if (metric.name, tuple(metric.at.items())) in others]
    return shared, [others[metric.name, tuple(metric.at.items())] for metric in shared]


# ---- from records ----------------------------------------------------------------------------------------------------


def compare_reports(first: Report, second: Report) -> list[Row]:
    """Every metric and slice that both records hold, the ends of their own intervals joined by square and add."""
    cards = cards_of(first)
    others = {_key(e): e for e in second.estimates() if e.level == LEVEL}
    rows = []
    for key, mine in {_key(e): e for e in first.estimates() if e.level == LEVEL}.items():
        if key in others:
            theirs = others[key]
            card = cards.get(mine.metric, {})
            better, target = card.get("better", "neither"), card.get("target")
            distance = None if target is None else _unpaired(_away(mine, target), _away(theirs, target))
            sides = tuple({"value": e.value, "low": e.low, "high": e.high} for e in (mine, theirs))
            n = min(mine.n_patients, theirs.n_patients)
            gap = _unpaired(mine, theirs)
            rows.append(comparison_row(mine.metric, mine.slice, sides, gap, distance, n_patients=n, better=better))
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
            return Gap(reason="the value of one lies outside its own interval, as in records of earlier versions")
        ends.append((e.value, Ends(e.low, e.high)))
    (a, of_a), (b, of_b) = ends
    gap, found = b - a, combine_difference(b, of_b, a, of_a)
    return Gap(gap, *found, p_of_ends(gap, found, level=LEVEL), "square and add")


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
    tables: Mapping[str, Any] | None = None,
) -> Comparison:
    """A second record against a first; `paired` rows take the place of what the records alone can say.

    `metrics` are the headline, judged with Holm's adjustment and, where there is one, against the margin; without them
    it is the task's own.
    """
    if first.study.get("task") != second.study.get("task"):
        raise InputError(
            "only reports of one task can be compared",
            got=f"'{first.study.get('task')}' and '{second.study.get('task')}'",
        )
    if margin is not None and not (np.isfinite(margin) and margin > 0):
        raise InputError("a margin must be a positive number on the metric's own scale", got=f"{margin:g}")
    task = str(first.study.get("task"))
    cards = cards_of(first)
    shares = [name for name in metrics or headline_of(first) if cards.get(name, {}).get("scale") == "logit"]
    if margin is not None and margin >= 1 and shares:
        raise InputError(
            f"a margin on {', '.join(shares[:3])} must be below 1, since shares and AUCs differ by less",
            got=f"{margin:g}",
            remedy=f"write {margin / 100:g} for {margin:g} points" if margin <= 100 else "give a number such as 0.02",
        )
    check_footing(first, second)
    same = first.corpus.get("sha256") == second.corpus.get("sha256")
    pairing = "paired" if paired is not None else "unpaired_same_corpus" if same else "independent"
    rows = compare_reports(first, second) if paired is None else _with_ends(paired, first, second)
    if not rows:
        raise InputError("the two reports must share at least one metric and slice", got="none in common")
    alarms = [f"{side}: {said}" for side, report in (("A", first), ("B", second)) for said in report.alarms()]
    said = [*alarms, *notes, PAIRINGS[pairing]]
    titled = [{**row, "title": cards.get(row["metric"], {}).get("title", "")} for row in rows]
    judged = _judged(titled, metrics, headline_of(first), primary_slice(first), margin)
    sides = _identity(first), _identity(second)
    return Comparison(*sides, pairing, margin, tuple(judged), tuple(said), task, dict(tables or {}))


def task_of(report: Report) -> Any:
    """The task of a record as it is installed here, or None. A record is data: where its task is at hand, it brings no
    rules of its own on what is better or what is judged."""
    name = str(report.study.get("task"))
    if ":" not in name and name not in plugins.registered("tasks"):
        return None
    return plugins.named_by_record("tasks", name)  # one that names code is refused


def cards_of(report: Report) -> Mapping[str, Mapping[str, Any]]:
    """What is known of its metrics: by the task that is installed, or by the record where it is not."""
    task = task_of(report)
    return report.metrics if task is None else in_order(task.cards)


def primary_slice(report: Report) -> Mapping[str, Any]:
    """The slice that is meant where none is named."""
    task = task_of(report)
    return report.primary if task is None else primary_of(task, report.study)


def headline_of(report: Report) -> Sequence[str]:
    """Metrics that a comparison judges together: those that the task marks so, or all that have a better side."""
    cards = cards_of(report)
    marked = [name for name, card in cards.items() if "headline" in card["shown"]]
    return marked or [name for name, card in cards.items() if card["better"] != "neither"]


def check_footing(first: Report, second: Report) -> None:
    """Two records are compared only where the same things were counted: a number under another policy is another
    number, even where its name and its slice are the same."""
    footing = getattr(task_of(first), "footing", None)
    if footing is None:
        return
    held, other = footing(first), footing(second)
    for key in held:
        if key in other and held[key] != other[key]:
            raise InputError(
                f"two reports are compared on one footing, so '{key}' must be the same in both",
                got=visible(f"{held[key]!r} and {other[key]!r}"[:300]),
                remedy="run both with the same settings",
            )


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


def _judged(
    rows: Sequence[Row],
    metrics: Sequence[str],
    headline: Sequence[str],
    primary: Mapping[str, Any],
    margin: float | None,
) -> list[Row]:
    chosen = metrics or headline
    judged = []
    for row in rows:
        named = row["metric"] in chosen and _overall(row["slice"], primary)
        judged.append({**row, "headline": named and (bool(metrics) or _measured(row))})
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
        row["rule"] = _rule(row, len(head))
        if margin is not None and row["headline"] and (metrics or row["better"] != "target"):
            row["margin"], row["verdict"] = margin, _no_worse(row, margin)
    return judged


def _measured(row: Row) -> bool:
    """What neither could measure (patients, in a corpus that names none) is no part of a headline that nobody chose."""
    return row["first"]["value"] is not None or row["second"]["value"] is not None


def _overall(keys: Mapping[str, Any], primary: Mapping[str, Any]) -> bool:
    return same_slice(keys, {key: primary[key] for key in keys if key in primary})


def gain(row: Row) -> tuple[float | None, float | None, float | None]:
    """How much better the second is, with its ends: up is always better. None where nothing says which way is."""
    if row["distance"] is not None:
        value, low, high = (row["distance"][end] for end in ("value", "low", "high"))
    else:
        value, low, high = row["value"], row["low"], row["high"]
    if row["better"] == "higher":
        return value, low, high
    if row["better"] == "lower" or row["distance"] is not None:
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


def _rule(row: Row, family: int) -> str:
    """What decided the direction, where it is not the interval beside it."""
    _, worst, best = gain(row)
    if worst is None or best is None:
        return ""
    said = []
    if row["distance"] is not None:
        value, low, high = (row["distance"][part] for part in ("value", "low", "high"))
        said.append(f"judged by how much farther B is from the target: {value:.3g} ({low:.3g} to {high:.3g})")
    if row["direction"] == "no_clear_difference" and (worst > 0 or best < 0):
        said.append(f"clear by itself, but not among the {family} judged together (Holm)")
    return "; ".join(said)


def _no_worse(row: Row, margin: float) -> str:
    """within: worse by less than the margin at most; worse: by more than it at least; else unsure."""
    value, low, high = gain(row)
    if value is None or low is None or high is None:
        return "unsure" if value is not None and row["p"] == 1.0 else "not_assessed"
    return "within" if low > -margin else "worse" if high < -margin else "unsure"
