"""What each arm sends: a live history of the model's own replies, forks that leave no trace, a ceiling and a floor."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.chat_models import Messages, Model, case, echo, hold, is_probe, lines
from workup.tasks.conversation.cases.case import ConversationCase, Turn, case_of
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.facts import Matcher
from workup.tasks.conversation.talk.arms import context_of, reply_context_of
from workup.tasks.conversation.talk.passages import Passages, cut
from workup.tasks.conversation.talk.prompts import NOTED, OPENING, question_probe


def said_by(messages: Messages, role: str) -> list[str]:
    return [one["content"] for one in messages if one["role"] == role]


def test_the_live_history_holds_the_models_own_replies_and_no_probe() -> None:
    model = Model()
    held = hold(model, arms=("live",))
    replies = [sent for sent in model.calls if not is_probe(sent)]
    assert len(replies) == 4
    for turn, sent in enumerate(replies, start=1):
        assert [one["role"] for one in sent] == ["user", "assistant"] * (turn - 1) + ["user"]
        assert said_by(sent, "user") == [one.message for one in case().turns[:turn]]
        assert said_by(sent, "assistant") == [one.reply for one in lines(held)][: turn - 1]
        assert not any("Before we go on" in one["content"] for one in sent)


def test_a_probe_is_forked_off_behind_the_reply_of_its_turn() -> None:
    model = Model()
    held = hold(model, arms=("live",))
    probes = [sent for sent in model.calls if is_probe(sent)]
    for turn, sent in enumerate(probes, start=1):
        assert len(sent) == 2 * turn + 1
        assert said_by(sent, "assistant")[-1] == lines(held)[turn - 1].reply
    assert [one.probe.reply for one in lines(held) if one.probe] == [echo(sent) for sent in probes]
    assert set(model.limits) == {None, 300}


def test_closed_questions_are_asked_for_each_active_fact_and_only_for_those() -> None:
    model = Model()
    held = hold(model, arms=("live", "oracle"), probe="question")
    for arm in ("live", "oracle"):
        asked = [(one.turn, one.probe.fact) for one in lines(held, arm) if one.probe]
        assert asked == [(1, "w5"), (2, "w5"), (2, "pcn"), (3, "pcn"), (3, "w2"), (4, "pcn"), (4, "w2")]
    assert len({one.reply for one in lines(held) if one.turn == 2}) == 1


def test_a_question_names_its_fact_and_tells_neither_status_nor_value() -> None:
    facts = case().facts
    for fact in (*facts, Fact("x", "symptom", "chest pain", status="absent"), Fact("y", "diagnosis", "left knee pain")):
        words = question_probe(fact)
        judged = Matcher([fact]).judge(words)[0]
        assert judged.outcome == "omitted" and judged.reason != "no_mention", fact.id
        assert "5" not in words and "left" not in words.split("?")[0]
    assert Matcher(facts).judge("I do not know.")[0].outcome == "omitted"


def test_without_a_probe_the_reply_is_what_is_scored() -> None:
    model = Model()
    held = hold(model, probe="none")
    assert len(model.calls) == 3 * 4 - 1  # at turn 1 the ceiling is the live conversation, and is asked once
    assert all(one.probe is None and one.reply for one in held.said)
    oracle = [sent for sent in model.calls if NOTED in said_by(sent, "assistant")]
    assert [sent[-1]["content"] for sent in oracle if "warfarin was cut" in sent[-1]["content"]]


def test_the_ceiling_says_what_introduced_the_active_facts_and_what_ended_one_that_is_named_with_them() -> None:
    passages = Passages(case())
    assert passages.oracle(1) == ["I take warfarin 5 mg daily."]
    assert passages.oracle(2) == ["I take warfarin 5 mg daily.", "I am allergic to penicillin."]
    assert passages.oracle(4) == ["I am allergic to penicillin.", "My warfarin was cut to 2.5 mg daily."]
    turns = (Turn(1, "I take warfarin and have asthma."), Turn(2, "I am off warfarin now. Fine day."))
    both = ConversationCase(
        "c", "", turns, (Fact("w", "medication", "warfarin", retired=2), Fact("a", "diagnosis", "asthma"))
    )
    assert Passages(both).oracle(2) == ["I take warfarin and have asthma.", "I am off warfarin now."]


def test_every_fact_of_the_ceiling_reads_as_correct() -> None:
    held = case()
    passages, matcher = Passages(held), Matcher(held.facts)
    for turn in range(1, 5):
        judged = dict(zip((f.id for f in held.facts), matcher.judge("\n".join(passages.oracle(turn))), strict=True))
        assert all(judged[fact.id].outcome == "correct" for fact in held.active(turn))


def test_a_dose_told_in_the_next_sentence_or_without_the_name_comes_with_the_fact() -> None:
    warfarin = {"dose_value": 5, "dose_unit": "mg"}
    turns = (Turn(1, "I take warfarin. It is 5 mg a day. My cat is well."), Turn(2, "They cut it to 2.5 mg today."))
    held = ConversationCase(
        "c",
        "",
        turns,
        (
            Fact("a", "medication", "warfarin", attributes=warfarin, retired=2, superseded_by="b"),
            Fact("b", "medication", "warfarin", attributes={**warfarin, "dose_value": 2.5}, introduced=2),
        ),
    )
    passages = Passages(held)
    assert "2.5 mg" in " ".join(passages.oracle(2))
    assert "cat" not in " ".join(passages.oracle(1))


def test_the_floor_mentions_no_fact_and_keeps_the_rest() -> None:
    passages = Passages(case())
    assert passages.without_facts(4) == [
        "My garden is lovely.",
        "The roses bloom.",
        "It rained.",
        "What should I plant next?",
    ]
    for turn in range(1, 5):
        for context in (context_of("naive", passages, turn), reply_context_of("naive", passages, turn)):
            text = "\n".join(one["content"] for one in context)
            assert all(one.reason == "no_mention" for one in Matcher(case().facts).judge(text))


def test_where_nothing_is_left_to_say_a_neutral_sentence_stands() -> None:
    bare = ConversationCase("c", "", (Turn(1, "I have asthma."),), (Fact("a", "diagnosis", "asthma"),))
    assert context_of("naive", Passages(bare), 1)[0]["content"] == OPENING
    assert reply_context_of("naive", Passages(bare), 1) == [{"role": "user", "content": OPENING}]


@pytest.mark.parametrize("k", [1, 5, 40])
def test_filler_is_the_ceiling_behind_k_neutral_turns(k: int) -> None:
    passages = Passages(case())
    oracle, filler = context_of("oracle", passages, 3), context_of(f"filler-{k}", passages, 3)
    assert filler[:2] == oracle
    assert len(filler) == 2 + 2 * k
    assert all(
        one.reason == "no_mention" for one in Matcher(case().facts).judge("\n".join(said_by(filler[2:], "user")))
    )
    held = hold(Model(), arms=("live", f"filler-{k}"))
    assert len(lines(held, f"filler-{k}")) == 4


def test_what_is_available_is_what_stood_in_what_was_sent() -> None:
    held = hold(Model(lambda sent: "Fine."), arms=("live", "oracle", "naive"), memory="last:1")
    live = {one.turn: one.available for one in lines(held)}
    assert live == {1: ("w5",), 2: ("pcn",), 3: ("w2",), 4: ()}
    assert [one.available for one in lines(held, "oracle")] == [("w5",), ("pcn", "w5"), ("pcn", "w2"), ("pcn", "w2")]
    assert {one.available for one in lines(held, "naive")} == {()}


def test_an_old_dose_and_a_denial_do_not_make_a_fact_available() -> None:
    passages = Passages(case())
    assert passages.available(["You take warfarin 5 mg."], 3) == ()
    assert passages.available(["You take warfarin."], 3) == ("w2",)
    assert passages.available(["You have no allergy to penicillin."], 3) == ()
    assert passages.available(["My warfarin was cut to 2.5 mg daily. It rained.", "penicillin?"], 4) == ("pcn", "w2")


def test_the_question_itself_does_not_make_its_fact_available() -> None:
    held = hold(Model(lambda sent: "Fine."), arms=("live",), probe="question", memory="last:1")
    assert {one.available for one in lines(held) if one.turn == 4} == {()}


def test_a_summary_with_hindsight_is_never_sent_and_one_that_stands_for_the_ledger_is() -> None:
    turns = (Turn(1, "Hello, I take lisinopril."), Turn(2, "They took me off lisinopril."))
    ledger = (Fact("l", "medication", "lisinopril", retired=2),)
    full = ConversationCase("c", "Woman of 30. Lisinopril was stopped.", turns, ledger)
    assert Passages(full).message(1) == "Hello, I take lisinopril."
    assert "stopped" not in " ".join(Passages(full).oracle(1))
    record = {
        "id": "s",
        "patient_summary": "Woman of 30 with asthma.",
        "critical_entities": ["asthma"],
        "turns": [{"turn": 1, "message": "Good day."}, {"turn": 2, "message": "What now?"}],
    }
    passages = Passages(case_of(record, where="here"))
    assert passages.message(1) == "Patient summary: Woman of 30 with asthma.\n\nGood day."
    assert passages.message(2) == "What now?"
    assert passages.oracle(2) == ["Woman of 30 with asthma."]
    assert passages.without_facts(2) == ["Good day.", "What now?"]
    assert passages.available([passages.message(1)], 1) == ("e1",)


def test_an_entity_that_is_spoken_of_later_is_in_the_ceiling_from_then_on() -> None:
    record = {
        "id": "s",
        "patient_summary": "Woman with asthma.",
        "critical_entities": ["asthma", "latex allergy"],
        "turns": [{"turn": 1, "message": "Good day."}, {"turn": 2, "message": "I am allergic to latex."}],
    }
    passages = Passages(case_of(record, where="here"))
    assert passages.oracle(1) == ["Woman with asthma."]
    assert passages.oracle(2) == ["Woman with asthma.", "I am allergic to latex."]


@given(st.text(alphabet=st.sampled_from(list("abc .!?\n\t-:1")), max_size=60))
def test_cutting_loses_nothing_but_space(text: str) -> None:
    assert "".join("".join(cut(text)).split()) == "".join(text.split())
