"""Figures over the horizons: AUC, Brier score, scaled Brier score and O/E, each horizon with its own interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workup.report import Estimate, LensResult, Report
from workup.reports.charts.figure import FIRST, INK, MUTED, Figure, Spec, base, find
from workup.reports.estimates import HEADS, rows
from workup.reports.horizon.axis import Axis
from workup.reports.horizon.setting import days, horizons
from workup.reports.layout import Section, Table
from workup.reports.wording import interval, metric_title, number

_SHOWN = {
    "auroc": "Discrimination over the horizons: AUC(h)",
    "brier": "Error of the risks over the horizons: Brier(h)",
    "scaled_brier": "Gain over one risk for all: scaled Brier(h)",
    "oe_ratio": "Calibration over the horizons: O/E(h)",
}
_SAYS = {
    "auroc": "Of one who had the event by the horizon and one who had not, how often the first was given the higher "
    "risk; 0.5 is chance.",
    "brier": "Mean squared error of the risk by the horizon; 0 is perfect. It rises with the share of events, so "
    "compare horizons by the scaled Brier score, not by this.",
    "scaled_brier": "How much smaller that error is than if everyone had been given the observed risk; 0 is no gain.",
    "oe_ratio": "Events that happened for every event expected; above 1 risks were too low.",
}
POINTWISE = "Intervals are pointwise: each is for its horizon alone, and all of them together hold less often."
_LINES = {"auroc": 0.5, "oe_ratio": 1.0, "scaled_brier": 0.0}  # where nothing is shown


def section(report: Report, internal: LensResult) -> Section:
    """Every figure of everyone at every horizon."""
    order = {name: card["order"] for name, card in report.metrics.items()}
    held = [e for e in internal.estimates if set(e.slice) == {"horizon"} and e.level == 0.95]
    held.sort(key=lambda e: (days(str(e.slice["horizon"])), order.get(e.metric, len(order))))
    body = tuple((str(e.slice["horizon"]), *row) for e, row in zip(held, rows(held), strict=True))
    table = Table(("by", *HEADS), body, "All patients together at every horizon, 95% intervals")
    return Section("Overall", (POINTWISE,) if len(horizons(report)) > 1 else (), (table,), key="overall")


def figures(report: Report, internal: LensResult) -> list[Figure]:
    """A chart for each of four figures; none where there is one horizon alone, over which nothing can change."""
    named = horizons(report)
    if len(named) < 2:
        return []
    under = {row["horizon"]: row for row in internal.tables.get("followup", ()) if not row["slice"]}
    found = [_figure(internal, metric, named, under) for metric in _SHOWN]
    return [figure for figure in found if figure is not None]


def _figure(
    internal: LensResult, metric: str, named: Sequence[str], under: Mapping[str, Mapping[str, Any]]
) -> Figure | None:
    held = [(name, find(internal, metric, {"horizon": name})) for name in named]
    known = [(name, e) for name, e in held if e is not None and e.value is not None]
    if not known:
        return None
    longest = 1.04 * days(named[-1])
    axis = Axis(longest)
    x = axis.x(longest)
    points = [_point(axis.place(days(name)), e) for name, e in known]
    ends = [row[key] for row in points for key in ("value", "low", "high") if row[key] is not None]
    ends += [_LINES[metric]] if metric in _LINES else [0.0]
    margin = 0.06 * (max(ends) - min(ends)) or 0.05
    scale = {"domain": [min(ends) - (margin if metric in _LINES else 0), max(ends) + margin], "nice": False}
    y = {"field": "value", "type": "quantitative", "title": metric_title(metric), "scale": scale}
    sides = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    dots = {"type": "point", "filled": True, "size": 80, "color": FIRST, "opacity": 1}
    layers: list[Spec] = []
    if metric in _LINES:
        rule = {"type": "rule", "color": MUTED, "strokeDash": [5, 4], "strokeWidth": 1.2}
        layers.append({"data": {"values": [{"value": _LINES[metric]}]}, "mark": rule, "encoding": {"y": y}})
    layers += [
        {
            "data": {"values": points},
            "mark": {"type": "line", "color": FIRST, "opacity": 0.5},
            "encoding": {"x": x, "y": y},
        },
        {"data": {"values": points}, "mark": {"type": "rule", "color": INK, "strokeWidth": 1.5}, "encoding": sides},
        {"data": {"values": points}, "mark": dots, "encoding": {"x": x, "y": y}},
        *axis.under(_counts(named, under), x),
    ]
    table = Table(
        ("by", metric_title(metric), "95% interval", "patients"),
        tuple((name, number(e.value), interval(e), number(e.n_patients)) for name, e in known),
        _SHOWN[metric],
    )
    return Figure(f"over-{metric}", _SHOWN[metric], {**base(), "layer": layers}, (_SAYS[metric], POINTWISE), table)


def _point(at: float, e: Estimate) -> dict[str, Any]:
    return {"at": at, "value": e.value, "low": e.low, "high": e.high}


def _counts(
    named: Sequence[str], under: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[tuple[float, float | None]]]:
    """Those at risk at the start and at each horizon, with the events until then."""
    if not under:
        return {}
    first = next(iter(under.values()))["at_risk_at_start"]
    return {
        "at risk": [(0.0, first), *((days(name), under[name]["at_risk"]) for name in named if name in under)],
        "events": [(0.0, 0.0), *((days(name), under[name]["events"]) for name in named if name in under)],
        "competing": [(0.0, 0.0), *((days(name), under[name]["competing"]) for name in named if name in under)],
    }
