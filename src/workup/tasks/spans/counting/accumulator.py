"""The ledger: everything that is counted of a system on a corpus, added up batch by batch. No text stays in it.

Knows how counts are kept; what they mean as rates is for the metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.documents.batch import Batch
from workup.documents.detections import Found
from workup.documents.document import Document, SpanArrays
from workup.documents.labels import SCHEME
from workup.documents.language import language_of
from workup.documents.policies import Policy
from workup.stats.arrays import Ints
from workup.tasks.spans import columns
from workup.tasks.spans.comparing.rule_sets import RuleSets
from workup.tasks.spans.counting.blocks import Sheet
from workup.tasks.spans.counting.counting_rules import Golds, Yardstick
from workup.tasks.spans.counting.counts import Counts, count
from workup.tasks.spans.counting.document_rows import Cells, Rows
from workup.tasks.spans.counting.leaks import FIELDS as LEAK_FIELDS
from workup.tasks.spans.counting.matchup import Matchup, Setting
from workup.tasks.spans.counting.outcomes import Outcomes, outcomes
from workup.tasks.spans.counting.verdicts import CREDITED, NEUTRAL, REMOVED
from workup.tasks.spans.errors.entities import KINDS, Entities, group_entities
from workup.tasks.spans.errors.error_log import Errors
from workup.tasks.spans.errors.severity import severity_weights
from workup.tasks.spans.information import Information
from workup.tasks.spans.utility import Utility

UNKNOWN = ("", "", "", "", "", ())  # the design of predictions that belong to no document of the corpus
_Columns = dict[str, npt.NDArray[Any]]


class Ledger:
    """Counts of one system. `add` takes batches in any order; `closed` takes what belongs to no document."""

    def __init__(
        self,
        stick: Yardstick,
        *,
        by_label: bool = True,
        errors: Errors | None = None,
        utility: Utility | None = None,
    ) -> None:
        self.stick = stick
        self.rows = Rows()
        self.cells = Cells()
        self.errors = errors
        self.utility = utility
        self.information = Information()
        self.rules = RuleSets(stick) if by_label else None
        self.by_label: dict[Setting, dict[str, npt.NDArray[np.int64]]] = {}
        self.unmapped_golds: Counter[str] = Counter()
        self.unmapped_found: Counter[str] = Counter()
        self.strays: Counter[str] = Counter()
        self.facts: Counter[str] = Counter()
        self.gold_labels: Counter[str] = Counter()
        self.found_labels: Counter[str] = Counter()
        self.layered: list[Document] = []  # golds of several annotators, their texts blanked
        self._cells_wanted = by_label

    # ---- adding ------------------------------------------------------------------------------------------------------

    def add(self, batch: Batch, found: Found) -> None:
        """One more batch with what the system found in it."""
        self.stick.crowding.check(batch.ids, batch.texts, batch.spans, found.spans)
        predictions = self.stick.found(found, self.unmapped_found)
        self.information.count_words(batch)
        if self.utility is not None:
            self.utility.read(batch, predictions, found.answered)
        gathered: _Columns = {}
        cells: _CellBuilder | None = None
        for i, policies in enumerate(self.stick.policy_sets):
            golds = self.stick.golds(batch, policies, self.unmapped_golds if i == 0 else None)
            matchup = self.stick.matchup(golds, predictions, texts=batch.texts, answered=found.answered)
            sheet = Sheet.of(matchup)
            cells = cells or _CellBuilder(matchup, offset=len(self.rows))  # titles move borders, not labels
            counts = count(matchup, self._settings(policies), leaks=True, sheet=sheet)
            self._add_table(counts)
            gathered |= self._of_counts(counts, policies, len(batch))
            gathered |= self._of_spans(batch, golds, sheet, policies, found, cells)
            for policy in policies:
                self.information.add(policy.name, batch, golds, predictions)
                if self.utility is not None:
                    gathered |= self.utility.counted(policy.name, golds)
            if i == 0:
                self._add_facts(batch, golds, predictions, found, counts)
        if self._cells_wanted and cells is not None:
            cells.give(self.cells)
        self.rows.add(_keys(batch), gathered)
        moved = self.rows.fold()
        if moved is not None:
            self.cells.fold(moved)

    def closed(self, unknown: Found) -> None:
        """Predictions of documents that the corpus does not hold: false alarms, all of them, on a row of their own."""
        if not unknown.starts:
            self.facts["unknown_documents"] += len(unknown.counts)
            return
        self.facts["unknown_documents"] += len(unknown.counts)
        predictions = self.stick.found(unknown.as_one(), self.unmapped_found)
        gathered: _Columns = {}
        cells: _CellBuilder | None = None
        for policies in self.stick.policy_sets:
            empty = SpanArrays.of([])
            none = {policy.name: np.empty(0, dtype=np.int8) for policy in policies}
            golds = Golds(empty, np.empty(0, np.int32), np.empty(0, np.int32), none)
            matchup = self.stick.matchup(golds, predictions, texts=[], answered=[])
            counts = count(matchup, self._settings(policies), leaks=False)
            self._add_table(counts)
            gathered |= self._of_counts(counts, policies, 1)
            cells = cells or _CellBuilder(matchup, offset=len(self.rows))
            for setting in self._by_span(policies):
                cells.add(setting, outcomes(matchup, setting))
        if self._cells_wanted and cells is not None:
            cells.give(self.cells)
        if self.rules is not None:
            self.rules.add_unknown(predictions)
        gathered |= {name: np.zeros(1, np.int32) for name in self.rows.names if name not in gathered}
        self.rows.add([UNKNOWN], gathered)
        self.strays["unknown_document"] += len(unknown.starts)

    def _settings(self, policies: Sequence[Policy]) -> list[Setting]:
        names = {policy.name for policy in policies}
        asked = (*self.stick.settings, *self.stick.full_mask, *self.stick.curve)
        return [setting for setting in dict.fromkeys(asked) if setting.policy in names]

    # ---- what counts give --------------------------------------------------------------------------------------------

    def _add_table(self, counts: Counts) -> None:
        for setting, rows in zip(counts.settings, counts.rows, strict=True):
            table = self.by_label.setdefault(setting, {})
            for label, numbers in rows.items():
                table[label] = table.get(label, 0) + np.array(numbers, dtype=np.int64)

    def _of_counts(self, counts: Counts, policies: Sequence[Policy], n: int) -> _Columns:
        """Columns of every setting, and what leaked under every policy."""
        found: _Columns = {}
        for setting, numbers in zip(counts.settings, counts.documents, strict=True):
            for field, column in zip(columns.OF_SETTING, numbers, strict=True):
                found[columns.of_setting(setting, field)] = column[:n]
        for policy in policies:
            if policy.name in counts.leaks:
                for field in LEAK_FIELDS:
                    found[columns.of_policy(policy.name, field)] = counts.leaks[policy.name].documents[field]
        return found

    def _add_facts(self, batch: Batch, golds: Golds, predictions: SpanArrays, found: Found, counts: Counts) -> None:
        first = batch.first or [True] * len(batch)
        self.facts["documents"] += sum(first)
        self.facts["readings"] += len(batch)
        self.layered += [replace(document, text=" " * len(document.text)) for document in batch.layered]
        self.facts["golds"] += len(golds.spans)
        self.facts["coarse_golds"] += int(np.count_nonzero(golds.canonical >= len(SCHEME)))
        self.facts["documents_without_golds"] += sum(
            one and not times for one, times in zip(first, batch.counts, strict=True)
        )
        spoken = [answered for answered, one in zip(found.answered, first, strict=True) if one]
        self.facts["documents_not_answered"] += len(spoken) - sum(spoken)
        self.facts["characters"] += sum(len(text) for text, one in zip(batch.texts, first, strict=True) if one)
        self.facts["language_uncertain"] += sum(
            language_of(text) == "uncertain" for text, one in zip(batch.texts, first, strict=True) if one
        )
        for place, name in enumerate(golds.spans.labels):
            self.gold_labels[name] += int(np.count_nonzero(golds.spans.label == place))
        for place, name in enumerate(predictions.labels):
            self.found_labels[name] += int(np.count_nonzero(predictions.label == place))
        self.strays.update({name: times for name, times in counts.strays.items() if times})

    # ---- what single spans give --------------------------------------------------------------------------------------

    def _of_spans(
        self,
        batch: Batch,
        golds: Golds,
        sheet: Sheet,
        policies: Sequence[Policy],
        found: Found,
        cells: _CellBuilder,
    ) -> _Columns:
        """Columns that need each gold's own fate: entities and severity; and the cells by label."""
        matchup = sheet.matchup
        of_cells = self._by_span(policies) if self._cells_wanted else []
        primary = [self.stick.primary_setting] if self.errors is not None else []
        full_mask = [setting for setting in self.stick.full_mask if setting.policy in {p.name for p in policies}]
        gathered: _Columns = {}
        entities = group_entities(batch, golds.canonical, golds.identifier)
        fates: dict[Setting, Outcomes] = {}
        for setting in dict.fromkeys((*full_mask, *of_cells, *primary)):
            if setting.policy not in {policy.name for policy in policies}:
                continue
            fate = fates[setting] = outcomes(matchup, setting, sheet=sheet)
            if setting in full_mask:
                gathered |= _entities(entities, fate, setting.policy, len(batch))
                gathered |= _severity(golds, fate, setting.policy, len(batch), ignored=matchup.ignored)
            if setting in of_cells:
                cells.add(setting, fate)
            if self.errors is not None and setting in primary:
                self.errors.add(batch, golds, sheet, fate, found)
        if self.rules is not None:
            self.rules.add(sheet, policies, known=fates)
        return gathered

    def _by_span(self, policies: Sequence[Policy]) -> list[Setting]:
        """Settings that count spans: those asked for, and whole masks."""
        names = {policy.name for policy in policies}
        asked = dict.fromkeys((*self.stick.full_mask, *self.stick.settings))
        return [setting for setting in asked if setting.policy in names and not setting.mode.by_unit]

    # ---- reading -----------------------------------------------------------------------------------------------------

    def table(self) -> Iterator[dict[str, Any]]:
        """Rows for `tables.counts`: every setting asked for, all labels (None) first and then each that occurs."""
        for setting in self.stick.settings:
            key = {"policy": setting.policy, **self.stick.key(setting)}
            total = [
                int(self.rows.column(columns.of_setting(setting, f)).sum(dtype=np.int64)) for f in columns.OF_SETTING
            ]
            yield {**key, "label": None, **_row(setting, total)}
            for label, numbers in sorted(self.by_label[setting].items()):
                yield {**key, "label": label, **_row(setting, numbers.tolist())}


class _CellBuilder:
    """Cells of one batch under some settings: documents by labels, where there are spans."""

    def __init__(self, matchup: Matchup, *, offset: int) -> None:
        self._golds, self._found = matchup.golds, matchup.predictions
        self._names = tuple(dict.fromkeys((*self._golds.labels, *self._found.labels)))
        self._offset = offset
        self._decisions = matchup.decisions
        self._ignored = np.array([name in matchup.ignored for name in self._golds.labels] + [False])
        at_gold = self._joint(self._golds)
        at_found = self._joint(self._found)
        # Predictions of documents that are not in the batch do not occur here: they are closed apart.
        self._present, place = np.unique(np.concatenate([at_gold, at_found]), return_inverse=True)
        self._gold, self._prediction = place[: len(at_gold)], place[len(at_gold) :]
        self._columns: dict[str, npt.NDArray[np.int32]] = {}

    def _joint(self, spans: SpanArrays) -> Ints:
        place = {name: i for i, name in enumerate(self._names)}
        codes = np.array([place[name] for name in spans.labels], dtype=np.int64)
        label = codes[spans.label] if len(spans) else np.empty(0, np.int64)
        return spans.document.astype(np.int64) * max(1, len(self._names)) + label

    def add(self, setting: Setting, fate: Outcomes) -> None:
        """The fates of golds and predictions in one setting."""
        counted = fate.must & ~self._ignored[self._golds.label] if len(self._golds) else fate.must
        kept = fate.outcome != REMOVED
        for field, place, flags in (
            ("golds", self._gold, counted),
            ("hits", self._gold, fate.hit),
            ("exact_hits", self._gold, fate.exact),
            ("predictions", self._prediction, kept),
            ("credited", self._prediction, fate.outcome == CREDITED),
            ("neutral", self._prediction, fate.outcome == NEUTRAL),
        ):
            sums = np.bincount(place, weights=flags, minlength=len(self._present))
            self._columns[columns.of_setting(setting, field)] = sums.astype(np.int32)

    def give(self, cells: Cells) -> None:
        """Put all of it where it is kept."""
        n = max(1, len(self._names))
        cells.add(self._present // n + self._offset, self._present % n, self._names, self._columns)


def _entities(entities: Entities, fate: Outcomes, policy: str, n: int) -> _Columns:
    """Entities with a mention that must be masked, and those of them with every such mention masked whole."""
    table = entities.table(fate.must, fate.hit)
    found: _Columns = {}
    for kind in columns.ENTITY_KINDS:
        chosen = table.kind == KINDS.index(kind) if kind else np.ones(len(table.kind), dtype=np.bool_)
        for field, flags in (("entities", chosen), ("entities_hit", chosen & table.protected)):
            sums = np.bincount(table.document, weights=flags, minlength=n)
            found[columns.of_entities(policy, field, kind)] = sums
    return found


def _severity(golds: Golds, fate: Outcomes, policy: str, n: int, *, ignored: Collection[str]) -> _Columns:
    """Golds weighed by how much harm each does when it leaks, in hundredths; those of ignored labels weigh nothing."""
    counts = np.array([name not in ignored for name in golds.spans.labels] + [True])
    weight = severity_weights()[golds.canonical] * counts[golds.spans.label]
    document = golds.spans.document
    return {
        columns.of_policy(policy, field): np.rint(100 * np.bincount(document, weights=weight * flags, minlength=n))
        for field, flags in zip(columns.SEVERITY, (fate.must, fate.hit), strict=True)
    }


def _keys(batch: Batch) -> list[Hashable]:
    """What a document is of: patient (itself, where none is named), site, time, type, specialty and groups."""
    about = [batch.column(name) for name in ("site", "time", "type", "specialty")]
    patients = batch.column("patient")
    groups: Sequence[Mapping[str, Any]] = batch.groups or [{}] * len(batch)
    return [
        ((1, patient) if patient is not None else (0, id), *design, tuple(sorted(group.items())))
        for id, patient, group, *design in zip(batch.ids, patients, groups, *about, strict=True)
    ]


def _row(setting: Setting, numbers: Sequence[int]) -> dict[str, int | None]:
    golds, hits, exact, predictions, credited, neutral = numbers
    return {
        "golds": golds,
        "hits": hits,
        "exact_hits": None if setting.mode.by_unit else exact,
        "misses": golds - hits,
        "predictions": predictions,
        "credited": credited,
        "neutral": neutral,
        "false_alarms": predictions - credited - neutral,
    }
