"""Judges of contradiction: the published rate, and a local model, absent or present."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.support.advice_cases import FixedJudge, WordJudge
from workup.errors import InputError, MissingExtra
from workup.tasks.conversation.read.advice import Judge, NliJudge, published_conflicts_of


def test_no_judge_is_no_rate() -> None:
    found = published_conflicts_of({1: "Stop warfarin.", 2: "Take warfarin."}, None)
    assert (found.rate, found.conflicting, found.reason) == (None, None, "no judge")


def test_published_rate_is_of_neighbours_over_turns() -> None:
    replies = {1: "Stop warfarin.", 2: "Take warfarin.", 3: "Take warfarin.", 5: "Stop warfarin."}
    found = published_conflicts_of(replies, WordJudge())
    assert (found.conflicting, found.turns, found.rate, found.judge) == (1, 4, 0.25, "words")


def test_published_rate_without_neighbours_is_unknown() -> None:
    assert published_conflicts_of({1: "Stop."}, WordJudge()).reason == "no neighbouring turns"
    assert published_conflicts_of({1: "Stop.", 3: "Go."}, WordJudge()).rate is None
    assert published_conflicts_of({1: "Stop.", 2: None, 3: "  "}, WordJudge()).turns == 1


def test_replies_too_long_for_the_judge_leave_the_rate_unknown() -> None:
    found = published_conflicts_of({1: "a", 2: "b", 3: "c"}, FixedJudge([0.9, None]))
    assert (found.rate, found.reason) == (None, "replies longer than the judge reads")


def test_reasoning_is_not_judged() -> None:
    judge = WordJudge()
    published_conflicts_of({1: "<think>stop</think>Rest.", 2: "Rest."}, judge)
    assert judge.asked == [("Rest.", "Rest.")]


def test_any_object_with_the_method_is_a_judge() -> None:
    assert isinstance(WordJudge(), Judge)
    assert not isinstance(object(), Judge)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"config\.json"):
        NliJudge(tmp_path)


def test_a_missing_library_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match="huggingface"):
        NliJudge(tmp_path)


class _Row:
    """One row of logits that knows how to become shares."""

    def __init__(self, shares: list[float]) -> None:
        self.shares = shares

    def softmax(self, axis: int) -> list[float]:
        assert axis == -1
        return self.shares


def _libraries(monkeypatch: pytest.MonkeyPatch, labels: dict[int, str], tokens: int) -> dict[str, Any]:
    """Stand-ins for torch and transformers that note how they are called."""
    seen: dict[str, Any] = {}

    class Model:
        config = SimpleNamespace(id2label=labels)

        def to(self, device: str) -> Model:
            return self

        def eval(self) -> Model:
            return self

        def __call__(self, **parts: Any) -> Any:
            return SimpleNamespace(logits=[_Row([0.7, 0.2, 0.1])])

    part = SimpleNamespace(shape=(1, tokens), to=lambda device: "part")

    def tokenizer(premise: str, hypothesis: str, **options: Any) -> dict[str, Any]:
        seen["options"] = options
        return {"input_ids": part}

    def loader(made: Any) -> Any:
        def from_pretrained(path: str, **options: Any) -> Any:
            seen["local"] = options["local_files_only"]
            return made

        return SimpleNamespace(from_pretrained=from_pretrained)

    transformers = ModuleType("transformers")
    transformers.AutoTokenizer = loader(tokenizer)  # type: ignore[attr-defined]
    transformers.AutoModelForSequenceClassification = loader(Model())  # type: ignore[attr-defined]
    torch = ModuleType("torch")
    from contextlib import nullcontext

    torch.inference_mode = nullcontext  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "transformers", transformers)
    return seen


def test_a_local_model_answers_the_share_of_its_contradiction_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({}))
    seen = _libraries(monkeypatch, {0: "entailment", 1: "Contradiction", 2: "neutral"}, tokens=40)
    judge = NliJudge(tmp_path)
    assert judge.contradicts("a", "b") == 0.2
    assert seen["local"] is True
    assert seen["options"]["truncation"] is False
    assert NliJudge(tmp_path, longest=39).contradicts("a", "b") is None


def test_a_model_without_a_contradiction_class_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text("{}")
    _libraries(monkeypatch, {0: "LABEL_0", 1: "LABEL_1"}, tokens=4)
    with pytest.raises(InputError, match="contradiction"):
        NliJudge(tmp_path)
