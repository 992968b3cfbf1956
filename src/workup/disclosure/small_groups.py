"""Which groups of a report are so few people that it would tell of each of them, and what must be withheld with them.
Knows groupings of rows and whose rows they are; nothing of what is measured on them.

The rows of withheld levels are counted as one level of at least k patients: no figure of a small group is
made at all, and nobody is left out of what is said of the groups. A level that is not small joins them where the small
ones alone are too few, or where a figure of theirs could be worked out from what is told: from the total, from another
grouping of the same people (sex beside male: yes or no), or from a crossing of two.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.disclosure.inference import Audit, Ledger, Piece, Span, Sum, Who
from workup.scores import CROSS, Levels
from workup.stats.arrays import Bools, Floats, Ints

TOGETHER = "withheld together"
_EVERYONE: Who = ()
_MOST_CELLS = 150  # looked at by a linear programme first, before all of them are
_NOT_BY_CHANCE = 7.0  # rows that chance would put where there are none; it leaves them out once in a thousand times
_MOST_ALIKE = 30  # cells of a count for which others like them are looked for
_MOST_AUDITED = 4000  # beyond which a count that is not shown to be safe is taken for exposed
_PAIRED = 8  # of the smallest levels, each pair is tried as company of those withheld


@dataclass(frozen=True)
class Regrouped:
    """One grouping as it may be told.

    `levels` has the withheld levels as one, named `together`; it is None where nothing of the column may be told.
    `held` are the rows of that one.
    """

    levels: Levels | None
    withheld: tuple[str, ...] = ()
    together: str = ""

    @property
    def held(self) -> Bools | None:
        """Rows that are counted as one; None where no level is withheld or the whole column is."""
        if self.levels is None or not self.together:
            return None
        return np.asarray(self.levels.codes == self.levels.names.index(self.together))


def regrouped(
    groupings: Mapping[str, Levels],
    patient: Ints,
    *,
    k: int,
    crossings: Sequence[tuple[str, str]] = (),
    outcome: Bools | None = None,
    wanted: Mapping[str, Collection[str]] | None = None,
    withheld: Mapping[str, Collection[str]] | None = None,
    told: Mapping[str, Levels] | None = None,
    bands: Mapping[str, Collection[str]] | None = None,
) -> dict[str, Regrouped]:
    """Every grouping, and every crossing of two as "a × b", with levels of fewer than `k` patients withheld.

    `outcome` marks the rows with an event: the withheld levels then hold rows with it and rows without, since a group
    in which all have one outcome tells that of each. `wanted` are levels that join others only where nothing else
    helps, such as the one that all others are compared with; `withheld` are levels that are kept back in any case.
    `told` are groupings that are told whole, such as those that a threshold flags, and `bands` the columns that some of
    them cut across, with the names of these; GivenAway says that they tell a small level of one.

    >>> sex = Levels.of(["F"] * 60 + ["M"] * 37 + ["X"] * 3)
    >>> male = Levels.of(["no"] * 60 + ["yes"] * 37 + ["no"] * 3)
    >>> alone = regrouped({"sex": sex}, np.arange(100), k=5)["sex"]
    >>> alone.withheld, alone.levels.names
    (('M', 'X'), ('F', 'withheld together'))
    >>> both = regrouped({"sex": sex, "male": male}, np.arange(100), k=5)  # M and X less all who are male would be X
    >>> both["sex"].withheld, both["male"].withheld
    (('F', 'X'), ())
    """
    if k <= 1:
        crossed = {CROSS.join(pair): groupings[pair[0]].crossed(groupings[pair[1]]) for pair in crossings}
        return {name: Regrouped(levels) for name, levels in (*groupings.items(), *crossed.items())}
    search = _Search(patient, k, _both_kinds(outcome), dict(wanted or {}))
    for name, levels in groupings.items():
        search.add(name, levels, withheld=(withheld or {}).get(name, ()))
    for name, levels in (told or {}).items():
        search.add_told(name, levels)
    search.tie([(one, other) for one, own in (bands or {}).items() for other in own])
    search.add_unnamed([(one, other) for one, other in combinations(groupings, 2)])
    search.add_unnamed([(one, other) for one, own in (bands or {}).items() for other in own])
    search.settle()
    if told and (given_away := search.given_away(bands or ())) is not None:
        raise GivenAway(given_away)
    found = {name: search.regrouped(name) for name in groupings}
    search.fixed |= set(groupings)
    for first, second in crossings:
        one, other = found[first].levels, found[second].levels
        if one is not None and other is not None:
            search.add(
                CROSS.join((first, second)), one.crossed(other), parents=(one, other), roots=frozenset((first, second))
            )
    search.settle()
    for first, second in crossings:
        name = CROSS.join((first, second))
        found[name] = search.regrouped(name) if name in search.columns else Regrouped(None)
    return found


class GivenAway(ValueError):
    """A column of which a level is known from what is told in any case."""


def is_together(level: str) -> bool:
    """Is it the name of levels that are withheld, or could it be?

    >>> is_together("withheld together"), is_together("F"), is_together("F × withheld together")
    (True, False, False)
    """
    return level.removesuffix(" too").rstrip() == TOGETHER or level.startswith(f"{TOGETHER} too")


def tied(first: Levels, second: Levels) -> bool:
    """Do two groupings leave out combinations of levels that chance would not leave out?"""
    seen = np.zeros((len(first.names), len(second.names)))
    np.add.at(seen, (first.codes, second.codes), 1.0)
    expected = seen.sum(axis=1, keepdims=True) * seen.sum(axis=0, keepdims=True) / seen.sum()
    holes = (seen == 0) & (expected > _NOT_BY_CHANCE)
    return bool(holes.any() or _contained(seen) or _contained(seen.T))


def _both_kinds(outcome: Bools | None) -> Bools | None:
    """Where everyone has one outcome, it is known of all and cannot be kept."""
    return outcome if outcome is not None and outcome.any() and not outcome.all() else None


def _contained(seen: Floats) -> bool:
    """Is a row of a table of counts all in one column, though chance would have put some into others?"""
    sizes, place = seen.sum(axis=1), seen.argmax(axis=1)
    elsewhere = sizes * (1 - seen.sum(axis=0)[place] / seen.sum())
    return bool(np.any((seen.max(axis=1) == sizes) & (elsewhere > _NOT_BY_CHANCE)))


@dataclass
class _Column:
    """A grouping on its way: which of its codes are kept back so far; `whole` where nothing of it is told."""

    levels: Levels
    sizes: Ints  # patients of each code
    small: frozenset[int]
    roots: frozenset[str]  # the columns of the table that it is made of: itself, or the two that are crossed
    parents: tuple[Levels, ...] = ()
    options: Iterator[frozenset[int]] = field(
        default_factory=lambda: iter(())
    )  # company not tried yet, the least first
    hidden: frozenset[int] = frozenset()
    whole: bool = False

    @property
    def told(self) -> list[int]:
        """Codes with rows that are told by themselves."""
        return [] if self.whole else [c for c, n in enumerate(self.sizes) if n and c not in self.hidden]

    def parts(self) -> Iterator[frozenset[int]]:
        """What is told of the column, as sets of codes."""
        if not self.whole:
            yield from (frozenset({code}) for code in self.told)
            if self.hidden:
                yield self.hidden


@dataclass(frozen=True)
class _Cells:
    """People or rows counted by all their levels together: `members[column]` says which codes a cell belongs to."""

    counts: Ints
    members: Mapping[str, Bools]
    enough: int  # how far the range of a small count must reach

    def inside(self, column: str, codes: Iterable[int]) -> Bools:
        """Which cells are of some levels of a column."""
        return np.asarray(self.members[column][:, sorted(codes)].any(axis=1))

    def slices(self, column: str, codes: Iterable[int]) -> tuple[Who, ...]:
        """The same by the names that a ledger knows them by."""
        return tuple((str(i),) for i in np.flatnonzero(self.inside(column, codes)))

    def take(self, chosen: npt.NDArray[np.intp]) -> _Cells:
        """Some of the cells. What may vary while all others stay as they are may vary all the more with them."""
        return replace(
            self, counts=self.counts[chosen], members={name: held[chosen] for name, held in self.members.items()}
        )

    def ledger(self, parts: Mapping[Who, tuple[str, frozenset[int]]]) -> Ledger:
        """The cells, which are never told, and the parts that they add up to, which are."""
        counts: dict[Who, tuple[int, ...]] = {(str(i),): (int(n),) for i, n in enumerate(self.counts)}
        sums: list[Sum] = [(_EVERYONE, tuple(counts))]
        for who, (column, codes) in parts.items():
            sums.append((who, self.slices(column, codes)))
        for whole, made_of in sums:
            counts[whole] = (sum(counts[one][0] for one in made_of),)
        return Ledger(counts, tuple(sums))


class _Search:
    """Keeps back one level after another until no count of a small level can be worked out."""

    def __init__(self, patient: Ints, k: int, outcome: Bools | None, wanted: Mapping[str, Collection[str]]) -> None:
        self._patient = np.unique(patient, return_inverse=True)[1].astype(np.int64)
        self._n = int(self._patient.max(initial=-1)) + 1
        self._k, self._outcome, self._wanted = k, outcome, wanted
        self.columns: dict[str, _Column] = {}
        self._measured: dict[tuple[str, ...], list[_Cells]] = {}
        self._families: dict[str, tuple[str, ...]] = {}
        self._seen: tuple[Any, npt.NDArray[np.intp]] = (None, np.zeros(0, dtype=np.intp))
        self.fixed: set[str] = set()  # columns that are settled and stay as they are
        self._known_ties: list[set[str]] = []  # pairs of columns of which one is cut from what the other is

    def add(
        self,
        name: str,
        levels: Levels,
        *,
        parents: tuple[Levels, ...] = (),
        roots: frozenset[str] | None = None,
        withheld: Collection[str] = (),
    ) -> None:
        """One more grouping, its small levels kept back together with as few others as make k patients."""
        sizes = self._sizes(levels)
        small = frozenset(int(code) for code in np.flatnonzero((sizes > 0) & (sizes < self._k)))
        small |= {code for code, level in enumerate(levels.names) if level in withheld and sizes[code]}
        column = self.columns[name] = _Column(levels, sizes, small, roots or frozenset({name}), parents)
        self._measured, self._families = {}, {}
        column.options = self._options(column, self._wanted.get(name, ()))
        if small:
            self._next(column, lambda: True)

    def add_told(self, name: str, levels: Levels) -> None:
        """One more grouping that is told as it is, its small levels too."""
        self.columns[name] = _Column(levels, self._sizes(levels), frozenset(), frozenset({name}))
        self._measured, self._families = {}, {}
        self.fixed.add(name)

    def tie(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Say that two columns are cut from the same numbers, which few rows may not show."""
        self._known_ties += [set(pair) for pair in pairs]

    def given_away(self, names: Collection[str]) -> str | None:
        """The first of these columns with a small level that is known however little is told of it."""
        for name in names:
            for code in sorted(self.columns[name].small):
                cells = self._measures(self._family(name))
                if any(self._narrow(one, name, frozenset({code})) for one in cells):
                    return name
        return None

    def add_unnamed(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Combinations of two columns that are tied by what they mean, which nobody tells and anybody can subtract: all
        aged 85 and over less all above 85 are those aged 85."""
        for one, other in pairs:
            if self._tied(one, other) or self._tied(other, one):
                levels = self.columns[one].levels.crossed(self.columns[other].levels)
                sizes = self._sizes(levels)
                small = frozenset(int(code) for code in np.flatnonzero((sizes > 0) & (sizes < self._k)))
                if other in self.fixed:  # a level that is told whole is no secret between the two
                    small = frozenset(code for code in small if not self._whole_level(levels, code, other))
                if small:
                    roots = frozenset({one, other})
                    self.columns[f"{one}{CROSS}{other}, unnamed"] = _Column(levels, sizes, small, roots, whole=True)
                    self._measured, self._families = {}, {}

    def _whole_level(self, levels: Levels, code: int, told: str) -> bool:
        """Are the rows of a combination all those of a level that is told?"""
        codes = self.columns[told].levels.codes
        rows = levels.codes == code
        return int(rows.sum()) == int(np.count_nonzero(codes == codes[rows][0]))

    def _options(self, column: _Column, wanted: Collection[str]) -> Iterator[frozenset[int]]:
        """Levels that may keep the small ones company: none, one, two, then ever more, the smallest first and those
        that are wanted last."""
        names = column.levels.names
        others = [code for code in np.flatnonzero(column.sizes).tolist() if code not in column.small]
        others.sort(key=lambda code: (names[code] in wanted, int(column.sizes[code]), names[code]))
        pairs = combinations(others[:_PAIRED], 2)
        more = (others[:n] for n in range(3, len(others)))
        return map(frozenset, chain([()], ([code] for code in others), pairs, more))

    def _next(self, column: _Column, will_do: Callable[[], bool]) -> None:
        """The next company under which those kept back can be told as one, and which will do; else nothing is told."""
        for company in column.options:
            column.hidden = column.small | company
            if column.told and self._stands(column) and will_do():
                return
        column.whole = True

    def settle(self) -> None:
        """Go on until nothing small can be worked out."""
        if not any(column.small for column in self.columns.values()):
            return
        while (exposed := self._exposed()) is not None:
            if not self._resolve(*exposed):
                return

    def regrouped(self, name: str) -> Regrouped:
        """The column as it may be told."""
        column = self.columns[name]
        names = column.levels.names
        if column.whole:
            return Regrouped(None, tuple(names[c] for c in range(len(names)) if column.sizes[c]))
        if not column.hidden:
            return Regrouped(column.levels)
        kept = [code for code in range(len(names)) if code not in column.hidden]
        together = TOGETHER
        while together in names:  # a level of the data may bear this very name
            together = f"{together} too"
        place = np.full(len(names), len(kept), dtype=np.int64)
        place[kept] = np.arange(len(kept))
        levels = Levels(place[column.levels.codes], (*(names[code] for code in kept), together))
        return Regrouped(levels, tuple(names[code] for code in sorted(column.hidden)), together)

    # ---- what a set of levels holds ----------------------------------------------------------------------------------

    def _patients(self, rows: Bools) -> int:
        return int(np.unique(self._patient[rows]).size)

    def _sizes(self, levels: Levels) -> Ints:
        """Patients of each code."""
        n = len(levels.names)
        return np.bincount(np.unique(self._patient * n + levels.codes) % n, minlength=n).astype(np.int64)

    def _rows(self, column: _Column, codes: Iterable[int]) -> Bools:
        return np.isin(column.levels.codes, sorted(codes))

    def _stands(self, column: _Column) -> bool:
        """Can the levels kept back be told as one: k patients, and not all with one outcome?"""
        rows = self._rows(column, column.hidden)
        if self._patients(rows) < self._k:
            return False
        return self._outcome is None or 0 < int(self._outcome[rows].sum()) < int(rows.sum())

    # ---- what can be worked out --------------------------------------------------------------------------------------

    def _measures(self, names: tuple[str, ...]) -> list[_Cells]:
        """Patients, rows, and rows with and without the event, by several groupings at once."""
        if names not in self._measured:
            kinds, cell = self._combinations(names)
            members = {
                name: kinds[:, [i]] == np.arange(len(self.columns[name].levels.names)) for i, name in enumerate(names)
            }

            def rows(marked: Bools | None, enough: int) -> _Cells:
                weights = None if marked is None else marked.astype(np.float64)
                counted = np.bincount(cell, weights=weights, minlength=len(kinds))
                return _Cells(counted.round().astype(np.int64), members, enough)

            found = [self._people(cell, members)]
            if self._n < len(self._patient):
                found.append(rows(None, self._k - 1))
            if self._outcome is not None:
                found += [rows(self._outcome, 1), rows(~self._outcome, 1)]
            self._measured[names] = found
        return self._measured[names]

    def _combinations(self, names: Sequence[str]) -> tuple[Ints, npt.NDArray[np.intp]]:
        """The combinations of levels that occur, and that of every row."""
        first, cell = np.zeros(1, dtype=np.intp), np.zeros(len(self._patient), dtype=np.intp)
        for name in names:
            levels = self.columns[name].levels
            _, first, cell = np.unique(cell * len(levels.names) + levels.codes, return_index=True, return_inverse=True)
        return np.column_stack([self.columns[name].levels.codes[first] for name in names]), cell

    def _family(self, name: str) -> tuple[str, ...]:
        """The columns by which a level of one may be worked out: all of them where their combinations are few, else
        those that are tied to it by what they mean."""
        if name not in self._families:
            names = tuple(self.columns)
            if len(self._combinations(names)[0]) > _MOST_CELLS:
                own = self.columns[name].roots
                roots = own | {one for one in names if any(self._tied(one, root) for root in own)}
                names = tuple(one for one, column in self.columns.items() if column.roots <= roots)
            self._families[name] = names
        return self._families[name]

    def _tied(self, one: str, other: str) -> bool:
        """Do two columns of the table leave out combinations of levels, by what they are or beyond chance?"""
        if one == other or len(self.columns[one].roots) > 1:
            return False
        return {one, other} in self._known_ties or tied(self.columns[one].levels, self.columns[other].levels)

    def _people(self, cell: npt.NDArray[np.intp], members: Mapping[str, Bools]) -> _Cells:
        """Patients by all the levels that any of their rows is in: a patient may be in two levels of one column."""
        n = int(cell.max()) + 1
        pairs = np.unique(self._patient * n + cell)
        if pairs.size == self._n:  # one combination each
            return _Cells(np.bincount(pairs % n, minlength=n).astype(np.int64), members, self._k - 1)
        starts = np.flatnonzero(np.diff(pairs // n, prepend=-1))
        kinds: dict[tuple[int, ...], int] = {}
        for own in np.split(pairs % n, starts[1:]):
            key = tuple(own.tolist())
            kinds[key] = kinds.get(key, 0) + 1
        joined = {
            name: np.array([held[list(own)].any(axis=0) for own in kinds], dtype=bool) for name, held in members.items()
        }
        return _Cells(np.array(list(kinds.values()), dtype=np.int64), joined, self._k - 1)

    def _spans(self) -> Iterator[tuple[str, frozenset[int]]]:
        """Every set of levels whose figures must not be known: each small one, and those kept back within a level of a
        crossed column where they are few together."""
        for name, column in self.columns.items():
            yield from ((name, frozenset({code})) for code in sorted(column.small))
            for parent in column.parents if not column.whole else ():
                for code in range(len(parent.names)):
                    inside = np.unique(column.levels.codes[parent.codes == code])
                    held = frozenset(int(own) for own in inside if own in column.hidden)
                    if len(held) > 1 and 0 < self._patients(self._rows(column, held)) < self._k:
                        yield name, held

    def _exposed(self) -> tuple[str, frozenset[int], _Cells] | None:
        """The first set that what is told gives away, by the measure that does."""
        for name, codes in self._spans():
            for cells in self._measures(self._family(name)):
                if self._narrow(cells, name, codes):
                    return name, codes, cells
        return None

    def _narrow(self, cells: _Cells, name: str, codes: frozenset[int]) -> bool:
        """Is a count known too well? Shown to be safe by what is cheapest: people who may be exchanged unseen, then
        tables of a few cells, then those of all."""
        inside = cells.inside(name, codes)
        if self._exchanged(cells, inside) >= cells.enough:
            return False
        some = self._around(cells, inside)
        if some.size < inside.size and self._width(cells.take(some), name, codes) >= cells.enough:
            return False
        return inside.size > _MOST_AUDITED or self._width(cells, name, codes) < cells.enough

    def _exchanged(self, cells: _Cells, inside: Bools) -> int:
        """How far a count may move by exchanging people who are told nowhere apart."""
        alike = self._alike(cells)
        both = np.bincount(alike, weights=inside) * np.bincount(alike, weights=~inside) > 0
        return int(np.bincount(alike, weights=cells.counts)[both].sum())

    def _alike(self, cells: _Cells) -> npt.NDArray[np.intp]:
        """Cells with one number where nothing that is told sets them apart."""
        state = (id(cells), tuple((self.columns[one].hidden, self.columns[one].whole) for one in cells.members))
        if state != self._seen[0]:
            told = [np.ones(cells.counts.size, dtype=bool)]
            told += [cells.inside(name, codes) for name in cells.members for codes in self.columns[name].parts()]
            alike = np.unique(np.packbits(np.column_stack(told), axis=1), axis=0, return_inverse=True)[1].ravel()
            self._seen = state, alike
        return self._seen[1]

    def _around(self, cells: _Cells, inside: Bools) -> npt.NDArray[np.intp]:
        """The cells that are most like those of a count, and these themselves: people move most easily among them."""
        own = np.flatnonzero(inside)[:_MOST_ALIKE]
        alike = np.zeros((len(own), inside.size), dtype=np.int64)
        for held in cells.members.values():
            alike += (held[own][:, None, :] & held[None, :, :]).any(axis=2)
        order = np.lexsort((-cells.counts, -alike.max(axis=0, initial=0), ~inside))
        return np.sort(order[:_MOST_CELLS])

    def _width(self, cells: _Cells, name: str, codes: frozenset[int]) -> int:
        parts: dict[Who, tuple[str, frozenset[int]]] = {
            (one, str(i)): (one, held) for one in cells.members for i, held in enumerate(self.columns[one].parts())
        }
        told: list[Piece] = [(_EVERYONE, 0), *((who, 0) for who in parts)]
        span = Span(cells.slices(name, codes), 0, 1)
        return Audit(cells.ledger(parts), told).width(span, enough=cells.enough)

    # ---- what to withhold next ---------------------------------------------------------------------------------------

    def _resolve(self, name: str, codes: frozenset[int], cells: _Cells) -> bool:
        """Withhold something more, best what by itself hides this set; False where nothing is left to withhold."""

        def hides() -> bool:
            return not self._narrow(cells, name, codes)

        column = self.columns[name]
        if not column.whole and name not in self.fixed:
            self._next(column, hides)
            return True
        others = [one for other, one in reversed(self.columns.items()) if not one.whole and other not in self.fixed]
        for one in others:
            one.whole = True
            if hides():
                one.whole = False
                self._next(one, hides)
                return True
            one.whole = False
        if others:
            others[0].whole = True
        return bool(others)
