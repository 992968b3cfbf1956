"""What the store holds of a model, as sections of a page: alerts with who does what, windows, figures, the feed.

Drawn from the store alone. The command line prints it, and the static site and the service show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from sqlalchemy import Connection

from workup.monitor.impact import NOTE
from workup.monitor.plan import Plan
from workup.monitor.plan_page import sections as plan_sections
from workup.monitor.store.alerts import alerts
from workup.monitor.store.models import last_plan, versions, versions_by_data
from workup.monitor.store.windows import estimates, last_received, windows
from workup.monitor.watching import ALL, NOT_ACTED
from workup.reports.layout import Section, Table

Row = Mapping[str, Any]
FEEDBACK = (
    "What was done changed what happened, so figures of all rows understate the model, and rows not acted on are of "
    "other patients: neither is the untreated truth."
)
_DAY = 86_400_000_000  # microseconds
_RECENT = 13  # windows that a table shows


def sections(connection: Connection, model: Row, *, now: int) -> list[Section]:
    """Everything that is known of one model."""
    held = last_plan(connection, model["id"])
    raised = alerts(connection, now=now, model=model["id"])
    found = [_summary(connection, model, raised, now), _alerts(raised, now)]
    for version in versions(connection, model["id"]):
        seen = windows(connection, version["id"])
        shown = estimates(connection, version["id"])
        said = f"version {version['version']}"
        found += [
            _windows(seen, said),
            _figures(shown, said),
            _feed(shown, said),
            _impact(shown, said),
            _restated(estimates(connection, version["id"], every_revision=True), said),
            _equivalence(version, said),
        ]
    found.append(_matrix(versions_by_data(connection, model["id"])))
    if held is not None:
        found += plan_sections(Plan.of(held["content"], where=f"plan {held['number']}"))[:1]
    return [one for one in found if one.tables or one.sentences]


def moment(value: int | None) -> str:
    """A time of the store as a person reads it."""
    return "–" if value is None else str(np.datetime64(value, "us"))[:16].replace("T", " ")


def age(since: int, now: int) -> str:
    """How long ago, in the largest unit that fits."""
    hours = max(0, now - since) / (_DAY / 24)
    return f"{hours / 24:.0f} days" if hours >= 48 else f"{hours:.0f} hours"


def words(row: Row) -> str:
    """A metric with its slice, in words."""
    at = ", ".join(f"{name} {level}" for name, level in row["slice"].items() if level is not None and name != "input")
    what = f"gap in {row['metric']}" if row["kind"] == "fairness" else str(row["metric"])
    return f"{what.replace('_', ' ')}: {at}" if at else what.replace("_", " ")


def _summary(connection: Connection, model: Row, raised: Sequence[Row], now: int) -> Section:
    waiting = [one for one in raised if one["shown"] in ("open", "acknowledged")]
    muted = sum(one["shown"] == "muted" for one in raised)
    said = (
        f"{len(waiting)} alerts are open or acknowledged"
        + (f", {muted} are muted" if muted else "")
        + f". As of {moment(now)} UTC; the last predictions came {moment(last_received(connection, model['id']))}."
    )
    return Section(str(model["name"]), (said,))


def _alerts(raised: Sequence[Row], now: int) -> Section:
    heads = (
        "alert",
        "state",
        "severity",
        "what",
        "opened in",
        "age",
        "owner",
        "agreed action",
        "escalation",
        "message",
    )
    rows = tuple(
        (
            str(one["id"]),
            str(one["shown"]),
            str(one["severity"]),
            words(one),
            str(one["opened_window"]),
            age(one["opened"], now) if one["state"] != "resolved" else f"resolved {moment(one['resolved'])}",
            str(one["owner"]),
            str(one["action"]),
            str(one["escalation"]),
            str(one["message"]),
        )
        for one in raised
    )
    if not rows:
        return Section("Alerts", ("None was ever raised.",))
    return Section("Alerts", (), (Table(heads, rows, "Alerts, and who does what"),))


def _windows(seen: Sequence[Row], said: str) -> Section:
    heads = ("window", "state", "rows", "outcomes known", "events", "acted on", "median days to outcome", "closed")
    rows = tuple(
        (
            str(one["name"]),
            str(one["state"]) + (f" ({one['revision']} times)" if one["revision"] else ""),
            f"{one['rows']:,}",
            f"{one['labelled']:,}",
            _count(one["events"]),
            _count(one["acted"]),
            _number(one["label_delay"], ".1f"),
            moment(one["closed"]),
        )
        for one in seen[-_RECENT:]
    )
    return Section(f"Windows, {said}", (), (Table(heads, rows, "Windows, the last of them"),) if rows else ())


def _figures(shown: Sequence[Row], said: str) -> Section:
    judged = [one for one in shown if one["kind"] in ("performance", "fairness")]
    apart = {_key(one): one for one in judged if one["part"] == NOT_ACTED}
    last: dict[tuple[Any, ...], Row] = {}
    for one in judged:
        if one["part"] == ALL:
            last[one["watch"], words(one), one["chart"]] = one
    rows = tuple(
        (
            words(one),
            str(one["window_name"]),
            _with_ends(one),
            _number(one["baseline"]),
            _with_ends(apart[_key(one)]) if _key(one) in apart else "–",
            str(one["chart"]),
            "signals" if one["signal"] else "quiet" if one["status"] == "ok" else str(one["reason"]),
        )
        for one in last.values()
    )
    if not rows:
        return Section(f"Figures, {said}")
    heads = ("what", "window", "value (95 % interval)", "baseline", "rows not acted on", "chart", "now")
    sentences = (FEEDBACK,) if apart else ()
    return Section(f"Figures, {said}", sentences, (Table(heads, rows, "Performance and fairness, last window"),))


def _feed(shown: Sequence[Row], said: str) -> Section:
    last: dict[str, Row] = {words(one): one for one in shown if one["kind"] == "integrity"}
    rows = tuple(
        (
            name,
            str(one["window_name"]),
            _number(one["value"]),
            _number(one["baseline"]),
            _number(one["upper"]) if one["baseline"] is None else "",
            "signals" if one["signal"] else str(one["reason"]) or "quiet",
        )
        for name, one in last.items()
    )
    heads = ("what", "window", "value", "baseline", "limit", "now")
    return Section(f"The feed, {said}", (), (Table(heads, rows, "Integrity and inputs, last window"),) if rows else ())


def _impact(shown: Sequence[Row], said: str) -> Section:
    rows = tuple(
        (str(one["window_name"]), words(one), _with_ends(one), _count(one["n"]))
        for one in [one for one in shown if one["kind"] == "impact"][-4 * _RECENT :]
    )
    if not rows:
        return Section(f"Impact, {said}")
    return Section(
        f"Impact, {said}", (NOTE,), (Table(("window", "what", "share (95 % interval)", "of rows"), rows, "Impact"),)
    )


def _restated(shown: Sequence[Row], said: str) -> Section:
    """Figures that late or corrected outcomes changed: what was shown, from when, and what took its place."""
    by_key: dict[tuple[Any, ...], list[Row]] = {}
    for one in shown:
        if one["kind"] in ("performance", "fairness") and one["part"] == ALL:
            by_key.setdefault(_key(one), []).append(one)
    rows = tuple(
        (
            words(now),
            str(now["window_name"]),
            _with_ends(before),
            moment(before["shown"]),
            _with_ends(now),
            moment(now["shown"]),
        )
        for kept in by_key.values()
        for before, now in pairwise(kept)
    )
    heads = ("what", "window", "before", "shown from", "now", "shown from ")
    return Section(f"Restated, {said}", (), (Table(heads, rows, "Figures that were restated"),) if rows else ())


def _equivalence(version: Row, said: str) -> Section:
    found = version["equivalence"]
    if not found:
        return Section(f"Equivalence, {said}")
    text = (
        f"Judged by the baseline of version {version['baseline_of']}: {found['metric']} differs by "
        f"{found['difference']:+.3f} ({100 * found['level']:g} % interval {found['low']:+.3f} to {found['high']:+.3f}) "
        f"on {found['rows']:,} rows, within the margin of {found['margin']:g}."
    )
    return Section(f"Equivalence, {said}", (text,))


def _matrix(rows: Sequence[Row]) -> Section:
    heads = ("version", "version of the data", "rows", "outcomes known", "first", "last")
    body = tuple(
        (
            str(one["version"]),
            str(one["data_version"]) or "–",
            f"{one['rows']:,}",
            f"{one['labelled']:,}",
            moment(one["first"]),
            moment(one["last"]),
        )
        for one in rows
    )
    return Section("Versions of model and data", (), (Table(heads, body, "Version × data"),) if body else ())


def _key(one: Row) -> tuple[Any, ...]:
    return one["window"], one["watch"], words(one)


def _with_ends(one: Row) -> str:
    if one["value"] is None:
        return str(one["reason"]) or "–"
    ends = f" ({one['low']:.3f} to {one['high']:.3f})" if one["low"] is not None else ""
    return f"{one['value']:.3f}{ends}"


def _number(value: float | None, form: str = ".3f") -> str:
    return "–" if value is None else format(value, form)


def _count(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def fleet(connection: Connection, listed: Sequence[Row], *, now: int, links: Mapping[int, str]) -> Section:
    """All models with their open alerts."""
    rows = tuple(_of_fleet(connection, listed, now))
    heads = ("model", "open", "acknowledged", "muted", "oldest open", "last predictions")
    places = tuple(links.get(one["id"], "") for one in listed)
    return Section("Models", (), (Table(heads, rows, "Models that are watched", links=places),))


def _of_fleet(connection: Connection, listed: Sequence[Row], now: int) -> Iterator[tuple[str, ...]]:
    for model in listed:
        raised = alerts(connection, now=now, model=model["id"], unresolved=True)
        counts = [sum(one["shown"] == state for one in raised) for state in ("open", "acknowledged", "muted")]
        waiting = [one["opened"] for one in raised if one["shown"] == "open"]
        oldest = age(min(waiting), now) if waiting else "–"
        yield (str(model["name"]), *map(str, counts), oldest, moment(last_received(connection, model["id"])))
