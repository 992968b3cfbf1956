"""What a corpus with spans holds, in counts: documents, labels, annotators, lengths. Never shows text or ids."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from workup.documents.document import Document
from workup.documents.labels import BRANCHES, leaves_of
from workup.documents.language import language_of
from workup.documents.mappings import LabelMapping, shipped
from workup.documents.records import all_spans
from workup.errors import visible

_MOST = 40  # levels of a column that are listed; a column with more is no category and may hold what identifies
_NO_SCHEMES = ("hipaa", "subtypes")  # single letters and subtypes: no corpus is labelled by these alone


@dataclass
class Counts:
    """Counts of a corpus, added document by document."""

    documents: int = 0
    spans: int = 0
    without_spans: int = 0
    repeated: int = 0
    overlapping: int = 0
    uncertain: int = 0
    lengths: list[int] = field(default_factory=list)
    labels: Counter[str] = field(default_factory=Counter)
    holding: Counter[str] = field(default_factory=Counter)
    annotators: Counter[str] = field(default_factory=Counter)
    identifiers: Counter[str] = field(default_factory=Counter)
    levels: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, document: Document) -> None:
        """Count one document with the spans of all its annotators."""
        spans = list(all_spans(document))
        self.documents += 1
        self.spans += len(spans)
        self.without_spans += not spans
        self.lengths.append(len(document.text))
        self.labels.update(span.label for span in spans)
        self.holding.update({span.label for span in spans})
        self.annotators.update({name: len(found) for name, found in document.layers.items()})
        self.identifiers.update(span.identifier for span in spans if span.identifier is not None)
        self.uncertain += language_of(document.text) == "uncertain"
        for found in document.layers.values() or [document.spans]:
            self._add_places(sorted((span.start, span.end, span.label) for span in found))
        for column in ("type", "specialty", "patient", "site"):
            level = getattr(document, column)
            if level is not None:
                self.levels.setdefault(column, Counter())[level] += 1

    def _add_places(self, places: list[tuple[int, int, str]]) -> None:
        self.repeated += len(places) - len(set(places))
        reach = 0
        for start, end, _ in places:
            self.overlapping += start < reach
            reach = max(reach, end)


def describe(documents: Iterable[Document], *, labels: str = "") -> dict[str, Any]:
    """Counts of a corpus, with what each label means in a mapping; without one, in the shipped one that knows most.

    >>> from workup.documents.document import Span
    >>> found = describe([Document("a", "Seen by Rose.", (Span(8, 12, "DOCTOR"),))], labels="i2b2_2014")
    >>> found["spans"], found["labels"]
    (1, [{'label': 'DOCTOR', 'spans': 1, 'documents': 1, 'means': 'name_provider'}])
    """
    counts = Counts()
    for document in documents:
        counts.add(document)
    mapping = LabelMapping.load(labels) if labels else nearest(counts.labels)
    rows = [
        {"label": label, "spans": count, "documents": counts.holding[label], "means": _means(mapping, label)}
        for label, count in sorted(counts.labels.items(), key=lambda item: (-item[1], item[0]))
    ]
    levels = {column: found for column, found in counts.levels.items() if column in ("type", "specialty")}
    return {
        "documents": counts.documents,
        "spans": counts.spans,
        "documents_without_spans": counts.without_spans,
        "overlapping_spans": counts.overlapping,
        "repeated_spans": counts.repeated,
        "language_uncertain": counts.uncertain,
        "characters": sum(counts.lengths),
        "lengths": _lengths(counts.lengths),
        "patients": len(counts.levels.get("patient", ())) or None,
        "sites": len(counts.levels.get("site", ())) or None,
        "annotators": dict(sorted(counts.annotators.items())),
        "identifiers": dict(sorted(counts.identifiers.items())),
        "types": _listed(levels.get("type", Counter())),
        "specialties": _listed(levels.get("specialty", Counter())),
        "mapping": labels or mapping.name,
        "labels": rows,
        "unmapped": [row["label"] for row in rows if row["means"] is None],
    }


def nearest(labels: Counter[str]) -> LabelMapping:
    """The shipped mapping that leaves fewest spans without a meaning; the canonical scheme where it does as well."""
    candidates = [LabelMapping.load(name) for name in shipped("mappings") if name not in _NO_SCHEMES]

    def lost(mapping: LabelMapping) -> tuple[int, bool, int, str]:
        missing = sum(labels[label] for label in mapping.unmapped(labels))
        return missing, mapping.name != "workup", len(mapping.labels), mapping.name

    return min(candidates, key=lost)


def mapping_to_fill(record: dict[str, Any], *, source: str) -> str:
    """A mapping in YAML that extends the one that was used, with a line to fill in for every unmapped label."""
    lines = [
        "# A mapping of labels to Workup's own. Fill in a leaf or a branch behind every label, or move the label to",
        "# 'unmapped' with the reason. A label without either is refused when the file is read.",
        *(f"# {branch}: {', '.join(leaves_of(branch))}" for branch in BRANCHES),
        f"source: {json.dumps(source)}",
        f"extends: {json.dumps(record['mapping'])}",
    ]
    known = [row for row in record["labels"] if row["means"] is not None]
    lines += [f"# {_comment(row['label'])}: {row['means']}  (from {record['mapping']})" for row in known]
    missing = [row for row in record["labels"] if row["means"] is None]
    lines.append("labels:" if missing else "labels: {}")
    lines += [f"  {json.dumps(row['label'])}:   # {row['spans']:,} spans" for row in missing]
    return "\n".join(lines) + "\n"


def text_of(record: dict[str, Any], *, name: str, format: str) -> str:
    """The counts for reading."""
    lengths = record["lengths"]
    rows = [
        (f"{name} ({format})", f"{record['documents']:,} documents, {record['spans']:,} spans"),
        ("Characters", f"{record['characters']:,}; a document has {_range(lengths)}"),
        ("Documents without spans", f"{record['documents_without_spans']:,}"),
        ("Spans that overlap others", f"{record['overlapping_spans']:,}"),
        ("Spans that stand twice", f"{record['repeated_spans']:,}"),
        ("Language uncertain", f"{record['language_uncertain']:,} documents"),
        ("Patients", _given(record["patients"], "each document counts as a patient of its own")),
        ("Sites", _given(record["sites"], "")),
    ]
    for title, key in (
        ("Annotators", "annotators"),
        ("Identifiers", "identifiers"),
        ("Types", "types"),
        ("Specialties", "specialties"),
    ):
        found = record[key]
        if found:
            rows.append((title, ", ".join(f"{_comment(level)} {count:,}" for level, count in found.items())))
    lines = [f"{title:<26} {value}" for title, value in rows]
    lines += ["", f"{'Label':<32} {'spans':>9} {'documents':>10}  meaning in the mapping '{record['mapping']}'"]
    for row in record["labels"]:
        means = row["means"] or "NOT MAPPED"
        lines.append(f"{_comment(row['label']):<32} {row['spans']:>9,} {row['documents']:>10,}  {means}")
    if record["unmapped"]:
        count = len(record["unmapped"])
        lines += ["", f"{count} {'label has' if count == 1 else 'labels have'} no meaning in this mapping."]
    return "\n".join(lines) + "\n"


def _means(mapping: LabelMapping, label: str) -> str | None:
    found = mapping.of(label)
    return None if found is None else found.name


def _lengths(lengths: list[int]) -> dict[str, float | int | None]:
    if not lengths:
        return {"shortest": None, "median": None, "longest": None}
    return {"shortest": min(lengths), "median": statistics.median(lengths), "longest": max(lengths)}


def _listed(levels: Counter[str]) -> dict[str, int]:
    """Levels with their counts, or how many there are where they are too many to be a category."""
    if len(levels) > _MOST:
        return {f"{len(levels)} different": sum(levels.values())}
    return dict(sorted(levels.items()))


def _range(lengths: dict[str, Any]) -> str:
    return f"{lengths['shortest']:,} to {lengths['longest']:,}, half of them {lengths['median']:,.0f} or fewer"


def _given(count: int | None, otherwise: str) -> str:
    return f"{count:,}" if count else f"not given{f'; {otherwise}' if otherwise else ''}"


def _comment(label: str) -> str:
    """A name from a file on one line of ours."""
    return visible(label)[:80]
