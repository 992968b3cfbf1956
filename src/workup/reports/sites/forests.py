"""Forests of sites: each site with its interval, the pooled mean as a diamond, and where a new site may lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workup.errors import visible
from workup.report import Estimate, LensResult, Report
from workup.reports.charts.figure import FIRST, INK, MUTED, SECOND, Figure, Spec, base
from workup.reports.charts.forest import MOST_GROUPS, brief, domain
from workup.reports.charts.forest import text_layer as text
from workup.reports.layout import Table
from workup.reports.wording import (
    at_threshold,
    interval,
    metrics_in,
    number,
    off_primary,
    patients,
    plural,
    primary_threshold,
)

_LABEL = 20  # letters of a site's name that fit beside the plot
_ROW = 24  # height of a row
_WIDTH = 190
_IDEAL = ("calibration_slope", "oe_ratio")  # metrics whose best value is 1
_LARGEST = 190  # area of the square of the weightiest site
Row = Mapping[str, Any]


def forests(report: Report) -> list[Figure]:
    """One forest per main metric, at the primary threshold where it has one."""
    result = primary_first(report)
    if result is None:
        return []
    return [_forest(result, row) for row in main_rows(result) if row["k"] > 0]


def primary_first(report: Report) -> LensResult | None:
    """What the sites lens found, with rows at the primary threshold before those at the others."""
    result = report.results.get("sites")
    if result is None:
        return None
    primary = primary_threshold(report)
    pooled, comparisons = (
        tuple(sorted(rows, key=lambda row: off_primary(row["slice"], primary)))
        for rows in (result.pooled, result.comparisons)
    )
    return replace(result, pooled=pooled, comparisons=comparisons)


def main_rows(result: LensResult) -> Iterator[Row]:
    """The pooled rows a reader looks for first: whole populations, the first threshold of each metric."""
    rows = [row for row in result.pooled if not set(row["slice"]) - at_keys(result)]
    held = list(dict.fromkeys(row["metric"] for row in rows))
    for metric in [name for name in metrics_in("forests") if name in held] or held[:3]:
        yield next(row for row in rows if row["metric"] == metric)


def at_keys(result: LensResult) -> set[str]:
    """Slice keys that are not groups of patients: a group's column has demographics at some site."""
    groups = {name for row in result.tables.get("sites", ()) for name in row["demographics"]}
    keys = {key for row in result.pooled for key in row["slice"]}
    return {key for key in keys if not all(part in groups for part in key.split(" × "))}


def of_site(result: LensResult, row: Row) -> dict[str, Estimate]:
    """The estimates behind a pooled row by site, those that could not be pooled among them."""
    level = row["level"]
    found = {}
    for e in result.estimates:
        keys = dict(e.slice)
        site = keys.pop("site", None)
        if site is not None and e.metric == row["metric"] and e.level == level and keys == dict(row["slice"]):
            found[str(site)] = e
    return found


def _forest(result: LensResult, row: Row) -> Figure:
    estimates = of_site(result, row)
    weight = dict(zip(row["sites"], row["weights"] or [0.0] * len(row["sites"]), strict=True))
    ordered = sorted(estimates, key=lambda site: (-estimates[site].n_patients, site))
    shown = ordered[:MOST_GROUPS]
    built = {one["site"] for one in result.tables["sites"] if one["role"] == "development"}
    title = at_threshold(row["metric"], row["slice"])
    table = Table(
        ("site", "patients", "value", "95% interval", "weight", "status"),
        tuple(
            (
                site,
                patients(estimates[site]),
                number(estimates[site].value),
                interval(estimates[site]),
                f"{100 * weight[site]:.1f} %" if site in weight else "not pooled",
                _status(estimates[site]),
            )
            for site in ordered
        ),
        f"{title} by site",
    )
    data = [_site(i, site, estimates[site], weight.get(site), site in built) for i, site in enumerate(shown)]
    spec = {**base(width=_WIDTH, height=_ROW * (len(shown) + 3)), "layer": _layers(row, data)}
    says = tuple(_words(row, data, len(ordered), bool(built & set(shown))))
    return Figure(f"sites-{row['metric']}", title, spec, says, table)


def _status(e: Estimate) -> str:
    return "ok" if e.status == "ok" else f"{e.status}: {e.reason}"


def _site(place: int, site: str, e: Estimate, weight: float | None, built: bool) -> dict[str, Any]:
    name = visible(site)
    short = name if len(name) <= _LABEL else name[: _LABEL - 1] + "…"
    sound = e.value is not None and e.low is not None and e.high is not None
    return {
        "row": place,
        "label": f"{short} ({patients(e)})",
        "value": e.value,
        "low": e.low if sound else None,
        "high": e.high if sound else None,
        "weight": 0.0 if weight is None else weight,
        "pooled": weight is not None and not built,
        "figure": f"{brief(e.value)} ({brief(e.low)} to {brief(e.high)})" if sound else e.status,
    }


def _layers(row: Row, data: list[dict[str, Any]]) -> list[Spec]:
    sound = [one for one in data if one["low"] is not None]
    mean, new = len(data) + 0.5, len(data) + 1.5
    limits = [end for end in row["limit"] or () if end is not None]
    low, high = _span(row, data)
    logarithmic = row["scale"] == "log" and low > 0
    scale: Spec = {"domain": [low, high], "type": "log" if logarithmic else "linear", "nice": False}
    axis: Spec = {"tickCount": 4, "orient": "bottom"}
    if logarithmic:
        marks = (0.25, 0.5, 1, 2, 4) if high / low > 2.5 else (0.5, 0.7, 1, 1.4, 2)
        kept = [tick for tick in marks if low <= tick <= high]
        # Vega leaves out most labels of a short log axis unless it is told of many ticks.
        axis |= {"tickCount": 100, "values": kept, "format": "~g", "labelOverlap": False}
    x: Spec = {"field": "value", "type": "quantitative", "title": None, "scale": scale, "axis": axis}
    span = {"domain": [-0.5, len(data) + 2.5], "reverse": True, "nice": False, "zero": False}
    y: Spec = {"field": "row", "type": "quantitative", "axis": None, "scale": span}
    layers = _lines(row, limits, x, low, high)
    layers += _sites(sound, x, y)
    layers += _summary(row, x, y, mean, new)
    words: Spec = {"type": "text", "baseline": "middle", "color": INK, "fontSize": 12}
    return [
        *layers,
        text(data, {**words, "align": "right"}, -10, y, "label"),
        text(data, {**words, "align": "left"}, _WIDTH + 10, y, "figure"),
        *_summary_words(row, words, y, mean, new),
    ]


def _span(row: Row, data: Sequence[Row]) -> tuple[float, float]:
    """Wide enough for sites, mean, prediction interval and limits, as far as a reader can use it."""
    seen = [one for one in data if one["low"] is not None]
    ends = [(row["low"], row["high"]), (row["pi_low"], row["pi_high"])]
    seen += [{"low": low, "value": row["value"], "high": high} for low, high in ends if low is not None]
    limits = [end for end in row["limit"] or () if end is not None]
    seen += [dict.fromkeys(("low", "value", "high"), end) for end in limits]
    return domain(row["metric"], seen, None)


def _lines(row: Row, limits: Sequence[float], x: Spec, low: float, high: float) -> list[Spec]:
    layers: list[Spec] = []
    if row["metric"] in _IDEAL and low <= 1 <= high:
        layers.append(
            {"data": {"values": [{"value": 1}]}, "mark": {"type": "rule", "color": MUTED}, "encoding": {"x": x}}
        )
    inside = [{"value": end} for end in limits if low <= end <= high]
    if inside:
        dashed = {"type": "rule", "color": SECOND, "strokeDash": [4, 3], "strokeWidth": 1.6}
        layers.append({"data": {"values": inside}, "mark": dashed, "encoding": {"x": x}})
    return layers


def _sites(sound: list[dict[str, Any]], x: Spec, y: Spec) -> list[Spec]:
    """Squares whose area is the weight; a site that is shown and not pooled is hollow."""
    most = max((one["weight"] for one in sound), default=0.0) or 1.0
    area, colours = {"domain": [0, most], "range": [18, _LARGEST]}, {"domain": [True, False], "range": [FIRST, MUTED]}
    size: Spec = {"field": "weight", "type": "quantitative", "legend": None, "scale": area}
    colour: Spec = {"field": "pooled", "type": "nominal", "legend": None, "scale": colours}
    bar = {"type": "rule", "clip": True, "strokeWidth": 1.8}
    square = {"type": "point", "clip": True, "filled": True, "shape": "square", "opacity": 1}
    ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y, "color": colour}
    return [
        {"data": {"values": sound}, "mark": bar, "encoding": ends},
        {"data": {"values": sound}, "mark": square, "encoding": {"x": x, "y": y, "size": size, "color": colour}},
    ]


def _summary(row: Row, x: Spec, y: Spec, mean: float, new: float) -> list[Spec]:
    """The pooled mean as a diamond as wide as its interval; the prediction interval as a bar of its own."""
    layers: list[Spec] = []
    if row["low"] is not None:
        corners = [(row["low"], 0.0), (row["value"], 0.36), (row["high"], 0.0)]
        data = [{"value": value, "top": mean - half, "bottom": mean + half} for value, half in corners]
        across = {"x": x, "y": {**y, "field": "top"}, "y2": {"field": "bottom"}}
        mark = {"type": "area", "clip": True, "color": INK, "opacity": 1}
        layers.append({"data": {"values": data}, "mark": mark, "encoding": across})
    if row["pi_low"] is not None:
        bar = {"type": "rule", "clip": True, "color": SECOND, "strokeWidth": 5, "opacity": 1}
        data = [{"row": new, "low": row["pi_low"], "high": row["pi_high"]}]
        across = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}
        layers.append({"data": {"values": data}, "mark": bar, "encoding": across})
    return layers


def _summary_words(row: Row, words: Spec, y: Spec, mean: float, new: float) -> list[Spec]:
    ends = f"({brief(row['low'])} to {brief(row['high'])})"
    expected = "none" if row["pi_low"] is None else f"{brief(row['pi_low'])} to {brief(row['pi_high'])}"
    data = [
        {"row": mean, "label": f"pooled ({number(row['k'])} sites)", "figure": f"{brief(row['value'])} {ends}"},
        {"row": new, "label": "a new site", "figure": expected},
    ]
    bold = {**words, "fontWeight": "bold"}
    return [
        text(data, {**bold, "align": "right"}, -10, y, "label"),
        text(data, {**bold, "align": "left"}, _WIDTH + 10, y, "figure"),
    ]


def _words(row: Row, data: Sequence[Row], sites: int, built: bool) -> Iterator[str]:
    if row["value"] is None:
        yield "The sites could not be pooled."
    elif row["k"] == 1:
        yield "One site: nothing is pooled."
    else:
        yield (
            f"Diamond: pooled over {plural(row['k'], 'site')}, {number(row['value'])} "
            f"({row['level']:.0%} interval {number(row['low'])} to {number(row['high'])})."
        )
    if row["pi_low"] is not None:
        yield f"Thick bar: where a new site may lie, {number(row['pi_low'])} to {number(row['pi_high'])} (approximate)."
    limits = [end for end in row["limit"] or () if end is not None]
    if limits:
        yield f"Dashed: the limit set beforehand, {' and '.join(f'{end:g}' for end in limits)}."
    least, most = _span(row, data)
    if any(one["low"] is not None and (one["low"] < least or one["high"] > most) for one in data):
        yield "A line that meets the edge goes on beyond it."
    if built or any(not one["pooled"] and one["low"] is not None for one in data):
        yield "Grey: shown and not pooled."
    few = sum(one["low"] is None for one in data)
    if few:
        yield f"{plural(few, 'site')} without an interval: the table says why."
    if len(data) < sites:
        yield f"The {len(data)} largest of {sites} sites are drawn; the table holds all."
