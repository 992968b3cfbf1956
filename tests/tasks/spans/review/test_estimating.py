"""Corrected rates: exact where everything is reviewed, unbiased by design elsewhere, freed from reviewers' errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sims import review as planted
from sims.repetitions import Size
from workup.tasks.spans.review.consensus import agreed
from workup.tasks.spans.review.estimating import corrected_rate, gold_rate, raw_rate, stratum_share
from workup.tasks.spans.review.frame import FOUND_BY_ALL, NOT_REVIEWED, STRATA, Frame, Metric
from workup.tasks.spans.review.latent_classes import estimate_error
from workup.tasks.spans.review.reviewer_error import Rate, given_error, judge, taken_as_right
from workup.tasks.spans.review.sampling import drawn

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning:workup")

METRICS: tuple[Metric, ...] = ("recall", "precision")


def _corpus(seed: int = 1, **of: Any) -> tuple[Frame, np.ndarray[Any, np.dtype[np.bool_]]]:
    settings = dict(planted.cells(Size())[1].settings) | {"patients": 60, "wrong": 0.1, "unmarked": 0.1} | of
    return planted.regions(np.random.default_rng(seed), settings)


def _right(answers: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    return judge(answers[:, None], answers, taken_as_right(""))


def _by_hand(frame: Frame, identifier: np.ndarray[Any, np.dtype[np.bool_]], system: int) -> dict[str, float]:
    """Rates if the truth is known, written out region by region."""
    found = there = right = predictions = 0.0
    for i in range(len(frame)):
        predictions += frame.credits[i, system] + frame.alarms[i, system]
        if identifier[i]:
            there += frame.golds[i] if frame.golds[i] else 1
            found += frame.hits[i, system] if frame.golds[i] else frame.alarms[i, system] > 0
            right += frame.credits[i, system] + frame.alarms[i, system]
    return {"recall": found / there, "precision": right / predictions}


def test_a_review_of_everything_gives_the_truth() -> None:
    frame, identifier = _corpus()
    for system in (0, 1):
        for metric in METRICS:
            one = corrected_rate(frame.folded(), frame, _right(identifier.astype(float)), system=system, metric=metric)
            assert one.value == pytest.approx(_by_hand(frame, identifier, system)[metric], abs=1e-12)
            assert one.interval.low is not None and one.interval.high is not None and one.value is not None
            assert one.interval.low < one.value < one.interval.high


def test_reviewers_who_find_the_golds_right_change_nothing() -> None:
    frame, _ = _corpus()
    golds = (frame.golds > 0).astype(float)
    for metric in METRICS:
        raw = raw_rate(frame, system=0, metric=metric)
        one = corrected_rate(frame, frame, _right(golds), system=0, metric=metric)
        assert one.value == pytest.approx(raw.value, abs=1e-12)
        assert (one.top, one.bottom) == pytest.approx((raw.top, raw.bottom))


def test_sums_are_right_on_average_over_draws() -> None:
    """Unbiased by the design alone: whatever lies in the strata, the mean over draws is the truth."""
    frame, identifier = _corpus(patients=40)
    sizes = [min(one, two) for one, two in zip([6, 25, 40, 12, 15], frame.sizes(), strict=True)]
    tops = {metric: np.empty(600) for metric in METRICS}
    truth = {}
    for seed in range(600):
        chosen = drawn(frame.stratum, sizes, seed=seed)
        for metric in METRICS:
            judged = _right(identifier[chosen].astype(float))
            tops[metric][seed] = corrected_rate(frame, frame.take(chosen), judged, system=0, metric=metric).top
            if not seed:
                full = _right(identifier.astype(float))
                truth[metric] = corrected_rate(frame, frame, full, system=0, metric=metric).top
    for metric in METRICS:
        error = tops[metric].std() / np.sqrt(600)
        assert tops[metric].mean() == pytest.approx(truth[metric], abs=4 * error)
        assert 0 < error < 0.01 * truth[metric]


def test_predictions_that_are_not_reviewed_stay_below_the_line() -> None:
    frame = Frame.of(
        [(i, FOUND_BY_ALL, 1, [1], [1], [0]) for i in range(20)]
        + [(i, NOT_REVIEWED, 0, [0], [0], [1]) for i in range(5)],
        systems=1,
    )
    sample = frame.take(np.arange(20))
    one = corrected_rate(frame, sample, _right(np.ones(20)), system=0, metric="precision")
    assert (one.value, one.top, one.bottom) == (0.8, 20, 25)
    assert raw_rate(frame, system=0, metric="precision").value == 0.8


def test_a_stratum_without_an_answer_gives_no_rate_that_it_weighs_in() -> None:
    frame, identifier = _corpus()
    answers = identifier.astype(float)
    answers[frame.stratum == 0] = np.nan
    one = corrected_rate(frame, frame, _right(answers), system=0, metric="recall")
    assert one.value is None and one.interval.low is None and "every system missed" in one.interval.reason
    # Golds that nobody touched have no prediction on them: precision does not need them.
    assert corrected_rate(frame, frame, _right(answers), system=0, metric="precision").value is not None


def test_nothing_found_is_not_zero_of_zero() -> None:
    frame = Frame.of([(i, 0, 1, [0], [0], [0]) for i in range(30)], systems=1)
    one = corrected_rate(frame, frame, _right(np.ones(30)), system=0, metric="precision")
    assert one.value is None and one.interval.status == "undefined" and "predicts nothing" in one.interval.reason
    recall = corrected_rate(frame, frame, _right(np.ones(30)), system=0, metric="recall")
    assert recall.value == 0.0 and recall.interval.low == 0.0 and 0.05 < (recall.interval.high or 0) < 0.2
    none = corrected_rate(frame, frame, _right(np.zeros(30)), system=0, metric="recall")
    assert none.value is None and "nothing must be masked" in none.interval.reason


def test_few_patients_have_a_value_and_no_interval() -> None:
    frame = Frame.of([(i % 4, i % 3, 1, [i % 3 > 0], [1], [0]) for i in range(60)], systems=1)
    one = corrected_rate(frame, frame, _right(np.ones(60)), system=0, metric="recall")
    assert one.value is not None and one.interval.low is None and "4 patients" in one.interval.reason


def test_no_wrong_region_seen_is_not_taken_for_none_there() -> None:
    """Of 2,000 golds 40 were reviewed and all were right: precision may still be below 95 %."""
    frame = Frame.of([(i, FOUND_BY_ALL, 1, [1], [1], [0]) for i in range(2000)], systems=1)
    one = corrected_rate(frame, frame.take(np.arange(40)), _right(np.ones(40)), system=0, metric="precision")
    assert one.value == 1.0 and one.interval.high == 1.0
    assert 0.90 < (one.interval.low or 0) < 0.93
    whole = corrected_rate(frame, frame, _right(np.ones(2000)), system=0, metric="precision")
    assert (whole.interval.low or 0) > 0.995


def test_more_reviewed_regions_give_a_narrower_interval() -> None:
    frame, identifier = _corpus(patients=150)
    widths = []
    for share in (0.1, 0.4, 1.0):
        chosen = drawn(frame.stratum, [max(12, int(share * n)) for n in frame.sizes()], seed=2)
        found = corrected_rate(
            frame, frame.take(chosen), _right(identifier[chosen].astype(float)), system=0, metric="precision"
        )
        widths.append((found.interval.high or 0) - (found.interval.low or 0))
    assert widths[0] > widths[1] > widths[2] > 0


def test_golds_and_strata_are_judged_too() -> None:
    frame, identifier = _corpus()
    judged = _right(identifier.astype(float))
    gold = frame.golds > 0
    assert gold_rate(frame, frame, judged, metric="precision").value == pytest.approx(identifier[gold].mean())
    assert gold_rate(frame, frame, judged, metric="recall").value == pytest.approx(gold[identifier].mean())
    for place in range(len(STRATA)):
        here = frame.stratum == place
        assert stratum_share(frame, frame, judged, stratum=place).value == pytest.approx(identifier[here].mean())


def test_the_order_of_rows_changes_nothing() -> None:
    frame, identifier = _corpus()
    chosen = drawn(frame.stratum, [10, 20, 30, 10, 15], seed=1)
    order = np.random.default_rng(2).permutation(len(chosen))
    rows = np.random.default_rng(3).permutation(len(frame))
    answers = identifier[chosen].astype(float)
    one = corrected_rate(frame, frame.take(chosen), _right(answers), system=1, metric="recall")
    other = corrected_rate(
        frame.take(rows), frame.take(chosen[order]), _right(answers[order]), system=1, metric="recall"
    )
    assert one.value == pytest.approx(other.value, abs=1e-12)
    assert one.interval.low == pytest.approx(other.interval.low, abs=1e-12)


# ---- errors of reviewers ---------------------------------------------------------------------------------------------


def test_rogan_and_gladen_by_hand() -> None:
    """80 yeses of 100 by reviewers of sensitivity 0.9 and specificity 0.8: (0.8 + 0.8 - 1) / 0.7 identifiers."""
    frame = Frame.of([(i, FOUND_BY_ALL, 1, [1], [1], [0]) for i in range(100)], systems=1)
    answers = np.repeat([1.0, 0.0], [80, 20])
    judged = judge(answers[:, None], answers, given_error(Rate(0.9), Rate(0.8)))
    one = corrected_rate(frame, frame, judged, system=0, metric="precision")
    assert one.value == pytest.approx(0.6 / 0.7)
    plain = corrected_rate(frame, frame, _right(answers), system=0, metric="precision")
    assert one.interval.se == pytest.approx((plain.interval.se or 0) / 0.7, rel=1e-9)
    counted = judge(answers[:, None], answers, given_error(Rate(0.9, 50), Rate(0.8, 50)))
    wider = corrected_rate(frame, frame, counted, system=0, metric="precision")
    assert wider.value == one.value
    assert (wider.interval.low or 0) < (one.interval.low or 0) < (one.interval.high or 0) <= (wider.interval.high or 0)
    # The delta method on (q + b - 1) / (a + b - 1), the error rates' standard errors from Wilson's ends.
    slopes = np.array([0.6, -(0.9 - 0.8)]) / 0.49
    assert judged.error.kind == "known" and counted.error.kind == "counted"
    assert counted.slopes.mean(axis=0) == pytest.approx([-slopes[0], -slopes[1]])


def test_reviewers_no_better_than_chance_are_refused() -> None:
    with pytest.raises(ValueError, match="better than chance"):
        given_error(Rate(0.6), Rate(0.5))


def _answers(
    truth: np.ndarray[Any, np.dtype[np.bool_]], rates: list[tuple[float, float]], seed: int
) -> np.ndarray[Any, np.dtype[np.float64]]:
    rng = np.random.default_rng(seed)
    columns = [rng.random(len(truth)) < np.where(truth, yes, 1 - no) for yes, no in rates]
    return np.column_stack(columns).astype(float)


def test_errors_of_reviewers_are_recovered_from_what_they_both_answered() -> None:
    rng = np.random.default_rng(7)
    stratum = np.repeat(np.arange(5), 800)
    truth = rng.random(4000) < np.array([0.7, 0.9, 0.98, 0.6, 0.1])[stratum]
    rates = [(0.95, 0.85), (0.88, 0.97), (0.99, 0.92)]
    for many in (2, 3):
        answers = _answers(truth, rates[:many], seed=many)
        answers[rng.random(answers.shape) < 0.1] = np.nan
        found = estimate_error(answers, stratum)
        assert found.kind == "estimated" and found.covariance is not None
        error = 4 * np.sqrt(np.diag(found.covariance))
        off = np.array([*found.sensitivity, *found.specificity]) - [r[i] for i in (0, 1) for r in rates[:many]]
        assert (np.abs(off) < error).all() and error.max() < 0.15


def test_the_standard_errors_of_estimated_errors_are_true() -> None:
    """Spread of the estimates over repetitions against the mean of what each claims."""
    rng = np.random.default_rng(11)
    stratum = np.repeat([0, 1, 2], 150)
    found = []
    for seed in range(150):
        truth = rng.random(450) < np.array([0.9, 0.5, 0.1])[stratum]
        one = estimate_error(_answers(truth, [(0.9, 0.9), (0.9, 0.9)], seed=seed), stratum)
        assert one.covariance is not None
        found.append([*one.sensitivity, *one.specificity, *np.sqrt(np.diag(one.covariance))])
    table = np.array(found)
    assert table[:, :4].mean(axis=0) == pytest.approx([0.9] * 4, abs=0.01)
    assert table[:, :4].std(axis=0) / table[:, 4:].mean(axis=0) == pytest.approx([1.0] * 4, abs=0.2)


def test_why_errors_cannot_be_estimated_is_said() -> None:
    rng = np.random.default_rng(1)
    stratum = np.repeat([0, 1], 100)
    truth = rng.random(200) < np.where(stratum, 0.1, 0.9)
    answers = _answers(truth, [(0.95, 0.9), (0.9, 0.95)], seed=1)
    once = answers.copy()
    once[::2, 0], once[1::2, 1] = np.nan, np.nan
    assert "two reviewers" in estimate_error(once, stratum).reason
    assert "at least 50" in estimate_error(np.where(np.arange(200)[:, None] < 180, once, answers), stratum).reason
    apart = np.column_stack([answers, np.full(200, np.nan)])
    apart[:20, 2], apart[:20, :2] = 1.0, np.nan
    assert "no region that another answered" in estimate_error(apart, stratum).reason
    assert "two strata" in estimate_error(answers, np.zeros(200, dtype=np.int64)).reason
    alike = _answers(rng.random(200) < 0.5, [(0.95, 0.9), (0.9, 0.95)], seed=2)
    assert "similar shares" in estimate_error(alike, stratum).reason
    guessing = _answers(truth, [(0.95, 0.9), (0.5, 0.5)], seed=3)
    assert estimate_error(guessing, stratum).kind == "right"
    assert estimate_error(answers, stratum).kind == "estimated"


def test_several_answers_to_a_region_narrow_the_interval() -> None:
    frame, identifier = _corpus()
    error = given_error(Rate(0.9), Rate(0.85))
    widths = []
    for many in (1, 3):
        answers = _answers(identifier, [(0.9, 0.85)] * many, seed=4)
        one = corrected_rate(frame, frame, judge(answers, agreed(answers), error), system=0, metric="precision")
        widths.append((one.interval.high or 0) - (one.interval.low or 0))
    assert widths[1] < 0.85 * widths[0]
