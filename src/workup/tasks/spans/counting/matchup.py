"""What is matched with what: golds, predictions, levels, decisions of policies and, where there are any, texts.

Knows labels by their names only; what they mean is for the label scheme and the policies to say."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from workup.documents.document import SpanArrays
from workup.documents.labels import LEVELS as LEVEL_NAMES
from workup.documents.labels import at_level, is_canonical
from workup.documents.policies import DECISIONS
from workup.errors import InputError, near
from workup.stats.arrays import Bools, Whole
from workup.tasks.spans.counting.modes import Mode, levels_counted, parse_modes

IGNORED = len(DECISIONS)  # stands beside the decisions of a policy: this gold is counted on neither side
PHI = "phi"
_PIECE = 1 << 16


@dataclass(frozen=True)
class Level:
    """Which labels are of one type. `types` gives each label's type, None where it has none at this level.

    Two labels are equal when both have a type and it is the same; without `types` all labels are equal (phi). `rows`
    renames labels in tables, where a level is counted by something coarser. `prefers` is off for a column that only
    stands beside another (an equivalence): it must not change who is assigned to whom.
    """

    name: str
    types: Mapping[str, str | None] | None = None
    rows: Mapping[str, str] = field(default_factory=dict)
    prefers: bool = True

    @property
    def typed(self) -> bool:
        """Types are compared at this level."""
        return self.types is not None

    def codes(self, labels: Sequence[str]) -> Whole:
        """A number for each label's type; -1 for none."""
        if self.types is None:
            return np.zeros(len(labels), dtype=np.int64)
        found = [self.types.get(label) for label in labels]
        code = {name: i for i, name in enumerate(sorted({name for name in found if name is not None}))}
        return np.array([-1 if name is None else code[name] for name in found], dtype=np.int64)


def standard_levels(labels: Iterable[str]) -> tuple[Level, ...]:
    """Leaf, branch and phi of the canonical scheme for these labels; one that is not canonical has a type at phi only.

    >>> leaf, branch, phi = standard_levels(["city", "zip", "GEO", "FOO"])
    >>> leaf.types["GEO"], branch.types["zip"], branch.rows, phi.typed
    (None, 'GEO', {'city': 'GEO', 'zip': 'GEO', 'GEO': 'GEO'}, False)
    """
    names = list(dict.fromkeys(labels))
    known = [name for name in names if is_canonical(name)]
    leaf = {name: at_level(name, "leaf") for name in known}
    branch = {name: at_level(name, "branch") for name in known}
    rows = {name: type_ for name, type_ in branch.items() if type_ is not None}
    return (Level("leaf", leaf), Level("branch", branch, rows), Level(PHI))


@dataclass(frozen=True, slots=True)
class Setting:
    """One way of counting: a mode at a level under a policy."""

    mode: Mode
    level: str
    policy: str


@dataclass(frozen=True, eq=False)
class Matchup:
    """Golds and predictions over one numbering of documents, 0 to `documents` - 1.

    Labels are the names to count by: canonical names, or a detector's own where it has no canonical one. `decisions`
    holds for each policy a code per gold (must_not, may, must), `ignored` the labels that count on neither side.
    A prediction of an unknown document bears a number from `documents` on, each such document its own. `answered`
    says which documents the predictions speak of at all; all of them if it is None. Golds and predictions may stand in
    any order; every per-span answer comes back in that order.
    """

    golds: SpanArrays
    predictions: SpanArrays
    documents: int
    decisions: Mapping[str, npt.NDArray[np.int8]]
    levels: tuple[Level, ...] = ()
    texts: Sequence[str] | None = None
    lengths: npt.NDArray[np.integer] | None = None
    answered: Bools | None = None
    ignored: Collection[str] = ()

    def __post_init__(self) -> None:
        if not self.levels:
            object.__setattr__(self, "levels", standard_levels((*self.golds.labels, *self.predictions.labels)))
        if PHI not in {level.name for level in self.levels}:
            object.__setattr__(self, "levels", (*self.levels, Level(PHI)))
        if self.texts is not None:
            lengths = np.fromiter(map(len, self.texts), dtype=np.int64, count=len(self.texts))
            object.__setattr__(self, "lengths", lengths)
        sizes = {
            "texts or lengths": (self.lengths, self.documents),
            "answered": (self.answered, self.documents),
            **{f"decisions of {name}": (codes, len(self.golds)) for name, codes in self.decisions.items()},
        }
        for name, (column, expected) in sizes.items():
            if column is not None and len(column) != expected:
                raise InputError(f"{name} must hold {expected} entries", got=str(len(column)))
        for name, codes in self.decisions.items():
            if len(codes) and (codes.min() < 0 or codes.max() >= len(DECISIONS)):
                raise InputError(f"decisions of {name} must be codes of {', '.join(DECISIONS)}")

    def level(self, name: str) -> Level:
        """A level by its name."""
        for level in self.levels:
            if level.name == name:
                return level
        raise InputError(
            "a level must be one of the matchup's",
            got=repr(name[:60]),
            remedy=near(name, [x.name for x in self.levels]),
        )

    def settings(
        self,
        modes: Iterable[str],
        *,
        levels: Sequence[str] = LEVEL_NAMES,
        policies: Sequence[str] | None = None,
    ) -> tuple[Setting, ...]:
        """Every mode at every level that it is counted at, under every policy, in that order."""
        for level in levels:
            self.level(level)
        return tuple(
            Setting(mode, level, policy)
            for mode in parse_modes(modes)
            for level in levels_counted(mode, levels)
            for policy in (self.decisions if policies is None else policies)
        )


def rows_of(level: Level, labels: Sequence[str]) -> tuple[Whole, tuple[str, ...]]:
    """The row of each label in tables of a level, and the names of the rows."""
    named = [level.rows.get(label, label) for label in labels]
    names = tuple(sorted(set(named)))
    place = {name: i for i, name in enumerate(names)}
    return np.array([place[name] for name in named], dtype=np.int64), names


@dataclass(frozen=True, eq=False)
class Columns:
    """Spans in canonical order (document, start, end, label name). `source` is each one's place in the input."""

    document: npt.NDArray[np.integer]
    start: npt.NDArray[np.integer]
    end: npt.NDArray[np.integer]
    label: npt.NDArray[np.integer]
    source: Whole | None

    def __len__(self) -> int:
        return len(self.start)


def in_order(spans: SpanArrays, names: Sequence[str]) -> Columns:
    """Columns in canonical order, labels as their places in `names`; spans that are in order already are not sorted."""
    label: npt.NDArray[np.integer] = spans.label
    if spans.labels != tuple(names):
        place = {name: i for i, name in enumerate(names)}
        label = np.array([place[name] for name in spans.labels], dtype=np.int32).take(label)
    columns = (spans.document, spans.start, spans.end, label)
    if _is_sorted(*columns):
        return Columns(*columns, None)
    order = np.lexsort(columns[::-1])
    document, start, end, label = (column.take(order) for column in columns)
    return Columns(document, start, end, label, order)


def _is_sorted(
    document: npt.NDArray[np.integer],
    start: npt.NDArray[np.integer],
    end: npt.NDArray[np.integer],
    label: npt.NDArray[np.integer],
) -> bool:
    """Rows never fall. Ends and labels are read only where document and start tie; piece by piece, to stay in cache."""
    for first in range(0, len(document), _PIECE):
        piece = slice(first, first + _PIECE + 1)  # with the first of the next piece
        before, after = document[piece][:-1], document[piece][1:]
        same = before == after
        if bool((after < before).any()):
            return False
        before, after = start[piece][:-1], start[piece][1:]
        if bool(((after < before) & same).any()):
            return False
        ties = (after == before) & same
        if bool(ties.any()):
            tied = first + np.flatnonzero(ties)
            ends = end.take(tied + 1) - end.take(tied)
            labels = label.take(tied + 1) - label.take(tied)
            if bool(((ends < 0) | ((ends == 0) & (labels < 0))).any()):
                return False
    return True
