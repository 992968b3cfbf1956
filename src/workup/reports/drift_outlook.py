"""Why it changed and what comes next: inputs, kinds of drift, labels that are late, trends, and options by kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workup.report import LensResult, Report
from workup.reports.drift_series import Row, every_series, last_judged, series_words, watched
from workup.reports.layout import Section, Table
from workup.reports.wording import METRIC_TITLES, at_threshold, number, p_value, percent, plural, signed

TOGETHER = "all inputs together"
_MISSING = " (missing)"
_FOREVER = 99  # years: a date further off than that is no forecast
_RANKING = ("auroc", "auprc")
_MEANING = (
    *("calibration_slope", "calibration_in_the_large", "oe_ratio", "risk_adjusted_cusum"),
    *("brier", "scaled_brier", "ici", "ece"),
)


def inputs(result: LensResult) -> Section:
    """Every input of the latest window, and all that were flagged in any."""
    title, key = "Drift of inputs", "drift-inputs"
    rows = result.tables.get("inputs", ())
    if not rows:
        return Section(title, ("No inputs are named (columns.inputs), so their drift is not looked for.",), key=key)
    window = rows[-1]["window"]
    latest = [row for row in rows if row["window"] == window]
    flagged = [row for row in rows if row["flagged"]]
    now = [row["input"] for row in latest if row["flagged"]]
    unknown = sum(row["flagged"] is None for row in latest)
    said = [
        f"In {window}, the latest window, {len(now)} of {plural(len(latest), 'comparison')} with the baseline are flagged"
        + (f": {', '.join(now)}." if now else ".")
        + (f" {plural(unknown, 'input')} could not be compared." if unknown else ""),
        "An input is flagged when its change is significant among all inputs of the window (Benjamini and Hochberg) and as "
        "large as its limit. Rows that wait for their outcome count here too.",
    ]
    heads = ("input", "test", "statistic", "adjusted p", "change", "limit", "flagged", "more", "reason")
    tables = [Table(heads, tuple(_input(row) for row in latest), f"Inputs in {window}")]
    if flagged:
        body = tuple((str(row["window"]), *_input(row)[:6], _more(row)) for row in flagged)
        tables.append(Table(("window", *heads[:6], "more"), body, "Flagged in any window"))
    return Section(title, tuple(said), tuple(tables), key=key)


def _input(row: Row) -> tuple[str, ...]:
    answer = {True: "yes", False: "no"}.get(row["flagged"], "not judged")
    return (
        str(row["input"]),
        str(row["test"] or "–"),
        number(row["statistic"]),
        p_value(row["p_adjusted"]),
        _effect(row),
        number(row["limit"]),
        answer,
        _more(row),
        str(row["reason"] or ""),
    )


def _effect(row: Row) -> str:
    if row["effect"] is None:
        return "beyond measure: no spread in the baseline" if row["flagged"] else "–"
    return f"{number(row['effect'])} {row['effect_is']}"


def _more(row: Row) -> str:
    said = []
    if row.get("now") is not None:
        said.append(f"{percent(row['baseline'])} then, {percent(row['now'])} now")
    if row.get("psi") is not None:
        said.append(f"PSI {number(row['psi'])} (chance alone: up to {number(row.get('psi_null'))})")
    if row.get("unseen_levels"):
        said.append(f"{plural(row['unseen_levels'], 'value')} of levels never seen before")
    if row.get("mmd_p") is not None:
        said.append(f"MMD p {p_value(row['mmd_p'])}")
    return "; ".join(said)


def kinds(result: LensResult) -> Section:
    """Covariate, prior and concept drift, named apart."""
    rows = result.tables.get("kinds", ())
    points = (
        f"Covariate drift, who comes: {_covariate_words(result)}",
        f"Prior drift, how often it happens: {_prior_words(result)}",
        f"Concept drift, what a risk means: {_concept_words(result)}",
    )
    said = (
        "The last window that could be judged, against the baseline. A kind is named when its p is at most the study's "
        f"chance of a false alarm ({percent(result.settings['chance'])}) shared among all tests of that kind so far.",
    )
    heads = ("window", "kind", "of", "baseline", "now", "change", "p", "remark")
    tables = (Table(heads, tuple(map(_kind, rows)), "Tests of prior and concept drift by window"),) if rows else ()
    return Section("Kinds of drift", said, tables, points, key="drift-kinds")


def _kind(row: Row) -> tuple[str, ...]:
    prior = row["kind"] == "prior"
    title = METRIC_TITLES.get(str(row.get("metric")), str(row.get("metric")))
    return (
        str(row["window"]),
        str(row["kind"]),
        "share with the event" if prior else f"{title} by period",
        percent(row["baseline"]) if prior else "–",
        percent(row["now"]) if prior else "–",
        f"{_points(row['low'])} to {_points(row['high'])}" if prior else "–",
        p_value(row["p"]),
        str(row.get("reason") or ""),
    )


def _points(value: float) -> str:
    return f"{100 * value:+.1f} points"


def _named(result: LensResult, kind: str) -> list[Row]:
    """The tests of the last judged window that name a kind of drift."""
    rows = [row for row in result.tables.get("kinds", ()) if row["kind"] == kind]
    tested = [row for row in rows if row["p"] is not None]
    limit = result.settings["chance"] / max(1, len(tested))
    return [row for row in tested if row["window"] == last_judged(result) and row["p"] <= limit]


def _flagged_now(result: LensResult) -> list[Row]:
    rows = result.tables.get("inputs", ())
    return [row for row in rows if row["window"] == rows[-1]["window"] and row["flagged"]]


def _covariate_words(result: LensResult) -> str:
    if not result.tables.get("inputs"):
        return "not looked at, since no inputs are named."
    names = [str(row["input"]) for row in _flagged_now(result)]
    return f"changed in {', '.join(names)}." if names else "no input is flagged in the latest window."


def _prior_words(result: LensResult) -> str:
    rows = [row for row in result.tables.get("kinds", ()) if row["kind"] == "prior"]
    if not rows:
        return "not looked at, since no window could be judged or the task has no events."
    row = rows[-1]
    clear = "changed" if _named(result, "prior") else "no clear change"
    return (
        f"{percent(row['now'])} in {row['window']} against {percent(row['baseline'])} in the baseline "
        f"({_points(row['low'])} to {_points(row['high'])}, p {p_value(row['p'])}): {clear}."
    )


def _concept_words(result: LensResult) -> str:
    rows = [row for row in result.tables.get("kinds", ()) if row["kind"] == "concept"]
    last = [row for row in rows if row["window"] == last_judged(result)]
    if not last:
        return "not looked at, since no window could be judged or no followed metric carries such a test."
    if all(row["p"] is None for row in last):
        return f"not tested: {last[0].get('reason') or 'the tests gave no answer'}."
    words = ", ".join(f"{METRIC_TITLES.get(row['metric'], row['metric'])} p {p_value(row['p'])}" for row in last)
    return f"{words} in {last[0]['window']}: {'changed' if _named(result, 'concept') else 'no clear change'}."


def labels(report: Report) -> Section:
    """How late labels are, and what the metrics should be while they are awaited."""
    result = report.results["drift"]
    days = next((one.tables["holdings"]["label_delay_days"] for one in report.results.values() if _delays(one)), None)
    waits = float(result.settings["label_delay"])
    said = [f"A window is judged {number(waits)} days after its end." if waits else "No delay of labels is allowed for."]
    if days:
        said.append(f"Half of the outcomes were known within {days['median']:g} days, nine in ten within {days['p90']:g}.")
        if days["p90"] > waits:
            said.append("That is later than the study waits, so windows are judged before their last outcomes are known.")
    else:
        said.append("How long outcomes really take is not known (columns.outcome_time).")
    late = sum(row["waiting"] for row in watched(result))
    if late:
        said.append(f"{plural(late, 'row')} of the watched windows have no outcome and are in no metric.")
    rows = result.tables.get("without_labels", ())
    if not rows:
        return Section("Delay of labels", tuple(said), key="drift-labels")
    said.append(
        "Without labels: what each metric would be if risks, recalibrated on the baseline, still meant what they meant. "
        "This sees that other patients come; it cannot see that the meaning of a risk has changed."
    )
    seen = {(one.metric, str(one.slice), row["window"]): row for one in every_series(result) for row in one.rows}
    body = tuple(
        (
            str(row["window"]),
            at_threshold(row["metric"], row["slice"]),
            number(row["value"]) if row["low"] is None else _ends(row),
            _found(seen.get((row["metric"], str(row["slice"]), row["window"]))),
            number(row["rows"]),
            str(row["status"]),
        )
        for row in rows
    )
    heads = ("window", "metric", "expected without labels", "found with labels", "rows", "status")
    table = Table(heads, body, "Performance without labels, last windows")
    return Section("Delay of labels, and performance without them", tuple(said), (table,), key="drift-labels")


def _delays(result: LensResult) -> bool:
    return bool((result.tables.get("holdings") or {}).get("label_delay_days"))


def _ends(row: Row) -> str:
    return f"{number(row['value'])} ({number(row['low'])} to {number(row['high'])})"


def _found(row: Row | None) -> str:
    return "–" if row is None or row["status"] != "ok" else number(row["value"])


def ahead(result: LensResult) -> Section:
    """Trends, when a limit would be crossed, and what may be done."""
    rows = result.tables.get("forecast", ())
    end = watched(result)[-1]["end"] if watched(result) else ""
    crossing = [row for row in rows if row.get("crosses")]
    clear = sum(row["slope_a_year"] is not None and row["reason"] != "no clear trend" for row in rows)
    said = [
        f"{clear} of {len(rows)} series have a clear trend over the watched windows, {len(crossing)} of them towards a limit. "
        "A trend is a straight line and its dates hold only as long as the line does."
    ]
    heads = ("series", "trend a year", "limit is reached", "95 % interval of that day", "remark")
    order = sorted(rows, key=lambda row: (not row.get("crosses"), row["slope_a_year"] is None))
    body = tuple(_trend(row, end) for row in order)
    tables = (Table(heads, body, "Trends and forecasts"),) if rows else ()
    return Section("Ahead, and what may be done", tuple(said), tables, tuple(options(result)), key="drift-ahead")


def _trend(row: Row, end: str) -> tuple[str, ...]:
    name = series_words(row["type"], row["metric"], row["slice"])
    slope = row["slope_a_year"]
    words = "–" if slope is None else f"{signed(slope)} ({signed(row['low'])} to {signed(row['high'])})"
    if not row.get("crosses"):
        return (name, words, "–", "–", str(row["reason"]))
    low, high = _day(row["crosses_low"], end), _day(row["crosses_high"], end)
    when = "the line is past its limit already" if row["crosses"] < end else "still to come"
    return (name, words, str(row["crosses"]), f"{low} to {high}", when)


def _day(date: str, end: str) -> str:
    years = int(date[:4]) - int(end[:4])
    return date if abs(years) < _FOREVER else f"more than {_FOREVER} years {'ahead' if years > 0 else 'back'}"


def options(result: LensResult) -> Iterator[str]:
    """What may be done, by the kind of drift that shows; a person decides."""
    if last_judged(result) is None and not _flagged_now(result):
        yield "No option can be named: no window could be judged."
        return
    flagged = [row for row in _flagged_now(result) if row["input"] != TOGETHER]
    feed = [str(row["input"]) for row in flagged if _of_the_feed(row)]
    moved = [str(row["input"]) for row in flagged if not _of_the_feed(row)]
    alerts = [alert for alert in result.alerts if alert["state"] != "resolved"]
    worse = {alert["metric"] for alert in alerts if alert["type"] == "performance"}
    if feed:
        yield f"Check the feed of {', '.join(feed)} before anything else: no model can be mended for data that do not come."
    yield from _for_performance(result, worse)
    if any(alert["type"] == "fairness" for alert in alerts):
        yield "A gap has widened: look at the group's own charts, and recalibrate or retrain with that group in view."
    if moved:
        yield (
            f"Other patients come than in the baseline ({', '.join(moved)}). Where performance holds, nothing need be "
            "changed, but the validation was of other patients: hold the coming windows against it."
        )
    if not (feed or moved or alerts or _named(result, "prior") or _named(result, "concept")):
        yield (
            "Nothing to do: no alert is active and no kind of drift shows. These windows would not have seen every change; "
            "the smallest they could see stand beside each metric."
        )


def _of_the_feed(row: Row) -> bool:
    """Values that stopped coming, came in forms never seen, or left a constant behind: a matter of plumbing."""
    return str(row["input"]).endswith(_MISSING) or bool(row.get("unseen_levels")) or row["effect"] is None


def _for_performance(result: LensResult, worse: set[str]) -> Iterator[str]:
    concept, prior = _named(result, "concept"), _named(result, "prior")
    ranking, meaning = _listed(worse, _RANKING), _listed(worse, _MEANING)
    if ranking:
        yield f"Retrain: the ranking itself got worse ({ranking}), which recalibration cannot mend."
    if meaning or concept:
        why = meaning or "the tests of concept drift"
        more = " on top of that" if ranking else ", which keeps the ranking and needs few patients"
        yield f"Recalibrate{more}: risks no longer mean what they meant ({why})."
    elif prior:
        yield (
            "Events have become more or less common, and the risks still fit: nothing need be changed; recalibrate in the "
            "large should observed and expected part."
        )
    rest = sorted(at_threshold(name, {}) for name in worse - set(_RANKING) - set(_MEANING))
    if rest and not (ranking or meaning or concept):
        yield f"Look at the threshold again: {', '.join(rest)} got worse while ranking and calibration raise no alert."


def _listed(worse: set[str], names: Sequence[str]) -> str:
    return ", ".join(at_threshold(name, {}) for name in names if name in worse)
