"""Tokens of those who may send or read: kept as a hash, with what each may do and until when."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from workup.errors import InputError
from workup.monitor.store.audit import audit
from workup.monitor.store.database import Store
from workup.monitor.store.tables import TOKENS

SCOPES = ("ingest", "read", "admin")
_MARK = "wkm"  # so that a token is known for one where it is found in a file


@dataclass(frozen=True)
class Token:
    """Whose token it is and what it may do."""

    id: str
    name: str
    scopes: frozenset[str]

    def may(self, scope: str) -> bool:
        """May it do this? An administrator may do everything."""
        return scope in self.scopes or "admin" in self.scopes


def create_token(
    store: Store, name: str, scopes: Sequence[str], *, now: int, expires: int | None = None, who: str
) -> str:
    """A new token, which is shown this once: the store keeps its hash alone.

    Its secret has 256 bits from the system's source, so that one plain hash is enough: there is nothing to guess.
    """
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        raise InputError(f"scopes are of {', '.join(SCOPES)}", got=", ".join(unknown) or "none")
    id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    with store.write() as connection:
        connection.execute(
            insert(TOKENS).values(
                id=id, name=name, hash=_hash(secret), scopes=" ".join(sorted(set(scopes))), created=now, expires=expires
            )
        )
        audit(connection, at=now, who=who, what="new token", object=id, detail={"name": name, "scopes": list(scopes)})
    return f"{_MARK}_{id}_{secret}"


def checked_token(connection: Connection, text: str, *, now: int) -> Token | None:
    """Whose token this is; None where it is unknown, expired or revoked. Takes as long whichever it is."""
    mark, _, rest = text.partition("_")
    id, _, secret = rest.partition("_")
    well_formed = mark == _MARK and len(id) == 16 and text.isascii() and len(text) <= 200
    held = connection.execute(select(TOKENS).where(TOKENS.c.id == (id if well_formed else ""))).first()
    same = hmac.compare_digest(_hash(secret).encode(), (held.hash if held else "0" * 64).encode())
    return _in_use(held, now) if same else None


def token_in_use(connection: Connection, id: str, *, now: int) -> Token | None:
    """The token of someone who signed in with it; None where it has expired or was revoked since."""
    return _in_use(connection.execute(select(TOKENS).where(TOKENS.c.id == id)).first(), now)


def _in_use(held: Any, now: int) -> Token | None:
    if held is None or held.revoked is not None or (held.expires is not None and held.expires <= now):
        return None
    return Token(held.id, held.name, frozenset(held.scopes.split()))


def revoke_token(store: Store, id: str, *, now: int, who: str) -> None:
    """Make a token worthless."""
    with store.write() as connection:
        chosen = (TOKENS.c.id == id) & TOKENS.c.revoked.is_(None)
        if connection.execute(update(TOKENS).where(chosen).values(revoked=now)).rowcount != 1:
            raise InputError(
                "the number of a token that is in use was expected", remedy="see  workup monitor token list"
            )
        audit(connection, at=now, who=who, what="revoke token", object=id)


def tokens(connection: Connection) -> list[dict[str, Any]]:
    """All tokens without their hashes."""
    asked = select(*(column for column in TOKENS.c if column.name != "hash")).order_by(TOKENS.c.created, TOKENS.c.id)
    return [dict(row) for row in connection.execute(asked).mappings()]


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
