"""Sets of people whose sizes a report tells, over all its groupings and kinds of rows: where two of them are nearly the
same, the one less the other is a few people for all to subtract; not where either has many whom the other has not.
Knows groupings of rows and whose rows they are; nothing of what is measured on them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse

from workup.scores import Levels
from workup.stats.arrays import Bools, Ints


@dataclass(frozen=True, eq=False)
class Grouped:
    """Rows of one kind by one grouping: `levels` as they were, and which of them are told as one or not at all.

    `rows_of` is what each row stands for, where rows of several kinds stand for the same, such as stays.
    """

    levels: Levels
    patient: Ints
    hidden: frozenset[str] = frozenset()
    rows_of: str = ""

    def parts(self) -> Iterator[frozenset[str]]:
        """The sets of levels that have a size of their own: each that is told, and all others together, which are what
        is left of everyone."""
        used = {self.levels.names[code] for code in np.unique(self.levels.codes)}
        yield from (frozenset({name}) for name in self.levels.names if name in used - self.hidden)
        if self.hidden & used:
            yield self.hidden

    def rows(self, names: Collection[str]) -> Bools:
        """The rows of some levels."""
        held = np.array([name in names for name in self.levels.names], dtype=bool)
        return held[self.levels.codes]

    def people(self, names: Collection[str]) -> npt.NDArray[np.int64]:
        """The patients of some levels."""
        return np.unique(self.patient[self.rows(names)]).astype(np.int64)

    def counts(self, names: Collection[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The patients of some levels, and how many rows each has there."""
        found, counted = np.unique(self.patient[self.rows(names)], return_counts=True)
        return found.astype(np.int64), counted.astype(np.int64)

    def cover(self, names: Collection[str]) -> frozenset[str]:
        """The levels whose told sizes add up to one of at least these."""
        return frozenset(names) | (self.hidden if self.hidden & set(names) else frozenset())


@dataclass
class ToldPeople:
    """The sets that are told so far."""

    k: int
    patients: int
    _sets: list[npt.NDArray[np.int64]] = field(default_factory=list)

    def tell(self, people: npt.NDArray[np.int64]) -> None:
        """One more set."""
        self._sets.append(people)

    def near(self, asked: Sequence[tuple[str, npt.NDArray[np.int64]]]) -> list[bool]:
        """Which of these sets differ in few people from one that is told, or from one before them of the same grouping
        that may be.

        >>> told = ToldPeople(5, 100)
        >>> told.tell(np.arange(60))
        >>> told.near([("ward", np.arange(57)), ("ward", np.arange(60)), ("ward", np.arange(50))])
        [True, False, False]
        """
        before = len(self._sets)
        every = [*self._sets, *(people for _, people in asked)]
        names = [name for name, _ in asked]
        sizes = np.array([one.size for one in every])
        places = np.repeat(np.arange(len(every)), sizes)
        people = np.concatenate(every) if every else np.zeros(0, dtype=np.int64)
        members = sparse.csr_array((np.ones(people.size), (places, people)), shape=(len(every), self.patients))
        shared = (members[before:] @ members.T).toarray()
        apart = np.maximum(sizes[before:, None], sizes[None, :]) - shared  # the more of those in one and not the other
        few = (apart > 0) & (apart < self.k)
        told: list[bool] = []
        for place, name in enumerate(names):
            own = [told[other] and names[other] == name for other in range(place)]
            told.append(not few[place, :before].any() and not few[place, before : before + place][own].any())
        return [not one for one in told]


def few_between(one: Grouped, other: Grouped, names: frozenset[str], k: int) -> bool:
    """Are few people in these levels of the one and not of the other, or have they other numbers of rows there, where
    rows of both stand for the same?

    >>> stays = Grouped(Levels.of(["F"] * 20 + ["M"] * 20), np.arange(40))
    >>> judged = Grouped(Levels.of(["F"] * 18 + ["M"] * 20), np.delete(np.arange(40), [3, 4]))
    >>> few_between(judged, stays, frozenset({"F"}), 5), few_between(judged, stays, frozenset({"M"}), 5)
    (True, False)
    """
    names = other.cover(one.cover(names))
    first, second = one.people(names), other.people(names)
    shared = np.intersect1d(first, second, assume_unique=True).size
    if 0 < max(first.size, second.size) - shared < k:
        return True
    if not one.rows_of or one.rows_of != other.rows_of:
        return False
    (mine, own), (theirs, others) = one.counts(names), other.counts(names)
    people = np.union1d(mine, theirs)
    differ = np.zeros(people.size, dtype=np.int64)
    differ[np.searchsorted(people, mine)] += own
    differ[np.searchsorted(people, theirs)] -= others
    return bool(0 < np.count_nonzero(differ) < k)


def near_groupings(own: Mapping[str, Grouped], beside: Sequence[Mapping[str, Grouped]], k: int) -> set[str]:
    """Groupings of one kind of rows of which a part differs in few people from another of its parts, from everyone, or
    from the same part of rows of another kind.

    >>> hour = Levels.of(["at 0 h"] * 40 + ["at 12 h"] * 38)  # two patients left in between
    >>> near_groupings({"landmark": Grouped(hour, np.array([*range(40), *range(38)]))}, [], 5)
    {'landmark'}
    """
    if k <= 1 or not own:
        return set()
    patients = [one.patient for one in own.values()]
    told = ToldPeople(k, 1 + max(int(one.max(initial=0)) for one in patients))
    told.tell(np.unique(patients[0]).astype(np.int64))
    parts = [(name, part) for name, one in own.items() for part in one.parts()]
    few = told.near([(name, own[name].people(part)) for name, part in parts])
    found = {name for (name, _), near in zip(parts, few, strict=True) if near}
    for name, part in parts:
        others = (other[name] for other in beside if name in other)
        if name not in found and any(few_between(own[name], other, part, k) for other in others):
            found.add(name)
    return found
