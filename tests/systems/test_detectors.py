"""What in-process detectors share: one text at a time, crashes told without text, nothing said aloud."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.errors import InputError, SystemFailure
from workup.systems.spans.detectors import (
    check_detector_settings,
    check_words,
    detect_each,
    encodable,
    folder_sha256,
    settings_text,
    silent,
)
from workup.documents.document import Span


def whole(text: str) -> list[Span]:
    if "Smith" in text:
        raise ValueError(f"cannot read {text}")
    return [Span(0, len(text), "NAME"), Span(0, 1, "NAME", score=0.2), Span(0, 1, "NAME", score=0.9)]


def test_answers_are_sorted_and_each_finding_stands_once() -> None:
    twice = detect_each(["ab"], lambda text: [*whole(text), *whole(text)], system="s")
    assert twice == [[Span(0, 1, "NAME", score=0.9), Span(0, 1, "NAME", score=0.2), Span(0, 2, "NAME")]]


def test_a_crash_names_the_place_and_the_kind_and_not_the_text() -> None:
    with pytest.raises(SystemFailure) as failed:
        detect_each(["ab", "", "Rose Smith", "cd"], whole, system="mine")
    message = str(failed.value)
    assert message.startswith(
        "system 'mine', text 3 of 4 in its batch: the detector failed (ValueError at test_detector"
    )
    assert "Smith" not in message and "on_error: refuse" in message
    assert failed.value.__cause__ is None and failed.value.__suppress_context__


def test_a_crash_may_count_as_a_refusal() -> None:
    answers = detect_each(["ab", "Rose Smith", "", "cd"], whole, system="mine", on_error="refuse")
    assert answers[1] is None and answers[2] == []
    assert answers[0] is not None and answers[3] is not None and len(answers[0]) == len(answers[3]) == 3


def test_an_error_of_ours_is_never_a_refusal() -> None:
    def refuses(_: str) -> list[Span]:
        raise InputError("the model must be there")

    with pytest.raises(InputError, match="must be there"):
        detect_each(["ab"], refuses, system="mine", on_error="refuse")


@pytest.mark.parametrize("span", [Span(-1, 2, "NAME"), Span(2, 2, "NAME"), Span(3, 2, "NAME"), Span(0, 2, "")])
def test_what_is_no_span_is_an_error(span: Span) -> None:
    with pytest.raises(SystemFailure, match="text 1 of 1 in its batch: the detector gave a span without"):
        detect_each(["Rose"], lambda _: [span], system="mine", on_error="refuse")


def test_an_end_behind_the_text_is_kept_for_the_scorer() -> None:
    assert detect_each(["Rose"], lambda _: [Span(0, 9, "NAME")], system="mine") == [[Span(0, 9, "NAME")]]


@given(st.text(st.characters()))
def test_every_text_can_be_encoded_and_no_offset_moves(text: str) -> None:
    shown = encodable(text)
    shown.encode()
    assert len(shown) == len(text)
    assert all(a == b or 0xD800 <= ord(a) <= 0xDFFF for a, b in zip(text, shown, strict=True))


def test_nothing_is_said_for_a_while(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("some.detector")
    logger.setLevel(logging.INFO)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with silent("some"), silent("some.detector"):
            logger.critical("Smith")
            warnings.warn("Smith", stacklevel=1)
        logger.info("done")
    assert caplog.messages == ["done"] and logger.level == logging.INFO


def test_the_hash_of_a_folder_is_that_of_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_bytes(b"1")
    (tmp_path / "b").write_bytes(b"2")
    first = folder_sha256(tmp_path)
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "y").write_bytes(b"3")
    assert folder_sha256(tmp_path) == first
    (tmp_path / "b").write_bytes(b"1")
    changed = folder_sha256(tmp_path)
    (tmp_path / "b").rename(tmp_path / "c")
    assert len({first, changed, folder_sha256(tmp_path)}) == 3


def test_settings() -> None:
    assert settings_text(a=True, b=0.5, c="x\x1b") == "a=yes b=0.5 c=x\\x1b"
    assert check_words(None, field="labels", where="w") is None
    assert check_words(["B", "A", "B"], field="labels", where="w") == ("B", "A")
    for words in ([], "AB", ["A", ""], ["A", 1], {"A": 1}):
        with pytest.raises(InputError, match="w: 'labels' must be a list of names that is not empty"):
            check_words(words, field="labels", where="w")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="'on_error' must be fail or refuse; got 'skip'"):
        check_detector_settings(on_error="skip", batch=1, where="w")
    for batch in (0, True, 1.5):
        with pytest.raises(InputError, match="'batch' must be a whole number of texts"):
            check_detector_settings(on_error="fail", batch=batch, where="w")  # type: ignore[arg-type]
