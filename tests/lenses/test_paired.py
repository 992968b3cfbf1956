"""Paired differences from what each patient adds: by hand, beside resamples, and where they must not be given."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from workup.estimate import Draws
from workup.lenses.paired import compare_scores
from workup.metric import Interval, Metric, linear, ratio
from workup.scores import Levels, Scores
from workup.stats.intervals import paired_shares, t_critical

DRAWS = Draws(seed=2, replicates=400)
RECALL = ratio("recall", lambda s: s["hits"], lambda s: s["golds"], describe="share found")
RATE = ratio("rate", lambda s: s["hits"], lambda s: s["golds"], share=False, describe="found a gold, no share")
PRECISION = ratio("precision", lambda s: s["hits"], lambda s: s["said"], describe="share right")
SUM = linear("sum", lambda s: np.column_stack([s["hits"], s["golds"]]), lambda t: t[..., 0] - t[..., 1], describe="sum")


def counts(golds: Any, hits: Any, **fields: Any) -> Scores:
    return Scores.of({"golds": golds, "hits": hits}, **fields)


def by_patient(first: Scores, second: Scores, metric: Metric = RECALL, **options: Any) -> dict[str, Any]:
    row, *_ = compare_scores(first, second, [metric], DRAWS, intervals="linearised", **options)
    return row


def drawn(seed: int = 1, n: int = 60) -> tuple[Scores, Scores, Any]:
    rng = np.random.default_rng(seed)
    golds, patient = rng.integers(1, 9, n), rng.integers(0, 25, n)
    return (*(counts(golds, rng.binomial(golds, p), patient=patient) for p in (0.8, 0.7)), patient)


def test_a_ratio_worked_by_hand() -> None:
    first, second, patient = drawn()
    golds = np.bincount(patient, weights=first["golds"])
    moved = np.bincount(patient, weights=second["hits"] - first["hits"])
    gap = moved.sum() / golds.sum()
    adds = (moved - gap * golds) / golds.sum()
    adds = adds[golds > 0]
    n = adds.size
    square = (adds - adds.mean()) ** 2 * n / (n - 1)
    df = square.sum() ** 2 / np.sum(square**2)
    row = by_patient(first, second, RATE)
    half = t_critical(0.95, df) * np.sqrt(square.sum())
    assert row["value"] == pytest.approx(gap)
    assert [row["low"], row["high"]] == pytest.approx([gap - half, gap + half], rel=1e-6)
    assert row["method"] == f"linearised over patients, t on {df:.0f} df"
    assert (row["p"] < 0.05) == (row["high"] < 0)


def test_it_agrees_with_resamples_where_many_differ() -> None:
    first, second, _ = drawn(n=900)
    [resampled] = compare_scores(first, second, [RATE], Draws(seed=1, replicates=2000))
    row = by_patient(first, second, RATE)
    assert row["high"] - row["low"] == pytest.approx(resampled["high"] - resampled["low"], rel=0.25)


def test_a_share_is_compared_on_the_same_rows_and_swapping_changes_signs_alone() -> None:
    first, second, patient = drawn()
    row, back = by_patient(first, second), by_patient(second, first)
    sums = [np.bincount(patient, weights=one) for one in (first["hits"], second["hits"], first["golds"])]
    here = sums[2] > 0
    found = paired_shares(sums[0][here], sums[1][here], np.arange(here.sum()), units=sums[2][here])
    assert (row["low"], row["high"], row["p"]) == pytest.approx((*found.ends(), found.p()))
    assert row["method"].startswith("same rows")
    assert (back["value"], back["low"], back["high"]) == pytest.approx((-row["value"], -row["high"], -row["low"]))
    assert back["p"] == pytest.approx(row["p"])


@pytest.mark.parametrize("mode", ["linearised", "resampled"])
def test_no_difference_seen_is_an_interval_and_not_a_point(mode: Any) -> None:
    golds, hits = np.full(40, 2.0), np.tile([2.0, 1.0], 20)
    alike = [Scores.of({"golds": golds, "hits": hits, "other": golds * k}) for k in (1, 2)]
    [row] = compare_scores(*alike, [RECALL], DRAWS, intervals=mode)
    assert row["value"] == 0 and row["p"] == 1
    assert row["low"] == -row["high"] < -0.02


def test_shares_of_different_rows_are_compared_by_their_ends() -> None:
    rng = np.random.default_rng(3)
    said = [rng.integers(1, 9, 60) for _ in range(2)]
    sides = [Scores.of({"said": n, "hits": rng.binomial(n, 0.9)}, patient=np.arange(60) // 3) for n in said]
    row, back = by_patient(*sides, PRECISION), by_patient(*sides[::-1], PRECISION)
    assert row["method"] == "square and add, correlated"
    assert row["low"] < row["value"] < row["high"]
    assert (back["value"], back["low"], back["high"]) == pytest.approx((-row["value"], -row["high"], -row["low"]))
    perfect = [Scores.of({"said": n, "hits": n}, patient=np.arange(60) // 3) for n in said]
    none = by_patient(*perfect, PRECISION)
    assert none["value"] == 0 and none["low"] < 0 < none["high"]


def test_a_metric_that_is_no_function_of_sums_is_left_out_patient_by_patient() -> None:
    first, second, _ = drawn()
    same = replace(RATE, linear=None)
    by_sums, by_leaving_out = by_patient(first, second, RATE), by_patient(first, second, same)
    for end in ("low", "high"):
        assert by_leaving_out[end] == pytest.approx(by_sums[end], abs=0.01)


def test_few_who_differ_make_no_evidence() -> None:
    golds = np.ones(100)
    row = by_patient(counts(golds, np.zeros(100)), counts(golds, (np.arange(100) < 4).astype(float)))
    assert row["low"] < 0 < row["value"] == pytest.approx(0.04)
    assert row["p"] > 0.05


def test_patients_without_anything_that_counts_change_nothing() -> None:
    first, second, patient = drawn()
    more = [
        counts(
            np.append(s["golds"], np.zeros(40)), np.append(s["hits"], np.zeros(40)), patient=[*patient, *range(99, 139)]
        )
        for s in (first, second)
    ]
    short, long = by_patient(first, second), by_patient(*more)
    assert (long["low"], long["high"]) == pytest.approx((short["low"], short["high"]))
    assert long["n_patients"] == short["n_patients"] + 40


def test_ends_of_a_share_stay_within_its_range() -> None:
    golds, none = np.full(12, 2.0), np.zeros(12)
    hits = np.array([2.0] * 11 + [0.0])
    row = by_patient(counts(golds, none), counts(golds, hits))
    assert row["high"] <= 1 and row["low"] > 0


def test_what_an_own_interval_withholds_the_difference_withholds_too() -> None:
    """Labels that nothing maps must not decide a comparison either."""
    first, second, _ = drawn()
    caution = replace(RECALL, interval=lambda scores, level: Interval.refused("it rests on unmapped labels"))
    row = by_patient(first, second, caution)
    assert (row["low"], row["p"]) == (None, None)
    assert "unmapped labels" in row["reason"] and row["value"] is not None


def test_where_no_interval_can_be_had_it_is_said() -> None:
    few = [counts(np.ones(9), np.arange(9) % k == 0) for k in (2, 3)]
    warned = by_patient(*few, RATE)
    assert warned["low"] is not None and "only 9 patients" in warned["reason"]
    assert "4 patients; at least 5" in by_patient(*(one.take(np.arange(4)) for one in few), RATE)["reason"]
    metric = replace(RECALL, interval=None)
    assert "only 9 clusters" in by_patient(*few, metric)["reason"]
    assert "4 patients; at least 5" in by_patient(*(one.take(np.arange(4)) for one in few), metric)["reason"]
    golds = np.ones(20)
    alike = [Scores.of({"golds": golds, "hits": golds * 0.5, "other": golds * k}) for k in (1, 2)]
    row = by_patient(*alike, RATE)
    assert (row["value"], row["p"], row["low"]) == (0, 1, None)
    assert "alike in every patient" in row["reason"]
    empty = counts(np.zeros(20), np.zeros(20))
    assert "undefined" in by_patient(empty, counts(np.zeros(20), np.ones(20)))["reason"]


def test_strata_of_the_design_narrow_the_interval() -> None:
    golds, stratum = np.full(40, 10.0), np.repeat([0, 1], 20)
    hits = np.where(stratum == 0, 9.0, 3.0) + np.tile([0.0, 1.0], 20)
    first, second = counts(golds, golds * 0.5), counts(golds, hits)
    design = replace(DRAWS, strata=Levels(stratum, ("a", "b")))
    [plain], [apart] = (
        compare_scores(first, second, [SUM], draws, intervals="linearised") for draws in (DRAWS, design)
    )
    assert apart["high"] - apart["low"] < 0.5 * (plain["high"] - plain["low"])


def test_groups_are_compared_on_their_own_patients() -> None:
    first, second, patient = drawn(n=300)
    group = {"sex": ["FM"[p % 2] for p in patient]}
    sides = [Scores.of(dict(s.values), patient=patient, groups=group) for s in (first, second)]
    rows = compare_scores(*sides, [RECALL], DRAWS, groups=["sex"], intervals="linearised")
    assert rows[0]["slice"] == {} and {row["slice"].get("sex") for row in rows[1:]} == {"F", "M"}
    here = np.array([p % 2 == 0 for p in patient])
    alone = by_patient(first.take(np.flatnonzero(here)), second.take(np.flatnonzero(here)))
    [women] = [row for row in rows if row["slice"] == {"sex": "F"}]
    assert (women["low"], women["high"]) == pytest.approx((alone["low"], alone["high"]))


def test_a_value_that_one_of_them_lacks_gives_no_gap_in_either_way() -> None:
    empty, other = counts(np.zeros(20), np.zeros(20)), counts(np.ones(20), np.arange(20) % 2)
    for intervals in ("linearised", "resampled"):
        row, *_ = compare_scores(empty, other, [RECALL], DRAWS, intervals=intervals)
        assert (row["value"], row["low"], row["p"]) == (None, None, None)
        assert "undefined in one of them" in row["reason"]
