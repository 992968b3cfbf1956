"""A model built at one hospital and put to three others: the numbers of the example, from rows and from packs."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import workup
from tests.support.examples import example
from tests.support.places import DATA, ROOT
from tests.support.pooled_apart import agree, rounded
from tests.support.shell import call
from workup.report import LensResult, Report

EXAMPLE = ROOT / "examples" / "heart_sites"
HEART = DATA / "heart_disease"
SITES = ("cleveland", "hungary", "switzerland", "long_beach")
EXTERNAL = ("hungary", "long_beach", "switzerland")

pytestmark = pytest.mark.real_data

# Patients, with disease, then value and interval of AUROC, calibration slope and O/E, as the README shows them.
BY_SITE = {
    "cleveland": (303, 139, (0.894, 0.853, 0.925), (1.000, 0.796, 1.235), (1.000, 0.915, 1.093)),
    "hungary": (294, 106, (0.883, 0.834, 0.919), (0.885, 0.702, 1.094), (0.861, 0.768, 0.966)),
    "switzerland": (123, 115, (0.770, 0.564, 0.890), (0.624, 0.196, 1.120), (1.312, 1.222, 1.409)),
    "long_beach": (200, 149, (0.743, 0.656, 0.815), (0.569, 0.353, 0.807), (1.044, 0.966, 1.129)),
}
# Value, interval, prediction interval over the three hospitals that the model was not built on.
POOLED = {
    "auroc": (0.812, 0.508, 0.947, 0.002, 1.000),
    "calibration_slope": (0.714, 0.208, 1.221, -1.704, 3.133),
    "oe_ratio": (1.060, 0.629, 1.788, 0.051, 21.907),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What heart.py makes, called as the README calls it."""
    pytest.importorskip("sklearn")
    out = tmp_path_factory.mktemp("heart")
    script = [sys.executable, str(EXAMPLE / "heart.py"), str(HEART), "-o", str(out)]
    done = subprocess.run(script, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    return out


@pytest.fixture(scope="module")
def report(folder: Path) -> Report:
    done = call("run", folder / "study.yaml", "-o", folder / "run")
    assert done.code == 3, done.err  # no gate failed, some are unsure
    return Report.read(folder / "run")


@pytest.fixture(scope="module")
def found(report: Report) -> LensResult:
    return report.results["sites"]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def pooled_row(found: LensResult, metric: str) -> Any:
    return next(row for row in found.pooled if row["metric"] == metric and "sex" not in row["slice"])


def test_each_hospital_has_the_numbers_of_the_readme(report: Report, folder: Path) -> None:
    table = rows(folder / "predictions.csv")
    for site, (patients, events, *pinned) in BY_SITE.items():
        for metric, numbers in zip(("auroc", "calibration_slope", "oe_ratio"), pinned, strict=True):
            e = report.estimate(metric, site=site)
            assert (e.n_patients, e.n_events) == (patients, events)
            assert (e.value, e.low, e.high) == pytest.approx(numbers, abs=6e-4), (site, metric)
        own = [(float(row["disease"]), float(row["risk"])) for row in table if row["site"] == site]
        disease, risk = np.array(own).T
        gaps = risk[disease == 1][:, None] - risk[disease == 0][None, :]
        pairs = np.mean((gaps > 0) + 0.5 * (gaps == 0))
        assert report.estimate("auroc", site=site).value == pytest.approx(pairs, abs=1e-11)
        assert report.estimate("oe_ratio", site=site).value == pytest.approx(disease.sum() / risk.sum(), abs=1e-11)


def test_all_patients_together_look_well_and_are_not(report: Report, folder: Path) -> None:
    auroc, ratio = report.estimate("auroc"), report.estimate("oe_ratio")
    assert auroc.n_patients == 920
    assert (auroc.value, auroc.low, auroc.high) == pytest.approx((0.876, 0.852, 0.896), abs=6e-4)
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx((1.034, 0.989, 1.080), abs=6e-4)
    swiss, pooled = report.estimate("oe_ratio", site="switzerland"), report.estimate("auroc", pooled="sites")
    assert swiss.low is not None and ratio.high is not None and swiss.low > ratio.high
    assert pooled.value is not None and auroc.low is not None and pooled.value < auroc.low
    where = [[row["site"] for row in rows(folder / "predictions.csv") if float(row["disease"]) == y] for y in (0, 1)]
    across = np.array(where[1])[:, None] != np.array(where[0])[None, :]
    assert across.mean() == pytest.approx(0.75, abs=0.01)


def test_three_hospitals_pooled_say_little_of_a_fourth(found: LensResult) -> None:
    for metric, numbers in POOLED.items():
        row = pooled_row(found, metric)
        assert rounded(row) == pytest.approx(numbers, abs=6e-4), metric
        assert (row["k"], row["sites"], row["verdict"]) == (3, list(EXTERNAL), "inconclusive")
        assert row["n_patients"] == 617
    everyone = replace(found, estimates=tuple(e for e in found.estimates if "sex" not in e.slice))
    agree(everyone, "auroc", special.expit, special.logit)
    agree(everyone, "oe_ratio", np.exp, np.log)
    # Three sites leave one degree of freedom, and t is then 12.7 where the normal quantile is 1.96.
    row = pooled_row(found, "calibration_slope")
    reach = stats.t.ppf(0.975, 1) * np.hypot(row["tau"], row["se"])
    assert row["pi_high"] - row["value"] == pytest.approx(reach, rel=1e-9)
    assert stats.t.ppf(0.975, 1) == pytest.approx(12.7, abs=0.01)


def test_switzerland_has_eight_without_disease(report: Report, found: LensResult) -> None:
    auroc = report.estimate("auroc", site="switzerland")
    assert auroc.method == "Newcombe method 5" and auroc.reason == "fewer than 9 of one outcome"
    specificity = report.estimate("specificity", site="switzerland", threshold=0.5)
    assert (specificity.numerator, specificity.denominator) == (5, 8)
    assert (specificity.low, specificity.high) == pytest.approx((0.306, 0.863), abs=6e-4)
    assert pooled_row(found, "specificity")["method"].startswith("binomial GLMM")
    assert {row["site"]: row["small"] for row in found.tables["sites"]} == {
        site: site == "switzerland" for site in SITES
    }
    women = report.estimate("auroc", site="switzerland", sex="F")
    assert (women.n_patients, women.n_events, women.value, women.status) == (10, 10, None, "undefined")
    without = [row for row in found.tables["not_pooled"] if row["metric"] == "auroc"]
    assert [(row["site"], row["slice"]) for row in without] == [("switzerland", {"sex": "F"})]


def test_what_each_hospital_could_measure(found: LensResult) -> None:
    missing = {row["site"]: row["missing_inputs"] for row in found.tables["sites"]}
    assert missing["switzerland"]["cholesterol"] == 1.0
    assert missing["switzerland"]["fasting_sugar"] == pytest.approx(75 / 123)
    # Of an input that one to four patients of a hospital lack, no hospital is told.
    few = {"heart_rate", "exercise_angina", "pressure"}
    assert all(by_input[name] is None for by_input in missing.values() for name in few)
    assert {share for name, share in missing["cleveland"].items() if name not in few} == {0.0}


def test_intended_settings_and_the_development_hospital(found: LensResult) -> None:
    settings = {row["setting"]: (row["status"], row["sites"]) for row in found.tables["settings"]}
    assert settings == {
        "referral centre": ("validated", ["hungary"]),
        "university hospital": ("validated", ["switzerland"]),
        "veterans hospital": ("validated", ["long_beach"]),
        "primary care": ("not validated", []),
    }
    compared = {row["metric"]: row for row in found.comparisons}
    assert {row["against"] for row in compared.values()} == {"development site cleveland"}
    assert compared["auroc"]["value"] == pytest.approx(-0.082, abs=6e-4)
    assert (compared["auroc"]["finding"], compared["specificity"]["finding"]) == ("no clear change", "worse")


def test_women_are_missed_more_often(report: Report) -> None:
    women, men = (report.estimate("sensitivity", sex=sex, threshold=0.5) for sex in "FM")
    assert (women.numerator, women.denominator) == (30, 50)
    assert (men.numerator, men.denominator) == (380, 459)
    verdicts = {
        row["metric"]: row["verdict"]
        for row in report.results["subgroups"].comparisons
        if row["kind"] == "difference" and row["slice"].get("sex") == "F" and row["margin"] is not None
    }
    assert (verdicts["sensitivity"], verdicts["specificity"]) == ("inconclusive", "disparity")


def test_gates_are_not_passed_by_three_hospitals(report: Report) -> None:
    outcomes = {verdict.rule: verdict.outcome for verdict in report.verdicts}
    assert outcomes["auroc{pooled=sites}.low >= 0.70"] == "unsure"
    assert outcomes["auroc{pooled=new site}.low >= 0.70"] == "unsure"
    by_site = {site: outcomes[f"auroc{{site=*}}.low >= 0.70 [site={site}]"] for site in SITES}
    assert by_site == {"cleveland": "pass", "hungary": "pass", "switzerland": "unsure", "long_beach": "unsure"}


def test_cleveland_corrected_for_optimism() -> None:
    pytest.importorskip("sklearn")
    heart = example("heart_sites", "heart")
    content = {
        "name": "Cleveland",
        "task": "risk",
        "seed": 1,
        "columns": {"outcome": "disease", "risk": "risk", "patient": "patient"},
        "lenses": {"internal": {"optimism": 100}},
        "bootstrap": {"replicates": 200},
    }
    table = heart.rows_of(heart.predictions(HEART), "cleveland")
    corrected = workup.validate(workup.Study.of(content), table=table, refit=heart.fit)
    auroc, slope = (
        corrected.estimate(metric, validation="optimism-corrected") for metric in ("auroc", "calibration_slope")
    )
    assert (auroc.value, slope.value) == pytest.approx((0.882, 0.917), abs=6e-4)


# The same without moving a row: each hospital makes its own report and pack, the centre sees packs alone


def pooled_from_packs(folder: Path, *, k: int) -> Report:
    packs = []
    for site in SITES:
        made = folder / f"{site}.report.json"
        if not made.exists():
            done = call(
                "score", "risk", folder / f"{site}.csv", "--outcome", "disease", "--risk", "risk",
                "--patient", "patient", "--by", "sex", "--threshold", "0.5", "--seed", "1", "--json", made,
            )  # fmt: skip
            assert done.code == 0, done.err
        packs.append(folder / f"{site}.{k}.json")
        assert call("site-pack", made, "-o", packs[-1], "--site", site, "--k", str(k)).code == 0
    limits = ("--limit", "auroc=0.70", "--limit", "oe_ratio=0.25", "--limit", "calibration_slope=0.8:1.2")
    places = ("--sites", folder / "sites.csv", "--development", "cleveland")
    done = call("pool", *packs, *places, *limits, "-o", folder / f"pooled.{k}")
    assert done.code == 0, done.err
    return Report.read(folder / f"pooled.{k}")


def alike(one: Any, other: Any) -> bool:
    """The same to 1e-9, or both undefined."""
    return one is other is None or (None not in (one, other) and one == pytest.approx(other, rel=1e-9, abs=1e-9))


def by_key(items: Any) -> dict[str, Any]:
    return {json.dumps([row["metric"], row["slice"]], sort_keys=True): row for row in items}


def test_packs_that_tell_every_count_give_the_same_numbers(folder: Path, found: LensResult) -> None:
    packed = pooled_from_packs(folder, k=1).results["sites"]
    here, there = (by_key(e.as_dict() for e in one.estimates) for one in (found, packed))
    assert here.keys() == there.keys() and len(here) == 252
    for key, e in here.items():
        assert e["status"] == there[key]["status"], key
        for field in ("value", "low", "high", "se", "n_patients", "n_rows", "n_events"):
            assert alike(there[key][field], e[field]), (key, field)
    here, there = by_key(found.pooled), by_key(packed.pooled)
    assert here.keys() == there.keys()
    for key, row in here.items():
        for field in ("k", "sites", "left_out", "verdict", "limit"):
            assert there[key][field] == row[field], (key, field)
        for field in ("value", "low", "high", "pi_low", "pi_high", "tau", "i2", "q"):
            assert alike(there[key][field], row[field]), (key, field)


def test_small_counts_kept_back_silence_the_hospital_that_is_worst_off(folder: Path) -> None:
    packed = pooled_from_packs(folder, k=11).results["sites"]
    told = {}
    for site in SITES:
        pack = json.loads((folder / f"{site}.11.json").read_text(encoding="utf-8"))
        told[site] = sum(e["status"] != "withheld" for e in pack["estimates"]), len(pack["estimates"])
        assert "patient" not in {key for e in pack["estimates"] for key in e["slice"]}
        assert f"{site}-001" not in json.dumps(pack)
    assert told == {"cleveland": (30, 42), "hungary": (30, 42), "switzerland": (0, 42), "long_beach": (14, 42)}
    auroc, ratio = (pooled_row(packed, metric) for metric in ("auroc", "oe_ratio"))
    for row, value in ((auroc, 0.824), (ratio, 0.953)):
        assert row["value"] == pytest.approx(value, abs=6e-4)
        assert (row["k"], row["left_out"], row["pi_low"], row["verdict"]) == (2, ["switzerland"], None, "not_assessed")
    swiss = next(row for row in packed.tables["sites"] if row["site"] == "switzerland")
    assert (swiss["patients"], swiss["events"]) == (None, None)
    reasons = {row["reason"] for row in packed.tables["not_pooled"] if row["site"] == "switzerland"}
    assert reasons and all("fewer than 11 people" in reason for reason in reasons)
    assert any("Site switzerland is not in the pooled auroc" in note for note in packed.notes)
