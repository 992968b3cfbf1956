"""FHIR resources as JSON: what in them is text, what identifies as a whole, and the same bytes with both replaced.

A file holds one resource, a Bundle, or one resource a line. Narratives (`text.div`) and attachments of plain text or
HTML are read as text, and so is every other string of several words; names, addresses, contacts, identifiers, dates and
names of people beside references are replaced whole. Resource ids and references stay, since they tie resources
together. An attachment that cannot be looked into is refused. Everything else keeps its bytes."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from workup.documents.document import Document
from workup.errors import InputError
from workup.files.jsonlines import decoded, parse
from workup.redaction.html_text import Html
from workup.text.wordlists import words_of

if TYPE_CHECKING:
    from workup.redaction.patient import Redacted

_MARK = b"\xef\xbb\xbf"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_DAY = re.compile(r"\d{4}-\d\d(?:-\d\d)?(?:T[0-9:.]{4,18}(?:Z|[+-]\d\d:\d\d)?)?")
_HALF = re.compile("[\ud800-\udfff]")
_NUMBERED = re.compile(r"\d{5}|@")  # in a word that no element is known for: a number of somebody's
_PEOPLE = {"Patient": "name_patient", "RelatedPerson": "name_relative", "Practitioner": "name_provider",
           "PractitionerRole": "name_provider", "Person": "name_patient", "Organization": "facility",
           "Location": "facility", "Device": "device_id"}  # fmt: skip
# Who is meant where a reference is an address that does not tell.
_ROLES = (
    dict.fromkeys(words_of("subject patient beneficiary subscriber"), "name_patient")
    | dict.fromkeys(
        words_of("author performer authenticator requester recorder asserter generalPractitioner individual actor "
                 "practitioner sender attester"), "name_provider"
    )
    | dict.fromkeys(words_of("custodian managingOrganization serviceProvider organization location"), "facility")
)  # fmt: skip
_NAME_PARTS = words_of("family given text")
_ADDRESS = {"line": "street_address", "text": "street_address", "city": "city", "district": "county",
            "postalCode": "zip", "state": "state", "country": "country"}  # fmt: skip
_WHOLE = {"birthDate": "date_birth", "deceasedDateTime": "date_death", "serialNumber": "device_id", "url": "url"}
# Strings that no text stands in: codes, and what ties resources together.
_CODES = words_of(
    "resourceType id fullUrl reference system code status use contentType mimeType language unit version versionId "
    "profile mode type intent kind gender method comparator valueCode valueUri source hash xmlns relationship"
)
_SHORT_TEXTS = words_of("description title text comment display name valueString valueMarkdown conclusion note label")
_TEXT_TYPES = ("text/plain", "text/html", "application/xhtml+xml", "text/markdown", "text/xml")


class _Value(NamedTuple):
    """A scalar of the file: its place, the keys above it, and the object it stands in."""

    start: int
    end: int
    keys: tuple[str, ...]
    object: int
    text: str | None  # None where it is no string

    @property
    def key(self) -> str:
        return self.keys[-1] if self.keys else ""


class _Part(NamedTuple):
    """What becomes a document: a string of the file, plain, as HTML or packed as base64."""

    value: _Value
    page: Html | None
    packed: bool
    leaf: str


def is_fhir(content: bytes) -> bool:
    """Whether JSON holds a FHIR resource, a Bundle among them, or one on its first line.

    >>> is_fhir(b'{"resourceType": "Patient"}'), is_fhir(b'{"id": "n1", "text": "resourceType"}')
    (True, False)
    """
    if b'"resourceType"' not in content:
        return False
    for part in (content, content.lstrip().partition(b"\n")[0]):
        try:
            found = json.loads(part)
        except (ValueError, RecursionError):
            continue
        return isinstance(found, dict) and "resourceType" in found
    return False


class FhirFile:
    """One file, taken apart."""

    def __init__(self, content: bytes, *, name: str, where: str) -> None:
        self._mark = content.startswith(_MARK)
        self._source = decoded(content.removeprefix(_MARK), where=where, whole_file=True)
        self._parts: list[_Part] = []
        self._sizes: dict[int, list[_Value]] = {}
        documents: list[Document] = []
        for first, text in _resources(self._source, where=where):
            scan = _Scan(text, first)
            for part in self._read(scan, where=where):
                shown = part.page.text if part.page is not None else _plain(part, where=where)
                if shown.strip():
                    self._parts.append(part)
                    patient = scan.patient_of(part.value.object)
                    documents.append(Document(f"{name}:{len(documents) + 1}", shown, patient=patient))
        self.documents = tuple(documents)
        self.whole = tuple(part.leaf for part in self._parts)
        self.plan = _plan(self._parts)

    def _read(self, scan: _Scan, *, where: str) -> Iterator[_Part]:
        for value in scan.values:
            beside = scan.objects[value.object]
            if value.text is None or not value.text:
                if value.key in ("size",):
                    self._sizes.setdefault(value.object, []).append(value)
                continue
            if value.key == "data" and ("contentType" in beside or "mimeType" in beside):
                yield _attachment(value, beside, where=where)
            elif value.key == "hash" and "data" in beside:
                self._sizes.setdefault(value.object, []).append(value)
            elif value.key == "valueBase64Binary":
                raise _unseen(where, "a value of bytes")
            elif value.key == "div":
                yield _Part(value, Html(value.text), False, "")
            else:
                leaf = _leaf(value, beside, scan.resource_of(value.object))
                if leaf is not None:
                    yield _Part(value, None, False, leaf)

    def rewritten(self, redacted: Sequence[Redacted]) -> bytes:
        """The file with the redacted texts in the places of the old ones."""
        changes: list[tuple[int, int, str]] = []
        for part, one in zip(self._parts, redacted, strict=True):
            if not one.pieces:
                continue
            new = one.document.text
            if part.page is not None:
                new = part.page.rewritten([(p.start, p.end, new[p.new_start : p.new_end]) for p in one.pieces])
            if part.packed:
                content = new.encode("utf-8")
                new = base64.b64encode(content).decode("ascii")
                for about in self._sizes.get(part.value.object, ()):
                    changes.append((about.start, about.end, _about(about, content)))
            changes.append((part.value.start, part.value.end, _as_json(new)))
        parts, at = [], 0
        for start, end, new in sorted(changes):
            parts += [self._source[at:start], new]
            at = end
        text = "".join([*parts, self._source[at:]])
        return (_MARK if self._mark else b"") + text.encode("utf-8")


def _as_json(text: str) -> str:
    """A string as JSON; half a surrogate pair, which UTF-8 lacks, stays an escape."""
    said = json.dumps(text, ensure_ascii=False)
    return said if said.isascii() or not _HALF.search(said) else json.dumps(text)


def _about(value: _Value, content: bytes) -> str:
    """Size and hash of an attachment, of what it holds now: those of the original would tell it."""
    if value.key == "size":
        return str(len(content))
    return json.dumps(base64.b64encode(hashlib.sha1(content, usedforsecurity=False).digest()).decode("ascii"))


def _resources(source: str, *, where: str) -> Iterator[tuple[int, str]]:
    """Each resource of a file with its place; a whole file, or one on each line."""
    try:
        whole = parse(source)
        several = False
    except (ValueError, RecursionError):
        whole, several = None, True
    if not several:
        if not isinstance(whole, dict) or "resourceType" not in whole:
            raise _no_resource(where)
        yield 0, source
        return
    at = 0
    for number, line in enumerate(source.splitlines(keepends=True), start=1):
        if line.strip():
            try:
                one = parse(line)
            except (ValueError, RecursionError):
                raise InputError(
                    "JSON was expected, one resource or one on each line", where=f"{where}, line {number}"
                ) from None
            if not isinstance(one, dict) or "resourceType" not in one:
                raise _no_resource(f"{where}, line {number}")
            yield at, line
        at += len(line)


class _Scan:
    """The scalars of a resource with their places; the text is known to be JSON."""

    def __init__(self, text: str, first: int) -> None:
        self.values: list[_Value] = []
        self.objects: list[dict[str, str]] = []  # the strings of each object by their keys
        self._above: list[int] = []
        frames: list[_Frame] = []
        for match in _TOKEN.finditer(text):
            token = match[0]
            if token == "{":
                self._above.append(frames[-1].object if frames else -1)
                self.objects.append({})
                frames.append(_Frame(True, len(self.objects) - 1))
            elif token == "[":
                frames.append(_Frame(False, frames[-1].object, frames[-1].key))
            elif token in ("}", "]"):
                frames.pop()
            elif token == ",":
                if frames[-1].is_object:
                    frames[-1].key = None
            elif token != ":":
                frame = frames[-1]
                said = json.loads(token) if token[0] == '"' else None
                if frame.is_object and frame.key is None:
                    frame.key = said
                    continue
                keys = tuple(one.key or "" for one in frames if one.is_object)
                self.values.append(_Value(first + match.start(), first + match.end(), keys, frame.object, said))
                if said is not None:
                    self.objects[frame.object].setdefault(keys[-1], said)

    def resource_of(self, place: int) -> str:
        """The type of the resource that an object belongs to."""
        while place >= 0:
            if "resourceType" in self.objects[place]:
                return self.objects[place]["resourceType"]
            place = self._above[place]
        return ""

    def patient_of(self, place: int) -> str | None:
        """The id of the patient whose resource it is, as the resource itself refers to it."""
        while place >= 0 and "resourceType" not in self.objects[place]:
            place = self._above[place]
        if place < 0:
            return None
        if self.objects[place]["resourceType"] == "Patient":
            return self.objects[place].get("id")
        return self._subjects.get(place)

    @cached_property
    def _subjects(self) -> dict[int, str]:
        """By resource, the patient it refers to; a Bundle's own address of a patient stands for the patient's id."""
        known = {
            self.objects[self._above[place]].get("fullUrl", ""): one.get("id", "")
            for place, one in enumerate(self.objects)
            if one.get("resourceType") == "Patient" and self._above[place] >= 0
        }
        found: dict[int, str] = {}
        for value in self.values:
            if value.key == "reference" and value.text and value.keys[-2:-1] in (("subject",), ("patient",)):
                place = self._above[value.object]
                found.setdefault(place, known.get(value.text) or re.split(r"[/:]", value.text)[-1])
        return found


@dataclass(slots=True)
class _Frame:
    is_object: bool
    object: int
    key: str | None = None


def _leaf(value: _Value, beside: Mapping[str, str], resource: str) -> str | None:
    """The leaf of a string that identifies as a whole; empty for text; None for what stays."""
    key, text = value.key, value.text or ""
    above = value.keys[-2] if len(value.keys) > 1 else ""
    if above == "name" and key in _NAME_PARTS:
        return "name_relative" if "contact" in value.keys else _PEOPLE.get(resource, "name_patient")
    if above == "address" and key in _ADDRESS:
        return _ADDRESS[key]
    if above == "telecom" and key == "value":
        return "email" if "@" in text else {"fax": "fax", "url": "url"}.get(beside.get("system", ""), "phone")
    if key == "value" and ("system" in beside or above.lower().endswith("identifier")):
        return "mrn" if resource == "Patient" else "id_other"
    if key == "display" and "reference" in beside:
        return _PEOPLE.get(beside["reference"].partition("/")[0]) or _ROLES.get(above, "")
    if key in _WHOLE:
        return _WHOLE[key] if key != "url" or above == "attachment" else None
    if _DAY.fullmatch(text):
        return "date"
    if key in _CODES:
        return None
    if " " in text.strip() or key in _SHORT_TEXTS:
        return ""
    return "id_other" if _NUMBERED.search(text) and not text.startswith(("http", "urn:")) else None


def _attachment(value: _Value, beside: Mapping[str, str], *, where: str) -> _Part:
    kind = (beside.get("contentType") or beside.get("mimeType") or "").lower()
    if not kind.startswith(_TEXT_TYPES):
        raise _unseen(where, "one of another type")
    text = _unpacked(value, where=where)
    return _Part(value, Html(text) if "html" in kind or "xml" in kind else None, True, "")


def _unpacked(value: _Value, *, where: str) -> str:
    try:
        return base64.b64decode("".join((value.text or "").split()), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        raise _unseen(where, "one that is no base64 of UTF-8") from None


def _plain(part: _Part, *, where: str) -> str:
    return _unpacked(part.value, where=where) if part.packed else part.value.text or ""


def _plan(parts: Sequence[_Part]) -> list[dict[str, str]]:
    """What each element is treated as, once for each."""
    found: dict[str, dict[str, str]] = {}
    for part in parts:
        name = ".".join(key for key in part.value.keys if key not in ("entry", "resource"))
        treated = "identifier" if part.leaf else "text"
        found.setdefault(name, {"column": name, "treated": treated, "leaf": part.leaf, "why": "FHIR element"})
    return [found[name] for name in sorted(found)]


def _unseen(where: str, got: str) -> InputError:
    return InputError(
        "attachments of plain text or HTML in UTF-8 were expected, since nothing can be looked for in others",
        where=where,
        got=got,
        remedy="take the attachment out, or turn it into text first",
    )


def _no_resource(where: str) -> InputError:
    return InputError("a FHIR resource was expected", where=where, got="JSON without a resourceType")
