"""Calls on record: made once, in any order, resumed after any kill, within a budget, and never a failure as zero."""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import threading
import time
from typing import Any

import pytest

from tests.support.chat_models import Log, Messages, Model, case, echo, hold, is_probe, lines
from workup.errors import PluginError, RunError, SystemFailure
from workup.task import Budget, Reply
from workup.tasks.conversation.read.judging import held_of
from workup.tasks.conversation.settings import ConversationPart
from workup.tasks.conversation.talk import estimate_of, tallied
from workup.tasks.conversation.talk.calls import Caller
from workup.tasks.conversation.talk.conversation import AFTER_FAILURE
from workup.tasks.conversation.talk.token_counts import Tokenizer

CASES = [case("c1"), case("c2", turns=6), case("c3", turns=5)]
SETTINGS = {"arms": ("live", "oracle", "naive", "filler-2", "slip-2"), "replicates": 2}


class Killed(KeyboardInterrupt):
    """What a kill looks like from inside."""


def test_transcripts_come_in_one_order_whatever_the_order_of_answers() -> None:
    serial = hold(Model(), CASES, **SETTINGS)
    waits = itertools.cycle([0.004, 0.0, 0.002])

    def slow(messages: Messages) -> str:
        time.sleep(next(waits))
        return echo(messages)

    model = Model(slow, concurrency=8)
    assert hold(model, CASES, **SETTINGS) == serial
    assert hold(Model(concurrency=8), CASES, workers=2, **SETTINGS) == serial
    order = [(one.case, one.replicate, one.arm, one.turn) for one in serial.said]
    assert order == sorted(order)
    assert serial.complete


def test_several_conversations_are_under_way_at_once_and_no_more_than_the_system_bears() -> None:
    busy, most, lock = [0], [0], threading.Lock()

    def counting(messages: Messages) -> str:
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        time.sleep(0.003)
        with lock:
            busy[0] -= 1
        return echo(messages)

    hold(Model(counting, concurrency=3), CASES, **SETTINGS)
    assert most[0] == 3


def test_a_second_run_asks_nothing_and_says_the_same() -> None:
    log = Log()
    first = hold(Model(), CASES, log=log, **SETTINGS)
    again = Model()
    assert hold(again, CASES, log=log, **SETTINGS) == first
    assert again.calls == []
    assert hold(again, CASES, log=log, ask=False, **SETTINGS) == first


@pytest.mark.parametrize("kill", [1, 2, 7, 23, 60])
@pytest.mark.parametrize("workers", [1, 4])
def test_a_killed_run_goes_on_without_a_call_made_twice(kill: int, workers: int) -> None:
    whole = hold(Model(), CASES, **SETTINGS)
    log, counter = Log(), itertools.count(1)

    def dying(messages: Messages) -> str:
        if next(counter) == kill:
            raise Killed
        return echo(messages)

    with pytest.raises(Killed):
        hold(Model(dying, concurrency=workers), CASES, log=log, **SETTINGS)
    recorded = len(log.records)
    rest = Model(concurrency=workers)
    assert hold(rest, CASES, log=log, **SETTINGS) == whole
    assert len(rest.calls) == len(log.records) - recorded
    assert len(log.appended) == len(set(log.appended)), "a recorded call was made again"


def test_another_reply_upstream_makes_everything_behind_it_anew() -> None:
    log = Log()
    hold(Model(), arms=("live",), probe="none", log=log)
    keys = {record["at"]["turn"]: key for key, record in log.records.items()}
    log.records[keys[2]]["content"] = "Something else."
    model = Model()
    hold(model, arms=("live",), probe="none", log=log)
    assert len(model.calls) == 2
    assert all(sent[3]["content"] == "Something else." for sent in model.calls)


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ({"memory": "last:9"}, True),
        ({"probe_tokens": 100}, True),
        ({"seed": 2}, True),
        ({"replicates": 2}, True),
        ({"matcher": "published"}, False),
        ({"horizon": 5}, False),
    ],
    ids=lambda value: str(value),
)
def test_what_decides_an_answer_is_asked_anew_and_nothing_else_is(change: dict[str, Any], asked: bool) -> None:
    log = Log()
    hold(Model(), log=log)
    model = Model()
    hold(model, log=log, **change)
    assert bool(model.calls) is asked


def test_the_same_question_is_put_once_also_when_it_comes_up_twice_at_a_time() -> None:
    gate = threading.Barrier(2, timeout=0.2)

    def meeting(messages: Messages) -> str:
        with contextlib.suppress(threading.BrokenBarrierError):
            gate.wait()
        return echo(messages)

    model = Model(meeting, concurrency=8)
    quiet = case("c1", turns=9)  # from turn 4 on the ceiling does not change
    hold(model, [quiet], arms=("live", "oracle"))
    texts = [json.dumps(sent) for sent in model.calls]
    assert len(texts) == len(set(texts))


def test_replicates_have_seeds_of_their_own_and_arms_share_them() -> None:
    model = Model()
    hold(model, replicates=3)
    assert len(set(model.seeds)) == 3 and None not in model.seeds
    again = Model()
    hold(again, replicates=3)
    assert again.seeds == model.seeds
    other = Model()
    hold(other, replicates=3, seed=2)
    assert not set(other.seeds) & set(model.seeds)


def test_a_model_that_takes_messages_alone_is_given_messages_alone() -> None:
    class Plain:
        name, version = "plain", "1"

        def reply(self, messages: Messages) -> str:
            return echo(messages)

    assert hold(Plain()) is not None
    with pytest.raises(PluginError, match="reply"):
        hold(object())


def test_every_call_is_on_record_with_what_was_sent() -> None:
    log = Log()

    def full(messages: Messages) -> Reply:
        return Reply(echo(messages), "thinking", "stop", {"prompt_tokens": 7, "completion_tokens": 3}, "fp_1")

    hold(Model(full), arms=("live",), log=log)
    record = next(one for one in log.records.values() if one["at"]["purpose"] == "summary" and one["at"]["turn"] == 2)
    assert record["sent"][-1]["content"].startswith("Before we go on")
    assert record["parameters"]["max_tokens"] == 300 and "seed" in record["parameters"]
    assert record["usage"] == {"prompt_tokens": 7, "completion_tokens": 3}
    assert (record["finish_reason"], record["fingerprint"], record["reasoning"]) == ("stop", "fp_1", "thinking")
    assert record["at"] == {"case": "c1", "replicate": 0, "arm": "live", "turn": 2, "purpose": "summary"}
    tally = tallied(log.records, system=Priced())
    assert tally["prompt_tokens"] == 7 * len(log.records)
    assert tally["cost"] == pytest.approx(len(log.records) * (7e-6 + 6e-6))
    assert "cost" not in tallied(log.records)


# ---- failures -------------------------------------------------------------------------------------------------------


def failing(*turns: int, probes: bool) -> Any:
    """Fails at the replies (or the probes) of some turns, by how many messages are sent."""

    def rule(messages: Messages) -> str | Reply:
        turn = len(messages) // 2 if is_probe(messages) else (len(messages) + 1) // 2
        if is_probe(messages) is probes and turn in turns:
            return Reply(None, failure="http_500")
        return "You take warfarin 5 mg and are allergic to penicillin."

    return rule


def test_a_failed_probe_costs_that_probe_alone() -> None:
    held = hold(Model(failing(2, probes=True)), arms=("live",))
    assert [one.probe.failure for one in lines(held) if one.probe] == ["", "http_500", "", ""]
    assert all(one.reply and not one.failure for one in lines(held))


def test_a_failed_reply_ends_its_conversation_honestly() -> None:
    model = Model(failing(2, probes=False))
    held = hold(model, arms=("live",))
    assert [one.failure for one in lines(held)] == ["", "http_500", AFTER_FAILURE, AFTER_FAILURE]
    assert [one.probe.failure for one in lines(held) if one.probe] == ["", "http_500", AFTER_FAILURE, AFTER_FAILURE]
    assert [one.reply is None for one in lines(held)] == [False, True, True, True]
    assert len(model.calls) == 3
    told = next(held_of(case(), held.said, facts=case().facts)).turns
    for turn in told[1:]:
        assert {one.outcome for one in turn.outcomes if one} == {"unscorable"}


def test_a_failure_is_tried_again_by_the_next_run_and_told_by_one_that_asks_nothing() -> None:
    log = Log()
    broken = hold(Model(failing(2, probes=False)), arms=("live",), log=log)
    assert hold(Model(), arms=("live",), log=log, ask=False) == broken
    mended = hold(Model(failing(probes=False)), arms=("live",), log=log)
    assert not any(one.failure for one in mended.said)
    assert mended == hold(Model(failing(probes=False)), arms=("live",))
    with pytest.raises(RunError, match="not recorded"):
        hold(Model(), arms=("live",), probe_tokens=77, log=log, ask=False)


def test_a_model_that_never_answers_stops_the_run() -> None:
    with pytest.raises(SystemFailure, match=r"answered none of 5 calls \(the last: timeout\)"):
        hold(Model(lambda sent: Reply(None, failure="timeout")), CASES)


def test_a_model_that_has_answered_before_may_fail_as_often_as_it_likes() -> None:
    log = Log()
    hold(Model(), [case()], log=log, arms=("live",))
    held = hold(Model(lambda sent: Reply(None, failure="timeout")), CASES, log=log, arms=("live",))
    assert [one.failure for one in held.said if one.case == "c1"] == [""] * 4
    assert {one.failure for one in held.said if one.case == "c2"} == {"timeout", AFTER_FAILURE}


def test_a_plug_in_that_crashes_now_and_then_is_a_failed_call_without_its_message(caplog: Any) -> None:
    def crashing(messages: Messages) -> str:
        if len(messages) == 3:
            raise ValueError("penicillin")
        return echo(messages)

    caplog.set_level(logging.DEBUG)
    held = hold(Model(crashing), arms=("live",))
    assert {one.failure for one in lines(held) if one.turn == 2} == {"crashed"}
    assert "penicillin" not in caplog.text

    def always(messages: Messages) -> str:
        raise ValueError("penicillin")

    with pytest.raises(SystemFailure, match="ValueError at") as error:
        hold(Model(always), CASES)
    assert "penicillin" not in str(error.value)


@pytest.mark.parametrize("answer", [None, 3, b"bytes", ["a"]])
def test_an_answer_that_is_none_is_an_error_that_says_what_is_due(answer: Any) -> None:
    with pytest.raises(SystemFailure, match="must answer a text or a Reply"):
        hold(Model(lambda sent: answer))


def test_failure_codes_that_could_hold_text_are_not_repeated() -> None:
    held = hold(Model(lambda s: Reply(None, failure="Mr Smith is ill") if len(s) == 3 else echo(s)), arms=("live",))
    assert {one.failure for one in lines(held) if one.turn == 2} == {"no_reply"}


# ---- reasoning ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reasoning", ["drop", "send"])
def test_reasoning_is_kept_apart_and_sent_back_only_where_asked(reasoning: str) -> None:
    model = Model(lambda sent: "<think>Maybe gout.</think>You are well.")
    held = hold(model, arms=("live",), reasoning=reasoning, probe="none")
    assert {(one.reply, one.reasoning) for one in lines(held)} == {("You are well.", "Maybe gout.")}
    back = {one["content"] for sent in model.calls for one in sent if one["role"] == "assistant"}
    assert back == ({"You are well."} if reasoning == "drop" else {"<think>Maybe gout.</think>\nYou are well."})


def test_an_empty_reply_is_a_reply_and_stands_as_one_in_the_history() -> None:
    model = Model(lambda sent: Reply("", finish_reason="length"))
    held = hold(model, arms=("live",), probe="none")
    assert [one.reply for one in lines(held)] == [""] * 4
    assert all(one["content"] for sent in model.calls for one in sent)
    told = next(held_of(case(), held.said, facts=case().facts)).turns
    assert {one.outcome for turn in told for one in turn.outcomes if one} == {"unscorable"}


def test_lone_surrogates_and_endless_replies_break_nothing() -> None:
    held = hold(Model(lambda sent: "a\ud800b"), arms=("live",), probe="none")
    assert {one.reply for one in held.said} == {"a�b"}
    endless = hold(Model(lambda s: "x" * 500_000 if len(s) == 3 else "Yes."), arms=("live",), probe="none")
    assert lines(endless)[1].failure == "too_long"


# ---- tokens and money -----------------------------------------------------------------------------------------------


def test_tokens_heard_are_the_providers_where_it_counts_the_whole_history() -> None:
    def counted(messages: Messages) -> Reply:
        return Reply(echo(messages), usage={"prompt_tokens": 10 * len(messages)})

    def now_and_then(messages: Messages) -> Reply:
        return counted(messages) if len(messages) != 3 else Reply(echo(messages))

    usage = [one.usage for one in lines(hold(Model(counted), arms=("live",)))]
    assert [one["heard_tokens"] for one in usage] == [10, 30, 50, 70]
    assert {one["counted_by"] for one in usage} == {"provider"}
    for held in (
        hold(Model(counted), arms=("live",), memory="last:1"),
        hold(Model(now_and_then), arms=("live",)),
    ):
        mine = [one.usage for one in lines(held)]
        assert {one["counted_by"] for one in mine} == {"pieces-of-six"}
        heard = [one["heard_tokens"] for one in mine]
        assert heard == sorted(heard) and heard[0] > 0


def test_a_limit_on_calls_stops_the_run_which_goes_on_later() -> None:
    log, model = Log(), Model()
    told: list[str] = []
    with pytest.raises(RunError, match="--max-calls"):
        hold(model, CASES, log=log, budget=Budget(calls=10, tell=told.append))
    assert len(model.calls) == len(log.records) == 10
    assert told and told[0].startswith("Before the first call: 9 conversations, at most ")
    rounds = 0
    while True:
        rounds += 1
        try:
            held = hold(Model(), CASES, log=log, budget=Budget(calls=10))
            break
        except RunError:
            assert len(log.records) == 10 * (rounds + 1)
    assert held == hold(Model(), CASES)


class Priced(Model):
    max_tokens = 100

    def cost(self, prompt: int, completion: int) -> float:
        return prompt * 1e-6 + completion * 2e-6


def test_a_limit_on_cost_stops_before_it_is_passed_and_needs_a_price() -> None:
    def counted(messages: Messages) -> Reply:
        return Reply(echo(messages), usage={"prompt_tokens": 1000, "completion_tokens": 100})

    model = Priced(counted)
    with pytest.raises(RunError, match="--max-cost"):
        hold(model, CASES, budget=Budget(cost=0.005))
    assert 3 <= len(model.calls) <= 4  # 0.0012 for each of them
    with pytest.raises(RunError, match="names no price"):
        hold(Model(), CASES, budget=Budget(cost=1.0))


def test_the_estimate_is_no_less_than_what_is_asked() -> None:
    for settings in (SETTINGS, {"probe": "question"}, {"probe": "none", "replicates": 3}, {"memory": "compact:60"}):
        model = Priced(lambda sent: "word " * 90)
        hold(model, CASES, **settings)
        estimate = estimate_of(CASES, ConversationPart(**settings), model)
        assert estimate.calls >= len(model.calls), settings
        assert estimate.calls <= 1.6 * len(model.calls) + 8, settings
        sent = sum(Tokenizer.of(model).messages(one) for one in model.calls)
        assert estimate.prompt_tokens >= 0.9 * sent
        assert estimate.cost == pytest.approx(model.cost(estimate.prompt_tokens, estimate.completion_tokens))
    assert "names no price" in estimate_of(CASES, ConversationPart(), Model()).telling()


@pytest.mark.parametrize("workers", [1, 4])
def test_progress_is_told_to_the_end(workers: int) -> None:
    seen: list[tuple[int, int]] = []
    hold(Model(concurrency=workers), CASES, watch=lambda what, done, total: seen.append((done, total)))
    assert seen[0][0] == 0 and seen[-1] == (45, 45)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_the_key_of_a_call_is_of_its_content_and_not_of_the_order_of_keys() -> None:
    caller = Caller(Model(), memory="full", log=Log(), budget=Budget(), tokens=Tokenizer.of(None))
    one = caller._key([{"role": "user", "content": "a"}], {"seed": 1, "max_tokens": 2}, 0)
    other = caller._key([{"content": "a", "role": "user"}], {"max_tokens": 2, "seed": 1}, 0)
    assert one == other and len(one) == 64
    assert caller._key([{"role": "user", "content": "b"}], {"seed": 1, "max_tokens": 2}, 0) != one
    assert caller._key([{"role": "user", "content": "a"}], {"seed": 1, "max_tokens": 2}, 1) != one
