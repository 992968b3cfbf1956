"""Signatures of packs and updates: Ed25519, where each site has a private key of its own, or HMAC-SHA256 with a secret
that maker and receiver share. Which key is whose is not decided here."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from workup.errors import InputError, MissingExtra, visible
from workup.files.received import open_named
from workup.report import canonical

FEWEST_BYTES = 16
_MOST_BYTES = 4096
METHOD = "HMAC-SHA256"
ED25519 = "Ed25519"
_PEM = b"-----BEGIN "
_PUBLIC = b"-----BEGIN PUBLIC KEY-----"
_MAKE_ONE = "make a pair with  workup site-key -o site.key"


def read_key(path: str | Path) -> bytes:
    """The key in a file, without the line end that an editor may have put after it."""
    where = visible(str(path))
    try:
        with open_named(Path(path)) as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(
            "the key file must be a file that can be read", where=where, got=error.strerror or type(error).__name__
        ) from None
    key = content.rstrip(b"\r\n")
    if not FEWEST_BYTES <= len(key) <= _MOST_BYTES:
        got = f"more than {_MOST_BYTES}" if len(key) > _MOST_BYTES else str(len(key))
        raise InputError(
            f"a key is {FEWEST_BYTES} to {_MOST_BYTES} bytes",
            where=where,
            got=f"{got} bytes",
            remedy=f"{_MAKE_ONE}, or a shared secret with  openssl rand -hex 32 > site.key",
        )
    return key


def make_key_pair() -> tuple[bytes, bytes]:
    """A new private key of a site and the public key that belongs to it, both as PEM."""
    serialization, ed25519 = _library()
    private = ed25519.Ed25519PrivateKey.generate()
    own = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return own, _public_pem(private.public_key())


def method_of(key: bytes) -> str:
    """How a key signs: by what it is, never by what a pack says of itself."""
    return ED25519 if key.lstrip().startswith(_PEM) else METHOD


def is_public(key: bytes) -> bool:
    """Is this a key that anybody may know?"""
    return key.lstrip().startswith(_PUBLIC)


def sign(record: Mapping[str, Any], key: bytes) -> dict[str, str]:
    """The signature of a record, its own field `signature` left out: Ed25519 for a private key in PEM, else HMAC.

    >>> record = {"site": "A", "sha256": "0" * 64}
    >>> record["signature"] = sign(record, b"0123456789abcdef")
    >>> signed_by(record, [b"another key, long", b"0123456789abcdef"])
    True
    """
    if method_of(key) == ED25519:
        return {"method": ED25519, "value": _private(key).sign(_body(record)).hex()}
    if len(key) < FEWEST_BYTES:
        raise InputError(f"a key is at least {FEWEST_BYTES} bytes", got=f"{len(key)} bytes", remedy="use a longer key")
    return {"method": METHOD, "value": _mac(record, key)}


def signed_by(record: Mapping[str, Any], keys: Iterable[bytes]) -> bool:
    """Was the record signed with one of the keys? A shared secret is compared in constant time, and with every key."""
    signature = record.get("signature")
    if not isinstance(signature, Mapping):
        return False
    value = str(signature.get("value"))
    matches = [signature.get("method") == method_of(key) and _matches(record, value, key) for key in keys]
    return any(matches)


def check_public(key: bytes, *, where: str) -> bytes:
    """A public key as PEM, in one way of writing it; anything else is refused."""
    serialization, ed25519 = _library()
    expected = "expected the public Ed25519 key of a site as PEM"
    if not is_public(key):
        private = key.lstrip().startswith(_PEM)
        got = "a private key, which belongs to the site alone" if private else "something else"
        remedy = "ask the site for its .pub file" if private else "for a shared secret write  {hmac: FILE}"
        raise InputError(expected, where=where, got=got, remedy=remedy)
    try:
        found = serialization.load_pem_public_key(key)
    except ValueError:
        raise InputError(expected, where=where, got="a PEM file that cannot be read", remedy=_MAKE_ONE) from None
    if not isinstance(found, ed25519.Ed25519PublicKey):
        raise InputError(expected, where=where, got="a key of another kind", remedy=_MAKE_ONE)
    return _public_pem(found)


def _matches(record: Mapping[str, Any], value: str, key: bytes) -> bool:
    if method_of(key) == METHOD:
        return hmac.compare_digest(_mac(record, key).encode(), value.encode("utf-8", "surrogatepass"))
    _library()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import serialization

    public = serialization.load_pem_public_key(check_public(key, where="the key"))
    try:
        public.verify(bytes.fromhex(value), _body(record))  # type: ignore[call-arg,union-attr]
    except (InvalidSignature, ValueError):
        return False
    return True


def _private(key: bytes) -> Any:
    serialization, ed25519 = _library()
    expected = "expected a private Ed25519 key as PEM, without a passphrase"
    try:
        found = serialization.load_pem_private_key(key, password=None)
    except (ValueError, TypeError):
        got = "a public key" if is_public(key) else "a PEM file that cannot be read so"
        raise InputError(expected, where="--key-file", got=got, remedy=_MAKE_ONE) from None
    if not isinstance(found, ed25519.Ed25519PrivateKey):
        raise InputError(expected, where="--key-file", got="a key of another kind", remedy=_MAKE_ONE)
    return found


def _public_pem(public: Any) -> bytes:
    serialization, _ = _library()
    pem: bytes = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return pem


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise MissingExtra("cryptography", extra="sign", purpose="An Ed25519 key") from None
    return serialization, ed25519


def _body(record: Mapping[str, Any]) -> bytes:
    body = {name: part for name, part in record.items() if name != "signature"}
    return canonical(body).encode("utf-8", "surrogatepass")


def _mac(record: Mapping[str, Any], key: bytes) -> str:
    return hmac.new(key, _body(record), hashlib.sha256).hexdigest()
