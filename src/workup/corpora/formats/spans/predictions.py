"""What a detector answered: `{"id", "spans": [{"start", "end", "label", "score"?}]}` a line. Holds no text.

A prediction past the end of its text is kept, since it must be counted as a false alarm; one that is turned round or
starts before the text is no span and is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from workup.corpora.formats.spans import fast_jsonl
from workup.corpora.formats.spans.native_jsonl import columns, span_record
from workup.documents.batch import in_pieces, span_columns
from workup.documents.detections import Answers, Found, answers_of
from workup.documents.document import Span, SpanArrays
from workup.documents.offsets import Counting, to_codepoints
from workup.documents.records import (
    Ids,
    Tally,
    check_whole,
    known_keys,
    listing,
    located,
    mapping,
    needed,
    offset,
    shown_key,
    word,
)
from workup.errors import InputError, named, within
from workup.files.disk import replace_whole
from workup.files.jsonlines import kind, lines, value_of
from workup.files.seen_ids import SeenIds

Prediction = tuple[str, tuple[Span, ...]]

_KEYS = ("start", "end", "label", "score")
_IGNORED = ("text", "subtype", "entity", "identifier")
_HUGE = 1e300  # no score is as large


def read_predictions(
    path: Path, *, offsets: str = "codepoint", texts: Mapping[str, str] | None = None, left_out: Tally | None = None
) -> Predictions:
    """Id and spans of every line. Offsets other than code points need the `texts` by id to be turned into them.

    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> found = Path(mkdtemp()) / "found.jsonl"
    >>> _ = found.write_text('{"id": "a", "spans": [{"start": 0, "end": 4, "label": "date", "score": 0.5}]}')
    >>> [(id, spans[0].score) for id, spans in read_predictions(found)]
    [('a', 0.5)]
    """
    return Predictions(Path(path), Counting.of(offsets), texts, left_out)


@dataclass(frozen=True, eq=False)
class Predictions:
    """The predictions of a file: one document after another, or, much faster, `batches` of them as columns."""

    path: Path
    counting: Counting
    texts: Mapping[str, str] | None
    left_out: Tally | None

    def __iter__(self) -> Iterator[Prediction]:
        if not self.counting.plain and self.texts is None:
            raise InputError(
                "the texts are needed to turn offsets into code points", where=self.path.name, got="none of them"
            )
        ids, labels = Ids(), dict[str, str]()
        decode = fast_jsonl.prediction_decoder() if self.counting.plain else None
        for number, line in lines(self.path):
            where = f"{self.path.name}, line {number}"
            id, spans = self._read(line, decode, where, labels)
            ids.add(id, where=where)
            yield id, spans

    def batches(self) -> Iterator[Answers]:
        """Ids of some hundred documents at a time, and what was found in them."""
        if not self.counting.plain:
            yield from answers_of(self)
            return
        decode, seen = fast_jsonl.predictions_decoder(), SeenIds()
        for numbered in in_pieces(lines(self.path, cut=False), lambda some: sum([len(line) for _, line in some])):
            records = decode([line for _, line in numbered])
            answers = None if records is None else _columns_of(records)
            if answers is None:
                one_by_one, labels = fast_jsonl.prediction_decoder(), dict[str, str]()
                read = [
                    self._read(line.rstrip(b"\r\n"), one_by_one, f"{self.path.name}, line {number}", labels)
                    for number, line in numbered
                ]
                answers = [id for id, _ in read], Found.of([spans for _, spans in read])
            if seen.suspects(answers[0]):
                self._refuse_repeated(last=numbered[-1][0])
            yield answers

    def _read(
        self, line: bytes, decode: Callable[[bytes], Any] | None, where: str, labels: dict[str, str]
    ) -> Prediction:
        """One line. Equal labels become one object, kept in `labels`: they are few words."""
        record = decode(line) if decode else None
        if record is not None:
            one = labels.setdefault
            return record.id, tuple(
                Span(s.start, s.end, one(s.label, s.label), score=_float(s.score)) for s in record.spans
            )
        id, spans = _line(value_of(line, where=where), where, self.left_out)
        if not self.counting.plain:
            spans = _converted(id, spans, (self.texts or {}).get(id), self.counting, where)
        return id, spans

    def _refuse_repeated(self, *, last: int) -> None:
        """Look at every id up to a line of the file; an error where one of them occurs twice."""
        ids = Ids()
        for number, line in lines(self.path):
            if number > last:
                break
            where = f"{self.path.name}, line {number}"
            ids.add(_line(value_of(line, where=where), where, None)[0], where=where)


def _columns_of(records: list[Any]) -> Answers | None:
    """Records as columns, or None where a span is not as it must be."""
    spans = [span for record in records for span in record.spans]
    counts = [len(record.spans) for record in records]
    try:
        columns = span_columns(
            counts, [span.start for span in spans], [span.end for span in spans], [span.label for span in spans]
        )
    except OverflowError:  # what does not fit a column goes the careful way
        return None
    if not bool(((columns.start >= 0) & (columns.start < columns.end)).all()) or "" in columns.labels:
        return None
    scores = [span.score for span in spans]
    scored = scores.count(None) < len(scores)
    if scored and bool((np.abs(np.array(scores, dtype=np.float64)) >= _HUGE).any()):
        return None
    found = Found([True] * len(records), counts, columns, (lambda: scores) if scored else None)
    return [record.id for record in records], found


def read_prediction_arrays(path: Path) -> tuple[list[str], SpanArrays]:
    """Ids, and all predictions as columns: the same checks as `read_predictions`, without an object per span."""
    path, ids, decode = Path(path), Ids(), fast_jsonl.prediction_decoder()
    names: list[str] = []
    counts: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    labels: list[str] = []
    for number, line in lines(path):
        where = f"{path.name}, line {number}"
        record = decode(line)
        id, spans = (record.id, record.spans) if record else _line(value_of(line, where=where), where, None)
        ids.add(id, where=where)
        names.append(id)
        counts.append(len(spans))
        starts += [span.start for span in spans]
        ends += [span.end for span in spans]
        labels += [span.label for span in spans]
    return names, columns(counts, starts, ends, labels)


def write_predictions(predictions: Iterable[Prediction], path: Path) -> None:
    """One line per document, without any text; the file is put in place whole."""
    ids = Ids()

    def texts() -> Iterator[str]:
        for number, (id, spans) in enumerate(predictions, start=1):
            ids.add(id, where=f"document {number}")
            record = {"id": id, "spans": [span_record(replace(s, subtype=None, entity=None), None) for s in spans]}
            line = json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
            check_whole(line, field="its line", where=named("document", id, number=number))
            yield line

    replace_whole(Path(path), texts())


def _line(value: Any, where: str, left_out: Tally | None) -> Prediction:
    record = mapping(value, what="a line", where=where)
    id = word(needed(record, "id", where=where), field="id", where=where)
    where = within(where, named("document", id))
    remedy = "give an empty list where nothing was found"
    spans = listing(needed(record, "spans", where=where, remedy=remedy), field="spans", where=where)
    if left_out is not None:
        left_out.update(f"document {shown_key(key)}" for key in record if key not in ("id", "spans"))
    return id, tuple(_span(span, f"{where}, span {place}", left_out) for place, span in enumerate(spans))


def _span(value: Any, where: str, left_out: Tally | None) -> Span:
    record = mapping(value, what="a span", where=where)
    known_keys(record, (*_KEYS, *_IGNORED), what="a span", where=where)
    if left_out is not None:
        left_out.update(f"span key '{key}'" for key in _IGNORED if key in record)
    start, end = (offset(needed(record, key, where=where), field=key, where=where) for key in ("start", "end"))
    label = word(needed(record, "label", where=where), field="label", where=where, numbers=False)
    if not 0 <= start < end:
        raise InputError(
            "a prediction must start in its text, with its end after its start",
            where=where,
            got=f"{start} to {end}",
            remedy="check whether ends are inclusive",
        )
    score = record.get("score")
    if score is not None and (isinstance(score, bool) or not isinstance(score, (int, float))):
        raise InputError("'score' must be a number", where=where, got=kind(score), remedy="or leave it out")
    if score is not None and not -_HUGE < score < _HUGE:
        raise InputError("'score' must be a finite number", where=where, got="one that is not")
    return Span(start, end, label, score=_float(score))


def _converted(id: str, spans: tuple[Span, ...], text: str | None, counting: Counting, where: str) -> tuple[Span, ...]:
    """In code points; those of a document that is not known stay as they are, false alarms wherever they lie."""
    if text is None:
        return spans
    try:
        pairs = to_codepoints(
            text, [(span.start, span.end) for span in spans], counting=counting, document=id, beyond=True
        )
    except InputError as error:
        raise located(error, where) from None
    return tuple(replace(span, start=start, end=end) for span, (start, end) in zip(spans, pairs, strict=True))


def _float(score: float | int | None) -> float | None:
    return None if score is None else float(score)
