"""Intervals at a horizon at reduced size: they cover with a third or more lost, and complete cases do not."""

from __future__ import annotations

import pytest

from sims import time_to_event
from sims.repetitions import Size, run

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning:workup")


@pytest.mark.parametrize(("patients", "landmarks"), [(150, 1), (150, 4)])
def test_intervals_at_a_horizon_cover_and_complete_cases_do_not(patients: int, landmarks: int) -> None:
    found = run(
        time_to_event,
        size=Size(repetitions=250, replicates=200),
        only=lambda cell: (
            cell.settings["patients"] == patients
            and len(cell.settings["landmarks"]) == landmarks
            and cell.settings["censoring"] == 0.6
        ),
    )
    assert {one["metric"] for one in found} == {*time_to_event.METRICS, time_to_event.NAIVE}
    assert [one for one in found if not one["ok"]] == []
    assert all(one["ok"] for one in time_to_event.summarise(found))
    [naive] = [one for one in found if one["metric"] == time_to_event.NAIVE]
    assert naive["rate"] < 0.7 and naive["above"] > 10 * naive["below"]
