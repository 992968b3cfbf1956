"""Gate rules, worked by hand: what each reads as, and pass, fail, unsure or not assessed on known intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.errors import GateError
from workup.estimate import Estimate
from workup.gates import Gate, judge, levels, unattainable
from workup.report import LensResult, Report, Verdict

METRICS = ("auroc", "sensitivity", "specificity", "brier", "calibration_slope")


def row(metric: str = "auroc", value: float | None = 0.80, ends: Any = (0.75, 0.85), **fields: Any) -> Estimate:
    """An estimate with the ends given; `at` is its slice."""
    low, high = ends or (None, None)
    own = {"slice": fields.pop("at", {}), "level": 0.95, "method": "by hand", "se": 0.025, "n_patients": 400}
    return Estimate(metric=metric, value=value, low=low, high=high, n_rows=500, **{**own, **fields})


NULL = row(value=None, ends=None, status="undefined", reason="needs rows with and rows without the event")
NO_ENDS = row(ends=None, status="insufficient", reason="4 patients")
WITHHELD = row(status="withheld", reason="fewer than 11 events")


def verdict(rule: str, *estimates: Estimate, **settings: Any) -> Verdict:
    """The one verdict of a rule."""
    [found] = judge([Gate.parse(rule, known=METRICS)], estimates or (row(),), **settings)
    return found


def outcome(rule: str, *estimates: Estimate, **settings: Any) -> str:
    return verdict(rule, *estimates, **settings).outcome


# Reading


@pytest.mark.parametrize(
    ("rule", "metric", "keys", "part", "op", "number", "level"),
    [
        ("auroc.low >= 0.75", "auroc", {}, "low", ">=", 0.75, 0.95),
        ("auroc.low>=0.75", "auroc", {}, "low", ">=", 0.75, 0.95),
        ("  auroc . high  <  1 ", "auroc", {}, "high", "<", 1.0, 0.95),
        ("auroc.n > 200", "auroc", {}, "n", ">", 200.0, 0.95),
        ("auroc.value <= .9", "auroc", {}, "value", "<=", 0.9, 0.95),
        ("sensitivity{threshold=0.2}.low >= 0.8", "sensitivity", {"threshold": "0.2"}, "low", ">=", 0.8, 0.95),
        ("auroc{sex=F, age = 65+}.low >= 0.7", "auroc", {"sex": "F", "age": "65+"}, "low", ">=", 0.7, 0.95),
        ("auroc{sex=*}.low >= 0.7", "auroc", {"sex": "*"}, "low", ">=", 0.7, 0.95),
        ("auroc{race=White × F}.low >= 0.7", "auroc", {"race": "White × F"}, "low", ">=", 0.7, 0.95),
        ("auroc{}.low >= 0.7", "auroc", {}, "low", ">=", 0.7, 0.95),
        ("auroc.low >= 0.75@0.90", "auroc", {}, "low", ">=", 0.75, 0.90),
        ("auroc.low >= 0.75 @ .9", "auroc", {}, "low", ">=", 0.75, 0.90),
        ("brier.high <= 2.5e-1", "brier", {}, "high", "<=", 0.25, 0.95),
        ("calibration_slope.low >= -0.5", "calibration_slope", {}, "low", ">=", -0.5, 0.95),
    ],
)
def test_a_rule_reads_as_written(
    rule: str, metric: str, keys: dict[str, str], part: str, op: str, number: float, level: float
) -> None:
    gate = Gate.parse(rule, known=METRICS)
    assert (gate.metric, dict(gate.slice), gate.part, gate.op) == (metric, keys, part, op)
    assert (gate.number, gate.level) == (number, level)
    assert not gate.needs_baseline
    assert gate.rule == rule.strip()


@pytest.mark.parametrize(
    ("rule", "shift"),
    [
        ("auroc.value >= baseline", 0.0),
        ("auroc.value >= baseline - 0.02", -0.02),
        ("auroc.value >= baseline-0.02", -0.02),
        ("auroc.value >= baseline \u2212 0.02", -0.02),
        ("auroc.value >= baseline + 0.02", 0.02),
        ("auroc.value >= baseline + 2e-2", 0.02),
    ],
)
def test_a_rule_against_a_baseline_reads_as_written(rule: str, shift: float) -> None:
    gate = Gate.parse(rule)
    assert gate.needs_baseline
    assert gate.number is None
    assert gate.shift == pytest.approx(shift)


@pytest.mark.parametrize(
    "rule",
    [
        "",
        "auroc",
        "auroc.low",
        "auroc >= 0.7",
        "auroc.middle >= 0.7",
        "auroc.low = 0.7",
        "auroc.low == 0.7",
        "auroc.low => 0.7",
        "auroc.low >= ",
        "auroc.low >= high",
        "auroc.low >= 0.7.1",
        "auroc.low >= .",
        "auroc.low >= 70%",
        "auroc.low >= nan",
        "auroc.low >= inf",
        "auroc.low >= 0.7@",
        "auroc.low >= 0.7@95",
        "auroc.low >= 0.7@1.0",
        "auroc.low >= 0.7@0.0",
        "auroc.low >= baseline ± 0.1",
        "auroc.low >= baseline 0.1",
        "auroc{sex}.low >= 0.7",
        "auroc{=F}.low >= 0.7",
        "auroc{sex=}.low >= 0.7",
        "auroc{sex=F.low >= 0.7",
        "auroc{sex=F,sex=M}.low >= 0.7",
        "auroc{{sex=F}}.low >= 0.7",
        "0.7 <= auroc.low",
        "auroc.low >= 0.7 and brier.high <= 0.2",
        "auroc.low >= 0.7\nbrier.high <= 0.2",
    ],
)
def test_a_rule_that_cannot_be_read_says_how_rules_are_written(rule: str) -> None:
    with pytest.raises(GateError, match=r"Expected METRIC|a slice is key=value|gate '"):
        Gate.parse(rule)


def test_an_unknown_metric_is_an_error_with_the_near_names() -> None:
    with pytest.raises(GateError, match=r"unknown metric 'sensitivty'; did you mean 'sensitivity'\? Known: auroc"):
        Gate.parse("sensitivty.low >= 0.8", known=METRICS)


@pytest.mark.parametrize("rule", ["conflict_rate_published.low >= 0.1", "auroc{mode=published:v1}.low >= 0.1"])
def test_variants_kept_for_comparison_with_published_work_are_refused(rule: str) -> None:
    with pytest.raises(GateError, match="published"):
        Gate.parse(rule, known=(*METRICS, "conflict_rate_published"))


def test_the_levels_a_report_must_hold() -> None:
    rules = ["auroc.low >= 0.7", "auroc.low >= 0.7@0.90", "brier.high <= 0.2@0.99", "brier.n >= 10@0.9"]
    assert levels([]) == (0.95,)
    assert levels([Gate.parse(rule) for rule in rules]) == (0.99, 0.95, 0.90)


# Judging one interval, 0.75 to 0.85 around 0.80, of 400 patients

ONE_INTERVAL = [
    # The near end: the interval can straddle the limit, and then more data would settle it.
    ("auroc.low >= 0.70", "pass"),
    ("auroc.low >= 0.75", "pass"),
    ("auroc.low > 0.75", "unsure"),
    ("auroc.low >= 0.80", "unsure"),
    ("auroc.low >= 0.85", "unsure"),
    ("auroc.low > 0.85", "fail"),
    ("auroc.low >= 0.86", "fail"),
    ("auroc.high <= 0.90", "pass"),
    ("auroc.high <= 0.85", "pass"),
    ("auroc.high < 0.85", "unsure"),
    ("auroc.high <= 0.80", "unsure"),
    ("auroc.high <= 0.75", "unsure"),
    ("auroc.high < 0.75", "fail"),
    ("auroc.high <= 0.74", "fail"),
    # The far end, the value and the count pass or fail.
    ("auroc.high >= 0.85", "pass"),
    ("auroc.high >= 0.80", "pass"),
    ("auroc.high > 0.85", "fail"),
    ("auroc.high >= 0.86", "fail"),
    ("auroc.low <= 0.75", "pass"),
    ("auroc.low <= 0.80", "pass"),
    ("auroc.low < 0.75", "fail"),
    ("auroc.low <= 0.70", "fail"),
    ("auroc.value >= 0.80", "pass"),
    ("auroc.value > 0.80", "fail"),
    ("auroc.value <= 0.80", "pass"),
    ("auroc.value < 0.80", "fail"),
    ("auroc.n >= 400", "pass"),
    ("auroc.n > 400", "fail"),
    ("auroc.n <= 400", "pass"),
    ("auroc.n < 400", "fail"),
]


@pytest.mark.parametrize(("rule", "expected"), ONE_INTERVAL)
def test_one_interval_judged_by_hand(rule: str, expected: str) -> None:
    found = verdict(rule)
    assert found.outcome == expected
    assert found.rule == rule
    assert found.observed == {"value": 0.80, "low": 0.75, "high": 0.85, "n": 400}
    assert found.reason


def test_patients_are_counted_and_not_rows() -> None:
    assert outcome("auroc.n >= 450", row(n_patients=400)) == "fail"
    assert "400 patients" in verdict("auroc.n >= 450").reason


@given(
    low=st.floats(0, 1), width=st.floats(0, 1), limit=st.floats(-0.5, 2.5), op=st.sampled_from([">=", ">", "<=", "<"])
)
def test_far_ends_are_never_unsure_and_near_ends_follow_the_contract(
    low: float, width: float, limit: float, op: str
) -> None:
    high = low + width
    e = row(value=(low + high) / 2, ends=(low, high))
    near, far = ("low", "high") if op[0] == ">" else ("high", "low")
    meets = {">=": float.__ge__, ">": float.__gt__, "<=": float.__le__, "<": float.__lt__}[op]
    ends = {"low": low, "high": high}
    limit = float(f"{limit:.6f}")
    expected = "pass" if meets(ends[near], limit) else "unsure" if meets(ends[far], limit) else "fail"
    assert outcome(f"auroc.{near} {op} {limit:.6f}", e) == expected
    assert outcome(f"auroc.{far} {op} {limit:.6f}", e) == ("pass" if meets(ends[far], limit) else "fail")


# Null never passes


@pytest.mark.parametrize("held", [NULL, NO_ENDS, WITHHELD], ids=["undefined", "insufficient", "withheld"])
@pytest.mark.parametrize("part", ["value", "low", "high"])
@pytest.mark.parametrize("op", [">= -9", "<= 9", "> -9", "< 9"])
def test_what_is_not_sound_is_not_assessed_with_its_reason(held: Estimate, part: str, op: str) -> None:
    found = verdict(f"auroc.{part} {op}", held)
    assert found.outcome == "not_assessed"
    assert held.reason is not None
    assert held.reason in found.reason


def test_a_missing_end_is_not_assessed_even_where_the_status_is_ok() -> None:
    assert outcome("auroc.low >= 0.1", row(ends=(None, 0.9))) == "not_assessed"
    assert outcome("auroc.low >= 0.1", row(ends=(0.7, None))) == "not_assessed"
    assert outcome("auroc.value >= 0.1", row(ends=None)) == "pass"


def test_an_absent_metric_or_slice_is_not_assessed() -> None:
    assert outcome("brier.high <= 0.2", row("auroc")) == "not_assessed"
    assert outcome("auroc{sex=F}.low >= 0.1", row(at={"sex": "M"}), row()) == "not_assessed"
    assert outcome("auroc{ward=*}.low >= 0.1", row(at={"sex": "M"}), row()) == "not_assessed"
    assert outcome("auroc.low >= 0.1", row(at={"sex": "M"})) == "not_assessed"


# Levels


def test_a_level_named_is_the_one_judged() -> None:
    held = (row(ends=(0.75, 0.85)), row(ends=(0.76, 0.84), level=0.90))
    assert outcome("auroc.low >= 0.755", *held) == "unsure"
    assert outcome("auroc.low >= 0.755@0.90", *held) == "pass"
    assert outcome("auroc.high <= 0.845@0.90", *held) == "pass"


def test_a_level_that_is_not_held_is_not_assessed() -> None:
    found = verdict("auroc.low >= 0.1@0.80")
    assert (found.outcome, found.reason) == ("not_assessed", "the report holds no interval at level 0.8")


# Slices

SEXES = (
    row(),
    row(at={"sex": "F"}, ends=(0.76, 0.84)),
    row(at={"sex": "M"}, ends=(0.60, 0.70), value=0.65),
    row(at={"sex": "X"}, ends=(0.50, 0.90)),
    replace(NULL, slice={"sex": "missing"}),
    row(at={"site": "12"}, ends=(0.90, 0.95), value=0.92),
)


def test_a_wildcard_gives_every_level_its_verdict() -> None:
    found = judge([Gate.parse("auroc{sex=*}.low >= 0.75")], SEXES)
    assert [(v.rule, v.outcome) for v in found] == [
        ("auroc{sex=*}.low >= 0.75 [sex=F]", "pass"),
        ("auroc{sex=*}.low >= 0.75 [sex=M]", "fail"),
        ("auroc{sex=*}.low >= 0.75 [sex=X]", "unsure"),
        ("auroc{sex=*}.low >= 0.75 [sex=missing]", "not_assessed"),
    ]


def test_a_named_slice_is_judged_and_no_other() -> None:
    assert outcome("auroc{sex=M}.low >= 0.75", *SEXES) == "fail"
    assert outcome("auroc{site=12}.low >= 0.75", *SEXES) == "pass"
    assert outcome("auroc{site=12.0}.low >= 0.75", *SEXES) == "not_assessed"
    assert outcome("auroc.low >= 0.75", *SEXES) == "pass"


AT = [
    row("sensitivity", at={"threshold": 0.2}, ends=(0.82, 0.90), value=0.86),
    row("sensitivity", at={"threshold": 0.5}, ends=(0.50, 0.60), value=0.55),
    row("sensitivity", at={"sex": "F", "threshold": 0.2}, ends=(0.70, 0.78), value=0.74),
    row("sensitivity", at={"sex": "F", "threshold": 0.5}, ends=(0.40, 0.48), value=0.44),
    row("auroc"),
]


def test_the_primary_threshold_is_filled_in() -> None:
    rule = "sensitivity.low >= 0.8"
    assert outcome(rule, *AT, primary={"threshold": 0.2}) == "pass"
    assert outcome(rule, *AT, primary={"threshold": 0.5}) == "fail"
    assert outcome(rule, *AT) == "not_assessed"
    assert outcome("sensitivity{sex=F}.low >= 0.8", *AT, primary={"threshold": 0.2}) == "fail"
    assert outcome("sensitivity{sex=F}.low >= 0.4", *AT, primary={"threshold": 0.5}) == "pass"


def test_a_threshold_that_the_rule_names_wins_over_the_primary_one() -> None:
    assert outcome("sensitivity{threshold=0.50}.low >= 0.8", *AT, primary={"threshold": 0.2}) == "fail"
    assert outcome("sensitivity{threshold=.2}.low >= 0.8", *AT, primary={"threshold": 0.5}) == "pass"


def test_a_primary_key_that_does_not_apply_is_ignored() -> None:
    assert outcome("auroc.low >= 0.75", *AT, primary={"threshold": 0.2}) == "pass"


def test_a_wildcard_threshold_judges_each() -> None:
    found = judge([Gate.parse("sensitivity{threshold=*}.low >= 0.8")], AT, primary={"threshold": 0.2})
    assert [v.outcome for v in found] == ["pass", "fail"]


# Against a baseline


def baseline(*estimates: Estimate) -> Report:
    corpus = {"name": "old", "version": "", "seed": None, "n_cases": 1, "n_patients": 1, "sha256": ""}
    lens = LensResult("internal", estimates=estimates)
    return Report({"name": "old"}, corpus, {"name": "old", "version": "1"}, 0, {"internal": lens})


OLD = baseline(row(value=0.78), row(at={"sex": "F"}, value=0.70), row("sensitivity", at={"threshold": 0.2}, value=0.85))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("auroc.low >= baseline", "unsure"),  # 0.78 lies inside 0.75 to 0.85
        ("auroc.low >= baseline - 0.05", "pass"),
        ("auroc.low >= baseline \u2212 0.05", "pass"),
        ("auroc.low >= baseline + 0.10", "fail"),
        ("auroc.value >= baseline", "pass"),
        ("auroc.value >= baseline + 0.03", "fail"),
        ("auroc{sex=F}.low >= baseline", "pass"),
        ("sensitivity.low >= baseline - 0.04", "pass"),
    ],
)
def test_the_baseline_is_the_point_value_of_the_same_metric_and_slice(rule: str, expected: str) -> None:
    assert outcome(rule, *SEXES, *AT[:4], primary={"threshold": 0.2}, baseline=OLD) == expected


def test_a_baseline_that_is_absent_or_unsound_is_not_assessed() -> None:
    assert "none was given" in verdict("auroc.value >= baseline").reason
    assert outcome("auroc.value >= baseline") == "not_assessed"
    assert outcome("auroc{site=12}.low >= baseline", *SEXES, baseline=OLD) == "not_assessed"
    assert outcome("auroc.low >= baseline", baseline=baseline(NULL)) == "not_assessed"
    assert outcome("auroc.low >= baseline", baseline=baseline(NO_ENDS)) == "not_assessed"


def test_a_null_of_ours_does_not_pass_against_any_baseline() -> None:
    assert outcome("auroc.value >= baseline - 9", NULL, baseline=OLD) == "not_assessed"


def test_verdicts_come_in_the_order_of_the_rules() -> None:
    rules = ["auroc.low >= 0.9", "auroc.low >= 0.1", "brier.high <= 1"]
    found = judge([Gate.parse(rule) for rule in rules], [row()])
    assert [(v.rule, v.outcome) for v in found] == list(zip(rules, ["fail", "pass", "not_assessed"], strict=True))


@pytest.mark.parametrize("rule", ["e50.high <= 0.009", "e50.low >= 0.001", "e50.high >= 0.008"])
def test_an_end_that_the_value_belies_decides_nothing(rule: str) -> None:
    """Loess shows 0.0099 and the spline's interval ends at 0.0082: its end alone would pass."""
    row = Estimate("e50", {}, 0.0099, 0.0014, 0.0082, 0.95, "BCa bootstrap", 0.001, 500, 500)
    [verdict] = judge([Gate.parse(rule)], [row])
    assert verdict.outcome == "not_assessed"
    assert "outside its own interval" in verdict.reason


def test_a_pooled_figure_asks_for_more_sites_and_not_for_more_patients() -> None:
    pooled = row(value=0.76, ends=(0.70, 0.82), at={"pooled": "sites"})
    found = verdict("auroc{pooled=sites}.low >= 0.75", pooled)
    assert found.outcome == "unsure"
    assert "more sites, rather than more patients, would settle it" in found.reason


def test_harm_that_was_counted_fails_whatever_was_not_seen() -> None:
    seen = Estimate("never_events", {}, 3.0, 0.4, 9.0, 0.9, "exact", None, 30, 30)
    unsure = Estimate(
        "never_events", {}, 3.0, None, None, 0.9, "none", None, 30, 30, status="insufficient", reason="few"
    )
    for row in (seen, unsure):
        for rule in ("never_events.value <= 2", "never_events.high <= 2"):
            [verdict] = judge([Gate.parse(rule, level=0.9)], [row], harms=["never_events"])
            assert verdict.outcome == "fail", (row.status, rule)
    [within] = judge([Gate.parse("never_events.value <= 3", level=0.9)], [unsure], harms=["never_events"])
    assert within.outcome == "not_assessed"


def test_a_limit_beyond_what_so_many_clusters_can_show_is_called_so() -> None:
    perfect = Estimate("recall", {}, 1.0, 0.846, 1.0, 0.9, "exact", 0.0, 7, 7, clusters=7, ceiling=0.846)
    [verdict] = judge([Gate.parse("recall.low >= 0.95@0.90")], [perfect])
    assert verdict.outcome == "not_assessed"
    assert verdict.reason.endswith("not attainable: with 7 clusters a perfect model has 0.846; 0.95 needs 23")
    [within] = judge([Gate.parse("recall.low >= 0.84@0.90")], [perfect])
    assert within.outcome == "pass"
    worse = Estimate("recall", {}, 0.4, 0.2, 0.6, 0.9, "exact", 0.1, 7, 7, clusters=7, ceiling=0.846)
    [failed] = judge([Gate.parse("recall.low >= 0.95@0.90")], [worse])
    assert failed.outcome == "fail" and "not attainable" in failed.reason


def test_a_rate_of_failures_has_its_own_least() -> None:
    none = Estimate("leak", {}, 0.0, 0.0, 0.154, 0.9, "exact", 0.0, 7, 7, clusters=7, ceiling=0.846)
    [verdict] = judge([Gate.parse("leak.high <= 0.05@0.90")], [none])
    assert verdict.outcome == "not_assessed"
    assert verdict.reason.endswith("not attainable: with 7 clusters a perfect model has 0.154; 0.05 needs 23")
    [never] = judge([Gate.parse("leak.high <= 0@0.90")], [none])
    assert "no number of clusters shows 0" in never.reason


def test_gates_that_no_system_could_meet_are_known_before_the_run() -> None:
    gates = [Gate.parse(rule) for rule in ("recall.low >= 0.95@0.90", "recall.low >= 0.8@0.90", "auroc.low >= 0.99")]
    [line] = unattainable(gates, [12] * 5 + [11] * 2, shares=["recall"])
    assert line == (
        "gate 'recall.low >= 0.95@0.90': not attainable: with 7 clusters a perfect model has at most 0.846; "
        "0.95 needs at least 23"
    )
    assert unattainable(gates, [18] * 30, shares=["recall"]) == []
    assert unattainable(gates, [18] * 20, shares=["recall"], icc=0.05) == []  # cases known to differ less
    assert unattainable(gates, [18], shares=["recall"]) == []


def test_two_clusters_can_tell_that_a_gate_is_out_of_reach_and_one_cannot() -> None:
    gate = Gate.parse("recall.low >= 0.95@0.90")
    [line] = unattainable([gate], [18, 18], shares=["recall"])
    assert "with 2 clusters a perfect model has at most" in line
    assert unattainable([gate], [18], shares=["recall"]) == []
    assert unattainable([gate], [18, 0], shares=["recall"]) == []


def test_a_figure_that_rests_on_nobody_passes_nothing() -> None:
    for none in ({"n_patients": 0}, {"n_rows": 0}):
        empty = replace(row(), **none)
        assert outcome("auroc.low >= 0.7", empty) == "not_assessed"
