"""A text-generation model of Hugging Face's transformers as a chat model, by its own chat template. In this process."""

from __future__ import annotations

import contextlib
import io
import threading
import time
from collections.abc import Mapping
from importlib.metadata import version as version_of
from typing import Any

from workup.errors import InputError, SystemFailure, raised
from workup.systems.chat.reply import Messages, TimedReply, check_number, plain_messages, short_hash
from workup.systems.libraries import library
from workup.systems.spans.detectors import settings_text, silent
from workup.task import Reply

LOGGERS = ("transformers", "huggingface_hub", "torch", "filelock", "httpx", "urllib3")
_NO_LIMIT = 1_000_000  # tokenizers without a limit of their own say 1e30


class HuggingFaceChat:
    """Writes replies token by token: the likeliest one at temperature 0, else drawn from the seed of the call.

    A prompt that does not fit into the model's window fails that call with the code `context_length`; it is never cut.
    """

    concurrency = 1  # one set of weights, one call at a time

    def __init__(
        self,
        source: str,
        *,
        mark: str,
        local: bool,
        revision: str | None,
        trust: bool,
        device: str,
        threads: int,
        max_tokens: int,
        temperature: float,
        system: str,
        where: str,
    ) -> None:
        check_number(max_tokens, field="max_tokens", least=1, most=1_000_000, where=where, whole=True)
        check_number(temperature, field="temperature", least=0, most=10, where=where)
        self._torch = library("torch", package="torch", extra="huggingface", purpose="running a chat model")
        with silent(*LOGGERS):
            self._tokenizer, self._model = _load(
                source, device=device, local=local, revision=revision, trust=trust, where=where
            )
        if not self._tokenizer.chat_template:
            raise InputError(
                "a chat model must have a chat template",
                where=where,
                got="a tokenizer without one",
                remedy="use the instruction-tuned model, or add chat_template.jinja to its folder",
            )
        self._threads, self._temperature, self._system, self._device = threads, float(temperature), system, device
        self._where, self._lock = where, threading.Lock()
        self.max_tokens = max_tokens
        self.parameters: Mapping[str, Any] = {"max_tokens": max_tokens, "temperature": self._temperature}
        self.window = _window(self._tokenizer, self._model)
        self.tokenizer = type(self._tokenizer).__name__
        commit = mark or getattr(self._model.config, "_commit_hash", None) or revision or "unpinned"
        libraries = " ".join(f"{package} {version_of(package)}" for package in ("transformers", "torch"))
        settings = settings_text(max_tokens=max_tokens, temperature=self._temperature, system=short_hash(system))
        self.version = f"{self._model.config.model_type} {commit} {libraries} {settings}"

    def count_tokens(self, text: str) -> int:
        """Tokens of a text by the model's own tokenizer."""
        with silent(*LOGGERS):
            return len(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def reply(self, messages: Messages, *, max_tokens: int | None = None, seed: int | None = None) -> Reply:
        """The next message of the assistant."""
        most = max_tokens or self.max_tokens
        begun = time.monotonic()
        with self._lock, silent(*LOGGERS), self._torch.inference_mode():
            before = self._torch.get_num_threads()
            self._torch.set_num_threads(self._threads)  # sums of floats depend on it
            try:
                ids = self._prompt(messages)
                if self.window is not None and ids.shape[1] + 1 > self.window:
                    return TimedReply(None, failure="context_length", seconds=time.monotonic() - begun)
                room = most if self.window is None else min(most, self.window - ids.shape[1])
                written = self._written(ids, room, seed)
            finally:
                self._torch.set_num_threads(before)
        content = self._tokenizer.decode(written, skip_special_tokens=True)
        usage = {"prompt_tokens": int(ids.shape[1]), "completion_tokens": len(written)}
        ended = bool(written) and written[-1] in _ends(self._model, self._tokenizer)
        return TimedReply(
            content.strip(),
            finish_reason="stop" if ended else "length",
            usage={**usage, "total_tokens": sum(usage.values())},
            seconds=time.monotonic() - begun,
        )

    def _prompt(self, messages: Messages) -> Any:
        sent = plain_messages(messages, system_prompt=self._system)
        try:
            found = self._tokenizer.apply_chat_template(
                sent, add_generation_prompt=True, return_tensors="pt", return_dict=True
            )
        except Exception as error:  # a template is code of others and quotes what it does not like
            raise SystemFailure(
                f"{self._where}: the chat template refuses the messages ({raised(error)}). To fix: a template without "
                "system messages needs 'system' left out."
            ) from None
        return found["input_ids"].to(self._device)

    def _written(self, ids: Any, most: int, seed: int | None) -> list[int]:
        sampling: dict[str, Any] = {"do_sample": False}
        if self._temperature > 0:
            self._torch.manual_seed(seed or 0)
            sampling = {"do_sample": True, "temperature": self._temperature}
        pad = self._tokenizer.pad_token_id
        ends = sorted(_ends(self._model, self._tokenizer))
        made = self._model.generate(
            ids,
            attention_mask=self._torch.ones_like(ids),
            max_new_tokens=most,
            pad_token_id=pad if pad is not None else (ends[0] if ends else 0),
            **sampling,
        )
        return [int(one) for one in made[0, ids.shape[1] :]]


def writes_text(source: str, *, local: bool, revision: str | None) -> bool:
    """Whether a model says of itself that it generates text."""
    transformers = library("transformers", package="transformers", extra="huggingface", purpose="running a model")
    try:
        with silent(*LOGGERS):
            config = transformers.AutoConfig.from_pretrained(
                source, local_files_only=local, revision=revision, trust_remote_code=False
            )
    except Exception:  # told, with what to do, when the model itself is loaded
        return False
    named = getattr(config, "architectures", None) or ()
    return any(str(one).endswith(("ForCausalLM", "LMHeadModel")) for one in named)


def _load(source: str, *, device: str, local: bool, revision: str | None, trust: bool, where: str) -> tuple[Any, Any]:
    transformers = library("transformers", package="transformers", extra="huggingface", purpose="running a chat model")
    common = {"local_files_only": local, "revision": revision, "trust_remote_code": False}
    try:
        # Progress bars are drawn on whatever stands for stderr at this moment.
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, **common)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                source, use_safetensors=None if trust is True else True, **common
            )
            return tokenizer, model.to(device).eval()
    except Exception as error:
        raise SystemFailure(
            f"{where}: the model could not be loaded ({raised(error)}). To fix: check that it was saved "
            f"whole, with its tokenizer, for the installed transformers ({transformers.__version__}); pickled "
            "weights are read only with trust: true. --debug shows what was raised."
        ) from error


def _window(tokenizer: Any, model: Any) -> int | None:
    limits = [tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", None)]
    known = [int(one) for one in limits if isinstance(one, (int, float)) and 0 < one < _NO_LIMIT]
    return min(known, default=None)


def _ends(model: Any, tokenizer: Any) -> frozenset[int]:
    """Tokens that end a reply."""
    given = getattr(model.generation_config, "eos_token_id", None)
    listed = given if isinstance(given, (list, tuple)) else [given]
    return frozenset(int(one) for one in [*listed, tokenizer.eos_token_id] if one is not None)
