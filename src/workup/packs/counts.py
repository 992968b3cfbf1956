"""The counts behind the figures of a report: how many people are in each group, with and without the event, and how
many of them at or above each threshold. Knows how figures and counts are tied, not which may be told."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from workup.disclosure.atoms import Block, loose, tied, without_empty
from workup.disclosure.figures import SIDES, CountedFigures
from workup.disclosure.inference import Ledger, Sum, Who
from workup.disclosure.overlaps import MOST_LEVELS
from workup.estimate import Estimate
from workup.evidence import BANDS, SiteEvidence
from workup.scores import CROSS

EVERYONE: Who = ()
UNSAID = "\0unsaid"  # levels of a column that the record itself does not count, taken together
SIZES = ("patients", "rows", "events", "non-events")


@dataclass(frozen=True)
class Cells:
    """Every count that the figures of one site rest on.

    `sizes` are counts by measure and slice (with several outcomes also of each and between two), `cuts` the
    same between successive thresholds, ascending; `few` are slices whose own figures say that they rest on few
    patients, `unlisted` columns with too many levels to be groups.
    `blocks` say which levels of different columns occur together, None where the record does not say; `crossed` which
    two levels a combination is made of.
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
    blocks: tuple[Block, ...] | None = ()
    crossed: Mapping[Who, tuple[Who, Who]] = field(default_factory=dict)

    def per_row(self, who: Who) -> float:
        """Patients per row of a slice: 1 unless patients repeat."""
        rows = self.sizes["rows"].get(who, 0)
        return min(1.0, self.sizes["patients"].get(who, 0) / rows) if rows else 1.0

    @property
    def repeated(self) -> bool:
        """Do patients stand in more than one row?"""
        return self.sizes["patients"] != self.sizes["rows"]

    def counts(self, measure: str, *, by_cut: bool) -> dict[Who, tuple[int, ...]]:
        """The counts of one measure, by cut or as a whole."""
        return dict(self.cuts[measure]) if by_cut else {who: (n,) for who, n in self.sizes[measure].items()}

    def ledger(self, measure: str, *, by_cut: bool) -> Ledger:
        """The ledger of one measure over all groupings at once; a sum that does not hold (patients in two groups) is
        left out, and so is the grouping from what ties it to others."""
        counts = self.counts(measure, by_cut=by_cut)
        return self.tie(counts, counts, named=measure in ("patients", "rows") and not by_cut)

    def tie(
        self, counts: Mapping[Who, tuple[int, ...]], holding: Mapping[Who, tuple[int, ...]], *, named: bool
    ) -> Ledger:
        """A ledger of these counts, by the sums and the ties that hold in `holding`."""
        sums = tuple(one for one in self.sums if _holds(one, holding))
        whole = {parts[0][0]: parts for one, parts in sums if one == EVERYONE}
        levels = {name: [level for _, level in parts] for name, parts in whole.items()}
        crossed = {who: both for who, both in self.crossed.items() if who[0] in whole}
        found = [block.fitted(levels) for block in self._inhabited]
        blocks = [block for block in found if block is not None]
        return tied(counts, sums, blocks, crossed=crossed, named=named)

    @cached_property
    def _inhabited(self) -> tuple[Block, ...]:
        """The blocks for the levels that are counted, without combinations in which there can be nobody."""
        rows = self.sizes["rows"]
        levels: dict[str, list[str]] = {}
        for who in sorted(rows):
            if who:
                levels.setdefault(who[0], []).append(who[1])
        fitted = [block.fitted(levels) for block in (*(self.blocks or ()), *self._of_crossings(levels))]
        blocks = [without_empty(block, rows, self.crossed) for block in fitted if block is not None]
        crossings = [{one[0] for one in both} for both in self.crossed.values()]
        return tuple(block for block in blocks if len(blocks) == 1 or {*block.columns} in crossings or not loose(block))

    def _of_crossings(self, levels: Mapping[str, Sequence[str]]) -> list[Block]:
        """A crossing of which some combinations are not told apart adds up to its columns by its atoms alone."""
        found = []
        for name in sorted(levels):
            pair = next((tuple(one[0] for one in both) for who, both in self.crossed.items() if who[0] == name), None)
            if not pair or all((name, level) in self.crossed for level in levels[name]):
                continue
            known = any({*pair} <= {*block.columns} for block in self.blocks or ())
            if not known and all(one in levels for one in pair):
                shape = tuple(tuple(levels[one]) for one in pair)
                found.append(Block(pair, shape, np.ones([len(one) for one in shape], dtype=bool)))
        return found


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


@dataclass
class _Counted:
    """What the estimates say, collected."""

    figures: CountedFigures
    sizes: dict[str, dict[Who, int]] = field(default_factory=lambda: {name: {} for name in SIZES})
    tails: dict[str, dict[Who, dict[float, float]]] = field(default_factory=lambda: {name: {} for name in SIDES})
    few: set[Who] = field(default_factory=set)
    few_flagged: set[tuple[Who, float]] = field(default_factory=set)
    unsaid: set[Who] = field(default_factory=set)  # slices with a figure that the record itself withholds
    by_outcome: dict[str, dict[Who, int]] = field(default_factory=dict)  # events, where there are several outcomes

    def add(self, e: Estimate, columns: Sequence[str]) -> None:
        who, at = who_and_at(e.slice, columns)
        if e.status == "withheld" and not e.n_rows:
            self.unsaid.add(who)
            return
        self.sizes["patients"][who], self.sizes["rows"][who] = e.n_patients, e.n_rows
        if e.n_events is not None:
            self.sizes["events"][who], self.sizes["non-events"][who] = e.n_events, e.n_rows - e.n_events
            if self.figures.outcomes in at:
                self.by_outcome.setdefault(str(at[self.figures.outcomes]), {})[who] = e.n_events
        top, bottom = e.numerator or 0.0, e.denominator or 0.0
        if "threshold" in at:
            if e.metric == self.figures.sensitivity:
                self.tails["events"].setdefault(who, {})[at["threshold"]] = top
            elif e.metric == self.figures.specificity:
                self.tails["non-events"].setdefault(who, {})[at["threshold"]] = bottom - top
        # It may also say that few were followed so far, which no other count of the pack does.
        if (e.n_patients < e.n_rows or self.figures.outcomes in at) and e.status == "insufficient":
            if e.metric in self.figures.say_few:
                self.few.add(who)
            elif "threshold" in at:
                self.few_flagged.add((who, at["threshold"]))


def cells_of(
    evidence: SiteEvidence,
    columns: Sequence[str],
    crossings: Sequence[tuple[str, str]],
    thresholds: Sequence[float],
    figures: CountedFigures,
) -> Cells:
    """The counts behind the evidence of a site. `columns` are those of the groups, crossings among them."""
    found = _Counted(figures)
    for e in evidence.estimates:
        found.add(e, columns)
    for name, levels in (evidence.holdings.get("groups") or {}).items():
        for level, held in levels.items():
            for measure in ("patients", "rows"):
                if held.get(measure) is None:
                    found.unsaid.add((name, level))
                else:
                    found.sizes[measure].setdefault((name, level), int(held[measure]))
    by_column: dict[str, list[str]] = {}
    for who in sorted(found.sizes["rows"]):
        if who:
            by_column.setdefault(who[0], []).append(who[1])
    unlisted = _unlisted(by_column, crossings, evidence.holdings.get(BANDS) or ())
    kept = {name: tuple(levels) for name, levels in by_column.items() if name not in unlisted}
    ascending = tuple(sorted(thresholds))
    cuts, whole = _by_cut(found, ascending)
    several = len(found.by_outcome) > 1
    found.sizes |= _of_several(found.by_outcome, found.sizes["rows"]) if several else {}
    sizes = {name: {who: n for who, n in one.items() if _listed(who, kept)} for name, one in found.sizes.items()}
    cuts = {name: {who: n for who, n in one.items() if _listed(who, kept)} for name, one in cuts.items()}
    left = [name for name in kept if any(who and who[0] == name for who in found.unsaid - set(sizes["rows"]))]
    _add_unsaid(left, kept, sizes, cuts)
    sums, crossed = _sums({**kept, **{name: (*kept[name], UNSAID) for name in left}}, crossings, sizes["rows"])
    described = evidence.holdings.get("overlaps")
    return Cells(
        columns=kept,
        sums=sums,
        sizes=sizes,
        cuts=cuts,
        thresholds=ascending,
        named=tuple(thresholds),
        few=frozenset(found.few),
        few_flagged=frozenset((who, ascending.index(at) + 1) for who, at in found.few_flagged),
        unlisted=unlisted,
        weighted=not whole or several,  # a threshold cuts the events of every outcome in another way
        blocks=None if described is None else tuple(Block.of(one) for one in described),
        crossed=crossed,
    )


def _of_several(events: Mapping[str, Mapping[Who, int]], rows: Mapping[Who, int]) -> dict[str, dict[Who, int]]:
    """Counts of each outcome, of those without it, and of those between two, one of which holds the other: told both,
    whoever subtracts has them."""
    found: dict[str, dict[Who, int]] = {}
    in_time = sorted(events, key=lambda name: (sum(events[name].values()), name))
    for name in in_time:
        found[f"events by {name}"] = dict(events[name])
        found[f"non-events by {name}"] = {who: rows[who] - n for who, n in events[name].items()}
    for i, first in enumerate(in_time):
        for second in in_time[i + 1 :]:
            both = events[first].keys() & events[second].keys()
            between = {who: events[second][who] - events[first][who] for who in both}
            found[f"events between {first} and {second}"] = between
    return found


def _add_unsaid(
    columns: Sequence[str],
    levels: Mapping[str, Sequence[str]],
    sizes: Mapping[str, dict[Who, int]],
    cuts: Mapping[str, dict[Who, tuple[int, ...]]],
) -> None:
    """Give levels that the record does not count what everyone less the others leaves, since any reader can."""
    for name in columns:
        for one in sizes.values():
            counted = [one[name, level] for level in levels[name] if (name, level) in one]
            if counted and one.get(EVERYONE, 0) > sum(counted):
                one[name, UNSAID] = one[EVERYONE] - sum(counted)
        for side in cuts.values():
            bins = [side[name, level] for level in levels[name] if (name, level) in side]
            if bins and EVERYONE in side:
                left = [n - sum(one) for n, *one in zip(side[EVERYONE], *bins, strict=True)]
                if any(left) and min(left) >= 0:
                    side[name, UNSAID] = tuple(left)


def _listed(who: Who, columns: Mapping[str, Any]) -> bool:
    return not who or who[0] in columns


def _unlisted(
    columns: Mapping[str, Sequence[str]], crossings: Sequence[tuple[str, str]], bands: Collection[str] = ()
) -> tuple[str, ...]:
    """Columns whose levels are too many to be groups, bands of the risk, which the thresholds cut across, and crossings
    that cannot be taken apart."""
    crossed = {crossing_name(pair): pair for pair in crossings}
    many = {name for name, levels in columns.items() if name not in crossed and len(levels) > MOST_LEVELS}
    out = [name for name in columns if name in many or name in bands]
    for name, pair in crossed.items():
        parents_known = all(parent in columns and parent not in out for parent in pair)
        if name in columns and not (parents_known and _taken_apart(columns, name, pair)):
            out.append(name)
    return tuple(sorted(out))


def crossing_name(pair: tuple[str, str]) -> str:
    """The column under which the combinations of two columns are reported."""
    return CROSS.join(pair)


def _taken_apart(
    columns: Mapping[str, Sequence[str]], name: str, pair: tuple[str, str]
) -> dict[str, tuple[str, str]] | None:
    """Which two levels each combination is made of; None where a name could be read in two ways, or in none.

    One level may be no combination: that in which a report puts those together that it does not tell apart.
    """
    ways: dict[str, tuple[str, str]] = {}
    for first in columns[pair[0]]:
        for second in columns[pair[1]]:
            text = first + CROSS + second
            if text in ways:
                return None
            ways[text] = (first, second)
    found = {level: ways[level] for level in columns[name] if level in ways}
    return found if found and len(found) >= len(columns[name]) - 1 else None


def _sums(
    columns: Mapping[str, tuple[str, ...]], crossings: Sequence[tuple[str, str]], counted: Mapping[Who, int]
) -> tuple[tuple[Sum, ...], dict[Who, tuple[Who, Who]]]:
    """What adds up to what, and which two levels each combination is made of."""
    found: list[Sum] = []
    crossed: dict[Who, tuple[Who, Who]] = {}
    for name, levels in columns.items():
        found.append((EVERYONE, tuple((name, level) for level in levels if (name, level) in counted)))
    for pair in crossings:
        name = crossing_name(pair)
        own_levels = {name: tuple(level for level in columns.get(name, ()) if level != UNSAID)}
        made_of = _taken_apart({**columns, **own_levels}, name, pair) if name in columns else None
        for level, (first, second) in (made_of or {}).items():
            crossed[name, level] = ((pair[0], first), (pair[1], second))
        for place, parent in enumerate(pair) if made_of else ():
            for level in columns[parent]:
                parts = tuple((name, own) for own, levels in (made_of or {}).items() if levels[place] == level)
                if parts:
                    found.append(((parent, level), parts))
    return tuple(one for one in found if one[1]), crossed


def _by_cut(found: _Counted, thresholds: Sequence[float]) -> tuple[dict[str, dict[Who, tuple[int, ...]]], bool]:
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
