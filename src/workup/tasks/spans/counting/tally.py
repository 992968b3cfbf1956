"""Adds blocks of documents up, for every setting at once. Knows how verdicts become counts, not how they are made."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from workup.documents.policies import MUST, MUST_NOT
from workup.stats.arrays import Bools, Whole
from workup.tasks.spans.counting.blocks import Block, Sheet
from workup.tasks.spans.counting.characters import (
    Units,
    on_characters,
    on_tokens,
    on_typed_tokens,
    stray_units,
)
from workup.tasks.spans.counting.contested_blocks import Knots
from workup.tasks.spans.counting.coverage import union_starts
from workup.tasks.spans.counting.leaks import Leaks, LeakTable
from workup.tasks.spans.counting.matchup import PHI, Setting, rows_of
from workup.tasks.spans.counting.modes import parse_mode
from workup.tasks.spans.counting.pair_rules import Types
from workup.tasks.spans.counting.pairs_alone import Singles
from workup.tasks.spans.counting.pairs_contested import Tangle
from workup.tasks.spans.counting.verdicts import CREDITED, NEUTRAL, REMOVED, Verdicts

FIELDS = ("golds", "hits", "exact_hits", "predictions", "credited", "neutral")
GOLDS, HITS, EXACT, PREDICTIONS, OF_CREDIT, OF_NEUTRAL = range(len(FIELDS))
_TOGETHER = 1 << 16  # pairs in knots that are judged at once
_CONFUSION = 1 << 14  # cells of a table of gold label, predicted label and kind that stays in cache
_OF_UNITS = [GOLDS, HITS, PREDICTIONS, OF_CREDIT, OF_NEUTRAL]


class Tally:
    """Running counts of every setting: by field and document, and by field and label."""

    def __init__(self, sheet: Sheet, settings: tuple[Setting, ...], *, leaks: bool) -> None:
        self._sheet = sheet
        self._policies = tuple(dict.fromkeys(setting.policy for setting in settings))
        needed: list[Setting] = []
        if leaks and sheet.matchup.texts is not None:  # a document leaks where a gold is not fully masked
            needed = [Setting(parse_mode("full_mask"), PHI, policy) for policy in self._policies]
        # Modes that count spans first, so that their part of every array is one piece.
        self._settings = tuple(sorted(dict.fromkeys((*settings, *needed)), key=lambda setting: setting.mode.by_unit))
        self._by_span = [setting for setting in self._settings if not setting.mode.by_unit]
        self._places = [self._settings.index(setting) for setting in settings]
        self._types = Types(sheet.names, sheet.matchup.levels)
        self._singles = Singles(sheet, self._by_span, self._types)
        self._rows = {level.name: rows_of(level, sheet.names) for level in sheet.matchup.levels}
        self._labels = np.zeros((len(self._settings), len(FIELDS), len(sheet.names)), dtype=np.int64)
        self._leaks = {policy: LeakTable(sheet, policy) for policy in self._policies} if leaks else {}
        self._documents = np.zeros((len(self._settings), len(FIELDS), sheet.rows), dtype=np.int32)
        self._waiting: list[Knots] = []
        self.strays = {"outside_text": 0, "unknown_document": 0}

    def add(self, block: Block) -> None:
        """One more block."""
        known = block.first < self._sheet.matchup.documents
        self.strays["outside_text" if known else "unknown_document"] += len(block.strays)
        if self._by_span:
            self._add_marginals(block)
            self._add_singles(block)
            self._add_knots(block)
        if len(self._by_span) < len(self._settings) or self._leaks:
            self._add_units(block)

    def documents(self) -> npt.NDArray[np.int32]:
        """Settings in the order asked for, fields, documents."""
        order = self._places
        return self._documents[: len(order)] if order == list(range(len(order))) else self._documents[order]

    def rows(self, setting: Setting) -> dict[str, tuple[int, ...]]:
        """The fields of each label that occurs in a setting, by the name that its level gives it."""
        row, names = self._rows[setting.level]
        numbers = self._labels[self._settings.index(setting)]
        if not setting.mode.by_unit:  # units were counted by row, since a row is a union
            numbers = np.stack([np.bincount(row, weights=one, minlength=len(names)) for one in numbers])
        columns = numbers.astype(
            np.int64
        ).T.tolist()  # more columns than names where a level is counted by coarser rows
        return {name: tuple(column) for name, column in zip(names, columns, strict=False) if any(column)}

    def leaks(self) -> dict[str, Leaks]:
        """By policy; empty where they were not asked for."""
        found = {}
        for policy, table in self._leaks.items():
            full = Setting(parse_mode("full_mask"), PHI, policy)
            leaking = None
            if full in self._settings:
                numbers = self._documents[self._settings.index(full), :, : self._sheet.matchup.documents]
                leaking = numbers[HITS] < numbers[GOLDS]
            found[policy] = table.done(leaking)
        return found

    # ---- spans -------------------------------------------------------------------------------------------------------

    def _add_marginals(self, block: Block) -> None:
        """Must-mask golds, and predictions before any is removed."""
        must = self._sheet.table.T == MUST
        kinds = must.shape[1]
        predictions, strays = block.predictions, block.strays
        policies = [self._sheet.policies.index(setting.policy) for setting in self._by_span]
        for into, golds, found, astray, n in (
            (self._part(block), block.golds.document, predictions.document, strays.document, block.documents),
            (self._by_label, block.golds.label, predictions.label, strays.label, len(self._sheet.names)),
        ):
            into[:, GOLDS] += _product(must, _doubles(_cells(golds, block.decision, n, kinds)))[policies]
            into[:, PREDICTIONS] += np.bincount(found, minlength=n)
            into[:, PREDICTIONS] += np.bincount(astray, minlength=n)

    def _add_singles(self, block: Block) -> None:
        gold, _, pair = self._singles.pair(block)
        if not len(gold):
            return
        code, verdicts = self._singles.judge(pair)
        kinds, labels = verdicts.hit.shape[1], len(self._sheet.names)
        of_documents = _doubles(_cells(block.golds.document.take(gold), code, block.documents, kinds))
        of_labels = _label_cells(pair.gold_label, pair.label, code, labels, kinds)
        of_golds, of_predictions = (_doubles(cells) for cells in of_labels)
        part = self._part(block)
        for field, flags in _fields(verdicts):
            sign = -1 if field == PREDICTIONS else 1
            part[:, field] += sign * _product(flags, of_documents)
            by_label = of_golds if field in (HITS, EXACT) else of_predictions
            self._by_label[:, field] += sign * _product(flags, by_label)

    def _add_knots(self, block: Block) -> None:
        """Knots are few, so those of several blocks are judged at once; where texts are read, of each by itself."""
        knots = Knots.of(block, self._sheet)
        if len(knots):
            self._waiting.append(knots)
        if knots.text is not None or sum(map(len, self._waiting)) > _TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Judge the knots that wait."""
        if not self._waiting:
            return
        tangle = Tangle(Knots.joined(self._waiting), self._sheet, self._types)
        self._waiting = []
        verdicts = tangle.judge(self._by_span)
        golds, predictions = _Grouping(tangle.gold_document), _Grouping(tangle.document)
        for field, flags in _fields(verdicts):
            of_golds = field in (HITS, EXACT)
            documents, label = (golds, tangle.gold_label) if of_golds else (predictions, tangle.label)
            sign = -1 if field == PREDICTIONS else 1  # what was removed is no prediction any more
            for i, own in enumerate(flags):
                self._documents[i, field][documents.present] += sign * documents.sums(own)
                by_label = np.bincount(label, weights=own, minlength=self._labels.shape[2])
                self._labels[i, field] += sign * by_label.astype(np.int64)

    def _part(self, block: Block) -> npt.NDArray[np.int32]:
        """The counts of a block's documents in modes that count spans."""
        return self._documents[: len(self._by_span), :, block.first : block.first + block.documents]

    @property
    def _by_label(self) -> npt.NDArray[np.int64]:
        return self._labels[: len(self._by_span)]

    # ---- characters and tokens ---------------------------------------------------------------------------------------

    def _add_units(self, block: Block) -> None:
        row, names = self._rows[PHI]
        characters = on_characters(block, row)
        tokens, kept = on_tokens(block, row) if block.text is not None else (None, None)
        for policy in self._policies:
            decision = self._sheet.table[block.decision, self._sheet.policies.index(policy)]
            of_characters = characters.count(decision, block.documents, len(names))
            of_tokens = None
            if tokens is not None and kept is not None:
                of_tokens = tokens.count(decision.take(kept), block.documents, len(names))
            if policy in self._leaks and block.first < self._sheet.matchup.documents:
                rest = None if of_tokens is None else (of_tokens, _non_phi_tokens(block, decision))
                self._leaks[policy].add(block, characters, of_characters, rest)
            for i, setting in enumerate(self._settings):
                if setting.policy == policy and setting.mode.by_unit:
                    self._store(i, block, of_characters if setting.mode.kind == "char" else of_tokens, decision)

    def _store(self, i: int, block: Block, untyped: Units | None, decision: Whole) -> None:
        setting = self._settings[i]
        row, names = self._rows[setting.level]
        here = slice(block.first, block.first + block.documents)
        units = untyped
        if setting.mode.kind == "token" and self._types.levels[setting.level].typed and block.text is not None:
            line, decided = on_typed_tokens(block, self._sheet, self._types, setting.level, decision, row)
            units = line.count(decided, block.documents, len(names))
        if units is not None:
            self._documents[i, _OF_UNITS, here] += units.documents.astype(np.int32)
            self._labels[i, _OF_UNITS, : len(names)] += units.rows
        if len(block.strays):
            of_documents, of_cells = stray_units(block, self._sheet, row, len(names), setting.mode.kind)
            self._documents[i, PREDICTIONS, here] += of_documents.astype(np.int32)
            self._labels[i, PREDICTIONS, : len(names)] += of_cells.sum(axis=0)


def _fields(verdicts: Verdicts) -> Iterator[tuple[int, Bools]]:
    """Each field that verdicts change, with the units that it counts; nothing where it counts none."""
    outcome = verdicts.outcome
    kinds = ((OF_CREDIT, CREDITED), (OF_NEUTRAL, NEUTRAL), (PREDICTIONS, REMOVED))
    for field, flags in ((HITS, verdicts.hit), (EXACT, verdicts.exact), *((f, outcome == k) for f, k in kinds)):
        if flags.any():
            yield field, flags


def _cells(group: Whole, kind: Whole, groups: int, kinds: int) -> Whole:
    """How many of each kind each group has."""
    if kinds == 1:
        return np.bincount(group, minlength=groups)[:, None]
    return np.bincount(group * kinds + kind, minlength=groups * kinds).reshape(groups, kinds)


def _label_cells(gold_label: Whole, label: Whole, kind: Whole, labels: int, kinds: int) -> tuple[Whole, Whole]:
    """How many of each kind each label has, of golds and of predictions: from one table of both where it is small."""
    if labels * labels * kinds > _CONFUSION:
        return _cells(gold_label, kind, labels, kinds), _cells(label, kind, labels, kinds)
    both = _cells(gold_label * labels + label, kind, labels * labels, kinds).reshape(labels, labels, kinds)
    return both.sum(axis=1), both.sum(axis=0)


def _doubles(cells: Whole) -> npt.NDArray[np.float64]:
    """Kinds down, groups across, as doubles, which hold such counts exactly and multiply fast."""
    return np.ascontiguousarray(cells.T, dtype=np.float64)


def _product(flags: Bools, cells: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
    """For each setting and group, how many are of a flagged kind."""
    return (flags.astype(np.float64) @ cells).astype(np.int32)


class _Grouping:
    """Units by the documents that they are of, to sum flags over those that occur."""

    def __init__(self, document: Whole) -> None:
        low = int(document.min(initial=0))
        occurs = np.zeros(int(document.max(initial=0)) - low + 1, dtype=np.bool_)
        occurs[document - low] = True
        self.present = np.flatnonzero(occurs) + low
        self._number = (np.cumsum(occurs) - 1).take(document - low)

    def sums(self, flags: Bools) -> npt.NDArray[np.int32]:
        """For each document that is present, how many units are flagged."""
        return np.bincount(self._number, weights=flags, minlength=len(self.present)).astype(np.int32)


def _non_phi_tokens(block: Block, decision: Whole) -> Whole:
    """Tokens of each document that no gold touches that must or may be masked or is ignored."""
    assert block.text is not None
    first, last = block.text.tokens(block.golds.start, block.golds.end)
    first = np.minimum(first, last)
    touched = last - union_starts(first, last, decision != MUST_NOT)
    total = np.bincount(block.golds.document, weights=touched, minlength=block.documents)
    return block.text.token_counts() - total.astype(np.int64)
