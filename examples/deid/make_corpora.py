"""The corpora of the de-identification study, from fixed seeds: the same bytes wherever it is run.

    python examples/deid/make_corpora.py [--source mtsamples.csv.gz] [--out examples/deid/corpora] [--scale 1]

Seeds from 9000 on are kept for this study: nobody may look at these notes while writing rules."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from workup.corpora.formats.spans import native_jsonl
from workup.corpora.generate.notes import generate
from workup.corpora.inject import Injector
from workup.corpora.inject.corpus import inject_all
from workup.corpora.inject.sources import read_source
from workup.corpora.noise import NoiseMeasure, add_noise
from workup.documents.document import Document

SEEDS = {"medium density": 9001, "high density": 9002, "injected": 9101, "names": 9201, "noise": 9301, "edits": 9302}
NOISE = (("ocr", 0.01), ("ocr", 0.02), ("ocr", 0.05), ("typo", 0.01), ("typo", 0.02), ("typo", 0.05))
# Notes at full size. The names are sets of ten (five origins, two sexes); the noisy notes come once for each of NOISE
# and once as they are.
SIZES = {"medium density": 3_600, "high density": 3_600, "names": 10_000, "noise": 1_000}


def main() -> None:
    """Write detector.jsonl, names.jsonl and noise.jsonl, and a record of what was made."""
    parser = argparse.ArgumentParser(description="Corpora of the de-identification study.")
    parser.add_argument(
        "--source", type=Path, help="clinical text without identifiers to inject into, such as MTSamples"
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "corpora")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full size")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / ".gitignore").write_text("*\n")
    sizes = {name: max(10, round(count * asked.scale / 10) * 10) for name, count in SIZES.items()}
    made: dict[str, Any] = {"seeds": SEEDS, "sizes": sizes, "measured_noise": {}}
    corpora = {
        "detector": detector(sizes, asked.source, asked.scale),
        "names": names(sizes["names"]),
        "noise": noise(sizes["noise"], made["measured_noise"]),
    }
    for name, documents in corpora.items():
        held = list(documents)
        native_jsonl.write(held, asked.out / f"{name}.jsonl")
        made[name] = {"documents": len(held), "golds": sum(len(one.spans) for one in held)}
        print(f"{name}: {len(held):,} documents, {made[name]['golds']:,} golds")
    (asked.out / "made.json").write_text(json.dumps(made, indent=1) + "\n")


def detector(sizes: dict[str, int], source: Path | None, scale: float) -> Iterator[Document]:
    """Generated notes at two densities and, where there is a source, real text with injected identifiers."""
    for density in ("medium", "high"):
        name = f"{density} density"
        for note in generate(sizes[name], seed=SEEDS[name], density=density).documents():
            patient = f"{density}-{note.patient}"
            yield replace(note, patient=patient, groups=_groups(note, corpus=f"generated, {name}"))
    if source is None:
        return
    texts = list(read_source(source, deduplicate=True, skip_empty=True))
    chosen = texts[: max(10, round(len(texts) * scale))]
    for found in inject_all(chosen, injector=Injector(seed=SEEDS["injected"])):
        one = found.document
        patient = f"injected-{one.patient or one.id}"
        yield replace(one, type=one.type or "transcription", patient=patient, groups=_groups(one, corpus="injected"))


def names(count: int) -> Iterator[Document]:
    """Every note ten times, with names of other origins and sexes and nothing else changed.

    The notes of a set are counted as one unit, so that contrasts between groups are contrasts within sets.
    """
    for note in generate(count, seed=SEEDS["names"], swap="both").documents():
        yield replace(note, patient=re.sub(r"-\d+$", "", note.patient or note.id))


def noise(count: int, measured: dict[str, float]) -> Iterator[Document]:
    """Notes with many ambiguous names and hard negatives, as they are and with noise on all of the text."""
    notes = list(generate(count, seed=SEEDS["noise"], ambiguity="high").documents())
    yield from (replace(note, groups=_groups(note, noise="none")) for note in notes)
    for kind, rate in NOISE:
        seen, name = NoiseMeasure(), f"{kind} {rate:.0%}"
        for note in add_noise(notes, kind=kind, rate=rate, on="both", seed=SEEDS["edits"], measure=seen):
            yield replace(note, id=f"{note.id}-{kind}-{rate:g}", groups=_groups(note, noise=name))
        measured[name] = seen.rate


def _groups(note: Document, **more: str) -> dict[str, Any]:
    return {**note.groups, **more}


if __name__ == "__main__":
    main()
