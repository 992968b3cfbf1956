"""CoNLL: schemes of tags, files from elsewhere, and spans that tags cannot hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from workup.corpora.formats.spans import conll
from workup.documents.records import Tally
from workup.errors import InputError
from workup.documents.document import Document, Span

SECRET = "ZZSECRET"
TEXT = "Dr Rose\tBerg,\r\nborn 3.5.62  \n"
DOCUMENT = Document("n 1", TEXT, (Span(3, 12, "NAME"), Span(20, 23, "DATE"), Span(23, 26, "DATE")))


def found(tmp_path: Path, content: str, **settings: str) -> list[Document]:
    path = tmp_path / "c.conll"
    path.write_bytes(content.encode())
    return list(conll.read(path, **settings))


@pytest.mark.parametrize(
    ("scheme", "tags"),
    [
        ("bio", ["O", "B-NAME", "I-NAME", "O", "O", "B-DATE", "I-DATE", "I-DATE", "B-DATE", "I-DATE"]),
        ("bioes", ["O", "B-NAME", "E-NAME", "O", "O", "B-DATE", "I-DATE", "E-DATE", "B-DATE", "E-DATE"]),
    ],
)
def test_tokens_tags_and_white_space_come_back(scheme: str, tags: list[str], tmp_path: Path) -> None:
    conll.write([DOCUMENT, Document("empty", "")], tmp_path / "c.conll", scheme=scheme)
    lines = (tmp_path / "c.conll").read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ['# newdoc id = "n 1"', '# text = "Dr Rose\\tBerg,\\r\\nborn 3.5.62  \\n"']
    rows = [line.split("\t") for line in lines if "\t" in line]
    assert [row[-1] for row in rows] == tags
    assert rows[1] == ["Rose", "3", "7", "B-NAME"]
    assert lines[lines.index(",\t12\t13\tO") + 1] == "", "a line end outside spans ends a sentence"
    assert list(conll.read(tmp_path / "c.conll")) == [DOCUMENT, Document("empty", "")]


def test_tokens_are_cut_where_a_span_is(tmp_path: Path) -> None:
    document = Document("a", "MRN12345x", (Span(3, 8, "mrn"), Span(8, 9, "O")))
    conll.write([document], tmp_path / "c.conll", scheme="bioes")
    rows = [line.split("\t") for line in (tmp_path / "c.conll").read_text().splitlines() if "\t" in line]
    assert rows == [["MRN", "0", "3", "O"], ["12345", "3", "8", "S-mrn"], ["x", "8", "9", "S-O"]]
    assert list(conll.read(tmp_path / "c.conll")) == [document]


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("B-N I-N O B-N", [(0, 3), (6, 7)]),
        ("I-N I-N O I-N", [(0, 3), (6, 7)]),  # IOB1, and IO as in WikiGold
        ("B-N B-N O O", [(0, 1), (2, 3)]),
        ("B-N E-N S-N O", [(0, 3), (4, 5)]),
        ("B-N L-N U-N O", [(0, 3), (4, 5)]),  # BILOU
        ("B-N I-D O O", [(0, 1), (2, 3)]),
        ("E-N O O I-N", [(0, 1), (6, 7)]),
    ],
)
def test_every_scheme_of_tags_is_read(tags: str, spans: list[tuple[int, int]], tmp_path: Path) -> None:
    content = "\n".join(f"{token} {tag}" for token, tag in zip("abcd", tags.split(), strict=True))
    (document,) = found(tmp_path, content)
    assert (document.id, document.text) == ("c-1", "a b c d")
    assert [(span.start, span.end) for span in document.spans] == spans


def test_files_from_elsewhere(tmp_path: Path) -> None:
    tally = Tally()
    path = tmp_path / "tweets.conll"
    path.write_text("#\tO\nRose\tB-NAME\n\n@x\tO\r\n\n\n", encoding="utf-8")
    documents = list(conll.read(path, left_out=tally))
    assert [(d.id, d.text, d.spans) for d in documents] == [
        ("tweets-1", "# Rose", (Span(2, 6, "NAME"),)),
        ("tweets-2", "@x", ()),
    ]
    assert list(tally.values()) == [2]
    path.write_text("-DOCSTART- -X- O O\n\nRose NNP I-NP I-PER\n\nBerg NNP I-NP I-PER\n-DOCSTART- -X- O O\nx NN O O\n")
    documents = list(conll.read(path))
    assert [(d.text, len(d.spans)) for d in documents] == [("Rose\nBerg", 2), ("x", 0)]
    path.write_text(
        "Rose I-PER\n\nx O\n-DOCSTART- O\n\ny O\n-DOCSTART- O\n\n"
    )  # WikiGold marks the end of the first one, too
    assert [d.text for d in conll.read(path)] == ["Rose\nx", "y"]
    path.write_text("# newdoc id = n7\n# sent_id = 1\n# text = Rose\nRose\tB-NAME\n")
    assert [(d.id, d.text) for d in conll.read(path)] == [("n7", "Rose")]


BAD = {
    "no tag": (f"{SECRET}\n", "line 1: .* got one column"),
    "another last column": (f"Rose O\nBerg {SECRET}\n", "line 2: .* got another last column"),
    "a token that is not there": ('# newdoc id = "a"\n# text = "Rose"\nBerg\t0\t4\tO\n', "line 3: a token must be"),
    "a token outside": ('# newdoc id = "a"\n# text = "Rose"\nRose\t2\t6\tO\n', "line 3: .* 2 to 6 of 4"),
    "no offsets below a text": ('# newdoc id = "a"\n# text = "Rose"\nRose\tO\n', "line 3: a token, its start"),
    "one id twice": ("# newdoc id = a\nx O\n# newdoc id = a\ny O\n", "line 3: .* of line 1 again"),
    "half a pair": ('# newdoc id = "a"\n# text = "\\ud800"\n', "surrogate"),
    "a NUL byte": ("a\0 O\n", "line 1: .* NUL byte"),
    "nothing": ("\n\n", "an empty file"),
}


@pytest.mark.parametrize("why", sorted(BAD))
def test_bad_files_are_refused_by_line(why: str, tmp_path: Path) -> None:
    content, says = BAD[why]
    with pytest.raises(InputError, match=says) as caught:
        found(tmp_path, content)
    assert str(caught.value).startswith("c.conll")
    assert SECRET not in str(caught.value)


def test_offsets_of_another_kind(tmp_path: Path) -> None:
    content = '# newdoc id = "a"\n# text = "\\ud83d\\ude00 Rose"\nRose\t3\t7\tB-NAME\n'
    assert found(tmp_path, content, offsets="utf16")[0].spans == (Span(2, 6, "NAME"),)
    with pytest.raises(InputError, match="line 3: a token must be"):
        found(tmp_path, content)
    with pytest.raises(InputError, match="line 1: offsets were expected; got tokens alone"):
        found(tmp_path, "Rose O\n", offsets="byte")


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (
            Document("d", "Rose Berg", (Span(5, 9, "A"), Span(0, 6, "B"))),
            "document 2: .* spans 0 and 1, which overlap",
        ),
        (Document("d", "Rose", (Span(0, 4, "A"), Span(0, 4, "A"))), "spans 0 and 1, which overlap"),
        (Document("d", "Rose Berg", (Span(0, 5, "A"),)), "span 0, which begins or ends with white space"),
        (Document("d", "Rose", (Span(0, 4, "a b"),)), "span 0, whose label holds white space"),
        (Document("d", "a\0b"), "a NUL character"),
        (Document("d", "a", layers={"x": ()}), "annotators"),
        (Document("d", "\ud800"), "surrogate"),
    ],
)
def test_what_tags_cannot_hold_is_refused_whole(document: Document, says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says):
        conll.write([DOCUMENT, document], tmp_path / "c.conll")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_scheme_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'bioes'"):
        conll.write([DOCUMENT], tmp_path / "c.conll", scheme="bioe")
