"""The site's own ledger: what earlier packs of a site and study told, so that a new one can be checked together with
them. It holds every count those packs rest on, the withheld ones too, and never leaves the site."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workup.disclosure.figures import SIDES
from workup.disclosure.inference import Who
from workup.errors import InputError, visible
from workup.files.received import open_named
from workup.packs.counts import SIZES, Cells

LEDGER_VERSION = 1
LARGEST_LEDGER = 200_000_000
_REMEDY = "give the ledger that  workup site-pack --ledger  wrote, or a new name to begin another"


@dataclass(frozen=True)
class Sent:
    """One pack that was made: the counts behind it, what of them was kept, and other counts that it told."""

    sequence: int
    name: str  # of the study
    study: str  # the hash of its settings
    k: int
    sha256: str
    sizes: Mapping[str, Mapping[Who, int]]
    cuts: Mapping[str, Mapping[Who, tuple[int, ...]]]
    slices: frozenset[Who] = frozenset()
    kept_cuts: frozenset[tuple[str, Who, int]] = frozenset()
    others: Mapping[str, int] = field(default_factory=dict)

    def count(self, measure: str, who: Who, cut: int) -> int | None:
        """How many of a slice stood at or above a cut; None where the pack did not have the slice."""
        if cut:
            bins = self.cuts.get(measure, {}).get(who)
            return None if bins is None else sum(bins[cut:])
        return self.sizes.get(measure, {}).get(who)

    def tells(self, measure: str, who: Who, cut: int) -> bool:
        """Did the pack tell it?"""
        if who in self.slices or self.count(measure, who, cut) is None:
            return False
        return cut == 0 or (measure, who, cut) not in self.kept_cuts

    def told_change(self, measure: str, who: Who, cut: int, bins: Sequence[int]) -> int:
        """How much a count has changed since this pack told it; 0 where it did not."""
        then = self.count(measure, who, cut)
        return sum(bins[cut:]) - then if then is not None and self.tells(measure, who, cut) else 0

    def as_record(self) -> dict[str, Any]:
        """As the file holds it."""
        return {
            "sequence": self.sequence,
            "name": self.name,
            "study": self.study,
            "k": self.k,
            "sha256": self.sha256,
            "sizes": {name: sorted([list(who), n] for who, n in one.items()) for name, one in self.sizes.items()},
            "cuts": {name: sorted([list(who), list(n)] for who, n in one.items()) for name, one in self.cuts.items()},
            "slices": sorted(list(who) for who in self.slices),
            "kept_cuts": sorted([side, list(who), cut] for side, who, cut in self.kept_cuts),
            "others": dict(sorted(self.others.items())),
        }

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Sent:
        """From what the file holds; anything else is a KeyError, TypeError or ValueError."""
        return cls(
            sequence=int(record["sequence"]),
            name=str(record["name"]),
            study=str(record["study"]),
            k=int(record["k"]),
            sha256=str(record["sha256"]),
            sizes={
                str(name): {tuple(who): int(n) for who, n in record["sizes"][name]}
                for name in (*SIZES, *sorted(set(record["sizes"]) - {*SIZES}))
            },
            cuts={
                name: {tuple(who): tuple(int(n) for n in bins) for who, bins in record["cuts"][name]} for name in SIDES
            },
            slices=frozenset(tuple(who) for who in record["slices"]),
            kept_cuts=frozenset((str(side), tuple(who), int(cut)) for side, who, cut in record["kept_cuts"]),
            others={str(name): int(n) for name, n in record["others"].items()},
        )


@dataclass(frozen=True)
class SiteLedger:
    """All packs that one site has made, in the order of their making."""

    site: str
    packs: tuple[Sent, ...] = ()

    @property
    def next_sequence(self) -> int:
        """The number of the next pack."""
        return 1 + max((one.sequence for one in self.packs), default=0)

    def of_study(self, study: Mapping[str, str]) -> tuple[Sent, ...]:
        """The packs of one study, whatever its settings were, and of its settings, whatever it was called."""
        return tuple(one for one in self.packs if one.name == study["name"] or one.study == study["sha256"])

    def with_pack(self, one: Sent) -> SiteLedger:
        """The ledger after another pack."""
        return SiteLedger(self.site, (*self.packs, one))

    def to_json(self) -> str:
        """The file."""
        content = {
            "ledger_version": LEDGER_VERSION,
            "site": self.site,
            "packs": [one.as_record() for one in self.packs],
        }
        return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, path: Path, *, site: str) -> SiteLedger:
        """The ledger in a file, or an empty one where there is no file yet."""
        where = visible(str(path))
        try:
            with open_named(path) as file:
                raw = file.read(LARGEST_LEDGER + 1)
        except FileNotFoundError:
            return cls(site)
        except OSError as error:
            got = error.strerror or type(error).__name__
            raise InputError("the ledger must be a file that can be read", where=where, got=got) from None
        try:
            if len(raw) > LARGEST_LEDGER:
                raise ValueError
            content = json.loads(raw.decode("utf-8"))
            if content["ledger_version"] != LEDGER_VERSION:
                raise ValueError
            found = cls(str(content["site"]), tuple(Sent.of_record(one) for one in content["packs"]))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            got = "a file of another kind, or one that was damaged"
            raise InputError("expected the ledger of a site", where=where, got=got, remedy=_REMEDY) from None
        if found.site != site:
            got = f"the ledger of the site '{visible(found.site)[:60]}'"
            raise InputError(
                f"a ledger belongs to one site, here '{visible(site)[:60]}'", where=where, got=got, remedy=_REMEDY
            )
        return found


def sent(
    cells: Cells,
    slices: frozenset[Who],
    cuts: frozenset[tuple[str, Who, int]],
    pack: Mapping[str, Any],
) -> Sent:
    """What a ledger remembers of a pack."""
    held = pack["holdings"]
    others = {f"input {row['input']}": row["missing"] for row in held["inputs"] if row["missing"] is not None}
    if held["waiting"] is not None:
        others["waiting"] = held["waiting"]
    if held["label_delay_days"] is not None:
        others["label delay"] = int(held["label_delay_days"]["rows"])
    return Sent(
        sequence=int(pack["sequence"]),
        name=str(pack["study"]["name"]),
        study=str(pack["study"]["sha256"]),
        k=int(pack["k"]),
        sha256=str(pack["sha256"]),
        sizes=cells.sizes,
        cuts=cells.cuts,
        slices=slices,
        kept_cuts=cuts,
        others=others,
    )
