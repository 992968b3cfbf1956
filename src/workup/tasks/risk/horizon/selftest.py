"""Does the scorer of risks at horizons find what was planted, where many are lost? Cohorts with known answers, put
through the metrics and the estimates; and ways of counting that must not find it.

Every draw has a fixed seed, and a planted truth is looked for in a 99.9 % interval or at an exact value, so a failure
means a broken scorer and not bad luck.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from workup import plugins
from workup.estimate import Draws, Estimate, estimate
from workup.scores import Scores
from workup.stats.arrays import Floats
from workup.stats.horizon_weights import HorizonWeights
from workup.stats.survival import aalen_johansen
from workup.tasks.risk import metrics as risk
from workup.tasks.risk.horizon.censoring import STRATUM, Censoring, Followed, Horizon
from workup.tasks.risk.horizon.metrics import horizon_metrics
from workup.tasks.risk.selftest import LEVEL, equal, holds, null
from workup.tasks.selftests import Check, run_parts

_DISTANCES = ("ici", "e50", "e90", "emax")  # resampling their splines takes long; their points are tested elsewhere
_EXACT = 1e-12
# Widths that 6,000 patients of the planted cohorts may not exceed, some above what they give: without a limit an
# interval from 0 to 1 would hold every truth.
_WIDEST = {
    "auroc": 0.08,
    "brier": 0.035,
    "scaled_brier": 0.14,
    "oe_ratio": 0.32,
    "observed_risk": 0.07,
    "calibration_slope": 0.40,
    "calibration_in_the_large": 0.45,
    "sensitivity": 0.16,
    "net_benefit": 0.06,
}
_HEAVY = {"censoring": 0.6}
Table = Mapping[str, npt.NDArray[Any]]


def run(*, seed: int = 0) -> list[Check]:
    """Every check, in a fixed order. A scorer that raises fails the check and stops none of the others."""
    return run_parts(CHECKS, seed=seed)


# ---- asking the scorer -----------------------------------------------------------------------------------------------


def _followed(table: Table, horizons: Sequence[Horizon], **design: Any) -> Scores:
    """A table as the task holds it; `stratum` is a code of each row within which censoring is alike."""
    time, status = table["followup"], table["status"]
    values = {"followup": time, "status": status, "row": np.arange(time.size, dtype=np.float64)}
    if "stratum" in design:
        values[STRATUM] = np.unique(design.pop("stratum"), return_inverse=True)[1].astype(np.float64)
    for one in horizons:
        early, free = (status > 0) & (time <= one.days), time >= one.days
        values[one.risk] = table[f"risk_{one.name}"]
        values[one.outcome] = np.where(early, np.where(status == 1, 1.0, 0.0), np.where(free, 0.0, np.nan))
    return Followed.of(values, **design)


def _ask(
    scores: Scores,
    horizons: Sequence[Horizon],
    *,
    level: float = LEVEL,
    censoring: Censoring | None = None,
    leave_out: Sequence[str] = _DISTANCES,
) -> Mapping[tuple[str, str], Estimate]:
    """Estimates by metric and horizon, decisions at a threshold of 0.2."""
    metrics = horizon_metrics(scores, horizons, thresholds=[0.2], censoring=censoring)
    asked = [metric for metric in metrics if metric.name not in leave_out]
    found = estimate(scores, asked, draws=Draws(seed=0, replicates=500), levels=(level,))
    return {(one.metric, one.slice["horizon"]): one for one in found}


def _planted(count: int, seed: int, plan: Mapping[str, Any]) -> tuple[Table, Mapping[str, Any], list[Horizon]]:
    """Table, truth by horizon, and horizons of a generated cohort."""
    made = plugins.find("generators", "survival")(count, seed=seed, plan={"groups": {}, "sites": 1, **plan})
    truth = made.truth["overall"]
    return made.table, truth, [Horizon(name, float(name.removesuffix("d"))) for name in truth]


def _complete_cases(table: Table, horizon: Horizon) -> Mapping[str, Estimate]:
    """What is found where those lost are left out."""
    known = _followed(table, [horizon])
    rows = known.take(np.flatnonzero(np.isfinite(known[horizon.outcome])))
    plain = Scores.of({"outcome": rows[horizon.outcome], "risk": rows[horizon.risk]})
    metrics = [one for one in risk.calibration_metrics() if one.name in ("oe_ratio", "calibration_in_the_large")]
    return {one.metric: one for one in estimate(plain, metrics, draws=Draws(seed=0, replicates=500), levels=(LEVEL,))}


def _misses(name: str, truth: float, found: Estimate) -> Check:
    """A way of counting that is wrong is seen to be wrong."""
    ends = "no interval" if found.low is None else f"{found.low:.4f} to {found.high:.4f}"
    passed = found.low is not None and found.high is not None and not found.low <= truth <= found.high
    return Check(name, f"an interval that misses {truth:.4f}", ends, passed)


# ---- planted truth ---------------------------------------------------------------------------------------------------


def _recovered(seed: int, *, plan: Mapping[str, Any]) -> Iterator[Check]:
    """Every figure at every horizon, in an interval that is no wider than the data excuse."""
    table, truth, horizons = _planted(6_000, seed, plan)
    found = _ask(_followed(table, horizons, patient=table["patient"]), horizons)
    for horizon in horizons:
        planted = truth[horizon.name]
        for name, widest in _WIDEST.items():
            right = planted[name] if name in planted else planted["thresholds"]["0.2"][name]
            yield holds(f"{name} at {horizon.name}", right, found[name, horizon.name], widest=widest)


def _dropped(seed: int) -> Iterator[Check]:
    """Leaving out those lost, or taking them as free of the event, must miss what weighting finds."""
    table, truth, horizons = _planted(6_000, seed, _HEAVY)
    last = horizons[-1]
    planted = truth[last.name]["oe_ratio"]
    yield holds("weighted, O/E", planted, _ask(_followed(table, [last]), [last])["oe_ratio", last.name], widest=0.32)
    yield _misses("those lost left out, O/E", planted, _complete_cases(table, last)["oe_ratio"])
    free = {**table, "followup": np.where(table["status"] == 0, 1e6, table["followup"])}
    yield _misses("those lost taken as free, O/E", planted, _complete_cases(free, last)["oe_ratio"])


def _competing(seed: int) -> Iterator[Check]:
    """Competing events taken for losses make the observed risk too high."""
    table, truth, horizons = _planted(6_000, seed, {"competing": 0.35, "censoring": 0.2})
    last = horizons[-1]
    planted = truth[last.name]["observed_risk"]
    found = _ask(_followed(table, [last]), [last])["observed_risk", last.name]
    yield holds("observed risk", planted, found, widest=_WIDEST["observed_risk"])
    merged = {**table, "status": np.where(table["status"] == 1, 1.0, 0.0)}
    wrong = _ask(_followed(merged, [last]), [last])["observed_risk", last.name]
    yield _misses("competing events taken for losses", planted, wrong)
    higher = None not in (wrong.value, found.value) and wrong.value > found.value  # type: ignore[operator]
    yield Check("and the risk is too high", f"above {found.value}", f"{wrong.value}", bool(higher))


def _loss_by_site(seed: int) -> Iterator[Check]:
    """Where a site with more events loses more patients, a curve within sites mends what one curve for all cannot."""
    plan = {"sites": 2, "site_log_odds_sd": 1.5, "censoring_by_site": 2.0, "censoring": 0.5}
    table, truth, horizons = _planted(12_000, seed, plan)
    last = horizons[-1]
    planted = truth[last.name]["oe_ratio"]
    scores = _followed(table, [last], stratum=table["site"])
    within = _ask(scores, [last], censoring=Censoring(name="by site", kind="strata"))
    yield _misses("one curve for all, O/E", planted, _ask(scores, [last])["oe_ratio", last.name])
    yield holds("a curve within sites, O/E", planted, within["oe_ratio", last.name], widest=0.32)


# ---- exact answers ---------------------------------------------------------------------------------------------------

_TIMES = np.array([1.0, 2, 2, 2, 3, 3, 4, 5, 5, 6])
_STATUS = np.array([1.0, 0, 1, 1, 0, 1, 0, 1, 0, 0])
_RISKS = np.array([0.9, 0.5, 0.8, 0.3, 0.4, 0.6, 0.2, 0.5, 0.1, 0.3])


def _by_hand(seed: int) -> Iterator[Check]:
    """Ten rows with tied times, on one's fingers: at day 2 two of nine have their event before anyone is lost."""
    day = Horizon("3d", 3.0)
    table = {"followup": _TIMES, "status": _STATUS, "risk_3d": _RISKS}
    found = _ask(_followed(table, [day]), [day])
    yield equal("observed risk", (3 + 7 / 6) / 10, found["observed_risk", "3d"].value)
    yield equal("AUC", 0.88, found["auroc", "3d"].value)
    yield equal("Brier", 0.1368333333333, found["brier", "3d"].value)
    yield equal(
        "scaled Brier", 1 - 0.1368333333333 / 0.2430555555556, found["scaled_brier", "3d"].value, tolerance=1e-8
    )
    none = found["auroc", "3d"]
    observed = f"{none.low} to {none.high}, {none.reason}"
    yield Check("no interval from 4 events", "none, with a reason", observed, none.low is None and bool(none.reason))


def _identities(seed: int) -> Iterator[Check]:
    """Weights of those seen add up to everyone, and their events to Aalen and Johansen's risk, also on tied days."""
    table, _, _ = _planted(800, seed, {"whole_days": True, "horizons": [40], "risks": [0.4], "auroc": 0.7, **_HEAVY})
    w = np.repeat([1.0, 2.0, 0.5, 3.0], 200)
    seen = HorizonWeights.of(table["followup"], table["status"], 40)
    a = w * seen.under(w[None, :]).v[0]
    yield equal("sum of the weights", 1.0, float(a.sum() / w.sum()), tolerance=_EXACT)
    right = float(aalen_johansen(table["followup"], table["status"], w).at(40.0).event)
    yield equal("observed risk", right, float(a @ np.nan_to_num(seen.outcome) / w.sum()), tolerance=_EXACT)


def _weights(seed: int) -> Iterator[Check]:
    """A whole-numbered design weight is so many copies of a row."""
    table, _, horizons = _planted(400, seed, _HEAVY)
    times = np.resize([1, 2, 3], 400)
    rows = np.repeat(np.arange(400), times)
    weighted = _followed(table, horizons, weight=times)
    repeated = _followed({name: column[rows] for name, column in table.items()}, horizons, patient=rows)
    pairs = [horizon_metrics(one, horizons, thresholds=[0.2]) for one in (weighted, repeated)]
    for one, other in zip(*pairs, strict=True):
        if one.name not in _DISTANCES:  # their knots lie at quantiles of the rows that there are
            name = f"{one.name} at {one.at['horizon']}"
            yield equal(name, other.value(repeated), one.value(weighted))


def _nobody(seed: int) -> Iterator[Check]:
    """Where the last patient is lost before the horizon, nothing at it is known."""
    day = Horizon("9d", 9.0)
    table = {"followup": _TIMES, "status": _STATUS, "risk_9d": _RISKS}
    found = _ask(_followed(table, [day]), [day])
    for name in ("auroc", "brier", "oe_ratio", "observed_risk"):
        yield null(name, found[name, "9d"])


def _none_lost(seed: int) -> Iterator[Check]:
    """Without a loss every figure and interval is that of the risk task."""
    table, _, horizons = _planted(600, seed, {"censoring": 0.0})
    last = horizons[-1]
    ours = _ask(_followed(table, [last]), [last], level=0.95)
    outcome: Floats = ((table["status"] == 1) & (table["followup"] <= last.days)).astype(np.float64)
    plain = Scores.of({"outcome": outcome, "risk": table[f"risk_{last.name}"]})
    metrics = risk.risk_metrics(thresholds=[0.2], smoother=risk.Smoother.of(plain))
    asked = [metric for metric in metrics if metric.name not in _DISTANCES and (metric.name, last.name) in ours]
    for one in estimate(plain, asked, draws=Draws(seed=0, replicates=500), levels=(0.95,)):
        other = ours[one.metric, last.name]
        same = (one.value, one.low, one.high) == (other.value, other.low, other.high)
        expected, observed = (f"{e.value} ({e.low} to {e.high})" for e in (one, other))
        yield Check(one.metric, expected, observed, same)


CHECKS: Mapping[str, Callable[[int], Iterator[Check]]] = {
    "by hand": _by_hand,
    "identities": _identities,
    "nobody followed": _nobody,
    "none lost": _none_lost,
    "integer weight": _weights,
    "calibrated cohort": partial(_recovered, plan={"whole_days": True}),
    "miscalibrated cohort": partial(_recovered, plan={"slope": 0.7, "in_the_large": 0.3, **_HEAVY}),
    "four landmarks": partial(
        _recovered, plan={"landmarks": [0, 60, 120, 180], "horizons": [365], "risks": [0.25], "slope": 0.8}
    ),
    "those lost": _dropped,
    "competing events": _competing,
    "losses by site": _loss_by_site,
}
