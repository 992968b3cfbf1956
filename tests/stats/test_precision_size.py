"""Precision of a validation study and the size of a development study, against the exact formulas and the packages."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from tests.support.oracles import Case, cases
from workup.stats.sizes.development import cox_snell_max, cox_snell_of, develop
from workup.stats.sizes.precision import (
    Criterion,
    cstatistic_information,
    cstatistic_size,
    net_benefit_size,
    normal_accuracy,
    normal_information,
    oe_size,
    plan_of,
    sample_information,
    slope_size,
)


def _four(case: Case) -> dict[str, Criterion]:
    given = case.input
    prev = given["prev"]
    return {
        "oe": oe_size(prevalence=prev, width=given["oew"]),
        "slope": slope_size(normal_information(given["lp_mean"], given["lp_sd"]), width=given["csw"], prevalence=prev),
        "cstat": cstatistic_size(given["cstat"], prevalence=prev, width=given["cw"]),
        "nb": net_benefit_size(
            sensitivity=given["sens"],
            specificity=given["spec"],
            prevalence=prev,
            threshold=given["thr"],
            width=given["nbw"],
        ),
    }


@cases("pmvalsampsize")
def test_the_four_criteria_are_the_exact_ones(case: Case) -> None:
    exact, found = case.expected["exact"], _four(case)

    def near(field: str) -> object:
        return pytest.approx(exact[field], rel=case.rel_tol)

    assert found["oe"].se == near("se_oe")
    information = normal_information(case.input["lp_mean"], case.input["lp_sd"])
    assert (information.i00, information.i01, information.i11) == (near("I00"), near("I01"), near("I11"))
    assert found["nb"].value == near("standardised_nb")
    assert {f"n_{name}": one.n for name, one in found.items()} == {f"n_{name}": near(f"n_{name}") for name in found}


@cases("pmvalsampsize")
def test_the_package_is_within_its_own_coarseness(case: Case) -> None:
    package, found = case.expected["pkg"], _four(case)
    for name, one in found.items():
        assert one.patients == pytest.approx(package[f"n_{name}"], rel=0.03)
    plan = plan_of(tuple(found.values()))
    assert plan.patients == pytest.approx(package["final"], rel=0.03)
    assert plan.patients == max(one.patients for one in found.values())
    assert plan.events == pytest.approx(plan.patients * case.input["prev"])


def test_the_plan_names_what_decides_it() -> None:
    plan = plan_of((oe_size(prevalence=0.1, width=0.2), cstatistic_size(0.8, prevalence=0.1, width=0.1)))
    assert plan.decided_by == "oe"
    assert plan.patients == 3469
    with pytest.raises(ValueError, match="no criterion"):
        plan_of(())


def test_a_sample_of_linear_predictors_approaches_the_integral() -> None:
    lp = special.ndtri((np.arange(200_000) + 0.5) / 200_000) * 1.1 - 2.5
    assert sample_information(lp) == pytest.approx(normal_information(-2.5, 1.1), rel=1e-3)


def test_the_information_from_a_c_statistic_is_that_of_a_calibrated_model() -> None:
    """Its events are the prevalence, and drawn patients give the same."""
    found = cstatistic_information(0.8, prevalence=0.1)
    assert found.events == pytest.approx(0.1, abs=1e-12)
    rng = np.random.default_rng(3)
    sigma = math.sqrt(2) * special.ndtri(0.8)
    y = rng.random(400_000) < 0.1
    lp = special.logit(0.1) + np.where(y, 0.5, -0.5) * sigma**2 + sigma * rng.normal(size=y.size)
    assert sample_information(lp) == pytest.approx(found, rel=0.02)


def test_a_miscalibrated_slope_changes_the_information() -> None:
    flat = normal_information(-2.5, 1.1, calibration_slope=0.5)
    assert slope_size(flat, width=0.2, slope=0.5).n != pytest.approx(
        slope_size(normal_information(-2.5, 1.1), width=0.2).n
    )
    assert sample_information(np.linspace(-4, 0, 50), calibration_intercept=1.0).events > 0.2


def test_sensitivity_and_specificity_of_a_normal_predictor() -> None:
    rng = np.random.default_rng(5)
    lp = rng.normal(-2.5, 1.1, 400_000)
    y = rng.random(lp.size) < special.expit(lp)
    flagged = special.expit(lp) >= 0.1
    found = normal_accuracy(-2.5, 1.1, threshold=0.1)
    assert found.sensitivity == pytest.approx(flagged[y].mean(), abs=0.006)
    assert found.specificity == pytest.approx((~flagged[~y]).mean(), abs=0.003)
    assert normal_accuracy(-2.5, 1.1, threshold=1e-9).sensitivity == pytest.approx(1.0)


def test_the_interval_of_oe_has_the_width_asked_for() -> None:
    found = oe_size(prevalence=0.2, width=0.5, oe=1.3, level=0.9)
    z = special.ndtri(0.95)
    assert 1.3 * (math.exp(z * found.se) - math.exp(-z * found.se)) == pytest.approx(0.5)
    assert found.se**2 == pytest.approx(0.8 / (0.2 * found.n))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: oe_size(prevalence=0.0, width=0.2), "prevalence must lie strictly"),
        (lambda: oe_size(prevalence=0.1, width=0.0), "interval of O/E: width and oe must be positive; got 0 and 1"),
        (
            lambda: slope_size(normal_information(0.0, 1.0), width=-1),
            "interval of the calibration slope: width must be positive; got -1",
        ),
        (
            lambda: cstatistic_size(0.8, prevalence=0.1, width=1.5),
            "interval of the c-statistic: width must lie strictly between 0 and 1; got 1.5",
        ),
        (
            lambda: net_benefit_size(sensitivity=0.9, specificity=0.5, prevalence=0.1, threshold=0.1, width=0),
            "interval of the standardised net benefit: width must be positive; got 0",
        ),
        (lambda: normal_information(0.0, 0.0), "sd of the linear predictor"),
        (lambda: sample_information([0.3, 0.3]), "not all the same"),
        (lambda: sample_information([0.3, math.nan]), "finite"),
        (lambda: cstatistic_size(1.0, prevalence=0.1, width=0.1), "cstatistic must lie strictly"),
        (
            lambda: net_benefit_size(sensitivity=1.2, specificity=0.5, prevalence=0.1, threshold=0.1, width=0.1),
            "sensitivity must lie between",
        ),
    ],
)
def test_inputs_without_sense_are_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]


# ---- development -----------------------------------------------------------------------------------------------------


@cases("pmsampsize")
def test_development_is_that_of_pmsampsize(case: Case) -> None:
    plan = develop(prevalence=case.input["prev"], parameters=case.input["par"], cox_snell=case.input["csr2"])
    table, rows = case.expected["table"], plan.criteria
    assert plan.n == case.expected["n"]
    assert plan.events_per_parameter == case.near("epp")
    assert [*(row.n for row in rows), plan.n] == table["Samp_size"]
    assert [*(row.shrinkage for row in rows), plan.shrinkage] == table["Shrinkage"]
    assert [row.parameters for row in rows] == table["Parameter"][:3]
    assert [row.cox_snell for row in rows] == table["CS_Rsq"][:3]
    assert [row.cox_snell_max for row in rows] == table["Max_Rsq"][:3]
    assert [row.nagelkerke for row in rows] == table["Nag_Rsq"][:3]
    assert [*(row.events_per_parameter for row in rows), plan.events_per_parameter] == table["EPP"]


def test_development_by_nagelkerke_is_development_by_cox_and_snell() -> None:
    top = cox_snell_max(0.2)
    assert develop(prevalence=0.2, parameters=10, nagelkerke=0.2 / top).n == 398
    assert develop(prevalence=0.2, parameters=10, nagelkerke=0.2 / top).decided_by == "shrinkage"


@pytest.mark.parametrize(("cstatistic", "prevalence"), [(0.81, 0.77), (0.7, 0.05), (0.9, 0.3)])
def test_the_fit_of_a_c_statistic_is_that_of_drawn_patients(cstatistic: float, prevalence: float) -> None:
    """Likelihoods of the true logistic model and of the null one in a sample drawn as the published code does."""
    rng = np.random.default_rng(1)
    size = 400_000
    mu = math.sqrt(2) * special.ndtri(cstatistic)
    y = (np.arange(size) < round(prevalence * size)).astype(float)
    x = rng.normal(mu * y, 1.0)
    risk = special.expit(special.logit(prevalence) + mu * x - mu**2 / 2)
    fitted = np.sum(special.xlogy(y, risk) + special.xlogy(1 - y, 1 - risk))
    null = size * (prevalence * math.log(prevalence) + (1 - prevalence) * math.log(1 - prevalence))
    drawn = 1 - math.exp(-2 * (fitted - null) / size)
    assert cox_snell_of(cstatistic, prevalence=prevalence) == pytest.approx(drawn, abs=0.003)
    assert cox_snell_of(cstatistic, prevalence=1 - prevalence) == pytest.approx(
        cox_snell_of(cstatistic, prevalence=prevalence), rel=1e-9
    )


def test_development_needs_one_form_of_fit_that_can_be() -> None:
    with pytest.raises(ValueError, match="one form"):
        develop(prevalence=0.2, parameters=10)
    with pytest.raises(ValueError, match="one form"):
        develop(prevalence=0.2, parameters=10, cox_snell=0.2, cstatistic=0.8)
    with pytest.raises(ValueError, match=r"Cox-Snell R² must lie strictly between 0 and 0\.32"):
        develop(prevalence=0.05, parameters=10, cox_snell=0.5)
    with pytest.raises(ValueError, match="parameters"):
        develop(prevalence=0.05, parameters=0, cox_snell=0.05)
    assert (
        develop(prevalence=0.2, parameters=10, cstatistic=0.8).n
        > develop(prevalence=0.2, parameters=10, cstatistic=0.9).n
    )


def test_every_criterion_expects_events_by_the_prevalence() -> None:
    found = oe_size(prevalence=0.1, width=0.2)
    assert found.events == pytest.approx(0.1 * found.n)
    assert plan_of((found,)).events == pytest.approx(0.1 * found.patients)


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.0, 0.9), (1.0, 0.9), (0.8, 0.0), (0.8, 1.0)])
def test_a_rule_may_find_all_or_none(sensitivity: float, specificity: float) -> None:
    found = net_benefit_size(sensitivity=sensitivity, specificity=specificity, prevalence=0.2, threshold=0.1, width=0.2)
    weight = 0.8 / 0.2 * 0.1 / 0.9
    assert found.value == pytest.approx(sensitivity - (1 - specificity) * weight)
