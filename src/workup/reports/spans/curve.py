"""Recall and precision over the overlap asked for: two lines with bands, and the points behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import floor
from typing import Any

from workup.report import LensResult
from workup.reports.charts.figure import FIRST, INK, SECOND, Figure, Spec, base
from workup.reports.layout import Table
from workup.reports.spans.words import LEVELS, share

Rows = Sequence[Mapping[str, Any]]
_NAMES = ("recall", "precision")
_CLOSE = 0.07  # of the height: nearer ends would write one name over the other


def curves(internal: LensResult) -> Iterator[Figure]:
    """One chart for each level that the record holds."""
    rows = internal.tables.get("curve") or ()
    for level in dict.fromkeys(str(row["level"]) for row in rows):
        yield _curve([row for row in rows if row["level"] == level], level)


def curve_table(rows: Rows, caption: str) -> Table:
    """The points of one curve."""

    def between(row: Mapping[str, Any], name: str) -> str:
        low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
        return "–" if low is None or high is None else f"{share(low)} to {share(high)}"

    body = tuple(
        (f"{row['tau']:g}", *(cell for name in _NAMES for cell in (share(row.get(name)), between(row, name))))
        for row in rows
    )
    return Table(("IoU at least", "recall", "95% interval", "precision", "95% interval of precision"), body, caption)


def _curve(rows: Rows, level: str) -> Figure:
    title = f"Recall and precision over the overlap asked for, {LEVELS.get(level, level)} (level {level})"
    says = [
        "To the left a gold counts as found when it is barely touched, to the right only when both ends are the same. "
        "A steep fall at the right speaks of ends that are a little off, not of identifiers overlooked."
    ]
    half = next((row for row in rows if abs(row["tau"] - 0.5) < 1e-9 and row.get("recall") is not None), None)
    if half is not None:
        figures = f"recall {share(half['recall'])}, precision {share(half.get('precision'))}"
        says.append(f"At 0.5: {figures}. Bands: 95 % intervals.")
    spec = {**base(width=430, height=240), "layer": _layers(list(_points(rows)))}
    return Figure(f"curve-{level}", title, spec, tuple(says), curve_table(rows, title))


def _points(rows: Rows) -> Iterator[dict[str, Any]]:
    for name in _NAMES:
        for row in rows:
            if row.get(name) is not None:
                between = {"low": row.get(f"{name}_low"), "high": row.get(f"{name}_high")}
                yield {"tau": row["tau"], "value": row[name], "which": name, **between}


def _layers(data: Rows) -> list[Spec]:
    seen = [row[key] for row in data for key in ("low", "value") if row[key] is not None]
    low = max(0.0, floor(10 * min([0.9, *seen])) / 10)
    x: Spec = {
        "field": "tau",
        "type": "quantitative",
        "title": "overlap asked for (IoU at least)",
        "scale": {"domain": [0.1, 1.0], "nice": False},
        "axis": {"values": [tick / 10 for tick in range(1, 11)], "format": ".1f", "grid": False},
    }
    scale = {"domain": [low, 1.0], "zero": False}
    y: Spec = {"field": "value", "type": "quantitative", "title": "share", "scale": scale}
    colour, dash, shape = _told_by(FIRST, SECOND), _told_by([1, 0], [6, 4]), _told_by("circle", "square")
    banded = [row for row in data if row["low"] is not None]
    band = {"type": "area", "opacity": 0.16, "clip": True}
    line = {"type": "line", "strokeWidth": 2.5, "clip": True}
    dot = {"type": "point", "filled": True, "size": 45, "opacity": 1}
    sides = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour}
    at = {"x": x, "y": y, "color": colour}
    return [
        {"data": {"values": banded}, "mark": band, "encoding": sides},
        {"data": {"values": data}, "mark": line, "encoding": {**at, "strokeDash": dash}},
        {"data": {"values": data}, "mark": dot, "encoding": {**at, "shape": shape}},
        *_line_names(data, x, y, room=_CLOSE * (1 - low)),
    ]


def _told_by(*values: Any) -> Spec:
    """How the lines differ; they carry their names at the end, so no legend is needed."""
    scale = {"domain": list(_NAMES), "range": list(values)}
    return {"field": "which", "type": "nominal", "scale": scale, "legend": None}


def _line_names(data: Rows, x: Spec, y: Spec, *, room: float) -> Iterator[Spec]:
    """Each line's name at its end, moved apart where the ends lie close."""
    end = max((row["tau"] for row in data), default=1.0)
    last = sorted((row for row in data if row["tau"] == end), key=lambda row: -row["value"])
    close = len(last) == 2 and last[0]["value"] - last[1]["value"] < room
    for row, shift in zip(last, (-7, 7), strict=False):
        words = {"type": "text", "align": "left", "baseline": "middle", "dx": 9, "color": INK, "fontSize": 12}
        mark = {**words, "dy": shift if close else 0}
        yield {"data": {"values": [row]}, "mark": mark, "encoding": {"x": x, "y": y, "text": {"field": "which"}}}
