"""The tagger itself: a folder with a small network, its vocabulary and its card, run on the processor alone.

The network reads one window at a time. Its numbers are whole ones whose scale is that of everything read at once, so
windows that shared a call would change each other's answers, and an answer must not hang on its neighbours."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from workup.deid.tagger.decoding import Floats, Words, joined, words_of
from workup.deid.tagger.encoding import TAGS, encode, tokenizer_of
from workup.deid.tagger.windows import windows
from workup.errors import InputError, MissingExtra, SystemFailure, raised

SHIPPED = files("workup.deid.tagger") / "data"
NETWORK, VOCABULARY, CARD = "tagger.onnx", "vocab.txt", "card.json"
_LARGEST = 64 * 2**20  # bytes of a file of the folder
_STRETCH = 50_000  # characters of a long text that are cut into pieces at once, so that memory stays small
_MOST_BIAS = 20.0
_AGAIN = "install Workup again, name another folder, or switch the tagger off (tagger: off)"


class Tagger:
    """Reads texts and says of every word how likely it is part of an identifier, and of which kind."""

    def __init__(self, session: Any, vocabulary: Sequence[str], *, outside: float, digest: str) -> None:
        self._session, self._outside, self.digest = session, outside, digest
        self._masked = any(one.name == "mask" for one in session.get_inputs())
        self._tokenizer = tokenizer_of(vocabulary)
        self._open, self._close = (vocabulary.index(mark) for mark in ("[CLS]", "[SEP]"))
        self.version = f"tagger {digest[:12]}"

    @staticmethod
    @cache
    def shipped(threads: int = 1) -> Tagger:
        """The shipped tagger, read once in each process."""
        return Tagger.load(threads=threads)

    @classmethod
    def load(cls, folder: Path | None = None, *, threads: int = 1) -> Tagger:
        """The shipped tagger or that of a folder; files that are not those of its card are refused."""
        runtime = _library("onnxruntime")
        _library("tokenizers")
        card = json_of(folder, CARD)
        recorded, outside = card.get("sha256"), card.get("outside", 0.0)
        numeric = isinstance(outside, (int, float)) and abs(outside) <= _MOST_BIAS
        if not isinstance(recorded, dict) or card.get("tags") != list(TAGS) or not numeric:
            raise InputError(
                "the card must hold the sha256 of the files and the tags that this version reads",
                where=CARD,
                remedy=_AGAIN,
            )
        network, vocabulary = (_recorded(folder, name, recorded.get(name)) for name in (NETWORK, VOCABULARY))
        if b"\x0a\x08location\x12" in network:
            raise InputError("the weights must be inside the file", where=NETWORK, got="a file that names another")
        pieces = vocabulary.decode("utf-8", "replace").removesuffix("\n").split("\n")
        if not {"[PAD]", "[UNK]", "[CLS]", "[SEP]"} <= set(pieces):
            raise InputError("the vocabulary must hold [PAD], [UNK], [CLS] and [SEP]", where=VOCABULARY)
        return cls(
            _session(runtime, network, threads),
            pieces,
            outside=float(outside),
            digest=hashlib.sha256(network + vocabulary + repr(float(outside)).encode()).hexdigest(),
        )

    def read(self, text: str) -> Words:
        """Every word of a text with what it may be; a text of nothing but blanks has none."""
        return joined([self._stretch(text[start:end], start) for start, end in _stretches(text)])

    def _stretch(self, text: str, offset: int) -> Words:
        pieces = encode(self._tokenizer, text)
        logits = np.empty((len(pieces.ids), len(TAGS)), np.float32)
        for one in windows(len(pieces.ids)):
            ids = np.concatenate([[self._open], pieces.ids[one.start : one.end], [self._close]])[None]
            kinds = np.concatenate([[0], pieces.kinds[one.start : one.end], [0]])[None]
            said = self._ask(ids, kinds)
            logits[one.own_start : one.own_end] = said[one.own_start - one.start : one.own_end - one.start]
        logits[:, 0] -= self._outside
        return words_of(text, pieces, logits, offset=offset)

    def _whole(self, ids: np.ndarray[Any, Any]) -> dict[str, Any]:
        """A mask that hides nothing, for a network that asks for one."""
        return {"mask": np.ones_like(ids)} if self._masked else {}

    def _ask(self, ids: np.ndarray[Any, Any], kinds: np.ndarray[Any, Any]) -> Floats:
        try:
            (logits,) = self._session.run(["logits"], {"ids": ids, "kinds": kinds, **self._whole(ids)})
        except Exception as error:  # what the library says may hold numbers of the text
            raise SystemFailure(f"the tagger failed on a text ({raised(error)}). To fix: tagger: off.") from None
        said = np.asarray(logits[0, 1:-1], dtype=np.float32)
        if said.shape != (ids.shape[1] - 2, len(TAGS)) or not np.isfinite(said).all():
            raise SystemFailure("the tagger gave an answer that is out of form. To fix: tagger: off.")
        return said


def json_of(folder: Path | None, name: str) -> dict[str, Any]:
    """A JSON file of the folder of a tagger."""
    try:
        content = json.loads(_bytes(folder, name))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise InputError("the file must hold a JSON object", where=name, remedy=_AGAIN)
    return content


def _bytes(folder: Path | None, name: str) -> bytes:
    file = (SHIPPED if folder is None else folder) / name
    try:
        with file.open("rb") as source:
            content = source.read(_LARGEST + 1)
    except OSError:
        raise InputError("the tagger's folder must hold its files", where=name, got="none", remedy=_AGAIN) from None
    if len(content) > _LARGEST:
        raise InputError("the file is larger than a tagger's", where=name, remedy=_AGAIN)
    return content


def _recorded(folder: Path | None, name: str, sha256: object) -> bytes:
    content = _bytes(folder, name)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise InputError(
            "the file must be the one that the card records", where=name, got="a damaged or changed file", remedy=_AGAIN
        )
    return content


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtra(name, extra="tagger", purpose="the tagger of the de-identifier") from None


def _session(runtime: Any, network: bytes, threads: int) -> Any:
    options = runtime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.execution_mode = runtime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.log_severity_level = 4
    options.add_session_config_entry("session.load_model_format", "ONNX")
    try:
        session = runtime.InferenceSession(
            network,
            sess_options=options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=["SkipLayerNormFusion"],  # slower by a seventh: it uses no wide registers
        )
        inputs, outputs = ([one.name for one in side] for side in (session.get_inputs(), session.get_outputs()))
    except Exception as error:  # what the library says may quote the file
        raise InputError(
            "the network must be one that the installed onnxruntime reads",
            where=NETWORK,
            got=raised(error),
            remedy=_AGAIN,
        ) from None
    if not {"ids", "kinds"} <= set(inputs) <= {"ids", "kinds", "mask"} or "logits" not in outputs:
        raise InputError("the network must take ids and kinds, and answer logits", where=NETWORK, remedy=_AGAIN)
    return session


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """A long text in parts, cut at an empty line, a line's end or a blank where one is near."""
    start = 0
    while start < len(text):
        end = start + _STRETCH
        if end >= len(text):
            end = len(text)
        else:
            for mark in ("\n\n", "\n", " "):
                found = text.rfind(mark, start + _STRETCH * 4 // 5, end)
                if found >= 0:
                    end = found + len(mark)
                    break
        yield start, end
        start = end
