"""Pools the evidence of sites: mean, spread between sites and what a new site may expect. Sees aggregates only, whether
they come from rows, from packs or from publications."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import Field

from workup.disclosure.small_groups import TOGETHER
from workup.errors import InputError, StudyError, near
from workup.estimate import Estimate
from workup.evidence import SiteEvidence, group_columns, group_key
from workup.lenses.sites.contrasts import MOST_REFITS, Pooling, by_subset, leave_one_out, meta_regression, moderators
from workup.lenses.sites.gaps import pooled_gaps
from workup.lenses.sites.limits import Ends, Goal, bounds, verdict
from workup.lenses.sites.reference import comparisons, figures_of
from workup.lenses.sites.tables import characteristics, settings_table, withheld_table
from workup.lenses.sites.values import GLMM, OnScale, as_estimates, fit, on_scale
from workup.metric import Metric
from workup.report import LensResult, Report, canonical
from workup.settings import Part

__all__ = ["Goal", "PoolSettings", "pool_sites", "poolable"]

_NO_FIGURE = "this site has no such figure"
_MANY = 12  # sentences about sites left out that a reader can take in
_FEW = 4  # figures named one by one in a sentence


class PoolSettings(Part):
    """How sites are pooled and what is asked of a new site."""

    limit: float | dict[str, float | Ends] | None = Field(
        None,
        description="What a new site must reach: a number for the leading metric, or for each metric by name a number "
        "(a floor, a ceiling, or the distance from the target) or a pair [lowest, highest] with null for an open end",
    )
    method: Literal["REML", "DL", "PM", "ML"] = Field("REML", description="How the spread between sites is estimated")
    test: Literal["adhoc", "knha", "z"] = Field(
        "adhoc", description="Hartung-Knapp with a factor of at least 1 (adhoc), plain (knha), or normal (z)"
    )
    small: int = Field(200, ge=0, description="Sites with fewer patients are flagged")
    moderators: tuple[str, ...] = Field((), description="Site characteristics for meta-regression, one at a time")
    subsets: tuple[str, ...] | None = Field(
        None, description="Site characteristics to pool within; type and region where present when not given"
    )
    development: str | None = Field(
        None, description="A site the model was built on: shown, not pooled, and the internal reference"
    )


def pool_sites(
    evidence: Sequence[SiteEvidence],
    *,
    scales: Mapping[str, str],
    settings: PoolSettings,
    goals: Mapping[str, Goal] | None = None,
    intended: Sequence[str] = (),
    reference: Report | None = None,
    levels: Sequence[float] = (0.95,),
) -> LensResult:
    """Per site and pooled, with prediction intervals and verdicts; no site is left out without a word.

    `goals` says which way each metric is good, in the order of importance; without it a limit must be a pair.

    >>> def site(name, auc):
    ...     return SiteEvidence(name, (Estimate("auroc", {}, auc, 0.7, 0.9, 0.95, "DeLong", 0.02, 500, 500),))
    >>> found = pool_sites([site("A", 0.80), site("B", 0.82), site("C", 0.78)], scales={"auroc": "logit"},
    ...                    settings=PoolSettings(limit={"auroc": (0.7, None)}))
    >>> row = found.pooled[0]
    >>> row["k"], round(row["value"], 3), row["verdict"]
    (3, 0.798, 'inconclusive')
    """
    sites = _in_order(evidence, settings.development)
    asked = bounds(settings.limit, goals=goals, scales=scales)
    index = _Index.of(sites, scales)
    external = [one for one in sites if one.site != settings.development]
    main = 0.95 if 0.95 in levels else levels[0]
    pooled, rows, missing = [], [], []
    for key in index.keys:
        one, left = _pool(index, key, external, scales, settings, main)
        pooled.append(one)
        missing += [{"metric": one.metric, "slice": dict(one.keys), **row} for row in left]
        rows.append(_row(one, left, asked.get(one.metric), settings))
    whole = [one for one in pooled if group_key(one.keys, index.groups) is None]
    about = characteristics(sites, small=settings.small, development=settings.development)
    used_in = settings_table(sites, intended, small=settings.small, development=settings.development)
    compared = tuple(comparisons(whole, *_reference(index, settings.development, reference), goals))
    tables = {"sites": about, "settings": used_in, "not_pooled": missing, "withheld": withheld_table(sites)}
    return LensResult(
        lens="sites",
        settings=settings.model_dump(mode="json"),
        estimates=(*index.per_site(), *_estimates(index, pooled, external, scales, settings, levels)),
        comparisons=compared,
        tables=tables
        | _contrasts(external, whole, about, settings)
        | {"gaps": pooled_gaps(external, scales=scales, method=settings.method, test=settings.test, level=main)},
        notes=tuple(_notes(tables, rows, development=settings.development, small=settings.small, compared=compared)),
        pooled=tuple(rows),
    )


def _contrasts(
    sites: Sequence[SiteEvidence],
    whole: Sequence[Pooling],
    about: Sequence[Mapping[str, Any]],
    settings: PoolSettings,
) -> dict[str, list[dict[str, Any]]]:
    """Without each site, by kind of site and along characteristics; for everyone together, not for groups."""
    facts = {one.site: one.facts for one in sites}
    known = {key for one in sites for key in one.facts}
    chosen = settings.subsets
    if chosen is None:
        chosen = tuple(name for name in ("type", "region") if name in known)
    _known(chosen, known, "subsets")
    values = moderators(sites, settings.moderators, [row for row in about if row["role"] == "validation"])
    return {
        "leave_one_out": [row for one in whole for row in leave_one_out(one)],
        "subsets": [row for one in whole for row in by_subset(one, facts, chosen)],
        "meta_regression": [row for one in whole for row in meta_regression(one, values)],
    }


def _reference(index: _Index, development: str | None, report: Report | None) -> tuple[Mapping[str, Estimate], str]:
    """Internal figures by metric and slice, and whose they are; a report goes before a site."""
    if report is not None:
        return figures_of(report), "internal report"
    if development is None:
        return {}, ""
    held = {key: index.at(key, development, 0.95) for key in index.keys}
    return {key: e for key, e in held.items() if e is not None}, f"development site {development}"


def poolable(metrics: Sequence[Metric]) -> list[Metric]:
    """Metrics that sites can be pooled on: those that a site knows from its own rows alone, and that are not biased the
    more the smaller it is, since their spread between sites would be that of sizes."""
    return [metric for metric in metrics if not (metric.whole_study or metric.grows_as_n_falls)]


def _in_order(evidence: Sequence[SiteEvidence], development: str | None) -> list[SiteEvidence]:
    names = [one.site for one in evidence]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(
            "each site may give its evidence once",
            got=f"{len(names)} pieces of evidence for {len(set(names))} sites ({', '.join(twice)} more than once)",
            remedy="leave out the older one, or give the sites names of their own",
        )
    if not names:
        raise InputError("pooling needs the evidence of at least one site", got="none")
    if development is not None:
        _known([development], names, "development")
    return sorted(evidence, key=lambda one: one.site)


def _known(names: Sequence[str], known: Collection[str], field: str) -> None:
    for name in names:
        if name not in known:
            raise StudyError(f"lenses.sites.{field}: '{name}' is not known here; {near(name, known)}.")


@dataclass(frozen=True)
class _Index:
    """Every estimate by metric and slice, site and level; whole populations before groups."""

    keys: list[str]
    named: Mapping[str, tuple[str, Mapping[str, Any]]]
    held: Mapping[str, Mapping[str, Mapping[float, Estimate]]]
    groups: set[str]

    @classmethod
    def of(cls, sites: Sequence[SiteEvidence], scales: Mapping[str, str]) -> _Index:
        """A group without rows is absent, so that evidence from rows and from a pack is one."""
        named: dict[str, tuple[str, Mapping[str, Any]]] = {}
        held: dict[str, dict[str, dict[float, Estimate]]] = {}
        groups = group_columns(sites)
        for one in sites:
            for e in one.estimates:
                column = group_key(e.slice, groups)
                grouped = column is not None
                if column is not None and one.source == "pack" and e.slice[column] == TOGETHER:
                    continue  # those that one hospital withholds together are not those of another
                if e.metric not in scales or (grouped and e.n_rows == 0 and e.status != "withheld"):
                    continue
                key = canonical([e.metric, e.slice])
                named.setdefault(key, (e.metric, dict(e.slice)))
                held.setdefault(key, {}).setdefault(one.site, {})[e.level] = e
        order = list(scales)

        def place(key: str) -> tuple[bool, int, str]:
            grouped = group_key(named[key][1], groups) is not None
            return grouped, order.index(named[key][0]), key if grouped else ""

        keys = sorted(held, key=place)
        return cls(keys, named, held, groups)

    def at(self, key: str, site: str, level: float) -> Estimate | None:
        """A site's estimate, at this level where it is held."""
        found = self.held[key].get(site, {})
        return found.get(level) or next(iter(found.values()), None)

    def per_site(self) -> Iterator[Estimate]:
        """All of them, each marked with its site."""
        for key in self.keys:
            for site in sorted(self.held[key]):
                for e in self.held[key][site].values():
                    yield replace(e, slice={"site": site, **e.slice})


def _pool(
    index: _Index,
    key: str,
    sites: Sequence[SiteEvidence],
    scales: Mapping[str, str],
    settings: PoolSettings,
    level: float,
) -> tuple[Pooling, list[dict[str, Any]]]:
    """One metric on one slice over all sites, and the sites that could not take part, each with its reason."""
    metric, keys = index.named[key]
    used: list[OnScale] = []
    left = []
    for one in sites:
        e = index.at(key, one.site, level)
        ready = _NO_FIGURE if e is None else on_scale(one.site, e, scales[metric])
        if isinstance(ready, str):
            left.append({"site": one.site, "reason": ready})
        else:
            used.append(ready)
    found = fit(used, scales[metric], method=settings.method, test=settings.test, level=level)
    lost = sum(row["reason"] != _NO_FIGURE for row in left)
    return Pooling(metric, keys, replace(found, lost=lost), settings.method, settings.test), left


def _row(
    one: Pooling, left: Sequence[Mapping[str, Any]], asked: Ends | str | None, settings: PoolSettings
) -> dict[str, Any]:
    found = one.found
    facts = found.facts()
    row = {
        **one.named,
        "method": found.method,
        "test": found.pooled.test if found.pooled else None,
        "level": found.level,
        **facts,
        "se": found.se,
        "pi": "approximate" if facts["pi_low"] is not None else None,
        "sites": [each.site for each in found.used],
        "weights": found.weights(),
        "n_patients": sum(each.estimate.n_patients for each in found.used),
        "left_out": [each["site"] for each in left],
        "lost": found.lost,
    }
    return row | verdict(row, asked)


def _estimates(
    index: _Index,
    pooled: Sequence[Pooling],
    sites: Sequence[SiteEvidence],
    scales: Mapping[str, str],
    settings: PoolSettings,
    levels: Sequence[float],
) -> Iterator[Estimate]:
    """Pooled means and what a new site may expect, as estimates that gates can judge."""
    for key, one in zip(index.keys, pooled, strict=True):
        for level in levels:
            # One site alone is not pooled: its own interval at that level is looked up.
            alone = one.found.pooled is None and level != one.found.level
            found = _pool(index, key, sites, scales, settings, level)[0].found if alone else one.found.at(level)
            yield from as_estimates(one.metric, one.keys, found)


# ---- notes -----------------------------------------------------------------------------------------------------------


def _notes(
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    pooled: Sequence[Mapping[str, Any]],
    *,
    development: str | None,
    small: int,
    compared: Sequence[Mapping[str, Any]],
) -> Iterator[str]:
    """Which sites are small or left out and why, which settings nobody validated, and what the intervals are."""
    sites = [row for row in tables["sites"] if row["role"] == "validation"]
    if development is not None:
        yield f"Site {development} is the one the model was built on: it is shown and compared with, not pooled."
    few = [row["site"] for row in sites if row["small"]]
    if few:
        yield f"Sites with fewer than {small} patients, whose own figures are unsure: {', '.join(few)}."
    yield from _left_out(tables["not_pooled"])
    scarce = [row for row in pooled if 0 < row["k"] < row["lost"]]
    few_pooled = [f"{_named(row)} ({row['k']} of {row['k'] + row['lost']})" for row in scarce]
    if few_pooled:
        yield (
            f"Pooled from a minority of the sites, and so not judged: {_some(few_pooled)}. Sites without a usable "
            "figure are small or have few events, and those that remain are not like them."
        )
    bare = [row["setting"] for row in tables["settings"] if row["status"] == "not validated"]
    if bare:
        yield f"Not validated in settings where the system will be used: {', '.join(bare)}."
    yield from _intervals(pooled, len(sites))
    if tables["withheld"]:
        held = sorted({row["site"] for row in tables["withheld"]})
        yield f"Cells with few patients were withheld ({', '.join(held)}); what rests on them is not pooled."
    if pooled and not any(row["limit"] for row in pooled):
        yield "No limit was set for a new site, so no verdict is given on the pooled figures."
    if not compared:
        yield "No internal reference was given, so internal and external figures are not compared."


def _left_out(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """One sentence per site and reason, so that none is lost; where that is too much to read, every site by name."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        by_reason.setdefault((row["site"], row["reason"]), []).append(_named(row))
    if len(by_reason) > _MANY:
        names = list(dict.fromkeys(site for site, _ in by_reason))
        yield (
            f"{len(names)} sites are left out of some pooled figure, each with its reason in the table of what could "
            f"not be pooled: {', '.join(names)}."
        )
        return
    for (site, reason), figures in by_reason.items():
        yield f"Site {site} is not in the pooled {_some(figures)}: {reason.rstrip('.')}."


def _named(row: Mapping[str, Any]) -> str:
    return str(row["metric"]) + "".join(f" [{key}={value}]" for key, value in row["slice"].items())


def _some(figures: Sequence[str]) -> str:
    """The first few by name, and how many more there are."""
    return ", ".join(figures[:_FEW]) + (f" and {len(figures) - _FEW} more" if len(figures) > _FEW else "")


def _intervals(pooled: Sequence[Mapping[str, Any]], n_sites: int) -> Iterator[str]:
    if n_sites == 1:
        yield "There is one site, so nothing is pooled and nothing is known of other sites."
    elif n_sites == 2:
        yield "Two sites give no prediction interval: what a third would show cannot be said."
    if any(row["pi_low"] is not None for row in pooled):
        yield (
            "Prediction intervals say where the true value of a new site of this kind would lie; they are approximate, "
            "the more so the fewer the sites."
        )
    mixed = [_named(row) for row in pooled if row["method"] == GLMM]
    if mixed:
        yield f"Pooled by a binomial mixed model, because a site has few of one kind: {_some(mixed)}."
    many = [_named(row) for row in pooled if row["method"] == GLMM and row["k"] > MOST_REFITS]
    if many:
        yield f"Not pooled without each site in turn, because that takes too long for so many sites: {_some(many)}."
