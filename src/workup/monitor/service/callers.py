"""Who calls the programming interface: a token in the header, what it may do, and how often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from workup.monitor.service.context import Refused, address_of, context_of
from workup.monitor.store.tokens import Token, checked_token

_BEARER = HTTPBearer(auto_error=False, description="A token of  workup monitor token create")
_NAME = 180  # characters of a token's name that the audit log has room for


def name_of(token: Token) -> str:
    """A caller as the audit log names them."""
    return f"{token.name[:_NAME]} {token.id}"


def _may(scope: str) -> Callable[..., Token]:
    def asked(
        request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)] = None
    ) -> Token:
        context = context_of(request)
        token = None
        if given is not None:
            with context.store.read() as connection:
                token = checked_token(connection, given.credentials, now=context.clock())
        if token is None:
            if not context.failures.allows(address_of(request)):
                raise Refused(429, "Too many requests without a valid token; wait a minute.")
            raise Refused(401, "A token that is known, not expired and not revoked was expected.")
        if not context.calls.allows(token.id):
            raise Refused(429, "Too many requests with this token; wait a second.")
        if not token.may(scope):
            raise Refused(403, f"A token with the scope '{scope}' was expected.")
        return token

    return asked


Feeder = Annotated[Token, Depends(_may("ingest"))]
Reader = Annotated[Token, Depends(_may("read"))]
Administrator = Annotated[Token, Depends(_may("admin"))]
