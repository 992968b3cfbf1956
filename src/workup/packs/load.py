"""Reads packs that others sent: whole, unaltered, and signed when a key is given."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from workup.errors import InputError, visible
from workup.estimate import Estimate
from workup.evidence import SiteEvidence
from workup.files.received import open_named
from workup.packs.counts import who_and_at
from workup.packs.pack import PACK_VERSION
from workup.packs.schema import PackForm
from workup.packs.site_keys import SiteKeys
from workup.report import canonical, digest
from workup.signing import signed_by

LARGEST_FILE = 20_000_000
_AGAIN = "ask the site to make the pack again with  workup site-pack"
_NOT_TOLD = ("value", "low", "high", "se", "n_events", "numerator", "denominator")


@dataclass(frozen=True)
class Pack:
    """A pack that was read and checked; `where` is the file it came from."""

    where: str
    record: Mapping[str, Any]

    @property
    def site(self) -> str:
        """The site that made it."""
        return str(self.record["site"])

    @property
    def sha256(self) -> str:
        """The hash it carries, which was checked."""
        return str(self.record["sha256"])

    @property
    def evidence(self) -> SiteEvidence:
        """The same as the pooling lens wants it; what was withheld stands there as withheld."""
        record = self.record
        return SiteEvidence(
            site=self.site,
            estimates=tuple(self._estimate(row) for row in record["estimates"]),
            gaps=tuple(self._gap(row) for row in record["gaps"]),
            facts=dict(record["facts"]),
            holdings=dict(record["holdings"]),
            withheld=tuple(dict(row) for row in record["withheld"]),
            source="pack",
        )

    def _estimate(self, row: Mapping[str, Any]) -> Estimate:
        if row["status"] != "withheld":
            return Estimate(**{**row, "slice": self._keys(row["slice"])})
        return Estimate(
            **dict.fromkeys(_NOT_TOLD),
            metric=row["metric"],
            slice=self._keys(row["slice"]),
            level=row["level"],
            method="none",
            n_patients=0,  # a field that cannot be null; the status says that it was not told
            n_rows=0,
            status="withheld",
            reason=row["reason"],
        )

    def _gap(self, row: Mapping[str, Any]) -> dict[str, Any]:
        empty = dict.fromkeys(("value", "low", "high", "se", "p"))
        found = {**empty, "method": "none", **row, "slice": self._keys(row["slice"])}
        if row["status"] == "withheld":
            found["reason"] = f"insufficient at site {self.site}: {row['reason']}"
        return found

    def _keys(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """The group first, then what belongs to the metric: sorting the record lost that order."""
        who, at = who_and_at(keys, self.record["columns"])
        return {**({who[0]: keys[who[0]]} if who else {}), **at}


def read_pack(path: str | Path, *, keys: Sequence[bytes] = (), site_keys: SiteKeys | None = None) -> Pack:
    """Read a pack. It is refused when it was altered, is of another version or form, where keys are given, when it is
    not signed with one of them, or, where a table of sites is given, with the key of the site that it names."""
    where = visible(str(path))
    content = _content(Path(path), where)
    if not isinstance(content, dict) or "pack_version" not in content:
        raise refused(where, "expected a site pack", "a file of another kind", "make one with  workup site-pack REPORT")
    version = content["pack_version"]
    if isinstance(version, bool) or not isinstance(version, int) or version not in (PACK_VERSION - 1, PACK_VERSION):
        remedy = f"{_AGAIN}, of the same version as this one"
        expected = f"pack_version must be {PACK_VERSION - 1} or {PACK_VERSION}"
        raise refused(where, expected, visible(repr(version)[:20]), remedy)
    body = {name: part for name, part in content.items() if name != "signature"}
    if body.get("sha256") != digest(body):
        raise refused(where, "the pack must match its own sha256", "one that was changed after it was made", _AGAIN)
    if keys and "signature" not in content:
        raise refused(
            where,
            "the pack must be signed, since a key was given",
            "one without a signature",
            f"{_AGAIN} --key-file, or leave the key out and trust the file as it is",
        )
    if keys and not signed_by(content, keys):
        raise refused(
            where,
            "the pack must be signed with a key given here",
            "a signature of another key",
            "give the key file of that site, or ask the site whether it made this pack",
        )
    if site_keys is not None:
        site_keys.check(content, where=where)
    return Pack(where, _checked(content, where))


def _content(path: Path, where: str) -> Any:
    def constant(name: str) -> Any:
        raise ValueError(f"the number {name}")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a field written twice")
        return found

    try:
        with open_named(path) as file:
            raw = file.read(LARGEST_FILE + 1)
        if len(raw) > LARGEST_FILE:
            raise refused(where, f"a pack is at most {LARGEST_FILE:,} bytes", "a larger file", "give a site pack")
        found = json.loads(raw.decode("utf-8"), parse_constant=constant, object_pairs_hook=once)
        canonical(found)  # goes deeper for each level than reading did, and is asked for by the checksum
        return found
    except OSError as error:
        raise refused(
            where, "the pack must be a file that can be read", error.strerror or type(error).__name__, "check its name"
        ) from None
    except RecursionError:
        raise refused(where, "expected a site pack", "JSON nested too deeply", _AGAIN) from None
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise refused(where, "expected a site pack", "a file that is not JSON", _AGAIN) from None
    except ValueError as error:  # NaN, a doubled field, a whole number of thousands of digits
        raise refused(where, "expected a site pack", visible(str(error))[:80], _AGAIN) from None


def refused(where: str, expected: str, got: str, remedy: str) -> InputError:
    """A pack that is not taken, and why."""
    return InputError(expected, where=where, got=got, remedy=remedy)


def _checked(content: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The pack in its known form, with control characters in names shown and not obeyed."""
    try:
        PackForm.model_validate(content)
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False)[0]
        place = visible(".".join(str(part)[:40] for part in fault["loc"])) or "the whole"
        raise refused(
            where, "expected a site pack in its known form", f"at {place}: {visible(_said(fault))}", _AGAIN
        ) from None
    except RecursionError:
        raise refused(where, "expected a site pack", "JSON nested too deeply", _AGAIN) from None
    found: dict[str, Any] = _visible(dict(content))
    return found


_FAULTS = {
    "missing": "a field that is not there",
    "extra_forbidden": "a field that does not belong there",
    "literal_error": "a value that is none of those known",
    "string_type": "something that is not text",
    "string_too_long": "a text that is too long",
    "string_too_short": "a text that is empty",
    "string_pattern_mismatch": "a text of another form",
    "finite_number": "a number without end",
    "dict_type": "something that is not a table of fields",
    "model_type": "something that is not a table of fields",
    "list_type": "something that is not a list",
    "too_long": "more entries than there can be",
    "too_short": "fewer entries than there must be",
}


def _said(fault: Mapping[str, Any]) -> str:
    """A fault of form in words of our own; the library's speak of types and parsing."""
    kind = str(fault["type"])
    if kind == "value_error":
        return str(fault["msg"]).removeprefix("Value error, ")[:120]
    if kind.startswith(("int_", "float_")):
        return "something that is not a whole number" if kind.startswith("int_") else "something that is not a number"
    if kind.startswith(("greater_than", "less_than")):
        return "a number out of bounds"
    return _FAULTS.get(kind, "a value that cannot stand there")


def _visible(value: Any) -> Any:
    if isinstance(value, dict):
        return {visible(key): _visible(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_visible(item) for item in value]
    return visible(value) if isinstance(value, str) else value
