"""Corpora with known truth as a stranger makes them: one command after another, and what is refused leaves nothing."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.json_lines import read_lines
from tests.support.shell import COMMAND, SECRET, call
from workup.corpora.formats.spans.any_format import span_formats

NOTES = ("corpus", "generate", "--kind", "notes")
TEXT = f"{SECRET} The patient was seen in clinic by the nurse. He lives with his wife. Follow up in two weeks.\n"
OUT = {"brat": "c", "i2b2": "c", "conll": "c.conll", "docbin": "c.spacy", "spans-jsonl": "c.jsonl"}


def places(path: Path) -> dict[str, list[tuple[int, int, str, str]]]:
    """Every gold of a corpus with the text that it lies on."""
    found = {}
    for one in read_lines(path):
        spans = [(span["start"], span["end"], span["label"]) for span in one["spans"]]
        found[one["id"]] = sorted((*span, one["text"][span[0] : span[1]]) for span in spans)
    return found


# ---- one command after another ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", sorted(span_formats()))
def test_what_was_generated_and_perturbed_comes_back_from_every_format(format: str, tmp_path: Path) -> None:
    made, noisy, there = tmp_path / "made.jsonl", tmp_path / "noisy.jsonl", tmp_path / OUT.get(format, "c.json")
    assert call(*NOTES, "--count", "25", "--seed", "5", "-o", made).code == 0
    noise = ("--kind", "homoglyph", "--rate", "0.05", "--on", "both", "--seed", "1", "-o", noisy)
    assert call("corpus", "noise", made, *noise).code == 0
    assert call("corpus", "convert", noisy, there, "--to", format).code == 0
    assert call("corpus", "convert", there, tmp_path / "again.jsonl", "--from", format).code == 0
    assert places(tmp_path / "again.jsonl") == places(noisy)
    assert len(places(noisy)) == 25 and places(noisy) != places(made)


def test_generated_notes_can_be_injected_into_and_scored(tmp_path: Path) -> None:
    """Golds of the source move with their text, and a detector that answers with the gold finds all of it."""
    made, injected = tmp_path / "made.jsonl", tmp_path / "injected.jsonl"
    assert call(*NOTES, "--count", "20", "--seed", "5", "-o", made).code == 0
    assert call("corpus", "inject", "--source", made, "--seed", "1", "-o", injected).code == 0
    for before, after in zip(read_lines(made), read_lines(injected), strict=True):
        assert len(after["text"]) > len(before["text"])
        old = [(span["label"], span["text"]) for span in before["spans"]]
        new = [(span["label"], after["text"][span["start"] : span["end"]]) for span in after["spans"]]
        assert not set(old) - set(new) and len(new) > len(old)
    pred = tmp_path / "pred.jsonl"
    found = [{"id": one["id"], "spans": [_bare(span) for span in one["spans"]]} for one in read_lines(injected)]
    pred.write_text("".join(json.dumps(one) + "\n" for one in found))
    done = call("score", "spans", "--gold", injected, "--pred", pred, "--replicates", "200", "--json", "-")
    assert done.code == 0, done.err
    estimates = json.loads(done.out)["results"]["internal"]["estimates"]
    assert {one["value"] for one in estimates if one["metric"] == "recall" and not one["slice"].get("label")} == {1.0}


def _bare(span: dict[str, Any]) -> dict[str, Any]:
    return {key: span[key] for key in ("start", "end", "label")}


# ---- a study that splits by family -----------------------------------------------------------------------------------

MEMORY = r'''
import re

from workup.corpora.generate.notes import generate

WORD = re.compile(r"\w+|[^\w\s]")


class Memory:
    """Knows nothing but the three words that stood before a value in notes of one half of the families."""

    name, version = "memory", "1"

    def __init__(self):
        self.known = {}
        for note in generate(400, seed=2).documents():
            if note.groups["phrasing"] == "a":
                words = list(WORD.finditer(note.text))
                starts = {word.start(): place for place, word in enumerate(words)}
                for span in note.spans:
                    place = starts.get(span.start, 0)
                    if span.identifier in ("direct", "quasi") and place >= 3:
                        size = len(WORD.findall(note.text[span.start : span.end]))
                        self.known[tuple(word[0].lower() for word in words[place - 3 : place])] = size, span.label

    def detect(self, texts):
        return [list(self.found(list(WORD.finditer(text)))) for text in texts]

    def found(self, words):
        for place in range(3, len(words)):
            size, label = self.known.get(tuple(word[0].lower() for word in words[place - 3 : place]), (0, ""))
            if size:
                last = words[min(place + size, len(words)) - 1]
                yield {"start": words[place].start(), "end": last.end(), "label": label}
'''
STUDY = """
name: templates
task: spans
corpus: {generate: {kind: notes, count: 200, seed: 9, types: [discharge_summary, progress_note, nursing_note]}}
systems: [{name: memory, use: "template_memory:Memory"}]
modes: [overlap]
levels: [phi]
lenses: {subgroups: {by: [phrasing, family]}}
bootstrap: {replicates: 200}
smallest_cell: 1
gates: ["recall{phrasing=b,mode=overlap}.low >= 0.4"]
"""


def test_a_study_shows_what_was_learnt_of_templates_alone(tmp_path: Path) -> None:
    """A detector that learnt the templates of half of the families looks good on them, and only there."""
    (tmp_path / "template_memory.py").write_text(MEMORY)
    (tmp_path / "study.yaml").write_text(STUDY)
    done = call("run", tmp_path / "study.yaml", "-o", tmp_path / "out")
    assert done.code == 1, done.err  # the gate on the half that was not seen
    lens = json.loads((tmp_path / "out" / "report.json").read_text())["results"]["subgroups"]
    recall = [one for one in lens["estimates"] if one["metric"] == "recall" and one["slice"].get("mode") == "overlap"]
    seen, other = (next(one for one in recall if one["slice"].get("phrasing") == half) for half in "ab")
    assert seen["low"] > 0.4 > 0.25 > other["high"]
    families = {one["slice"]["family"]: one for one in recall if "family" in one["slice"]}
    assert len(families) == 11  # none is dropped; the smallest says how few it rests on
    assert "read with care" in families["discharge_summary/deceased"]["reason"]
    [gap] = [
        one
        for one in lens["comparisons"]
        if (one["metric"], one["kind"]) == ("recall", "difference")
        and one["slice"] == {"level": "phi", "mode": "overlap", "phrasing": "a"}
    ]
    assert gap["low"] > 0.2


# ---- what is refused -------------------------------------------------------------------------------------------------


def _folder(path: Path, **files: bytes) -> Path:
    path.mkdir()
    for name, content in files.items():
        (path / f"{name}.txt").write_bytes(content)
    return path


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _torn_zip(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", TEXT)
    path.write_bytes(path.read_bytes()[:-30])
    return path


ROW = f"1,{TEXT.strip()}\n".encode()
SOURCES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "an empty text": (lambda at: _folder(at / "s", a=TEXT.encode(), b=b" \n"), "a text with words"),
    "an empty text in a table": (lambda at: _written(at / "s.csv", b"id,text\n" + ROW + b"2,\n"), "a text with words"),
    "an empty folder": (lambda at: _folder(at / "s"), "no files"),
    "no text at all": (lambda at: _written(at / "s.csv", b"id,text\n"), "texts were expected"),
    "Latin-1 in a folder": (lambda at: _folder(at / "s", a=TEXT.encode(), b=b"Ren\xe9 was seen today.\n"), "UTF-8"),
    "Latin-1 in a table": (lambda at: _written(at / "s.csv", b"id,text\n" + ROW + b"2,Ren\xe9 was seen\n"), "UTF-8"),
    "Latin-1 in JSON lines": (lambda at: _written(at / "s.jsonl", b'{"id": "1", "text": "Ren\xe9 seen"}\n'), "UTF-8"),
    "a torn archive": (lambda at: _torn_zip(at / "s.zip"), "zip"),
    "a torn gzip": (lambda at: _written(at / "s.csv.gz", gzip.compress(b"id,text\n" + ROW * 99)[:-9]), "can be read"),
    "another kind of file": (lambda at: _written(at / "s.pdf", b"%PDF-1.7"), "another kind of file"),
    "the same id twice": (lambda at: _written(at / "s.csv", b"id,text\n" + ROW + ROW), "id"),
    "an open quote": (lambda at: _written(at / "s.csv", b'id,text\n1,"' + TEXT.encode()), "quote"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_that_cannot_be_read_leaves_nothing(name: str, tmp_path: Path) -> None:
    make, said = SOURCES[name]
    source = make(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    done = call("corpus", "inject", "--source", source, "--seed", "1", "-o", out / "c.jsonl")
    assert done.code == 2 and said in done.err, done.err
    assert done.err.count("\n") == 1 and SECRET not in done.err and "Traceback" not in done.err
    assert list(out.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_source_that_may_not_be_read_leaves_nothing(tmp_path: Path) -> None:
    source = _written(tmp_path / "s.csv", b"id,text\n" + ROW)
    source.chmod(0)
    done = call("corpus", "inject", "--source", source, "--seed", "1", "-o", tmp_path / "c.jsonl")
    assert done.code == 2 and list(tmp_path.iterdir()) == [source]


BAD = {
    "a leaf that is none": ((*NOTES, "--count", "5", "--seed", "1", "--leaves", "name_pateint"), "'name_patient'"),
    "a density that is none": ((*NOTES, "--count", "5", "--seed", "1", "--density", "1000"), "density"),
    "no notes": ((*NOTES, "--count", "0", "--seed", "1"), "count"),
    "more notes than there are": ((*NOTES, "--count", "99999999999", "--seed", "1"), "count"),
    "a seed below zero": ((*NOTES, "--count", "5", "--seed", "-1"), "seed"),
    "too few workers": ((*NOTES, "--count", "5", "--seed", "1", "--workers", "-2"), "workers"),
    "no such type": ((*NOTES, "--count", "5", "--seed", "1", "--types", "poem"), "types"),
    "no such generator": (("corpus", "generate", "--kind", "nots", "--count", "5", "--seed", "1"), "'notes'"),
    "a leaf that cannot be injected": (("corpus", "inject", "--source", "s", "--seed", "1", "--leaf", "sn"), "'ssn'"),
    "more values than a text can hold": (
        ("corpus", "inject", "--source", "s", "--seed", "1", "--density", "400"), "a density must be"),
    "a density of none": (("corpus", "inject", "--source", "s", "--seed", "1", "--density", "0"), "a density must be"),
    "a time that is none": (("corpus", "inject", "--source", "s", "--seed", "1", "--as-of", "soon"), "as-of"),
    "noise on no corpus": (("corpus", "noise", "s", "--kind", "ocr", "--rate", "0.1", "--seed", "1"), "known format"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_asked_for_leaves_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _folder(tmp_path / "s", a=TEXT.encode())
    words, said = BAD[name]
    done = call(*words, "-o", "c.jsonl")
    assert done.code == 2 and said in done.err, done.err
    assert SECRET not in done.err and "Traceback" not in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s"]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_corpus_that_is_broken_off_leaves_nothing(workers: str, tmp_path: Path) -> None:
    """Ctrl-C while notes are being written."""
    words = (*NOTES, "--count", "200000", "--seed", "1", "--workers", workers, "-o", str(tmp_path / "c.jsonl"))
    running = subprocess.Popen([*COMMAND, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        until = time.monotonic() + 100
        while not any(tmp_path.rglob("note-*.json")):  # the first of them is on the disk
            assert running.poll() is None and time.monotonic() < until
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        assert running.wait(60) != 0
    finally:
        running.kill()
        running.wait()
    assert list(tmp_path.iterdir()) == []
