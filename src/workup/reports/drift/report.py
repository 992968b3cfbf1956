"""The monitoring report: what was watched, what changed since the baseline, which alerts stand, what may be done."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot
from typing import Any

from workup.report import Z_POWER, Estimate, LensResult, Report
from workup.reports import case_mix
from workup.reports.charts.figure import Figure
from workup.reports.drift.charts import control_charts
from workup.reports.drift.dots import gap_charts, input_dots
from workup.reports.drift.outlook import ahead, inputs, kinds, labels
from workup.reports.drift.series import Row, counted, last_judged, series_words, span, watched
from workup.reports.drift.signals import active, chart_state, fairness, loudest, resolved, standing
from workup.reports.layout import Section, Table
from workup.reports.wording import at_threshold, drawn, group_words, interval, number, patients, plural, signed

_NOT_GROUPS = ("window", "acted")


@drawn
def sections(report: Report) -> list[Section]:
    """The sections of the monitoring report, in the order people know."""
    result = report.results.get("drift")
    if result is None:
        return []
    return [
        _period(result),
        _now(result),
        chart_state(result),
        active(result),
        resolved(result),
        fairness(result),
        inputs(result),
        *case_mix.section(
            result, title="How the latest patients differ from the baseline", key="drift-case-mix", latest="window"
        ),
        kinds(result),
        labels(report),
        ahead(result),
        _acted(report),
    ]


@drawn
def figures(report: Report) -> dict[str, list[Figure]]:
    """Control charts of the series that matter most, gaps over time, and inputs by window."""
    result = report.results.get("drift")
    if result is None:
        return {}
    found = {
        "drift-charts": control_charts(result),
        "drift-fairness": gap_charts(result),
        "drift-inputs": input_dots(result),
    }
    return {key: charts for key, charts in found.items() if charts}


@drawn
def headline(report: Report) -> Iterator[str]:
    """The sentences a reader should leave with."""
    result = report.results.get("drift")
    if result is not None:
        yield standing(result)
        yield from loudest(result)


def _period(result: LensResult) -> Section:
    rows = result.tables.get("windows", ())
    before = [row for row in rows if row.get("period") == "baseline"]
    said = [standing(result)]
    if before:
        held = (
            ""
            if any(row["rows"] is None for row in before)
            else ": " + plural(sum(row["rows"] for row in before), "row")
        )
        if held and before[0]["events"] is not None:
            held += f" with {plural(sum(row['events'] for row in before), 'event')}"
        said.append(f"The baseline is {counted(result, len(before))}{span(before)}{held}.")
    for status, words in (
        ("insufficient", "Too little to judge by"),
        ("immature", "Too young, with outcomes that are not all known yet"),
    ):
        names = [str(row["window"]) for row in watched(result) if row["status"] == status]
        if names:
            said.append(f"{words}: {', '.join(names)}.")
    heads = ("window", "period", "from", "until", "rows", "patients", "events", "waiting", "status", "reason")
    body = tuple(_window(result, row) for row in rows)
    table = Table(heads, body, "Every window; 'until' is not part of it, and waiting rows have no outcome yet")
    return Section("Period and windows", tuple(said), (table,), key="drift")


def _window(result: LensResult, row: Row) -> tuple[str, ...]:
    merged = result.settings.get("small") == "merge" and " to " in str(row["window"])
    counts = (number(row[name]) for name in ("rows", "patients", "events", "waiting"))
    status = f"{row['status']}, merged" if merged else str(row["status"])
    when = (str(row.get(name, fallback)) for name, fallback in (("period", "watched"), ("start", "–"), ("end", "–")))
    return (str(row["window"]), *when, *counts, status, str(row["reason"] or ""))


def _now(result: LensResult) -> Section:
    """The baseline beside the latest window: everyone, then groups."""
    last = last_judged(result)
    said = "No window after the baseline could be judged, so there is nothing to hold against it."
    if last is not None:
        said = (
            f"Latest is {last}, the last window that could be judged. A change is latest less baseline, and its 95 % "
            "interval squares and adds the two; alerts judge by standard errors, so theirs may differ a little. The "
            "smallest change is the least that one such comparison would find with 80 % power."
        )
    if not result.estimates:  # a monitor that runs on keeps points, not rows to estimate from
        said = "Baseline and last value of every series stand under Control charts; this record holds no more of them."
    pairs = _pairs(result, acted=False)
    by = set(result.settings.get("by") or ())
    tables = []
    for grouped, caption in ((False, "Baseline and latest window"), (True, "Baseline and latest window by group")):
        body = tuple(_pair(*pair) for pair in pairs if bool(by & set(pair[0].slice)) == grouped)
        if body:
            tables.append(Table(_HEADS, body, caption))
    return Section("Baseline and now", (said,), tuple(tables), key="drift-now")


_HEADS = ("metric", "who", "baseline", "latest", "change", "patients then, now", "smallest change", "status")


def _pairs(result: LensResult, *, acted: bool) -> list[tuple[Estimate, Estimate | None]]:
    """Each estimate of the baseline with the latest one of the same metric on the same slice."""

    def place(e: Estimate) -> tuple[Any, ...]:
        return (e.metric, *sorted((key, str(value)) for key, value in e.slice.items() if key != "window"))

    found = [e for e in result.estimates if e.level == 0.95 and ("acted" in e.slice) == acted]
    latest = {place(e): e for e in found if e.slice.get("window") == "latest"}
    return [(e, latest.get(place(e))) for e in found if e.slice.get("window") == "baseline"]


def _pair(base: Estimate, now: Estimate | None) -> tuple[str, ...]:
    keys = {key: value for key, value in base.slice.items() if key not in _NOT_GROUPS}
    faults = [f"{name} {e.status}: {e.reason}" for name, e in (("then", base), ("now", now)) if e and e.status != "ok"]
    return (
        at_threshold(base.metric, keys),
        group_words(keys),
        _figure(base),
        "–" if now is None else _figure(now),
        _change(base, now),
        f"{patients(base)}, {'–' if now is None else patients(now)}",
        _smallest(base, now),
        "; ".join(faults) or ("ok" if now is not None else "no window could be judged"),
    )


def _figure(e: Estimate) -> str:
    return number(e.value) if e.low is None or e.high is None else f"{number(e.value)} ({interval(e)})"


def _change(base: Estimate, now: Estimate | None) -> str:
    """Zou and Donner's square and add: each interval says how far its own side may be off."""
    if now is None or base.value is None or now.value is None:
        return "–"
    moved = now.value - base.value
    if base.low is None or base.high is None or now.low is None or now.high is None:
        return f"{signed(moved)} (no interval)"
    low = moved - hypot(now.value - now.low, base.high - base.value)
    high = moved + hypot(now.high - now.value, base.value - base.low)
    return f"{signed(moved)} ({signed(low)} to {signed(high)})"


def _smallest(base: Estimate, now: Estimate | None) -> str:
    sound = now is not None and base.status == "ok" and now.status == "ok"
    if not sound or now is None or not base.se or not now.se:  # a share of all or none has no error to go by
        return "–"
    return number(Z_POWER * hypot(base.se, now.se))


def _acted(report: Report) -> Section:
    """All rows beside rows that no one acted on."""
    title, key = "All rows beside rows not acted on", "drift-acted"
    result = report.results["drift"]
    spared, back = _pairs(result, acted=True), result.tables.get("held_back", ())
    note = [note for note in result.notes if note.startswith("Some rows were acted on")]
    if not (note or spared or back):
        said = (
            "The data do not say which rows were acted on (columns.acted), so no one can tell how far the system's own "
            "use changed what happened."
        )
        return Section(title, (said,), key=key)
    said_back = (
        f"{plural(len(back), 'alert')} held back, because rows that were not acted on do not bear the change out."
    )
    tables = [Table(("metric", "rows", *_HEADS[2:]), tuple(_beside(result, spared)), title)] if spared else []
    if back:
        body = tuple(
            (
                series_words(row.get("type", "performance"), row["metric"], row["slice"]),
                str(row["window"]),
                signed(row["effect"]),
                str(row["reason"]),
            )
            for row in back
        )
        tables.append(Table(("series", "window", "change in all rows", "why no alert"), body, "Alerts held back"))
    return Section(title, (*note, said_back), tuple(tables), key=key)


def _beside(result: LensResult, spared: list[tuple[Estimate, Estimate | None]]) -> Iterator[tuple[str, ...]]:
    by = set(result.settings.get("by") or ())
    whole = {_pair(*pair)[0]: _pair(*pair) for pair in _pairs(result, acted=False) if not by & set(pair[0].slice)}
    for pair in spared:
        cells = _pair(*pair)
        if cells[0] in whole:
            yield (cells[0], "all", *whole[cells[0]][2:])
        yield (cells[0], "not acted on", *cells[2:])
