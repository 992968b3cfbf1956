"""Sentence encoders as plug-ins: what one must be able to do, and what is refused before it can cut a text short.

It knows vectors and lengths; not what the sentences say.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from workup.errors import InputError, MissingExtra, PluginError
from workup.files.received import open_named
from workup.stats.arrays import Floats

WARNING = (
    "The cosine of two whole texts rewards shared words: a text that says to stop what the plan continues lies close "
    "to the plan. Read plan coverage and the contradicted share instead."
)
_NO_ENCODER = "no sentence encoder was given"
_AT_ONCE = 512  # sentences


@runtime_checkable
class Encoder(Protocol):
    """A sentence encoder. `max_tokens` is what it reads of a text; beyond it, it would cut in silence."""

    name: str
    version: str
    max_tokens: int

    def count_tokens(self, text: str) -> int:
        """The tokens of a text, those that the encoder adds included."""
        ...

    def encode(self, sentences: Sequence[str]) -> Any:
        """One vector for each sentence, in their order."""
        ...


class Alignment(NamedTuple):
    """The published whole-text cosine, or the reason why there is none; with its warning always."""

    value: float | None
    reason: str = ""
    warning: str = WARNING


def fits(encoder: Encoder, text: str) -> bool:
    """Whether an encoder reads a text to its end."""
    return _length(encoder, text) <= encoder.max_tokens


def _length(encoder: Encoder, text: str) -> int:
    counted = encoder.count_tokens(text)
    if isinstance(counted, bool) or not isinstance(counted, (int, np.integer)) or counted < 0:
        raise PluginError(f"encoder '{encoder.name}': count_tokens must answer with a whole number from 0.")
    return int(counted)


def encoded(encoder: Encoder, texts: Sequence[str]) -> Floats:
    """Unit vectors of these texts; refuses a text that would be cut, and vectors that cannot be compared.

    >>> class Letters:
    ...     name, version, max_tokens = "letters", "1", 9
    ...     def count_tokens(self, text): return len(text)
    ...     def encode(self, sentences): return [[text.count("a"), text.count("b")] for text in sentences]
    >>> encoded(Letters(), ["aab", "ab"]).round(2).tolist()
    [[0.89, 0.45], [0.71, 0.71]]
    """
    for number, text in enumerate(texts, start=1):
        length = _length(encoder, text)
        if length > encoder.max_tokens:
            raise InputError(
                f"a text of at most {encoder.max_tokens} tokens was expected, for that is what the encoder reads",
                where=f"text {number} of {len(texts)}",
                got=f"{length} tokens",
                remedy="compare sentence by sentence, or take an encoder with a longer reach",
            )
    parts = [_checked(encoder, texts[first : first + _AT_ONCE]) for first in range(0, len(texts), _AT_ONCE)]
    return np.concatenate(parts) if parts else np.empty((0, 0))


def _checked(encoder: Encoder, texts: Sequence[str]) -> Floats:
    try:
        vectors = np.asarray(encoder.encode(list(texts)), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PluginError(f"encoder '{encoder.name}' answered with no array of numbers.") from error
    if vectors.ndim != 2 or vectors.shape[0] != len(texts) or not np.isfinite(vectors).all():
        raise PluginError(f"encoder '{encoder.name}' must answer with one vector of finite numbers for each sentence.")
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    # A vector of zeros is like nothing: its cosine with all others is 0.
    return np.asarray(np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0))


def published_alignment(plan: str, text: str, encoder: Encoder | None) -> Alignment:
    """Cosine of a plan and a whole text, as published; none where either would be cut, and never without its warning.

    >>> published_alignment("Continue lithium.", "Stop lithium.", None).reason
    'no sentence encoder was given'
    """
    if encoder is None:
        return Alignment(None, _NO_ENCODER)
    for name, part in (("plan", plan), ("text", text)):
        if not part.strip():
            return Alignment(None, f"the {name} is empty")
        length = _length(encoder, part)
        if length > encoder.max_tokens:
            reason = f"the {name} has {length} tokens and the encoder reads {encoder.max_tokens}: it would be cut"
            return Alignment(None, reason)
    first, second = encoded(encoder, [plan, text])
    if not (first.any() and second.any()):
        return Alignment(None, "the encoder answered with a vector of zeros")
    return Alignment(float(np.clip(first @ second, -1.0, 1.0)))


class SentenceTransformers:
    """A model of the library sentence-transformers, from a folder on this machine; nothing is fetched."""

    def __init__(self, path: Path | str, *, device: str = "cpu") -> None:
        folder = Path(path)
        if not (folder / "config.json").is_file():
            raise InputError(
                "a folder with a model of sentence-transformers was expected",
                where="encoder",
                got="one without config.json" if folder.is_dir() else "no such folder",
                remedy="save the model there with its save() method",
            )
        try:
            library: Any = importlib.import_module("sentence_transformers")
        except ModuleNotFoundError:
            raise MissingExtra("sentence_transformers", extra="encoder", purpose="this sentence encoder") from None
        self._model: Any = library.SentenceTransformer(str(folder), device=device, local_files_only=True)
        self.name = folder.name
        self.version = f"sentence-transformers {library.__version__}, weights {weights_sha256(folder)[:12]}"
        self.max_tokens = int(self._model.max_seq_length)

    def count_tokens(self, text: str) -> int:
        """The tokens of a text, begin and end marks included."""
        tokenizer = self._model.tokenizer
        return len(tokenizer(text, truncation=False, add_special_tokens=True, verbose=False)["input_ids"])

    def encode(self, sentences: Sequence[str]) -> Any:
        """One vector for each sentence."""
        return self._model.encode(list(sentences), convert_to_numpy=True, show_progress_bar=False)


def weights_sha256(folder: Path) -> str:
    """The hash of the weights in a folder, so that a report can say which model spoke."""
    digest = hashlib.sha256()
    found = sorted([*folder.glob("*.safetensors"), *folder.glob("pytorch_model*.bin")])
    for file in found:
        with open_named(file) as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest() if found else "none"
