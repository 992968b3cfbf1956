"""How the tagger reads texts: windows, exact places in any script, files that are not its own."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tiny_tagger import write
from workup.deid.tagger import model as tagger_model
from workup.deid.tagger.decoding import spans_of
from workup.deid.tagger.model import Tagger
from workup.deid.tagger.windows import windows
from workup.errors import InputError, MissingExtra

KINDS = {"zyx": "B-NAME", "corbin": "I-NAME", "quux": "B-GEO", "jose": "B-NAME"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("tagger") / "model", KINDS)


@pytest.fixture(scope="module")
def tagger(folder: Path) -> Tagger:
    return Tagger.load(folder)


def spans(tagger: Tagger, text: str) -> list[tuple[str, str]]:
    return [(text[one.start : one.end], one.label) for one in spans_of(text, tagger.read(text))]


@given(st.integers(0, 5_000), st.integers(2, 600), st.data())
def test_every_piece_has_one_window_that_speaks_for_it(count: int, longest: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, longest - 1))
    found = windows(count, longest=longest, overlap=overlap)
    assert [place for one in found for place in range(one.own_start, one.own_end)] == list(range(count))
    for one in found:
        assert one.start <= one.own_start < one.own_end <= one.end <= one.start + longest
    for one, after in pairwise(found):
        # On the border both windows see a piece about as deep inside.
        assert abs((one.end - one.own_end) - (after.own_start - after.start)) <= 1


def test_words_are_found_in_order_and_marks_are_left(tagger: Tagger) -> None:
    text = "Seen with zyx corbin, (Zyx) and ZYX-Corbin. At Quux."
    assert spans(tagger, text) == [
        ("zyx corbin", "NAME"),
        ("Zyx", "NAME"),
        ("ZYX", "NAME"),
        ("Corbin", "NAME"),
        ("Quux", "GEO"),
    ]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("met Jose\u0301 today", "Jose\u0301"),
        ("met José today", "José"),
        ("مرحبا Jose مرحبا", "Jose"),
        ("患者Jose先生", "Jose"),
        ("患者 Jose 先生", "Jose"),
        ("\ud800 Jose \udfff", "Jose"),
        ("👩‍⚕️ Jose", "Jose"),
        ("a\u0300\u0301\u0302 Jose\u0327\u0301.", "Jose\u0327\u0301"),
        ("\u200fJose\u200f", "Jose"),
    ],
)
def test_places_are_exact_in_any_script(tagger: Tagger, text: str, whole: str) -> None:
    (found,) = spans(tagger, text) or [("", "")]
    assert found[0].strip("\u200f") == whole


@pytest.mark.parametrize("text", ["", " ", "\n\n\t", "\u0301", "\0", "\ud800"])
def test_texts_of_nothing_hold_nothing(tagger: Tagger, text: str) -> None:
    assert spans(tagger, text) == []


@settings(deadline=None, max_examples=60)
@given(st.text(st.characters(), max_size=80))
def test_words_lie_in_the_text_apart_and_in_order(tagger: Tagger, text: str) -> None:
    text += " Zyx"
    words = tagger.read(text)
    edges = np.column_stack([words.starts, words.ends]).ravel()
    assert (np.diff(edges) >= 0).all() and edges[0] >= 0 and edges[-1] <= len(text)
    assert ((words.odds >= 0) & (words.odds <= 1.000001)).all()
    for end in words.ends.tolist():
        assert end == len(text) or unicodedata.category(text[end])[0] != "M"
    assert spans(tagger, text)[-1][0].endswith("Zyx")


def test_a_long_text_is_read_whole_and_as_its_parts_are(tagger: Tagger) -> None:
    line = "Seen with zyx corbin at quux, no pain (0/10); plan as before.\n"
    text = line * (1_000_000 // len(line))
    found = spans_of(text, tagger.read(text))
    assert len(found) == 2 * (1_000_000 // len(line))
    assert {(text[one.start : one.end], one.label) for one in found} == {("zyx corbin", "NAME"), ("quux", "GEO")}


@pytest.mark.parametrize("text", ["x" * 200_000, "(" * 60_000, "é" * 60_000, "病" * 60_000, "a\u0301" * 60_000])
def test_a_long_run_without_a_blank_is_read(tagger: Tagger, text: str) -> None:
    words = tagger.read(text)
    assert words.starts[0] == 0 and words.ends[-1] == len(text)


def test_an_answer_does_not_hang_on_what_was_read_before(tagger: Tagger) -> None:
    texts = ["Zyx", "Seen with zyx corbin. " * 90, "quux"]
    alone = [tagger.read(text).odds for text in texts]
    again = [tagger.read(text).odds for text in reversed(texts)]
    assert all(np.array_equal(one, other) for one, other in zip(alone, reversed(again), strict=True))


@pytest.mark.parametrize("name", ["tagger.onnx", "vocab.txt", "card.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path / "model", KINDS)
    (folder / name).unlink()
    with pytest.raises(InputError, match=name):
        Tagger.load(folder)


@pytest.mark.parametrize("name", ["tagger.onnx", "vocab.txt"])
def test_a_changed_file_is_refused(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path / "model", KINDS)
    with (folder / name).open("ab") as file:
        file.write(b"x")
    with pytest.raises(InputError, match="damaged or changed"):
        Tagger.load(folder)


def test_a_card_of_other_tags_or_of_no_form_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "model", KINDS)
    card = json.loads((folder / "card.json").read_text())
    for content in ("[1]", "{", json.dumps({**card, "tags": ["O"]}), json.dumps({"tags": card["tags"]})):
        (folder / "card.json").write_text(content)
        with pytest.raises(InputError, match=r"card\.json"):
            Tagger.load(folder)


def test_a_network_of_another_kind_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "model", KINDS)
    card = json.loads((folder / "card.json").read_text())
    (folder / "tagger.onnx").write_bytes(b"no network")
    card["sha256"]["tagger.onnx"] = hashlib.sha256(b"no network").hexdigest()
    (folder / "card.json").write_text(json.dumps(card))
    with pytest.raises(InputError, match="onnxruntime reads"):
        Tagger.load(folder)


def test_a_missing_library_is_named_with_its_extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(tagger_model.importlib, "import_module", absent)
    with pytest.raises(MissingExtra, match=r"\.\[tagger\]"):
        Tagger.load(folder)
