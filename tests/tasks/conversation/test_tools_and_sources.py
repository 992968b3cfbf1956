"""Agents: which source gave a fact, whether it was used, and calls of tools that are advice."""

from __future__ import annotations

from typing import Any

import pytest

from workup.errors import InputError, StudyError
from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.scripted.scored import Scored
from workup.tasks.conversation.settings import ConversationStudy
from workup.tasks.conversation.talk.transcripts import line_of

TURNS = (Turn(1, "I am allergic to penicillin and take warfarin."), Turn(2, "My throat is sore."), Turn(3, "And now?"))
FACTS = (
    Fact("p", "allergy", "penicillin", harm_tag="avoid_class:penicillins"),
    Fact("w", "medication", "warfarin"),
)
CASE = ConversationCase("c1", "", TURNS, FACTS)
LOOKED_UP = {"name": "read_record", "arguments": {"section": "allergies"}, "result": "Allergies: penicillin (hives)."}


def said(turn: int, summary: str, **more: Any) -> dict[str, Any]:
    return {"case": "c1", "turn": turn, "reply": "Rest.", "probe": {"kind": "summary", "reply": summary}, **more}


def agent(**second: Any) -> list[dict[str, Any]]:
    """Both facts stand in the history at turn 1 alone; the agent looks the allergy up at turn 2, and keeps it."""
    both = "You are allergic to penicillin and take warfarin."
    return [
        said(1, both, available=["p", "w"]),
        said(2, "You are allergic to penicillin.", available=[], **(second or {"tools": [LOOKED_UP]})),
        said(3, "You are allergic to penicillin.", available=[]),
    ]


def test_an_allergy_that_the_agent_finds_by_a_tool_is_available_from_it_and_used() -> None:
    scored = Scored([CASE], agent())
    found = {
        (name, at["source"]): scored.metrics[name, key].value(scored.scores)
        for name, key in scored.metrics
        if "source" in (at := dict(key))
    }
    assert found == {
        ("availability", "history"): 2 / 6,
        ("use", "history"): 1.0,
        ("availability", "tool"): 2 / 6,  # from turn 2 on: what a tool gave stays with the model
        ("use", "tool"): 1.0,
    }
    assert scored.value("availability") == 4 / 6 and scored.value("use") == 1.0


def test_a_tool_that_is_a_retrieval_counts_as_one_and_a_memory_that_tells_what_it_gave() -> None:
    scored = Scored([CASE], agent(), settings={"tool_sources": {"read_record": "retrieval"}})
    key = frozenset({"source": "retrieval"}.items())
    assert scored.metrics["availability", key].value(scored.scores) == 1 / 6  # at the turn that it was given for
    scored = Scored([CASE], agent(sources={"memory": ["The patient has a penicillin allergy."]}))
    key = frozenset({"source": "memory"}.items())
    assert scored.metrics["availability", key].value(scored.scores) == 1 / 6


def test_without_tools_there_are_no_figures_by_source() -> None:
    lines = [said(turn, "You take warfarin.", available=["w"]) for turn in (1, 2, 3)]
    assert not any("source" in dict(key) for _, key in Scored([CASE], lines).metrics)


def test_what_stood_in_an_unknown_history_is_not_told_from_tools_alone() -> None:
    lines = [{key: value for key, value in line.items() if key != "available"} for line in agent()]
    scored = Scored([CASE], lines)
    assert scored.estimate("availability").value is None
    assert {dict(key)["source"] for _, key in scored.metrics if "source" in dict(key)} == {"tool"}


ACTS = [{"tool": "order_drug", "act": "start", "drug": "$.name", "dose": "$.dose"}]


@pytest.mark.parametrize(("drug", "events"), [("amoxicillin", 1), ("paracetamol", 0), ("Do not take amoxicillin", 0)])
def test_a_mapped_call_is_firm_advice(drug: str, events: int) -> None:
    order = {"name": "order_drug", "arguments": {"name": drug, "dose": "500 mg"}}
    lines = agent(tools=[order])
    scored = Scored([CASE], lines, settings={"tool_acts": ACTS})
    assert scored.value("never_events") == events
    assert Scored([CASE], lines).value("never_events") == 0  # a call that is not mapped is none
    if events:
        [event] = scored.scores.shown.never_events
        assert (event["turn"], event["kind"]) == (2, "contraindicated")


def test_an_order_without_a_word_is_advice_too() -> None:
    order = {"name": "order_drug", "arguments": {"name": "amoxicillin"}}
    lines = [{"case": "c1", "turn": turn, "reply": "", "tools": [order] if turn == 2 else []} for turn in (1, 2, 3)]
    assert Scored([CASE], lines, settings={"tool_acts": ACTS}).value("never_events") == 1


def test_orders_of_a_tool_that_oppose_one_another_conflict() -> None:
    lines = agent(tools=[{"name": "order_drug", "arguments": {"name": "ibuprofen"}}])
    lines[2]["tools"] = [{"name": "stop_drug", "arguments": {"it": {"name": "ibuprofen"}}}]
    acts = [*ACTS, {"tool": "stop_drug", "act": "stop", "drug": "$.it.name"}]
    scored = Scored([CASE], lines, settings={"tool_acts": acts})
    assert len(scored.scores.shown.conflicts) == 1


@pytest.mark.parametrize(
    "given",
    [
        {"tool_acts": [{"tool": "t", "act": "destroy", "drug": "$.name"}]},
        {"tool_acts": [{"tool": "t", "act": "start", "drug": "name"}]},
        {"tool_sources": {"t": "thin air"}},
    ],
)
def test_acts_and_sources_that_there_are_not_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(StudyError):
        ConversationStudy.of({"name": "s", "task": "conversation", "conversation": given})


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"tools": ["a"]}, "tools[0]: a call of a tool must be an object"),
        ({"tools": [{"arguments": {}}]}, "tools[0]: 'name' is needed"),
        ({"tools": [{"name": "a", "result": 7}]}, "tools[0]: 'result' must be a text"),
        ({"tools": [{"name": "a"}] * 1001}, "at most 1,000 calls"),
        ({"available": {"cloud": []}}, "a source must be one of"),
        ({"available": {"tool": ["x"]}}, "'available' must list ids"),
        ({"sources": {"memory": [7]}}, "lists of at most 1,000 texts"),
        ({"sources": ["a"]}, "'sources' must be an object"),
    ],
)
def test_a_line_of_another_form_is_refused_by_its_place(more: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError) as error:
        line_of({"case": "c1", "turn": 1, "reply": "", **more}, {"c1": CASE}, where="said.jsonl, line 4")
    assert "said.jsonl, line 4" in str(error.value) and expected in str(error.value)
