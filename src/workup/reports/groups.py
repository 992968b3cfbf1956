"""What the record says about groups, as sections: each group's figures, the gaps, and the smallest gap seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from workup.report import Estimate, LensResult
from workup.reports.layout import Section, Table
from workup.reports.wording import (
    at_threshold,
    group_words,
    measured,
    metrics_in,
    number,
    p_value,
    plural,
    signed,
    signed_beside,
)

_ORDER = ("disparity", "inconclusive", "within", "not_assessed")
Row = Mapping[str, Any]


def by_group(
    result: LensResult, heads: tuple[str, ...], rows_of: Callable[[Iterable[Estimate]], Iterable[tuple[str, ...]]]
) -> Iterator[Section]:
    """One section per grouping with every group in it; `rows_of` words an estimate as it is worded elsewhere."""
    estimates = [e for e in result.estimates if e.level == 0.95]
    for name in result.settings.get("by", ()):
        rows = [e for e in estimates if name in e.slice]
        levels = list(dict.fromkeys(str(e.slice[name]) for e in rows))
        wanted = metrics_in("groups")
        chosen = sorted(
            (e for e in rows if e.metric in wanted),
            key=lambda e: (wanted.index(e.metric), e.slice.get("threshold", 0), levels.index(str(e.slice[name]))),
        )
        body = tuple(
            (str(e.slice[name]), at_threshold(e.metric, e.slice), *row[1:])
            for e, row in zip(chosen, rows_of(chosen), strict=True)
        )
        said = f"{plural(len(levels), 'group')}, the largest first; none is left out."
        table = Table((name, "metric", *heads[1:]), body, f"Every group of {name}")
        yield Section(f"By {name}", (said,), (table,), key=f"by:{name}")


def comparisons(result: LensResult) -> Iterator[Section]:
    """Gaps judged against a margin first, the others after; then the test of all groups and the largest gaps."""
    gaps = [row for row in result.comparisons if row["kind"] == "difference"]
    judged = sorted(
        (row for row in gaps if row["margin"] is not None),
        key=lambda row: _ORDER.index(row["verdict"]) if row["verdict"] in _ORDER else len(_ORDER),
    )
    if judged:
        yield Section("Gaps between groups", _margin_words(judged), (_judged(judged),), key="gaps")
    others = [row for row in gaps if row["margin"] is None and row["metric"] in metrics_in("groups")]
    if others:
        said = (
            "No margin applies to these gaps, or they are outside the family that the study judges, so they are "
            "described and not judged: p tests against no gap, and each interval stands alone. Ratios, and the metrics "
            "left out here, are in report.json."
        )
        yield Section("Gaps without a verdict", (said,), (_described(others),), key="gaps-open")
    yield from _omnibus(result)
    yield from _largest(result)


def _margin_words(rows: list[Row]) -> tuple[str, str]:
    return (
        "The metric in a group less the metric in those it is held against. Disparity: the gap exceeds the margin, "
        "allowing for the number of comparisons. Within: the whole interval lies inside the margin. Inconclusive: "
        "these data cannot tell.",
        "Each interval is the one that decided its row, by the rule named there; p tests against the "
        f"margin.{_one_margin(rows)}",
    )


def _one_margin(rows: list[Row]) -> str:
    """The margin in words where it is the same in every row."""
    margins = {row["margin"] for row in rows}
    return f" The margin is {min(margins):g}." if len(margins) == 1 else ""


def _who(row: Row) -> tuple[str, str, str]:
    return group_words(row["slice"]), str(row["against"]), at_threshold(row["metric"], row["slice"])


def _gap(row: Row) -> tuple[str, str]:
    if row["value"] is None:
        return "–", "–"
    if row["low"] is None or row["high"] is None:
        return signed(row["value"]), "–"
    low, high = (signed_beside(row[end], row["margin"]) for end in ("low", "high"))
    return signed(row["value"]), f"{low} to {high}"


def _judged(rows: list[Row]) -> Table:
    each = not _one_margin(rows)
    body = tuple(
        (
            *_who(row),
            *_gap(row),
            *((number(row["margin"]),) if each else ()),
            p_value(row["p_adjusted"]),
            str(row["verdict"]),
            str(row.get("rule") or "–"),  # records made before rules were named have none
            str(row["reason"]),
        )
        for row in rows
    )
    margin = ("margin",) if each else ()
    heads = ("group", "against", "metric", "gap", "interval", *margin, "adjusted p", "verdict", "decided by", "reason")
    return Table(heads, body, "Gaps judged against the declared margin")


def _described(rows: list[Row]) -> Table:
    body = tuple((*_who(row), *_gap(row), p_value(row["p"]), str(row["reason"])) for row in rows)
    heads = ("group", "against", "metric", "gap", "95% interval", "p", "reason")
    return Table(heads, body, "Gaps described and not judged")


def _omnibus(result: LensResult) -> Iterator[Section]:
    rows = [row for row in result.tables.get("omnibus", ()) if row["metric"] in metrics_in("groups")]
    if not rows:
        return
    body = tuple(
        (
            str(row["column"]),
            at_threshold(row["metric"], row["at"]),
            str(row["groups"]),
            row["test"],
            number(row["statistic"]),
            number(row["df"]),
            p_value(row["p"]),
        )
        for row in rows
    )
    said = "One test per metric of whether the groups differ at all. A large p is no proof that they are alike."
    heads = ("grouping", "metric", "groups", "test", "statistic", "df", "p")
    table = Table(heads, body, "Tests of all groups together")
    yield Section("Do the groups differ at all", (said,), (table,), key="omnibus")


def _largest(result: LensResult) -> Iterator[Section]:
    rows = [row for row in result.comparisons if row["kind"] == "max_gap"]
    if not rows:
        return
    # The bias is said once above the table; only another reason, such as an undefined group, is worth a cell.
    body = tuple(
        (
            str(row["slice"].get("column", "")),
            at_threshold(row["metric"], row["slice"]),
            *_gap(row),
            "" if str(row["reason"]).startswith("a largest gap is biased") else str(row["reason"]),
        )
        for row in rows
        if _of_parity(row["metric"])
    )
    said = (
        "Best group less worst group. The largest of several gaps is biased upwards: it is never below 0 and grows "
        "with the number of groups, so it is described and not judged."
    )
    table = Table(("grouping", "metric", "largest gap", "95% interval", "reason"), body, "Largest gaps")
    yield Section("Largest gaps", (said,), (table,), key="largest-gaps")


def _of_parity(metric: str) -> bool:
    """Whether a parity ratio is shown: of a metric that groups are shown by, or of several judged as one."""
    return metric in (*metrics_in("groups"), *metrics_in("parity")) or metric not in measured()


def parity(result: LensResult) -> Iterator[Section]:
    """Smallest over largest share among all groups; of risk models, whose readers ask for it."""
    rows = [row for row in result.comparisons if row["kind"] == "ratio" and row["against"] == "all groups"]
    if not rows:
        return
    body = tuple(
        (
            str(row["slice"].get("column", "")),
            at_threshold(row["metric"], row["slice"]),
            number(row["value"]),
            "–" if row["low"] is None or row["high"] is None else f"{number(row['low'])} to {number(row['high'])}",
            str(row.get("lowest", "")),
            str(row.get("highest", "")),
            "" if " is biased downwards" in str(row["reason"]) else str(row["reason"]),
        )
        for row in rows
    )
    said = [
        "The smallest share among the groups over the largest; 1 is parity. It is never above 1 and falls with the "
        "number of groups and with their smallness, so it is biased downwards, described and not judged.",
        "The customary four fifths (0.8) is a rule of employment law, not a clinical limit.",
    ]
    if any(row["metric"] == "alert_rate" for row in rows):
        said.append(
            "Alert rates should differ where need differs. Equalised odds is the smaller of the ratios of sensitivity "
            "and of false positive rate."
        )
    heads = ("grouping", "metric", "ratio", "95% interval", "smallest in", "largest in", "reason")
    table = Table(heads, body, "Parity ratios over all groups")
    yield Section("Parity ratios", tuple(said), (table,), key="parity")


def smallest_gaps(result: LensResult) -> Section:
    """The smallest true gap between a group and its comparator that these data would have found."""
    rows = tuple(
        (*_who(row), number(row["smallest_difference"]))
        for row in result.tables.get("smallest_difference", ())
        if row["metric"] in metrics_in("gaps")
    )
    said = (
        "The smallest true gap between a group and those it is held against that a study of this size would find with "
        "80 % power (two-sided 5 %, one comparison). Smaller ones may exist unseen; – where no gap could be estimated."
    )
    table = Table(("group", "against", "metric", "smallest gap"), rows, "Smallest gap between groups")
    return Section("Smallest gap between groups these data could see", (said,), (table,), key="smallest-gaps")
