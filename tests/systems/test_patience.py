"""Services that would have Workup wait for ever: servers on the loopback that drip, or ask for a year."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.loopback import Service
from workup.errors import InputError, StudyError, SystemFailure
from workup.plugins import check
from workup.systems.any.http import Http
from workup.systems.chat import connection as chat_connection
from workup.systems.chat import line as chat_line
from workup.systems.chat.openai_chat import OpenAiChat
from workup.systems.spans.google_credentials import ServiceAccount
from workup.systems.wire import transport

pytest.importorskip("httpx", reason="the http extra is not installed")

TABLE = {"age": np.array([40.0, 60.0])}
HELLO = [{"role": "user", "content": "Hello"}]


@pytest.fixture
def dripping() -> Iterator[str]:
    """A server that sends the head of its answer one byte at a time and never comes to its end."""
    server = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def drip(connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(65_536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                while not over.wait(0.05):
                    connection.sendall(b"x")
            except OSError:
                pass

    def serve() -> None:
        while not over.is_set():
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=drip, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}"
    over.set()
    server.close()


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """What the work answers or raises; a failure where it takes longer."""
    found: list[Any] = []

    def worked() -> None:
        try:
            found.append(work())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=worked, daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, f"still waiting after {seconds} s"
    return found[0]


def test_a_head_that_drips_is_given_up(dripping: str) -> None:
    remote = Http(name="remote", url=f"{dripping}/", timeout=0.5, retries=0)
    answer = within(8, lambda: remote.predict(TABLE))
    assert isinstance(answer, SystemFailure) and "no answer within 0.5 s" in str(answer)


def test_a_chat_model_that_drips_is_given_up(dripping: str) -> None:
    model = OpenAiChat(name="chat", base_url=f"{dripping}/v1", model="m", timeout=0.5, retries=0)
    assert within(8, lambda: model.reply(HELLO)).failure == "timeout"


def test_a_token_that_drips_is_given_up(dripping: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("google.auth", reason="the google extra is not installed")

    class Credentials:
        valid, token = False, "t"

        def refresh(self, request: Callable[..., Any]) -> None:
            request(f"{dripping}/token", method="POST", body=b"{}")

    account = ServiceAccount("VARIABLE", system="dlp", timeout=0.5)
    monkeypatch.setattr(account, "_opened", Credentials)
    answer = within(8, account.headers)
    assert isinstance(answer, SystemFailure) and "got no token" in str(answer)


def clockwork(monkeypatch: pytest.MonkeyPatch, module: Any, pause: str) -> list[float]:
    """A clock that moves by the waits alone, so that an hour passes at once."""
    now = [0.0]
    waits: list[float] = []

    def wait(*given: Any) -> None:
        waits.append(given[-1])
        now[0] += given[-1]

    monkeypatch.setattr(module, "_now", lambda: now[0])
    monkeypatch.setattr(module, pause, wait)
    return waits


@pytest.fixture
def always_busy() -> Iterator[str]:
    service = Service(lambda content: (429, {"Retry-After": str(365 * 86_400)}, b""))
    yield service.origin
    service.close()


def test_a_service_that_asks_for_a_year_gets_an_hour(always_busy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = clockwork(monkeypatch, transport, "_pause")
    remote = Http(name="remote", url=f"{always_busy}/", retries=100, timeout=20)
    with pytest.raises(SystemFailure, match="in the last of 61 tries"):
        remote.predict(TABLE)
    assert max(waits) == 60 and sum(waits) == 3600


def test_a_chat_model_that_asks_for_a_year_gets_an_hour(always_busy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = clockwork(monkeypatch, chat_line, "_pause")
    monkeypatch.setattr(chat_connection, "_now", lambda: chat_line._now())
    model = OpenAiChat(name="chat", base_url=f"{always_busy}/v1", model="m", retries=100, timeout=20)
    said = model.reply(HELLO)
    assert said.failure == "http_429" and sum(waits) == 3600


@pytest.mark.parametrize("retries", [-1, 101, 10**9])
def test_retries_are_bounded_for_every_caller(retries: int) -> None:
    for made in (
        lambda: Http(name="remote", url="https://risk.example/", retries=retries),
        lambda: OpenAiChat(name="chat", base_url="https://chat.example/v1", model="m", retries=retries),
    ):
        with pytest.raises(InputError, match="'retries' must be from 0 to 100"):
            made()
    for use, needed in (
        ("http", {"url": "https://risk.example/"}),
        ("openai_chat", {"base_url": "https://chat.example/v1", "model": "m"}),
        ("google_dlp", {"project": "p"}),
        ("command", {"run": ["score"]}),
    ):
        given = {**needed, "retries": retries}
        with pytest.raises(StudyError, match="retries"):
            check("systems", use, given, where="systems", context={"name": "m", "base": Path()})


def test_the_deadline_is_that_of_a_try_and_not_of_its_connection(dripping: str) -> None:
    remote = Http(name="remote", url=f"{dripping}/", timeout=0.4, retries=2)
    begun = time.monotonic()
    answer = within(20, lambda: remote.predict(TABLE))
    assert "in the last of 3 tries" in str(answer) and time.monotonic() - begun < 10
