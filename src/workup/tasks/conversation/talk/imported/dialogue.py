"""One dialogue of another program, whatever its format: messages by role, joined into turns and written as lines.

Knows no file. Messages of one side in a row are one message; a dialogue that the assistant opens has a turn 0, which
holds what it said before anybody asked and is never scored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from workup.errors import InputError
from workup.files.jsonlines import kind
from workup.tasks.conversation.talk.speech import LONGEST, whole

ROLES = ("user", "assistant", "system", "tool")
JOINT = "\n\n"  # between messages of one side that follow one another
MOST_TURNS = 1000  # of one dialogue; a case has at most 200
MOST_CALLS = 1000  # of tools, in one turn
_CODE = re.compile(r"[a-z][a-z0-9_]{0,39}")
_TEXTS = ("text", "input_text", "output_text")


class Call(NamedTuple):
    """One call of a tool, as the model made it."""

    name: str
    arguments: Any
    id: str = ""


class Message(NamedTuple):
    """One message of a dialogue. `answers` is the id of the call that a tool's message gives the result of."""

    role: str
    text: str | None
    calls: tuple[Call, ...] = ()
    answers: str = ""
    finish: str | None = None
    tokens: Mapping[str, int] = {}
    refused: bool = False


class Dialogue(NamedTuple):
    """A conversation as it was found: `case` is empty where the source names none."""

    case: str
    replicate: int | None  # None where the source does not count them
    messages: tuple[Message, ...]


class Answer(NamedTuple):
    """One reply alone, as batches give them back: the turn that it belongs to stands in its name."""

    case: str
    replicate: int | None
    turn: int | None
    message: Message | None  # None where the call failed
    failure: str = ""


@dataclass
class Turned:
    """One turn as it was said: the user's side, the assistant's, and the tools called between."""

    user: list[str] = field(default_factory=list)
    assistant: list[str] = field(default_factory=list)
    tools: list[dict[str, Any]] = field(default_factory=list)
    finish: str | None = None
    tokens: dict[str, int] = field(default_factory=dict)
    answered: bool = False
    opened: bool = False
    waiting: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, message: Message) -> None:
        """The next message of this turn."""
        if message.role == "user":
            self.opened = True
            if message.text:
                self.user.append(message.text)
        elif message.role == "tool":
            self._result(message)
        elif message.role == "assistant":
            self.answered = True
            if message.text and message.text.strip():
                self.assistant.append(message.text)
            for call in message.calls:
                made: dict[str, Any] = {"name": call.name, "arguments": call.arguments}
                self.tools.append(made)
                self.waiting[call.id] = made
            self.finish = "content_filter" if message.refused else message.finish
            for name, count in message.tokens.items():
                # Each call of one turn sends the history again: what was sent is that of the last one.
                self.tokens[name] = self.tokens.get(name, 0) + count if name == "completion_tokens" else count

    def _result(self, message: Message) -> None:
        made = self.waiting.pop(message.answers, None)
        if made is None:  # a result that names no call belongs to the first one that waits for its own
            made = next((one for one in self.tools if "result" not in one), None)
        if made is None:
            made = {"name": "unnamed", "arguments": {}}
            self.tools.append(made)
        made["result"] = message.text or ""


def turns_of(messages: Iterable[Message], *, where: str) -> Iterator[tuple[int, Turned]]:
    """The turns of a dialogue with their numbers; 0 is what the assistant said before anybody asked.

    >>> said = [Message("assistant", "Hello."), Message("user", "I take"), Message("user", "warfarin."),
    ...         Message("assistant", "Noted.")]
    >>> [(number, turn.user, turn.assistant) for number, turn in turns_of(said, where="")]
    [(0, [], ['Hello.']), (1, ['I take', 'warfarin.'], ['Noted.'])]
    """
    number, now = 0, Turned()
    for message in messages:
        if message.role == "system":
            continue
        if message.role == "user" and (now.answered or number == 0):
            if number or now.answered:
                yield number, now
            number, now = number + 1, Turned()
            if number > MOST_TURNS:
                raise InputError(f"a dialogue of at most {MOST_TURNS:,} turns was expected", where=where, got="more")
        now.add(message)
        if len(now.tools) > MOST_CALLS:
            raise InputError(f"at most {MOST_CALLS:,} calls of tools in a turn were expected", where=where, got="more")
    if number or now.answered:
        yield number, now


def line_of_turn(case: str, replicate: int, number: int, turn: Turned) -> dict[str, Any]:
    """The line of a transcript that one turn makes."""
    found: dict[str, Any] = {"case": case, "replicate": replicate, "arm": "live", "turn": number}
    found["message"] = JOINT.join(turn.user)
    reply = JOINT.join(turn.assistant)
    if not turn.answered:
        found |= {"reply": None, "error": "no_reply"}
    elif len(reply) > LONGEST:
        found |= {"reply": None, "error": "too_long"}
    else:
        found["reply"] = reply
    if turn.finish is not None:
        found["finish_reason"] = turn.finish
    if turn.tools:
        found["tools"] = turn.tools
    if turn.tokens:
        found["usage"] = turn.tokens
    return found


# ---- what messages hold, in whichever format -----------------------------------------------------------------------


def code_of(value: Any) -> str | None:
    """A reason to stop, as a code; another text is `unknown`, and nothing is nothing."""
    if value is None:
        return None
    return value if isinstance(value, str) and _CODE.fullmatch(value) else "unknown"


def text_of_content(value: Any, *, where: str) -> str | None:
    """The words of a message: a text, or the texts of a list of parts. Thoughts, images and sounds are passed over."""
    if value is None:
        return None
    if isinstance(value, str):
        return whole(value)
    if not isinstance(value, list):
        raise InputError("the content of a message must be a text or a list of parts", where=where, got=kind(value))
    found = []
    for part in value:
        if isinstance(part, str):
            found.append(whole(part))
            continue
        if not isinstance(part, Mapping):
            raise InputError("a part of a message must be an object", where=where, got=kind(part))
        if part.get("type") in _TEXTS:
            if not isinstance(part.get("text"), str):
                raise InputError("'text' of a part must be a text", where=where, got=kind(part.get("text")))
            found.append(whole(part["text"]))
    return JOINT.join(found)


def arguments_of(value: Any) -> Any:
    """Arguments of a call as a value: OpenAI writes them as JSON inside a text."""
    if not isinstance(value, str):
        return value if isinstance(value, (Mapping, list)) else {}
    try:
        return json.loads(value, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return {"text": whole(value)}


def object_of(value: Any, *, what: str, where: str) -> Mapping[str, Any]:
    """An object, or an error that says what should have been one."""
    if not isinstance(value, Mapping):
        raise InputError(f"{what} must be an object", where=where, got=kind(value))
    return value


def list_in(record: Mapping[str, Any], key: str, *, where: str) -> list[Any]:
    """The list under a key that must be there."""
    value = record.get(key)
    if not isinstance(value, list):
        got = "no such key" if key not in record else kind(value)
        raise InputError(f"'{key}' must be a list", where=where, got=got)
    return value


def counts_of(usage: Any, names: Mapping[str, str]) -> dict[str, int]:
    """Counts of tokens under the names that lines have for them."""
    if not isinstance(usage, Mapping):
        return {}
    return {
        ours: usage[theirs]
        for theirs, ours in names.items()
        if type(usage.get(theirs)) is int and 0 <= usage[theirs] < 2**53
    }
