"""Descriptions: counts by hand, the mapping to fill in, and the format that recognises a file."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from workup import plugins
from workup.corpora.describe import describe, mapping_to_fill, nearest, text_of
from workup.corpora.formats.spans import (
    brat,
    conll,
    i2b2,
    label_studio,
    presidio_json,
    native_jsonl,
    tab_json,
)
from workup.corpora.formats.spans.any_format import find_format, read_documents, recognise, span_formats
from workup.documents.records import Tally
from workup.errors import InputError, PluginError, StudyError
from workup.documents.document import Document, Span
from workup.documents.mappings import LabelMapping

SECRET = "ZZSECRET"
CORPUS = [
    Document("a", "She was seen by Rose", (Span(16, 20, "DOCTOR"), Span(16, 20, "DOCTOR"), Span(17, 19, "SHOE_SIZE"))),
    Document("b", SECRET, patient=SECRET, site=SECRET, type="note", specialty="cardiology"),
    Document("c", "x" * 10, layers={"x": (Span(0, 3, "DATE"),), "y": (Span(0, 3, "DATE", identifier="quasi"),)}),
]


def test_counts_by_hand() -> None:
    record = describe(CORPUS, labels="i2b2_2014")
    assert record["documents"] == 3
    assert record["spans"] == 5
    assert record["documents_without_spans"] == 1
    assert (record["overlapping_spans"], record["repeated_spans"]) == (2, 1)
    assert record["characters"] == 38
    assert record["lengths"] == {"shortest": 8, "median": 10, "longest": 20}
    assert (record["patients"], record["sites"]) == (1, 1)
    assert record["annotators"] == {"x": 1, "y": 1}
    assert record["identifiers"] == {"quasi": 1}
    assert (record["types"], record["specialties"]) == ({"note": 1}, {"cardiology": 1})
    assert record["labels"] == [
        {"label": "DATE", "spans": 2, "documents": 1, "means": "DATE"},
        {"label": "DOCTOR", "spans": 2, "documents": 1, "means": "name_provider"},
        {"label": "SHOE_SIZE", "spans": 1, "documents": 1, "means": None},
    ]
    assert record["unmapped"] == ["SHOE_SIZE"]
    assert record["language_uncertain"] == 0  # single words are no evidence of another language
    assert describe([*CORPUS, Document("d", "Ingresa por dolor de pecho.")])["language_uncertain"] == 1
    text = text_of(record, name="c.jsonl", format="spans-jsonl")
    assert "SHOE_SIZE" in text and "NOT MAPPED" in text
    assert SECRET not in text + repr(record)


def test_a_column_with_too_many_levels_is_not_listed() -> None:
    record = describe([Document(str(i), "x", type=f"{SECRET}{i}") for i in range(41)])
    assert record["types"] == {"41 different": 41}


def test_the_mapping_to_fill_in_is_refused_until_it_is(tmp_path: Path) -> None:
    record = describe(CORPUS, labels="i2b2_2014")
    path = tmp_path / "mine.yaml"
    path.write_text(mapping_to_fill(record, source="c.jsonl"), encoding="utf-8")
    with pytest.raises(StudyError, match="SHOE_SIZE"):
        LabelMapping.load(path)
    filled = path.read_text(encoding="utf-8").replace('"SHOE_SIZE":', '"SHOE_SIZE": misc')
    path.write_text(filled, encoding="utf-8")
    mapping = LabelMapping.load(path)
    assert mapping.unmapped(["DOCTOR", "DATE", "SHOE_SIZE"]) == []
    assert describe(CORPUS, labels=str(path))["unmapped"] == []


def test_odd_labels_stay_on_their_line(tmp_path: Path) -> None:
    odd = 'a: "b"\n# c\x1b[31m'
    record = describe([Document("a", "Rose", (Span(0, 4, odd),))])
    path = tmp_path / "mine.yaml"
    path.write_text(mapping_to_fill(record, source="x: y\n").replace("# 1 spans", "misc"), encoding="utf-8")
    assert LabelMapping.load(path).unmapped([odd]) == []
    assert "\x1b" not in text_of(record, name="c", format="brat")


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        (["PATIENT", "MEDICALRECORD"], "i2b2_2014"),
        (["name_patient", "date"], "workup"),
        (["TERRITORIO", "FECHAS"], "meddocan"),
        (["US_MBI", "PERSON"], "presidio"),
        ([], "workup"),
    ],
)
def test_the_shipped_mapping_that_knows_most_is_taken(labels: list[str], name: str) -> None:
    assert nearest(Tally(labels)).name == name


FORMATS = {
    "brat": (brat, "c"),
    "i2b2": (i2b2, "c.zip"),
    "conll": (conll, "c.conll"),
    "presidio": (presidio_json, "c.json"),
    "tab": (tab_json, "c.json"),
    "label-studio": (label_studio, "c.json"),
    "spans-jsonl": (native_jsonl, "c.jsonl"),
}


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_file_is_recognised_by_what_it_holds(name: str, tmp_path: Path) -> None:
    format, place = FORMATS[name]
    format.write([Document("a", "Rose", (Span(0, 4, "NAME"),)), Document("b", "")], tmp_path / place)
    assert recognise(tmp_path / place).name == name
    assert [document.id for document in read_documents(tmp_path / place)] == ["a", "b"]


def test_what_is_not_recognised_says_so(tmp_path: Path) -> None:
    for name, content in (("a.json", b"[1]"), ("b.jsonl", b"\xff\0"), ("c.txt", b"x"), ("d.zip", b"PK\x03\x04")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=f"{name}: .* none that is recognised"):
            recognise(tmp_path / name)
    with pytest.raises(InputError, match="nothing at this path"):
        recognise(tmp_path / "absent")


def test_formats_have_near_names_and_tables_are_none_of_them() -> None:
    assert find_format("jsonl").name == "spans-jsonl"
    with pytest.raises(PluginError, match="did you mean 'conll'"):
        find_format("conl")
    with pytest.raises(PluginError, match="'csv' is not one of the formats of spans"):
        find_format("csv")
    with pytest.raises(PluginError, match="is no format of spans"):
        find_format("json:loads")


def test_a_broken_plug_in_keeps_no_other_from_being_found(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("broken", "no.such.module", "workup.formats")
    monkeypatch.setattr(
        plugins, "registered", lambda noun: {"broken": broken, "brat": EntryPoint("brat", brat.__name__, "")}
    )
    assert list(span_formats()) == ["brat"]


def test_titles_are_cut_alike(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    native_jsonl.write([Document("a", "Seen by Dr. Rose", (Span(8, 16, "NAME"),))], path)
    tally = Tally()
    (document,) = read_documents(path, trim="titles", left_out=tally)
    assert document.spans == (Span(12, 16, "NAME"),)
    assert list(tally.values()) == [1]
    for settings, says in (({"trim": "title"}, "did you mean 'titles'"), ({"offsets": "bytes"}, "did you mean 'byte'")):
        with pytest.raises(InputError, match=says):
            read_documents(path, **settings)
