"""The sample-size report: what was asked and expected, how many patients that takes, and what data at hand show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workup.report import LensResult, Report
from workup.reports.charts.figure import Figure
from workup.reports.layout import Section, Table
from workup.reports.power.asked import COUNTED, CRITERIA, METHODS, expected, parameters, plain
from workup.reports.power.curves import pilot_figures, plan_figures, sound
from workup.reports.power.pilot import pilot
from workup.reports.wording import count, drawn, number, off_primary, percent, primary_threshold

Row = Mapping[str, Any]
Rows = Sequence[Row]

TOTAL = "total"


@drawn
def sections(report: Report) -> list[Section]:
    """A plan, or what the power lens found in the data at hand; nothing where the report holds neither."""
    result = _primary_first(report)
    if result is None:
        return []
    found = list(pilot(result) if result.settings.get("kind") == "pilot" else _plan(result))
    return [section for section in found if section.tables]


@drawn
def figures(report: Report) -> dict[str, list[Figure]]:
    """Power curves, beside the section that says how many patients are needed."""
    result = _primary_first(report)
    if result is None:
        return {}
    drawn = pilot_figures(result) if result.settings.get("kind") == "pilot" else plan_figures(result)
    return {"power-needed": drawn} if drawn else {}


def _primary_first(report: Report) -> LensResult | None:
    """What the power lens found, with curves at the primary threshold before those at the others: a few are drawn."""
    result = report.results.get("power")
    if result is None or "curve" not in result.tables:
        return result
    primary = primary_threshold(report)
    curve = sorted(result.tables["curve"], key=lambda row: off_primary(row.get("slice") or {}, primary))
    return replace(result, tables={**result.tables, "curve": curve})


def _plan(result: LensResult) -> Iterator[Section]:
    settings, tables = result.settings, result.tables
    yield Section("Parameters", tables=(parameters(settings),), key="power-parameters")
    said = ("These are assumptions of the plan, not findings. If they turn out otherwise, so does what is needed.",)
    yield Section("What is expected", said, tuple(expected(settings)), key="power-expected")
    yield _requirement(tables["requirement"], settings)
    yield from _criteria(tables, settings)
    yield from _at_hand(tables, settings)
    yield from _other_ways(tables)
    yield from _comparisons(tables)
    yield Section("Behind the curves", tables=tuple(chart.table for chart in plan_figures(result)), key="power-curve")


def _requirement(rows: Rows, settings: Row) -> Section:
    shown = [row for row in rows if len(rows) > 2 or row["group"] != TOTAL]
    columns: list[tuple[str, Callable[[Row], str]]] = [("group", lambda row: str(row["group"]))]
    if settings["of"] in ("positives", "negatives"):
        columns.append((f"{COUNTED[settings['of']]} needed", lambda row: number(row["needed"])))
    columns += [
        (title, _reader(field))
        for title, field in (
            ("patients", "patients"),
            ("enrolled as they come", "enrolled"),
            ("expected with the outcome", "positives"),
            ("expected without", "negatives"),
            ("independent golds", "needed"),
            ("golds", "golds"),
            ("documents", "documents"),
            ("misses allowed", "allowed_misses"),
            ("cases", "cases"),
        )
        if any(row.get(field) is not None for row in shown) and (field != "needed" or settings["of"] == "golds")
    ]
    if any(row.get("reason") for row in shown):
        columns.append(("how", lambda row: f"{row['status']}: {row['reason']}" if row.get("reason") else "ok"))
    body = tuple(tuple(read(row) for _, read in columns) for row in shown)
    table = Table(tuple(title for title, _ in columns), body, "Requirement for each group and in total")
    return Section("How many are needed", tables=(table,), key="power-needed")


def _reader(field: str) -> Callable[[Row], str]:
    return lambda row: "–" if row.get(field) is None else count(round(row[field]))


def _criteria(tables: Mapping[str, Any], settings: Row) -> Iterator[Section]:
    if tables.get("criteria"):
        body = tuple(
            (
                str(row["group"]),
                CRITERIA[row["criterion"]],
                "–" if row["value"] is None else plain(row["value"]),
                plain(row["width"]),
                "–" if row["se"] is None else f"{row['se']:.4f}",
                number(row["patients"]),
                "–" if row["events"] is None else number(round(row["events"])),
                "ok" if row["status"] == "ok" else f"not assessed: {row['reason']}",
            )
            for row in tables["criteria"]
        )
        heads = ("group", "criterion", "value expected", "width", "SE needed", "patients", "events", "how")
        said = "Each criterion by itself; the largest decides. The SE of observed / expected is that of its logarithm."
        made = sound(heads, body, "Patients for each criterion")
        yield Section("Criteria", (said,), (made,), key="power-criteria")
    if tables.get("develop"):
        rows = tuple(
            (str(row["criterion"]), number(row["n"]), f"{row['shrinkage']:.3f}", f"{row['events_per_parameter']:.2f}")
            for row in tables["develop"]
        )
        made = Table(
            ("criterion", "patients", "shrinkage", "events per parameter"), rows, "Patients for each criterion"
        )
        yield Section("Criteria", tables=(made,), key="power-criteria")


def _at_hand(tables: Mapping[str, Any], settings: Row) -> Iterator[Section]:
    reached, smallest = tables.get("reached", ()), tables.get("smallest_difference", ())
    made = []
    if reached:
        made.append(_power_reached(reached))
    if smallest:
        made.append(_smallest_found(smallest))
    counted = "golds" if settings["of"] == "golds" else COUNTED[settings["of"]]
    where = " in the first group" if reached and reached[0].get("n_other") is not None else ""
    said = f"With {number(settings.get('n'))} {counted}{where} at hand."
    yield Section("What the data at hand can show", (said,), tuple(made), key="power-at-hand")


def _power_reached(rows: Rows) -> Table:
    paired = any(row.get("n_other") is not None for row in rows)
    body = tuple(
        (
            plain(row["first"]),
            plain(row["other"]),
            number(row["n_first"]),
            *((number(row.get("n_other")),) if paired else ()),
            percent(row["power"]),
        )
        for row in rows
    )
    sizes = ("first group", "any other group") if paired else ("at hand",)
    return Table(("first", "other", *sizes, "power"), body, "Power reached")


def _smallest_found(rows: Rows) -> Table:
    sided = any("lower" in row for row in rows)
    body = [
        (
            number(row["n_first"]),
            *((number(row["lower"]), number(row["higher"])) if sided else ()),
            number(row["smallest_difference"]),
            str(row["reason"] or "ok"),
        )
        for row in rows
    ]
    sides = ("first group", "if lower", "if higher", "either way") if sided else ("at hand", "smallest effect")
    return sound((*sides, "how"), body, "Smallest difference found with the power wanted")


def _other_ways(tables: Mapping[str, Any]) -> Iterator[Section]:
    rows = tables.get("alternatives", ())
    if len(rows) < 2:
        return
    body = tuple(
        (
            plain(row["first"]),
            plain(row["other"]),
            METHODS.get(row["method"], row["method"]),
            number(row["n_first"]),
            number(row["n_other"]),
            "yes" if row["taken"] else "",
        )
        for row in rows
    )
    said = "The same question in either direction and by other methods, at the same alpha and power"
    simulated = any(row["method"] == "simulated" for row in rows)
    said += "; closed forms beside a simulated answer are at Bonferroni's alpha." if simulated else "."
    heads = ("first", "other", "method", "first group", "any other group", "taken")
    yield Section("Other ways to reckon it", (said,), (Table(heads, body, "Alternatives"),), key="power-alternatives")


def _comparisons(tables: Mapping[str, Any]) -> Iterator[Section]:
    rows = tables.get("comparisons", ())
    if len(rows) > 1:
        body = tuple(
            (str(row["group"]), str(row["against"]), "as Holm goes" if row["alpha"] is None else plain(row["alpha"]))
            for row in rows
        )
        table = Table(("group", "against", "alpha"), body, "Planned comparisons")
        yield Section("Comparisons planned", tables=(table,), key="power-comparisons")
