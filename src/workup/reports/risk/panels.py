"""The four panels of a risk report: discrimination, calibration, usefulness and the spread of risks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any

from workup.report import Estimate, LensResult, Report
from workup.reports.charts.figure import FIRST, HEIGHT, INK, MUTED, SECOND, Figure, Spec, base, find
from workup.reports.layout import Table
from workup.reports.wording import drawn, interval, number, percent


@drawn
def panels(report: Report) -> list[Figure]:
    """Discrimination, calibration, usefulness and spread of risks; those that the record can draw."""
    internal = report.results.get("internal")
    if internal is None:
        return []
    made = (_roc(internal), _calibration(internal), _benefit(internal), _distribution(internal))
    return [figure for figure in made if figure is not None]


def thresholds(result: LensResult) -> list[float]:
    """The thresholds the study named, in order."""
    found = {e.slice["threshold"] for e in result.estimates if set(e.slice) == {"threshold"}}
    return sorted(value for value in found if isinstance(value, (int, float)))


def _x(field: str, title: str, **scale: Any) -> Spec:
    return {"field": field, "type": "quantitative", "title": title, "scale": scale}


def _line(rows: Sequence[Mapping[str, Any]], x: Spec, y: Spec, *, mark: Spec | None = None, **encoding: Any) -> Spec:
    kind = {"type": "line", "clip": True, "color": FIRST, "strokeWidth": 2.5, **(mark or {})}
    # The record's order is the curve's order: vertical steps of an ROC curve share an x.
    return {
        "data": {"values": [{**row, "order": i} for i, row in enumerate(rows)]},
        "mark": kind,
        "encoding": {"x": x, "y": y, "order": {"field": "order"}, **encoding},
    }


def _diagonal(x: Spec, y: Spec, end: float = 1.0) -> Spec:
    dashed = {"color": MUTED, "strokeDash": [5, 4], "strokeWidth": 1.2}
    rows: list[Spec] = [{x["field"]: 0, y["field"]: 0}, {x["field"]: end, y["field"]: end}]
    return _line(rows, x, y, mark=dashed)


def _said(e: Estimate | None, name: str) -> Iterator[str]:
    if e is not None and e.value is not None:
        yield f"{name} {number(e.value)} ({e.level:.0%} interval {interval(e)}, {number(e.n_patients)} patients)."
    elif e is not None:
        yield f"{name}: {e.status} ({e.reason})."


def _roc(result: LensResult) -> Figure | None:
    rows = result.tables.get("roc")
    if not rows:
        return None
    x = _x("fpr", "false alarms (1 − specificity)", domain=[0, 1])
    y = _x("sensitivity", "events found (sensitivity)", domain=[0, 1])
    points = []
    for threshold in thresholds(result):
        found = [find(result, name, {"threshold": threshold}) for name in ("specificity", "sensitivity")]
        if found[0] and found[1] and found[0].value is not None and found[1].value is not None:
            points.append({"fpr": 1 - found[0].value, "sensitivity": found[1].value, "at": f"at {threshold:g}"})
    dots = {"type": "point", "filled": True, "size": 90, "color": SECOND, "opacity": 1}
    words = {"type": "text", "align": "left", "baseline": "top", "dx": 9, "dy": 3, "color": INK, "fontSize": 12}
    marks = [
        {"data": {"values": points}, "mark": dots, "encoding": {"x": x, "y": y}},
        {"data": {"values": points}, "mark": words, "encoding": {"x": x, "y": y, "text": {"field": "at"}}},
    ]
    step = max(1, len(rows) // 20)
    kept = [row for i, row in enumerate(rows) if i % step == 0 or i == len(rows) - 1]
    table = Table(
        ("false alarms", "events found"),
        tuple((number(row["fpr"]), number(row["sensitivity"])) for row in kept),
        "Points of the ROC curve, thinned",
    )
    says = (
        "Each point is a threshold: how many events would be found, at the price of how many false alarms. "
        "The dashed line is chance.",
        *_said(find(result, "auroc", {}), "Area under the curve"),
    )
    spec = {**base(), "layer": [_diagonal(x, y), _line(rows, x, y), *(marks if points else [])]}
    return Figure("roc", "Discrimination: ROC curve", spec, says, table)


def _calibration(result: LensResult) -> Figure | None:
    curve = result.tables.get("calibration_curve")
    if not curve:
        return None
    band, tenths, ends = curve["spline"], curve["rug"], curve.get("ends") or []
    seen = [row[key] for row in (*band, *tenths, *ends) for key in ("risk", "observed") if row[key] is not None]
    seen += [row["high"] for row in band if row["high"] is not None and row["high"] < 1]
    end = min(1.0, ceil(20 * max([0.05, *seen])) / 20)
    x, y = _x("risk", "predicted risk", domain=[0, end]), _x("observed", "observed share", domain=[0, end])
    spread = {"type": "area", "clip": True, "color": FIRST, "opacity": 0.18}
    sides = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    dots = {"type": "point", "filled": True, "size": 55, "color": SECOND, "opacity": 1, "clip": True}
    ticks = {"type": "tick", "color": MUTED, "thickness": 1.5, "size": 8}
    layer = [
        {"data": {"values": list(band)}, "mark": spread, "encoding": sides},
        _diagonal(x, y, end),
        _line(band, x, y),
        {"data": {"values": list(tenths)}, "mark": dots, "encoding": {"x": x, "y": y}},
        {"data": {"values": list(tenths)}, "mark": ticks, "encoding": {"x": x, "y": {"value": HEIGHT - 4}}},
    ]
    if curve.get("loess"):
        layer.append(_line(curve["loess"], x, y, mark={"color": MUTED, "strokeWidth": 1.2}))
    if ends:
        bar = {"type": "rule", "color": INK, "strokeWidth": 1.5}
        square = {"type": "point", "shape": "square", "filled": True, "size": 70, "color": INK, "opacity": 1}
        held = {"values": [row for row in ends if row["low"] is not None]}
        layer.append({"data": held, "mark": bar, "encoding": sides})
        layer.append({"data": {"values": list(ends)}, "mark": square, "encoding": {"x": x, "y": y}})
    table = Table(
        ("tenth", "rows", "mean risk", "observed"),
        tuple((str(i + 1), number(r["n"]), number(r["risk"]), number(r["observed"])) for i, r in enumerate(tenths)),
        "Mean risk and observed share in tenths by risk",
    )
    says = (
        "On the dashed line risks mean what they say. Curve: restricted cubic spline with its 95 % band; dots and "
        "ticks: tenths of the rows by risk." + (" Thin grey: loess, for the eye alone." if curve.get("loess") else ""),
        *(_end_words(row) for row in ends),
        *_said(find(result, "calibration_slope", {}), "Calibration slope"),
        *_said(find(result, "oe_ratio", {}), "Observed / expected"),
        *chance_words(result),
    )
    return Figure("calibration", "Calibration: do risks mean what they say", {**base(), "layer": layer}, says, table)


def chance_words(result: LensResult) -> Iterator[str]:
    """The ICI beside that of a perfectly calibrated model: a fitted curve never lies on the diagonal."""
    chance = (result.tables.get("calibration_curve") or {}).get("by_chance")
    ici = find(result, "ici", {})
    if not chance or ici is None or ici.value is None:
        return
    mean, most = chance["ici"]["mean"], chance["ici"]["p95"]
    verdict = "more than chance explains" if ici.value > most else "so this one may be chance alone"
    alike = chance.get("within_patient_correlation")
    yield (
        f"ICI {number(ici.value)} ({ici.level:.0%} interval {interval(ici)}). If every risk were right, a curve "
        f"through so many rows would have an ICI of {number(mean)} on average and above {number(most)} one time in 20: "
        f"{verdict}."
    )
    if alike is not None:
        yield f"Outcomes of one patient were drawn alike for this, with a correlation of {number(alike)}."


def ends_table(ends: Sequence[Mapping[str, Any]]) -> Table:
    """Rows with a risk of 0 and of 1, which are no part of the curve."""
    rows = tuple(
        (f"{r['risk']:g}", number(r["n"]), number(r["events"]), number(r["observed"]), _ends_of(r)) for r in ends
    )
    heads = ("risk", "rows", "events", "observed", "95% interval")
    return Table(
        heads, rows, "Rows with a risk of 0 or 1, which have no log odds and no place on the curve", titled=True
    )


def _end_words(row: Mapping[str, Any]) -> str:
    return (
        f"Square at {row['risk']:g}: {number(row['n'])} rows were given a risk of {row['risk']:g}, and "
        f"{number(row['events'])} had the event ({percent(row['observed'])}; interval {_ends_of(row)})."
    )


def _ends_of(row: Mapping[str, Any]) -> str:
    return "–" if row["low"] is None else f"{number(row['low'])} to {number(row['high'])}"


def decision_rows(result: LensResult) -> list[Mapping[str, Any]]:
    """The decision curve. At the study's thresholds the ends are those of the table of decisions, which are made by
    resampling: one figure has one interval on a page."""
    held = {
        round(float(e.slice["threshold"]), 12): {"low": e.low, "high": e.high}
        for e in result.estimates
        if e.metric == "net_benefit" and set(e.slice) == {"threshold"} and e.level == 0.95 and e.low is not None
    }
    return [
        # A record made before the curve had a band keeps none: an end at one threshold alone is no band.
        {**row, **held.get(round(row["threshold"], 12), {})} if row.get("low") is not None else row
        for row in result.tables.get("decision_curve") or ()
    ]


def _benefit(result: LensResult) -> Figure | None:
    curve = decision_rows(result)
    if not curve:
        return None
    named = thresholds(result)
    best = max(max(row["model"], row["treat_all"]) for row in curve)
    useful = [row["threshold"] for row in curve if row["model"] > 0.03 * best]
    end = min(1.0, ceil(10 * max([0.2, *useful, *(1.2 * t for t in named)])) / 10)
    x = _x("threshold", "threshold risk", domain=[0, end])
    y = _x("benefit", "net benefit", domain=[-0.25 * max(best, 0.01), 1.05 * max(best, 0.01)], nice=False)
    names = ["the model", "treat all", "treat none"]
    colour = {"field": "choice", "scale": {"domain": names, "range": [FIRST, SECOND, MUTED]}}
    dash = {"field": "choice", "scale": {"domain": names, "range": [[1, 0], [7, 4], [2, 3]]}}
    rows = [
        {"threshold": row["threshold"], "benefit": row[key], "choice": words}
        for key, words in (("treat_all", "treat all"), ("treat_none", "treat none"), ("model", "the model"))
        for row in curve
        if row["threshold"] <= end + 0.01
    ]
    rules = {"type": "rule", "color": MUTED, "strokeWidth": 1, "strokeDash": [1, 3]}
    layer = [_line(rows, x, y, color=colour, strokeDash=dash)]
    band = [row for row in curve if row.get("low") is not None and row["threshold"] <= end + 0.01]
    if band:
        area = {"type": "area", "clip": True, "color": FIRST, "opacity": 0.18}
        sides = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
        layer.insert(0, {"data": {"values": band}, "mark": area, "encoding": sides})
    if named:
        ruled = {"values": [{"threshold": t} for t in named]}
        layer.append({"data": ruled, "mark": rules, "encoding": {"x": x}})
    shown = [row for row in curve if round(row["threshold"] * 100) % 5 == 0 and row["threshold"] <= max(end, 0.5)]
    table = benefit_table(shown)
    says = (
        "Is acting on the model better than acting on everyone or on no one? The highest line is the best choice at "
        "that threshold."
        + (" Band: 95 % intervals of the model, each threshold by itself." if band else "")
        + (" Dotted uprights: the thresholds of the study." if named else ""),
        *(
            line
            for t in named[:2]
            for line in _said(find(result, "net_benefit", {"threshold": t}), f"At {t:g}: net benefit")
        ),
    )
    return Figure("decision-curve", "Usefulness: decision curve", {**base(), "layer": layer}, says, table)


def benefit_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Net benefit at some thresholds, with what the model gains over treating all."""
    body = tuple(
        (
            f"{r['threshold']:g}",
            number(r["model"]),
            _ends(r.get("low"), r.get("high")),
            number(r["treat_all"]),
            number(r["model"] - r["treat_all"]),
            _ends(r.get("over_all_low"), r.get("over_all_high")),
            number(r["avoided_per_100"]),
        )
        for r in rows
    )
    gain = ("model less treat all", "95% interval of the gain")
    heads = ("threshold", "model", "95% interval", "treat all", *gain, "interventions avoided per 100")
    return Table(heads, body, "Net benefit by threshold")


def _ends(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{number(low)} to {number(high)}"


def _distribution(result: LensResult) -> Figure | None:
    bins = result.tables.get("risk_distribution")
    if not bins or any(row["share"] is None for row in bins):
        return None
    names = ["with the event", "without the event"]
    rows = [
        {
            "from": row["from"],
            "to": row["to"],
            "share": row["share"] if row["outcome"] == 1 else -row["share"],
            "who": names[0] if row["outcome"] == 1 else names[1],
        }
        for row in bins
    ]
    # The sign only sets the side of the axis, so labels show it away.
    axis = {"labelExpr": "format(abs(datum.value), '.0%')"}
    encoding = {
        "x": {
            **_x("from", "predicted risk", domain=[0, 1]),
            "bin": {"binned": True, "step": 0.05},
            "axis": {"values": [0, 0.2, 0.4, 0.6, 0.8, 1], "format": ".1f", "grid": True},
        },
        "x2": {"field": "to"},
        "y": {"field": "share", "type": "quantitative", "title": "share of patients' rows", "axis": axis},
        "color": {
            "field": "who",
            "scale": {"domain": names, "range": [SECOND, FIRST]},
            "legend": {"symbolType": "square", "symbolSize": 120},
        },
    }
    zero = {"data": {"values": [{"y": 0}]}, "mark": {"type": "rule", "color": INK}, "encoding": {"y": {"datum": 0}}}
    bars = {"data": {"values": rows}, "mark": {"type": "bar", "binSpacing": 1}, "encoding": encoding}
    shares = {(row["outcome"], row["from"]): row["share"] for row in bins}
    table = Table(
        ("risk", *names),
        tuple(
            (f"{row['from']:.2f} to {row['to']:.2f}", percent(shares[1, row["from"]]), percent(row["share"]))
            for row in bins
            if row["outcome"] == 0
        ),
        "Share of rows per twentieth of risk",
    )
    about = result.tables.get("summary") or {}
    says = ["Above the line: rows with the event; below: without. The less alike, the better the model separates them."]
    if about:
        says.append(
            f"Mean predicted risk {percent(about['predicted'])}; observed {percent(about['observed'])} "
            f"({number(about['events'])} events in {number(about['rows'])} rows)."
        )
    return Figure("risks", "Spread of risks by outcome", {**base(), "layer": [bars, zero]}, tuple(says), table)
