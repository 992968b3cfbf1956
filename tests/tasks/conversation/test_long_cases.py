"""Long conversations that are probed now and then: what is asked, counted and dated, and at which horizons."""

from __future__ import annotations

from typing import Any

import pytest

from workup.errors import GateError, InputError, StudyError
from workup.runs import Unrecorded
from workup.tasks.conversation.cases.case import ConversationCase, Turn, case_of
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.notes import notes_of
from workup.tasks.conversation.scripted.scored import Scored
from workup.tasks.conversation.settings import ConversationPart, ConversationStudy
from workup.tasks.conversation.talk import converse, estimate_of


def case(number: int = 1, turns: int = 20) -> ConversationCase:
    said = (Turn(1, "I take warfarin and I have asthma."), *(Turn(n, "What next?") for n in range(2, turns + 1)))
    return ConversationCase(
        f"c{number}", "", said, (Fact("w", "medication", "warfarin"), Fact("a", "diagnosis", "asthma"))
    )


def lines(number: int, lost: int, *, turns: int = 20, every: int = 5) -> list[dict[str, Any]]:
    """A model that forgets the warfarin for good at a turn, asked for a summary now and then."""
    found = []
    for turn in range(1, turns + 1):
        told = "You have asthma." if turn >= lost else "You take warfarin and have asthma."
        line: dict[str, Any] = {"case": f"c{number}", "turn": turn, "reply": "Let us see."}
        found.append(line | ({"probe": {"kind": "summary", "reply": told}} if turn % every == 0 else {}))
    return found


def test_turns_without_a_probe_count_nowhere_and_a_loss_is_dated_to_the_probe_that_shows_it() -> None:
    settings = {"probe_turns": "every:5", "horizons": [10, 15, 20]}
    scored = Scored([case(1), case(2)], [*lines(1, 12), *lines(2, 99)], settings=settings)
    assert [scored.value(f"recall_at_{turn}") for turn in (10, 15, 20)] == [1.0, 0.75, 0.75]
    assert scored.value("coverage") == 1.0
    assert scored.value("recall") == (16 - 2) / 16  # four probes of two facts in two cases
    assert {at.get("turn") for name, key in scored.metrics if (at := dict(key)) and name == "recall"} == {
        None,
        5,
        10,
        15,
        20,
    }
    # Lost at turn 12, shown at 15: one of four facts; the clock runs to the largest horizon.
    assert scored.value("time_to_loss") == pytest.approx(1 + 14 + 5 * 0.75)
    said = " ".join(notes_of(scored.scores, scored.study.conversation))
    assert "every 5 turns only: a loss is dated to the probe that shows it" in said


def test_what_another_arm_lacks_where_nobody_asked_is_not_missing_and_else_it_is() -> None:
    live = lines(1, 99)
    oracle = [{**line, "arm": "oracle"} for line in live if "probe" in line]
    assert Scored([case()], [*live, *oracle]).value("coverage", arm="oracle") == 1.0
    assert Scored([case()], [*live, *oracle[1:]]).value("coverage", arm="oracle") == 0.75
    assert Scored([case()], live[:-1]).value("coverage") == 0.75


def test_a_study_that_probes_every_turn_says_nothing_of_it_and_keeps_its_clock() -> None:
    scored = Scored([case(1, 10)], lines(1, 99, turns=10, every=1))
    assert scored.scores.clock == 10 and "probe that shows it" not in " ".join(
        notes_of(scored.scores, scored.study.conversation)
    )


class Parrot:
    name, version = "parrot", "1"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def reply(self, messages: list[dict[str, str]]) -> str:
        self.asked.append(messages[-1]["content"])
        return "You take warfarin and have asthma."


@pytest.mark.parametrize("turns", ["every:5", (5, 10)])
def test_a_run_asks_at_these_turns_alone_in_every_arm(turns: Any) -> None:
    settings = ConversationPart(probe_turns=turns)
    parrot = Parrot()
    held = converse(lambda: parrot, [case(1, 10)], settings, seed=1, log=Unrecorded())
    probed = {(one.arm, one.turn) for one in held.said if one.probe is not None}
    assert probed == {(arm, turn) for arm in ("live", "oracle", "naive") for turn in (5, 10)}
    assert {one.turn for one in held.said} == set(range(1, 11))
    assert sum("summarise" in one for one in parrot.asked) <= 6  # the same words in two arms are asked once
    assert estimate_of([case(1, 10)], settings, None).calls == 10 + 3 * 2
    study = ConversationStudy.of({"name": "s", "task": "conversation", "conversation": {"probe_turns": turns}})
    from workup.tasks.conversation.task import ConversationTask

    task = ConversationTask()
    scores = task.scores(task.read(study, [case(1, 10)]), held)
    found = {(one.name, frozenset(one.at.items())): one for one in task.metrics(scores, study)}
    for arm in ("live", "oracle"):
        assert found["coverage", frozenset({"set": "critical", "arm": arm}.items())].value(scores) == 1.0


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"probe_turns": "every:0"}, "every:k"),
        ({"probe_turns": "now and then"}, "every:k"),
        ({"probe_turns": [5, 1]}, "in their order"),
        ({"probe_turns": []}, "in their order"),
        ({"probe_turns": [0, 10]}, "in their order"),
        ({"horizons": [10, 201]}, "in their order"),
        ({"probe_turns": [1, 5]}, "recall at turn 10 needs a probe"),
        ({"probe_turns": "every:5", "horizons": [12]}, "recall at turn 12 needs a probe"),
    ],
)
def test_turns_that_make_no_sense_are_refused_when_the_study_is_read(given: dict[str, Any], expected: str) -> None:
    with pytest.raises(StudyError, match=expected):
        ConversationStudy.of({"name": "s", "task": "conversation", "conversation": given})


def test_a_gate_may_rest_on_any_horizon() -> None:
    from workup.gates import Gate
    from workup.tasks.conversation.cards import CARDS

    assert Gate.parse("recall_at_20.low >= 0.7", known=CARDS, level=0.9).metric == "recall_at_20"
    with pytest.raises(GateError):
        Gate.parse("recall_at_x.low >= 0.7", known=CARDS, level=0.9)


def test_a_case_has_at_most_two_hundred_turns() -> None:
    record = {
        "id": "a",
        "patient_summary": "",
        "critical_entities": ["asthma"],
        "turns": [{"turn": n, "message": "I have asthma."} for n in range(1, 202)],
    }
    with pytest.raises(InputError, match="at most 200 turns"):
        case_of(record, where="cases.jsonl, line 1")
    case_of({**record, "turns": record["turns"][:200]}, where="cases.jsonl, line 1")


def test_turns_that_the_study_asks_at_and_the_transcripts_left_out_are_told() -> None:
    """Probes at the turns where a model still did well must not pass for a conversation that was asked about."""
    chosen = [
        {key: value for key, value in line.items() if key != "probe" or line["turn"] <= 10} for line in lines(1, 12)
    ]
    flattered = Scored([case(1)], chosen)
    assert flattered.value("recall") == 1.0
    said = " ".join(notes_of(flattered.scores, flattered.study.conversation))
    assert "At 18 of 20 turns nobody asked, although others were asked" in said
    planned = Scored([case(1)], lines(1, 12), settings={"probe_turns": "every:5", "horizons": [10]})
    assert "nobody asked" not in " ".join(notes_of(planned.scores, planned.study.conversation))
