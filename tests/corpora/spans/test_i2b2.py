"""i2b2 XML: texts to the character, labels by TYPE, and files that must not be parsed."""

from __future__ import annotations

from pathlib import Path

import pytest

from workup.corpora.formats.spans import i2b2
from workup.documents.records import Tally
from workup.errors import InputError
from workup.documents.document import Document, Span

SECRET = "ZZSECRET"


def xml(text: str, tags: str = "", head: str = '<?xml version="1.0" encoding="UTF-8" ?>') -> str:
    return f"{head}\n<deIdi2b2>\n<TEXT><![CDATA[{text}]]></TEXT>\n<TAGS>\n{tags}</TAGS>\n</deIdi2b2>\n"


def one(tmp_path: Path, content: str | bytes) -> list[Document]:
    path = tmp_path / "110-01.xml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(i2b2.read(path))


def test_a_file_as_i2b2_wrote_it(tmp_path: Path) -> None:
    tags = (
        '<DATE id="P0" start="16" end="26" text="2067-05-03" TYPE="DATE" comment="" />\n'
        '<NAME id="P1" start="36" end="47" text="Oliveira, K" TYPE="DOCTOR" comment="sure" />\n'
    )
    text = "\n\n\nRecord date: 2067-05-03\n\nSeen by Oliveira, K & Co <br> [[x]]"
    path = tmp_path / "110-01.xml"
    path.write_text(xml(text, tags), encoding="utf-8")
    tally = Tally()
    (document,) = i2b2.read(path, left_out=tally)
    assert document == Document("110-01", text, (Span(16, 26, "DATE"), Span(36, 47, "DOCTOR")))
    assert tally == {"comment of a tag": 1}


def test_what_is_written_holds_category_and_type(tmp_path: Path) -> None:
    spans = (Span(0, 4, "DOCTOR"), Span(5, 9, "MEDICALRECORD"), Span(5, 9, "shoe_size"))
    i2b2.write([Document("a", "Rose 1234", spans)], tmp_path / "out")
    content = (tmp_path / "out" / "a.xml").read_text(encoding="utf-8")
    assert '<NAME id="P0" start="0" end="4" text="Rose" TYPE="DOCTOR" comment="" />' in content
    assert '<ID id="P1" start="5" end="9" text="1234" TYPE="MEDICALRECORD"' in content
    assert '<OTHER id="P2"' in content


@pytest.mark.parametrize(
    "text", ["a\r\nb\rc\n", "]]>", "]]]>>", "<![CDATA[x]]>", "&amp;&#13;", "\t\"'<>&", "\U0001f600e\u0301"]
)
def test_texts_come_back_to_the_character(text: str, tmp_path: Path) -> None:
    document = Document("a", text, (Span(0, len(text), "X"), Span(0, 1, "A\"'<&>")))
    i2b2.write([document], tmp_path / "out")
    assert list(i2b2.read(tmp_path / "out")) == [document]


BOMB = '<!DOCTYPE x [<!ENTITY a "' + SECRET + '"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
BAD: dict[str, tuple[str | bytes, str]] = {
    "a bomb": (xml("x", head=BOMB).replace("<![CDATA[x]]>", "&b;"), "document type or an entity"),
    "another file": (xml("x", head='<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'), "document type"),
    "a document type elsewhere": (xml("x", head='<!DOCTYPE x SYSTEM "http://x.invalid/x.dtd">'), "document type"),
    "an unknown entity": (xml("").replace("<![CDATA[]]>", "&secret;"), "line 3: well-formed XML"),
    "torn": (xml(SECRET)[:60], "well-formed XML"),
    "a control character": (xml("a\x01"), "well-formed XML"),
    "a NUL byte": (xml("a\0"), "well-formed XML"),
    "bad UTF-8": (xml("x").encode() + b"\xff", "well-formed XML"),
    "an unknown encoding": (xml("x", head='<?xml version="1.0" encoding="x-none"?>'), "XML"),
    "nested too deeply": ("<a>" * 1000 + "</a>" * 1000, "nested too deeply"),
    "no text": ("<deIdi2b2><TAGS/></deIdi2b2>", "a <TEXT> element"),
    "two texts": ("<r><TEXT>a</TEXT><TEXT>b</TEXT></r>", "one <TEXT>"),
    "no start": (xml("Rose", '<NAME end="4" TYPE="X"/>'), "tag 0: the key 'start'"),
    "no type": (xml("Rose", '<NAME start="0" end="4"/>'), "tag 0: the key 'TYPE'"),
    "a start that is a word": (xml("Rose", f'<NAME start="{SECRET}" end="4" TYPE="X"/>'), "whole number"),
    "a huge end": (xml("Rose", f'<NAME start="0" end="{"9" * 5000}" TYPE="X"/>'), "whole number"),
    "outside": (
        xml("Rose", '<NAME start="0" end="5" TYPE="X"/>'),
        "110-01.xml, span 0: .* 0 to 5 in a text of 4",
    ),
    "another surface": (xml("Rose", '<NAME start="0" end="4" text="Rosa" TYPE="X"/>'), "must be its surface"),
}


@pytest.mark.parametrize("why", sorted(BAD))
def test_bad_files_are_refused(why: str, tmp_path: Path) -> None:
    content, says = BAD[why]
    with pytest.raises(InputError, match=says) as caught:
        one(tmp_path, content)
    assert str(caught.value).startswith("110-01.xml")
    assert SECRET not in str(caught.value)
    assert "root:" not in str(caught.value)


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (Document("d", "a\x0cb"), r"document 2: characters that XML can hold .* U\+000C in text, at character 1"),
        (Document("d", "a\0"), r"U\+0000 in text"),
        (Document("d", "\ufffe"), r"U\+FFFE in text"),
        (Document("d", "ab", (Span(0, 1, "\x01"),)), r"U\+0001 in a label"),
        (Document("d", "a", layers={"x": (), "y": ()}), "document 2: .* 2 annotators"),
        (Document("d", "\ud800"), "surrogate"),
    ],
)
def test_what_xml_cannot_hold_is_refused_whole(document: Document, says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says):
        i2b2.write([Document("good", "x"), document], tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_bytes_as_offsets(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(xml("Zoë Berg", '<NAME start="0" end="4" text="Zoë" TYPE="PATIENT"/>'), encoding="utf-8")
    assert next(i2b2.read(path, offsets="byte")).spans == (Span(0, 3, "PATIENT"),)
