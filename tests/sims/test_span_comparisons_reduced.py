"""Equal detectors at reduced size: told apart no oftener than chance allows, by the test and by every interval."""

from __future__ import annotations

import pytest

from sims import span_comparisons
from sims.repetitions import Size, run

SMALL = Size(repetitions=150, replicates=200)


@pytest.mark.parametrize("name", ["equal, 30 patients, 3% missed", "equal, 100 patients, 15% missed"])
def test_equal_systems_are_left_in_peace(name: str) -> None:
    found = run(span_comparisons, size=SMALL, only=lambda cell: cell.name == name)
    assert {one["metric"] for one in found} == {
        *("recall", "precision", "f1", "leak_rate_document", "leak_rate_patient", "sign flip"),
    }
    assert [one for one in found if not one["ok"]] == []


def test_a_planted_gap_is_covered() -> None:
    [found] = run(
        span_comparisons,
        size=SMALL,
        only=lambda cell: cell.settings["kind"] == "planted" and cell.settings["patients"] == 100,
    )
    assert found["ok"] and found["truth"] == pytest.approx(0.05)


def test_golds_taken_as_independent_are_told_apart_far_too_often() -> None:
    """Why the test on patients is the one to go by."""
    found = run(
        span_comparisons,
        size=Size(80, 200),
        only=lambda cell: cell.name == "equal, by other means, 100 patients, 15% missed",
    )
    [on_golds] = [one for one in found if one["metric"] == "McNemar on golds"]
    assert on_golds["rate"] < 0.9
    assert on_golds["ok"] is None
