"""Strict counts against seqeval's, where its tags can say what spans say: runs of whole tokens that never overlap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workup.stats.random import generator
from workup.documents.document import SpanArrays
from workup.tasks.spans.counting.counts import count
from workup.tasks.spans.counting.matchup import Level, Matchup, Setting
from workup.tasks.spans.counting.modes import parse_mode
from workup.documents.policies import MUST

_TYPES = ("A", "B", "C", "D")
_DOCUMENTS, _TOKENS, _WIDTH = 3_000, 30, 5  # every token is four letters and a blank


def _runs(rng: np.random.Generator) -> list[tuple[int, int, str]]:
    """Runs of tokens (first, last, type) that neither overlap nor need a gap between them."""
    found, place = [], 0
    while place < _TOKENS:
        length = int(rng.integers(1, 4))
        if rng.random() < 0.3 and place + length <= _TOKENS:
            found.append((place, place + length, str(rng.choice(_TYPES))))
        place += length
    return found


def _changed(runs: list[tuple[int, int, str]], rng: np.random.Generator) -> list[tuple[int, int, str]]:
    """What a detector makes of them: missed, renamed, cut short, and some of its own."""
    taken = {token for first, last, _ in runs for token in range(first, last)}
    found = []
    for first, last, label in runs:
        draw = rng.random()
        if draw < 0.15:
            continue
        if draw < 0.3:
            label = str(rng.choice(_TYPES))
        elif draw < 0.45 and last - first > 1:
            last -= 1
        found.append((first, last, label))
    own = int(rng.integers(0, _TOKENS))
    if own not in taken:
        found.append((own, own + 1, str(rng.choice(_TYPES))))
    return sorted(found)


def _tags(runs: list[tuple[int, int, str]]) -> list[str]:
    tags = ["O"] * _TOKENS
    for first, last, label in runs:
        tags[first:last] = [f"B-{label}", *[f"I-{label}"] * (last - first - 1)]
    return tags


def _arrays(documents: list[list[tuple[int, int, str]]]) -> SpanArrays:
    rows = [(d, a * _WIDTH, b * _WIDTH - 1, label) for d, runs in enumerate(documents) for a, b, label in runs]
    return SpanArrays.of(rows)


def test_strict_counts_are_seqevals() -> None:
    report: Any = pytest.importorskip("seqeval.metrics", reason="seqeval is not installed").classification_report
    scheme: Any = pytest.importorskip("seqeval.scheme", reason="seqeval is not installed").IOB2
    rng = generator(20261115, "seqeval")
    golds = [_runs(rng) for _ in range(_DOCUMENTS)]
    found = [_changed(runs, rng) for runs in golds]
    theirs = report(
        [_tags(runs) for runs in golds], [_tags(runs) for runs in found], mode="strict", scheme=scheme, output_dict=True
    )
    spans, predictions = _arrays(golds), _arrays(found)
    matchup = Matchup(
        spans,
        predictions,
        _DOCUMENTS,
        {"all": np.full(len(spans), MUST, dtype=np.int8)},
        levels=(Level("leaf", {label: label for label in _TYPES}),),
    )
    setting = Setting(parse_mode("strict"), "leaf", "all")
    ours = {row["label"]: row for row in count(matchup, [setting]).table()}
    for label in _TYPES:
        row = ours[label]
        assert row["golds"] == theirs[label]["support"] > 1_000
        assert row["hits"] / row["golds"] == pytest.approx(theirs[label]["recall"], abs=1e-12)
        assert row["credited"] / row["predictions"] == pytest.approx(theirs[label]["precision"], abs=1e-12)
    assert ours[None]["hits"] / ours[None]["golds"] == pytest.approx(theirs["micro avg"]["recall"], abs=1e-12)
    assert 0.5 < theirs["micro avg"]["recall"] < 0.9
