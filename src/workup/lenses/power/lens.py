"""The power lens: which gaps the data at hand could have shown, and how many patients like these others need.

Every figure assumes that new patients vary as these do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from workup.errors import StudyError, near
from workup.estimate import EVERYTHING, Draws, Progress, estimate, replicate, slices_by
from workup.lenses.checks import crowded, refuse_too_many, unknown_groups, unknown_metrics
from workup.lenses.contrasts import Side, difference
from workup.lenses.power.hierarchical_tests import REPETITIONS, Gatekeeper
from workup.lenses.power.pilots import (
    Goal,
    Pair,
    Procedure,
    Separate,
    Spread,
    curve_rows,
    needed_row,
    precision_row,
    reached_row,
    smallest_row,
)
from workup.metric import Metric
from workup.report import LensResult
from workup.scores import Levels, Scores
from workup.settings import Part
from workup.stats.arrays import Bools
from workup.stats.sizes.groups import pairs
from workup.task import StudyDesign

FIXED = "a fixed value"  # what everyone together is held against
SHARED = "patients are in both groups, for which the power of a gatekeeper is not simulated"
Wanted = float | dict[str, float]


KEEPS_GROUPS_TOGETHER = True  # no slice of it is a group


class Settings(Part):
    """What gap matters, how surely it must be found, and which groups are compared with whom."""

    difference: Wanted = Field(
        0.05, description="Gap that matters: one number for shares and AUCs, or a number for each metric by name"
    )
    half_width: Wanted | None = Field(
        None, description="Wanted half-width of intervals: one number for shares and AUCs, or one for each metric"
    )
    power: float = Field(0.8, gt=0, lt=1, description="Chance of finding a gap that is there")
    alpha: float = Field(0.05, gt=0, lt=1, description="Chance of a false gap, over all comparisons of one metric")
    by: tuple[str, ...] = Field((), description="Columns to group by; all of columns.groups when empty")
    testing: Literal["all-pairs", "versus-reference", "gatekeeper"] = Field(
        "all-pairs", description="Every group with every other, each with a reference, or a test of all groups first"
    )
    reference: str | dict[str, str] = Field(
        "largest", description="With versus-reference: largest, a level, or a level for each column"
    )
    adjust: Literal["bonferroni", "holm", "none"] = Field(
        "bonferroni", description="How alpha is shared among the comparisons; Holm is planned at Bonferroni's alpha"
    )
    metrics: tuple[str, ...] = Field((), description="Metrics to plan for; all when empty")

    @field_validator("difference", "half_width")
    @classmethod
    def _positive(cls, wanted: Wanted | None) -> Wanted | None:
        for value in wanted.values() if isinstance(wanted, dict) else [wanted] if wanted is not None else []:
            if not (np.isfinite(value) and value > 0):
                raise ValueError(f"must be a positive number; got {value}")
        return wanted

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.power <= self.alpha:
            raise ValueError(f"power must exceed alpha ({self.alpha:g}); got {self.power:g}")
        return self


def check(chosen: Settings, design: StudyDesign) -> Iterator[str]:
    """What cannot work, as far as it is known before a system is asked."""
    yield from unknown_groups("by", chosen.by, design)
    yield from crowded("by", chosen.by or design.groups or (), design)
    for field in ("metrics", "difference", "half_width"):
        named = getattr(chosen, field)
        if isinstance(named, (tuple, dict)):
            yield from unknown_metrics(field, named, design)
    for field in ("difference", "half_width"):
        wanted = getattr(chosen, field)
        for name, value in wanted.items() if isinstance(wanted, dict) else [("", wanted)]:
            if value is not None and value >= 1 and (not name or design.scale(name) == "logit"):
                yield f".{field}: expected a difference of shares or AUCs, above 0 and below 1; got {value:g}."


def slice_keys(chosen: Settings, design: StudyDesign) -> list[str]:
    """None: plans are tables, and no estimate is sliced."""
    return []


class _Planned(NamedTuple):
    """One comparison of two levels of a column."""

    column: str
    level: str
    other: str


def power(
    scores: Scores,
    metrics: Sequence[Metric],
    *,
    settings: Mapping[str, Any],
    draws: Draws,
    levels: Sequence[float] = (0.95,),
    progress: Progress | None = None,
) -> LensResult:
    """Patients needed for a gap that matters, power reached by these data, and the smallest gap they could have shown.

    >>> from workup.metric import ratio
    >>> scores = Scores.of({"hit": [1, 1, 1, 0] * 100}, groups={"sex": ["F"] * 200 + ["M"] * 200})
    >>> recall = ratio("recall", lambda s: s["hit"], lambda s: np.ones(len(s)), describe="share found")
    >>> found = power(scores, [recall], settings={"difference": 0.1}, draws=Draws())
    >>> [(row["against"], row["patients"]) for row in found.tables["needed"]]
    [('a fixed value', 148), ('F', 295)]
    """
    chosen = Settings.checked(settings, where="lenses.power")
    groups, planned = _groups(scores, chosen), _metrics(metrics, chosen)
    compared = [one for name, column in groups.items() for one in _pairs(name, column, chosen)]
    shared = chosen.adjust != "none" and chosen.testing != "gatekeeper"
    alpha = chosen.alpha / max(1, len(compared)) if shared else chosen.alpha
    pilot = _Pilot(scores, planned, groups, compared, draws, progress)
    tables: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("spread", "needed", "reached", "smallest_difference", "curve")
    }
    cohort = scores.n_patients
    for m, metric in enumerate(planned):
        wanted, width = _wanted(metric, chosen.difference), _wanted(metric, chosen.half_width)
        tables["spread"] += [one.as_row() for one in pilot.spreads(m)]
        if chosen.half_width is not None:
            tables["needed"] += [precision_row(one, width, 1 - chosen.alpha, cohort) for one in pilot.spreads(m)]
        families = [([Pair(pilot.spread(m), None, FIXED)], Goal(wanted, Separate(chosen.alpha, chosen.power)))]
        for name in groups:
            families.append((pilot.pairs(m, name, chosen), Goal(wanted, pilot.procedure(m, name, alpha, chosen))))
        for found, goal in families:
            tables["needed"] += [needed_row(pair, goal, cohort) for pair in found]
            tables["reached"] += [reached_row(pair, goal) for pair in found]
            tables["smallest_difference"] += [smallest_row(pair, goal) for pair in found]
            tables["curve"] += curve_rows(found, goal, cohort)
    known = {"kind": "pilot", "by": list(groups), "comparisons": len(compared), "alpha_each": alpha}
    return LensResult(
        lens="power",
        settings=chosen.model_dump(mode="json") | known | {"patients": cohort},
        tables=tables,
        notes=tuple(_notes(chosen, settings, tables, len(compared), alpha)),
    )


def _groups(scores: Scores, chosen: Settings) -> dict[str, Levels]:
    for name in chosen.by:
        if name not in scores.groups:
            raise StudyError(f"lenses.power.by: '{name}' is not one of columns.groups; {near(name, scores.groups)}.")
    found = {name: scores.groups[name] for name in chosen.by or scores.groups}
    for name, levels in found.items():
        refuse_too_many(name, levels, where="lenses.power")
    return found


def _metrics(metrics: Sequence[Metric], chosen: Settings) -> list[Metric]:
    known = {metric.name for metric in metrics}
    for field in ("metrics", "difference", "half_width"):
        named = getattr(chosen, field)
        for name in named if isinstance(named, (tuple, dict)) else ():
            if name not in known:
                raise StudyError(f"lenses.power.{field}: '{name}' is not a metric of this study; {near(name, known)}.")
    return [metric for metric in metrics if not chosen.metrics or metric.name in chosen.metrics]


def _wanted(metric: Metric, target: Wanted | None) -> float | None:
    """A number for no metric in particular is meant for shares and AUCs: on other scales it may be vast or nothing."""
    if isinstance(target, dict):
        return target.get(metric.name)
    return target if metric.scale == "logit" else None


def _pairs(name: str, column: Levels, chosen: Settings) -> Iterator[_Planned]:
    """Who is compared with whom; empty, missing and small groups too, since they are planned for."""
    order = [str(one.key[name]) for one in slices_by({name: column})]
    if chosen.testing == "versus-reference":
        given = chosen.reference.get(name, "largest") if isinstance(chosen.reference, dict) else chosen.reference
        reference = order[0] if given == "largest" and "largest" not in order else given
        if reference not in order:
            raise StudyError(
                f"lenses.power.reference: '{reference}' is neither largest nor a level of '{name}'; "
                f"{near(reference, order)}."
            )
        order = [reference, *(level for level in order if level != reference)]
    testing: Any = "versus-reference" if chosen.testing == "versus-reference" else "all-pairs"
    for i, j in pairs(len(order), testing=testing):
        yield _Planned(name, order[j], order[i])


class _Pilot:
    """The spread of every metric on everyone and on every group, and of the gaps between groups that share patients."""

    def __init__(
        self,
        scores: Scores,
        metrics: Sequence[Metric],
        groups: Mapping[str, Levels],
        compared: Sequence[_Planned],
        draws: Draws,
        progress: Progress | None,
    ) -> None:
        self._scores, self._metrics, self._compared, self._seed = scores, metrics, compared, draws.seed
        self._slices = [EVERYTHING, *slices_by(groups)]
        found = iter(estimate(scores, metrics, self._slices, draws=draws, progress=progress))
        self._spreads = {
            (m, tuple(one.key.items())): Spread.of(metric, next(found))
            for one in self._slices
            for m, metric in enumerate(metrics)
        }
        self._place = {tuple(one.key.items()): s for s, one in enumerate(self._slices)}
        self._shared = {one for one in compared if self._patients(one.column, one.level, one.other)}
        self._values = replicate(scores, metrics, self._slices, draws=draws) if self._shared else None

    def spread(self, m: int, *key: tuple[str, str]) -> Spread:
        """Of one metric on one slice; everyone where no key is given."""
        return self._spreads[m, key]

    def spreads(self, m: int) -> list[Spread]:
        """Of one metric on everyone and on every group."""
        return [self._spreads[m, tuple(one.key.items())] for one in self._slices]

    def pairs(self, m: int, column: str, chosen: Settings) -> list[Pair]:
        """The comparisons of one metric in one column."""
        joint = self._joint if chosen.testing != "gatekeeper" else lambda m, one: SHARED
        return [
            Pair(
                self.spread(m, (column, one.level)),
                self.spread(m, (column, one.other)),
                one.other,
                joint(m, one) if one in self._shared else None,
            )
            for one in self._compared
            if one.column == column
        ]

    def procedure(self, m: int, column: str, alpha: float, chosen: Settings) -> Procedure:
        """How the groups of a column are tested on one metric."""
        if chosen.testing != "gatekeeper":
            return Separate(alpha, chosen.power)
        groups = [self.spread(m, (column, str(one.key[column]))) for one in self._slices if column in one.key]
        return Gatekeeper(groups, alpha=alpha, power=chosen.power, seed=self._seed, name=column)

    def _rows(self, column: str, level: str) -> Bools:
        rows = self._slices[self._place[((column, level),)]].rows
        assert rows is not None
        return rows

    def _patients(self, column: str, level: str, other: str) -> bool:
        """Is a patient in both groups? Then their figures are correlated and their variances do not add."""
        first, second = (self._scores.patient[self._rows(column, name)] for name in (level, other))
        return bool(np.intersect1d(first, second).size)

    def _joint(self, m: int, one: _Planned) -> float | str:
        """Standard error of a gap between groups that share patients, from the replicates that both share."""
        assert self._values is not None
        sides = []
        for level in (one.level, one.other):
            part = self._scores.take(np.flatnonzero(self._rows(one.column, level)))
            sides.append(Side(part, self._values[self._place[((one.column, level),)], m]))
        found = difference(self._metrics[m], *sides)
        if isinstance(found, str):
            return found
        return found.se if found.se > 0 else "every resample gives the same gap, so its spread cannot be seen"


def _notes(
    chosen: Settings, given: Mapping[str, Any], tables: Mapping[str, Sequence[Mapping[str, Any]]], m: int, alpha: float
) -> Iterator[str]:
    yield (
        "Patients needed and power reached rest on the spread seen in these data: they hold for new patients who vary "
        "as these do, in groups with as many events."
    )
    if "difference" not in given:
        yield (
            f"No difference was declared, so {chosen.difference:g} was taken for shares and AUCs. What gap matters is "
            "a clinical judgement: declare it as lenses.power.difference."
        )
    if alpha < chosen.alpha:
        yield (
            f"{m} comparisons between groups are planned for each metric, so each is made at an alpha of "
            f"{alpha:.4g} ({chosen.adjust.capitalize()}); metrics are planned one by one."
        )
    if chosen.testing == "gatekeeper" and m:
        yield (
            f"The groups of a column are compared by a test of all of them at {chosen.alpha:g} and then by Holm; the "
            f"power of that is simulated with one group apart from all others ({REPETITIONS:,} studies, so a power of "
            "0.80 is known to about ± 0.02)."
        )
    few = [row for row in tables["spread"] if row["status"] != "ok"]
    if few:
        yield f"{len(few)} of {len(tables['spread'])} figures are no ground for a plan; the tables say why."
