"""Two detectors side by side: who found what against their own details, laws of exchange, what they can emit, rows that
are paired by document; and the effect of each rule of matching by hand."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.notes import detect, notes
from workup.documents.detections import HeldDetections
from workup.documents.document import Span
from workup.documents.mappings import LabelMapping
from workup.errors import InputError
from workup.estimate import Draws
from workup.lenses.paired import compare_scores
from workup.stats.intervals import mcnemar
from workup.study import Study
from workup.tasks.spans.cards import CARDS
from workup.tasks.spans.comparing.alignment import aligned
from workup.tasks.spans.comparing.emitted_types import Emits
from workup.tasks.spans.comparing.joint import document_rows, joint
from workup.tasks.spans.comparing.pairing import paired
from workup.tasks.spans.counting.scoring import SpanScores
from workup.tasks.spans.task import Outputs, SpansTask

Found = dict[str, list[dict[str, Any]]]


def scored(corpus: list[dict[str, Any]], found: Found, *, emits: Any = None, **study: Any) -> SpanScores:
    """The scores of recorded spans under a study."""
    task = SpansTask()
    read = task.read(Study.of({"name": "two", "task": "spans", **study}), corpus)
    spans = {id: [Span(one["start"], one["end"], one["label"]) for one in held] for id, held in found.items()}
    return task.scores(read, Outputs(partial(HeldDetections, spans), emits=emits))


def fates(scores: SpanScores) -> dict[tuple[str, int, int, str], bool]:
    """Every gold that must be masked, and whether it was found, as the details of one system tell it."""
    records = SpansTask().details(scores, Study.of({"name": "two", "task": "spans"}))
    return {
        (one["case"], one["index"], one["start"], one["label"]): one["outcome"] == "hit"
        for one in records
        if one["kind"] == "gold" and one["outcome"] in ("hit", "miss")
    }


@pytest.fixture(scope="module")
def corpus() -> list[dict[str, Any]]:
    return notes(160, patients=45)


@pytest.fixture(scope="module")
def pair(corpus: list[dict[str, Any]]) -> tuple[SpanScores, SpanScores]:
    return scored(corpus, detect(corpus, seed=2)), scored(corpus, detect(corpus, seed=3, miss=0.1))


# Who found what


def test_both_one_or_neither_as_the_details_of_each_tell_it(pair: tuple[SpanScores, SpanScores]) -> None:
    mine, theirs = fates(pair[0]), fates(pair[1])
    assert mine.keys() == theirs.keys()
    expected: Counter[tuple[str, str]] = Counter()
    by_document: Counter[tuple[str, str, str]] = Counter()
    names = {(True, True): "both", (True, False): "only_first", (False, True): "only_second", (False, False): "neither"}
    for gold, hit in mine.items():
        expected[gold[3], names[hit, theirs[gold]]] += 1
        by_document[gold[0], gold[3], names[hit, theirs[gold]]] += 1
    tables = paired(*pair).tables
    for row in tables["types"][1:]:
        for name in names.values():
            assert row[name] == expected[row["label"], name], (row["label"], name)
    found = {(row["case"], row["label"]): row for row in tables["documents"]}
    for (case, label, name), n in by_document.items():
        assert found[case, label][name] == n
    assert sum(row["golds"] for row in found.values()) == len(mine)


def test_sides_add_up_to_the_counts_of_each_report(pair: tuple[SpanScores, SpanScores]) -> None:
    rows = {row["label"]: row for row in paired(*pair).tables["types"]}
    for side, scores in zip(("first", "second"), pair, strict=True):
        counted = [row for row in scores.ledger.table() if (row["mode"], row["level"]) == ("full_mask", "phi")]
        assert {row["label"] for row in counted} == set(rows)
        for row in counted:
            own = rows[row["label"]]
            assert own["both"] + own[f"only_{side}"] == row["hits"]
            assert own["golds"] == row["golds"] == own["both"] + own["only_first"] + own["only_second"] + own["neither"]
            assert own[f"predictions_{side}"] == row["predictions"] - row["neutral"]
            assert own[f"false_alarms_{side}"] == row["false_alarms"]
            assert own["recall"][side] == pytest.approx(row["hits"] / row["golds"])


def test_tests_and_their_adjustment(pair: tuple[SpanScores, SpanScores]) -> None:
    whole, *types = paired(*pair).tables["types"]
    for row in (whole, *types):
        counts = [row[name] for name in ("both", "only_first", "only_second", "neither")]
        assert row["p_mcnemar"] == mcnemar(*counts).p_exact
        assert row["permutation"] == "exact"
        assert 0 < row["patients_differing"] <= row["patients"] <= 45
    assert [row["golds"] for row in types] == sorted((row["golds"] for row in types), reverse=True)
    smallest = min(types, key=lambda row: row["p_permutation"])
    assert smallest["p_permutation_adjusted"] == pytest.approx(min(1.0, len(types) * smallest["p_permutation"]))
    assert whole["p_permutation_adjusted"] is None


def test_the_difference_of_all_types_is_that_of_the_headline(pair: tuple[SpanScores, SpanScores]) -> None:
    """Two ways to one number: columns of documents in the lens, cells of patients and labels here."""
    both = paired(*pair)
    metrics = SpansTask().metrics(pair[0], Study.of({"name": "two", "task": "spans"}))
    rows = compare_scores(both.first, both.second, metrics, Draws(replicates=200), intervals=both.intervals)
    head = {row["metric"]: row for row in rows if row["slice"] == {"mode": "full_mask", "level": "phi"}}
    for name in ("recall", "precision", "f1"):
        for end in ("value", "low", "high", "p"):
            assert head[name][end] == pytest.approx(both.tables["types"][0][name][end], rel=1e-6), (name, end)
    methods = {name: head[name]["method"].split(",")[0] for name in ("recall", "precision", "f1")}
    assert methods == {"recall": "same rows", "precision": "square and add", "f1": "linearised over patients"}


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 10_000), st.floats(0, 0.9), st.integers(1, 12))
def test_the_other_way_round_is_the_same_with_the_sides_changed(
    one: int, other: int, miss: float, patients: int
) -> None:
    corpus = notes(14, seed=one, patients=patients)
    pair = [scored(corpus, detect(corpus, seed=seed, miss=miss)) for seed in (one, other)]
    there, back = paired(*pair).tables["types"], paired(*reversed(pair)).tables["types"]
    assert [row["label"] for row in there] == [row["label"] for row in back]
    for row, turned in zip(there, back, strict=True):
        assert (row["both"], row["only_first"], row["neither"]) == (
            turned["both"],
            turned["only_second"],
            turned["neither"],
        )
        assert (row["p_permutation"], row["p_mcnemar"]) == (turned["p_permutation"], turned["p_mcnemar"])
        assert row["false_alarms_agreed_first"] == turned["false_alarms_agreed_second"]
        for name in ("recall", "precision", "f1"):
            if row[name]["low"] is not None:
                assert row[name]["low"] == pytest.approx(-turned[name]["high"])


def test_a_system_against_itself_differs_nowhere(pair: tuple[SpanScores, SpanScores]) -> None:
    for row in paired(pair[0], pair[0]).tables["types"]:
        assert (row["only_first"], row["only_second"], row["p_permutation"], row["p_mcnemar"]) == (0, 0, 1, 1)
        # No difference seen is no certainty that there is none: as wide on either side.
        assert row["recall"]["value"] == 0 and row["recall"]["p"] == 1
        assert row["recall"]["low"] is None or row["recall"]["low"] == -row["recall"]["high"] < 0
        assert row["false_alarms_first"] == row["false_alarms_agreed_first"] == row["false_alarms_agreed_second"]


def test_false_alarms_meet_where_they_overlap_and_nowhere_else() -> None:
    corpus = [{"id": id, "text": "nothing in here is private at all", "spans": []} for id in "abc"]
    first = {"a": [_span(0, 7), _span(8, 10)], "b": [_span(0, 7)], "c": []}
    second = {"a": [_span(6, 8), _span(10, 12)], "b": [], "c": [_span(0, 7)]}  # 8-10 and 10-12 touch only
    whole = paired(scored(corpus, first), scored(corpus, second)).tables["types"][0]
    assert [whole[f"false_alarms_{side}"] for side in ("first", "second")] == [3, 3]
    assert [whole[f"false_alarms_agreed_{side}"] for side in ("first", "second")] == [1, 1]
    assert (whole["golds"], whole["p_mcnemar"], whole["p_permutation"]) == (0, None, None)
    assert whole["reason"] == "no gold of this type must be masked"


def _span(start: int, end: int, label: str = "date") -> dict[str, Any]:
    return {"start": start, "end": end, "label": label}


def test_types_are_branches_where_branches_are_compared(corpus: list[dict[str, Any]]) -> None:
    primary = {"mode": "iou:0.5", "level": "branch"}
    pair = [scored(corpus, detect(corpus, seed=seed), primary=primary) for seed in (2, 3)]
    tables = paired(*pair).tables
    assert tables["setting"] == {"mode": "iou:0.5", "level": "branch", "policy": "as_annotated"}
    assert {row["label"] for row in tables["types"][1:]} == {"NAME", "DATE", "CONTACT", "ID", "GEO"}


def test_halves_of_a_point_are_compared_as_halves(corpus: list[dict[str, Any]]) -> None:
    pair = [
        scored(corpus, detect(corpus, seed=seed), primary={"mode": "partial"}, modes=["partial"]) for seed in (2, 3)
    ]
    whole = paired(*pair).tables["types"][0]
    for side, scores in zip(("first", "second"), pair, strict=True):
        [row] = [row for row in scores.ledger.table() if row["label"] is None]
        assert whole["recall"][side] == pytest.approx((row["hits"] + row["exact_hits"]) / 2 / row["golds"])
    assert whole["p_permutation"] <= 1


def test_a_large_corpus_lists_only_documents_that_differ(
    pair: tuple[SpanScores, SpanScores], monkeypatch: pytest.MonkeyPatch
) -> None:
    every = list(document_rows(joint(*pair)))
    monkeypatch.setattr("workup.tasks.spans.comparing.joint.EVERY_DOCUMENT", 100)
    both = paired(*pair)
    kept = {row["case"] for row in both.tables["documents"]}
    differing = {
        row["case"]
        for row in every
        if row["only_first"] + row["only_second"] or row["false_alarms_first"] != row["false_alarms_second"]
    }
    assert kept == differing != {row["case"] for row in every}
    assert any("not listed one by one" in note for note in both.notes)


# What they can emit


def test_scopes_count_what_each_can_emit(corpus: list[dict[str, Any]]) -> None:
    first = scored(corpus, detect(corpus, seed=2), emits=("name_patient", "GEO"))
    second = scored(corpus, detect(corpus, seed=3), emits=("date", "city", "mrn"))
    tables = paired(first, second).tables
    by_type = {row["label"]: row for row in tables["types"]}
    scopes = {row["scope"]: row for row in tables["scopes"]}
    assert scopes["first can emit"]["types"] == ["city", "name_patient"]
    assert scopes["both can emit"]["types"] == ["city"]
    assert scopes["both can emit"]["golds"] == by_type["city"]["golds"]
    assert scopes["both can emit"]["recall"] == by_type["city"]["recall"]
    assert scopes["second can emit"]["only_first"] == sum(
        by_type[name]["only_first"] for name in ("city", "date", "mrn")
    )
    assert scopes["all types"]["recall"] == by_type[None]["recall"]
    assert tables["emits"]["first"]["not_reached"] == ["date", "mrn", "phone"]


def test_a_system_that_does_not_say_what_it_can_emit_is_not_guessed(pair: tuple[SpanScores, SpanScores]) -> None:
    scopes = paired(*pair).tables["scopes"]
    assert [row["types"] is None for row in scopes] == [False, True, True, True]
    assert all("does not say" in row["reason"] for row in scopes[1:])


@pytest.mark.parametrize(
    ("mapping", "declared", "gold", "expected"),
    [
        ("presidio", ["LOCATION"], "city", True),  # a coarse label is all that says so
        ("workup", ["city"], "GEO", True),  # and a fine one may meet a coarse gold
        ("workup", ["city"], "zip", False),
        ("presidio", ["US_MBI"], "health_plan_id", True),
        ("workup", ["SHOE_SIZE"], "SHOE_SIZE", True),  # a label that nothing maps is itself
        ("workup", ["SHOE_SIZE"], "date", False),
        ("workup", None, "date", None),
    ],
)
def test_what_a_declaration_reaches(mapping: str, declared: list[str] | None, gold: str, expected: bool | None) -> None:
    assert Emits.of(declared, LabelMapping.load(mapping)).reaches(gold) is expected


# Rows side by side


def test_predictions_of_unknown_documents_get_a_row_on_both_sides(corpus: list[dict[str, Any]]) -> None:
    found = detect(corpus)
    plain, stray = scored(corpus, found), scored(corpus, {**found, "ghost": [_span(0, 4)]})
    for first, second in ((plain, stray), (stray, plain)):
        one, other = aligned(first, second)
        assert len(one) == len(other) == len(corpus) + 1
        assert np.array_equal(one.patient, other.patient)
        assert one.n_patients == 46
        column = "full_mask|phi|as_annotated|predictions"
        assert sorted([one[column][-1], other[column][-1]]) == [0, 1]
        assert np.array_equal(one[column][:-1], other[column][:-1])
        whole = paired(first, second).tables["types"][0]
        assert abs(whole["false_alarms_first"] - whole["false_alarms_second"]) == 1
        assert [row["case"] for row in paired(first, second).tables["documents"]][-1] is None
    assert "1, all false alarms" in paired(plain, stray).notes[0]


def test_rows_of_another_corpus_or_another_yardstick_are_refused(corpus: list[dict[str, Any]]) -> None:
    found = detect(corpus)
    mine = scored(corpus, found)
    with pytest.raises(InputError, match="policies must be the same"):
        aligned(mine, scored(corpus, found, policies=["hipaa_safe_harbor"]))
    with pytest.raises(InputError, match="ignored labels must be the same"):
        aligned(mine, scored(corpus, found, ignore=["date"]))
    with pytest.raises(InputError, match="must be the same"):
        aligned(mine, scored(corpus[:-1], found))


def test_the_order_of_documents_changes_nothing(corpus: list[dict[str, Any]]) -> None:
    found = detect(corpus, seed=2), detect(corpus, seed=3)
    straight = paired(*(scored(corpus, one, emits=("date",)) for one in found)).tables
    mixed = [corpus[i] for i in np.random.default_rng(1).permutation(len(corpus))]
    assert paired(*(scored(mixed, one, emits=("date",)) for one in found)).tables == straight


def test_every_metric_of_spans_has_a_direction_or_is_not_measured_yet() -> None:
    assert CARDS["over_redaction"].better == CARDS["leak_rate_patient"].better == "lower"
    assert CARDS["recall"].better == "higher"
    assert all(card.better != "target" for card in CARDS.values())
    assert {"recall", "precision", "leak_rate_patient"} <= {n for n, card in CARDS.items() if "headline" in card.shown}


# The effect of each rule


def _rules(
    text: str, golds: list[Any], found: list[Any], **study: Any
) -> dict[tuple[str, str, str | None], dict[str, Any]]:
    corpus = [{"id": "a", "text": text, "spans": [_span(*one) for one in golds]}]
    scores = scored(corpus, {"a": [_span(*one) for one in found]}, **study)
    return {(row["mode"], row["level"], row.get("equivalent")): row for row in scores.ledger.rules.table()}


def test_rules_by_hand() -> None:
    """An exact hit, a cut border, two halves that cover together, the wrong label, a miss and a false alarm."""
    rows = _rules(
        "x" * 100,
        [(0, 10, "date"), (20, 30, "date"), (40, 50, "city"), (60, 70, "city"), (80, 90, "mrn")],
        [(0, 10, "date"), (20, 29, "date"), (40, 45, "city"), (45, 50, "city"), (60, 70, "facility"), (92, 95, "mrn")],
        modes=["strict", "iou:0.5", "cover:1", "full_mask", "char"],
        equivalent=["GEO=ORG"],
    )
    assert ("char", "phi", None) not in rows  # units of text are no spans
    strict, iou, cover = (rows[mode, "branch", None] for mode in ("strict", "iou:0.5", "cover:1"))
    assert [strict[name] for name in ("tp", "fn", "fp", "gained", "lost")] == [1, 4, 5, 0, 0]
    # IoU takes the cut border and one of the halves; cover:1 takes both halves together.
    assert [iou[name] for name in ("tp", "fn", "fp", "gained", "lost", "compound")] == [3, 2, 3, 2, 0, None]
    assert [cover[name] for name in ("tp", "gained", "compound", "credited", "fp")] == [2, 1, 1, 4, 2]
    relaxed = rows["strict", "branch", "GEO=ORG"]
    assert [relaxed[name] for name in ("tp", "gained", "lost", "other_label")] == [2, 1, 0, 1]
    assert relaxed["against"] == {"mode": "strict", "level": "branch"}
    assert relaxed["confusions"] == [{"gold": "city", "prediction": "facility", "count": 1}]
    masks = rows["full_mask", "phi", None]
    assert [masks[name] for name in ("tp", "gained", "compound", "other_label")] == [3, 1, 1, 1]
    assert {row["golds"] for row in rows.values()} == {5}
    assert {row["predictions"] for row in rows.values()} == {6}
    assert (iou["recall"], iou["precision"]) == (3 / 5, 3 / 6)
    assert iou["f1"] == pytest.approx(2 * 0.6 * 0.5 / 1.1)


def test_punctuation_that_stays_visible_makes_no_compound_match() -> None:
    rows = _rules("Ann, Lee was here", [(0, 8, "name_patient")], [(0, 3, "date"), (0, 8, "date")])
    assert rows["full_mask", "phi", None]["compound"] == 0
    rows = _rules("Ann, Lee was here", [(0, 8, "name_patient")], [(0, 3, "date"), (5, 8, "date")])
    assert rows["full_mask", "phi", None]["compound"] == 1
    rows = _rules("Ann- was here", [(0, 4, "name_patient")], [(0, 3, "date"), (3, 4, "date")])
    assert rows["full_mask", "phi", None]["compound"] == 0  # the first alone leaves but a hyphen


def test_rows_hold_the_counts_of_the_report_and_equal_denominators(corpus: list[dict[str, Any]]) -> None:
    modes = ["strict", "exact", "iou:0.5", "overlap", "partial", "cover:0.5", "cover:1", "full_mask", "i2b2"]
    found = {**detect(corpus), "ghost": [_span(0, 4)]}
    scores = scored(corpus, found, modes=modes, equivalent=["GEO=NAME"], policies=["as_annotated", "hipaa_safe_harbor"])
    counted = {_place(row): row for row in scores.ledger.table() if row["label"] is None}
    rows = scores.ledger.rules.table()
    assert {_place(row) for row in rows} == set(counted)
    for row in rows:
        own = counted[_place(row)]
        assert [row[k] for k in ("golds", "predictions", "tp", "fn", "fp", "credited", "neutral")] == [
            own[k] for k in ("golds", "predictions", "hits", "misses", "false_alarms", "credited", "neutral")
        ]
        baseline = counted[(row["policy"], row["against"]["mode"], row["against"]["level"], None)]
        assert row["tp"] - baseline["hits"] == row["gained"] - row["lost"]
    for policy in ("as_annotated", "hipaa_safe_harbor"):
        own = [row for row in rows if row["policy"] == policy]
        assert len({(row["golds"], row["predictions"]) for row in own}) == 1


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(key) for key in ("policy", "mode", "level", "equivalent"))


def test_a_detector_that_finds_nothing_has_no_precision() -> None:
    row = _rules("x" * 20, [(0, 5, "date")], [])["strict", "leaf", None]
    assert (row["recall"], row["precision"], row["f1"], row["tp"]) == (0, None, 0, 0)
    row = _rules("x" * 20, [], [(0, 5, "date")])["strict", "leaf", None]
    assert (row["recall"], row["precision"], row["f1"]) == (None, 0, None)
