"""Titles at the head of golds: what is cut, what is left alone, and how often on real judgments."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.places import DATA
from workup.documents.document import Document, Span
from workup.documents.titles import cut_titles, title_length

TAB = DATA / "tab" / "tab.jsonl"


@pytest.mark.parametrize(
    ("surface", "left"),
    [
        ("Mr. Berg", "Berg"),
        ("Mrs Berg", "Berg"),
        ("MR BERG", "BERG"),
        ("dr.berg", "berg"),
        ("Prof. Dr. Ada Berg", "Ada Berg"),
        ("Mr. and Mrs. Berg", "Berg"),
        ("Mr & Mrs Berg", "Berg"),
        ("Judge Berg", "Berg"),
        ("Sir\nBerg", "Berg"),
        ("Sra. Álvarez", "Álvarez"),
        # A word that only begins like a title, a title that is no head, and a gold that is nothing but one.
        ("Drew Berg", "Drew Berg"),
        ("Missy Berg", "Missy Berg"),
        ("Berg, Dr.", "Berg, Dr."),
        ("Berg Sr.", "Berg Sr."),
        ("Dr.", "Dr."),
        ("Mr. Dr. ", "Mr. Dr. "),
        ("General Directorate", "General Directorate"),
        ("Don Berg", "Don Berg"),
        # Letters before a number belong to it: a record number, a state with its postal code, a licence.
        ("MR 12345", "MR 12345"),
        ("MS 39201", "MS 39201"),
        ("MR. 12345-B", "MR. 12345-B"),
        ("Dr 5th floor", "Dr 5th floor"),
        ("Mr Dr 12 Berg", "Mr Dr 12 Berg"),
        ("Ms  39201 Jackson", "Ms  39201 Jackson"),
        ("Mr ٣", "Mr ٣"),
        ("", ""),
    ],
)
def test_what_is_cut(surface: str, left: str) -> None:
    assert surface[title_length(surface) :] == left


def test_golds_of_all_annotators_and_no_other_text() -> None:
    text = "Mr. Berg saw Dr. Ek."
    golds = (Span(0, 8, "PERSON", entity="e1"), Span(4, 8, "PERSON"))
    document = Document("1", text, golds, layers={"ann": (Span(13, 19, "DOCTOR"),), "bob": ()})
    trimmed, count = cut_titles(document)
    assert count == 2
    assert trimmed.spans == (Span(4, 8, "PERSON", entity="e1"), Span(4, 8, "PERSON"))
    assert trimmed.layers == {"ann": (Span(17, 19, "DOCTOR"),), "bob": ()}
    assert cut_titles(document, labels={"DOCTOR"})[1] == 1
    assert cut_titles(trimmed) == (trimmed, 0)


@given(st.text(alphabet="MmrsD.Bg &and1\n", max_size=20))
def test_a_cut_leaves_a_name_and_ends_what_there_is_to_cut(surface: str) -> None:
    length = title_length(surface)
    assert 0 <= length <= len(surface)
    if length:
        assert surface[length].isalpha()
        assert title_length(surface[length:]) == 0


@pytest.mark.real_data
def test_titles_in_court_judgments() -> None:
    counts: dict[str, int] = {}
    for line in TAB.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        spans = tuple(Span(span["start"], span["end"], span["label"]) for span in row["spans"])
        for label in {span.label for span in spans}:
            counts[label] = (
                counts.get(label, 0) + cut_titles(Document(row["id"], row["text"], spans), labels={label})[1]
            )
    # Counted by first words of the surfaces: Mr 148, Ms 20, Mrs 20, Mr. 2, Ms. 1, Dr 1.
    assert {label: count for label, count in counts.items() if count} == {"PERSON": 192}
