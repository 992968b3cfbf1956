"""Mappings: explicit tables from other label schemes to the canonical one. Exact names only; nothing is guessed.

A mapping is a YAML file, shipped or the user's own. Knows no policy and no document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from os.path import isfile
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from pydantic import Field, field_validator

from workup.documents.document import IDENTIFIERS, Ints, Span
from workup.documents.labels import CODE, NAMES, SCHEME, UNMAPPED, Level, at_level, branch_of, read_shipped
from workup.errors import InputError, StudyError, near
from workup.files.yaml_files import read_yaml
from workup.settings import Part

_NO_IDENTIFIER = -1


@dataclass(frozen=True, slots=True)
class Canonical:
    """What a label means in the canonical scheme: a leaf or a branch, with the annotators' identifier type if any."""

    name: str
    identifier: str | None = None

    @property
    def branch(self) -> str:
        return branch_of(self.name)

    @property
    def is_coarse(self) -> bool:
        """A branch, which no leaf equals: compared at its branch, a miss at the level of leaves."""
        return self.name not in SCHEME

    @property
    def code(self) -> int:
        """Place in `labels.NAMES`."""
        return CODE[self.name]

    def at(self, level: Level) -> str | None:
        """The ancestor at a level; None where a coarse label does not reach it."""
        return at_level(self.name, level)


class MappingPart(Part):
    """A mapping file."""

    describe: str = Field("", description="What scheme this is, in a sentence")
    source: str = Field(description="Where the labels come from")
    extends: str | None = Field(None, description="Mapping that this one adds to or overrides: a name or a path")
    case: Literal["exact", "ignore"] | None = Field(None, description="Whether upper and lower case are one; exact")
    labels: dict[str, str] = Field(description="Label: canonical leaf or branch")
    subtypes: dict[str, str] = Field(
        default_factory=dict, description="Subtype beside a label: canonical leaf or branch"
    )
    identifiers: dict[str, Literal["direct", "quasi", "no_mask", "unknown"]] = Field(
        default_factory=dict, description="Identifier type as written: direct, quasi, no_mask or unknown"
    )
    unmapped: dict[str, str] = Field(
        default_factory=dict, description="Label left without a canonical name: the reason"
    )

    @field_validator("labels", "subtypes")
    @classmethod
    def _canonical(cls, table: dict[str, str]) -> dict[str, str]:
        wrong = [
            f"'{label[:60]}: {name[:60]}'; {near(name, NAMES)}" for label, name in table.items() if name not in CODE
        ]
        if wrong:
            raise ValueError("not a leaf or a branch of the canonical scheme: " + "; ".join(wrong))
        return table


@dataclass(frozen=True)
class LabelMapping:
    """A table from labels to canonical names. `LabelMapping.load("tab")` reads one.

    Canonical names stand for themselves in every mapping, unless its table says otherwise.
    """

    name: str
    labels: Mapping[str, str]
    source: str = ""
    case: Literal["exact", "ignore"] = "exact"
    subtypes: Mapping[str, str] = field(default_factory=dict)
    identifiers: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, name_or_path: str | Path) -> LabelMapping:
        """A shipped mapping by name, the user's own by path, or several joined by '+', which must not disagree.

        >>> LabelMapping.load("presidio").of("US_MBI").name
        'health_plan_id'
        >>> LabelMapping.load("tab+presidio").of("CODE").name
        'ID'
        """
        text = str(name_or_path)
        if "+" in text and not isfile(text):
            return joined([cls.load(part) for part in text.split("+")])
        return _shipped_mapping(text) if text in shipped("mappings") else _load(text)

    def of(self, label: str, *, identifier: str | None = None, subtype: str | None = None) -> Canonical | None:
        """The canonical name of a label, or None where the table has none.

        A subtype refines within the branch of its label and never makes a label coarser; an unknown one is passed
        over, one of another branch is an error.

        >>> vulpes = LabelMapping.load("vulpes")
        >>> vulpes.of("NAME", subtype="PATIENT_NAME").name, vulpes.of("MRN", subtype="IDENTIFIER").name
        ('name_patient', 'mrn')
        >>> vulpes.of("Name") is None
        True
        """
        found = self._canonical(label)
        if found is None:
            return None
        name: str = found
        finer = None if subtype is None else self._subtype(subtype)
        if finer is not None and finer in SCHEME:
            if branch_of(finer) != branch_of(name):
                raise InputError(
                    "a subtype must lie in the branch of its label",
                    where=f"mapping '{self.name}', label '{label[:60]}' with subtype '{(subtype or '')[:60]}'",
                    got=f"{branch_of(name)} and {branch_of(finer)}",
                    remedy="correct the gold, or name the subtype under 'subtypes' of a mapping of your own",
                )
            name = finer
        return Canonical(name, self.identifier(identifier))

    def identifier(self, written: str | None) -> str | None:
        """The identifier type (direct, quasi, no_mask) that a corpus writes in its own way."""
        if written is None:
            return None
        known = self.identifiers.get(written, written)
        if known not in IDENTIFIERS:
            raise InputError(
                "an identifier type must be direct, quasi, no_mask or unknown",
                where=f"mapping '{self.name}'",
                got=repr(written[:60]),
                remedy="name it under 'identifiers' of a mapping of your own",
            )
        return known

    def unmapped(self, labels: Iterable[str]) -> list[str]:
        """Those of the labels that have no canonical name, in order, each once.

        >>> LabelMapping.load("tab").unmapped(["LOC", "SHOE_SIZE", "city", "SHOE_SIZE"])
        ['SHOE_SIZE']
        """
        return sorted({label for label in labels if self._canonical(label) is None})

    def codes(self, labels: Sequence[str]) -> Ints:
        """Canonical codes of a list of labels; of spans in arrays, `mapping.codes(arrays.labels)[arrays.label]`."""
        found = (self.of(label) for label in labels)
        return np.array([UNMAPPED if one is None else one.code for one in found], dtype=np.int32)

    @cached_property
    def _folded(self) -> Mapping[str, str]:
        return {label.casefold(): name for label, name in self.labels.items()}

    def _canonical(self, label: str) -> str | None:
        if label in self.left_out:
            return None
        if self.case == "ignore":
            return self._folded.get(label.casefold(), label if label in CODE else None)
        return self.labels.get(label, label if label in CODE else None)

    def _subtype(self, subtype: str) -> str | None:
        shared = {} if self.name == "subtypes" else _shipped_mapping("subtypes").labels
        return self.subtypes.get(subtype) or shared.get(subtype) or (subtype if subtype in CODE else None)


@dataclass(frozen=True)
class CodedSpans:
    """Spans as codes: canonical names (places in `labels.NAMES`) and identifier types (in IDENTIFIERS); -1 for none."""

    canonical: Ints
    identifier: Ints
    unmapped: Mapping[str, int]


def coded(spans: Iterable[Span], *, mapping: LabelMapping) -> CodedSpans:
    """Canonical and identifier codes of spans, in their order, and how often each unmapped label occurs.

    >>> spans = [Span(0, 4, "PERSON", identifier="direct"), Span(5, 9, "SHOE_SIZE")]
    >>> found = coded(spans, mapping=LabelMapping.load("tab"))
    >>> found.canonical.tolist(), found.identifier.tolist(), dict(found.unmapped)
    ([56, -1], [0, -1], {'SHOE_SIZE': 1})
    """
    seen: dict[tuple[str, str | None, str | None], tuple[int, int]] = {}
    canonical, identifiers, unmapped = [], [], dict[str, int]()
    for span in spans:
        key = (span.label, span.subtype, span.identifier)
        if key not in seen:
            found = mapping.of(span.label, subtype=span.subtype, identifier=span.identifier)
            kind = mapping.identifier(span.identifier)
            place = _NO_IDENTIFIER if kind is None else IDENTIFIERS.index(kind)
            seen[key] = (UNMAPPED if found is None else found.code, place)
        code, place = seen[key]
        canonical.append(code)
        identifiers.append(place)
        if code == UNMAPPED:
            unmapped[span.label] = unmapped.get(span.label, 0) + 1
    counts = MappingProxyType(dict(sorted(unmapped.items())))
    return CodedSpans(np.array(canonical, dtype=np.int32), np.array(identifiers, dtype=np.int32), counts)


def joined(mappings: Sequence[LabelMapping]) -> LabelMapping:
    """One mapping out of several, for gold and predictions of different schemes; on shared labels they must agree."""
    if len({one.case for one in mappings}) > 1:
        raise InputError("joined mappings must have one rule of case", got=", ".join(one.name for one in mappings))
    tables: dict[str, dict[str, str]] = {}
    for kind in ("labels", "subtypes", "identifiers", "left_out"):
        table = tables.setdefault(kind, {})
        for one in mappings:
            for label, name in getattr(one, kind).items():
                if kind != "left_out" and table.setdefault(label, name) != name:
                    raise InputError(
                        "joined mappings must agree on every label they share",
                        where=" + ".join(one.name for one in mappings),
                        got=f"'{label[:60]}' as {table[label]} and as {name}",
                        remedy="map gold and predictions apart, or write a mapping that settles it",
                    )
                table[label] = name
    tables["left_out"] = {label: why for label, why in tables["left_out"].items() if label not in tables["labels"]}
    name = "+".join(one.name for one in mappings)
    return LabelMapping(name, source="; ".join(one.source for one in mappings), case=mappings[0].case, **tables)


def shipped(kind: Literal["mappings", "policies"]) -> list[str]:
    """Names of the shipped mappings or policies.

    >>> "i2b2_2014" in shipped("mappings"), "gdpr_tab" in shipped("policies")
    (True, True)
    """
    folder = files("workup.documents") / "data" / kind
    return sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml"))


def read_content(
    name_or_path: str, *, kind: Literal["mappings", "policies"], within: tuple[str, ...] = ()
) -> tuple[str, Any, dict[tuple[str, ...], int]]:
    """Name, content and lines of a shipped file by name, or of the user's own by path.

    `within` are the files that extend this one: a path starts from the folder of the last, and a circle is an error.
    """
    if name_or_path in within:
        raise StudyError(f"'{name_or_path[:200]}' extends itself, through {' and '.join(within)[:400]}.")
    if name_or_path in shipped(kind):
        return name_or_path, read_shipped(kind, f"{name_or_path}.yaml"), {}
    path = Path(name_or_path)
    one = {"mappings": "mapping", "policies": "policy"}[kind]
    if not isfile(path):
        raise StudyError(
            f"'{name_or_path[:200]}' is neither a shipped {one} nor a file; {near(name_or_path, shipped(kind))}."
        )
    content, lines = read_yaml(path, noun=one)
    return path.stem, content, lines


def beside(name_or_path: str, file: str) -> str:
    """A path that a file names, as seen from the folder of that file; a name of something shipped stays as it is."""
    neighbour = Path(file).parent / name_or_path
    return str(neighbour) if isfile(neighbour) else name_or_path


@lru_cache(maxsize=64)
def _shipped_mapping(name: str) -> LabelMapping:
    return _load(name)


def _load(name_or_path: str, *, within: tuple[str, ...] = ()) -> LabelMapping:
    name, content, lines = read_content(name_or_path, kind="mappings", within=within)
    part = MappingPart.checked(content, where=f"mapping '{name_or_path}'", lines=lines)
    base = LabelMapping("", {})
    if part.extends:
        base = _load(beside(part.extends, name_or_path), within=(*within, name_or_path))
    return _of_part(part, base, name=name)


def _of_part(part: MappingPart, base: LabelMapping, *, name: str) -> LabelMapping:
    labels = {label: found for label, found in base.labels.items() if label not in part.unmapped} | part.labels
    case = part.case or base.case
    folded = [label.casefold() for label in labels]
    if case == "ignore" and len(set(folded)) < len(folded):
        raise StudyError(f"mapping '{name}': with 'case: ignore' two labels differ in their case only.")
    both = sorted(set(part.labels) & set(part.unmapped))
    if both:
        raise StudyError(f"mapping '{name}': mapped and left out at once: {', '.join(both)[:200]}.")
    left_out = {label: why for label, why in base.left_out.items() if label not in part.labels} | part.unmapped
    subtypes, identifiers = {**base.subtypes, **part.subtypes}, {**base.identifiers, **part.identifiers}
    return LabelMapping(name, labels, part.source, case, subtypes, identifiers, left_out)
