"""The one-page form of a chat model's report: what was tested and when, the headline, never-events, and limits."""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from workup.errors import ReportError
from workup.report import Report
from workup.reports.conversation.advice import kinds_words
from workup.reports.conversation.headline import NO_BAR, Line, in_words, lines, never_words
from workup.reports.conversation.setting import Numbers, Setting, is_conversation, noun
from workup.reports.conversation.turns import table_of
from workup.reports.conversation.words import capital, ends, value_words, why
from workup.reports.html import VERDICTS, asset, legible, policy
from workup.reports.layout import Section, Table
from workup.reports.markdown import section_markdown
from workup.reports.wording import drawn, number, plural

_OWN_SECTION = ("Never-events",)
_LEFT_OUT = ("Time to loss for good", "Plan contradicted")


@drawn
def sections(report: Report) -> list[Section]:
    """The card: identity, headline, never-events, what it cannot say."""
    if not is_conversation(report):
        raise ReportError(
            f"a safety card is drawn of a conversation report; got one of '{report.study.get('task')}'. "
            "To fix: use -f html or -f md."
        )
    return [_identity(report), _headline(report), _never(report), _cannot(report)]


@drawn
def markdown(report: Report) -> str:
    """The card as Markdown."""
    first, *rest = sections(report)
    return "\n".join([section_markdown(first, "#"), *(section_markdown(section, "##") for section in rest)])


@drawn
def page(report: Report) -> str:
    """The card as one HTML page that prints on one sheet; no script, no outside request."""
    identity, headline, never, cannot = sections(report)
    style = asset("static/report.css") + asset("static/card.css")
    environment = Environment(
        loader=PackageLoader("workup.reports"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("card.html").render(
        policy=policy(style, ""),
        style=Markup(style),
        study=legible(str(report.study.get("name", ""))),
        identity=[tuple(map(legible, row)) for row in identity.tables[0].rows],
        alarms=[legible(one) for one in identity.sentences],
        heads=headline.tables[0].heads,
        rows=[tuple(map(legible, row)) for row in headline.tables[0].rows],
        headline=[legible(one) for one in headline.sentences],
        never=[legible(one) for one in never.sentences],
        cannot=[legible(one) for one in cannot.points],
        verdicts=VERDICTS,
    )


def _identity(report: Report) -> Section:
    corpus, system, setting = report.corpus, report.system, Setting.of(report)
    unit = noun(report)
    size = plural(int(corpus["n_cases"]), "case")
    clusters = "" if unit == "cases" else f", {number(corpus['n_patients'])} clusters"
    memory = "recorded elsewhere; not in this record" if setting.recorded else str(setting.study["memory"])
    rows = (
        ("Model", str(system["name"]) or "not named"),
        ("Model version", str(system["version"]) or "not given"),
        ("Corpus", " ".join(filter(None, (str(corpus["name"]), str(corpus["version"]))))),
        ("Corpus sha256", str(corpus["sha256"])),
        ("Size", f"{size}{clusters}, up to {plural(Numbers.of(report).turns, 'turn')}"),
        ("Memory", memory),
        ("As of", report.as_of or "not given"),
        ("Record sha256", report.sha256),
    )
    said = ("THIS REPORT HOLDS PATIENT TEXT.",) if report.contains_phi else ()
    title = f"Safety card: {report.study.get('name', '')}"
    return Section(title, said, (Table(("", ""), rows, "What was tested"),), key="identity")


def _headline(report: Report) -> Section:
    setting = Setting.of(report)
    body = tuple(
        (line.name, _value(line), ends(line.e), line.verdict, _brief(line, noun(report)))
        for line in lines(report)
        if line.name not in (*_OWN_SECTION, *_LEFT_OUT)
    )
    said = f"Of {setting.kind} facts, arm {setting.arm}; bar: recall {setting.bar:.2f} at turn {setting.horizon}."
    heads = ("measure", "value", "95% interval", "verdict", "in words")
    return Section("Headline", (said,), (Table(heads, body, "Headline numbers"),), key="headline")


def _value(line: Line) -> str:
    return "not defined" if line.e is None else value_words(line.e)


def _brief(line: Line, unit: str) -> str:
    """What stands beside a number; which cases it rests on, where these are not all."""
    told = line.cases and line.verdict == NO_BAR and line.e is not None and line.e.value is not None
    return in_words(line) + (f"; over {line.cases} {unit}" if told else "")


def _never(report: Report) -> Section:
    numbers = Numbers.of(report)
    e = numbers.get("never_events")
    if e is None or e.value is None:
        status = "not defined" if e is None else value_words(e)
        said = [f"Never-events are {status}: {why(e, 'they were not counted')}."]
    else:
        said = [f"{capital(never_words(numbers, report))}."]
        rows = table_of(report, "never_events") or ()
        said += [kinds_words(rows)] if rows else []
    return Section("Never-events", tuple(said), key="never-events")


def _cannot(report: Report) -> Section:
    return Section("What this card cannot say", points=tuple(_points(report)), key="limits")


def _points(report: Report) -> Iterator[str]:
    setting = Setting.of(report)
    yield f"How the model does with other patients than {noun(report)} like these, in longer conversations, or later."
    yield "Whether advice is right in any way that no fact of the ledger speaks of."
    yield "That no never-event will come: the bound is what these cases leave open."
    if not setting.judge:
        yield "Whether a language judge would find more contradictions than the rules did."
    if setting.recorded:
        yield "How the model was asked, and with which memory: its conversations were recorded elsewhere."
    withheld = next((line.e for line in lines(report) if line.e is not None and line.e.status == "withheld"), None)
    if withheld is not None:
        yield f"What the withheld numbers would be: {withheld.reason}."
