"""The Safe Harbor matrix by hand: what was tested, with which bound, and what never looks tested."""

from __future__ import annotations

import numpy as np
import pytest

from workup.errors import InputError
from workup.stats import intervals
from workup.tasks.spans.errors.safe_harbor import TITLES, safe_harbor, share_of
from workup.documents.labels import LETTERS, SCHEME


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


def test_without_a_miss_the_bound_is_what_so_many_patients_can_show() -> None:
    for patients, expected in ((59, 0.0251), (299, 0.00500), (2995, 0.000500)):
        share = share_of(np.full(patients, 4.0), np.full(patients, 4.0))
        assert share.miss_upper == pytest.approx(1 - 0.05 ** ((1 + 3 / 3) / (4 * patients)), rel=1e-9)
        assert share.miss_upper == pytest.approx(expected, rel=5e-3)
        assert (share.golds, share.patients, share.patients_missed, share.recall) == (4 * patients, patients, 0, 1.0)
        assert share.miss_method == "exact on effective rows, monotone"
    # However many golds each of them has, no more than three of a patient count.
    many = share_of(np.full(59, 4000.0), np.full(59, 4000.0)).miss_upper
    assert many == pytest.approx(1 - 0.05 ** (1 / (3 * 59)), rel=1e-3)
    # A miss turned into a hit never raises the bound.
    missed = share_of(np.full(59, 4.0), np.array([3.0] + [4.0] * 58)).miss_upper
    assert missed is not None and missed >= 0.0251


def test_golds_of_one_patient_have_a_bound_and_no_interval() -> None:
    share = share_of(np.full(1, 4.0), np.full(1, 4.0))
    assert (share.low, share.high, share.miss_method) == (None, None, "exact over patients")
    assert share.miss_upper == pytest.approx(0.95)
    assert "one patient" in share.reason


def test_one_gold_in_each_patient_is_a_plain_binomial() -> None:
    hits = np.array([1.0] * 18 + [0.0] * 2)
    share = share_of(np.ones(20), hits)
    assert (share.recall, share.low, share.high) == (0.9, *intervals.wilson(0.9, 20))
    # One-sided Clopper-Pearson of 2 in 20 at 95 %.
    assert share.miss_upper == pytest.approx(0.282619, abs=1e-6)
    assert (share.method, share.miss_method, share.effective_n) == ("Wilson", "exact over patients", 20)


def test_golds_that_are_missed_together_count_as_patients() -> None:
    # 20 patients with two golds each, five of whom are missed altogether: variance 20/19 · 15/40² = 0.0098684, binomial
    # 0.75 · 0.25 / 40 = 0.0046875, a design effect of 2.10526 (above the 4/3 assumed) and 19 golds' worth. The rarer
    # answer was given 10/2.10526 = 4.75 times, which tells as much as 3.8 patients: t on 9.8 degrees of freedom.
    golds, hits = np.full(20, 2.0), np.array([2.0] * 15 + [0.0] * 5)
    share = share_of(golds, hits)
    n = 19 * (intervals.z_critical(0.95) / intervals.t_critical(0.95, 3.8 + 6)) ** 2
    assert share.effective_n == pytest.approx(n)
    # Not below Clopper and Pearson's on that many: a worse result spread more evenly may have a higher low end.
    assert share.low is not None and share.low >= intervals.clopper_pearson(0.75 * n, n).low - 1e-12
    assert share.high is not None and share.high <= intervals.clopper_pearson(0.75 * n, n).high + 1e-12
    clustered = intervals.clustered_share(hits, golds, np.arange(20), np.ones(20))
    assert share.miss_upper == pytest.approx(1 - intervals.effective_ends(clustered, level=0.90).low)
    assert share.miss_upper > 0.25 and share.patients_missed == 5
    assert share.miss_method == share.method == "exact on effective rows, monotone"


def test_patients_without_such_a_gold_do_not_count() -> None:
    some, padded = np.array([2.0, 3.0] * 8), np.array([2.0, 3.0] * 8 + [0.0] * 50)
    hits = np.array([2.0, 2.0] * 8)
    assert share_of(some, hits) == share_of(padded, np.append(hits, np.zeros(50)))


def test_few_patients_get_a_wide_interval_and_a_warning() -> None:
    share = share_of(np.full(5, 2.0), np.array([2.0, 2.0, 2.0, 2.0, 1.0]))
    assert share.recall == 0.9
    assert share.low is not None and share.low < 0.4
    assert "only 5 patients: read with care" in share.reason
    clean = share_of(np.full(5, 2.0), np.full(5, 2.0))
    assert clean.low is not None and clean.low > share.low
    assert clean.miss_upper == pytest.approx(1 - 0.05 ** ((1 + 1 / 3) / 10))
    assert share.miss_upper is not None and share.miss_upper > clean.miss_upper


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
