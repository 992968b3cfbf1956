"""Updating a risk model by as little as the data support: the closed test, its candidates, and cross-fitting.

Candidates, from the least to the most: none, in_the_large (a + lp), recalibration (a + b lp), refit (lp and
predictors); by name only: beta and isotonic. lp is the log odds of the clipped risk.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from workup.stats import isotonic, logistic, scales
from workup.stats.arrays import Floats, Ints
from workup.stats.calibration import CLIP, logit
from workup.stats.intervals import Ends, chi2_p
from workup.stats.random import generator
from workup.stats.rank import placements
from workup.stats.sizes.development import cox_snell_max, cox_snell_of, develop

LADDER = ("none", "in_the_large", "recalibration", "refit")  # what the closed test chooses among
METHODS = (*LADDER, "beta", "isotonic")
# Events, and as many non-events, below which an update harms more often than it should (simulated: at 20, 50, 100 and
# 500 events each makes the Brier score of new patients worse in about every sixth sample or fewer).
LEAST_EVENTS = {"in_the_large": 20, "recalibration": 50, "beta": 100, "isotonic": 500}
ADVISED_EVENTS = {"recalibration": 100}
FEWEST_PATIENTS = 11  # behind a step of an isotonic update: fewer are merged with a neighbour
LIKELIHOOD_RATIO = "likelihood ratio"
WALD = "cluster-robust Wald F, CR1 with K/(K-1), K-1 denominator df"
_ADDS_RANK = 1e-7  # of its own length, what a column must have outside the span of those before it (as R's qr)
_OPEN = 1e-15  # how near to 0 and 1 an updated risk may come


class CannotUpdate(ValueError):
    """A named update that these data do not carry; the message says why and what to do."""


class RunsBackwards(CannotUpdate):
    """Higher risks go with fewer events: no recalibration mends that."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows to update on: outcomes (0 or 1), risks, and where there are any predictors, patients of rows and weights.

    Rows of weight 0 (those whose outcome is not known, say) are mended like all others and decide nothing.
    """

    outcome: Floats
    risk: Floats
    predictors: Mapping[str, Floats] = field(default_factory=dict)
    patient: Ints | None = None  # None: every row is a patient
    weight: Floats | None = None

    def __post_init__(self) -> None:
        """A number that is missing would pass for a fit that separates."""
        used = np.ones(self.risk.size, dtype=bool) if self.weight is None else self.weight > 0
        if not np.isin(self.outcome[used], (0.0, 1.0)).all():
            raise ValueError("outcomes must be 0 or 1")
        if not np.all((self.risk >= 0) & (self.risk <= 1)):
            raise ValueError("risks must lie between 0 and 1")
        missing = [name for name, column in self.predictors.items() if not np.isfinite(column).all()]
        if missing:
            raise ValueError(f"predictors must be finite numbers in every row; not so: {', '.join(missing)}")

    def take(self, rows: Any) -> Sample:
        """Some of the rows, by mask or position."""
        return Sample(
            self.outcome[rows],
            self.risk[rows],
            {name: column[rows] for name, column in self.predictors.items()},
            None if self.patient is None else self.patient[rows],
            None if self.weight is None else self.weight[rows],
        )

    @property
    def clusters(self) -> Ints:
        """The patient of every row."""
        return np.arange(self.outcome.size) if self.patient is None else self.patient

    @property
    def mass(self) -> Floats:
        """The weight of every row; 1 where all weigh the same."""
        return self.weight if self.weight is not None and self.weighted else np.ones(self.outcome.size)

    @property
    def weighted(self) -> bool:
        """Do rows count differently?"""
        return self.weight is not None and bool(np.any(self.weight != self.weight[0]))

    @property
    def repeated(self) -> bool:
        """Has a patient several rows?"""
        return self.patient is not None and np.unique(self.patient).size < self.patient.size


class CandidateRow(NamedTuple):
    """One candidate against the largest model."""

    candidate: str
    statistic: float | None
    df: int
    p: float | None  # None: the candidate is the largest model itself
    kind: str


@dataclass(frozen=True, eq=False)
class ClosedTest:
    """The closed test (Vergouwe 2017): which candidate it chose, its rows, and the fits it compared.

    Fits that have no finite maximum are NaN.
    """

    chosen: str
    rows: tuple[CandidateRow, ...]
    kind: str
    rank: int
    kept: tuple[str, ...]  # predictors that add rank, in order
    log_likelihood: Mapping[str, float]  # of none, in_the_large, recalibration and the largest
    in_the_large: float
    recalibration: tuple[float, float]
    largest: Floats  # coefficients of 1, lp and the kept predictors
    reason: str | None  # why the largest model is smaller than the predictors would make it


@dataclass(frozen=True, eq=False)
class Update:
    """How risks are mended: a method with its parameters, and how it was found.

    `parameters` by method: none {}, in_the_large {intercept}, recalibration {intercept, slope}, refit {columns,
    coefficients} (those of 1, lp and the columns), beta {a, b, c}, isotonic {x, y}.
    """

    method: str
    parameters: Mapping[str, Any]
    fitted_on: tuple[float, float]  # least and greatest lp, outwards to two decimals so that they name no patient's
    chosen_by: str = "closed test"  # or "named"
    test: tuple[CandidateRow, ...] = ()
    reason: str | None = None  # why the method is not the one that the test pointed to
    backwards: bool = False  # higher risks go with fewer events, which no recalibration mends
    note: str | None = None  # that the method was offered but more events are advised
    clip: float = CLIP

    def apply(self, risk: Floats, predictors: Mapping[str, Floats] | None = None) -> Floats:
        """The updated risks, each in (0, 1): risks of 0 and 1 are clipped first, whatever the method.

        A refit needs the predictors in `parameters["columns"]` by name.
        """
        known = np.clip(risk, self.clip, 1 - self.clip)
        if self.method == "none":
            return np.asarray(known)
        if self.method == "isotonic":
            x, y = (np.asarray(self.parameters[name], dtype=np.float64) for name in ("x", "y"))
            return np.asarray(np.clip(isotonic.between(x, y, known), self.clip, 1 - self.clip))
        return np.asarray(np.clip(logistic.expit(self._log_odds(known, predictors or {})), _OPEN, 1 - _OPEN))

    def _log_odds(self, known: Floats, predictors: Mapping[str, Floats]) -> Floats:
        lp, of = logit(known, clip=self.clip), self.parameters
        if self.method == "in_the_large":
            return np.asarray(of["intercept"] + lp)
        if self.method == "recalibration":
            return np.asarray(of["intercept"] + of["slope"] * lp)
        if self.method == "beta":
            return np.asarray(of["c"] + of["a"] * np.log(known) - of["b"] * np.log1p(-known))
        missing = [name for name in of["columns"] if name not in predictors]
        if missing:
            raise CannotUpdate(f"the refit needs the predictors {', '.join(missing)}")
        intercept, slope, *rest = of["coefficients"]
        found = intercept + slope * lp
        for name, coefficient in zip(of["columns"], rest, strict=True):
            found = found + coefficient * predictors[name]
        return np.asarray(found)

    def beyond(self, risk: Floats) -> int:
        """How many risks lie outside those that the update was fitted on."""
        lp = logit(risk, clip=self.clip)
        return int(np.count_nonzero((lp < self.fitted_on[0]) | (lp > self.fitted_on[1])))


# ---- the closed test -------------------------------------------------------------------------------------------------


class _Fit(NamedTuple):
    """Logistic fit of 1, lp and predictors as a departure from the risk itself (the log odds are lp + Z d)."""

    coefficients: Floats  # of 1, lp and the predictors, in their own units
    departure: Floats  # d, columns centred and scaled
    covariance: Floats  # CR1, of d
    log_likelihood: float


def closed_test(sample: Sample, *, alpha: float = 0.05) -> ClosedTest:
    """None, in_the_large and recalibration, each against the largest model; the first not refused at `alpha`, or refit.

    One alternative and shrinking nulls: the family error is `alpha` without any adjustment. Independent rows are tested
    by the likelihood ratio; where patients have several rows or rows have weights, that would take dependent rows for
    independent ones, so all coefficients, all but the first, or all but the first two of the offset form are tested by
    a cluster-robust Wald F.
    """
    if sample.weight is not None:
        sample = sample.take(sample.weight > 0)
    robust = sample.repeated or sample.weighted
    lp = logit(sample.risk)
    columns = _basis(lp, sample.predictors)
    fit = None
    # The largest model that has a finite maximum: all columns, else those of recalibration, else the intercept.
    for names in dict.fromkeys((tuple(columns), tuple(name for name in columns if name in _OWN), _OWN[:1])):
        fit = _fitted(sample, lp, {name: columns[name] for name in names}, robust=robust)
        if fit is not None:
            break
    used = names if fit is not None else ()
    large = _intercept(sample, lp)
    joint = np.nan, np.nan
    if fit is not None and used == _OWN:
        joint = float(fit.coefficients[0]), float(fit.coefficients[1])
    elif "lp" in columns:
        joint = _recalibration(sample, lp)
    likelihood = {
        "none": _log_likelihood(sample, lp),
        "in_the_large": _log_likelihood(sample, lp + large),
        "recalibration": _log_likelihood(sample, joint[0] + joint[1] * lp),
        "largest": np.nan if fit is None else fit.log_likelihood,
    }
    rows = _test_rows(sample, used, fit, likelihood, robust=robust) if fit is not None else ()
    return ClosedTest(
        chosen=_chosen(rows, alpha),
        rows=rows,
        kind=WALD if robust else LIKELIHOOD_RATIO,
        rank=len(used),
        kept=tuple(name.removeprefix("x ") for name in used if name not in _OWN),
        log_likelihood=likelihood,
        in_the_large=large,
        recalibration=joint,
        largest=np.array([]) if fit is None else fit.coefficients,
        reason=_why_smaller(len(used), len(columns)),
    )


def _why_smaller(used: int, asked: int) -> str | None:
    if used == asked:
        return None
    if used == 0:
        return "all outcomes are the same"
    if used < min(2, asked):
        return "the risks separate events from the others"
    return "the predictors separate events from the others, or there are fewer patients than coefficients"


_OWN = ("1", "lp")  # columns that are no predictors; predictors are kept under names that begin with "x "


def _basis(lp: Floats, predictors: Mapping[str, Floats]) -> dict[str, Floats]:
    """1, lp and the predictors that lie outside the span of the columns before them, in order."""
    kept: dict[str, Floats] = {}
    span = np.empty((lp.size, 0))
    for name, column in {"1": np.ones(lp.size), "lp": lp, **{f"x {key}": x for key, x in predictors.items()}}.items():
        rest = column - span @ (span.T @ column)
        rest = rest - span @ (span.T @ rest)  # once more: what rounding left of the span
        length = float(np.linalg.norm(rest))
        if length > _ADDS_RANK * float(np.linalg.norm(column)):
            kept[name] = column
            span = np.column_stack([span, rest / length])
    return kept


def _fitted(sample: Sample, lp: Floats, columns: Mapping[str, Floats], *, robust: bool) -> _Fit | None:
    """The fit of these columns; None where it has no finite maximum, or too few patients for a covariance."""
    # Centred and scaled, so that a year or a platelet count does not make the information look singular.
    centre = np.array([0.0 if name == "1" else float(column.mean()) for name, column in columns.items()])
    spread = np.array([1.0 if name == "1" else float(column.std()) for name, column in columns.items()])
    design = (np.column_stack(list(columns.values())) - centre) / spread
    w = sample.mass
    found = logistic.fit(design, sample.outcome, w[None, :], offset=lp)
    d = found.coefficients[0]
    if not np.isfinite(d).all():
        return None
    eta = lp + design @ d
    slopes = dict(zip(columns, d / spread, strict=True))
    intercept = d[0] - sum(slopes[name] * middle for name, middle in zip(columns, centre, strict=True))
    rest = [slope for name, slope in slopes.items() if name not in _OWN]
    coefficients = np.array([intercept, 1 + slopes.get("lp", 0.0), *rest])
    covariance = _covariance(sample, design, eta, found.inverse_information[0]) if robust else np.eye(d.size)
    if covariance is None:
        return None
    return _Fit(coefficients, d, covariance, _log_likelihood(sample, eta))


def _covariance(sample: Sample, design: Floats, eta: Floats, bread: Floats) -> Floats | None:
    """CR1: scores summed by patient, times K / (K - 1); None where patients are too few or too alike for it."""
    _, codes = np.unique(sample.clusters, return_inverse=True)
    units = int(codes.max()) + 1
    if units <= design.shape[1]:
        return None
    pull = (sample.mass * (sample.outcome - logistic.expit(eta)))[:, None] * design
    totals = np.column_stack([np.bincount(codes, weights=column, minlength=units) for column in pull.T])
    found = bread @ (totals.T @ totals) @ bread * (units / (units - 1))
    values = np.linalg.eigvalsh(found)
    return np.asarray(found) if values[0] > 1e-12 * values[-1] else None


def _test_rows(
    sample: Sample, names: tuple[str, ...], fit: _Fit, likelihood: Mapping[str, float], *, robust: bool
) -> tuple[CandidateRow, ...]:
    """Every candidate against the largest model, by the coefficients that the candidate does without."""
    without = {
        "none": [True] * len(names),
        "in_the_large": [name != "1" for name in names],
        "recalibration": [name not in _OWN for name in names],
    }
    if "lp" not in names:
        del without["recalibration"]  # all risks are equal, or they separate: there is no slope
    units = np.unique(sample.clusters).size
    found = []
    for candidate, tested in without.items():
        df, of = sum(tested), np.array(tested)
        if robust:
            d, v = fit.departure[of], fit.covariance[np.ix_(of, of)]
            statistic = float(d @ np.linalg.solve(v, d)) / df if df else None
        else:
            statistic = 2 * (likelihood["largest"] - likelihood[candidate]) if df else 0.0
        p = None
        if df and statistic is not None:
            p = float(special.fdtrc(df, units - 1, statistic)) if robust else chi2_p(max(0.0, statistic), df)
        found.append(CandidateRow(candidate, statistic, df, p, WALD if robust else LIKELIHOOD_RATIO))
    return tuple(found)


def _chosen(rows: tuple[CandidateRow, ...], alpha: float) -> str:
    for row in rows:
        if row.p is None or row.p > alpha:
            return row.candidate
    return "refit" if rows else "none"


def _log_likelihood(sample: Sample, eta: Floats) -> float:
    if not np.isfinite(eta).all():
        return np.nan
    return float(np.sum(sample.mass * (sample.outcome * eta - np.logaddexp(0, eta))))


# ---- fits ------------------------------------------------------------------------------------------------------------


def _intercept(sample: Sample, lp: Floats) -> float:
    """The intercept with lp as offset, by maximum likelihood: it makes the mean risk the share of events."""
    found = logistic.fit(np.ones((lp.size, 1)), sample.outcome, sample.mass[None, :], offset=lp).coefficients[0, 0]
    return float(found)


def _recalibration(sample: Sample, lp: Floats) -> tuple[float, float]:
    found = logistic.fit(logistic.with_constant(lp), sample.outcome, sample.mass[None, :]).coefficients[0]
    return float(found[0]), float(found[1])


class Beta(NamedTuple):
    """Beta calibration: log odds c + a ln p − b ln(1 − p) (Kull 2017). NaN where there is no finite maximum."""

    a: float
    b: float
    c: float
    log_likelihood: float

    @property
    def admissible(self) -> bool:
        """Does the updated risk rise with the risk everywhere?"""
        return self.a >= 0 and self.b >= 0


def beta_fit(sample: Sample) -> Beta:
    """Beta calibration without the bounds on a and b, so that one can see where they would bind."""
    p = np.clip(sample.risk, CLIP, 1 - CLIP)
    design = np.column_stack([np.ones(p.size), np.log(p), -np.log1p(-p)])
    c, a, b = (float(x) for x in logistic.fit(design, sample.outcome, sample.mass[None, :]).coefficients[0])
    return Beta(a, b, c, _log_likelihood(sample, design @ np.array([c, a, b])))


# ---- what is offered, and the update ---------------------------------------------------------------------------------


def not_offered(sample: Sample) -> dict[str, str]:
    """Methods that the number of events, of others or of patients forbids, each with the reason and what it takes.

    To be asked of the whole table and handed to `update` in every fold: a table of 52 events allows recalibration, and
    its folds must not judge another procedure because each holds 47.
    """
    counted = sample if sample.weight is None else sample.take(sample.weight > 0)
    events = int(np.count_nonzero(counted.outcome == 1))
    others = counted.outcome.size - events
    found = {
        method: f"{method} needs at least {least} events and {least} non-events; there are {events} and {others}"
        for method, least in LEAST_EVENTS.items()
        if min(events, others) < least
    }
    if not sample.predictors:
        found["refit"] = "a refit needs predictors, and none is named"
    elif min(events, others) == 0:
        found["refit"] = f"a refit needs events and non-events; there are {events} and {others}"
    else:
        patients, least = np.unique(counted.clusters).size, _to_develop(counted)
        if patients < least:
            found["refit"] = (
                f"a refit of {_parameters(counted)} parameters needs at least {least} patients, as a new model would "
                f"(Riley 2019); there are {patients}"
            )
    return found


def _parameters(sample: Sample) -> int:
    """Columns of the largest model beside the intercept."""
    return max(1, len(_basis(logit(sample.risk), sample.predictors)) - 1)


def _to_develop(sample: Sample) -> int:
    """Patients that a new model of so many parameters would need, if it ranks as well as the risks at hand.

    Risks that hardly rank at all say nothing of a new model: at least the customary 15 % of the highest R² is expected.
    """
    mass = sample.mass
    share = float(np.sum(mass * sample.outcome) / mass.sum())
    ranks = min(placements(sample.outcome, sample.risk, sample.weight).auc, 0.999)
    fit = cox_snell_of(ranks, prevalence=share) if ranks > 0.5 else 0.0
    least = 0.15 * cox_snell_max(share)
    return develop(prevalence=share, parameters=_parameters(sample), cox_snell=max(fit, least)).n


def update(
    sample: Sample, *, method: str = "closed", alpha: float = 0.05, forbidden: Mapping[str, str] | None = None
) -> Update:
    """The update that the closed test chooses, or the one named.

    `forbidden` are methods that may not be used, with the reason (`not_offered` of the whole table; {} for none; None
    asks it of these rows). The closed test then steps down to the next simpler candidate and says so; a named method
    raises `CannotUpdate`. Where recalibration would turn the ranking round, the closed test leaves the risks as they
    are and says `backwards`.
    """
    forbidden = not_offered(sample) if forbidden is None else forbidden
    if sample.weight is not None:
        sample = sample.take(sample.weight > 0)
    if sample.outcome.size == 0:
        raise CannotUpdate("there are no rows to update on")
    test = closed_test(sample, alpha=alpha)
    if method != "closed":
        if method not in METHODS:
            raise ValueError(f"method must be closed or one of {', '.join(METHODS)}; got {method}")
        if method in forbidden:
            raise CannotUpdate(forbidden[method])
        return _made(sample, method, _parameters_of(sample, method, test), chosen_by="named", test=test.rows)
    said = [] if test.reason is None else [f"the largest model is smaller than asked for: {test.reason}"]
    for candidate in reversed(LADDER[: LADDER.index(test.chosen) + 1]):
        try:
            if candidate in forbidden:
                raise CannotUpdate(forbidden[candidate])
            parameters = _parameters_of(sample, candidate, test)
        except RunsBackwards as problem:
            said.append(str(problem))
            return _made(sample, "none", {}, test=test.rows, reason="; ".join(said), backwards=True)
        except CannotUpdate as problem:
            said.append(f"the test pointed to {candidate}, which is not offered: {problem}")
        else:
            return _made(sample, candidate, parameters, test=test.rows, reason="; ".join(said) or None)
    raise AssertionError("the last candidate changes nothing and is always offered")


def _made(sample: Sample, method: str, parameters: Mapping[str, Any], **words: Any) -> Update:
    if sample.outcome.size == 0:
        return Update(method, parameters, (np.nan, np.nan), **words)
    lp = logit(sample.risk)
    span = math.floor(float(lp.min()) * 100) / 100, math.ceil(float(lp.max()) * 100) / 100
    return Update(method, parameters, span, note=_advice(sample, method), **words)


def _advice(sample: Sample, method: str) -> str | None:
    advised, events = ADVISED_EVENTS.get(method, 0), int(np.count_nonzero(sample.outcome == 1))
    others = sample.outcome.size - events
    if min(events, others) >= advised:
        return None
    return f"{method} is advised from {advised} events and {advised} non-events on; there are {events} and {others}"


def _parameters_of(sample: Sample, method: str, test: ClosedTest) -> dict[str, Any]:
    """The parameters of a method fitted to these rows; refuses a fit that separates, or that turns the ranking."""
    if method == "none":
        return {}
    if method == "isotonic":
        return _isotonic(sample)
    if method == "beta":
        beta = beta_fit(sample)
        _finite(method, beta.a, beta.b, beta.c)
        if not beta.admissible:
            raise CannotUpdate(
                f"beta calibration would have a = {beta.a:.3g} and b = {beta.b:.3g}; below 0 updated risks fall where "
                "risks rise. Use recalibration"
            )
        return {"a": beta.a, "b": beta.b, "c": beta.c}
    if method == "in_the_large":
        _finite(method, test.in_the_large)
        return {"intercept": test.in_the_large}
    if method == "recalibration":
        intercept, slope = test.recalibration
        _finite(method, intercept, slope)
        if slope <= 0:
            raise RunsBackwards(
                f"the calibration slope is {slope:.3g}: higher risks go with fewer events, and no recalibration mends "
                "a risk that runs backwards"
            )
        return {"intercept": intercept, "slope": slope}
    if not test.kept:
        raise CannotUpdate(test.reason or "no predictor adds anything to the risk")
    _finite(method, *test.largest)
    return {
        "columns": list(test.kept),
        "coefficients": [float(x) for x in test.largest],
    }


def _finite(method: str, *values: float) -> None:
    if not np.isfinite(values).all():
        raise CannotUpdate(f"the fit of {method} has no finite maximum: it separates events from the others")


def _isotonic(sample: Sample) -> dict[str, Any]:
    """Both ends of every step, to 4 digits, so that neither a step nor its end is any one patient's."""
    known = np.clip(sample.risk, CLIP, 1 - CLIP)
    steps = isotonic.pooled(sample.outcome, known, sample.weight)
    x, y = isotonic.merged(steps, known, sample.clusters, fewest=FEWEST_PATIENTS).points()
    return {"x": isotonic.blurred(x).tolist(), "y": y.tolist()}


# ---- cross-fitting ---------------------------------------------------------------------------------------------------


def folds_of_patients(patient: Ints, *, folds: int = 10, seed: int = 0) -> Ints:
    """A fold from 0 on for every row; all rows of a patient share one, and folds differ by at most one patient."""
    units, codes = np.unique(patient, return_inverse=True)
    if not 2 <= folds <= units.size:
        raise ValueError(f"folds must be 2 to the number of patients ({units.size}); got {folds}")
    fold = np.empty(units.size, dtype=np.int64)
    fold[generator(seed, "folds").permutation(units.size)] = np.arange(units.size) % folds
    return np.asarray(fold[codes])


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """Risks of every row by an update made without its fold, and the updates."""

    risk: Floats
    updates: tuple[Update, ...]  # by fold

    @property
    def methods(self) -> tuple[str, ...]:
        """The method of each fold."""
        return tuple(one.method for one in self.updates)


def cross_fit(sample: Sample, procedure: Callable[[Sample], Update], fold: Ints) -> CrossFitted:
    """The whole procedure anew without each fold, applied to it.

    A fold without which no update can be made (a named one that the rest does not carry, or no rest) keeps the risks it
    has, with the reason.
    """
    risk = np.empty(sample.risk.size)
    updates = []
    for one in np.unique(fold):
        inside = fold == one
        rest = sample.take(~inside)
        try:
            found = procedure(rest)
        except CannotUpdate as problem:
            found = _made(rest, "none", {}, chosen_by="named", reason=str(problem))
        held = sample.take(inside)
        risk[inside] = found.apply(held.risk, held.predictors)
        updates.append(found)
    return CrossFitted(risk, tuple(updates))


def moved(ends: Ends, apparent: float, honest: float, *, scale: str = "identity") -> Ends:
    """The interval of an apparent figure moved, on the figure's own scale, to where the honest one lies.

    >>> [round(end, 3) for end in moved(Ends(0.8, 1.25), 1.0, 0.9, scale="log")]
    [0.72, 1.125]
    """
    shift = scales.there(honest, scale) - scales.there(apparent, scale)
    low, high = (scales.back(scales.there(end, scale) + shift, scale) for end in ends)
    return Ends(np.nan if low is None else low, np.nan if high is None else high)
