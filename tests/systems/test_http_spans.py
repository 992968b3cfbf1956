"""Detectors behind a web address, against a real server on the loopback and with no network at all."""

from __future__ import annotations

import json
import pickle
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.support.loopback import Reply, Service, cut_off, hang_up, stall, system
from workup.documents.document import Span
from workup.errors import InputError, SystemFailure
from workup.systems.any.http import Http
from workup.systems.wire import transport
from workup.task import SpanSystem

pytestmark = pytest.mark.usefixtures("waits")

pytest.importorskip("httpx", reason="the http extra is not installed")

TEXTS = ["Rose Berg, seen 3 May", "", "Zoë 😀 Rose", "nobody", "Rose"]
FOUND = [[Span(0, 4, "NAME")], [], [Span(6, 10, "NAME")], [], [Span(0, 4, "NAME")]]


def documents(*pairs: tuple[Any, Any]) -> Reply:
    return 200, {}, json.dumps({"documents": [{"id": id, "spans": spans} for id, spans in pairs]}).encode()


def rose(content: Any) -> Reply:
    """The first Rose of each text."""
    found = []
    for document in content["documents"]:
        at = document["text"].find("Rose")
        spans = [] if at < 0 else [{"start": at, "end": at + 4, "label": "NAME"}]
        found.append((document["id"], spans))
    return documents(*found)


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service(rose)
    yield made
    made.close()


def test_texts_go_out_in_batches_and_spans_come_back_in_order(service: Service) -> None:
    remote = system(service, batch=2)
    assert remote.detect(TEXTS) == FOUND
    assert [content for _, _, content in service.requests] == [
        {"documents": [{"id": "1", "text": TEXTS[0]}, {"id": "2", "text": ""}]},
        {"documents": [{"id": "1", "text": TEXTS[2]}, {"id": "2", "text": "nobody"}]},
        {"documents": [{"id": "1", "text": "Rose"}]},
    ]
    assert isinstance(remote, SpanSystem)
    assert remote.timings == {"calls": 3, "retries": 0, "waited_seconds": 0.0}
    copy = pickle.loads(pickle.dumps(remote))
    assert copy.detect(TEXTS) == FOUND and copy.timings["calls"] == 6 and remote.timings["calls"] == 3
    assert remote.detect([]) == []


def test_offsets_mapping_and_emits(service: Service) -> None:
    remote = system(service, offsets="utf16", mapping="presidio", emits=["PERSON"])
    service.replies = [documents(("1", [{"start": 7, "end": 11, "label": "PERSON", "score": 1}]))]
    assert remote.detect([TEXTS[2]]) == [[Span(6, 10, "PERSON", score=1.0)]]
    assert (remote.mapping, remote.emits) == ("presidio", ("PERSON",))


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ((200, {}, b"<html>Smith"), "must be JSON such as"),
        ((200, {}, b'{"documents": [{"id": "1"'), "must be JSON such as"),
        ((200, {}, b'{"documents": [], "documents": []}'), "must be JSON such as"),
        ((200, {}, b'{"risks": []}'), "got no list 'documents'"),
        ((200, {}, b""), "must be JSON such as"),
        (documents(("2", []), ("1", [])), "entry 1 of 'documents': answers text 2 where text 1 was due"),
        (documents(("1", []), ("1", [])), "entry 2 of 'documents': answers text 1 a second time"),
        (documents(("1", [])), "one answer for each of the 2 texts sent; got 1"),
        (documents(("1", []), ("2", []), ("3", [])), "one answer for each of the 2 texts sent; got 3"),
        (documents(("1", []), ("Smith", [])), "entry 2 of 'documents': has an 'id' that was not sent"),
        (
            documents(("1", []), ("2", [{"start": 1, "end": 1, "label": "Smith"}])),
            "span 0: a span must start in its text",
        ),
        (documents(("1", []), ("2", "Smith")), "'spans' must be a list; got a text"),
        ((200, {}, b" " * 400_000), "longer than 136448 bytes"),
    ],
)
def test_answers_out_of_form_end_at_once(service: Service, waits: list[float], reply: Reply, message: str) -> None:
    service.replies = [reply]
    with pytest.raises(SystemFailure, match=message) as failed:
        system(service).detect(TEXTS[:2])
    assert "Smith" not in str(failed.value)
    assert (len(service.requests), waits) == (1, [])


def test_null_is_a_text_that_was_refused(service: Service) -> None:
    service.replies = [documents(("1", None), ("2", []))]
    assert system(service).detect(TEXTS[:2]) == [None, []]


@pytest.mark.parametrize("concurrency", [1, 4])
def test_every_passing_fault_is_tried_again_and_nothing_is_lost(service: Service, concurrency: int) -> None:
    service.replies = [hang_up, (429, {}, b"busy"), cut_off, (503, {"Retry-After": "3"}, b"Smith")]
    remote = system(service, batch=1, concurrency=concurrency)
    assert remote.detect(TEXTS * 3) == FOUND * 3
    assert (remote.timings["calls"], remote.timings["retries"]) == (19, 4)


def test_several_requests_are_under_way_at_a_time_and_answers_stay_in_order(service: Service) -> None:
    def slow(content: Any) -> Reply:
        time.sleep(0.05 if content["documents"][0]["text"] else 0.15)
        return rose(content)

    slower = Service(slow)
    try:
        remote = system(slower, batch=1, concurrency=3)
        assert remote.batch == 3
        assert remote.detect(TEXTS * 2) == FOUND * 2
        assert 2 <= slower.most_at_once <= 3
    finally:
        slower.close()
    assert system(service, batch=1).detect(TEXTS) == FOUND
    assert service.most_at_once == 1
    risks = Service(
        lambda content: (200, {}, json.dumps({"risks": [{"id": "1", "risk": content["rows"][0]["x"]}]}).encode())
    )
    try:
        table = {"x": np.linspace(0, 1, 9)}
        assert system(risks, batch=1, concurrency=4).predict(table) == table["x"].tolist()
    finally:
        risks.close()


def test_the_first_error_ends_the_others_too(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped_early: list[bool] = []
    monkeypatch.setattr(
        transport, "_pause", lambda stopped, seconds: stopped_early.append(stopped.wait(min(seconds, 20)))
    )

    def reply(content: Any) -> Reply:
        if content["documents"][0]["text"] == "Rose":
            time.sleep(0.2)
            return 403, {}, b""
        return 503, {"Retry-After": "60"}, b""

    faulty = Service(reply)
    try:
        with pytest.raises(SystemFailure, match="status 403"):
            system(faulty, batch=1, concurrency=2).detect(["Berg", "Rose", "Berg", "Berg"])
        assert stopped_early == [True]  # the wait of the other was cut short, and it did not ask again
        assert len(faulty.requests) == 2
    finally:
        faulty.close()


def test_the_rate_holds_for_all_requests_together(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    now, lock, waited = [100.0], threading.Lock(), []

    def pause(stopped: threading.Event, seconds: float) -> None:
        with lock:
            waited.append(seconds)

    monkeypatch.setattr(transport, "_pause", pause)
    monkeypatch.setattr(transport, "_now", lambda: now[0])
    system(service, batch=1, concurrency=4, rate=10.0).detect(TEXTS[:4])
    assert sorted(waited) == pytest.approx([0.1, 0.2, 0.3])


def test_a_service_that_hangs(service: Service) -> None:
    service.replies = [stall(0.6)] * 2
    with pytest.raises(SystemFailure, match=r"no answer within 0\.2 s, in the last of 2 tries"):
        system(service, timeout=0.2, retries=1).detect(TEXTS)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_without_a_network_there_is_an_error_and_no_answer(monkeypatch: pytest.MonkeyPatch, concurrency: int) -> None:
    def unreachable(*_: Any, **__: Any) -> None:
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(socket.socket, "connect", unreachable)
    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    remote = Http(name="remote", url="https://detector.example/find", retries=2, concurrency=concurrency, batch=1)
    with pytest.raises(
        SystemFailure, match=r"connection failed \(ConnectError\), in the last of 3 tries.*service is up"
    ):
        remote.detect(TEXTS)


def test_settings_are_checked(service: Service) -> None:
    for concurrency in (0, 257):
        with pytest.raises(InputError, match="'concurrency' must be from 1 to 256"):
            system(service, concurrency=concurrency)
    with pytest.raises(InputError, match="'offsets'"):
        system(service, offsets="chars")
    with pytest.raises(InputError, match="text 2 of its batch: whole characters"):
        system(service).detect(["a", "\udfff"])
    assert service.requests == []
