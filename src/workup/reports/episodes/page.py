"""The page of predictions made again and again before an event: who was watched and who was put aside, then one line
per threshold, how long before events are flagged, and how often alarms sound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workup.errors import ReportError
from workup.report import Estimate, LensResult, Report
from workup.reports import case_mix
from workup.reports.charts.figure import Figure, find
from workup.reports.drift import report as drift
from workup.reports.episodes.figures import figures as own_figures
from workup.reports.episodes.figures import lead_table, timeline_table
from workup.reports.episodes.headline import headline
from workup.reports.estimates import HEADS, rows
from workup.reports.groups import by_group, comparisons, parity, smallest_gaps
from workup.reports.kinds import kinds_of, report_of
from workup.reports.layout import Section, Table
from workup.reports.page import KeyFigure, Page, key_figure
from workup.reports.power import report as power
from workup.reports.risk.page import RiskPage
from workup.reports.sites import report as sites
from workup.reports.smallest import smallest_section
from workup.reports.wording import count, interval, metric_title, number, percent

_APART = ("sites", "power", "drift")  # lenses whose sections are drawn for one kind of rows at a time
_ROOMS = {"sites": sites, "power": power, "drift": drift}
_ROOM_WORDS = {"sites": "Sites", "power": "Power", "drift": "Over time"}
_WORDS = {
    "case": "risks and outcomes",
    "watch": "alarms",
    "event": "events",
    "stay": "stays",
    "all": "alerts and events together",
}
_LINE = ("event_sensitivity", "alert_ppv", "nne", "alarm_rate", "lead_time_median")
_MORE = (
    *("event_coverage", "event_sensitivity_scored", "event_sensitivity_by_score", "lead_time_mean", "encounter_ppv"),
    *("nne_encounter", "alerts_per_flagged_event", "alert_acted_share"),
)
_FATES = {
    "case": "the event followed in time: an alert is true",
    "control": "no event followed in time: an alert is false",
    "late": "the event came sooner than a warning is of use",
    "after_event": "the event was there already",
    "present": "the stay began with the event",
    "stopped": "clinicians knew already, or another end of judging had come",
    "unknown": "whether the event followed is not known",
    "undated": "an event of the stay has no time",
    "outside": "before the start of the stay or after its end",
}
_FIRST_OF_PAGE = ("event_sensitivity", "alert_ppv", "alarm_rate", "lead_time_median")


class EpisodesPage(RiskPage):
    """Repeated predictions and later events."""

    counted = "Predictions, patients"
    noun = "predictions"
    views = "The risks by themselves"

    def narrowed(self, report: Report) -> Report:
        """Lenses that were drawn kind by kind, as they looked at events."""
        kinds = {lens: kinds_of(report, lens) for lens in _APART if lens in report.results}
        kept = dict(report.results)
        for lens, found in kinds.items():
            if found:
                kind = "event" if "event" in found else found[0]
                kept[lens] = report_of(report, kind, (lens,)).results[lens]
        return replace(report, results=kept)

    def headline(self, report: Report) -> Sequence[str]:
        """What the internal lens says of alarms and events, and alerts of the drift lens on other rows than events."""
        said = tuple(headline(report)) if "internal" in report.results else ()
        return (*said, *_other_alerts(report))

    def size(self, report: Report) -> str:
        """Patients, stays and events."""
        about = report.results["internal"].tables.get("watched") if "internal" in report.results else None
        return Page.size(self, report) + (
            f", {number(about['stays'])} stays, {number(about['events'])} events" if about else ""
        )

    def key_figures(self, report: Report) -> list[KeyFigure]:
        """Events flagged, alerts that are true, the burden; a median lead time only beside the first of them."""
        internal = report.results.get("internal")
        if internal is None:
            return Page.key_figures(self, report)
        keys = {key: value for key, value in report.primary.items() if key == "threshold"}
        found = [find(internal, metric, keys) for metric in _FIRST_OF_PAGE]
        return [_lead_figure(e) if e.metric == "lead_time_median" else key_figure(e) for e in found if e is not None]

    def overall(self, report: Report, internal: LensResult) -> Iterator[Section]:
        """Fates first, then the thresholds, the lead-time curve, the burden of alarms, and the risks as such."""
        yield _who(internal)
        yield _thresholds(report, internal)
        yield _lead(internal)
        yield _acted(internal)
        yield _burden(internal)
        yield _recognition(internal)
        yield _timeline(internal)
        yield _hours(internal)
        of_risks = replace(internal, estimates=tuple(_of_risks(report, internal)))
        for section in super().overall(report, of_risks):
            title = "Risks and outcomes" if section.key == "overall" else section.title
            yield replace(section, title=title)

    def said(self, sentence: str, report: Report) -> str:
        """A note that a lens said of one kind of rows, with the words for them."""
        kind, of, rest = sentence.partition(" rows: ")
        return f"Of {_WORDS[kind]}: {rest}" if of and kind in _WORDS else sentence

    def lenses(self, report: Report) -> Iterator[Section]:
        """Groups of all kinds of rows together, the other lenses one kind after the other."""
        groups = report.results.get("subgroups")
        if groups is not None:
            yield from (*by_group(groups, HEADS, rows), *comparisons(groups), *parity(groups))
            yield from case_mix.section(groups, title="How the groups differ in inputs and risks", key="case-mix")
        for lens in _APART:
            for kind in kinds_of(report, lens):
                found = _ROOMS[lens].sections(report_of(report, kind, _APART))
                yield _as_one(found, f"{_ROOM_WORDS[lens]}: {_kind(kind)}", f"{lens}:{kind}")
        yield smallest_section(report)
        if groups is not None and groups.tables.get("smallest_difference"):
            yield smallest_gaps(groups)
        yield self.limits(report)

    def limits(self, report: Report) -> Section:
        """What no figure here can prove."""
        plain = Page.limits(self, report)
        more = (
            "An alert that was acted on may have prevented the event, and then counts as false. Rows that nobody acted "
            "on are no untreated truth either: they are of other patients.",
            "A median lead time speaks of flagged events alone, and rises when those flagged late are lost.",
        )
        return replace(plain, points=(*plain.points, *more))

    def figures(self, report: Report, of_lenses: Mapping[str, list[Figure]]) -> dict[str, list[Figure]]:
        """Charts of alarms and events, and those of the lenses, kind by kind."""
        internal = report.results.get("internal")
        found = {key: charts for key, charts in of_lenses.items() if key.startswith("by:")}
        for lens in _APART:
            for kind in kinds_of(report, lens):
                drawn = _ROOMS[lens].figures(report_of(report, kind, _APART))
                found[f"{lens}:{kind}"] = [chart for charts in drawn.values() for chart in charts]
        return {**found, **(own_figures(internal) if internal is not None else {})}

    def flat(self, report: Report) -> dict[str, Any]:
        """Familiar names are those of one prediction per patient."""
        raise ReportError("the flat form is not known for the task 'episodes'. To fix: use -f json.")


def _lead_figure(e: Estimate) -> KeyFigure:
    """A length of time at the head of the page, to a tenth of an hour: no more is meant."""
    plain = key_figure(e)
    if e.value is None or e.low is None or e.high is None:
        return plain
    return replace(plain, value=f"{e.value:.1f} h", ends=f"{e.level:.0%} interval {e.low:.1f} to {e.high:.1f} h")


def _other_alerts(report: Report) -> Iterator[str]:
    """Alerts of the drift lens beside those on events, which are told with the lens itself."""
    for kind in kinds_of(report, "drift"):
        seen = report_of(report, kind, _APART)
        if kind != "event" and seen.results["drift"].alerts:
            yield from (f"Over time, of {_kind(kind)}: {sentence}" for sentence in drift.headline(seen))


def _as_one(found: Sequence[Section], title: str, key: str) -> Section:
    """What one lens says of one kind of rows, as one section: with four kinds there would be a hundred of them."""
    kept = [section for section in found if section.sentences or section.tables or section.points]
    return Section(
        title,
        tuple(f"{section.title}. {' '.join(section.sentences)}" for section in kept if section.sentences),
        tuple(
            replace(table, caption=f"{section.title}: {table.caption}" if table.caption else section.title, titled=True)
            for section in kept
            for table in section.tables
            if table.rows
        ),
        tuple(point for section in kept for point in section.points),
        key,
    )


def _kind(kind: str) -> str:
    return _WORDS.get(kind, kind)


def _of_risks(report: Report, internal: LensResult) -> Iterator[Estimate]:
    """Estimates of risks and outcomes, without those of alarms."""
    names = (internal.settings.get("kinds") or {}).get("case", ())
    yield from (e for e in internal.estimates if e.metric in names and "acted" not in e.slice)


def _who(internal: LensResult) -> Section:
    """Who was watched, what became of every prediction, and what was put aside."""
    tables = internal.tables
    fates = tables.get("fates") or ()
    every = sum(row["predictions"] for row in fates)
    settings = Table(
        ("setting", "value"),
        tuple((str(row["setting"]), str(row["value"])) for row in tables.get("episode_settings", ())),
        "Settings as they were used",
        titled=True,
    )
    body = tuple(
        (
            str(row["fate"]).replace("_", " "),
            number(row["predictions"]),
            percent(row["predictions"] / every) if every else "–",
            _FATES.get(row["fate"], ""),
        )
        for row in fates
    )
    aside = tuple((str(row["what"]).replace("_", " "), number(row["count"])) for row in tables.get("put_aside", ()))
    ends = tuple((str(row["how"]), number(row["stays"])) for row in tables.get("stay_ends", ()))
    found = (
        settings,
        Table(("fate", "predictions", "share", "what it means"), body, "What became of every prediction", titled=True),
        Table(("put aside", "count"), aside, "Counted and put aside", titled=True),
        Table(("how the stay ended", "stays"), ends, "Stays", titled=True),
    )
    said = (
        "Every prediction has one fate. Only those that the event followed in time, or did not, are judged; alerts at "
        "the others are neither true nor false, and are heard all the same.",
    )
    return Section("Who was watched, and what was put aside", said, tuple(t for t in found if t.rows), key="fates")


def _thresholds(report: Report, internal: LensResult) -> Section:
    """One line per threshold, and what else is measured there."""
    found = [e for e in internal.estimates if e.metric in (*_LINE, *_MORE) and e.level == 0.95]
    at = sorted(
        {e.slice.get("threshold") for e in found if set(e.slice) <= {"threshold"}},
        key=lambda threshold: -1.0 if threshold is None else float(threshold),
    )
    body, more = [], []
    for threshold in at:
        keys = {} if threshold is None else {"threshold": threshold}
        name = "as recorded" if threshold is None else f"{threshold:g}"
        line = [find(internal, metric, keys) for metric in _LINE]
        if any(e is not None for e in line):
            body.append((name, *(_cell(e) for e in line)))
        others = [e for metric in _MORE if (e := find(internal, metric, keys)) is not None]
        more += [(name, *row) for row in rows(others)]
    heads = ("threshold", *(metric_title(metric) for metric in _LINE))
    tables = (
        Table(heads, tuple(body), "Each with its 95% interval, and the counts it rests on", titled=True),
        Table(("threshold", *HEADS), tuple(more), "More of the same", titled=True),
    )
    said = (
        "An event counts as flagged if an alert fired early enough before it; one that was never scored is a miss. "
        "The median lead time is of flagged events only and is read beside their share.",
    )
    return Section("Alarms and events by threshold", said, tuple(t for t in tables if t.rows), key="episodes-alarms")


def _cell(e: Estimate | None) -> str:
    if e is None:
        return "–"
    if e.value is None:
        return f"– ({e.reason})"
    ends = f"no interval: {e.reason}" if e.low is None else interval(e)
    n = f"{number(e.n_patients)} patients" if e.numerator is None else f"{count(e.numerator)}/{count(e.denominator)}"
    return f"{number(e.value)} ({ends}; {n})"


def _lead(internal: LensResult) -> Section:
    table = lead_table(internal)
    said = (
        "Of all events, the share flagged at least so long before: misses are among them, so the curve is fair to "
        "systems that flag few.",
    )
    return Section("How long before events are flagged", said, (table,) if table.rows else (), key="episodes-lead")


def _acted(internal: LensResult) -> Section:
    """Everyone beside the rows that nobody acted on."""
    found = [e for e in internal.estimates if e.slice.get("acted") == "no" and e.level == 0.95]
    body = []
    for e in found:
        keys = {key: value for key, value in e.slice.items() if key != "acted"}
        every = find(internal, e.metric, keys)
        at = ", ".join(
            f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}" for key, value in keys.items()
        )
        body.append((metric_title(e.metric), at, _cell(every), _cell(e)))
    said = (
        "Neither column is the untreated truth: an alert that was acted on may have prevented the event and is then "
        "false, and rows that nobody acted on are of other patients.",
    )
    table = Table(("metric", "at", "all rows", "rows not acted on"), tuple(body), "All rows and rows not acted on")
    return Section("Where nobody acted on the alert", said if body else (), (table,) if body else (), key="acted")


def _burden(internal: LensResult) -> Section:
    """Alarms on calendar days, and where and when they sound."""
    days = tuple(
        (_at(row["threshold"]), *(number(row[name]) for name in ("days", "mean", "median", "p95", "most")))
        for row in internal.tables.get("alarms_a_day", ())
    )
    by = tuple(
        (
            str(row["by"]),
            str(row["level"]),
            _at(row["threshold"]),
            number(row["patients"]),
            number(row["days"]),
            number(row["alerts"]),
            number(row["rate"]),
        )
        for row in internal.tables.get("alarms_by", ())
    )
    tables = (
        Table(
            ("alerts", "calendar days", "mean a day", "median", "95th percentile", "most"),
            days,
            "Alarms on a calendar day; days without any count",
            titled=True,
        ),
        Table(
            ("by", "level", "alerts", "patients", "patient-days", "alarms", "per 100 patient-days"),
            by,
            "Alarms by place and time, as known when the prediction was made",
            titled=True,
        ),
    )
    return Section("How often alarms sound", (), tuple(t for t in tables if t.rows), key="episodes-burden")


def _recognition(internal: LensResult) -> Section:
    body = tuple(
        (_at(row["threshold"]), *(number(row[name]) for name in ("events", "p25", "median", "p75", "after")))
        for row in internal.tables.get("lead_to_recognition", ())
    )
    table = Table(
        ("alerts", "events", "25th percentile", "median", "75th percentile", "alert came after"),
        body,
        "Hours from the first useful alert to the first intervention",
    )
    said = ("Below 0 clinicians had acted before the alert; such events are kept.",)
    return Section("Lead to recognition", said if body else (), (table,) if body else (), key="recognition")


def _timeline(internal: LensResult) -> Section:
    found = internal.tables.get("timeline") or ()
    table = timeline_table(found)
    body = table.rows
    return Section("A few stays hour by hour", (), (table,) if body else (), key="episodes-timeline")


def _hours(internal: LensResult) -> Section:
    """Who is watched longer has more scores, and a higher highest one."""
    watched = internal.tables.get("hours_watched") or ()
    body = tuple(
        (str(row["outcome"]), *(number(row[name]) for name in ("rows", "p25", "median", "p75"))) for row in watched
    )
    tables = [Table(("outcome", "rows", "25th percentile", "median hours", "75th percentile"), body, "Hours watched")]
    first = internal.tables.get("first_score")
    said: list[str] = []
    if first is not None:
        auroc = find(internal, "auroc", {})
        made = Estimate(**first)
        words = "–" if auroc is None else _cell(auroc)
        said.append(
            f"AUROC of the score as reduced here: {words}. Of the first score of each stay: {_cell(made)}. Who is "
            "watched longer has more scores and a higher highest one, whatever they say, and an event cuts them short; "
            "landmarks are the fair form."
        )
    return Section("Hours watched", tuple(said), tuple(tables) if body else (), key="hours-watched")


def _at(threshold: Any) -> str:
    return "as recorded" if threshold is None else f"at {threshold:g}"
