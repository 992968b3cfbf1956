"""The simulation of pooled means at reduced size: intervals cover what they promise, up to its Monte-Carlo error."""

from __future__ import annotations

import numpy as np
import pytest

from sims import meta_analysis
from sims.repetitions import FULL, Size, run

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


@pytest.mark.parametrize("tau", meta_analysis.TAUS)
def test_intervals_of_a_pooled_mean_cover(tau: float) -> None:
    found = run(
        meta_analysis,
        size=Size(repetitions=250),
        only=lambda cell: cell.settings["tau"] == tau and cell.settings["sites"] in (4, 10),
    )
    assert [one["interval"] for one in found] == ["adhoc", "adhoc", "knha", "knha", "prediction", "prediction"]
    assert [one for one in found if one["ok"] is False] == []
    assert all(one["insufficient"] == 0 and one["repetitions"] == 250 for one in found)
    cautious, plain, ahead = meta_analysis.summarise(found)
    assert cautious["lowest"] >= plain["lowest"] - 0.03
    assert 0.8 < ahead["lowest"] <= 1


def test_every_cell_is_asked() -> None:
    cells = meta_analysis.cells(FULL)
    asked = {(one.settings["interval"], one.settings["sites"], one.settings["tau"]) for one in cells}
    assert len(cells) == len(asked) == 36
    assert len({one.name for one in cells}) == 36
    assert {one.band for one in cells} == {(0.935, 1.0), (0.93, 0.97), None}


def test_variances_are_those_of_sites_of_100_to_2000_patients() -> None:
    drawn = meta_analysis.variances(np.random.default_rng(1), 20_000)
    assert drawn.min() == pytest.approx(0.0076, abs=0.0001)
    assert drawn.max() == pytest.approx(0.153, abs=0.002)
