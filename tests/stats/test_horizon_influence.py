"""Figures at a horizon and their errors: against R, numerical derivatives, and the ways that go wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.oracles import Case, cases
from workup.stats.cox import cox
from workup.stats.horizon_influence import AtHorizon
from workup.stats.horizon_weights import CENSORED, HorizonWeights
from workup.stats.pseudo_values import cloglog_intercept, cloglog_slope, pseudo_values
from workup.stats.survival import aalen_johansen
from workup.stats.uno import UnoC

IJ, RISK_REGRESSION = 1e-5, 2e-2  # a numerical derivative; another form of the variance
FIGURES = {
    "observed_risk": AtHorizon.observed_risk,
    "auc": AtHorizon.auroc,
    "brier": AtHorizon.brier,
    "ipa": AtHorizon.scaled_brier,
    "calibration_slope": AtHorizon.slope,
    "calibration_in_the_large": AtHorizon.in_the_large,
}


class One:
    """One horizon of a case, with its rows."""

    def __init__(self, case: Case, expected: dict[str, Any], risk: np.ndarray) -> None:
        given = case.input
        self.expected, self.risk, self.tolerance = expected, risk, case.rel_tol
        self.t, self.status = case.array("time"), np.array(given["status"])
        n = self.t.size
        self.w = np.ones(n) if given["weight"] is None else case.array("weight")
        self.patient = np.arange(n) if given["patient"] is None else np.array(given["patient"])
        self.plain = given["weight"] is None and given["patient"] is None
        known: dict[str, Any] = {}
        if "x" in given:
            model = cox(self.t, self.status == CENSORED, case.array("x")[:, None], goes_first=self.status != CENSORED)
            seen = HorizonWeights.of(self.t, self.status, expected["horizon"])
            known = {"known_weights": 1 / model.before(seen.until), "through_model": model.through}
        self.seen = HorizonWeights.of(self.t, self.status, expected["horizon"], strata=given.get("stratum"), **known)
        self.at = AtHorizon(self.seen, risk, self.w)

    def near(self, name: str, value: float, tolerance: float | None = None) -> None:
        """Equal where the case has such a field."""
        expected = self.expected.get(name)
        if expected is not None:
            assert value == pytest.approx(expected, rel=tolerance or self.tolerance, abs=1e-12), name


def _each(case: Case) -> Iterator[One]:
    found = case.expected if isinstance(case.expected, list) else [case.expected]
    risks = case.array("p").reshape(len(found), -1)
    for expected, risk in zip(found, risks, strict=True):
        yield One(case, expected, risk)


@cases("time_to_event")
def test_figures_and_their_errors_meet_r(case: Case) -> None:
    for one in _each(case):
        if not one.seen.under(one.w[None, :]).estimable[0]:
            assert one.expected["auc"] is None and one.expected["observed_risk"] is None
            continue
        for name, figure in FIGURES.items():
            if one.expected.get(name) is None and name != "observed_risk":
                continue
            found = figure(one.at)
            one.near(name, found.value)
            one.near(f"{name}_se_ij", found.se(one.patient), IJ)
            one.near(f"{name}_se_riskRegression", found.se(one.patient), RISK_REGRESSION)
        one.near("survfit_risk", one.at.observed_risk().value)
        one.near("risk_ipcw", one.at.observed_risk().value)
        one.near("oe", float(np.exp(one.at.log_oe().value)))
        one.near("log_oe_se_ij", one.at.log_oe().se(one.patient), IJ)
        one.near("log_oe_se_fixed_e", one.at.log_oe(expected_fixed=True).se(one.patient), IJ)
        if one.expected.get("brier_null") is not None:
            f = float(aalen_johansen(one.t, one.status, one.w).at([one.seen.horizon]).event[0])
            one.near("brier_null", one.at.mean((one.at.outcome - f) ** 2).value)
        for name in ("auc", "brier"):  # the curve taken as known: no row acts through it
            known = HorizonWeights.of(one.t, one.status, one.seen.horizon, known_weights=one.at.v)
            fixed = FIGURES[name](AtHorizon(known, one.risk, one.w))
            if one.plain and f"{name}_se_conservative" in one.expected:
                n = one.t.size  # riskRegression divides by n where ours divides by n − 1
                one.near(f"{name}_se_conservative", fixed.se(one.patient), 1e-2 if n < 200 else 1e-3)


@cases("time_to_event")
def test_counts_weights_and_both_identities_meet_r(case: Case) -> None:
    for one in _each(case):
        e, h, w = one.expected, one.seen.horizon, one.w
        one.near("n_at_risk", w[one.t >= h].sum())
        one.near("n_events", w[one.seen.outcome == 1].sum())
        one.near("n_competing", w[(one.status == 2) & (one.t <= h)].sum())
        one.near("n_censored_before", w[one.seen.lost].sum())
        one.near("G_before_horizon", one.seen.followed(w))
        v, estimable = one.seen.under(w[None, :])
        if "ipcw" in e and estimable[0]:
            assert v[0] == pytest.approx(np.array(e["ipcw"], dtype=float), rel=1e-9)
            assert one.seen.outcome == pytest.approx(np.array(e["outcome"], dtype=float), nan_ok=True)
            one.near("sum_ipcw", float(w @ v[0]))
            one.near("ess", float((w @ v[0]) ** 2 / np.sum((w * v[0]) ** 2)))
            assert w @ v[0] == pytest.approx(w.sum(), rel=1e-12)
        if "stratum" in case.input:
            group = np.array(case.input["stratum"])
            for level, total in e["sum_ipcw_by_stratum"].items():
                here = group == int(level)
                assert v[0][here].sum() == pytest.approx(total, rel=1e-12)
                risk = aalen_johansen(one.t[here], one.status[here]).at([h]).event[0]
                assert risk == pytest.approx(e["risk_by_stratum"][level], rel=1e-9)
        if "risk_marginal" in e or "auc_marginal_censoring" in e:
            marginal = AtHorizon(HorizonWeights.of(one.t, one.status, h), one.risk, w)
            one.near("risk_marginal", marginal.observed_risk().value)
            one.near("auc_marginal_censoring", marginal.auroc().value)
            one.near("brier_marginal_censoring", marginal.brier().value)
        elif estimable[0]:
            johansen = float(aalen_johansen(one.t, one.status, w).at([h]).event[0])
            assert one.at.observed_risk().value == pytest.approx(johansen, rel=1e-12)


@cases("time_to_event")
def test_decisions_meet_r(case: Case) -> None:
    for one in _each(case):
        for row in one.expected.get("decisions", ()):
            t = row["threshold"]
            for name in ("sensitivity", "specificity", "ppv", "npv"):
                found = one.at.share(name, t).value
                assert found == pytest.approx(np.nan if row[name] is None else row[name], rel=1e-6, nan_ok=True)
            flagged = one.at.flagged(t)
            assert one.w @ flagged / one.w.sum() == pytest.approx(row["alert_rate"], rel=1e-9)
            benefit = one.at.net_benefit(t)
            assert benefit.value == pytest.approx(row["net_benefit"], rel=1e-6, abs=1e-12)
            if row["net_benefit_se_ij"]:
                assert benefit.se(one.patient) == pytest.approx(row["net_benefit_se_ij"], rel=IJ)
            f = one.at.observed_risk().value
            assert f - (1 - f) * t / (1 - t) == pytest.approx(row["treat_all"], rel=1e-6)


@cases("time_to_event")
def test_concordance_to_the_horizon_meets_r(case: Case) -> None:
    for one in _each(case):
        if one.expected.get("uno_c") is None:
            continue
        ready = UnoC.of(one.seen, one.risk)
        found = ready.influence(one.w, one.risk)
        one.near("uno_c", found.value)
        one.near("uno_c", float(ready.under(one.w[None, :])[0]))
        one.near("uno_c_se_ij", found.se(one.patient), IJ)
        if "pec_cindex" in one.expected and np.unique(one.t).size == one.t.size:
            one.near("pec_cindex", found.value)


@cases("time_to_event")
def test_pseudo_values_are_the_cross_check(case: Case) -> None:
    for one in _each(case):
        if "pseudo_mean" not in one.expected:
            continue
        pseudo = pseudo_values(one.seen)
        one.near("pseudo_mean", float(pseudo.mean()))
        for name, line in (("intercept", cloglog_intercept), ("slope", cloglog_slope)):
            found = line(pseudo, one.risk)
            one.near(f"cloglog_{name}_pseudo", found.value)
            one.near(f"cloglog_{name}_pseudo_se", found.se)


@cases("time_to_event")
def test_complete_cases_are_another_answer(case: Case) -> None:
    for one in _each(case):
        if "naive_oe_complete_cases" not in one.expected:
            continue
        known, y = one.seen.known, one.at.outcome
        naive = y[known].mean() / one.risk[known].mean()
        one.near("naive_oe_complete_cases", naive)
        ours = float(np.exp(one.at.log_oe().value))
        if one.seen.lost.any():
            assert abs(ours - naive) > 1e-3
            assert abs(one.at.auroc().value - one.expected["naive_auc_complete_cases"]) > 1e-5
        else:
            assert ours == pytest.approx(naive, rel=1e-12)


def test_the_worked_example() -> None:
    t, status = [1, 2, 2, 2, 3, 3, 4, 5, 5, 6], [1, 0, 1, 1, 0, 1, 0, 1, 0, 0]
    risk = np.array([0.9, 0.5, 0.8, 0.3, 0.4, 0.6, 0.2, 0.5, 0.1, 0.3])
    at = AtHorizon(HorizonWeights.of(t, status, 3), risk, np.ones(10))
    assert at.auroc().value == pytest.approx(0.88, abs=1e-12)
    assert at.brier().value == pytest.approx(0.136833, abs=5e-7)
    assert at.scaled_brier().value == pytest.approx(0.43703, abs=5e-6)
    # Controls that must outlive the horizon, as others ask, leave those censored at it out.
    later = AtHorizon(HorizonWeights.of(t, status, 3 + 1e-9), risk, np.ones(10))
    assert later.auroc().value == pytest.approx(0.91, abs=5e-3)


rows = st.lists(
    st.tuples(st.integers(1, 6), st.integers(0, 2), st.integers(1, 9), st.sampled_from([0.5, 1.0, 2.0])),
    min_size=8,
    max_size=25,
)


@settings(max_examples=40)
@given(rows, st.integers(2, 6))
def test_influence_is_the_derivative_with_the_curve_re_estimated(table: list[Any], h: int) -> None:
    t, status, p, w = (np.array(column, dtype=float) for column in zip(*table, strict=True))
    seen = HorizonWeights.of(t, status, h)
    at = AtHorizon(seen, p / 10, w)
    if not seen.under(w[None, :]).estimable[0] or len(set(at.outcome[seen.known])) < 2:
        return

    def moved(figure: Any, i: int) -> float:
        ends = [w + sign * 1e-5 * w[i] * np.eye(t.size)[i] for sign in (1, -1)]
        up, down = (figure(AtHorizon(seen, p / 10, one)).value for one in ends)
        return float((up - down) / 2e-5)

    figures = [AtHorizon.auroc, AtHorizon.brier, AtHorizon.observed_risk, AtHorizon.scaled_brier, AtHorizon.log_oe]
    for figure in figures:
        found = figure(at).rows
        for i in (0, t.size - 1):
            assert found[i] == pytest.approx(moved(figure, i), rel=1e-4, abs=1e-7)

    def c(weight: np.ndarray) -> float:
        return float(UnoC.of(seen, p / 10).under(weight[None, :])[0])

    if np.isfinite(c(w)):
        found = UnoC.of(seen, p / 10).influence(w, p / 10).rows
        for i in (0, t.size - 1):
            step = 1e-5 * w[i] * np.eye(t.size)[i]
            assert found[i] == pytest.approx((c(w + step) - c(w - step)) / 2e-5, rel=1e-4, abs=1e-7)


@given(rows, st.integers(2, 6))
def test_concordance_is_the_sum_over_pairs(table: list[Any], h: int) -> None:
    t, status, p, w = (np.array(column, dtype=float) for column in zip(*table, strict=True))
    seen = HorizonWeights.of(t, status, h)
    v, estimable = seen.under(w[None, :])
    if not estimable[0]:
        return
    top = bottom = 0.0
    for i in np.flatnonzero((status == 1) & (t <= h)):
        for j in range(t.size):
            beats = float(p[i] > p[j]) + 0.5 * float(p[i] == p[j])
            if t[j] > t[i] or (t[j] == t[i] and status[j] == 0):
                pair = w[i] * w[j] * v[0, i] ** 2
            elif status[j] == 2 and t[j] <= t[i]:
                pair = w[i] * w[j] * v[0, i] * v[0, j]
            else:
                continue
            top, bottom = top + pair * beats, bottom + pair
    found = UnoC.of(seen, p).under(w[None, :])[0]
    assert found == pytest.approx(top / bottom if bottom else np.nan, rel=1e-9, nan_ok=True)


def test_weights_taken_as_known_make_briers_error_too_wide() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=600)
    event, lost = rng.exponential(np.exp(-x)), rng.exponential(0.8, size=600)
    t, status = np.minimum(event, lost), (event <= lost).astype(int)
    seen = HorizonWeights.of(t, status, 0.8)
    risk = 1 - np.exp(-0.8 * np.exp(x))
    at = AtHorizon(seen, risk, np.ones(600))
    known = AtHorizon(HorizonWeights.of(t, status, 0.8, known_weights=at.v), risk, np.ones(600))
    patients = np.arange(600)
    assert known.brier().se(patients) > 1.05 * at.brier().se(patients)
    assert known.auroc().se(patients) == pytest.approx(at.auroc().se(patients), rel=0.02)


def test_landmarks_of_one_patient_are_not_independent() -> None:
    rng = np.random.default_rng(5)
    t, status, p = rng.exponential(size=100), rng.integers(0, 2, 100), rng.random(100)
    four = [np.repeat(one, 4) for one in (t, status, p)]
    at = AtHorizon(HorizonWeights.of(four[0], four[1], 0.7), four[2], np.ones(400))
    once = AtHorizon(HorizonWeights.of(t, status, 0.7), p, np.ones(100))
    clustered = at.brier().se(np.repeat(np.arange(100), 4))
    assert clustered == pytest.approx(once.brier().se(np.arange(100)), rel=1e-9)
    assert at.brier().se(np.arange(400)) < 0.55 * clustered
