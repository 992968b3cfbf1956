"""A chat model behind any endpoint that speaks OpenAI's chat completions. Knows that protocol and nothing of a case.

How calls travel and what is tried again is the affair of chat.line; secrets are named by their environment variable.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import Field

from workup.errors import InputError
from workup.files.jsonlines import parse
from workup.systems.chat.connection import Unread
from workup.systems.chat.line import Call, ChatLine
from workup.systems.chat.reply import Messages, Price, TimedReply, check_number, plain_messages
from workup.systems.chat.sessions import Session, Sessions
from workup.systems.settings import (
    CaFile,
    Concurrency,
    Headers,
    MaxTokens,
    Rate,
    Retries,
    Secret,
    SystemPrompt,
    Timeout,
    Url,
    Word,
    in_words_of,
)
from workup.systems.wire.address import SECRET_NAME, is_loopback
from workup.systems.wire.transport import Channel
from workup.task import Reply

_OWN = ("messages", "model", "stream", "n")
_USAGE = ("prompt_tokens", "completion_tokens", "total_tokens")
# What providers call a prompt that does not fit, and one that a filter withheld.
_TOO_LONG = re.compile(rb"context_length_exceeded|exceed_context_size|maximum context length|context window", re.I)
_FILTERED = re.compile(rb"content_filter|content_policy|responsible_?ai", re.I)


def _check_seed(seed: Any, *, where: str) -> None:
    if seed is not None and seed != "study":
        check_number(seed, field="seed", least=0, most=2**31 - 1, where=where, whole=True)


def _check_extra(extra: Any, *, where: str) -> None:
    if extra is not None and not isinstance(extra, Mapping):
        raise InputError("'extra' must be an object that is added to the body of each call", where=where)
    for entry in extra or {}:
        if entry in _OWN:
            raise InputError(f"'extra' must not hold '{entry}'", where=where, remedy="it is not for the study to set")
        if SECRET_NAME.search(str(entry)) and "tokens" not in str(entry):
            raise InputError(
                "'extra' must not hold a secret, since it stands in the study and in reports",
                where=where,
                got="an entry whose name is that of a secret",
                remedy="send it as a header whose value is env:VARIABLE",
            )


class OpenAiChat:
    """POSTs messages to `base_url`/chat/completions and reads the first choice.

    `key` names the secret (`env:VARIABLE`), sent as a bearer token; endpoints that want another header take it in
    `headers`. `temperature` and `seed` are sent unless null; `seed: study` sends the seed of the replicate, a number is
    added to it. `max_tokens` bounds a reply and `reasoning_tokens` comes on top of every bound, for models that think
    first. `price` for a million tokens (`{input, output}`) lets cost be estimated and limited. `system` is a prompt of
    the deployment, sent before all messages; `extra` is added to the body of every call.

    A call that fails for good answers a Reply without content and with a code; a key, address or certificate that is
    wrong is an error. `timings` counts calls, retries, tokens and cost.
    """

    recorded: ClassVar[bool] = False
    versioned: ClassVar[bool] = True  # the version tells all that decides an answer; patience and price do not
    provider: ClassVar[str] = "openai_chat"

    def __init__(
        self,
        *,
        name: str,
        base_url: Annotated[Url, Field(description="Address of the endpoint; it ends in /v1 as a rule")],
        model: Annotated[Word, Field(description="Name of the model")],
        base: Path = Path(),
        key: Annotated[Secret, Field(description="env:VARIABLE that holds the secret, sent as a bearer token")] = "",
        headers: Headers = None,
        max_tokens: MaxTokens = 1024,
        max_tokens_field: Annotated[
            Literal["max_tokens", "max_completion_tokens"], Field(description="What the endpoint calls that bound")
        ] = "max_tokens",
        reasoning_tokens: Annotated[
            int, Field(ge=0, le=1_000_000, description="Tokens on top of every bound, for models that think first")
        ] = 0,
        temperature: Annotated[
            float | None, Field(ge=0, le=10, description="Temperature of sampling; null sends none")
        ] = 0.0,
        seed: Annotated[
            int | Literal["study"] | None,
            in_words_of(partial(_check_seed, where="")),
            Field(description="study sends the seed of the replicate, a number is added to it, null sends none"),
        ] = "study",
        system: SystemPrompt = "",
        extra: Annotated[
            dict[str, Any] | None,
            in_words_of(partial(_check_extra, where="")),
            Field(description="Added to the body of every call"),
        ] = None,
        price: Annotated[
            dict[str, float] | None,
            in_words_of(partial(Price.of, where="")),
            Field(description="Price of a million tokens, {input, output}"),
        ] = None,
        timeout: Timeout = 120.0,
        retries: Retries = 6,
        rate: Rate = None,
        concurrency: Concurrency = 4,
        ca_file: CaFile = "",
        session: Session = None,
    ) -> None:
        where = f"system '{name}'"
        _check(model, max_tokens, max_tokens_field, reasoning_tokens, temperature, seed, extra, where=where)
        self.name, self.model, self.concurrency, self.max_tokens = name, model, concurrency, max_tokens
        self.sessions = Sessions.of(session, where=where)
        self._field, self._reasoning_tokens, self._seed = max_tokens_field, reasoning_tokens, seed
        self._system, self._extra, self._price = system, dict(extra or {}), Price.of(price, where=where)
        url = f"{str(base_url).rstrip('/')}/chat/completions"
        try:
            channel = Channel(
                name=name,
                url=url,
                base=base,
                headers=_with_key(headers, key, where=where),
                timeout=timeout,
                retries=retries,
                rate=rate,
                concurrency=concurrency,
                ca_file=ca_file,
                remedies={404: "check 'base_url' (it ends in /v1 as a rule) and 'model'"},
            )
        except InputError as error:  # which speaks of the address by the name that other systems give it
            said = error.expected.replace("'url'", "'base_url'")
            raise InputError(said, where=where, got=error.got, remedy=error.remedy) from None
        self._line = ChatLine(channel, cause=_cause)
        sampled = {} if temperature is None else {"temperature": temperature}
        self.parameters: Mapping[str, Any] = {"max_tokens": max_tokens, **sampled}
        decides = [url, model, max_tokens, max_tokens_field, reasoning_tokens, temperature, seed, system, self._extra]
        decides += [] if session is None else [session]
        digest = hashlib.sha256(json.dumps(decides, sort_keys=True, default=str).encode()).hexdigest()
        self.version = f"{model} sha256:{digest[:12]}"
        self.loopback = is_loopback(urlsplit(url).hostname or "")
        open_line = "messages went to the model unencrypted (http)"
        self.notes: tuple[str, ...] = (open_line,) if self._line.channel.is_open_line else ()
        self._spend()

    def _spend(self) -> None:
        self._lock = threading.Lock()
        self._spent = {"prompt_tokens": 0.0, "completion_tokens": 0.0, "cost": 0.0}

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_lock", "_spent")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._spend()

    @property
    def timings(self) -> dict[str, float]:
        """Calls, retries, latency, tokens and cost of this process."""
        with self._lock:
            spent = dict(self._spent)
        if self._price is None:
            del spent["cost"]
        return {**self._line.timings, **spent}

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """What so many tokens cost; None where the study names no price."""
        return None if self._price is None else self._price.cost(prompt_tokens, completion_tokens)

    def reply(
        self,
        messages: Messages,
        *,
        max_tokens: int | None = None,
        seed: int | None = None,
        session: str | None = None,
        fork_of: str | None = None,
    ) -> Reply:
        """The next message of the assistant, or the code of a call that failed for good."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": plain_messages(messages, system_prompt=self._system),
            **self.parameters,
        }
        del body["max_tokens"]
        body[self._field] = (max_tokens or self.max_tokens) + self._reasoning_tokens
        chosen = self._seed_for(seed)
        if chosen is not None:
            body["seed"] = chosen
        headers: dict[str, str] = {}
        if self.sessions is not None:
            body, headers = self.sessions.put(body, session, fork_of)
        sent = json.dumps({**body, **self._extra}).encode()
        label = hashlib.sha256(sent).hexdigest()[:16]
        called: Call[Reply] = self._line.ask(sent, label=label, read=self._read, more=headers)
        if called.answer is None:
            return TimedReply(None, failure=called.failure, seconds=called.seconds, tries=called.tries)
        answer = called.answer
        return TimedReply(
            answer.content,
            answer.reasoning,
            answer.finish_reason,
            answer.usage,
            answer.fingerprint,
            seconds=called.seconds,
            tries=called.tries,
        )

    def _seed_for(self, given: int | None) -> int | None:
        if self._seed is None or self._seed == "study":
            return given if self._seed == "study" else None
        return (self._seed + (given or 0)) % 2**31

    def _read(self, body: bytes) -> Reply:
        """The reply in an answer; what was used is counted also where the answer is no good."""
        try:
            whole = parse(body)
        except (ValueError, RecursionError):
            raise Unread("bad_json") from None
        if not isinstance(whole, dict):
            raise Unread("bad_json")
        usage = _usage(whole.get("usage"))
        self._add(usage)
        choices = whole.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        message = first.get("message") if isinstance(first, dict) else None
        if not isinstance(first, dict) or not isinstance(message, dict):
            # Some servers answer an error under a good status.
            raise Unread(_cause(body) or ("error_answer" if "error" in whole else "bad_answer"))
        reason = first.get("finish_reason")
        content = _text_of(message.get("content"))
        if content is None:
            content = _text_of(message.get("refusal"))
        if content is None:
            if reason == "content_filter":
                raise Unread("content_filter", passing=False)
            if reason != "length":
                raise Unread("no_content")
            content = ""  # all tokens went into thinking: an answer without a word, which scores as such
        return Reply(
            content,
            _text_of(message.get("reasoning_content")) or _text_of(message.get("reasoning")),
            reason if isinstance(reason, str) else None,
            usage,
            whole["system_fingerprint"] if isinstance(whole.get("system_fingerprint"), str) else None,
        )

    def _add(self, usage: Mapping[str, int]) -> None:
        prompt, completion = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
        with self._lock:
            self._spent["prompt_tokens"] += prompt
            self._spent["completion_tokens"] += completion
            self._spent["cost"] += self.cost(prompt, completion) or 0.0


def _check(
    model: str,
    max_tokens: int,
    max_tokens_field: str,
    reasoning_tokens: int,
    temperature: float | None,
    seed: Any,
    extra: Any,
    *,
    where: str,
) -> None:
    if not isinstance(model, str) or not model.strip():
        raise InputError("'model' must be the name of a model", where=where)
    check_number(max_tokens, field="max_tokens", least=1, most=1_000_000, where=where, whole=True)
    check_number(reasoning_tokens, field="reasoning_tokens", least=0, most=1_000_000, where=where, whole=True)
    if temperature is not None:
        check_number(temperature, field="temperature", least=0, most=10, where=where)
    if max_tokens_field not in ("max_tokens", "max_completion_tokens"):
        raise InputError("'max_tokens_field' must be max_tokens or max_completion_tokens", where=where)
    _check_seed(seed, where=where)
    _check_extra(extra, where=where)


def _with_key(headers: dict[str, str] | None, key: str, *, where: str) -> dict[str, str]:
    if not key:
        return dict(headers or {})
    if not isinstance(key, str) or not re.fullmatch(r"env:[A-Za-z_]\w*", key):
        raise InputError(
            "'key' must name the environment variable that holds the secret",
            where=where,
            got="something else",
            remedy="write it as key: env:VARIABLE",
        )
    return {**(headers or {}), "Authorization": f"Bearer {key}"}


def _usage(given: Any) -> dict[str, int]:
    if not isinstance(given, Mapping):
        return {}
    found = {name: given.get(name) for name in _USAGE}
    details = given.get("completion_tokens_details")
    if isinstance(details, Mapping):
        found["reasoning_tokens"] = details.get("reasoning_tokens")
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    }


def _text_of(value: Any) -> str | None:
    """A text, or the texts of a list of parts; None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [one.get("text") for one in value if isinstance(one, Mapping) and one.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str)) if parts else None
    return None


def _cause(body: bytes) -> str:
    """The code of a refusal that speaks of this call alone; nothing where its body names no such cause."""
    if _TOO_LONG.search(body):
        return "context_length"
    return "content_filter" if _FILTERED.search(body) else ""
