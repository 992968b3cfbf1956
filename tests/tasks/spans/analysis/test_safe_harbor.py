"""The Safe Harbor matrix by hand: what was tested, with which bound, and what never looks tested."""

from __future__ import annotations

import numpy as np
import pytest

from workup.errors import InputError
from workup.stats import intervals
from workup.tasks.spans.analysis.safe_harbor import TITLES, safe_harbor, share_of
from workup.tasks.spans.labels import LETTERS, SCHEME


def test_an_empty_corpus_tests_nothing() -> None:
    found = safe_harbor({})
    assert [row.letter for row in found.rows] == list(LETTERS) == list(TITLES)
    assert all(row.status == "not tested" and row.reason == "no gold of this letter was seen" for row in found.rows)
    assert all(row.share.recall is None and row.share.miss_upper is None and row.share.golds == 0 for row in found.rows)
    assert found.coarse == ()


def test_every_leaf_with_a_letter_stands_under_it_with_its_condition() -> None:
    under = {leaf.leaf: (row.letter, leaf.condition) for row in safe_harbor({}).rows for leaf in row.leaves}
    assert under == {
        name: (leaf.safe_harbor, leaf.condition) for name, leaf in SCHEME.items() if leaf.safe_harbor is not None
    }
    assert under["zip"][1] and under["facility"][1] and under["city"] == ("B", None)


def test_without_a_miss_the_bound_is_exact_over_patients() -> None:
    for patients, expected in ((1, 0.95), (59, 0.0495), (299, 0.00997), (2995, 0.00099975)):
        share = share_of(np.full(patients, 4.0), np.full(patients, 4.0))
        assert share.miss_upper == pytest.approx(1 - 0.05 ** (1 / patients), rel=1e-9)
        assert share.miss_upper == pytest.approx(expected, rel=2e-3)
        assert (share.golds, share.patients, share.patients_missed, share.recall) == (4 * patients, patients, 0, 1.0)
        assert share.miss_method == "exact over patients"
    # Ten times the golds in the same patients say no more.
    assert share_of(np.full(59, 40.0), np.full(59, 40.0)).miss_upper == share_of(np.ones(59), np.ones(59)).miss_upper


def test_one_gold_in_each_patient_is_a_plain_binomial() -> None:
    hits = np.array([1.0] * 18 + [0.0] * 2)
    share = share_of(np.ones(20), hits)
    assert (share.recall, share.low, share.high) == (0.9, *intervals.wilson(0.9, 20))
    # One-sided Clopper-Pearson of 2 in 20 at 95 %.
    assert share.miss_upper == pytest.approx(0.282619, abs=1e-6)
    assert (share.method, share.miss_method, share.effective_n) == ("Wilson", "exact over patients", 20)


def test_golds_that_are_missed_together_count_as_patients() -> None:
    # 20 patients with two golds each, five of whom are missed altogether: variance 20/19 · 15/40² = 0.0098684, binomial
    # 0.75 · 0.25 / 40 = 0.0046875, a design effect of 2.10526 and 19 golds' worth.
    golds, hits = np.full(20, 2.0), np.array([2.0] * 15 + [0.0] * 5)
    share = share_of(golds, hits)
    assert share.effective_n == pytest.approx(19)
    critical = intervals.t_critical(0.95, 19)
    assert (share.low, share.high) == pytest.approx(intervals.wilson(0.75, 19, critical=critical))
    one_sided = intervals.wilson(0.75, 19, critical=intervals.t_critical(0.90, 19))
    assert share.miss_upper == pytest.approx(1 - one_sided.low)
    assert share.miss_upper > 0.25 and share.patients_missed == 5
    assert share.miss_method == share.method == "Wilson on effective n"


def test_patients_without_such_a_gold_do_not_count() -> None:
    some, padded = np.array([2.0, 3.0] * 8), np.array([2.0, 3.0] * 8 + [0.0] * 50)
    hits = np.array([2.0, 2.0] * 8)
    assert share_of(some, hits) == share_of(padded, np.append(hits, np.zeros(50)))


def test_few_patients_get_no_interval_and_still_a_bound() -> None:
    share = share_of(np.full(5, 2.0), np.array([2.0, 2.0, 2.0, 2.0, 1.0]))
    assert (share.recall, share.low, share.high) == (0.9, None, None)
    assert "5 patients" in share.reason
    assert share.miss_upper == pytest.approx(0.657408, abs=1e-6)  # one patient in five, one-sided
    assert share.miss_method == "exact over patients with a miss"
    clean = share_of(np.full(5, 2.0), np.full(5, 2.0))
    assert clean.low is None and clean.miss_upper == pytest.approx(1 - 0.05**0.2)


def test_all_missed_is_a_bound_of_one() -> None:
    for golds in (np.ones(12), np.full(12, 3.0), np.full(3, 3.0)):
        share = share_of(golds, np.zeros(len(golds)))
        assert (share.recall, share.miss_upper) == (0.0, 1.0)


def test_letters_add_their_leaves_patient_by_patient() -> None:
    golds = {"date": ([1, 0, 2], [1, 0, 1]), "date_birth": ([1, 1, 0], [1, 1, 0]), "age_over_89": ([0, 0, 0], [0] * 3)}
    row = safe_harbor(golds).rows[2]
    assert (row.letter, row.status) == ("C", "tested")
    assert (row.share.golds, row.share.hits, row.share.patients, row.share.patients_missed) == (5, 4, 3, 1)
    leaves = {leaf.leaf: leaf.share for leaf in row.leaves}
    assert (leaves["date"].golds, leaves["date_birth"].golds, leaves["age_over_89"].recall) == (3, 2, None)


def test_a_miss_under_a_condition_is_never_left_out_of_its_letter() -> None:
    row = safe_harbor({"city": ([1] * 30, [1] * 30), "zip": ([1] * 30, [0] * 30)}).rows[1]
    assert (row.status, row.share.golds, row.share.hits, row.share.patients_missed) == ("tested", 60, 30, 30)


def test_golds_under_a_condition_alone_test_no_letter() -> None:
    row = safe_harbor({"zip": ([1] * 30, [1] * 30), "city": ([0] * 30, [0] * 30)}).rows[1]
    assert row.status == "not tested"
    assert row.reason == "only golds whose letter depends on a condition were seen (zip)"
    assert row.share.golds == 30  # shown all the same


def test_leaves_without_a_letter_and_clinical_terms_are_no_part_of_it() -> None:
    found = safe_harbor({"name_provider": ([1] * 9, [0] * 9), "state": ([1] * 9, [0] * 9), "drug": ([1] * 9, [0] * 9)})
    assert all(row.status == "not tested" and row.share.golds == 0 for row in found.rows)
    assert found.coarse == ()


def test_coarse_labels_are_shown_apart_and_test_nothing() -> None:
    found = safe_harbor({"NAME": ([2] * 40, [1] * 40), "shoe": ([1] * 40, [1] * 40), "GEO": ([0] * 40, [0] * 40)})
    coarse = {row.label: row for row in found.coarse}
    assert set(coarse) == {"NAME", "shoe"}
    assert coarse["NAME"].letters == ("A", "R") and coarse["NAME"].share.recall == 0.5
    assert coarse["shoe"].letters == LETTERS
    rows = {row.letter: row for row in found.rows}
    assert all(row.status == "not tested" for row in found.rows)
    assert "120 golds have a label too coarse" in rows["A"].reason
    assert "40 golds have a label too coarse" in rows["D"].reason


@pytest.mark.parametrize(
    "counts",
    [
        {"ssn": ([1, 1], [1])},
        {"ssn": ([1, 1], [1, 1]), "mrn": ([1], [1])},
        {"ssn": ([1, 1], [1, 2])},
        {"ssn": ([1, 1], [1, -1])},
        {"ssn": ([1, 1], [1, float("nan")])},
        {"ssn": ([[1, 1]], [[1, 1]])},
    ],
)
def test_counts_that_cannot_be_are_refused(counts: dict) -> None:
    with pytest.raises(InputError, match=r"'(ssn|mrn)'"):
        safe_harbor(counts)
