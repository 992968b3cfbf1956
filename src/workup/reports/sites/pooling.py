"""Sites together: pooled figures, kinds of site, one site left out, characteristics, gaps, and the internal figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workup.report import LensResult
from workup.reports.layout import Section, Table
from workup.reports.sites.forests import at_keys, main_rows
from workup.reports.wording import at_threshold, group_words, number, p_value, signed

Row = Mapping[str, Any]


def cell(value: Any) -> str:
    """A characteristic for reading."""
    if value is None:
        return "–"
    return number(value) if isinstance(value, (int, float)) else str(value)


def _ends(row: Row, low: str, high: str) -> str:
    return "–" if row[low] is None or row[high] is None else f"{number(row[low])} to {number(row[high])}"


def pooled(result: LensResult) -> Section:
    """Every pooled figure with its interval, its prediction interval and its verdict; groups by the main metrics."""
    outside = at_keys(result)
    whole = [row for row in result.pooled if not set(row["slice"]) - outside]
    mains = {(row["metric"], row["slice"].get("threshold")) for row in main_rows(result)}
    groups = [row for row in result.pooled if set(row["slice"]) - outside]
    groups = [row for row in groups if (row["metric"], row["slice"].get("threshold")) in mains]
    said = (
        "The interval is that of the mean over sites like these. The prediction interval is where the true value of "
        "one more site would lie: the one to plan by, and approximate.",
        "Tau is the spread between sites on the scale of pooling, I² the share of the variation seen that is not "
        "chance; neither decides anything here.",
    )
    tables = [_means(whole, "Pooled over all sites"), _spread(whole)]
    if groups:
        tables.insert(1, _means(groups, "Pooled over all sites, by group", grouped=True))
    return Section("Pooled over the sites", said, tuple(tables), key="sites-pooled")


def _means(rows: Sequence[Row], caption: str, *, grouped: bool = False) -> Table:
    body = tuple(
        (
            *((group_words(row["slice"]),) if grouped else ()),
            at_threshold(row["metric"], row["slice"]),
            number(row["k"]),
            number(row["n_patients"]),
            number(row["value"]),
            _ends(row, "low", "high"),
            _ends(row, "pi_low", "pi_high"),
            str(row["verdict"]).replace("_", " "),
            str(row["reason"]),
        )
        for row in rows
    )
    group = ("group",) if grouped else ()
    heads = (
        *group,
        "metric",
        "sites",
        "patients",
        "pooled",
        "95% interval",
        "prediction interval",
        "verdict",
        "reason",
    )
    return Table(heads, body, caption)


def _spread(rows: Sequence[Row]) -> Table:
    body = tuple(
        (
            at_threshold(row["metric"], row["slice"]),
            number(row["tau"]),
            _ends(row, "tau_low", "tau_high"),
            str(row["scale"]),
            _i2(row),
            number(row["q"]),
            p_value(row["q_p"]),
            str(row["method"]),
        )
        for row in rows
    )
    heads = ("metric", "tau", "its 95% interval", "scale", "I²", "Q", "p of Q", "how")
    return Table(heads, body, "Spread between the sites")


def _i2(row: Row) -> str:
    if row["i2"] is None:
        return "–"
    ends = "" if row["i2_low"] is None or row["i2_high"] is None else f" ({row['i2_low']:.0%} to {row['i2_high']:.0%})"
    return f"{row['i2']:.0%}{ends}"


def _main(result: LensResult, rows: Sequence[Row]) -> list[Row]:
    """Rows of a table that belong to the metrics a reader looks for first."""
    wanted = [(row["metric"], dict(row["slice"])) for row in main_rows(result)]
    return [row for row in rows if (row["metric"], dict(row["slice"])) in wanted]


def subsets(result: LensResult) -> Section:
    """Each kind of site pooled by itself."""
    rows = _main(result, result.tables["subsets"])
    body = tuple(
        (
            str(row["by"]),
            str(row["level"]),
            at_threshold(row["metric"], row["slice"]),
            number(row["k"]),
            number(row["value"]),
            _ends(row, "low", "high"),
            _ends(row, "pi_low", "pi_high"),
            p_value(row["q_between_p"]),
        )
        for row in rows
    )
    said = "Each kind of site pooled by itself; Q between tests whether the kinds differ. A large p proves no likeness."
    heads = ("by", "kind", "metric", "sites", "pooled", "95% interval", "prediction interval", "p of Q between")
    tables = (Table(heads, body, "By kind of site"),)
    return Section("By kind of site", (said,), tables, key="sites-subsets") if body else Section("")


def without(result: LensResult) -> Section:
    """How far one site can move the answer: the lowest and the highest mean without one."""
    rows = _main(result, result.tables["leave_one_out"])
    body = []
    for main in main_rows(result):
        own = [
            r for r in rows if r["metric"] == main["metric"] and r["slice"] == main["slice"] and r["value"] is not None
        ]
        if own and main["value"] is not None:
            least, most = min(own, key=lambda r: r["value"]), max(own, key=lambda r: r["value"])
            ends = [f"{number(r['value'])} (without {r['without']})" for r in (least, most)]
            body.append((at_threshold(main["metric"], main["slice"]), number(main["value"]), *ends))
    heads = ("metric", "all sites", "lowest", "highest")
    table = Table(heads, tuple(body), "Pooled mean without one site")
    said = "The pooled mean with each site left out in turn: how far a single site moves it."
    return Section("Without each site in turn", (said,), (table,), key="sites-without") if body else Section("")


def not_pooled(result: LensResult) -> Section:
    """What is missing from the pooled figures, and why."""
    left = tuple(
        (str(row["site"]), at_threshold(row["metric"], row["slice"]), group_words(row["slice"]), str(row["reason"]))
        for row in result.tables["not_pooled"]
    )
    held = tuple(
        (
            str(row["site"]),
            str(row["said"]),
            "; ".join(f"{k} {cell(v)}" for k, v in row.items() if k not in ("site", "said")),
        )
        for row in result.tables["withheld"]
    )
    tables = []
    if left:
        tables.append(Table(("site", "metric", "slice", "reason"), left, "Figures that could not be pooled"))
    if held:
        tables.append(Table(("site", "what stands in its place", "cell"), held, "Cells withheld by the sites"))
    said = ("What is missing from the pooled figures, and why.",) if tables else ()
    return Section("Left out and withheld", said, tuple(tables), key="sites-withheld")


def regression(result: LensResult) -> Section:
    """How the metrics move along characteristics of the sites."""
    rows = _main(result, result.tables["meta_regression"])
    body = tuple(
        (
            at_threshold(row["metric"], row["slice"]),
            str(row["moderator"]),
            str(row["term"] or "–"),
            number(row["k"]),
            "–" if row["coef"] is None else f"{row['coef']:+.3g}",
            "–" if row["low"] is None else f"{row['low']:.3g} to {row['high']:.3g}",  # of a volume: 0.001 says little
            p_value(row["p"]),
            "–" if row["r2"] is None else f"{row['r2']:.0%}",
            str(row["reason"] or ""),
        )
        for row in rows
    )
    said = (
        "One characteristic at a time, on the scale of pooling (log odds for shares and AUROC, logarithm for O/E). "
        "With fewer than ten sites such slopes are hints at best, and sites differ in more than one thing."
    )
    heads = ("metric", "characteristic", "term", "sites", "slope", "95% interval", "p", "spread explained", "reason")
    table = Table(heads, body, "Meta-regression")
    return Section("Meta-regression", (said,), (table,), key="sites-regression") if body else Section("")


def gaps(result: LensResult) -> Section:
    """Gaps between groups, pooled, with their spread between sites."""
    mains = {row["metric"] for row in main_rows(result)}
    rows = [row for row in result.tables["gaps"] if row["metric"] in mains]
    body = tuple(
        (
            f"{row['column']} {row['group']}",
            str(row["against"]),
            at_threshold(row["metric"], row["slice"]),
            number(row["k"]),
            "–" if row["value"] is None else signed(row["value"]),
            _ends(row, "low", "high"),
            _ends(row, "pi_low", "pi_high"),
            number(row["tau"]),
            p_value(row["q_p"]),
        )
        for row in rows
    )
    said = (
        "The metric in a group less that in those it is held against, pooled over sites: tau says how much it varies."
    )
    heads = ("group", "against", "metric", "sites", "gap", "95% interval", "prediction interval", "tau", "Q test p")
    table = Table(heads, body, "Gaps between groups over the sites")
    return (
        Section("Gaps between groups from site to site", (said,), (table,), key="sites-gaps") if body else Section("")
    )


def _finding(row: Row) -> str:
    found = str(row["finding"] or row["reason"])
    return f"{found} at the external sites" if found in ("worse", "better") else found


def against(result: LensResult) -> Section:
    """What the model achieved where it was built, and elsewhere."""
    body = tuple(
        (
            at_threshold(row["metric"], row["slice"]),
            number(row.get("internal")),
            number(row.get("external")),
            "–" if row["value"] is None else signed(row["value"]),
            _ends(row, "low", "high"),
            number(row["z"]),
            p_value(row["p"]),
            _finding(row),
        )
        for row in result.comparisons
    )
    said = (
        "External less internal; z on the scale of pooling with both standard errors. Worse and better mean beyond "
        "chance, at 2.5 % on either side; how much worse would matter is not declared. An improvement is no failure."
    )
    heads = ("metric", "internal", "external", "difference", "95% interval", "z", "p", "finding")
    table = Table(heads, body, "Internal against external")
    return Section("Internal against external", (said,), (table,), key="sites-against") if body else Section("")
