"""BRAT: fragments, line ends, what is counted and what is refused."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from workup.corpora.formats.spans import brat
from workup.documents.records import Tally
from workup.errors import InputError
from workup.documents.document import Document, Span

SECRET = "ZZSECRET"


def folder(path: Path, text: str | bytes, ann: str | bytes, name: str = "n1") -> Path:
    path.mkdir(exist_ok=True)
    (path / f"{name}.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    (path / f"{name}.ann").write_bytes(ann if isinstance(ann, bytes) else ann.encode())
    return path


def test_annotations_are_read_and_the_rest_is_counted(tmp_path: Path) -> None:
    ann = (
        "T1\tNAME 8 12\tRose\nT2\tDATE 16 21\tMay 3\nA1\tNegated T1\nM1\tSure T1\nR1\tOf Arg1:T1 Arg2:T2\n"
        "*\tEquiv T1 T2\nE1\tVisit:T1\nN1\tReference T1 X:1\tx\n#1\tAnnotatorNotes T1\ta note\n\n"
    )
    tally = Tally()
    (document,) = brat.read(folder(tmp_path / "c", "Seen by Rose on May 3.", ann), left_out=tally)
    assert document == Document("n1", "Seen by Rose on May 3.", (Span(8, 12, "NAME"), Span(16, 21, "DATE")))
    assert tally == {"attributes": 2, "relations": 2, "events": 1, "normalisations": 1, "notes": 1}


def test_line_ends_stay_as_they_are(tmp_path: Path) -> None:
    text = "\ufeffDr\r\nRose\rBerg\n\n"
    ann = "T1\tNAME 5 9\tRose\r\nT2\tNAME 10 14\tBerg\r\n"
    (document,) = brat.read(folder(tmp_path / "c", text, ann))
    assert document.text == text
    assert [text[s.start : s.end] for s in document.spans] == ["Rose", "Berg"]
    brat.write([document], tmp_path / "out")
    assert (tmp_path / "out" / "n1.txt").read_bytes() == text.encode()


def test_fragments_across_line_ends_are_one_span_and_others_are_tied_together(tmp_path: Path) -> None:
    text = "12 High Street\r\nBoston, Mr and Mrs Berg"
    ann = "T1\tADDRESS 0 14;16 22\t12 High Street Boston\nT2\tNAME 24 26;35 39\tMr Berg\n"
    (document,) = brat.read(folder(tmp_path / "c", text, ann))
    assert document.spans == (
        Span(0, 22, "ADDRESS"),
        Span(24, 26, "NAME", entity="brat:T2"),
        Span(35, 39, "NAME", entity="brat:T2"),
    )
    brat.write([document], tmp_path / "out")
    assert (tmp_path / "out" / "n1.ann").read_bytes() == ann.encode()


@pytest.mark.parametrize(
    ("text", "spans", "places"),
    [
        ("ab\ncd", [(0, 5)], ["0 2;3 5"]),
        ("ab\r\n\r\ncd", [(0, 8)], ["0 2;6 8"]),
        ("\nab\ncd\n", [(0, 7)], ["0 3;4 7"]),
        ("\n\n", [(0, 2)], ["0 2"]),
        ("ab\n\ncd", [(1, 4)], ["1 4"]),
    ],
)
def test_spans_with_line_ends_in_every_place_come_back(
    text: str, spans: list[tuple[int, int]], places: list[str], tmp_path: Path
) -> None:
    document = Document("n1", text, tuple(Span(start, end, "X") for start, end in spans))
    brat.write([document], tmp_path / "out")
    written = (tmp_path / "out" / "n1.ann").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[1].partition(" ")[2] for line in written] == places
    assert list(brat.read(tmp_path / "out")) == [document]


def test_mentions_of_one_entity_are_not_taken_for_fragments(tmp_path: Path) -> None:
    tally = Tally()
    spans = (Span(0, 4, "NAME", entity="e1"), Span(8, 12, "NAME", entity="e1"))
    brat.write([Document("n1", "Rose and Rose", spans)], tmp_path / "out", left_out=tally)
    assert len((tmp_path / "out" / "n1.ann").read_text().splitlines()) == 2
    assert tally == {"'entity' of a span": 2}


def test_surfaces_with_a_blank_for_each_line_end_or_none_at_all_are_taken(tmp_path: Path) -> None:
    for ann in ("T1\tX 0 6\tab  cd\n", "T1\tX 0 6\tab cd\n", "T1\tX 0 6\n"):
        (document,) = brat.read(folder(tmp_path / "c", "ab\n\ncd", ann))
        assert document.spans == (Span(0, 6, "X"),)


BAD = {
    "no such place": ("T1\tX 0 99\tx\n", "line 1, span 0: a span must lie inside its text"),
    "reversed": ("T1\tX 4 0\tx\n", "4 to 0"),
    "negative": ("T1\tX -1 4\tx\n", "-1 to 4"),
    "another surface": (
        "\nT1\tX 0 4\tNot this\n",
        "line 2: the text under a span .* 8 characters .* the 4",
    ),
    "a surface of one fragment": ("T1\tX 0 2;3 4\tab\n", "the text under a span must be its surface"),
    "no numbers": (f"T1\tX {SECRET}\tx\n", "a line of another form"),
    "a float": ("T1\tX 0.0 4\tx\n", "a line of another form"),
    "digits of another script": ("T1\tX ٠ ٤\tx\n", "a line of another form"),
    "many digits": (f"T1\tX 0 {'9' * 5000}\tx\n", "a line of another form"),
    "a huge number": ("T1\tX 0 9999999999\tx\n", "two thousand million"),
    "no columns": ("T1\n", "a line of another form"),
    "no label": ("T1\t 0 4\tx\n", "a line of another form"),
    "another line": (f"{SECRET}\n".replace("ZZ", "zz"), "starts with none of"),
}


@pytest.mark.parametrize("why", sorted(BAD))
def test_bad_annotations_are_refused_by_line(why: str, tmp_path: Path) -> None:
    ann, says = BAD[why]
    with pytest.raises(InputError, match=says) as caught:
        list(brat.read(folder(tmp_path / "c", f"{SECRET} seen", ann)))
    assert str(caught.value).startswith("c, .ann file 1, line ")
    assert "SECRET" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_bad_bytes_missing_texts_and_lone_texts(tmp_path: Path) -> None:
    for text, says in ((b"\xff", "c, .txt file 1: text in UTF-8"), (b"a\0b", "c, .txt file 1: .* NUL byte")):
        with pytest.raises(InputError, match=says):
            list(brat.read(folder(tmp_path / "c", text, "")))
    (tmp_path / "c" / "n1.txt").unlink()
    with pytest.raises(InputError, match=r"a \.txt file was expected beside every \.ann"):
        list(brat.read(tmp_path / "c"))
    tally = Tally()
    folder(tmp_path / "c", "x", "")
    (tmp_path / "c" / "lone.txt").write_text("y")
    assert [document.id for document in brat.read(tmp_path / "c", left_out=tally)] == ["n1"]
    assert tally == {"text without annotations (no .ann beside it)": 1}
    (tmp_path / "c" / "n1.ann").unlink()
    with pytest.raises(InputError, match=r"files that end in \.ann"):
        list(brat.read(tmp_path / "c"))


def test_one_file_of_a_pair_names_its_document(tmp_path: Path) -> None:
    folder(tmp_path / "c", "Rose", "T1\tN 0 4\tRose\n")
    folder(tmp_path / "c", "other", "", name="n2")
    for ending in (".txt", ".ann"):
        assert [d.id for d in brat.read(tmp_path / "c" / f"n1{ending}")] == ["n1"]


def test_names_in_two_folders_stay_apart_and_odd_ids_come_back(tmp_path: Path) -> None:
    for part in ("a", "b"):
        (tmp_path / "c" / part).mkdir(parents=True)
        folder(tmp_path / "c" / part, part, "")
    assert [d.id for d in brat.read(tmp_path / "c")] == ["a/n1", "b/n1"]
    ids = ["ward 3/n\n1", "..", ".hidden", "50%", "Zoë", "a%20b", "con"]
    for out in (tmp_path / "out", tmp_path / "out.zip"):
        brat.write([Document(id, id) for id in ids], out)
        assert sorted(d.id for d in brat.read(out)) == sorted(ids)
        assert all(d.id == d.text for d in brat.read(out))
    with pytest.raises(InputError, match="an id that can name a file"):
        brat.write([Document("x" * 201, "a")], tmp_path / "long")
    assert not (tmp_path / "long").exists()


def test_other_offsets(tmp_path: Path) -> None:
    corpus = folder(tmp_path / "c", "\U0001f600 Rose", "T1\tN 3 7\tRose\n")
    assert next(brat.read(corpus, offsets="utf16")).spans == (Span(2, 6, "N"),)
    with pytest.raises(InputError, match=r"ann file 1, line 1"):
        next(brat.read(corpus))
    corpus = folder(tmp_path / "c", "\U0001f600 Rose", "T1\tN 1 7\tRose\n")
    with pytest.raises(InputError, match=r"ann file 1, line 1, span 0: .* inside a character of 2"):
        next(brat.read(corpus, offsets="utf16"))


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (Document("d", "ab", (Span(0, 1, "two words"),)), "document 2, span 0: BRAT takes labels without blanks"),
        (Document("d", "ab", (Span(0, 1, "tab\t"),)), "labels without blanks"),
        (Document("d", "a\0b"), "document 2: .* a NUL character"),
        (Document("d", "a", layers={"x": ()}), "document 2: .* those of 1 annotators"),
        (Document("d", "\ud800"), "document 2: .* surrogate"),
    ],
)
def test_what_brat_cannot_hold_is_refused_whole(document: Document, says: str, tmp_path: Path) -> None:
    for out in ("out", "out.zip"):
        with pytest.raises(InputError, match=says):
            brat.write([Document("good", "x"), document], tmp_path / out)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_files_is_not_written_to_and_a_zip_has_no_clock(tmp_path: Path) -> None:
    folder(tmp_path / "c", "mine", "")
    with pytest.raises(InputError, match="a new or empty folder"):
        brat.write([Document("d", "x")], tmp_path / "c")
    assert (tmp_path / "c" / "n1.txt").read_text() == "mine"
    for name in ("one.zip", "two.zip"):
        brat.write([Document("d", "x" * 1000, (Span(0, 4, "N"),))], tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert zipfile.ZipFile(tmp_path / "one.zip").namelist() == ["d.txt", "d.ann"]
    (tmp_path / "new").mkdir()
    brat.write([Document("d", "x")], tmp_path / "new")
    assert {p.name: p.stat().st_mode & 0o777 for p in (tmp_path / "new").iterdir()} == {"d.txt": 0o600, "d.ann": 0o600}
