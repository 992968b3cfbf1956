"""Rules for thresholds as people write them."""

from __future__ import annotations

import numpy as np
import pytest

from workup.errors import InputError
from workup.scores import Scores
from workup.tasks.risk.updating.rules import Rule, choose, parse_rules


@pytest.mark.parametrize(
    ("text", "kind", "number", "assurance", "name"),
    [
        ("sensitivity >= 0.90 @0.95", "sensitivity", 0.9, 0.95, "sensitivity_0_9"),
        ("sensitivity>=.9@.8", "sensitivity", 0.9, 0.8, "sensitivity_0_9"),
        ("alert_rate <= 0.15", "alert_rate", 0.15, 0.95, "alert_rate_0_15"),
        ("alerts_per_day <= 12", "alerts_per_day", 12, None, "alerts_per_day_12"),
        ("alerts_per_day <= 12 @0.95", "alerts_per_day", 12, 0.95, "alerts_per_day_12"),
        ("cost_ratio 9", "cost_ratio", 9, None, "cost_ratio_9"),
        ("  ward_b :  cost_ratio = 2.5 ", "cost_ratio", 2.5, None, "ward_b"),
    ],
)
def test_rules_are_read(text: str, kind: str, number: float, assurance: float | None, name: str) -> None:
    rule = Rule.parse(text)
    assert (rule.kind, rule.number, rule.assurance, rule.name) == (kind, number, assurance, name)
    assert Rule.parse(rule.text) == Rule.parse(rule.text.replace(" ", ""))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "youden",
        "sensitivity",
        "sensitivity > 0.9",
        "sensitivity <= 0.9",
        "alert_rate >= 0.1",
        "sensitivity >= 1",
        "sensitivity >= 0",
        "sensitivity >= nan",
        "sensitivity >= 0.9 @1",
        "sensitivity >= 0.9 @0.3",
        "cost_ratio 0",
        "cost_ratio -1",
        "cost_ratio 9 @0.9",
        "a" * 500,
        "=cmd: cost_ratio 9",
        "sensitivity >= 0.9; rm",
    ],
)
def test_what_is_no_rule_is_refused_with_what_one_is(text: str) -> None:
    with pytest.raises(InputError) as refused:
        Rule.parse(text)
    assert str(refused.value).startswith("rule '") and len(str(refused.value)) < 500


def test_two_thresholds_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="a name of its own"):
        parse_rules(["sensitivity >= 0.9 @0.95", "sensitivity >= 0.9 @0.8"])
    assert [rule.name for rule in parse_rules(["a: cost_ratio 9", "b: cost_ratio 9"])] == ["a", "b"]


def test_days_that_may_be_cut_are_left_out_and_days_without_alerts_count() -> None:
    """Times of day from the middle of day 0 to the middle of day 9; on four of the eight whole days nothing happens."""
    start = np.datetime64("2024-03-01T12:00", "us")
    hours = np.array([0, 24, 25, 26, 72, 73, 120, 121, 168, 216])
    scores = Scores.of(
        {"outcome": np.arange(10) % 2, "risk": np.linspace(0.1, 0.9, 10)},
        time=start + hours.astype("timedelta64[h]"),
    )
    found = choose(Rule.parse("alerts_per_day <= 10"), scores, held_out=True, search=False, replicates=200, seed=0)
    assert found.beside is not None and found.beside["days"] == 8
    [per_day] = found.expected
    assert per_day.value == pytest.approx(8 / 8)  # every row of the whole days, over all of them


def test_a_value_is_never_shown_outside_its_own_interval() -> None:
    rng = np.random.default_rng(3)
    scores = Scores.of({"outcome": np.ones(60), "risk": rng.uniform(size=60)})
    found = choose(Rule.parse("sensitivity >= 0.9"), scores, held_out=True, search=False, replicates=200, seed=0)
    for e in found.expected:
        if e.value is not None and e.low is not None and e.high is not None:
            assert e.low <= e.value <= e.high
