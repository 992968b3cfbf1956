"""Updates and chosen thresholds at reduced size: judged cells in their bands, common ways shown to fail."""

from __future__ import annotations

import pytest

from sims import updating
from sims.repetitions import Cell, Size, run

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning:workup")


def _rates(kind: str, size: Size, **settings: object) -> dict[str, float]:
    def chosen(cell: Cell) -> bool:
        return cell.settings["kind"] == kind and all(cell.settings[name] == value for name, value in settings.items())

    found = run(updating, size=size, only=chosen)
    assert found
    assert [one for one in found if one["ok"] is False] == []
    return {one["metric"]: one["rate"] for one in found}


@pytest.mark.parametrize("predictors", [0, 4])
def test_a_model_that_is_right_is_seldom_updated(predictors: int) -> None:
    _rates("closed test", Size(repetitions=400), patients=300, rows_per_patient=1, predictors=predictors)


def test_likelihood_ratios_on_repeated_rows_update_too_often() -> None:
    found = _rates("closed test", Size(repetitions=400), patients=100, rows_per_patient=4, predictors=0)
    assert found[updating.AS_INDEPENDENT] > 0.10 > found["updated"]


@pytest.mark.parametrize(("events", "rows"), [(50, 1), (100, 3)])
def test_thresholds_do_on_new_patients_what_is_said_of_them(events: int, rows: int) -> None:
    found = _rates("threshold", Size(repetitions=150, replicates=150), events=events, rows_per_patient=rows)
    assert found["naive target met"] < 0.6 < found["assured target met"]


def test_a_cross_fitted_report_tells_the_calibration_of_the_updated_model() -> None:
    found = _rates("honest", Size(repetitions=60), truth_of="risks too extreme", events=200)
    assert set(found) >= {"oe_ratio", "calibration_slope"}


def test_the_summary_gives_the_range_of_every_answer() -> None:
    found = run(updating, size=Size(repetitions=20), only=lambda cell: "right model" in cell.name)
    [summary] = [one for one in updating.summarise(found) if one["metric"] == "updated"]
    assert summary["lowest"] <= summary["highest"]
