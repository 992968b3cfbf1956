"""What each threshold would mean, from the record: a table and a chart for everyone; and small charts of thresholds and
of calibration by group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any

from workup.errors import visible
from workup.report import Report
from workup.reports.charts.figure import FIRST, INK, MUTED, SECOND, Figure, Spec, base
from workup.reports.layout import Section, Table
from workup.reports.risk.panels import thresholds
from workup.reports.wording import count, drawn, number, plural

Row = Mapping[str, Any]
TITLE = "What each threshold would mean"
# In tables by group, beside the thresholds that the study names; the record holds the whole grid.
_SOME = (0.05, 0.1, 0.2, 0.3, 0.5)
_FIGURES = ("sensitivity", "specificity", "ppv", "npv", "alerts_per_100", "needed_to_evaluate")
_LINES = (
    ("sensitivity", "events found (sensitivity)", FIRST, [1, 0]),
    ("ppv", "alerts that are right (PPV)", SECOND, [7, 4]),
    ("alerts_per_100", "alerts per prediction", MUTED, [2, 3]),
)
_LABEL = 24  # letters of a group's name that fit above a small chart


@drawn
def sections(report: Report) -> Iterator[Section]:
    """The sweep over all patients, then one section of curves for each grouping."""
    held = _held(report, "threshold_sweep")
    rows = [row for row in held.get("rows", ()) if not row["slice"]]
    if not rows:
        return
    first = rows[0]
    said = (
        f"If everyone with a risk at or above the threshold were flagged: {plural(first['n_patients'], 'patient')}, "
        f"{plural(first['n_rows'], 'prediction')}, {plural(first['n_events'], 'event')}. {_alerts(first)}",
        "Number needed to evaluate is 1/PPV: alerts looked at for one event. 95 % intervals, each threshold by itself; "
        "the threshold that looks best on these data will look worse on others.",
    )
    yield Section(TITLE, said, (Table(_heads(), tuple(map(_cells, rows)), TITLE),), key="sweep")
    named = thresholds(report.results["internal"]) if "internal" in report.results else []
    curves = _held(report, "calibration_by_group").get("curves", ())
    for column, own in _by_column(held["rows"]).items():
        thinned = len({row["threshold"] for row in own}) < len(rows)
        yield _by_group(column, own, _by_column(curves).get(column, []), named, thinned=thinned)
    for one in held["left_out"]:
        words = f"Thresholds and calibration curves are not shown group by group: {one['reason']}."
        yield Section(f"Curves by {one['column']}", (words,), key=f"curves-by:{one['column']}")


@drawn
def figures(report: Report) -> dict[str, list[Figure]]:
    """A chart for everyone and small multiples for each grouping, by the key of their section."""
    rows = _held(report, "threshold_sweep").get("rows", ())
    overall = [row for row in rows if not row["slice"]]
    if not overall:
        return {}
    found = {"sweep": [_overall(overall)]}
    curves = _by_column(_held(report, "calibration_by_group").get("curves", ()))
    for column, own in _by_column(rows).items():
        drawn = [_calibration(column, curves[column])] if any(one["spline"] for one in curves.get(column, ())) else []
        found[f"curves-by:{column}"] = [*drawn, _multiples(column, own)]
    return found


def _by_column(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Rows of groups by the column that makes the groups."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        for column in row["slice"]:
            found.setdefault(column, []).append(row)
    return found


def _held(report: Report, name: str) -> Row:
    """A table of the first result that holds it."""
    return next((result.tables[name] for result in report.results.values() if result.tables.get(name)), {})


def _alerts(row: Row) -> str:
    if row["n_patients"] == row["n_rows"]:
        return "Alerts per 100 are per 100 patients."
    return "Alerts per 100 are per 100 predictions, because patients have several."


def _heads() -> tuple[str, ...]:
    return ("threshold", "flagged", "sensitivity", "specificity", "PPV", "NPV", "alerts per 100", "needed to evaluate")


def _cells(row: Row) -> tuple[str, ...]:
    return (f"{row['threshold']:g}", count(row["ppv"]["n"]), *(_figure(row[name]) for name in _FIGURES))


def _figure(seen: Row) -> str:
    """Value and ends; a dash where there is no value, and the reason where there are no ends."""
    if seen["value"] is None:
        return f"– ({_why(seen)})"
    if seen["low"] is None and seen["high"] is None:
        return f"{number(seen['value'])} ({_why(seen)})"
    high = "no upper end" if seen["high"] is None else number(seen["high"])
    return f"{number(seen['value'])} ({number(seen['low'])} to {high})"


def _why(seen: Row) -> str:
    return str(seen.get("reason", "no interval")).partition(": ")[2] or "no interval"


def _by_group(
    column: str, rows: Sequence[Row], curves: Sequence[Row], named: Sequence[float], *, thinned: bool
) -> Section:
    shown = {*_SOME, *named}
    body = tuple(
        (str(row["slice"][column]), number(row["n_patients"]), number(row["n_events"]), *_cells(row))
        for row in sorted(rows, key=lambda row: row["threshold"])
        if row["threshold"] in shown
    )
    said = [
        "Groups, the largest first. One threshold for all finds and flags groups differently where their risks differ. "
        "Other thresholds, and all points of the calibration curves, are in report.json."
    ]
    if thinned:
        said.append("Thresholds that only few patients of a group set apart from another are left out (smallest_cell).")
    tables = [Table((column, "patients", "events", *_heads()), body, f"Thresholds by {column}", titled=True)]
    if curves:
        tables.insert(0, _calibration_table(column, curves))
    return Section(f"Curves by {column}", tuple(said), tuple(tables), key=f"curves-by:{column}")


def _calibration_table(column: str, curves: Sequence[Row]) -> Table:
    """The curve of each group at a few of its risks, or why it has none."""
    body = []
    for one in curves:
        who = (str(one["slice"][column]), number(one["n_patients"]), number(one["n_events"]))
        if not one["spline"]:
            body.append((*who, "–", "–", "–", str(one["reason"])))
        step = max(1, len(one["spline"]) // 4)
        for point in one["spline"][step // 2 :: step]:
            ends = f"{number(point['low'])} to {number(point['high'])}"
            body.append((*who, number(point["risk"]), number(point["observed"]), ends, ""))
    heads = (column, "patients", "events", "predicted risk", "observed", "95% band", "reason")
    return Table(heads, tuple(body), f"Calibration curves by {column}", titled=True)


# ---- charts ----------------------------------------------------------------------------------------------------------


def _points(rows: Sequence[Row], lines: Sequence[tuple[str, str, str, list[int]]]) -> list[dict[str, Any]]:
    """Rows of a chart; alerts per 100 as a share, so that all lines share one axis."""
    found = []
    for line, (name, words, _, _) in enumerate(lines):
        for row in rows:
            unit = 100 if name == "alerts_per_100" else 1
            ends = {key: None if row[name][key] is None else row[name][key] / unit for key in ("value", "low", "high")}
            found.append({"threshold": row["threshold"], "what": words, "line": line, **ends})
    return found


def _layers(lines: Sequence[tuple[str, str, str, list[int]]], *, width: float) -> list[Spec]:
    names = [words for _, words, _, _ in lines]
    colour = {"field": "what", "scale": {"domain": names, "range": [one[2] for one in lines]}}
    dash = {"field": "what", "scale": {"domain": names, "range": [one[3] for one in lines]}}
    x = {
        "field": "threshold",
        "type": "quantitative",
        "title": "threshold risk",
        "scale": {"domain": [0, 1]},
        "axis": {"tickCount": 5},
    }
    y = {"field": "value", "type": "quantitative", "title": "share", "scale": {"domain": [0, 1]}}
    sides = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    # Bands have their colours from their marks, so that the legend shows lines.
    bands: list[Spec] = [
        {
            "mark": {"type": "area", "opacity": 0.16, "color": colour_of},
            "transform": [{"filter": f"datum.line === {line}"}],
            "encoding": sides,
        }
        for line, (_, _, colour_of, _) in enumerate(lines)
    ]
    encoding = {"x": x, "y": y, "color": {**colour, "legend": {"symbolType": "stroke"}}, "strokeDash": dash}
    drawn = {"mark": {"type": "line", "strokeWidth": width}, "transform": [{"filter": "isValid(datum.line)"}]}
    return [*bands, {**drawn, "encoding": encoding}]


def _overall(rows: Sequence[Row]) -> Figure:
    spec = {**base(), "data": {"values": _points(rows, _LINES)}, "layer": _layers(_LINES, width=2.5)}
    says = (
        "A lower threshold finds more events, flags more patients and is right less often. Bands: 95 % intervals of "
        "each point by itself.",
    )
    table = Table(_heads(), tuple(map(_cells, rows)), TITLE)
    return Figure("sweep", "Events found, alerts that are right, and alerts", spec, says, table)


def _multiples(column: str, rows: Sequence[Row]) -> Figure:
    lines = _LINES[:2]
    levels = list(dict.fromkeys(str(row["slice"][column]) for row in rows))
    data = []
    for place, level in enumerate(levels):
        own = [row for row in rows if str(row["slice"][column]) == level]
        data += [{"place": place, **point} for point in _points(own, lines)]
        data.append({"place": place, "label": group_label(level, own[0]["n_patients"])})
    spec = small_multiples(data, _layers(lines, width=2))
    says = (
        "How many events would be found and how many alerts would be right, group by group; in brackets the patients. "
        "Bands: 95 % intervals.",
    )
    body = tuple((str(row["slice"][column]), *_cells(row)) for row in rows)
    table = Table((column, *_heads()), body, f"Every threshold by {column}")
    return Figure(f"sweep-{column}", f"Thresholds by {column}", spec, says, table, wide=True)


def _calibration(column: str, curves: Sequence[Row]) -> Figure:
    data: list[dict[str, Any]] = []
    for place, one in enumerate(curves):
        data += [{"place": place, **point} for point in one["spline"]]
        reason = "" if one["spline"] else "no curve: see the table"
        data.append({"place": place, "label": group_label(str(one["slice"][column]), one["n_patients"]), "why": reason})
    points = [row[key] for row in data for key in ("risk", "observed") if row.get(key) is not None]
    points += [row["high"] for row in data if row.get("high") is not None and row["high"] < 1]
    end = min(1.0, ceil(20 * max([0.05, *points])) / 20)
    x = {"field": "risk", "type": "quantitative", "title": "predicted risk", "scale": {"domain": [0, end]}}
    y = {"field": "observed", "type": "quantitative", "title": "observed share", "scale": {"domain": [0, end]}}
    ticks = {"axis": {"tickCount": 4}}
    band = {"type": "area", "clip": True, "color": FIRST, "opacity": 0.18}
    dashed = {"type": "line", "color": MUTED, "strokeDash": [5, 4], "strokeWidth": 1.2, "clip": True}
    line = {"type": "line", "color": FIRST, "strokeWidth": 2, "clip": True}
    words = {"type": "text", "color": MUTED, "fontSize": 12}
    layers: list[Spec] = [
        {"mark": band, "encoding": {"x": {**x, **ticks}, "y": {**y, "field": "low"}, "y2": {"field": "high"}}},
        {"mark": dashed, "encoding": {"x": x, "y": {**y, "field": "risk"}}},
        {"mark": line, "encoding": {"x": x, "y": y}},
        {
            "mark": words,
            "transform": [{"filter": "isValid(datum.why)"}],
            "encoding": {"text": {"field": "why"}, "x": {"value": 100}, "y": {"value": 75}},
        },
    ]
    says = (
        "On the dashed line risks mean what they say. Each group has its own curve, made as that of all patients "
        "(same splines, same knots); band: 95 %; in brackets the patients.",
    )
    table = _calibration_table(column, curves)
    return Figure(
        f"calibration-{column}", f"Calibration by {column}", small_multiples(data, layers), says, table, wide=True
    )


def group_label(level: str, patients: int) -> str:
    """The name of a group above its small chart, with its patients."""
    shown = visible(level)
    short = shown if len(shown) <= _LABEL else shown[: _LABEL - 1] + "…"
    return f"{short} ({number(patients)})"


def small_multiples(rows: list[dict[str, Any]], layers: Sequence[Spec]) -> Spec:
    """One small chart for each `place`, all on the same axes; a row with a `label` names its chart."""
    words = {"type": "text", "align": "left", "baseline": "bottom", "color": INK, "fontSize": 12, "dy": -4}
    label = {
        "mark": words,
        "transform": [{"filter": "isValid(datum.label)"}],
        "encoding": {"text": {"field": "label"}, "x": {"value": 0}, "y": {"value": 0}},
    }
    facet = {"field": "place", "type": "ordinal", "header": {"labelExpr": "''", "title": None}}
    shared = base()
    return {
        **{key: value for key, value in shared.items() if key not in ("width", "height")},
        "data": {"values": rows},
        "facet": facet,
        "columns": 2,
        "spacing": {"row": 34, "column": 24},
        "spec": {"width": 200, "height": 150, "layer": [*layers, label]},
    }
