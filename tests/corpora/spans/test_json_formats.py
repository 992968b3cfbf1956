"""Presidio's, TAB's and Label Studio's JSON: as their makers write it, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from workup.files import jsonlines
from workup.corpora.formats.spans import label_studio, presidio_json, tab_json
from workup.documents.records import Tally
from workup.errors import InputError
from workup.documents.document import Document, Span

SECRET = "ZZSECRET"
FULL = Document(
    "n 1",
    "Seen by Rose",
    (Span(8, 12, "NAME", "DOCTOR_NAME", "e1", "direct"),),
    patient="p",
    site="s",
    time="2024",
    groups={"sex": "F"},
    type="note",
    specialty="cardiology",
)


def put(path: Path, value: Any) -> Path:
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return path


def sample(**fields: Any) -> dict[str, Any]:
    span = {"entity_type": "PERSON", "entity_value": "Rose", "start_position": 8, "end_position": 12}
    record = {"full_text": "Seen by Rose", "masked": "Seen by {{PERSON}}", "spans": [span], "template_id": 3}
    return {**record, "metadata": None, **fields}


def judgment(**fields: Any) -> dict[str, Any]:
    mention = {
        "entity_type": "PERSON",
        "entity_mention_id": "a_em1",
        "start_offset": 8,
        "end_offset": 12,
        "span_text": "Rose",
        "edit_type": "check",
        "confidential_status": "HEALTH",
        "identifier_type": "DIRECT",
        "entity_id": "a_e1",
    }
    annotations = {"annotator1": {"entity_mentions": [mention]}, "annotator2": {"entity_mentions": []}}
    meta = {"year": 2010, "legal_branch": "CHAMBER", "countries": "TUR", "applicant": SECRET, "articles": ["6"]}
    record = {"doc_id": "001-1", "text": "Seen by Rose", "annotations": annotations, "meta": meta, "task": SECRET}
    return {**record, "dataset_type": "dev", "quality_checked": False, **fields}


def task(**fields: Any) -> dict[str, Any]:
    value = {"start": 8, "end": 12, "text": "Rose", "labels": ["PER", "DOC"]}
    region = {"id": "r1", "from_name": "label", "to_name": "text", "type": "labels", "value": value, "origin": "manual"}
    choice = {"type": "choices", "value": {"choices": ["x"]}, "from_name": "c", "to_name": "text"}
    annotation = {
        "id": 5,
        "completed_by": {"id": 3, "email": SECRET},
        "was_cancelled": False,
        "result": [region, choice],
    }
    return {"id": 41, "data": {"text": "Seen by Rose"}, "annotations": [annotation], "predictions": [], **fields}


def test_presidio_as_its_makers_write_it(tmp_path: Path) -> None:
    path = put(tmp_path / "synth.v2.json", [sample(), sample(spans=[])])
    assert list(presidio_json.read(path)) == [
        Document("synth-1", "Seen by Rose", (Span(8, 12, "PERSON"),)),
        Document("synth-2", "Seen by Rose"),
    ]


def test_presidio_keeps_ids_and_all_but_what_spans_know_of_themselves(tmp_path: Path) -> None:
    tally = Tally()
    presidio_json.write([FULL], tmp_path / "c.json", left_out=tally)
    assert tally == {"'subtype' of a span": 1, "'entity' of a span": 1, "'identifier' of a span": 1}
    (found,) = presidio_json.read(tmp_path / "c.json")
    assert found.spans == (Span(8, 12, "NAME"),)
    assert (found.id, found.patient, found.groups, found.type) == ("n 1", "p", {"sex": "F"}, "note")
    with pytest.raises(InputError, match="document 1: one list of spans per document"):
        presidio_json.write([Document("d", "", layers={"x": ()})], tmp_path / "d.json")


def test_tab_as_its_makers_write_it(tmp_path: Path) -> None:
    tally = Tally()
    (document,) = tab_json.read(put(tmp_path / "echr.json", [judgment()]), left_out=tally)
    span = Span(8, 12, "PERSON", entity="a_e1", identifier="direct")
    groups = {"year": 2010, "legal_branch": "CHAMBER", "countries": "TUR"}
    assert document == Document(
        "001-1", "Seen by Rose", layers={"annotator1": (span,), "annotator2": ()}, groups=groups
    )
    assert tally["confidential status of a mention"] == 1
    tab_json.write([document], tmp_path / "out.json")
    assert list(tab_json.read(tmp_path / "out.json")) == [document]


def test_tab_keeps_one_list_as_one_list(tmp_path: Path) -> None:
    tally = Tally()
    tab_json.write([FULL], tmp_path / "c.json", left_out=tally)
    (found,) = tab_json.read(tmp_path / "c.json")
    assert (found.spans, found.layers) == (FULL.spans, {})
    assert tally["'patient' of a document"] == tally["'groups' of a document"] == 1


def test_tab_in_lines(tmp_path: Path) -> None:
    line = {
        "id": "001-1",
        "text": "Seen by Rose",
        "spans": [{"start": 8, "end": 12, "label": "PERSON", "identifier_type": "QUASI", "entity_id": "e"}],
        "meta": {"year": 2010, "country": "TUR", "data_id": SECRET},
    }
    (document,) = tab_json.read(put(tmp_path / "tab.jsonl", line))
    assert document.spans == (Span(8, 12, "PERSON", entity="e", identifier="quasi"),)
    assert document.groups == {"year": 2010, "country": "TUR"}
    with pytest.raises(InputError, match=r"bad\.jsonl, line 1: a line must be a JSON object"):
        list(tab_json.read(put(tmp_path / "bad.jsonl", [line])))


def test_label_studio_as_it_exports(tmp_path: Path) -> None:
    tally = Tally()
    (document,) = label_studio.read(put(tmp_path / "export.json", [task()]), left_out=tally)
    assert document == Document("41", "Seen by Rose", (Span(8, 12, "PER"), Span(8, 12, "DOC")))
    assert tally == {"result that is no labelled stretch of text": 1}


def test_label_studio_with_several_annotators_and_cancelled_work(tmp_path: Path) -> None:
    one, cancelled = task()["annotations"][0], {"was_cancelled": True, "result": []}
    annotations = [one, {**one, "completed_by": 9, "result": []}, {**one, "completed_by": 9}, cancelled]
    tally = Tally()
    (document,) = label_studio.read(put(tmp_path / "e.json", [task(annotations=annotations)]), left_out=tally)
    assert {name: len(spans) for name, spans in document.layers.items()} == {
        "annotator 3": 2,
        "annotator 9": 0,
        "annotator 9, annotation 3": 2,
    }
    assert tally["cancelled annotation"] == 1


def test_label_studio_keeps_everything(tmp_path: Path) -> None:
    layered = Document("n 2", "Rose", layers={"ann": (Span(0, 4, "N"),), "bob": ()})
    tally = Tally()
    label_studio.write([FULL, layered], tmp_path / "c.json", left_out=tally)
    assert list(label_studio.read(tmp_path / "c.json")) == [FULL, layered]
    assert not tally
    written = json.loads((tmp_path / "c.json").read_bytes())
    assert all("completed_by" not in one for item in written for one in item["annotations"])


def test_a_task_that_nobody_finished_is_no_gold(tmp_path: Path) -> None:
    for work in ([], [{"was_cancelled": True, "result": []}]):
        path = put(tmp_path / "e.json", [task(annotations=work)])
        with pytest.raises(InputError, match=r"item 1: a finished annotation .* got none"):
            list(label_studio.read(path))


def test_old_exports_count_as_a_browser_does(tmp_path: Path) -> None:
    value = {"start": 3, "end": 7, "text": "Rose", "labels": ["PER"]}
    record = task(data={"text": "\U0001f600 Rose"}, annotations=[{"result": [{"type": "labels", "value": value}]}])
    path = put(tmp_path / "e.json", [record])
    (document,) = label_studio.read(path, offsets="utf16")
    assert document.spans == (Span(2, 6, "PER"),)
    with pytest.raises(InputError, match="item 1, span 0: a span must lie inside"):
        list(label_studio.read(path))


def _region(**value: Any) -> list[dict[str, Any]]:
    found = {"start": 8, "end": 12, "labels": ["PER"], **value}
    return [{"result": [{"type": "labels", "value": found}]}]


def _mention(**fields: Any) -> dict[str, Any]:
    found = {"entity_type": "PERSON", "start_offset": 8, "end_offset": 12, **fields}
    return {"x": {"entity_mentions": [found]}}


def _span(**fields: Any) -> list[dict[str, Any]]:
    return [{"entity_type": "PERSON", "start_position": 8, "end_position": 12, **fields}]


BAD: dict[str, tuple[ModuleType, Any, str]] = {
    "no list": (presidio_json, sample(), "c.json: a JSON list"),
    "an empty list": (presidio_json, [], "an empty one"),
    "torn": (presidio_json, b'[{"full_text":\n "' + SECRET.encode(), "c.json, line 2: valid JSON"),
    "bad UTF-8": (tab_json, b'[\n"\xff"]', "c.json, line 2: text in UTF-8"),
    "nested too deeply": (label_studio, b"[" * 200_000 + b"]" * 200_000, "nested too deeply"),
    "an item that is a text": (presidio_json, [SECRET], "item 1: an item must be a JSON object"),
    "no full_text": (presidio_json, [{"spans": []}], "item 1: the key 'full_text'"),
    "no spans": (presidio_json, [{"full_text": SECRET}], "item 1: the key 'spans'"),
    "a float": (presidio_json, [sample(spans=_span(start_position=8.0))], "item 1, span 0: .* decimal point"),
    "a bool": (presidio_json, [sample(spans=_span(end_position=True))], "true or false"),
    "a huge number": (presidio_json, [sample(spans=_span(end_position=10**40))], "two thousand million"),
    "outside": (presidio_json, [sample(spans=_span(end_position=13))], "item 1, span 0: .* 8 to 13"),
    "another surface": (presidio_json, [sample(spans=_span(entity_value="Rosa"))], "must be its surface"),
    "half a pair": (presidio_json, b'[{"full_text": "\\ud800", "spans": []}]', "surrogate"),
    "one id twice": (tab_json, [judgment(), judgment()], "item 2: .* of item 1 again"),
    "no annotations": (tab_json, [judgment(annotations={})], "an annotator was expected"),
    "no mentions": (tab_json, [judgment(annotations={"x": {}})], "the key 'entity_mentions'"),
    "a mention in quotes": (tab_json, [judgment(annotations=_mention(start_offset="8"))], "span 0: .* a text"),
    "an unknown identifier": (tab_json, [judgment(annotations=_mention(identifier_type=SECRET))], "direct, quasi"),
    "reversed": (tab_json, [judgment(annotations=_mention(end_offset=2))], "annotator 1, span 0: .* 8 to 2"),
    "no data": (label_studio, [{"text": "x", "label": []}], "the key 'data' .* JSON-MIN"),
    "no text": (label_studio, [task(data={"body": SECRET})], "the key 'text'"),
    "negative": (label_studio, [task(annotations=_region(start=-1))], "-1 to 12"),
    "no label": (label_studio, [task(annotations=_region(labels=[]))], "region 0: a label"),
    "a label that is a number": (label_studio, [task(annotations=_region(labels=[3]))], "'labels' must be a text"),
}


@pytest.mark.parametrize("why", sorted(BAD))
def test_bad_files_are_refused_by_item(why: str, tmp_path: Path) -> None:
    format, value, says = BAD[why]
    with pytest.raises(InputError, match=says) as caught:
        list(format.read(put(tmp_path / "c.json", value)))
    assert str(caught.value).startswith("c.json")
    assert SECRET not in str(caught.value)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonlines.items, "__kwdefaults__", {"largest": 100})
    with pytest.raises(InputError, match="a JSON file of at most 100 bytes"):
        list(presidio_json.read(put(tmp_path / "c.json", [sample()])))


@pytest.mark.parametrize("format", [presidio_json, tab_json, label_studio])
def test_nothing_is_written_when_one_document_cannot_be(format: ModuleType, tmp_path: Path) -> None:
    for bad in (Document("b", "x\ud800"), FULL):
        with pytest.raises(InputError, match="document 2"):
            format.write([FULL, bad], tmp_path / "c.json")
    assert list(tmp_path.iterdir()) == []
