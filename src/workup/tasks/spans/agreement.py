"""How far annotators agree: pairwise F1 of spans, Cohen's kappa and Krippendorff's alpha of characters.

The ceiling a system is judged by. Counts are kept per document, so that whole patients can be resampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from workup.documents.annotators import Piece, by_name, votes
from workup.documents.document import Document
from workup.documents.labels import LEVELS, Level, at_level, is_canonical
from workup.documents.mappings import LabelMapping
from workup.errors import InputError, near
from workup.stats.arrays import Floats

Measure = Literal["f1", "kappa", "alpha"]
Pair = tuple[str, str]
_Cell = tuple[Level, str | None]
_ABSENT = np.zeros((0, 6))


class AgreementRow(NamedTuple):
    """One value. `label` None is all labels together, `pair` None all annotators; `value` None has its `reason`."""

    measure: Measure
    level: Level
    label: str | None
    pair: Pair | None
    value: float | None
    reason: str
    documents: int


@dataclass(frozen=True)
class AgreementCounts:
    """Counts behind agreement, per document. `count_agreement` makes them.

    `spans` and `characters` hold for each level and label rows that begin with the document's place.
    """

    n_documents: int
    lengths: dict[Pair, Floats]  # (document, characters), for the documents that both read
    ratings: Floats  # (document, readers × characters), for the documents with two readers or more
    spans: dict[_Cell, dict[Pair, Floats]]  # (document, common, of both)
    characters: dict[_Cell, dict[Pair, Floats]]  # (document, both, first only, second only)
    marks: dict[_Cell, Floats]  # (document, marks, disagreement)

    def values(
        self,
        measure: Measure,
        *,
        level: Level = "phi",
        label: str | None = None,
        pair: Pair | None = None,
        weights: npt.ArrayLike | None = None,
    ) -> Floats:
        """The measure under each row of weights (resamples × documents); NaN where it is undefined.

        F1 of all annotators adds the counts of all pairs; kappa of all is the mean over the pairs that have one
        (Light 1971); alpha is of all annotators only.
        """
        given = np.ones((1, self.n_documents)) if weights is None else np.atleast_2d(np.asarray(weights, dtype=float))
        cell = (level, label)
        if measure == "alpha":
            return self._alpha(cell, given)
        if measure not in ("f1", "kappa"):
            raise InputError("a measure must be f1, kappa or alpha", remedy=near(measure, ("f1", "kappa", "alpha")))
        pairs = [pair] if pair else sorted(self.lengths)
        if measure == "f1":
            common, both = sum(
                (self._sums(self.spans, cell, one, given, 2) for one in pairs), np.zeros((2, len(given)))
            )
            return _ratio(2 * common, both)
        each = np.array([self._kappa(cell, one, given) for one in pairs]).reshape(len(pairs), len(given))
        defined = ~np.isnan(each)
        return _ratio(np.where(defined, each, 0.0).sum(axis=0), defined.sum(axis=0).astype(float))

    def rows(self) -> list[AgreementRow]:
        """Every value: by pair and over all, at every level, for all labels together and for each."""
        found = []
        for level, label in self.spans:
            for pair in (*sorted(self.lengths), None):
                documents = len(self.ratings if pair is None else self.lengths[pair])
                for measure in self._measures(level, label, pair):
                    value = float(self.values(measure, level=level, label=label, pair=pair)[0])
                    reason = "" if value == value else _reason(measure, documents)
                    found.append(
                        AgreementRow(measure, level, label, pair, None if reason else value, reason, documents)
                    )
        return found

    def _measures(self, level: Level, label: str | None, pair: Pair | None) -> tuple[Measure, ...]:
        if label is None and level != "phi":
            return ("f1",)  # a character may carry several labels: chance agreement on all of them has no one form
        return ("f1", "kappa") if pair else ("f1", "kappa", "alpha")

    def _sums(self, table: dict[_Cell, dict[Pair, Floats]], cell: _Cell, pair: Pair, given: Floats, n: int) -> Floats:
        rows = table.get(cell, {}).get(pair, _ABSENT)
        return (given[:, rows[:, 0].astype(int)] @ rows[:, 1 : n + 1]).T

    def _kappa(self, cell: _Cell, pair: Pair, given: Floats) -> Floats:
        rows = self.lengths.get(pair, _ABSENT)
        total = given[:, rows[:, 0].astype(int)] @ rows[:, 1]
        both, first, second = self._sums(self.characters, cell, pair, given, 3)
        none = total - both - first - second
        chance = (both + first) * (first + none) + (both + second) * (second + none)
        return _ratio(2 * (both * none - first * second), chance)

    def _alpha(self, cell: _Cell, given: Floats) -> Floats:
        total = given[:, self.ratings[:, 0].astype(int)] @ self.ratings[:, 1]
        rows = self.marks.get(cell, _ABSENT)
        ones, disagreement = (given[:, rows[:, 0].astype(int)] @ rows[:, 1:3]).T
        return 1 - _ratio(disagreement * (total - 1), 2 * ones * (total - ones))


def count_agreement(documents: Sequence[Document], *, mapping: LabelMapping | None = None) -> AgreementCounts:
    """Counts behind the agreement of the annotators who read the same documents.

    A coarse label equals itself at the level of leaves here, since all annotators use one scheme. An annotator who read
    a document and marked nothing has an empty layer in it; one who has no layer did not read it.

    >>> from workup.documents.document import Span
    >>> two = {"ann": (Span(0, 4, "city"), Span(6, 8, "date")), "bob": (Span(0, 4, "city"),)}
    >>> found = count_agreement([Document("1", "Rome, 5.", layers=two)])
    >>> found.values("f1").tolist(), found.values("kappa").tolist()
    ([0.6666666666666666], [0.5])
    """
    tables = _Tables({}, {}, {}, {})
    ratings = []
    for place, document in enumerate(documents):
        if len(document.layers) < 2:
            continue
        ratings.append((place, len(document.layers) * len(document.text)))
        for pair in combinations(sorted(document.layers), 2):
            tables.lengths.setdefault(pair, []).append((place, len(document.text)))
        names = by_name(document.layers, mapping)
        for cell, pieces in _cells(names).items():
            _count(tables, cell, pieces, place=place, annotators=sorted(document.layers))
    # All labels together are always there, so that annotators who marked nothing are said to have marked nothing.
    cells = sorted({("phi", None), *tables.spans}, key=lambda cell: (-LEVELS.index(cell[0]), cell[1] or ""))
    return AgreementCounts(
        n_documents=len(documents),
        lengths=_arrays(tables.lengths),
        ratings=np.array(ratings, dtype=float).reshape(-1, 2),
        spans={cell: _arrays(tables.spans.get(cell, {})) for cell in cells},
        characters={cell: _arrays(tables.characters.get(cell, {})) for cell in cells},
        marks={cell: np.array(tables.marks[cell], dtype=float) for cell in cells if cell in tables.marks},
    )


def _arrays(table: Mapping[Pair, Sequence[Sequence[int]]]) -> dict[Pair, Floats]:
    return {pair: np.array(rows, dtype=float) for pair, rows in table.items()}


class _Tables(NamedTuple):
    lengths: dict[Pair, list[tuple[int, int]]]
    spans: dict[_Cell, dict[Pair, list[tuple[int, int, int]]]]
    characters: dict[_Cell, dict[Pair, list[tuple[int, int, int, int]]]]
    marks: dict[_Cell, list[tuple[int, int, float]]]


def _cells(names: dict[str, list[Piece]]) -> dict[_Cell, list[tuple[str, Piece]]]:
    """Spans with the name they must share to agree, by level and label, and all labels together under None."""
    found: dict[_Cell, list[tuple[str, Piece]]] = {}
    for name, pieces in names.items():
        leaf = name
        branch = at_level(name, "branch") if is_canonical(name) else name
        cells: tuple[_Cell, ...] = (
            ("leaf", leaf),
            ("leaf", None),
            ("branch", branch),
            ("branch", None),
            ("phi", None),
        )
        for level, label in cells:
            shared = "" if level == "phi" else (leaf if level == "leaf" else branch) or name
            found.setdefault((level, label), []).extend((shared, piece) for piece in pieces)
    return found


def _count(tables: _Tables, cell: _Cell, named: list[tuple[str, Piece]], *, place: int, annotators: list[str]) -> None:
    spans: list[set[tuple[int, int, str]]] = [set() for _ in annotators]
    for name, (annotator, span) in named:
        spans[annotator].add((span.start, span.end, name))
    borders, marked, _ = votes([piece for _, piece in named], len(annotators))
    sizes = np.diff(borders)
    voices = marked.sum(axis=0)
    apart = 2 * voices * (len(annotators) - voices) / (len(annotators) - 1)
    tables.marks.setdefault(cell, []).append((place, int(voices @ sizes), float(apart @ sizes)))
    of_spans, of_characters = tables.spans.setdefault(cell, {}), tables.characters.setdefault(cell, {})
    for a, b in combinations(range(len(annotators)), 2):
        pair = (annotators[a], annotators[b])
        first, second = marked[a], marked[b]
        of_spans.setdefault(pair, []).append((place, len(spans[a] & spans[b]), len(spans[a]) + len(spans[b])))
        places = [int(sizes[which].sum()) for which in (first & second, first & ~second, second & ~first)]
        of_characters.setdefault(pair, []).append((place, places[0], places[1], places[2]))


def _ratio(top: Floats, bottom: Floats) -> Floats:
    found: Floats = np.divide(top, bottom, out=np.full(np.shape(top), np.nan), where=bottom != 0)
    return found


def _reason(measure: Measure, documents: int) -> str:
    if not documents:
        return "no document was read by two annotators"
    if measure == "f1":
        return "nobody marked it"
    return "everybody marked it nowhere, or everywhere: agreement by chance is complete"
