"""A user's own texts: every form read without a change, and every fault told in one sentence without its text."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.shell import SECRET
from workup.corpora.inject import read_source
from workup.corpora.inject.sources import EMPTY, TWICE
from workup.documents.records import Tally
from workup.errors import InputError

ODD = 'Seen, "quoted";\r\n  two  blanks\tand é \U0001f600 '


def texts(path: Path, **settings: object) -> dict[str, str]:
    return {document.id: document.text for document in read_source(path, **settings)}  # type: ignore[arg-type]


def csv_row(*cells: str, mark: str = ",") -> str:
    quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
    return mark.join(quoted) + "\n"


def test_a_folder_of_text_files(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_bytes(ODD.encode())
    (tmp_path / "a.TXT").write_text("one")
    (tmp_path / "notes.doc").write_text("no")
    counts = Tally()
    assert texts(tmp_path, left_out=counts) == {"a": "one", "b": ODD}
    assert counts["file that is no .txt"] == 1
    assert texts(tmp_path / "b.txt") == {"b": ODD}


@pytest.mark.parametrize("mark", [",", ";"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_table_keeps_its_texts_to_the_byte(tmp_path: Path, mark: str, packed: bool) -> None:
    head = mark.join(["note_id", "medical_specialty", "transcription"]) + "\n"
    content = (head + csv_row("7", "Cardiology", ODD, mark=mark) + csv_row("8", "", "x", mark=mark)).encode("utf-8-sig")
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    found = list(read_source(path))
    assert [(one.id, one.text, one.specialty) for one in found] == [("7", ODD, "Cardiology"), ("8", "x", None)]


def test_tabs_and_utf16(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("id\ttext\n1\tcafé, bar\n", encoding="utf-16")
    assert texts(path) == {"1": "café, bar"}


def test_the_text_column_is_found_by_its_length_or_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\nx," + "long words " * 30 + "\ny," + "other words " * 30 + "\n")
    assert list(texts(path)) == ["t-1", "t-2"]
    assert texts(path)["t-1"].startswith("long")
    assert texts(path, text_column="a", id_column="b")["long words " * 29 + "long words"] == "x"
    path.write_text("a,b\nsame size,of cells\n")
    with pytest.raises(InputError, match=r"--text-column.*a, b"):
        texts(path)


def test_json_lines_with_or_without_golds(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    gold = {"start": 0, "end": 4, "label": "DATE", "text": "Seen"}
    rows = [{"id": "1", "text": ODD, "patient": "p"}, {"id": "2", "text": "Seen", "spans": [gold]}]
    path.write_text("\n".join(map(json.dumps, rows)))
    one, other = read_source(path)
    assert (one.text, one.patient, one.spans) == (ODD, "p", ())
    assert other.spans[0].label == "DATE"


def test_the_same_text_twice_is_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,text\n1,a b\n2,a  b\n3,\n4,c\n5,a b\n")
    counts = Tally()
    assert texts(path, deduplicate=True, skip_empty=True, left_out=counts) == {"1": "a b", "4": "c"}
    assert (counts[TWICE], counts[EMPTY]) == (2, 1)
    assert len(texts(path, skip_empty=True)) == 4


def _bytes(name: str, content: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return make


def _folder(*files: tuple[str, bytes]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        for name, content in files:
            (folder / name).write_bytes(content)
        return folder

    return make


S = SECRET.encode()
BAD = {
    "absent": (lambda folder: folder / "none.csv", "nothing at this path"),
    "another kind": (_bytes("t.docx", S), "another kind of file"),
    "no files": (_folder(), r"no files"),
    "files of another kind": (_folder(("a.doc", S)), "1 files of other kinds"),
    "latin-1 text": (_folder(("a.txt", S + b" \xe9t\xe9")), "UTF-8 was expected"),
    "latin-1 table": (_bytes("t.csv", b"id,text\n1," + S + b"\xe9\n"), "UTF-8, or in UTF-16"),
    "binary": (_folder(("a.txt", S + b"\0")), "NUL byte"),
    "NUL in a table": (_bytes("t.csv", b"id,text\n1," + S + b"\0x\n"), "NUL byte|matching quotes"),
    "empty text": (_bytes("t.csv", b"id,text\n1," + S + b"\n2,  \n"), "--skip-empty"),
    "empty file": (_folder(("a.txt", b"")), "--skip-empty"),
    "empty table": (_bytes("t.csv", b""), "header line"),
    "header alone": (_bytes("t.csv", b"id,text\n"), "texts were expected"),
    "two columns of one name": (_bytes("t.csv", b"id,id\n1,2\n"), "header line"),
    "a row too short": (_bytes("t.csv", b"id,text\n1," + S + b"\n2\n"), "line 3.*2 cells were expected"),
    "an open quote": (_bytes("t.csv", b'id,text\n1,"' + S + b"\n"), "matching quotes"),
    "one id twice": (_bytes("t.csv", b"id,text\n1," + S + b"\n1," + S + b"\n"), "id of its own"),
    "broken gzip": (_bytes("t.csv.gz", b"\x1f\x8b\x08" + S), "can be read"),
    "no JSON": (_bytes("t.jsonl", b"{" + S), "valid JSON"),
    "half a pair": (_bytes("t.jsonl", b'{"id": "1", "text": "\\ud800"}'), "surrogate"),
}


@pytest.mark.parametrize("name", BAD)
def test_faults_are_told_without_the_text(name: str, tmp_path: Path) -> None:
    make, said = BAD[name]
    with pytest.raises(InputError, match=said) as told:
        texts(make(tmp_path))
    assert SECRET not in str(told.value)


def test_columns_are_for_tables_and_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(InputError, match="for a table only"):
        texts(tmp_path, text_column="text")
    path = tmp_path / "t.csv"
    path.write_text("id,text\n1,x\n")
    with pytest.raises(InputError, match="name one of id, text"):
        texts(path, text_column="note")
