"""`workup corpus inject` on the command line: corpus, ground truth and record, or a message and nothing written."""

from __future__ import annotations

import csv
import gzip
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.places import DATA
from tests.support.shell import SECRET, Done, call
from workup.corpora.formats.spans.any_format import read_documents
from workup.corpora.inject import UNKNOWN
from workup.corpora.inject.insertion import without
from workup.documents.document import IDENTIFIERS
from workup.values import LEAVES, versions

MTSAMPLES = DATA / "mtsamples" / "mtsamples.csv.gz"
TEXT = "The patient was seen in clinic by the nurse. He lives with his wife. PLAN: Follow up in two weeks with us.\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(6):
        (folder / f"note {number}.txt").write_bytes(
            f"{TEXT * (number + 1)}Seen on 03/04/2021 by Dr. Olsen.\r\n".encode()
        )
    return folder


def inject(source: Path, out: Path, *more: str) -> Done:
    return call("corpus", "inject", "--source", source, "--seed", "4", "-o", out, *more)


def test_corpus_truth_and_record(source: Path, tmp_path: Path) -> None:
    done = inject(source, tmp_path / "c.jsonl", "--json", "-", "--density", "high", "--as-of", "2024-05-01T00:00:00Z")
    assert done.code == 0, done.err
    record = json.loads(done.out)
    documents = [json.loads(line) for line in (tmp_path / "c.jsonl").read_text().splitlines()]
    assert record["documents"] == len(documents) == 6
    assert record["placed"] >= record["asked"] > 0
    assert record["residues"] == {"NAME": 6, "date": 6}
    assert json.loads((tmp_path / "c.injection.json").read_text())["leaves"] == record["leaves"]
    for document in documents:
        name = document["id"].replace(" ", "%20")
        truth = json.loads((tmp_path / "c.truth" / f"{name}.json").read_text())
        assert truth["documentId"] == document["id"] and truth["sourceCorpus"] == "notes"
        assert {"specialty", "documentType", "boilerplate"} <= set(truth)
        assert truth["injectionTimestamp"] == "2024-05-01T00:00:00Z"
        config = truth["injectionConfig"]
        assert (config["phiDensity"], config["ambiguityLevel"], config["seed"]) == ("high", "standard", 4)
        assert set(versions()) < set(config["libraries"])
        found = [(one["start"], one["end"], one["type"], one["text"]) for one in truth["annotations"]]
        assert found == [(one["start"], one["end"], one["label"], one["text"]) for one in document["spans"]]
        assert all(document["text"][start:end] == text for start, end, _, text in found)
        original = (source / f"{document['id']}.txt").read_bytes()
        assert without(document["text"], [tuple(pair) for pair in truth["inserted"]]).encode() == original


def test_without_a_time_the_truth_holds_none(source: Path, tmp_path: Path) -> None:
    assert inject(source, tmp_path / "c.jsonl").code == 0
    for path in (tmp_path / "c.truth").iterdir():
        assert "injectionTimestamp" not in json.loads(path.read_text())


def test_the_same_seed_gives_the_same_bytes(source: Path, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        assert inject(source, tmp_path / folder / "c.jsonl").code == 0
    one, two = (sorted(path for path in (tmp_path / name).rglob("*") if path.is_file()) for name in ("one", "two"))
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    assert len(one) == 6 + 2


def test_files_are_for_their_owner_alone(source: Path, tmp_path: Path) -> None:
    inject(source, tmp_path / "c.jsonl")
    for path in (tmp_path / "c.jsonl", tmp_path / "c.injection.json", *(tmp_path / "c.truth").iterdir()):
        assert path.stat().st_mode & 0o077 == 0


def test_sites_of_ones_own(source: Path, tmp_path: Path) -> None:
    table = tmp_path / "own.yaml"
    table.write_text("kinds:\n  clinic: {finds: '\\bclinic', phrases: [' (MRN {mrn:bare|dashed})']}\n")
    done = inject(source, tmp_path / "c.jsonl", "--sites", str(table), "--json", "-", "--leaf", "mrn")
    assert done.code == 0, done.err
    record = json.loads(done.out)
    assert list(record["kinds"]) == ["clinic"] and list(record["leaves"]) == ["mrn"]
    table.write_text("extends: default\n" + table.read_text())
    done = inject(source, tmp_path / "d.jsonl", "--sites", str(table), "--json", "-")
    assert len(json.loads(done.out)["kinds"]) > 1


BAD_SITES = {
    "not a table": ("- 1\n", "'kinds'"),
    "no kinds": ("kinds: {}\n", "'kinds'"),
    "an unknown key": ("kinds: {a: {finds: x, phrase: [' {mrn}']}}\n", "did you mean 'phrases'"),
    "no pattern": ("kinds: {a: {finds: '(', phrases: [' {mrn}']}}\n", "no regular expression"),
    "an unknown leaf": ("kinds: {a: {finds: x, phrases: [' {mrnn}']}}\n", "did you mean 'mrn'"),
    "an unknown form": ("kinds: {a: {finds: x, phrases: [' {mrn:baree}']}}\n", "did you mean 'bare'"),
    "a glued value": ("kinds: {a: {finds: x, phrases: [' MRN{mrn}']}}\n", "glued"),
    "two values glued": ("kinds: {a: {finds: x, phrases: [' {mrn}{date}']}}\n", "glued"),
    "no value": ("kinds: {a: {finds: x, phrases: [' nothing']}}\n", "at least one leaf"),
    "another place": ("kinds: {a: {finds: x, at: within, phrases: [' {mrn}']}}\n", "after or before"),
}


@pytest.mark.parametrize("name", BAD_SITES)
def test_bad_sites(name: str, source: Path, tmp_path: Path) -> None:
    content, said = BAD_SITES[name]
    (tmp_path / "own.yaml").write_text(content)
    done = inject(source, tmp_path / "c.jsonl", "--sites", str(tmp_path / "own.yaml"))
    assert done.code == 2 and said in done.err
    assert not (tmp_path / "c.jsonl").exists()


BAD = {
    "absent source": (("--source", "none"), "nothing at this path"),
    "unknown leaf": (("--leaf", "name_patint"), "did you mean 'name_patient'"),
    "impossible density": (("--density", "400"), "a density must be"),
    "no density": (("--density", "none"), "a density must be"),
    "unknown ambiguity": (("--ambiguity", "max"), "none, standard or high"),
    "no such sites": (("--sites", "none.yaml"), "no such file"),
    "column of a folder": (("--text-column", "text"), "for a table only"),
    "another ending": (("-o", "c.json"), ".jsonl"),
    "no such folder": (("-o", "none/c.jsonl"), "folder that exists"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_message_and_nothing_is_written(
    name: str, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    words, said = BAD[name]
    done = inject(source, Path("c.jsonl"), *words)
    assert done.code == 2 and said in done.err, done.err
    assert "Traceback" not in done.err and done.err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_fault_late_in_the_source_leaves_nothing(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    rows = [f"{number},{SECRET} The patient was seen by us.\n".encode() for number in range(300)]
    table.write_bytes(b"".join([b"id,text\n", *rows, b"300,\xff\n"]))
    done = inject(table, tmp_path / "c.jsonl")
    assert done.code == 2 and "UTF-8" in done.err and SECRET not in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]


def test_the_truth_of_another_corpus_is_not_mixed_in(source: Path, tmp_path: Path) -> None:
    assert inject(source, tmp_path / "c.jsonl").code == 0
    again = inject(source, tmp_path / "c.jsonl")
    assert again.code == 2 and "c.jsonl" in again.err and "one that exists" in again.err
    (tmp_path / "c.jsonl").unlink()
    again = inject(source, tmp_path / "c.jsonl")
    assert again.code == 2 and "c.truth" in again.err


def test_a_folder_takes_all_three(source: Path, tmp_path: Path) -> None:
    assert inject(source, tmp_path / "made").code == 0
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["corpus.jsonl", "injection.json", "truth"]
    assert len(list((tmp_path / "made" / "truth").iterdir())) == 6
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made", "notes"]
    assert inject(source, tmp_path / "made").code == 2


@pytest.mark.skipif(UNKNOWN not in IDENTIFIERS, reason="readers do not know golds that nobody checked")
def test_what_was_injected_is_read_again_and_perturbed(source: Path, tmp_path: Path) -> None:
    assert inject(source, tmp_path / "c.jsonl").code == 0
    injected = list(read_documents(tmp_path / "c.jsonl"))
    assert len(injected) == 6 and any(span.identifier == UNKNOWN for one in injected for span in one.spans)
    words = ("--kind", "ocr", "--rate", "0.1", "--on", "phi", "--seed", "1", "-o", tmp_path / "n.jsonl")
    done = call("corpus", "noise", tmp_path / "c.jsonl", *words)
    assert done.code == 0, done.err
    for before, after in zip(injected, read_documents(tmp_path / "n.jsonl"), strict=True):
        for old, new in zip(before.spans, after.spans, strict=True):
            if old.identifier == UNKNOWN:
                assert before.text[old.start : old.end] == after.text[new.start : new.end]


@pytest.mark.real_data
def test_five_hundred_notes_of_mtsamples(tmp_path: Path) -> None:
    with gzip.open(MTSAMPLES, "rt", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["transcription"].strip()]
    table = tmp_path / "mtsamples.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows[:560])
    done = inject(table, tmp_path / "c.jsonl", "--deduplicate", "--json", "-")
    assert done.code == 0, done.err
    record = json.loads(done.out)
    sources = {row["note_id"]: row["transcription"] for row in rows}
    documents = [json.loads(line) for line in (tmp_path / "c.jsonl").read_text(encoding="utf-8").splitlines()][:500]
    assert len(documents) == 500 == len({" ".join(sources[one["id"]].split()) for one in documents})
    placed: set[str] = set()
    values = 0
    for document in documents:
        truth = json.loads((tmp_path / "c.truth" / f"{document['id']}.json").read_text(encoding="utf-8"))
        text, inserted = document["text"], [tuple(pair) for pair in truth["inserted"]]
        assert without(text, inserted) == sources[document["id"]]
        assert truth["specialty"]
        assert all(one["end"] <= other["start"] for one, other in pairwise(document["spans"]))
        for first, last in inserted:  # spacing is kept: no blank comes beside another, or before a mark
            edges = text[max(0, first - 1) : first + 1], text[last - 1 : last + 1]
            assert not any(edge == "  " or re.fullmatch(r" [.,;]", edge) for edge in edges)
        for span in document["spans"]:
            start, end = span["start"], span["end"]
            assert text[start:end] == span["text"]
            ours = any(first <= start and end <= last for first, last in inserted)
            assert ours == (span.get("identifier") != "unknown")
            if ours and span.get("identifier") != "no_mask":
                values += 1
                placed.add(span["label"])
                assert not text[start - 1 : start].isalnum() and not text[end : end + 1].isalnum()
    assert placed == set(LEAVES)
    assert len(record["kinds"]) >= 25 and sum(record["residues"].values()) > 500
    assert values >= record["asked"] * 500 / record["documents"] * 0.9
