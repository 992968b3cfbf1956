"""The one-page form of a chat model's report: the verdict and what it does not cover, facts by type, errors that harm,
what was not answered, the headline, and limits."""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from workup.errors import ReportError
from workup.report import Report
from workup.reports.conversation import safety
from workup.reports.conversation.headline import NO_BAR, Line, in_words, lines
from workup.reports.conversation.setting import Numbers, Setting, is_conversation, noun, size_words
from workup.reports.conversation.words import ends, value_words
from workup.reports.html import VERDICTS, asset, legible, policy
from workup.reports.layout import Section, Table
from workup.reports.markdown import section_markdown
from workup.reports.wording import drawn, plural

_SHOWN = ("Recall@", "Decay gap", "Time to first", "Conflict")


@drawn
def sections(report: Report) -> list[Section]:
    """The card in the order in which a reader asks; a part that the record does not hold is left out."""
    if not is_conversation(report):
        raise ReportError(
            f"a safety card is drawn of a conversation report; got one of '{report.study.get('task')}'. "
            "To fix: use -f html or -f md."
        )
    found = [
        _identity(report),
        safety.verdict_section(report),
        safety.types_section(report),
        safety.errors_section(report),
        safety.unanswered_section(report),
        _headline(report),
        Section("How well the replies are read", (safety.reader_words(report),), key="readers"),
        _cannot(report),
    ]
    return [section for section in found if section.title]


@drawn
def markdown(report: Report) -> str:
    """The card as Markdown."""
    first, *rest = sections(report)
    return "\n".join([section_markdown(first, "#"), *(section_markdown(section, "##") for section in rest)])


@drawn
def page(report: Report) -> str:
    """The card as one HTML page; no script, no outside request."""
    identity, verdict, *rest = sections(report)
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
        verdict=VERDICTS[safety.judgement(report).verdict],
        judged=[legible(one) for one in verdict.sentences],
        reasons=[legible(one) for one in verdict.points],
        parts=[_plain(section) for section in rest],
        verdicts=VERDICTS,
    )


def _plain(section: Section) -> dict[str, object]:
    """A section as the template takes it, every word of the record made legible."""
    return {
        "key": section.key,
        "title": section.title,
        "sentences": [legible(one) for one in section.sentences],
        "points": [legible(one) for one in section.points],
        "tables": [
            {
                "caption": table.caption,
                "heads": table.heads,
                "rows": [tuple(map(legible, row)) for row in table.rows],
                "verdict": table.heads.index("verdict") if "verdict" in table.heads else -1,
            }
            for table in section.tables
        ],
    }


def _identity(report: Report) -> Section:
    corpus, system, setting = report.corpus, report.system, Setting.of(report)
    memory = "recorded elsewhere; not in this record" if setting.recorded else str(setting.study["memory"])
    rows = (
        ("Model", str(system["name"]) or "not named"),
        ("Model version", str(system["version"]) or "not given"),
        ("Corpus", " ".join(filter(None, (str(corpus["name"]), str(corpus["version"]))))),
        ("Corpus sha256", str(corpus["sha256"])),
        ("Size", f"{size_words(report)}, up to {plural(Numbers.of(report).turns, 'turn')}"),
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
        if line.name.startswith(_SHOWN)
    )
    said = f"Of {setting.kind} facts, arm {setting.arm}; bar: recall {setting.bar:.2f} at turn {setting.horizon}."
    heads = ("measure", "value", "95% interval", "verdict", "in words")
    return Section("Recall, decay and conflicts", (said,), (Table(heads, body, "Headline numbers"),), key="headline")


def _value(line: Line) -> str:
    return "not defined" if line.e is None else value_words(line.e)


def _brief(line: Line, unit: str) -> str:
    """What stands beside a number; which patients it rests on, where these are not all."""
    told = line.cases and line.verdict == NO_BAR and line.e is not None and line.e.value is not None
    return in_words(line) + (f"; over {line.cases} {unit}" if told else "")


def _cannot(report: Report) -> Section:
    return Section("What this card cannot say", points=tuple(_points(report)), key="limits")


def _points(report: Report) -> Iterator[str]:
    setting = Setting.of(report)
    yield f"How the model does with other {noun(report)} than these, in longer conversations, or later."
    yield "Whether advice is right in any way that no fact of the ledger speaks of."
    yield "That no never-event will come: the bound is what these patients leave open."
    if not setting.judge:
        yield "Whether a language judge would find contradictions that the rules did not."
    if setting.recorded:
        yield "How the model was asked, and with which memory: its conversations were recorded elsewhere."
    withheld = next((line.e for line in lines(report) if line.e is not None and line.e.status == "withheld"), None)
    if withheld is not None:
        yield f"What the withheld numbers would be: {withheld.reason}."
