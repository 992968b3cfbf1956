"""POSTs with patience: tries again, keeps a rate, runs several at once, checks certificates. Knows no task.

Secrets are named by their environment variable and read at each call; they reach no message, version, log or repr.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from workup.errors import InputError, SystemFailure
from workup.stats.random import generator
from workup.systems.libraries import library, quiet
from workup.systems.wire.address import checked_headers, checked_url, is_loopback, with_secrets
from workup.systems.wire.deadline import Deadline, client_with_deadline
from workup.systems.wire.retries import (
    PATIENCE,
    REFUSAL,
    UNTRUSTED,
    Fault,
    Tries,
    asked_seconds,
    is_certificate,
    may_pass,
)

_MOST_RETRIES = 100
_CREDENTIALS = "check the header that carries the secret, and its environment variable"
_REMEDIES = {401: _CREDENTIALS, 403: _CREDENTIALS, 404: "check the address", 413: "lower 'batch'"}

_now = time.monotonic  # by a name of its own, so that rates can be tested without waiting

Item = TypeVar("Item")
Result = TypeVar("Result")


def _pause(stopped: threading.Event, seconds: float) -> None:
    """Wait, unless another request of the same call fails meanwhile."""
    stopped.wait(seconds)


class Channel:
    """An address with how patiently it is asked. It can be pickled, and holds no secret and no connection.

    A 429, a 5xx, a timeout or a lost connection is tried again, `retries` times, with waits that double, but no try
    begins more than an hour (or `timeout`, if that is longer) after the first; any other status ends the call. A try is
    over after `timeout` seconds, however slowly its answer drips in. The certificate is always checked (`ca_file` for a
    private authority), redirects are not followed, and proxies and other settings of the environment are not read.
    `rate` (requests a second) and `concurrency` (requests at a time) hold for each worker. `timings` counts calls and
    retries. `remedies` adds to what is advised by status, and `cause` finds the name of the cause in the body of a
    refusal.
    """

    def __init__(
        self,
        *,
        name: str,
        url: str,
        base: Path,
        headers: dict[str, str] | None,
        timeout: float,
        retries: int,
        rate: float | None,
        concurrency: int,
        ca_file: str,
        remedies: Mapping[int, str] | None = None,
        cause: Callable[[bytes], str] | None = None,
    ) -> None:
        self.where = where = f"system '{name}'"
        address = checked_url(url, where=where)
        self._headers = checked_headers(headers or {}, where=where)
        if not timeout > 0:
            raise InputError("'timeout' must be more than 0 seconds", where=where, got=str(timeout))
        if not 0 <= retries <= _MOST_RETRIES:
            raise InputError(f"'retries' must be from 0 to {_MOST_RETRIES}", where=where, got=str(retries)[:20])
        if rate is not None and not rate > 0:
            raise InputError("'rate' must be more than 0 requests a second", where=where, got=str(rate))
        if not 1 <= concurrency <= 256:
            raise InputError(
                "'concurrency' must be from 1 to 256 requests at a time", where=where, got=str(concurrency)
            )
        self.name, self.url, self.timeout = name, url, timeout
        self.retries, self.rate, self.concurrency = retries, rate, concurrency
        self.patience = max(PATIENCE, timeout)
        self.is_open_line = address.scheme == "http" and not is_loopback(address.hostname or "")
        self.timings: dict[str, float] = {"calls": 0, "retries": 0, "waited_seconds": 0.0}
        self._ca_file = base / ca_file if ca_file else None
        self._remedies, self._cause = {**_REMEDIES, **(remedies or {})}, cause
        self._free_at = 0.0
        httpx_library()
        self.tls()  # a file that is no certificate is better found now than at the first request

    @contextmanager
    def open(self) -> Iterator[Session]:
        """Connections for one call of a system."""
        httpx = httpx_library()
        client, deadline = client_with_deadline(httpx, verify=self.tls(), timeout=self.timeout)
        with quiet("httpx", "httpcore"), client:  # the latter logs headers
            yield Session(self, httpx, client, deadline)

    def seconds_until_free(self) -> float:
        """How long the rate asks to wait for another request, which is then taken as sent."""
        if self.rate is None:
            return 0.0
        now, pause = _now(), 1.0 / self.rate
        # Another process has another clock, so never more than one pause for each request at a time.
        seconds = max(0.0, min(pause * self.concurrency, self._free_at - now))
        self._free_at = now + seconds + pause
        return seconds

    def refusal(self, status: int, retry_after: str, body: bytes) -> Fault:
        """What a status that is no success means."""
        if may_pass(status):
            return Fault(f"it answered with status {status}", True, asked_seconds(retry_after))
        if 300 <= status < 400:
            what = f"it answered with a redirect ({status}), which is not followed. To fix: give the address that it "
            return Fault(what + "ends at", False)
        cause = self._cause(body) if self._cause else ""
        named = f" ({cause})" if cause else ""
        remedy = self._remedies.get(status, "see the log of the service")
        return Fault(f"it answered with status {status}{named}. To fix: {remedy}", False)

    def headers(self) -> dict[str, str]:
        """What is said with every request, secrets and all; made for one request and to be kept nowhere."""
        said = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
        return said | with_secrets(self._headers, where=self.where)

    def tls(self) -> ssl.SSLContext | bool:
        """How certificates are checked; True is by the authorities that httpx brings along."""
        if self._ca_file is None:
            return True
        try:
            return ssl.create_default_context(cafile=str(self._ca_file))
        except (OSError, ssl.SSLError) as error:
            raise InputError(
                "'ca_file' must be a file of certificates in PEM form",
                where=self.where,
                got=type(error).__name__,
                remedy="give its path as seen from the folder of the study",
            ) from None


class _Stopped(SystemFailure):
    """A request that was given up because another failed; the other is what is reported."""


class Session:
    """Connections of one call, which its threads share."""

    def __init__(self, channel: Channel, httpx: Any, client: Any, deadline: Deadline) -> None:
        self._channel, self._httpx, self._client, self._deadline = channel, httpx, client, deadline
        self._lock, self._stopped = threading.Lock(), threading.Event()

    def map(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Results in the order of the items, `concurrency` of them worked on at a time; the first error ends all."""
        if self._channel.concurrency == 1 or len(items) < 2:
            return [work(item) for item in items]

        def stopping(item: Item) -> Result:
            try:
                return work(item)
            except BaseException:
                self._stopped.set()
                raise

        with ThreadPoolExecutor(max_workers=self._channel.concurrency) as pool:
            futures = [pool.submit(stopping, item) for item in items]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            except BaseException:  # Ctrl-C, which must not wait for all tries to come to an end
                self._stopped.set()
                raise
            finally:
                for future in futures:
                    future.cancel()
            wait(futures)
        errors = [future.exception() for future in futures if not future.cancelled()]
        for error in errors:
            if error is not None and not isinstance(error, _Stopped):
                raise error
        return [future.result() for future in futures]

    def post(self, body: bytes, *, longest: int, label: int, headers: Mapping[str, str] | None = None) -> bytes:
        """The body of a good answer, however many tries it takes; errors are raised where no response is in reach.

        `longest` is how many bytes the answer may have, and `label` names the request for the draws of its waits.
        """
        channel = self._channel
        said = channel.headers() | dict(headers or {})
        tries = Tries(
            channel.retries, channel.patience, lambda: generator(0, "http", channel.name, label), now=lambda: _now()
        )
        while True:
            self._keep_rate()
            if self._stopped.is_set():
                raise _Stopped(f"{channel.where}: stopped, because another request failed.")
            self.count("calls", 1)
            got = self._attempt(body, said, longest=longest)
            if isinstance(got, bytes):
                return got
            seconds = tries.pause(got)
            if not got.passing:
                raise SystemFailure(f"{channel.where}: {got.what}.")
            if seconds is None:
                break
            self.count("retries", 1)
            self._wait(seconds)
        counted = "1 try" if tries.made == 1 else f"{tries.made} tries"
        raise SystemFailure(
            f"{channel.where}: {got.what}, in the last of {counted}. To fix: check that the service is up, or raise "
            "'retries' or 'timeout', or lower 'rate' or 'batch'."
        )

    def count(self, what: str, amount: float) -> None:
        """Add to the channel's timings."""
        with self._lock:
            self._channel.timings[what] += amount

    def _keep_rate(self) -> None:
        with self._lock:
            seconds = self._channel.seconds_until_free()
        if seconds > 0:
            self._wait(seconds)

    def _wait(self, seconds: float) -> None:
        self.count("waited_seconds", seconds)
        _pause(self._stopped, seconds)

    def _attempt(self, body: bytes, headers: dict[str, str], *, longest: int) -> bytes | Fault:
        httpx, channel = self._httpx, self._channel
        self._deadline.set(channel.timeout)
        received = bytearray()
        try:
            with self._client.stream("POST", channel.url, content=body, headers=headers) as response:
                good = 200 <= response.status_code < 300
                limit = longest if good else REFUSAL
                for piece in response.iter_bytes():
                    received += piece
                    if len(received) > limit:
                        break
                if not good:
                    retry_after = response.headers.get("Retry-After", "")
                    return channel.refusal(response.status_code, retry_after, bytes(received))
                if len(received) > limit:
                    return Fault(f"the answer is longer than {limit} bytes, which no answer of this form needs", False)
                return bytes(received)
        except httpx.TimeoutException:
            return Fault(f"no {'whole ' if received else ''}answer within {channel.timeout:g} s", True)
        except (httpx.DecodingError, httpx.UnsupportedProtocol, httpx.LocalProtocolError) as error:
            return Fault(f"the exchange broke the rules of HTTP ({type(error).__name__})", False)
        except httpx.TransportError as error:
            if is_certificate(error):
                return Fault(UNTRUSTED, False)
            return Fault(f"the connection failed ({type(error).__name__})", True)


def httpx_library() -> Any:
    """httpx, or an error that names its extra."""
    return library("httpx", package="httpx", extra="http", purpose="asking a system over HTTP")
