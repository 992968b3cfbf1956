"""A corpus is read once where it may be held, and streams anew where it may not; either way the same record results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.notes import notes
from workup.corpora.formats.spans import batches
from workup.runs import RunDirectory
from workup.study import Study
from workup.tasks.spans import corpus as corpora
from workup.validate import validate


class Dates:
    """A detector that masks every digit."""

    name, version = "digits", "1"

    def detect(self, texts: list[str]) -> list[list[dict[str, Any]]]:
        """A span for each digit."""
        return [
            [{"start": i, "end": i + 1, "label": "date"} for i, one in enumerate(text) if one.isdigit()]
            for text in texts
        ]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "notes.jsonl"
    path.write_text("".join(json.dumps(note) + "\n" for note in notes(12, seed=3)))
    return path


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Each time that the lines of the corpus are read from their file."""
    found: list[Path] = []
    real = batches.lines

    def counted(path: Path, **settings: Any) -> Iterator[tuple[int, bytes]]:
        found.append(path)
        return real(path, **settings)

    monkeypatch.setattr(batches, "lines", counted)
    return found


def run(file: Path, out: Path, **changes: Any) -> tuple[bytes, bytes]:
    """The record and the details of a study of the detector."""
    content = {"name": "passes", "task": "spans", "corpus": {"path": file.name}, "bootstrap": {"replicates": 200}}
    study = Study.of({**content, **changes}, base=file.parent)
    with RunDirectory.open(out) as place:
        report = validate(study, system=Dates(), run=place, details="all")
    return report.to_json().encode(), (out / "details.jsonl").read_bytes()


def test_a_small_corpus_is_read_once(file: Path, passes: list[Path], tmp_path: Path) -> None:
    run(file, tmp_path / "run", utility="lexicon")
    assert passes == [file]


def test_a_large_one_streams_for_each_walk_and_gives_the_same_bytes(
    file: Path, passes: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = run(file, tmp_path / "held", utility="lexicon")
    passes.clear()
    monkeypatch.setattr(corpora, "HELD", 0)
    assert run(file, tmp_path / "streamed", utility="lexicon") == held
    assert len(passes) == 5  # checked, asked, counted, details of spans, details of lost terms


def test_what_is_held_has_a_limit(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora, "HELD", 2_000)
    kept, batch = corpora.Held(), next(batches.read_batches(file))
    monkeypatch.setattr(corpora, "_PER_DOCUMENT", 0)
    monkeypatch.setattr(corpora, "_PER_SPAN", 0)
    kept.add(batch)
    assert sum(map(len, batch.texts)) > 2_000 and kept.batches is None
    kept.add(batch)
    assert kept.batches is None
