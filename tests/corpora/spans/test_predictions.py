"""Predictions: what is kept though it looks wrong, what is refused, and that all ways through a line agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workup.corpora.formats.spans import fast_jsonl
from workup.corpora.formats.spans.predictions import (
    read_prediction_arrays,
    read_predictions,
    write_predictions,
)
from workup.documents.document import Span, SpanArrays
from workup.documents.records import Tally
from workup.errors import InputError

SECRET = "ZZSECRET"
WAYS: dict[str, Callable[[bytes], Any]] = {"careful": lambda line: None}
if fast_jsonl._typed(1, fast_jsonl._prediction_fits) is not None:
    WAYS["msgspec"] = fast_jsonl.prediction_decoder()


@pytest.fixture(params=sorted(WAYS))
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(fast_jsonl, "prediction_decoder", lambda: WAYS[request.param])
    return str(request.param)


def put(path: Path, *records: Any) -> Path:
    path.write_bytes(b"\n".join(r if isinstance(r, bytes) else json.dumps(r).encode() for r in records))
    return path


def found(**fields: Any) -> dict[str, Any]:
    return {"id": "a", "spans": [{"start": 0, "end": 4, "label": "NAME", **fields}]}


@pytest.mark.usefixtures("way")
def test_ids_spans_and_scores(tmp_path: Path) -> None:
    records = [
        {
            "id": "b",
            "spans": [{"start": 3, "end": 999, "label": "Z", "score": 1}, {"start": 0, "end": 2, "label": "A"}],
        },
        {"id": 7, "spans": []},
        {
            "id": "c",
            "spans": [{"start": 0, "end": 2, "label": "Z", "score": 0.25}, {"start": 0, "end": 2, "label": "Z"}],
        },
    ]
    path = put(tmp_path / "p.jsonl", *records)
    answers = list(read_predictions(path))
    assert answers == [
        ("b", (Span(3, 999, "Z", score=1.0), Span(0, 2, "A"))),
        ("7", ()),
        ("c", (Span(0, 2, "Z", score=0.25), Span(0, 2, "Z"))),
    ]
    ids, arrays = read_prediction_arrays(path)
    expected = SpanArrays.of((i, s.start, s.end, s.label) for i, (_, spans) in enumerate(answers) for s in spans)
    assert (ids, arrays.labels) == (["b", "7", "c"], expected.labels)
    for column in ("document", "start", "end", "label"):
        assert getattr(arrays, column).tolist() == getattr(expected, column).tolist()
    write_predictions(answers, tmp_path / "q.jsonl")
    assert list(read_predictions(tmp_path / "q.jsonl")) == answers


@pytest.mark.usefixtures("way")
def test_what_a_gold_has_and_a_prediction_has_not_is_counted(tmp_path: Path) -> None:
    tally = Tally()
    path = put(tmp_path / "p.jsonl", {**found(text=SECRET, entity="e"), "text": SECRET})
    assert list(read_predictions(path, left_out=tally)) == [("a", (Span(0, 4, "NAME"),))]
    assert tally == {"document key 'text'": 1, "span key 'text'": 1, "span key 'entity'": 1}


def test_an_empty_file_is_a_detector_that_answered_nothing(tmp_path: Path) -> None:
    path = put(tmp_path / "p.jsonl", b"")
    assert list(read_predictions(path)) == []
    ids, arrays = read_prediction_arrays(path)
    assert (ids, len(arrays)) == ([], 0)


BAD: dict[str, tuple[Any, str]] = {
    "no JSON": (b'{"id": ' + SECRET.encode(), "valid JSON"),
    "no spans": ({"id": "a"}, "the key 'spans'"),
    "no id": ({"spans": []}, "the key 'id'"),
    "negative": (found(start=-1), "line 2, span 0: .* -1 to 4"),
    "reversed": (found(start=4, end=0), "4 to 0"),
    "empty": (found(end=0), "0 to 0"),
    "a float": (found(start=0.0), "decimal point"),
    "a text": (found(end="4"), "a text"),
    "a bool": (found(start=False), "true or false"),
    "huge": (found(end=2**31), "two thousand million"),
    "no label": ({"id": "a", "spans": [{"start": 0, "end": 1}]}, "the key 'label'"),
    "an empty label": (found(label=""), "must not be empty"),
    "a misspelt key": (found(scores=1), "did you mean 'score'"),
    "a score that is a text": (found(score=SECRET), "'score' must be a number"),
    "a score that is true": (found(score=True), "'score' must be a number"),
    "a score that is NaN": (
        b'{"id": "a", "spans": [{"start": 0, "end": 1, "label": "x", "score": NaN}]}',
        "valid JSON",
    ),
    "a score without end": (b'{"id": "a", "spans": [{"start": 0, "end": 1, "label": "x", "score": 1e999}]}', "finite"),
    "a score near it": (found(score=1e305), "finite"),
    "half a pair": (b'{"id": "a", "spans": [{"start": 0, "end": 1, "label": "\\ud800"}]}', "surrogate"),
}


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("why", sorted(BAD))
def test_bad_lines_are_refused_by_line(why: str, tmp_path: Path) -> None:
    record, says = BAD[why]
    path = put(tmp_path / "p.jsonl", {"id": "first", "spans": []}, record)
    for read in (lambda: list(read_predictions(path)), lambda: read_prediction_arrays(path)):
        with pytest.raises(InputError, match=says) as caught:
            read()
        assert str(caught.value).startswith("p.jsonl, line 2")
        assert SECRET not in str(caught.value)


@pytest.mark.usefixtures("way")
def test_an_id_twice_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "p.jsonl", found(), found())
    for read in (lambda: list(read_predictions(path)), lambda: read_prediction_arrays(path)):
        with pytest.raises(InputError, match=r"line 2: .* line 1 again"):
            read()


def test_other_offsets_need_the_texts_and_may_lie_behind_them(tmp_path: Path) -> None:
    spans = [{"start": 3, "end": 7, "label": "N"}, {"start": 7, "end": 9, "label": "N"}]
    path = put(tmp_path / "p.jsonl", {"id": "a", "spans": spans}, {"id": "unknown", "spans": spans[:1]})
    texts = {"a": "\U0001f600 Rose"}
    assert list(read_predictions(path, offsets="utf16", texts=texts)) == [
        ("a", (Span(2, 6, "N"), Span(6, 8, "N"))),
        ("unknown", (Span(3, 7, "N"),)),
    ]
    with pytest.raises(InputError, match="the texts are needed"):
        list(read_predictions(path, offsets="utf16"))
    put(path, {"id": "a", "spans": [{"start": 1, "end": 7, "label": "N"}]})
    with pytest.raises(InputError, match=r"line 1, span 0: .* inside a character"):
        list(read_predictions(path, offsets="utf16", texts=texts))


def test_what_is_written_holds_offsets_and_labels_alone(tmp_path: Path) -> None:
    write_predictions([("a", (Span(0, 4, "N", "s", "e", score=0.5),))], tmp_path / "p.jsonl")
    assert json.loads((tmp_path / "p.jsonl").read_text()) == found(label="N", score=0.5)
    with pytest.raises(InputError, match="an id of its own"):
        write_predictions([("a", ()), ("a", ())], tmp_path / "q.jsonl")
    assert not (tmp_path / "q.jsonl").exists()
