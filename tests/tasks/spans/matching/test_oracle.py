"""The kernel against reference counts: ten corpora, every mode and level, per corpus, per label and per document."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.support.oracles import read
from workup.documents.document import SpanArrays
from workup.documents.policies import MUST
from workup.tasks.spans.counting.counts import Counts, count
from workup.tasks.spans.counting.matchup import Matchup, Setting
from workup.tasks.spans.counting.modes import parse_mode

_ORACLE = read("spans")
_CORPORA = {corpus["name"]: corpus for corpus in _ORACLE["corpora"]}
_BRANCH = _ORACLE["meta"]["branch"]
_CREDIT = {"leaf": "same_leaf", "branch": "same_branch", "phi": "label_blind"}
_POLICY = "as annotated"


@cache
def _counts(name: str) -> Counts:
    corpus = _CORPORA[name]
    documents = {note["id"]: i for i, note in enumerate(corpus["gold"])}
    golds = SpanArrays.of(_spans(corpus["gold"], documents))
    found = SpanArrays.of(_spans(corpus["predictions"], documents))
    assert {*golds.labels, *found.labels} <= set(_BRANCH)
    spoken = {note["id"] for note in corpus["predictions"]}
    matchup = Matchup(
        golds,
        found,
        len(documents),
        {_POLICY: np.full(len(golds), MUST, dtype=np.int8)},
        texts=[note["text"] for note in corpus["gold"]],
        answered=np.array([key in spoken for key in documents]),
    )
    settings = [
        Setting(parse_mode(mode), level, _POLICY)
        for mode, levels in corpus["expected"]["modes"].items()
        for level in levels
    ]
    return count(matchup, settings, leaks=True)


def _spans(notes: list[dict[str, Any]], documents: dict[str, int]) -> list[tuple[int, int, int, str]]:
    return [(documents[note["id"]], one["start"], one["end"], one["label"]) for note in notes for one in note["spans"]]


def _compare(expected: dict[str, Any], found: dict[str, Any], where: object) -> int:
    """Every number of the reference that is not null; how many there were."""
    compared = 0
    for field, value in expected.items():
        if value is None:
            continue
        if field == "score":
            ours = found["exact_hits"] + 0.5 * (found["hits"] - found["exact_hits"])
        else:
            ours = found[field]
        assert ours == value, (where, field)
        compared += 1
    return compared


@pytest.mark.parametrize("name", _CORPORA)
def test_counts_of_a_corpus(name: str) -> None:
    expected, counts = _CORPORA[name]["expected"], _counts(name)
    compared = 0
    for setting in counts.settings:
        total = counts.total(setting)
        compared += _compare(expected["modes"][setting.mode.name][setting.level] or {}, total, setting)
        if setting.mode.kind == "cover":
            compared += _compare(expected["two_sided_credit"][_CREDIT[setting.level]], total, setting)
    assert compared > 100


@pytest.mark.parametrize("name", _CORPORA)
def test_counts_of_each_label(name: str) -> None:
    rows = {(row["mode"], row["level"], row["label"]): row for row in _counts(name).table()}
    for mode, labels in _CORPORA[name]["expected"]["by_label"].items():
        level = "phi" if parse_mode(mode).label_blind else "leaf"
        for label, expected in labels.items():
            assert _compare(expected, rows[mode, level, label], (mode, label)) == 2


@pytest.mark.parametrize("name", _CORPORA)
def test_counts_of_each_document(name: str) -> None:
    corpus, counts = _CORPORA[name], _counts(name)
    places = {note["id"]: i for i, note in enumerate(corpus["gold"])}
    for setting in counts.settings:
        per_document = counts.per_document(setting)
        for key, expected in corpus["expected_per_document"].items():
            found = {field: int(column[places[key]]) for field, column in per_document.items()}
            _compare(expected["modes"][setting.mode.name][setting.level] or {}, found, (key, setting))
            if setting.mode.kind == "cover":
                _compare(expected["two_sided_credit"][_CREDIT[setting.level]], found, (key, setting))


@pytest.mark.parametrize("name", _CORPORA)
def test_leaks(name: str) -> None:
    corpus = _CORPORA[name]
    leaks = _counts(name).leaks[_POLICY]
    assert _compare(corpus["expected"]["leaks"], leaks.totals(), name) >= 6
    for i, note in enumerate(corpus["gold"]):
        found = {field: int(column[i]) for field, column in leaks.documents.items()} | {"documents": 1}
        _compare(corpus["expected_per_document"][note["id"]]["leaks"], found, note["id"])
