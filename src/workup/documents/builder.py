"""A document built piece by piece: plain text, values and boilerplate, each at the offset where it came to stand.

Offsets are never searched for and never shifted, so they are true by construction. Knows no template and no format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from workup.documents.document import Document, Span
from workup.errors import InputError

__all__ = ["Gold", "Marked", "Pieces", "Written"]


class Marked(Protocol):
    """What a value must tell of itself to stand in a document as a gold."""

    @property
    def text(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def entity(self) -> str | None: ...
    @property
    def identifier(self) -> str | None: ...
    @property
    def subtype(self) -> str | None: ...


class Gold(NamedTuple):
    """A gold to be written where no table made it: a clinical term, or what was found in a source text."""

    text: str
    label: str
    entity: str | None = None
    identifier: str | None = None
    subtype: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A document with the ranges of its boilerplate, the words that any note of its house would carry."""

    document: Document
    boilerplate: tuple[tuple[int, int], ...] = ()


class Pieces:
    """Appends texts and values in reading order and gives the document they make.

    >>> from workup.documents.builder import Gold, Pieces
    >>> pieces = Pieces().text("Seen by Dr. ").value(Gold("Rose", "name_provider")).boilerplate("\\nEnd of note.")
    >>> written = pieces.written("a", type="consultation")
    >>> written.document.text, [(s.start, s.end, s.label) for s in written.document.spans], written.boilerplate
    ('Seen by Dr. Rose\\nEnd of note.', [(12, 16, 'name_provider')], ((16, 29),))
    """

    __slots__ = ("_boilerplate", "_length", "_open", "_spans", "_texts")

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._spans: list[Span] = []
        self._boilerplate: list[tuple[int, int]] = []
        self._length = 0
        self._open: int | None = None

    def __len__(self) -> int:
        """Characters so far."""
        return self._length

    @property
    def spans(self) -> tuple[Span, ...]:
        """The golds so far."""
        return tuple(self._spans)

    def text(self, text: str) -> Pieces:
        """Plain text, which no gold covers."""
        self._texts.append(text)
        self._length += len(text)
        return self

    def take_back_blank(self) -> Pieces:
        """Without the blanks at the end of the last text; those of a value stay."""
        if self._texts and not (self._spans and self._spans[-1].end == self._length):
            kept = self._texts[-1].rstrip(" ")
            self._length -= len(self._texts[-1]) - len(kept)
            self._texts[-1] = kept
        return self

    def value(self, value: Marked) -> Pieces:
        """A value with its gold over exactly its own characters."""
        text = value.text
        if not text:
            raise InputError(
                "a value must have at least one character", where=f"a value of label '{value.label[:60]}'", got="none"
            )
        start = self._length
        self._length = start + len(text)
        self._texts.append(text)
        self._spans.append(Span(start, self._length, value.label, value.subtype, value.entity, value.identifier))
        return self

    def boilerplate(self, text: str) -> Pieces:
        """Plain text that belongs to the house and not to the patient."""
        start = self._length
        self.text(text)
        if text:
            self._boilerplate.append((start, self._length))
        return self

    def begin_boilerplate(self) -> Pieces:
        """What follows, values too, is boilerplate until it is ended."""
        self._open = self._length
        return self

    def end_boilerplate(self) -> Pieces:
        """The end of what was begun; a range without characters is none."""
        if self._open is not None and self._length > self._open:
            self._boilerplate.append((self._open, self._length))
        self._open = None
        return self

    def extend(self, pieces: Iterable[str | Marked]) -> Pieces:
        """Texts and values, one after another."""
        for piece in pieces:
            if isinstance(piece, str):
                self.text(piece)
            else:
                self.value(piece)
        return self

    def last(self) -> str:
        """The last character so far, or nothing: what a value would be glued to."""
        return next((text[-1] for text in reversed(self._texts) if text), "")

    def written(
        self,
        id: str,
        *,
        patient: str | None = None,
        site: str | None = None,
        time: str | None = None,
        groups: Mapping[str, Any] | None = None,
        type: str | None = None,
        specialty: str | None = None,
    ) -> Written:
        """The document as built so far, with its boilerplate."""
        document = Document(
            id,
            "".join(self._texts),
            tuple(self._spans),
            patient=patient,
            site=site,
            time=time,
            groups=groups or {},
            type=type,
            specialty=specialty,
        )
        return Written(document, tuple(self.end_boilerplate()._boilerplate))
