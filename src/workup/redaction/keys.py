"""One key and what is drawn from it: HMAC-SHA-256 by name. Knows no value, no file and no cipher."""

from __future__ import annotations

import hashlib
import hmac
import os

from workup.errors import InputError
from workup.values.draws import Chance

FEWEST_BYTES = 16
_NEW_BYTES = 32


class Secret:
    """A key that draws by name: equal key and names give equal draws, and no draw reveals the key or another draw.

    >>> secret = Secret(b"0123456789abcdef")
    >>> secret.mac("shift", "P1") == Secret(b"0123456789abcdef").mac("shift", "P1"), secret
    (True, Secret(…))
    """

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        if len(key) < FEWEST_BYTES:
            raise InputError(
                f"a key is at least {FEWEST_BYTES} bytes",
                got=f"{len(key)} bytes",
                remedy="make one with  workup redact --new-key FILE",
            )
        self._key = key

    @classmethod
    def fresh(cls) -> Secret:
        """A key for one run, kept nowhere: what is drawn from it cannot be drawn again."""
        return cls(os.urandom(_NEW_BYTES))

    def __repr__(self) -> str:
        return "Secret(…)"

    def mac(self, *names: str | int) -> bytes:
        """The 32 bytes that belong to these names."""
        # Lengths go before the names, so that ("ab", "c") and ("a", "bc") are two messages.
        parts = [str(name).encode("utf-8", "surrogatepass") for name in names]
        message = b"".join(b"%d:%s" % (len(part), part) for part in parts)
        return hmac.new(self._key, message, hashlib.sha256).digest()

    def number(self, *names: str | int) -> int:
        """A whole number below 2 to the 256th."""
        return int.from_bytes(self.mac(*names), "big")

    def chance(self, *names: str | int) -> Chance:
        """A stream of draws that belongs to these names."""
        return Chance.of(self.number(*names), "redaction")


def new_key() -> str:
    """The content of a new key file: 32 bytes of the system's own randomness, in hexadecimal digits.

    No seed may reach this: whoever knows the seed would hold the key.
    """
    return os.urandom(_NEW_BYTES).hex() + "\n"
