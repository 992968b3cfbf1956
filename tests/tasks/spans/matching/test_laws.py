"""Laws that hold for any golds and predictions, and detectors whose numbers are known beforehand."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.brute_force import Found, Gold, Scheme
from tests.support.small_corpora import (
    POLICY,
    SCHEME,
    SPAN_MODES,
    UNIT_MODES,
    Note,
    counted,
    matchup,
    must_only,
    notes,
    setting,
)
from workup.tasks.spans.counting import blocks, tally
from workup.tasks.spans.counting.counts import Counts, count
from workup.tasks.spans.counting.modes import parse_mode

_LEVELS = ("leaf", "branch", "phi")
_IGNORING = Scheme(SCHEME.leaf, SCHEME.branch, frozenset({"city", "FOO"}))
_CORPORA = st.lists(notes(), min_size=1, max_size=5)


def _hits(counts: Counts, mode: str, level: str = "phi") -> int:
    return counts.total(setting(counts, mode, level))["hits"] or 0


@given(corpus=_CORPORA, ignoring=st.booleans())
@settings(max_examples=30)
def test_every_slice_adds_up(corpus: list[Note], ignoring: bool) -> None:
    counts = counted(corpus, scheme=_IGNORING if ignoring else SCHEME)
    for row in counts.table():
        assert row["hits"] + row["misses"] == row["golds"] and min(row["hits"], row["misses"]) >= 0
        parts = row["credited"], row["neutral"], row["false_alarms"]
        assert sum(parts) == row["predictions"] and min(parts) >= 0, row
        assert row["exact_hits"] is None or 0 <= row["exact_hits"] <= row["hits"]
    for one in counts.settings:
        rows = [row for row in counts.table() if (row["mode"], row["level"]) == (one.mode.name, one.level)]
        per_document = counts.per_document(one)
        for field in ("golds", "hits", "predictions", "credited", "neutral", "false_alarms"):
            assert per_document[field].sum() == rows[0][field] and per_document[field].min() >= 0
            if not one.mode.by_unit:  # units of two labels are counted in both rows
                assert sum(row[field] for row in rows[1:]) == rows[0][field]


@given(corpus=st.lists(must_only(), min_size=1, max_size=4))
@settings(max_examples=30)
def test_weaker_rules_never_find_less(corpus: list[Note]) -> None:
    shares = ("0.05", "0.2", "0.25", "0.5", "0.75", "0.9", "1")
    modes = (
        "strict",
        "exact",
        "overlap",
        "partial",
        "i2b2",
        *(f"{kind}:{x}" for kind in ("iou", "cover") for x in shares),
    )
    counts = counted(corpus, modes)
    assert _hits(counts, "strict") <= _hits(counts, "exact") <= _hits(counts, "partial")
    for level in _LEVELS:
        assert _hits(counts, "strict", level) <= _hits(counts, "exact")
        assert _hits(counts, "strict", level) <= _hits(counts, "i2b2", level) <= _hits(counts, "overlap", level)
        for kind in ("iou", "cover"):
            curve = [_hits(counts, f"{kind}:{x}", level) for x in shares]
            assert curve == sorted(curve, reverse=True)
            assert _hits(counts, "strict", level) <= min(curve)
        assert _hits(counts, f"iou:{shares[0]}", level) <= _hits(counts, "overlap", level)
    assert all(_hits(counts, "exact") <= _hits(counts, f"iou:{x}") for x in shares)
    for mode in ("strict", "overlap", "i2b2", "iou:0.5", "cover:0.75"):
        assert _hits(counts, mode, "leaf") <= _hits(counts, mode, "branch") <= _hits(counts, mode, "phi")


@given(corpus=_CORPORA, data=st.data())
@settings(max_examples=30)
def test_the_order_of_spans_and_documents_changes_nothing(corpus: list[Note], data: st.DataObject) -> None:
    def shuffled(items: Sequence[object]) -> list[object]:
        return data.draw(st.permutations(items))

    other = [Note(note.text, shuffled(note.golds), shuffled(note.found)) for note in corpus]  # type: ignore[arg-type]
    order = data.draw(st.permutations(range(len(other))))
    first, second = (counted(one, scheme=_IGNORING) for one in (corpus, [other[i] for i in order]))
    assert list(first.table()) == list(second.table())
    assert (first.documents[:, :, order] == second.documents).all()


@given(corpus=_CORPORA, cut=st.integers(0, 5))
@settings(max_examples=30)
def test_counts_of_two_halves_add_to_those_of_the_whole(corpus: list[Note], cut: int) -> None:
    whole, *parts = (counted(part, scheme=_IGNORING) for part in (corpus, corpus[:cut], corpus[cut:]))
    assert (np.concatenate([part.documents for part in parts], axis=2) == whole.documents).all()
    for i, rows in enumerate(whole.rows):
        added = {
            label: tuple(sum(x) for x in zip(*(part.rows[i].get(label, (0,) * 6) for part in parts), strict=True))
            for label in {*parts[0].rows[i], *parts[1].rows[i]}
        }
        assert added == dict(rows)


@given(corpus=st.lists(notes(), min_size=2, max_size=8))
@settings(max_examples=30)
def test_the_size_of_blocks_changes_nothing(corpus: list[Note]) -> None:
    whole = counted(corpus, scheme=_IGNORING)
    plain = counted(corpus, with_text=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_SPANS", 2)
        patch.setattr(blocks, "_TEXTS", 1)
        patch.setattr(blocks, "_SHORT", 0)  # 64 bits
        patch.setattr(tally, "_TOGETHER", 3)
        pieces = counted(corpus, scheme=_IGNORING)
        without = counted(corpus, with_text=False)
    assert list(pieces.table()) == list(whole.table()) and (pieces.documents == whole.documents).all()
    assert list(without.table()) == list(plain.table()) and (without.documents == plain.documents).all()


@given(corpus=_CORPORA)
@settings(max_examples=30)
def test_texts_change_no_mode_that_reads_offsets_alone(corpus: list[Note]) -> None:
    inside = [note._replace(found=[p for p in note.found if 0 <= p.start < p.end <= len(note.text)]) for note in corpus]
    modes = [mode for mode in (*SPAN_MODES, *UNIT_MODES) if not parse_mode(mode).needs_text]
    assert list(counted(inside, modes).table()) == list(counted(inside, modes, with_text=False).table())


@given(corpus=st.lists(notes(), min_size=2, max_size=5), at=st.integers(0, 4))
@settings(max_examples=30)
def test_a_document_never_lends_its_predictions_to_another(corpus: list[Note], at: int) -> None:
    at %= len(corpus)
    without = [note if i != at else note._replace(found=[]) for i, note in enumerate(corpus)]
    first, second = counted(corpus), counted(without)
    others = [i for i in range(len(corpus)) if i != at]
    assert (first.documents[:, :, others] == second.documents[:, :, others]).all()
    for i in range(len(second.settings)):
        assert second.documents[i, 1, at] == 0  # hits


@given(corpus=st.lists(must_only(), min_size=1, max_size=4), data=st.data())
@settings(max_examples=30)
def test_splitting_or_repeating_predictions_changes_no_unit(corpus: list[Note], data: st.DataObject) -> None:
    other = []
    for note in corpus:
        found: list[Found] = []
        for one in note.found:
            cut = data.draw(st.integers(one.start, one.end))
            halves = [dataclasses.replace(one, end=cut), dataclasses.replace(one, start=cut)]
            found += [half for half in halves if half.end > half.start]
            found += [one] * data.draw(st.integers(0, 2))
        other.append(note._replace(found=found))
    assert list(counted(corpus, ("char", "token")).table()) == list(counted(other, ("char", "token")).table())
    first, second = (matchup(one) for one in (corpus, other))
    leaks = [count(one, one.settings(["char"]), leaks=True).leaks[POLICY].totals() for one in (first, second)]
    assert leaks[0] == leaks[1]


@given(corpus=_CORPORA)
@settings(max_examples=30)
def test_types_shuffled_among_predictions_leave_label_blind_modes_alone(corpus: list[Note]) -> None:
    blind = ("exact", "partial", "full_mask", "char")
    other = [note._replace(found=[Found(p.start, p.end, "FOO") for p in note.found]) for note in corpus]
    first, second = counted(corpus, (*blind, "iou:0.5", "token")), counted(other, (*blind, "iou:0.5", "token"))
    for one in first.settings:
        if one.level == "phi":
            fields = ("hits", "predictions")  # which of two equal rivals goes free may turn on types
            assert all(first.total(one)[name] == second.total(one)[name] for name in fields)
    assert second.total(setting(second, "iou:0.5", "leaf"))["hits"] == 0


# ---- detectors with known numbers ------------------------------------------------------------------------------------


@given(corpus=st.lists(must_only(), min_size=1, max_size=4))
@settings(max_examples=30)
def test_a_detector_that_finds_nothing(corpus: list[Note]) -> None:
    counts = counted([note._replace(found=[]) for note in corpus])
    for one in counts.settings:
        total = counts.total(one)
        assert (total["hits"], total["predictions"], total["credited"], total["false_alarms"]) == (0, 0, 0, 0)


@given(corpus=st.lists(must_only(), min_size=1, max_size=4))
@settings(max_examples=30)
def test_a_detector_that_masks_everything(corpus: list[Note]) -> None:
    all_of_it = [note._replace(found=[Found(0, len(note.text), "date")] if note.text else []) for note in corpus]
    counts = counted(all_of_it)
    total = counts.total(setting(counts, "char"))
    assert total["hits"] == total["golds"]
    assert total["predictions"] == sum(len(note.text) for note in corpus)  # so precision is the density of PHI
    assert counts.total(setting(counts, "full_mask"))["misses"] == 0
    for i, note in enumerate(corpus):
        dense = 2 * _phi(note) >= len(note.text)
        assert counts.per_document(setting(counts, "full_mask"))["credited"][i] == (dense and bool(note.text))


def _phi(note: Note) -> int:
    """Characters on golds."""
    return len(set().union(*(range(g.start, g.end) for g in note.golds))) if note.golds else 0


@given(corpus=st.lists(must_only(), min_size=1, max_size=4))
@settings(max_examples=30)
def test_a_detector_that_echoes_the_golds(corpus: list[Note]) -> None:
    leaves = [note._replace(golds=[g for g in note.golds if g.label not in ("GEO", "FOO")]) for note in corpus]
    echo = [note._replace(found=[Found(g.start, g.end, g.label) for g in note.golds]) for note in leaves]
    counts = counted(echo)
    for one in counts.settings:
        total = counts.total(one)
        if not one.mode.published:  # greedy matching of overlapping golds may lose some
            assert total["misses"] == 0 and total["false_alarms"] == 0, one


@given(corpus=st.lists(must_only(), min_size=1, max_size=4))
@settings(max_examples=30)
def test_a_detector_with_every_border_off_by_one(corpus: list[Note]) -> None:
    apart = [note._replace(golds=[g for g in note.golds[:1] if g.end - g.start >= 3]) for note in corpus]
    off = [note._replace(found=[Found(g.start + 1, g.end, g.label) for g in note.golds]) for note in apart]
    counts = counted(off)
    golds = sum(len(note.golds) for note in off)
    assert _hits(counts, "strict") == _hits(counts, "exact") == _hits(counts, "cover:1") == _hits(counts, "i2b2") == 0
    assert _hits(counts, "iou:0.5") == _hits(counts, "partial") == golds
    assert counts.total(setting(counts, "cover:1"))["credited"] == golds
    assert counts.total(setting(counts, "char"))["misses"] == golds


def test_a_long_chain_of_golds_and_predictions_is_matched_link_by_link() -> None:
    golds = [Gold(20 * i, 20 * i + 24, "date") for i in range(40)]  # each overlaps the next
    found = [Found(g.start + 2, g.end + 2, g.label) for g in golds]
    counts = counted([Note("ab" * 500, golds, found)])
    for mode, level in (("iou:0.5", "leaf"), ("overlap", "leaf"), ("partial", "phi")):
        assert _hits(counts, mode, level) == 40
        assert counts.total(setting(counts, mode, level))["false_alarms"] == 0
