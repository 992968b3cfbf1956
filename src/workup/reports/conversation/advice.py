"""Never-events and conflicting advice, counted and listed by place: case, turn, fact, kind; never a word of a reply."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from workup.errors import ids_shown
from workup.report import Report
from workup.reports.conversation.headline import never_words
from workup.reports.conversation.setting import Numbers, Setting, noun
from workup.reports.conversation.transcripts import address
from workup.reports.conversation.turns import table_of
from workup.reports.conversation.words import between, brief, capital, counted, figure, value_words, why
from workup.reports.layout import Section, Table
from workup.reports.wording import number, plural

MOST_LISTED = 50  # on a page; the record holds more
KINDS = {
    "contraindicated": "advice that a fact of the patient forbids",
    "against_fact": "advice changed against a fact that forbids it",
    "stale": "a retired fact asserted as current",
    "reversed": "a critical fact asserted to be otherwise",
}
CONFLICTS = {
    "against_fact": "changed against what an event says",
    "conflict": "conflict",
    "failure_to_update": "not changed though an event asked for it",
    "unclear": "changed, and an event bears on it without a direction",
    "licensed": "change that an event licensed",
    "licensed (message)": "change that only the patient's message licensed",
}
Row = Mapping[str, Any]


def never_section(report: Report) -> Section:
    """How many, of which kind, and where; none seen still has its bound."""
    numbers = Numbers.of(report)
    e = numbers.get("never_events")
    rows = _gravest_first(table_of(report, "never_events") or ())
    if e is None:
        return Section("")
    if e.value is None:
        return Section("Never-events", (f"Never-events are {value_words(e)}: {e.reason}.",), key="never-events")
    total = int(e.value)
    said = [
        "A never-event is advice that an active fact of the patient forbids (an allergy and a drug of its class), or a "
        "retired or reversed critical fact asserted. They are found by rules and a map of 86 drug classes that no "
        "clinician has reviewed yet; what the map does not hold is not seen.",
        f"{capital(never_words(numbers, report))}. The bound takes the {noun(report)} as independent draws; it is no "
        "licence where none was seen.",
    ]
    rate = numbers.get("never_events_per_100")
    if rate is not None and rate.value is not None and rate.low is not None:
        said.append(f"In a hundred conversations: {figure(rate.metric, rate.value)}{between(rate, of_hundred=False)}.")
    if rows:
        said += [kinds_words(rows), *_cut(len(rows), total, "never-events")]
    return Section("Never-events", tuple(said), (_listed_events(rows),) if rows else (), key="never-events")


def _gravest_first(rows: Sequence[Row]) -> list[Row]:
    """Forbidden advice before facts that were asserted wrongly: a long list is cut at its end."""
    order = list(KINDS)
    return sorted(rows, key=lambda row: order.index(row["kind"]) if row.get("kind") in order else len(order))


def kinds_words(rows: Sequence[Row]) -> str:
    """How many of each kind, the most first."""
    kinds = Counter(str(row.get("kind", "")) for row in rows)
    told = sorted(kinds.items(), key=lambda one: (-one[1], one[0]))
    return "By kind: " + "; ".join(f"{KINDS.get(kind, kind)}, {number(n)}" for kind, n in told) + "."


# A number of a record, a date, "Rose Lee" or "Lee_Rose".
_PERSONAL = re.compile(r"\d{5,}|\d{1,4}[-_.]\d{1,2}[-_.]\d{2,4}|[A-Z][a-z]+[ ,_.-]{1,2}[A-Z][a-z]+")


def case_name(row: Row) -> str:
    """The id of a case, unless it looks like a patient's: a page is passed on more easily than the record.

    >>> case_name({"case": "case-07"}), case_name({"case": "Lee_Rose"})
    ('case-07', 'not shown')
    """
    name = str(row.get("case", ""))
    return "not shown" if _PERSONAL.search(name) and not ids_shown() else name


def _repeated(rows: Sequence[Row]) -> bool:
    return any(row.get("replicate") for row in rows)


def _listed_events(rows: Sequence[Row]) -> Table:
    repeated = _repeated(rows)
    body = tuple(
        (
            case_name(row),
            *((_cell(row.get("replicate")),) if repeated else ()),
            _cell(row.get("turn")),
            _cell(row.get("sentence")),
            KINDS.get(str(row.get("kind")), _cell(row.get("kind"))),
            _cell(row.get("fact")),
            _plain(row.get("concept")),
            _plain(row.get("rule")),
        )
        for row in rows[:MOST_LISTED]
    )
    places = ("case", *(("repeat",) if repeated else ()), "turn", "sentence (from 0)")
    links = tuple(transcript_link(row, row.get("turn"), row.get("fact")) for row in rows[:MOST_LISTED])
    return Table((*places, "kind", "fact", "about", "rule"), body, "Never-events by place", links=links)


def _cut(listed: int, total: int, what: str) -> list[str]:
    if listed <= MOST_LISTED and listed >= total:
        return []
    shown = min(listed, MOST_LISTED)
    held = f"report.json lists {number(listed)}" if listed > shown else "report.json holds no more"
    return [f"The first {number(shown)} of {number(total)} {what} are shown; {held}."]


def _cell(value: Any) -> str:
    """A place or name; several are joined."""
    if value is None:
        return "–"
    if isinstance(value, (list, tuple)):
        return ", ".join(_cell(one) for one in value)
    return str(value)


def _plain(value: Any) -> str:
    """Names of our own tables, without their underscores."""
    return _cell(value).replace("_", " ")


# ---- conflicts -------------------------------------------------------------------------------------------------------


def conflict_section(report: Report) -> Section:
    """K with its judge, licensed changes and failures to update told apart, and the pairs by place."""
    numbers, setting = Numbers.of(report), Setting.of(report)
    e = numbers.conflicts(setting)
    if e is None and not table_of(report, "advice"):
        return Section("")
    by = f"the judge {setting.judge}" if setting.judge else "rules, without a language judge"
    said = [
        "All pairs of advice on the same thing, unconditional and to this patient, with nothing between them that "
        f"would license a change. Found by {by}.",
    ]
    if e is None or e.value is None:
        said.append(f"The rate is {value_words(e)}: {why(e, 'it was not counted')}.")
    else:
        said.append(f"Conflict rate K {value_words(e)} ({counted(e)} pairs){between(e, of_hundred=False)}.")
    if not setting.judge:
        said.append(
            "Rules may miss contradictions that a language judge sees, so no gate on the plain conflict_rate can pass; "
            "conflict_rate{judge=rules} is the rule's own."
        )
    by_rules = numbers.get("conflict_rate", {"judge": "rules"})
    if setting.judge and by_rules is not None:
        said.append(f"By rules alone it is {brief(by_rules)}; the pairs listed below are those that the rules found.")
    counts: Mapping[str, Any] = table_of(report, "advice") or {}
    beside = {name: int(counts.get(name) or 0) for name in ("licensed", "unclear", "failures_to_update")}
    if counts:
        by_message, against = (int(counts.get(name) or 0) for name in ("licensed_by_message", "against_fact"))
        told = f" ({by_message} by the patient's message alone)" if by_message else ""
        if against:
            said.append(f"Of these conflicts, {against} went against an event.")
        said.append(
            f"Beside these: {plural(beside['licensed'], 'change')} of advice that an event licensed{told}, "
            f"{plural(beside['unclear'], 'change')} on which an event bears without a direction, and "
            f"{plural(beside['failures_to_update'], 'pair')} in which an event asked for a change that did not come."
        )
    order = list(CONFLICTS)
    rows: Sequence[Row] = sorted(
        table_of(report, "conflicts") or (), key=lambda row: order.index(row["kind"]) if row["kind"] in order else 9
    )
    if rows:
        total = int(counts.get("conflicting") or 0) + sum(beside.values())
        said += _cut(len(rows), max(len(rows), total), "pairs")
    return Section("Conflicting advice", tuple(said), (_listed_pairs(rows),) if rows else (), key="conflicts")


def _listed_pairs(rows: Sequence[Row]) -> Table:
    repeated = _repeated(rows)
    body = tuple(
        (
            case_name(row),
            *((_cell(row.get("replicate")),) if repeated else ()),
            _cell(row.get("turns")),
            _cell(row.get("sentences")),
            _plain(row.get("slot")).partition(":")[2] or _plain(row.get("slot")),
            " then ".join(_plain(one) for one in row.get("actions") or ()),
            CONFLICTS.get(str(row.get("kind")), _plain(row.get("kind"))),
        )
        for row in rows[:MOST_LISTED]
    )
    places = ("case", *(("repeat",) if repeated else ()), "turns", "sentences (from 0)")
    links = tuple(_pair_link(row) for row in rows[:MOST_LISTED])
    return Table((*places, "about", "advice", "kind"), body, "Pairs of advice by place", links=links)


def _pair_link(row: Row) -> str:
    spots = list(zip(row.get("turns") or (), row.get("sentences") or (), strict=False))
    if len(spots) != 2:
        return ""
    return transcript_link(row, spots[1][0], "-".join(f"{turn}.{at}" for turn, at in spots), pair=True)


def transcript_link(row: Row, turn: Any, about: Any, *, pair: bool = False) -> str:
    """Where the page of transcripts has it; a case that is not named has no link, which would name it."""
    if case_name(row) != str(row.get("case", "")):
        return ""
    return address(str(row["case"]), row.get("replicate") or 0, turn, str(about or ""), pair=pair)
