"""Planned power at reduced size: every judged cell within its band, the common formulas far below."""

from __future__ import annotations

import pytest

from sims import power
from sims.repetitions import Size, run

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning:workup")

REDUCED = Size(repetitions=400)


@pytest.mark.parametrize("kind", ["proportions", "patients", "family", "leak", "decay"])
def test_planned_power_is_reached(kind: str) -> None:
    """400 repetitions have a standard error of 2 points, by two of which the band is widened."""
    found = run(power, size=REDUCED, only=lambda cell: cell.settings["kind"] == kind)
    assert [one for one in found if one["ok"] is False] == []
    assert any(one["ok"] for one in found)
    assert all(one["repetitions"] == 400 for one in found)


def test_planned_power_of_two_aucs_is_reached() -> None:
    def one_size(cell: power.Cell) -> bool:
        return cell.settings["kind"] == "auc" and cell.settings["prevalence"] == 0.3

    found = run(power, size=REDUCED, only=one_size)
    assert [one["ok"] for one in found] == [True, True, None]


def test_common_formulas_are_shown_to_fall_short() -> None:
    names = ("no factor 2", "75 events a group", "correlation 0.5 assumed")
    for name, most in zip(names, (0.58, 0.36, 0.58), strict=True):
        [found] = run(power, size=Size(repetitions=200), only=lambda cell, name=name: name in cell.name)  # type: ignore[misc]
        assert found["ok"] is None
        assert found["rate"] < most + 0.04


def test_the_summary_names_the_cell_farthest_from_plan_and_what_was_not_judged() -> None:
    found = run(power, size=Size(repetitions=60), only=lambda cell: cell.settings["kind"] == "proportions")
    worst, *shown = power.summarise(found)
    judged = [one for one in found if one["band"] is not None]
    assert abs(worst["rate"] - 0.8) == max(abs(one["rate"] - 0.8) for one in judged)
    assert len(shown) == len(found) - len(judged) == 2
    assert power.summarise([])[0]["rate"] is None
