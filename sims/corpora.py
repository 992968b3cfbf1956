"""Is the truth true? 20,000 generated, 20,000 injected and 20,000 noised documents, and each through every format."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sims.corpora_truth import between, date_format, misplaced, round_trip, surfaces, valid
from sims.repetitions import Result, Size
from workup.corpora.formats.span_format import span_formats
from workup.corpora.generate.notes import generate
from workup.corpora.generate.values import LEAVES
from workup.corpora.inject import UNKNOWN, Injector
from workup.corpora.noise import KINDS, NEAR, NoiseMeasure, add_noise
from workup.corpora.noise.distance import distance
from workup.engines.processes import Processes
from workup.engines.serial import Serial
from workup.tasks.spans.documents import Document, Span
from workup.tasks.spans.labels import SCHEME

NAME = "corpora"
QUESTION = (
    "Does every gold of 20,000 generated, 20,000 injected and 20,000 noised documents lie on its text, and come back "
    "from every format unless the writer refuses with document and reason? Are numbers valid, is every leaf there, and "
    "is noise as strong as was asked?"
)
SEED = 20261115
SIZE = Size(repetitions=20_000, replicates=0)  # documents of each stage
_OF_NOTES = ("chart", "clinical", "composing", "corpus", "grammar", "houses", "identifying", "parts", "people")
_OF_NOTES += ("scribe", "settings", "templates", "vocabulary", "wording", "words")
_OF_VALUES = ("addresses", "check_digits", "counting", "dates", "geography", "making", "patients", "people")
_OF_LEAVES = ("background", "clinical", "contacts", "days", "money", "numbers", "organisations", "people", "places")
_OF_FORMATS = ("brat", "conll", "docbin", "i2b2", "label_studio", "presidio_json", "spans_jsonl", "tab_json")
TESTED = [
    "corpora/generate/chance.py",
    "corpora/generate/pieces.py",
    *(f"corpora/generate/notes/{name}.py" for name in _OF_NOTES),
    *(f"corpora/generate/values/{name}.py" for name in (*_OF_VALUES, "surfaces", "tables", "vocabulary")),
    *(f"corpora/generate/values/leaves/{name}.py" for name in (*_OF_LEAVES, "shapes", "things")),
    *(f"corpora/inject/{name}.py" for name in ("building", "injecting", "phrases", "sites", "sweeping")),
    *(f"corpora/noise/{name}.py" for name in ("adding", "distance", "edits", "kinds", "tables")),
    *(f"corpora/formats/{name}.py" for name in (*_OF_FORMATS, "offsets", "span_records")),
]
MADE_BY = ["repetitions.py", "corpora.py", "corpora_truth.py"]

BATCH = 100
RATES = (0.02, 0.1, 0.3)
TARGETS = ("phi", "context", "both")
STAGES = ("generated", "injected", "noised")
ODD = 400  # documents made so that some format cannot hold them
DATE_FORMATS = 25
_SETTINGS = [
    {"length": length, "density": density, "ambiguity": ambiguity}
    for length in ("medium", "short", "long")
    for density in ("medium", "low", "high")
    for ambiguity in ("standard", "none", "high")
]
Progress = Callable[[str], None]


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
        self.faults.update(misplaced(document))
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


_MAKERS: dict[str, Callable[[Batch, Found], list[Document]]] = {
    "generated": _generated,
    "injected": _injected,
    "noised": _noised,
    "odd": _odd,
}


# ---- running ---------------------------------------------------------------------------------------------------------


def batches(size: Size) -> list[Batch]:
    """Every stage has as many documents as are asked for; noise has its own share for each kind, target and rate."""
    found = [Batch("odd", 0, min(ODD, size.repetitions))]
    for stage in STAGES[:2]:
        found += [
            Batch(stage, number, min(BATCH, size.repetitions - first))
            for number, first in enumerate(range(0, size.repetitions, BATCH))
        ]
    asked = [(kind, on, rate) for kind in KINDS for on in TARGETS for rate in RATES]
    each = -(-size.repetitions // len(asked))
    numbers = iter(range(10**6))
    for one in asked:
        found += [Batch("noised", next(numbers), min(BATCH, each - first), one) for first in range(0, each, BATCH)]
    return found


def look(batch: Batch) -> tuple[Batch, Found]:
    """One batch: made, looked at, and sent through every format."""
    found = Found()
    documents = _MAKERS[batch.stage](batch, found)
    for name, format in span_formats().items():
        with tempfile.TemporaryDirectory() as folder:
            found.trips[name].update(round_trip(format, documents, Path(folder)))
    found.faults = +found.faults
    return batch, found


def run(*, size: Size = SIZE, workers: int = 1, progress: Progress = lambda line: None) -> list[Result]:
    """Every stage, every format, every kind of noise. The number of workers changes nothing but the time."""
    todo = batches(size)
    stages: dict[str, Found] = {stage: Found() for stage in (*STAGES, "odd")}
    noises: dict[tuple[str, str, float], Found] = {}
    engine = Serial() if workers == 1 else Processes(workers=workers)
    for done, (batch, found) in enumerate(engine.map(_looker, todo), start=1):
        stages[batch.stage].add(found)
        if batch.noise is not None:
            noises.setdefault(batch.noise, Found()).add(found)
        if done % 20 == 0 or done == len(todo):
            progress(f"{NAME} {done}/{len(todo)}  {sum(one.documents for one in stages.values()):,} documents")
    trips = [_trip(stage, name, counts) for stage, of in stages.items() for name, counts in sorted(of.trips.items())]
    whole = [_golds(stage, stages[stage]) for stage in STAGES]
    return [*whole, *trips, *(_error_rate(asked, one) for asked, one in noises.items()), *_content(stages)]


def _looker() -> Callable[[Batch], tuple[Batch, Found]]:
    return look


# ---- judging ---------------------------------------------------------------------------------------------------------


def _result(cell: str, metric: str, rate: float | None, band: Sequence[float], **more: Any) -> Result:
    ok = rate is not None and band[0] <= rate <= band[1]
    return {"cell": cell, "metric": metric, **more, "rate": rate, "band": list(band), "ok": ok}


def _golds(stage: str, found: Found) -> Result:
    return _result(
        stage,
        "golds that are true",
        1 - sum(found.faults.values()) / found.spans,
        (1, 1),
        documents=found.documents,
        spans=found.spans,
        faults=dict(sorted(found.faults.items())),
    )


def _trip(stage: str, format: str, counts: Counter[str]) -> Result:
    """Documents that come back, of those that the writer took; a refusal is no loss, and is told with its reason."""
    total = sum(counts.values())
    refused = {why.removeprefix("refused: "): n for why, n in sorted(counts.items()) if why.startswith("refused")}
    taken = total - sum(refused.values())
    return _result(
        stage,
        f"round trips through {format}",
        counts["kept"] / taken if taken else None,
        (1, 1),
        documents=total,
        refused=refused,
        lost={why.removeprefix("lost: "): n for why, n in sorted(counts.items()) if why.startswith("lost")},
    )


def _error_rate(asked: tuple[str, str, float], found: Found) -> Result:
    """Within a tenth of the rate that was asked, or of the ceiling where the kind cannot reach it."""
    kind, on, rate = asked
    measured, ceiling = (found.noise[name] / found.noise["characters"] for name in ("distance", "reachable"))
    goal = min(rate, ceiling)
    return _result(
        f"{kind} on {on} at {rate}",
        "character error rate",
        measured,
        ((1 - NEAR) * goal, (1 + NEAR) * goal),
        asked=rate,
        ceiling=ceiling,
        at_ceiling=ceiling < rate,
        characters=found.noise["characters"],
        documents=found.documents,
    )


def _content(stages: dict[str, Found]) -> list[Result]:
    """Leaves, numbers that have a rule, and formats of dates."""
    found = []
    for stage, expected in (("generated", set(SCHEME)), ("injected", set(LEAVES))):
        of = stages[stage]
        missing = sorted(expected - set(of.labels))
        share = 1 - len(missing) / len(expected)
        found.append(_result(stage, "leaves", share, (1, 1), missing=missing, counts=dict(sorted(of.labels.items()))))
        bad = sum(count for fault, count in of.faults.items() if fault.startswith("an invalid"))
        checked = sum(of.checked.values())
        counts = dict(sorted(of.checked.items()))
        found.append(_result(stage, "numbers that are valid", 1 - bad / checked, (1, 1), checked=counts))
        formats = len(of.dates)
        found.append(_result(stage, "formats of dates", formats, (DATE_FORMATS, 10_000), most=_most(of.dates)))
    return found


def _most(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:40])


def summarise(results: Sequence[Result]) -> list[Result]:
    """How many documents and golds there were, and of how many settings of noise the rate is right."""
    golds = [one for one in results if one["metric"] == "golds that are true"]
    noises = [one for one in results if one["metric"] == "character error rate"]
    trips = [one for one in results if one["metric"].startswith("round trips")]
    return [
        {
            "cell": "all stages",
            "metric": "golds that are true",
            "documents": sum(one["documents"] for one in golds),
            "spans": sum(one["spans"] for one in golds),
            "ok": None,
        },
        {
            "cell": "all formats",
            "metric": "documents sent through",
            "documents": sum(one["documents"] for one in trips),
            "refused": sum(sum(one["refused"].values()) for one in trips),
            "lost": sum(sum(one["lost"].values()) for one in trips),
            "ok": None,
        },
        {
            "cell": "all kinds of noise",
            "metric": "character error rate",
            "settings": len(noises),
            "right": sum(one["ok"] for one in noises),
            "at_ceiling": sum(one["at_ceiling"] for one in noises),
            "worst": max((abs(one["rate"] / min(one["asked"], one["ceiling"]) - 1) for one in noises), default=None),
            "ok": None,
        },
    ]
