"""The monitor's years at a reduced size: enough to see a broken limit or a deaf chart with every run of the tests."""

from __future__ import annotations

from sims import drift, drift_planted
from sims.repetitions import Cell, Size, run

YEARS = Size(repetitions=16)


def test_stable_years_are_left_in_peace() -> None:
    [found] = run(drift, size=YEARS, only=lambda cell: cell.name == "stable")
    # At 5 % more than 4 of 16 years would alarm once in a thousand times; with limits for one series half of them do.
    assert found["repetitions"] == 16
    assert found["covered"] >= 12


def test_a_planted_shift_of_calibration_and_a_wider_input_are_found() -> None:
    def quick(cell: Cell) -> bool:
        return cell.name in (f"{drift.CALIBRATION}, 25 events", f"{drift.VARIANCE}, 25 events")

    for found in run(drift_planted, size=YEARS, only=quick):
        assert found["covered"] >= 14, found["cell"]
