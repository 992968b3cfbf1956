"""spaCy's DocBin, where spaCy is installed; and the way to it where it is not."""

from __future__ import annotations

import sys
import zlib
from pathlib import Path

import pytest

from workup.corpora.formats.spans import docbin
from workup.errors import InputError, MissingExtra
from workup.documents.document import Document, Span


def test_without_spacy_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    monkeypatch.setitem(sys.modules, "spacy.tokens", None)
    (tmp_path / "c.spacy").write_bytes(b"x")
    for work in (lambda: list(docbin.read(tmp_path / "c.spacy")), lambda: docbin.write([], tmp_path / "d.spacy")):
        with pytest.raises(MissingExtra, match=r"pip install -e '\.\[spacy\]'"):
            work()


class TestWithSpacy:
    """What needs the library."""

    @pytest.fixture(autouse=True)
    def _spacy(self) -> None:
        pytest.importorskip("spacy", reason="the spacy extra is not installed")

    def test_texts_spans_and_what_is_known_come_back(self, tmp_path: Path) -> None:
        text = " Dr  Rose\tBerg,\r\n\u00a0born 3.5.62  \n"
        apart = Document("n 1", text, (Span(5, 14, "NAME"), Span(0, 1, "blank"), Span(23, 26, "DATE")), patient="p")
        nested = Document(
            "n 2", text, (Span(5, 14, "NAME"), Span(5, 9, "GIVEN"), Span(6, 12, "ODD")), groups={"sex": "F"}
        )
        docbin.write([apart, nested, Document("empty", "")], tmp_path / "c.spacy")
        found = {document.id: document for document in docbin.read(tmp_path / "c.spacy")}
        assert list(found) == ["n 1", "n 2", "empty"]
        assert all(found[d.id].text == d.text for d in (apart, nested))
        assert set(found["n 1"].spans) == set(apart.spans)
        assert found["n 2"].spans == nested.spans
        assert (found["n 1"].patient, found["n 2"].groups) == ("p", {"sex": "F"})

    def test_others_read_entities_and_write_them(self, tmp_path: Path) -> None:
        import spacy
        from spacy.tokens import DocBin

        docbin.write([Document("a", "Seen by Rose", (Span(8, 12, "NAME"),))], tmp_path / "c.spacy")
        (doc,) = DocBin().from_disk(tmp_path / "c.spacy").get_docs(spacy.blank("en").vocab)
        assert [(ent.text, ent.label_) for ent in doc.ents] == [("Rose", "NAME")]
        theirs = spacy.blank("en")("Seen by Rose Berg.")
        theirs.ents = [theirs.char_span(8, 17, label="PERSON")]
        DocBin(docs=[theirs]).to_disk(tmp_path / "theirs.spacy")
        assert list(docbin.read(tmp_path / "theirs.spacy")) == [
            Document("theirs-1", "Seen by Rose Berg.", (Span(8, 17, "PERSON"),))
        ]

    def test_damage_and_bombs_are_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "c.spacy").write_bytes(b"not packed")
        with pytest.raises(InputError, match=r"c\.spacy: a DocBin that spaCy can read"):
            list(docbin.read(tmp_path / "c.spacy"))
        monkeypatch.setattr(docbin, "LARGEST_FILE", 100_000)
        (tmp_path / "bomb.spacy").write_bytes(zlib.compress(b"a" * 1_000_000))
        with pytest.raises(InputError, match=r"bomb\.spacy: a DocBin of at most 100,000 bytes"):
            list(docbin.read(tmp_path / "bomb.spacy"))
        with pytest.raises(InputError, match="leave offsets out"):
            list(docbin.read(tmp_path / "bomb.spacy", offsets="utf16"))

    def test_annotators_and_halves_of_pairs_are_refused(self, tmp_path: Path) -> None:
        for bad in (Document("d", "a", layers={"x": ()}), Document("d", "\ud800")):
            with pytest.raises(InputError, match="document 2"):
                docbin.write([Document("a", "x"), bad], tmp_path / "c.spacy")
        assert list(tmp_path.iterdir()) == []
