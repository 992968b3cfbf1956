"""How patiently a service is asked: what is tried again, how long to wait before it, and when to give up.

Two carriers keep to it. `transport` (httpx) carries batches of rows and texts over connections that live for one call
of a system, with threads of its own, and any failure ends the call. `chat.line` (http.client) carries the turns of
conversations over connections that stay open between calls and are shared by the threads of whoever calls; a failure
is a code and the run goes on. Patience knows neither."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import numpy as np

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds; also the most that a Retry-After can ask for
PATIENCE = 3_600.0  # seconds that a request may take with all its tries and waits, unless one try may take longer
REFUSAL = 65_536  # bytes of a refusal that are looked at for the name of its cause
UNTRUSTED = (
    "its certificate is not from an authority that is trusted, or is for another host. To fix: give the authority's "
    "certificate as 'ca_file', or correct the address"
)


@dataclass(frozen=True)
class Fault:
    """Why a try gave no answer, whether it may pass, and how long the service asked to wait."""

    what: str
    passing: bool
    asked_wait: float | None = None


@dataclass
class Tries:
    """The tries of one request: how many there were, and how long to wait before another.

    `now` is a clock, `limit` the seconds after which no try begins, and `draws` spreads the waits of many requests.
    """

    retries: int
    limit: float
    draws: Callable[[], np.random.Generator]
    now: Callable[[], float]
    made: int = 0
    _begun: float = field(init=False)
    _drawn: np.random.Generator | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._begun = self.now()

    def pause(self, fault: Fault) -> float | None:
        """Seconds to wait after one more try that failed; None where it was the last."""
        self.made += 1
        if not fault.passing or self.made > self.retries:
            return None
        self._drawn = self._drawn or self.draws()
        doubled = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (self.made - 1)) * float(self._drawn.uniform(0.5, 1.0))
        seconds = doubled if fault.asked_wait is None else min(LONGEST_WAIT, fault.asked_wait)
        return None if self.now() + seconds - self._begun > self.limit else seconds


def may_pass(status: int) -> bool:
    """Whether a status says that the same request may be answered later."""
    return status == 429 or status >= 500


def asked_seconds(retry_after: str) -> float | None:
    """A Retry-After header: a number of seconds or a date; None where it is neither."""
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        date = parsedate_to_datetime(text)
        return max(0.0, (date - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None


def is_certificate(error: BaseException | None) -> bool:
    """Whether a certificate that was refused is behind an error."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False
