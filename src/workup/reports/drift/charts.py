"""Control charts of the monitoring report as Vega-Lite specs: values with their intervals, and the statistic below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from workup.errors import visible
from workup.report import LensResult
from workup.reports.charts.figure import FIRST, INK, MUTED, SECOND, WIDTH, Figure, Spec, base
from workup.reports.drift.series import CHART_WORDS, Row, Series, cause_of, ends_of, every_series
from workup.reports.layout import Table
from workup.reports.wording import at_threshold, group_words, measured, number, plural

MOST_CHARTS = 5
VALUES, _BELOW = 150, 110  # heights of the panels
_Z = 1.959964
_LETTER = 6.6  # width of a letter on an axis


def control_charts(result: LensResult) -> list[Figure]:
    """The series that matter most, those with alerts first; each on the chart that says most of it."""
    found = _chosen(result)
    shown = [_control(result, one) for one in found[:MOST_CHARTS]]
    if len(found) > len(shown):
        first = shown[0]
        said = f"Drawn are {len(shown)} of {len(found)} series, those with alerts first; the table below holds all."
        shown[0] = Figure(first.key, first.title, first.spec, (*first.says, said), first.table)
    return shown


def _chosen(result: LensResult) -> list[Series]:
    active = {cause_of(a["type"], a["metric"], a["slice"]): a for a in result.alerts if a["state"] != "resolved"}
    by_cause: dict[str, Series] = {}
    for one in every_series(result):
        known = one.has_baseline and any(row["status"] == "ok" for row in one.rows)
        if known and (one.cause not in by_cause or (one.signals_now and not by_cause[one.cause].signals_now)):
            by_cause[one.cause] = one

    places = {name: place for place, name in enumerate(measured())}

    def order(one: Series) -> tuple[Any, ...]:
        alert = active.get(one.cause)
        urgency = 2 if alert is None else 1 if alert["severity"] != "high" else 0
        place = places.get(one.metric, len(places))
        grouped = group_words(one.slice) != "all"
        return urgency, not one.signals_now, not one.signal_windows, grouped, one.type == "fairness", place

    return sorted(by_cause.values(), key=order)


def _control(result: LensResult, one: Series) -> Figure:
    heads = ("window", "value", "SE", "z", "statistic", "limits", "signal", "status")
    body = tuple(
        (
            str(row["window"]),
            number(row["value"]),
            number(row["se"]),
            number(row["z"]),
            number(row["statistic"]),
            ends_of(row),
            "yes" if row["signal"] else "no",
            "ok" if row["status"] == "ok" else f"{row['status']}: {row['reason']}",
        )
        for row in one.rows
    )
    chart = CHART_WORDS.get(one.chart, one.chart)
    title = f"{one.words[:1].upper()}{one.words[1:]}: {chart}"
    rows = [state(i, row) for i, row in enumerate(one.rows)]
    panels: list[Spec] = [{"width": WIDTH, "height": VALUES, "layer": _value_layers(one, rows)}]
    if not one.of_values:
        panels.append({"width": WIDTH, "height": _BELOW, "layer": _statistic_layers(one, rows)})
    panels[-1]["layer"] += window_names(one.rows, panels[-1]["height"])
    spec = {**base(), "vconcat": panels, "spacing": 12}
    spec = {name: part for name, part in spec.items() if name not in ("width", "height")}
    return Figure(f"drift-{one.chart}-{one.metric}", title, spec, tuple(_words(one)), Table(heads, body, title))


def state(place: int, row: Row) -> dict[str, Any]:
    """One window of a series as data of a chart."""
    known = row["status"] == "ok" and row["value"] is not None
    half = _Z * row["se"] if known and row["se"] is not None else None
    return {
        "at": place,
        "value": row["value"] if known else None,
        "low": None if half is None else row["value"] - half,
        "high": None if half is None else row["value"] + half,
        "statistic": row["statistic"],
        "lower": row["lower"],
        "upper": row["upper"],
        "signal": bool(row["signal"]),
        "known": known,
    }


def across(count: int) -> Spec:
    """Windows from left to right; their names are drawn apart."""
    scale = {"domain": [-0.6, count - 0.4], "nice": False, "zero": False}
    return {"field": "at", "type": "quantitative", "axis": None, "scale": scale}


def upward(field: str, title: str) -> Spec:
    """A figure upward, on a scale of its own."""
    return {"field": field, "type": "quantitative", "title": title, "scale": {"zero": False}, "axis": {"tickCount": 4}}


def _value_layers(one: Series, rows: list[dict[str, Any]]) -> list[Spec]:
    x, y = across(len(rows)), upward("value", at_threshold(one.metric, one.slice))
    known = [row for row in rows if row["known"]]
    level = {"data": {"values": [{"value": one.last["baseline"]}]}, "encoding": {"y": y}}
    layers: list[Spec] = [
        {**level, "mark": {"type": "rule", "color": MUTED, "strokeDash": [5, 4], "strokeWidth": 1.3}},
        *(_limits(rows, x, y) if one.of_values else []),
        {
            "data": {"values": [row for row in known if row["low"] is not None]},
            "mark": {"type": "rule", "color": FIRST, "strokeWidth": 1.4},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        *_dots(known, x, y),
    ]
    lost = [row for row in rows if not row["known"]]
    if lost:
        cross = {
            "type": "point",
            "shape": "cross",
            "angle": 45,
            "filled": True,
            "color": MUTED,
            "size": 50,
            "opacity": 1,
        }
        where = {"x": x, "y": {"value": VALUES - 6}}
        layers.append({"data": {"values": lost}, "mark": cross, "encoding": where})
    return layers


def _statistic_layers(one: Series, rows: list[dict[str, Any]]) -> list[Spec]:
    name = CHART_WORDS.get(one.chart, one.chart)
    x, y = across(len(rows)), upward("statistic", f"{name} of z" if one.chart in ("ewma", "cusum") else "CUSUM")
    line = {"type": "line", "color": FIRST, "strokeWidth": 1.6}
    held = [row for row in rows if row["statistic"] is not None]
    zero = {"data": {"values": [{"statistic": 0}]}, "mark": {"type": "rule", "color": MUTED}, "encoding": {"y": y}}
    return [
        zero,
        *_limits(rows, x, y),
        {"data": {"values": held}, "mark": line, "encoding": {"x": x, "y": y}},
        *_dots([row for row in held if row["known"]], x, y),
    ]


def _limits(rows: Sequence[Row], x: Spec, y: Spec) -> list[Spec]:
    """Dashed lines; drawn half a window beyond the ends, or a single window would have none."""
    dashed = {"type": "line", "color": SECOND, "strokeDash": [4, 3], "strokeWidth": 1.4, "interpolate": "step-after"}
    layers = []
    for end in ("lower", "upper"):
        points = [{"at": row["at"] - 0.5, y["field"]: row[end]} for row in rows if row[end] is not None]
        if points:
            points.append({**points[-1], "at": points[-1]["at"] + 1})
            layers.append({"data": {"values": points}, "mark": dashed, "encoding": {"x": x, "y": y}})
    return layers


def _dots(rows: Sequence[Row], x: Spec, y: Spec) -> list[Spec]:
    """A signal is a diamond as well as another colour."""
    size = 46 if len(rows) <= 40 else 16
    quiet, loud = ([row for row in rows if row["signal"] is side] for side in (False, True))
    dot = {"type": "point", "filled": True, "size": size, "color": FIRST, "opacity": 1}
    diamond = {**dot, "shape": "diamond", "size": 3 * size, "color": SECOND}
    encoding = {"x": x, "y": y}
    return [
        {"data": {"values": quiet}, "mark": dot, "encoding": encoding},
        {"data": {"values": loud}, "mark": diamond, "encoding": encoding},
    ]


def window_names(rows: Sequence[Row], height: int, *, width: int = WIDTH) -> list[Spec]:
    """Names of as many windows as fit below the plot, as words: a name from a record is never an expression."""
    names = [_short(str(row["window"])) for row in rows]
    room = max(1, int(width / (_LETTER * max(map(len, names)) + 12)))
    step = -(-len(names) // room)
    data = [{"at": i, "name": name} for i, name in enumerate(names) if i % step == 0]
    mark = {"type": "text", "color": INK, "fontSize": 12, "baseline": "top"}
    where = {"x": across(len(rows)), "y": {"value": height + 8}, "text": {"field": "name"}}
    return [{"data": {"values": data}, "mark": mark, "encoding": where}]


def _short(name: str) -> str:
    """A window's name for an axis.

    >>> [_short(name) for name in ("2015-03", "week of 2015-03-02", "4 (from 2015-03-02)", "2015-03 to 2015-05")]
    ['2015-03', '2015-03-02', '4', '2015-03…']
    """
    plain = visible(name).removeprefix("week of ").partition(" (from ")[0]
    first, joined, _ = plain.partition(" to ")
    return f"{first[:11]}…" if joined or len(first) > 11 else first


def _words(one: Series) -> Iterator[str]:
    what = (
        "Dots: the value in each window with its 95 % interval; " if one.last["se"] is not None else "Dots: the value; "
    )
    yield f"{what}dashed grey: the baseline, {number(one.last['baseline'])}."
    row = one.last
    if one.of_values:
        yield f"Dashed orange: the limits, {ends_of(row)} in {row['window']}."
    else:
        yield (
            f"Below: the chart's statistic, {number(row['statistic'])} in {row['window']}, and its limits "
            f"{ends_of(row)} (dashed orange)."
        )
    windows = one.signal_windows
    yield f"Diamonds: signals in {', '.join(windows)}." if windows else "No window signals."
    lost = sum(row["status"] != "ok" for row in one.rows)
    if lost:
        yield f"Crosses: {plural(lost, 'window')} without a value; the table says why."
