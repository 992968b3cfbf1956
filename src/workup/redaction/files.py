"""What `workup redact` and `workup restore` read and write: texts, folders of them, JSONL corpora, standard input.

Files are written whole, for their owner's eyes only; no message holds a word of a text."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from workup.errors import InputError, named, within
from workup.files.output_paths import said
from workup.files.received import content_of, is_file, is_folder
from workup.files.unpacking import LARGEST_UNPACKED

if TYPE_CHECKING:
    from workup.documents.document import Document
    from workup.redaction.columns import Chosen
    from workup.redaction.patient import Redacted

STANDARD_INPUT = "-"
RECORD = ".redaction.json"
_TABLES, _PARQUET, _JSON = (".csv", ".tsv"), (".parquet", ".pq"), (".json", ".ndjson", ".jsonl")
_CORPORA = (".jsonl", ".jsonl.gz", ".ndjson")
_LARGEST_TEXT = 32 * 2**20  # bytes of one text; no note is longer, and it must fit in memory many times over
_LARGEST_RECORD = 256 * 2**20


class Container(Protocol):
    """A file whose parts are documents: a table, or resources of FHIR."""

    documents: tuple[Document, ...]
    whole: tuple[str, ...]
    plan: list[dict[str, str]]

    def rewritten(self, redacted: Sequence[Redacted]) -> bytes:
        """The file with its redacted parts, everything else as it was."""
        ...


@dataclass(frozen=True)
class Source:
    """One file: the name it has in the output, its bytes, and the documents in it."""

    name: str
    content: bytes
    documents: tuple[Document, ...]
    is_corpus: bool = False
    annotated: tuple[bool, ...] = ()  # of a corpus: whether each document came with a list of gold spans
    not_taken: Mapping[str, int] | None = None
    original_name: str = ""  # where it is renamed
    new_ids: tuple[str, ...] = ()  # of its documents, where they are renamed
    container: Container | None = None  # where documents are parts of a table or a resource

    @property
    def whole(self) -> tuple[str, ...]:
        """Of each document, the leaf that it is as a whole; empty where it is text in which a detector looks."""
        return ("",) * len(self.documents) if self.container is None else self.container.whole

    def rewritten(self, redacted: Sequence[Redacted]) -> bytes:
        """The file with redacted documents in it, in the same form."""
        if self.container is not None:
            return self.container.rewritten(redacted)
        documents = [one.document for one in redacted]
        if not self.is_corpus:
            return documents[0].text.encode("utf-8")
        from workup.corpora.formats.spans.native_jsonl import record_of

        lines = []
        ids = self.new_ids or [document.id for document in documents]
        for id, document, annotated in zip(ids, documents, self.annotated, strict=True):
            record = record_of(replace(document, id=id))
            if not annotated:
                record.pop("spans", None)
            lines.append(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
        content = "".join(lines).encode("utf-8")
        return gzip.compress(content, mtime=0) if self.name.lower().endswith(".gz") else content


def read_sources(
    paths: Sequence[Path], *, patient: str | None, columns: Chosen | None = None
) -> tuple[list[Source], bool]:
    """All files to redact, and whether they came as several (a folder, or more than one path).

    `columns` is what the user says of columns, where a file is a table.
    """
    several = len(paths) > 1 or (paths[0].is_dir() and str(paths[0]) != STANDARD_INPUT)
    sources: list[Source] = []
    for path in paths:
        if str(path) == STANDARD_INPUT:
            content = _standard_input()
            sources.append(_text("stdin", content, where="standard input"))
        elif path.is_dir():
            sources += _folder(path)
        elif path.is_file() and (held := contained(path, columns)) is not None:
            sources.append(held)
        elif path.name.lower().endswith(_CORPORA):
            sources.append(_corpus(path))
        elif path.is_file():
            sources.append(_text(path.name, _bytes(path), where=path.name))
        else:
            raise InputError(
                "a text file, a folder of .txt files, a .jsonl corpus, a table, FHIR or - was expected",
                where=str(path),
                got="nothing at this path",
                remedy="check the path",
            )
    names = [source.name for source in sources]
    twice = next((name for name in names if names.count(name) > 1), None) if len(names) < 10_000 else None
    if twice is not None or len(set(names)) < len(names):
        raise InputError("files must have names of their own", got="one name twice", remedy="redact them one by one")
    if patient is not None:
        sources = [
            replace(one, documents=tuple(replace(document, patient=patient) for document in one.documents))
            for one in sources
        ]
    return sources, several


def contained(path: Path, columns: Chosen | None = None) -> Source | None:
    """A table or resources of FHIR as documents; None for any other file."""
    from workup.redaction.columns import Chosen
    from workup.redaction.fhir_files import FhirFile, is_fhir
    from workup.redaction.table_files import CsvFile, ParquetFile

    name = path.name.lower()
    if not name.endswith((*_TABLES, *_PARQUET, *_JSON)):
        return None
    content = _bytes(path)
    chosen = Chosen() if columns is None else columns
    held: Container
    if name.endswith(_TABLES):
        held = CsvFile(content, name=path.name, chosen=chosen, where=path.name)
    elif name.endswith(_PARQUET):
        held = ParquetFile(content, name=path.name, chosen=chosen, where=path.name)
    elif is_fhir(content):
        held = FhirFile(content, name=path.name, where=path.name)
    else:
        return None
    if not held.documents:
        raise InputError("something to look at was expected", where=path.name, got="no text and no identifier")
    return Source(path.name, content, held.documents, is_corpus=True, container=held)


def _text(name: str, content: bytes, *, where: str) -> Source:
    from workup.documents.document import Document
    from workup.files.jsonlines import decoded

    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError("text in UTF-8 was expected", where=where, got="UTF-16", remedy="save the file as UTF-8")
    id = name.removesuffix(".txt") or name
    return Source(name, content, (Document(id, decoded(content, where=where, whole_file=True)),))


def _folder(path: Path) -> list[Source]:
    found = _files_in(path)
    texts = [one for one in found if one.suffix.lower() == ".txt"]
    if not texts:
        raise InputError(
            "a folder with .txt files was expected",
            where=path.name,
            got=f"{len(found)} files of other kinds" if found else "no files",
            remedy="name a .jsonl corpus by itself",
        )
    names = [one.relative_to(path).as_posix() for one in texts]
    sources = []
    for number, (name, one) in enumerate(zip(names, texts, strict=True), start=1):
        where = within(path.name, named("file", name, number=number))
        sources.append(_text(name, _bytes(one, where=where), where=where))
    others = len(found) - len(texts)
    return [replace(sources[0], not_taken={"file that is no .txt": others} if others else None), *sources[1:]]


def _corpus(path: Path) -> Source:
    from workup.corpora.formats.spans import native_jsonl
    from workup.documents.records import Tally
    from workup.files.jsonlines import lines, value_of

    left_out = Tally()
    documents = tuple(native_jsonl.read(path, annotated=False, left_out=left_out))
    annotated = tuple("spans" in value_of(line, where=path.name) for _, line in lines(path))
    return Source(path.name, _bytes(path), documents, True, annotated, dict(left_out))


def _files_in(folder: Path) -> list[Path]:
    from workup.corpora.formats.spans.file_sets import files_in

    return [folder / name for name in files_in(folder)]


def _standard_input() -> bytes:
    content = sys.stdin.buffer.read(_LARGEST_TEXT + 1)
    if len(content) > _LARGEST_TEXT:
        raise InputError(
            f"a text of at most {_LARGEST_TEXT:,} bytes was expected",
            where="standard input",
            got="a longer one",
            remedy="cut it into several",
        )
    return content


def _bytes(path: Path, *, where: str = "") -> bytes:
    """A corpus is as long as it likes within what memory may hold; one text is not."""
    large = (*_CORPORA, *_TABLES, *_PARQUET, *_JSON)
    most = LARGEST_UNPACKED if path.name.lower().endswith(large) else _LARGEST_TEXT
    try:
        return content_of(path, most=most, linked=not where)
    except OSError as error:
        raise InputError(
            "a file that can be read was expected", where=where or path.name, got=error.strerror or type(error).__name__
        ) from None


def read_redacted(path: Path) -> tuple[dict[str, bytes], bool]:
    """Redacted files by name, and whether they came as a folder."""
    if str(path) == STANDARD_INPUT:
        return {"stdin": _standard_input()}, False
    if path.is_dir():
        found = [one for one in _files_in(path) if not one.name.endswith(RECORD)]
        files: dict[str, bytes] = {}
        for number, one in enumerate(found, start=1):
            name = one.relative_to(path).as_posix()
            files[name] = _bytes(one, where=within(path.name, named("file", name, number=number)))
        return files, True
    return {path.name: _bytes(path)}, False


# ---- the record beside an output -------------------------------------------------------------------------------------


def record_path(path: Path) -> Path:
    """Where the record of a redaction is: beside its output, under its name."""
    return path.with_name(path.name + RECORD)


def invented_before(paths: Sequence[Path], hashes: Mapping[str, str]) -> str | None:
    """The name of a file that, by the record beside it, holds surrogates or shifted dates already."""
    for path in paths:
        for record in (record_path(path), record_path(path.absolute().parent)):
            known = _record(record)
            if known.get("invents") is True:
                outputs = set(map(str, dict(known.get("outputs") or {}).values()))
                found = next((name for name, one in hashes.items() if one in outputs), None)
                if found is not None:
                    return found
    return None


def _record(path: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
        if path.is_file():
            record = json.loads(content_of(path, most=_LARGEST_RECORD, linked=True))
            return record if isinstance(record, dict) and isinstance(record.get("outputs"), dict) else {}
    return {}


# ---- writing ---------------------------------------------------------------------------------------------------------


def check_place(out: Path, *, several: bool, sources: Sequence[Path]) -> None:
    """Refuse, before any work, an output that would overwrite what is read or mix with other files."""
    for source in sources:
        if str(source) != STANDARD_INPUT and out.absolute().resolve() == source.absolute().resolve():
            raise InputError(
                "the output must be another place than the input", where=str(out), remedy="name a new file or folder"
            )
    if os.path.lexists(out) and not (is_file(out) or is_folder(out)):
        raise InputError(
            "the output must be a file or a folder",
            where=str(out),
            got="a link, which is not followed" if out.is_symlink() else "something else",
            remedy="name the place itself; - is standard output",
        )
    if several and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(
            "a new or empty folder was expected for several files", where=str(out), got="something that is there"
        )
    if not several and out.is_dir():
        raise InputError("a file was expected for one text", where=str(out), got="a folder")


def write_files(files: Mapping[str, bytes], out: Path, *, several: bool) -> None:
    """Put one file, or a folder of files, in place whole or not at all."""
    from workup.files.disk import replace_whole

    with said(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        if not several:
            replace_whole(out, [next(iter(files.values()))])
            return
        room = Path(tempfile.mkdtemp(prefix=".workup-", dir=out.parent))  # 0700, under a name that nobody can foresee
        waiting = room / "new"
        try:
            waiting.mkdir(mode=0o700)
            for name, content in files.items():
                place = waiting / name
                place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                replace_whole(place, [content])
            if out.exists():
                out.rmdir()
            waiting.replace(out)
        finally:
            shutil.rmtree(room, ignore_errors=True)
