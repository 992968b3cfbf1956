"""Parity ratios over groups: against R, by hand, undefined where a group has no value, biased as is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.oracles import Case, cases
from workup.estimate import Draws, Slice, replicate
from workup.lenses.subgroups.lens import subgroups
from workup.scores import Scores
from workup.tasks.risk.decisions import at_threshold

DRAWS = Draws(seed=4, replicates=400)


def ratios(scores: Scores, threshold: float) -> dict[str, dict[str, Any]]:
    found = subgroups(scores, at_threshold(threshold), settings={}, draws=DRAWS)
    rows = [row for row in found.comparisons if row["kind"] == "ratio" and row["against"] == "all groups"]
    return {str(row["metric"]): row for row in rows}


def cohort(n: int, groups: list[str], *, seed: int = 1, lift: float = 0.0) -> Scores:
    rng = np.random.default_rng(seed)
    group = rng.choice(groups, n)
    chance = rng.uniform(0.02, 0.9, n)
    risk = np.clip(chance + lift * (group == groups[0]), 0, 1)
    return Scores.of({"outcome": (rng.random(n) < chance).astype(float), "risk": risk}, groups={"g": group})


@cases("fairness_groups")
def test_ratios_meet_those_of_the_reference(case: Case) -> None:
    scores = Scores.of(
        {"outcome": case.array("y"), "risk": case.array("p")}, groups={"g": [str(one) for one in case.input["g"]]}
    )
    found, parts = ratios(scores, case.input["threshold"]), case.expected["groups"].values()
    assert found["alert_rate"]["value"] == case.near("dpr")
    for name, field in (("sensitivity", "tpr"), ("false_positive_rate", "fpr"), ("ppv", "ppv")):
        shares = [one[field] for one in parts]
        assert found[name]["value"] == pytest.approx(min(shares) / max(shares), rel=1e-9), name
    both = [found[name]["value"] for name in ("sensitivity", "false_positive_rate")]
    assert found["equalised_odds"]["value"] == min(both)


def test_the_groups_at_both_ends_are_named_and_the_interval_is_that_of_shared_replicates() -> None:
    scores = cohort(600, ["a", "b", "c"], lift=0.15)
    row = ratios(scores, 0.5)["alert_rate"]
    assert (row["highest"], row["verdict"], row["level"]) == ("a", "not_assessed", 0.95)
    [metric] = [one for one in at_threshold(0.5) if one.name == "alert_rate"]
    slices = [Slice({}, rows) for _, rows in scores.groups["g"].masks()]
    drawn = replicate(scores, [metric], slices, draws=DRAWS)[:, 0]
    ends = np.quantile(drawn.min(axis=0) / drawn.max(axis=0), [0.025, 0.975])
    assert [row["low"], row["high"]] == pytest.approx(list(ends))


def test_a_group_without_a_value_leaves_no_ratio() -> None:
    rng = np.random.default_rng(2)
    risk = np.concatenate([rng.random(200), np.full(40, 0.1)])
    scores = Scores.of(
        {"outcome": (rng.random(240) < risk).astype(float), "risk": risk}, groups={"g": ["a"] * 200 + ["b"] * 40}
    )
    found = ratios(scores, 0.5)
    assert (found["ppv"]["value"], found["ppv"]["low"]) == (None, None)
    assert "undefined in a group" in found["ppv"]["reason"]
    assert found["alert_rate"]["value"] == 0, "a group of which no one is flagged has a share, and it is 0"
    assert found["alert_rate"]["lowest"] == "b"


def test_alike_groups_lie_below_1_and_the_row_says_why() -> None:
    """The bias is real: no gap is planted, and the ratio of many small groups is far below 1."""
    two, many = (ratios(cohort(600, [f"g{i}" for i in range(k)]), 0.5)["alert_rate"] for k in (2, 12))
    assert 0 < many["value"] < two["value"] <= 1
    assert "biased downwards" in many["reason"]


def test_demographic_parity_is_never_judged() -> None:
    found = subgroups(
        cohort(600, ["a", "b"], lift=0.3), at_threshold(0.5), settings={"margin": {"alert_rate": 0.01}}, draws=DRAWS
    )
    ratio = [row for row in found.comparisons if row["kind"] == "ratio" and row["against"] == "all groups"]
    assert {row["verdict"] for row in ratio} == {"not_assessed"}


def test_groups_that_are_all_right_are_not_proven_equal() -> None:
    outcome = np.tile([1.0, 0.0, 0.0], 60)
    scores = Scores.of(
        {"outcome": outcome, "risk": np.where(outcome > 0, 0.9, 0.1)},
        groups={"g": ["a"] * 90 + ["b"] * 60 + ["c"] * 30},
    )
    row = ratios(scores, 0.5)["sensitivity"]
    assert (row["value"], row["low"], row["high"], row["se"]) == (1.0, None, None, None)
    assert "every resample gives the same ratio" in row["reason"]


def test_a_handful_of_rows_has_no_interval_of_its_ratio() -> None:
    scores = cohort(300, ["a", "b"], seed=3)
    few = np.concatenate([np.flatnonzero(scores.groups["g"].codes == 0)[:15], np.flatnonzero(scores.groups["g"].codes)])
    row = ratios(scores.take(few), 0.3)["alert_rate"]
    assert row["value"] is not None and row["low"] is None and "fewer than 20 rows" in row["reason"]
