"""i2b2 2014 XML: one file per document, the text in <TEXT>, and a tag with start, end and TYPE for every span.

XML can hold neither control characters nor a carriage return as such: the former are refused, the latter is written
as a reference. A file that declares entities or a document type is refused: those can blow up or read other files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from workup.corpora.formats.spans.file_sets import Files, file_name, ids_of, opened, write_files
from workup.corpora.formats.spans.sniff import names_in
from workup.documents.document import Document, Span
from workup.documents.offsets import Counting
from workup.documents.records import (
    Ids,
    Marked,
    Tally,
    build,
    check_whole,
    count_left_out,
    needed,
    offset,
    one_list,
    word,
)
from workup.errors import InputError, named

name = "i2b2"
endings = (".xml", ".zip")

_CATEGORIES = {
    "NAME": "PATIENT DOCTOR USERNAME",
    "PROFESSION": "PROFESSION",
    "LOCATION": "ROOM DEPARTMENT HOSPITAL ORGANIZATION STREET CITY STATE COUNTRY ZIP LOCATION-OTHER",
    "AGE": "AGE",
    "DATE": "DATE",
    "CONTACT": "PHONE FAX EMAIL URL IPADDR",
    "ID": "SSN MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE VEHICLE DEVICE BIOID IDNUM",
}
_CATEGORY = {label: category for category, labels in _CATEGORIES.items() for label in labels.split()}
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ATTRIBUTES = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}  # a parser turns them into blanks unless written so
_DEEPEST = 20


def recognises(path: Path) -> bool:
    """Whether there is an .xml file."""
    return any(found.endswith(".xml") for found in names_in(path))


def read(path: Path, *, offsets: str = "codepoint", left_out: Tally | None = None) -> Iterator[Document]:
    """Documents in the order of their names; the label is TYPE, and the id the name of the file without its ending."""
    counting, seen = Counting.of(offsets), Ids()
    with opened(Path(path)) as files:
        names = [one for one in files.names if one.lower().endswith(".xml")]
        if not names:
            raise InputError("files that end in .xml were expected", where=files.place, got="none")
        ids = ids_of(names)
        for found in names:
            where = files.where(found)
            seen.add(ids[found], where=where)
            yield _document(files, found, ids[found], where, counting, left_out)


def _document(files: Files, found: str, id: str, where: str, counting: Counting, left_out: Tally | None) -> Document:
    parsed = _Parsed(where)
    parsed.feed(files.content(found))
    if parsed.text is None:
        raise InputError("a <TEXT> element was expected", where=where, got="none", remedy="check the format")
    marked = [_span(tag, f"{where}, tag {place}") for place, tag in enumerate(parsed.tags)]
    if left_out is not None and parsed.comments:
        left_out["comment of a tag"] += parsed.comments
    return build(id, parsed.text, marked, where=where, counting=counting, fold=_attribute_form)


def _span(attributes: dict[str, str], where: str) -> Marked:
    start, end = (
        offset(_whole(needed(attributes, key, where=where), key, where), field=key, where=where)
        for key in ("start", "end")
    )
    label = word(needed(attributes, "TYPE", where=where), field="TYPE", where=where)
    return Marked(Span(start, end, label), attributes.get("text"))


def _whole(digits: str, field: str, where: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,10}", digits):
        raise InputError(f"'{field}' must be a whole number", where=where, got="something else", remedy="mend the tag")
    return int(digits)


def _attribute_form(text: str) -> str:
    """A parser turns line ends and tabs inside an attribute into blanks."""
    return re.sub("\r\n|[\r\n\t]", " ", text)


class _Parsed:
    """What a file holds: its text, and the attributes of every tag below <TAGS>."""

    def __init__(self, where: str) -> None:
        self.text: str | None = None
        self.tags: list[dict[str, str]] = []
        self.comments = 0
        self._where, self._path, self._pieces = where, [], []  # type: tuple[str, list[str], list[str]]
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.EntityDeclHandler = self._refuse
        self._parser.ExternalEntityRefHandler = self._refuse_reference

    def feed(self, content: bytes) -> None:
        try:
            self._parser.Parse(content, True)
        except expat.ExpatError as error:
            raise InputError(
                "well-formed XML was expected",
                where=f"{self._where}, line {error.lineno}",
                got=f"something else at column {error.offset + 1} ({expat.ErrorString(error.code)})",
                remedy="mend the file, or write it anew",
            ) from None
        except (ValueError, LookupError):
            raise InputError("XML in UTF-8 was expected", where=self._where, got="another encoding") from None

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._path.append(tag)
        if len(self._path) > _DEEPEST:
            raise InputError(
                "i2b2 XML was expected", where=self._where, got="elements nested too deeply", remedy="check the format"
            )
        if len(self._path) == 2 and tag == "TEXT":
            if self.text is not None:
                raise InputError("one <TEXT> element was expected", where=self._where, got="two", remedy="keep one")
            self.text = ""
        elif len(self._path) == 3 and self._path[1] == "TAGS":
            self.tags.append(attributes)
            self.comments += bool(attributes.get("comment"))

    def _end(self, tag: str) -> None:
        if len(self._path) == 2 and tag == "TEXT":
            self.text = "".join(self._pieces)
        self._path.pop()

    def _characters(self, text: str) -> None:
        if len(self._path) >= 2 and self._path[1] == "TEXT":
            self._pieces.append(text)

    def _refuse_reference(self, *_: Any) -> int:
        self._refuse()
        return 0

    def _refuse(self, *_: Any) -> None:
        raise InputError(
            "plain XML was expected",
            where=self._where,
            got="a document type or an entity declaration",
            remedy="remove the <!DOCTYPE …> from the file; do not trust one that you did not write",
        )


# ---- writing ---------------------------------------------------------------------------------------------------------


def write(documents: Iterable[Document], path: Path, *, left_out: Tally | None = None) -> None:
    """One XML file for each document, into a new folder or a .zip."""
    write_files(path, _files(documents, left_out))


def _files(documents: Iterable[Document], left_out: Tally | None) -> Iterator[tuple[str, bytes]]:
    seen = Ids()
    for number, document in enumerate(documents, start=1):
        seen.add(document.id, where=f"document {number}")
        _check(document, named("document", document.id, number=number))
        count_left_out(document, left_out)
        tags = [_tag(place, span, document.text) for place, span in enumerate(document.spans)]
        content = (
            '<?xml version="1.0" encoding="UTF-8" ?>\n<deIdi2b2>\n'
            f"<TEXT>{_cdata(document.text)}</TEXT>\n<TAGS>\n{''.join(tags)}</TAGS>\n</deIdi2b2>\n"
        )
        yield f"{file_name(document.id, number=number)}.xml", content.encode()


def _check(document: Document, where: str) -> None:
    one_list(document, format="i2b2 XML", where=where)
    check_whole(document.id, field="id", where=where)
    check_whole(document.text, field="text", where=where)
    for text, field in [(document.text, "text"), *((span.label, "a label") for span in document.spans)]:
        found = _UNWRITABLE.search(text)
        if found:
            raise InputError(
                "characters that XML can hold were expected",
                where=where,
                got=f"U+{ord(found.group()):04X} in {field}, at character {found.start()}",
                remedy="choose spans-jsonl",
            )


def _tag(place: int, span: Span, text: str) -> str:
    label = quoteattr(span.label, _ATTRIBUTES)
    surface = quoteattr(text[span.start : span.end], _ATTRIBUTES)
    element = _CATEGORY.get(span.label, "OTHER")
    return f'<{element} id="P{place}" start="{span.start}" end="{span.end}" text={surface} TYPE={label} comment="" />\n'


def _cdata(text: str) -> str:
    """The text in CDATA sections, which end only before what they cannot hold: their own end and carriage returns."""
    inside = text.replace("]]>", "]]]]><![CDATA[>").replace("\r", "]]>&#13;<![CDATA[")
    return f"<![CDATA[{inside}]]>"
