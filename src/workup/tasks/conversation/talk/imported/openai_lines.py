"""OpenAI's chat lines: `{"messages": […]}` a dialogue, or `{"custom_id", "response"}` a reply out of a batch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from workup.errors import InputError, near
from workup.files.jsonlines import kind
from workup.tasks.conversation.talk.imported.dialogue import (
    ROLES,
    Answer,
    Call,
    Dialogue,
    Message,
    arguments_of,
    code_of,
    counts_of,
    list_in,
    object_of,
    text_of_content,
)

_SPOKEN_BY = {"developer": "system", "function": "tool", **{role: role for role in ROLES}}
_TOKENS = {"prompt_tokens": "prompt_tokens", "completion_tokens": "completion_tokens"}
_PLACE = re.compile(r"(?P<case>.+?)/(?P<turn>\d{1,4})(?:/(?P<replicate>\d{1,4}))?", re.S)


def read_line(record: Mapping[str, Any], *, where: str) -> Dialogue | list[Answer]:
    """What one line holds: a dialogue, or the replies of one call of a batch."""
    if "custom_id" in record:
        return _answers(record, where)
    if "messages" not in record:
        raise InputError(
            "'messages' is needed, or 'custom_id' with 'response' as batches give them back",
            where=where,
            got="neither",
            remedy="check --from; a file of another program has another form",
        )
    case, replicate = named(record, where)
    return Dialogue(case, replicate, tuple(message_of(one, where) for one in list_in(record, "messages", where=where)))


def named(record: Mapping[str, Any], where: str) -> tuple[str, int | None]:
    """The case and replicate that a record names, by `metadata.case` or its own id."""
    metadata = record.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    id = metadata.get("case", record.get("id"))
    replicate = metadata.get("replicate")
    if replicate is not None and (type(replicate) is not int or replicate < 0):
        raise InputError("'replicate' must be a whole number from 0", where=where, got=kind(replicate))
    if id is None:
        return "", replicate
    if isinstance(id, bool) or not isinstance(id, (str, int)) or not str(id).strip():
        raise InputError("the id of a case must be a text", where=where, got=kind(id))
    return str(id), replicate


def message_of(value: Any, where: str) -> Message:
    """One message as OpenAI writes it."""
    record = object_of(value, what="a message", where=where)
    role = record.get("role")
    if not isinstance(role, str) or role not in _SPOKEN_BY:
        remedy = near(role[:20], _SPOKEN_BY) if isinstance(role, str) else ""
        raise InputError(f"'role' must be one of {', '.join(ROLES)}", where=where, got=kind(role), remedy=remedy)
    text, refusal = text_of_content(record.get("content"), where=where), record.get("refusal")
    refused = isinstance(refusal, str) and bool(refusal.strip())
    return Message(
        _SPOKEN_BY[role],
        text or refusal if refused else text,
        _calls(record, where),
        str(record.get("tool_call_id") or ""),
        code_of(record.get("finish_reason")),
        refused=refused,
    )


def _calls(record: Mapping[str, Any], where: str) -> tuple[Call, ...]:
    listed = record.get("tool_calls")
    if listed is None:
        return ()
    found = []
    for value in list_in(record, "tool_calls", where=where):
        call = object_of(value, what="a call of a tool", where=where)
        made = call.get("function")
        told = made if isinstance(made, Mapping) else {"name": made, "arguments": call.get("arguments")}
        name = told.get("name")
        if not isinstance(name, str):
            raise InputError("a call of a tool must have a name", where=where, got=kind(name))
        found.append(Call(name[:200], arguments_of(told.get("arguments")), str(call.get("id") or "")))
    return tuple(found)


def _answers(record: Mapping[str, Any], where: str) -> list[Answer]:
    id = record["custom_id"]
    if not isinstance(id, str) or not id.strip():
        raise InputError("'custom_id' must be a text", where=where, got=kind(id))
    place = _PLACE.fullmatch(id)
    case, turn, replicate = (id, None, None) if place is None else place.group("case", "turn", "replicate")
    at = (case, None if replicate is None else int(replicate), None if turn is None else int(turn))
    response = record.get("response")
    if record.get("error") is not None or not isinstance(response, Mapping):
        return [Answer(*at, None, "batch_error")]
    status = response.get("status_code", 200)
    if type(status) is int and status >= 400:
        return [Answer(*at, None, f"http_{status}")]
    body = object_of(response.get("body"), what="'response.body'", where=where)
    choices = list_in(body, "choices", where=where)
    if not choices:
        return [Answer(*at, None, "no_choice")]
    found = []
    for number, value in enumerate(choices):
        choice = object_of(value, what="a choice", where=where)
        said = message_of(
            {"role": "assistant", **object_of(choice.get("message"), what="'message'", where=where)}, where
        )
        said = said._replace(
            role="assistant", finish=code_of(choice.get("finish_reason")), tokens=counts_of(body.get("usage"), _TOKENS)
        )
        counted = at[1] if at[1] is not None else number if len(choices) > 1 else None
        found.append(Answer(at[0], counted, at[2], said))
    return found
