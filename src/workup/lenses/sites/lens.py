"""The sites lens: every site by itself, then pooled; what a new site may expect. Runs the internal and the subgroups
lens on each site's rows alone, so a site's figures here are those of its own report."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from workup import plugins
from workup.errors import StudyError, near
from workup.estimate import Draws, Progress
from workup.evidence import SiteEvidence, holdings
from workup.lenses.case_mix import differences, one_row_a_patient
from workup.lenses.checks import crowded, refuse_too_many, unknown_groups
from workup.lenses.internal import internal
from workup.lenses.sites.limits import bounds
from workup.lenses.sites.pooling import Goal, PoolSettings, pool_sites, poolable
from workup.lenses.sites.tables import read_places
from workup.lenses.subgroups.lens import subgroups
from workup.lenses.withholding import as_withheld
from workup.metric import Metric
from workup.report import LensResult, Report
from workup.scores import MISSING, Levels, Scores
from workup.stats.arrays import Bools
from workup.study import Study
from workup.task import StudyDesign


class Settings(PoolSettings):
    """How sites are pooled, which groups' gaps are followed from site to site, and what the model achieved at home."""

    by: tuple[str, ...] = Field((), description="Groups whose gaps are compared between sites")
    internal: str | None = Field(
        None, description="report.json of the development data, relative to the study file: the internal reference"
    )


def check(chosen: Settings, design: StudyDesign) -> Iterator[str]:
    """What cannot work, as far as it is known before a system is asked."""
    if design.placed is False:
        yield " needs to know the sites. To fix: name their column as columns.site."
    yield from unknown_groups("by", chosen.by, design)
    yield from crowded("by", chosen.by, design)
    if chosen.development is not None and design.sites is not None and chosen.development not in design.sites:
        yield f".development: '{chosen.development}' is not one of the sites; {near(chosen.development, design.sites)}."
    if design.metrics is not None:
        pooled = poolable(design.metrics)
        goals = {metric.name: Goal(metric.better, metric.target) for metric in pooled}
        bounds(chosen.limit, goals=goals, scales={metric.name: metric.scale for metric in pooled})


def slice_keys(chosen: Settings, design: StudyDesign) -> list[str]:
    """Keys of the slices that the lens will make."""
    return ["site", "pooled", *chosen.by, *(design.groups or ())]


def beside(study: Study, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Characteristics of the sites, where the system will be used, and what it achieved where it was built."""
    places = None
    if study.sites is not None and (study.base / study.sites).is_file():
        places = plugins.find("formats", "table")(study.base / study.sites)
    internal = settings.get("internal")
    reference = Report.read(study.base / str(internal)) if internal else None
    return {"places": places, "intended": study.intended_settings, "reference": reference}


def sites(
    scores: Scores,
    metrics: Sequence[Metric],
    *,
    settings: Mapping[str, Any],
    draws: Draws,
    levels: Sequence[float] = (0.95,),
    progress: Progress | None = None,
    places: Mapping[str, npt.NDArray[Any]] | None = None,
    intended: Sequence[str] = (),
    reference: Report | None = None,
    withheld_sites: Collection[str] = (),
    withheld_groups: Mapping[tuple[str, str], Collection[str]] | None = None,
) -> LensResult:
    """Each site by itself and all of them pooled; `places` are their characteristics, one row per site.

    `withheld_sites` are left out of all of it; `withheld_groups` are levels that are not reported, by site and column.
    """
    chosen = Settings.checked(settings, where="lenses.sites")
    if scores.site is None:
        raise StudyError("the sites lens needs to know the sites. To fix: name their column as columns.site.")
    for name in chosen.by:
        if name not in scores.groups:
            raise StudyError(f"lenses.sites.by: '{name}' is not one of columns.groups; {near(name, scores.groups)}.")
        refuse_too_many(name, scores.groups[name], where="lenses.sites.by")
    if withheld_sites:
        kept = np.flatnonzero([scores.site.names[code] not in withheld_sites for code in scores.site.codes])
        draws = replace(draws, strata=None if draws.strata is None else draws.strata.take(kept))
        scores = _of_rows(scores, kept, withheld_sites)
    assert scores.site is not None
    facts = {} if places is None else read_places(places)
    facts = {name: said for name, said in facts.items() if name not in withheld_sites}
    pooled = poolable(metrics)
    evidence = [
        _of_site(scores, scores.site, pooled, name, facts.get(name, {}), chosen, draws, levels, progress_here)
        for name, progress_here in _with_progress(scores.site, progress)
    ]
    if withheld_groups:
        evidence = [_without_levels(one, withheld_groups) for one in evidence]
    found = pool_sites(
        evidence,
        scales={metric.name: metric.scale for metric in pooled},
        settings=chosen,
        goals={metric.name: Goal(metric.better, metric.target) for metric in pooled},
        intended=intended,
        reference=reference,
        levels=levels,
    )
    said = (*_design_notes(scores, scores.site), *_places_notes(scores.site, None if places is None else facts))
    left = list(dict.fromkeys(metric.name for metric in metrics if metric not in pooled))
    if left:
        said += (f"Not pooled, because they rest on the whole study or on a site's size: {', '.join(left)}.",)
    return replace(
        found,
        settings={**found.settings, "levels": list(levels)},
        tables={**found.tables, **_case_mix(scores, scores.site, draws.seed)},
        notes=(*said, *found.notes),
    )


def _of_rows(scores: Scores, rows: npt.NDArray[np.intp], withheld: Collection[str]) -> Scores:
    """The rows of sites that are reported, with those of theirs that wait for an answer, and no other site by name."""
    part, later = scores.take(rows), scores.waiting
    if later is not None and later.site is not None:
        later = later.take(np.flatnonzero([later.site.names[code] not in withheld for code in later.site.codes]))
    assert part.site is not None
    names = part.site.names
    kept = [code for code, name in enumerate(names) if name not in withheld]
    site = Levels(np.searchsorted(kept, part.site.codes).astype(np.int64), tuple(names[code] for code in kept))
    return replace(part, site=site, waiting=later)


def _without_levels(one: SiteEvidence, withheld: Mapping[tuple[str, str], Collection[str]]) -> SiteEvidence:
    """A site's evidence with levels of few patients given by name alone; their gaps are left out too."""
    own = {column: levels for (site, column), levels in withheld.items() if site == one.site}

    def hidden(keys: Mapping[str, Any]) -> bool:
        return any(str(keys.get(column)) in levels for column, levels in own.items() if column in keys)

    def against(row: Mapping[str, Any]) -> bool:
        return any(str(row["against"]) in levels for column, levels in own.items() if column in row["slice"])

    estimates = tuple(as_withheld(e) if hidden(e.slice) else e for e in one.estimates)
    groups = {
        name: {level: dict.fromkeys(sizes) if level in own.get(name, ()) else sizes for level, sizes in levels.items()}
        for name, levels in (one.holdings.get("groups") or {}).items()
    }
    return replace(
        one,
        estimates=estimates,
        gaps=tuple(row for row in one.gaps if not hidden(row["slice"]) and not against(row)),
        holdings={**one.holdings, "groups": groups},
    )


def _case_mix(scores: Scores, site: Levels, seed: int) -> dict[str, Any]:
    """How inputs and risks of a site differ from those of the other sites together."""
    kept = one_row_a_patient(scores, seed=seed)
    one_each = scores.take(kept)
    rows: list[dict[str, Any]] = []
    for name, here in site.masks():
        if here[kept].any() and not here[kept].all():
            rows += differences(one_each, here[kept], ~here[kept], keys={"site": name}, against="other sites")
    return {"standardised_differences": rows} if rows else {}


def _with_progress(site: Levels, progress: Progress | None) -> Iterator[tuple[str, Progress | None]]:
    """Each site with a way to report its progress as a part of the whole."""

    def progress_here(before: int, done: int, total: int) -> None:
        assert progress is not None
        progress(before * total + done, len(site.names) * total)

    for i, name in enumerate(site.names):
        yield name, None if progress is None else partial(progress_here, i)


def _of_site(
    scores: Scores,
    site: Levels,
    metrics: Sequence[Metric],
    name: str,
    facts: Mapping[str, Any],
    chosen: Settings,
    draws: Draws,
    levels: Sequence[float],
    progress: Progress | None,
) -> SiteEvidence:
    rows = np.flatnonzero(_rows_of(site, name))
    part = replace(scores.take(rows), waiting=_waiting(scores, name))
    held = holdings(part)
    if not rows.size:
        return SiteEvidence(name, (), facts=facts, holdings=held)
    own = replace(draws, strata=None if draws.strata is None else draws.strata.take(rows))
    everyone = internal(part, metrics, settings={}, draws=own, levels=levels, progress=progress)
    groups = None
    if chosen.by:
        groups = subgroups(part, metrics, settings={"by": list(chosen.by)}, draws=own, levels=levels)
    return SiteEvidence.of_results(name, everyone, groups, holdings=held, facts=facts, source="rows")


def _rows_of(site: Levels, name: str) -> Bools:
    return np.asarray(site.codes == site.names.index(name))


def _waiting(scores: Scores, name: str) -> Scores | None:
    """The site's own rows among those whose answer is not known yet."""
    later = scores.waiting
    if later is None or later.site is None or name not in later.site.names:
        return None
    rows = np.flatnonzero(_rows_of(later.site, name))
    return later.take(rows) if rows.size else None


def _design_notes(scores: Scores, site: Levels) -> Iterator[str]:
    if MISSING in site.names:
        nowhere = int(_rows_of(site, MISSING).sum())
        who = "1 row names no site; it stands" if nowhere == 1 else f"{nowhere} rows name no site; they stand together"
        yield f"{who} as the site '{MISSING}'."
    pairs = np.unique(np.column_stack([scores.patient, site.codes]), axis=0)
    shared = int(np.count_nonzero(np.unique(pairs[:, 0], return_counts=True)[1] > 1))
    if shared:
        who = "1 patient appears" if shared == 1 else f"{shared} patients appear"
        yield f"{who} at more than one site; pooling takes sites as independent, which is then not quite so."


def _places_notes(site: Levels, facts: Mapping[str, Any] | None) -> Iterator[str]:
    if facts is None:
        return
    unknown = [name for name in site.names if name not in facts and name != MISSING]
    if unknown:
        yield f"In the data but not in the file of sites, so nothing is known of them: {', '.join(unknown)}."
    absent = [name for name in facts if name not in site.names]
    if absent:
        yield f"In the file of sites but without data: {', '.join(absent)}."
