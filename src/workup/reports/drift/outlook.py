"""Why it changed and what comes next: inputs, kinds of drift, labels that are late, and trends."""

from __future__ import annotations

from collections.abc import Sequence

from workup.report import LensResult, Report
from workup.reports.drift.options import flagged_now, options
from workup.reports.drift.series import Row, every_series, series_words, watched
from workup.reports.layout import Section, Table
from workup.reports.wording import at_threshold, metric_title, number, p_value, percent, plural, signed


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
        f"Flagged in {window}, the latest window: {len(now)} of {plural(len(latest), 'comparison')} with the baseline"
        + (f" ({', '.join(now)})." if now else ".")
        + (f" {plural(unknown, 'input')} could not be compared." if unknown else ""),
        "An input is flagged when its change is significant among all inputs of the window (Benjamini and Hochberg) "
        "and as large as its limit. Rows that wait for their outcome count here too.",
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
        said.append(f"{plural(row['unseen_levels'], 'level')} never seen before")
    if row.get("mmd_p") is not None:
        said.append(f"MMD p {p_value(row['mmd_p'])}")
    return "; ".join(said)


def kinds(result: LensResult) -> Section:
    """Covariate, prior and concept drift, told apart."""
    title, key = "Kinds of drift", "drift-kinds"
    rows = result.tables.get("kinds", ())
    if not rows:
        said = (
            "Kinds of drift are not told apart here: that takes a window that could be judged, its outcomes, and its "
            "rows, which a monitor that runs on does not keep."
        )
        return Section(title, (said,), points=(f"Covariate drift, who comes: {_covariate(result)}",), key=key)
    told = result.tables.get("drift_kind", ())
    points = (
        f"Covariate drift, who comes: {_covariate(result)}",
        f"Prior drift, how often it happens: {_prior(rows)}",
        f"Concept drift, what a risk means: {_concept(rows)}",
    )
    heads = ("window", "kind", "of", "baseline", "now", "change", "p", "remark")
    tables = [Table(heads, tuple(map(_test, rows)), "Tests of prior and concept drift by window, each p by itself")]
    if told:
        body = tuple((str(row["window"]), _named(row), str(row["reason"]), str(row["options"])) for row in told)
        tables.insert(0, Table(("window", "kind", "because", "option"), body, "The kind that the evidence speaks for"))
    said = f"{told[-1]['window']}: {_sentence(told[-1])}" if told else "The tests stand for themselves."
    return Section(title, (said,), tuple(tables), points, key=key)


def _named(row: Row) -> str:
    return "not told" if row["drift"] is None else str(row["drift"])


def _sentence(row: Row) -> str:
    why = f" ({row['reason']})" if row["reason"] else ""
    if row["drift"] is None:
        return f"the kind of drift cannot be told{why}."
    if row["drift"] == "none":
        return f"no kind of drift shows{why}."
    return f"the evidence speaks for {row['drift']} drift{why}."


def _test(row: Row) -> tuple[str, ...]:
    prior = row["kind"] == "prior"
    title = metric_title(str(row.get("metric")))
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


def _covariate(result: LensResult) -> str:
    if not result.tables.get("inputs"):
        return "not looked at, since no inputs are named."
    names = [str(row["input"]) for row in flagged_now(result)]
    return f"changed in {', '.join(names)}." if names else "no input is flagged in the latest window."


def _prior(rows: Sequence[Row]) -> str:
    last = [row for row in rows if row["kind"] == "prior"]
    if not last:
        return "not looked at."
    row = last[-1]
    return (
        f"{percent(row['now'])} in {row['window']} against {percent(row['baseline'])} in the baseline "
        f"({_points(row['low'])} to {_points(row['high'])}, p {p_value(row['p'])})."
    )


def _concept(rows: Sequence[Row]) -> str:
    found = [row for row in rows if row["kind"] == "concept"]
    last = [row for row in found if row["window"] == found[-1]["window"]]
    if not last:
        return "not looked at, since no followed metric carries such a test."
    if all(row["p"] is None for row in last):
        return f"not tested in {last[0]['window']}: {last[0].get('reason') or 'the tests gave no answer'}."
    words = ", ".join(f"{metric_title(row['metric'])} p {p_value(row['p'])}" for row in last)
    return f"{words} in {last[0]['window']}."


def labels(report: Report) -> Section:
    """How late labels are, and what the metrics should be while they are awaited."""
    result = report.results["drift"]
    days = next((one.tables["holdings"]["label_delay_days"] for one in report.results.values() if _delays(one)), None)
    waits = float(result.settings.get("label_delay") or 0.0)  # none where the lens may tell nothing
    said = [f"A window is judged {waits:g} days after its end." if waits else "No delay of labels is allowed for."]
    if days:
        said.append(
            f"Half of the outcomes were known within {days['median']:g} days, nine in ten within {days['p90']:g}."
        )
        if days["p90"] > waits:
            said.append(
                "That is later than the study waits, so windows are judged before their last outcomes are known."
            )
    else:
        said.append("How long outcomes really take is not known (columns.outcome_time).")
    late = sum(row["waiting"] or 0 for row in watched(result))  # null where a window of few patients is withheld
    if late:
        said.append(f"{plural(late, 'row')} of the watched windows have no outcome and are in no metric.")
    rows = result.tables.get("without_labels", ())
    if not rows:
        return Section("Delay of labels", tuple(said), key="drift-labels")
    said.append(
        "Without labels: what each metric would be if risks, recalibrated on the baseline, still meant the same. "
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
    title, key, points = "Ahead, and what may be done", "drift-ahead", tuple(options(result))
    if not rows:
        return Section(title, ("No trend is drawn in this record.",), points=points, key=key)
    crossing = [row for row in rows if row.get("crosses")]
    clear = sum(row["slope_a_year"] is not None and row["reason"] != "no clear trend" for row in rows)
    said = [
        f"A clear trend over the watched windows: {clear} of {len(rows)} series, {len(crossing)} of them to a limit. "
        "A trend is a straight line, and its dates hold only as long as the line does."
    ]
    heads = ("series", "trend a year", "limit is reached", "95 % interval of that day", "remark")
    order = sorted(rows, key=lambda row: (not row.get("crosses"), row["slope_a_year"] is None))
    tables = (Table(heads, tuple(map(_trend, order)), "Trends and forecasts"),)
    return Section(title, tuple(said), tables, points, key=key)


def _trend(row: Row) -> tuple[str, ...]:
    name = series_words(row["type"], row["metric"], row["slice"])
    slope = row["slope_a_year"]
    words = "–" if slope is None else f"{signed(slope)} ({signed(row['low'])} to {signed(row['high'])})"
    if not row.get("crosses"):
        return (name, words, "–", "–", str(row["reason"]))
    # An end so far off that a straight line says nothing of it has no date.
    low, high = (row.get(end) or "too far off to say" for end in ("crosses_low", "crosses_high"))
    return (name, words, str(row["crosses"]), f"{low} to {high}", str(row["reason"] or "still to come"))
