"""Review-corrected intervals at reduced size: every kind of reviewer covered, and errors that are ignored are not."""

from __future__ import annotations

import numpy as np
import pytest

from sims import review
from sims.repetitions import Cell, Size, run

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning:workup")


@pytest.mark.parametrize("error", ["right", "known", "counted", "estimated"])
def test_corrected_intervals_cover(error: str) -> None:
    """250 repetitions have a standard error of 1.4 points, by two of which the band is widened."""

    def chosen(cell: Cell) -> bool:
        of = cell.settings
        common = (of["patients"], of["icc"], of["silent"], of["systems"], of["sample"], of["wrong"])
        return of["error"] == error and common == (150, 0.3, 0.0, 2, 400, review.WRONG)

    found = run(review, size=Size(repetitions=250), only=chosen)
    assert found and [one for one in found if not one["ok"]] == []
    assert {one["metric"] for one in found} == {"recall", "precision"}


def test_errors_that_nobody_corrects_are_shown_to_mislead() -> None:
    found = run(review, size=Size(repetitions=100), only=lambda cell: cell.settings["error"] == "ignored")
    rates = {one["metric"]: one["rate"] for one in found}
    assert all(one["ok"] is None for one in found) and rates["precision"] < 0.5


def test_the_truth_is_that_of_the_regions_drawn() -> None:
    of = dict(review.cells(Size())[1].settings) | {"patients": 60_000}
    frame, identifier = review.regions(np.random.default_rng(1), of)
    found = (frame.hits[:, 0] + frame.alarms[:, 0]) > 0
    truth = review.truth(of)
    assert found[identifier].mean() == pytest.approx(truth["recall"], abs=0.003)
    assert identifier[found].mean() == pytest.approx(truth["precision"], abs=0.003)


def test_the_summary_is_that_of_the_judged_cells() -> None:
    found = run(review, size=Size(repetitions=20), only=lambda cell: cell.settings["patients"] in (60, 400))
    rows = {row["metric"]: row for row in review.summarise(found)}
    assert set(rows) == {"recall", "precision"}
    mine = [one["rate"] for one in found if one["metric"] == "recall" and one["band"] == [0.93, 1.0]]
    assert len(mine) == 4 and (rows["recall"]["lowest"], rows["recall"]["highest"]) == (min(mine), max(mine))
    assert review.summarise([])[0]["rate"] is None
