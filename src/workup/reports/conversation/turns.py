"""Recall, its gap to the oracle and what became of the facts, turn by turn, as sections; the charts stand beside them.

Counts come from the record. A turn without a figure keeps its row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workup.report import Estimate, LensResult, Report
from workup.reports.conversation.setting import SETS, UNREAD, Numbers, Setting, noun
from workup.reports.conversation.words import SET_WORDS, arm_words, brief, capital, ends, value_words
from workup.reports.layout import Section, Table
from workup.reports.spans.words import percent
from workup.reports.wording import number

# In the order in which they are stacked.
OUTCOMES = (
    ("recall", "correct"),
    ("omission_rate", "omitted"),
    ("wrong_value_rate", "wrong value"),
    ("reversal_rate", "reversed"),
    (UNREAD, "not answered"),
)
WITHHELD = "The headline is withheld, since too few facts could be scored: these curves may mislead as well."


@dataclass(frozen=True)
class Tally:
    """Facts that were due at a turn, by what became of them."""

    turn: int
    facts: int
    counts: Mapping[str, int]
    stale: Estimate | None


def sets_shown(numbers: Numbers) -> tuple[str, ...]:
    """The critical set, and the extended one where it holds anything beyond."""
    due = {
        kind: [None if e is None else e.denominator for e in numbers.turn_ends("coverage", kind, "live")]
        for kind in SETS
    }
    return SETS[:1] if due["critical"] == due["extended"] else SETS


def recall_section(report: Report) -> Section:
    """Recall by turn in every arm."""
    numbers = Numbers.of(report)
    if not numbers.turns:
        return Section("")
    shown = sets_shown(numbers)
    said = ["Arms: " + "; ".join(arm_words(arm) for arm in numbers.arms) + "."]
    said += _warned(numbers, Setting.of(report))
    if len(shown) < len(SETS):
        said.append("The patient summaries hold no fact beyond the ledger, so the extended set is the same.")
    else:
        said.append(
            "Extended facts are the critical ones and what else the patient summary states. A model that is never "
            "given the summary cannot know these, whatever it remembers."
        )
    tables = tuple(recall_table(report, numbers, kind) for kind in shown)
    return Section("Recall over the turns", tuple(said), tables, key="recall-turns")


def _warned(numbers: Numbers, setting: Setting) -> list[str]:
    e = numbers.get("recall", setting.keys())
    return [WITHHELD] if e is not None and e.status == "withheld" else []


def recall_table(report: Report, numbers: Numbers, kind: str) -> Table:
    """Every turn with the cases and facts it rests on."""
    cases = cases_by_turn(report, kind)
    by_arm = [numbers.turn_ends("recall", kind, arm) for arm in numbers.arms]
    due = numbers.turn_ends("recall", kind, "live")
    body = tuple(
        (
            str(turn),
            number(cases[turn]) if turn in cases else "–",
            _facts(due[turn - 1]),
            *(brief(row[turn - 1]) for row in by_arm),
        )
        for turn in range(1, numbers.turns + 1)
    )
    heads = ("turn", noun(report), "facts scored", *(f"{arm} (95% interval)" for arm in numbers.arms))
    return Table(heads, body, f"Recall by turn, {SET_WORDS[kind]}", titled=True)


def _facts(e: Estimate | None) -> str:
    return "–" if e is None or e.denominator is None else number(int(e.denominator))


_FEWER = re.compile(r"\bover ([\d,]+) of [\d,]+ (?:cases|patients)\b")


def cases_by_turn(report: Report, kind: str, arm: str = "live") -> dict[int, int]:
    """Cases with a fact that could be scored, by turn: fewer where conversations are shorter or calls failed."""
    rows = table_of(report, "turns") or ()
    if rows:
        return {int(row["turn"]): int(row["cases"]) for row in rows if (row["set"], row["arm"]) == (kind, arm)}
    ends = enumerate(Numbers.of(report).turn_ends("recall", kind, arm), start=1)
    return {turn: _resting_on(e) for turn, e in ends if e is not None and e.denominator}


def _resting_on(e: Estimate) -> int:
    """An estimate counts all cases of the study, and says in words where it rests on fewer."""
    fewer = _FEWER.search(e.reason or "")
    return int(fewer[1].replace(",", "")) if fewer else e.n_patients


# ---- the gap ---------------------------------------------------------------------------------------------------------


def gap_section(report: Report) -> Section:
    """D(t) by turn."""
    numbers, setting = Numbers.of(report), Setting.of(report)
    whole = numbers.get("decay_gap", {"set": setting.kind, "arm": "live"})
    if not numbers.turns or whole is None:
        return Section("")
    title = "Decay gap over the turns"
    if all(e is None or e.value is None for e in numbers.turn_ends("decay_gap", setting.kind, "live")):
        return Section(title, (f"D(t) is {value_words(whole)}: {whole.reason}.",), key="gap-turns")
    said = (
        "D(t) is recall in the conversation less recall of the same model with the facts alone before it, at the same "
        "turn. Below 0 the conversation costs facts."
    )
    warned = _warned(numbers, setting)
    tables = tuple(gap_table(numbers, kind) for kind in sets_shown(numbers))
    beside = "A model that hardly reads the facts at all shows no gap, so read it beside the recall of the oracle."
    return Section(title, (said, beside, *warned), tables, key="gap-turns")


def gap_table(numbers: Numbers, kind: str) -> Table:
    """D at every turn."""
    body = tuple(
        (str(turn), value_words(e) if e is not None else "–", ends(e), "" if e is None else e.reason or "")
        for turn, e in enumerate(numbers.turn_ends("decay_gap", kind, "live"), start=1)
    )
    return Table(("turn", "D", "95% interval", "reason"), body, f"Decay gap by turn, {SET_WORDS[kind]}", titled=True)


# ---- outcomes --------------------------------------------------------------------------------------------------------


def tallies(numbers: Numbers, kind: str, arm: str) -> list[Tally]:
    """What became of the facts at each turn, from the counts behind the rates."""
    found = []
    for turn in range(1, numbers.turns + 1):
        keys = {"set": kind, "arm": arm, "turn": turn}
        rates = {words: numbers.get(metric, keys) for metric, words in OUTCOMES}
        rates["not answered"] = rates["not answered"] or numbers.get("unscorable_rate", keys)  # of older records
        due = rates["not answered"]
        facts = 0 if due is None or due.denominator is None else int(due.denominator)
        counts = {words: 0 if e is None or e.numerator is None else int(e.numerator) for words, e in rates.items()}
        found.append(Tally(turn, facts, counts, numbers.get("stale_rate", keys)))
    return found


def outcomes_section(report: Report) -> Section:
    """Outcomes by turn: the ways in which a fact is not kept differ in harm."""
    numbers, setting = Numbers.of(report), Setting.of(report)
    if not numbers.turns:
        return Section("")
    said = (
        "Of every fact that was due at a turn: kept; not mentioned; said with a wrong value; said to be otherwise; or "
        "not answered, since no reply could be read. An omission can be asked for again, a reversal misleads."
    )
    table = outcomes_table(numbers, setting)
    return Section("What became of the facts", (said,), (table,), key="outcome-turns")


def outcomes_table(numbers: Numbers, setting: Setting) -> Table:
    """Counts and shares; stale is of retired facts, which are due no more."""
    body = tuple(
        (
            str(one.turn),
            number(one.facts),
            *(_share(one.counts[words], one.facts) for _, words in OUTCOMES),
            _stale(one.stale),
        )
        for one in tallies(numbers, setting.kind, setting.arm)
    )
    heads = ("turn", "facts due", *(words for _, words in OUTCOMES), "retired and still said")
    return Table(heads, body, f"{capital(setting.kind)} facts by outcome, arm {setting.arm}")


def _share(count: int, facts: int) -> str:
    return f"{number(count)} ({percent(count / facts)})" if facts else "–"


def _stale(e: Estimate | None) -> str:
    if e is None or not e.denominator:
        return "none retired"
    return f"{number(int(e.numerator or 0))} of {number(int(e.denominator))}"


def sections(report: Report) -> Iterator[Section]:
    """All that goes by turns."""
    yield recall_section(report)
    yield gap_section(report)
    yield outcomes_section(report)


def table_of(report: Report, name: str) -> Any:
    """A table of the internal lens, or None."""
    return report.results.get("internal", LensResult("internal")).tables.get(name)
