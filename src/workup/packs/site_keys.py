"""Which key belongs to which site: the pooling centre's own table. A pack is a site's if that site's key signed it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workup.errors import InputError, visible
from workup.signing import METHOD, check_public, method_of, read_key, signed_by

_FORM = "write a line for each site:  North: north.pub  for a public key, or  South: {hmac: south.key}  for a secret"


@dataclass(frozen=True)
class SiteKeys:
    """The key of every site that may send packs."""

    keys: Mapping[str, bytes]

    @classmethod
    def of(cls, content: Any, *, where: str, folder: Path) -> SiteKeys:
        """From the content of a YAML or JSON file; names of key files are relative to its folder."""
        if not isinstance(content, Mapping) or not content:
            raise InputError(
                "expected a table of sites and their keys", where=where, got="something else", remedy=_FORM
            )
        found: dict[str, bytes] = {}
        for site, said in content.items():
            name = str(site)
            place = f"{where}, site '{visible(name)[:60]}'"
            key = cls._key(said, place, folder)
            other = next((one for one, held in found.items() if held == key), None)
            if other is not None:
                got = f"the key of '{visible(other)[:60]}' again"
                remedy = "ask one of the two sites for another key"
                raise InputError("each site has a key of its own", where=place, got=got, remedy=remedy)
            found[name] = key
        return cls(found)

    @staticmethod
    def _key(said: Any, place: str, folder: Path) -> bytes:
        if isinstance(said, Mapping) and set(said) == {"hmac"} and isinstance(said["hmac"], str):
            secret = read_key(folder / said["hmac"])
            if method_of(secret) != METHOD:
                got = "a PEM file, which is no secret that two share"
                raise InputError("expected a shared secret under hmac", where=place, got=got, remedy=_FORM)
            return secret
        if isinstance(said, str) and said.lstrip().startswith("-----BEGIN"):
            return check_public(said.encode(), where=place)
        if isinstance(said, str) and said:
            return check_public(read_key(folder / said), where=place)
        raise InputError("expected the key of a site", where=place, got="something else", remedy=_FORM)

    def check(self, record: Mapping[str, Any], *, where: str) -> None:
        """Refuse a pack that is not signed with the key of the site that it names."""
        site = str(record.get("site"))
        shown = visible(site)[:60]
        if site not in self.keys:
            raise InputError(
                "each pack comes from a site in the table of keys",
                where=where,
                got=f"a pack of the site '{shown}', which is not in it",
                remedy="add the site and its key, if you know them to be genuine",
            )
        if "signature" not in record:
            raise InputError(
                f"the pack must be signed with the key of the site '{shown}'",
                where=where,
                got="one without a signature",
                remedy="ask the site to make it again with  workup site-pack --key-file",
            )
        if signed_by(record, [self.keys[site]]):
            return
        signer = next((name for name, key in self.keys.items() if signed_by(record, [key])), None)
        raise InputError(
            f"the pack must be signed with the key of the site '{shown}'",
            where=where,
            got=f"a signature of another site, '{visible(signer)[:60]}'" if signer else "a signature of another key",
            remedy="ask the site whether it made this pack; do not pool it before you know",
        )
