"""BRAT: a .txt and an .ann beside it for every document, in a folder or a zip. Line ends stay as they are.

A fragmented annotation whose gaps are line ends is one span; one with other text in its gaps becomes a span per
fragment, tied together by `entity`, and is written as fragments again. Attributes, relations and notes are counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from workup.corpora.formats.spans.file_sets import Files, bounded, file_name, ids_of, opened, write_files
from workup.corpora.formats.spans.sniff import names_in
from workup.documents.document import Document, Span, check_spans
from workup.documents.offsets import Counting, to_codepoints
from workup.documents.records import (
    Ids,
    Marked,
    Tally,
    build,
    check_whole,
    count_left_out,
    located,
    offset,
    one_list,
)
from workup.errors import InputError, named, within

name = "brat"
endings = (".ann", ".zip")

_FRAGMENTS = "brat:"  # before the number of a fragmented annotation, as the entity of its spans
_OTHER = {
    "A": "attributes",
    "M": "attributes",
    "R": "relations",
    "*": "relations",
    "E": "events",
    "N": "normalisations",
    "#": "notes",
}
_BREAKS = re.compile(r"[\r\n]+")
_NUMBER = re.compile(r"-?[0-9]{1,10}")


def recognises(path: Path) -> bool:
    """Whether there is an .ann file."""
    return any(found.endswith(".ann") for found in names_in(path))


def read(path: Path, *, offsets: str = "codepoint", left_out: Tally | None = None) -> Iterator[Document]:
    """Documents in the order of their names; the id is the name of the file without its ending."""
    path, counting, tally = Path(path), Counting.of(offsets), Tally() if left_out is None else left_out
    with _pair_of(path) if path.is_file() and path.suffix in (".ann", ".txt") else opened(path) as files:
        known = set(files.names)
        annotated = [one for one in files.names if one.endswith(".ann")]
        alone = sum(one.endswith(".txt") and f"{one[:-4]}.ann" not in known for one in files.names)
        tally.update({"text without annotations (no .ann beside it)": alone} if alone else {})
        if not annotated:
            raise InputError(
                "files that end in .ann were expected",
                where=path.name,
                got="none",
                remedy="check the path; an empty .ann file stands for a text with nothing to mask",
            )
        ids, seen = ids_of(annotated), Ids()
        for found in annotated:
            where = files.where(found)
            if f"{found[:-4]}.txt" not in known:
                raise InputError("a .txt file was expected beside every .ann file", where=where, got="none")
            seen.add(ids[found], where=where)
            yield _document(files, found, ids[found], counting, tally)


@contextmanager
def _pair_of(path: Path) -> Iterator[Files]:
    """The two files of one document, by the name of either."""
    pair = [path.with_suffix(ending) for ending in (".ann", ".txt")]
    names = tuple(one.name for one in pair if one.is_file())
    yield Files(path.parent.name or ".", names, partial(_of_pair, path), given=True)


def _of_pair(path: Path, name: str) -> bytes:
    return bounded(path.parent / name, linked=name == path.name)  # the other of the two nobody named


def _document(files: Files, found: str, id: str, counting: Counting, tally: Tally) -> Document:
    where = files.where(found)
    text = files.text(f"{found[:-4]}.txt")
    marked: list[Marked] = []
    for number, line in enumerate(files.text(found).removeprefix("\ufeff").split("\n"), start=1):
        line = line.removesuffix("\r")
        if line.startswith("T"):
            marked += _annotation(line, text, id, counting, f"{where}, line {number}")
        elif line and line[0] in _OTHER:
            tally[_OTHER[line[0]]] += 1
        elif line.strip():
            raise InputError(
                "a BRAT annotation was expected",
                where=f"{where}, line {number}",
                got="a line that starts with none of T, A, M, R, E, N, # and *",
                remedy="mend or remove the line",
            )
    return build(id, text, marked, where=where, counting=Counting())


def _annotation(line: str, text: str, id: str, counting: Counting, where: str) -> list[Marked]:
    """The spans of one T line, in code points; the surface is checked here, since one holds for all of them."""
    number, *rest = line.split("\t", 2)
    label, _, places = rest[0].partition(" ") if rest else ("", "", "")
    pairs = [_pair(part, where) for part in places.split(";")]
    if not label:
        raise _out_of_form(where)
    try:
        pairs = _joined(to_codepoints(text, pairs, counting=counting, document=id), text)
        spans = [Span(start, end, label, entity=f"{_FRAGMENTS}{number}" if pairs[1:] else None) for start, end in pairs]
        check_spans(text, spans, document=id)
    except InputError as error:
        raise located(error, where) from None
    if len(rest) > 1 and not any(rest[1] == form for form in _surfaces(spans, text)):
        length = sum(end - start for start, end in pairs)
        raise InputError(
            "the text under a span must be its surface",
            where=within(where, named("document", id)),
            got=f"a surface of {len(rest[1])} characters that is not the {length} at its place",
            remedy="name the unit that the offsets count (codepoint, utf16 or byte), and keep line ends as they were",
        )
    return [Marked(span) for span in spans]


def _surfaces(spans: list[Span], text: str) -> Iterator[str]:
    """What an .ann file may say of the text: a blank between fragments, and one for each line end or run of them."""
    for breaks in (_BREAKS, re.compile(r"[\r\n]")):
        yield " ".join(breaks.sub(" ", text[span.start : span.end]) for span in spans)


def _pair(part: str, where: str) -> tuple[int, int]:
    numbers = part.split(" ")
    if len(numbers) != 2 or not all(_NUMBER.fullmatch(number) for number in numbers):
        raise _out_of_form(where)
    start, end = (offset(int(number), field="offset", where=where) for number in numbers)
    return start, end


def _out_of_form(where: str) -> InputError:
    return InputError(
        "an annotation as in 'T1<tab>NAME 0 4<tab>Rose' was expected",
        where=where,
        got="a line of another form",
        remedy="give a label without blanks and whole numbers, with ; between fragments",
    )


def _joined(pairs: list[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Fragments with nothing but line ends between them are one span: BRAT cuts every span at line ends."""
    found = pairs[:1]
    for start, end in pairs[1:]:
        before, last = found[-1]
        if 0 <= before < last < start < end <= len(text) and _BREAKS.fullmatch(text, last, start):
            found[-1] = (before, end)
        else:
            found.append((start, end))
    return found


# ---- writing ---------------------------------------------------------------------------------------------------------


def write(documents: Iterable[Document], path: Path, *, left_out: Tally | None = None) -> None:
    """A .txt and an .ann for each document, into a new folder or a .zip."""
    write_files(path, _files(documents, left_out))


def _files(documents: Iterable[Document], left_out: Tally | None) -> Iterator[tuple[str, bytes]]:
    seen = Ids()
    for number, document in enumerate(documents, start=1):
        where = named("document", document.id, number=number)
        seen.add(document.id, where=f"document {number}")
        for text, field in ((document.id, "id"), (document.text, "text")):
            check_whole(text, field=field, where=where)
        _check(document, where)
        groups = list(_grouped(document))
        kept = {span.entity for spans in groups if len(spans) > 1 for span in spans}
        if left_out is not None:
            count_left_out(document, left_out, keeps=("entity",))
            lost = sum(span.entity is not None and span.entity not in kept for span in document.spans)
            left_out.update({"'entity' of a span": lost} if lost else {})
        lines = [_line(place, spans, document.text) for place, spans in enumerate(groups, start=1)]
        name = file_name(document.id, number=number)
        yield f"{name}.txt", document.text.encode()
        yield f"{name}.ann", "".join(lines).encode()


def _check(document: Document, where: str) -> None:
    one_list(document, format="BRAT", where=where)
    if "\0" in document.text:
        raise InputError("BRAT holds plain text", where=where, got="a NUL character", remedy="choose spans-jsonl")
    for place, span in enumerate(document.spans):
        if not span.label or " " in span.label or not span.label.isprintable():
            raise InputError(
                "BRAT takes labels without blanks",
                where=f"{where}, span {place}",
                got="a label with a blank in it, or an empty one",
                remedy="rename the label",
            )


def _grouped(document: Document) -> Iterator[list[Span]]:
    """Spans one by one, and together those that were the fragments of one annotation and can be so again.

    Only neighbours in the list are joined, so that a corpus read and written keeps its order."""
    group: list[Span] = []
    for span in document.spans:
        if group and not _continues(group[-1], span, document.text):
            yield group
            group = []
        group.append(span)
    if group:
        yield group


def _continues(before: Span, span: Span, text: str) -> bool:
    tied = span.entity is not None and span.entity.startswith(_FRAGMENTS) and span.entity == before.entity
    apart = before.end < span.start and not _BREAKS.fullmatch(text, before.end, span.start)
    return tied and span.label == before.label and apart


def _line(number: int, spans: list[Span], text: str) -> str:
    pieces = [piece for span in spans for piece in _pieces(span, text)]
    places = ";".join(f"{start} {end}" for start, end in pieces)
    return f"T{number}\t{spans[0].label} {places}\t{next(_surfaces(spans, text))}\n"


def _pieces(span: Span, text: str) -> Iterator[tuple[int, int]]:
    """A span cut at the line ends inside it; line ends at its very edge stay with it, or its place would be lost."""
    start = span.start
    for found in _BREAKS.finditer(text, span.start, span.end):
        if found.start() > start and found.end() < span.end:
            yield start, found.start()
            start = found.end()
    yield start, span.end
