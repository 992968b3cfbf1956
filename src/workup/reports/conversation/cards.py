"""The key figures at the head of a chat model's page, and the line of facts above them."""

from __future__ import annotations

from workup.report import Report
from workup.reports.conversation.headline import NO_BAR, Line, lines
from workup.reports.conversation.setting import Setting, noun
from workup.reports.conversation.words import ends, value_words, why
from workup.reports.page import KeyFigure
from workup.reports.wording import number

_SHOWN = ("Recall@", "Decay gap", "Decay slope", "Time to first", "Conflict", "Never", "Plan coverage")


def cards(report: Report) -> list[KeyFigure]:
    """Every headline number keeps its card; one that cannot be told says why."""
    return [_card(line, report) for line in lines(report) if line.name.startswith(_SHOWN)]


def _card(line: Line, report: Report) -> KeyFigure:
    e = line.e
    title = line.name + _unit(line)
    if e is None or e.value is None:
        return KeyFigure(title, "not defined" if e is None else value_words(e), why(e, line.absent))
    if line.name == "Never-events":
        return KeyFigure(title, value_words(e), line.beside)
    between = f"95 % interval {ends(e)}" if e.low is not None else f"no interval: {e.reason}"
    told = _bar(line, report) if line.verdict != NO_BAR else ""
    by = _judge(report) if line.name.startswith("Conflict") else ""
    return KeyFigure(title, value_words(e), "; ".join(filter(None, (between, _rests(line, noun(report)), by, told))))


def _rests(line: Line, unit: str) -> str:
    return f"{line.cases or number(line.e.n_patients if line.e else 0)} {unit}"


def _unit(line: Line) -> str:
    return {"Decay slope": ", per turn", "Time to first loss": ", turns of 10"}.get(line.name, "")


def _bar(line: Line, report: Report) -> str:
    bar = f"{Setting.of(report).bar:.2f}"
    words = {"pass": f"reaches the bar of {bar}", "fail": f"falls short of the bar of {bar}"}
    return words.get(line.verdict, f"whether it reaches {bar} is {line.verdict}")


def _judge(report: Report) -> str:
    judge = Setting.of(report).judge
    return f"by the judge {judge}" if judge else "by rules, no judge"


def facts(report: Report) -> str:
    """Set, arm, memory and judge, as the page shows them under its title."""
    if "internal" not in report.results:
        return ""
    setting = Setting.of(report)
    memory = "recorded elsewhere" if setting.recorded else f"memory {setting.study['memory']}"
    judge = f"judge {setting.judge}" if setting.judge else "conflicts by rules"
    return f"{setting.kind.capitalize()} facts, arm {setting.arm} · {memory} · {judge} · bar {setting.bar:.2f}"
