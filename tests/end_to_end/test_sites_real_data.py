"""Published and pooled validations whose answers can be worked out apart: EuroSCORE II, Framingham, GUSTO-I regions."""

from __future__ import annotations

import csv
import gzip
from typing import Any

import numpy as np
import pytest
from scipy import special

from tests.support.places import DATA
from tests.support.pooled_apart import agree, rounded
from workup.lenses.sites.pooling import Goal, PoolSettings, pool_sites
from workup.report import LensResult, Report
from workup.study import Study
from workup.tasks.risk.published_evidence import from_summaries
from workup.validate import validate

GOALS = {"auroc": Goal("higher"), "oe_ratio": Goal("target", 1.0)}
NAMES = {
    "events": "n.events",
    "auroc": "c.index",
    "auroc_se": "se.c.index",
    "auroc_low": "c.index.95CIl",
    "auroc_high": "c.index.95CIu",
}


def published(file: str, columns: dict[str, str], **settings: Any) -> LensResult:
    with (DATA / "external_validations" / file).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    table = {name: np.array([row[name] or None for row in rows], dtype=object) for name in rows[0]}
    evidence = from_summaries(table, columns={**NAMES, **columns}, where=file)
    scales = {"auroc": "logit", "oe_ratio": "log"}
    return pool_sites(evidence, scales=scales, goals=GOALS, settings=PoolSettings(**settings))


@pytest.mark.real_data
def test_twenty_three_validations_of_euroscore() -> None:
    found = published(
        "EuroSCORE.csv",
        {"site": "Study", "expected": "e.events"},
        limit={"auroc": 0.7, "oe_ratio": 0.2},
        moderators=("mean.age",),
        subsets=("multicentre",),
    )
    auroc = agree(found, "auroc", special.expit, special.logit)
    assert rounded(auroc) == (0.789, 0.765, 0.811, 0.681, 0.868)
    assert (auroc["k"], auroc["n_patients"], auroc["verdict"]) == (23, 145_592, "inconclusive")
    assert (round(auroc["tau"], 3), round(auroc["i2"], 2), round(auroc["q"], 1)) == (0.261, 0.87, 125.7)
    ratio = agree(found, "oe_ratio", np.exp, np.log)
    assert rounded(ratio) == (1.108, 0.900, 1.363, 0.430, 2.856)
    assert ratio["limit"] == [0.8, 1.2]
    names = [row["site"] for row in found.tables["sites"]]
    assert len(set(names)) == 23
    assert {"Wang", "Wang (2)", "Barilli", "Barilli (2)"} <= set(names)
    kinds = [row for row in found.tables["subsets"] if row["metric"] == "auroc"]
    assert [(row["level"], row["k"], round(row["value"], 3)) for row in kinds] == [
        ("FALSE", 13, 0.790),
        ("TRUE", 10, 0.787),
    ]
    age = next(row for row in found.tables["meta_regression"] if row["metric"] == "auroc")
    assert (age["term"], age["k"], age["status"]) == ("per unit", 23, "ok")
    assert len(found.tables["leave_one_out"]) == 46


@pytest.mark.real_data
def test_twenty_four_validations_of_framingham_lose_none() -> None:
    found = published("Framingham.csv", {"site": "AuthorYear", "observed_share": "Po", "expected_share": "Pe"})
    auroc = agree(found, "auroc", special.expit, special.logit)
    assert rounded(auroc) == (0.686, 0.663, 0.709, 0.590, 0.769)
    assert auroc["left_out"] == ["Jee2014", "Lloyd-Jones2004", "Ryckman2015"]
    ratio = agree(found, "oe_ratio", np.exp, np.log)
    assert ratio["k"] + len(ratio["left_out"]) == auroc["k"] + len(auroc["left_out"]) == 24
    assert rounded(ratio) == (0.564, 0.435, 0.732, 0.193, 1.649)
    for site in auroc["left_out"]:
        assert any(f"Site {site} is not in the pooled auroc" in note for note in found.notes)


def gusto() -> dict[str, np.ndarray[Any, Any]]:
    """Thirty-day death after infarction with a risk by a logistic model that never saw the patient's region."""
    with gzip.open(DATA / "gusto" / "gusto.csv.gz", "rt", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    killip = np.array([["I", "II", "III", "IV"].index(row["Killip"]) for row in rows])
    numbers = {name: np.array([float(row[name]) for row in rows]) for name in ("day30", "age", "sysbp", "pulse")}
    design = np.column_stack(
        [
            np.ones(len(rows)),
            (numbers["age"] - 60) / 10,
            np.minimum(numbers["sysbp"], 120) / 20,
            (numbers["pulse"] - 70) / 20,
            killip[:, None] == np.array([1, 2, 3]),
            [row["ant"] == "1" for row in rows],
            [row["pmi"] == "yes" for row in rows],
        ]
    ).astype(float)
    region = np.array([int(row["regl"]) for row in rows])
    risk = np.empty(len(rows))
    for one in np.unique(region):
        inside = region == one
        risk[inside] = special.expit(design[inside] @ logistic(design[~inside], numbers["day30"][~inside]))
    sex = np.array([row["sex"] for row in rows], dtype=object)
    return {"died": numbers["day30"], "risk": risk, "region": region.astype(object), "sex": sex, "age": numbers["age"]}


def logistic(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Newton's method; eight steps are more than enough here."""
    beta = np.zeros(x.shape[1])
    for _ in range(8):
        p = special.expit(x @ beta)
        beta += np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x, x.T @ (y - p))
    return beta


# Value, interval and prediction interval of each region predicted by a model fitted on the fifteen others.
GUSTO = {
    "auroc": (0.818, 0.807, 0.829, 0.795, 0.839),
    "calibration_slope": (0.995, 0.942, 1.049, 0.871, 1.120),
    "oe_ratio": (1.004, 0.950, 1.061, 0.848, 1.189),
}


@pytest.fixture(scope="module")
def gusto_report() -> Report:
    study = Study.of(
        {
            "name": "GUSTO-I, each region by a model of the others",
            "task": "risk",
            "columns": {"outcome": "died", "risk": "risk", "site": "region", "groups": ["sex"], "inputs": ["age"]},
            "thresholds": [0.1],
            "lenses": {"sites": {"limit": {"auroc": 0.75, "oe_ratio": 0.25, "calibration_slope": [0.8, 1.2]}}},
            "bootstrap": {"replicates": 200},
            "gates": ["auroc{pooled=sites}.low >= 0.75", "auroc{pooled=new site}.low >= 0.75"],
        }
    )
    return validate(study, table=gusto())


@pytest.mark.real_data
def test_sixteen_regions_of_gusto(gusto_report: Report) -> None:
    found = gusto_report.results["sites"]
    auroc = agree(found, "auroc", special.expit, special.logit)
    assert (auroc["k"], auroc["n_patients"]) == (16, 40_830)
    assert sum(row["events"] for row in found.tables["sites"]) == 2_851
    slope = next(row for row in found.pooled if row["metric"] == "calibration_slope")
    ratio = agree(found, "oe_ratio", np.exp, np.log)
    assert rounded(auroc) == GUSTO["auroc"]
    assert rounded(slope) == GUSTO["calibration_slope"]
    assert rounded(ratio) == GUSTO["oe_ratio"]
    assert [row["verdict"] for row in (auroc, slope, ratio)] == ["adequate", "adequate", "adequate"]
    assert [verdict.outcome for verdict in gusto_report.verdicts] == ["pass", "pass"]
