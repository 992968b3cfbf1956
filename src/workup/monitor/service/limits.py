"""What a caller may ask for at most: requests in a time, and bytes of one request. Knows nothing of what is asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST = 64 * 2**10  # bytes of a request that sends no rows
LARGEST_ROWS = 32 * 2**20  # bytes of a request that does
MOST_ROWS = 100_000
_MOST_CALLERS = 10_000  # that are remembered at a time


class Rate:
    """So many requests at once and so many a second after that, for each caller by itself.

    >>> rate = Rate(burst=2, a_second=1.0, clock=lambda: 0.0)
    >>> [rate.allows("feed") for _ in range(3)], rate.allows("another")
    ([True, True, False], True)
    """

    def __init__(self, *, burst: float, a_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._a_second, self._clock = burst, a_second, clock
        self._left: dict[str, tuple[float, float]] = {}  # requests left, and when that was so
        self._lock = threading.Lock()

    def allows(self, caller: str) -> bool:
        """Count a request; false where there were too many."""
        now = self._clock()
        with self._lock:
            if len(self._left) >= _MOST_CALLERS:
                self._left = {name: held for name, held in self._left.items() if self._now(held, now) < self._burst}
            if len(self._left) >= _MOST_CALLERS and caller not in self._left:
                return False
            left = self._now(self._left.get(caller, (self._burst, now)), now)
            self._left[caller] = (left - 1 if left >= 1 else left, now)
            return left >= 1

    def _now(self, held: tuple[float, float], now: float) -> float:
        return min(self._burst, held[0] + (now - held[1]) * self._a_second)


class SizeLimit:
    """Refuses a body that is too large as it comes in, whatever length it declares."""

    def __init__(self, app: ASGIApp, *, largest_of: Callable[[str], int]) -> None:
        self._app, self._largest_of = app, largest_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most, seen = self._largest_of(scope["path"]), 0

        async def limited() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
                raise HTTPException(413, f"A request of at most {most:,} bytes was expected.")
            return message

        await self._app(scope, limited, send)
