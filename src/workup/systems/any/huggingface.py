"""A model of Hugging Face's transformers, from a folder, or from the hub where allowed: a token classifier as a
detector, or a text generator as a chat model (`chat_huggingface`), by what the model itself says it is.

Texts longer than the model's window are read in windows that overlap. Knows nothing of training."""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Iterator, Sequence
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from workup.documents.document import Span
from workup.errors import InputError, SystemFailure, raised
from workup.stats.arrays import Floats
from workup.systems.chat.huggingface import LOGGERS as _LOGGERS
from workup.systems.chat.huggingface import HuggingFaceChat, writes_text
from workup.systems.chat.reply import Messages
from workup.systems.libraries import library
from workup.systems.settings import (
    UNPINNED,
    Batch,
    FilePath,
    LabelMap,
    MaxTokens,
    OnError,
    Sha256,
    Share,
    SystemPrompt,
    Temperature,
    Threads,
    Trust,
    Word,
)
from workup.systems.spans.detectors import (
    Answers,
    check_detector_settings,
    detect_each,
    pinned_folder,
    refuse_pin,
    settings_text,
    silent,
)
from workup.systems.spans.token_labels import AGGREGATIONS, Aggregation, TagScheme, Tokens, spans_of
from workup.systems.wire.spans import checked_mapping
from workup.task import Reply

_DEFAULT_WINDOW = 512
_NO_LIMIT = 1_000_000  # tokenizers without a limit of their own say 1e30
_WINDOWS_AT_ONCE = 8

_Piece = tuple[tuple[int, int], int | None, Floats]


class HuggingFaceTagger:
    """Answers stretches of tokens with one type, with the mean probability of that type as score.

    `model` is a folder as seen from that of the study, which `sha256` pins; a name on the hub is fetched only with
    `allow_download: true` (pin it with `revision`). Weights are read from safetensors; pickled ones run code and need
    `trust: true`, code in the model's repository is never run. `aggregation` says how the pieces of a word agree:
    `first` (its first piece, as most models are trained), `average`, `max`, or `simple` (each piece by itself). In
    windows of `window` tokens that share `overlap`, each token is judged in the window where it is farthest from
    an edge.

    A model made to write text answers conversations instead, by its chat template; for it `max_tokens`, `temperature`
    and `system` (a prompt before all messages) count, and what is said above of tokens does not.
    """

    recorded: ClassVar[bool] = False

    def __init__(
        self,
        *,
        name: str,
        base: Path,
        model: Annotated[FilePath, Field(description="Folder of the model, or its name on the hub")],
        allow_download: Annotated[
            bool, Field(description="true: fetch a model that is not a folder from the hub")
        ] = False,
        revision: Annotated[Word, Field(description="Commit on the hub, to pin what is fetched")] = "",
        trust: Trust = False,
        sha256: Sha256 = UNPINNED,
        aggregation: Annotated[Aggregation, Field(description="How the pieces of a word agree on its label")] = "first",
        window: Annotated[
            int | None, Field(ge=3, le=1_000_000, description="Tokens read at once; the model's own limit when absent")
        ] = None,
        overlap: Annotated[
            int | None, Field(ge=0, le=1_000_000, description="Tokens that two windows share; a quarter when absent")
        ] = None,
        threshold: Annotated[Share, Field(description="Least score of a finding")] = 0.0,
        device: Annotated[Word, Field(description="Device of torch, such as cpu or cuda:0")] = "cpu",
        threads: Threads = 1,
        mapping: LabelMap = "",
        on_error: OnError = "fail",
        batch: Batch = 16,
        max_tokens: MaxTokens = 512,
        temperature: Temperature = 0.0,
        system: SystemPrompt = "",
    ) -> None:
        where = f"system '{name}'"
        check_detector_settings(on_error=on_error, batch=batch, where=where)
        _check_choices(aggregation=aggregation, threshold=threshold, threads=threads, where=where)
        self.name, self.on_error, self.batch = name, on_error, batch
        self.aggregation, self.threshold, self.threads, self.device = aggregation, threshold, threads, device
        self._torch = library("torch", package="torch", extra="huggingface", purpose="running a token classifier")
        self._settings: dict[str, Any] = {
            "name": name,
            "base": base,
            "model": model,
            "allow_download": allow_download,
            "revision": revision,
            "trust": trust,
            "sha256": sha256,
            "aggregation": aggregation,
            "window": window,
            "overlap": overlap,
            "threshold": threshold,
            "device": device,
            "threads": threads,
            "mapping": mapping,
            "on_error": on_error,
            "batch": batch,
            "max_tokens": max_tokens,
            "temperature": temperature,
            "system": system,
        }
        self.notes: tuple[str, ...] = ()
        self._chat: HuggingFaceChat | None = None
        with _source(model, base, sha256, allow_download=allow_download, where=where) as (source, mark):
            if writes_text(source, local=not allow_download, revision=revision or None):
                self._chat = chat = HuggingFaceChat(
                    source,
                    mark=mark,
                    local=not allow_download,
                    revision=revision or None,
                    trust=trust,
                    device=device,
                    threads=threads,
                    max_tokens=max_tokens,
                    temperature=temperature,
                    system=system,
                    where=where,
                )
                self.version, self.max_tokens, self.parameters = chat.version, chat.max_tokens, chat.parameters
                self.count_tokens, self.tokenizer = chat.count_tokens, chat.tokenizer
                return
            with silent(*_LOGGERS):
                self._tokenizer, self._model = _load(
                    source, device=device, local=not allow_download, revision=revision or None, trust=trust, where=where
                )
        labels = {int(place): str(label) for place, label in self._model.config.id2label.items()}
        self._scheme = TagScheme.of([labels[place] for place in sorted(labels)], where=where)
        self.emits = self._scheme.types
        self.mapping = checked_mapping(mapping, base=base)
        self._special = self._tokenizer.num_special_tokens_to_add()
        self.window, self.overlap = _windows(self._tokenizer, self._model, window, overlap, where=where)
        self.version = (
            _version(self._model, mark, revision)
            + " "
            + settings_text(aggregation=aggregation, window=self.window, overlap=self.overlap, threshold=threshold)
        )

    def __getstate__(self) -> dict[str, Any]:
        return self._settings  # weights are read anew in another process, and not sent there

    def __setstate__(self, settings: dict[str, Any]) -> None:
        self.__init__(**settings)  # type: ignore[misc]

    def reply(self, messages: Messages, *, max_tokens: int | None = None, seed: int | None = None) -> Reply:
        """The next message of the assistant, of a model that writes text."""
        if self._chat is None:
            raise SystemFailure(
                f"system '{self.name}': a chat model was expected; the model is a token classifier. To fix: name a "
                "folder that holds a model for text generation with a chat template."
            )
        return self._chat.reply(messages, max_tokens=max_tokens, seed=seed)

    def detect(self, texts: Sequence[str]) -> Answers:
        """The spans of each text, by start."""
        if self._chat is not None:
            raise SystemFailure(
                f"system '{self.name}': a token classifier was expected; the model writes text. To fix: name a folder "
                "that holds a model for token classification."
            )
        before = self._torch.get_num_threads()
        self._torch.set_num_threads(self.threads)  # sums of floats depend on it
        try:
            with silent(*_LOGGERS), self._torch.inference_mode():
                return detect_each(texts, self._find, system=self.name, on_error=self.on_error)
        finally:
            self._torch.set_num_threads(before)

    def _find(self, text: str) -> list[Span]:
        # One text at a time: padding to the longest of a batch would change the last digits with the batch.
        tokens = self._read(text)
        found = spans_of(tokens, text, scheme=self._scheme, aggregation=self.aggregation)
        return [span for span in found if span.score is None or span.score >= self.threshold]

    def _read(self, text: str) -> Tokens:
        """Every token of the text once, with the probabilities from the window that shows most on both its sides."""
        encoded = self._tokenizer(
            text,
            truncation=True,
            max_length=self.window,
            stride=self.overlap,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        step = self.window - self._special - self.overlap
        last = len(encoded["input_ids"]) - 1
        best: dict[int, tuple[float, _Piece]] = {}
        for number, shares in self._windows_of(encoded["input_ids"]):
            words, offsets = encoded.word_ids(number), encoded["offset_mapping"][number]
            own = [token for token, text_or_none in enumerate(encoded.sequence_ids(number)) if text_or_none is not None]
            for place, token in enumerate(own):
                left = place if number else math.inf
                right = len(own) - 1 - place if number < last else math.inf
                piece = (tuple(offsets[token]), words[token], shares[token])
                kept = best.get(number * step + place)
                if kept is not None and kept[1][0] != piece[0]:
                    raise SystemFailure(f"system '{self.name}': windows of the tokenizer do not fit over each other.")
                if kept is None or min(left, right) > kept[0]:
                    best[number * step + place] = (min(left, right), piece)
        return Tokens.of(best[place][1] for place in sorted(best))

    def _windows_of(self, windows: Sequence[Sequence[int]]) -> Iterator[tuple[int, Floats]]:
        """The number of each window with its probabilities, tokens by labels."""
        torch = self._torch
        for first in range(0, len(windows), _WINDOWS_AT_ONCE):
            group = windows[first : first + _WINDOWS_AT_ONCE]
            longest = max(map(len, group))
            ids = torch.full((len(group), longest), self._tokenizer.pad_token_id or 0, dtype=torch.long)
            mask = torch.zeros((len(group), longest), dtype=torch.long)
            for row, own in enumerate(group):
                ids[row, : len(own)] = torch.tensor(own)
                mask[row, : len(own)] = 1
            logits = self._model(input_ids=ids.to(self.device), attention_mask=mask.to(self.device)).logits
            shares = torch.softmax(logits.double(), dim=-1).cpu().numpy()
            for row, own in enumerate(group):
                yield first + row, shares[row, : len(own)]


def _check_choices(*, aggregation: str, threshold: float, threads: int, where: str) -> None:
    if aggregation not in AGGREGATIONS:
        raise InputError(
            f"'aggregation' must be one of {', '.join(AGGREGATIONS)}", where=where, got=repr(aggregation)[:20]
        )
    if isinstance(threshold, bool) or not 0 <= threshold <= 1:
        raise InputError("'threshold' must be a number from 0 to 1", where=where, got=repr(threshold)[:20])
    if isinstance(threads, bool) or threads < 1:
        raise InputError("'threads' must be at least 1", where=where, got=repr(threads)[:20])


@contextlib.contextmanager
def _source(model: str, base: Path, sha256: str, *, allow_download: bool, where: str) -> Iterator[tuple[str, str]]:
    """A folder with its hash, or a name on the hub."""
    folder = base / model
    if (folder / "config.json").is_file():
        with pinned_folder(folder, sha256, where=where) as (source, found):
            yield str(source), f"sha256:{found[:12]}"
        return
    if allow_download is True:
        refuse_pin(sha256, remedy="leave it out, and pin a model of the hub by its 'revision'", where=where)
        yield model, ""
        return
    raise InputError(
        "'model' must be a folder with a config.json",
        where=where,
        got=f"'{model[:200]}', which is none as seen from the folder of the study",
        remedy="correct the path; to fetch a model of that name from the hub, add allow_download: true",
    )


def _load(source: str, *, device: str, local: bool, revision: str | None, trust: bool, where: str) -> tuple[Any, Any]:
    transformers = library(
        "transformers", package="transformers", extra="huggingface", purpose="running a token classifier"
    )
    common = {"local_files_only": local, "revision": revision, "trust_remote_code": False}
    try:
        # Progress bars are drawn on whatever stands for stderr at this moment.
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, use_fast=True, **common)
            model = transformers.AutoModelForTokenClassification.from_pretrained(
                source, use_safetensors=None if trust is True else True, **common
            )
            model = model.to(device).eval()
    except Exception as error:
        raise SystemFailure(
            f"{where}: the model could not be loaded ({raised(error)}). To fix: check that it is a "
            "token classifier that was saved whole, with its tokenizer, for the installed transformers "
            f"({transformers.__version__}); weights in pickled files are read only with trust: true. --debug shows "
            "what was raised."
        ) from error
    if not getattr(tokenizer, "is_fast", False):
        raise InputError(
            "the model must have a fast tokenizer, since only those tell where a token stands in the text",
            where=where,
            remedy="save it once with a tokenizer.json (AutoTokenizer.from_pretrained(..., use_fast=True))",
        )
    return tokenizer, model


def _windows(tokenizer: Any, model: Any, window: int | None, overlap: int | None, *, where: str) -> tuple[int, int]:
    """Tokens that the model reads at once, special ones included, and how many of them two neighbours share."""
    limits = [limit for limit in (tokenizer.model_max_length,) if limit < _NO_LIMIT]
    positions = getattr(model.config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        # RoBERTa and its kin count positions from after the padding index, so that 514 of them hold 512 tokens.
        behind = getattr(getattr(model.base_model, "embeddings", None), "padding_idx", None)
        limits.append(positions - (0 if behind is None else behind + 1))
    longest = min(limits, default=None)
    size = window if window is not None else longest or _DEFAULT_WINDOW
    special = tokenizer.num_special_tokens_to_add()
    if not isinstance(size, int) or size < special + 2 or (longest is not None and size > longest):
        raise InputError(
            f"'window' must be a whole number of tokens from {special + 2} to {longest or 'any'}",
            where=where,
            got=repr(size)[:20],
        )
    shared = (size - special) // 4 if overlap is None else overlap
    if not isinstance(shared, int) or not 0 <= shared < size - special:
        raise InputError(
            f"'overlap' must be a whole number from 0 to {size - special - 1}, less than the window",
            where=where,
            got=repr(shared)[:20],
        )
    return size, shared


def _version(model: Any, mark: str, revision: str) -> str:
    commit = mark or getattr(model.config, "_commit_hash", None) or revision or "unpinned"
    libraries = " ".join(f"{package} {version_of(package)}" for package in ("transformers", "torch"))
    return f"{model.config.model_type} {commit} {libraries}"
