"""The simulation of run lengths at reduced size: stable years are left in peace, and what limits forget is seen."""

from __future__ import annotations

import numpy as np
import pytest

from sims import run_lengths
from sims.repetitions import Cell, Size, run
from workup.stats.charts.run_lengths import ewma_survival


def test_stable_years_are_left_in_peace() -> None:
    found = run(run_lengths, size=Size(repetitions=250), only=lambda cell: cell.band is not None)
    assert len(found) == 19
    assert [one for one in found if not one["ok"]] == []


def test_limits_that_forget_the_family_or_the_baseline_alarm_too_often() -> None:
    def forgetful(cell: Cell) -> bool:
        return cell.settings["kind"] == "year" and cell.band is None

    single, forty, ten = run(run_lengths, size=Size(repetitions=400), only=forgetful)
    assert single["rate"] == pytest.approx(1 - 0.601, abs=0.08)
    assert forty["rate"] == pytest.approx(1 - 0.102, abs=0.05)
    assert ten["rate"] == pytest.approx(1 - 0.323, abs=0.08)


@pytest.mark.filterwarnings("error::RuntimeWarning:workup")
def test_runs_and_years_of_real_windows_are_measured_and_not_judged() -> None:
    found = run(run_lengths, size=Size(repetitions=12), only=lambda cell: cell.settings.get("rows") == 50)
    assert all(one["ok"] is None and one["repetitions"] == 12 and one["insufficient"] == 0 for one in found)
    runs = [one for one in found if one["kind"] == "run"]
    assert len(runs) == 2 * 4 * len(run_lengths.LOOKS)
    quiet = {one["metric"]: one["rate"] for one in runs if one["baseline_windows"] is None}
    for name in ("auroc", "auroc, logit scale", "alert_rate, SE of the baseline"):
        rates = [quiet[f"{name}: no signal in {look} windows"] for look in run_lengths.LOOKS]
        assert rates == sorted(rates, reverse=True)
    # Fifty rows on the raw scale: DeLong's error is smallest where the AUROC is largest, so z is lopsided.
    assert quiet["auroc: no signal in 371 windows"] < quiet["auroc, logit scale: no signal in 371 windows"]
    summary = run_lengths.summarise(found)
    assert [one["ok"] for one in summary[:3]] == [True] * 3
    assert len(summary) == 3 + 4
    assert all(one["mean_run_length"] > 12 for one in summary[3:])


def test_run_lengths_of_normal_input_are_within_five_percent_of_their_design() -> None:
    for one in run_lengths.designs():
        assert one["runs"] == 10_000
        assert abs(one["rate"] - 1) < 0.05, one


def test_the_truth_of_the_statistics_is_that_of_the_cohort() -> None:
    drawn = run_lengths._windows(200_000, 1, np.random.default_rng(2))
    for name, truth in run_lengths._truths().items():
        value, se = drawn[name]
        assert abs(value[0] - truth) < 4 * se[0], name


def test_a_mean_from_a_few_looks() -> None:
    quiet = ewma_survival(371)
    found = run_lengths.mean_run_length(run_lengths.LOOKS, [quiet[look - 1] for look in run_lengths.LOOKS])
    assert found == pytest.approx(371.1, rel=0.005)
    assert run_lengths.mean_run_length((10, 20), (0.5, 0.5)) is None
    assert run_lengths.mean_run_length((10, 20), (0.5, 0.0)) == pytest.approx(10 * 0.5 / np.log(2) + 2.5 + 0.5)
