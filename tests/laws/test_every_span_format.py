"""Every registered format of spans: what is written comes back to the character, or the writer refuses and says why."""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workup.corpora.formats.spans.any_format import SpanFormat, find_format, span_formats
from workup.documents.records import Tally, all_spans
from workup.errors import InputError
from workup.documents.document import Document, Span

PLACES = {
    "spans-jsonl": "c.jsonl",
    "brat": "c",
    "i2b2": "c.zip",
    "conll": "c.conll",
    "docbin": "c.spacy",
    "presidio": "c.json",
    "tab": "c.json",
    "label-studio": "c.json",
}
KEEPS_ANNOTATORS = {"spans-jsonl", "tab", "label-studio"}
KEEPS_EVERYTHING = {"spans-jsonl", "label-studio"}
HARD = [
    *("\r", "\n", "\r\n", "\t", " ", "\u00a0", "\x85", "\u2028", "\x0b", "\x1c"),  # blanks and line ends of all kinds
    *("\U0001f600", "\U0001f468\u200d\U0001f469", "e\u0301", "\u202e", "\ufeff", "\u0000", "\ufffe", "\U000e0001"),
    *("]]>", "<![CDATA[", "&#13;", '"', "\\", "\\u", "# text = ", "-DOCSTART-", "T1\tX 0 1\tx", ";", "ab", "Rose", "3"),
]
TEXTS = st.lists(st.sampled_from(HARD) | st.characters(codec="utf-8"), max_size=12).map("".join)
LABELS = st.sampled_from(["NAME", "B-NAME", "O", "日付", "LOCATION-OTHER", "a b", "tab\t", "\u00a0"])
IDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8) | st.sampled_from(["..", "a/b", "50%", "%41", ".x"])


@st.composite
def spans_of(draw: st.DrawFn, text: str) -> tuple[Span, ...]:
    """Spans anywhere in a text: apart, touching, nested, overlapping, twice the same."""
    if not text:
        return ()
    places = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).filter(lambda pair: pair[0] != pair[1])
    found = draw(st.lists(st.tuples(places, LABELS), max_size=4))
    return tuple(Span(min(pair), max(pair), label) for pair, label in found)


@st.composite
def corpora(draw: st.DrawFn) -> list[Document]:
    """A few documents, some of several annotators."""
    documents = []
    for id in draw(st.lists(IDS, min_size=1, max_size=3, unique=True)):
        text = draw(TEXTS)
        if draw(st.integers(0, 5)):
            documents.append(Document(id, text, draw(spans_of(text))))
        else:
            documents.append(Document(id, text, layers={"x": draw(spans_of(text)), "y y": draw(spans_of(text))}))
    return documents


def excuse(name: str, document: Document) -> bool:
    """Whether a format may refuse the document; every other one it must keep."""
    labels = [span.label for span in document.spans]
    odd = any(any(c.isspace() or not c.isprintable() for c in label) for label in labels)
    ordered = sorted(document.spans, key=lambda span: (span.start, span.end))
    overlap = any(after.start < before.end for before, after in pairwise(ordered))
    blank = any(document.text[s.start].isspace() or document.text[s.end - 1].isspace() for s in document.spans)
    unwritable = any(
        (unicodedata.category(c) == "Cc" and c not in "\t\n\r" and ord(c) < 0x20) or c in "\ufffe\uffff"
        for c in document.text + "".join(labels)
    )
    reasons = {
        "brat": odd or "\0" in document.text,
        "i2b2": unwritable,
        "conll": odd or overlap or blank or "\0" in document.text,
    }
    return reasons.get(name, False) or (bool(document.layers) and name not in KEEPS_ANNOTATORS)


def places_of(document: Document) -> Counter[tuple[int, int, str, str]]:
    return Counter((s.start, s.end, s.label, document.text[s.start : s.end]) for s in all_spans(document))


def refusal_of(format: SpanFormat, documents: list[Document], path: Path) -> InputError | None:
    try:
        format.write(documents, path)
    except InputError as error:
        return error
    return None


def check_law(format: SpanFormat, documents: list[Document], path: Path) -> None:
    """Written and read again, or refused with nothing left behind."""
    refusal = refusal_of(format, documents, path)
    if refusal is not None:
        refused = [d for d in documents if excuse(format.name, d)]
        assert refused, f"{format.name} refused without reason: {refusal}"
        assert any(f"document {documents.index(d) + 1}" in str(refusal) for d in refused), refusal
        assert refusal.got, "the reason"
        assert not any(path.parent.iterdir()), "something half-written"
        return
    assert not [d.id for d in documents if format.name not in KEEPS_ANNOTATORS and d.layers]
    assert format.recognises(path)
    found = {document.id: document for document in format.read(path)}
    assert set(found) == {document.id for document in documents}
    for document in documents:
        again = found[document.id]
        assert again.text == document.text
        assert places_of(again) == places_of(document)
        if format.name in KEEPS_ANNOTATORS:
            assert again.layers == document.layers


@pytest.fixture(params=sorted(span_formats()))
def format(request: pytest.FixtureRequest) -> SpanFormat:
    """Each registered format in turn; one whose library is absent is skipped."""
    if request.param == "docbin" and importlib.util.find_spec("spacy") is None:
        pytest.skip("the spacy extra is not installed")
    assert request.param in PLACES, (
        f"give the format '{request.param}' a file name in PLACES, so that the law covers it"
    )
    return find_format(request.param)


@settings(max_examples=120)
@given(documents=corpora())
def test_write_then_read_keeps_every_span_or_refuses(
    documents: list[Document], format: SpanFormat, tmp_path_factory: pytest.TempPathFactory
) -> None:
    check_law(format, documents, tmp_path_factory.mktemp("law") / PLACES[format.name])


def test_all_fields_are_kept_or_counted(format: SpanFormat, tmp_path: Path) -> None:
    span = Span(0, 4, "NAME", "PATIENT_NAME", "e1", "direct")
    about = {"patient": "p", "site": "s", "time": "2024", "type": "note", "specialty": "cardiology"}
    document = Document("a", "Rose", (span,), groups={"sex": "F"}, **about)
    tally = Tally()
    format.write([document], tmp_path / PLACES[format.name], left_out=tally)
    (found,) = format.read(tmp_path / PLACES[format.name])
    lost = {f"'{key}' of a document" for key in (*about, "groups") if not getattr(found, key)}
    lost |= {
        f"'{key}' of a span" for key in ("subtype", "entity", "identifier") if getattr(found.spans[0], key) is None
    }
    assert set(tally) == lost
    if format.name in KEEPS_EVERYTHING:
        assert found == document


def test_halves_of_surrogate_pairs_are_refused(format: SpanFormat, tmp_path: Path) -> None:
    path = tmp_path / PLACES[format.name]
    for bad in (Document("d", "a\ud83d"), Document("d\ude00", "a")):
        with pytest.raises(InputError, match="surrogate"):
            format.write([Document("good", "x"), bad], path)
        assert not any(tmp_path.iterdir())


def test_an_error_of_the_documents_leaves_nothing_half_written(format: SpanFormat, tmp_path: Path) -> None:
    def documents() -> object:
        yield Document("a", "x")
        raise InputError("the source broke")

    with pytest.raises(InputError, match="the source broke"):
        format.write(documents(), tmp_path / PLACES[format.name])  # type: ignore[arg-type]
    assert not any(tmp_path.iterdir())


def test_the_same_documents_give_the_same_bytes(format: SpanFormat, tmp_path: Path) -> None:
    documents = [Document(f"d{i}", f"Rose {i}", (Span(0, 4, "NAME"),)) for i in range(20)]
    for part in ("one", "two"):
        (tmp_path / part).mkdir()
        format.write(documents, tmp_path / part / PLACES[format.name])
    files = {p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*") if p.is_file()}
    assert files
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_order_of_documents_changes_nothing(format: SpanFormat, tmp_path: Path) -> None:
    documents = [Document(f"d{i}", f"Rose {i}", (Span(0, 4, "NAME"),)) for i in range(5)]
    found = []
    for part, order in (("one", documents), ("two", documents[::-1])):
        (tmp_path / part).mkdir()
        format.write(order, tmp_path / part / PLACES[format.name])
        found.append(
            sorted((replace(d, groups={}) for d in format.read(tmp_path / part / PLACES[format.name])), key=str)
        )
    assert found[0] == found[1]


def test_a_format_says_what_it_is(format: SpanFormat, tmp_path: Path) -> None:
    assert re.fullmatch(r"[a-z0-9-]+", format.name)
    assert format.endings
    for junk in (b"", b"\xff\xfe\0", b"[", b"{}", b"PK\x03\x04", b"[" * 100_000):
        (tmp_path / "junk.json").write_bytes(junk)
        assert format.recognises(tmp_path / "junk.json") is False
    assert format.recognises(tmp_path / "absent") is False
