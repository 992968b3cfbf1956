"""Charts of alarms and events: how long before events are flagged, how often alarms sound, and stays hour by hour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workup.report import Estimate, LensResult
from workup.reports.charts.figure import FIRST, INK, MUTED, SECOND, Figure, Spec, base
from workup.reports.layout import Table
from workup.reports.wording import count, interval, number

_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])  # lines of several thresholds differ in more than their colour
_MOST_LINES = len(_DASHES)


def figures(internal: LensResult) -> dict[str, list[Figure]]:
    """Charts by the key of the section that they stand beside."""
    found = {
        "episodes-lead": list(_lead(internal)),
        "episodes-alarms": list(_alarms(internal)),
        "episodes-timeline": list(_timeline(internal)),
    }
    return {key: charts for key, charts in found.items() if charts}


def flagged_before(internal: LensResult) -> list[Estimate]:
    """The curve of warning times, of all events."""
    found = [
        e for e in internal.estimates if e.metric == "flagged_before" and e.level == 0.95 and "acted" not in e.slice
    ]
    return sorted(found, key=lambda e: (e.slice.get("threshold", 0), e.slice["hours"]))


def _axis(field: str, title: str, **scale: Any) -> Spec:
    return {"field": field, "type": "quantitative", "title": title, "scale": scale}


def _lead(internal: LensResult) -> Iterator[Figure]:
    curve = [e for e in flagged_before(internal) if e.value is not None]
    thresholds = list(dict.fromkeys(e.slice.get("threshold") for e in curve))[:_MOST_LINES]
    if not curve:
        return
    x, y = _axis("hours", "hours of warning at least"), _axis("share", "share of all events", domain=[0, 1])
    layer: list[Spec] = []
    for place, threshold in enumerate(thresholds):
        rows = [
            {"hours": e.slice["hours"], "share": e.value, "low": e.low, "high": e.high, "at": _at(threshold)}
            for e in curve
            if e.slice.get("threshold") == threshold
        ]
        colour = FIRST if place % 2 == 0 else SECOND
        held = {"values": [row for row in rows if row["low"] is not None]}
        bars = {"type": "rule", "color": colour, "opacity": 0.5, "strokeWidth": 1.5}
        layer.append(
            {"data": held, "mark": bars, "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}}
        )
        line = {"type": "line", "color": colour, "strokeDash": _DASHES[place], "point": {"color": colour, "size": 50}}
        layer.append({"data": {"values": rows}, "mark": line, "encoding": {"x": x, "y": y}})
        words = {"type": "text", "align": "left", "dx": 8, "color": INK, "fontSize": 12}
        text = {"x": x, "y": y, "text": {"field": "at"}}
        layer.append({"data": {"values": rows[-1:]}, "mark": words, "encoding": text})
    says = (
        "Of all events, how many were flagged at least so long before. Events that were missed, or never scored, are "
        "among them, so the curve can be compared between systems as a median lead time cannot. Bars are 95 % "
        "intervals, each by itself.",
    )
    yield Figure("lead", "How long before events are flagged", {**base(), "layer": layer}, says, lead_table(internal))


def lead_table(internal: LensResult) -> Table:
    """The curve in figures."""
    body = tuple(
        (_at(e.slice.get("threshold")), number(e.slice["hours"]), number(e.value), interval(e), _counts(e))
        for e in flagged_before(internal)
    )
    return Table(("alerts", "hours before", "share", "95% interval", "events"), body, "Events flagged so long before")


def _alarms(internal: LensResult) -> Iterator[Figure]:
    found = sorted(
        (
            e
            for e in internal.estimates
            if e.metric == "alarm_rate" and e.level == 0.95 and set(e.slice) == {"threshold"} and e.value is not None
        ),
        key=lambda e: float(e.slice["threshold"]),
    )
    if len(found) < 2:
        return
    rows = [{"threshold": e.slice["threshold"], "rate": e.value, "low": e.low, "high": e.high} for e in found]
    x, y = _axis("threshold", "threshold"), _axis("rate", "alarms per 100 patient-days")
    bars = {"type": "rule", "color": FIRST, "strokeWidth": 1.5}
    held = {"values": [row for row in rows if row["low"] is not None]}
    layer = [
        {"data": held, "mark": bars, "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}},
        {
            "data": {"values": rows},
            "mark": {"type": "line", "color": FIRST, "point": True},
            "encoding": {"x": x, "y": y},
        },
    ]
    table = Table(
        ("threshold", "alarms per 100 patient-days", "95% interval", "patients"),
        tuple((number(e.slice["threshold"]), number(e.value), interval(e), number(e.n_patients)) for e in found),
        "Alarms by threshold",
    )
    says = ("Every alarm that is heard, true or false, before the event or after it.",)
    yield Figure("alarms", "How often alarms sound", {**base(), "layer": layer}, says, table)


def _timeline(internal: LensResult) -> Iterator[Figure]:
    rows: Sequence[dict[str, Any]] = internal.tables.get("timeline") or ()
    if not rows:
        return
    x = _axis("hour", "hours from the start of the stay", nice=True)
    y = {"field": "stay", "type": "ordinal", "title": "stay", "sort": list(dict.fromkeys(str(r["stay"]) for r in rows))}
    shapes = {"alert": ("triangle-up", FIRST), "event": ("diamond", SECOND), "end": ("stroke", MUTED)}
    layer = []
    for what, (shape, colour) in shapes.items():
        some = [{"hour": row["hour"], "stay": str(row["stay"]), "what": what} for row in rows if row["what"] == what]
        mark = {"type": "point", "shape": shape, "filled": what != "end", "color": colour, "size": 90, "opacity": 1}
        layer.append({"data": {"values": some}, "mark": mark, "encoding": {"x": x, "y": y}})
    says = (
        "A few stays hour by hour: triangles are alerts, diamonds events, strokes the end of the stay. Stays are drawn "
        "by chance among those with an event and those without; hours are counted from their start, and nothing here "
        "names a person.",
    )
    table = timeline_table(rows)
    yield Figure(
        "timeline", "Alerts and events in a few stays", {**base(width=620), "layer": layer}, says, table, wide=True
    )


def timeline_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """One line per stay: hours from its start at which it alerted, had the event, and ended."""
    body = []
    for stay in dict.fromkeys(row["stay"] for row in rows):
        own = [row for row in rows if row["stay"] == stay]
        hours = {w: ", ".join(number(r["hour"]) for r in own if r["what"] == w) for w in ("alert", "event", "end")}
        body.append((str(stay), *(said or "–" for said in hours.values())))
    heads = ("stay", "alerts at hour", "event at hour", "ended at hour")
    return Table(heads, tuple(body), "Alerts and events in a few stays, in hours from their start and without names")


def _at(threshold: Any) -> str:
    return "as recorded" if threshold is None else f"at {threshold:g}"


def _counts(e: Estimate) -> str:
    return "" if e.numerator is None else f"{count(e.numerator)}/{count(e.denominator)}"
