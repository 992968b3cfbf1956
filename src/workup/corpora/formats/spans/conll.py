"""CoNLL: a token and its tag on each line, BIO or BIOES. Tags cannot hold spans that overlap, which are refused.

What Workup writes also holds the text and each token's offsets, so that the text comes back to the character; a file
from elsewhere is read with one blank between tokens, and is counted as such."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from workup.documents.document import Document, Span
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
    word,
)
from workup.errors import InputError, named, near, within
from workup.files.disk import replace_whole
from workup.files.jsonlines import decoded, lines

name = "conll"
endings = (".conll", ".bio", ".iob", ".bioes", ".conll.txt")

SCHEMES = ("bio", "bioes")
_COMMENT = re.compile(r"# (newdoc id|newdoc|newpar|sent_id|text|global\.columns|generator)\b(?: = (.*))?")
_TAG = re.compile(r"O|([BIESLU])-(\S+)")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_STARTS, _ENDS = "BSU", "ESLU"


def recognises(path: Path) -> bool:
    """Whether the name says so; tokens and tags alone look like any text."""
    return path.is_file() and path.name.lower().endswith(endings)


def read(path: Path, *, offsets: str = "codepoint", left_out: Tally | None = None) -> Iterator[Document]:
    """Documents of a file: by `# newdoc` or -DOCSTART- where it has one, else one for each block of lines."""
    path, counting, tally = Path(path), Counting.of(offsets), Tally() if left_out is None else left_out
    ids, count = Ids(), 0
    for count, block in enumerate(filter(_Block.holds, _blocks(path)), start=1):
        where = f"{path.name}, line {block.line}"
        id = block.id or f"{path.name.partition('.')[0]}-{count}"
        ids.add(id, where=where)
        if block.text is None:
            tally["document whose white space is not known (one blank is put between tokens)"] += 1
            if not counting.plain:
                raise InputError("offsets were expected", where=where, got="tokens alone", remedy="leave offsets out")
        yield _document(block, id, where, counting)
    if not count:
        raise InputError("tokens with tags were expected", where=path.name, got="an empty file", remedy="check it")


@dataclass
class _Block:
    """The lines of one document: (line number, columns); None where a sentence ends."""

    line: int
    id: str = ""
    text: str | None = None
    rows: list[tuple[int, list[str]] | None] = field(default_factory=list)

    def holds(self) -> bool:
        """Whether there is a document: after the last mark of a file there may be none."""
        return bool(self.id) or self.text is not None or any(self.rows)


def _blocks(path: Path) -> Iterator[_Block]:
    block: _Block | None = None
    # A mark may first come after the first document, so the file is looked through before.
    marked = any(content.startswith((b"-DOCSTART-", b"# newdoc")) for _, content in lines(path))
    for number, content in lines(path, blank=True):
        where = f"{path.name}, line {number}"
        line = decoded(content, where=where)
        if "\0" in line:
            raise InputError("a text file was expected", where=where, got="a NUL byte", remedy="save it as UTF-8")
        comment = _COMMENT.fullmatch(line)
        starts = line.startswith("-DOCSTART-") or (comment is not None and comment.group(1).startswith("newdoc"))
        if starts or (line.strip() and block is None):
            if block is not None:
                yield block
            block = _Block(number)
        if comment is not None and block is not None:
            _note(block, comment.group(1), comment.group(2), where)
        elif not line.strip():
            if block is not None and not marked:
                yield block
                block = None
            elif block is not None:
                block.rows.append(None)
        elif not starts and block is not None:
            block.rows.append((number, line.split("\t") if "\t" in line else line.split()))
    if block is not None:
        yield block


def _note(block: _Block, key: str, value: str | None, where: str) -> None:
    """What a comment says: an id as it is or in quotes; a text only in quotes, since others fold white space."""
    quoted = None
    if value and value.startswith('"'):
        try:
            quoted = json.loads(value)
        except ValueError:
            quoted = None
    if key == "newdoc id" and value:
        block.id = word(quoted if isinstance(quoted, str) else value, field="newdoc id", where=where)
    elif key == "text" and isinstance(quoted, str) and not block.rows:
        block.text = quoted


def _document(block: _Block, id: str, where: str, counting: Counting) -> Document:
    """Tokens put together to a text, where that is not given, and tags to spans."""
    file = where.rpartition(", line ")[0]
    pieces: list[str] = []
    length = 0
    pairs: list[tuple[int, int]] = []
    for row in block.rows:
        if row is None:
            pieces[-1:] = ["\n"] if pieces else []
        elif block.text is None:
            token = row[1][0]
            pairs.append((length, length + len(token)))
            pieces += [token, " "]
            length += len(token) + 1
        else:
            pairs.append(_offsets(row[1], f"{file}, line {row[0]}"))
    text = "".join(pieces[:-1]) if block.text is None else block.text
    check_whole(text, field="text", where=within(where, named("document", id)))
    try:
        pairs = to_codepoints(text, pairs, counting=counting, document=id)
    except InputError as error:
        raise located(error, where) from None
    marked = [Marked(span) for span in _spans(_tokens_of(block.rows, pairs, text, file))]
    return build(id, text, marked, where=where, counting=Counting())


def _tokens_of(
    rows: list[tuple[int, list[str]] | None], pairs: list[tuple[int, int]], text: str, file: str
) -> Iterator[tuple[int, int, str] | None]:
    """Start, end and tag of every token, which must be what the text says there; None where a sentence ends."""
    places = iter(pairs)
    for row in rows:
        if row is None:
            yield None
            continue
        number, columns = row
        start, end = next(places)
        if not 0 <= start < end <= len(text) or text[start:end] != columns[0]:
            raise InputError(
                "a token must be what the text says at its place",
                where=f"{file}, line {number}",
                got=f"a token of {len(columns[0])} characters at {start} to {end} of {len(text)}, which is another",
                remedy="write the file anew, or name the unit that the offsets count",
            )
        yield start, end, _tag(columns, f"{file}, line {number}")


def _tag(columns: list[str], where: str) -> str:
    found = columns[-1] if len(columns) > 1 else ""
    if not _TAG.fullmatch(found):
        raise InputError(
            "a token and, in the last column, a tag such as O, B-DATE or I-DATE were expected",
            where=where,
            got="one column" if len(columns) < 2 else "another last column",
            remedy="check the format",
        )
    return found


def _offsets(columns: list[str], where: str) -> tuple[int, int]:
    numbers = columns[-3:-1]
    if len(columns) < 4 or not all(re.fullmatch(r"[0-9]{1,10}", number) for number in numbers):
        raise InputError(
            "a token, its start, its end and its tag were expected, divided by tabs",
            where=where,
            got="other columns below a '# text' that is in quotes",
            remedy="write the file anew, or remove the '# text' line",
        )
    start, end = (offset(int(number), field="offset", where=where) for number in numbers)
    return start, end


def _spans(tokens: Iterable[tuple[int, int, str] | None]) -> Iterator[Span]:
    """Spans by the rule of conlleval: a tag that continues nothing starts a span."""
    current: Span | None = None
    for token in tokens:
        found = _TAG.fullmatch(token[2]) if token else None
        prefix, label = found.groups() if found else (None, None)
        if current is not None and (prefix is None or prefix in _STARTS or label != current.label):
            yield current
            current = None
        if token is None or prefix is None:
            continue
        current = Span(current.start if current else token[0], token[1], str(label))
        if prefix in _ENDS:
            yield current
            current = None
    if current is not None:
        yield current


# ---- writing ---------------------------------------------------------------------------------------------------------


def write(documents: Iterable[Document], path: Path, *, left_out: Tally | None = None, scheme: str = "bio") -> None:
    """One file: for each document its id and text in quotes, then token, start, end and tag, divided by tabs."""
    if scheme not in SCHEMES:
        raise InputError("a known scheme of tags was expected", got=f"'{scheme[:20]}'", remedy=near(scheme, SCHEMES))
    ids = Ids()

    def texts() -> Iterator[str]:
        for number, document in enumerate(documents, start=1):
            ids.add(document.id, where=f"document {number}")
            _check(document, named("document", document.id, number=number))
            count_left_out(document, left_out)
            yield f"# newdoc id = {json.dumps(document.id)}\n# text = {json.dumps(document.text)}\n"
            yield from _rows(document, scheme)
            yield "\n"

    replace_whole(Path(path), texts())


def _check(document: Document, where: str) -> None:
    one_list(document, format="CoNLL", where=where)
    for text, field_name in ((document.id, "id"), (document.text, "text")):
        check_whole(text, field=field_name, where=where)
    reason = ""
    spans = sorted(enumerate(document.spans), key=lambda item: (item[1].start, item[1].end))
    overlap = next(((a, b) for (a, one), (b, other) in pairwise(spans) if other.start < one.end), None)
    if overlap:
        reason = f"spans {min(overlap)} and {max(overlap)}, which overlap"
    elif "\0" in document.text:
        reason = "a NUL character"
    for place, span in spans:
        if document.text[span.start].isspace() or document.text[span.end - 1].isspace():
            reason = reason or f"span {place}, which begins or ends with white space"
        if not re.fullmatch(r"\S+", span.label) or not span.label.isprintable():
            reason = reason or f"span {place}, whose label holds white space"
    if reason:
        raise InputError(
            "spans that tags can hold were expected: one list, apart from each other, from token to token",
            where=where,
            got=reason,
            remedy="choose another format, such as spans-jsonl or brat",
        )


def _rows(document: Document, scheme: str) -> Iterator[str]:
    """Tokens, cut also where a span starts or ends; a blank line where the text has a line end outside spans."""
    tags, last = _Tags(document, scheme), 0
    for start, end in _tokens(document):
        tag = tags.of(start, end)
        if "\n" in document.text[last:start] and tag[0] not in "IE" and last:
            yield "\n"
        last = end
        yield f"{document.text[start:end]}\t{start}\t{end}\t{tag}\n"


def _tokens(document: Document) -> Iterator[tuple[int, int]]:
    edges = sorted({edge for span in document.spans for edge in (span.start, span.end)})
    place = 0
    for found in _TOKEN.finditer(document.text):
        start = found.start()
        while place < len(edges) and edges[place] < found.end():
            if edges[place] > start:
                yield start, edges[place]
                start = edges[place]
            place += 1
        yield start, found.end()


class _Tags:
    """Tags for tokens that come in order; spans do not overlap."""

    def __init__(self, document: Document, scheme: str) -> None:
        self._spans = sorted(document.spans, key=lambda span: span.start)
        self._place, self._bioes = 0, scheme == "bioes"

    def of(self, start: int, end: int) -> str:
        """The tag of the token at this place."""
        while self._place < len(self._spans) and self._spans[self._place].end <= start:
            self._place += 1
        span = self._spans[self._place] if self._place < len(self._spans) else None
        if span is None or span.start >= end:
            return "O"
        first, final = start == span.start, end == span.end
        prefix = "B" if first else "I"
        if self._bioes and final:
            prefix = "S" if first else "E"
        return f"{prefix}-{span.label}"
