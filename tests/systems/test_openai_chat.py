"""Chat models behind an endpoint, on a real server on the loopback: what is sent and read, every way to go wrong."""

from __future__ import annotations

import json
import logging
import pickle
import ssl
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.support.loopback import Reply as Answer
from tests.support.loopback import Service, cut_off, hang_up, stall
from workup.errors import InputError, SystemFailure
from workup.systems.any.http import Http
from workup.systems.chat import line as chat_line
from workup.systems.chat.openai_chat import OpenAiChat
from workup.task import ChatSystem

pytest.importorskip("httpx", reason="the http extra is not installed")

HELLO = [{"role": "user", "content": "ZZCANARY takes warfarin."}]
SECRET = "s3cr3t-of-the-test"


def completion(content: Any = "Noted.", **more: Any) -> Answer:
    message = {"role": "assistant", "content": content, **more.pop("message", {})}
    whole = {
        "choices": [{"index": 0, "message": message, "finish_reason": more.pop("finish_reason", "stop")}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
        "system_fingerprint": "fp_7",
        **more,
    }
    return 200, {"Content-Type": "application/json"}, json.dumps(whole).encode()


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service(lambda content: completion(), path="/v1")
    yield made
    made.close()


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between tries, which are seen and not waited."""
    seen: list[float] = []
    monkeypatch.setattr(chat_line, "_pause", seen.append)
    return seen


def model(service: Service, **settings: Any) -> OpenAiChat:
    return OpenAiChat(**{"name": "chat", "base_url": service.url, "model": "m-1", "timeout": 5.0, **settings})


def sent(service: Service) -> dict[str, Any]:
    return service.requests[-1][2]


def test_messages_go_out_and_a_reply_comes_back(service: Service) -> None:
    chat = model(service)
    assert isinstance(chat, ChatSystem)
    said = chat.reply(HELLO, max_tokens=40, seed=9)
    assert (said.content, said.finish_reason, said.fingerprint) == ("Noted.", "stop", "fp_7")
    assert said.usage == {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
    assert service.requests[0][0] == "/v1/chat/completions"
    assert sent(service) == {"model": "m-1", "messages": HELLO, "temperature": 0.0, "max_tokens": 40, "seed": 9}
    assert said.seconds > 0 and said.tries == 1  # type: ignore[attr-defined]


def test_settings_are_sent_as_they_are_given(service: Service) -> None:
    model(
        service,
        max_tokens=7,
        max_tokens_field="max_completion_tokens",
        reasoning_tokens=1000,
        temperature=None,
        seed=5,
        system="Be brief.",
        extra={"top_p": 0.5},
    ).reply(HELLO, seed=2)
    assert sent(service) == {
        "model": "m-1",
        "messages": [{"role": "system", "content": "Be brief."}, *HELLO],
        "max_completion_tokens": 1007,
        "seed": 7,
        "top_p": 0.5,
    }
    model(service, seed=None).reply(HELLO, seed=2)
    assert "seed" not in sent(service)


def test_what_decides_an_answer_is_in_the_version_and_what_does_not_is_not(service: Service) -> None:
    first = model(service).version
    assert first.startswith("m-1 sha256:")
    changes = [{"temperature": 0.5}, {"system": "x"}, {"extra": {"top_p": 1}}, {"max_tokens": 5}, {"seed": 1}]
    assert len({model(service, **change).version for change in changes} | {first}) == len(changes) + 1
    for change in ({"timeout": 9.0}, {"rate": 100.0}, {"concurrency": 2}, {"retries": 0}, {"price": None}):
        assert model(service, **change).version == first


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_read_apart(service: Service, field: str) -> None:
    service.replies = [completion("Yes.", message={field: "Let me think."})]
    said = model(service).reply(HELLO)
    assert (said.content, said.reasoning) == ("Yes.", "Let me think.")


def test_parts_refusals_and_replies_that_never_got_to_the_point(service: Service) -> None:
    service.replies = [
        completion([{"type": "text", "text": "One "}, {"type": "image"}, {"type": "text", "text": "two."}]),
        completion(None, message={"refusal": "I cannot help."}),
        completion(None, finish_reason="length", message={"reasoning_content": "Hm"}),
        completion(None, finish_reason="content_filter"),
    ]
    chat = model(service)
    assert [chat.reply(HELLO).content for _ in range(3)] == ["One two.", "I cannot help.", ""]
    filtered = chat.reply(HELLO)
    assert (filtered.content, filtered.failure) == (None, "content_filter")
    assert len(service.requests) == 4, "what a filter kept back is not asked for again"


# ---- what may pass is tried again -----------------------------------------------------------------------------------

BROKEN: dict[str, Any] = {
    "429": (429, {"Retry-After": "3"}, b"{}"),
    "500": (500, {}, b"oops ZZCANARY"),
    "503": (503, {}, b""),
    "408": (408, {}, b""),
    "hang up": hang_up,
    "cut off": cut_off,
    "no json": (200, {}, b"<html>ZZCANARY"),
    "half json": (200, {}, completion()[2][:-20]),
    "nan": (200, {}, b'{"choices": [NaN]}'),
    "list": (200, {}, b"[]"),
    "no choices": (200, {}, b'{"choices": []}'),
    "odd choice": (200, {}, b'{"choices": ["ZZCANARY"]}'),
    "no message": (200, {}, b'{"choices": [{"message": null}]}'),
    "number": completion(7),
    "null": completion(None),
    "error": (200, {}, b'{"error": {"message": "ZZCANARY"}}'),
    "deep": (200, {}, b"[" * 100_000),
}
CODES = {
    "429": "http_429",
    "500": "http_500",
    "503": "http_503",
    "408": "http_408",
    "hang up": "connection",
    "cut off": "truncated",
    "number": "no_content",
    "null": "no_content",
    "error": "error_answer",
    "no choices": "bad_answer",
    "odd choice": "bad_answer",
    "no message": "bad_answer",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_may_pass_is_tried_again(service: Service, kind: str, waits: list[float]) -> None:
    service.replies = [BROKEN[kind], BROKEN[kind]]
    said = model(service).reply(HELLO)
    assert said.content == "Noted." and said.tries == 3  # type: ignore[attr-defined]
    assert len(waits) == 2
    if kind == "429":
        assert waits == [3.0, 3.0]
    else:
        assert 0.25 <= waits[0] <= 0.5 <= waits[1] <= 1.0


@pytest.mark.parametrize("kind", BROKEN)
def test_a_call_that_failed_for_good_has_a_code_and_no_content(service: Service, kind: str, caplog: Any) -> None:
    caplog.set_level(logging.DEBUG)
    service.replies = [BROKEN[kind]] * 3
    chat = model(service, retries=2)
    said = chat.reply(HELLO)
    assert said.content is None
    assert said.failure == CODES.get(kind, "bad_json")
    assert said.usage == {}
    assert len(service.requests) == 3
    assert chat.timings["retries"] == 2 and chat.timings["failed"] == 1
    assert chat.reply(HELLO).content == "Noted."
    assert "CANARY" not in caplog.text


def drip(handler: BaseHTTPRequestHandler) -> None:
    """A good answer, a byte at a time, more slowly than anybody waits."""
    body = completion()[2]
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    for place in range(len(body)):
        handler.wfile.write(body[place : place + 1])
        handler.wfile.flush()
        time.sleep(0.03)


def drip_head(handler: BaseHTTPRequestHandler) -> None:
    """The head of an answer, a byte at a time."""
    for sign in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 200:
        handler.wfile.write(bytes([sign]))
        handler.wfile.flush()
        time.sleep(0.03)


@pytest.mark.parametrize("slow", [stall(1.0), drip, drip_head], ids=["silent", "slow body", "slow head"])
def test_an_answer_that_takes_too_long_is_given_up_at_the_deadline(service: Service, slow: Any) -> None:
    service.replies = [slow]
    begun = time.monotonic()
    said = model(service, timeout=0.3, retries=0).reply(HELLO)
    assert said.failure == "timeout"
    assert time.monotonic() - begun < 0.9
    service.replies = [slow]
    assert model(service, timeout=0.3, retries=1).reply(HELLO).content == "Noted."


def test_a_server_that_is_not_there_is_a_failed_call(service: Service) -> None:
    chat = model(service, retries=1)
    service.close()
    assert chat.reply(HELLO).failure == "connection"


def test_an_endless_answer_is_cut(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_line, "LONGEST_ANSWER", 1000)
    service.replies = [completion("x" * 2000)]
    assert model(service).reply(HELLO).failure == "too_long"


def test_a_connection_that_the_server_closed_meanwhile_is_opened_anew(service: Service) -> None:
    chat = model(service, retries=0)
    closing = completion()
    service.replies = [closing]
    assert chat.reply(HELLO).content == "Noted."
    for connection, _ in chat._line._idle:
        connection.sock.shutdown(2)  # as a server that tidies up does
    assert chat.reply(HELLO).content == "Noted."
    service.replies = [(200, {"Connection": "close"}, closing[2])]
    assert [chat.reply(HELLO).content for _ in range(2)] == ["Noted."] * 2


# ---- what would fail in every call ends the run, what is of one call does not --------------------------------------


@pytest.mark.parametrize("status", [301, 401, 403, 404])
def test_what_no_other_call_could_mend_is_an_error(service: Service, status: int) -> None:
    service.replies = [(status, {"Location": "http://elsewhere.example/"}, b"ZZCANARY")]
    with pytest.raises(SystemFailure, match=str(status)) as error:
        model(service).reply(HELLO)
    assert "CANARY" not in str(error.value) and len(service.requests) == 1


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"error": {"code": "context_length_exceeded", "message": "ZZCANARY"}}', "context_length"),
        (b'{"error": {"code": "content_filter"}}', "content_filter"),
        (b'{"error": {"message": "what is ZZCANARY"}}', "http_400"),
    ],
)
def test_a_call_that_the_service_refuses_has_failed_alone_and_is_not_repeated(
    service: Service, body: bytes, code: str
) -> None:
    service.replies = [(400, {}, body)]
    assert model(service).reply(HELLO).failure == code
    assert len(service.requests) == 1


def test_certificates_are_checked(tmp_path: Path) -> None:
    trustme = pytest.importorskip("trustme", reason="trustme is not installed")
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    secure = Service(lambda content: completion(), path="/v1", tls=context)
    try:
        with pytest.raises(SystemFailure, match="ca_file"):
            model(secure).reply(HELLO)
        authority.cert_pem.write_to_path(tmp_path / "authority.pem")
        chat = model(secure, base=tmp_path, ca_file="authority.pem")
        assert [chat.reply(HELLO).content for _ in range(3)] == ["Noted."] * 3
        assert pickle.loads(pickle.dumps(chat)).reply(HELLO).content == "Noted."
    finally:
        secure.close()


# ---- secrets --------------------------------------------------------------------------------------------------------


def test_the_key_comes_from_the_environment_and_is_told_to_nobody_else(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("CHAT_KEY", SECRET)
    chat = model(service, key="env:CHAT_KEY", headers={"X-Org": "ward"})
    chat.reply(HELLO)
    assert service.requests[0][1]["Authorization"] == f"Bearer {SECRET}"
    assert service.requests[0][1]["X-Org"] == "ward"
    service.replies = [(401, {}, SECRET.encode())]
    with pytest.raises(SystemFailure) as error:
        chat.reply(HELLO)
    told = f"{error.value} {chat.version} {vars(chat)} {pickle.dumps(chat)!r} {chat.timings} {caplog.text}"
    assert SECRET not in told
    monkeypatch.delenv("CHAT_KEY")
    with pytest.raises(InputError, match="CHAT_KEY"):
        chat.reply(HELLO)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"key": SECRET}, "env:VARIABLE"),
        ({"headers": {"api-key": SECRET}}, "env:VARIABLE"),
        ({"extra": {"api_key": SECRET}}, "secret"),
        ({"base_url": f"https://me:{SECRET}@host/v1"}, "'base_url'"),
        ({"base_url": "host/v1"}, "'base_url'"),
        ({"extra": {"messages": []}}, "'messages'"),
        ({"extra": {"stream": True}}, "'stream'"),
        ({"model": ""}, "'model'"),
        ({"max_tokens": 0}, "'max_tokens'"),
        ({"temperature": -1}, "'temperature'"),
        ({"seed": "fixed"}, "'seed'"),
        ({"price": 3}, "'price'"),
        ({"price": {"input": -1, "output": 2}}, "price"),
        ({"timeout": 0}, "'timeout'"),
        ({"concurrency": 0}, "'concurrency'"),
    ],
)
def test_settings_that_cannot_be_are_refused_at_once(service: Service, settings: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says) as error:
        model(service, **settings)
    assert SECRET not in str(error.value)
    assert service.requests == []


# ---- many at a time, money and rates --------------------------------------------------------------------------------


def test_many_calls_share_connections_and_keep_their_answers_apart() -> None:
    def answer(content: Any) -> Answer:
        time.sleep(0.002)
        return completion(content["messages"][-1]["content"])

    service = Service(answer, path="/v1")
    chat = model(service, concurrency=8)
    wrong: list[str] = []

    def ask(worker: int) -> None:
        for number in range(20):
            text = f"{worker}-{number}"
            if chat.reply([{"role": "user", "content": text}]).content != text:
                wrong.append(text)

    threads = [threading.Thread(target=ask, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    service.close()
    assert wrong == []
    assert 1 < service.most_at_once <= 8
    assert chat.timings["calls"] == 160
    assert len(chat._line._idle) <= 8


def test_tokens_and_cost_are_counted_over_every_answer_that_came(service: Service) -> None:
    service.replies = [completion(None), completion()]  # the first is no good, and is paid for
    chat = model(service, price={"input": 1.0, "output": 10.0})
    chat.reply(HELLO)
    assert chat.timings["prompt_tokens"] == 22 and chat.timings["completion_tokens"] == 6
    assert chat.timings["cost"] == pytest.approx((22 * 1 + 6 * 10) / 1e6)
    assert chat.cost(1_000_000, 0) == 1.0
    assert "cost" not in model(service).timings and model(service).cost(1, 1) is None


def test_a_rate_is_kept(service: Service, waits: list[float]) -> None:
    chat = model(service, rate=0.5)
    for _ in range(3):
        chat.reply(HELLO)
    assert len(waits) == 2 and all(wait > 1.5 for wait in waits)


def test_a_usage_that_is_nonsense_counts_nothing(service: Service) -> None:
    service.replies = [completion(usage={"prompt_tokens": "many", "completion_tokens": -4, "total_tokens": True})]
    assert model(service).reply(HELLO).usage == {}


def test_an_open_line_to_another_machine_is_noted(service: Service) -> None:
    assert model(service).notes == ()
    assert "unencrypted" in model(service, base_url="http://chat.example/v1").notes[0]


# ---- the plain form: {"messages"} to {"content"} --------------------------------------------------------------------


def test_the_plain_form_over_http(service: Service) -> None:
    service.replies = [
        (200, {}, b'{"content": "Yes.", "usage": {"prompt_tokens": 4}}'),
        (500, {}, b""),
        (200, {}, b'{"content": 7}'),
        (200, {}, b'{"content": null}'),
    ]
    chat = Http(name="plain", url=service.origin, timeout=5.0)
    said = chat.reply(HELLO, seed=3)
    assert (said.content, said.usage) == ("Yes.", {"prompt_tokens": 4})
    assert sent(service) == {"messages": HELLO, "seed": 3}
    refused = chat.reply(HELLO)
    assert (refused.content, refused.failure) == (None, "no_content")
    assert (chat.timings["calls"], chat.timings["retries"]) == (4, 2)
    service.replies = [(200, {}, b'{"content": 7}')] * 5
    assert chat.reply(HELLO).failure == "bad_answer"


def test_lone_surrogates_go_out_as_something_that_utf8_can_say(service: Service) -> None:
    model(service).reply([{"role": "user", "content": "a\ud800b"}])
    assert sent(service)["messages"][0]["content"] == "a�b"
