"""A corpus on disk: one JSONL, one sidecar each, the same bytes at any number of workers; whole, or not at all."""

from __future__ import annotations

import json
import os
import stat
from functools import partial
from pathlib import Path

import pytest

from workup import plugins
from workup.corpora import writer
from workup.corpora.formats.spans import native_jsonl
from workup.corpora.formats.spans.file_sets import ids_of
from workup.corpora.generate.notes import corpus, generate
from workup.documents.builder import Pieces, Written
from workup.errors import InputError


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_jsonl_and_sidecars_say_the_same(tmp_path: Path) -> None:
    jsonl, sidecars = generate(45, seed=3, as_of="2026-01-31T09:00:00Z").write(tmp_path / "notes.jsonl")
    assert (jsonl.name, sidecars.name) == ("notes.jsonl", "notes.truth")
    documents = list(native_jsonl.read(jsonl))
    assert len(documents) == 45 == len(list(sidecars.iterdir()))
    for document in documents:
        truth = json.loads((sidecars / f"{document.id}.json").read_text(encoding="utf-8"))
        assert list(truth) == [
            "documentId", "sourceCorpus", "specialty", "documentType", "annotations", "boilerplate", "injectionConfig",
            "injectionTimestamp",
        ]  # fmt: skip
        assert truth["annotations"] == [
            {
                "start": span.start,
                "end": span.end,
                "type": span.label,
                "text": document.text[span.start : span.end],
                "subtype": span.subtype,
            }
            for span in document.spans
        ]
        assert (truth["documentId"], truth["sourceCorpus"]) == (document.id, "notes")
        assert (truth["specialty"], truth["documentType"]) == (document.specialty, document.type)
        assert all(start < end <= len(document.text) for start, end in truth["boilerplate"])
        config = truth["injectionConfig"]
        assert (config["phiDensity"], config["ambiguityLevel"], config["seed"]) == ("medium", "standard", 3)
        assert {"workup", "notes", "values", "surnames.tsv"} <= set(config["libraries"])
        assert truth["injectionTimestamp"] == "2026-01-31T09:00:00Z"


def test_no_time_is_recorded_unless_one_is_given(tmp_path: Path) -> None:
    _, sidecars = generate(2, seed=3).write(tmp_path / "notes.jsonl")
    assert all("injectionTimestamp" not in json.loads(path.read_text()) for path in sidecars.iterdir())


def test_the_same_bytes_at_one_and_at_four_workers(tmp_path: Path) -> None:
    notes = generate(450, seed=11, length="short")
    seen: list[tuple[str, int, int]] = []
    notes.write(tmp_path / "one", workers=1, watch=lambda *said: seen.append(said))
    notes.write(tmp_path / "four", workers=4)
    assert content(tmp_path / "one") == content(tmp_path / "four")
    assert len(content(tmp_path / "one")) == 451
    assert seen == [("documents", 200, 450), ("documents", 400, 450), ("documents", 450, 450)]


def test_a_folder_takes_both_and_may_be_there_when_it_is_empty(tmp_path: Path) -> None:
    out = tmp_path / "corpus"
    out.mkdir()
    jsonl, sidecars = generate(3, seed=1).write(out)
    assert jsonl == out / "corpus.jsonl" and sorted(path.name for path in out.iterdir()) == ["corpus.jsonl", "truth"]
    assert len(list(sidecars.iterdir())) == 3
    assert stat.S_IMODE(next(sidecars.iterdir()).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("out", "there", "message"),
    [
        ("notes.jsonl", "notes.jsonl", "one that exists"),
        ("notes.jsonl", "notes.truth", "one that exists"),
        ("folder", "folder/something", "one that exists"),
        ("nowhere/notes.jsonl", "", "no such folder"),
        ("notes.csv", "", "ends in .csv"),
    ],
)
def test_an_output_that_is_there_or_cannot_be_is_refused(tmp_path: Path, out: str, there: str, message: str) -> None:
    if there:
        (tmp_path / there).parent.mkdir(exist_ok=True)
        (tmp_path / there).write_text("kept")
    with pytest.raises(InputError, match=message):
        generate(3, seed=1).write(tmp_path / out)
    assert content(tmp_path) == ({there: b"kept"} if there else {})


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    with pytest.raises(InputError, match="can be written"):
        generate(3, seed=1).write(locked / "notes.jsonl")


def breaking(settings: corpus.NoteSettings) -> object:
    def make(number: int) -> Written:
        if number == 250:
            raise OSError(28, "No space left on device")
        return generate(number + 1, seed=settings.seed).written(number)

    return make


@pytest.mark.parametrize("out", ["notes.jsonl", "folder"])
def test_nothing_is_left_of_a_corpus_that_broke_off(tmp_path: Path, out: str) -> None:
    with pytest.raises(InputError, match="No space left on device"):
        writer.write_corpus(
            tmp_path / out,
            maker=partial(breaking, generate(1, seed=1).settings),  # type: ignore[arg-type]
            count=300,
            corpus="notes",
            config={},
        )
    assert list(tmp_path.iterdir()) == []


def named(_: object = None) -> object:
    return lambda number: Pieces().text("Seen. ").written(("ward 3/note", "..", ".hidden", "50%", "Übung")[number])


def test_a_sidecar_can_be_named_by_any_id(tmp_path: Path) -> None:
    jsonl, sidecars = writer.write_corpus(
        tmp_path / "notes.jsonl",
        maker=named,
        count=5,
        corpus="notes",
        config={},  # type: ignore[arg-type]
    )
    ids = [document.id for document in native_jsonl.read(jsonl)]
    assert ids == ["ward 3/note", "..", ".hidden", "50%", "Übung"]
    files = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sidecars.iterdir()}
    assert sorted(truth["documentId"] for truth in files.values()) == sorted(ids)
    assert ids_of(list(files)) == {name: truth["documentId"] for name, truth in files.items()}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.jsonl", "notes.truth"]


@pytest.mark.parametrize("workers", [-1, True, 1.5])
def test_workers_must_be_a_count(tmp_path: Path, workers: int) -> None:
    with pytest.raises(InputError, match="workers"):
        generate(3, seed=1).write(tmp_path / "notes.jsonl", workers=workers)
    assert list(tmp_path.iterdir()) == []


def test_a_study_makes_the_generator_by_its_path() -> None:
    made = plugins.make(
        "generators", "workup.corpora.generate.notes:generate", {"count": 2}, where="study", context={"seed": 4}
    )
    assert len(made) == 2 and [document.id for document in made.documents()] == ["note-4-0000000", "note-4-0000001"]
