"""The plan: what it refuses, what it promises, and what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.monitored import small_plan, small_year
from workup.errors import InputError, StudyError
from workup.monitor import promise
from workup.monitor.equivalence import equivalence
from workup.monitor.plan import FEED as FEED_SHARE
from workup.monitor.plan import LABELS, LINES, ROWS, Plan
from workup.monitor.plan_page import sections
from workup.monitor.promise import waiting_times
from workup.monitor.simulated_year import plan_of
from workup.monitor.updating import promised_by
from workup.reports.markdown import section_markdown
from workup.stats.charts.run_lengths import ewma_run_length


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"owner": ""}, "no owner"),
        ({"action": " "}, "no action"),
        ({"watch": []}, "watch"),
        ({"watch": [{"metric": "auroc", "limit": 0}]}, "limit"),
        ({"watch": [{"metric": "auroc", "limit": 0.1, "high": 0.05}]}, "must not be below"),
        ({"watch": [{"metric": "auroc", "limit": 0.1, "chart": "ewna"}]}, "did you mean 'ewma'"),
        ({"watch": [{"metric": "auroc", "limit": 0.1, "by": "sex", "gap": "sex"}]}, "more than one"),
        ({"watch": [{"metric": "auroc", "limit": 0.1, "by": "sec"}]}, "did you mean 'sex'"),
        ({"watch": [{"metric": "auroc", "limit": 0.1}] * 2}, "watch the same"),
        ({"watch": [{"metric": "auroc", "limit": 0.1, "cadence": "hour"}]}, "cadence"),
        ({"versions": {"2": {}}}, "exactly one"),
        ({"versions": {"2": {"equivalent_to": "1"}}}, "needs 'pairs'"),
        ({"versions": {"1": {"baseline": {"until": "2025-01-01"}}}}, "at the top and under versions"),
        ({"baseline": {"until": "soon"}}, "baseline.until"),
        ({"task": "scores"}, "needs columns.scores"),
        ({"measures": {"recall": {"numerator": "found"}}}, "not one of columns.scores"),
        ({"chance": 0}, "chance"),
        ({"nonsense": 1}, "not a known field"),
    ],
)
def test_a_plan_that_cannot_be_followed_is_refused_in_words(change: dict[str, Any], said: str) -> None:
    with pytest.raises(StudyError, match=said):
        Plan.of(plan_of() | change)


def test_a_plan_is_told_from_another_by_all_that_it_says() -> None:
    plan = small_plan()
    assert Plan.of(plan.record()).sha256 == plan.sha256
    assert small_plan(owner="someone else").sha256 != plan.sha256


def test_the_chance_of_a_false_alarm_is_shared_out_whole() -> None:
    assert pytest.approx(1.0) == LINES + ROWS + LABELS + 2 * FEED_SHARE


def test_the_plan_is_printed_with_its_promise_and_who_does_what() -> None:
    plan = small_plan()
    year = small_year()
    found = sections(plan, promised_by(plan, year.predictions, year.outcomes))
    text = "\n".join(section_markdown(section, "#") for section in found)
    assert "at most 5 % of stable years" in text
    assert "Ward lead for readmissions" in text and "Model oversight board" in text
    assert "expected windows" in text
    rows = found[1].tables[0].rows
    assert [row[0] for row in rows] == ["auroc: everyone", "auroc: sex F", "auroc: sex M"]
    assert all(row[4] == "–" or float(row[4]) >= 2 for row in rows)
    unknown = sections(plan)[1]
    assert "Not known without the baseline" in unknown.sentences[0]


def test_a_larger_change_is_promised_to_be_noticed_sooner() -> None:
    waits = [
        waiting_times("ewma", 3.5, shift=shift, least=2.0, baseline_share=0.08, runs=2_000).mean()
        for shift in (2.0, 3.0, 5.0)
    ]
    assert waits[0] > waits[1] > waits[2] >= 1


@pytest.mark.parametrize("chart", ["ewma", "cusum", "xmr"])
def test_a_change_far_above_every_limit_is_noticed_at_once(chart: str) -> None:
    assert waiting_times(chart, 4.0, shift=40.0, least=2.0, baseline_share=0.0, runs=200).max() == 1


def test_without_the_other_conditions_the_wait_is_the_run_length_of_the_chart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chart that starts at its centre and needs nothing but its own signal runs as long as theory says."""
    monkeypatch.setattr(promise, "_STABLE", 0)
    waits = waiting_times("ewma", 2.86, shift=1.5, least=-np.inf, baseline_share=0.0)
    exact = ewma_run_length(limit=2.86, shift=1.5)
    assert waits.mean() == pytest.approx(exact, abs=4 * waits.std() / np.sqrt(waits.size))


def pairs(folder: Path, noise: float, rows: int = 4_000) -> Any:
    rng = np.random.default_rng(3)
    logit = rng.normal(-1, 1.2, rows)
    happened = rng.random(rows) < 1 / (1 + np.exp(-logit))
    risks = [1 / (1 + np.exp(-(logit + rng.normal(0, spread, rows)))) for spread in (0.0, noise)]
    lines = "\n".join(f"{int(y)},{a:.6f},{b:.6f}" for y, a, b in zip(happened, *risks, strict=True))
    (folder / "pairs.csv").write_text("readmitted,risk_before,risk_after\n" + lines + "\n")
    part = {"equivalent_to": "1", "from": "2025-04-01", "pairs": "pairs.csv", "metric": "auroc", "margin": 0.02}
    plan = small_plan(versions={"2": part})
    return plan, plan.versions["2"]


@pytest.mark.parametrize(("noise", "same"), [(0.05, True), (1.5, False)])
def test_equivalence_is_an_interval_within_the_margin(tmp_path: Path, noise: float, same: bool) -> None:
    plan, part = pairs(tmp_path, noise)
    found = equivalence(plan, part, tmp_path)
    assert found["equivalent"] is same
    assert found["low"] < found["difference"] < found["high"]


def test_few_pairs_show_no_equivalence(tmp_path: Path) -> None:
    plan, part = pairs(tmp_path, 0.3, rows=60)
    assert equivalence(plan, part, tmp_path)["equivalent"] is False


def test_pairs_that_are_no_risks_are_refused(tmp_path: Path) -> None:
    plan, part = pairs(tmp_path, 0.1, rows=30)
    text = (tmp_path / "pairs.csv").read_text()
    (tmp_path / "pairs.csv").write_text(text.replace("risk_after", "risk_later"))
    with pytest.raises(InputError, match="risk_after"):
        equivalence(plan, part, tmp_path)
