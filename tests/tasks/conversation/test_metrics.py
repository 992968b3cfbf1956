"""Metrics and intervals over rows of conversations: hand-worked values, textbook intervals, reasons of refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from workup.estimate import Draws, Slice, estimate
from workup.metric import Linear, Metric
from workup.scores import Scores
from workup.stats import intervals as proportions
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.metrics.design import Design
from workup.tasks.conversation.metrics.intervals import (
    resampled_cases,
    share_over_cases,
    smooth,
    t_over_cases,
)
from workup.tasks.conversation.metrics.metrics import conversation_metrics, coverage_of, uncovered

LIVE = {"set": "critical", "arm": "live"}
DRAWS = Draws(seed=0, replicates=500)


def metrics_of(**design: Any) -> dict[tuple[str, frozenset[tuple[str, Any]]], Metric]:
    made = Design(**{"arms": ("live", "oracle"), "turns": 3, "horizon": 3, "clusters": 0, "draws": DRAWS, **design})
    return {(one.name, frozenset(one.at.items())): one for one in conversation_metrics(made)}


def named(name: str, at: dict[str, Any] | None = None, **design: Any) -> Metric:
    return metrics_of(**design)[name, frozenset((LIVE if at is None else at).items())]


def counts(arm: str = "live", kind: str = "critical", **by_turn: list[list[float]]) -> dict[str, Any]:
    """Columns from a list by turn of lists by row."""
    found = {}
    for field, turns in by_turn.items():
        for turn, column in enumerate(turns, start=1):
            found[columns.at_turn(arm, kind, turn, field)] = column
    return found


def one_estimate(scores: Scores, metric: Metric, level: float = 0.95) -> Any:
    [found] = estimate(scores, [metric], draws=DRAWS, levels=(level,))
    return found


# ---- values ----------------------------------------------------------------------------------------------------------


def test_recall_and_its_failures_by_hand() -> None:
    scores = Scores.of(
        counts(
            facts=[[4, 4], [4, 5]],
            scorable=[[4, 3], [4, 4]],
            correct=[[4, 2], [2, 1]],
            reversed=[[0, 1], [0, 1]],
            wrong_value=[[0, 0], [1, 1]],
            omitted=[[0, 0], [1, 1]],
            unscorable=[[0, 1], [0, 1]],
            retired=[[0, 0], [2, 0]],
            stale=[[0, 0], [1, 0]],
        )
    )
    expected = {
        "recall": 9 / 15,
        "omission_rate": 2 / 15,
        "reversal_rate": 2 / 15,
        "wrong_value_rate": 2 / 15,
        "stale_rate": 1 / 2,
        "coverage": 15 / 17,
        "unscorable_rate": 2 / 17,
    }
    for name, value in expected.items():
        assert named(name).value(scores) == pytest.approx(value), name
    assert named("recall", {**LIVE, "turn": 2}).value(scores) == pytest.approx(3 / 8)
    assert np.isnan(named("recall", {**LIVE, "turn": 3}).value(scores))
    assert np.isnan(named("recall", {**LIVE, "set": "extended"}).value(scores))
    assert np.isnan(named("recall_at_10").value(scores))
    assert named("recall_at_horizon", horizon=2).value(scores) == pytest.approx(3 / 8)


def test_precision_and_f1_by_hand() -> None:
    scores = Scores.of(
        counts(scorable=[[4, 4]], correct=[[3, 1]], supported=[[2, 3]], ungrounded=[[0, 1]])
        | counts(entities=[[4, 6]], listed=[[4, 6]])
    )
    assert named("precision").value(scores) == 0.5
    assert named("hallucination_rate").value(scores) == pytest.approx(0.1)
    assert named("f1").value(scores) == pytest.approx(0.5)
    nothing = Scores.of(counts(scorable=[[4, 4]], correct=[[0, 0]], listed=[[4, 6]], supported=[[0, 0]]))
    assert named("f1").value(nothing) == 0
    silent = Scores.of(counts(scorable=[[4, 4]], correct=[[0, 0]]))
    assert np.isnan(named("f1").value(silent))


def test_the_gap_is_recall_less_recall() -> None:
    scores = Scores.of(
        counts(scorable=[[4, 4], [4, 4]], correct=[[4, 3], [2, 2]])
        | counts("oracle", scorable=[[4, 4], [4, 4]], correct=[[4, 4], [4, 3]])
    )
    assert named("decay_gap").value(scores) == pytest.approx(11 / 16 - 15 / 16)
    assert named("decay_gap", {**LIVE, "turn": 2}).value(scores) == pytest.approx(4 / 8 - 7 / 8)
    alone = Scores.of(counts(scorable=[[4, 4]], correct=[[4, 3]]))
    found = one_estimate(alone, named("decay_gap", arms=("live",)))
    assert (found.value, found.status, found.reason) == (None, "undefined", "no oracle arm was run")


def test_the_mean_slope_is_over_conversations_that_have_one() -> None:
    slope = columns.of_arm("live", "critical", "slope")
    scores = Scores.of({slope: [-0.1, 0.0, -0.05], f"{slope}_known": [1, 0, 1]})
    assert named("decay_slope").value(scores) == pytest.approx(-0.075)
    nobody = Scores.of({slope: [0.0], f"{slope}_known": [0]})
    found = one_estimate(nobody, named("decay_slope"))
    assert (found.value, found.status) == (None, "undefined") and "two turns" in found.reason


def test_the_logistic_slope_is_that_of_a_fit_to_every_fact() -> None:
    kept, facts = [[9, 8], [7, 6], [4, 5]], [[10, 10]] * 3
    scores = Scores.of(counts(scorable=facts, correct=kept))
    x = np.repeat([1.0, 2.0, 3.0], 20)
    y = np.concatenate([np.repeat([1.0, 0.0], [sum(k), 20 - sum(k)]) for k in kept])
    beta = np.zeros(2)
    for _ in range(50):
        design = np.column_stack([np.ones_like(x), x])
        p = 1 / (1 + np.exp(-design @ beta))
        beta += np.linalg.solve(design.T @ (design * (p * (1 - p))[:, None]), design.T @ (y - p))
    assert named("decay_slope_logistic", published=True).value(scores) == pytest.approx(beta[1])
    for flat in ([[10, 10]] * 3, [[0, 0]] * 3):
        scores = Scores.of(counts(scorable=facts, correct=flat))
        assert np.isnan(named("decay_slope_logistic", published=True).value(scores))


def test_weights_of_facts_change_the_value_and_their_scale_nothing() -> None:
    rng = np.random.default_rng(1)
    facts = rng.integers(2, 6, 30).astype(float)
    kept = np.minimum(facts, rng.integers(0, 6, 30))
    base = counts(scorable=[facts.tolist()], facts=[facts.tolist()], correct=[kept.tolist()])
    found = []
    for scale in (0.01, 1.0, 50.0):
        heavy = counts(weight_scorable=[(scale * facts).tolist()], weight_correct=[(scale * kept).tolist()])
        found.append(one_estimate(Scores.of(base | heavy), named("recall_weighted", weighted=True)))
    plain = one_estimate(Scores.of(base), named("recall"))
    for one in found:
        assert [one.value, one.low, one.high] == pytest.approx([plain.value, plain.low, plain.high])


# ---- intervals -------------------------------------------------------------------------------------------------------


def slopes_of(values: list[float], patient: list[int] | None = None) -> Scores:
    slope = columns.of_arm("live", "critical", "slope")
    return Scores.of({slope: values, f"{slope}_known": [1] * len(values)}, patient=patient)


def test_a_mean_slope_has_the_t_interval_of_the_textbook() -> None:
    values = list(np.random.default_rng(2).normal(-0.04, 0.02, 12))
    found = one_estimate(slopes_of(values), named("decay_slope"), level=0.9)
    low, high = stats.t.interval(0.9, 11, np.mean(values), stats.sem(values))
    assert [found.low, found.high] == pytest.approx([low, high], rel=1e-6)
    assert (found.method, found.status) == ("t over cases", "ok")
    assert found.se == pytest.approx(stats.sem(values), rel=1e-6)


def test_replicates_of_one_case_are_one_cluster() -> None:
    values = list(np.random.default_rng(3).normal(-0.04, 0.02, 12))
    once = one_estimate(slopes_of(values), named("decay_slope"))
    thrice = one_estimate(slopes_of(values * 3, patient=list(range(12)) * 3), named("decay_slope"))
    assert [thrice.value, thrice.low, thrice.high] == pytest.approx([once.value, once.low, once.high], rel=1e-6)
    assert (thrice.n_patients, thrice.n_rows) == (12, 36)


def test_few_cases_are_warned_of_and_one_is_refused() -> None:
    few = one_estimate(slopes_of([0.0, -0.1, -0.05]), named("decay_slope"))
    assert few.status == "ok" and few.reason == "only 3 cases: read with care"
    one = one_estimate(slopes_of([-0.1]), named("decay_slope"))
    assert (one.value, one.low, one.status) == (-0.1, None, "insufficient") and "one case" in one.reason
    alike = one_estimate(slopes_of([-0.1] * 8), named("decay_slope"))
    assert (alike.low, alike.status) == (None, "insufficient") and "same value" in alike.reason


def test_many_cases_are_resampled_and_few_of_a_slice_are_not() -> None:
    rng = np.random.default_rng(4)
    scores = slopes_of(list(rng.normal(-0.04, 0.02, 64)))
    site = Slice({"site": "a"}, np.arange(64) < 12)
    whole, part = estimate(scores, [named("decay_slope")], [Slice({}), site], draws=DRAWS)
    assert whole.method == "BCa bootstrap, 500 replicates" and part.method == "t over cases"
    assert whole.status == part.status == "ok"
    low, high = stats.t.interval(0.95, 63, whole.value, np.std(scores.values["live|critical|slope"], ddof=1) / 8)
    assert [whole.low, whole.high] == pytest.approx([low, high], abs=0.0015)


def test_the_same_seed_draws_the_same_cases_and_another_others() -> None:
    scores = slopes_of(list(np.random.default_rng(4).normal(-0.04, 0.02, 64)))
    form = named("decay_slope").linear
    assert form is not None
    first, again, other = (resampled_cases(form, scores, 0.95, draws=Draws(seed, 400)) for seed in (1, 1, 2))
    assert (first.low, first.high) == (again.low, again.high) != (other.low, other.high)
    assert first.ends is not None and first.ends(0.95) == (first.low, first.high)


def loss_scores(lost_at: list[list[int | None]], followed: int = 10) -> Scores:
    """A row for each case from the ticks at which its facts are lost."""
    values: dict[str, Any] = {}
    for tick in range(1, 11):
        risk = [sum((one or followed) >= tick for one in case) for case in lost_at]
        lost = [sum(one == tick for one in case) for case in lost_at]
        values[columns.of_loss("live", "critical", "first", "risk", tick)] = risk
        values[columns.of_loss("live", "critical", "first", "lost", tick)] = lost
    return Scores.of(values)


def test_a_curve_that_falls_to_nothing_keeps_its_interval() -> None:
    """All facts are lost by the fifth tick: nobody is at risk after it, and moving single sums would leave what is."""
    rng = np.random.default_rng(5)
    lost_at: list[list[int | None]] = [[int(tick) for tick in rng.integers(1, 6, 4)] for _ in range(20)]
    found = one_estimate(loss_scores(lost_at), named("time_to_loss"))
    times = np.array(lost_at, dtype=float)
    assert found.value == pytest.approx(times.mean())
    # Without censoring the restricted mean is a mean, and cases are all of four facts.
    low, high = stats.t.interval(0.95, 19, times.mean(), stats.sem(times.mean(axis=1)))
    assert [found.low, found.high] == pytest.approx([low, high], rel=1e-6)


def test_ends_keep_to_what_is_possible() -> None:
    kept: list[list[int | None]] = [[None] * 5 for _ in range(11)] + [[2, None, None, None, None]]
    found = one_estimate(loss_scores(kept), named("time_to_loss"))
    assert found.value is not None and found.value < 10 and found.high == 10
    gap = Scores.of(
        counts(scorable=[[1.0] * 6], correct=[[1, 1, 1, 1, 1, 0]])
        | counts("oracle", scorable=[[1.0] * 6], correct=[[0, 0, 0, 0, 0, 1]])
    )
    assert one_estimate(gap, named("decay_gap")).high == 1


def test_a_gap_of_nothing_still_has_an_interval_at_any_number_of_cases() -> None:
    for cases in (12, 80):
        column = [[4.0] * cases]
        scores = Scores.of(counts(scorable=column, correct=column) | counts("oracle", scorable=column, correct=column))
        found = one_estimate(scores, named("decay_gap"))
        assert found.value == 0 and found.low is not None and found.high is not None
        ends = proportions.paired_shares(*[np.full(cases, 4.0)] * 2, np.arange(cases), units=np.full(cases, 4.0)).ends()
        assert (found.low, found.high) == pytest.approx(ends) and ends.high == -ends.low > 0


def test_a_rare_rate_names_the_exact_bound_over_cases() -> None:
    facts = [[10.0] * 40]
    turned = [[1.0, 1.0] + [0.0] * 38]
    scores = Scores.of(counts(facts=facts, scorable=facts, reversed=turned))
    found = one_estimate(scores, named("reversal_rate"))
    exact = proportions.clopper_pearson(2, 40).high
    assert found.value == pytest.approx(2 / 400)
    assert str(found.reason).endswith(f"; in 2 of 40 patients, exact upper bound {exact:.3g}")
    none = one_estimate(Scores.of(counts(facts=facts, scorable=facts)), named("reversal_rate"))
    assert none.value == 0 and none.high == pytest.approx(1 - 0.025 ** ((1 + 9 / 3) / 400))
    assert "the least that 40 clusters can show is 0.036" in none.reason
    assert "in 0 of 40 patients, exact upper bound" in none.reason


def test_a_rate_that_some_cases_have_nothing_of_says_so() -> None:
    facts = [[4.0] * 20, [4.0] * 12 + [0.0] * 8]
    kept = [[3.0, 2.0] * 10, [2.0, 3.0] * 6 + [0.0] * 8]
    scores = Scores.of(counts(facts=facts, scorable=facts, correct=kept))
    assert str(one_estimate(scores, named("recall", {**LIVE, "turn": 2})).reason).endswith("; over 12 of 20 patients")
    assert "of 20 cases" not in str(one_estimate(scores, named("recall", {**LIVE, "turn": 1})).reason)


def test_facts_of_one_case_that_stand_and_fall_together_widen_the_interval() -> None:
    facts = np.full(30, 10.0)
    together = np.repeat([10.0, 0.0], [15, 15])
    apart = np.full(30, 5.0) + np.tile([1.0, -1.0], 15)
    ends = []
    for kept in (together, apart):
        found = share_over_cases(kept, facts, Scores.of({"x": facts}), 0.95)
        assert found.low is not None and found.high is not None
        ends.append(found.high - found.low)
    assert ends[0] > 2 * ends[1]


def test_smooth_asks_each_slice_for_its_own_clusters() -> None:
    values = np.random.default_rng(6).normal(size=60)
    form = Linear(lambda s: np.column_stack([s["x"], np.ones(len(s))]), lambda sums: sums[..., 0] / sums[..., 1])
    metric = smooth("mean", form.columns, form.finish, draws=DRAWS, describe="a mean")
    scores = Scores.of({"x": values})
    assert metric.interval is not None
    assert metric.interval(scores, 0.95).method.startswith("BCa")
    part = scores.take(np.arange(49))
    found, textbook = metric.interval(part, 0.95), t_over_cases(form, part, 0.95)
    assert (found.method, found.low, found.high) == ("t over cases", textbook.low, textbook.high)


# ---- coverage --------------------------------------------------------------------------------------------------------


def covered(live: float, oracle: float = 1.0, cases: int = 20) -> Scores:
    facts, rng = np.full(cases, 20.0), np.random.default_rng(7)
    kept = rng.integers(0, 10, cases).astype(float)
    slope = columns.of_arm("live", "critical", "slope")
    values = counts(facts=[facts], scorable=[live * facts], correct=[kept])  # type: ignore[list-item]
    values |= counts("oracle", facts=[facts], scorable=[oracle * facts], correct=[oracle * facts])  # type: ignore[list-item]
    values |= {slope: -kept / 100, f"{slope}_known": np.ones(cases)}
    values |= {columns.whole("never_events"): np.zeros(cases), columns.whole("conversations"): np.ones(cases)}
    return Scores.of(values)


@pytest.mark.parametrize(
    ("live", "oracle", "statuses"),
    [
        (1.0, 1.0, {"recall": "ok", "decay_gap": "ok", "decay_slope": "ok", "reversal_rate": "ok"}),
        (0.95, 0.95, {"recall": "ok", "decay_gap": "ok", "decay_slope": "ok", "reversal_rate": "ok"}),
        (
            *(0.9, 1.0),
            {"recall": "withheld", "decay_gap": "withheld", "decay_slope": "withheld", "reversal_rate": "insufficient"},
        ),
        (1.0, 0.9, {"recall": "ok", "decay_gap": "withheld", "decay_slope": "ok", "reversal_rate": "ok"}),
    ],
)
def test_too_few_scorable_facts_withhold_what_rests_on_them(
    live: float, oracle: float, statuses: dict[str, str]
) -> None:
    scores = covered(live, oracle)
    found = {name: one_estimate(scores, named(name)) for name in statuses}
    assert {name: one.status for name, one in found.items()} == statuses
    for one in found.values():
        if one.status != "ok":
            assert one.low is None and "could be scored" in one.reason
    assert one_estimate(scores, named("coverage")).status == "ok"


def test_never_events_of_few_replies_pass_no_gate() -> None:
    metric = named("never_events", {})
    assert one_estimate(covered(1.0), metric).status == "ok"
    assert one_estimate(covered(0.5), metric).status == "insufficient"


def test_one_site_cannot_hide_its_failures_among_the_others() -> None:
    good, bad = covered(1.0, cases=60), covered(0.5, cases=4)
    names = [*good.values]
    scores = Scores.of({name: np.concatenate([good[name], bad[name]]) for name in names})
    mine = Slice({"site": "b"}, np.arange(64) >= 60)
    whole, part = estimate(scores, [named("recall")], [Slice({}), mine], draws=DRAWS)
    assert (whole.status, part.status) == ("ok", "withheld")
    assert coverage_of(scores) == (1240.0, 1280.0) and uncovered(scores) == ""
    assert "50.0%" in uncovered(scores.take(np.arange(60, 64)))


def test_a_reason_for_the_whole_study_holds_in_every_slice_of_the_live_arm() -> None:
    scores = covered(1.0)
    assert one_estimate(scores, named("recall", withheld="too little was heard")).reason == "too little was heard"
    oracle = {**LIVE, "arm": "oracle"}
    assert one_estimate(scores, named("recall", oracle, withheld="too little was heard")).status == "ok"


# ---- never-events ----------------------------------------------------------------------------------------------------


def never(events: list[float], conversations: list[float] | None = None, **more: Any) -> Scores:
    held = conversations or [1.0] * len(events)
    return Scores.of({columns.whole("never_events"): events, columns.whole("conversations"): held}, **more)


def test_never_events_are_counted_and_the_rates_carry_the_bounds() -> None:
    scores = never([0.0] * 28 + [1.0, 3.0])
    found = one_estimate(scores, named("never_events", {}))
    assert (found.value, found.low, found.high, found.status) == (4.0, None, None, "ok")
    assert str(found.reason).startswith("in 2 of 30 patients; a number that was seen has no interval")
    rate = one_estimate(scores, named("never_event_rate", {}))
    assert (rate.numerator, rate.denominator, rate.value) == (2, 30, pytest.approx(2 / 30))
    assert (rate.low, rate.high) == pytest.approx(tuple(proportions.clopper_pearson(2, 30)))
    per_100 = one_estimate(scores, named("never_events_per_100", {}))
    ends = proportions.event_rate_ends(np.array([0.0] * 28 + [1.0, 3.0]), np.ones(30))
    assert per_100.value == pytest.approx(400 / 30)
    assert (per_100.low, per_100.high) == pytest.approx((100 * ends.low, 100 * ends.high))
    silent = replace(scores, values={**scores.values, columns.whole("conversations"): np.zeros(30)})
    for name in ("never_events", "never_event_rate", "never_events_per_100"):
        assert one_estimate(silent, named(name, {})).status == "undefined"


def test_the_never_event_rate_counts_cases_and_not_conversations() -> None:
    twice = never([2.0, 1.0, 0.0, 0.0, 0.0, 0.0], patient=["a", "a", "b", "b", "c", "c"])
    rate = one_estimate(twice, named("never_event_rate", {}))
    assert (rate.value, rate.numerator, rate.denominator) == (pytest.approx(1 / 3), 1, 3)


def test_seven_never_events_of_two_cases_are_no_rate_of_seven() -> None:
    scores = never([3.0, 4.0])
    rate = estimate(scores, [named("never_event_rate", {})], draws=DRAWS, levels=(0.9,))[0]
    assert (rate.low, rate.high) == pytest.approx((0.05**0.5, 1.0))
    assert one_estimate(scores, named("never_events_per_100", {})).reason == "2 patients are too few for a rate"
    none = estimate(never([0.0] * 15), [named("never_event_rate", {})], draws=DRAWS, levels=(0.9,))[0]
    assert none.high == pytest.approx(0.181, abs=5e-4)
    assert one_estimate(never([0.0] * 15), named("never_events_per_100", {})).low is None
