"""When facts are lost: Kaplan and Meier's curves of first loss and of loss for good, with those at risk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any

from workup.report import Report
from workup.reports.charts.figure import FIRST, INK, MUTED, SECOND, Figure, Spec, base
from workup.reports.conversation.curves import ALL_LABELS, APART, HEIGHT, WIDTH, spread, ticks, written
from workup.reports.conversation.setting import Setting
from workup.reports.conversation.turns import table_of
from workup.reports.conversation.words import SET_WORDS
from workup.reports.layout import Section, Table
from workup.reports.spans.words import share
from workup.reports.wording import number

Rows = Sequence[Mapping[str, Any]]
_NAMES = {"first": "first loss", "sustained": "for good"}
_LOOKS = {"first": (FIRST, [1, 0]), "sustained": (SECOND, [6, 4])}
NO_BANDS = "The record holds no bands for these curves; the restricted means above have their intervals."


def section(report: Report) -> Section:
    """Both curves by set, for the arm of the headline, with the oracle's first loss beside them."""
    rows, setting = table_of(report, "losses") or (), Setting.of(report)
    if not rows:
        return Section("")
    said = [
        "The clock of a fact starts at 1 in the turn that introduces it. It is lost first when it is missing or wrong "
        "for the first time, and for good when it never comes back.",
        "One that is missing at the last turn counts as lost for good, since nothing says that it would have come "
        "back, so that this curve falls at the end. Facts that are retired or replaced are followed until then.",
    ]
    said += [] if any(banded(row) for row in rows) else [NO_BANDS]
    kinds = _kinds(rows, setting)
    tables = tuple(loss_table(rows, kind, setting.arm) for kind in kinds)
    return Section("When facts are lost", tuple(said), tables, key="losses")


def banded(row: Mapping[str, Any]) -> bool:
    """Has a row of the curve its interval?"""
    return row.get("low") is not None and row.get("high") is not None


def _kinds(rows: Rows, setting: Setting) -> list[str]:
    """Sets to show; one where both are the same facts."""
    held = list(dict.fromkeys(str(row["set"]) for row in rows if row["arm"] == setting.arm))
    curves = {kind: [(row["at_risk"], row["lost"]) for row in _of(rows, kind, setting.arm)] for kind in held}
    same = len(held) == 2 and curves[held[0]] == curves[held[1]]
    return [kind for kind in held if kind == setting.kind or not same] or held[:1]


def _of(rows: Rows, kind: str, arm: str, loss: str = "") -> list[Mapping[str, Any]]:
    return [row for row in rows if (row["set"], row["arm"]) == (kind, arm) and loss in ("", row["loss"])]


def loss_table(rows: Rows, kind: str, arm: str) -> Table:
    """Both curves tick by tick."""
    by = {loss: {row["clock"]: row for row in _of(rows, kind, arm, loss)} for loss in _NAMES}
    clocks = sorted({clock for curve in by.values() for clock in curve})
    body = tuple((str(clock), *(cell for loss in _NAMES for cell in _cells(by[loss].get(clock)))) for clock in clocks)
    heads = ("clock", *(f"{name}: {what}" for name in _NAMES.values() for what in ("at risk", "lost", "kept (95%)")))
    return Table(heads, body, f"Loss on each fact's own clock, {SET_WORDS[kind]}, arm {arm}", titled=True)


def _cells(row: Mapping[str, Any] | None) -> tuple[str, str, str]:
    if row is None:
        return "–", "–", "–"
    if row["kept"] is None:
        return number(row["at_risk"]), number(row["lost"]), "nobody followed"
    between = f" ({share(row['low'])} to {share(row['high'])})" if banded(row) else ""
    return number(row["at_risk"]), number(row["lost"]), share(row["kept"]) + between


def figures(report: Report) -> dict[str, list[Figure]]:
    """One chart for each set."""
    rows, setting = table_of(report, "losses") or (), Setting.of(report)
    if not rows:
        return {}
    return {"losses": [_figure(rows, kind, setting.arm) for kind in _kinds(rows, setting)]}


def _figure(rows: Rows, kind: str, arm: str) -> Figure:
    curves = {loss: _of(rows, kind, arm, loss) for loss in _NAMES}
    last = max(row["clock"] for curve in curves.values() for row in curve)
    x: Spec = {
        "field": "x",
        "type": "quantitative",
        "title": "clock of the fact (turns)",
        "scale": {"domain": [0, last], "nice": False},
        "axis": {"values": [0, *ticks(last, ceil(last / 11))], "format": "d", "grid": False, **ALL_LABELS},
    }
    y: Spec = {"field": "kept", "type": "quantitative", "title": "facts not yet lost"}
    y |= {"scale": {"domain": [0, 1], "nice": False}, "axis": {"format": ".0%"}}
    layer: list[Spec] = []
    for loss, curve in reversed(curves.items()):
        layer += _steps(curve, _LOOKS[loss], x, y)
    oracle = _of(rows, kind, "oracle", "first") if arm != "oracle" else []
    if oracle:
        layer += _steps(oracle, (MUTED, [2, 3]), x, y, band=False)
    layer += [*_ends({**curves, **({"oracle": oracle} if oracle else {})}), *_at_risk(curves, x)]
    says = ["Steps: the share of facts not yet lost, first and for good." + (_oracle_words if oracle else "")]
    says += ["Bands: 95 %, by resampling cases."] if any(banded(row) for row in curves["first"]) else []
    says.append("Below the axis: facts at risk.")
    spec = {**base(width=WIDTH - 10, height=HEIGHT), "layer": layer}
    title = f"Facts not yet lost, {SET_WORDS[kind]}"
    return Figure(f"losses-{kind}", title, spec, tuple(says), loss_table(rows, kind, arm))


_oracle_words = " Dotted: first loss with the facts alone (oracle)."


def _steps(curve: Rows, look: tuple[str, list[int]], x: Spec, y: Spec, *, band: bool = True) -> Iterator[Spec]:
    colour, dash = look
    start = {"x": 0, "kept": 1.0, "low": 1.0, "high": 1.0}
    points = [start, *({"x": row["clock"], **{k: row.get(k) for k in ("kept", "low", "high")}} for row in curve)]
    data = {"values": [point for point in points if point["kept"] is not None]}
    line = {"type": "line", "interpolate": "step-after", "strokeWidth": 2.3, "color": colour, "strokeDash": dash}
    if band and any(banded(row) for row in curve):
        area = {"type": "area", "interpolate": "step-after", "opacity": 0.15, "color": colour}
        known = {"values": [point for point in points if point["low"] is not None and point["high"] is not None]}
        yield {"data": known, "mark": area, "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}}
    yield {"data": data, "mark": line, "encoding": {"x": x, "y": y}}


def _ends(curves: Mapping[str, Rows]) -> Iterator[Spec]:
    last = {
        name: next((row["kept"] for row in reversed(curve) if row["kept"] is not None), None)
        for name, curve in curves.items()
    }
    at = spread({name: (1 - kept) * HEIGHT for name, kept in last.items() if kept is not None}, apart=APART)
    for name, place in at.items():
        yield written(_NAMES.get(name, name), WIDTH - 2, place)


def _at_risk(curves: Mapping[str, Rows], x: Spec) -> Iterator[Spec]:
    """Numbers at risk below the axis, a row for each curve."""
    for place, (loss, curve) in enumerate(curves.items()):
        y = HEIGHT + 50 + 15 * place
        longest = max((len(number(row["at_risk"])) for row in curve), default=1)
        step = ceil(len(curve) / (9 if longest > 3 else 11))
        shown = [row for row in curve if row["clock"] in ticks(len(curve), max(1, step))]
        values = [{"x": row["clock"], "words": number(row["at_risk"])} for row in shown]
        mark = {"type": "text", "baseline": "middle", "color": INK, "fontSize": 10.5}
        encoding = {"x": x, "y": {"value": y}, "text": {"field": "words"}}
        yield {"data": {"values": values}, "mark": mark, "encoding": encoding}
        yield written(_NAMES[loss], -6, y, align="right", fontSize=10.5, color=MUTED)
