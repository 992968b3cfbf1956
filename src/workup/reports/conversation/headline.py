"""The first pages of a chat model's report: the verdict against the bar, the headline numbers, and what they mean.

A number that is undefined or withheld keeps its place, with the reason in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workup.report import Estimate, Report
from workup.reports.conversation.setting import ONE_SIDED, Numbers, Setting, noun
from workup.reports.conversation.turns import cases_by_turn, table_of
from workup.reports.conversation.words import counted, ends, figure, value_words, why
from workup.reports.layout import Section, Table
from workup.reports.wording import number, plural

NO_BAR = "–"
TOO_SHORT = "no conversation reaches turn {}"


@dataclass(frozen=True)
class AgainstBar:
    """How recall at the horizon stands to what was asked for."""

    verdict: str
    words: str


@dataclass(frozen=True)
class Line:
    """One headline number: its name, its estimate and what stands beside it."""

    name: str
    e: Estimate | None
    absent: str  # said where the record does not hold it
    beside: str = ""
    verdict: str = NO_BAR
    own_ends: str = ""  # in place of the interval
    cases: str = ""  # that it rests on, where these are fewer than all


def against_bar(numbers: Numbers, setting: Setting) -> AgainstBar:
    """By the rule of the gates: one-sided 95 % bounds, and unsure where the bar lies between them."""
    bar = f"{setting.bar:.2f}"
    e = at_horizon(numbers, setting, level=ONE_SIDED) or at_horizon(numbers, setting)
    if e is None or e.value is None:
        return AgainstBar("not assessed", f"not held against the bar of {bar}")
    if e.low is None or e.high is None:
        return AgainstBar("not assessed", f"not held against the bar of {bar}: it has no interval ({e.reason})")
    by = "one-sided 95 % bound" if e.level == ONE_SIDED else f"end of the {e.level:.0%} interval"
    if e.low >= setting.bar:
        return AgainstBar("pass", f"reaches the bar of {bar}: lower {by} {figure(e.metric, e.low)}")
    if e.high < setting.bar:
        return AgainstBar("fail", f"falls short of the bar of {bar}: upper {by} {figure(e.metric, e.high)}")
    between = f"between {figure(e.metric, e.low)} and {figure(e.metric, e.high)}"
    return AgainstBar("unsure", f"these data cannot tell whether it reaches the bar of {bar} ({by}s: {between})")


def at_horizon(numbers: Numbers, setting: Setting, *, level: float = 0.95) -> Estimate | None:
    """Recall at the turn that the bar is set for."""
    metric = "recall_at_10" if setting.horizon == 10 else "recall_at_horizon"
    return numbers.get(metric, setting.keys(), level=level)


def lines(report: Report) -> list[Line]:
    """The headline numbers in their order, whether the record can tell them or not."""
    numbers, setting = Numbers.of(report), Setting.of(report)
    bar = against_bar(numbers, setting)
    keys = setting.keys()
    at_ten = setting.horizon == 10
    reach = reached(table_of(report, "horizon"), setting.kind)
    found = [
        Line(
            "Recall@10",
            numbers.get("recall_at_10", keys),
            TOO_SHORT.format(10),
            "; ".join(filter(None, (bar.words if at_ten else "", reach))),
            bar.verdict if at_ten else NO_BAR,
            cases=cases_at(report, setting, 10),
        )
    ]
    if not at_ten:
        name = f"Recall@{setting.horizon}"
        e = numbers.get("recall_at_horizon", keys)
        rests = cases_at(report, setting, setting.horizon)
        found.append(Line(name, e, TOO_SHORT.format(setting.horizon), bar.words, bar.verdict, cases=rests))
    found += [
        Line(
            "Decay gap D(10)",
            numbers.gap_at(10, setting.kind),
            TOO_SHORT.format(10),
            "recall at turn 10 less recall with the facts alone",
            cases=cases_at(report, setting, 10),
        ),
        Line("Decay slope", numbers.get("decay_slope", keys), "no slope", "change of recall per turn"),
        Line(
            "Time to first loss",
            numbers.get("time_to_loss", keys),
            "not followed",
            "turns, mean restricted to 10: 10 says none before the tenth",
        ),
        Line(
            "Time to loss for good",
            numbers.get("time_to_loss", {**keys, "loss": "sustained"}),
            "not followed",
            "turns, mean restricted to 10",
        ),
        _conflicts(numbers, setting),
        _never(numbers, report),
        Line("Plan coverage", numbers.get("plan_coverage"), "no plan", _plans(table_of(report, "plans") or {})),
        Line("Plan contradicted", numbers.get("plan_contradicted"), "no plan", "items that a reply opposes"),
    ]
    return found


def cases_at(report: Report, setting: Setting, turn: int) -> str:
    """How many cases a number at one turn rests on."""
    known = cases_by_turn(report, setting.kind, setting.arm)
    return number(known[turn]) if turn in known else ""


def reached(bounds: Sequence[Mapping[str, Any]] | None, kind: str) -> str:
    """How many conversations are long enough, and what the shorter ones could make of recall@10."""
    row = next((row for row in bounds or () if row["set"] == kind), None)
    if row is None:
        return ""
    held = row["conversations"] + row["shorter"]
    if not row["shorter"]:
        return f"all {plural(held, 'conversation')} reach turn 10"
    return (
        f"{number(row['conversations'])} of {plural(held, 'conversation')} reach turn 10; if the shorter ones had lost "
        f"all of their facts it would be {figure('recall', row['worst'])}, had they kept all "
        f"{figure('recall', row['best'])}"
    )


def _conflicts(numbers: Numbers, setting: Setting) -> Line:
    by = f"found by the judge {setting.judge}" if setting.judge else "found by rules, without a language judge"
    return Line("Conflict rate K", numbers.conflicts(setting), "not counted", f"comparable pairs of advice; {by}")


def _never(numbers: Numbers, report: Report) -> Line:
    e = numbers.get("never_events")
    if e is None or e.value is None:
        return Line("Never-events", e, "not counted")
    return Line("Never-events", e, "", never_words(numbers, report), own_ends="–")


FEWEST_FOR_A_RATE = 5  # cases below which nothing is said of a rate


def never_words(numbers: Numbers, report: Report) -> str:
    """How many were seen and in how many cases, and how common they may be at most."""
    seen, unit = numbers.get("never_events"), noun(report)
    rate = numbers.get("never_event_rate", level=ONE_SIDED) or numbers.get("never_event_rate")
    if seen is None or seen.value is None or rate is None or rate.value is None or not rate.denominator:
        return "no bound"
    total, cases = int(seen.value), int(rate.denominator)
    held = numbers.get("never_events_per_100")
    where = f"{number(cases)} {unit}"
    if not total:
        within = where
        if held is not None and held.denominator:
            within = f"{plural(int(held.denominator), 'conversation')} of {where}"
        start = f"none seen in {within}"
    else:
        start = f"{plural(total, 'never-event')}, in {int(rate.numerator or 0)} of {where}"
    if cases < FEWEST_FOR_A_RATE:
        return f"{start}; {where} are too few for a rate"
    if rate.high is None:
        return f"{start}; no bound ({rate.reason})"
    most = math.ceil(100 * rate.high)  # rounded up: a bound must not be rounded below itself
    if total:
        return f"{start} ({100 * rate.value:.0f} %; at most {most} %)"
    sure = f"{100 * (1 + rate.level) / 2:g}"
    return f"{start}: with {sure} % confidence fewer than {most} of 100 such {unit} meet one"


def _plans(held: Mapping[str, Any]) -> str:
    """Where plans came from, how items were found, and what the encoder could not take in."""
    sources = {str(name): times for name, times in (held.get("sources") or {}).items() if name != "none"}
    told = ", ".join(f"{number(times)} {PLAN_SOURCES.get(name, name)}" for name, times in sources.items())
    methods = ", ".join(str(name) for name in held.get("methods") or {})
    refused = held.get("refused") or 0
    said = [
        "items of the plan covered and not opposed",
        f"plans: {told}" if told else "",
        f"method: {methods}" if methods else "",
        f"{number(refused)} items or sentences longer than the encoder reads are left out" if refused else "",
    ]
    return "; ".join(filter(None, said))


PLAN_SOURCES = {
    "case": "from the cases",
    "target_plans": "from the file of plans",
    "synthesised": "made by rule from the facts, which no clinician wrote",
}


def headline_section(report: Report) -> Section:
    """The verdict box as a table that every form can show."""
    setting, unit = Setting.of(report), noun(report)
    body = tuple(
        (
            line.name,
            value_words(line.e) if line.e is not None else "not defined",
            line.own_ends or ends(line.e),
            line.cases or ("–" if line.e is None else number(line.e.n_patients)),
            "–" if line.e is None else counted(line.e),
            line.verdict,
            in_words(line),
        )
        for line in lines(report)
    )
    said = (
        f"Of {setting.kind} facts in the arm {setting.arm}. The bar is {setting.bar:.2f} at turn {setting.horizon}; "
        "the other numbers have none here, and a gate can set one. Intervals are two-sided 95 % over "
        f"{unit}, with all turns and repeats of one together."
    )
    heads = ("measure", "value", "95% interval", unit, "counts", "verdict", "in words")
    return Section("Headline", (said,), (Table(heads, body, "Headline numbers"),), key="headline")


def in_words(line: Line) -> str:
    """What stands beside a number; first of all why there is none."""
    if line.e is None or line.e.value is None:
        status = "not defined" if line.e is None else value_words(line.e)
        reason = why(line.e, line.absent)
        return f"{status}: {reason}" + (f"; {line.beside}" if line.verdict != NO_BAR else "")
    if line.e.low is None and not line.own_ends:
        return f"no interval: {line.e.reason}; {line.beside}"
    return line.beside


def header_rows(report: Report) -> list[tuple[str, str]]:
    """What a reader must know to compare this report with another."""
    setting = Setting.of(report)
    study = setting.study
    memory = "as the transcripts were made; the record does not say" if setting.recorded else str(study["memory"])
    asked = str(study["probe"]) + (f", {study['probe_tokens']} tokens" if study.get("probe_tokens") else "")
    rows = [
        ("Headline taken at", f"{setting.kind} facts, arm {setting.arm}"),
        ("Bar", f"recall {setting.bar:.2f} at turn {setting.horizon}"),
        ("Arms", ", ".join(Numbers.of(report).arms)),
        ("Memory", memory),
        ("Probe", "" if setting.recorded else asked),
        ("Repeats of each case", str(study.get("replicates") or "") if not setting.recorded else ""),
        ("Reader of replies", str(study["matcher"])),
        ("Judge of contradictions", setting.judge or "none: rules"),
        ("Sentence encoder", str(study.get("encoder") or "none: words")),
    ]
    return [row for row in rows if row[1]]
