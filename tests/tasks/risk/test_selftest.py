"""The self-test passes on the scorer as it is, and fails on scorers broken in the ways seen in practice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import workup.metric
from workup.scores import Scores
from workup.stats import bootstrap, calibration, rank
from workup.stats.arrays import Floats
from workup.tasks.risk import calibration_metrics, discrimination, metrics, selftest

# The checks that need no cohort of thousands: enough to see most faults, and quick.
QUICK = ("ranking", "constant risk", "swapped", "one class", "by hand", "row order", "integer weight")


def failures(monkeypatch: pytest.MonkeyPatch, *names: str) -> set[str]:
    """Names of the checks that fail when only these are run."""
    chosen = {name: selftest._CHECKS[name] for name in names}
    monkeypatch.setattr(selftest, "_CHECKS", chosen)
    return {check.name for check in selftest.run() if not check.passed}


def test_every_check_passes_on_the_scorer_as_it_is() -> None:
    checks = selftest.run()
    assert {check.name: check.observed for check in checks if not check.passed} == {}
    assert len({check.name for check in checks}) == len(checks) > 100
    for part in selftest._CHECKS:
        assert any(check.name.startswith(f"{part}: ") for check in checks), part


def test_another_seed_draws_other_cohorts_and_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "_CHECKS", {"calibrated cohort": selftest._CHECKS["calibrated cohort"]})
    first, second = selftest.run(seed=0), selftest.run(seed=1)
    assert [check.observed for check in first] != [check.observed for check in second]
    assert all(check.passed for check in second)


def test_same_seed_gives_the_same_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "_CHECKS", {"swapped": selftest._CHECKS["swapped"]})
    assert selftest.run(seed=3) == selftest.run(seed=3)


# ---- scorers that are broken -----------------------------------------------------------------------------------------


def _penalised(scores: Scores, weights: Floats) -> Floats:
    """The slope with an L2 penalty of 1, as a classifier with default settings fits it."""
    outcome, lp = scores["outcome"], calibration.logit(scores["risk"])
    found = []
    for weight in weights:
        a = b = 0.0
        for _ in range(50):
            mu = 1 / (1 + np.exp(-(a + b * lp)))
            w = weight * mu * (1 - mu)
            hessian = np.array([[w.sum(), w @ lp], [w @ lp, w @ lp**2 + 1.0]])
            step = np.linalg.solve(hessian, [weight @ (outcome - mu), weight @ ((outcome - mu) * lp) - b])
            a, b = a + step[0], b + step[1]
        found.append(b)
    return np.array(found)


def _joint_intercept(scores: Scores, weights: Floats) -> Floats:
    outcome, lp = scores["outcome"], calibration.logit(scores["risk"])
    return np.array([calibration.joint_intercept(outcome, lp, weight).value for weight in weights])


def test_a_penalised_slope_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration_metrics, "_slope_replicates", _penalised)
    assert "by hand: slope" in failures(monkeypatch, "by hand")


def test_a_joint_intercept_in_place_of_in_the_large_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration_metrics, "_in_the_large_replicates", _joint_intercept)
    assert failures(monkeypatch, "constant risk") & {"constant risk", "constant risk: in-the-large"}


def test_the_interval_of_a_joint_intercept_misses_the_planted_value(monkeypatch: pytest.MonkeyPatch) -> None:
    def profile(outcome: Floats, lp: Floats, fitted: calibration.Fitted, *, level: float = 0.95) -> tuple[float, float]:
        joint = calibration.joint_intercept(outcome, lp, np.ones(lp.size))
        return joint.value - 3.3 * joint.se, joint.value + 3.3 * joint.se

    monkeypatch.setattr(calibration, "in_the_large_profile", profile)
    failed = failures(monkeypatch, "miscalibrated cohort")
    assert failed == {"miscalibrated cohort: calibration_in_the_large"}


def test_a_threshold_that_leaves_out_its_own_risk_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = metrics.at_threshold
    monkeypatch.setattr(metrics, "at_threshold", lambda threshold: _above(exact, threshold))
    assert "by hand: a risk at the threshold is flagged" in failures(monkeypatch, "by hand")


def _above(exact: Callable[[float], list], threshold: float) -> list:
    """Flag only what is above the threshold, and call it the threshold all the same."""
    return [replace(one, at={"threshold": threshold}) for one in exact(float(np.nextafter(threshold, 1)))]


def test_undefined_shown_as_zero_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = workup.metric._quotient
    monkeypatch.setattr(workup.metric, "_quotient", lambda sums: np.nan_to_num(exact(sums)))
    failed = failures(monkeypatch, "one class", "by hand")
    # Without a denominator some intervals divide by it and raise; either way the check does not pass.
    assert failed
    assert all(name.startswith(("one class", "by hand")) for name in failed)


def test_an_undefined_slope_shown_as_zero_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = calibration_metrics._slope_replicates
    monkeypatch.setattr(calibration_metrics, "_slope_replicates", lambda scores, w: np.nan_to_num(exact(scores, w)))
    assert failures(monkeypatch, "constant risk") & {"constant risk", "constant risk: slope at 99 risks"}


def test_an_auroc_without_half_credit_for_ties_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def strict(scores: Scores, weights: Floats) -> dict[str, Floats]:
        outcome, score = scores["outcome"], scores["risk"]
        exact = rank.rank_replicates(outcome, score, weights)
        events, others = np.flatnonzero(outcome == 1), np.flatnonzero(outcome == 0)
        ties = (score[events][:, None] == score[others][None, :]).sum() / 2 / max(1, events.size * others.size)
        return exact._replace(auroc=exact.auroc - ties)._asdict()

    monkeypatch.setattr(discrimination, "_ranks", strict)
    assert failures(monkeypatch, "constant risk", "ranking") == {"constant risk: AUROC"}


def test_rows_taken_for_patients_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scores, "independent", property(lambda self: True))
    failed = failures(monkeypatch, "repeated rows")
    for name in ("auroc", "calibration_slope", "calibration_in_the_large"):  # O/E sums over patients in any case
        assert f"repeated rows: same patients, width of {name}" in failed, name


def test_a_bootstrap_of_rows_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = Scores.of

    def rows_alone(values: dict, **design: object) -> Scores:
        return exact(values, **{**design, "patient": None})  # type: ignore[arg-type]

    monkeypatch.setattr(Scores, "of", rows_alone)
    failed = failures(monkeypatch, "repeated rows")
    for name in ("auroc", "brier", "sensitivity", "ppv"):
        assert f"repeated rows: same patients, width of {name}" in failed, name


def test_intervals_that_hold_everything_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "bca", lambda *a, **k: bootstrap.BootstrapInterval(-9.0, 9.0, "BCa bootstrap"))
    failed = failures(monkeypatch, "calibrated cohort")
    assert "calibrated cohort: brier" in failed
    assert "calibrated cohort: auroc" not in failed


def test_an_interval_that_is_a_point_at_a_perfect_auroc_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = rank.auc_interval

    def plain(estimate: rank.AucVariance, **settings: object) -> object:
        if estimate.auc in (0.0, 1.0):
            return rank.Ends(estimate.auc, estimate.auc)
        return exact(estimate, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(rank, "auc_interval", plain)
    assert failures(monkeypatch, "ranking") == {
        "ranking: perfect AUROC keeps an interval",
        "ranking: reversed AUROC keeps an interval",
    }


def test_a_scorer_that_forgets_design_weights_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scores, "base_weight", property(lambda self: np.ones(len(self))))
    failed = failures(monkeypatch, "integer weight")
    assert {"integer weight: auroc", "integer weight: brier", "integer weight: calibration_slope"} <= failed


def test_a_scorer_that_depends_on_row_order_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_rows(scores: Scores, weights: Floats) -> dict[str, Floats]:
        found = rank.rank_replicates(scores["outcome"][:-20], scores["risk"][:-20], weights[:, :-20])
        return found._asdict()

    monkeypatch.setattr(discrimination, "_ranks", first_rows)
    assert {"row order: auroc", "row order: auprc"} <= failures(monkeypatch, "row order")


def test_a_scorer_that_raises_fails_its_check_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*arguments: object, **settings: object) -> None:
        raise ValueError("confusion matrix has one class")

    monkeypatch.setattr(calibration, "slope_profile", crash)
    monkeypatch.setattr(selftest, "_CHECKS", {name: selftest._CHECKS[name] for name in QUICK})
    checks = selftest.run()
    crashed = [check for check in checks if check.observed == "ValueError"]
    assert crashed
    assert all(not check.passed and "one class" in check.detail for check in crashed)
    assert any(check.passed and check.name.startswith("integer weight") for check in checks)
