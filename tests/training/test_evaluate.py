"""The study's own parts: texts in other cases, golds in brackets, and figures of answers that are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from training.evaluate import configurations, name_swap
from training.evaluate.configurations import AnswersKept, Configuration
from training.evaluate.corpora import CASES, SMALL, Corpus, adversarial, adversarial_clean, marked, recased
from training.evaluate.scores import FULL_MASKED, OVER_REDACTION, difference, outcome, ratio_of_leaks
from training.held_out import held_out_name
from workup.documents.document import Document, Span
from workup.documents.labels import SCHEME

NOTES = Corpus(
    "two notes",
    "made here",
    (
        Document("1", "Seen by Ada Berg on 3/4/2021.", (Span(8, 16, "name_provider"), Span(20, 28, "date"))),
        Document("2", "No fever.", ()),
    ),
)


@given(st.text(max_size=40))
def test_another_case_moves_no_letter(text: str) -> None:
    for change in CASES.values():
        assert len(recased(text, change)) == len(text)


def test_golds_in_brackets_are_where_the_text_says() -> None:
    one = marked("seen by [ada berg|name_provider] on [3/4|date].", name="n", style="s")
    assert one.text == "seen by ada berg on 3/4."
    assert [(one.text[span.start : span.end], span.label) for span in one.spans] == [
        ("ada berg", "name_provider"),
        ("3/4", "date"),
    ]


def test_the_hand_written_texts_are_whole() -> None:
    texts = adversarial(Path(), SMALL).documents
    assert len(texts) >= 150 and len({one.text for one in texts}) == len(texts)
    for one in texts:
        assert "[" not in one.text and "]" not in one.text
        assert one.spans and all(span.label in SCHEME and one.text[span.start : span.end].strip() for span in one.spans)
    clean = adversarial_clean(Path(), SMALL).documents
    assert len(clean) >= 150 and not any(one.spans for one in clean)


def test_figures_of_answers_that_are_known() -> None:
    half = outcome(NOTES, "half", [[Span(8, 16, "name_provider")], [Span(3, 8, "city")]], "workup")
    assert half.figures["leak"].value == 0.5 and half.figures["full mask"].value == 0.5
    assert half.figures["intact"].value == 0 and dict(half.misses) == {"name_provider": 0, "date": 1}
    assert dict(half.false_alarms) == {"city": 1}
    nothing = outcome(NOTES, "nothing", [[], []], "workup")
    assert ratio_of_leaks(half, nothing).value == 0.5
    assert difference(nothing, half, OVER_REDACTION).value < 0
    assert difference(half, nothing, FULL_MASKED).value == 0.5


def test_an_answer_is_asked_for_once(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(configurations, "KEPT", tmp_path / "kept")
    asked: list[str] = []

    def detect(texts):  # type: ignore[no-untyped-def]
        asked.extend(texts)
        return [None if text == "b" else [Span(0, 1, "date", score=0.5)] for text in texts]

    for _ in range(2):
        assert AnswersKept("k").of(["a", "b", "a"], detect) == [[[0, 1, "date", 0.5]], None, [[0, 1, "date", 0.5]]]
    assert asked == ["a", "b"]
    AnswersKept("another").of(["a"], detect)
    assert asked == ["a", "b", "a"]


def test_native_answers_are_those_that_the_policy_must_mask(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(configurations, "KEPT", tmp_path / "kept")

    def load():  # type: ignore[no-untyped-def]
        return lambda texts: [[Span(0, 4, "age_under_90"), Span(8, 16, "name_provider")] for _ in texts]

    found = Configuration("n", "workup", "n", load, native=True).answers(NOTES)
    assert [[span.label for span in one or ()] for one in found] == [["name_provider"], ["name_provider"]]


def test_swapped_names_are_all_kept_out_of_training() -> None:
    for form in name_swap.FORMS:
        for name in name_swap.people("native", "M", "less common", form, 3):
            assert all(held_out_name(part) for part in name.split()), name


def test_a_name_is_found_when_every_letter_is_masked() -> None:
    def detect(texts):  # type: ignore[no-untyped-def]
        return [[(0, len(text), "name_patient", 1.0)] if "Ada" in text else None for text in texts]

    cells = {
        ("white", "F", "common", "formal", "as written"): ["Ada Berg", "Ida Berg"],
        ("white", "F", "common", "formal", "lower case"): ["Ada Berg"],
    }
    shares = name_swap.found_by(detect, cells)
    assert [one.tolist() for one in shares.values()] == [[1.0, 0.0], [0.0]]
    assert name_swap.largest_gap([np.array([1.0, 0.0]), np.array([0.0])]) == 0.5
