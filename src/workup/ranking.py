"""Several systems in one table: what each reached, how any two differ, and which of them can be told apart.

Systems are ordered by their verdict, then by safety, then by effect; which metrics these are is for the task to say, or
for the cards of the record. Two systems that no difference tells apart share their ranks. Reads no file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from workup.compare import (
    PAIRINGS,
    SIGNIFICANT,
    cards_of,
    check_footing,
    compare_reports,
    gain,
    paired_runs,
    primary_slice,
    task_of,
)
from workup.errors import InputError
from workup.estimate import Estimate
from workup.gates import same_value
from workup.lenses.paired import LEVEL, Row
from workup.metric import Metric
from workup.report import Report
from workup.stats.multiplicity import adjust
from workup.task import Ranked
from workup.validate import Scored

__all__ = ["Column", "Entrant", "Ranking", "check_entrants", "letter", "rank", "ranks"]

DECIDING = ("safety", "effect")
_STANDING = {"pass": 0, "unsure": 1, "none": 1, "fail": 2}


@dataclass(frozen=True)
class Entrant:
    """One system: its record, and its rows and what it cost where these are at hand."""

    report: Report
    rows: Scored | None = None
    cost: float | None = None


@dataclass(frozen=True)
class Column:
    """One metric on one slice, for all systems."""

    metric: str
    slice: Mapping[str, Any]
    title: str
    better: str
    unit: str
    decides: str

    def holds(self, metric: str, keys: Mapping[str, Any]) -> bool:
        """Is this the metric and slice of the column?"""
        return metric == self.metric and _same(keys, self.slice)


@dataclass(frozen=True)
class Ranking:
    """Systems by metrics, in the order of their ranks, and every difference between two of them."""

    task: str
    pairing: str
    reference: str | None
    columns: tuple[Column, ...]
    systems: tuple[Mapping[str, Any], ...]
    pairs: tuple[Row, ...]
    notes: tuple[str, ...]
    level: float = LEVEL
    tags: tuple[Mapping[str, Any], ...] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def rank(
    entrants: Sequence[Entrant], *, reference: int | None = None, tags: Sequence[Mapping[str, Any]] = ()
) -> Ranking:
    """All systems of one study of the same cases; every two of them are compared, or each with the reference."""
    first = entrants[0].report
    check_entrants([one.report for one in entrants])
    cards, primary = cards_of(first), primary_slice(first)
    columns = _columns(entrants, cards, primary)
    if not columns:
        raise InputError("the reports must share at least one metric to be put in one table", got="none in common")
    chosen = [(i, j) for i, j in combinations(range(len(entrants)), 2) if reference is None or reference in (i, j)]
    paired = all(one.rows is not None for one in entrants)
    said: list[str] = []
    pairs: list[Row] = []
    for i, j in chosen:
        rows, notes = _differences(entrants[i], entrants[j], columns)
        said += [f"{letter(i)} and {letter(j)}: {note}" for note in notes]
        pairs += [{**row, "pair": (i, j)} for row in rows]
    family = _adjusted(pairs, columns)
    verdicts = _verdicts(entrants)
    told = {
        (i, j): _told([row for row in pairs if row["pair"] == (i, j)], columns, verdicts, (i, j)) for i, j in chosen
    }
    above = {(a, b): by for (i, j), (sign, by) in told.items() if sign for a, b in [(i, j) if sign < 0 else (j, i)]}
    places = ranks(len(entrants), above)
    systems = []
    for place, one in enumerate(entrants):
        systems.append(
            {
                "letter": letter(place),
                "system": dict(one.report.system),
                "report": one.report.sha256,
                "verdict": _verdict(one.report),
                "gates": {v.rule: v.outcome for v in one.report.verdicts},
                "rank": None if reference is not None else list(places[place]),
                "against_reference": _against(place, reference, above),
                "values": _values(one, columns),
                "cost": _cost(one),
                "n_patients": one.report.corpus.get("n_patients"),
            }
        )
    standing = [places[i] if reference is None else _stands(systems[i]) for i in range(len(systems))]
    held = [0] * len(systems) if verdicts is None else [_STANDING[verdict] for verdict in verdicts]
    order = sorted(range(len(systems)), key=lambda i: (held[i], *standing[i], *_figures(systems[i], columns), i))
    alarms = [f"{letter(i)}: {alarm}" for i, one in enumerate(entrants) for alarm in one.report.alarms()]
    notes = [*alarms, *_footnotes(verdicts, family, reference), *said]
    return Ranking(
        task=str(first.study.get("task")),
        pairing="paired" if paired else "unpaired_same_corpus",
        reference=None if reference is None else letter(reference),
        columns=tuple(columns),
        systems=tuple(systems[i] for i in order),
        pairs=tuple(_shown(row, told) for row in pairs),
        notes=(*notes, PAIRINGS["paired" if paired else "unpaired_same_corpus"]),
        tags=tuple(tags),
    )


def letter(place: int) -> str:
    """A short name of a system by its place: two runs may be of one name.

    >>> letter(0), letter(25), letter(26), letter(701)
    ('A', 'Z', 'AA', 'ZZ')
    """
    found = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        found = chr(ord("A") + rest) + found
    return found


def check_entrants(reports: Sequence[Report]) -> None:
    """Systems stand in one table only where all were given the same cases, on one footing."""
    first = reports[0]
    for place, one in enumerate(reports[1:], start=1):
        if one.study.get("task") != first.study.get("task"):
            raise InputError(
                "only reports of one task stand in one table", got=f"another task in {letter(place)} than in A"
            )
        if one.corpus.get("sha256") != first.corpus.get("sha256"):
            raise InputError(
                "three or more systems are compared in one table, which needs the same cases for all",
                got=f"another corpus in {letter(place)} than in A",
                remedy="run all of them on one corpus, or compare two at a time",
            )
        check_footing(first, one)


# ---- columns ---------------------------------------------------------------------------------------------------------


def _columns(
    entrants: Sequence[Entrant], cards: Mapping[str, Mapping[str, Any]], primary: Mapping[str, Any]
) -> list[Column]:
    """What the task ranks by, or the counts of harm and the headline of the cards; only what some record has."""
    ranked = getattr(task_of(entrants[0].report), "ranked", None)
    wanted: Sequence[Ranked] = _by_cards(cards) if ranked is None else ranked(entrants[0].report)
    held: dict[str, list[Estimate]] = {}
    for one in entrants:
        for e in one.report.estimates():
            if e.level == LEVEL and e.value is not None:
                held.setdefault(e.metric, []).append(e)
    found = []
    for asked in wanted:
        keys = next((e.slice for e in held.get(asked.metric, ()) if _at(e.slice, asked.slice, primary)), None)
        if keys is None:
            continue
        card = cards.get(asked.metric, {})
        title = str(card.get("title") or asked.metric.replace("_", " "))
        more = ", ".join(f"{key} {value}" for key, value in asked.slice.items())
        found.append(
            Column(
                asked.metric,
                dict(keys),
                f"{title} ({more})" if more else title,
                str(card.get("better", "neither")),
                str(card.get("unit", "")),
                asked.decides,
            )
        )
    return found


def _by_cards(cards: Mapping[str, Mapping[str, Any]]) -> list[Ranked]:
    ordered = sorted(cards, key=lambda name: cards[name]["order"])
    harms = [Ranked(name, decides="safety") for name in ordered if cards[name].get("harm")]
    shown = [Ranked(name, decides="effect") for name in ordered if "headline" in cards[name]["shown"]]
    return harms + shown


def _at(held: Mapping[str, Any], wanted: Mapping[str, Any], primary: Mapping[str, Any]) -> bool:
    """The slice that a column names: its own keys, and of the other keys the primary ones alone."""
    return set(wanted) <= set(held) and all(
        same_value(value, str(wanted.get(key, primary.get(key)))) for key, value in held.items()
    )


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return set(one) == set(other) and all(same_value(one[key], str(other[key])) for key in one)


# ---- differences -----------------------------------------------------------------------------------------------------


def _differences(first: Entrant, second: Entrant, columns: Sequence[Column]) -> tuple[list[Row], Sequence[str]]:
    """second − first in every column, in the order of the columns."""
    notes: Sequence[str] = ()
    if first.rows is not None and second.rows is not None:

        def wanted(metric: Metric) -> bool:
            return any(column.holds(metric.name, metric.at) for column in columns)

        pair = paired_runs(first.rows, second.rows, only=wanted)
        rows, notes = pair.rows, pair.notes
    else:
        rows = compare_reports(first.report, second.report)
    found = []
    for place, column in enumerate(columns):
        row = next((row for row in rows if column.holds(row["metric"], row["slice"])), None)
        if row is not None:
            found.append({**row, "column": place, "better": column.better})
    return found, notes


def _adjusted(pairs: Sequence[Row], columns: Sequence[Column]) -> int:
    """Holm over every difference that can move a rank; what stands beside is adjusted over its own pairs."""
    families: dict[int, list[Row]] = {}
    for row in pairs:
        families.setdefault(-1 if columns[row["column"]].decides in DECIDING else row["column"], []).append(row)
    for rows in families.values():
        found = adjust([np.nan if row["p"] is None else row["p"] for row in rows], method="holm")
        for row, p in zip(rows, found, strict=True):
            row["p_adjusted"] = None if np.isnan(p) else float(p)
    return sum(row["p"] is not None for row in families.get(-1, ()))


def _sign(row: Row) -> int:
    """1 where the second is clearly better, -1 where the first is, 0 where they are not told apart."""
    value, low, high = gain(row)
    if value is None or low is None or high is None or row["p_adjusted"] is None:
        return 0
    return 0 if row["p_adjusted"] >= SIGNIFICANT else 1 if low > 0 else -1 if high < 0 else 0


def _told(
    rows: Sequence[Row], columns: Sequence[Column], verdicts: Sequence[str] | None, pair: tuple[int, int]
) -> tuple[int, str]:
    """Which of two is above the other (1: the second), and by what.

    A fail stands below all that did not fail. An undecided verdict puts nobody below a pass, but nobody with the worse
    verdict is put above one with the better.
    """
    held = 0 if verdicts is None else _STANDING[verdicts[pair[0]]] - _STANDING[verdicts[pair[1]]]
    if verdicts is not None and held and "fail" in (verdicts[pair[0]], verdicts[pair[1]]):
        return (1 if held > 0 else -1), "verdict"
    for part in DECIDING:
        signs = {sign: row for row in rows if columns[row["column"]].decides == part and (sign := _sign(row))}
        if len(signs) == 2:
            return 0, "better in one, worse in another"
        for sign, row in signs.items():
            return (
                (0, "the better verdict has the worse figure")
                if sign * held < 0
                else (sign, columns[row["column"]].title)
            )
    return 0, ""


def ranks(count: int, above: Mapping[tuple[int, int], Any]) -> list[tuple[int, int]]:
    """The first and last place that each of `count` systems may have; `above` are pairs (better, worse).

    Systems told apart in a circle (A from B by one metric, B from C and C from A by others) are not told apart.

    >>> ranks(3, {(0, 2): "recall"})
    [(1, 2), (1, 3), (2, 3)]
    >>> ranks(3, {(0, 1): "", (1, 2): "", (2, 0): ""})
    [(1, 3), (1, 3), (1, 3)]
    """
    reach = np.zeros((count, count), dtype=np.bool_)
    for better, worse in above:
        reach[better, worse] = True
    for middle in range(count):
        reach |= np.outer(reach[:, middle], reach[middle])
    firm = [(better, worse) for better, worse in above if not reach[worse, better]]
    return [
        (1 + sum(worse == place for _, worse in firm), count - sum(better == place for better, _ in firm))
        for place in range(count)
    ]


# ---- systems ---------------------------------------------------------------------------------------------------------


def _verdict(report: Report) -> str:
    outcomes = {verdict.outcome for verdict in report.verdicts}
    return "none" if not outcomes else "fail" if "fail" in outcomes else "pass" if outcomes == {"pass"} else "unsure"


def _verdicts(entrants: Sequence[Entrant]) -> list[str] | None:
    """The verdict of each, where all were judged by the same rules; else None."""
    rules = {tuple(sorted(str(rule) for rule in one.report.study.get("gates") or ())) for one in entrants}
    return [_verdict(one.report) for one in entrants] if len(rules) == 1 else None


def _values(one: Entrant, columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Each column as the system's own record has it, and between which values its replicates lie."""
    spread = _spread(one, columns)
    found = []
    for place, column in enumerate(columns):
        e = next(
            (e for e in one.report.estimates(column.metric) if e.level == LEVEL and _same(e.slice, column.slice)), None
        )
        cell: dict[str, Any] = {"value": None, "low": None, "high": None, "status": "absent", "reason": None}
        if e is not None:
            cell = {"value": e.value, "low": e.low, "high": e.high, "status": e.status, "reason": e.reason}
        found.append({**cell, "replicates": spread.get(place)})
    return found


def _spread(one: Entrant, columns: Sequence[Column]) -> dict[int, dict[str, Any]]:
    """The least and the most that a replicate by itself shows, of systems that were asked several times."""
    numbers = None if one.rows is None else getattr(one.rows.task, "replicates", None)
    if one.rows is None or numbers is None:
        return {}
    scores = one.rows.scores
    runs = numbers(scores)
    each = [scores.take(np.flatnonzero(runs == run)) for run in np.unique(runs)]
    if len(each) < 2:
        return {}
    metrics = one.rows.task.metrics(scores, one.rows.study)
    found = {}
    for place, column in enumerate(columns):
        counted = column.unit == "count"  # a part of the rows has a part of the number
        metric = next((one for one in metrics if column.holds(one.name, one.at) and not counted), None)
        values = [] if metric is None else [metric.value(part) for part in each]
        if values and np.isfinite(values).all():
            found[place] = {"count": len(values), "least": float(min(values)), "most": float(max(values))}
    return found


def _cost(one: Entrant) -> dict[str, Any] | None:
    """What one row of the system cost, and the task's word for a row."""
    if one.cost is None or one.rows is None or not len(one.rows.scores):
        return None
    return {"each": one.cost / len(one.rows.scores), "of": str(getattr(one.rows.task, "costed", "case"))}


def _against(place: int, reference: int | None, above: Mapping[tuple[int, int], str]) -> str | None:
    if reference is None:
        return None
    if place == reference:
        return "reference"
    return "better" if (place, reference) in above else "worse" if (reference, place) in above else "not told apart"


def _stands(system: Mapping[str, Any]) -> tuple[int, ...]:
    return ({"better": 0, "worse": 2}.get(system["against_reference"], 1),)


def _figures(system: Mapping[str, Any], columns: Sequence[Column]) -> list[float]:
    """What decides, the better the less: those that are not told apart must stand in some order too."""
    found = []
    for part in DECIDING:
        for column, cell in zip(columns, system["values"], strict=True):
            if column.decides == part:
                sign = {"higher": -1.0, "lower": 1.0}.get(column.better, 0.0)
                found.append(np.inf if cell["value"] is None else sign * cell["value"])
    return found


def _footnotes(verdicts: Sequence[str] | None, family: int, reference: int | None) -> list[str]:
    over = "all pairs" if reference is None else f"all pairs with {letter(reference)}"
    found = [
        f"{family} differences that decide were judged together (Holm, over {over} and every deciding column). The "
        "columns beside them are adjusted over their own pairs and decide nothing."
    ]
    if verdicts is None:
        found.append("The systems were judged by different gates, so their verdicts put nobody above another.")
    return found


def _shown(row: Row, told: Mapping[tuple[int, int], tuple[int, str]]) -> Row:
    """A difference as the record holds it."""
    i, j = row["pair"]
    sign = _sign(row)
    kept = ("metric", "slice", "column", "better", "value", "low", "high", "p", "p_adjusted", "method", "reason")
    return {
        "first": letter(i),
        "second": letter(j),
        **{key: row[key] for key in kept},
        "told": letter(j) if sign > 0 else letter(i) if sign < 0 else None,
        "above": letter(j) if told[i, j][0] > 0 else letter(i) if told[i, j][0] < 0 else None,
        "by": told[i, j][1],
    }
