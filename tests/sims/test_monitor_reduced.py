"""A year of the monitor, and a promise kept, with every run of the tests."""

from __future__ import annotations

from sims import monitor


def test_a_planted_drift_is_alerted_soon_and_nothing_else_is() -> None:
    found = monitor.drifted_year(0)
    assert found["innocent"] == []
    assert found["delay"] in (1, 2, 3)


def test_a_change_as_large_as_the_limit_is_noticed_about_when_it_was_promised() -> None:
    waits = [monitor.waited(number) for number in range(6)]
    assert all(1.5 < promised < 6 for promised, _ in waits)
    seen = [12 if wait is None else wait for _, wait in waits]
    assert 1 <= sum(seen) / len(seen) <= 8
