"""ShareGPT's dialogues: `{"id"?, "conversations": [{"from", "value"}]}`, with names for the two sides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workup.errors import InputError, near
from workup.files.jsonlines import kind
from workup.tasks.conversation.talk.imported.dialogue import (
    ROLES,
    Call,
    Dialogue,
    Message,
    arguments_of,
    code_of,
    list_in,
    object_of,
    text_of_content,
)
from workup.tasks.conversation.talk.imported.openai_lines import named

CALLED = "function_call"
SPOKEN_BY = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "chatgpt": "assistant",
    "model": "assistant",
    "system": "system",
    "tool": "tool",
    "observation": "tool",
    "function_response": "tool",
    CALLED: CALLED,
}


def read_line(record: Mapping[str, Any], roles: Mapping[str, str], *, where: str) -> Dialogue:
    """The dialogue of one line; `roles` are names of the user's own, before the known ones."""
    case, replicate = named(record, where)
    known = {**SPOKEN_BY, **roles}
    said = list_in(record, "conversations", where=where)
    return Dialogue(case, replicate, tuple(_message(one, known, where) for one in said))


def _message(value: Any, known: Mapping[str, str], where: str) -> Message:
    record = object_of(value, what="a message", where=where)
    name = record.get("from")
    if not isinstance(name, str) or name not in known:
        remedy = f"{near(name[:20], known)}; or map it, such as --role NAME=user" if isinstance(name, str) else ""
        raise InputError("'from' must be a name of a known side", where=where, got=kind(name), remedy=remedy)
    text = text_of_content(record.get("value"), where=where)
    if known[name] == CALLED:
        made = arguments_of(text or "")
        made = made if isinstance(made, Mapping) else {}
        called = made.get("name") if isinstance(made.get("name"), str) else "unnamed"
        return Message("assistant", None, (Call(str(called)[:200], arguments_of(made.get("arguments"))),))
    return Message(known[name], text, finish=code_of(record.get("finish_reason")))


def checked_roles(roles: Mapping[str, str]) -> dict[str, str]:
    """Names mapped to sides, each of them one that there is."""
    for name, side in roles.items():
        if side not in ROLES:
            raise InputError(
                f"a name must be mapped to one of {', '.join(ROLES)}",
                where=f"'{name[:40]}'",
                remedy=near(side[:20], ROLES),
            )
    return dict(roles)
