"""Ignored labels, removed from both sides: golds that carry them, and the predictions that answer those golds.

Knows spans as arrays; knows no matching mode and no policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workup.errors import InputError, near
from workup.tasks.spans.documents import SpanArrays
from workup.tasks.spans.labels import CODE, NAMES, Level, leaves_of
from workup.tasks.spans.mappings import LabelMapping

Bools = npt.NDArray[np.bool_]
_Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class IgnoredLabels:
    """What `--ignore` names: canonical names (a branch with all its leaves), and labels as they are written."""

    canonical: frozenset[str]
    labels: frozenset[str]

    @classmethod
    def parse(cls, names: Iterable[str], *, mapping: LabelMapping, seen: Iterable[str] = ()) -> IgnoredLabels:
        """A canonical name ignores all that maps to it or below; a label of a scheme ignores that label and no other.

        `seen` are labels of the corpus and the predictions, which may be ignored even when they are not mapped.

        >>> IgnoredLabels.parse(["AGE"], mapping=LabelMapping.load("i2b2_2014")).canonical == {
        ...     "AGE", "age_over_89", "age_under_90"}
        True
        """
        known = {*mapping.labels, *mapping.left_out, *seen}
        canonical: set[str] = set()
        labels: set[str] = set()
        for name in names:
            if name in CODE:
                canonical |= {name, *leaves_of(name)}
            elif name in known:
                labels.add(name)
            else:
                raise InputError(
                    "an ignored label must be a canonical name or a label of the mapping or of the corpus",
                    got=repr(name[:60]),
                    remedy=near(name, known | set(NAMES)),
                )
        return cls(frozenset(canonical), frozenset(labels))

    def among(self, spans: SpanArrays, canonical: npt.ArrayLike) -> Bools:
        """Which spans carry an ignored label. `canonical` are the spans' canonical codes."""
        table = np.array([name in self.canonical for name in NAMES] + [False])
        written = np.array([label in self.labels for label in spans.labels], dtype=bool)
        by_label = written[spans.label] if len(written) else np.zeros(len(spans), dtype=bool)
        return np.asarray(table[np.asarray(canonical, dtype=np.int64)] | by_label, dtype=bool)


@dataclass(frozen=True)
class Counted:
    """What is left after ignored labels are removed: True is counted. Predictions by level.

    Character counts and leak rates use every prediction, since a mask is a mask, and leave out on both sides the
    characters that lie on ignored golds alone.
    """

    golds: Bools
    predictions: Mapping[Level, Bools]


def without_ignored(
    golds: SpanArrays, predictions: SpanArrays, *, ignored_golds: Bools, ignored_predictions: Bools
) -> Counted:
    """Remove ignored labels symmetrically.

    * An ignored gold is not counted.
    * A prediction with more than half of its characters on ignored golds alone (not also on a counted one) is not
      counted, at any level and whatever its label.
    * A prediction that carries an ignored label and touches no counted gold is not counted at leaf and branch; at phi
      it stays.

    >>> golds = SpanArrays.of([(0, 0, 10, "misc"), (0, 20, 30, "date")])
    >>> found = SpanArrays.of([(0, 0, 8, "date"), (0, 20, 30, "date"), (0, 40, 50, "misc")])
    >>> left = without_ignored(golds, found, ignored_golds=golds.label == 1, ignored_predictions=found.label == 1)
    >>> left.golds.tolist(), left.predictions["leaf"].tolist(), left.predictions["phi"].tolist()
    ([False, True], [False, True, False], [False, True, True])
    """
    gold_start, gold_end, start, end = _on_one_line(golds, predictions)
    counted = ~np.asarray(ignored_golds, dtype=bool)
    on_counted = _covered(gold_start[counted], gold_end[counted])
    on_any = _covered(gold_start, gold_end)
    touched = on_counted(end) - on_counted(start)
    ignored_only = on_any(end) - on_any(start) - touched
    elsewhere = 2 * ignored_only <= end - start
    stray = np.asarray(ignored_predictions, dtype=bool) & (touched == 0)
    typed = elsewhere & ~stray
    return Counted(counted, {"leaf": typed, "branch": typed, "phi": elsewhere})


def _on_one_line(golds: SpanArrays, predictions: SpanArrays) -> tuple[_Places, _Places, _Places, _Places]:
    """Starts and ends of both with the documents laid end to end, so that spans of two documents never meet."""
    ends = np.concatenate([golds.end, predictions.end, [0]]).astype(np.int64)
    documents = np.concatenate([golds.document, predictions.document, [0]]).astype(np.int64)
    lengths = np.zeros(int(documents.max()) + 1, dtype=np.int64)
    np.maximum.at(lengths, documents, ends)
    offset = np.concatenate([[0], np.cumsum(lengths + 1)[:-1]])
    at_gold, at_prediction = offset[golds.document], offset[predictions.document]
    return (
        golds.start + at_gold,
        golds.end + at_gold,
        predictions.start + at_prediction,
        predictions.end + at_prediction,
    )


def _covered(start: _Places, end: _Places) -> Callable[[_Places], _Places]:
    """A function of places: how many characters before each lie on the union of the spans."""
    if not len(start):
        return np.zeros_like
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    opens = np.concatenate([[True], start[1:] > reach[:-1]])
    first = start[opens]
    last = reach[np.concatenate([opens[1:], [True]])]
    before = np.concatenate([[0], np.cumsum(last - first)])

    def count(places: _Places) -> _Places:
        block = np.searchsorted(first, places, side="right")
        inside = np.minimum(places, last[block - 1]) - first[block - 1]
        return np.asarray(np.where(block > 0, before[block - 1] + inside, 0), dtype=np.int64)

    return count
