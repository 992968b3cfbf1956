"""Memory: what is left of a history under each policy, what enters it, and what the record says of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.chat_models import Log, Messages, Model, case, hold, is_probe, lines
from workup.errors import StudyError
from workup.task import Reply
from workup.tasks.conversation.talk.memory import Exchange, Memory, Recalled, Tools
from workup.tasks.conversation.talk.repetition import cleaned, repeated_share
from workup.tasks.conversation.talk.token_counts import Tokenizer

LETTERS = Tokenizer("letters", len)
PAST = tuple(Exchange(turn, "m" * 10, "r" * 10) for turn in range(1, 7))  # 28 of these tokens each, with speakers


def recall(text: str, past: tuple[Exchange, ...] = PAST, *, written: str | None = None) -> Recalled:
    return Memory.of(text).recall(past, Tools(LETTERS, lambda request, most: written))


def turns(recalled: Recalled) -> list[int]:
    return [one.turn for one in recalled.exchanges]


@pytest.mark.parametrize(
    ("memory", "left"),
    [
        ("full", [1, 2, 3, 4, 5, 6]),
        ("last:2", [5, 6]),
        ("last:99", [1, 2, 3, 4, 5, 6]),
        ("tokens:84", [4, 5, 6]),
        ("tokens:83", [5, 6]),
        ("tokens:27", []),
        ("last:4+tokens:60", [5, 6]),
        ("tokens:84 + last:1", [6]),
        ("clean", [1, 2, 3, 4, 5, 6]),
    ],
)
def test_turns_that_are_left(memory: str, left: list[int]) -> None:
    assert turns(recall(memory)) == left


@pytest.mark.parametrize("memory", ["", "last", "last:0", "last:-1", "tokens:x", "full:3", "sieve", "last:2+"])
def test_what_is_no_memory_is_refused_with_the_names(memory: str) -> None:
    with pytest.raises(StudyError, match="is not a memory"):
        Memory.of(memory)


def test_roles_take_turns_and_a_summary_stands_in_the_first_message() -> None:
    sent = Recalled(PAST[:1], "So far.", "model").messages("now")
    assert [one["role"] for one in sent] == ["user", "assistant", "user"]
    assert sent[0]["content"] == "Summary of our conversation so far: So far.\n\n" + "m" * 10
    alone = Recalled((), "So far.", "model").messages("now")
    assert [one["content"] for one in alone] == ["Summary of our conversation so far: So far.\n\nnow"]


def test_compaction_folds_older_turns_once_and_says_who_wrote_the_summary() -> None:
    memory, asked = Memory.of("compact:100"), []

    def write(request: str, most: int) -> str:
        asked.append((request, most))
        return f"summary {len(asked)}"

    tools = Tools(LETTERS, write)
    seen = [memory.recall(PAST[:count], tools) for count in range(1, 7)]
    assert [turns(one) for one in seen] == [[1], [1, 2], [1, 2, 3], [4], [4, 5], [4, 5, 6]]
    assert [one.summary for one in seen] == ["", "", "", "summary 1", "summary 1", "summary 1"]
    assert [one.summary_by for one in seen] == ["", "", "", "model", "model", "model"]
    assert len(asked) == 1 and asked[0][1] == 50


def test_where_the_model_writes_no_summary_words_are_cut_short_and_the_record_says_so() -> None:
    past = tuple(Exchange(turn, f"I said thing {turn}.", "r" * 60) for turn in range(1, 4))
    found = recall("compact:100", past)
    assert found.summary_by == "extract"
    assert "thing 2" in found.summary and len(found.summary) <= 50 + 2


def test_compaction_in_a_conversation_is_asked_of_the_model_and_recorded() -> None:
    log = Log()

    def rule(messages: Messages) -> str:
        if messages[-1]["content"].startswith(("Summary so far", "Conversation to add")):
            return "The patient takes warfarin 5 mg and is allergic to penicillin."
        return "Well noted, thank you for telling me all of this today."

    held = hold(Model(rule), [case(turns=8)], arms=("live",), memory="compact:80", log=log)
    by = [one.usage.get("compacted_by") for one in lines(held)]
    assert by[0] is None and by[-1] == "model"
    assert any(record["at"]["purpose"] == "compaction" for record in log.records.values())
    assert "pcn" in (lines(held)[-1].available or ())
    again = hold(Model(rule), [case(turns=8)], arms=("live",), memory="compact:80", log=log, ask=False)
    assert again == held


def test_a_summary_that_stands_before_the_probe_itself_is_part_of_what_was_sent() -> None:
    def rule(messages: Messages) -> str:
        if messages[-1]["content"].startswith(("Summary so far", "Conversation to add")):
            return "The patient is allergic to penicillin."
        return "Well noted. " * 30

    held = hold(Model(rule), arms=("live",), memory="compact:20")
    assert lines(held)[-1].available == ("pcn",)
    asked = hold(Model(rule), arms=("live",), memory="compact:20", probe="question")
    assert {one.available for one in lines(asked) if one.turn == 4} == {("pcn",)}


def test_a_failed_compaction_does_not_end_the_conversation() -> None:
    def rule(messages: Messages) -> str | Reply:
        if messages[-1]["content"].startswith(("Summary so far", "Conversation to add")):
            return Reply(None, failure="timeout")
        return "Well noted, thank you for telling me all of this today."

    held = hold(Model(rule), [case(turns=8)], arms=("live",), memory="compact:80")
    assert lines(held)[-1].usage["compacted_by"] == "extract"
    assert not any(one.failure for one in held.said)


def test_a_repeating_reply_enters_the_history_clean_and_is_scored_as_it_was() -> None:
    loop = "You should drink water every day. " * 5
    model = Model(lambda sent: loop if not is_probe(sent) else "Summary.")
    held = hold(model, arms=("live",), memory="clean")
    assert {one.reply for one in lines(held)} == {loop}
    assert {one.usage["repeated_share"] for one in lines(held)} == {0.8}
    back = {one["content"] for sent in model.calls for one in sent if one["role"] == "assistant"}
    assert back == {"You should drink water every day."}
    plain = Model(lambda sent: loop if not is_probe(sent) else "Summary.")
    hold(plain, arms=("live",))
    assert {one["content"] for sent in plain.calls for one in sent if one["role"] == "assistant"} == {loop.strip()}


def test_thirty_percent_is_the_line() -> None:
    at_the_line = "A b c d e f. G h i j k l m n. A b c d e f."
    assert repeated_share(at_the_line) == pytest.approx(6 / 20)
    assert cleaned(at_the_line) == at_the_line
    assert cleaned("A b c d e f. G h i j k l m. a b c d e f!") == "A b c d e f. G h i j k l m."


def test_a_loop_inside_a_sentence_is_cut_and_twice_is_no_loop() -> None:
    assert cleaned("Drink water and rest and rest and rest and rest and rest") == "Drink water and rest"
    assert cleaned("very very well") == "very very well"
    assert cleaned("no " * 40) == "no"


def test_a_list_that_shares_its_openings_is_no_repetition() -> None:
    listed = "\n".join(f"- Take {drug} once a day" for drug in ("aspirin", "warfarin", "metformin", "lisinopril"))
    assert cleaned(listed) == listed


@given(st.lists(st.sampled_from(["ab", "cd", "ef", "gh", "ij", "kl.", "mn\n", "op"]), max_size=80).map(" ".join))
def test_cleaning_leaves_words_in_their_order_and_repeats_nothing_more(reply: str) -> None:
    once = cleaned(reply)
    words = iter(reply.split())
    assert all(word in words for word in once.split())
    assert once == reply or repeated_share(once) < repeated_share(reply)
