"""Observed risk over time by fifths of the predicted risk, beside what was predicted, with those at risk below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workup.report import LensResult
from workup.reports.charts.figure import FIRST, INK, SECOND, Figure, Spec, base
from workup.reports.horizon.axis import Axis
from workup.reports.layout import Section, Table
from workup.reports.wording import count, number, percent

Row = Mapping[str, Any]
TITLE = "Observed and predicted risk over time, by fifths of risk"
_NAMES = {1: "lowest fifth", 2: "2nd fifth", 3: "3rd fifth", 4: "4th fifth", 5: "highest fifth"}
_WIDTH, _HEIGHT = 560, 300


def section(internal: LensResult) -> Section:
    """The curves at the horizons, and the numbers at risk."""
    held = _held(internal)
    if not held:
        return Section(TITLE)
    said = (_how(internal.tables["observed_curves"]),)
    return Section(TITLE, said, (_at_horizons(held), _under(held)), key="observed-curves")


def figure(internal: LensResult) -> Figure | None:
    """Steps for what was observed, diamonds for the mean risk that was predicted."""
    held = _held(internal)
    fifths = [one for one in held if one["fifth"] is not None and one["curve"]]
    if not fifths:
        return None
    longest = max(point["days"] for one in held for point in one["curve"])
    longest = max([longest, *(row["days"] for one in held for row in one["mean_risk"])])
    axis = Axis(longest)
    x = axis.x(1.03 * longest)
    y = {"field": "risk", "type": "quantitative", "title": "had the event by then", "axis": {"format": ".0%"}}
    shades = {one["fifth"]: 0.35 + 0.65 * place / max(1, len(fifths) - 1) for place, one in enumerate(fifths)}
    layers: list[Spec] = []
    for one in fifths:
        steps = [{"at": axis.place(point["days"]), "risk": point["event"]} for point in one["curve"]]
        line = {
            "type": "line",
            "color": FIRST,
            "interpolate": "step-after",
            "strokeWidth": 2.2,
            "opacity": shades[one["fifth"]],
        }
        layers.append({"data": {"values": steps}, "mark": line, "encoding": {"x": x, "y": y}})
        end = [{**steps[-1], "name": _name(one)}]
        words = {"type": "text", "align": "left", "dx": 6, "color": INK, "fontSize": 11}
        layers.append({"data": {"values": end}, "mark": words, "encoding": {"x": x, "y": y, "text": {"field": "name"}}})
        means = [{"at": axis.place(row["days"]), "risk": row["risk"]} for row in one["mean_risk"]]
        diamonds = {"type": "point", "shape": "diamond", "filled": True, "size": 75, "color": SECOND, "opacity": 1}
        layers.append({"data": {"values": means}, "mark": diamonds, "encoding": {"x": x, "y": y}})
    layers += axis.under(_lines(held), x, height=_HEIGHT)
    says = (
        "Steps: what was observed, in fifths by the predicted risk. Diamonds: the mean risk that the model gave to the "
        "same fifth. Where a diamond lies on its step, risks mean what they say; the further the fifths part, the "
        "better the model tells patients apart.",
        _how(internal.tables["observed_curves"]),
    )
    spec = {**base(width=_WIDTH, height=_HEIGHT), "layer": layers}
    return Figure("observed-curves", TITLE, spec, says, _under(held), wide=True)


def _held(internal: LensResult) -> Sequence[Row]:
    table = internal.tables.get("observed_curves") or {}
    return [one for one in table.get("curves", ()) if one["curve"]]


def _how(table: Row) -> str:
    if table["competing"]:
        return (
            "Observed: Aalen and Johansen's estimate, in which those who had the competing event first can no longer "
            "have the event; those lost are allowed for."
        )
    return "Observed: one less Kaplan and Meier's estimate, in which those lost are allowed for."


def _name(one: Row) -> str:
    return "everyone" if one["fifth"] is None else _NAMES.get(one["fifth"], f"part {one['fifth']}")


def _lines(held: Sequence[Row]) -> dict[str, list[tuple[float, float | None]]]:
    """Under the axis: those at risk in each fifth from the highest on, or in everyone where fifths are not counted;
    then events and competing events of everyone."""
    fifths = [one for one in held if one["fifth"] is not None and one["under_axis"]]
    counted = fifths[::-1] or [one for one in held if one["fifth"] is None]
    found = {f"at risk, {_name(one)}": [(row["days"], row["at_risk"]) for row in one["under_axis"]] for one in counted}
    everyone = next((one for one in held if one["fifth"] is None), None)
    if everyone is not None:
        found |= {
            "events, everyone": [(row["days"], row["events"]) for row in everyone["under_axis"]],
            "competing, everyone": [(row["days"], row["competing"]) for row in everyone["under_axis"]],
        }
    return found


def _at_horizons(held: Sequence[Row]) -> Table:
    body = tuple(
        (
            _name(one),
            number(one["n_patients"]),
            str(row["horizon"]),
            percent(row["risk"]),
            "not followed so far" if row["observed"] is None else percent(row["observed"]),
        )
        for one in held
        for row in one["mean_risk"]
    )
    heads = ("by predicted risk", "patients", "by", "mean predicted", "observed")
    return Table(heads, body, "Mean predicted and observed risk by fifths", titled=True)


def _under(held: Sequence[Row]) -> Table:
    body = tuple(
        (
            _name(one),
            f"{row['days']:,.0f}" if row["days"] >= 2 or row["days"] == 0 else number(row["days"]),
            count(row["at_risk"]),
            count(row["events"]),
            count(row["competing"]),
        )
        for one in held
        for row in one["under_axis"]
    )
    heads = ("by predicted risk", "days", "at risk", "events until then", "competing until then")
    return Table(heads, body, "At risk, and events until then", titled=True)
