"""Groups of few within the parts of a table, such as the windows of a year: which cells of part and group are withheld,
so that neither the total of a part nor that of a group gives one of them away. Knows groupings of rows and whose rows
they are; nothing of what is measured on them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, sparse

from workup.disclosure.small_groups import regrouped
from workup.scores import Levels
from workup.stats.arrays import Bools, Floats, Ints

Cell = tuple[str, str, str]  # part, column and level


def withheld_cells(
    parts: Levels,
    groupings: Mapping[str, Levels],
    patient: Ints,
    *,
    k: int,
    untold: Collection[str] = (),
    outcome: Bools | None = None,
    wanted: Collection[str] = (),
    once: Collection[str] = (),
) -> set[Cell]:
    """Every cell that must not be told, where the sizes of all parts but those `untold`, and of all levels, are.

    Within a part all groupings are looked at together, as in a report of that part alone. Over the parts, a cell that
    is the total of its level less all others is joined by that of another part; those of parts that are `wanted` last.
    The levels of the groupings `once` have no totals over the parts.

    >>> month = Levels.of(["May"] * 60 + ["June"] * 60 + ["July"] * 60)
    >>> sex = Levels.of((["F"] * 30 + ["M"] * 20 + ["X"] * 10) * 2 + ["F"] * 30 + ["M"] * 27 + ["X"] * 3)
    >>> sorted(withheld_cells(month, {"sex": sex}, np.arange(180), k=5))
    [('July', 'sex', 'M'), ('July', 'sex', 'X'), ('June', 'sex', 'M'), ('June', 'sex', 'X')]
    """
    search = _Search(parts, groupings, patient, k, outcome, tuple(untold), tuple(wanted))
    for name in groupings:
        while name not in once and (found := search.exposed(name)) is not None and search.resolve(name, *found):
            pass
    return {(part, name, level) for part, held in search.hidden.items() for name in held for level in held[name]}


@dataclass(frozen=True)
class _Table:
    """Parts by levels: the counts of one measure, which of them are withheld, and how far a count must be in doubt.

    The last row is all that is in no told part; what is left of a level without the told parts stands there for all
    to subtract. That a cell is empty is known, so such a cell is never among the withheld.
    """

    counts: Floats
    hidden: Bools
    enough: int

    def swaps(self, part: int, level: int) -> float:
        """How far one count may move when people change places among four withheld cells."""
        n = self.counts
        free = self.hidden & self.hidden[:, [level]] & self.hidden[[part]]
        free[part], free[:, level] = False, False
        up = np.minimum(n[:, [level]], n[[part]])
        down = np.minimum(n[part, level], n)
        return float(np.max(np.where(free, up + down, 0.0), initial=0.0))

    def width(self, inside: Bools) -> float:
        """How far the sum of some withheld cells may vary while the totals of parts and levels stand."""
        at = np.argwhere(self.hidden)
        order = np.arange(len(at))
        rows, columns = self.counts.shape
        ones = np.ones(len(at))
        sums = sparse.vstack(
            [
                sparse.csr_array((ones, (at[:, 0], order)), shape=(rows, len(at))),
                sparse.csr_array((ones, (at[:, 1], order)), shape=(columns, len(at))),
            ]
        )
        right = sums @ self.counts[self.hidden]
        aim = inside[self.hidden].astype(np.float64)
        ends = [
            optimize.linprog(sign * aim, A_eq=sums, b_eq=right, bounds=(0, None), method="highs").fun
            for sign in (1.0, -1.0)
        ]
        return float(round(-ends[1] - ends[0], 6))


class _Search:
    """Withholds one cell after another until none of few patients can be worked out."""

    def __init__(
        self,
        parts: Levels,
        groupings: Mapping[str, Levels],
        patient: Ints,
        k: int,
        outcome: Bools | None,
        untold: Sequence[str],
        wanted: Sequence[str],
    ) -> None:
        self._groupings, self._patient, self._k, self._outcome = groupings, patient, k, outcome
        self._rows = {part: np.flatnonzero(rows) for part, rows in parts.masks() if part not in untold and rows.any()}
        self._rest = np.flatnonzero(~np.isin(parts.codes, [parts.names.index(part) for part in self._rows]))
        self._wanted = wanted
        self._forced: dict[str, dict[str, set[str]]] = {
            part: {name: set() for name in groupings} for part in self._rows
        }
        self.hidden: dict[str, dict[str, set[str]]] = {}
        for part in self._rows:
            self._settle(part)
        self._counted = {name: list(self._measures(levels)) for name, levels in groupings.items()}

    def _settle(self, part: str) -> None:
        """What a report of this part alone would withhold, with what must be withheld besides."""
        rows = self._rows[part]
        found = regrouped(
            {name: levels.take(rows) for name, levels in self._groupings.items()},
            self._patient[rows],
            k=self._k,
            outcome=None if self._outcome is None else self._outcome[rows],
            withheld=self._forced[part],
        )
        self.hidden[part] = {name: set(one.withheld) for name, one in found.items()}

    def _measures(self, levels: Levels) -> Iterator[tuple[Floats, int]]:
        """Patients, rows, and rows with and without the event, by part and level, with the doubt that each needs."""
        everyone = [*self._rows.values(), self._rest]
        n = len(levels.names)

        def rows(marked: Bools | None) -> Floats:
            weights = None if marked is None else marked.astype(np.float64)
            return np.array(
                [np.bincount(levels.codes[own], None if weights is None else weights[own], n) for own in everyone]
            )

        pairs = [np.unique(self._patient[own] * n + levels.codes[own]) % n for own in everyone]
        yield np.array([np.bincount(own, minlength=n) for own in pairs], dtype=np.float64), self._k - 1
        yield rows(None), self._k - 1
        if self._outcome is not None and self._outcome.any() and not self._outcome.all():
            yield rows(self._outcome), 1
            yield rows(~self._outcome), 1

    def _mask(self, name: str) -> Bools:
        names = self._groupings[name].names
        told = [[level in held[name] for level in names] for held in self.hidden.values()]
        return np.array([*told, [True] * len(names)], dtype=bool) & (self._counted[name][0][0] > 0)

    def exposed(self, name: str) -> tuple[int, int] | None:
        """The first withheld cell of few that the totals give away, as part and level."""
        (patients, _), *measures = self._counted[name]
        hidden = self._mask(name)
        few = (patients > 0) & (patients < self._k)
        tables = [_Table(counts, hidden, enough) for counts, enough in measures]
        for part, level in np.argwhere(few & hidden):
            one = np.zeros_like(hidden)
            one[part, level] = True
            if any(t.swaps(part, level) < t.enough and t.width(one) < t.enough for t in tables):
                return part, level
        for level in range(hidden.shape[1]):  # those of one level, where all that is withheld of it is of few
            one = np.zeros_like(hidden)
            one[:-1, level] = hidden[:-1, level]
            few_of_it = np.count_nonzero(one) > 1 and 0 < patients[one].sum() < self._k
            if few_of_it and any(t.width(one) < t.enough for t in tables):
                return int(np.flatnonzero(one[:, level])[0]), level
        return None

    def resolve(self, name: str, part: int, level: int) -> bool:
        """Withhold the same level of one more part, with the company that it has here; else the column in all parts,
        after which nothing is left to withhold."""
        (patients, _), *_ = self._counted[name]
        names, parts, hidden = self._groupings[name].names, list(self._rows), self._mask(name)
        held = np.where(hidden[part], patients[part], -1.0)
        held[level] = -1.0
        company = int(held.argmax())
        for need in ((level, company), (level,), (company,)):
            others = [
                other
                for other in range(len(parts))
                if other != part
                and all(patients[other, one] > 0 for one in need)
                and not all(hidden[other, one] for one in need)
            ]
            if others:
                best = min(others, key=lambda other: (parts[other] in self._wanted, patients[other, level], other))
                for one in need:
                    self._forced[parts[best]][name].add(names[one])
                self._settle(parts[best])
                return True
        for each in parts:
            self._forced[each][name] |= set(names)
            self._settle(each)
            self.hidden[each][name] = set(names)
        return False
