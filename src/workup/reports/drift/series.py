"""The drift lens's record as a reader thinks of it: windows, and the series that charts follow. Draws nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from workup.report import LensResult, canonical
from workup.reports.wording import at_threshold, group_words, number, plural

Row = Mapping[str, Any]

CHART_WORDS = {
    "ewma": "EWMA",
    "cusum": "CUSUM",
    "xmr": "XmR",
    "p": "p",
    "p_prime": "p′ (Laney)",
    "ra_cusum": "risk-adjusted CUSUM",
}
_NO_BASELINE = "no baseline"  # how the reason of a series that is never judged begins
_ON_Z = ("ewma", "cusum", "ra_cusum")  # charts of a running sum; the others chart the value itself


@dataclass(frozen=True)
class Series:
    """One series on one chart: its state in every watched window, in order."""

    rows: tuple[Row, ...]

    @property
    def chart(self) -> str:
        """The chart's name in the record."""
        return str(self.rows[0]["chart"])

    @property
    def type(self) -> str:
        """`performance`, or `fairness` where it is a gap."""
        return str(self.rows[0]["type"])

    @property
    def metric(self) -> str:
        """The metric's name in the record."""
        return str(self.rows[0]["metric"])

    @property
    def slice(self) -> Row:
        """Whom it follows, and at which threshold."""
        found: Row = self.rows[0]["slice"]
        return found

    @cached_property
    def cause(self) -> str:
        """What an alert of this series is known by."""
        # The alert of the risk-adjusted CUSUM carries the chart's name, since its ratio is of recalibrated risks.
        metric = "risk_adjusted_cusum" if self.chart == "ra_cusum" else self.metric
        return cause_of(self.type, metric, self.slice)

    @property
    def words(self) -> str:
        """The series as a reader names it."""
        return series_words(self.type, self.metric, self.slice)

    @cached_property
    def last(self) -> Row:
        """The last window that could be judged, or the last one where none could."""
        known = [row for row in self.rows if row["status"] == "ok"]
        return (known or self.rows)[-1]

    @property
    def has_baseline(self) -> bool:
        """Is there a baseline to judge by?"""
        known = [row for row in self.rows if not str(row["reason"]).startswith(_NO_BASELINE)]
        return bool(known) and known[0]["baseline"] is not None and any(row["upper"] is not None for row in known)

    @cached_property
    def signal_windows(self) -> tuple[str, ...]:
        """The windows in which it signals."""
        return tuple(str(row["window"]) for row in self.rows if row["signal"])

    @property
    def signals_now(self) -> bool:
        """Does it signal in the last window that could be judged?"""
        return bool(self.last["signal"])

    @property
    def of_values(self) -> bool:
        """Does the chart show the values themselves, and not a running sum?"""
        return self.chart not in _ON_Z


def every_series(result: LensResult) -> list[Series]:
    """All series of all charts, in the order of the record."""
    found: dict[str, list[Row]] = {}
    # A chart knows that a window was not judged; the list of windows knows whether it was too small or too young.
    why = {row["window"]: row for row in watched(result) if row["status"] == "immature"}
    for row in result.charts_state:
        unknown = row["status"] != "ok" and not str(row["reason"]).startswith(_NO_BASELINE)
        young = why.get(row["window"]) if unknown else None
        told = row if young is None else {**row, "status": young["status"], "reason": young["reason"] or "too young"}
        found.setdefault(canonical([row["chart"], row["type"], row["metric"], row["slice"]]), []).append(told)
    return [Series(tuple(rows)) for rows in found.values()]


def cause_of(type: str, metric: str, slice: Row) -> str:
    """One text for one cause of an alert."""
    return canonical([type, metric, slice])


def series_words(type: str, metric: str, slice: Row) -> str:
    """A series as a reader names it.

    >>> series_words("performance", "sensitivity", {"sex": "F", "threshold": 0.2})
    'sensitivity at 0.2, sex F'
    >>> series_words("fairness", "alert_rate", {"sex": "F"})
    'gap in alert rate, sex F less the rest'
    """
    what, whom = metric_words(metric, slice), group_words(slice)
    if type == "fairness":
        return f"gap in {what}, {whom} less the rest"
    return what if whom == "all" else f"{what}, {whom}"


def metric_words(metric: str, slice: Row) -> str:
    """A metric by its title; the alert of one chart goes by the chart's name."""
    return CHART_WORDS["ra_cusum"] if metric == "risk_adjusted_cusum" else at_threshold(metric, slice)


def watched(result: LensResult) -> list[Row]:
    """The windows after the baseline; a monitor that runs on lists no others."""
    return [row for row in result.tables.get("windows", ()) if row.get("period", "watched") == "watched"]


def last_judged(result: LensResult) -> str | None:
    """The last watched window that held enough and was old enough."""
    return next((str(row["window"]) for row in reversed(watched(result)) if row["status"] == "ok"), None)


def counted(result: LensResult, count: int, *, watched: bool = False) -> str:
    """So many windows, by the name of their size: "12 watched months"."""
    size = result.settings.get("window")
    return plural(count, ("watched " if watched else "") + (size if isinstance(size, str) else "window"))


def span(rows: Sequence[Row]) -> str:
    """From when until when, in brackets, where that is known."""
    return f" ({rows[0]['start']} until {rows[-1]['end']})" if rows and "start" in rows[0] else ""


def ends_of(row: Row) -> str:
    """The limits of a chart in one window."""
    if row["lower"] is None or row["upper"] is None:
        return "–"
    return f"{number(row['lower'])} to {number(row['upper'])}"
