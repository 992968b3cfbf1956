"""A line to a chat model on the web that stays open between calls: many at a time, with patience, within a deadline.

A call that fails in a way that may pass (429, 5xx, a timeout, a lost connection, an answer cut short or out of form) is
tried again; when it has failed for good it has a code, and the run goes on. What would fail in every other call too (a
wrong key, address or certificate) is an error. Neither ever holds what was sent or answered.
"""

from __future__ import annotations

import http.client
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from workup.errors import SystemFailure
from workup.stats.random import generator
from workup.systems.chat.connection import Connection, Unread, whole_answer
from workup.systems.wire.retries import REFUSAL, UNTRUSTED, Fault, Tries, is_certificate
from workup.systems.wire.transport import Channel

LONGEST_ANSWER = 8_000_000  # bytes; no reply of a chat model is as long
_IDLE = 4.0  # seconds that a connection may rest; many servers close theirs after five
_ENDING = frozenset({401, 402, 403, 404, 405, 407, 410})  # every other call would end in the same way
_PASSING = frozenset({408, 409, 425})  # beside 429 and 5xx

_now = time.monotonic  # by a name of its own, so that deadlines can be tested without waiting

Answer = TypeVar("Answer")


def _pause(seconds: float) -> None:
    time.sleep(seconds)


@dataclass(frozen=True)
class Call(Generic[Answer]):
    """How a call ended: an answer, or the code of its failure; with the seconds of its last try and the tries."""

    answer: Answer | None
    failure: str
    seconds: float
    tries: int


class ChatLine:
    """Connections to the address of a Channel, kept and shared by threads. A copy in another process has its own."""

    def __init__(self, channel: Channel, *, cause: Callable[[bytes], str] | None = None) -> None:
        self.channel = channel
        self._cause = cause  # the code of a failure that the body of a 4xx names, or nothing
        self._open()

    def _open(self) -> None:
        self._idle: deque[tuple[Connection, float]] = deque()
        self._lock = threading.Lock()
        self._tls: ssl.SSLContext | None = None
        self._seconds: list[float] = []
        self._counts = {"calls": 0.0, "retries": 0.0, "failed": 0.0, "waited_seconds": 0.0}

    def __getstate__(self) -> dict[str, Any]:
        return {"channel": self.channel, "_cause": self._cause}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._open()

    @property
    def timings(self) -> dict[str, float]:
        """Calls, retries, failures, waits and how long answers took."""
        with self._lock:
            taken = sorted(self._seconds)
            found = dict(self._counts)
        if taken:
            found |= {
                "p50_seconds": taken[len(taken) // 2],
                "p95_seconds": taken[int(0.95 * (len(taken) - 1))],
                "seconds": sum(taken),
            }
        return found

    def ask(
        self, body: bytes, *, label: str, read: Callable[[bytes], Answer], more: Mapping[str, str] | None = None
    ) -> Call[Answer]:
        """One answer, however many tries it takes; `read` makes it of the body, or raises Unread.

        `more` are headers of this call alone.
        """
        channel = self.channel
        headers = {**channel.headers(), **(more or {})}
        tries = Tries(
            channel.retries, channel.patience, lambda: generator(0, "chat", channel.name, label), now=lambda: _now()
        )
        while True:
            self._keep_rate()
            self._count("calls", 1)
            begun = _now()
            try:
                answer = read(self._post(body, headers))
            except Unread as error:
                code, fault = error.code, Fault(error.code, error.passing)
            except _Refused as error:
                code, fault = self._refused(error)
            else:
                seconds = _now() - begun
                with self._lock:
                    self._seconds.append(seconds)
                return Call(answer, "", seconds, tries.made + 1)
            pause = tries.pause(fault)
            if pause is None:
                break
            self._count("retries", 1)
            self._wait(pause)
        self._count("failed", 1)
        return Call(None, code, _now() - begun, tries.made)

    def close(self) -> None:
        """Hang up; the next call connects anew."""
        while self._idle:
            self._idle.pop()[0].close()

    def _refused(self, error: _Refused) -> tuple[str, Fault]:
        """The code of a refusal, or an error where every other call would be refused too."""
        if error.status is None:
            return error.code, Fault(error.code, True)
        fault = self.channel.refusal(error.status, error.retry_after, error.body)
        if error.status in _PASSING:
            fault = Fault(fault.what, True)
        if error.status in _ENDING or 300 <= error.status < 400:
            raise SystemFailure(f"{self.channel.where}: {fault.what}.")
        named = self._cause(error.body) if self._cause and error.status < 500 else ""
        return named or f"http_{error.status}", fault

    def _post(self, body: bytes, headers: dict[str, str]) -> bytes:
        deadline = _now() + self.channel.timeout
        connection, rested = self._connection()
        try:
            try:
                response = connection.ask(self._path, body, headers, deadline)
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                connection.close()
                if not rested:
                    raise
                # The server had closed a connection that rested; nothing of an answer had come.
                connection = self._connect()
                response = connection.ask(self._path, body, headers, deadline)
            good = 200 <= response.status < 300
            received = whole_answer(response, LONGEST_ANSWER if good else REFUSAL, cut=not good)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise self._told(error) from None
        except BaseException:
            connection.close()
            raise
        if response.will_close or response.length:
            connection.close()
        else:
            response.close()
            self._idle.append((connection, _now()))
        if not good:
            raise _Refused("", response.status, response.headers.get("Retry-After", ""), received)
        return received

    def _told(self, error: Exception) -> Exception:
        """What went wrong on the way, as a code; without the address, headers or bytes of the error itself."""
        if is_certificate(error):
            return SystemFailure(f"{self.channel.where}: {UNTRUSTED}.")
        if isinstance(error, TimeoutError):
            return _Refused("timeout")
        return _Refused("truncated" if isinstance(error, http.client.IncompleteRead) else "connection")

    @property
    def _path(self) -> str:
        address = urlsplit(self.channel.url)
        return (address.path or "/") + (f"?{address.query}" if address.query else "")

    def _connection(self) -> tuple[Connection, bool]:
        """A connection, and whether it is one that rested since an earlier call."""
        while True:
            try:
                connection, rested_from = self._idle.pop()
            except IndexError:
                return self._connect(), False
            if _now() - rested_from < _IDLE:
                return connection, True
            connection.close()

    def _connect(self) -> Connection:
        address = urlsplit(self.channel.url)
        context = self._context() if address.scheme == "https" else None
        return Connection(address.hostname or "", address.port, context, self.channel.timeout)

    def _context(self) -> ssl.SSLContext:
        with self._lock:
            if self._tls is None:
                given = self.channel.tls()
                if isinstance(given, ssl.SSLContext):
                    self._tls = given
                else:
                    import certifi

                    self._tls = ssl.create_default_context(cafile=certifi.where())
            return self._tls

    def _count(self, what: str, amount: float) -> None:
        with self._lock:
            self._counts[what] += amount

    def _keep_rate(self) -> None:
        if self.channel.rate is None:
            return
        with self._lock:
            seconds = self.channel.seconds_until_free()
        if seconds > 0:
            self._wait(seconds)

    def _wait(self, seconds: float) -> None:
        self._count("waited_seconds", seconds)
        _pause(seconds)


class _Refused(Exception):
    """A try without a good answer: a code, or a status with what came along."""

    def __init__(self, code: str, status: int | None = None, retry_after: str = "", body: bytes = b"") -> None:
        super().__init__(code)
        self.code, self.status, self.retry_after, self.body = code, status, retry_after, body
