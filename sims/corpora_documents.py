"""The documents of the check of corpora: generated, injected, noised and odd ones, each looked at as it is made."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sims.corpora_truth import between, date_format, misplaced, surfaces, valid
from workup.corpora.generate.notes import generate
from workup.corpora.inject import UNKNOWN, Injector
from workup.corpora.noise import NoiseMeasure, add_noise
from workup.documents.document import Document, Span
from workup.documents.labels import SCHEME
from workup.text.typos import distance

SEED = 20261115
BATCH = 100
_SETTINGS = [
    {"length": length, "density": density, "ambiguity": ambiguity}
    for length in ("medium", "short", "long")
    for density in ("medium", "low", "high")
    for ambiguity in ("standard", "none", "high")
]


@dataclass(frozen=True)
class Batch:
    """Documents of one stage; those of noise have a kind, a target and a rate."""

    stage: str
    number: int
    count: int
    noise: tuple[str, str, float] | None = None


@dataclass
class Found:
    """What was seen in documents of one kind; two add up."""

    documents: int = 0
    spans: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    trips: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    labels: Counter[str] = field(default_factory=Counter)
    checked: Counter[str] = field(default_factory=Counter)
    dates: Counter[str] = field(default_factory=Counter)
    noise: Counter[str] = field(default_factory=Counter)

    def add(self, other: Found) -> None:
        self.documents += other.documents
        self.spans += other.spans
        for name in ("faults", "labels", "checked", "dates", "noise"):
            getattr(self, name).update(getattr(other, name))
        for format, counts in other.trips.items():
            self.trips[format].update(counts)

    def look_at(self, document: Document, *, unchanged: bool) -> None:
        """One more document; the surfaces of one that is `unchanged` by noise must hold what their labels say."""
        self.documents += 1
        self.spans += len(document.spans)
        self.faults.update(misplaced(document, noisy=not unchanged))
        if not unchanged:
            return
        for label, surface in surfaces(replace(document, spans=_judged(document.spans))):
            self.labels[label] += 1
            if label == "date" and (shape := date_format(surface)):
                self.dates[shape] += 1
            verdict = valid(label, surface)
            if verdict is not None:
                self.checked[label] += 1
                self.faults[f"an invalid {label}"] += not verdict


def _judged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """What we wrote ourselves: not what was swept up, nor a phrase that only looks like a value."""
    return tuple(span for span in spans if span.identifier not in (UNKNOWN, "no_mask"))


# ---- the documents ---------------------------------------------------------------------------------------------------


def written(number: int, count: int, **settings: Any) -> list[Document]:
    """Notes of a seed of their own; every fourth batch is written for all sexes and origins."""
    swap = "both" if number % 4 == 3 and count % 10 == 0 else "none"
    asked = {**_SETTINGS[number % len(_SETTINGS)], "swap": swap, **settings}
    return list(generate(count, seed=SEED + number, **asked).documents())


def _generated(batch: Batch, found: Found) -> list[Document]:
    documents = written(batch.number, batch.count)
    for document in documents:
        found.look_at(document, unchanged=True)
    return documents


def _injected(batch: Batch, found: Found) -> list[Document]:
    """Into notes that identify nobody, without golds, and by turns into notes with golds of their own."""
    bare = batch.number % 2 == 0
    sources = written(batch.number + 100_000, batch.count, **({"phi_free": 1.0, "swap": "none"} if bare else {}))
    injector = Injector(seed=SEED, density=("medium", "high", 3.5, "low")[batch.number // 2 % 4])
    documents = []
    for place, source in enumerate(sources):
        source = replace(source, spans=()) if bare else source
        made = injector.inject(source, index=batch.number * BATCH + place)
        found.look_at(made.document, unchanged=True)
        moved = _outside(made.document, made.inserted)
        found.faults["the source has changed"] += made.source_text() != source.text
        found.faults["a gold of the source has changed"] += bool(Counter(surfaces(source)) - Counter(moved))
        inside = sum(end - start for start, end in made.inserted)
        found.faults["characters that came from nowhere"] += len(made.document.text) != len(source.text) + inside
        documents.append(made.document)
    return documents


def _outside(document: Document, inserted: Sequence[tuple[int, int]]) -> list[tuple[str, str]]:
    ours = [span for span in document.spans if any(a <= span.start and span.end <= b for a, b in inserted)]
    return surfaces(replace(document, spans=tuple(span for span in document.spans if span not in ours)))


def _noised(batch: Batch, found: Found) -> list[Document]:
    """Noise on generated and injected documents by turns."""
    assert batch.noise is not None
    kind, on, rate = batch.noise
    number = batch.number + 200_000
    clean = written(number, batch.count) if batch.number % 2 else _injected(replace(batch, number=number), Found())
    seen = NoiseMeasure()
    noisy = list(add_noise(clean, kind=kind, rate=rate, on=on, seed=SEED, measure=seen))  # type: ignore[arg-type]
    for before, after in zip(clean, noisy, strict=True):
        found.look_at(after, unchanged=False)
        found.faults.update(_torn(before, after, on))
    real = sum(_real_distance(before, after, on) for before, after in zip(clean, noisy, strict=True))
    found.faults["a measured distance that is not the real one"] += real != seen.distance
    found.noise.update({"characters": seen.characters, "distance": real, "reachable": seen.reachable})
    return noisy


def _torn(before: Document, after: Document, on: str) -> Iterator[str]:
    """Golds that noise left behind: as many as before, in order, and what was not aimed at is as it was."""
    if [(span.label, span.entity) for span in before.spans] != [(span.label, span.entity) for span in after.spans]:
        yield "a gold that is gone or out of order"
    old, new = between(before), between(after)
    if len(old) != len(new):
        yield "borders that moved apart"
    elif on != "both":
        aimed = [phi == (on == "phi") for phi in _on_phi(before)]
        if any(a != b for a, b, changing in zip(old, new, aimed, strict=True) if not changing):
            yield "noise on what was not aimed at"


def _on_phi(document: Document) -> list[bool]:
    """For each piece between two borders, whether a gold that identifies covers it."""
    phi = [span for span in document.spans if span.identifier not in ("no_mask", UNKNOWN) and not _clinical(span)]
    flags, place = [], 0
    for piece in between(document):
        flags.append(any(span.start <= place < span.end for span in phi))
        place += len(piece)
    return flags


def _clinical(span: Span) -> bool:
    return span.label in SCHEME and SCHEME[span.label].branch == "CLIN"


def _real_distance(before: Document, after: Document, on: str) -> int:
    if on == "both":
        return distance(before.text, after.text)
    found, old, new = 0, "", ""
    for a, b, phi in [*zip(between(before), between(after), _on_phi(before), strict=True), ("", "", on != "phi")]:
        if phi == (on == "phi"):
            old, new = old + a, new + b
        else:
            found += distance(old, new)
            old = new = ""
    return found + distance(old, new)


def _odd(batch: Batch, found: Found) -> list[Document]:
    """Documents of which each format holds some and must refuse others."""
    documents = []
    notes = [note for note in written(300_000 + batch.number, batch.count, swap="none") if note.spans]
    for place, note in enumerate(notes):
        span = note.spans[len(note.spans) // 2]
        wide = Span(span.start, min(len(note.text), span.end + 3), "misc")
        changed = [
            replace(note, spans=(*note.spans, wide)),
            replace(note, spans=(), layers={"ann": note.spans, "bob": note.spans[::2]}),
            replace(note, text=note.text + "\x0bform feed"),
            replace(note, text=note.text + "\x00"),
            replace(note, text=note.text.replace("\n", "\r\n")[: len(note.text)]),
            replace(note, id=f"ward {place}/übung.{place}"),
            replace(note, spans=(replace(span, label="a label"),)),
            replace(note, text=note.text + " \U0001f600 e\u0301 \u2028 ]]> &#13;"),
        ][place % 8]
        found.documents += 1
        found.spans += len(changed.spans)
        documents.append(changed)
    return documents


MAKERS: dict[str, Callable[[Batch, Found], list[Document]]] = {
    "generated": _generated,
    "injected": _injected,
    "noised": _noised,
    "odd": _odd,
}
