"""Text generators of transformers as chat models, on a tiny one made here: template, window, seeds, and no network."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.support.tiny_chat import REASON, save_tiny_chat
from workup.errors import InputError, SystemFailure
from workup.systems.any.huggingface import HuggingFaceTagger
from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.settings import ConversationPart
from workup.tasks.conversation.talk import converse

pytestmark = pytest.mark.usefixtures("no_network")

pytest.importorskip("torch", reason=REASON)
pytest.importorskip("transformers", reason=REASON)

ASK = [{"role": "user", "content": "I am well . what water and what mg"}]


def chat(folder: Path, **settings: Any) -> HuggingFaceTagger:
    if not (folder / "tiny").exists():
        save_tiny_chat(folder / "tiny")
    return HuggingFaceTagger(**{"name": "tiny", "base": folder, "model": "tiny", "max_tokens": 12, **settings})


def test_a_reply_is_written_by_the_template_and_counted(tmp_path: Path) -> None:
    model = chat(tmp_path)
    said = model.reply(ASK)
    assert said.content and said.failure == ""
    assert said.usage["prompt_tokens"] == 1 + 9 + 1 + 1  # who speaks, nine words, the end, who is to speak
    assert said.usage["completion_tokens"] <= 12
    assert said.finish_reason == ("length" if said.usage["completion_tokens"] == 12 else "stop")
    assert len(model.reply(ASK, max_tokens=3).content.split()) <= 3  # type: ignore[union-attr]
    assert "<|" not in said.content
    assert model.count_tokens("you take 5 mg") == 4
    assert model.version.startswith("llama sha256:")


def test_the_same_messages_have_the_same_reply_also_in_a_copy(tmp_path: Path) -> None:
    model = chat(tmp_path)
    first = model.reply(ASK).content
    assert model.reply(ASK, seed=9).content == first
    assert pickle.loads(pickle.dumps(model)).reply(ASK).content == first


def test_above_temperature_nought_the_seed_decides(tmp_path: Path) -> None:
    model = chat(tmp_path, temperature=2.0)
    said = [model.reply(ASK, seed=seed).content for seed in (1, 1, 2, 3)]
    assert said[0] == said[1] and len(set(said)) > 1


def test_what_does_not_fit_the_window_fails_and_is_never_cut(tmp_path: Path) -> None:
    save_tiny_chat(tmp_path / "tiny", window=24)
    model = chat(tmp_path)
    assert model.reply([{"role": "user", "content": "what " * 30}]).failure == "context_length"
    assert model.reply([{"role": "user", "content": "what " * 19}]).usage["completion_tokens"] <= 2


def test_a_model_without_a_template_and_one_of_another_kind_are_refused(tmp_path: Path) -> None:
    save_tiny_chat(tmp_path / "tiny", template=None)
    with pytest.raises(InputError, match="chat template"):
        chat(tmp_path)
    (tmp_path / "other").mkdir()
    model = chat(tmp_path / "other")
    with pytest.raises(SystemFailure, match="token classifier was expected"):
        model.detect(["Rose"])


def test_whole_conversations_are_held(tmp_path: Path) -> None:
    turns = (Turn(1, "I take warfarin 5 mg daily ."), Turn(2, "what and what"))
    case = ConversationCase("c", "", turns, (Fact("w", "medication", "warfarin"),))
    records: dict[str, Any] = {}

    class Log:
        def known(self) -> dict[str, Any]:
            return dict(records)

        def append(self, outputs: Any) -> None:
            records.update(outputs)

    settings = ConversationPart(probe_tokens=16)
    held = converse(lambda: chat(tmp_path), [case], settings, seed=1, log=Log())
    assert len(held.said) == 6 and all(one.probe and one.probe.reply is not None for one in held.said)
    assert {one.usage["counted_by"] for one in held.said if one.arm == "live"} == {"provider"}
    again = converse(lambda: chat(tmp_path), [case], settings, seed=1, log=Log(), ask=False)
    assert again == held
