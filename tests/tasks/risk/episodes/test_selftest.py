"""The self-test of episodes passes on the scorer as it is, and fails on scorers broken in the ways seen in practice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workup.tasks.risk.episodes import alarms, evaluation, fates, selftest


def failures(monkeypatch: pytest.MonkeyPatch, *names: str) -> set[str]:
    """Names of the checks that fail when only these are run."""
    monkeypatch.setattr(selftest, "_CHECKS", {name: selftest._CHECKS[name] for name in names})
    return {check.name for check in selftest.run() if not check.passed}


def test_every_check_passes_on_the_scorer_as_it_is() -> None:
    checks = selftest.run()
    assert {check.name: check.observed for check in checks if not check.passed} == {}
    assert len({check.name for check in checks}) == len(checks) > 50
    for part in selftest._CHECKS:
        assert any(check.name.startswith(f"{part}: ") for check in checks), part


def test_scores_after_the_event_as_false_alarms(monkeypatch: pytest.MonkeyPatch) -> None:
    def after_is_control(*given: Any) -> fates.Fates:
        found = fates.fates_of(*given)
        return found._replace(fate=np.where(found.fate == fates.AFTER_EVENT, np.int8(fates.CONTROL), found.fate))

    monkeypatch.setattr(evaluation, "fates_of", after_is_control)
    found = failures(monkeypatch, "by hand", "planted stays")
    assert {"by hand: predictions that are control", "planted stays: alert_ppv"} <= found


def test_an_event_in_the_gap_as_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    def late_is_case(*given: Any) -> fates.Fates:
        found = fates.fates_of(*given)
        return found._replace(fate=np.where(found.fate == fates.LATE, np.int8(fates.CASE), found.fate))

    monkeypatch.setattr(evaluation, "fates_of", late_is_case)
    assert {"by hand: predictions that are case", "a gap: flagged with a gap of 6 h"} <= failures(
        monkeypatch, "by hand", "a gap"
    )


def test_every_alert_of_a_burst_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def never_silent(threshold: float, inside: Any, stays: Any, part: Any) -> Any:
        return alarms.fired_at(threshold, inside, stays, part.model_copy(update={"refractory": part.gap}))

    monkeypatch.setattr(evaluation, "fired_at", never_silent)
    found = failures(monkeypatch, "by hand", "planted stays")
    assert {"by hand: alerts", "planted stays: alarm_rate"} <= found


def test_another_seed_draws_other_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "_CHECKS", {"who watches longer": selftest._CHECKS["who watches longer"]})
    first, again, second = selftest.run(seed=0), selftest.run(seed=0), selftest.run(seed=1)
    assert first == again
    assert [check.observed for check in first] != [check.observed for check in second]
    assert all(check.passed for check in second)
