"""What charts and alerts say: where every series stands, which alerts are active or resolved, gaps over time."""

from __future__ import annotations

from collections.abc import Iterator

from workup.report import LensResult
from workup.reports.drift.series import (
    CHART_WORDS,
    Row,
    Series,
    cause_of,
    counted,
    ends_of,
    every_series,
    series_words,
    span,
    watched,
)
from workup.reports.layout import Section, Table
from workup.reports.wording import number, plural

MOST_WINDOWS = 12  # columns of a table over time; the record holds all
_KINDS = {"fairness": "fairness gap"}


def standing(result: LensResult) -> str:
    """How many alerts are open, over how much that could be judged."""
    rows = watched(result)
    opened, known = in_state(result, "open"), in_state(result, "acknowledged")
    high = sum(alert["severity"] == "high" for alert in opened)
    said = "1 alert is open" if len(opened) == 1 else f"{len(opened) or 'no'} alerts are open"
    if opened:
        said += f" ({high} of high and {len(opened) - high} of medium severity)"
    if known:
        said += f" and {len(known)} acknowledged"
    first = f"In {counted(result, len(rows), watched=True)}{span(rows)} {said}."
    few = sum(row["status"] != "ok" for row in rows)
    if few == len(rows):
        return f"{first} None of them could be judged, so that no performance alert is open says nothing."
    return first + (f" {few} of the windows could not be judged." if few else "")


def in_state(result: LensResult, state: str) -> list[Row]:
    """The alerts in one state, the severe ones first."""
    found = [alert for alert in result.alerts if alert["state"] == state]
    return sorted(found, key=lambda alert: alert["severity"] != "high")


def loudest(result: LensResult) -> Iterator[str]:
    """The first open alerts as sentences: those of the system itself before those of its inputs."""
    opened = sorted(in_state(result, "open"), key=lambda alert: (alert["severity"] != "high", alert["type"] == "input"))
    for alert in opened[:3]:
        severity = str(alert["severity"]).capitalize()
        yield f"{severity} severity since {alert['window']}, {_subject(alert)}: {_message(alert)}"
    if len(opened) > 3:
        yield f"{len(opened) - 3} more open alerts are listed under Active alerts."


def _subject(alert: Row) -> str:
    if alert["type"] == "input":
        return f"input {alert['metric']}"
    return series_words(alert["type"], alert["metric"], alert["slice"])


def _message(alert: Row) -> str:
    words = str(alert["message"])
    return words if words.endswith(".") else f"{words}."


def chart_state(result: LensResult) -> Section:
    """Where every series stands on every chart; those that signal come first."""
    title, key = "Control charts", "drift-charts"
    found = every_series(result)
    if not found:
        return Section(title, ("No series was followed.",), key=key)
    now = [one for one in found if one.signals_now]
    ever = sum(bool(one.signal_windows) for one in found)
    causes = len({one.cause for one in found})
    said = [
        f"{plural(len(found), 'chart')} of {causes} series. Signals in the last window that each could judge: "
        f"{len(now)}; in any window: {ever}. A signal by itself is no alert: the change must also be for the worse, "
        "reach its limit, and have a 95 % interval that excludes none."
    ]
    bare = sum(not one.has_baseline for one in found)
    if bare:
        said.append(f"{plural(bare, 'chart')} without a baseline, because a group is too small in it: not judged.")
    open_causes = {cause_of(a["type"], a["metric"], a["slice"]) for a in result.alerts if a["state"] != "resolved"}
    points = tuple(
        f"Signals and has no active alert: {one.words} on the {CHART_WORDS.get(one.chart, one.chart)} chart "
        f"({_why_quiet(result, one)})."
        for one in now
        if one.cause not in open_causes
    )
    order = sorted(found, key=lambda one: (not one.signals_now, not one.signal_windows))
    heads = ("series", "chart", "window", "value", "baseline", "z", "statistic", "limits", "signals in", "status")
    table = Table(heads, tuple(map(_chart_row, order)), "Each chart in the last window that it could judge")
    return Section(title, tuple(said), (table,), points, key=key)


def _why_quiet(result: LensResult, one: Series) -> str:
    rows = result.tables.get("held_back", ())
    held = {(cause_of(row.get("type", "performance"), row["metric"], row["slice"]), row["window"]) for row in rows}
    if (one.cause, one.last["window"]) in held:
        return "held back: rows that were not acted on do not show it"
    return "the change is for the better, within its limit, or not clear in that window by itself"


def _chart_row(one: Series) -> tuple[str, ...]:
    row = one.last
    known = row["status"] == "ok"
    status = "ok" if known else f"{row['status']}: {row['reason']}"
    return (
        one.words,
        CHART_WORDS.get(one.chart, one.chart),
        str(row["window"]),
        number(row["value"]) if known else "–",
        number(row["baseline"]),
        number(row["z"]) if known else "–",
        number(row["statistic"]),
        ends_of(row),
        ", ".join(one.signal_windows) or "none",
        status,
    )


def active(result: LensResult) -> Section:
    """Open alerts, then acknowledged ones, the severe first."""
    rows = [*in_state(result, "open"), *in_state(result, "acknowledged")]
    body = tuple(
        (
            str(alert["severity"]),
            _KINDS.get(alert["type"], str(alert["type"])),
            _subject(alert),
            str(alert["window"]),
            str(alert.get("worst_window") or "–"),
            str(alert.get("last_window") or alert["window"]),
            str(alert["state"]),
            _message(alert),
            number(alert.get("relapses") or 0),
        )
        for alert in rows
    )
    heads = ("severity", "kind", "what", "opened in", "worst in", "last seen in", "state", "message", "came back")
    tables = (Table(heads, body, "Active alerts, the severe ones first; the message is of the worst window"),)
    return Section("Active alerts", (standing(result),), tables if rows else (), key="drift-alerts")


def resolved(result: LensResult) -> Section:
    """Alerts that have been quiet for long enough."""
    title, key = "Resolved alerts", "drift-resolved"
    rows = in_state(result, "resolved")
    if not rows:
        return Section(title, ("No alert has been resolved.",), key=key)
    body = tuple(
        (
            str(alert["severity"]),
            _subject(alert),
            str(alert["window"]),
            str(alert.get("resolved_window") or "–"),
            _message(alert),
        )
        for alert in rows
    )
    said = f"{plural(len(rows), 'alert')} resolved, each after {plural(result.settings['quiet'], 'quiet window')}."
    heads = ("severity", "what", "opened in", "resolved in", "last message")
    return Section(title, (said,), (Table(heads, body, "Resolved alerts"),), key=key)


def fairness(result: LensResult) -> Section:
    """Gaps in every window: a group less everyone else."""
    title, key = "Fairness over time", "drift-fairness"
    found = gap_series(result)
    if not found:
        said = "No gap between groups is followed: the study names no groups, or no metric that parity is asked of."
        return Section(title, (said,), key=key)
    names = [str(row["window"]) for row in watched(result)]
    shown = names[-MOST_WINDOWS:]
    said = "A gap is a group less everyone else; its interval is 1.96 standard errors either way."
    if len(shown) < len(names):
        said += f" The last {len(shown)} of {len(names)} windows are listed; report.json holds all."
    body = []
    for one in found:
        by_window = {str(row["window"]): row for row in one.rows}
        cells = (_gap(by_window.get(name)) for name in shown)
        body.append((one.words, number(one.last["baseline"]), _gap_now(one.last), *cells))
    heads = ("gap", "in the baseline", "last that could be judged", *shown)
    return Section(title, (said,), (Table(heads, tuple(body), "Gaps by window"),), key=key)


def gap_series(result: LensResult) -> list[Series]:
    """Every gap once, from the first chart that follows it."""
    found: dict[str, Series] = {}
    for one in every_series(result):
        if one.type == "fairness":
            found.setdefault(one.cause, one)
    return list(found.values())


def _gap(row: Row | None) -> str:
    return "–" if row is None or row["status"] != "ok" else number(row["value"])


def _gap_now(row: Row) -> str:
    if row["status"] != "ok" or row["se"] is None:
        return f"{row['status']}: {row['reason']}"
    half = 1.959964 * row["se"]
    ends = f"{number(row['value'] - half)} to {number(row['value'] + half)}"
    return f"{number(row['value'])} ({ends}) in {row['window']}"
