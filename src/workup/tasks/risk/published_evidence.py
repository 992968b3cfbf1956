"""Evidence from publications: a table with one row per validation becomes SiteEvidence. Knows no patients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.errors import InputError, near
from workup.estimate import Estimate
from workup.evidence import SiteEvidence
from workup.scores import MISSING, level_name
from workup.stats.intervals import z_critical
from workup.stats.rank import hanley_mcneil
from workup.stats.scales import back, steepness, there

# What a table may hold, by our names; every other column is a fact about the site.
NUMBERS = (
    "n",
    "events",
    "auroc",
    "auroc_se",
    "auroc_low",
    "auroc_high",
    "observed",
    "expected",
    "observed_share",
    "expected_share",
)
_LEVEL = 0.95  # of published intervals, by custom
_AT_LEAST_0 = ("n", "events", "observed", "expected", "auroc_se")
_MOST = 1e10  # more than there are people
Numbers = Mapping[str, float | None]


def from_summaries(
    table: Mapping[str, npt.NDArray[Any]], *, columns: Mapping[str, str] | None = None, where: str
) -> list[SiteEvidence]:
    """One piece of evidence per row: AUROC and O/E with what was published to weigh them by.

    Columns are `site`, `n`, `events`, `auroc`, `auroc_se`, `auroc_low`, `auroc_high`, `observed`, `expected` (counts),
    `observed_share`, `expected_share`; `columns` maps these names to those of the table, and every other column is kept
    as a fact about the site. A row in which nothing can be used is listed with its reason, not dropped.

    >>> table = {"Study": np.array(["Nashef"], dtype=object), "n": np.array([5553.0]), "died": np.array([232.0]),
    ...          "c": np.array([0.8095]), "e": np.array([222.0])}
    >>> names = {"site": "Study", "events": "died", "auroc": "c", "expected": "e"}
    >>> for e in from_summaries(table, columns=names, where="validations.csv")[0].estimates:
    ...     print(e.metric, round(e.value, 3), round(e.se, 4), e.method)
    auroc 0.809 0.0174 Hanley-McNeil from the counts
    oe_ratio 1.045 0.0672 log scale, O with its binomial variance
    """
    named = _columns(table, columns or {}, where)
    sites = _sites(table[named["site"]])
    numbers = {name: _numbers(table[column], where, column) for name, column in named.items() if name != "site"}
    others = {name: _facts(column) for name, column in table.items() if name not in named.values()}
    found = []
    for i, site in enumerate(sites):
        row = {name: column[i] for name, column in numbers.items()}
        _check(row, f"{where}, row {i + 1}")
        facts = {name: column[i] for name, column in others.items() if column[i] is not None}
        found.append(_evidence(site, row, facts))
    return found


def _columns(table: Mapping[str, npt.NDArray[Any]], columns: Mapping[str, str], where: str) -> dict[str, str]:
    """Which column of the table holds each of our names."""
    for name, column in columns.items():
        if name not in ("site", *NUMBERS):
            raise InputError(
                "columns maps our names to those of the table",
                where=where,
                got=f"'{name}'",
                remedy=near(name, ("site", *NUMBERS)),
            )
        if column not in table:
            raise InputError(f"a column '{column}' (for {name})", where=where, got="none", remedy=near(column, table))
    found = {name: columns.get(name, name) for name in ("site", *NUMBERS)}
    found = {name: column for name, column in found.items() if column in table}
    if "site" not in found:
        raise InputError(
            "a column must name the site or study of each row",
            where=where,
            got=f"columns {', '.join(table)}",
            remedy="say which one it is (--columns site=…, or columns={'site': …} in Python)",
        )
    if "auroc" not in found and not {"expected", "expected_share"} & set(found):
        raise InputError(
            "there must be something to pool: auroc, or observed and expected",
            where=where,
            got=f"columns {', '.join(table)}",
            remedy="say which ones they are (--columns auroc=…, or columns={'auroc': …} in Python)",
        )
    return found


def _sites(names: npt.NDArray[Any]) -> list[str]:
    """One name per row; a study with several cohorts is counted on: "Wang", "Wang (2)"."""
    plain = [level_name(name) for name in names.tolist()]
    found: list[str] = []
    for i, name in enumerate(plain):
        earlier = plain[:i].count(name)
        found.append(f"{name} ({earlier + 1})" if earlier else name)
    return found


def _numbers(column: npt.NDArray[Any], where: str, name: str) -> list[float | None]:
    found: list[float | None] = []
    for i, value in enumerate(column.tolist()):
        if level_name(value) == MISSING:
            found.append(None)
            continue
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.inf
        if not np.isfinite(number):
            raise InputError(
                "a number or an empty cell",
                where=f"{where}, row {i + 1}, column '{name}'",
                got="something else",
                remedy="write the number with a decimal point, or leave the cell empty",
            )
        found.append(number)
    return found


def _check(row: Numbers, where: str) -> None:
    """Numbers that cannot be what they are said to be: most often a percentage, or two columns changed round."""

    def refuse(what: str, got: str, remedy: str) -> None:
        raise InputError(what, where=where, got=got, remedy=remedy)

    for name, value in row.items():
        if value is None:
            continue
        share = name in ("auroc", "auroc_low", "auroc_high", "observed_share", "expected_share")
        if share and not 0 <= value <= 1:
            refuse(f"{name} must lie between 0 and 1", f"{value:g}", "divide percentages by 100")
        if name in _AT_LEAST_0 and not 0 <= value <= _MOST:
            refuse(f"{name} must not be negative, nor beyond all bounds", f"{value:g}", "check the row")
    n, events, observed = row.get("n"), row.get("events"), row.get("observed")
    for name, count in (("events", events), ("observed", observed)):
        if n is not None and count is not None and count > n:
            refuse(f"{name} must not exceed n", f"{count:g} of {n:g}", "check which column is which")
    low, auroc, high = (row.get(name) for name in ("auroc_low", "auroc", "auroc_high"))
    if None not in (low, auroc, high) and not low <= auroc <= high:  # type: ignore[operator]
        refuse("the AUROC must lie inside its interval", f"{auroc:g}, {low:g} to {high:g}", "check the row")


def _evidence(site: str, row: Numbers, facts: Mapping[str, Any]) -> SiteEvidence:
    n, events = row.get("n"), row.get("events")
    whole = None if n is None else round(n)
    held = {"patients": whole, "rows": whole, "events": None if events is None else round(events)}
    return SiteEvidence(site, (_auroc(row), _ratio(row)), facts=facts, holdings=held, source="published")


def _facts(column: npt.NDArray[Any]) -> list[Any]:
    """A characteristic of the sites: numbers where every cell that is filled is one, else words."""
    cells = [None if level_name(value) == MISSING else value for value in column.tolist()]
    try:
        if any(isinstance(value, bool) for value in cells):
            raise ValueError
        return [None if value is None else float(value) for value in cells]
    except (TypeError, ValueError):
        return [None if value is None else level_name(value) for value in cells]


def _made(
    metric: str, row: Numbers, *, value: float | None, se: float | None, method: str, reason: str = ""
) -> Estimate:
    """An estimate with the interval its scale and standard error give."""
    n, events = row.get("n"), row.get("events")
    sound = value is not None and se is not None
    low, high = _ends(metric, value, se) if value is not None and se is not None else (None, None)
    unsized = "the number of patients was not published" if n is None else ""
    return Estimate(
        metric=metric,
        slice={},
        value=value,
        low=low,
        high=high,
        level=_LEVEL,
        method=method,
        se=se,
        n_patients=0 if n is None else round(n),
        n_rows=0 if n is None else round(n),
        n_events=None if events is None else round(events),
        status="ok" if sound else "undefined" if value is None else "insufficient",
        reason="; ".join(filter(None, (reason, unsized))) or None,
    )


def _ends(metric: str, value: float, se: float) -> tuple[float | None, float | None]:
    scale = "log" if metric == "oe_ratio" else "logit"
    if scale == "logit" and not 0 < value < 1:
        return None, None
    half = z_critical(_LEVEL) * se / steepness(value, scale)
    return back(there(value, scale) - half, scale), back(there(value, scale) + half, scale)


def _auroc(row: Numbers) -> Estimate:
    """SE as published; else from the interval, on the logit scale; else Hanley and McNeil's from the counts."""
    auc, se = row.get("auroc"), row.get("auroc_se")
    low, high = row.get("auroc_low"), row.get("auroc_high")
    n, events = row.get("n"), row.get("events")
    if auc is None:
        return _made("auroc", row, value=None, se=None, method="none", reason="no AUROC was published")
    if se is not None and se > 0:
        return _made("auroc", row, value=auc, se=se, method="SE as published")
    if low is not None and high is not None and 0 < low < high < 1 and 0 < auc < 1:
        logit_se = (there(high, "logit") - there(low, "logit")) / (2 * z_critical(_LEVEL))
        how = f"SE from the {_LEVEL:.0%} interval, logit scale"
        return _made("auroc", row, value=auc, se=logit_se * steepness(auc, "logit"), method=how)
    if n is not None and events is not None and 0 < events < n and 0 < auc < 1:
        how = "Hanley-McNeil from the counts"
        return _made("auroc", row, value=auc, se=float(np.sqrt(hanley_mcneil(auc, events, n - events))), method=how)
    why = "no standard error, interval or counts were published to weigh it by"
    return _made("auroc", row, value=auc, se=None, method="none", reason=why)


def _ratio(row: Numbers) -> Estimate:
    """O/E on the log scale, E taken as fixed: variance (1 - O/n)/O, or 1/O without n (Debray et al. 2017, metamisc)."""
    n = row.get("n")
    observed = _count(row, "observed", n)
    if observed is None:
        observed = row.get("events")
    expected = _count(row, "expected", n)
    if observed is None or expected is None:
        why = f"no {'observed' if observed is None else 'expected'} number of events was published"
        return _made("oe_ratio", row, value=None, se=None, method="none", reason=why)
    if not expected > 0 or not observed > 0:
        why = f"{'expected' if not expected > 0 else 'observed'} events are 0, so O/E has no logarithm"
        return _made("oe_ratio", row, value=None, se=None, method="none", reason=why)
    if n is not None and observed >= n:
        why = "everyone had the event, so its variance is not known"
        return _made("oe_ratio", row, value=observed / expected, se=None, method="none", reason=why)
    variance = 1 / observed if n is None else (1 - observed / n) / observed
    how = f"log scale, O with its {'Poisson' if n is None else 'binomial'} variance"
    ratio = observed / expected
    return _made("oe_ratio", row, value=ratio, se=ratio * float(np.sqrt(variance)), method=how)


def _count(row: Numbers, name: str, n: float | None) -> float | None:
    """A count as published, or a share of n."""
    count, share = row.get(name), row.get(f"{name}_share")
    if count is not None:
        return count
    return None if share is None or n is None else share * n
