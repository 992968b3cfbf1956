"""A user's own texts: a folder or zip of .txt files, a table with a column of texts, or JSON lines.

Every text comes through unchanged, to the last blank; what is passed over is counted, never dropped unsaid."""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from workup.corpora.formats.spans import native_jsonl
from workup.corpora.formats.spans.file_sets import ids_of, opened
from workup.corpora.formats.tables.delimited import checked_lines, csv_records
from workup.documents.document import Document
from workup.documents.records import Ids, Tally, check_whole
from workup.errors import InputError, named, visible, within
from workup.files.jsonlines import open_binary

EMPTY, TWICE = "text that is empty", "text that stood before"
_TABLES, _LINES = (".csv", ".tsv", ".csv.gz", ".tsv.gz"), (".jsonl", ".jsonl.gz", ".ndjson")
_TEXT = (
    "text",
    "transcription",
    "note_text",
    "note",
    "report_text",
    "report",
    "document",
    "narrative",
    "body",
    "content",
)
_ID = ("id", "document_id", "documentid", "doc_id", "note_id", "row_id", "report_id")
_ABOUT = {
    "patient": ("patient", "patient_id", "subject_id"),
    "site": ("site",),
    "time": ("time",),
    "type": ("type", "document_type", "note_type"),
    "specialty": ("specialty", "medical_specialty"),
}
_LOOKED_AT = 200  # rows by which the column of texts is told from the others
_LONGER = 2  # times as long as every other column the texts must be to be found by their length


def read_source(
    path: Path,
    *,
    text_column: str = "",
    id_column: str = "",
    deduplicate: bool = False,
    skip_empty: bool = False,
    left_out: Tally | None = None,
) -> Iterator[Document]:
    """Documents of a source in its order, with the gold spans they have already.

    `deduplicate` leaves out a text that stood before under another id (blanks apart), `skip_empty` one without a word;
    both are counted in `left_out`. Without `skip_empty` a text without a word is an error.

    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> _ = (folder / "a.txt").write_text("Seen today."), (folder / "b.txt").write_text("Seen  today.")
    >>> counts = Tally()
    >>> [document.id for document in read_source(folder, deduplicate=True, left_out=counts)], counts[TWICE]
    (['a'], 1)
    """
    path, tally = Path(path), Tally() if left_out is None else left_out
    name = path.name.lower()
    if not path.exists():
        raise InputError(
            "a folder of .txt files, a table or a JSONL file was expected",
            where=str(path),
            got="nothing at this path",
            remedy="check the path",
        )
    if path.is_dir() or name.endswith((".zip", ".txt")):
        documents = _files(path, tally)
    elif name.endswith(_TABLES):
        documents = _table(path, text_column, id_column)
    elif name.endswith(_LINES):
        documents = native_jsonl.read(path, left_out=tally, annotated=False)
    else:
        raise InputError(
            "a folder of .txt files, a .csv or .tsv table or a .jsonl file was expected",
            where=path.name,
            got="another kind of file",
            remedy="give it the ending of what it is, or convert it first",
        )
    if (text_column or id_column) and not name.endswith(_TABLES):
        raise InputError("columns can be named for a table only", where=path.name, remedy="leave the names out")
    return _kept(documents, path.name, deduplicate, skip_empty, tally)


def _kept(
    documents: Iterable[Document], place: str, deduplicate: bool, skip_empty: bool, tally: Tally
) -> Iterator[Document]:
    seen: set[bytes] = set()
    empty = True
    for number, document in enumerate(documents, start=1):
        words = document.text.split()
        if not words:
            if not skip_empty:
                raise InputError(
                    "a text with words was expected",
                    where=within(place, named("document", document.id, number=number)),
                    got="an empty one",
                    remedy="remove it, or have such texts left out (--skip-empty)",
                )
            tally[EMPTY] += 1
            continue
        if deduplicate:
            key = hashlib.sha256(" ".join(words).encode("utf-8", "surrogatepass")).digest()
            if key in seen:
                tally[TWICE] += 1
                continue
            seen.add(key)
        empty = False
        yield document
    if empty:
        raise InputError(
            "texts were expected", where=place, got="none", remedy="check the path, and what was left out of it"
        )


# ---- files -----------------------------------------------------------------------------------------------------------


def _files(path: Path, tally: Tally) -> Iterator[Document]:
    with opened(path) as files:
        names = [name for name in files.names if name.lower().endswith(".txt")]
        tally["file that is no .txt"] += len(files.names) - len(names)
        if not names:
            raise InputError(
                "a folder with .txt files was expected",
                where=files.place,
                got=f"{len(files.names)} files of other kinds" if files.names else "no files",
                remedy="check the path; tables and JSONL files are given by themselves",
            )
        ids = ids_of(names)
        for name in names:
            yield Document(ids[name], files.text(name))


# ---- tables ----------------------------------------------------------------------------------------------------------


def _table(path: Path, text_column: str, id_column: str) -> Iterator[Document]:
    tabs = path.name.lower().removesuffix(".gz").endswith(".tsv")
    try:
        with open_binary(path) as file:
            start = file.read(4)
        with open_binary(path) as file:
            encoding = "utf-16" if start.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
            text = checked_lines(io.TextIOWrapper(file, encoding=encoding, newline=""), path.name)
            yield from _rows(text, path, tabs, text_column, id_column)
    except UnicodeDecodeError:
        raise InputError(
            "text in UTF-8, or in UTF-16 with a byte-order mark, was expected",
            where=path.name,
            got="bytes that are none",
            remedy="save the file as UTF-8",
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            "a file that can be read was expected",
            where=path.name,
            got=getattr(error, "strerror", None) or type(error).__name__,
            remedy="check that the file is whole and may be read",
        ) from None


def _rows(lines: Iterable[str], path: Path, tabs: bool, text_column: str, id_column: str) -> Iterator[Document]:
    lines = iter(lines)
    first = next(lines, "")
    mark = "\t" if tabs else max(",;\t", key=first.count)
    records = _records(csv.reader(itertools.chain([first], lines), delimiter=mark, strict=True), path.name)
    names = [name.strip() for name in next(records, (1, []))[1]]
    if not any(names) or len(set(names)) < len(names):
        raise InputError(
            "a header line with a name for every column was expected",
            where=f"{path.name}, line 1",
            got="names that are the same or empty" if any(names) else "none",
            remedy="name the columns in the first line",
        )
    looked_at = list(itertools.islice(records, _LOOKED_AT))
    text_at = _text_column(names, [row for _, row in looked_at], text_column, path.name)
    columns = {"id": _named(names, id_column, path.name) if id_column else _known(names, _ID)}
    columns |= {field: _known(names, known) for field, known in _ABOUT.items()}
    ids = Ids()
    for number, (line, row) in enumerate(itertools.chain(looked_at, records), start=1):
        where = f"{path.name}, line {line}"
        if len(row) != len(names):
            raise InputError(
                f"{len(names)} cells were expected, as many as the header has",
                where=where,
                got=str(len(row)),
                remedy="put cells that hold the dividing mark or a line end in quotes",
            )
        about: dict[str, Any] = {field: row[at].strip() or None for field, at in columns.items() if at is not None}
        about["id"] = about.get("id") or f"{path.name.split('.')[0]}-{number}"
        about["text"] = row[text_at]
        for field, cell in about.items():
            check_whole(cell or "", field=field, where=where)
        ids.add(about["id"], where=where)
        yield Document(**about)


def _records(reader: Any, place: str) -> Iterator[tuple[int, list[str]]]:
    """Rows with the line they start on."""
    for line, row in csv_records(reader, where=place):
        if any("\0" in cell for cell in row):
            raise InputError("a text table was expected", where=f"{place}, line {line}", got="a NUL byte")
        yield line, row


def _known(names: list[str], known: Iterable[str]) -> int | None:
    folded = [name.casefold() for name in names]
    return next((folded.index(name) for name in known if name in folded), None)


def _named(names: list[str], wanted: str, place: str) -> int:
    if wanted not in names:
        raise InputError(
            "a column of the table was expected",
            where=place,
            got=repr(wanted[:60]),
            remedy=f"name one of {', '.join(visible(name[:40]) for name in names[:30])}",
        )
    return names.index(wanted)


def _text_column(names: list[str], rows: list[list[str]], wanted: str, place: str) -> int:
    """The column that is named; else the one with a name that texts have; else the one with far longer cells."""
    if wanted:
        return _named(names, wanted, place)
    known = _known(names, _TEXT)
    if known is not None:
        return known
    lengths = [sum(len(row[i]) for row in rows if i < len(row)) for i in range(len(names))]
    longest = max(range(len(names)), key=lengths.__getitem__)
    others = max((length for i, length in enumerate(lengths) if i != longest), default=0)
    if lengths[longest] and lengths[longest] >= _LONGER * others:
        return longest
    raise InputError(
        "the column with the texts must be clear",
        where=place,
        got="no column with a name that texts have, nor one with far longer cells than the others",
        remedy=f"name it (--text-column), one of {', '.join(visible(name[:40]) for name in names[:30])}",
    )
