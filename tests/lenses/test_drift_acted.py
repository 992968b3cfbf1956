"""Rows that someone acted on: no alert from them alone, and what is held back is listed."""

from __future__ import annotations

import numpy as np

from tests.support.planted_months import (
    STABLE,
    Month,
    looked,
    months,
    planted,
    with_values,
)
from workup.lenses.drift.lens import FEEDBACK
from workup.scores import Scores

# ---- rows that were acted on -----------------------------------------------------------------------------------------


def acted(scores: Scores, *, effective: bool, share: float = 0.5, seed: int = 4) -> Scores:
    """From month nine on half of all rows are acted on; where that works, no one acted on has the event."""
    rng = np.random.default_rng(seed)
    late = scores.time >= np.datetime64("2023-11-01")
    chosen = late & (rng.random(len(scores)) < share)
    outcome = np.where(chosen & effective, scores["outcome"] * (rng.random(len(scores)) < 0.2), scores["outcome"])
    return with_values(scores, outcome=outcome, acted=chosen)


def test_a_change_that_shows_in_acted_rows_alone_is_held_back_and_listed() -> None:
    scores = acted(planted(months((10, Month(rows=2000)), (3, Month(rows=2000))), groups=False), effective=True)
    result = looked(scores, baseline=10, follow=["oe_ratio"])
    assert result.alerts == ()
    held = result.tables["held_back"]
    assert {row["metric"] for row in held} == {"oe_ratio"} and held[0]["window"] in ("2023-11", "2023-12")
    assert held[0]["effect"] < -0.2
    assert "rows that were not acted on changed by" in held[0]["reason"]
    assert FEEDBACK in result.notes


def test_the_same_change_in_rows_that_no_one_acted_on_is_an_alert() -> None:
    plain = planted(months((10, Month(rows=2000)), (3, Month(rows=2000, shift=-1.0))), groups=False)
    result = looked(acted(plain, effective=False), baseline=10, follow=["oe_ratio"])
    assert [row["metric"] for row in result.alerts] == ["oe_ratio"]
    assert result.tables["held_back"] == []


def test_who_is_not_acted_on_is_compared_with_the_like_rows_of_the_baseline() -> None:
    """Those at high risk are acted on always: the rest rank worse than everyone, and always did."""
    plain = planted(months((10, Month(rows=2000)), (3, Month(rows=2000))), groups=False)
    late = plain.time >= np.datetime64("2023-11-01")
    chosen = plain["risk"] > np.median(plain["risk"])
    rng = np.random.default_rng(1)
    treated = late & chosen & (rng.random(len(plain)) < 0.9)
    scores = with_values(plain, acted=chosen, outcome=np.where(treated, 0.0, plain["outcome"]))
    result = looked(scores, baseline=10)
    assert result.alerts == ()
    assert result.tables["held_back"] and "changed by" in result.tables["held_back"][0]["reason"]


def test_with_too_few_rows_left_that_no_one_acted_on_nothing_is_raised() -> None:
    scores = acted(
        planted(months((10, Month(rows=900)), (3, Month(rows=900))), groups=False), effective=True, share=0.95
    )
    result = looked(scores, baseline=10, follow=["oe_ratio"])
    assert result.alerts == ()
    assert "too few rows were not acted on" in result.tables["held_back"][0]["reason"]


def test_a_window_that_is_held_back_is_not_a_quiet_one() -> None:
    plain = planted(
        months((10, Month(rows=2000)), (2, Month(rows=2000, shift=-1.2)), (3, Month(rows=2000))), groups=False
    )
    late = plain.time >= np.datetime64("2024-01-01")
    rng = np.random.default_rng(2)
    chosen = late & (rng.random(len(plain)) < 0.7)
    outcome = np.where(chosen, plain["outcome"] * (rng.random(len(plain)) < 0.1), plain["outcome"])
    result = looked(with_values(plain, acted=chosen, outcome=outcome), baseline=10, quiet=1, follow=["oe_ratio"])
    [alert] = result.alerts
    assert len(result.tables["held_back"]) >= 2
    assert (alert["state"], alert["quiet"], alert["last_window"]) == ("open", 0, "2023-12")


def test_figures_are_shown_for_all_rows_and_for_those_not_acted_on() -> None:
    scores = acted(planted(months((10, STABLE), (2, STABLE)), groups=False), effective=True)
    found = {(e.slice["window"], e.slice.get("acted")): e.n_rows for e in looked(scores, baseline=10).estimates}
    assert set(found) == {("baseline", None), ("baseline", "no"), ("latest", None), ("latest", "no")}
    assert found["latest", "no"] < found["latest", None] == 600
    assert found["baseline", "no"] == found["baseline", None] == 6000
