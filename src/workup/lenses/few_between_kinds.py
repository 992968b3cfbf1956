"""Rows of several kinds are of the same people: where few of a group, site or window have rows of one kind and none of
another, the sizes of both would tell how many wait, were never alerted or left in between. What is told of the later
kind then has those levels as one, or the grouping not at all. Knows what is withheld of each kind and the lenses'
settings; `disclosure` says which sets of people are too near each other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np

from workup.disclosure.small_groups import Regrouped
from workup.disclosure.told_people import Grouped, ToldPeople, few_between, near_groupings
from workup.lenses.drift.lens import ELSEWHERE, UNDATED
from workup.lenses.withholding import SITE, WINDOW, WINDOW_BEFORE, Withholding, window_groupings
from workup.scores import CROSS, Levels

_NO_WINDOW = {UNDATED, ELSEWHERE}  # rows that no window is told of
_MOST_ATTEMPTS = 8  # at company for levels, after which a grouping is not told at all
Forced = dict[str, set[str]]


@dataclass(frozen=True)
class HeldKind:
    """A kind of rows with what is withheld of it so far.

    `again` withholds anew with some levels kept back in any case; None where only whole groupings can be.
    """

    kept: Withholding
    lenses: Mapping[str, Mapping[str, Any]]
    rows_of: str = ""
    again: Callable[[Mapping[str, Collection[str]]], Withholding] | None = None


@dataclass(frozen=True)
class Apart:
    """What is withheld of a kind, and the columns that the drift lens may not look at its windows by."""

    kept: Withholding
    not_in_windows: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Told:
    """What is told of the kinds before."""

    people: ToldPeople
    groupings: dict[str, list[Grouped]] = field(default_factory=dict)

    def near(self, own: Mapping[str, Grouped]) -> dict[str, set[frozenset[str]]]:
        """Parts of these groupings that differ in few people from the same part of another kind."""
        found: dict[str, set[frozenset[str]]] = {}
        for name, grouped in own.items():
            for part in grouped.parts():
                others = self.groupings.get(name, ())
                if not part & _NO_WINDOW and any(few_between(grouped, other, part, self.people.k) for other in others):
                    found.setdefault(name, set()).add(part)
        return found

    def overlapping(self, own: Mapping[str, Grouped]) -> set[str]:
        """Groupings of which a part differs in few people from another part, from everyone, or from a part of another
        grouping of other rows: nobody else could keep them company."""
        parts = [(name, part) for name, one in own.items() for part in one.parts() if not part & _NO_WINDOW]
        parts = [(name, part) for name, part in parts if part != own[name].hidden]
        few = self.people.near([(name, own[name].people(part)) for name, part in parts])
        return {name for (name, _), near in zip(parts, few, strict=True) if near}

    def tell(self, own: Mapping[str, Grouped]) -> None:
        for name, grouped in own.items():
            self.groupings.setdefault(name, []).append(grouped)
            for part in grouped.parts():
                if part != grouped.hidden and not part & _NO_WINDOW:
                    self.people.tell(grouped.people(part))


def apart(kinds: Sequence[HeldKind]) -> list[Apart]:
    """What is withheld of each kind once no two of them tell of few people; of two, the later one gives way."""
    k = max((one.kept.k for one in kinds), default=1)
    if k <= 1 or len(kinds) < 2:
        return [Apart(one.kept) for one in kinds]
    patients = [one.kept.scores.patient for one in kinds]
    told = _Told(ToldPeople(k, 1 + max(int(own.max(initial=0)) for own in patients)))
    for own in patients:
        told.people.tell(np.unique(own).astype(np.int64))
    return [_apart(one, told) for one in kinds]


def left_out(kept: Withholding, in_turn: Collection[str]) -> Withholding:
    """The same without groupings that the same people pass through `in_turn`, where few are in one level and not in
    another: those who left in between."""
    scores = kept.scores
    own = {
        name: Grouped(levels, scores.patient, frozenset(levels.names) - frozenset(scores.groups[name].names))
        for name, levels in {**scores.groups, **kept.groups}.items()
        if name in in_turn and name in scores.groups
    }
    return _without(kept, near_groupings(own, [], kept.k))


def _apart(kind: HeldKind, told: _Told) -> Apart:
    kept, forced = kind.kept, Forced()
    whole: set[str] = set()
    for attempt in count():
        own = _groupings(kind, kept)
        near = told.near(own)
        whole |= set(near) if attempt > _MOST_ATTEMPTS else set()
        whole |= told.overlapping({name: one for name, one in own.items() if name not in near})
        for name, parts in near.items():
            if kind.again is None or not _force(forced.setdefault(name, set()), name, own[name], parts, told):
                whole.add(name)
        if not near and not whole & set(own):
            break
        left = {name: held for name, held in forced.items() if name not in whole}
        tried = kind.again(left) if kind.again is not None and left else kind.kept
        if _untold(tried) > _untold(kind.kept):  # company for some levels would cost other groupings: not worth it
            whole |= set(forced)
            tried = kind.kept
        kept = _without(tried, whole)
    told.tell(own)
    crossed = _near_names(told, kind, _crossings(kind, kept), [])
    site = kept.scores.site if "sites" in kind.lenses else None
    at_sites = _near_names(told, kind, _within(kept, SITE, site), [] if site is None else [site])
    watched = window_groupings(kept.scores, kind.lenses)[0].get(WINDOW)
    in_windows = _near_names(told, kind, _within(kept, WINDOW, watched), [] if watched is None else [watched])
    kept = replace(
        kept,
        crossed={**kept.crossed, **{name: _nothing_of(levels) for name, levels in crossed.items()}},
        at_sites={**kept.at_sites, **{_column(name): _nothing_of(levels) for name, levels in at_sites.items()}},
    )
    if at_sites and kept.site is None:
        kept = replace(kept, site=Regrouped(kept.scores.site))
    return Apart(kept, frozenset(_column(name) for name in in_windows))


def _untold(kept: Withholding) -> int:
    """How many groupings are not told at all."""
    places = [*kept.columns.values(), *kept.windows.values(), *([] if kept.site is None else [kept.site])]
    return sum(one.levels is None for one in places)


def _force(forced: set[str], name: str, grouped: Grouped, parts: Collection[frozenset[str]], told: _Told) -> bool:
    """Keep back the levels of these parts, and more of them until they are many enough as one; False where no level
    would be left."""
    forced |= set().union(*parts)
    used = [level for part in grouped.parts() for level in part]
    while len(forced) < len(used):
        held = replace(grouped, hidden=frozenset(forced))
        others = told.groupings.get(name, ())
        tried = frozenset(forced) not in parts  # it was kept back before, and is too near
        if tried and not any(few_between(held, other, held.hidden, told.people.k) for other in others):
            return True
        forced.add(
            max((level for level in used if level not in forced), key=lambda one: (grouped.people({one}).size, one))
        )
    return False


# ---- the groupings of a kind -----------------------------------------------------------------------------------------


def _groupings(kind: HeldKind, kept: Withholding) -> dict[str, Grouped]:
    """Every grouping by which something may be told of a kind, as its levels were."""
    found = {}
    for name in kept.scores.groups:
        levels = kept.groups.get(name, kept.scores.groups[name])
        one = kept.columns.get(name)
        found[name] = _grouped(kind, kept, levels, () if one is None else one.withheld)
    place = kept.scores.site
    if place is not None and "sites" in kind.lenses and (kept.site is None or kept.site.levels is not None):
        found[SITE] = _grouped(kind, kept, place, kept.sites)
    periods = window_groupings(kept.scores, kind.lenses)[0]
    if all((held := kept.windows.get(name)) is None or held.levels is not None for name in periods):
        for name, levels in periods.items():
            held = kept.windows.get(name)
            found[name] = _grouped(kind, kept, levels, () if held is None else held.withheld)
    return found


def _grouped(kind: HeldKind, kept: Withholding, levels: Levels, withheld: Collection[str]) -> Grouped:
    return Grouped(levels, kept.scores.patient, frozenset(withheld), kind.rows_of)


def _crossings(kind: HeldKind, kept: Withholding) -> Iterator[tuple[str, Levels]]:
    for pair in kind.lenses.get("subgroups", {}).get("intersections") or ():
        name, groups = CROSS.join(pair), kept.scores.groups
        held = kept.crossed.get(name)
        levels = held.levels if held is not None else None
        if held is None and set(pair) <= set(groups):
            levels = groups[pair[0]].crossed(groups[pair[1]])
        if levels is not None:
            yield name, levels


def _within(kept: Withholding, place: str, levels: Levels | None) -> Iterator[tuple[str, Levels]]:
    """Cells of a place and each column; those of few patients, which are not told, are left to the lens."""
    for name, own in kept.scores.groups.items() if levels is not None else ():
        assert levels is not None
        yield place + CROSS + name, levels.crossed(own)


def _near_names(
    told: _Told, kind: HeldKind, cells: Iterator[tuple[str, Levels]], places: Sequence[Levels]
) -> dict[str, Levels]:
    """The groupings of cells that would tell of few people, by other kinds of rows, by their places or by each other;
    the others are told."""
    found = {}
    patient, k = kind.kept.scores.patient, told.people.k
    here = ToldPeople(k, told.people.patients)
    for place in places:
        whole = Grouped(place, patient)
        for part in whole.parts():
            here.tell(whole.people(part))
    for name, levels in cells:
        grouped = Grouped(levels, patient, rows_of=kind.rows_of)
        people = {part: grouped.people(part) for part in grouped.parts()}
        small = {one for part, own in people.items() for one in part if own.size < k}
        grouped = replace(grouped, hidden=frozenset(small))
        shown = [part for part in people if not part & small]
        others = told.groupings.get(name, ())
        near = any(here.near([(name, people[part]) for part in shown])) or any(
            few_between(grouped, other, part, k) for other in others for part in shown if not part & other.hidden
        )
        if near:
            found[name] = levels
        else:
            told.groupings.setdefault(name, []).append(grouped)
    return found


def _column(cell: str) -> str:
    return cell.partition(CROSS)[2]


def _nothing_of(levels: Levels) -> Regrouped:
    return Regrouped(None, tuple(levels.names))


def _without(kept: Withholding, names: Collection[str]) -> Withholding:
    """The same with nothing told by these groupings."""
    if not names:
        return kept
    scores, groups = kept.scores, {**kept.scores.groups, **kept.groups}
    hidden = {name: _nothing_of(groups[name]) for name in names if name in groups}
    left = {name: levels for name, levels in scores.groups.items() if name not in hidden}
    later = scores.waiting
    if later is not None:
        own = {name: levels for name, levels in later.groups.items() if name not in hidden}
        later = replace(later, groups=own)
    crossed = {name: one for name, one in kept.crossed.items() if not set(name.split(CROSS)) & set(hidden)}
    gone = {name: Regrouped(None, one.withheld) for name, one in kept.crossed.items() if name not in crossed}
    found = replace(
        kept,
        scores=replace(scores, groups=left, waiting=later),
        columns={**{name: Regrouped(levels) for name, levels in left.items()}, **kept.columns, **hidden},
        crossed={**crossed, **gone},
        groups=groups,
    )
    if SITE in names and scores.site is not None:
        found = replace(found, site=_nothing_of(scores.site))
    if {WINDOW, WINDOW_BEFORE} & set(names):
        found = replace(found, windows={**kept.windows, WINDOW: Regrouped(None, ("every window",))})
    return found
