"""Packs of a record whose lenses looked at rows of several kinds: every kind has counts of its own, and a figure is
told where those behind it are large enough. The first kind is withheld as that of every other pack is; of the others,
what is counted (events, flagged events, alerts) is a cell of each figure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from workup.disclosure.figures import CountedFigures
from workup.errors import InputError
from workup.estimate import Estimate
from workup.evidence import SiteEvidence
from workup.packs.counts import cells_of, who_and_at
from workup.packs.publish import Publisher
from workup.packs.suppression import withhold
from workup.report import Report, canonical

_UNCOUNTED = CountedFigures("", "")
EVERYTHING = ""  # beside columns, all of a kind
_OF_METRICS = ("threshold", "hours")  # keys of slices that belong to a metric and not to rows


@dataclass(frozen=True)
class KindOfRows:
    """A kind of rows: its metrics, and what its rows hold."""

    name: str
    metrics: Sequence[str]
    holdings: Mapping[str, Any]


class Told(NamedTuple):
    """What a pack holds of one kind."""

    estimates: list[dict[str, Any]]
    gaps: list[dict[str, Any]]
    withheld: list[dict[str, Any]]


def table_of(report: Report, name: str) -> Mapping[str, Any]:
    """A table that stands in the first result of a study; a record sorts its lenses, so that it is first no longer."""
    held = (one.tables[name] for one in report.results.values() if one.tables.get(name))
    return next(held, {})


def kinds_of(report: Report) -> list[KindOfRows]:
    """The kinds of rows of a record, the one that others are held against first; none where it has one alone."""
    named = report.results["internal"].settings.get("kinds") or {}
    held = table_of(report, "kind_holdings")
    # A record sorts its names, so the first is the one that the whole of the holdings is of.
    whole = canonical(table_of(report, "holdings"))
    names = sorted(named, key=lambda name: (canonical(held.get(name) or {}) != whole, name))
    return [KindOfRows(name, named[name], held.get(name) or {}) for name in names]


def refuse_ledger(report: Report) -> None:
    """What several packs tell together is worked out for rows of one kind."""
    if kinds_of(report):
        raise InputError(
            "a ledger holds what packs with rows of one kind told",
            got=f"a report of the task '{report.study.get('task')}', whose rows are of several kinds",
            remedy="make the pack without --ledger, and send one of each study",
        )


def of_kind(
    evidence: SiteEvidence, kind: KindOfRows, columns: Sequence[str], hidden: Collection[str] = ()
) -> SiteEvidence:
    """What a site knows of the rows of one kind: all of them, and the groups that are named. Other parts of the rows,
    such as those that nobody acted on, would tell of the rest by what is left. Figures by a column that is `hidden` are
    withheld, and all of them where everyone is."""
    named = {*_OF_METRICS, *columns}
    own = (e for e in evidence.estimates if e.metric in kind.metrics and set(e.slice) <= named)
    groups = {name: one for name, one in (kind.holdings.get("groups") or {}).items() if name not in hidden}
    return replace(
        evidence,
        estimates=tuple(_unsaid(e) if EVERYTHING in hidden or set(hidden) & set(e.slice) else e for e in own),
        gaps=tuple(
            {**row, "status": "withheld"} if EVERYTHING in hidden or set(hidden) & set(row["slice"]) else row
            for row in evidence.gaps
            if row["metric"] in kind.metrics
        ),
        holdings={**kind.holdings, "groups": {} if EVERYTHING in hidden else groups},
    )


def _unsaid(e: Estimate) -> Estimate:
    nothing: dict[str, Any] = dict.fromkeys(("n_events", "numerator", "denominator"))
    return replace(e, n_patients=0, n_rows=0, status="withheld", **nothing)


def near_each_other(
    evidence: SiteEvidence, kinds: Sequence[KindOfRows], columns: Sequence[str], *, k: int
) -> dict[str, set[str]]:
    """Columns by which each kind may not be told, `EVERYTHING` among them where nothing of it may: numbers of people or
    rows that differ by fewer than k from those of another kind, which are of the same people, would tell how many wait
    or were never watched. The first kind, of risks and outcomes, gives way to all others."""
    hidden: dict[str, set[str]] = {kind.name: set() for kind in kinds}
    told: list[dict[str, dict[str, tuple[int, int]]]] = []
    for kind in (*kinds[1:], *kinds[:1]) if k > 1 else ():
        sizes = _sizes(of_kind(evidence, kind, columns), columns)
        everyone = sizes.get(EVERYTHING, {}).get("", (0, 0))[0]
        for name, own in sizes.items():
            if _in_turn(own, everyone, k) or any(_near(own, other[name], k) for other in told if name in other):
                hidden[kind.name].add(name)
        gone = hidden[kind.name]
        told.append({name: own for name, own in sizes.items() if not {name, EVERYTHING} & gone})
    return hidden


def _sizes(evidence: SiteEvidence, columns: Sequence[str]) -> dict[str, dict[str, tuple[int, int]]]:
    """Patients and rows by the levels of every column, and of everyone under `EVERYTHING`."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for e in evidence.estimates:
        if e.n_rows:
            who, _ = who_and_at(e.slice, columns)
            found.setdefault(who[0] if who else EVERYTHING, {})[who[1] if who else ""] = (e.n_patients, e.n_rows)
    return found


def _in_turn(own: Mapping[str, tuple[int, int]], everyone: int, k: int) -> bool:
    """Do the same people pass through several levels, and few in one of them not through another, or not through it?"""
    people = sorted({everyone, *(patients for patients, _ in own.values())})
    passing = sum(patients for patients, _ in own.values()) > everyone
    return passing and any(0 < more - fewer < k for fewer, more in pairwise(people))


def _near(own: Mapping[str, tuple[int, int]], other: Mapping[str, tuple[int, int]], k: int) -> bool:
    """Do two kinds differ by few in a level, or in those that only one of them tells apart?"""
    pairs = [(own[level], other[level]) for level in own.keys() & other.keys()]
    rest = [[size for level, size in one.items() if level not in two] for one, two in ((own, other), (other, own))]
    if all(rest):
        pairs.append(tuple(tuple(map(sum, zip(*sizes, strict=True))) for sizes in rest))  # type: ignore[arg-type]
    return any(0 < abs(one - two) < k for pair in pairs for one, two in zip(*pair, strict=True))


def told_of_kind(
    evidence: SiteEvidence,
    columns: Sequence[str],
    crossings: Sequence[tuple[str, str]],
    thresholds: Sequence[float],
    comparator: Any,
    reason: str,
    *,
    k: int,
) -> Told:
    """The figures of one kind, each told or withheld."""
    if not evidence.estimates:
        return Told([], [], [])
    # Where every row is an event there are no others, and none would be fewer than k.
    plain = tuple(replace(e, n_events=None) for e in evidence.estimates)
    own = replace(evidence, estimates=plain)
    cells = cells_of(own, columns, crossings, thresholds, _UNCOUNTED)
    publisher = Publisher(cells, withhold(cells, k=k), columns, comparator, reason, _UNCOUNTED)
    few = set(_few(plain, columns, k)) if k > 1 else set()
    shown = [e if _place(e.metric, e.slice) not in few else replace(e, status="withheld") for e in plain]
    gaps = [row if not _touches(row, few, columns) else {**row, "status": "withheld"} for row in evidence.gaps]
    return Told(publisher.estimates(shown), publisher.gaps(gaps), publisher.withheld)


def _place(metric: str, keys: Mapping[str, Any]) -> tuple[str, str]:
    return metric, canonical(dict(keys))


def _few(estimates: Sequence[Estimate], columns: Sequence[str], k: int) -> Iterator[tuple[str, str]]:
    """Figures that count fewer than k of something, or leave fewer; and where a single level of a grouping is such, the
    next smallest beside it, since everyone less the others would give it away."""
    found: dict[tuple[str, str, str], dict[str, tuple[Estimate, bool]]] = {}
    for e in estimates:
        who, at = who_and_at(e.slice, columns)
        if not who and _small(e, k):
            yield _place(e.metric, e.slice)
        elif who:
            found.setdefault((e.metric, canonical(at), who[0]), {})[who[1]] = (e, _small(e, k))
    for levels in found.values():
        small = {level for level, (_, few) in levels.items() if few}
        others = sorted((e.denominator or 0.0, level) for level, (e, few) in levels.items() if not few)
        if len(small) == 1 and others:
            small.add(others[0][1])
        yield from (_place(levels[level][0].metric, levels[level][0].slice) for level in small)


def _small(e: Estimate, k: int) -> bool:
    if e.numerator is None or e.denominator is None:
        return False
    return 0 < e.numerator < k or 0 < e.denominator - e.numerator < k or 0 < e.denominator < k


def _touches(row: Mapping[str, Any], few: set[tuple[str, str]], columns: Sequence[str]) -> bool:
    """Is a side of the gap withheld? The rest of a group, and everyone, tell of it too."""
    who, at = who_and_at(row["slice"], columns)
    sides = [row["slice"], at]
    if who:
        sides.append({who[0]: str(row["against"]), **at})
    return any(_place(row["metric"], keys) in few for keys in sides)
