"""Which types a system can emit at all: what it declares, in canonical names, and which golds that could ever find."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from workup.documents.labels import branch_of, is_canonical
from workup.documents.mappings import LabelMapping

UNKNOWN = "the system does not say which types it can emit; recorded predictions say so with 'emits' of the system"


@dataclass(frozen=True)
class Emits:
    """What a system declares: labels as written, the names they stand for, and those without a canonical name."""

    declared: tuple[str, ...] | None
    names: frozenset[str] = frozenset()
    unmapped: tuple[str, ...] = ()

    @classmethod
    def of(cls, declared: Iterable[str] | None, mapping: LabelMapping) -> Emits:
        """Read by the mapping that the system's labels belong to.

        >>> presidio = Emits.of(["PERSON", "LOCATION"], LabelMapping.load("presidio"))
        >>> sorted(presidio.names), presidio.reaches("city"), presidio.reaches("date")
        (['GEO', 'NAME'], True, False)
        """
        if declared is None:
            return cls(None)
        labels = tuple(sorted(set(declared)))
        found = {label: mapping.of(label) for label in labels}
        names = frozenset(label if one is None else one.name for label, one in found.items())
        return cls(labels, names, tuple(label for label, one in found.items() if one is None))

    def reaches(self, label: str) -> bool | None:
        """Whether a gold of this label could be found under a label of its own: the same, or one above or below it in
        the scheme (a coarse LOCATION is all that says "city"). None where the system does not declare."""
        if self.declared is None:
            return None
        if label in self.names:
            return True
        if not is_canonical(label):
            return False
        near = {name for name in self.names if is_canonical(name) and branch_of(name) == branch_of(label)}
        return branch_of(label) in near or (branch_of(label) == label and bool(near))

    def table(self, golds: Collection[str]) -> dict[str, Any]:
        """For the report: the declaration, and the types of the corpus it reaches and does not reach."""
        if self.declared is None:
            return {"declared": None, "reason": UNKNOWN}
        reached = [label for label in sorted(golds) if self.reaches(label)]
        return {
            "declared": list(self.declared),
            "canonical": sorted(self.names),
            "unmapped": list(self.unmapped),
            "reached": reached,
            "not_reached": sorted(set(golds) - set(reached)),
        }
