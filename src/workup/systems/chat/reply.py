"""What chat adapters share: messages checked, replies with the time that they took, prices. Knows no transport."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workup.errors import InputError
from workup.files.jsonlines import kind
from workup.task import Reply

Messages = Sequence[Mapping[str, str]]
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class TimedReply(Reply):
    """A reply with the seconds of its call and the tries that it took; neither ever reaches a report."""

    seconds: float | None = None
    tries: int = 1


def plain_messages(messages: Messages, *, system_prompt: str = "") -> list[dict[str, str]]:
    """Messages as they are sent: role and content alone, the system's own prompt first.

    >>> plain_messages([{"role": "user", "content": "Hi"}], system_prompt="Be brief.")[0]
    {'role': 'system', 'content': 'Be brief.'}
    """
    sent = [
        {"role": str(one["role"]), "content": _LONE_SURROGATE.sub("\ufffd", str(one["content"]))} for one in messages
    ]
    return [{"role": "system", "content": system_prompt}, *sent] if system_prompt else sent


def reply_in(answer: Any) -> tuple[Reply | None, str]:
    """The reply in `{"content": …}`, and what is wrong with it; never what it holds.

    Beside the content, `reasoning`, `finish_reason`, `usage` and `fingerprint` are read where they are given, and of an
    agent `tools` (calls with name, arguments and result) and `sources` (texts that retrieval or a memory gave it, by
    source); null content is a model that refuses to answer.

    >>> reply_in({"content": 7})[1]
    "'content' must be a text, or null where there is no answer; got a number"
    """
    if not isinstance(answer, dict):
        return None, f"must be a JSON object; got {kind(answer)}"
    if "content" not in answer:
        return None, "has no 'content'; give the text of the reply, or null where there is none"
    content = answer["content"]
    if content is None:
        return Reply(None, failure="no_content"), ""
    if not isinstance(content, str):
        return None, f"'content' must be a text, or null where there is no answer; got {kind(content)}"
    usage = answer.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return Reply(
        content,
        _text(answer.get("reasoning")),
        _text(answer.get("finish_reason")),
        {name: value for name, value in counts.items() if isinstance(value, int) and not isinstance(value, bool)},
        _text(answer.get("fingerprint")),
        tools=[call for call in _list(answer.get("tools")) if isinstance(call, dict)],
        sources=_sources(answer.get("sources")),
    ), ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _sources(value: Any) -> dict[str, list[str]]:
    given = value if isinstance(value, dict) else {}
    return {name: [text for text in _list(texts) if isinstance(text, str)] for name, texts in given.items()}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def asked(messages: Messages, *, max_tokens: int | None, seed: int | None) -> dict[str, Any]:
    """What is put to a program or service: the messages, and what is wanted of the reply where something is."""
    wanted = {"max_tokens": max_tokens, "seed": seed}
    return {"messages": plain_messages(messages), **{key: one for key, one in wanted.items() if one is not None}}


@dataclass(frozen=True)
class Price:
    """What a million tokens cost, sent and answered."""

    input: float
    output: float

    @classmethod
    def of(cls, given: Any, *, where: str) -> Price | None:
        """A price as a study writes it, `{input: 0.5, output: 1.5}`, or None where it names none."""
        if given is None:
            return None
        remedy = "write it as price: {input: 0.5, output: 1.5}, for a million tokens"
        if not isinstance(given, Mapping) or set(given) != {"input", "output"}:
            raise InputError("'price' must have 'input' and 'output'", where=where, remedy=remedy)
        for value in given.values():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e6:
                raise InputError("a price must be a number from 0", where=where, remedy=remedy)
        return cls(float(given["input"]), float(given["output"]))

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """What so many tokens cost."""
        return (prompt_tokens * self.input + completion_tokens * self.output) / 1e6


def short_hash(text: str) -> str:
    """A few letters that stand for a text in a version; none for an empty one."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8] if text else "none"


def check_number(value: Any, *, field: str, least: float, most: float, where: str, whole: bool = False) -> None:
    """A setting that must be a number in a range."""
    number = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    if not number or not least <= value <= most:
        noun = "a whole number" if whole else "a number"
        raise InputError(f"'{field}' must be {noun} from {least:g} to {most:g}", where=where, got=repr(value)[:20])
