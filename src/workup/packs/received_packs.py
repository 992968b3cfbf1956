"""Which packs the pooling centre has had from each site, so that an old one cannot pass for a new one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workup.errors import InputError, visible
from workup.files.received import open_named
from workup.packs.load import Pack

SEEN_VERSION = 1
_LARGEST = 20_000_000


@dataclass(frozen=True)
class Seen:
    """The last pack of each site and study: its number and its hash."""

    last: Mapping[tuple[str, str], tuple[int, str]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Seen:
        """From a file; none yet is none seen."""
        where = visible(str(path))
        try:
            with open_named(path) as file:
                raw = file.read(_LARGEST + 1)
        except FileNotFoundError:
            return cls()
        except OSError as error:
            got = error.strerror or type(error).__name__
            raise InputError("the file of packs seen must be one that can be read", where=where, got=got) from None
        try:
            content = json.loads(raw.decode("utf-8"))
            if len(raw) > _LARGEST or content["seen_version"] != SEEN_VERSION:
                raise ValueError
            rows = [
                (str(row["site"]), str(row["study"]), int(row["sequence"]), str(row["sha256"]))
                for row in content["packs"]
            ]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise InputError(
                "expected the file of packs seen",
                where=where,
                got="a file of another kind, or one that was damaged",
                remedy="give the file that  workup pool --seen  wrote, or a new name to begin another",
            ) from None
        return cls({(site, study): (sequence, sha256) for site, study, sequence, sha256 in rows})

    def to_json(self) -> str:
        """The file."""
        rows = [
            {"site": site, "study": study, "sequence": sequence, "sha256": sha256}
            for (site, study), (sequence, sha256) in sorted(self.last.items())
        ]
        return json.dumps({"seen_version": SEEN_VERSION, "packs": rows}, indent=1, ensure_ascii=False) + "\n"

    def check(self, packs: Sequence[Pack], *, again: bool = False) -> None:
        """Refuse packs that are older than one seen before, or the same again unless that is asked for."""
        for pack in packs:
            number, study = pack.record.get("sequence"), _study(pack.record)
            if number is None or study is None:
                raise InputError(
                    "a pack needs a sequence number to be held against those seen before",
                    where=pack.where,
                    got=f"a pack of version 1 of the site '{pack.site}'",
                    remedy="ask the site to make it again with this version of Workup",
                )
            if (pack.site, study) not in self.last:
                continue
            last, sha256 = self.last[pack.site, study]
            if number > last or (again and number == last and pack.sha256 == sha256):
                continue
            what = "the same pack" if pack.sha256 == sha256 else f"number {number}"
            raise InputError(
                f"the next pack of the site '{pack.site}' has a number above {last}",
                where=pack.where,
                got=f"{what} again" if number == last else f"an older pack, {what}",
                remedy="ask the site for its newest pack (made with --ledger, or a higher --sequence)"
                + ("; to pool the very same packs once more, give --again" if pack.sha256 == sha256 else ""),
            )

    def with_packs(self, packs: Sequence[Pack]) -> Seen:
        """With these as the last of their sites."""
        own = {(one.site, str(_study(one.record))): (int(one.record["sequence"]), one.sha256) for one in packs}
        return Seen({**self.last, **own})


def _study(record: Mapping[str, Any]) -> str | None:
    study = record.get("study")
    return None if study is None else str(study["sha256"])
