"""Gaps of groups through time, and the change of every input in every window, as Vega-Lite specs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from workup.errors import visible
from workup.report import LensResult
from workup.reports.charts.figure import FIRST, INK, MUTED, SECOND, WIDTH, Figure, Spec, base
from workup.reports.drift.charts import VALUES, across, state, upward, window_names
from workup.reports.drift.series import Row, Series, cause_of, watched
from workup.reports.drift.signals import gap_series
from workup.reports.layout import Table
from workup.reports.wording import at_threshold, group_words, number, plural

MOST_GAPS, MOST_INPUTS = 2, 20
_ROW, _LABEL = 22, 24  # height of a row, letters of an input's name that fit
_LARGEST = 4.0  # changes of more than so many times their limit are drawn alike


def gap_charts(result: LensResult) -> list[Figure]:
    """Gaps of the groups through time, one chart per metric, those with alerts first."""
    found = [one for one in gap_series(result) if any(row["status"] == "ok" for row in one.rows)]
    by_metric: dict[str, list[Series]] = {}
    for one in found:
        by_metric.setdefault(at_threshold(one.metric, one.slice), []).append(one)
    ranked = sorted(by_metric.items(), key=lambda item: min(_loudness(result, one) for one in item[1]))
    return [_gaps(result, title, group) for title, group in ranked[:MOST_GAPS]]


def _loudness(result: LensResult, one: Series) -> tuple[Any, ...]:
    active = {cause_of(a["type"], a["metric"], a["slice"]) for a in result.alerts if a["state"] != "resolved"}
    return one.cause not in active, not one.signal_windows, -abs(one.last["value"] or 0.0)


def _gaps(result: LensResult, title: str, group: Sequence[Series]) -> Figure:
    ordered = sorted(group, key=lambda one: _loudness(result, one))
    names = [visible(group_words(one.slice))[:40] for one in ordered]
    count = max(len(one.rows) for one in ordered)
    x, y = across(count), upward("value", f"gap in {title}")
    layers: list[Spec] = [
        {"data": {"values": [{"value": 0}]}, "mark": {"type": "rule", "color": MUTED}, "encoding": {"y": y}}
    ]
    grey = [_gap_rows(one, "", 0.0) for one in ordered[2:]]
    thin = {"type": "line", "color": MUTED, "strokeWidth": 1, "opacity": 0.7}
    layers += [{"data": {"values": rows}, "mark": thin, "encoding": {"x": x, "y": y}} for rows in grey]
    data = [row for i, one in enumerate(ordered[:2]) for row in _gap_rows(one, names[i], 0.16 * i)]
    who = {"field": "who", "type": "nominal", "scale": {"domain": names[:2], "range": [FIRST, SECOND][: len(names)]}}
    who["legend"] = {"symbolSize": 70, "symbolType": "circle"}
    dash = {**who, "scale": {"domain": names[:2], "range": [[1, 0], [5, 3]][: len(names)]}}
    ends = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": who}
    layers += [
        {"data": {"values": data}, "mark": {"type": "rule", "strokeWidth": 1.3}, "encoding": ends},
        {
            "data": {"values": data},
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"x": x, "y": y, "color": who, "strokeDash": dash},
        },
        {
            "data": {"values": data},
            "mark": {"type": "point", "filled": True, "size": 46, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": who},
        },
        *window_names(ordered[0].rows, VALUES),
    ]
    spec = {**base(height=VALUES), "layer": layers}
    body = tuple(
        (group_words(one.slice), str(row["window"]), number(row["value"]), number(row["se"]), str(row["status"]))
        for one in ordered
        for row in one.rows
    )
    table = Table(("group less the rest", "window", "gap", "SE", "status"), body, f"Gap in {title} by window")
    return Figure("drift-gap", f"Gap in {title}", spec, tuple(_gap_words(ordered)), table)


def _gap_rows(one: Series, name: str, offset: float) -> list[dict[str, Any]]:
    rows = [{**state(i, row), "who": name} for i, row in enumerate(one.rows)]
    return [{**row, "at": row["at"] + offset} for row in rows if row["known"]]


def _gap_words(ordered: Sequence[Series]) -> Iterator[str]:
    yield "A group less everyone else; above 0 the group's figure is the higher one. Bars are 95 % intervals."
    for one in ordered[:2]:
        row = one.last
        then = number(row["baseline"])
        yield f"{visible(group_words(one.slice))}: {number(row['value'])} in {row['window']}, {then} in the baseline."
    if len(ordered) > 2:
        yield f"Grey: {plural(len(ordered) - 2, 'more group')}; the table holds all."


def input_dots(result: LensResult) -> list[Figure]:
    """Every input in every window: how large its change is, and whether it is flagged."""
    rows = result.tables.get("inputs", ())
    windows = [str(row["window"]) for row in watched(result)]
    if not rows or not windows:
        return []
    names = list(dict.fromkeys(str(row["input"]) for row in rows))
    flags = {name: sum(row["input"] == name and bool(row["flagged"]) for row in rows) for name in names}
    ordered = sorted(names, key=lambda name: -flags[name])
    shown = ordered[:MOST_INPUTS]
    place = {name: i for i, name in enumerate(windows)}
    data = [
        _dot(row, place[str(row["window"])], shown.index(str(row["input"]))) for row in rows if row["input"] in shown
    ]
    height = _ROW * len(shown)
    spec = {**base(width=WIDTH - 110, height=height), "layer": _dot_layers(data, shown, windows, height)}
    says = [
        "The larger a mark, the larger the change beside its limit. Orange diamonds are flagged: significant among all "
        "inputs of the window, and beyond their limit. A cross could not be compared.",
        f"{sum(map(bool, flags.values()))} of {plural(len(names), 'comparison')} are flagged in some window.",
    ]
    if len(shown) < len(names):
        says.append(f"The {len(shown)} most often flagged of {len(names)} are drawn; the table holds all.")
    body = tuple(
        (
            str(row["input"]),
            str(row["window"]),
            number(row["effect"]),
            number(row["limit"]),
            {True: "yes", False: "no"}.get(row["flagged"], str(row["reason"])),
        )
        for row in rows
    )
    table = Table(("input", "window", "change", "limit", "flagged"), body, "Change of inputs by window")
    return [Figure("drift-inputs", "Inputs by window", spec, tuple(says), table)]


def _dot(row: Row, at: int, place: int) -> dict[str, Any]:
    judged = row["flagged"] is not None
    # A change without measure, from a baseline that never varied, is drawn as the largest.
    size = _LARGEST if row["effect"] is None else min(_LARGEST, row["effect"] / row["limit"]) if judged else 0.0
    return {"at": at, "row": place, "size": size, "judged": judged, "flagged": bool(row["flagged"])}


def _dot_layers(data: list[dict[str, Any]], names: Sequence[str], windows: Sequence[str], height: int) -> list[Spec]:
    x = across(len(windows))
    scale = {"domain": [-0.5, len(names) - 0.5], "reverse": True, "nice": False, "zero": False}
    y: Spec = {"field": "row", "type": "quantitative", "axis": None, "scale": scale}
    area = {"domain": [0, _LARGEST], "range": [6, 170]}
    size = {"field": "size", "type": "quantitative", "legend": None, "scale": area}
    point: Spec = {"type": "point", "filled": True, "opacity": 1}
    parts = (
        ([row for row in data if row["judged"] and not row["flagged"]], {**point, "color": FIRST}, size),
        ([row for row in data if row["flagged"]], {**point, "color": SECOND, "shape": "diamond"}, size),
        (
            [row for row in data if not row["judged"]],
            {**point, "color": MUTED, "shape": "cross", "angle": 45},
            {"value": 45},
        ),
    )
    layers: list[Spec] = [
        {"data": {"values": rows}, "mark": mark, "encoding": {"x": x, "y": y, "size": how}} for rows, mark, how in parts
    ]
    labels = [{"row": i, "label": _cut(name)} for i, name in enumerate(names)]
    words = {"type": "text", "align": "right", "baseline": "middle", "color": INK, "fontSize": 12}
    where = {"x": {"value": -8}, "y": y, "text": {"field": "label"}}
    layers.append({"data": {"values": labels}, "mark": words, "encoding": where})
    return layers + window_names([{"window": name} for name in windows], height, width=WIDTH - 110)


def _cut(name: str) -> str:
    shown = visible(name)
    return shown if len(shown) <= _LABEL else shown[: _LABEL - 1] + "…"
