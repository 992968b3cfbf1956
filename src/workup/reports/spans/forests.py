"""Recall and precision of every type as forests, largest first. Knows estimates by label; no type is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor
from typing import Any

from workup.errors import visible
from workup.report import Estimate, LensResult
from workup.reports.charts.figure import FIRST, INK, MUTED, Figure, Spec, base
from workup.reports.charts.forest import text_layer
from workup.reports.layout import Table
from workup.reports.spans.rules import figures_of, labels_at, taken
from workup.reports.spans.setting import Primary, found
from workup.reports.spans.words import counted, ends, share
from workup.reports.wording import number, plural

ROW = 25  # height of a row
_PER_CHART = 40  # types in one forest; the next ones stand in another
_CHARTS = 4
_NAME = 24  # letters of a name that fit beside a plot
_PLOT = 220  # width of a forest
_Rows = Sequence[tuple[str, Estimate]]


def short(name: str, most: int = _NAME) -> str:
    """A name that fits beside a plot."""
    shown = visible(name)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def upright(rows: int) -> Spec:
    """The axis along which rows stand, the first on top."""
    scale = {"domain": [-0.5, rows - 0.5], "reverse": True, "nice": False, "zero": False}
    return {"field": "row", "type": "quantitative", "axis": None, "scale": scale}


def forests(internal: LensResult, primary: Primary) -> Iterator[Figure]:
    """Recall, and beside it precision; where types are many, in several charts."""
    held = figures_of(internal)
    labels = labels_at(held, primary.rule())
    parts = [labels[i : i + _PER_CHART] for i in range(0, len(labels), _PER_CHART)]
    drawn = "" if len(parts) <= _CHARTS else f" The {_PER_CHART * _CHARTS} largest types are drawn; the table has all."
    for place, part in enumerate(parts[:_CHARTS]):
        for metric, unit in (("recall", "golds"), ("precision", "predictions judged")):
            rows = [(label, taken(held, metric, primary.rule(label=label))) for label in part]
            shown = [(label, e) for label, e in rows if e is not None and e.denominator]
            title = f"{metric.capitalize()} by type" + (f" ({place + 1} of {len(parts)})" if len(parts) > 1 else "")
            if shown:
                said = f"Types with most golds first; in brackets the {unit} of each.{drawn}"
                yield _forest(title, shown, found(internal.estimates, metric, primary.rule()), said)


def _forest(title: str, rows: _Rows, whole: Estimate | None, said: str) -> Figure:
    data = [_row(i, label, e) for i, (label, e) in enumerate(rows)]
    bare = [row for row in data if row["low"] is None]
    says = [said]
    if whole is not None and whole.value is not None:
        says.append(f"Dashed: all types together, {share(whole.value)} (95% interval {ends(whole)}, {counted(whole)}).")
    if bare:
        says.append(f"Open circles: {plural(len(bare), 'type')} with too few patients for an interval.")
    spec = {**base(width=_PLOT, height=ROW * len(data)), "layer": _layers(data, None if whole is None else whole.value)}
    return Figure(title.lower().replace(" ", "-"), title, spec, tuple(says), _table(title, rows))


def _row(place: int, label: str, e: Estimate) -> dict[str, Any]:
    sound = e.value is not None and e.low is not None and e.high is not None
    return {
        "row": place,
        "label": f"{short(label)} ({number(int(e.denominator or 0))})",
        "value": e.value,
        "low": e.low if sound else None,
        "high": e.high if sound else None,
        "figure": f"{share(e.value)} ({ends(e)})" if sound else f"{share(e.value)}, {e.status}",
    }


def _layers(data: Sequence[dict[str, Any]], whole: float | None) -> list[Spec]:
    sound = [row for row in data if row["low"] is not None]
    bare = [row for row in data if row["low"] is None and row["value"] is not None]
    seen = [row["low"] for row in sound] + [row["value"] for row in bare] + ([] if whole is None else [whole])
    low = max(-0.02, floor(10 * min([0.9, *seen])) / 10 - 0.02)  # a little room, so that a point at 0 or 1 is whole
    ticks = [tick / 10 for tick in range(11) if tick / 10 >= low]
    x: Spec = {
        "field": "value",
        "type": "quantitative",
        "title": None,
        "scale": {"domain": [low, 1.02], "nice": False, "zero": False},
        "axis": {"tickCount": 5, "orient": "bottom", "values": ticks},
    }
    y = upright(len(data))
    words: Spec = {"type": "text", "baseline": "middle", "color": INK, "fontSize": 12}
    dot = {"type": "point", "filled": True, "size": 75, "opacity": 1}
    dashed = {"type": "rule", "color": MUTED, "strokeDash": [4, 3], "strokeWidth": 1.4}
    line = {"type": "rule", "color": FIRST, "strokeWidth": 2.5}
    open_dot = {**dot, "filled": False, "stroke": MUTED, "strokeWidth": 1.5}
    across = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}
    together = [] if whole is None else [{"value": whole}]
    return [
        {"data": {"values": together}, "mark": dashed, "encoding": {"x": x}},
        {"data": {"values": sound}, "mark": line, "encoding": across},
        {"data": {"values": sound}, "mark": {**dot, "color": FIRST}, "encoding": {"x": x, "y": y}},
        {"data": {"values": bare}, "mark": open_dot, "encoding": {"x": x, "y": y}},
        text_layer(list(data), {**words, "align": "right"}, -10, y, "label"),
        text_layer(list(data), {**words, "align": "left"}, _PLOT + 10, y, "figure"),
    ]


def _table(title: str, rows: _Rows) -> Table:
    body = tuple((label, counted(e), share(e.value), ends(e), number(e.n_patients), _status(e)) for label, e in rows)
    return Table(("type", "counts", "value", "95% interval", "patients", "status"), body, title)


def _status(e: Estimate) -> str:
    return "ok" if e.status == "ok" else f"{e.status}: {e.reason}"
