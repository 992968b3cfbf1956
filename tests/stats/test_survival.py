"""Outcomes and censoring weights at a horizon: against R, exact fractions, and a case worked by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.oracles import Case, cases
from workup.stats.survival import NOBODY_FOLLOWED, at_horizon, kaplan_meier

WORKED = ([1, 2, 2, 2, 3, 3, 4, 5, 5, 6], [1, 0, 1, 1, 0, 1, 0, 1, 0, 0])


def test_with_tied_days_those_with_an_event_are_gone_before_the_censored_leave() -> None:
    found = at_horizon(*WORKED, horizon=3)
    assert found.weight == pytest.approx([1, 0, 1, 1, *[7 / 6] * 6], abs=1e-12)
    assert found.weight.sum() == pytest.approx(10, abs=1e-12)
    assert np.nansum(found.weight * found.outcome) / 10 == pytest.approx(25 / 60, abs=1e-12)
    assert 1 - kaplan_meier(*WORKED).at(3) == pytest.approx(25 / 60, abs=1e-12)


def _each_horizon(case: Case) -> list[dict[str, Any]]:
    return case.expected if isinstance(case.expected, list) else [case.expected]


@cases("time_to_event")
def test_weights_outcomes_and_risks_meet_r(case: Case) -> None:
    if "ipcw" not in _each_horizon(case)[0]:
        pytest.skip("censoring by a Cox model: no weights of ours")
    t, status = np.array(case.input["time"]), np.array(case.input["status"])
    w = np.ones(t.size) if case.input["weight"] is None else np.array(case.input["weight"], dtype=float)
    strata = np.array(case.input.get("stratum", np.zeros(t.size)))
    for expected in _each_horizon(case):
        outcome, weight, reasons = np.empty(t.size), np.empty(t.size), []
        for level in np.unique(strata):
            here = strata == level
            found = at_horizon(t[here], status[here], expected["horizon"], weight=w[here])
            outcome[here], weight[here] = found.outcome, found.weight
            reasons.append(found.reason)
        if expected.get("observed_risk", expected.get("risk_ipcw")) is None:
            assert reasons == [NOBODY_FOLLOWED]
            assert np.isnan(outcome).all() and not weight.any()
            continue
        assert reasons == [""] * len(reasons)
        assert weight == pytest.approx(np.array(expected["ipcw"], dtype=float), rel=1e-9)
        assert outcome == pytest.approx(np.array(expected["outcome"], dtype=float), nan_ok=True)
        assert (w * weight).sum() == pytest.approx(w.sum(), rel=1e-12)
        risk = np.nansum(w * weight * outcome) / w.sum()
        assert risk == pytest.approx(expected.get("survfit_risk", expected.get("risk_ipcw")), rel=1e-9)


def aalen_johansen(t: list[int], status: list[int], w: list[int], horizon: int) -> Fraction | None:
    """Risk of the event by the horizon in exact fractions, from its definition; None where the curve ends before it."""
    free, risk = Fraction(1), Fraction(0)
    for moment in sorted(set(t)):
        if moment > horizon:
            break
        at_risk = sum(v for u, v in zip(t, w, strict=True) if u >= moment)
        by = [sum(v for u, s, v in zip(t, status, w, strict=True) if (u, s) == (moment, k)) for k in (0, 1, 2)]
        risk += free * Fraction(by[1], at_risk)
        free *= 1 - Fraction(by[1] + by[2], at_risk)
    followed = any(u >= horizon for u in t)
    return risk if followed or free == 0 else None


rows = st.lists(st.tuples(st.integers(1, 6), st.sampled_from([0, 0, 1, 2]), st.integers(1, 4)), min_size=1, max_size=40)


@given(rows, st.integers(1, 7))
def test_two_identities_hold_on_tied_data(drawn: list[tuple[int, int, int]], horizon: int) -> None:
    t, status, w = (list(column) for column in zip(*drawn, strict=True))
    found = at_horizon(t, status, horizon, weight=w)
    risk = aalen_johansen(t, status, w, horizon)
    if risk is None:
        assert found.reason == NOBODY_FOLLOWED
        return
    assert found.reason == ""
    assert np.dot(w, found.weight) == pytest.approx(sum(w), rel=1e-12)
    assert np.nansum(np.array(w) * found.weight * found.outcome) / sum(w) == pytest.approx(float(risk), abs=1e-12)


@given(rows, st.integers(1, 7))
def test_a_whole_weight_is_a_repeated_row_and_weight_nought_is_no_row(
    drawn: list[tuple[int, int, int]], horizon: int
) -> None:
    t, status, w = (np.array(column) for column in zip(*drawn, strict=True))
    once = at_horizon(t, status, horizon, weight=w)
    repeated = at_horizon(np.repeat(t, w), np.repeat(status, w), horizon)
    assert np.repeat(once.weight, w) == pytest.approx(repeated.weight, rel=1e-12)
    absent = at_horizon(np.append(t, 9), np.append(status, 0), horizon, weight=np.append(w, 0))
    assert absent.reason == once.reason
    assert absent.weight[:-1] == pytest.approx(once.weight, rel=1e-12)


def test_competing_events_are_not_censorings() -> None:
    t, status = [1, 2, 3, 4], [2, 1, 0, 0]
    kept = at_horizon(t, status, 3)
    merged = at_horizon(t, [0 if s == 2 else s for s in status], 3)
    assert np.nansum(kept.weight * kept.outcome) / 4 == pytest.approx(1 / 4)
    assert np.nansum(merged.weight * merged.outcome) / 4 == pytest.approx(1 / 3)


def test_an_unknown_status_or_a_missing_time_is_refused() -> None:
    with pytest.raises(ValueError, match="status must be 0"):
        at_horizon([1, 2], [0, 3], 1)
    with pytest.raises(ValueError, match="follow-up time"):
        at_horizon([1, np.nan], [0, 1], 1)
