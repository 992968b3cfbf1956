"""The flat form says what the record says under familiar names; JUnit stays XML whatever a name holds."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workup
from tests.support.places import FIXTURE
from workup.errors import ReportError
from workup.report import Report, Verdict
from workup.reports import flat, junit

# Eight patients by hand at a threshold of 0.5: 3 true positives, 1 false positive, 1 false negative, 3 true negatives.
HAND = {"died": [1, 1, 1, 0, 1, 0, 0, 0], "p": [0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2, 0.1]}


def test_a_table_worked_by_hand() -> None:
    asked = {"thresholds": [0.5], "also": ["accuracy", "f1"]}
    report = workup.score_risk(HAND, outcome="died", risk="p", **asked, replicates=200)  # type: ignore[arg-type]
    found = json.loads(flat.render(report))
    shares = {name: found[name] for name in ("sensitivity", "specificity", "precision", "npv", "f1", "accuracy")}
    assert shares == pytest.approx(dict.fromkeys(shares, 0.75))
    assert found["auc_roc"] == 15 / 16
    assert found["brier_score"] == pytest.approx((0.01 + 0.04 + 0.09 + 0.36 + 0.36 + 0.09 + 0.04 + 0.01) / 8)
    assert (found["n_patients"], found["n_events"], found["threshold"]) == (8, 4, 0.5)
    # Wilson, 3 of 4.
    assert [found["sensitivity_lower"], found["sensitivity_upper"]] == pytest.approx([0.3006, 0.9544], abs=1e-4)
    # Eight patients are too few to resample: a value, but no ends.
    assert (found["brier_score_lower"], found["brier_score_upper"]) == (None, None)


def test_what_was_not_asked_for_is_null_with_a_note() -> None:
    found = json.loads(
        flat.render(workup.score_risk(HAND, outcome="died", risk="p", thresholds=[0.5], also=["f1"], replicates=200))
    )
    assert found["f1"] == 0.75
    assert (found["accuracy"], "also: [accuracy]" in found["accuracy_note"]) == (None, True)
    assert "f1_note" not in found


def test_spiegelhalters_test_and_nagelkerkes_r2_are_held() -> None:
    found = json.loads(flat.render(workup.score_risk(HAND, outcome="died", risk="p", replicates=200)))
    chances = [p if y else 1 - p for y, p in zip(HAND["died"], HAND["p"], strict=True)]
    explained = 1 - math.exp(2 * (math.log(0.5) - sum(map(math.log, chances)) / 8))
    assert found["nagelkerke_r2"] == pytest.approx(explained / (1 - 0.25))
    top = sum((y - p) * (1 - 2 * p) for y, p in zip(HAND["died"], HAND["p"], strict=True))
    assert found["spiegelhalter_z"] == pytest.approx(
        top / math.sqrt(sum((1 - 2 * p) ** 2 * p * (1 - p) for p in HAND["p"]))
    )


def test_every_number_is_the_one_of_the_record() -> None:
    report = Report.read(FIXTURE)
    found = json.loads(flat.render(report))
    names = {"auc_roc": "auroc", "auc_pr": "auprc", "brier_score": "brier"}
    names |= {"calibration_slope": "calibration_slope", "calibration_intercept": "calibration_in_the_large"}
    for name, metric in names.items():
        e = report.estimate(metric)
        assert (found[name], found[f"{name}_lower"], found[f"{name}_upper"]) == (e.value, e.low, e.high)
    ppv = report.estimate("ppv", threshold=0.2)
    assert (found["precision"], found["precision_lower"], found["precision_upper"]) == (ppv.value, ppv.low, ppv.high)
    assert (found["sha256"], found["schema_version"]) == (report.sha256, 1)
    assert all(not isinstance(value, (dict, list)) for value in found.values())


def test_the_joint_intercept_is_null_and_says_why() -> None:
    found = json.loads(flat.render(Report.read(FIXTURE)))
    assert found["calibration_intercept_joint"] is None
    assert "in-the-large" in found["calibration_intercept_joint_note"]


def test_what_is_undefined_is_null_and_never_0() -> None:
    table = {"died": [0] * 40, "p": [0.1, 0.2, 0.3, 0.4] * 10}
    found = json.loads(
        flat.render(workup.score_risk(table, outcome="died", risk="p", thresholds=[0.9], replicates=200))
    )
    for name in ("auc_roc", "auc_pr", "sensitivity", "precision", "calibration_slope", "f1"):
        assert (found[name], found[f"{name}_lower"], found[f"{name}_upper"]) == (None, None, None), name
    assert (found["n_events"], found["specificity"]) == (0, 1.0)


def test_without_a_threshold_its_numbers_are_null() -> None:
    found = json.loads(flat.render(workup.score_risk(HAND, outcome="died", risk="p", replicates=200)))
    assert (found["threshold"], found["sensitivity"], found["accuracy_upper"]) == (None, None, None)
    assert found["auc_roc"] == 15 / 16


def test_the_primary_threshold_is_the_one_shown() -> None:
    report = workup.score_risk(HAND, outcome="died", risk="p", thresholds=[0.5, 0.65], replicates=200)
    chosen = replace(report, primary={"threshold": 0.65})
    assert json.loads(flat.render(report))["specificity"] == 0.75
    assert json.loads(flat.render(chosen))["specificity"] == 1.0


def test_another_task_is_refused_in_words() -> None:
    report = Report.read(FIXTURE)
    with pytest.raises(ReportError, match="the flat form is not known for the task"):
        flat.render(replace(report, study={**report.study, "task": "plan"}))


# JUnit

SEEN = {"value": 0.8, "low": 0.75, "high": 0.85, "n": 400}
VERDICTS = [
    Verdict("auroc.low >= 0.7", "pass", SEEN, "low 0.75 meets >= 0.7"),
    Verdict("auroc.low >= 0.9", "fail", SEEN, "low 0.75 misses >= 0.9"),
    Verdict("auroc.low >= 0.8", "unsure", SEEN, "straddles"),
    Verdict("brier.high <= 0.2", "not_assessed", None, "no such slice in the report"),
]


def test_each_verdict_is_a_test_case() -> None:
    root = ElementTree.fromstring(junit.render(VERDICTS, name="study"))
    suite = root[0]
    assert {key: suite.get(key) for key in ("name", "tests", "failures", "skipped")} == {
        "name": "study",
        "tests": "4",
        "failures": "3",
        "skipped": "0",
    }
    kinds = [[(inner.tag, inner.get("type")) for inner in case] for case in suite]
    assert kinds == [[], [("failure", "fail")], [("failure", "unsure")], [("failure", "not_assessed")]]
    assert [case.get("name") for case in suite] == [verdict.rule for verdict in VERDICTS]
    assert suite[1][0].get("message") == "low 0.75 misses >= 0.9"


def test_where_undecided_gates_are_allowed_they_are_skipped() -> None:
    suite = ElementTree.fromstring(junit.render(VERDICTS, name="study", allow_unsure=True))[0]
    assert [[inner.tag for inner in case] for case in suite] == [[], ["failure"], ["skipped"], ["skipped"]]
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "2")
    assert suite[2][0].get("message") == "unsure: straddles"


def test_there_is_no_time_in_it() -> None:
    text = junit.render(VERDICTS, name="study")
    assert "time" not in text and "hostname" not in text
    assert text == junit.render(VERDICTS, name="study")


@pytest.mark.parametrize(
    ("hostile", "kept"),
    [
        ('"><script>alert(1)</script>', '"><script>alert(1)</script>'),
        ("a\x00b\x1b[31mc\x7f", r"a\x00b\x1b[31mc\x7f"),
        ("]]> & ' <!-- --> <?x?>", "]]> & ' <!-- --> <?x?>"),
        ("\ud800lone\uffff", r"\ud800lone\uffff"),
        ("line\nbreak\ttab", "line\nbreak\ttab"),
        ("&#0;", "&#0;"),
    ],
)
def test_a_hostile_name_stays_a_name(hostile: str, kept: str) -> None:
    text = junit.render([Verdict(hostile, "fail", {"value": hostile}, hostile)], name=hostile)
    [case] = ElementTree.fromstring(text.encode("utf-8"))[0]
    assert (case.get("name"), case.get("classname")) == (kept, kept)
    [failure] = case
    assert failure.get("message") == kept
    assert failure.text == f"value {kept}"


@given(st.text(), st.sampled_from(["pass", "fail", "unsure", "not_assessed"]))
def test_any_text_gives_xml(text: str, outcome: str) -> None:
    drawn = junit.render([Verdict(text, outcome, None, text)], name=text)
    assert len(ElementTree.fromstring(drawn.encode("utf-8"))[0]) == 1
