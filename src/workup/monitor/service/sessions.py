"""Who is signed in to the pages. Kept in memory alone: a service that starts again knows nobody, and no file holds a
secret that opens a page."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from dataclasses import dataclass

HOURS = 8
_LASTS = HOURS * 3_600_000_000  # microseconds
_MOST = 1_000


@dataclass(frozen=True)
class Session:
    """Someone who is signed in by a token; `csrf` stands in every form that they are shown."""

    token: str
    csrf: str
    until: int

    def sent(self, csrf: str) -> bool:
        """Whether a form comes from a page of this session."""
        return hmac.compare_digest(csrf.encode("utf-8", "replace"), self.csrf.encode())


class Sessions:
    """The sessions by the hash of their cookie."""

    def __init__(self) -> None:
        self._held: dict[str, Session] = {}
        self._lock = threading.Lock()

    def begin(self, token: str, *, now: int) -> str:
        """A new session; answers what its cookie holds."""
        cookie = secrets.token_urlsafe(32)
        with self._lock:
            self._held = {key: one for key, one in self._held.items() if one.until > now}
            while len(self._held) >= _MOST:  # the oldest goes first
                del self._held[next(iter(self._held))]
            self._held[_hash(cookie)] = Session(token, secrets.token_urlsafe(32), now + _LASTS)
        return cookie

    def of(self, cookie: str, *, now: int) -> Session | None:
        """The session of a cookie; None where there is none, or it is over."""
        found = self._held.get(_hash(cookie))
        return None if found is None or found.until <= now else found

    def end(self, cookie: str) -> None:
        """The cookie is worth nothing from now on."""
        with self._lock:
            self._held.pop(_hash(cookie), None)


def _hash(cookie: str) -> str:
    return hashlib.sha256(cookie.encode("utf-8", "replace")).hexdigest()
