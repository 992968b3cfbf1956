"""Endpoints that remember: how the id of a session is sent, so that only what is new need be. Knows no case."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from workup.errors import InputError
from workup.systems.settings import in_words_of

_PLACE = re.compile(r"(body|header):([A-Za-z][A-Za-z0-9_-]{0,63})")
_TAKEN = {"messages", "model", "stream", "n", "content-type", "content-length", "authorization", "host", "connection"}
_REMEDY = "write it as session: {send: body:session_id, history: false}, or header:X-Session for a header"


@dataclass(frozen=True)
class Sessions:
    """Where the id of a session goes, where that of the one it is copied from, and whether the history goes along."""

    send: str
    fork: str = ""
    history: bool = False

    @classmethod
    def of(cls, given: Any, *, where: str = "") -> Sessions | None:
        """A session as a study writes it, or None where the endpoint remembers nothing.

        >>> Sessions.of({"send": "body:session_id"}).put({"messages": []}, "a1")
        ({'messages': [], 'session_id': 'a1'}, {})
        """
        if given is None:
            return None
        if not isinstance(given, Mapping) or not {"send"} <= set(given) <= {"send", "fork", "history"}:
            raise InputError(
                "'session' must have 'send', and may have 'fork' and 'history'", where=where, remedy=_REMEDY
            )
        for name in ("send", "fork"):
            place = _PLACE.fullmatch(str(given[name])) if name in given else None
            if name in given and (place is None or place[2].lower() in _TAKEN):
                raise InputError(
                    f"'{name}' must be body:FIELD or header:NAME, of a name that is free", where=where, remedy=_REMEDY
                )
        if not isinstance(given.get("history", False), bool):
            raise InputError("'history' must be true or false", where=where, remedy=_REMEDY)
        return cls(str(given["send"]), str(given.get("fork", "")), given.get("history", False))

    def put(
        self, body: Mapping[str, Any], session: str | None, fork_of: str | None = None
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """The body with what goes into it, and the headers beside it."""
        whole, headers = dict(body), {}
        for place, id in ((self.send, session), (self.fork, fork_of)):
            kind, _, name = place.partition(":")
            if id is not None and name:
                if kind == "body":
                    whole[name] = id
                else:
                    headers[name] = id
        return whole, headers


Session = Annotated[
    dict[str, Any] | None,
    in_words_of(Sessions.of),
    Field(description="How an endpoint that remembers is told its session: {send: body:FIELD or header:NAME, history}"),
]
