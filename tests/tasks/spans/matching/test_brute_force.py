"""The kernel against a literal scorer that tries every assignment and counts characters in sets."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import brute_force
from tests.support.brute_force import Scheme
from tests.support.small_corpora import LABELS, POLICY, SCHEME, SPAN_MODES, Note, counted, matchup, notes, setting
from workup.tasks.spans.counting.cells import cells
from workup.tasks.spans.counting.counts import count
from workup.tasks.spans.counting.modes import levels_counted, parse_mode
from workup.tasks.spans.counting.outcomes import outcomes
from workup.tasks.spans.counting.verdicts import OUTCOMES

_LEVELS = ("leaf", "branch", "phi")
_IGNORING = Scheme(SCHEME.leaf, SCHEME.branch, frozenset({"city", "FOO"}))
_CASES = [(mode, level) for mode in SPAN_MODES for level in levels_counted(parse_mode(mode), _LEVELS)]
_SCHEMES = pytest.mark.parametrize("scheme", [SCHEME, _IGNORING], ids=["all labels", "two ignored"])


@_SCHEMES
@given(corpus=st.lists(notes(), min_size=1, max_size=3))
@settings(max_examples=80)
def test_every_span_has_the_outcome_that_the_literal_scorer_gives(corpus: list[Note], scheme: Scheme) -> None:
    found = matchup(corpus, scheme=scheme)
    for mode, level in _CASES:
        seen = outcomes(found, found.settings([mode], levels=[level])[0])
        golds = predictions = 0
        for note in corpus:
            expected = brute_force.score(mode, level, note.text, note.golds, note.found, scheme)
            must = [golds + i for i in expected.gold_places]
            assert [i for i in range(golds, golds + len(note.golds)) if seen.must[i]] == must
            codes = seen.outcome[predictions : predictions + len(note.found)]
            ours = _spans(note, expected.gold_places, seen.hit[must], seen.exact[must], [OUTCOMES[i] for i in codes])
            theirs = _spans(note, expected.gold_places, expected.golds, expected.exact, expected.outcomes)
            assert ours == theirs, (mode, level)
            golds, predictions = golds + len(note.golds), predictions + len(note.found)


def _spans(
    note: Note, places: Sequence[int], hits: Sequence[bool], exact: Sequence[bool], outcome: Sequence[str]
) -> tuple[list[tuple[object, ...]], ...]:
    """Golds and predictions with what became of them. Equal spans may change places, so their order is not compared."""
    golds = [note.golds[i] for i in places]
    of_golds = [(g.start, g.end, g.label, bool(h), bool(e)) for g, h, e in zip(golds, hits, exact, strict=True)]
    return sorted(of_golds), sorted((p.start, p.end, p.label, one) for p, one in zip(note.found, outcome, strict=True))


@_SCHEMES
@given(corpus=st.lists(notes(), min_size=1, max_size=4))
@settings(max_examples=80)
def test_units_of_every_document_are_those_of_sets(corpus: list[Note], scheme: Scheme) -> None:
    counts = counted(corpus, ("char", "token"), scheme=scheme)
    for one in counts.settings:
        per_document = counts.per_document(one)
        for i, note in enumerate(corpus):
            expected = brute_force.unit_numbers(one.mode.name, one.level, note.text, note.golds, note.found, scheme)
            assert {name: per_document[name][i] for name in expected} == expected, (one.mode.name, one.level)


@_SCHEMES
@given(corpus=st.lists(notes(), min_size=1, max_size=4))
@settings(max_examples=60)
def test_leaks_of_every_document_are_those_of_sets(corpus: list[Note], scheme: Scheme) -> None:
    found = matchup(corpus, scheme=scheme)
    leaks = count(found, found.settings(["strict"]), leaks=True).leaks[POLICY]
    for i, note in enumerate(corpus):
        expected = brute_force.leak_numbers(note.text, note.golds, note.found, scheme)
        assert {name: column[i] for name, column in leaks.documents.items()} == expected


@given(corpus=st.lists(notes(), min_size=1, max_size=4))
@settings(max_examples=60)
def test_counts_by_label_are_sums_over_golds_and_predictions_of_the_label(corpus: list[Note]) -> None:
    counts = counted(corpus, SPAN_MODES)
    rows = {(row["mode"], row["level"], row["label"]): row for row in counts.table()}
    for mode, level in _CASES:
        for label in LABELS:
            expected = dict.fromkeys(("golds", "hits", "exact_hits", "predictions", "credited", "neutral"), 0)
            for note in corpus:
                score = brute_force.score(mode, level, note.text, note.golds, note.found, SCHEME)
                name = {i: SCHEME.branch.get(one.label) or one.label for i, one in enumerate(note.golds)}
                mine = [
                    k
                    for k, i in enumerate(score.gold_places)
                    if (name[i] if level == "branch" else note.golds[i].label) == label
                ]
                expected["golds"] += len(mine)
                expected["hits"] += sum(score.golds[k] for k in mine)
                expected["exact_hits"] += sum(score.exact[k] for k in mine)
                for p, outcome in zip(note.found, score.outcomes, strict=True):
                    own = (SCHEME.branch.get(p.label) or p.label) if level == "branch" else p.label
                    if own == label:
                        expected["predictions"] += 1
                        expected["credited"] += outcome == "credited"
                        expected["neutral"] += outcome == "neutral"
            row = rows.get((mode, level, label), dict.fromkeys(expected, 0))
            assert {key: row[key] for key in expected} == expected, (mode, level, label)


@given(corpus=st.lists(notes(strays=False), min_size=1, max_size=3))
@settings(max_examples=60)
def test_units_by_label_are_unions_of_the_label(corpus: list[Note]) -> None:
    counts = counted(corpus, ("char", "token"))
    rows = {(row["mode"], row["level"], row["label"]): row for row in counts.table()}
    for mode in ("char", "token"):
        for label in LABELS:
            parts = [brute_force.label_units(mode, note.text, note.golds, note.found, label) for note in corpus]
            expected = {key: sum(part[key] for part in parts) for key in parts[0]}
            row = rows.get((mode, "phi", label), dict.fromkeys(expected, 0))
            assert {key: row[key] for key in expected} == expected, (mode, label)


@given(corpus=st.lists(notes(), min_size=1, max_size=4))
@settings(max_examples=60)
def test_counts_are_those_of_outcomes(corpus: list[Note]) -> None:
    counts = counted(corpus, SPAN_MODES, scheme=_IGNORING)
    found = matchup(corpus, scheme=_IGNORING)
    for one in counts.settings:
        seen = outcomes(found, one)
        total = counts.total(setting(counts, one.mode.name, one.level))
        assert total["golds"] == seen.must.sum() and total["hits"] == seen.hit.sum()
        for name in ("false_alarm", "credited", "neutral"):
            field = "false_alarms" if name == "false_alarm" else name
            assert total[field] == (seen.outcome == OUTCOMES.index(name)).sum()


@_SCHEMES
@given(corpus=st.lists(notes(), min_size=1, max_size=4))
@settings(max_examples=30)
def test_cells_of_a_document_are_the_rows_of_that_document_alone(corpus: list[Note], scheme: Scheme) -> None:
    found = matchup(corpus, scheme=scheme, unknown=[[brute_force.Found(3, 9, "date")]])
    parts = [matchup([note], scheme=scheme) for note in corpus]
    for one in found.settings(["iou:0.25", "cover:0.8", "char", "token"]):
        by_cell = cells(found, one)
        for i, part in enumerate(parts):
            rows = {row["label"]: row for row in count(part, [one]).table() if row["label"] is not None}
            for label in by_cell.labels:
                counts = by_cell.of_label(label, len(corpus) + 1)
                expected = rows.get(label, dict.fromkeys(counts, 0))
                assert {name: column[i] for name, column in counts.items() if name != "exact_hits"} == {
                    name: expected[name] for name in counts if name != "exact_hits"
                }, (one, label)
        astray = by_cell.of_label("DATE" if one.level == "branch" else "date", len(corpus) + 1)["predictions"]
        assert astray[-1] == (6 if one.mode.name == "char" else 1)
