"""The map that gives redacted files back: what stood where, encrypted under a key and bound to the files it is of.

Knows neither detectors nor how a value was replaced. No error shows what a map or a text holds."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workup.errors import InputError, MissingExtra, named
from workup.redaction.keys import FEWEST_BYTES

FORM = 1
CIPHER = "AES-256-GCM"
_MARK = "workup_map"
_LARGEST = 2**31 - 2**20  # bytes that one call of the cipher takes
_SALT, _NONCE = 16, 12


@dataclass(frozen=True, slots=True)
class Entry:
    """How one redacted file becomes the original again.

    Of a text, `pieces` are the places of replacements in the redacted text with what stood there; of any other file
    `original` is all of it, since a record is written anew and its blanks are nowhere else.
    """

    name: str
    redacted_sha256: str
    original_sha256: str
    pieces: tuple[tuple[int, int, str], ...] = ()
    original: bytes | None = None
    original_name: str = ""  # of a file that got a new name

    @classmethod
    def of_text(cls, name: str, *, redacted: str, original: str, pieces: Sequence[tuple[int, int, str]]) -> Entry:
        """The entry of a text; `pieces` are (start, end) in the redacted text and the words that stood there."""
        return cls(name, sha256(redacted.encode()), sha256(original.encode()), tuple(pieces))

    @classmethod
    def of_file(cls, name: str, *, redacted: bytes, original: bytes) -> Entry:
        """The entry of a file that is given back as a whole."""
        return cls(name, sha256(redacted), sha256(original), original=original)

    def restored(self, redacted: bytes) -> bytes:
        """The original of a redacted file, byte for byte; a file that was changed since is refused."""
        if sha256(redacted) != self.redacted_sha256:
            raise InputError(
                "the text must be the one that was redacted, unchanged",
                where=named("file", self.name),
                got="one with other bytes",
                remedy="restore from the file that redact wrote, before any edit",
            )
        if self.original is not None:
            return self.original
        text, parts, at = redacted.decode("utf-8"), [], 0
        for start, end, words in self.pieces:
            parts += [text[at:start], words]
            at = end
        found = "".join([*parts, text[at:]]).encode("utf-8")
        if sha256(found) != self.original_sha256:
            raise InputError(
                "the map must give the original back", where=named("file", self.name), got="another text from it"
            )
        return found


def sha256(content: bytes) -> str:
    """The hash by which a map knows its files."""
    return hashlib.sha256(content).hexdigest()


def sealed(entries: Sequence[Entry], *, key: bytes) -> bytes:
    """The map file: a header with the hashes of the redacted files, and the entries under AES-256-GCM.

    The header is signed along, so that neither it nor the entries can be exchanged.

    >>> entry = Entry.of_text("a.txt", redacted="[NAME-1].", original="Ann.", pieces=[(0, 8, "Ann")])
    >>> held = opened(sealed([entry], key=b"k" * 32), key=b"k" * 32)
    >>> held[0].restored(b"[NAME-1].")
    b'Ann.'
    """
    content = zlib.compress(json.dumps([_record(entry) for entry in entries], ensure_ascii=False).encode("utf-8"))
    if len(content) > _LARGEST:
        raise InputError("a map holds at most 2 GB", got="more", remedy="redact the corpus in several parts")
    # The system's own randomness: a nonce that came twice under one key would lay both maps open.
    salt, nonce = os.urandom(_SALT), os.urandom(_NONCE)
    secret, name = _keys(key, salt)
    header = {
        _MARK: FORM,
        "cipher": CIPHER,
        "salt": salt.hex(),
        "nonce": nonce.hex(),
        "key": name,
        "files": [entry.redacted_sha256 for entry in entries],
    }
    locked = _cipher(secret).encrypt(nonce, content, _canonical(header))
    record = {**header, "content": base64.b64encode(locked).decode("ascii")}
    return (json.dumps(record, indent=1) + "\n").encode("ascii")


def opened(content: bytes, *, key: bytes, where: str = "the map") -> list[Entry]:
    """The entries of a map file, or an error: another key, a changed map, no map."""
    record = _read(content, where=where)
    locked = record.pop("content")
    secret, name = _keys(key, bytes.fromhex(record["salt"]))
    if name != record["key"]:
        raise InputError(
            "the key must be the one that the map was written with",
            where=where,
            got="another key",
            remedy="give the key file of that redaction with --key-file",
        )
    from cryptography.exceptions import InvalidTag

    try:
        plain = _cipher(secret).decrypt(
            bytes.fromhex(record["nonce"]), base64.b64decode(locked, validate=True), _canonical(record)
        )
    except (InvalidTag, binascii.Error, ValueError):
        raise InputError(
            "the map must be as it was written", where=where, got="one that was changed or damaged", remedy="use a copy"
        ) from None
    return [_entry(one) for one in json.loads(zlib.decompress(plain))]


def files_of(content: bytes, *, where: str = "the map") -> list[str]:
    """The hashes of the redacted files that a map is of; no key is needed to ask."""
    return list(_read(content, where=where)["files"])


def _read(content: bytes, *, where: str) -> dict[str, Any]:
    texts = ("cipher", "salt", "nonce", "key", "content")
    try:
        record = json.loads(content)
        right = (
            isinstance(record, dict)
            and set(record) == {_MARK, "files", *texts}
            and all(isinstance(record[name], str) for name in texts)
            and isinstance(record["files"], list)
            and len(bytes.fromhex(record["salt"])) == _SALT
            and len(bytes.fromhex(record["nonce"])) == _NONCE
        )
    except (ValueError, RecursionError):
        right = False
    if not right:
        raise InputError(
            "a map that redact wrote was expected", where=where, got="another kind of file", remedy="check the path"
        )
    if record[_MARK] != FORM or isinstance(record[_MARK], bool) or record["cipher"] != CIPHER:
        raise InputError(
            f"a map of form {FORM} was expected",
            where=where,
            got="another form",
            remedy="use the version that wrote it",
        )
    return dict(record)


def _canonical(header: dict[str, Any]) -> bytes:
    return json.dumps(header, sort_keys=True, separators=(",", ":")).encode("ascii")


def _record(entry: Entry) -> dict[str, Any]:
    record: dict[str, Any] = {
        "name": entry.name,
        "redacted": entry.redacted_sha256,
        "original": entry.original_sha256,
        "pieces": entry.pieces,
    }
    if entry.original_name:
        record["original_name"] = entry.original_name
    if entry.original is not None:
        record["content"] = base64.b64encode(entry.original).decode("ascii")
    return record


def _entry(record: dict[str, Any]) -> Entry:
    pieces = tuple((start, end, words) for start, end, words in record["pieces"])
    original = base64.b64decode(record["content"]) if "content" in record else None
    before = record.get("original_name", "")
    return Entry(record["name"], record["redacted"], record["original"], pieces, original, before)


def check_cipher() -> None:
    """Refuse before any work where the library of the cipher is absent."""
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise MissingExtra("cryptography", extra="redact", purpose="An encrypted map") from None


def _keys(key: bytes, salt: bytes) -> tuple[bytes, str]:
    """The key of the cipher and a name for it, both drawn from the key file; the name reveals nothing of the key."""
    if len(key) < FEWEST_BYTES:
        raise InputError(f"a key is at least {FEWEST_BYTES} bytes", got=f"{len(key)} bytes")
    check_cipher()
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    drawn = HKDF(algorithm=hashes.SHA256(), length=40, salt=salt, info=b"workup map 1").derive(key)
    return drawn[:32], drawn[32:].hex()


def _cipher(secret: bytes) -> Any:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(secret)
