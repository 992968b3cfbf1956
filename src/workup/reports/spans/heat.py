"""Which type was taken for which, as a heat map with its counts. Types beyond the most frequent are added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workup.report import LensResult
from workup.reports.charts.figure import FIRST, GRID, INK, Figure, Spec, base
from workup.reports.layout import Table
from workup.reports.spans.errors import MISSED, NO_IDENTIFIER, pairs
from workup.reports.spans.forests import short
from workup.reports.wording import number

ON_DARK = "#fefefe"  # words on a full cell; the dark page maps it to its own ground
_CELLS = 16  # types on a side; the others are added up
_WIDE, _HIGH = 40, 28  # of a cell
_NAME = 22  # letters of a type beside the map
_OTHERS = "(other types)"


def heat_map(internal: LensResult) -> Iterator[Figure]:
    """Rows are what the identifiers are, columns what they were taken for."""
    held = pairs(internal)
    if not held:
        return
    ordered = _by_size(held)
    shown = ordered if len(ordered) <= _CELLS + 1 else [*ordered[:_CELLS], _OTHERS]
    side = len(shown) + 1
    says = [
        "Rows: what the identifier is. Columns: what the system took it for. On the outlined diagonal both agree; the "
        "last column is what was not touched at all, the last row what was masked for nothing. The fuller a cell, the "
        "larger its share of the row."
    ]
    if len(shown) < len(ordered):
        says.append(f"The {_CELLS} most frequent of {len(ordered)} types are drawn, the others added up.")
    table = Table(
        ("the gold is", "it was taken for", "count"),
        tuple((gold, prediction, number(times)) for gold, prediction, times in held),
        "Every pair of types that met",
    )
    layers = _layers(shown, _cells(held, ordered, shown))
    spec = {**base(width=_WIDE * side, height=_HIGH * side), "layer": layers}
    yield Figure("confusion", "Types: what they are, and what they were taken for", spec, tuple(says), table, wide=True)


def _by_size(held: Sequence[tuple[str, str, int]]) -> list[str]:
    sizes: Counter[str] = Counter()
    for gold, prediction, times in held:
        for name in {gold, prediction} - {MISSED, NO_IDENTIFIER}:
            sizes[name] += times
    return sorted(sizes, key=lambda name: (-sizes[name], name))


def _cells(held: Sequence[tuple[str, str, int]], ordered: Sequence[str], shown: Sequence[str]) -> list[dict[str, Any]]:
    """Every count in its cell, with its share of the row."""
    last = len(shown)
    place = {name: min(i, last - 1) for i, name in enumerate(ordered)} | {MISSED: last, NO_IDENTIFIER: last}
    counts: Counter[tuple[int, int]] = Counter()
    totals: Counter[int] = Counter()
    for gold, prediction, times in held:
        counts[place[gold], place[prediction]] += times
        totals[place[gold]] += times
    return [
        {**_square(i, j), "x": j + 0.5, "y": i + 0.5, "share": times / totals[i], "count": _brief(times)}
        for (i, j), times in sorted(counts.items())
    ]


def _square(row: int, column: int) -> dict[str, int]:
    return {"left": column, "right": column + 1, "top": row, "bottom": row + 1}


def _layers(shown: Sequence[str], cells: Sequence[Mapping[str, Any]]) -> list[Spec]:
    n = len(shown) + 1
    scale = {"domain": [0, n], "nice": False, "zero": False}
    x: Spec = {"field": "left", "type": "quantitative", "axis": None, "scale": scale}
    y: Spec = {"field": "top", "type": "quantitative", "axis": None, "scale": {**scale, "reverse": True}}
    place = {"x": x, "x2": {"field": "right"}, "y": y, "y2": {"field": "bottom"}}
    frame = [_square(i, j) for i in range(n) for j in range(n)]
    diagonal = [_square(i, i) for i in range(n - 1)]
    depth = {"field": "share", "type": "quantitative", "scale": {"domain": [0, 1], "range": [0.06, 1]}, "legend": None}
    outline = {"type": "rect", "fill": None, "stroke": GRID, "strokeWidth": 1}
    filled = {**place, "fillOpacity": depth}
    return [
        {"data": {"values": frame}, "mark": outline, "encoding": place},
        {"data": {"values": cells}, "mark": {"type": "rect", "color": FIRST}, "encoding": filled},
        {"data": {"values": diagonal}, "mark": {**outline, "stroke": INK, "strokeWidth": 1.5}, "encoding": place},
        *_words(shown, cells, x, y),
    ]


def _words(shown: Sequence[str], cells: Sequence[Mapping[str, Any]], x: Spec, y: Spec) -> Iterator[Spec]:
    """Counts in the cells, and the names of rows and columns."""
    across, down = {**x, "field": "x"}, {**y, "field": "y"}
    mark: Spec = {"type": "text", "baseline": "middle", "fontSize": 11}
    name: Spec = {**mark, "color": INK, "fontSize": 12}
    for full, colour in ((False, INK), (True, ON_DARK)):
        chosen = [cell for cell in cells if (cell["share"] > 0.5) == full]
        place = {"x": across, "y": down, "text": {"field": "count"}}
        yield {"data": {"values": chosen}, "mark": {**mark, "color": colour}, "encoding": place}
    rows = [{"y": i + 0.5, "name": short(one, _NAME)} for i, one in enumerate([*shown, NO_IDENTIFIER])]
    place = {"x": {"value": -8}, "y": down, "text": {"field": "name"}}
    yield {"data": {"values": rows}, "mark": {**name, "align": "right"}, "encoding": place}
    columns = [{"x": i + 0.5, "name": short(one, _NAME)} for i, one in enumerate([*shown, MISSED])]
    place = {"x": across, "y": {"value": -8}, "text": {"field": "name"}}
    yield {"data": {"values": columns}, "mark": {**name, "align": "left", "angle": -50}, "encoding": place}


def _brief(times: int) -> str:
    """A count that fits a cell; the table holds the exact one.

    >>> _brief(9999), _brief(12345), _brief(1234567)
    ('9999', '12k', '1.2M')
    """
    if times < 10_000:
        return str(times)
    return f"{times / 1000:.0f}k" if times < 1_000_000 else f"{times / 1e6:.1f}M"
