"""Metric: a weighted statistic over the rows of Scores. One definition serves point, bootstrap, slice and window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from workup.scores import Levels, Scores
from workup.stats import intervals
from workup.stats.arrays import Floats

Column = Callable[[Scores], Floats]
Status = Literal["ok", "undefined", "insufficient", "withheld"]

# Below so many patients a resampling interval (the first) or an error seen over clusters (the second) rests on too few
# units to be trusted. Simulated coverage of a nominal 95 % is at least 92 % from there on
# (evidence/small_samples.json).
# A share over clusters is safe below the second, only wide (evidence/clustered_edges.json), and says so.
FEWEST_PATIENTS = 20
FEWEST_CLUSTERS = 10
FEWEST_FOR_SHARES = 5  # clusters from which the difference of two shares is covered (evidence/clustered_edges.json)


@dataclass(frozen=True)
class Interval:
    """What an interval method answers. Ends are None when it has none to give, and then `reason` says why.

    `ends` gives the ends at any other level where that costs nothing; a test of a difference is read off it. `ceiling`
    is the most that the low end of a share can be with so many `clusters`, however good the result.
    """

    low: float | None
    high: float | None
    se: float | None
    method: str
    status: Status = "ok"
    reason: str = ""
    ends: Callable[[float], tuple[float, float]] | None = None
    clusters: int | None = None
    ceiling: float | None = None

    @classmethod
    def refused(cls, reason: str, *, method: str = "none", status: Status = "insufficient") -> Interval:
        """No interval, and why."""
        return cls(None, None, None, method, status, reason)


@dataclass(frozen=True)
class Linear:
    """A statistic that is a function of weighted column sums; many of them share one matrix product."""

    columns: Callable[[Scores], Floats]  # [n, k]
    finish: Callable[[Floats], Floats]  # [..., k] -> [...]


@dataclass(frozen=True)
class Family:
    """Several metrics from one pass over the rows, keyed by metric name."""

    compute: Callable[[Scores, Floats], Mapping[str, Floats]]


class PairedGap(NamedTuple):
    """Second less first of two systems on the same rows, with its interval and test; `reason` where there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    method: str = "none"
    reason: str = ""


class Concern(NamedTuple):
    """How large a change over time is of medium and of high concern, and in a single group, by custom."""

    medium: float
    high: float
    in_group: float


Better = Literal["higher", "lower", "target", "neither"]
Scale = Literal["identity", "logit", "log"]
Unit = Literal["share", "difference", "count", "turns", "rating", ""]


@dataclass(frozen=True, kw_only=True)
class Card:
    """What anyone must know of a metric who did not compute it. It travels in the record, and pages, gates, packs and
    comparisons read it there.

    `describe` says what the number is in words that need no statistics. A `share` is one of rows, on which so many
    clusters alone decide what a perfect system can show. `section` is the part of a page that shows it, `shown` where
    else it stands: `headline` (judged together in comparisons), `groups`, `parity` (ratios between
    groups), `gaps` (smallest ones that data could show), `forests` (charts), `cards` (the figures at the head of a
    page), `latest` (those of a watched system). `harm` marks counts of harm done,
    which no missing answer can make fewer. A metric that is not `pooled` means another thing at every site.
    """

    title: str
    describe: str
    better: Better = "higher"
    target: float | None = None
    scale: Scale = "identity"
    unit: Unit = ""
    section: str = ""
    shown: tuple[str, ...] = ()
    concern: Concern | None = None
    harm: bool = False
    pooled: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as the record holds it."""
        return {**vars(self), "concern": None if self.concern is None else self.concern._asdict()}


def in_order(cards: Mapping[str, Card]) -> dict[str, dict[str, Any]]:
    """Cards as the record holds them, each with its place among them: JSON keeps no order of names."""
    return {name: {**card.as_dict(), "order": place} for place, (name, card) in enumerate(cards.items())}


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A named statistic: `compute(scores, weights[B, n])` answers one value per weight vector, NaN where undefined.

    `card` says what it is, and then sets `describe`, `better`, `target`, `scale` and `concern`; without one, these make
    it (`described`). `interval` is the analytic interval of a slice; without one, whole patients are
    resampled (BCa). `at` are slice keys that belong to the metric itself, such as a decision threshold.
    """

    name: str
    compute: Callable[[Scores, Floats], Floats]
    card: Card | None = None
    describe: str = ""
    better: Better = "higher"
    target: float | None = None
    scale: Scale = "identity"
    at: Mapping[str, Any] = field(default_factory=dict)
    undefined: str = "the data do not define it"
    interval: Callable[[Scores, float], Interval] | None = None
    counts: Callable[[Scores], tuple[float, float]] | None = None
    events: str | None = None
    linear: Linear | None = None
    family: Family | None = None
    grows_as_n_falls: bool = False  # biased upwards in small samples, so groups of other sizes are not compared on it
    parity: bool = False  # a margin given for no metric in particular is meant for this one too
    joint_gap: str = ""  # metrics that share this name at the same `at` are also judged by their largest gap
    complement: str = ""  # name of one minus this share, where a ratio between groups is asked of that too
    omnibus: Callable[[Scores, Levels], intervals.Test] | None = None
    paired: Callable[[Scores, Scores, float], PairedGap] | None = None  # of two systems on the same independent rows
    whole_study: bool = False  # rests on knots or bins of the whole study, so sites cannot be pooled on it
    concern: Concern | None = None  # changes over time that matter, by custom

    def __post_init__(self) -> None:
        if self.card is not None:
            for name in _OF_CARD:
                object.__setattr__(self, name, getattr(self.card, name))

    def described(self) -> Card:
        """Its card, or one made of its own fields."""
        if self.card is not None:
            return self.card
        own = {name: getattr(self, name) for name in _OF_CARD}
        return Card(title=self.name.replace("_", " "), pooled=not self.whole_study, **own)

    def value(self, scores: Scores) -> float:
        """The point value under the design weights, NaN where undefined."""
        if len(scores) == 0:
            return float("nan")
        return float(self.compute(scores, scores.base_weight[None, :])[0])


_OF_CARD = ("describe", "better", "target", "scale", "concern")


def linear(name: str, columns: Callable[[Scores], Floats], finish: Callable[[Floats], Floats], **fields: Any) -> Metric:
    """A metric from weighted column sums."""
    form = Linear(columns, finish)
    return Metric(name=name, compute=lambda scores, weights: finish(weights @ columns(scores)), linear=form, **fields)


def ratio(name: str, numerator: Column, denominator: Column, *, share: bool = True, **fields: Any) -> Metric:
    """A ratio of weighted sums. A share (of 0/1 rows) gets `share_interval`; any other ratio is resampled.

    >>> scores = Scores.of({"hit": [1, 1, 0, 1]})
    >>> recall = ratio("recall", lambda s: s["hit"], lambda s: np.ones(len(s)), describe="share found")
    >>> recall.value(scores)
    0.75
    """

    def columns(scores: Scores) -> Floats:
        return np.column_stack([numerator(scores), denominator(scores)])

    def counts(scores: Scores) -> tuple[float, float]:
        top, bottom = scores.base_weight @ columns(scores)
        return float(top), float(bottom)

    def interval(scores: Scores, level: float) -> Interval:
        return share_interval(numerator(scores), denominator(scores), scores, level)

    if share:
        fields.setdefault("interval", interval)
        if "card" not in fields:
            fields.setdefault("scale", "logit")
    return linear(name, columns, _quotient, counts=counts, **fields)


def mean(name: str, column: Column, **fields: Any) -> Metric:
    """A weighted mean of a column, resampled by patients."""
    return ratio(name, column, lambda scores: np.ones(len(scores)), share=False, **fields)


def _quotient(sums: Floats) -> Floats:
    """Numerator over denominator along the last axis, NaN where the denominator is 0."""
    bottom = sums[..., 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(bottom > 0, sums[..., 0] / bottom, np.nan))


CLUSTERED = "exact on effective rows, monotone"  # the method of shares whose rows cluster, as reports name it


def share_interval(numerator: Floats, denominator: Floats, scores: Scores, level: float) -> Interval:
    """Interval of a share: Wilson's on rows when those that count are independent, else that of clustered shares."""
    return clustered_interval(clustered_rows(numerator, denominator, scores), level)


def clustered_rows(numerator: Floats, denominator: Floats, scores: Scores) -> intervals.ClusteredShare:
    """A share over the patients of a table, with the table's weights and the correlation assumed in it."""
    icc = intervals.ASSUMED_ICC if scores.icc is None else scores.icc
    return intervals.clustered_share(numerator, denominator, scores.patient, scores.base_weight, icc=icc)


def clustered_interval(found: intervals.ClusteredShare, level: float) -> Interval:
    """The interval of a share whose rows cluster, with what a reader must know: how strongly rows cluster, whether the
    number of clusters alone keeps the end where it is, and a warning where they are few. Wilson's where every cluster
    is a single row without a weight."""
    if found.independent:
        return _wilson(found.share, found.rows, level)
    if found.clusters < 2:
        return Interval.refused("its rows all belong to one cluster; an interval needs at least two", method=CLUSTERED)

    def ends(at: float) -> tuple[float, float]:
        return intervals.effective_ends(found, level=at)

    low, high = ends(level)
    ceiling = found.ceiling(level)
    # Where all rows are alike no clustering can be seen, and a design effect "seen" of 1 would be read as none.
    seen = f"seen {found.design_effect:.2f}" if 0 < found.share < 1 else "none can be seen"
    clusters = f"{found.clusters} clusters"
    said = [
        f"design effect {found.weighed_effect:.2f} ({seen} over {clusters}, assumed ICC {found.icc:.2f})",
        f"the most that {clusters} can show is {ceiling:.3f}" if low >= ceiling else "",
        f"the least that {clusters} can show is {1 - ceiling:.3f}" if high <= 1 - ceiling else "",
        few_clusters(found.clusters),
    ]
    se = found.se
    if found.clusters < FEWEST_CLUSTERS:  # a spread seen over a handful is too easily too small to weigh a study by
        se = max(se, float(np.sqrt(found.share * (1 - found.share) * found.weighed_effect / found.rows)))
    return Interval(
        *(low, high, se, CLUSTERED),
        reason="; ".join(filter(None, said)),
        ends=ends,
        clusters=found.clusters,
        ceiling=ceiling,
    )


def _wilson(share: float, n: float, level: float) -> Interval:
    def ends(at: float) -> tuple[float, float]:
        return intervals.wilson(share, n, level=at)

    return Interval(*ends(level), float(np.sqrt(share * (1 - share) / n)), "Wilson", ends=ends)


def few_clusters(clusters: int, noun: str = "clusters") -> str:
    """A warning that belongs beside an interval over few clusters; nothing where there are enough."""
    return f"only {clusters} {noun}: read with care" if clusters < FEWEST_CLUSTERS else ""
