"""Who was followed, what the weights of those who stayed rest on, and whether being lost had to do with the risk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workup.report import LensResult
from workup.reports.layout import Section, Table
from workup.reports.wording import count, metric_title, number, p_value, percent, slice_name

Row = Mapping[str, Any]
_KINDS = {
    "marginal": "One curve of being followed for all who are looked at.",
    "strata": "A curve of being followed within each stratum that the study names.",
    "cox": "A Cox model of being lost, fitted once on the whole study.",
}


def sections(internal: LensResult) -> Iterator[Section]:
    """Follow-up at every horizon, then losses and what they would change."""
    rows = internal.tables.get("followup") or ()
    if rows:
        yield _followed(rows)
    table = internal.tables.get("censoring")
    if table:
        yield _losses(table)


def _followed(rows: list[Row]) -> Section:
    said = (
        "Those lost before a horizon are not left out and not taken as free of the event: those who stayed stand in "
        "for them, each weighted by one over the chance of being followed so far.",
        "O/E of complete cases, which leaves them out, stands beside ours to show what that would have cost.",
    )
    main = [row for row in rows if not row["slice"]]
    groups = [row for row in rows if row["slice"]]
    rest = tuple((str(row["horizon"]), *_rest(row)) for row in main)
    tables = [
        Table(("by", *_SEEN), tuple((str(row["horizon"]), *_seen(row)) for row in main), "Everyone", titled=True),
        Table(("by", *_REST), rest, "What the figures of everyone rest on", titled=True),
    ]
    if groups:
        body = tuple((slice_name(row["slice"]), str(row["horizon"]), *_seen(row)) for row in groups)
        tables.append(Table(("group", "by", *_SEEN), body, "Groups", titled=True))
    return Section("Follow-up", said, tuple(tables), key="followup")


_SEEN = ("patients", "at risk then", "events", "competing", "lost before", "followed", "O/E", "O/E of complete cases")
_REST = ("chance of being followed", "largest weight", "effective rows", "median follow-up, days", "remark")


def _seen(row: Row) -> tuple[str, ...]:
    return (
        number(row["n_patients"]),
        *(count(row[name]) for name in ("at_risk", "events", "competing", "censored_before")),
        percent(row["followed"]),
        number(row["oe_ratio"]),
        number(row["oe_complete_cases"]),
    )


def _rest(row: Row) -> tuple[str, ...]:
    return (
        percent(row["followed"]),
        number(row["largest_weight"]),
        f"{row['effective_n']:,.0f}",
        "not reached" if row["median_followup_days"] is None else f"{row['median_followup_days']:,.0f}",
        str(row["reason"] or ""),
    )


def _losses(table: Row) -> Section:
    if not table["hazard_ratios"]:
        return Section("Losses", ("Nobody was lost: every patient was followed to an event or past the last horizon.",))
    said = (
        f"{_KINDS[table['kind']]} That is right where, of those still followed, who is lost next has nothing to do "
        "with the risk. Nothing can prove it.",
        "A hazard ratio of being lost whose interval excludes 1, or a figure that moves by more than one standard "
        "error, shows that it is not so; of many ratios some exclude 1 by chance.",
        "Then name the columns that tell who is lost: censoring: {strata: [column]} or {cox: [column]}.",
    )
    ratios = tuple(
        (
            str(row["of"]) + (f" (against {row['against']})" if row["against"] else ""),
            number(row["hazard_ratio"]),
            "–" if row["low"] is None else f"{number(row['low'])} to {number(row['high'])}",
            p_value(row["p"]),
            str(row["reason"] or row["per"]),
        )
        for row in table["hazard_ratios"]
    )
    tables = [
        Table(("of", "hazard ratio of being lost", "95% interval", "p", "for"), ratios, "Who was lost", titled=True)
    ]
    tables += _two_ways(table)
    return Section("Losses", said, tuple(tables), key="losses-before-horizons")


def _two_ways(table: Row) -> Iterator[Table]:
    """Figures with and without losses that depend on the risk, and net benefit by two routes."""
    figures = tuple(
        (
            str(row["horizon"]),
            metric_title(row["metric"]),
            number(row["marginal"]),
            number(row["by_fifths_of_risk"]),
            number(row["se"]),
            str(row["reason"] or _apart(row["in_se"])),
        )
        for row in table["figures"]
    )
    if figures:
        heads = ("by", "figure", "one curve for all", "a curve for each fifth of risk", "standard error", "apart")
        yield Table(heads, figures, "What would become of the figures", titled=True)
    benefits = tuple(
        (
            str(row["horizon"]),
            f"{row['threshold']:g}",
            number(row["by_weights"]),
            number(row["among_flagged"]),
            number(row["se"]),
            _apart(row["in_se"]),
        )
        for row in table["net_benefit"]
    )
    if benefits:
        heads = ("by", "threshold", "by the weights", "from the flagged alone", "standard error", "apart")
        yield Table(heads, benefits, "Net benefit by two routes", titled=True)


def _apart(in_se: float | None) -> str:
    if in_se is None:
        return "–"
    return f"{in_se:.1f} standard errors" + (": more than one" if in_se > 1 else "")
