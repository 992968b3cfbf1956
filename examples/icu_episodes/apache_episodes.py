"""APACHE IVa in the eICU demo data as episodes: hospital stays, a score after the first day in intensive care, death.

    python examples/icu_episodes/apache_episodes.py FOLDER [-o OUT]

FOLDER holds the public eICU demo tables patient.csv, hospital.csv and apachepatientresult.csv (PhysioNet, ODbL 1.0).

A row of the risk task needs a score and an outcome, so whoever was never scored is in no figure. Here every hospital
stay is a stay, and a death without a score in time is a missed death. APACHE IVa is worked out from the first 24 hours
in intensive care, so its score is dated at the end of them.

The demo has one APACHE score a stay, and its tables of vital signs and laboratory values are not among those read here:
nothing can be shown of repeated alerts, silenced ones, or a score that rises.
"""

import argparse
import csv
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import workup
from workup.reports import html, markdown, text

FIRST_DAY = timedelta(hours=24)
SOME_DAY, APART = datetime(2014, 1, 1), timedelta(days=190)
ELSEWHERE = "Other Hospital"  # from there on nothing is known


def tables(folder):
    """Scores and events on the clock of each hospital stay. Dates are not in the data, nor the order of a patient's
    stays: each begins half a year after the one before it in the file, which is longer than any lasted."""
    risks = {
        row["patientunitstayid"]: row["predictedhospitalmortality"]
        for row in _rows(folder / "apachepatientresult.csv")
        if row["apacheversion"] == "IVa" and float(row["predictedhospitalmortality"] or -1) >= 0
    }
    hospitals = {row["hospitalid"]: row for row in _rows(folder / "hospital.csv")}
    predictions, events, began, stays = [], [], {}, Counter()
    for row in _rows(folder / "patient.csv"):
        if not row["hospitaldischargestatus"]:
            continue  # nobody wrote down how the stay ended
        who = {"patient": row["uniquepid"], "encounter": row["patienthealthsystemstayid"]}
        new = who["encounter"] not in began
        if new:
            began[who["encounter"]] = SOME_DAY + stays[who["patient"]] * APART
            stays[who["patient"]] += 1
        admitted = began[who["encounter"]]
        in_unit = admitted - timedelta(minutes=int(row["hospitaladmitoffset"]))
        if row["patientunitstayid"] in risks:
            predictions.append(
                {
                    **who,
                    "time": (in_unit + FIRST_DAY).isoformat(),
                    "risk": risks[row["patientunitstayid"]],
                    "sex": row["gender"],
                    "beds": hospitals.get(row["hospitalid"], {}).get("numbedscategory", ""),
                }
            )
        if new:
            left = in_unit + timedelta(minutes=int(row["hospitaldischargeoffset"]))
            died = row["hospitaldischargestatus"] == "Expired"
            away = row["hospitaldischargelocation"] == ELSEWHERE
            how = "death" if died else "transfer" if away else "discharge"
            events.append({**who, "type": "admit", "time": admitted.isoformat()})
            events.append({**who, "type": how, "time": left.isoformat()})
    return predictions, events


def _rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def study(folder, out):
    """Death in the hospital stay, at two thresholds. Stays that go on elsewhere are lost from then on."""
    for name, rows in zip(("scores.csv", "events.csv"), tables(folder), strict=True):
        with (out / name).open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, rows[0], lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
    return workup.Study.of(
        {
            "name": "APACHE IVa, hospital stays as episodes, eICU demo",
            "task": "episodes",
            "seed": 1,
            "corpus": {"predictions": "scores.csv", "events": "events.csv"},
            "columns": {"groups": ["sex", "beds"]},
            "events": {
                "target": ["death"],
                "start": ["admit"],
                "end": ["discharge"],
                "death": ["death"],
                "lost": ["transfer"],
            },
            "episodes": {"horizon": "stay", "score": "first", "lead_hours": ["12h", "24h", "72h"], "time_zone": "UTC"},
            "thresholds": [0.1, 0.3],
            "lenses": {"internal": {}, "subgroups": {}},
        },
        base=out,
    )


def main():
    """Write the tables, judge, and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--out", type=Path, default=Path("icu_episodes"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    report = workup.validate(study(given.folder, given.out))
    for name, page in (("html", html.render(report)), ("md", markdown.render(report)), ("json", report.to_json())):
        (given.out / f"report.{name}").write_text(page, encoding="utf-8")
    print(text.render(report))


if __name__ == "__main__":
    main()
