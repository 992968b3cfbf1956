"""`workup corpus convert` and `describe`: real corpora there and back, hostile ones refused, and never a text shown."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from tests.support.places import DATA
from tests.support.shell import SECRET, call, spawn
from workup.corpora.formats.spans.any_format import read_documents, recognise
from workup.documents.document import Document

TEXT = f"Seen by Dr. {SECRET} on May 3, 2024."
RECORD = {
    "id": "n1",
    "text": TEXT,
    "spans": [
        {"start": 8, "end": 20, "label": "DOCTOR", "text": f"Dr. {SECRET}"},
        {"start": 24, "end": 35, "label": "SHOE_SIZE"},
    ],
    "patient": f"{SECRET}-7",
    "type": "progress note",
}


def corpus(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records or (RECORD,)), encoding="utf-8")
    return path


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def same(one: list[Document], other: list[Document]) -> None:
    """Every document with its text, and every span with its place and label."""
    found = {document.id: document for document in other}
    assert set(found) == {document.id for document in one}
    for document in one:
        again = found[document.id]
        assert again.text == document.text
        spans = [Counter((s.start, s.end, s.label) for s in d.spans) for d in (document, again)]
        assert spans[0] == spans[1]


@pytest.mark.parametrize(
    ("format", "place"),
    [
        ("brat", "out"),
        ("brat", "out.zip"),
        ("i2b2", "out"),
        ("conll", "out.conll"),
        ("presidio", "out.json"),
        ("tab", "out.json"),
        ("label-studio", "out.json"),
    ],
)
def test_there_and_back(format: str, place: str, tmp_path: Path) -> None:
    source = corpus(tmp_path / "c.jsonl")
    there = call("corpus", "convert", source, tmp_path / place, "--from", "spans-jsonl", "--to", format)
    assert there.code == 0, there.err
    assert there.out == ""
    assert f"1 documents, 2 spans: c.jsonl (spans-jsonl) to {place} ({format})" in there.err
    back = call("corpus", "convert", tmp_path / place, tmp_path / "back.jsonl", "--to", "jsonl")
    assert back.code == 0, back.err
    assert SECRET not in there.err + back.err
    same(list(read_documents(source)), list(read_documents(tmp_path / "back.jsonl")))


def test_counts_as_json_and_what_had_no_place(tmp_path: Path) -> None:
    source = corpus(tmp_path / "c.jsonl", {**RECORD, "meta": SECRET})
    done = call("corpus", "convert", source, tmp_path / "out", "--to", "brat", "--trim", "titles", "--json", "-")
    assert done.code == 0, done.err
    assert json.loads(done.out) == {
        "from": "spans-jsonl",
        "to": "brat",
        "documents": 1,
        "spans": 2,
        "titles_cut": 1,
        "not_taken": {"document key 'meta'": 1},
        "no_place": {"'patient' of a document": 1, "'type' of a document": 1},
    }
    assert "Titles cut from 1 spans" in done.err
    assert f"DOCTOR 12 20\t{SECRET}\n" in (tmp_path / "out" / "n1.ann").read_text()
    assert SECRET not in done.out + done.err


def test_offsets_of_another_kind(tmp_path: Path) -> None:
    record = {"id": "a", "text": "\U0001f600 Rose", "spans": [{"start": 3, "end": 6, "label": "N", "text": "Rose"}]}
    words = ("corpus", "convert", corpus(tmp_path / "c.jsonl", record), tmp_path / "o.jsonl", "--offsets")
    assert call(*words, "utf16-inclusive").code == 0
    (document,) = read_documents(tmp_path / "o.jsonl")
    assert [(s.start, s.end) for s in document.spans] == [(2, 6)]
    done = call(*words, "utf32")
    assert (done.code, "did you mean 'utf16'" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("absent.jsonl", "o.jsonl"), "nothing at this path"),
        (("absent.jsonl", "o.jsonl", "--from", "brat"), "nothing at this path"),
        (("c.jsonl", "o.json"), "label-studio and presidio and tab share"),
        (("c.jsonl", "o"), "name it with --to"),
        (("c.jsonl", "c.jsonl"), "the same place"),
        (("c.jsonl", "no/such/folder/o.jsonl"), "must be a place that can be written"),
        (("c.jsonl", "no/such/folder/o", "--to", "brat"), "must be a place that can be written"),
        (("c.jsonl", "o.jsonl", "--from", "brta"), "did you mean 'brat'"),
        (("c.jsonl", "o.jsonl", "--to", "csv"), "not one of the formats of spans"),
        (("c.jsonl", "o.jsonl", "--trim", "title"), "did you mean 'titles'"),
        (("c.jsonl", "full", "--to", "brat"), "a new or empty folder"),
        (("c.jsonl", "full", "--to", "jsonl"), "must be a place that can be written"),
        (("c.jsonl", "o.conll", "--from", "conll"), "c.jsonl, line 1"),
        (("layers.jsonl", "o.zip", "--to", "i2b2"), "document 2: one list of spans"),
        (("overlap.jsonl", "o.conll"), "document 1: spans that tags can hold"),
    ],
)
def test_usage_that_cannot_be_answered(
    words: tuple[str, ...], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    corpus(tmp_path / "c.jsonl")
    corpus(tmp_path / "layers.jsonl", RECORD, {"id": "n2", "text": TEXT, "layers": {"x": []}})
    corpus(tmp_path / "overlap.jsonl", {**RECORD, "spans": [*RECORD["spans"], {"start": 0, "end": 9, "label": "X"}]})
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    before = everything(tmp_path)
    done = call("corpus", "convert", *words)
    assert done.code == 2, done.err
    assert says in done.err
    assert done.err.count("\n") == 1
    assert SECRET not in done.out + done.err
    assert everything(tmp_path) == before


def _zip(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_dot_", "."), content)
    return buffer.getvalue()


def _line(**fields: object) -> bytes:
    return json.dumps({**RECORD, **fields}).encode()


def _spans(**fields: object) -> bytes:
    return _line(spans=[{"start": 8, "end": 20, "label": "X", **fields}])


BOMB = f'<!DOCTYPE x [<!ENTITY a "{SECRET}"><!ENTITY b "&a;&a;&a;">]><r><TEXT>&b;</TEXT><TAGS/></r>'
HOSTILE: dict[str, tuple[str, bytes, str]] = {
    "bad UTF-8": ("c.jsonl", b'{"id": "a", "text": "' + SECRET.encode() + b'\xff"}', "c.jsonl, line 1: text in UTF-8"),
    "a NUL byte": ("c.jsonl", b'{"id": "a\0' + SECRET.encode() + b'"}', "NUL byte"),
    "half a pair": ("c.jsonl", _line()[:-1] + b', "site": "\\ud800"}', "surrogate"),
    "a float": ("c.jsonl", _spans(start=8.5), "line 1, span 0: 'start' must be a whole number"),
    "a text": ("c.jsonl", _spans(start=SECRET), "must be a whole number; got a text"),
    "a bool": ("c.jsonl", _spans(start=True), "true or false"),
    "a huge number": ("c.jsonl", _spans(end=10**400), "two thousand million"),
    "negative": ("c.jsonl", _spans(start=-8), "line 1, span 0"),
    "reversed": ("c.jsonl", _spans(start=21), "21 to 20"),
    "outside": ("c.jsonl", _spans(end=999), "8 to 999 in a text of 36 characters"),
    "another surface": ("c.jsonl", _spans(text=f"{SECRET}!!!!"), "a surface of 12 characters that is not the 12"),
    "an unknown key": ("c.jsonl", _spans(**{SECRET: 1}), "known keys only"),
    "one id twice": ("c.jsonl", _line() + b"\n" + _line(), "line 2"),
    "nested too deeply": ("c.jsonl", b'{"id": ' + b"[" * 100_000, "nested too deeply"),
    "a long line": ("c.jsonl", _line(text=SECRET * 5_000_000), "c.jsonl, line 1: a line of at most"),
    "an XML bomb": ("c.xml", BOMB.encode(), "c.xml: plain XML was expected"),
    "a zip that leads out": ("c.zip", _zip(**{"../n1.ann": b"", "n1.txt": b"x"}), "leads out of it"),
    "a zip bomb": ("c.zip", _zip(n1_dot_ann=b"", n1_dot_txt=b"a" * 33_554_433), "at most 33,554,432 bytes"),
    "a torn zip": ("c.zip", _zip(n1_dot_ann=b"T1\tX 0 1\ta", n1_dot_txt=SECRET.encode() * 99)[:-9], "c.zip"),
    "a bad annotation": ("c.zip", _zip(n1_dot_ann=b"T1\tX 0 99\tx", n1_dot_txt=SECRET.encode()), ".ann file 1, line 1"),
    "a torn list": ("c.json", b'[{"full_text": "' + SECRET.encode(), "c.json"),
    "a list of texts": ("c.json", json.dumps([SECRET]).encode(), "c.json"),
}


@pytest.mark.parametrize("why", sorted(HOSTILE))
@pytest.mark.parametrize("verb", ["convert", "describe"])
def test_hostile_corpora_are_refused_in_one_message_without_their_text(verb: str, why: str, tmp_path: Path) -> None:
    name, content, says = HOSTILE[why]
    source = tmp_path / name
    source.write_bytes(content)
    formats = {".jsonl": "jsonl", ".zip": "brat", ".xml": "i2b2", ".json": "presidio"}
    words = (tmp_path / "o.jsonl", "--to", "jsonl") if verb == "convert" else ("--mapping", tmp_path / "m.yaml")
    done = call("corpus", verb, source, *words, "--from", formats[source.suffix])
    assert done.code == 2, done.err
    assert says in done.err
    assert done.err.count("\n") == 1
    assert SECRET not in done.out + done.err
    assert len(done.err) < 800
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_even_a_traceback_shows_no_text(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_bytes(_spans(text="Rose"))
    done = spawn("corpus", "convert", "c.jsonl", "o.jsonl", "--debug", cwd=tmp_path)
    assert done.code == 2
    [place] = re.findall(r"Traceback: (\S+)", done.err)
    assert SECRET not in done.out + done.err + Path(place).read_text(encoding="utf-8")


def test_describe_counts_and_writes_the_mapping_to_fill_in(tmp_path: Path) -> None:
    source = corpus(tmp_path / "c.jsonl")
    done = call("corpus", "describe", source, "--mapping", tmp_path / "m.yaml")
    assert done.code == 0, done.err
    assert "c.jsonl (spans-jsonl)      1 documents, 2 spans" in done.out
    assert "Types                      progress note 1" in done.out
    assert "NOT MAPPED" in done.out
    assert "1 labels to fill in" in done.err
    content = (tmp_path / "m.yaml").read_text(encoding="utf-8")
    assert '  "SHOE_SIZE":   # 1 spans' in content
    assert SECRET not in done.out + done.err + content
    again = call("corpus", "describe", source, "--mapping", tmp_path / "m.yaml")
    assert (again.code, "would be lost" in again.err) == (2, True)
    (tmp_path / "m.yaml").write_text(content.replace('"SHOE_SIZE":', '"SHOE_SIZE": quantity'), encoding="utf-8")
    done = call("corpus", "describe", source, "--labels", tmp_path / "m.yaml", "--json", "-")
    assert done.code == 0, done.err
    record = json.loads(done.out)
    assert record["unmapped"] == []
    assert [row["means"] for row in record["labels"]] == ["name_provider", "quantity"]
    assert SECRET not in done.out


def test_the_help_has_an_example() -> None:
    for verb in ("convert", "describe"):
        done = call("corpus", verb, "--help")
        assert done.code == 0
        assert f"Example: workup corpus {verb}" in " ".join(done.out.split())


REAL = {
    "meddocan/meddocan_brat.zip": ("brat", 1000, 22_795),
    "presidio_synth/synth_dataset_v2.json": ("presidio", 1500, 2_863),
    "tab/tab.jsonl": ("tab", 72, 3_394),
}


@pytest.mark.real_data
@pytest.mark.parametrize("name", sorted(REAL))
def test_real_corpora_there_and_back(name: str, tmp_path: Path) -> None:
    format, documents, spans = REAL[name]
    source = DATA / name
    assert recognise(source).name == format
    original = list(read_documents(source))
    assert (len(original), sum(len(d.spans) for d in original)) == (documents, spans)
    there = call("corpus", "convert", source, tmp_path / "native.jsonl", "--from", format, "--to", "spans-jsonl")
    assert there.code == 0, there.err
    assert f"{documents:,} documents, {spans:,} spans" in there.err
    assert list(read_documents(tmp_path / "native.jsonl")) == original
    place = tmp_path / ("back.zip" if format == "brat" else "back.json")
    back = call("corpus", "convert", tmp_path / "native.jsonl", place, "--to", format)
    assert back.code == 0, back.err
    same(original, list(read_documents(place)))


@pytest.mark.real_data
def test_brat_is_written_as_it_was_read(tmp_path: Path) -> None:
    source = DATA / "meddocan" / "meddocan_brat.zip"
    assert call("corpus", "convert", source, tmp_path / "out", "--to", "brat").code == 0
    with zipfile.ZipFile(source) as archive:
        names = {Path(name).name: name for name in archive.namelist() if name.endswith((".txt", ".ann"))}
        assert len(names) == 2000
        for name, member in names.items():
            written, original = (tmp_path / "out" / name).read_bytes(), archive.read(member)
            if name.endswith(".txt"):
                assert written == original
            else:  # the same annotations under new numbers
                lines = [{line.split(b"\t", 1)[1] for line in c.split(b"\n") if line} for c in (written, original)]
                assert lines[0] == lines[1]


@pytest.mark.real_data
def test_real_tweets_and_articles_in_conll() -> None:
    dev = list(read_documents(DATA / "wnut17" / "emerging.dev.conll", format="conll"))
    assert (len(dev), sum(len(d.spans) for d in dev)) == (1009, 836)
    wiki = DATA / "ner_open" / "wikigold" / "CONLL-format" / "data" / "wikigold.conll.txt"
    articles = list(read_documents(wiki))
    assert len(articles) == 145
    assert sum(len(d.text.split()) for d in articles) == 39_152 - 145  # the count of its makers takes marks for tokens
