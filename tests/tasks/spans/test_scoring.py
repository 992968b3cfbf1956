"""The scorer from documents to the report: counts against the oracle, laws of order and addition, and what is said."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.notes import detect, notes
from tests.support.oracles import read
from workup import score_spans
from workup.documents.batch import Batch
from workup.documents.detections import Found, HeldDetections, StreamedDetections
from workup.documents.document import Document, Span
from workup.errors import InputError, StudyError
from workup.report import Report
from workup.tasks.spans.counting import accumulator as ledgers
from workup.tasks.spans.counting.accumulator import Ledger
from workup.tasks.spans.counting.counting_rules import Yardstick
from workup.tasks.spans.counting.document_rows import Rows
from workup.tasks.spans.tables import patients_to_claim

_ORACLE = {corpus["name"]: corpus for corpus in read("spans")["corpora"]}
_MODES = ("strict", "exact", "iou:0.5", "overlap", "partial", "cover:1", "full_mask", "token", "char", "i2b2")


def _counts(report: Report) -> dict[tuple[Any, ...], dict[str, Any]]:
    table = report.results["internal"].tables["counts"]
    return {(row["mode"], row["level"], row["policy"], row["label"]): row for row in table}


def _plain(report: Report) -> dict[str, Any]:
    record = report.as_dict()
    return {key: value for key, value in record.items() if key not in ("sha256",)}


# ---- the oracle through the whole program ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", _ORACLE)
def test_the_report_holds_the_counts_of_the_oracle(name: str) -> None:
    corpus = _ORACLE[name]
    expected = corpus["expected"]["modes"]
    found = {one["id"]: one["spans"] for one in corpus["predictions"]}
    table = _counts(score_spans(corpus["gold"], found, modes=list(expected), replicates=200))
    compared = 0
    for mode, levels in expected.items():
        for level, numbers in levels.items():
            for field, value in (numbers or {}).items():
                if value is not None and field != "score":
                    assert table[mode, level, "as_annotated", None][field] == value, (mode, level, field)
                    compared += 1
    assert compared > 100


def test_estimates_are_ratios_of_the_counts_by_label_too() -> None:
    corpus = notes(120, patients=40)
    report = score_spans(corpus, detect(corpus), modes=_MODES, replicates=200)
    table, seen = _counts(report), 0
    for one in report.estimates(lens="internal"):
        if one.metric in ("recall", "precision") and one.value is not None and "mode" in one.slice:
            at = one.slice
            row = table[at["mode"], at["level"], "as_annotated", at.get("label")]
            top, bottom = row["hits"], row["golds"]
            if at["mode"] == "partial":
                top = (row["hits"] + row["exact_hits"]) / 2
            if one.metric == "precision":
                top = top if at["mode"] == "partial" else row["credited"]
                bottom = row["predictions"] - row["neutral"]
            assert one.value == pytest.approx(top / bottom), at
            assert (one.numerator, one.denominator) == (top, bottom)
            seen += 1
    assert seen > 200


# ---- laws ------------------------------------------------------------------------------------------------------------


def test_the_order_of_documents_and_predictions_changes_no_byte() -> None:
    corpus = notes(80, patients=30)
    found = detect(corpus)
    plain = score_spans(corpus, found, by=["origin"], replicates=200)
    order = np.random.default_rng(5).permutation(len(corpus))
    mixed = [corpus[i] for i in order]
    turned = {key: found[key][::-1] for key in reversed(list(found))}
    again = score_spans(mixed, turned, by=["origin"], replicates=200)
    assert _plain(plain) == _plain(again)


def test_counts_add_over_corpora() -> None:
    first, second = notes(50, seed=1), [{**note, "id": f"x{note['id']}"} for note in notes(50, seed=9)]
    parts = [_counts(score_spans(one, detect(one), modes=_MODES, replicates=200)) for one in (first, second)]
    both = first + second
    whole = _counts(score_spans(both, {**detect(first), **detect(second)}, modes=_MODES, replicates=200))
    for key, row in whole.items():
        for field in ("golds", "hits", "predictions", "credited", "neutral", "misses", "false_alarms"):
            assert row[field] == sum(part.get(key, {}).get(field, 0) for part in parts), (key, field)


def test_files_and_memory_give_one_report(tmp_path: Path) -> None:
    corpus = notes(60, patients=20)
    found = detect(corpus)
    gold, pred = tmp_path / "gold.jsonl", tmp_path / "pred.jsonl"
    gold.write_text("".join(json.dumps(note) + "\n" for note in corpus))
    order = sorted(found, reverse=True)
    pred.write_text("".join(json.dumps({"id": key, "spans": found[key]}) + "\n" for key in order))
    held, streamed = score_spans(corpus, found, replicates=200), score_spans(gold, pred, replicates=200)
    assert held.corpus["sha256"] == streamed.corpus["sha256"]
    assert held.as_dict()["results"] == streamed.as_dict()["results"]


def test_many_rows_are_folded_by_design_without_changing_a_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = notes(90, patients=9)
    found = detect(corpus)
    plain = score_spans(corpus, found, replicates=200)
    monkeypatch.setattr(ledgers, "Rows", lambda: Rows(many=5))
    monkeypatch.setattr("workup.documents.batch.SIZE", 20)
    folded = score_spans(corpus, found, replicates=200)
    assert any("added up" in note for note in folded.results["internal"].notes)
    one, other = map(_counts, (plain, folded))
    assert one == other
    for before, after in zip(plain.estimates(lens="internal"), folded.estimates(lens="internal"), strict=True):
        if before.metric not in ("information_precision",):
            assert (before.metric, before.slice, before.value) == (after.metric, after.slice, after.value)
            if before.metric != "leak_rate_document":
                assert (before.low, before.high) == pytest.approx((after.low, after.high), nan_ok=True)


def test_a_cell_never_reaches_into_another_document() -> None:
    gold = [{"id": "a", "text": "Ann", "spans": [{"start": 0, "end": 3, "label": "name_patient"}]}]
    gold += [{"id": "b", "text": "Ann", "spans": []}]
    found = {"a": [], "b": [{"start": 0, "end": 3, "label": "name_patient"}]}
    row = _counts(score_spans(gold, found, replicates=200))["iou:0.5", "phi", "as_annotated", None]
    assert (row["hits"], row["misses"], row["false_alarms"]) == (0, 1, 1)


# ---- what is missing, unknown or outside -----------------------------------------------------------------------------


def test_a_document_without_predictions_is_missed_and_said() -> None:
    corpus = notes(30)
    found = detect(corpus, miss=0.0)
    silent = sorted(found)[::3]
    for key in silent:
        del found[key]
    report = score_spans(corpus, found, replicates=200)
    golds = {note["id"]: len(note["spans"]) for note in corpus}
    row = _counts(report)["full_mask", "phi", "as_annotated", None]
    assert row["golds"] == sum(golds.values())
    assert row["misses"] >= sum(golds[key] for key in silent)
    assert any(f"no answer on {len(silent)} of 30 documents" in note for note in report.results["internal"].notes)
    negative = report.estimate("specificity_negative_document")
    empty = [key for key, n in golds.items() if n == 0]
    assert negative.denominator == len(empty)
    assert negative.numerator <= len([key for key in empty if key not in silent])


def test_predictions_of_unknown_documents_and_outside_the_text_are_false_alarms() -> None:
    gold = [{"id": "a", "text": "Seen by Ann.", "spans": [{"start": 8, "end": 11, "label": "name_patient"}]}]
    found = {
        "a": [{"start": 8, "end": 11, "label": "name_patient"}, {"start": 90, "end": 99, "label": "date"}],
        "zz": [{"start": 0, "end": 4, "label": "date"}, {"start": 5, "end": 9, "label": "city"}],
    }
    report = score_spans(gold, found, modes=_MODES, replicates=200)
    for mode in _MODES:
        row = _counts(report)[mode, "phi", "as_annotated", None]
        assert row["hits"] == row["golds"]
        assert row["predictions"] == row["credited"] + row["neutral"] + row["false_alarms"]
    row = _counts(report)["strict", "leaf", "as_annotated", None]
    assert (row["predictions"], row["credited"], row["false_alarms"]) == (4, 1, 3)
    said = " ".join(report.results["internal"].notes)
    assert "2 predictions are of 1 documents that the corpus does not hold" in said
    assert "1 predictions lie outside their text" in said


def test_unmapped_labels_are_listed_and_no_gate_rests_on_them() -> None:
    corpus = [
        {"id": str(i), "text": "Shoe 44", "spans": [{"start": 5, "end": 7, "label": "SHOE_SIZE"}]} for i in range(40)
    ]
    found = {str(i): [{"start": 5, "end": 7, "label": "SHOE_SIZE"}] for i in range(40)}
    rules = ["recall{mode=strict,level=leaf}.low >= 0", "recall.low >= 0.5"]
    report = score_spans(corpus, found, gates=rules, replicates=200)
    assert [verdict.outcome for verdict in report.verdicts] == ["not_assessed", "pass"]
    with pytest.raises(StudyError, match="no policy 'x'"):
        score_spans(corpus, found, gates=["recall{policy=x}.low >= 0"], replicates=200)
    assert "SHOE_SIZE (40)" in " ".join(report.results["internal"].notes)
    harbor = score_spans(corpus, found, gates=["recall.low >= 0"], policies=["hipaa_safe_harbor"], replicates=200)
    assert [verdict.outcome for verdict in harbor.verdicts] == ["not_assessed"]


def test_coarse_golds_are_not_assessed_at_leaf() -> None:
    corpus = [{"id": str(i), "text": "Ann", "spans": [{"start": 0, "end": 3, "label": "PERSON"}]} for i in range(30)]
    found = {str(i): [{"start": 0, "end": 3, "label": "PERSON"}] for i in range(30)}
    report = score_spans(corpus, found, labels="tab", replicates=200)
    leaf, branch = (report.estimate("recall", mode="strict", level=level) for level in ("leaf", "branch"))
    assert leaf.status == "insufficient" and "coarse" in (leaf.reason or "")
    assert branch.value == 1.0 and branch.status == "ok"


# ---- policies, levels, equivalences, annotators ----------------------------------------------------------------------


def test_policies_are_scored_in_one_pass_each_with_its_own_denominators() -> None:
    text = "Dr. Ann Lee, Boston, 2031"
    spans = [(4, 11, "name_provider"), (13, 19, "city"), (21, 25, "year_only")]
    gold = [{"id": "a", "text": text, "spans": [{"start": s, "end": e, "label": x} for s, e, x in spans]}]
    found = {"a": [{"start": 4, "end": 11, "label": "name_provider"}]}
    policies = ["as_annotated", "hipaa_safe_harbor", "hipaa_safe_harbor+mask_years"]
    table = _counts(score_spans(gold, found, policies=policies, replicates=200))
    rows = {policy: table["strict", "leaf", policy, None] for policy in policies}
    assert [rows[p]["golds"] for p in policies] == [3, 1, 2]
    assert [(rows[p]["credited"], rows[p]["neutral"]) for p in policies] == [(1, 0), (0, 1), (0, 1)]


def test_a_policy_without_titles_has_golds_of_its_own() -> None:
    gold = [{"id": "a", "text": "Dr. Ann Lee", "spans": [{"start": 0, "end": 11, "label": "name_patient"}]}]
    found = {"a": [{"start": 4, "end": 11, "label": "name_patient"}]}
    policies = ["as_annotated", "as_annotated+without_titles"]
    table = _counts(score_spans(gold, found, policies=policies, replicates=200))
    assert [table["strict", "leaf", policy, None]["hits"] for policy in policies] == [0, 1]


def test_an_equivalence_is_a_column_beside_with_equal_denominators() -> None:
    gold = [
        {
            "id": "a",
            "text": "Mercy Rome",
            "spans": [{"start": 0, "end": 5, "label": "facility"}, {"start": 6, "end": 10, "label": "city"}],
        }
    ]
    found = {"a": [{"start": 0, "end": 5, "label": "city"}, {"start": 6, "end": 10, "label": "city"}]}
    report = score_spans(gold, found, equivalent=["ORG=GEO"], modes=["strict"], replicates=200)
    plain = report.estimate("recall", mode="strict", level="branch")
    equal = report.estimate("recall", mode="strict", level="branch", equivalent="ORG=GEO")
    assert (plain.value, equal.value) == (0.5, 1.0)
    assert plain.denominator == equal.denominator == 2


def test_ignored_labels_leave_both_sides() -> None:
    gold = [
        {
            "id": "a",
            "text": "Ann is 44 now",
            "spans": [{"start": 0, "end": 3, "label": "name_patient"}, {"start": 7, "end": 9, "label": "age_under_90"}],
        }
    ]
    found = {"a": [{"start": 0, "end": 3, "label": "name_patient"}, {"start": 7, "end": 9, "label": "age_under_90"}]}
    row = _counts(score_spans(gold, found, ignore=["AGE"], replicates=200))["strict", "leaf", "as_annotated", None]
    assert (row["golds"], row["hits"], row["predictions"], row["false_alarms"]) == (1, 1, 1, 0)
    report = score_spans(gold, found, ignore=["AEG"], replicates=200)
    assert "Labels to ignore that do not occur: AEG." in report.results["internal"].notes


@pytest.mark.parametrize(
    ("annotators", "hits", "golds"),
    [("each", 60, 90), ("union", 30, 60), ("intersection", 30, 30), ("majority", 30, 30)],
)
def test_annotators_hand_worked(annotators: str, hits: int, golds: int) -> None:
    name, city = {"start": 8, "end": 12, "label": "name_provider"}, {"start": 16, "end": 20, "label": "city"}
    layers = {"ann": [name, city], "bob": [name]}
    corpus = [{"id": str(i), "text": "Seen by Rose in Rome on 5 May.", "layers": layers} for i in range(30)]
    report = score_spans(corpus, {str(i): [name] for i in range(30)}, annotators=annotators, replicates=200)
    recall = report.estimate("recall", mode="strict", level="leaf")
    assert (recall.numerator, recall.denominator, recall.n_patients) == (hits, golds, 30)
    rows = report.results["internal"].tables["agreement"]
    overall = {
        row["measure"]: row for row in rows if row["level"] == "phi" and row["label"] is None and not row["pair"]
    }
    assert overall["f1"]["value"] == pytest.approx(2 / 3)
    assert overall["kappa"]["value"] == pytest.approx((0.8666666667 - 0.6711111111) / (1 - 0.6711111111))


# ---- leaks and entities ----------------------------------------------------------------------------------------------


def test_leak_rates_by_document_and_patient_and_the_bound_without_a_leak() -> None:
    corpus = [
        {
            "id": f"{i}",
            "text": "Ann",
            "patient": f"p{i // 2}",
            "spans": [{"start": 0, "end": 3, "label": "name_patient"}],
        }
        for i in range(40)
    ]
    whole = {f"{i}": [{"start": 0, "end": 3, "label": "name_patient"}] for i in range(40)}
    clean = score_spans(corpus, whole, replicates=200)
    one = clean.estimate("leak_rate_patient")
    assert one.value == 0 and one.high == pytest.approx(1 - 0.05 ** (1 / 20))
    assert "one-sided" in one.method
    # Documents repeat within patients: the bound of none is judged as that of one, and lies below it.
    one = clean.estimate("leak_rate_document")
    assert one.value == 0 and one.high == pytest.approx(1 - 0.025 ** ((1 + 1 / 3) / 40))
    single = score_spans(corpus, {**whole, "0": []}, replicates=200).estimate("leak_rate_document")
    assert single.high is not None and single.high >= one.high
    leaky = score_spans(corpus, {**whole, "0": [], "5": []}, replicates=200)
    assert (leaky.estimate("leak_rate_document").numerator, leaky.estimate("leak_rate_document").denominator) == (2, 40)
    assert (leaky.estimate("leak_rate_patient").numerator, leaky.estimate("leak_rate_patient").denominator) == (2, 20)
    claims = clean.results["internal"].tables["leak_claims"]
    assert [(c["needed"], c["still_needed"]) for c in claims] == [(59, 39), (299, 279), (2995, 2975)]
    assert leaky.results["internal"].tables["leak_claims"][1]["still_needed"] is None


def test_leak_rate_patient_is_undefined_where_no_patient_is_named() -> None:
    corpus = notes(40)
    one = score_spans(corpus, detect(corpus), replicates=200).estimate("leak_rate_patient")
    assert one.value is None and "names no patients" in (one.reason or "")


def test_patients_to_claim() -> None:
    assert [patients_to_claim(rate) for rate in (0.01, 0.001)] == [299, 2995]


def test_entity_recall_wants_every_mention_and_splits_by_identifier() -> None:
    text = "Ann Lee and ANN LEE; Lee; Rome"
    spans = [
        {"start": 0, "end": 7, "label": "name_patient", "identifier": "direct"},
        {"start": 12, "end": 19, "label": "name_patient"},
        {"start": 21, "end": 24, "label": "name_patient", "entity": "e9", "identifier": "quasi"},
        {"start": 26, "end": 30, "label": "city", "identifier": "quasi"},
    ]
    gold = [{"id": str(i), "text": text, "spans": spans} for i in range(12)]
    found = {
        str(i): [{"start": 0, "end": 7, "label": "name_patient"}, {"start": 21, "end": 30, "label": "city"}]
        for i in range(12)
    }
    report = score_spans(gold, found, replicates=200)
    every = report.estimate("entity_recall")
    direct, quasi = (report.estimate("entity_recall", identifier=kind) for kind in ("direct", "quasi"))
    assert [(e.numerator, e.denominator) for e in (every, direct, quasi)] == [(24, 36), (0, 12), (24, 24)]


def test_information_precision_weighs_rare_words_more() -> None:
    # Among 40 words "the" is frequent and each name rare: a mask on a name is worth more than one on "the".
    gold = [
        {
            "id": str(i),
            "text": f"the the the name{i}",
            "spans": [{"start": 12, "end": 12 + len(f"name{i}"), "label": "name_patient"}],
        }
        for i in range(10)
    ]
    found = {
        str(i): [{"start": 0, "end": 3, "label": "date"}, {"start": 12, "end": 16, "label": "date"}] for i in range(10)
    }
    report = score_spans(gold, found, replicates=200)
    rare, common = -np.log(1 / 40), -np.log(30 / 40)
    assert report.estimate("information_precision").value == pytest.approx(rare / (rare + common))


# ---- pieces ----------------------------------------------------------------------------------------------------------


def test_streamed_predictions_wait_for_their_document() -> None:
    spans = {key: [Span(0, 1, key)] for key in "abcd"}
    spans["zz"] = []
    streamed = StreamedDetections([(key, spans[key]) for key in ("c", "a", "zz", "b")])
    assert streamed.of(["a", "a", "b"]).labels == ["a", "a", "b"]
    assert streamed.of(["c", "d"]).answered == [True, False]
    assert streamed.unknown().counts == [0]


def test_held_predictions_can_be_asked_twice() -> None:
    held = HeldDetections({"a": [Span(0, 1, "x")], "b": None})
    for _ in range(2):
        assert held.of(["a", "b", "c"]).answered == [True, False, False]
    assert held.unknown().counts == []


def test_the_ledger_keeps_no_text() -> None:
    stick = Yardstick.of()
    kept = Ledger(stick)
    found = Found.of([[Span(0, 4, "date")]])
    kept.add(Batch.of([Document("a", "ZZZCANARY is here", (Span(0, 9, "name_patient"),))]), found)
    held = repr({key: value for key, value in vars(kept).items() if key != "information"})
    assert "ZZZCANARY" not in held and Counter(kept.gold_labels) == {"name_patient": 1}


def test_no_documents_are_refused_and_predictions_may_be_a_list() -> None:
    with pytest.raises(InputError, match="at least one document"):
        score_spans([], {})
    corpus = notes(30)
    found = detect(corpus)
    listed = [{"id": key, "spans": spans} for key, spans in found.items()]
    assert score_spans(corpus, listed).as_dict()["results"] == score_spans(corpus, found).as_dict()["results"]


def test_units_that_stand_alone_need_no_clusters() -> None:
    """Six documents without identifiers, of six patients, are six independent shares."""
    corpus = [{"id": str(i), "text": "the patient was seen", "spans": []} for i in range(6)]
    one = score_spans(corpus, {str(i): [] for i in range(6)}).estimate("specificity_negative_document")
    assert one.status == "ok" and one.method == "Wilson" and one.low == pytest.approx(0.6097, abs=1e-3)


def test_f_is_no_surer_than_the_recall_it_rests_on() -> None:
    """Every patient alike: clusters show no variance at all, and still 40 golds are only 40 golds."""
    spans = [{"start": 0, "end": 3, "label": "name_patient"}, {"start": 4, "end": 8, "label": "city"}]
    corpus = [{"id": str(i), "text": "Ann Rome", "spans": spans} for i in range(20)]
    report = score_spans(corpus, {str(i): spans[:1] for i in range(20)}, modes=["strict"])
    recall = report.estimate("recall", mode="strict", level="leaf")
    f1 = report.estimate("f1", mode="strict", level="leaf")
    assert recall.low is not None and f1.low is not None and f1.high is not None and recall.high is not None
    slope = 2 / (1 + recall.value) ** 2  # of F1 over recall where precision is 1
    assert f1.high - f1.low >= 0.9 * slope * (recall.high - recall.low)
    severe = report.estimate("severity_recall")
    assert severe.high - severe.low > 0.2


def test_ignored_golds_weigh_nothing_in_severity() -> None:
    text = "Ann Rome 123-45-6789"
    spans = [{"start": 0, "end": 3, "label": "name_patient"}, {"start": 9, "end": 20, "label": "ssn"}]
    corpus = [{"id": str(i), "text": text, "spans": spans} for i in range(12)]
    found = {str(i): spans[:1] for i in range(12)}
    assert score_spans(corpus, found, modes=["strict"], ignore=["ssn"]).estimate("severity_recall").value == 1.0
    assert score_spans(corpus, found, modes=["strict"]).estimate("severity_recall").value < 1.0
