"""A client of httpx whose every read and write ends at one deadline, also where the head of an answer drips in.

httpx allows its timeout for each piece that comes, so that a service which sends a byte now and then is waited for
without end. Knows nothing of what is asked.
"""

from __future__ import annotations

import math
import threading
import time
from typing import Any

from workup.errors import PluginError

_now = time.monotonic


class Deadline(threading.local):
    """When the request of this thread must be over; others have their own."""

    ends: float = math.inf

    def set(self, seconds: float) -> None:
        """So many seconds from now."""
        self.ends = _now() + seconds

    def left(self, timeout: float | None) -> float:
        """Seconds that the next step may take; not above 0 where the time is over."""
        return min(math.inf if timeout is None else timeout, self.ends - _now())


def client_with_deadline(httpx: Any, *, verify: Any, timeout: float) -> tuple[Any, Deadline]:
    """A client that follows no redirect and reads no environment, and the deadline that is to be set for a request."""
    deadline = Deadline()
    transport = httpx.HTTPTransport(verify=verify, trust_env=False)
    pool: Any = getattr(transport, "_pool", None)
    if not hasattr(pool, "_network_backend"):  # better no answer than one that is waited for without end
        raise PluginError(
            f"the installed httpx ({httpx.__version__}) is not one that Workup knows. To fix: install the version in "
            "constraints.txt."
        )
    pool._network_backend = _backend(deadline)
    client = httpx.Client(transport=transport, timeout=timeout, follow_redirects=False, trust_env=False)
    return client, deadline


def _backend(deadline: Deadline) -> Any:
    import httpcore

    class Stream(httpcore.NetworkStream):
        """A connection that asks for the deadline before each step."""

        def __init__(self, stream: Any) -> None:
            self._stream = stream

        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            left = deadline.left(timeout)
            if left <= 0:
                raise httpcore.ReadTimeout
            received: bytes = self._stream.read(max_bytes, left)
            return received

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            left = deadline.left(timeout)
            if left <= 0:
                raise httpcore.WriteTimeout
            self._stream.write(buffer, left)

        def close(self) -> None:
            self._stream.close()

        def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> Any:
            left = deadline.left(timeout)
            if left <= 0:
                raise httpcore.ConnectTimeout
            return Stream(self._stream.start_tls(ssl_context, server_hostname, left))

        def get_extra_info(self, info: str) -> Any:
            return self._stream.get_extra_info(info)

    class Backend(httpcore.SyncBackend):
        """Connections that keep to the deadline."""

        def connect_tcp(self, host: str, port: int, timeout: float | None = None, **more: Any) -> Any:  # type: ignore[override]
            left = deadline.left(timeout)
            if left <= 0:
                raise httpcore.ConnectTimeout
            return Stream(super().connect_tcp(host, port, timeout=left, **more))

    return Backend()
