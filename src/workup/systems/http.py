"""A risk model behind a web address: rows as JSON in a POST, risks as JSON back. Knows no vendor's protocol.

Secrets are named by their environment variable and read at each call; they reach no message, version, log or repr.
"""

from __future__ import annotations

import hashlib
import json
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, ClassVar

from workup.errors import InputError, SystemFailure
from workup.stats.random import generator
from workup.systems.http_address import checked_headers, checked_url, is_loopback, with_secrets
from workup.systems.json_rows import kind, parse, risk_in, rows_out
from workup.systems.predictors import library, quiet
from workup.task import Table

_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0  # seconds; also the most that a Retry-After can ask for
_BODY, _BODY_PER_ROW = 65_536, 1_024  # bytes; an answer is an id and a number for each row
_SHAPE = '{"risks": [{"id": "1", "risk": 0.2}, …]}'

_sleep, _now = time.sleep, time.monotonic  # by names of their own, so that waits can be tested without waiting


class Http:
    """POSTs `{"rows": [{"id": "1", …}, …]}` and expects `{"risks": [{"id": "1", "risk": 0.1}, …]}` in the same order.

    Ids count the rows of one request from 1; a null risk is a refused row. A 429, a 5xx, a timeout or a lost connection
    is tried again, `retries` times, with waits that double; anything else out of form ends the run. The certificate is
    always checked (`ca_file` for a private authority), redirects are not followed, and proxies and other settings of
    the environment are not read. `rate` (requests a second) holds for each worker. `timings` counts calls and retries.
    """

    recorded: ClassVar[bool] = False

    def __init__(
        self,
        *,
        name: str,
        url: str,
        base: Path = Path(),
        headers: dict[str, str] | None = None,
        timeout: float = 30.0,
        retries: int = 4,
        rate: float | None = None,
        batch: int = 100,
        ca_file: str = "",
        send: list[str] | None = None,
    ) -> None:
        where = f"system '{name}'"
        address = checked_url(url, where=where)
        self._headers = checked_headers(headers or {}, where=where)
        if not timeout > 0:
            raise InputError("'timeout' must be more than 0 seconds", where=where, got=str(timeout))
        if retries < 0:
            raise InputError("'retries' must be 0 or more", where=where, got=str(retries))
        if rate is not None and not rate > 0:
            raise InputError("'rate' must be more than 0 requests a second", where=where, got=str(rate))
        if batch < 1:
            raise InputError("'batch' must be at least 1 row", where=where, got=str(batch))
        self._ca_file = base / ca_file if ca_file else None
        self.name, self.url, self.send, self.batch = name, url, send, batch
        self.timeout, self.retries, self.rate = timeout, retries, rate
        self.version = f"http sha256:{hashlib.sha256(json.dumps([url, send]).encode()).hexdigest()[:12]}"
        open_line = address.scheme == "http" and not is_loopback(address.hostname or "")
        self.notes: tuple[str, ...] = ("rows went to the system unencrypted (http)",) if open_line else ()
        self.timings: dict[str, float] = {"calls": 0, "retries": 0, "waited_seconds": 0.0}
        self._free_at = 0.0
        _library()
        self._tls(where=where)  # a file that is no certificate is better found now than at the first row

    def predict(self, table: Table) -> list[float | None]:
        """One risk per row, None where the system refuses it."""
        httpx = _library()
        risks: list[float | None] = []
        with (
            quiet("httpx", "httpcore"),  # the latter logs headers
            httpx.Client(
                verify=self._tls(where=f"system '{self.name}'"),
                timeout=self.timeout,
                follow_redirects=False,
                trust_env=False,
            ) as client,
        ):
            for start, rows in self._requests(table):
                body = json.dumps({"rows": rows}).encode()
                answer = self._post(httpx, client, body, rows=len(rows), label=start)
                risks.extend(self._risks(answer, len(rows)))
        return risks

    def _tls(self, *, where: str) -> ssl.SSLContext | bool:
        if self._ca_file is None:
            return True  # the authorities that httpx brings along
        try:
            return ssl.create_default_context(cafile=str(self._ca_file))
        except (OSError, ssl.SSLError) as error:
            raise InputError(
                "'ca_file' must be a file of certificates in PEM form",
                where=where,
                got=type(error).__name__,
                remedy="give its path as seen from the folder of the study",
            ) from None

    def _requests(self, table: Table) -> Iterator[tuple[int, list[dict[str, Any]]]]:
        count = len(next(iter(table.values()))) if table else 0
        for start in range(0, count, self.batch):
            part = {name: column[start : start + self.batch] for name, column in table.items()}
            yield start, list(rows_out(part, send=self.send, system=self.name))

    def _post(self, httpx: Any, client: Any, body: bytes, *, rows: int, label: int) -> bytes:
        """The body of a good answer, however many tries it takes; errors are raised where no response is in reach."""
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
        headers |= with_secrets(self._headers, where=f"system '{self.name}'")
        draws = generator(0, "http", self.name, label)
        what = ""
        for attempt in range(self.retries + 1):
            self._keep_rate()
            self.timings["calls"] += 1
            got = _attempt(httpx, client, self.url, body, headers, timeout=self.timeout, limit=_limit(rows))
            if isinstance(got, bytes):
                return got
            what = got.what
            if not got.passing:
                raise SystemFailure(f"system '{self.name}': {what}.")
            if attempt < self.retries:
                self.timings["retries"] += 1
                doubled = min(_LONGEST_WAIT, _FIRST_WAIT * 2**attempt) * float(draws.uniform(0.5, 1.0))
                self._wait(doubled if got.asked_wait is None else min(_LONGEST_WAIT, got.asked_wait))
        tries = "1 try" if self.retries == 0 else f"{self.retries + 1} tries"
        raise SystemFailure(
            f"system '{self.name}': {what}, in the last of {tries}. To fix: check that the service is up, or raise "
            "'retries' or 'timeout', or lower 'rate' or 'batch'."
        )

    def _wait(self, seconds: float) -> None:
        self.timings["waited_seconds"] += seconds
        _sleep(seconds)

    def _keep_rate(self) -> None:
        if self.rate is None:
            return
        now, pause = _now(), 1.0 / self.rate
        wait = min(pause, self._free_at - now)  # another process has another clock, so never more than one pause
        if wait > 0:
            self._wait(wait)
        self._free_at = max(now, now + wait) + pause

    def _risks(self, body: bytes, rows: int) -> list[float | None]:
        """The risks in an answer, or an error that says what is wrong with it and never what it holds."""
        where = f"system '{self.name}': the answer"
        try:
            answer = parse(body)
        except (ValueError, RecursionError):
            raise SystemFailure(f"{where} must be JSON such as {_SHAPE}; got something else.") from None
        listed = answer.get("risks") if isinstance(answer, dict) else None
        if not isinstance(listed, list):
            got = "no list 'risks'" if isinstance(answer, dict) else kind(answer)
            raise SystemFailure(f"{where} must be JSON such as {_SHAPE}; got {got}.")
        risks: list[float | None] = []
        for due, entry in enumerate(listed[:rows], start=1):
            risk, problem = risk_in(entry, due=due, rows=rows)
            if problem:
                raise SystemFailure(f"{where}, entry {due} of 'risks': {problem}.")
            risks.append(risk)
        if len(listed) != rows:
            raise SystemFailure(f"{where} must hold one risk for each of the {rows} rows sent; got {len(listed)}.")
        return risks


def _library() -> Any:
    return library("httpx", package="httpx", extra="http", purpose="asking a system over HTTP")


@dataclass(frozen=True)
class _Fault:
    """Why a try gave no answer, whether it may pass, and how long the service asked to wait."""

    what: str
    passing: bool
    asked_wait: float | None = None


def _attempt(
    httpx: Any, client: Any, url: str, body: bytes, headers: dict[str, str], *, timeout: float, limit: int
) -> bytes | _Fault:
    ends = _now() + timeout
    try:
        with client.stream("POST", url, content=body, headers=headers) as response:
            if not 200 <= response.status_code < 300:
                return _refusal(response.status_code, response.headers.get("Retry-After", ""))
            received = bytearray()
            for piece in response.iter_bytes():
                received += piece
                if len(received) > limit:
                    return _Fault(f"the answer is longer than {limit} bytes, which no list of risks needs", False)
                if _now() > ends:  # httpx allows this long for each piece
                    return _Fault(f"no whole answer within {timeout:g} s", True)
            return bytes(received)
    except httpx.TimeoutException:
        return _Fault(f"no answer within {timeout:g} s", True)
    except (httpx.DecodingError, httpx.UnsupportedProtocol, httpx.LocalProtocolError) as error:
        return _Fault(f"the exchange broke the rules of HTTP ({type(error).__name__})", False)
    except httpx.TransportError as error:
        if _is_certificate(error):
            what = "its certificate is not from an authority that is trusted, or is for another host. To fix: give the "
            return _Fault(what + "authority's certificate as 'ca_file', or correct the address", False)
        return _Fault(f"the connection failed ({type(error).__name__})", True)


def _refusal(status: int, retry_after: str) -> _Fault:
    if status == 429 or status >= 500:
        return _Fault(f"it answered with status {status}", True, _seconds(retry_after))
    remedies = {
        401: "check the header that carries the secret, and its environment variable",
        403: "check the header that carries the secret, and its environment variable",
        404: "check the address",
        413: "lower 'batch'",
    }
    if 300 <= status < 400:
        what = (
            f"it answered with a redirect ({status}), which is not followed. To fix: give the address that it ends at"
        )
        return _Fault(what, False)
    return _Fault(
        f"it answered with status {status}. To fix: {remedies.get(status, 'see the log of the service')}", False
    )


def _seconds(retry_after: str) -> float | None:
    """A Retry-After header: a number of seconds or a date; None where it is neither."""
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        date = parsedate_to_datetime(text)
        return max(0.0, (date - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None


def _limit(rows: int) -> int:
    return _BODY + _BODY_PER_ROW * rows


def _is_certificate(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False
