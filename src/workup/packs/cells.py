"""The counts behind the figures of a risk report: how many people stand in each group, with and without the event, and
how many of them at or above each threshold. Knows how figures and counts are tied, not which may be told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workup.disclosure.audit import Ledger, Sum, Who
from workup.estimate import Estimate
from workup.lenses.evidence import SiteEvidence

EVERYONE: Who = ()
MOST_LEVELS = 50  # of a column; beyond that its levels are more likely names or numbers of people than groups
SIZES = ("patients", "rows", "events", "non-events")
SIDES = ("events", "non-events")

# Given the events and the rows of a slice, sensitivity tells how many events are flagged and specificity how many
# non-events. Every other figure at a threshold is made of both; even net benefit, which is one equation in two whole
# numbers, mostly has a single solution.
_ONE_SIDED = {"sensitivity": ("events",), "specificity": ("non-events",)}
# With repeated rows these say by "insufficient" that few patients stand behind one of the outcomes.
_SAY_FEW_PATIENTS = ("auroc", "oe_ratio", "calibration_slope", "calibration_in_the_large", "sensitivity", "specificity")


@dataclass(frozen=True)
class Cells:
    """Every count that the figures of one site rest on.

    `sizes` are counts by measure and slice, `cuts` the same between successive thresholds, ascending; `few` are slices
    whose own figures say that few patients stand behind them, `unlisted` columns with too many levels to be groups.
    """

    columns: Mapping[str, tuple[str, ...]]
    sums: tuple[Sum, ...]
    sizes: Mapping[str, Mapping[Who, int]]
    cuts: Mapping[str, Mapping[Who, tuple[int, ...]]]
    thresholds: tuple[float, ...] = ()
    named: tuple[float, ...] = ()  # the same in the study's own order: the first is the one it cares for most
    few: frozenset[Who] = frozenset()
    few_flagged: frozenset[tuple[Who, int]] = frozenset()
    unlisted: tuple[str, ...] = ()
    weighted: bool = False

    def per_row(self, who: Who) -> float:
        """Patients per row of a slice: 1 unless patients repeat."""
        rows = self.sizes["rows"].get(who, 0)
        return min(1.0, self.sizes["patients"].get(who, 0) / rows) if rows else 1.0

    def families(self) -> Iterator[tuple[Who, ...]]:
        """Slices tied to each other by more than the total: a column, or those that a crossing joins."""
        joined = [{who for who in (whole, *parts) if who} for whole, parts in self.sums]
        while joined:
            family = joined.pop(0)
            while any(one & family for one in joined):
                family = family.union(*(one for one in joined if one & family))
                joined = [one for one in joined if not one <= family]
            yield (EVERYONE, *sorted(family))

    def ledger(self, measure: str, slices: Sequence[Who], *, by_cut: bool) -> Ledger:
        """The ledger of one measure over a family; a sum that does not hold (patients in two groups) is left out."""
        whole = self.cuts[measure] if by_cut else {who: (n,) for who, n in self.sizes[measure].items()}
        counts = {who: whole[who] for who in slices if who in whole}
        sums = tuple(one for one in self.sums if self._holds(one, counts))
        return Ledger(counts, sums, named=measure in ("patients", "rows"))

    @staticmethod
    def _holds(one: Sum, counts: Mapping[Who, tuple[int, ...]]) -> bool:
        whole, parts = one
        if any(who not in counts for who in (whole, *parts)):
            return False
        return all(n == sum(counts[part][b] for part in parts) for b, n in enumerate(counts[whole]))


def who_and_at(keys: Mapping[str, Any], columns: Sequence[str]) -> tuple[Who, dict[str, Any]]:
    """The group that a slice speaks of, and the keys that belong to the metric, such as a threshold.

    >>> who_and_at({"sex": "F", "threshold": 0.2}, ["sex"])
    (('sex', 'F'), {'threshold': 0.2})
    """
    own = [name for name in columns if name in keys]
    at = {name: value for name, value in keys.items() if name not in own}
    return (EVERYONE if not own else (own[0], str(keys[own[0]]))), at


def sides_of(metric: str, at: Mapping[str, Any]) -> tuple[str, ...]:
    """Which sides of the two-by-two table a figure would tell: none without a threshold."""
    if "threshold" not in at:
        return ()
    return _ONE_SIDED.get(metric, SIDES)


@dataclass
class _Found:
    """What the estimates say, collected."""

    sizes: dict[str, dict[Who, int]] = field(default_factory=lambda: {name: {} for name in SIZES})
    tails: dict[str, dict[Who, dict[float, float]]] = field(default_factory=lambda: {name: {} for name in SIDES})
    few: set[Who] = field(default_factory=set)
    few_flagged: set[tuple[Who, float]] = field(default_factory=set)

    def add(self, e: Estimate, columns: Sequence[str]) -> None:
        who, at = who_and_at(e.slice, columns)
        self.sizes["patients"][who], self.sizes["rows"][who] = e.n_patients, e.n_rows
        if e.n_events is not None:
            self.sizes["events"][who], self.sizes["non-events"][who] = e.n_events, e.n_rows - e.n_events
        top, bottom = e.numerator or 0.0, e.denominator or 0.0
        if "threshold" in at:
            if e.metric == "sensitivity":
                self.tails["events"].setdefault(who, {})[at["threshold"]] = top
            elif e.metric == "specificity":
                self.tails["non-events"].setdefault(who, {})[at["threshold"]] = bottom - top
        if e.n_patients < e.n_rows and e.status == "insufficient":
            if e.metric in _SAY_FEW_PATIENTS:
                self.few.add(who)
            elif "threshold" in at:
                self.few_flagged.add((who, at["threshold"]))


def cells_of(
    evidence: SiteEvidence, columns: Sequence[str], crossings: Sequence[tuple[str, str]], thresholds: Sequence[float]
) -> Cells:
    """The counts behind the evidence of a site. `columns` are those of the subgroups lens, crossings among them."""
    found = _Found()
    for e in evidence.estimates:
        found.add(e, columns)
    for name, levels in (evidence.holdings.get("groups") or {}).items():
        for level, held in levels.items():
            for measure in ("patients", "rows"):
                found.sizes[measure].setdefault((name, level), int(held[measure]))
    by_column: dict[str, list[str]] = {}
    for who in sorted(found.sizes["rows"]):
        if who:
            by_column.setdefault(who[0], []).append(who[1])
    unlisted = _unlisted(by_column, crossings)
    kept = {name: tuple(levels) for name, levels in by_column.items() if name not in unlisted}
    ascending = tuple(sorted(thresholds))
    cuts, whole = _by_cut(found, ascending)
    return Cells(
        columns=kept,
        sums=tuple(_sums(kept, crossings)),
        sizes={name: {who: n for who, n in one.items() if _listed(who, kept)} for name, one in found.sizes.items()},
        cuts={name: {who: n for who, n in one.items() if _listed(who, kept)} for name, one in cuts.items()},
        thresholds=ascending,
        named=tuple(thresholds),
        few=frozenset(found.few),
        few_flagged=frozenset((who, ascending.index(at) + 1) for who, at in found.few_flagged),
        unlisted=unlisted,
        weighted=not whole,
    )


def _listed(who: Who, columns: Mapping[str, Any]) -> bool:
    return not who or who[0] in columns


def _unlisted(columns: Mapping[str, Sequence[str]], crossings: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Columns whose levels are too many to be groups, and crossings that cannot be taken apart."""
    crossed = {crossing_name(pair): pair for pair in crossings}
    out = [name for name, levels in columns.items() if name not in crossed and len(levels) > MOST_LEVELS]
    for name, pair in crossed.items():
        parents_known = all(parent in columns and parent not in out for parent in pair)
        if name in columns and not (parents_known and _taken_apart(columns, name, pair)):
            out.append(name)
    return tuple(sorted(out))


def crossing_name(pair: tuple[str, str]) -> str:
    """The column under which the combinations of two columns are reported."""
    return f"{pair[0]} × {pair[1]}"


def _taken_apart(
    columns: Mapping[str, Sequence[str]], name: str, pair: tuple[str, str]
) -> dict[str, tuple[str, str]] | None:
    """Which two levels each combination is made of; None where a name could be read in two ways."""
    ways: dict[str, tuple[str, str]] = {}
    for first in columns[pair[0]]:
        for second in columns[pair[1]]:
            text = f"{first} × {second}"
            if text in ways:
                return None
            ways[text] = (first, second)
    return {level: ways[level] for level in columns[name]} if all(level in ways for level in columns[name]) else None


def _sums(columns: Mapping[str, tuple[str, ...]], crossings: Sequence[tuple[str, str]]) -> Iterator[Sum]:
    for name, levels in columns.items():
        yield EVERYONE, tuple((name, level) for level in levels)
    for pair in crossings:
        name = crossing_name(pair)
        made_of = _taken_apart(columns, name, pair) if name in columns else None
        for place, parent in enumerate(pair) if made_of else ():
            for level in columns[parent]:
                parts = tuple((name, own) for own, levels in (made_of or {}).items() if levels[place] == level)
                if parts:
                    yield (parent, level), parts


def _by_cut(found: _Found, thresholds: Sequence[float]) -> tuple[dict[str, dict[Who, tuple[int, ...]]], bool]:
    """Counts between successive thresholds, and whether they are whole numbers of rows (they are not under weights)."""
    cuts: dict[str, dict[Who, tuple[int, ...]]] = {name: {} for name in SIDES}
    whole = True
    for side in SIDES:
        for who, tails in found.tails[side].items():
            edges = [float(found.sizes[side].get(who, 0)), *(tails.get(at, 0.0) for at in thresholds), 0.0]
            bins = [edges[i] - edges[i + 1] for i in range(len(edges) - 1)]
            whole = whole and all(abs(n - round(n)) < 1e-6 and round(n) >= 0 for n in bins)
            cuts[side][who] = tuple(max(0, round(n)) for n in bins)
    return cuts, whole
