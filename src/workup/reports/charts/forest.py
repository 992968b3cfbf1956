"""Forests: one metric over the groups of one column, as a Vega-Lite spec; a group without a figure keeps its row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workup.errors import visible
from workup.report import Estimate, LensResult, Report
from workup.reports.charts.figure import FIRST, INK, MUTED, Figure, Spec, base, find
from workup.reports.layout import Table
from workup.reports.wording import (
    at_threshold,
    drawn,
    interval,
    metrics_in,
    number,
    off_primary,
    patients,
    plural,
    primary_threshold,
)

MOST_GROUPS = 25  # rows a reader can take in; the table below holds all
_LABEL = 20  # letters of a group's name that fit beside the plot
_ROW = 26  # height of a row

# Scales on which a reader expects the metric, and the furthest they may stretch for one wild interval.
_LIMITS: Mapping[str, tuple[float, float]] = {"calibration_slope": (-0.5, 2.5), "oe_ratio": (0.25, 4.0)}


@drawn
def forests(report: Report) -> dict[str, list[Figure]]:
    """The forests of each grouping, by its name."""
    groups = report.results.get("subgroups")
    if groups is None:
        return {}
    internal = report.results.get("internal", LensResult("internal"))
    primary = primary_threshold(report)
    return {name: list(_of_column(groups, internal, name, primary)) for name in groups.settings.get("by", ())}


def _of_column(groups: LensResult, internal: LensResult, name: str, primary: float | None) -> Iterator[Figure]:
    rows = [e for e in groups.estimates if e.level == 0.95 and name in e.slice]
    held = list(dict.fromkeys(e.metric for e in rows))
    for metric in [m for m in metrics_in("forests") if m in held] or held[:3]:
        for keys in _places([e for e in rows if e.metric == metric], name, primary):
            found = [e for e in rows if e.metric == metric and {k: v for k, v in e.slice.items() if k != name} == keys]
            yield _forest(name, metric, keys, found, find(internal, metric, keys))


def _places(rows: Sequence[Estimate], name: str, primary: float | None) -> list[dict[str, Any]]:
    """Where a metric is taken: everywhere alike, or at the primary threshold, as one picture each is enough."""
    places = [{k: v for k, v in e.slice.items() if k != name} for e in rows]
    unique = [place for i, place in enumerate(places) if place not in places[:i]]
    chosen = [place for place in unique if not off_primary(place, primary)]
    return (chosen or unique)[:1]


def _forest(
    name: str, metric: str, keys: Mapping[str, Any], rows: Sequence[Estimate], overall: Estimate | None
) -> Figure:
    title = at_threshold(metric, keys)
    shown = rows[:MOST_GROUPS]
    table = Table(
        (name, "patients", "events", "value", "95% interval", "status"),
        tuple(
            (
                str(e.slice[name]),
                patients(e),
                "–" if e.n_events is None else number(e.n_events),
                number(e.value),
                interval(e),
                "ok" if e.status == "ok" else f"{e.status}: {e.reason}",
            )
            for e in rows
        ),
        f"{title} by {name}",
    )
    spec = {**base(width=170, height=_ROW * len(shown)), "layer": _layers(metric, name, shown, overall)}
    says = tuple(_words(metric, rows, shown, overall))
    return Figure(f"forest-{metric}", title, spec, says, table)


def _words(metric: str, rows: Sequence[Estimate], shown: Sequence[Estimate], overall: Estimate | None) -> Iterator[str]:
    if overall is not None and overall.value is not None:
        ends = f"{overall.level:.0%} interval {interval(overall)}"
        yield f"Dashed: all patients together, {number(overall.value)} ({ends})."
    least, most = _LIMITS.get(metric, (float("-inf"), float("inf")))
    if any(e.low is not None and e.high is not None and (e.low < least or e.high > most) for e in shown):
        yield "A line that meets the edge goes on beyond it."
    few = sum(e.status != "ok" for e in rows)
    if few:
        yield f"{plural(few, 'group')} without an interval: the table says why."
    if len(shown) < len(rows):
        yield f"The {len(shown)} largest of {len(rows)} groups are drawn; the table holds all."


def _layers(metric: str, name: str, rows: Sequence[Estimate], overall: Estimate | None) -> list[Spec]:
    data = [_row(i, name, e) for i, e in enumerate(rows)]
    sound = [row for row in data if row["low"] is not None]
    reference = None if overall is None else overall.value
    low, high = domain(metric, sound, reference)
    scale: Spec = {"domain": [low, high], "type": "log" if metric == "oe_ratio" else "linear", "nice": False}
    axis: Spec = {"tickCount": 3, "orient": "bottom"}
    if metric == "oe_ratio":
        marks = (0.25, 0.5, 1, 2, 4) if high / low > 2.5 else (0.5, 0.7, 1, 1.4, 2)
        # Vega leaves out most labels of a short log axis unless it is told of many ticks.
        axis |= {
            "tickCount": 100,
            "values": [tick for tick in marks if low <= tick <= high],
            "format": "~g",
            "labelOverlap": False,
        }
    x = {"field": "value", "type": "quantitative", "title": None, "scale": scale, "axis": axis}
    y = {
        "field": "row",
        "type": "quantitative",
        "axis": None,
        "scale": {"domain": [-0.5, len(rows) - 0.5], "reverse": True, "nice": False, "zero": False},
    }
    text: Spec = {"type": "text", "baseline": "middle", "color": INK, "fontSize": 12}
    layers: list[Spec] = []
    if metric in _LIMITS:
        ideal = {"type": "rule", "color": MUTED}
        layers.append({"data": {"values": [{"value": 1}]}, "mark": ideal, "encoding": {"x": x}})
    if reference is not None:
        dashed = {"type": "rule", "color": MUTED, "strokeDash": [4, 3], "strokeWidth": 1.4}
        layers.append({"data": {"values": [{"value": reference}]}, "mark": dashed, "encoding": {"x": x}})
    bar = {"type": "rule", "clip": True, "color": FIRST, "strokeWidth": 2.5}
    dot = {"type": "point", "clip": True, "filled": True, "size": 75, "color": FIRST, "opacity": 1}
    ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}
    layers += [
        {"data": {"values": sound}, "mark": bar, "encoding": ends},
        {"data": {"values": sound}, "mark": dot, "encoding": {"x": x, "y": y}},
        text_layer(data, {**text, "align": "right"}, -10, y, "label"),
        text_layer(data, {**text, "align": "left"}, 180, y, "figure"),
    ]
    return layers


def text_layer(rows: list[dict[str, Any]], mark: Spec, x: float, y: Spec, field: str) -> Spec:
    return {"data": {"values": rows}, "mark": mark, "encoding": {"x": {"value": x}, "y": y, "text": {"field": field}}}


def _row(place: int, name: str, e: Estimate) -> dict[str, Any]:
    level = visible(str(e.slice[name]))
    short = level if len(level) <= _LABEL else level[: _LABEL - 1] + "…"
    sound = e.value is not None and e.low is not None and e.high is not None
    figure = f"{brief(e.value)} ({brief(e.low)} to {brief(e.high)})" if sound else e.status
    return {
        "row": place,
        "label": f"{short} ({patients(e)})",
        "value": e.value,
        "low": e.low if sound else None,
        "high": e.high if sound else None,
        "figure": figure,
    }


def brief(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def domain(metric: str, rows: Sequence[Mapping[str, Any]], reference: float | None) -> tuple[float, float]:
    """Wide enough for every interval, but not so wide that one small group flattens the others."""
    seen = [row[key] for row in rows for key in ("low", "value", "high")]
    seen += [] if reference is None else [reference]
    if metric in _LIMITS:
        least, most = _LIMITS[metric]
        low = max(least, min([0.8, *seen]))
        return (max(least, low * 0.95) if low > 0 else low), min(most, max([1.25, *seen]) * 1.05)
    if not seen:
        return 0.0, 1.0
    room = 0.04 * (max(seen) - min(seen)) or 0.05
    low, high = min(seen) - room, max(seen) + room
    share = min(seen) >= 0 and max(seen) <= 1  # a little room, so that a point at 0 or 1 is seen whole
    return (max(-0.03, low), min(1.03, high)) if share else (low, high)
