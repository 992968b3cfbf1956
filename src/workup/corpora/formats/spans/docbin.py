"""spaCy's DocBin (.spacy): documents as tokens. Spans that do not overlap are entities, others a span group.

Needs spaCy, an extra. Tokens are cut where a span starts or ends, so that every span lies on whole tokens; spaCy's own
tokeniser is not asked."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from workup.documents.batch import ABOUT
from workup.documents.document import Document, Span
from workup.documents.offsets import Counting
from workup.documents.records import (
    Ids,
    Marked,
    Tally,
    build,
    check_whole,
    count_left_out,
    groups_of,
    one_list,
    optional,
    word,
)
from workup.errors import InputError, MissingExtra, named
from workup.files.disk import replace_whole
from workup.files.jsonlines import LARGEST_FILE, open_binary

name = "docbin"
endings = (".spacy",)

_GROUP = "sc"  # spaCy's own default for spans that may overlap
_OURS = "workup"
_PIECE = re.compile(r"\w+|[^\w\s]| |\s")


def recognises(path: Path) -> bool:
    """Whether the name says so."""
    return path.is_file() and path.suffix == ".spacy"


def read(path: Path, *, offsets: str = "codepoint", left_out: Tally | None = None) -> Iterator[Document]:
    """Documents in the order of the file: the span group `sc` where there is one, else the entities."""
    path, ids = Path(path), Ids()
    if not Counting.of(offsets).plain:
        raise InputError("offsets as spaCy counts them were expected", got=f"'{offsets}'", remedy="leave offsets out")
    tokens, vocab = _spacy()
    for number, doc in enumerate(_docs(path, tokens, vocab), start=1):
        where = f"{path.name}, document {number}"
        own = doc.user_data.get(_OURS)
        own = own if isinstance(own, dict) else {}
        id = word(own.get("id") or f"{path.stem}-{number}", field="id", where=where)
        ids.add(id, where=where)
        found = doc.spans.get(_GROUP, doc.ents)
        spans = [Span(span.start_char, span.end_char, word(span.label_, field="label", where=where)) for span in found]
        about: dict[str, Any] = {key: optional(own, key, where=where) for key in ABOUT}
        about["groups"] = groups_of(own.get("groups"), where=where)
        if left_out is not None:
            others = [key for key in doc.spans if key != _GROUP]
            left_out.update({"other span group": len(others)} if others else {})
        yield build(id, doc.text, [Marked(span) for span in spans], where=where, counting=Counting(), about=about)


def _spacy() -> tuple[Any, Any]:
    try:
        import spacy.tokens
        import spacy.vocab
    except ImportError:
        raise MissingExtra("spacy", extra="spacy", purpose="reading and writing spaCy's DocBin") from None
    return spacy.tokens, spacy.vocab.Vocab()


def _docs(path: Path, tokens: Any, vocab: Any) -> Iterator[Any]:
    with open_binary(path) as file:
        packed = file.read(LARGEST_FILE + 1)
    unpack = zlib.decompressobj()
    try:
        too_large = len(packed) > LARGEST_FILE
        if not too_large:
            unpack.decompress(packed, LARGEST_FILE)
            too_large = bool(unpack.unconsumed_tail)
    except zlib.error:
        too_large = False  # spaCy finds it too, below
    if too_large:
        raise InputError(
            f"a DocBin of at most {LARGEST_FILE:,} bytes, unpacked, was expected",
            where=path.name,
            got="a larger one",
            remedy="cut it into several files; do not trust one that you did not write",
        )
    try:
        yield from tokens.DocBin(store_user_data=True).from_bytes(packed).get_docs(vocab)
    except InputError:
        raise
    except Exception as error:  # spaCy and its unpacker raise what they please on damaged bytes
        raise InputError(
            "a DocBin that spaCy can read was expected",
            where=path.name,
            got=type(error).__name__,
            remedy="write it anew",
        ) from None


def write(documents: Iterable[Document], path: Path, *, left_out: Tally | None = None) -> None:
    """One DocBin; id and what else is known of a document are in its user data."""
    tokens, vocab = _spacy()
    store, ids = tokens.DocBin(store_user_data=True), Ids()
    for number, document in enumerate(documents, start=1):
        ids.add(document.id, where=f"document {number}")
        where = named("document", document.id, number=number)
        one_list(document, format="spaCy's DocBin", where=where)
        for text, field in ((document.id, "id"), (document.text, "text")):
            check_whole(text, field=field, where=where)
        count_left_out(document, left_out, keeps=(*ABOUT, "groups"))
        store.add(_doc(document, where, tokens, vocab))
    replace_whole(Path(path), [store.to_bytes()])


def _doc(document: Document, where: str, tokens: Any, vocab: Any) -> Any:
    words, spaces = _words(document)
    doc = tokens.Doc(vocab, words=words, spaces=spaces)
    spans = [doc.char_span(span.start, span.end, label=span.label) for span in document.spans]
    if doc.text != document.text or any(span is None for span in spans):
        raise InputError("a text that spaCy gives back was expected", where=where, got="one that it changes")
    ordered = sorted(document.spans, key=lambda span: (span.start, span.end))
    if any(after.start < before.end for before, after in pairwise(ordered)):
        doc.spans[_GROUP] = spans
    else:
        doc.ents = spans
    about = {key: getattr(document, key) for key in (*ABOUT, "groups") if getattr(document, key)}
    doc.user_data[_OURS] = {"id": document.id, **about}
    return doc


def _words(document: Document) -> tuple[list[str], list[bool]]:
    """Tokens, and for each whether one blank follows it; a blank that a span starts or ends with is a token."""
    starts, ends = ({getattr(span, edge) for span in document.spans} for edge in ("start", "end"))
    edges = starts | ends
    words: list[str] = []
    spaces: list[bool] = []
    glue = False  # whether the token before may still take a blank
    for found in _PIECE.finditer(document.text):
        if found.group() == " " and glue and found.start() not in starts and found.end() not in ends:
            spaces[-1], glue = True, False
            continue
        for piece in _cut(document.text, found.start(), found.end(), edges):
            words.append(piece)
            spaces.append(False)
        glue = True
    return words, spaces


def _cut(text: str, start: int, end: int, edges: set[int]) -> Iterator[str]:
    places = [start, *(place for place in range(start + 1, end) if place in edges), end]
    yield from (text[a:b] for a, b in pairwise(places))
