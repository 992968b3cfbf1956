"""Sites held against each other: without each in turn, by kind of site, and along a characteristic of the sites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workup.errors import StudyError, near
from workup.evidence import SiteEvidence
from workup.lenses.sites.values import HALF, Fit, fit
from workup.scores import MISSING
from workup.stats.arrays import Floats
from workup.stats.intervals import homogeneity
from workup.stats.meta import pooling
from workup.stats.meta.pooling import Method, TestKind

_ROW = ("k", "value", "low", "high", "pi_low", "pi_high", "tau", "i2", "q", "q_p")
MOST_REFITS = 15  # sites up to which the mixed model, a hundred times slower than a mean, is fitted without each
_COMPUTED = ("patients", "event_rate")  # characteristics that the data themselves give


@dataclass(frozen=True)
class Pooling:
    """One metric on one slice, pooled, with how it was done."""

    metric: str
    keys: Mapping[str, Any]
    found: Fit
    method: Method
    test: TestKind

    @property
    def named(self) -> dict[str, Any]:
        """The fields that name it in a row."""
        return {"metric": self.metric, "slice": dict(self.keys), "scale": self.found.scale}

    @property
    def mixed(self) -> bool:
        """Was the binomial mixed model used?"""
        return self.found.pooled is not None and self.found.method != self.method

    def of(self, sites: Sequence[str]) -> Fit:
        """The same from some of the sites."""
        used = [one for one in self.found.used if one.site in sites]
        level = self.found.level
        return fit(used, self.found.scale, method=self.method, test=self.test, level=level, mixed=self.mixed)


def leave_one_out(one: Pooling) -> Iterator[dict[str, Any]]:
    """The pooled answer without each site in turn, from three sites on; a mixed model only while they are few."""
    sites = [each.site for each in one.found.used]
    if len(sites) < 3 or (one.mixed and len(sites) > MOST_REFITS):
        return
    for left in sites:
        facts = one.of([site for site in sites if site != left]).facts()
        yield {**one.named, "without": left, **{key: facts[key] for key in _ROW}}


def by_subset(one: Pooling, facts: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Pooled within each kind of site, each with its own spread, and one test that the kinds are alike."""
    for name in names:
        levels: dict[str, list[str]] = {}
        for each in one.found.used:
            levels.setdefault(str(facts[each.site].get(name, MISSING)), []).append(each.site)
        fits = {level: one.of(sites) for level, sites in sorted(levels.items())}
        between = dict(zip(("q_between", "q_between_df", "q_between_p"), _between(one, levels, fits), strict=True))
        for level, found in fits.items():
            row = found.facts()
            shown = {key: row[key] for key in _ROW}
            yield {**one.named, "by": name, "level": level, "sites": levels[level], **shown, **between}


def _between(
    one: Pooling, levels: Mapping[str, Sequence[str]], fits: Mapping[str, Fit]
) -> tuple[float | None, int, float | None]:
    """Cochran's Q of the means of the subsets; of the mixed model's own where it was used."""
    if len(fits) < 2:
        return None, 0, None
    if not one.mixed:
        kind = {site: level for level, sites in levels.items() for site in sites}
        y, v = [each.y for each in one.found.used], [each.v for each in one.found.used]
        groups = [kind[each.site] for each in one.found.used]
        found = pooling.subgroups(y, v, groups, method=one.method, test=one.test, level=one.found.level)
        return found.q_between, found.df, found.p
    means = np.array([each.y for each in fits.values()], dtype=np.float64)
    w = 1 / np.array([each.se for each in fits.values()], dtype=np.float64) ** 2
    if not np.isfinite(means).all() or not np.isfinite(w).all():
        return None, len(fits) - 1, None
    q, p, _ = homogeneity(means, w)
    return q, len(fits) - 1, p


def moderators(
    evidence: Sequence[SiteEvidence], wanted: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Each characteristic asked for, by site; those that the data themselves give among them."""
    known = {key for one in evidence for key in one.facts} | set(_COMPUTED)
    for name in wanted:
        if name not in known:
            raise StudyError(f"lenses.sites.moderators: no site has a characteristic '{name}'; {near(name, known)}.")
    found: dict[str, dict[str, Any]] = {name: {} for name in wanted}
    for one, row in zip(evidence, rows, strict=True):
        own = {**one.facts, "patients": row["patients"], "event_rate": _rate(row)}
        for name in wanted:
            if own.get(name) is not None:
                found[name][one.site] = own[name]
    return found


def _rate(row: Mapping[str, Any]) -> float | None:
    return None if row["events"] is None or not row["rows"] else row["events"] / row["rows"]


def meta_regression(one: Pooling, values: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """One characteristic at a time: how the metric moves along it, on the pooling scale."""
    for name, by_site in values.items():
        used = [each for each in one.found.used if each.site in by_site]
        without = [each.site for each in one.found.used if each.site not in by_site]
        row = {**one.named, "moderator": name, "k": len(used), "without": without}
        design, terms = _design([by_site[each.site] for each in used])
        refused = _refused(design, terms)
        if refused:
            empty = dict.fromkeys(("term", "coef", "se", "low", "high", "p", "qm", "qm_p", "tau", "r2", "method"))
            yield {**row, **empty, "status": "insufficient", "reason": refused}
            continue
        y, v = [each.y for each in used], [each.v for each in used]
        found = pooling.regress(y, v, design, method=one.method, test=one.test, level=one.found.level)
        half = f", {HALF:g} added to empty cells" if any(each.empty for each in used) else ""
        for i, term in enumerate(terms, start=1):
            yield {
                **row,
                "term": term,
                "coef": float(found.coef[i]),
                "se": float(found.se[i]),
                "low": float(found.low[i]),
                "high": float(found.high[i]),
                "p": float(found.p[i]),
                "qm": found.qm,
                "qm_p": found.qm_p,
                "tau": float(np.sqrt(found.tau2)),
                "r2": found.r2 if found.r2 == found.r2 else None,  # nothing to explain where sites do not differ
                "method": f"{one.method}{half}",
                "status": "ok",
                "reason": None,
            }


def _design(values: Sequence[Any]) -> tuple[Floats, list[str]]:
    """A column of ones and the characteristic: itself when it is a number, else one column per level but the first."""
    ones = np.ones((len(values), 1))
    if all(isinstance(value, (int, float)) for value in values):
        numbers = np.array(values, dtype=np.float64).reshape(-1, 1)
        return np.hstack([ones, numbers]), ["per unit"]
    names = [str(value) for value in values]
    levels = sorted(set(names))
    dummies = [[float(name == level) for level in levels[1:]] for name in names]
    terms = [f"{level} against {levels[0]}" for level in levels[1:]]
    return np.hstack([ones, np.array(dummies).reshape(len(names), -1)]), terms


def _refused(design: Floats, terms: Sequence[str]) -> str | None:
    if not terms or len(design) == 0 or np.linalg.matrix_rank(design) < design.shape[1]:
        return "it is the same at every site that can be used"
    if len(design) < design.shape[1] + 2:
        return f"{len(design)} sites for {design.shape[1]} coefficients; at least {design.shape[1] + 2} are needed"
    return None
