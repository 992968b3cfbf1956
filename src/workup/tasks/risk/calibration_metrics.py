"""Do the risks mean what they say? Slope, in-the-large, O/E, Brier, and how far the smooth curve strays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import special

from workup.metric import FEWEST_PATIENTS, Family, Interval, Metric, linear, mean, ratio
from workup.scores import Scores
from workup.stats import calibration, refits, smooth
from workup.stats.arrays import Floats, Ints
from workup.stats.intervals import wilson, z_critical
from workup.tasks.risk.cards import CARDS
from workup.tasks.risk.discrimination import BOTH_CLASSES

FEWEST_FOR_CURVE = 10  # events, and non-events: below that a curve with four bends separates them more often than not
NO_CURVE = (
    f"a curve needs at least {FEWEST_FOR_CURVE} rows with and {FEWEST_FOR_CURVE} without the event whose risks are "
    "neither 0 nor 1"
)
MOVED = 0.5  # standard errors by which rows without log odds may move the slope before it is shown without them too
SEPARATED = "has no finite value: no events, only events, risks that separate them perfectly, or all risks equal"


def _outcome(scores: Scores) -> Floats:
    return scores["outcome"]


def _ones(scores: Scores) -> Floats:
    return np.ones(len(scores))


@dataclass(frozen=True)
class Smoother:
    """Where the knots of a system's calibration curve stand: quantiles of all its risks, the same for every slice."""

    knots: Floats

    @classmethod
    def of(cls, scores: Scores) -> Smoother:
        """Knots from the log odds of the full data; risks of 0 and 1 have none and are left out."""
        inside = at_an_end(scores) == 0
        if not inside.any():
            return cls(np.zeros(0))
        return cls(smooth.knots(calibration.logit(scores["risk"][inside]), scores.base_weight[inside]))


def _log_odds(scores: Scores) -> Floats:
    return scores.kept("log odds", lambda: calibration.logit(scores["risk"]))


def at_an_end(scores: Scores) -> Ints:
    """Which rows have a risk of 0 (1) or of 1 (2), and so no log odds; 0 for the others."""
    return scores.kept("at an end", lambda: calibration.at_an_end(scores["risk"]))


def _slope_replicates(scores: Scores, weights: Floats) -> Floats:
    ready = scores.kept("slope", lambda: refits.Refits.of_slope(scores["outcome"], _log_odds(scores)))
    return ready.under(weights)


def _in_the_large_replicates(scores: Scores, weights: Floats) -> Floats:
    ready = scores.kept("in the large", lambda: refits.Refits.of_intercept(scores["outcome"], _log_odds(scores)))
    return ready.under(weights)


def _slope_interval(scores: Scores, level: float) -> Interval:
    found = _plain_slope_interval(scores, level)
    without = slope_without_ends(scores, level)
    if without is None:
        return found
    return replace(found, reason="; ".join(filter(None, (found.reason, without.sentence))))


def _plain_slope_interval(scores: Scores, level: float) -> Interval:
    y, lp = scores["outcome"], _log_odds(scores)
    if scores.independent:
        fitted = calibration.slope(y, lp, scores.base_weight)
        low, high = calibration.slope_profile(y, lp, fitted, level=level)
        return Interval(low, high, fitted.se, "profile likelihood")
    return _cr2_interval(scores, *calibration.slope_robust(y, lp, scores.base_weight, scores.patient, level=level))


@dataclass(frozen=True)
class WithoutEnds:
    """The slope of the rows whose risks are neither 0 nor 1, where it is another one than that of all rows."""

    rows: int  # with a risk of 0 or 1
    value: float | None
    interval: Interval | None
    moved: float | None  # by how many standard errors of the slope of all rows

    @property
    def sentence(self) -> str:
        """What a reader of the slope of all rows must know."""
        said = (
            f"{self.rows:,} risks are 0 or 1 and have no log odds; the slope takes them as {calibration.CLIP:g} from "
            "the end, and that choice moves it"
        )
        if self.value is None or self.interval is None:
            return f"{said}: without these rows there is no slope"
        ends = "no interval"
        if self.interval.low is not None and self.interval.high is not None:
            ends = f"{self.interval.low:.3g} to {self.interval.high:.3g}"
        return f"{said}: without these rows it is {self.value:.3g} ({ends})"


def slope_without_ends(scores: Scores, level: float = 0.95) -> WithoutEnds | None:
    """The slope without risks of 0 and 1; None where there are none, or where they move it by half a standard error
    at most."""
    ends = at_an_end(scores) > 0
    if not ends.any():
        return None
    count, inside = int(ends.sum()), scores.take(np.flatnonzero(~ends))
    value = float(_slope_replicates(inside, inside.base_weight[None, :])[0]) if len(inside) else np.nan
    if not np.isfinite(value):
        return WithoutEnds(count, None, None, None)
    whole = calibration.slope(scores["outcome"], _log_odds(scores), scores.base_weight)
    se = _plain_slope_interval(scores, level).se or whole.se
    moved = abs(value - whole.value) / se
    if not moved > MOVED:
        return None
    return WithoutEnds(count, value, _plain_slope_interval(inside, level), moved)


def _citl_interval(scores: Scores, level: float) -> Interval:
    y, lp = scores["outcome"], _log_odds(scores)
    if scores.independent:
        fitted = calibration.in_the_large(y, lp, scores.base_weight)
        low, high = calibration.in_the_large_profile(y, lp, fitted, level=level)
        found = Interval(low, high, fitted.se, "profile likelihood")
    else:
        found = _cr2_interval(
            scores, *calibration.in_the_large_robust(y, lp, scores.base_weight, scores.patient, level=level)
        )
    return replace(found, reason="; ".join(filter(None, (found.reason, _in_the_large_rests_on_ends(scores, found.se)))))


def _in_the_large_rests_on_ends(scores: Scores, se: float | None) -> str:
    """Said where the distance from the end at which risks of 0 and 1 are taken decides calibration-in-the-large.

    It hardly ever does: a risk of 1e-6 expects no more events than one of 1e-9. Where most risks are 0 or 1 it does.
    """
    ends = int(np.count_nonzero(at_an_end(scores)))
    if not ends or not se:
        return ""
    y, p, w = scores["outcome"], scores["risk"], scores.base_weight
    values = [
        calibration.in_the_large(y, calibration.logit(p, clip=clip), w).value for clip in (calibration.CLIP, 1e-9)
    ]
    if abs(values[1] - values[0]) <= MOVED * se:
        return ""
    return f"{ends:,} risks are 0 or 1; taking them as {calibration.CLIP:g} from the end decides this figure"


def _cr2_interval(scores: Scores, ends: tuple[float, float], se: float) -> Interval:
    method = "cluster-robust (CR2, Satterthwaite)"
    return _few_patients(scores, method) or Interval(ends[0], ends[1], se, method)


def _few_patients(scores: Scores, method: str) -> Interval | None:
    """Repeated rows need enough patients to see how they cluster. Asking for many events as well would keep only the
    samples that happen to hold many, and bias what is shown."""
    with_event = int(np.unique(scores.patient[scores["outcome"] > 0]).size)
    if scores.n_patients >= FEWEST_PATIENTS and with_event >= 2:
        return None
    return Interval.refused(
        f"rows repeat within {scores.n_patients} patients, {with_event} of them with the event; at least "
        f"{FEWEST_PATIENTS} and 2 are needed",
        method=method,
    )


Expected = Literal["sampled", "fixed"]


def _oe_interval(scores: Scores, level: float, expected: Expected) -> Interval:
    y, p, w = scores["outcome"], scores["risk"], scores.base_weight
    if not np.any(y > 0):
        return Interval.refused("no events, so the logarithm of O/E has no variance", method="log scale")
    if np.all(y > 0):
        return _oe_of_events_alone(scores, level)
    units = "" if scores.independent else ", patient totals"
    method = f"log scale{units}" if expected == "sampled" else f"log scale{units}, expected events taken as fixed"
    refused = None if scores.independent else _few_patients(scores, method)
    if refused is not None:
        return refused

    def found(at: float) -> tuple[tuple[float, float], float]:
        if expected == "sampled":
            return calibration.oe_interval(y, p, w, scores.patient, level=at)
        if scores.independent:
            return calibration.oe_interval_expected_fixed(float(y.sum()), float(p.sum()), len(scores), level=at)
        return calibration.oe_interval_expected_fixed_clustered(y, p, w, scores.patient, level=at)

    (low, high), log_se = found(level)
    return Interval(low, high, float(w @ y / (w @ p)) * log_se, method, ends=lambda at: found(at)[0])


def _oe_of_events_alone(scores: Scores, level: float) -> Interval:
    """Where every row has the event the variance of log O is estimated as 0, which is not certainty: ten of ten are
    compatible with far less. Wilson's ends of the share carry over, with E taken as fixed, whatever is chosen."""
    if not scores.independent:
        return Interval.refused("every row has the event, so how patients cluster cannot be seen", method="log scale")
    n, expected = len(scores), float(scores["risk"].sum())

    def ends(at: float) -> tuple[float, float]:
        low, high = wilson(1.0, n, level=at)
        return low * n / expected, high * n / expected

    low, high = ends(level)
    error = (high - low) / (2 * z_critical(level))
    return Interval(low, high, error, "Wilson", reason="every row has the event", ends=ends)


def _scaled_brier(sums: Floats) -> Floats:
    error, events, n = sums[..., 0], sums[..., 1], sums[..., 2]
    with np.errstate(invalid="ignore", divide="ignore"):
        prevalence = events / n
        null = prevalence * (1 - prevalence)
        return np.asarray(np.where(null > 0, 1 - error / n / null, np.nan))


def _log_likelihoods(scores: Scores) -> Floats:
    """A row's log likelihood under its risk; whether its risk called it impossible; its outcome; 1."""
    y, p = scores["outcome"], scores["risk"]
    chance = np.where(y > 0, p, 1 - p)
    impossible = chance <= 0
    # Minus infinity times a weight of 0 is no number, so rows that were called impossible are counted apart.
    logs = np.log(np.where(impossible, 1.0, chance))
    return np.column_stack([logs, impossible, y, _ones(scores)])


def _nagelkerke(sums: Floats) -> Floats:
    model, impossible, events, n = (sums[..., i] for i in range(4))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = events / n
        null = special.xlogy(share, share) + special.xlogy(1 - share, 1 - share)  # log likelihood per row
        explained, most = 1 - np.exp(2 * (null - model / n)), 1 - np.exp(2 * null)
        return np.asarray(np.where((null < 0) & (impossible <= 0), explained / most, np.nan))


def calibration_metrics(*, expected: Expected = "sampled") -> list[Metric]:
    """Slope, calibration-in-the-large, O/E, Brier, scaled Brier and Nagelkerke's R².

    The interval of O/E takes the expected events as sampled with the patients, or as fixed, which is customary.
    """
    return [
        Metric(
            name="calibration_slope",
            compute=_slope_replicates,
            card=CARDS["calibration_slope"],
            undefined=SEPARATED,
            interval=_slope_interval,
            events="outcome",
            omnibus=lambda s, levels: calibration.slopes_differ(s["outcome"], _log_odds(s), levels.codes),
        ),
        Metric(
            name="calibration_in_the_large",
            compute=_in_the_large_replicates,
            card=CARDS["calibration_in_the_large"],
            undefined=SEPARATED,
            interval=_citl_interval,
            events="outcome",
            omnibus=lambda s, levels: calibration.intercepts_differ(s["outcome"], _log_odds(s), levels.codes),
        ),
        ratio(
            "oe_ratio",
            _outcome,
            lambda s: s["risk"],
            share=False,
            card=CARDS["oe_ratio"],
            undefined="all risks are 0",
            interval=lambda s, level: _oe_interval(s, level, expected),
            events="outcome",
        ),
        mean(
            "brier",
            lambda s: (s["outcome"] - s["risk"]) ** 2,
            card=CARDS["brier"],
            events="outcome",
        ),
        linear(
            "scaled_brier",
            lambda s: np.column_stack([(s["outcome"] - s["risk"]) ** 2, s["outcome"], _ones(s)]),
            _scaled_brier,
            card=CARDS["scaled_brier"],
            undefined=BOTH_CLASSES,
            events="outcome",
        ),
        linear(
            "nagelkerke_r2",
            _log_likelihoods,
            _nagelkerke,
            card=CARDS["nagelkerke_r2"],
            undefined=f"{BOTH_CLASSES}, and none that its risk called impossible (an event at a risk of exactly 0, or "
            "a row without it at 1, makes the likelihood 0)",
            events="outcome",
        ),
    ]


def calibration_distances(smoother: Smoother) -> list[Metric]:
    """ICI, E50, E90 and Emax: how far the smooth curve lies from the diagonal.

    A risk of 0 or 1 is no part of the curve; its row is held against the observed share at that end.
    """

    def replicates(scores: Scores, weights: Floats) -> Mapping[str, Floats]:
        apart = at_an_end(scores)
        if not enough_for_curve(scores["outcome"][apart == 0]):
            return {name: np.full(len(weights), np.nan) for name in smooth.Distances._fields}
        found = smooth.spline_distance_replicates(
            _log_odds(scores), scores["outcome"], scores["risk"], weights, at=smoother.knots, apart=apart
        )
        return found._asdict()

    family = Family(replicates)
    return [
        Metric(
            name=name,
            compute=lambda s, w, name=name: replicates(s, w)[name],  # type: ignore[misc]
            card=CARDS[name],
            undefined=NO_CURVE,
            events="outcome",
            family=family,
            grows_as_n_falls=True,
            whole_study=True,
        )
        for name in ("ici", "e50", "e90", "emax")
    ]


def enough_for_curve(outcome: Floats) -> bool:
    """Are there events and non-events enough for a curve?"""
    events = outcome.sum()
    return bool(min(events, outcome.size - events) >= FEWEST_FOR_CURVE)


def expected_calibration_error() -> Metric:
    """ECE over ten bins of equal width. On request only: it depends on the bins and grows as samples shrink."""
    bins = 10

    def columns(scores: Scores) -> Floats:
        gap = scores["outcome"] - scores["risk"]
        place = np.minimum((scores["risk"] * bins).astype(int), bins - 1)
        return np.column_stack([np.where(place[:, None] == np.arange(bins), gap[:, None], 0.0), _ones(scores)])

    def finish(sums: Floats) -> Floats:
        total = sums[..., -1]
        gaps = np.abs(sums[..., :-1]).sum(axis=-1)
        return np.asarray(np.divide(gaps, total, out=np.full(np.shape(total), np.nan), where=total > 0))

    return linear(
        "ece",
        columns,
        finish,
        card=CARDS["ece"],
        events="outcome",
        grows_as_n_falls=True,
    )
