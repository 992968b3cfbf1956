"""Waits that are seen and not waited, and a network that nobody may ask for."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from workup.systems.wire import transport


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between tries, which are seen and not waited."""
    seen: list[float] = []
    monkeypatch.setattr(transport, "_pause", lambda stopped, seconds: seen.append(seconds))
    return seen


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def connects(*_: Any, **__: Any) -> None:
        raise AssertionError("something asked for the network")

    monkeypatch.setattr(socket, "getaddrinfo", connects)
    monkeypatch.setattr(socket.socket, "connect", connects)
