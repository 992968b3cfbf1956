"""Signatures of packs: HMAC-SHA256 with a key that the site and the pooling centre share. Knows no key store."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from workup.errors import InputError
from workup.report import canonical

FEWEST_BYTES = 16
_MOST_BYTES = 4096
METHOD = "HMAC-SHA256"


def read_key(path: str | Path) -> bytes:
    """The key in a file, without the line end that an editor may have put after it."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(
            "the key file must be a file that can be read", where=str(path), got=error.strerror or type(error).__name__
        ) from None
    key = content.rstrip(b"\r\n")
    if not FEWEST_BYTES <= len(key) <= _MOST_BYTES:
        got = f"more than {_MOST_BYTES}" if len(key) > _MOST_BYTES else str(len(key))
        raise InputError(
            f"a key is {FEWEST_BYTES} to {_MOST_BYTES} bytes",
            where=str(path),
            got=f"{got} bytes",
            remedy="make one with  openssl rand -hex 32 > site.key",
        )
    return key


def sign(record: Mapping[str, Any], key: bytes) -> dict[str, str]:
    """The signature of a record that already carries its sha256.

    >>> record = {"site": "A", "sha256": "0" * 64}
    >>> record["signature"] = sign(record, b"0123456789abcdef")
    >>> signed_by(record, [b"another key, long", b"0123456789abcdef"])
    True
    """
    if len(key) < FEWEST_BYTES:
        raise InputError(f"a key is at least {FEWEST_BYTES} bytes", got=f"{len(key)} bytes", remedy="use a longer key")
    return {"method": METHOD, "value": _mac(record, key)}


def signed_by(record: Mapping[str, Any], keys: Iterable[bytes]) -> bool:
    """Was the record signed with one of the keys? Compared in constant time, and with every key."""
    signature = record.get("signature")
    if not isinstance(signature, Mapping) or signature.get("method") != METHOD:
        return False
    value = str(signature.get("value")).encode()
    matches = [hmac.compare_digest(_mac(record, key).encode(), value) for key in keys]
    return any(matches)


def _mac(record: Mapping[str, Any], key: bytes) -> str:
    body = {name: part for name, part in record.items() if name != "signature"}
    return hmac.new(key, canonical(body).encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
