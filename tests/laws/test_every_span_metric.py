"""Laws that hold for every metric of every detector, written once and run over all that the spans task registers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.registered import label
from tests.support.scored_studies import CORPORA, scored_notes
from workup.estimate import EVERYTHING, Draws, estimate, slices_by
from workup.metric import Metric
from workup.scores import Scores
from workup.tasks.spans.cards import CARDS

DRAWS = Draws(seed=3, replicates=120)
# A patient leaks once, however many rows say so: repeating a row of a patient changes nothing.
COUNTS_PATIENTS = {"leak_rate_patient"}


@pytest.fixture(params=CORPORA, name="scored")
def _fixture(request: pytest.FixtureRequest) -> tuple[Any, tuple[Metric, ...]]:
    return scored_notes(*CORPORA[request.param])


def test_every_name_of_the_contract_is_measured() -> None:
    _, metrics = scored_notes(*CORPORA["several notes a patient"])
    assert {metric.name for metric in metrics} == set(CARDS)


def test_a_value_or_a_null_with_its_reason_and_ends_around_it(scored: tuple[Any, tuple[Metric, ...]]) -> None:
    scores, metrics = scored
    for one in estimate(scores, metrics, [EVERYTHING, *slices_by(scores.groups)], draws=DRAWS):
        if one.value is None:
            assert one.status == "undefined" and one.reason, one
        else:
            assert 0 <= one.value <= 1, one
            if one.status == "ok":
                assert one.low is not None and one.high is not None
                assert one.low - 1e-12 <= one.value <= one.high + 1e-12, one
            else:
                assert one.reason, one


def test_row_order_changes_nothing(scored: tuple[Any, tuple[Metric, ...]]) -> None:
    scores, metrics = scored
    mixed = scores.take(np.random.default_rng(1).permutation(len(scores)))
    for before, after in zip(
        estimate(scores, metrics, draws=DRAWS), estimate(mixed, metrics, draws=DRAWS), strict=True
    ):
        assert (before.metric, before.slice, before.status) == (after.metric, after.slice, after.status)
        pair = [(x if x is not None else np.nan) for x in (before.value, before.low, before.high)]
        again = [(x if x is not None else np.nan) for x in (after.value, after.low, after.high)]
        assert again == pytest.approx(pair, rel=1e-9, abs=1e-12, nan_ok=True), (before.metric, before.slice)


@given(seed=st.integers(0, 30))
def test_an_integer_weight_is_a_repeated_row(seed: int) -> None:
    scores, metrics = scored_notes(2, 150, 40, 0.2)
    counts = np.random.default_rng(seed).integers(0, 4, len(scores))
    repeated = scores.take(np.repeat(np.arange(len(scores)), counts))
    for metric in metrics:
        if metric.name in COUNTS_PATIENTS:
            continue
        weighted = metric.compute(scores, counts[None, :].astype(float))[0]
        assert metric.value(repeated) == pytest.approx(weighted, rel=1e-9, nan_ok=True), label(metric)


def test_a_replicate_weighs_a_patient_as_a_whole() -> None:
    """Of leak_rate_patient: a patient drawn twice counts as two patients with the same notes."""
    scores, metrics = scored_notes(2, 150, 40, 0.2)
    metric = next(m for m in metrics if m.name == "leak_rate_patient")
    times = np.random.default_rng(4).integers(0, 3, scores.n_patients)
    weights = times[scores.patient].astype(float)
    rows = [np.flatnonzero(scores.patient == p) for p in range(scores.n_patients) for _ in range(times[p])]
    copies = [np.full(len(one), number) for number, one in enumerate(rows)]
    drawn = replace(scores.take(np.concatenate(rows)), patient=np.concatenate(copies))
    assert metric.value(drawn) == pytest.approx(metric.compute(scores, weights[None, :])[0])


def test_a_slice_is_the_scores_of_its_rows(scored: tuple[Any, tuple[Metric, ...]]) -> None:
    scores, metrics = scored
    for one in slices_by(scores.groups):
        part: Scores = scores.take(np.flatnonzero(one.rows))
        found = estimate(scores, metrics, [one], draws=DRAWS)
        for metric, e in zip(metrics, found, strict=True):
            assert (np.nan if e.value is None else e.value) == pytest.approx(metric.value(part), nan_ok=True)


def test_patients_are_the_unit_and_not_mentions() -> None:
    """Notes of one patient copied ten times over carry no more information about other patients."""
    few, metrics = scored_notes(2, 150, 40, 0.2)
    many = few.take(np.tile(np.arange(len(few)), 10))
    for metric in metrics:
        if metric.interval is None:
            continue
        [one], [other] = (estimate(s, [metric], draws=DRAWS) for s in (few, many))
        if one.status == other.status == "ok" and one.value not in (0.0, 1.0):
            # Resampled mentions would shrink it to 0.32; a floor under the design effect may widen the first.
            assert other.high - other.low >= 0.5 * (one.high - one.low), label(metric)
