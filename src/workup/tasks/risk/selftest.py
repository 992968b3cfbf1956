"""Does the risk scorer find what was planted? Systems with known answers, put through the metrics and the estimates.

Every draw has a fixed seed, and a planted truth is looked for in a 99.9 % interval or at an exact value, so a failure
means a broken scorer and not bad luck.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from workup import plugins
from workup.estimate import Draws, Estimate, estimate
from workup.scores import Scores
from workup.stats import calibration, smooth
from workup.stats.arrays import Floats
from workup.stats.random import generator
from workup.tasks.risk import metrics as risk
from workup.tasks.selftests import Check, run_parts

LEVEL = 0.999
COPIES = 5
_DISTANCES = ("ici", "e50", "e90", "emax")  # resampling their splines takes long; only their points are checked here
_EXACT = 1e-9
# Widths that 6,000 rows of the planted cohorts may not exceed, a quarter above what they give: without a limit an
# interval from 0 to 1 would hold every truth.
_WIDEST = {
    "auroc": 0.06,
    "calibration_slope": 0.30,
    "calibration_in_the_large": 0.30,
    "oe_ratio": 0.24,
    "brier": 0.032,
    "sensitivity": 0.11,
    "specificity": 0.065,
    "ppv": 0.11,
    "npv": 0.07,
    "alert_rate": 0.055,
    "net_benefit": 0.055,
}


def run(*, seed: int = 0) -> list[Check]:
    """Every check, in a fixed order. A scorer that raises fails the check and stops none of the others."""
    return run_parts(_CHECKS, seed=seed)


# ---- asking the scorer -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Answers:
    """Estimates by metric, and threshold where the metric has one."""

    found: Mapping[tuple[str, float | None], Estimate]

    def __getitem__(self, name: str) -> Estimate:
        return next(one for (metric, _), one in self.found.items() if metric == name)

    def at(self, name: str, threshold: float) -> Estimate:
        return self.found[name, threshold]


def _ask(
    outcome: Floats,
    chance: Floats,
    *,
    thresholds: Sequence[float] = (0.3,),
    level: float = 0.95,
    replicates: int = 200,
    patient: npt.NDArray[np.int64] | None = None,
    weight: Floats | None = None,
    leave_out: Sequence[str] = _DISTANCES,
) -> _Answers:
    scores = Scores.of({"outcome": outcome, "risk": chance}, patient=patient, weight=weight)
    metrics = risk.risk_metrics(thresholds=thresholds, smoother=risk.Smoother.of(scores), also=risk.ON_REQUEST)
    asked = [metric for metric in metrics if metric.name not in leave_out]
    found = estimate(scores, asked, draws=Draws(seed=0, replicates=replicates), levels=(level,))
    return _Answers({(one.metric, one.slice.get("threshold")): one for one in found})


def _planted(count: int, seed: int, plan: Mapping[str, Any]) -> tuple[Floats, Floats, Mapping[str, Any]]:
    """Outcomes, risks and truth of a generated cohort without groups."""
    cohort = plugins.find("generators", "cohort")(count, seed=seed, plan={"groups": {}, "months": 1, **plan})
    return cohort.table["outcome"], cohort.table["risk"], cohort.truth["overall"]


def equal(name: str, expected: float, found: float | None, *, tolerance: float = _EXACT, detail: str = "") -> Check:
    """A figure has the value that it must have."""
    passed = found is not None and abs(found - expected) <= tolerance
    return Check(name, f"{expected:.10g}", "null" if found is None else f"{found:.10g}", passed, detail)


def null(name: str, found: Estimate) -> Check:
    """A figure that cannot be has no value, and says why."""
    passed = found.value is None and found.low is None and found.status == "undefined" and bool(found.reason)
    observed = f"{'null' if found.value is None else format(found.value, '.6g')}, {found.reason or 'no reason'}"
    return Check(name, "null, with a reason", observed, passed)


def holds(name: str, truth: float, found: Estimate, *, widest: float) -> Check:
    """The truth lies in the interval, and the interval is no wider than the data excuse."""
    expected = f"{truth:.4f} in an interval at most {widest:g} wide"
    if found.low is None or found.high is None:
        return Check(name, expected, "no interval", False, found.reason or "")
    passed = found.low <= truth <= found.high and found.high - found.low <= widest
    return Check(
        name, expected, f"{found.low:.4f} to {found.high:.4f}", passed, f"{found.method}, level {found.level:g}"
    )


# ---- ranking and classes ---------------------------------------------------------------------------------------------


def _ranking(seed: int) -> Iterator[Check]:
    outcome = np.repeat([0.0, 1.0], [30, 20])
    chance = np.linspace(0.1, 0.9, 50)
    best, worst = _ask(outcome, chance)["auroc"], _ask(1 - outcome, chance)["auroc"]
    yield equal("perfect AUROC", 1.0, best.value)
    yield equal("reversed AUROC", 0.0, worst.value)
    for name, found, inner, outer in (
        ("perfect", best, best.low, best.high),
        ("reversed", worst, worst.high, worst.low),
    ):
        passed = inner is not None and outer == found.value and inner != outer and found.method.startswith("Newcombe")
        yield Check(
            f"{name} AUROC keeps an interval",
            "Newcombe's, wider than a point",
            f"{found.low} to {found.high}, {found.method}",
            passed,
        )


def _constant(seed: int) -> Iterator[Check]:
    """One risk for all: no slope can be fitted, though rounding may make one seem to exist at this risk or that."""
    outcome = np.repeat([0.0, 1.0], [14, 6])[generator(seed, "selftest", "constant").permutation(20)]
    found = _ask(outcome, np.full(20, 0.2))
    yield equal("AUROC", 0.5, found["auroc"].value)
    yield null("slope", found["calibration_slope"])
    yield equal("in-the-large", float(np.log(0.3 / 0.7 / 0.25)), found["calibration_in_the_large"].value)
    [slope] = [metric for metric in risk.calibration_metrics() if metric.name == "calibration_slope"]
    values = [slope.value(Scores.of({"outcome": outcome, "risk": np.full(20, at / 100)})) for at in range(1, 100)]
    finite = int(np.count_nonzero(np.isfinite(values)))
    yield Check("slope at 99 risks", "no value at any", f"a value at {finite}", finite == 0)


def _swapped(seed: int) -> Iterator[Check]:
    outcome, chance, _ = _planted(1_500, seed, {"prevalence": 0.3, "slope": 0.8, "in_the_large": 0.3})
    straight, labels, both = _ask(outcome, chance), _ask(1 - outcome, chance), _ask(1 - outcome, 1 - chance)

    def value(answers: _Answers, name: str) -> float:
        found = answers[name].value
        return np.nan if found is None else found

    yield equal("labels, AUROC", 1 - value(straight, "auroc"), labels["auroc"].value)
    yield equal("labels, slope", -value(straight, "calibration_slope"), labels["calibration_slope"].value)
    yield equal("labels, sensitivity", 1 - value(straight, "specificity"), labels["sensitivity"].value)
    yield equal("labels and risks, AUROC", value(straight, "auroc"), both["auroc"].value)
    yield equal("labels and risks, slope", value(straight, "calibration_slope"), both["calibration_slope"].value)
    shift = -value(straight, "calibration_in_the_large")
    yield equal("labels and risks, in-the-large", shift, both["calibration_in_the_large"].value)


def _one_class(seed: int) -> Iterator[Check]:
    chance = np.linspace(0.05, 0.95, 40)
    none, all_ = _ask(np.zeros(40), chance), _ask(np.ones(40), chance)
    for name in ("auroc", "auprc", "calibration_slope", "calibration_in_the_large", "scaled_brier", "sensitivity"):
        yield null(f"no events, {name}", none[name])
    for name in ("auroc", "calibration_slope", "calibration_in_the_large", "scaled_brier", "specificity"):
        yield null(f"only events, {name}", all_[name])
    yield equal("no events, specificity", float(np.mean(chance < 0.3)), none["specificity"].value)


# ---- calibration and decisions ---------------------------------------------------------------------------------------


def _by_hand(seed: int) -> Iterator[Check]:
    """Sixty rows at two risks, where the unpenalised slope is a difference of logits; and counts on one's fingers."""
    chance = np.repeat([0.25, 0.75], 30)
    outcome = np.concatenate([np.arange(30) < 6, np.arange(30) < 20]).astype(np.float64)
    found = _ask(outcome, chance, thresholds=(0.75, 0.8))
    slope = (np.log(2.0) - np.log(0.25)) / (2 * np.log(3.0))
    yield equal("slope", float(slope), found["calibration_slope"].value)
    yield equal("O/E", 26 / 30, found["oe_ratio"].value)
    brier = (24 * 0.25**2 + 6 * 0.75**2 + 20 * 0.25**2 + 10 * 0.75**2) / 60
    yield equal("Brier", brier, found["brier"].value)
    yield equal("a risk at the threshold is flagged", 20 / 26, found.at("sensitivity", 0.75).value)
    yield equal("specificity", 24 / 34, found.at("specificity", 0.75).value)
    yield equal("PPV", 20 / 30, found.at("ppv", 0.75).value)
    yield equal("net benefit", (20 - 10 * 3) / 60, found.at("net_benefit", 0.75).value)
    yield equal("Wilson's lower end of 20/30", 0.487800, found.at("ppv", 0.75).low, tolerance=1e-6)
    yield equal("Wilson's upper end of 20/30", 0.807695, found.at("ppv", 0.75).high, tolerance=1e-6)
    yield null("PPV where no one is flagged", found.at("ppv", 0.8))
    yield equal("sensitivity where no one is flagged", 0.0, found.at("sensitivity", 0.8).value)


def _recovered(seed: int, *, plan: Mapping[str, Any]) -> Iterator[Check]:
    outcome, chance, truth = _planted(6_000, seed, plan)
    thresholds = [float(text) for text in truth["thresholds"]]
    found = _ask(outcome, chance, thresholds=thresholds, level=LEVEL, replicates=2000, leave_out=(*_DISTANCES, "auprc"))
    for name in ("auroc", "calibration_slope", "calibration_in_the_large", "oe_ratio", "brier"):
        yield holds(name, truth[name], found[name], widest=_WIDEST[name])
    for threshold in thresholds:
        for name in ("sensitivity", "specificity", "ppv", "npv", "alert_rate", "net_benefit"):
            planted = truth["thresholds"][f"{threshold:g}"][name]
            yield holds(f"{name} at {threshold:g}", planted, found.at(name, threshold), widest=_WIDEST[name])


# ---- the unit of sampling --------------------------------------------------------------------------------------------


def _repeated(seed: int) -> Iterator[Check]:
    """Copies of a row tell nothing new when they are the same patient, and five times as much when they are others.

    Widths are compared with those of two copies each, by the same method for repeated patients, and with those of the
    single rows, by the method for independent ones.
    """
    outcome, chance, _ = _planted(1_500, seed, {"prevalence": 0.3, "auroc": 0.85})
    rows, pairs = np.repeat(np.arange(1_500), COPIES), np.repeat(np.arange(1_500), 2)
    ask = partial(_ask, replicates=1000, leave_out=(*_DISTANCES, "auprc"))
    once, twice = ask(outcome, chance), ask(outcome[pairs], chance[pairs], patient=pairs)
    same, others = ask(outcome[rows], chance[rows], patient=rows), ask(outcome[rows], chance[rows])
    root = float(np.sqrt(COPIES))
    for name in ("auroc", "calibration_slope", "calibration_in_the_large", "oe_ratio", "brier", "sensitivity", "ppv"):
        value = once[name].value
        yield equal(f"same patients, {name}", np.nan if value is None else value, same[name].value)
        yield _ratio(f"same patients, width of {name}", same[name], twice[name], 1.0, within=0.01)
        yield _ratio(f"same patients, plain width of {name}", same[name], once[name], 1.0, within=0.1)
        yield _ratio(f"other patients, width of {name}", once[name], others[name], root, within=0.12)


def _ratio(name: str, top: Estimate, bottom: Estimate, expected: float, *, within: float) -> Check:
    """The widths of two intervals have the expected ratio."""
    found = _width(top) / _width(bottom)
    passed = bool(abs(found / expected - 1) <= within)
    return Check(name, f"a ratio of {expected:.3f}, within {within:.0%}", f"{found:.3f}", passed)


def _width(found: Estimate) -> float:
    return np.nan if found.low is None or found.high is None else found.high - found.low


def _order(seed: int) -> Iterator[Check]:
    """What is counted must not change by a bit; what is summed or fitted may differ in the last ones."""
    outcome, chance, _ = _planted(400, seed, {"prevalence": 0.3})
    rows = generator(seed, "selftest", "order").permutation(400)
    patients = np.arange(400) // 2
    first = _ask(outcome, chance, patient=patients)
    second = _ask(outcome[rows], chance[rows], patient=patients[rows])
    counted = ("auroc", "auprc", "sensitivity", "specificity", "ppv", "npv", "accuracy", "alert_rate")
    for (name, threshold), one in first.found.items():
        other = second.found[name, threshold]
        pairs = [(one.value, other.value), (one.low, other.low), (one.high, other.high)]
        apart = max(np.nan if a is None or b is None else abs(a - b) for a, b in pairs)
        limit = 0.0 if name in counted else _EXACT
        yield Check(name, f"differs by at most {limit:g}", f"{apart:.3g}", bool(apart <= limit))


def _weights(seed: int) -> Iterator[Check]:
    outcome, chance, _ = _planted(400, seed, {"prevalence": 0.3})
    times = generator(seed, "selftest", "weights").integers(1, 4, 400)
    rows = np.repeat(np.arange(400), times)
    weighted = Scores.of({"outcome": outcome, "risk": chance}, weight=times)
    repeated = Scores.of({"outcome": outcome[rows], "risk": chance[rows]}, patient=rows)
    smoother = risk.Smoother(smooth.knots(calibration.logit(chance), np.ones(400)))
    for metric in risk.risk_metrics(thresholds=[0.3], smoother=smoother, also=risk.ON_REQUEST):
        yield equal(metric.name, metric.value(repeated), metric.value(weighted))


_CHECKS: Mapping[str, Callable[[int], Iterator[Check]]] = {
    "ranking": _ranking,
    "constant risk": _constant,
    "swapped": _swapped,
    "one class": _one_class,
    "by hand": _by_hand,
    "calibrated cohort": partial(_recovered, plan={"prevalence": 0.25, "auroc": 0.75}),
    "miscalibrated cohort": partial(
        _recovered, plan={"prevalence": 0.25, "auroc": 0.75, "slope": 0.6, "in_the_large": 0.4}
    ),
    "repeated rows": _repeated,
    "row order": _order,
    "integer weight": _weights,
}
