"""SiteEvidence: what one site knows, as aggregates. Pooling sees nothing else, whether they come from rows, from a pack
that a hospital sent, or from a publication."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from workup.disclosure.overlaps import missing_as_levels, overlaps
from workup.estimate import Estimate
from workup.report import LensResult
from workup.scores import CROSS, MISSING, Levels, Scores

Source = Literal["rows", "pack", "published"]
BANDS = "bands_of_risk"  # in the holdings: groups that are cut from the risk itself


@dataclass(frozen=True)
class SiteEvidence:
    """One site: its estimates (of everyone and of its groups), the gaps between its groups, and its circumstances.

    `facts` are what `sites.csv` or the author says of the site (name, type, region, volume, …), `holdings` what its
    data show (see `holdings()`), `withheld` the cells that were suppressed, each with its reason.
    """

    site: str
    estimates: tuple[Estimate, ...]
    gaps: tuple[Mapping[str, Any], ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    holdings: Mapping[str, Any] = field(default_factory=dict)
    withheld: tuple[Mapping[str, Any], ...] = ()
    source: Source = "rows"

    @classmethod
    def of_results(
        cls,
        site: str,
        internal: LensResult,
        subgroups: LensResult | None,
        *,
        holdings: Mapping[str, Any],
        facts: Mapping[str, Any],
        source: Source,
    ) -> SiteEvidence:
        """The evidence of one site from what the internal and the subgroups lens found on its rows alone."""
        groups = () if subgroups is None else subgroups.estimates
        gaps = () if subgroups is None else [row for row in subgroups.comparisons if row["kind"] == "difference"]
        everyone = tuple(e for e in internal.estimates if "validation" not in e.slice)
        return cls(site, (*everyone, *groups), tuple(gaps), facts, holdings, source=source)


def group_key(keys: Mapping[str, Any], groups: Collection[str]) -> str | None:
    """Which key of a slice names a group of patients; the others, such as a threshold, belong to the metric.

    A crossed group is named by both its columns. The order of keys says nothing: a record sorts them.

    >>> group_key({"threshold": 0.2, "unit": "ICU"}, ["unit"]), group_key({"threshold": 0.2}, ["unit"])
    ('unit', None)
    """
    return next((key for key in keys if all(part in groups for part in key.split(CROSS))), None)


def group_columns(evidence: Sequence[SiteEvidence]) -> set[str]:
    """The columns by which any of the sites groups its patients."""
    return {name for one in evidence for name in one.holdings.get("groups") or ()}


def holdings(scores: Scores) -> dict[str, Any]:
    """What the data hold: patients and rows, by group too, the missing share of each input, and the delay of labels.

    `overlaps` says which levels of different groupings occur together; it is for the site's own eyes, so that a pack
    made of this record can withhold what overlapping groupings would give away.

    >>> held = holdings(Scores.of({"x": [1, 2, 3]}, patient=["a", "a", "b"], groups={"sex": ["F", "F", "M"]}))
    >>> held["patients"], held["rows"], held["groups"]["sex"]["M"]
    (2, 3, {'patients': 1, 'rows': 1})
    """
    groups = {
        name: {level: _sizes(scores, rows) for level, rows in levels.masks()} for name, levels in scores.groups.items()
    }
    return {
        **_sizes(scores, np.ones(len(scores), dtype=bool)),
        "waiting": 0 if scores.waiting is None else len(scores.waiting),
        "groups": groups,
        "overlaps": overlaps(scores),
        "inputs": [_completeness(name, column, scores.groups) for name, column in scores.inputs.items()],
        "label_delay_days": _delay(scores),
    }


def _sizes(scores: Scores, rows: Any) -> dict[str, int]:
    return {"patients": int(np.unique(scores.patient[rows]).size), "rows": int(np.count_nonzero(rows))}


def _completeness(name: str, column: Any, groups: Mapping[str, Levels]) -> dict[str, Any]:
    if isinstance(column, Levels):
        absent = next((rows for level, rows in column.masks() if level == MISSING), np.zeros(len(column), dtype=bool))
    else:
        absent = np.isnan(column)
    missing = int(absent.sum())
    return {
        "input": name,
        "missing": missing,
        "rows": len(column),
        "share": missing / len(column) if len(column) else None,
        "missing_as": missing_as_levels(absent, groups),
    }


def _delay(scores: Scores) -> dict[str, float] | None:
    """Quartiles and the 90th percentile of the days until the answer was known; None where no time was given.

    `rows` says how many they rest on.
    """
    delays = scores.values.get("label_delay")
    if delays is None or not np.isfinite(delays).any():
        return None
    known = delays[np.isfinite(delays)]
    names: Sequence[str] = ("p25", "median", "p75", "p90")
    quantiles = np.quantile(known, [0.25, 0.5, 0.75, 0.9]).tolist()
    return {"rows": int(known.size), **dict(zip(names, quantiles, strict=True))}
