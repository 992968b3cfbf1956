"""Counts against nervaluate's on 10,000 generated documents, in the modes that both define.

Its scenarios strict, exact, partial and ent_type are our strict, exact, partial and overlap at leaf. Its ends are
inclusive. It goes through predictions in order, and one that only touches a gold takes that gold from a later
prediction that fits it; and it asks for one per cent of the gold. So counts are compared on documents in which every
gold overlaps at most one prediction and every prediction at most one gold, with golds under 100 characters; on all
documents ours must be at least as many, since a greedy choice can only lose."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from workup.stats.random import generator
from workup.documents.document import SpanArrays
from workup.tasks.spans.counting.counts import Counts, count
from workup.tasks.spans.counting.matchup import Level, Matchup, Setting
from workup.tasks.spans.counting.modes import parse_mode
from workup.documents.policies import MUST

_TYPES = tuple("ABCDEFGH")
_SCENARIOS = {
    "strict": ("strict", "leaf"),
    "exact": ("exact", "phi"),
    "partial": ("partial", "phi"),
    "ent_type": ("overlap", "leaf"),
}
Note = tuple[list[tuple[int, int, str]], list[tuple[int, int, str]]]


@cache
def _notes() -> tuple[Note, ...]:
    """Golds, and predictions that miss, shift, rename, split, join and invent."""
    rng = generator(20261115, "nervaluate")
    notes = []
    for _ in range(10_000):
        golds: list[tuple[int, int, str]] = []
        found: list[tuple[int, int, str]] = []
        place = 0
        for _ in range(int(rng.integers(0, 8))):
            start = place + int(rng.integers(0, 9))
            end = start + int(rng.integers(1, 25))
            kind = _TYPES[int(rng.integers(len(_TYPES)))]
            golds.append((start, end, kind))
            fate, place = rng.random(), end
            if fate < 0.6:
                found.append((start, end, kind))
            elif fate < 0.7:
                found.append((start, end, _TYPES[int(rng.integers(len(_TYPES)))]))
            elif fate < 0.8:
                found.append((max(0, start - int(rng.integers(3))), end + int(rng.integers(3)), kind))
            elif fate < 0.85 and end - start > 2:
                found += [(start, start + 1, kind), (start + 1, end, kind)]
            elif fate < 0.9:
                found.append((start, end + 20, kind))
        if rng.random() < 0.3:
            found.append((place + 10, place + 15, "A"))
        notes.append((golds, sorted(found)))
    return tuple(notes)


def _alike(note: Note) -> bool:
    golds, found = note
    meets = [[min(g[1], p[1]) > max(g[0], p[0]) for p in found] for g in golds]
    return all(sum(row) <= 1 for row in meets) and all(sum(column) <= 1 for column in zip(*meets, strict=True))


def _ours(notes: tuple[Note, ...]) -> Counts:
    golds, found = (
        SpanArrays.of((i, *span) for i, note in enumerate(notes) for span in note[side]) for side in range(2)
    )
    matchup = Matchup(
        golds,
        found,
        len(notes),
        {"all": np.full(len(golds), MUST, dtype=np.int8)},
        levels=(Level("leaf", {kind: kind for kind in _TYPES}), Level("phi")),
    )
    return count(matchup, [Setting(parse_mode(mode), level, "all") for mode, level in _SCENARIOS.values()])


def _theirs(notes: tuple[Note, ...]) -> dict[str, Any]:
    nervaluate = pytest.importorskip("nervaluate", reason="nervaluate is not installed (extra: test)")
    golds, found = (
        [[{"start": a, "end": b - 1, "label": kind} for a, b, kind in note[side]] for note in notes]
        for side in range(2)
    )
    result: dict[str, Any] = nervaluate.Evaluator(golds, found, tags=list(_TYPES), loader="dict").evaluate()
    return result


def test_counts_are_nervaluates_where_both_define_them_alike() -> None:
    notes = tuple(note for note in _notes() if _alike(note))
    assert 5_000 < len(notes) < 9_900  # enough are left, and some had to go
    theirs, counts = _theirs(notes), _ours(notes)
    rows = {(row["mode"], row["level"], row["label"]): row for row in counts.table()}
    for scenario, key in _SCENARIOS.items():
        result, ours = theirs["overall"][scenario], rows[(*key, None)]
        assert ours["hits"] == result.correct + result.partial
        assert ours["golds"] == result.possible and ours["predictions"] == result.actual
        assert ours["misses"] == result.missed + result.incorrect
        assert ours["false_alarms"] == result.spurious + result.incorrect
    partial = theirs["overall"]["partial"]
    assert rows["partial", "phi", None]["exact_hits"] == partial.correct
    for kind in _TYPES:  # its results by type look at that type alone, which is what strict does by itself
        result, ours = theirs["entities"][kind]["strict"], rows["strict", "leaf", kind]
        assert (ours["hits"], ours["golds"], ours["predictions"]) == (result.correct, result.possible, result.actual)


def test_an_optimal_assignment_never_finds_less_than_nervaluate() -> None:
    theirs, counts = _theirs(_notes()), _ours(_notes())
    lost = 0
    for setting, scenario in zip(counts.settings, _SCENARIOS, strict=True):
        result = theirs["overall"][scenario]
        ours = counts.total(setting)["hits"]
        assert ours is not None and ours >= result.correct + result.partial
        lost += ours - result.correct - result.partial
    assert lost > 0  # the corpus holds documents on which a greedy choice loses
