"""What every request shares: the store, the key of ids, the clock and the limits; and what the service refuses with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request
from starlette.exceptions import HTTPException

from workup.monitor.columns import Fault
from workup.monitor.service.limits import Rate
from workup.monitor.service.sessions import Sessions
from workup.monitor.store.database import Store, microseconds


@dataclass(eq=False)
class Context:
    """One service on one store."""

    store: Store
    key: bytes | None = None  # with which ids are hashed, where a plan asks for that
    behind_tls: bool = False  # a proxy speaks TLS to the outside, so that cookies are for TLS alone
    clock: Callable[[], int] = microseconds
    calls: Rate = field(default_factory=lambda: Rate(burst=200, a_second=50))
    failures: Rate = field(default_factory=lambda: Rate(burst=20, a_second=0.2))
    sessions: Sessions = field(default_factory=Sessions)
    drawn: dict[int, tuple[Any, list[Any]]] = field(default_factory=dict)  # charts by model, with the state they show


class Refused(HTTPException):
    """A request that is answered with what is wrong with it, row by row where rows are."""

    def __init__(self, status: int, said: str, *, faults: Sequence[Fault] = ()) -> None:
        self.faults = tuple(faults)
        super().__init__(status, said)


def context_of(request: Request) -> Context:
    """The service that a request came to."""
    found: Context = request.app.state.context
    return found


def address_of(request: Request) -> str:
    """Where a request comes from, for counting alone."""
    return request.client.host if request.client else ""
