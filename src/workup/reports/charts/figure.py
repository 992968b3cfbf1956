"""What all charts share: a Figure, its size, type and colours. Charts are Vega-Lite specs, plain dicts with their data
inside; nothing is drawn here, and every string from the record is data, never a field name or an expression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workup.gates import same_slice
from workup.report import Estimate, LensResult
from workup.reports.layout import Table

# Blue and vermilion stay apart for every common kind of colour blindness (Okabe and Ito); lines differ in dash too.
# A page maps these exact values to those of its dark theme.
INK, MUTED, GRID, FIRST, SECOND = "#1f2933", "#5f6b76", "#dde2e7", "#0072b2", "#b8430a"
WIDTH, HEIGHT = 340, 250

Spec = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """A chart: its spec, the sentences that say what it shows, and the figures behind it."""

    key: str
    title: str
    spec: Spec
    says: tuple[str, ...]
    table: Table
    wide: bool = False  # cannot shrink to a telephone and stay readable, so it scrolls there


def base(*, width: int = WIDTH, height: int = HEIGHT) -> Spec:
    """What all charts share: size, type and quiet axes."""
    axis = {
        "gridColor": GRID,
        "domainColor": MUTED,
        "tickColor": MUTED,
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "tickCount": 5,
    }
    legend = {"orient": "top", "title": None, "labelColor": INK, "labelFontSize": 12, "symbolStrokeWidth": 2.5}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": width,
        "height": height,
        "background": None,
        "config": {
            "font": "Arial, Liberation Sans, sans-serif",
            "aria": False,
            "view": {"stroke": None},
            "axis": axis,
            "legend": {**legend, "symbolSize": 320, "labelLimit": 300},
        },
    }


def find(result: LensResult, metric: str, keys: Mapping[str, Any]) -> Estimate | None:
    """The 95 % estimate of a metric on exactly this slice."""
    rows = (e for e in result.estimates if e.metric == metric and e.level == 0.95 and same_slice(e.slice, keys))
    return next(rows, None)
