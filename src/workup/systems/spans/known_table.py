"""A table of what is known of each patient, read for the native de-identifier: CSV, Parquet or JSON lines, or a folder
with a file for each patient.

Columns are recognised by their names (`documents/column_names.py`). Cells are read as text, so that no number loses its
zeros. No message holds a cell, a key or the name of a file in a folder."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workup.corpora.formats.spans.file_sets import files_in
from workup.corpora.formats.tables.columnar import read_parquet
from workup.corpora.formats.tables.delimited import checked_lines, csv_records
from workup.documents.column_names import is_key, kind_of, leaf_of, plain
from workup.documents.labels import SCHEME, branch_of
from workup.documents.records import shown_key
from workup.errors import InputError, near, within
from workup.files.jsonlines import kind, lines, parse, value_of
from workup.files.received import content_of

Row = tuple[str, list[tuple[str, str]]]
_TEXTS, _LINES, _COLUMNS = (".csv", ".tsv", ".txt"), (".jsonl", ".ndjson", ".json"), (".parquet", ".pq")
_LARGEST = 1 << 30  # bytes of a table: a million values take a hundredth of it
_LONG_FORM = ("value", "known_value")
_KIND_NAMES = ("kind", "label", "leaf", "type", "field")
_ROUNDS = 100_000  # of the hash that stands for a table, so that guessing one is slow
_KEY_REMEDY = "name the column with the patient's key as known_key (--known-key), or call it patient_id"


@dataclass(frozen=True)
class KnownTable:
    """Where the rows are and what their columns hold; the rows themselves are read when asked for, and not kept."""

    paths: tuple[tuple[Path, str | None], ...] = field(repr=False)  # with the patient's key, where a file is one's own
    key: str
    where: str
    fingerprint: str
    unused: tuple[str, ...] = ()

    def rows(self) -> Iterator[Row]:
        """Each row's patient, with pairs of a kind and a cell."""
        for number, (path, own) in enumerate(self.paths, start=1):
            where = within(self.where, f"file {number:,}") if own is not None else within(self.where, path.name)
            yield from _rows(path, key=self.key, own=own, where=where)


def read_known(path: Path, *, key: str = "", where: str) -> KnownTable:
    """The table at a path, its columns checked; a folder holds a file for each patient, named by the key."""
    where = within(where, "known values")
    if path.is_dir():
        names = [name for name in files_in(path) if Path(name).suffix.lower() in (*_TEXTS, *_LINES, *_COLUMNS)]
        if not names:
            raise InputError(
                "a folder with a file for each patient was expected",
                where=where,
                got="no .csv, .jsonl or .parquet file in it",
            )
        paths: tuple[tuple[Path, str | None], ...] = tuple((path / name, Path(name).stem) for name in names)
    elif path.is_file():
        if path.suffix.lower() not in (*_TEXTS, *_LINES, *_COLUMNS):
            raise InputError(
                "a table in .csv, .tsv, .jsonl or .parquet was expected", where=where, got="another ending"
            )
        paths = ((path, None),)
    else:
        raise InputError("a table, or a folder of tables, was expected", where=where, got="nothing at this path")
    unused: dict[str, None] = {}
    for number, (one, own) in enumerate(paths, start=1):
        here = within(where, f"file {number:,}") if own is not None else within(where, one.name)
        names_of = _column_names(one, where=here)
        unused |= dict.fromkeys(_unused(names_of, key=key, own=own, where=here))
    shown = tuple(name if shown_key(name) == f"key '{name}'" else "one whose name is not shown" for name in unused)
    return KnownTable(paths, key, where, _fingerprint(paths, key, where=where), tuple(dict.fromkeys(shown)))


def _fingerprint(paths: Sequence[tuple[Path, str | None]], key: str, *, where: str) -> str:
    """Eight signs that change with the table, so that answers are not taken from another; slow to guess at."""
    whole = hashlib.sha256(key.encode("utf-8", "surrogatepass"))
    for path, own in paths:
        whole.update(f"\0{own or ''}\0".encode("utf-8", "surrogatepass"))
        whole.update(hashlib.sha256(_content(path, where=where)).digest())
    return hashlib.pbkdf2_hmac("sha256", whole.digest(), b"workup known values", _ROUNDS).hex()[:8]


def _content(path: Path, *, where: str) -> bytes:
    try:
        return content_of(path, most=_LARGEST, linked=True)
    except OSError as error:
        raise InputError(
            "a table that can be read was expected", where=where, got=error.strerror or type(error).__name__
        ) from None


# ---- columns ---------------------------------------------------------------------------------------------------------


def _unused(names: Sequence[str], *, key: str, own: str | None, where: str) -> list[str]:
    """Columns that nothing is looked for in; refuses a table without a key or without a known column."""
    chosen = _key_column(names, key, own=own, where=where)
    said, value = _long_form(names)
    if value:
        return [name for name in names if name not in (chosen, said, value)]
    if not any(kind_of(name) for name in names if name != chosen):
        raise InputError(
            "columns of known values were expected, such as name, dob, phone, mrn or address",
            where=where,
            got=f"{len(names)} columns of other names",
            remedy="name them so, or as a canonical leaf such as name_patient",
        )
    return [name for name in names if name != chosen and kind_of(name) is None]


def _key_column(names: Sequence[str], key: str, *, own: str | None, where: str) -> str:
    if own is not None:
        return next((name for name in names if name == key or (not key and is_key(name))), "")
    if key:
        if key not in names:
            raise InputError(
                "the column with the patient's key must be in the table",
                where=where,
                got="no such column",
                remedy=near(key, [name for name in names if shown_key(name) == f"key '{name}'"]),
            )
        return key
    keys = [name for name in names if is_key(name)]
    keys = keys or [name for name in names if plain(name) in ("patient", "id")]
    if len(keys) != 1:
        got = f"{len(keys)} columns that may be it" if keys else "none"
        raise InputError("one column with the patient's key was expected", where=where, got=got, remedy=_KEY_REMEDY)
    return keys[0]


def _long_form(names: Sequence[str]) -> tuple[str, str]:
    """The columns of kind and value, of a table with one value a row."""
    value = next((name for name in names if plain(name) in _LONG_FORM), "")
    said = next((name for name in names if plain(name) in _KIND_NAMES), "")
    return (said, value) if said and value else ("", "")


# ---- rows ------------------------------------------------------------------------------------------------------------


def _rows(path: Path, *, key: str, own: str | None, where: str) -> Iterator[Row]:
    chosen: tuple[str, str, str] | None = None
    kinds: dict[str, str] = {}
    before: tuple[str, ...] = ()
    for place, record in _records(path, where=where):
        names = tuple(record)
        if chosen is None or names != before:
            before = names
            chosen = (_key_column(names, key, own=own, where=place), *_long_form(names))
            told = {name: _usable(kind_of(name)) for name in names if name != chosen[0]}
            kinds = {name: one for name, one in told.items() if one is not None}
        column, kind_column, value_column = chosen
        patient = own if own is not None else (_texts(record[column]) or [""])[0].strip()
        if not patient:
            raise InputError("a row must say whose it is", where=place, got="an empty key", remedy="fill it in")
        if value_column:
            said = (_texts(record[kind_column]) or [""])[0]
            leaf = _usable(kind_of(said)) if said else None
            if leaf is None:
                raise InputError(
                    "a kind must be a leaf that can be looked for, or a name of one such as dob or phone",
                    where=place,
                    got="another word" if said else "none",
                )
            yield patient, [(leaf, text) for text in _texts(record[value_column])]
            continue
        yield patient, [(one, text) for name, one in kinds.items() for text in _texts(record[name])]


def _usable(told: str | None) -> str | None:
    """A kind that can be looked for: ages, years and clock times tell nobody apart."""
    if told is None:
        return None
    leaf = leaf_of(told)
    useless = branch_of(leaf) in ("AGE", "CLIN") or leaf in ("time", "year_only", "date_relative", "state", "country")
    return None if useless or leaf not in SCHEME else told


def _texts(cell: Any) -> list[str]:
    """A cell as texts: none where it is empty, several where it is a list; a whole number without a point."""
    if cell is None or isinstance(cell, (bool, dict)):
        return []
    if isinstance(cell, list):
        return [text for one in cell if not isinstance(one, list) for text in _texts(one)]
    if isinstance(cell, float):
        return [] if cell != cell else [str(int(cell)) if cell.is_integer() else repr(cell)]
    return [str(cell)]


def _records(path: Path, *, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    ending = path.suffix.lower()
    if ending in _LINES:
        yield from _json_records(path, where=where)
    elif ending in _COLUMNS:
        yield from _parquet_records(path, where=where)
    else:
        yield from _csv_records(path, where=where)


def _column_names(path: Path, *, where: str) -> list[str]:
    names: dict[str, None] = {}
    for count, (_, record) in enumerate(_records(path, where=where)):
        names |= dict.fromkeys(record)
        if path.suffix.lower() not in _LINES or count > 1_000:
            break
    if not names:
        raise InputError("rows were expected", where=where, got="an empty table", remedy="give a table with rows")
    return list(names)


def _json_records(path: Path, *, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for place, record in _json_values(path, where=where):
        if not isinstance(record, dict):
            raise InputError("a JSON object was expected", where=place, got=kind(record))
        yield place, record


def _json_values(path: Path, *, where: str) -> Iterator[tuple[str, Any]]:
    """Objects line by line; a file that ends in .json holds one, or a list of them."""
    if path.suffix.lower() == ".json":
        try:
            whole = parse(_content(path, where=where))
        except (ValueError, RecursionError):
            raise InputError("JSON was expected", where=where, got="a file that is none") from None
        yield from (
            (f"{where}, entry {n}", one) for n, one in enumerate(whole if isinstance(whole, list) else [whole], 1)
        )
        return
    try:
        for number, line in lines(path):
            yield f"{where}, line {number}", value_of(line, where=f"{where}, line {number}")
    except InputError as error:  # a message of the reader's own names the file, which may be named after a patient
        raise InputError(
            error.expected,
            where=error.where if error.where.startswith(where) else where,
            got=error.got,
            remedy=error.remedy,
        ) from None


def _parquet_records(path: Path, *, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        table = read_parquet(path)
    except InputError as error:
        raise InputError(error.expected, where=where, got=error.got, remedy=error.remedy) from None
    columns = [_native(column) for column in table.values()]
    for number, cells in enumerate(zip(*columns, strict=True), start=1):
        yield f"{where}, row {number}", dict(zip(table, cells, strict=True))


def _native(column: Any) -> list[Any]:
    """Cells as Python's own; days as ISO, nothing where a value is missing."""
    if column.dtype.kind == "M":
        return [None if one is None else str(one)[:10] for one in column.tolist()]
    return list(column.tolist())


def _csv_records(path: Path, *, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    content = _content(path, where=where)
    try:
        text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("text in UTF-8 was expected", where=where, got="bytes that are none") from None
    head = text[: 1 << 16].partition("\n")[0]
    delimiter = max(("\t", ";", ","), key=head.count)
    reader = csv.reader(checked_lines(io.StringIO(text, newline=""), where), delimiter=delimiter, strict=True)
    records = csv_records(reader, where=where)
    first = next(records, None)
    if first is None:
        return
    names = [name.strip() for name in first[1]]
    if len(set(names)) < len(names):
        raise InputError("columns must have names of their own", where=where, got="one name twice, or two without one")
    for line, cells in records:
        if len(cells) != len(names):
            raise InputError(
                f"{len(names)} cells were expected, as many as the header has",
                where=f"{where}, line {line}",
                got=str(len(cells)),
                remedy="a value that holds the sign between cells must be in quotes",
            )
        yield f"{where}, line {line}", dict(zip(names, cells, strict=True))
