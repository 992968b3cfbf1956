"""APACHE IVa in the eICU demo data, 2014 against 2015: what two years of a small sample can and cannot show.

    python examples/icu_drift/apache_drift.py FOLDER [-o OUT]

FOLDER holds the public eICU demo tables patient.csv, hospital.csv and apachepatientresult.csv (PhysioNet, ODbL 1.0).
Only the year of discharge is known, so the windows are years: one baseline and one to watch.
"""

import argparse
import sys
from pathlib import Path

import workup
from workup.reports import html, markdown, text

sys.path.insert(0, str(Path(__file__).parents[1] / "icu_mortality"))
from apache import read


def study():
    """2014 is the baseline and 2015 is watched; by sex, with the inputs that the demo holds for everyone."""
    columns = {"outcome": "died", "risk": "risk", "patient": "patient", "time": "year"}
    return workup.Study.of(
        {
            "name": "APACHE IVa, 2014 to 2015, eICU demo",
            "task": "risk",
            "seed": 1,
            "columns": {**columns, "groups": ["sex"], "inputs": ["age", "ethnicity", "beds"]},
            "thresholds": [0.1],
            "lenses": {"drift": {"window": "year", "baseline": "2015-01-01"}},
        }
    )


def main():
    """Read, watch, and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--out", type=Path, default=Path("icu_drift"))
    given = parser.parse_args()
    report = workup.validate(study(), table=read(given.folder))
    given.out.mkdir(parents=True, exist_ok=True)
    for name, page in (("html", html.render(report)), ("md", markdown.render(report)), ("json", report.to_json())):
        (given.out / f"report.{name}").write_text(page, encoding="utf-8")
    print(text.render(report))


if __name__ == "__main__":
    main()
