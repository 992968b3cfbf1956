"""One row of Scores: counts by arm, set and turn, slopes and availability, worked out by hand and held against laws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.metrics import columns
from workup.tasks.conversation.read.facts import Judged
from workup.tasks.conversation.read.judging import Held, Told
from workup.tasks.conversation.scores.rows import row_of
from workup.tasks.conversation.talk.transcripts import Said

ACTIVE = ("correct", "reversed", "wrong_value", "omitted", "unscorable")
NAMES = ("warfarin", "metformin", "lisinopril", "sertraline", "atorvastatin", "omeprazole")


def facts_of(count: int, **more: object) -> tuple[Fact, ...]:
    return tuple(Fact(name, "medication", name, **more) for name in NAMES[:count])  # type: ignore[arg-type]


def held_of(
    facts: Sequence[Fact],
    told: Sequence[Sequence[str | None]],
    *,
    arm: str = "live",
    available: Sequence[tuple[str, ...] | None] = (),
    replies: Sequence[str] = (),
) -> Held:
    """A conversation of which these outcomes were judged, turn by turn."""
    turns = tuple(Turn(t, f"I take {', '.join(NAMES)}.") for t in range(1, len(told) + 1))
    case = ConversationCase("c", "", turns, tuple(facts))
    lines = []
    for number, outcomes in enumerate(told):
        sent = available[number] if available else None
        said = Said("c", 0, arm, number + 1, replies[number] if replies else "words", available=sent)
        judged = tuple(None if one is None else Judged(one, None, "") for one in outcomes)  # type: ignore[arg-type]
        lines.append(Told(number + 1, (said,), judged, "words"))
    return Held(case, 0, arm, tuple(lines))


def row(held: Held, facts: Sequence[Fact]) -> dict[str, float]:
    return row_of({held.arm: held}, facts)


def test_outcomes_are_counted_by_turn_and_set() -> None:
    facts = (
        *facts_of(2),
        Fact("lisinopril", "medication", "lisinopril", critical=False, weight=3),
        Fact("sertraline", "medication", "sertraline", retired=2),
    )
    told = [["correct", "omitted", "reversed", "correct"], ["wrong_value", "unscorable", "correct", "stale"]]
    found = row(held_of(facts, told), facts)
    for kind, expected in {
        "critical": {
            1: {"facts": 3, "scorable": 3, "correct": 2, "omitted": 1, "weight_scorable": 3, "weight_correct": 2},
            2: {"facts": 2, "scorable": 1, "wrong_value": 1, "retired": 1, "stale": 1, "weight_scorable": 1},
        },
        "extended": {
            1: {"facts": 4, "scorable": 4, "correct": 2, "reversed": 1, "weight_scorable": 6, "weight_correct": 2},
            2: {"facts": 3, "scorable": 2, "correct": 1, "weight_scorable": 4, "weight_correct": 3, "stale": 1},
        },
    }.items():
        for turn, fields in expected.items():
            for field, number in fields.items():
                assert found[columns.at_turn("live", kind, turn, field)] == number, (kind, turn, field)


def test_a_retired_fact_that_can_not_be_read_counts_on_neither_side() -> None:
    facts = facts_of(1, retired=2)
    found = row(held_of(facts, [["correct"], ["unscorable"]]), facts)
    assert columns.at_turn("live", "critical", 2, "retired") not in found
    assert columns.at_turn("live", "critical", 2, "facts") not in found


def test_the_slope_is_that_of_least_squares_over_turns_that_can_be_scored() -> None:
    facts = facts_of(2)
    told = [["correct", "correct"], ["correct", "omitted"], ["unscorable", "unscorable"], ["omitted", "omitted"]]
    found = row(held_of(facts, told), facts)
    expected = np.polyfit([1, 2, 4], [1, 0.5, 0], 1)[0]
    assert found[columns.of_arm("live", "critical", "slope")] == pytest.approx(expected)
    assert found[columns.of_arm("live", "critical", "slope_known")] == 1


@pytest.mark.parametrize("told", [[["correct"]], [["correct"], ["unscorable"]], [["unscorable"], ["unscorable"]]])
def test_fewer_than_two_turns_have_no_slope(told: list[list[str]]) -> None:
    facts = facts_of(1)
    found = row(held_of(facts, told), facts)
    assert columns.of_arm("live", "critical", "slope") not in found
    assert columns.of_arm("live", "critical", "token_slope") not in found


def test_tokens_are_counted_from_the_message_that_introduced_the_fact() -> None:
    facts = (
        Fact("warfarin", "medication", "warfarin"),
        Fact("metformin", "medication", "metformin", introduced=2),
    )
    told = [["correct", None], ["correct", "correct"], ["omitted", "omitted"]]
    held = held_of(facts, told, replies=["one two three", "one", "one"])
    message = 2 + 2 * len(NAMES)  # words, commas and the full stop
    since = [0, message + 3, 2 * message + 4, 0, message + 1]
    expected = np.polyfit(np.array(since) / 1000, [1, 1, 0, 1, 0], 1)[0]
    assert row(held, facts)[columns.of_arm("live", "critical", "token_slope")] == pytest.approx(expected)


def test_losses_are_counted_on_the_clock_of_each_fact() -> None:
    facts = (Fact("warfarin", "medication", "warfarin"), Fact("metformin", "medication", "metformin", introduced=2))
    found = row(held_of(facts, [["correct", None], ["omitted", "correct"], ["correct", "omitted"]]), facts)

    def of(loss: str, field: str) -> list[float]:
        return [found.get(columns.of_loss("live", "critical", loss, field, tick), 0) for tick in (1, 2, 3)]

    assert of("first", "risk") == [2, 2, 0] and of("first", "lost") == [0, 2, 0]
    assert of("sustained", "risk") == [2, 2, 1] and of("sustained", "lost") == [0, 1, 0]


def test_a_loss_after_the_tenth_tick_is_none_up_to_it() -> None:
    facts = facts_of(1)
    found = row(held_of(facts, [["correct"]] * 11 + [["omitted"]]), facts)
    risks = [found.get(columns.of_loss("live", "critical", "first", "risk", tick), 0) for tick in range(1, 13)]
    assert risks == [1] * 10 + [0, 0]
    assert not any("first_lost" in name for name in found)


def test_availability_and_use() -> None:
    facts = (*facts_of(2), Fact("lisinopril", "medication", "lisinopril", critical=False))
    told = [["correct", "omitted", "correct"], ["omitted", "correct", "omitted"], ["correct", "correct", "correct"]]
    held = held_of(facts, told, available=[("warfarin", "metformin"), ("warfarin",), None])
    found = row(held, facts)
    expected = {"sendable": 4, "sent": 3, "sent_correct": 1, "unsent_correct": 1}
    assert {name: found[columns.whole(name)] for name in expected} == expected


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[Fact], list[list[str]]]:
    count, turns = draw(st.integers(1, 5)), draw(st.integers(1, 12))
    facts = [Fact(name, "medication", name, weight=draw(st.integers(1, 3))) for name in NAMES[:count]]
    told = [[draw(st.sampled_from(ACTIVE)) for _ in facts] for _ in range(turns)]
    return facts, told


@given(conversations())
def test_outcomes_add_up_in_every_turn(made: tuple[list[Fact], list[list[str]]]) -> None:
    facts, told = made
    found = row(held_of(facts, told), facts)
    for turn, outcomes in enumerate(told, start=1):

        def of(field: str, turn: int = turn) -> float:
            return found.get(columns.at_turn("live", "critical", turn, field), 0.0)

        assert of("facts") == len(facts)
        assert of("scorable") == sum(one != "unscorable" for one in outcomes)
        assert sum(of(name) for name in ("correct", "reversed", "wrong_value", "omitted")) == of("scorable")
        assert of("weight_correct") <= of("weight_scorable")


@given(conversations(), st.randoms(use_true_random=False))
def test_the_order_of_facts_changes_nothing(made: tuple[list[Fact], list[list[str]]], random: object) -> None:
    facts, told = made
    order = list(range(len(facts)))
    random.shuffle(order)  # type: ignore[attr-defined]
    mixed = [facts[place] for place in order]
    first = row(held_of(facts, told), facts)
    second = row(held_of(mixed, [[turn[place] for place in order] for turn in told]), mixed)
    assert first.keys() == second.keys()
    assert [second[name] for name in first] == pytest.approx(list(first.values()), abs=1e-9)


@given(conversations())
def test_those_at_risk_grow_fewer_and_lost_are_among_them(made: tuple[list[Fact], list[list[str]]]) -> None:
    facts, told = made
    found = row(held_of(facts, told), facts)
    for loss in columns.LOSSES:
        risk, lost = (
            [found.get(columns.of_loss("live", "critical", loss, field, tick), 0.0) for tick in range(1, 11)]
            for field in ("risk", "lost")
        )
        assert risk == sorted(risk, reverse=True)
        assert all(gone <= at_risk for gone, at_risk in zip(lost, risk, strict=True))
        followed = sum(any(turn[place] != "unscorable" for turn in told) for place in range(len(facts)))
        assert risk[0] == followed and sum(lost) <= followed
