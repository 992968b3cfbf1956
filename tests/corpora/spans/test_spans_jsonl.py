"""The native form: what is read, what is refused and in which words, and that all three ways through a line agree."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workup.corpora.formats.spans import fast_jsonl, native_jsonl
from workup.documents.document import Document, Span, SpanArrays
from workup.documents.records import Tally
from workup.errors import InputError
from workup.files import jsonlines

SECRET = "ZZSECRET"
TEXT = f"Seen by {SECRET} on May 3."
GOOD: dict[str, Any] = {"id": "a", "text": TEXT, "spans": [{"start": 8, "end": 16, "label": "NAME", "text": SECRET}]}

WAYS: dict[str, Callable[[bytes], Any]] = {
    "careful": lambda line: None,
}
if fast_jsonl._typed(0, fast_jsonl._fits) is not None:
    WAYS["msgspec"] = fast_jsonl.decoder()


@pytest.fixture(params=sorted(WAYS))
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each way through a line in turn; results and errors must not depend on it."""
    monkeypatch.setattr(fast_jsonl, "decoder", lambda: WAYS[request.param])
    return str(request.param)


def write(path: Path, *records: Any) -> Path:
    lines = [record if isinstance(record, bytes) else json.dumps(record).encode() for record in records]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def span(**fields: Any) -> dict[str, Any]:
    return {**GOOD, "spans": [{**GOOD["spans"][0], **fields}]}


def without(*keys: str) -> dict[str, Any]:
    return {key: value for key, value in GOOD.items() if key not in keys}


@pytest.mark.usefixtures("way")
def test_every_field_is_read(tmp_path: Path) -> None:
    full = {
        **GOOD,
        "spans": [{**GOOD["spans"][0], "subtype": "PATIENT_NAME", "entity": "e1", "identifier": "direct"}],
        "patient": "p",
        "site": "s",
        "time": "2024-05-01",
        "groups": {"sex": "F", "age": 41, "share": 0.25, "known": True, "race": None},
        "type": "discharge",
        "specialty": "cardiology",
    }
    (document,) = native_jsonl.read(write(tmp_path / "c.jsonl", full))
    assert document == Document(
        "a",
        TEXT,
        (Span(8, 16, "NAME", "PATIENT_NAME", "e1", "direct"),),
        patient="p",
        site="s",
        time="2024-05-01",
        groups={"sex": "F", "age": 41, "share": 0.25, "known": True, "race": None},
        type="discharge",
        specialty="cardiology",
    )


@pytest.mark.usefixtures("way")
def test_numbers_serve_as_ids_and_layers_as_annotators(tmp_path: Path) -> None:
    layered = {"id": 7, "text": "Rose", "patient": 12, "layers": {"x": [{"start": 0, "end": 4, "label": "N"}], "y": []}}
    (document,) = native_jsonl.read(write(tmp_path / "c.jsonl", layered))
    assert document == Document("7", "Rose", layers={"x": (Span(0, 4, "N"),), "y": ()}, patient="12")
    with pytest.raises(InputError, match=r"line 1: one list of spans.*several annotators"):
        native_jsonl.read_arrays(tmp_path / "c.jsonl")


@pytest.mark.usefixtures("way")
def test_unknown_keys_of_a_document_are_counted_and_its_text_may_be_empty(tmp_path: Path) -> None:
    tally = Tally()
    path = write(tmp_path / "c.jsonl", {"id": "a", "text": "", "spans": [], "meta": {"x": [1]}, f"{SECRET} x": 1})
    assert [d.text for d in native_jsonl.read(path, left_out=tally)] == [""]
    assert tally == {"document key 'meta'": 1, "document key with a name that is not shown": 1}


@pytest.mark.usefixtures("way")
def test_tabs_spellings_are_known(tmp_path: Path) -> None:
    tally = Tally()
    record = span(identifier_type="NO_MASK", entity_id="e1", confidential_status="HEALTH")
    (document,) = native_jsonl.read(write(tmp_path / "c.jsonl", record), left_out=tally)
    assert document.spans == (Span(8, 16, "NAME", entity="e1", identifier="no_mask"),)
    assert tally == {"span key 'confidential_status'": 1}


BAD: dict[str, tuple[Any, tuple[str, ...]]] = {
    "not JSON": (b'{"id": "a", ' + SECRET.encode(), ("valid JSON", "column 13")),
    "two objects on a line": (json.dumps(GOOD).encode() * 2, ("valid JSON",)),
    "a NUL byte": (b'{"id": "a\0"}', ("valid JSON", "NUL")),
    "bad UTF-8": (b'{"id": "a", "text": "\xff' + SECRET.encode() + b'"}', ("UTF-8", "byte 22")),
    "a surrogate in UTF-8": (b'{"id": "a", "text": "\xed\xa0\x80"}', ("UTF-8",)),
    "half a pair in the text": (b'{"id": "a", "text": "x\\ud83d", "spans": []}', ("surrogate", "character 1")),
    "half a pair in the id": (b'{"id": "\\ude00", "text": "x", "spans": []}', ("surrogate", "'id'")),
    "NaN": (b'{"id": "a", "text": "x", "spans": [], "groups": {"a": NaN}}', ("valid JSON", "no form")),
    "an infinite group": (b'{"id": "a", "text": "x", "spans": [], "groups": {"a": 1e999}}', ("finite",)),
    "thousands of digits": (b'{"id": ' + b"9" * 5000 + b"}", ("valid JSON", "thousands of digits")),
    "deep nesting": (b'{"id": "a", "text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", ("nested too deeply",)),
    "a list": ([GOOD], ("a line must be a JSON object", "a list")),
    "no id": (without("id"), ("'id'", "without it")),
    "an empty id": ({**GOOD, "id": ""}, ("'id' must not be empty",)),
    "an id that is true": ({**GOOD, "id": True}, ("'id' must be a text", "true or false")),
    "no text": (without("text"), ("line 2", "'text'", "without it")),
    "a text that is a number": ({**GOOD, "text": 3}, ("'text' must be a text", "a number")),
    "no spans": (without("spans"), ("'spans'", "nobody annotated")),
    "spans that are null": ({**GOOD, "spans": None}, ("'spans' must be a list", "null")),
    "spans and layers": ({**GOOD, "layers": {}}, ("both",)),
    "layers without annotators": ({**without("spans"), "layers": {}}, ("'layers'", "none")),
    "layers that are null": ({**without("spans"), "layers": None}, ("'layers'", "null")),
    "a span that is a list": ({**GOOD, "spans": [[8, 16]]}, ("span 0", "JSON object", "a list")),
    "a misspelt key": (span(lable="NAME"), ("span 0", "'lable'", "did you mean 'label'")),
    "a key that is a name": (span(**{f"Mr {SECRET}": 1}), ("span 0", "not shown")),
    "no end": ({**GOOD, "spans": [{"start": 8, "label": "NAME"}]}, ("span 0", "'end'")),
    "a start with a point": (span(start=8.0), ("'start' must be a whole number", "decimal point")),
    "a start in quotes": (span(start="8"), ("'start' must be a whole number", "a text")),
    "a start that is true": (span(start=True), ("'start' must be a whole number", "true or false")),
    "a start that is null": (span(start=None), ("'start' must be a whole number", "null")),
    "a huge end": (span(end=10**30), ("'end' must be a place in a text", "two thousand million")),
    "a negative start": (span(start=-1), ("span 0", "-1 to 16 in a text of 26 characters")),
    "a reversed span": (span(start=16, end=8), ("span 0", "16 to 8")),
    "an empty span": (span(end=8), ("8 to 8",)),
    "a span outside": (span(end=27), ("8 to 27 in a text of 26 characters",)),
    "another surface": (span(text="Rose"), ("a surface of 4 characters that is not the 8 at its place",)),
    "a surface that is a number": (span(text=1), ("'text' must be the text under the span", "a number")),
    "an empty label": (span(label=""), ("'label' must not be empty",)),
    "a label that is a number": (span(label=3), ("'label' must be a text",)),
    "an unknown identifier": (span(identifier=SECRET), ("direct, quasi, no_mask", "another text")),
    "an empty patient": ({**GOOD, "patient": ""}, ("'patient' must not be empty",)),
    "groups that are a list": ({**GOOD, "groups": [SECRET]}, ("'groups' must be a JSON object",)),
    "a group that is a list": ({**GOOD, "groups": {"a": [SECRET]}}, ("a group must be",)),
}


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("why", sorted(BAD))
def test_bad_lines_are_refused_by_line_and_never_shown(why: str, tmp_path: Path) -> None:
    record, says = BAD[why]
    path = write(tmp_path / "c.jsonl", {**GOOD, "id": "first"}, record)
    for read in (lambda: list(native_jsonl.read(path)), lambda: native_jsonl.read_arrays(path)):
        with pytest.raises(InputError) as caught:
            read()
        message = str(caught.value)
        assert message.startswith("c.jsonl, line 2"), message
        assert all(part in message for part in says), message
        assert SECRET not in message
        assert len(message) < 600


@pytest.mark.parametrize("why", sorted(BAD))
def test_errors_are_word_for_word_the_same_whichever_way_a_line_goes(
    why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "c.jsonl", BAD[why][0])
    messages = set()
    for chosen in WAYS.values():
        monkeypatch.setattr(fast_jsonl, "decoder", lambda chosen=chosen: chosen)
        with pytest.raises(InputError) as caught:
            list(native_jsonl.read(path))
        messages.add(str(caught.value))
    assert len(messages) == 1


@pytest.mark.usefixtures("way")
def test_a_second_document_under_one_id_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", GOOD, {**GOOD, "id": "b"}, GOOD)
    with pytest.raises(InputError, match=r"line 3: every document must have an id.*line 1 again"):
        list(native_jsonl.read(path))
    with pytest.raises(InputError, match="line 3"):
        native_jsonl.read_arrays(path)


def test_a_line_that_is_too_long_is_refused_before_it_is_held(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    with path.open("wb") as file:
        file.write(json.dumps(GOOD).encode() + b'\n{"id": "b", "text": "')
        for _ in range(100):
            file.write(b"x" * 1_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"line 2: a line of at most 33,554,432 bytes .* got a longer one"):
            list(native_jsonl.read(path))
        assert tracemalloc.get_traced_memory()[1] < 3 * jsonlines.LONGEST_LINE
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("way")
def test_memory_does_not_grow_with_the_corpus(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    text = "word " * 2000
    path.write_text("".join(json.dumps({"id": f"d{i}", "text": text, "spans": []}) + "\n" for i in range(1000)))
    tracemalloc.start()
    try:
        assert sum(1 for _ in native_jsonl.read(path)) == 1000
        assert tracemalloc.get_traced_memory()[1] < 2_000_000  # the file has ten times that
    finally:
        tracemalloc.stop()


def test_marks_blank_lines_packed_files_and_empty_ones(tmp_path: Path) -> None:
    line = json.dumps(GOOD).encode()
    (tmp_path / "marked.jsonl").write_bytes(b"\xef\xbb\xbf" + line + b"\r\n\r\n  \n")
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress(line))
    for name in ("marked.jsonl", "packed.jsonl.gz"):
        assert [document.id for document in native_jsonl.read(tmp_path / name)] == ["a"]
    (tmp_path / "empty.jsonl").write_bytes(b"\n")
    (tmp_path / "torn.jsonl.gz").write_bytes(gzip.compress(line * 1000)[:100])
    for name, says in (
        ("empty.jsonl", "an empty file"),
        ("torn.jsonl.gz", "EOFError"),
        ("absent.jsonl", "no such file"),
    ):
        with pytest.raises(InputError, match=says):
            list(native_jsonl.read(tmp_path / name))
    with pytest.raises(InputError, match="a folder"):
        list(native_jsonl.read(tmp_path))


def test_lines_without_spans_are_a_detectors_input(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", {"id": "a", "text": "x"})
    assert [document.spans for document in native_jsonl.read(path, annotated=False)] == [()]


@pytest.mark.parametrize(("unit", "start", "end"), [("utf16", 3, 7), ("byte", 5, 9), ("codepoint-inclusive", 2, 5)])
def test_other_offsets_are_turned_into_code_points(unit: str, start: int, end: int, tmp_path: Path) -> None:
    record = {
        "id": "a",
        "text": "\U0001f600 Rose",
        "spans": [{"start": start, "end": end, "label": "N", "text": "Rose"}],
    }
    path = write(tmp_path / "c.jsonl", record)
    (document,) = native_jsonl.read(path, offsets=unit)
    assert document.spans == (Span(2, 6, "N"),)
    ids, lengths, arrays = native_jsonl.read_arrays(path, offsets=unit)
    assert (ids, lengths.tolist(), arrays.start.tolist(), arrays.end.tolist()) == (["a"], [6], [2], [6])
    with pytest.raises(InputError, match="line 1, span 0"):
        list(native_jsonl.read(path))


@pytest.mark.usefixtures("way")
def test_columns_are_those_of_the_documents(tmp_path: Path) -> None:
    records = [
        {
            "id": "b",
            "text": "0123456789",
            "spans": [{"start": 5, "end": 9, "label": "z"}, {"start": 0, "end": 3, "label": "a"}],
        },
        {"id": "a", "text": "", "spans": []},
        {
            "id": "c",
            "text": "01234",
            "spans": [{"start": 0, "end": 3, "label": "z"}, {"start": 0, "end": 3, "label": "b"}],
        },
    ]
    path = write(tmp_path / "c.jsonl", *records)
    ids, lengths, arrays = native_jsonl.read_arrays(path)
    rows = [(i, s.start, s.end, s.label) for i, d in enumerate(native_jsonl.read(path)) for s in d.spans]
    expected = SpanArrays.of(rows)
    assert (ids, lengths.tolist(), arrays.labels) == (["b", "a", "c"], [10, 0, 5], ("a", "b", "z"))
    for column in ("document", "start", "end", "label"):
        assert getattr(arrays, column).tolist() == getattr(expected, column).tolist()


def test_nothing_is_left_behind_when_a_document_cannot_be_written(tmp_path: Path) -> None:
    good = Document("a", "Rose", (Span(0, 4, "N"),))
    (tmp_path / "c.jsonl").write_text("what was there")
    for bad, says in ((Document("b", "x\ud800"), "surrogate"), (good, "an id of its own")):
        with pytest.raises(InputError, match=says):
            native_jsonl.write([good, bad], tmp_path / "c.jsonl")
        assert [p.name for p in tmp_path.iterdir()] == ["c.jsonl"]
        assert (tmp_path / "c.jsonl").read_text() == "what was there"


def test_the_same_documents_give_the_same_bytes_that_only_their_owner_reads(tmp_path: Path) -> None:
    native_jsonl.write([Document("a", "Zoë", (Span(0, 3, "N"),), groups={"sex": "F"})], tmp_path / "c.jsonl")
    span = '{"start": 0, "end": 3, "label": "N", "text": "Zoë"}'
    line = f'{{"id": "a", "text": "Zoë", "spans": [{span}], "groups": {{"sex": "F"}}}}\n'
    assert (tmp_path / "c.jsonl").read_bytes() == line.encode()
    assert (tmp_path / "c.jsonl").stat().st_mode & 0o777 == 0o600
