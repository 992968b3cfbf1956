"""Batches of documents and of predictions: the quick way and the careful way say the same, in results and in errors."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workup.corpora.formats.spans import fast_jsonl, predictions, batches as span_batches, native_jsonl
from workup.corpora.formats.spans.predictions import read_predictions
from workup.files.seen_ids import SeenIds
from workup.corpora.formats.spans.batches import read_batches
from workup.documents.records import Tally
from workup.errors import InputError
from workup.documents import batch as batches
from workup.documents.batch import Batch, batches_of
from workup.documents.detections import Found, HeldDetections, StreamedDetections
from workup.documents.document import Span

SECRET = "ZZSECRET"
TEXT = "Ann Lee was seen on 9 May at Bridge House."


def put(path: Path, *records: Any) -> Path:
    path.write_bytes(b"\n".join(r if isinstance(r, bytes) else json.dumps(r).encode() for r in records) + b"\n")
    return path


def note(id: Any, *spans: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": id, "text": TEXT, "spans": list(spans), **fields}


def span(start: int = 0, end: int = 7, label: str = "name_patient", **fields: Any) -> dict[str, Any]:
    return {"start": start, "end": end, "label": label, **fields}


def told(batch: Batch) -> dict[str, Any]:
    """All that a batch says."""
    named = {name: getattr(batch, name) for name in ("ids", "texts", "counts", "starts", "ends", "labels")}
    more = {name: getattr(batch, name) for name in ("subtypes", "entities", "identifiers", "groups", "first")}
    about = {name: batch.column(name) for name in batches.ABOUT}
    ways, place = batch.ways
    return {**named, **more, **about, "ways": [ways[i] for i in place.tolist()], "of": batch.spans.document.tolist()}


def whole(read: Any) -> dict[str, Any]:
    return told(Batch.joined(list(read)))


VARIED = [
    note("a", span(text="Ann Lee"), span(20, 25, "date"), patient="p1", site="north", groups={"age": 4, "sex": None}),
    note("b", patient="p1", time="2024-05-09", type="letter", specialty="cardiology"),
    note("c", span(29, 41, "facility", text="Bridge House"), span(0, 3)),
    note("d", span(subtype="PATIENT_NAME", entity="e1", identifier="direct"), span(4, 7, identifier="quasi")),
    note("e", span(20, 25, "date")),
]


@pytest.fixture(params=["quick", "line by line"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "line by line":
        monkeypatch.setattr(fast_jsonl, "documents_decoder", lambda: lambda lines: None)
        monkeypatch.setattr(fast_jsonl, "predictions_decoder", lambda: lambda lines: None)
    return str(request.param)


@pytest.mark.parametrize("piece", [1, 2, 500])
@pytest.mark.parametrize("size", [1, 3, 4000])
def test_batches_say_what_documents_say(
    piece: int, size: int, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "golds.jsonl", *VARIED)
    expected = told(Batch.of(list(native_jsonl.read(path))))
    monkeypatch.setattr(batches, "PIECE", piece)
    monkeypatch.setattr(batches, "SIZE", size)
    read = list(read_batches(path))
    assert [len(batch) for batch in read][:1] == [
        min(5, max(size, piece if size <= piece else -(-size // piece) * piece))
    ]
    assert whole(read) == expected
    assert whole(batches_of(native_jsonl.read(path))) == expected


def test_long_documents_end_a_batch_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "golds.jsonl", *VARIED)
    monkeypatch.setattr(batches, "LARGEST", 2 * len(TEXT))
    monkeypatch.setattr(batches, "_LOOKED_AT", 1)
    assert [len(batch) for batch in batches_of(native_jsonl.read(path))] == [2, 2, 1]
    assert sum(len(batch) for batch in read_batches(path)) == 5


ODD: dict[str, Any] = {
    "an id that is a number": note(7, span()),
    "a key of its own": note("z", span(), remark="x"),
    "layers": {"id": "z", "text": TEXT, "layers": {"one": [span()], "two": [span(0, 3)]}},
    "groups that are null": note("z", span(), groups=None),
    "a text outside ASCII": {"id": "z", "text": "Frau Müller 😀 kam", "spans": [span(5, 11, text="Müller")]},
    "windows line ends": json.dumps(note("z", span())).encode() + b"\r",
    "surfaces of some spans": note("z", span(text="Ann Lee"), span(20, 25, "date")),
    "a new label": note("z", span(label="surprise")),
    "no spans": note("z"),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("place", [0, 3, 5])
def test_odd_lines_go_the_careful_way(odd: str, place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "PIECE", 2)
    lines = [*VARIED[:place], ODD[odd], *VARIED[place:]]
    path = put(tmp_path / "golds.jsonl", *lines)
    first, second = Tally(), Tally()
    expected = told(Batch.of(list(native_jsonl.read(path, left_out=first))))
    seen = whole(read_batches(path, left_out=second))
    assert (seen.pop("first") or [True] * len(seen["ids"])) == (expected.pop("first") or [True] * len(expected["ids"]))
    assert seen == expected and first == second


WRONG: dict[str, Any] = {
    "outside its text": note("z", span(0, 99)),
    "turned round": note("z", span(7, 7)),
    "before its text": note("z", span(-1, 7)),
    "without a label": note("z", span(label="")),
    "another surface": note("z", span(text=SECRET)),
    "another surface of the same length": note("z", span(text="ZZSECRE")),
    "an unknown identifier type": note("z", span(identifier="secret")),
    "a place beyond 32 bits": note("z", span(0, 2**40)),
    "a place beyond 64 bits": note("z", span(0, 2**80)),
    "a place that is no whole number": note("z", span(0, 7.5)),  # type: ignore[arg-type]
    "an unknown key of a span": note("z", span(colour="red")),
    "no annotation": {"id": "z", "text": TEXT},
    "an empty id": note(""),
    "no JSON": b'{"id": "z", ',
    "two objects": json.dumps(note("y")).encode() * 2,
    "no UTF-8": b'{"id": "z", "text": "\xff", "spans": []}',
    "half a surrogate pair": b'{"id": "z", "text": "\\ud800", "spans": []}',
    "the same id": note("a"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_errors_are_those_of_the_careful_way(wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "PIECE", 2)
    path = put(tmp_path / "golds.jsonl", *VARIED, WRONG[wrong])
    with pytest.raises(InputError) as careful:
        list(native_jsonl.read(path))
    with pytest.raises(InputError) as quick:
        list(read_batches(path, format="spans-jsonl"))
    assert str(quick.value) == str(careful.value) and "line 6" in str(quick.value)
    assert SECRET not in str(quick.value)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "golds.jsonl"
    path.write_text("\n  \n")
    with pytest.raises(InputError, match="an empty file"):
        list(read_batches(path, format="spans-jsonl"))


def test_files_may_be_packed_and_begin_with_a_mark(tmp_path: Path) -> None:
    path = put(tmp_path / "golds.jsonl", *VARIED)
    content = b"\xef\xbb\xbf" + path.read_bytes()
    with gzip.open(tmp_path / "golds.jsonl.gz", "wb") as file:
        file.write(content)
    assert whole(read_batches(tmp_path / "golds.jsonl.gz")) == whole(read_batches(path))


# ---- predictions -----------------------------------------------------------------------------------------------------


def answer(id: Any, *spans: dict[str, Any]) -> dict[str, Any]:
    return {"id": id, "spans": list(spans)}


ANSWERS = [
    answer("a", span(score=0.5), span(3, 99, "date")),
    answer("b"),
    answer("c", span(8, 9, "zip", score=1), span(0, 3, "name_patient")),
    answer(7, span(label="LOC")),
]


def of_found(ids: list[str], found: Found) -> list[tuple[Any, ...]]:
    """What was found, document by document."""
    spans = list(zip(found.spans.document.tolist(), found.starts, found.ends, found.labels, found.scores, strict=True))
    assert [sum(one[0] == i for one in spans) for i in range(len(ids))] == found.counts
    assert set(found.spans.labels) == set(found.labels)
    return [(id, found.answered[i], [one[1:] for one in spans if one[0] == i]) for i, id in enumerate(ids)]


@pytest.mark.parametrize("piece", [1, 3, 500])
def test_batches_of_predictions_say_what_single_ones_say(
    piece: int, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "PIECE", piece)
    path = put(tmp_path / "found.jsonl", *ANSWERS)
    expected = [(id, True, [(s.start, s.end, s.label, s.score) for s in spans]) for id, spans in read_predictions(path)]
    assert [one for ids, found in read_predictions(path).batches() for one in of_found(ids, found)] == expected


@pytest.mark.parametrize(
    "wrong",
    [
        answer("z", span(7, 7)),
        answer("z", span(-1, 7)),
        answer("z", span(label="")),
        answer("z", span(0, 2**80)),
        answer("z", span(score="high")),
        b'{"id": "z", "spans": [{"start": 0, "end": 4, "label": "x", "score": 1e999}]}',
        answer("z", span(score=1e305)),
        answer("z", span(colour="red")),
        answer("a"),
        {"id": "z"},
        b"[]",
    ],
)
def test_errors_in_predictions_are_those_of_the_careful_way(wrong: Any, tmp_path: Path) -> None:
    path = put(tmp_path / "found.jsonl", *ANSWERS, wrong)
    with pytest.raises(InputError) as careful:
        list(read_predictions(path))
    with pytest.raises(InputError) as quick:
        list(read_predictions(path).batches())
    assert str(quick.value) == str(careful.value) and "line 5" in str(quick.value)


def test_offsets_that_count_otherwise_are_converted_in_batches_too(tmp_path: Path) -> None:
    path = put(tmp_path / "found.jsonl", answer("a", span(3, 5, "date")))
    [(ids, found)] = read_predictions(path, offsets="utf16", texts={"a": "😀 xy"}).batches()
    assert of_found(ids, found) == [("a", True, [(2, 4, "date", None)])]


# ---- joined to documents ---------------------------------------------------------------------------------------------

_IDS = [f"d{i}" for i in range(12)]


@settings(max_examples=60, deadline=None)
@given(
    answered=st.lists(st.sampled_from([*_IDS, "x", "y"]), unique=True),
    asked=st.permutations(_IDS),
    cuts=st.lists(st.integers(1, 5), min_size=12, max_size=12),
    piece=st.integers(1, 6),
    twice=st.booleans(),
)
def test_streamed_and_held_predictions_agree(
    answered: list[str], asked: list[str], cuts: list[int], piece: int, twice: bool
) -> None:
    spans = {id: [Span(i, i + 2, f"label {i % 3}", score=0.5)] * (i % 3) for i, id in enumerate(answered)}
    if twice:  # readings of one document stand beside each other
        asked = [id for id in asked for _ in range(2)]
    held = HeldDetections(spans)
    before = batches.PIECE
    batches.PIECE = piece
    try:
        streamed = StreamedDetections(iter(spans.items()))
        for cut in cuts:
            # Readings of one document are asked for together.
            ids, asked = asked[: 2 * cut if twice else cut], asked[2 * cut if twice else cut :]
            assert of_found(ids, streamed.of(ids)) == of_found(ids, held.of(ids))
        left, known = streamed.unknown(), held.unknown()
    finally:
        batches.PIECE = before
    assert sorted(zip(left.starts, left.labels, strict=True)) == sorted(zip(known.starts, known.labels, strict=True))
    assert len(left.counts) == len(known.counts)


def test_a_document_with_two_lines_of_predictions_is_refused() -> None:
    streamed = StreamedDetections([("a", []), ("b", []), ("b", [])])
    with pytest.raises(InputError, match="one line of predictions"):
        streamed.of(["c"])


def test_all_of_unknown_documents_as_one() -> None:
    found = Found.of([[Span(0, 1, "x")], None, [Span(4, 6, "y", score=0.1)]]).as_one()
    assert of_found(["unknown"], found) == [("unknown", True, [(0, 1, "x", None), (4, 6, "y", 0.1)])]


# ---- ids -------------------------------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.integers(0, 60), max_size=12), max_size=12))
def test_an_id_that_occurs_twice_is_suspected_and_no_other(several: list[list[int]]) -> None:
    seen, known = SeenIds(), set[str]()
    for numbers in several:
        ids = [f"note {number}" for number in numbers]
        again = len(set(ids)) < len(ids) or bool(known & set(ids))
        known |= set(ids)
        assert seen.suspects(ids) == again


@pytest.mark.parametrize("module", [span_batches, predictions])
def test_a_suspicion_without_ground_stops_nothing(module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.SeenIds, "suspects", lambda self, ids: True)
    golds, found = put(tmp_path / "golds.jsonl", *VARIED), put(tmp_path / "found.jsonl", *ANSWERS)
    assert whole(read_batches(golds))["ids"] == ["a", "b", "c", "d", "e"]
    assert [ids for ids, _ in read_predictions(found).batches()] == [["a", "b", "c", "7"]]


def test_labels_beyond_number_are_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "PIECE", 3)
    records = [note(f"n{i}", *(span(label=f"label {i} {j}") for j in range(30))) for i in range(40)]
    path = put(tmp_path / "golds.jsonl", *records)
    labels = [label for batch in read_batches(path, format="spans-jsonl") for label in batch.labels]
    assert labels == [f"label {i} {j}" for i in range(40) for j in range(30)]
