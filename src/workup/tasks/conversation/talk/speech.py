"""What a system answered, read: reasoning apart from what is said, a code for a failure. No text in errors."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workup.errors import SystemFailure
from workup.task import Reply
from workup.tasks.conversation.read.sentence.folding import without_reasoning

GIVEN = ("retrieval", "memory")  # sources whose texts a system may tell; tools have their calls
MOST_TOOLS = 1000  # calls of tools, and texts of a source, at one turn
LONGEST = 400_000  # characters; a reply that is longer is a model that does not stop
_CODE = re.compile(r"[a-z][a-z0-9_]{0,39}")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_UNOPENED = re.compile(r"\A(?:(?!<(?:think|thinking|reasoning)>).)*?</(think|thinking|reasoning)>", re.I | re.S)
_BLOCK = re.compile(r"<(think|thinking|reasoning)>(.*?)(?:</\1>|\Z)", re.I | re.S)


@dataclass(frozen=True)
class Spoken:
    """One answer as it is recorded; `content` is None where the call failed for good, and `failure` says why."""

    content: str | None
    reasoning: str | None = None
    finish_reason: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    fingerprint: str | None = None
    failure: str = ""
    seconds: float | None = None  # what a clock says; for the record of calls and never for a report
    tries: int = 1
    tools: tuple[Mapping[str, Any], ...] = ()
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, answer: Any, *, who: str) -> Spoken:
        """The answer of a system: a text or a Reply; anything else is an error of the system.

        >>> said = Spoken.of("<think>Gout?</think>You have gout.", who="a model")
        >>> said.content, said.reasoning
        ('You have gout.', 'Gout?')
        """
        if isinstance(answer, str):
            answer = Reply(answer)
        if not isinstance(answer, Reply):
            raise SystemFailure(
                f"{who} must answer a text or a Reply; got {type(answer).__name__}. To fix: return workup.task.Reply "
                "or the text of the reply."
            )
        common: dict[str, Any] = {
            "usage": _counts(answer.usage),
            "fingerprint": _short(answer.fingerprint),
            "finish_reason": _short(answer.finish_reason),
            "seconds": _seconds(getattr(answer, "seconds", None)),
            "tries": int(getattr(answer, "tries", 1) or 1),
            "tools": _calls(answer.tools),
            "sources": _texts(answer.sources),
        }
        if answer.content is None or answer.failure:
            code = answer.failure
            failure = code if isinstance(code, str) and _CODE.fullmatch(code) else "no_reply"
            return cls(None, failure=failure, **common)
        if not isinstance(answer.content, str):
            raise SystemFailure(f"{who}: the content of a reply must be a text; got {type(answer.content).__name__}.")
        if len(answer.content) > LONGEST:
            return cls(None, failure="too_long", **common)
        content, thought = parted(whole(answer.content))
        given = answer.reasoning if isinstance(answer.reasoning, str) and answer.reasoning else None
        return cls(content, whole(given) if given else thought, **common)

    def record(self) -> dict[str, Any]:
        """As it stands in the log of calls."""
        kept = {
            "reasoning": self.reasoning,
            "finish_reason": self.finish_reason,
            "usage": dict(self.usage),
            "fingerprint": self.fingerprint,
            "seconds": self.seconds,
            "tries": self.tries,
            "tools": [dict(call) for call in self.tools] or None,
            "sources": {source: list(texts) for source, texts in self.sources.items()},
        }
        said: dict[str, Any] = {"failure": self.failure} if self.failure else {"content": self.content}
        return said | {key: value for key, value in kept.items() if value not in (None, {})}

    @classmethod
    def recorded(cls, record: Mapping[str, Any]) -> Spoken:
        """The answer that a record holds, which `is_record` has looked at."""
        return cls(
            record.get("content"),
            record.get("reasoning"),
            record.get("finish_reason"),
            dict(record.get("usage") or {}),
            record.get("fingerprint"),
            str(record.get("failure") or ""),
            record.get("seconds"),
            int(record.get("tries", 1)),
            _calls(record.get("tools", ())),
            _texts(record.get("sources", {})),
        )


def is_record(record: Any) -> bool:
    """Whether this is an answer as `Spoken.record` writes it: every field of its type.

    >>> is_record({"content": "Yes.", "tries": 2}), is_record({"content": 7}), is_record({})
    (True, False, False)
    """
    if not isinstance(record, Mapping) or ("content" in record) == ("failure" in record):
        return False
    texts = ("content", "failure", "reasoning", "finish_reason", "fingerprint")
    usage, seconds, tries = (
        record.get(name, default) for name, default in (("usage", {}), ("seconds", 0), ("tries", 1))
    )
    return (
        all(isinstance(record[name], str) for name in texts if name in record)
        and isinstance(usage, Mapping)
        and all(type(count) is int and count >= 0 for count in usage.values())
        and type(seconds) in (int, float)
        and type(tries) is int
        and tries >= 1
    )


def parted(text: str) -> tuple[str, str | None]:
    """What is said, and what was thought aloud before it.

    Templates that open the block themselves leave a closing tag alone: all before it was thought.

    >>> parted("It may be gout.</think>You have gout.")
    ('You have gout.', 'It may be gout.')
    """
    thoughts = []
    alone = _UNOPENED.match(text) if "</" in text else None
    if alone:
        thoughts.append(text[: alone.start(1) - 2].strip())
        text = text[alone.end() :].strip()
    thoughts += [found[2].strip() for found in _BLOCK.finditer(text)] if "<" in text else []
    return without_reasoning(text), "\n".join(filter(None, thoughts)) or None


def whole(text: str) -> str:
    """The text with each lone surrogate as U+FFFD, since UTF-8 has no bytes for one."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def _calls(value: Any) -> tuple[Mapping[str, Any], ...]:
    """Calls of tools in the form of a line of transcripts; what has no name or cannot be written down is left out."""
    found = []
    for call in list(value)[:MOST_TOOLS] if isinstance(value, (list, tuple)) else ():
        if not isinstance(call, Mapping) or not isinstance(call.get("name"), str) or not call["name"].strip():
            continue
        made: dict[str, Any] = {"name": whole(call["name"])[:200], "arguments": _plain(call.get("arguments"))}
        if isinstance(call.get("result"), str):
            made["result"] = whole(call["result"])[:LONGEST]
        found.append(made)
    return tuple(found)


def _plain(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return {}


def _texts(value: Any) -> dict[str, list[str]]:
    """Texts by their source, of the sources that there are."""
    given = value if isinstance(value, Mapping) else {}
    return {
        source: [whole(text)[:LONGEST] for text in given[source] if isinstance(text, str)][:MOST_TOOLS]
        for source in GIVEN
        if isinstance(given.get(source), (list, tuple)) and given[source]
    }


def _counts(usage: Any) -> dict[str, int]:
    if not isinstance(usage, Mapping):
        return {}
    return {
        str(name)[:40]: int(value)
        for name, value in usage.items()
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    }


def _short(value: Any) -> str | None:
    return whole(value)[:200] if isinstance(value, str) and value else None


def _seconds(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) and value >= 0 else None
