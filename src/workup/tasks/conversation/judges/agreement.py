"""How far judge, rules and both together agree with people, and people with one another; and the bar for showing it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workup.stats.nominal_kappa import NominalKappa, nominal_kappa
from workup.tasks.conversation.judges.questions import FACT_WORDS, PAIR_WORDS
from workup.tasks.conversation.judges.read_units import People, ReadUnit

LEVEL = 0.90
LEAST_LABELS, LEAST_CLUSTERS = 100, 10  # drawn labels below which no kappa lets a raw figure through
READERS: dict[str, Callable[[ReadUnit], str | None]] = {
    "judge": lambda one: one.judge,
    "rules": lambda one: one.rules,
    "composite": lambda one: one.reader,
}


class Bar(NamedTuple):
    """Whether a raw judged figure may be shown, and why not."""

    met: bool
    reason: str


def agreement_rows(
    units: Sequence[ReadUnit], people: People, clusters: Mapping[str, int], *, kind: str
) -> list[dict[str, Any]]:
    """Kappa of every reader with people, and of people among themselves; on all answers, and on the main one or not."""
    words, main = (FACT_WORDS, "correct") if kind == "facts" else (PAIR_WORDS, "conflict")
    labelled = [one for one in units if one.unit in people.answers and one.active]
    given = [[people.answers[one.unit].get(rater) for one in labelled] for rater in people.raters]
    columns = [*([read(one) for one in labelled] for read in READERS.values()), *given]
    whole = np.array([_coded(column, words) for column in columns], dtype=np.float64).reshape(len(columns), -1).T
    codes = [clusters[one.unit.case] for one in labelled]
    raters = range(len(READERS), len(columns))
    among = [(one, other) for one in raters for other in raters if one < other]
    rows = []
    for answers, table in (("all", whole), (main, np.where(np.isnan(whole), np.nan, whole == words.index(main)))):
        for place, reader in enumerate(READERS):
            rows.append(_row(kind, answers, reader, table, [(place, rater) for rater in raters], codes))
        rows.append(_row(kind, answers, "people", table, among, codes))
    return rows


def _coded(column: Sequence[str | None], words: Sequence[str]) -> list[float]:
    """Answers as numbers of a list of words; NaN for none, and for what is no answer (cannot tell)."""
    return [float(words.index(one)) if one in words else math.nan for one in column]


def _row(
    kind: str, answers: str, reader: str, table: Any, pairs: Sequence[tuple[int, int]], clusters: Sequence[int]
) -> dict[str, Any]:
    found = NominalKappa(math.nan, math.nan, math.nan, math.nan, 0, 0)
    if pairs and len(clusters):
        found = nominal_kappa(table, pairs=pairs, clusters=clusters, level=LEVEL)
    numbers = {
        name: None if math.isnan(value) else value
        for name, value in zip(("kappa", "low", "high", "agreement"), found[:4], strict=True)
    }
    return {
        "units": kind,
        "answers": answers,
        "reader": reader,
        **numbers,
        "level": LEVEL,
        "labels": found.units,
        "clusters": found.clusters,
    }


def bar_of(rows: Sequence[Mapping[str, Any]], *, kind: str, least: float) -> Bar:
    """Whether both kappas of what is shown, judge and rules together, reach the bar on enough labels."""
    found = [row for row in rows if row["units"] == kind and row["reader"] == "composite"]
    if not found:
        return Bar(False, "no labels of people say how well the judge reads")
    worst = min(found, key=lambda row: -math.inf if row["low"] is None else row["low"])
    n, m = worst["labels"], worst["clusters"]
    told = f"{n} labels in {m} clusters"
    if worst["kappa"] is None:
        return Bar(False, f"the labels do not define kappa ({told})")
    ends = "no interval" if worst["low"] is None else f"{worst['low']:.2f} to {worst['high']:.2f} at {LEVEL:.0%}"
    kappa = f"kappa with people {worst['kappa']:.2f} ({ends}, {told})"
    if n < LEAST_LABELS or m < LEAST_CLUSTERS:
        return Bar(False, f"{kappa}; at least {LEAST_LABELS} labels in {LEAST_CLUSTERS} clusters are needed")
    if worst["low"] is None or worst["low"] < least:
        return Bar(False, f"{kappa}; its low end must reach {least:.2f}")
    return Bar(True, kappa)
