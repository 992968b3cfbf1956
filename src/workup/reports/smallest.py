"""The smallest difference that data of this size could have shown: as important as what they show."""

from __future__ import annotations

from collections.abc import Sequence

from workup.report import Z_POWER, Estimate, Report
from workup.reports.layout import Section, Table
from workup.reports.wording import at_threshold, number, slice_name

Z_INTERVAL = 1.95996  # of the 95 % intervals that are read here


def smallest_section(report: Report, own: Sequence[tuple[str, str, Estimate]] = ()) -> Section:
    """By metric and group; `own` are estimates that a task shows by itself, each with who and what it is of."""
    rows = [(who, name, number(e.n_patients), smallest_of(e)) for who, name, e in own]
    wanted = report.shown("gaps")
    for name, result in report.results.items():
        if result.tables.get("smallest_difference") or name == "drift":  # compared with each other, or with a baseline
            continue
        for e in result.estimates if not own else ():
            if e.level != 0.95 or e.se is None or e.status != "ok" or "validation" in e.slice:
                continue
            if e.metric in wanted:
                group = {k: v for k, v in e.slice.items() if k not in report.primary}
                if name == "sites" and len(group) > 1:  # a group at one site: the section of the sites shows it
                    continue
                who = slice_name(group) if name != "internal" else "everyone"
                rows.append((who, at_threshold(e.metric, e.slice), number(e.n_patients), smallest_of(e)))
    said = (
        "The smallest departure from a fixed reference that a study of this size would find with 80 % power "
        "(two-sided 5 %; 2.80 standard errors). Smaller ones may exist unseen."
    )
    table = Table(("who", "metric", "patients", "smallest difference"), tuple(rows), "Smallest difference")
    title = "Smallest difference these data could see"
    return Section(title, (said,), (table,), key="smallest") if rows else Section("")


def smallest_of(e: Estimate) -> str:
    """From the interval where that is wider than the standard error, which is 0 for a share of all or none."""
    if e.low is None or e.high is None or e.se is None:
        return "–"
    return number(Z_POWER * max(e.se, (e.high - e.low) / (2 * Z_INTERVAL)))
