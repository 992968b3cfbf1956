"""Sets that no rule was written from: today they are read no worse than when they were first met."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.advice import conflicts_of, never_events_of
from workup.tasks.conversation.read.facts.reply_outcomes import Matcher
from workup.tasks.conversation.read.unseen import first_sight

NOW = 3  # a turn after every fact that is over was retired


def rows(name: str) -> list[dict[str, Any]]:
    text = Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8")
    return list(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def fact_of(record: dict[str, Any], number: int = 0) -> Fact:
    held = {"id": f"f{number}", **{key: value for key, value in record.items() if value is not None}}
    held.pop("expected", None)
    if held.get("retired") is True:
        held["retired"] = 2
    return Fact(**held)


def judged(name: str) -> Iterator[tuple[int | None, str, str]]:
    """Rule, what is expected and what is found, of every labelled fact."""
    for row in rows(name):
        labelled = row.get("facts") or [{**row["fact"], "expected": row["expected"]}]
        matcher = Matcher([fact_of(one, number) for number, one in enumerate(labelled)])
        for one, found in zip(labelled, matcher.judge(row["reply"], turn=NOW), strict=True):
            yield row.get("rule"), one["expected"], found.outcome


def held_apart(row: dict[str, Any], facts: list[Fact], messages: list[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """A case whose facts need not stand in its messages, which were written to be read and not to be checked."""
    monkeypatch.setattr("workup.tasks.conversation.cases.case.check_case", lambda case: None)
    turns = tuple(Turn(number, message) for number, message in enumerate(messages, start=1))
    return ConversationCase(row["id"], "", turns, tuple(facts))


def test_outcomes_of_replies() -> None:
    found = list(judged("replies"))
    assert len(found) == first_sight().outcomes.n and len(rows("replies")) >= 200
    assert sum(expected == outcome for _, expected, outcome in found) >= first_sight().outcomes.right >= 0.92 * 348


def test_warnings_deny_nothing() -> None:
    found = list(judged("warnings"))
    assert len(found) == 90 == first_sight().warnings.n
    assert sum(outcome == "reversed" for *_, outcome in found) <= 90 - first_sight().warnings.right <= 2


def test_sentences_by_rule() -> None:
    found = list(judged("rules"))
    assert len(found) == first_sight().sentences.n and len(rows("rules")) >= 400
    assert sum(expected == outcome for _, expected, outcome in found) >= first_sight().sentences.right >= 0.90 * 656
    for rule in range(1, 14):
        own = [expected == outcome for number, expected, outcome in found if number == rule]
        assert len(own) >= 36 and sum(own) >= 0.85 * len(own), rule
    orders = [(expected, outcome) for number, expected, outcome in found if number == 3]
    assert not [one for one in orders if one[1] == "reversed" != one[0]]


def test_pairs_of_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    right = 0
    for row in rows("pairs"):
        facts = [fact_of(one) for one in row["facts"] or ()]
        case = held_apart(row, facts, row["messages"], monkeypatch)
        turns = row["first"]["turn"], row["second"]["turn"]
        pairs = conflicts_of(case, dict(zip(turns, (row["first"]["reply"], row["second"]["reply"]), strict=True))).pairs
        kinds = {pair.kind.split(" ")[0] for pair in pairs if pair.turns == turns}
        order = ("conflict", "against_fact", "licensed", "unclear")
        right += next((kind for kind in order if kind in kinds), "none") == row["expected"]
    assert len(rows("pairs")) == 80 == first_sight().advice.n
    assert right >= first_sight().advice.right >= 72


def test_never_events(monkeypatch: pytest.MonkeyPatch) -> None:
    right = alarms = 0
    for row in rows("never"):
        case = held_apart(row, [fact_of(one) for one in row["facts"]], ["x"], monkeypatch)
        found = {event.concept for event in never_events_of(case, {1: row["reply"]}, {}) if event.concept}
        wanted = row["expected"] or ()
        right += len(found) == len(wanted)
        alarms += bool(found) and not wanted
    assert len(rows("never")) == 60 == first_sight().never_events.n
    assert right >= first_sight().never_events.right >= 57 and alarms == 0
