"""One connection to a server whose every read and write ends at a deadline, also where bytes drip in. Tries once."""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import time
from typing import Any

_now = time.monotonic  # by a name of its own, so that deadlines can be tested without waiting


class Unread(Exception):
    """An answer out of form; `code` names the failure, and `passing` says whether another try may fix it."""

    def __init__(self, code: str, *, passing: bool = True) -> None:
        super().__init__(code)
        self.code, self.passing = code, passing


def whole_answer(response: http.client.HTTPResponse, longest: int, *, cut: bool) -> bytes:
    """The body of an answer; one that is longer is refused, or cut off."""
    received = bytearray()
    while piece := response.read1(65_536):
        received += piece
        if len(received) > longest:
            if cut:
                return bytes(received[:longest])
            raise Unread("too_long", passing=False)
    if response.length and not cut:  # read1 answers nothing at an early end and does not complain
        raise http.client.IncompleteRead(b"")
    return bytes(received)


class Connection(http.client.HTTPConnection):
    """One connection whose every read and write ends at the deadline of its call, also where bytes drip in."""

    def __init__(self, host: str, port: int | None, context: ssl.SSLContext | None, timeout: float) -> None:
        super().__init__(host, port or (443 if context else 80), timeout=timeout)
        self._context = context
        self._deadline = 0.0

    def connect(self) -> None:
        self.timeout = max(0.001, self._deadline - _now())
        super().connect()
        if self._context is not None:
            self.sock = self._context.wrap_socket(self.sock, server_hostname=self.host)

    def ask(self, path: str, body: bytes, headers: dict[str, str], deadline: float) -> http.client.HTTPResponse:
        """Send a request and read the head of its answer."""
        self._deadline = deadline
        if self.sock is None:
            self.connect()
        self.sock.settimeout(max(0.001, deadline - _now()))
        self.request("POST", path, body=body, headers=headers)
        return self.getresponse()

    def response_class(  # type: ignore[override]
        self, sock: socket.socket, *args: Any, **settings: Any
    ) -> http.client.HTTPResponse:
        """An answer that is read within the deadline."""
        response = http.client.HTTPResponse(sock, *args, **settings)
        response.fp = io.BufferedReader(_Within(response.fp.detach(), sock, self._deadline), 65_536)
        return response


class _Within(io.RawIOBase):
    """What a socket receives before a deadline; `raw` is its own reader, which keeps it open while it is read."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, deadline: float) -> None:
        self._raw, self._sock, self._deadline = raw, sock, deadline

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Some bytes, or a TimeoutError."""
        left = self._deadline - _now()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        """Let go of the socket."""
        self._raw.close()
        super().close()
