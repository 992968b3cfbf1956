"""Spans as JSON: what is one, what is none, and offsets of every counting turned into code points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.documents.offsets import COUNTINGS, Counting, from_codepoints
from workup.errors import InputError, StudyError
from workup.files.jsonlines import parse
from workup.systems.wire.spans import SpanSettings, checked_mapping, longest_answer, spans_in, texts_out
from workup.documents.document import Span

TEXT = "Zoë 😀 Rose"


def read(spans: Any, *, text: str = TEXT, counting: str = "codepoint") -> tuple[Any, str]:
    return spans_in({"id": "1", "spans": spans}, due=1, texts=[text], counting=Counting.of(counting))


def one(**changes: Any) -> list[dict[str, Any]]:
    record = {"start": 6, "end": 10, "label": "NAME", **changes}
    return [{key: value for key, value in record.items() if value is not ...}]


def test_spans_null_and_nothing() -> None:
    assert read(one()) == ([Span(6, 10, "NAME")], "")
    assert read(one(score=1)) == ([Span(6, 10, "NAME", score=1.0)], "")
    assert read([]) == ([], "")
    assert read(None) == (None, "")
    assert read(one(text="Smith", subtype="x", explanation={})) == ([Span(6, 10, "NAME")], "")


def test_a_span_behind_the_text_is_kept_since_it_must_be_counted() -> None:
    assert read(one(start=90, end=99))[0] == [Span(90, 99, "NAME")]
    assert read(one(start=6, end=99), counting="utf16")[0] == [Span(5, 98, "NAME")]  # the face is two units wide
    assert read(one(start=20, end=21), text="")[0] == [Span(20, 21, "NAME")]


@pytest.mark.parametrize(
    ("spans", "problem"),
    [
        ("Smith", "'spans' must be a list; got a text"),
        ({"start": 1}, "'spans' must be a list; got an object"),
        (["Smith"], "span 0: a span must be a JSON object; got a text"),
        (one(start=...), "span 0: the key 'start' was expected"),
        (one(end=...), "span 0: the key 'end' was expected"),
        (one(label=...), "span 0: the key 'label' was expected"),
        (one(start="6"), "span 0: 'start' must be a whole number; got a text"),
        (one(start=True), "span 0: 'start' must be a whole number; got true or false"),
        (one(start=6.0), "span 0: 'start' must be a whole number; got a number with a decimal point"),
        (one(end=None), "span 0: 'end' must be a whole number; got null"),
        (one(end=2**31), "span 0: 'end' must be a place in a text"),
        (one(start=-1), "span 0: a span must start in its text; got a start below 0"),
        (one(end=6), "span 0: a span must start in its text, with its end after its start; got 6 to 6"),
        (one(end=5), "span 0: a span must start in its text, with its end after its start; got 6 to 5"),
        (one(label=""), "span 0: 'label' must not be empty"),
        (one(label=7), "span 0: 'label' must be a text; got a number"),
        (one(label="\ud800"), "span 0: whole characters were expected"),
        (one(score="high"), "span 0: 'score' must be a number; got a text"),
        (one(score=True), "span 0: 'score' must be a number; got true or false"),
        (one(score=float("inf")), "span 0: 'score' must be a finite number"),
        (one(score=10**400), "span 0: 'score' must be a finite number"),
        ([*one(), *one(start=-5)], "span 1: a span must start in its text"),
    ],
)
def test_what_is_no_span_is_refused_with_its_place(spans: Any, problem: str) -> None:
    found, said = read(spans)
    assert found is None
    assert said.startswith(problem)
    assert "Smith" not in said


def test_an_answer_must_be_to_the_text_that_is_due() -> None:
    def said(answer: Any) -> str:
        return spans_in(answer, due=2, texts=["a", "b", "c"], counting=Counting())[1]

    assert said({"id": "1", "spans": []}) == "answers text 1 a second time"
    assert said({"id": "3", "spans": []}) == "answers text 3 where text 2 was due; keep the order sent"
    assert said({"id": "4", "spans": []}) == "has an 'id' that was not sent"
    assert said({"id": "02", "spans": []}) == "has an 'id' that was not sent"
    assert said({"spans": []}) == "has no 'id'; repeat the id of the text it answers"
    assert said([]) == "must be a JSON object; got a list"
    assert said({"id": "2"}).startswith("has no 'spans'; give a list, empty where nothing was found")


@given(
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
    st.data(),
    st.sampled_from(COUNTINGS),
)
def test_every_counting_comes_back_to_the_same_characters(text: str, data: st.DataObject, counting: str) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    [(sent_start, sent_end)] = from_codepoints(text, [(start, end)], counting=Counting.of(counting))
    found, problem = read(one(start=sent_start, end=sent_end), text=text, counting=counting)
    assert (found, problem) == ([Span(start, end, "NAME")], "")


def test_an_offset_inside_a_character_is_refused() -> None:
    found, problem = read(one(start=5, end=10), counting="utf16")
    assert found is None
    assert problem.startswith("span 0: an offset must fall between two characters; got 5, which is inside a character")
    assert read(one(start=6, end=5), counting="codepoint-inclusive")[0] is None
    assert read(one(start=6, end=6), counting="codepoint-inclusive")[0] == [Span(6, 7, "NAME")]
    assert "place in a text" in read(one(start=6, end=2**31 - 1), counting="codepoint-inclusive")[1]


def test_a_key_that_stands_twice_is_no_answer() -> None:
    for text in (b'{"id": "1", "spans": [1], "spans": []}', b'{"spans": [{"start": 1, "start": 2}]}'):
        with pytest.raises(ValueError):
            parse(text)
    assert parse(b'{"a": [{"b": 1}, {"b": 1}]}') == {"a": [{"b": 1}, {"b": 1}]}


def test_half_a_character_does_not_leave_the_machine() -> None:
    with pytest.raises(InputError, match="system 'd', text 2 of its batch: whole characters were expected"):
        texts_out(["a", "b\ud800"], system="d")
    assert texts_out(["a", "b"], system="d") == [{"id": "1", "text": "a"}, {"id": "2", "text": "b"}]


def test_an_answer_has_room_for_a_span_on_every_character() -> None:
    record = b'{"start": 100000, "end": 100001, "label": "US_SOCIAL_SECURITY_NUMBER", "score": 0.12345678901234567}, '
    assert longest_answer("x" * 1000) > 1000 * len(record)


def test_settings_are_checked(tmp_path: Path) -> None:
    def settings(**given: Any) -> SpanSettings:
        return SpanSettings.of(
            **{"offsets": "codepoint", "mapping": "", "emits": None, "base": tmp_path, "where": "system 'd'", **given}
        )

    with pytest.raises(InputError, match=r"'offsets': offsets must be counted.*did you mean 'utf16'"):
        settings(offsets="utf-16")
    with pytest.raises(InputError, match="'emits' must be a list"):
        settings(emits="PERSON")
    with pytest.raises(InputError, match="'emits' must be a list"):
        settings(emits=["PERSON", ""])
    with pytest.raises(StudyError, match="did you mean 'presidio'"):
        settings(mapping="presido")
    assert settings().mapping is None
    assert settings(emits=["A"]).emits == ("A",)
    (tmp_path / "ours.yaml").write_text("source: us\nlabels: {WHO: NAME}\n")
    assert checked_mapping("ours.yaml+tab", base=tmp_path) == f"{tmp_path / 'ours.yaml'}+tab"
