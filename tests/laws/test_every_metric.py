"""Laws that hold for every metric of every cohort, written once and run over all that the risk task registers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cohorts import draw_cohort
from tests.support.registered import CURVE, DRAWS, THRESHOLDS, every_metric, key, label, numbers
from workup.estimate import EVERYTHING, estimate, replicate, slices_by
from workup.scores import Scores
from workup.stats.bootstrap import unit_counts
from workup.tasks.risk.metrics import FEWEST_FOR_CURVE

pytestmark = pytest.mark.usefixtures("no_warning")

COHORTS: dict[str, Callable[[], Scores]] = {
    "independent": lambda: draw_cohort(1, 140, slope=0.8),
    "tied": lambda: draw_cohort(2, 140, digits=2),
    "repeated": lambda: draw_cohort(3, 200, patients=70, spread=1.0),
    "weighted": lambda: draw_cohort(4, 140, weighted=True, shift=0.4),
    "repeated and weighted": lambda: draw_cohort(5, 200, patients=70, weighted=True),
}


@pytest.fixture(params=COHORTS, name="scores")
def _scores(request: pytest.FixtureRequest) -> Scores:
    return COHORTS[request.param]()


# ---- row order -------------------------------------------------------------------------------------------------------


def test_row_order_changes_nothing(scores: Scores) -> None:
    metrics = every_metric(scores)
    slices = [EVERYTHING, *slices_by(scores.groups)]
    order = np.random.default_rng(0).permutation(len(scores))
    mixed = scores.take(order)
    plain = estimate(scores, metrics, slices, draws=DRAWS)
    again = estimate(mixed, metrics, [EVERYTHING, *slices_by(mixed.groups)], draws=DRAWS)
    for before, after in zip(plain, again, strict=True):
        assert (key(before), before.status, before.reason) == (key(after), after.status, after.reason)
        assert numbers(after) == pytest.approx(numbers(before), rel=1e-9, abs=1e-12, nan_ok=True), key(before)


@given(seed=st.integers(0, 10_000))
def test_row_order_changes_no_value(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = draw_cohort(seed, int(rng.integers(8, 60)), digits=int(rng.integers(1, 4)))
    mixed = scores.take(rng.permutation(len(scores)))
    for metric in every_metric(scores):
        assert metric.value(mixed) == pytest.approx(metric.value(scores), rel=1e-9, abs=1e-12, nan_ok=True), label(
            metric
        )


# ---- weights ---------------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10_000))
def test_an_integer_weight_is_a_repeated_row(seed: int) -> None:
    """Curves are asked of enough events only: whether there are enough is a count of rows, whatever they weigh."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 110))
    scores = draw_cohort(seed, n, digits=2 if seed % 2 else None)
    counts = rng.integers(0, 4, n)
    repeated = scores.take(np.repeat(np.arange(n), counts))
    enough = all(min(y.sum(), (1 - y).sum()) >= FEWEST_FOR_CURVE for y in (scores["outcome"], repeated["outcome"]))
    for metric in every_metric(scores):
        if metric.name in CURVE and not enough:
            continue
        weighted = metric.compute(scores, counts[None, :].astype(float))[0]
        assert metric.value(repeated) == pytest.approx(weighted, rel=1e-7, abs=1e-10, nan_ok=True), label(metric)


@pytest.mark.parametrize("name", ["auroc", "calibration_slope", "calibration_in_the_large", "oe_ratio"])
def test_intervals_too_take_a_weight_for_repeated_rows_of_a_patient(name: str) -> None:
    plain = draw_cohort(6, 160, patients=60, spread=0.5)
    counts = np.random.default_rng(6).integers(1, 4, 160)
    weighted = replace(plain, weight=counts.astype(float))
    repeated = plain.take(np.repeat(np.arange(160), counts))
    metric = next(m for m in every_metric(plain) if m.name == name)
    [first], [second] = (estimate(one, [metric], draws=DRAWS) for one in (weighted, repeated))
    assert first.status == "ok"
    assert numbers(first) == pytest.approx(numbers(second), rel=1e-7, nan_ok=True)


@pytest.mark.parametrize("factor", [1 / 900, 0.5, 3.0, 1e4])
@pytest.mark.parametrize("cohort", ["weighted", "repeated and weighted"])
def test_the_scale_of_the_weights_changes_no_value(cohort: str, factor: float) -> None:
    scores = COHORTS[cohort]()
    assert scores.weight is not None
    scaled = replace(scores, weight=factor * scores.weight)
    for before, after in zip(every_metric(scores), every_metric(scaled), strict=True):
        assert after.value(scaled) == pytest.approx(before.value(scores), rel=1e-7), label(before)


def test_weights_of_one_are_no_weights() -> None:
    scores = COHORTS["repeated"]()
    ones = replace(scores, weight=np.ones(len(scores)))
    pairs = zip(*(estimate(one, every_metric(scores), draws=DRAWS) for one in (scores, ones)), strict=True)
    for before, after in pairs:
        assert numbers(after) == pytest.approx(numbers(before), rel=1e-9, abs=1e-12, nan_ok=True), key(before)


# ---- intervals -------------------------------------------------------------------------------------------------------


def test_an_interval_holds_its_value(scores: Scores) -> None:
    """Of every metric, resampled ones too: value and interval come from one estimator."""
    metrics = every_metric(scores)
    assert len([metric for metric in metrics if metric.interval is not None]) == 4 + 6 * len(THRESHOLDS)
    held = 0
    for found in estimate(scores, metrics, [EVERYTHING, *slices_by(scores.groups)], draws=DRAWS, levels=(0.8, 0.95)):
        if found.status == "ok":
            assert found.low is not None
            assert found.value is not None
            assert found.high is not None
            assert found.low <= found.value <= found.high, key(found)
            assert found.low < found.high, key(found)
            held += 1
    assert held >= len(metrics)


def test_a_lower_level_lies_inside_a_higher_one(scores: Scores) -> None:
    found = estimate(scores, every_metric(scores), draws=DRAWS, levels=(0.90, 0.95))
    assert all(one.status == "ok" for one in found)
    for narrow, wide in zip(found[::2], found[1::2], strict=True):
        assert (narrow.level, wide.level, narrow.metric) == (0.90, 0.95, wide.metric)
        assert narrow.value == wide.value
        ends = [wide.low, narrow.low, narrow.high, wide.high]
        assert ends == sorted(ends), key(narrow)  # type: ignore[type-var]
        assert ends[2] - ends[1] < ends[3] - ends[0], key(narrow)  # type: ignore[operator]


def test_an_interval_keeps_to_its_scale(scores: Scores) -> None:
    for metric, found in zip(every_metric(scores), estimate(scores, every_metric(scores), draws=DRAWS), strict=True):
        assert found.low is not None
        assert found.high is not None
        if metric.scale == "logit":
            assert 0 <= found.low <= found.high <= 1, key(found)
        if metric.scale == "log" or metric.name in CURVE | {"brier", "ece", "f1"}:
            assert found.low >= 0, key(found)


# ---- slices ----------------------------------------------------------------------------------------------------------


def test_slices_share_their_replicates(scores: Scores) -> None:
    """Each replicate of a slice is the metric of its rows under the counts of the one draw of patients."""
    metrics = every_metric(scores)
    slices = [EVERYTHING, *slices_by(scores.groups)]
    found = replicate(scores, metrics, slices, draws=DRAWS)
    assert found.shape == (4, len(metrics), DRAWS.replicates)
    units, patient = np.unique(scores.patient, return_inverse=True)
    counts = np.concatenate(list(unit_counts(units.size, DRAWS.replicates, seed=DRAWS.seed)))
    weights = counts[:, patient] * scores.base_weight
    for s, one in enumerate(slices):
        rows = np.arange(len(scores)) if one.rows is None else np.flatnonzero(one.rows)
        part = scores.take(rows)
        for m, metric in enumerate(metrics):
            by_hand = metric.compute(part, weights[:, rows])
            assert found[s, m] == pytest.approx(by_hand, rel=1e-8, abs=1e-11, nan_ok=True), (one.key, label(metric))


def test_a_slice_is_the_same_alone_or_among_others(scores: Scores) -> None:
    metrics, slices = every_metric(scores), slices_by(scores.groups)
    together = replicate(scores, metrics, [EVERYTHING, *slices], draws=DRAWS)
    alone = replicate(scores, metrics, slices[1:2], draws=DRAWS)
    assert alone[0] == pytest.approx(together[2], rel=1e-12, nan_ok=True)
