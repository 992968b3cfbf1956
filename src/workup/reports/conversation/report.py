"""The report of a chat model over many turns as sections and charts, in the order in which a reader asks.

Puts the parts together; each part reads the record alone and is quiet where the record does not hold it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workup.report import Estimate, Report
from workup.reports.charts.figure import Figure
from workup.reports.conversation import (
    advice,
    curves,
    losses,
    memory,
    overall,
    readers,
    safety,
    sentences,
    turns,
)
from workup.reports.conversation import (
    headline as conversation_headline,
)
from workup.reports.conversation.setting import Numbers, Setting, narrowed, noun
from workup.reports.conversation.words import HEADS, estimate_rows, in_units, said_in, table_in
from workup.reports.groups import by_group, comparisons, smallest_gaps
from workup.reports.layout import Section
from workup.reports.wording import drawn

TITLE = "Conversation report"
GATES = (
    "Ends of intervals in these rules are two-sided 90 %, that is one-sided 95 %, unless a rule names another level; "
    "the tables below show 95 %. A number that is withheld or undefined cannot pass."
)
header_rows = conversation_headline.header_rows
headline = sentences.sentences


@drawn
def sections(report: Report) -> list[Section]:
    """All that the internal lens found."""
    if "internal" not in report.results:
        return []
    return [
        safety.verdict_section(report),
        safety.types_section(report),
        safety.errors_section(report),
        safety.unanswered_section(report),
        conversation_headline.headline_section(report),
        *turns.sections(report),
        losses.section(report),
        advice.never_section(report),
        advice.conflict_section(report),
        memory.section(report),
        overall.section(report),
        readers.quality_section(report),
        readers.coverage_section(report),
        readers.readers_section(report),
        readers.judges_section(report),
    ]


@drawn
def figures(report: Report) -> dict[str, list[Figure]]:
    """Charts by the key of the section that they stand beside."""
    if "internal" not in report.results:
        return {}
    return {**curves.figures(report), **losses.figures(report)}


@drawn
def groups(report: Report) -> Iterator[Section]:
    """Groups of cases at the set and arm of the headline."""
    result, unit = narrowed(report).results.get("subgroups"), noun(report)
    if result is None:
        return
    setting = Setting.of(report)
    at = f"Of {setting.kind} facts, arm {setting.arm}; report.json holds the other metrics of each group."
    for section in (*by_group(result, HEADS, estimate_rows), *comparisons(result)):
        said = (*section.sentences, at) if section.key.startswith("by:") else section.sentences
        yield in_units(replace(section, sentences=said), unit)


def shared_figures(report: Report, found: dict[str, list[Figure]]) -> dict[str, list[Figure]]:
    """Charts of the lenses, which speak of patients, in the unit of this task."""
    unit = noun(report)
    return {key: [_in_units(chart, unit) for chart in charts] for key, charts in found.items()}


def _in_units(chart: Figure, unit: str) -> Figure:
    return replace(chart, says=tuple(said_in(one, unit) for one in chart.says), table=table_in(chart.table, unit))


def smallest(report: Report) -> Iterator[tuple[str, Estimate]]:
    """Headline numbers whose smallest visible difference a reader wants to know, each with its name."""
    numbers, setting = Numbers.of(report), Setting.of(report)
    wanted = (
        ("recall@10", numbers.get("recall_at_10", setting.keys())),
        ("decay gap D(10)", numbers.gap_at(10, setting.kind)),
        ("recall, all turns", numbers.get("recall", setting.keys())),
        ("decay slope", numbers.get("decay_slope", setting.keys())),
        ("time to first loss", numbers.get("time_to_loss", setting.keys())),
    )
    for name, e in wanted:
        if e is not None and e.status == "ok" and e.se is not None:
            yield name, e


def smallest_groups(report: Report) -> Iterator[Section]:
    """The smallest gap between groups at the set and arm of the headline."""
    result = narrowed(report).results.get("subgroups")
    if result is not None and result.tables.get("smallest_difference"):
        yield in_units(smallest_gaps(result), noun(report))


def limits(report: Report) -> Section:
    """What no figure here can prove."""
    return Section("Limits: what these numbers cannot say", points=tuple(_limits(report)), key="limits")


_WORDS = (
    "Patient: the person that cases are of. Cases of one patient are alike, so intervals count patients, not cases.",
    "Probe: a question put beside the conversation, such as a request for a summary, whose answer shows what is kept.",
    "Oracle: the same question with only the sentences that told the facts before it; what is lost there is not the "
    "conversation's doing.",
    "Critical set: the facts that the case marks as critical; the extended set adds what the patient summary states.",
    "Ceiling: the most that a low end can be with so many patients, however good the model.",
)


def words() -> Section:
    """What the words of the page mean, for a reader who meets them for the first time."""
    return Section("Words of this page", points=_WORDS, key="words")


def _limits(report: Report) -> Iterator[str]:
    setting = Setting.of(report)
    yield (
        f"An interval allows for the play of chance among {noun(report)} like these, not for other patients, longer "
        "conversations, another language or a later version of the model."
    )
    yield (
        "Only facts of the ledger are followed. A fact that nobody wrote down cannot be seen to be lost, and advice "
        "that is wrong for other reasons is not judged."
    )
    yield (
        "Replies are read by rules with a known error (above). A reply that keeps a fact in words that the rules do "
        "not know counts as an omission."
    )
    yield (
        "No never-event seen is not none to come: the bound says what these cases leave open, and the map of drug "
        "classes what can be seen at all."
    )
    if setting.recorded:
        yield (
            "These conversations were recorded elsewhere: how the model was asked, with which memory and settings, is "
            "not in this record."
        )
    if setting.study.get("probe") == "summary" and not setting.recorded:
        yield (
            "Recall is of summaries that were asked for beside the conversation; a fact that a summary holds may still "
            "be ignored in a reply."
        )
    generated = (report.study.get("corpus") or {}).get("generate")
    if generated:
        yield "The cases were generated: they show whether the model can, not how it does with patients."
    yield "A chat model can change behind the same name; this report is of the version and the day that it names."
