"""Texts as JSON out, and spans as JSON back, for detectors in another process. Knows no transport.

A span past the end of its text is kept, since it must be counted as a false alarm; what is no span is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workup.documents.document import Span
from workup.documents.offsets import Counting, to_codepoints
from workup.documents.records import check_whole, listing, mapping, needed, offset, word
from workup.errors import InputError
from workup.files.jsonlines import kind
from workup.systems.wire.rows import wrong_place

Spans = list[Span]

LINE = '{"id": "1", "spans": [{"start": 0, "end": 4, "label": "date"}]}'
_ANSWER, _ANSWER_PER_CHARACTER = 65_536, 256  # bytes; room for a span, written out with a score, on every character


@dataclass(frozen=True)
class SpanSettings:
    """How a detector counts offsets, which label mapping its labels belong to, and which labels it can give."""

    counting: Counting
    mapping: str | None
    emits: tuple[str, ...] | None

    @classmethod
    def of(cls, *, offsets: str, mapping: str, emits: list[str] | None, base: Path, where: str) -> SpanSettings:
        """Checked settings; a mapping is a shipped one by name, or a file as seen from the folder of the study.

        >>> settings = SpanSettings.of(offsets="utf16", mapping="presidio", emits=None, base=Path(), where="detector")
        >>> settings.counting.unit, settings.mapping
        ('utf16', 'presidio')
        """
        if emits is not None and (
            not isinstance(emits, (list, tuple)) or not all(isinstance(label, str) and label for label in emits)
        ):
            raise InputError(
                "'emits' must be a list of labels", where=where, remedy="write it as emits: [PERSON, DATE]"
            )
        try:
            counting = Counting.of(offsets)
        except InputError as error:
            raise InputError(error.expected, where=f"{where}, 'offsets'", got=error.got, remedy=error.remedy) from None
        found = checked_mapping(mapping, base=base)
        return cls(counting, found, None if emits is None else tuple(emits))


def checked_mapping(name: str, *, base: Path) -> str | None:
    """The mapping by a name or path that `LabelMapping.load` takes from any folder; None where none is named."""
    if not name:
        return None
    from workup.documents.mappings import LabelMapping, beside

    # As `beside` reads it: a path starts from a file, here from any file in the folder of the study.
    found = "+".join(beside(part, str(base / "study.yaml")) for part in name.split("+"))
    LabelMapping.load(found)  # an unknown one is an error now, not after the last paid call
    return found


def texts_out(texts: Sequence[str], *, system: str) -> list[dict[str, str]]:
    """Each text as `{"id": "1", "text": …}`, numbered from 1."""
    for number, text in enumerate(texts, start=1):
        check_whole(text, field="text", where=f"system '{system}', text {number} of its batch")
    return [{"id": str(number), "text": text} for number, text in enumerate(texts, start=1)]


def spans_in(answer: Any, *, due: int, texts: Sequence[str], counting: Counting) -> tuple[Spans | None, str]:
    """The spans in the answer to text `due`, None where it is refused, and what is wrong; never what it holds.

    >>> spans_in({"id": "1", "spans": [{"start": 3, "end": 7, "label": "NAME"}]}, due=1, texts=["😀 Rose"],
    ...          counting=Counting("utf16"))
    ([Span(start=2, end=6, label='NAME', subtype=None, entity=None, identifier=None, score=None)], '')
    >>> spans_in({"id": "1", "spans": [{"start": 3, "end": 3, "label": "NAME"}]}, due=1, texts=["Rose"],
    ...          counting=Counting())[1]
    'span 0: a span must start in its text, with its end after its start; got 3 to 3. To fix: check whether ends are
    inclusive'
    """
    problem = wrong_place(answer, due=due, sent=len(texts), noun="text")
    if problem:
        return None, problem
    if "spans" not in answer:
        return None, "has no 'spans'; give a list, empty where nothing was found, or null to refuse the text"
    if answer["spans"] is None:
        return None, ""
    try:
        found = listing(answer["spans"], field="spans", where="")
        spans = [_span(record, f"span {place}") for place, record in enumerate(found)]
        return _in_codepoints(spans, texts[due - 1], counting), ""
    except InputError as error:
        return None, str(error).rstrip(".")


def longest_answer(text: str) -> int:
    """Bytes that the answer to a text may have; a longer one is a system gone wrong."""
    return _ANSWER + _ANSWER_PER_CHARACTER * len(text)


def _span(value: Any, where: str) -> Span:
    """One span; keys beyond those of the protocol are passed over, as in answers for rows."""
    record = mapping(value, what="a span", where=where)
    start, end = (offset(needed(record, key, where=where), field=key, where=where) for key in ("start", "end"))
    label = word(needed(record, "label", where=where), field="label", where=where, numbers=False)
    if start < 0:
        raise InputError("a span must start in its text", where=where, got="a start below 0")
    score = record.get("score")
    if score is not None and (isinstance(score, bool) or not isinstance(score, (int, float))):
        raise InputError("'score' must be a number", where=where, got=kind(score), remedy="or leave it out")
    if score is not None and not -1e300 < score < 1e300:
        raise InputError("'score' must be a finite number", where=where, got="one that is not")
    return Span(start, end, label, score=None if score is None else float(score))


def _in_codepoints(spans: Spans, text: str, counting: Counting) -> Spans:
    for place, span in enumerate(spans):
        if not span.start < span.end + counting.inclusive:
            raise InputError(
                "a span must start in its text, with its end after its start",
                where=f"span {place}",
                got=f"{span.start} to {span.end}{' inclusive' * counting.inclusive}",
                remedy="check whether ends are inclusive",
            )
    if counting.plain:
        return spans
    # The document has no id here: the answer is named by its line or entry.
    pairs = to_codepoints(text, [(span.start, span.end) for span in spans], counting=counting, document="", beyond=True)
    for number, (_, end) in enumerate(pairs):
        offset(end, field="end", where=f"span {number}")  # an inclusive end is one more now
    return [replace(span, start=start, end=end) for span, (start, end) in zip(spans, pairs, strict=True)]
