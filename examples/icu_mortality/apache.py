"""APACHE IVa on the eICU demo data: a deployed risk model, judged for whom it works.

    python examples/icu_mortality/apache.py FOLDER [-o OUT]

FOLDER holds the public eICU demo tables patient.csv, hospital.csv and apachepatientresult.csv (PhysioNet, ODbL 1.0).
A row is an ICU stay with a predicted and an actual hospital mortality; patients can have several.
"""

import argparse
import csv
from pathlib import Path

import workup
from workup.reports import html, markdown

BANDS = ((0, 45, "18-44"), (45, 65, "45-64"), (65, 80, "65-79"), (80, 200, "80 and over"))


def read(folder):
    """One row per stay that APACHE IVa scored and whose outcome is known."""
    patients = {row["patientunitstayid"]: row for row in _rows(folder / "patient.csv")}
    hospitals = {row["hospitalid"]: row for row in _rows(folder / "hospital.csv")}
    table = {name: [] for name in ("died", "risk", "patient", "hospital", "year", "sex", "ethnicity", "age", "beds")}
    for row in _rows(folder / "apachepatientresult.csv"):
        risk = float(row["predictedhospitalmortality"] or -1)
        if row["apacheversion"] != "IVa" or risk < 0 or not row["actualhospitalmortality"]:
            continue
        stay = patients[row["patientunitstayid"]]
        table["died"].append(1 if row["actualhospitalmortality"] == "EXPIRED" else 0)
        table["risk"].append(risk)
        table["patient"].append(stay["uniquepid"])
        table["hospital"].append(stay["hospitalid"])
        table["year"].append(f"{stay['hospitaldischargeyear']}-07-01")
        table["sex"].append(stay["gender"] or None)
        table["ethnicity"].append(stay["ethnicity"] or None)
        table["age"].append(_band(stay["age"]))
        table["beds"].append(hospitals.get(stay["hospitalid"], {}).get("numbedscategory") or None)
    return table


def _rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def _band(age):
    """Age in bands; the source writes "> 89" for the oldest."""
    if not age:
        return None
    years = 90 if ">" in age else int(age)
    return next(name for low, high, name in BANDS if low <= years < high)


def study():
    """What is asked: discrimination, calibration, decisions at two thresholds, and gaps of more than 0.05."""
    columns = {"outcome": "died", "risk": "risk", "patient": "patient", "site": "hospital", "time": "year"}
    return workup.Study.of(
        {
            "name": "APACHE IVa hospital mortality, eICU demo",
            "task": "risk",
            "seed": 1,
            "columns": {**columns, "groups": ["ethnicity", "sex", "age", "beds"]},
            "thresholds": [0.1, 0.3],
            "lenses": {"internal": {}, "subgroups": {"margin": 0.05}},
            "gates": ["auroc.low >= 0.80", "oe_ratio.low >= 0.80", "auroc{ethnicity=*}.low >= 0.75"],
        }
    )


def main():
    """Read, judge, and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--out", type=Path, default=Path("icu_mortality"))
    given = parser.parse_args()
    report = workup.validate(study(), table=read(given.folder))
    given.out.mkdir(parents=True, exist_ok=True)
    for name, text in (("html", html.render(report)), ("md", markdown.render(report)), ("json", report.to_json())):
        (given.out / f"report.{name}").write_text(text, encoding="utf-8")
    print(report)


if __name__ == "__main__":
    main()
