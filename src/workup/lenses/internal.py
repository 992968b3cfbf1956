"""The internal lens: every metric with its interval on all rows, and honest figures for data the model was built on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from workup import plugins
from workup.errors import StudyError
from workup.estimate import EVERYTHING, Draws, Estimate, Progress, Slice, estimate
from workup.evidence import SiteEvidence
from workup.lenses.sites.pooling import Goal, PoolSettings, pool_sites, poolable
from workup.metric import Metric
from workup.report import LensResult
from workup.scores import Levels, Scores
from workup.settings import Part as StudyPart
from workup.stats.arrays import Floats
from workup.stats.bootstrap import unit_counts
from workup.stats.random import generator
from workup.task import Part, StudyDesign

# Rows to fit on (positions, repeats allowed) → the same Scores with the values a refitted system would give all rows.
Refit = Callable[[npt.NDArray[np.intp]], Scores]


EVERY_METRIC = True  # other lenses are shown those that are followed
KEEPS_GROUPS_TOGETHER = True  # no slice of it is a group
# Of the standard error of a value, the Monte-Carlo error of its optimism that is small enough to be left out of it.
LARGEST_MONTE_CARLO = 0.1


class Settings(StudyPart):
    """What the lens does beyond the plain estimates; all of it needs a refit function."""

    optimism: int = Field(200, ge=0, description="Refits on resampled patients for the optimism correction; 0 for none")
    folds: int = Field(0, ge=0, description="Folds of patients for cross-validation; 0 for none")
    refit: str | None = Field(None, description="package.module:function that fits a model to a table")
    leave_one_site_out: bool = Field(False, description="Predict each site by a model fitted on the others")


def check(chosen: Settings, design: StudyDesign) -> Iterator[str]:
    """What cannot work, as far as it is known before a system is asked."""
    given = sorted(chosen.model_fields_set)
    if given and not (design.refit or chosen.refit):
        yield (
            f": {', '.join(given)} {'need' if len(given) > 1 else 'needs'} a refit function. To fix: add "
            "'refit: package.module:function', or leave them out."
        )
    if chosen.refit:
        plugins.find("systems", chosen.refit)
    if chosen.folds == 1:
        yield ".folds: expected at least 2, or 0 for none; got 1."
    if chosen.leave_one_site_out and (design.placed is False or (design.sites is not None and len(design.sites) < 2)):
        yield ".leave_one_site_out: it needs a site column with at least two sites. To fix: name it as columns.site."


def slice_keys(chosen: Settings, design: StudyDesign) -> list[str]:
    """Keys of the slices that the lens will make."""
    return ["validation", *(["site", "pooled"] if chosen.leave_one_site_out else [])]


def internal(
    scores: Scores,
    metrics: Sequence[Metric],
    *,
    settings: Mapping[str, Any],
    draws: Draws,
    levels: Sequence[float] = (0.95,),
    refit: Refit | None = None,
    parts: Iterable[Part] = (),
    progress: Progress | None = None,
    withheld_sites: Collection[str] = (),
) -> LensResult:
    """Point, interval and n of every metric; with `refit`, also corrected for optimism, cross-validated, by site.

    `parts` are finer rows of a task (one per label, say), measured beside the whole. `withheld_sites` are predicted as
    all others and not reported.
    """
    chosen = Settings.checked(settings, where="lenses.internal")
    found = estimate(scores, metrics, (EVERYTHING,), draws=draws, levels=levels, progress=progress)
    for part in parts:
        found += estimate(part.scores, part.metrics, part.slices, draws=draws, levels=levels)
    notes: list[str] = []
    tables: dict[str, Any] = {}
    pooled: tuple[Mapping[str, Any], ...] = ()
    if refit is None:
        if settings:
            raise StudyError(
                f"lenses.internal: {', '.join(sorted(settings))} need a refit function. To fix: add "
                "'refit: package.module:function', or leave them out."
            )
    else:
        if chosen.optimism:
            gaps = _optimism(scores, metrics, refit, chosen.optimism, draws.seed)
            tables["optimism"] = list(_monte_carlo(metrics, found, gaps, levels[0]))
            found += list(_optimism_corrected(metrics, found, gaps))
            notes.append(
                f"Optimism-corrected values: {chosen.optimism} refits on resampled patients (Harrell); their intervals "
                "are the apparent ones moved by the optimism and do not count its own error."
            )
            notes += _more_refits(tables["optimism"])
        if chosen.folds:
            found += _cross_validated(scores, metrics, refit, chosen.folds, draws, levels)
        if chosen.leave_one_site_out:
            left = _leave_one_site_out(scores, metrics, refit, draws, levels, withheld_sites)
            pooled, means = _pooled(left, metrics, levels) if left else ((), [])
            found += [*left, *means]
            notes.append("Leave-one-site-out: each site is predicted by a model fitted on the other sites.")
    return LensResult(
        lens="internal",
        settings={"replicates": draws.replicates, "levels": list(levels), **(chosen.model_dump() if refit else {})},
        estimates=tuple(found),
        tables=tables,
        notes=tuple(notes),
        pooled=pooled,
    )


def _optimism(scores: Scores, metrics: Sequence[Metric], refit: Refit, times: int, seed: int) -> Floats:
    """Harrell's bootstrap: how much better a model looks on the patients it was fitted on than on everyone, [refit,
    metric]; NaN where a metric is undefined."""
    units, patient = np.unique(scores.patient, return_inverse=True)
    optimism: list[Floats] = []
    for counts in unit_counts(units.size, times, seed=int(generator(seed, "optimism").integers(2**31))):
        for count in counts[:, patient]:
            rows = np.repeat(np.arange(len(scores)), count.astype(np.intp))
            refitted = refit(rows)
            both = np.vstack([count, np.ones(len(scores))]) * scores.base_weight
            values = np.array([metric.compute(refitted, both) for metric in metrics])
            optimism.append(values[:, 0] - values[:, 1])
    return np.array(optimism)


def _apparent(
    metrics: Sequence[Metric], apparent: Sequence[Estimate], gaps: Floats
) -> Iterator[tuple[Estimate, Floats]]:
    """Each apparent value beside what the refits that define it say of its optimism."""
    for m, metric in enumerate(metrics):
        defined = gaps[np.isfinite(gaps[:, m]), m]
        for row in apparent:
            if row.metric == metric.name and dict(row.slice) == dict(metric.at) and row.value is not None:
                yield row, defined


def _optimism_corrected(metrics: Sequence[Metric], apparent: Sequence[Estimate], gaps: Floats) -> Iterator[Estimate]:
    for row, defined in _apparent(metrics, apparent, gaps):
        yield _shifted(row, defined, len(gaps))


def _monte_carlo(
    metrics: Sequence[Metric], apparent: Sequence[Estimate], gaps: Floats, level: float
) -> Iterator[dict[str, Any]]:
    """The mean optimism with its own standard error, which only more refits make smaller, beside that of the value."""
    for row, defined in _apparent(metrics, apparent, gaps):
        if row.level != level or defined.size < 2:
            continue
        error = float(defined.std(ddof=1) / np.sqrt(defined.size))
        share = error / row.se if row.se else None
        needed = None
        if share is not None and share > LARGEST_MONTE_CARLO:
            needed = int(np.ceil(defined.size * (share / LARGEST_MONTE_CARLO) ** 2 / 100) * 100)
        yield {
            "metric": row.metric,
            "slice": dict(row.slice),
            "apparent": row.value,
            "optimism": float(defined.mean()),
            "monte_carlo_se": error,
            "corrected": None if row.value is None else row.value - float(defined.mean()),
            "se": row.se,
            "monte_carlo_share": share,
            "refits": int(defined.size),
            "refits_needed": needed,
            "n_patients": row.n_patients,
        }


def _more_refits(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Advice where chance in drawing the refits still moves a corrected value."""
    short = [row for row in rows if row["refits_needed"]]
    if short:
        most = max(row["refits_needed"] for row in short)
        yield (
            f"The Monte-Carlo error of the optimism is more than a tenth of the standard error for {len(short)} of "
            f"{len(rows)} metrics; about {most:,} refits (lenses.internal.optimism) would bring it below."
        )


def _shifted(row: Estimate, defined: Floats, times: int) -> Estimate:
    """An apparent value less the mean of the optimisms that are defined, out of so many refits."""
    if not defined.size or row.value is None:
        return replace(
            row,
            slice={**row.slice, "validation": "optimism-corrected"},
            value=None,
            low=None,
            high=None,
            status="undefined",
            reason="no refit gave a value",
        )
    optimism, lost = float(defined.mean()), times - defined.size
    error = "" if defined.size < 2 else f"Monte-Carlo SE {defined.std(ddof=1) / np.sqrt(defined.size):.2g}, "
    return replace(
        row,
        slice={**row.slice, "validation": "optimism-corrected"},
        value=row.value - optimism,
        low=None if row.low is None else row.low - optimism,
        high=None if row.high is None else row.high - optimism,
        method=f"{row.method}, moved by an optimism of {optimism:.4g} ({error}{times} refits)",
        reason=f"undefined in {lost} of {times} refits, which were left out" if lost else row.reason,
    )


def _held_out(scores: Scores, refit: Refit, parts: Levels) -> Scores:
    """Scores in which every part is predicted by a system fitted on the other parts."""
    values = {name: column.copy() for name, column in scores.values.items()}
    for _, inside in parts.masks():
        if inside.any():
            refitted = refit(np.flatnonzero(~inside))
            for name, column in values.items():
                column[inside] = refitted[name][inside]
    return replace(scores, values=values)


def _cross_validated(
    scores: Scores, metrics: Sequence[Metric], refit: Refit, folds: int, draws: Draws, levels: Sequence[float]
) -> list[Estimate]:
    units, patient = np.unique(scores.patient, return_inverse=True)
    if not 2 <= folds <= units.size:
        raise StudyError(f"internal.folds must be 2 to the number of patients ({units.size}); got {folds}.")
    order = generator(draws.seed, "folds").permutation(units.size)
    fold = np.empty(units.size, dtype=np.int64)
    fold[order] = np.arange(units.size) % folds
    held = _held_out(scores, refit, Levels(fold[patient], tuple(str(i + 1) for i in range(folds))))
    key = {"validation": f"{folds}-fold"}
    return estimate(held, metrics, (Slice(key),), draws=draws, levels=levels)


def _leave_one_site_out(
    scores: Scores,
    metrics: Sequence[Metric],
    refit: Refit,
    draws: Draws,
    levels: Sequence[float],
    withheld: Collection[str],
) -> list[Estimate]:
    if scores.site is None or len(scores.site.names) < 2:
        raise StudyError("internal.leave_one_site_out needs a site column with at least two sites.")
    held = _held_out(scores, refit, scores.site)
    slices = [
        Slice({"validation": "leave-one-site-out", "site": name}, rows)
        for name, rows in scores.site.masks()
        if name not in withheld
    ]
    return estimate(held, metrics, slices, draws=draws, levels=levels)


def _pooled(
    left: Sequence[Estimate], metrics: Sequence[Metric], levels: Sequence[float]
) -> tuple[tuple[Mapping[str, Any], ...], list[Estimate]]:
    """The sites that were left out one by one, pooled as the sites lens pools: rows, and means that gates can judge."""
    by_site: dict[str, list[Estimate]] = {}
    for e in left:
        keys = {key: value for key, value in e.slice.items() if key not in ("validation", "site")}
        by_site.setdefault(str(e.slice["site"]), []).append(replace(e, slice=keys))
    found = pool_sites(
        [SiteEvidence(site, tuple(rows)) for site, rows in by_site.items()],
        scales={metric.name: metric.scale for metric in poolable(metrics)},
        goals={metric.name: Goal(metric.better, metric.target) for metric in metrics},
        settings=PoolSettings(),
        levels=levels,
    )
    mark = {"validation": "leave-one-site-out"}
    rows = tuple({**row, "slice": {**mark, **row["slice"]}} for row in found.pooled)
    return rows, [replace(e, slice={**mark, **e.slice}) for e in found.estimates if "pooled" in e.slice]
