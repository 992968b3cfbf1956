"""Intervals of span metrics at reduced size: they cover as they promise, and fail where too few patients tell."""

from __future__ import annotations

import numpy as np
import pytest

from sims import spans_coverage
from sims.repetitions import Cell, Size, run, within
from sims.spans_coverage import METRICS, Population

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning:workup")

# Wider than at full size, since few cells are looked at and each with a few hundred samples. Where units cluster in
# patients intervals are conservative by choice, and judged below alone.
BAND, CLUSTERED = (0.92, 0.98), (0.92, 1.0)


@pytest.mark.parametrize("icc", [0.0, 0.2])
def test_intervals_of_span_metrics_cover(icc: float) -> None:
    def chosen(cell: Cell) -> bool:
        return cell.settings["patients"] == 200 and cell.settings["recall"] == 0.95 and cell.settings["icc"] == icc

    found = run(spans_coverage, size=Size(repetitions=300), only=chosen)
    assert sorted(one["metric"] for one in found) == sorted(METRICS)
    assert all(one["insufficient"] == 0 and one["truth"] is not None for one in found)
    bands = {one["metric"]: BAND if one["metric"] == "leak_rate_patient" else CLUSTERED for one in found}
    assert [one for one in found if not within(one["rate"], one["se"], bands[one["metric"]])] == []


def test_few_patients_always_answer() -> None:
    found = run(spans_coverage, size=Size(repetitions=40), only=lambda cell: cell.settings["patients"] == 20)
    assert len(found) == 6 * len(METRICS)
    assert all(one["repetitions"] == 40 and one["ok"] is None for one in found)
    assert sum(one["covered"] for one in found) > 0.85 * sum(one["repetitions"] for one in found)


def test_only_cells_with_enough_patients_are_judged() -> None:
    cells = spans_coverage.cells(Size(repetitions=2))
    results = [{"cell": cell.name, **cell.settings, "metric": "recall", "rate": 0.9, "se": 0.001} for cell in cells]
    judged, others = spans_coverage.summarise(results)
    assert judged["ok"] is False and others["ok"] is None
    assert judged["cells"] + others["cells"] == len(cells) == 18
    assert len(judged["outside"]) == judged["cells"]


@pytest.mark.parametrize("icc", [0.0, 0.2])
def test_the_truth_is_that_of_the_population_drawn(icc: float) -> None:
    """One large sample agrees with the formulas."""
    population = Population(100_000, 0.95, icc)
    scores = population.draw(np.random.default_rng(1))
    for metric in spans_coverage.metrics():
        assert metric.value(scores) == pytest.approx(population.truth[metric.name], abs=0.004), metric.name


def test_golds_of_one_patient_share_their_chance() -> None:
    alike, apart = Population(1, 0.9, 0.2), Population(1, 0.9, 0.0)
    golds = np.array([0, 1, 2])
    assert apart.all_found(golds) == pytest.approx([1, 0.9, 0.81])
    assert alike.all_found(golds) == pytest.approx([1, 0.9, 0.81 + 0.2 * 0.09])  # the ICC is a correlation of hits
