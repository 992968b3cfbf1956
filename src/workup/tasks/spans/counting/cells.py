"""One setting by document and label together: what intervals of a single label, clustered by document, are made of.

A cell exists only where it counts something, so there are never more cells than spans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workup.stats.arrays import Whole
from workup.tasks.spans.counting.blocks import Block, Sheet
from workup.tasks.spans.counting.characters import on_characters, on_tokens, on_typed_tokens, stray_units
from workup.tasks.spans.counting.counts import needs_text
from workup.tasks.spans.counting.matchup import Matchup, Setting, rows_of
from workup.tasks.spans.counting.outcomes import outcomes
from workup.tasks.spans.counting.pair_rules import Types
from workup.tasks.spans.counting.tally import FIELDS
from workup.tasks.spans.counting.verdicts import CREDITED, NEUTRAL, REMOVED


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts of documents and labels that occur together, a column for each field; `label` holds places in `labels`."""

    document: Whole
    label: Whole
    labels: tuple[str, ...]
    counts: Mapping[str, Whole]

    def of_label(self, label: str, documents: int) -> dict[str, Whole]:
        """Each field of one label with an entry per document, zeros too."""
        which = np.flatnonzero(self.label == self.labels.index(label))
        found: dict[str, Whole] = {}
        for field, column in self.counts.items():
            found[field] = np.zeros(documents, dtype=np.int64)
            found[field][self.document.take(which)] = column.take(which)
        return found


def cells(matchup: Matchup, setting: Setting) -> Cells:
    """Count one setting by document and label. Golds and hits go by gold label, the rest by predicted label.

    >>> from workup.documents.document import SpanArrays
    >>> from workup.documents.policies import MUST
    >>> golds = SpanArrays.of([(0, 0, 10, "date"), (1, 0, 5, "zip"), (1, 6, 9, "date")])
    >>> matchup = Matchup(golds, SpanArrays.of([(1, 6, 9, "date")]), 2, {"all": np.full(3, MUST, dtype=np.int8)})
    >>> found = cells(matchup, matchup.settings(["strict"], levels=["leaf"])[0]).of_label("date", 2)
    >>> found["golds"].tolist(), found["hits"].tolist()
    ([1, 1], [0, 1])
    """
    key, counted = _of_units(matchup, setting) if setting.mode.by_unit else _of_spans(matchup, setting)
    names = rows_of(matchup.level(setting.level), _names(matchup))[1]
    occurs = np.flatnonzero(counted.any(axis=0))
    columns = {field: counted[i].take(occurs) for i, field in enumerate(FIELDS)}
    document, label = np.divmod(key.take(occurs), max(len(names), 1))
    return Cells(document, label, names, columns)


def _names(matchup: Matchup) -> tuple[str, ...]:
    return tuple(sorted({*matchup.golds.labels, *matchup.predictions.labels}))


def _of_spans(matchup: Matchup, setting: Setting) -> tuple[Whole, Whole]:
    """Cells as document times rows plus row, and their counts."""
    seen = outcomes(matchup, setting)
    names = _names(matchup)
    row, rows = rows_of(matchup.level(setting.level), names)
    sides = []
    for spans in (matchup.golds, matchup.predictions):
        place = np.array([row[names.index(label)] for label in spans.labels], dtype=np.int64)
        sides.append(spans.document.astype(np.int64) * len(rows) + place.take(spans.label))
    keys, number = np.unique(np.concatenate(sides), return_inverse=True)
    golds, predictions = np.split(number, [len(matchup.golds)])
    of_golds = [golds[flags] for flags in (seen.must, seen.hit, seen.exact)]
    outcome = seen.outcome
    of_predictions = [predictions[flags] for flags in (outcome != REMOVED, outcome == CREDITED, outcome == NEUTRAL)]
    return keys, np.stack([np.bincount(cell, minlength=len(keys)) for cell in (*of_golds, *of_predictions)])


def _of_units(matchup: Matchup, setting: Setting) -> tuple[Whole, Whole]:
    with_text = needs_text(matchup, [setting], leaks=False)
    sheet = Sheet.of(matchup)
    types = Types(sheet.names, matchup.levels)
    row, rows = rows_of(matchup.level(setting.level), sheet.names)
    keys, counts = [np.empty(0, dtype=np.int64)], [np.empty((len(FIELDS), 0), dtype=np.int64)]
    which = [i for i, field in enumerate(FIELDS) if field != "exact_hits"]
    for block in sheet.blocks(with_text=with_text):
        here = np.zeros((len(FIELDS), block.documents * len(rows)), dtype=np.int64)
        if setting.mode.kind == "char" or block.text is not None:
            here[which] += _units_of(block, sheet, types, setting, row, len(rows))
        if len(block.strays):
            astray = stray_units(block, sheet, row, len(rows), setting.mode.kind)[1]
            here[FIELDS.index("predictions")] += astray.reshape(-1)
        occurs = np.flatnonzero(here.any(axis=0))
        keys.append(block.first * len(rows) + occurs)
        counts.append(here[:, occurs])
    return np.concatenate(keys), np.concatenate(counts, axis=1)


def _units_of(block: Block, sheet: Sheet, types: Types, setting: Setting, row: Whole, rows: int) -> Whole:
    decision = sheet.table[block.decision, sheet.policies.index(setting.policy)]
    if setting.mode.kind == "char":
        line, decided = on_characters(block, row), decision
    elif types.levels[setting.level].typed:
        line, decided = on_typed_tokens(block, sheet, types, setting.level, decision, row)
    else:
        line, kept = on_tokens(block, row)
        decided = decision.take(kept)
    return line.by_cell(rows).count(decided, block.documents, block.documents * rows).rows
