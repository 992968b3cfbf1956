"""The simulations of decision curves, overall fit and case mix at reduced size."""

from __future__ import annotations

import pytest

from sims import case_mix, decision_curves, overall_fit
from sims.repetitions import Cell, Size, run


@pytest.mark.parametrize(("patients", "rows"), [(200, 1), (200, 5)])
def test_bands_of_decision_curves_cover(patients: int, rows: int) -> None:
    def chosen(cell: Cell) -> bool:
        return (cell.settings["patients"], cell.settings["rows_per_patient"]) == (patients, rows)

    found = run(decision_curves, size=Size(repetitions=400), only=chosen)
    assert len(found) == len(decision_curves.THRESHOLDS) * len(decision_curves.ANSWERS)
    assert [one for one in found if not one["ok"]] == []
    assert all(one["ok"] for one in decision_curves.summarise(found))


@pytest.mark.parametrize("rows", [1, 5])
def test_the_interval_of_r2_covers_and_spiegelhalters_test_holds_its_level(rows: int) -> None:
    def chosen(cell: Cell) -> bool:
        return (cell.settings["patients"], cell.settings["rows_per_patient"]) == (200, rows)

    found = run(overall_fit, size=Size(repetitions=250, replicates=500), only=chosen)
    assert sorted(one["metric"] for one in found) == sorted(overall_fit.ANSWERS)
    assert [one for one in found if not one["ok"]] == []


def test_intervals_of_standardised_differences_cover() -> None:
    found = run(case_mix, size=Size(repetitions=400))
    assert [one for one in found if one["ok"] is False] == []
    assert {one["difference"] for one in found if one["ok"] is None} == {case_mix.SKEWED}
