"""Gaps between groups, pooled over sites: is the unfairness of one hospital that of all, or its own?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workup.estimate import Estimate
from workup.evidence import SiteEvidence, group_columns, group_key
from workup.lenses.sites.values import fit, on_scale
from workup.report import canonical
from workup.stats.intervals import z_critical
from workup.stats.meta.pooling import Method, TestKind

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Gap:
    """A gap at one site; `mirrored` when the site itself reported it from the other side."""

    row: Row
    column: str
    level: str
    mirrored: bool = False

    @property
    def about(self) -> list[Any]:
        """All that two gaps must share to be pooled or to mirror each other, save the group."""
        at = {key: value for key, value in self.row["slice"].items() if key != self.column}
        return [self.row["metric"], at, self.column, self.row["against"]]


def pooled_gaps(
    evidence: Sequence[SiteEvidence], *, scales: Mapping[str, str], method: Method, test: TestKind, level: float
) -> list[dict[str, Any]]:
    """Each gap (metric, group, comparator) over the sites that have it, with its spread between sites."""
    found: dict[str, dict[str, Gap]] = {}
    for one in evidence:
        for gap in _both_ways(one):
            if gap.row["metric"] in scales:
                found.setdefault(canonical([*gap.about, gap.level]), {})[one.site] = gap
    kept = [gaps for gaps in found.values() if not _mirrors_another(gaps, found)]
    sites = [one.site for one in evidence]
    return [_pooled(gaps, sites, method, test, level) for gaps in kept]


def _both_ways(one: SiteEvidence) -> Iterator[Gap]:
    """A site with two groups compares the smaller with the rest, and which is smaller differs from site to site. So
    its gap is read both ways; otherwise gaps of opposite sign would never meet, or would be averaged as one."""
    groups = group_columns([one])
    levels = {name: _levels(one, name) for name in {group_key(row["slice"], groups) for row in one.gaps} if name}
    rows = [row for row in one.gaps if row["kind"] == "difference"]
    compared = {(column, str(row["slice"][column])) for row in rows for column in levels if column in row["slice"]}
    for row in rows:
        column = group_key(row["slice"], groups)
        if column is None:
            continue
        level = str(row["slice"][column])
        yield Gap(row, column, level)
        others = levels[column] - {level}
        if row["against"] == "rest" and len(others) == 1:
            other = others.pop()
            if (column, other) not in compared:
                yield Gap(_mirrored(row, column, other), column, other, mirrored=True)


def _levels(one: SiteEvidence, column: str) -> set[str]:
    """Levels with patients in them; a suppressed one counts, since it has some."""
    found = {str(e.slice[column]) for e in one.estimates if column in e.slice and (e.n_rows or e.status == "withheld")}
    held = (one.holdings.get("groups") or {}).get(column, {})
    return found | {level for level, size in held.items() if size.get("patients") != 0}


def _mirrored(row: Row, column: str, other: str) -> Row:
    low, high, value = (None if row.get(key) is None else -row[key] for key in ("high", "low", "value"))
    return {**row, "slice": {**row["slice"], column: other}, "value": value, "low": low, "high": high}


def _mirrors_another(mine: Mapping[str, Gap], found: Mapping[str, Mapping[str, Gap]]) -> bool:
    """Is this gap the mirror image, at every site, of one that is kept? Then it says nothing new."""
    one = next(iter(mine.values()))
    for theirs in found.values():
        twin = next(iter(theirs.values()))
        same = twin.about == one.about and twin.level != one.level and set(mine) == set(theirs)
        if same and all(mine[site].mirrored != theirs[site].mirrored for site in mine):
            straight, twins = (sum(not gap.mirrored for gap in side.values()) for side in (mine, theirs))
            return (straight, twin.level) < (twins, one.level)
    return False


def _pooled(
    gaps: Mapping[str, Gap], sites: Sequence[str], method: Method, test: TestKind, level: float
) -> dict[str, Any]:
    used, without = [], []
    for site in sites:
        ready = on_scale(site, _as_estimate(gaps[site].row), "identity") if site in gaps else "no such gap at this site"
        if isinstance(ready, str):
            without.append({"site": site, "reason": ready})
        else:
            used.append(ready)
    one = next(iter(gaps.values()))
    return {
        "metric": one.row["metric"],
        "slice": dict(one.row["slice"]),
        "column": one.column,
        "group": one.level,
        "against": one.row["against"],
        **fit(used, "identity", method=method, test=test, level=level).facts(),
        "sites": [{"site": each.site, "value": each.y, "se": each.v**0.5} for each in used],
        "without": without,
    }


def _as_estimate(row: Row) -> Estimate:
    """A gap in the form that pooling reads; the numbers of patients play no part."""
    sound = row.get("value") is not None
    level = row.get("level", 0.95)
    return Estimate(
        metric=row["metric"],
        slice={},
        value=row.get("value"),
        low=row.get("low"),
        high=row.get("high"),
        level=level,
        method=str(row.get("method", "")),
        se=_spread(row, level),
        n_patients=0,
        n_rows=0,
        status="ok" if sound else "insufficient",
        reason=None if sound else str(row.get("reason") or "no value"),
    )


def _spread(row: Row, level: float) -> float | None:
    """The standard error a gap is weighed by: its own, or what its interval stands for where that is more.

    Four of four found have a standard error of 0, and a site with so small a group would get nearly all the weight;
    the ends (Wilson's, Newcombe's) know better. Without them a gap of 0 over six sites with eight such patients each
    is covered 33 times in 100, with them at least 95.
    """
    low, high, se = row.get("low"), row.get("high"), row.get("se")
    if se is None or low is None or high is None:
        return None if se is None else float(se)
    return max(float(se), float(high - low) / (2 * z_critical(level)))
