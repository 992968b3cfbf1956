"""Charts of a detector's report by the section they stand beside, and the bars of its categories of errors.

Every string from the record is data, never a field name or an expression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workup.errors import visible
from workup.report import LensResult, Report
from workup.reports.charts.figure import FIRST, INK, SECOND, Figure, Spec, base
from workup.reports.charts.forest import text_layer
from workup.reports.layout import Table
from workup.reports.spans.curve import curves
from workup.reports.spans.errors import tally
from workup.reports.spans.forests import ROW, forests, short, upright
from workup.reports.spans.heat import heat_map
from workup.reports.spans.setting import Primary
from workup.reports.spans.words import ALARM_CATEGORIES, MISS_CATEGORIES, category, percent
from workup.reports.wording import drawn, number

_CATEGORY = 36  # letters of a category beside its bar


@drawn
def figures(report: Report) -> dict[str, list[Figure]]:
    """Charts by the key of the section."""
    internal = report.results.get("internal")
    if internal is None:
        return {}
    made = {
        "types": list(forests(internal, Primary.of(report))),
        "curve": list(curves(internal)),
        "confusion": list(heat_map(internal)),
        "misses": list(_bars(internal, "misses", "Misses by category", MISS_CATEGORIES)),
        "alarms": list(_bars(internal, "false_alarms", "False alarms by category", ALARM_CATEGORIES)),
    }
    return {key: charts for key, charts in made.items() if charts}


def _bars(internal: LensResult, key: str, title: str, titles: dict[str, str]) -> Iterator[Figure]:
    rows = (internal.tables.get("errors") or {}).get(key) or ()
    total = sum(int(row["count"]) for row in rows)
    if not total:
        return
    held = [(category(str(name), titles), n) for name, n in tally(rows, "category")]
    data = [
        {"row": i, "top": i - 0.3, "bottom": i + 0.3, "none": 0, "count": n, "label": short(name, _CATEGORY)}
        | {"figure": f"{number(n)} ({percent(n / total)})"}
        for i, (name, n) in enumerate(held)
    ]
    body = tuple((name, number(n), percent(n / total)) for name, n in held)
    first, most = held[0]
    says = (f"Most often: {visible(first)}, {number(most)} of {number(total)} ({percent(most / total)}).",)
    layers = _bar_layers(data, SECOND if key == "misses" else FIRST)
    spec = {**base(width=260, height=ROW * len(data)), "layer": layers}
    yield Figure(f"bars-{key}", title, spec, says, Table(("category", "count", "share"), body, title))


def _bar_layers(data: Sequence[Mapping[str, Any]], colour: str) -> list[Spec]:
    y = upright(len(data))
    scale = {"domain": [0, max(row["count"] for row in data)], "nice": False}
    x: Spec = {"field": "count", "type": "quantitative", "title": None, "axis": None, "scale": scale}
    sides = {"x": {**x, "field": "none"}, "x2": {"field": "count"}}
    sides |= {"y": {**y, "field": "top"}, "y2": {"field": "bottom"}}
    words: Spec = {"type": "text", "baseline": "middle", "color": INK, "fontSize": 12}
    beside = {"x": x, "y": y, "text": {"field": "figure"}}
    return [
        {"data": {"values": data}, "mark": {"type": "rect", "color": colour}, "encoding": sides},
        text_layer([dict(row) for row in data], {**words, "align": "right"}, -8, y, "label"),
        {"data": {"values": data}, "mark": {**words, "align": "left", "dx": 6}, "encoding": beside},
    ]
