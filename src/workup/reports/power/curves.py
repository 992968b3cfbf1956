"""Curves of the sample-size report as Vega-Lite specs: power, or patients, over what a planner can choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workup.errors import visible
from workup.report import LensResult
from workup.reports.charts.figure import FIRST, HEIGHT, INK, MUTED, SECOND, Figure, Spec, base
from workup.reports.layout import Table
from workup.reports.power.asked import CRITERIA
from workup.reports.wording import at_threshold, group_words, number, percent

Rows = Sequence[Mapping[str, Any]]

MOST_FIGURES = 6  # curves of a pilot that a reader can take in; the record holds all
_SHOWN = 14  # rows of the table behind a curve
_COLOURS = (FIRST, SECOND, MUTED, INK)
_DASHES = ([1, 0], [7, 4], [2, 3], [9, 3, 2, 3])
_UNITS = {
    "positives": "patients with the outcome in the first group",
    "negatives": "patients without the outcome in the first group",
    "patients": "patients in the first group",
    "golds": "golds",
    "cases": "cases",
}


def plan_figures(result: LensResult) -> list[Figure]:
    """The curve of a plan: power by size, or size by width of interval or by number of parameters."""
    rows, settings = result.tables.get("curve", ()), result.settings
    if not rows:
        return []
    if settings["kind"] == "precision":
        return [_widths(rows)]
    if settings["kind"] == "develop":
        return [_parameters(rows, settings)]
    return [_power(rows, result)]


def pilot_figures(result: LensResult) -> list[Figure]:
    """Power over the size of the whole cohort, a chart for each metric, a line for each family of comparisons."""
    rows = result.tables.get("curve", ())
    metrics = list(dict.fromkeys((row["metric"], row["slice"].get("threshold")) for row in rows))
    drawn = []
    for name, threshold in metrics[:MOST_FIGURES]:
        own = [row for row in rows if (row["metric"], row["slice"].get("threshold")) == (name, threshold)]
        drawn.append(_cohort(own, result.settings))
    return drawn


def _cohort(rows: Rows, settings: Mapping[str, Any]) -> Figure:
    title = at_threshold(rows[0]["metric"], rows[0]["slice"])
    lines = [
        {"x": row["patients"], "y": row["power"], "line": _short(f"{_who(row)} and {row['against']}")} for row in rows
    ]
    marks = [("here", settings["patients"])]
    says = (
        f"Chance of finding a difference of {rows[0]['target']:g} as the whole cohort grows, its mix unchanged; for "
        "each grouping the comparison that needs the most patients.",
        f"Dashed across: the {settings['power']:.0%} wanted. Dotted upright: the {number(settings['patients'])} "
        "patients at hand.",
    )
    spec = _lines(lines, "patients in the whole cohort", "power", marks=marks, level=settings["power"])
    heads = ("comparison", "patients", "power")
    body = tuple(
        (f"{_who(row)} and {row['against']}", number(row["patients"]), percent(row["power"]))
        for row in _thinned(rows, most=7)
    )
    return Figure(f"power-{rows[0]['metric']}", f"Power: {title}", spec, says, Table(heads, body, f"Power: {title}"))


def _who(row: Mapping[str, Any]) -> str:
    words = group_words(row["slice"])
    return "everyone" if words == "all" else words


def _short(words: str, most: int = 38) -> str:
    shown = visible(words)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def _power(rows: Rows, result: LensResult) -> Figure:
    settings = result.settings
    wanted = settings.get("power", settings.get("assurance"))
    needed = _needed(result)
    lines = [{"x": row["n"], "y": row["power"], "line": _pair(row, settings)} for row in rows]
    marks = [("needed", needed)] + ([("at hand", settings["n"])] if settings.get("n") else [])
    title = "Chance of success by number of golds" if "bound" in settings else "Power by size"
    says = [
        f"The more {_UNITS[settings['of']].split(' in ')[0]}, the surer a difference that is there is found; each line "
        "is one expectation.",
        f"Dashed across: the {wanted:.0%} wanted. Dotted upright: the {number(needed)} needed"
        + (f", and the {number(settings['n'])} at hand." if settings.get("n") else "."),
    ]
    spec = _lines(lines, _UNITS[settings["of"]], title.split(" by ")[0].lower(), marks=marks, level=wanted)
    heads = ("expected", _UNITS[settings["of"]], "power")
    body = tuple((_pair(row, settings), number(row["n"]), percent(row["power"])) for row in _thinned(rows))
    return Figure("power", title, spec, tuple(says), Table(heads, body, title))


def _pair(row: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    if settings["kind"] == "decay":
        return f"effect {row['other']:g}"
    if "bound" in settings:
        return f"rate {row['first']:g}, bound {row['other']:g}"
    return f"{row['first']:g} and {row['other']:g}"


def _needed(result: LensResult) -> int:
    """The size that the requirement states, in the unit of the curve."""
    row = result.tables["requirement"][0]
    if result.settings["of"] == "golds":
        return int(row["golds"])
    sizes = [one["needed"] for one in result.tables["requirement"] if one["group"] != "total"]
    # Groups may differ in size; the curve counts those of the first, at the allocation planned.
    allocation = result.settings.get("allocation", 1.0) or 1.0
    return int(max([sizes[0], *(round(size / allocation) for size in sizes[1:])]))


def _widths(rows: Rows) -> Figure:
    lines = [{"x": row["relative"], "y": row["n"], "line": CRITERIA[row["criterion"]]} for row in rows]
    says = (
        "Narrower intervals need more patients: half the width, about four times as many.",
        "Dotted upright: the widths wanted. Each line is one criterion, and the highest decides.",
    )
    spec = _lines(
        lines, "width of the interval, relative to the one wanted", "patients", marks=[("wanted", 1.0)], zero=False
    )
    heads = ("criterion", "width", "patients")
    kept = [row for row in rows if round(10 * row["relative"]) in (5, 8, 10, 15, 20)]
    body = tuple((CRITERIA[row["criterion"]], f"{row['width']:.3g}", number(row["n"])) for row in kept)
    title = "Patients by width of the interval"
    return Figure("widths", title, spec, says, Table(heads, body, title))


def _parameters(rows: Rows, settings: Mapping[str, Any]) -> Figure:
    lines = [{"x": row["parameters"], "y": row["n"], "line": "patients needed"} for row in rows]
    says = (
        "Every further candidate parameter asks for more patients, until another criterion decides.",
        f"Dotted upright: the {settings['parameters']} parameters planned.",
    )
    spec = _lines(lines, "candidate parameters", "patients", marks=[("planned", settings["parameters"])])
    body = tuple((number(row["parameters"]), number(row["n"])) for row in rows)
    title = "Patients by number of candidate parameters"
    return Figure("parameters", title, spec, says, Table(("parameters", "patients"), body, title))


def _lines(
    rows: Sequence[Mapping[str, Any]],
    x_title: str,
    y_title: str,
    *,
    marks: Sequence[tuple[str, float]],
    level: float | None = None,
    zero: bool = True,
) -> Spec:
    """Lines over a size; sizes that matter stand upright, the level wanted lies across."""
    names = list(dict.fromkeys(row["line"] for row in rows))
    x: Spec = {"field": "x", "type": "quantitative", "title": x_title, "scale": {"zero": zero}}
    y: Spec = {"field": "y", "type": "quantitative", "title": y_title, "scale": {"zero": True}}
    if level is not None:
        y |= {"scale": {"domain": [0, 1]}, "axis": {"format": ".0%"}}
    colour: Spec = {"field": "line", "scale": {"domain": names, "range": [_COLOURS[i % 4] for i in range(len(names))]}}
    dash: Spec = {"field": "line", "scale": {"domain": names, "range": [_DASHES[i % 4] for i in range(len(names))]}}
    if len(names) > 2:
        colour["legend"] = {"columns": 1}
    layers: list[Spec] = [
        {
            "data": {"values": list(rows)},
            "mark": {"type": "line", "clip": True, "strokeWidth": 2.5},
            "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dash},
        }
    ]
    if level is not None:
        across = {"type": "rule", "color": MUTED, "strokeDash": [5, 4], "strokeWidth": 1.2}
        layers.append({"data": {"values": [{"y": level}]}, "mark": across, "encoding": {"y": y}})
    points = [{"x": value, "label": f"{number(value)} {name}" if value != 1.0 else name} for name, value in marks]
    upright = {"type": "rule", "color": MUTED, "strokeDash": [1, 3], "strokeWidth": 1.5}
    words = {"type": "text", "align": "left", "baseline": "bottom", "dx": 5, "dy": -5, "color": INK, "fontSize": 12}
    layers.append({"data": {"values": points}, "mark": upright, "encoding": {"x": x}})
    layers.append(
        {
            "data": {"values": points},
            "mark": words,
            "encoding": {"x": x, "y": {"value": HEIGHT if level is not None else 18}, "text": {"field": "label"}},
        }
    )
    return {**base(), "layer": layers}


def _thinned(rows: Rows, *, most: int = _SHOWN) -> Rows:
    """Evenly spaced rows of every line, the ends among them."""
    kept: list[Mapping[str, Any]] = []
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        key = str((row.get("direction"), row.get("slice"), row.get("against")))
        lines.setdefault(key, []).append(row)
    for line in lines.values():
        step = max(1, -(-len(line) // most))
        kept += [row for i, row in enumerate(line) if i % step == 0 or i == len(line) - 1]
    return kept


def sound(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], caption: str) -> Table:
    """A table whose last column is left out where every row is sound."""
    if all(row[-1] == "ok" for row in rows):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    return Table(heads, tuple(rows), caption)
