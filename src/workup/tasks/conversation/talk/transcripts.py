"""Recorded transcripts: what a model said at each turn of each case. Missing turns are told, never made up.

A reply that failed is kept with its reason and scores nothing; it is never read as one that forgot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from workup.errors import InputError, near
from workup.files.jsonlines import kind
from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.json_files import (
    list_of,
    needed,
    records,
    refuse_misspelt,
    text_of,
    whole_of,
)
from workup.tasks.conversation.read.sentence.folding import without_reasoning

ARMS = ("live", "oracle", "naive", "filler-k")
PROBES = ("summary", "question", "none")
_KEYS = (
    *("case", "replicate", "turn", "arm", "probe", "reply", "reasoning", "usage", "error", "available"),
    *("message", "finish_reason", "tools", "sources"),
)
_TOOL_KEYS = ("name", "arguments", "result")
SOURCES = ("history", "retrieval", "tool", "memory")
MOST_TOOLS = 1000  # calls of tools, and texts of a source, at one turn
_PROBE_KEYS = ("kind", "reply", "fact", "error", "reasoning")
_ARM = re.compile(r"live|oracle|naive|filler-\d{1,3}")
FINISH = _CODE = re.compile(r"[a-z][a-z0-9_]{0,39}")  # a reason to stop or to fail, as a code


class Probe(NamedTuple):
    """What was asked off the history and discarded; `fact` is the one that a closed question asked for."""

    kind: str
    reply: str | None
    fact: str | None = None
    failure: str = ""
    by: str = ""  # who answered, where it was not the model under test


class ToolCall(NamedTuple):
    """A tool that the model called, with what it asked for and what it was given; result None where not recorded."""

    name: str
    arguments: Any
    result: str | None = None


class Said(NamedTuple):
    """One line of a transcript. `failure` is the reason why there is no reply, as a code."""

    case: str
    replicate: int
    arm: str
    turn: int
    reply: str | None
    probe: Probe | None = None
    failure: str = ""
    reasoning: str | None = None
    usage: Mapping[str, Any] = MappingProxyType({})
    available: tuple[str, ...] | None = None  # active facts that stood in what was sent; None where not recorded
    finish: str = ""  # why the reply ended, as a code; empty where nobody says
    tools: tuple[ToolCall, ...] = ()  # what it called before it answered
    sources: Mapping[str, tuple[str, ...]] = MappingProxyType({})  # `available` by the source that gave the fact
    given: Mapping[str, tuple[str, ...]] = MappingProxyType({})  # texts that retrieval or a memory gave the model


class Missing(NamedTuple):
    """A turn of which the transcripts say nothing."""

    case: str
    replicate: int
    arm: str
    turn: int


@dataclass(frozen=True)
class Transcripts:
    """All that was said, in the order of cases, replicates, arms and turns; and the turns that are missing."""

    said: tuple[Said, ...]
    missing: tuple[Missing, ...]
    unheard: tuple[str, ...] = ()  # cases with no line at all

    @property
    def complete(self) -> bool:
        """Whether every turn of every case has its line."""
        return not self.missing and not self.unheard

    def telling(self) -> str:
        """What is missing, in a sentence; empty where nothing is."""
        parts = []
        if self.unheard:
            parts.append(f"{len(self.unheard)} cases have no transcript at all")
        if self.missing:
            runs = {(one.case, one.replicate, one.arm) for one in self.missing}
            parts.append(f"{len(self.missing)} turns are missing in {len(runs)} conversations")
        return " and ".join(parts) + " (scored as missing, never as forgotten)" if parts else ""


def read_transcripts(path: Path | str, cases: Iterable[ConversationCase]) -> Transcripts:
    """The transcripts of a file, held against the cases that they are of."""
    known = {case.id: case for case in cases}
    if not known:
        raise InputError("cases to hold the transcripts against were expected", got="none")
    said = ((where, line_of(record, known, where=where)) for where, record in records(Path(path)))
    return transcripts_of(said, known, where=Path(path).name)


def transcripts_of(
    lines: Iterable[tuple[str, Said]], known: Mapping[str, ConversationCase], *, where: str
) -> Transcripts:
    """Lines put in order, each with the place that it was read at; what stands twice is refused."""
    said: list[Said] = []
    seen: dict[tuple[Any, ...], str] = {}
    replies: dict[tuple[Any, ...], tuple[str | None, str]] = {}
    for place, one in lines:
        at = (one.case, one.replicate, one.arm, one.turn)
        key = (*at, one.probe.kind if one.probe else None, one.probe.fact if one.probe else None)
        if key in seen:
            raise InputError(
                "one line for each case, replicate, arm, turn and probe was expected",
                where=place,
                got=f"a second line for those of {seen[key].rpartition(', ')[2]}",
                remedy="keep one of the two",
            )
        earlier = replies.setdefault(at, (one.reply, place))
        if earlier[0] != one.reply:
            raise InputError(
                "lines of one turn that differ in their probe must repeat the same reply",
                where=place,
                got=f"another reply than {earlier[1].rpartition(', ')[2]}",
                remedy="give each run of the model a 'replicate' of its own",
            )
        seen[key] = place
        said.append(one)
    if not said:
        raise InputError("a transcript was expected", where=where, got="no line", remedy="check the path")
    order = {id: place for place, id in enumerate(known)}
    said.sort(key=lambda one: (order[one.case], one.replicate, one.arm, one.turn, _asked(one.probe)))
    heard = {one.case for one in said}
    return Transcripts(tuple(said), _missing(said, known), tuple(id for id in known if id not in heard))


def _asked(probe: Probe | None) -> tuple[str, str]:
    return ("", "") if probe is None else (probe.kind, probe.fact or "")


def _missing(said: list[Said], known: Mapping[str, ConversationCase]) -> tuple[Missing, ...]:
    turns: dict[tuple[str, int, str], set[int]] = {}
    for one in said:
        turns.setdefault((one.case, one.replicate, one.arm), set()).add(one.turn)
    return tuple(
        Missing(case, replicate, arm, turn)
        for (case, replicate, arm), found in turns.items()
        for turn in range(1, known[case].last_turn + 1)
        if turn not in found
    )


def line_of(record: Mapping[str, Any], known: Mapping[str, ConversationCase], *, where: str) -> Said:
    """One line, checked; keys beyond the known ones (latency, messages, fingerprint) are passed over."""
    refuse_misspelt(record, _KEYS, where=where)
    id = text_of(needed(record, "case", where=where, known=_KEYS), field="case", where=where)
    case = known.get(id)
    if case is None:
        raise InputError(
            "'case' must be the id of one of the cases",
            where=where,
            got=f"an id that is none of the {len(known)}",
            remedy="give the cases that these transcripts were made from",
        )
    # Turn 0 is what the model said before anybody asked; it is read and never scored.
    turn = whole_of(needed(record, "turn", where=where, known=_KEYS), field="turn", where=where, least=0)
    if turn > case.last_turn:
        raise InputError(f"'turn' must be one of the {case.last_turn} of its case", where=where, got=str(turn))
    replicate = whole_of(record.get("replicate", 0), field="replicate", where=where, least=0)
    reply, failure = _reply(record, where)
    usage = {} if record.get("usage") is None else record["usage"]
    if not isinstance(usage, Mapping):
        raise InputError("'usage' must be an object", where=where, got=kind(usage))
    thought = record.get("reasoning")
    if thought is not None:
        text_of(thought, field="reasoning", where=where, empty=True)
    spoken = without_reasoning(reply) if reply is not None else None
    if spoken is not None and reply is not None and spoken != reply:
        thought = thought or reply
    probe = _probe(record.get("probe"), case, where)
    available, sources = _available(record.get("available"), case, where)
    return Said(
        id,
        replicate,
        _arm(record.get("arm", "live"), where),
        turn,
        spoken,
        probe,
        failure,
        thought,
        dict(usage),
        available,
        _finish(record.get("finish_reason"), where),
        _tools(record.get("tools"), where),
        sources,
        _given(record.get("sources"), where),
    )


def _finish(value: Any, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or not _CODE.fullmatch(value):
        got = "another text" if isinstance(value, str) else kind(value)
        raise InputError("'finish_reason' must be a code, such as stop or length", where=where, got=got)
    return value


def _tools(value: Any, where: str) -> tuple[ToolCall, ...]:
    if value is None:
        return ()
    listed = list_of(value, field="tools", where=where)
    if len(listed) > MOST_TOOLS:
        raise InputError(f"at most {MOST_TOOLS:,} calls of tools were expected", where=where, got="more")
    found = []
    for number, call in enumerate(listed):
        place = f"{where}, tools[{number}]"
        if not isinstance(call, Mapping):
            raise InputError("a call of a tool must be an object", where=place, got=kind(call))
        refuse_misspelt(call, _TOOL_KEYS, where=place)
        name = text_of(needed(call, "name", where=place, known=_TOOL_KEYS), field="name", where=place)
        result = call.get("result")
        if result is not None:
            text_of(result, field="result", where=place, empty=True)
        found.append(ToolCall(name, call.get("arguments", {}), result))
    return tuple(found)


def _given(value: Any, where: str) -> dict[str, tuple[str, ...]]:
    """Texts by the source that gave them, as an agent tells them."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError("'sources' must be an object of texts by source", where=where, got=kind(value))
    found = {}
    for source, texts in value.items():
        if source not in SOURCES:
            raise InputError(f"a source must be one of {', '.join(SOURCES)}", where=where, remedy=near(source, SOURCES))
        listed = list_of(texts, field="sources", where=where)
        if len(listed) > MOST_TOOLS or not all(isinstance(text, str) for text in listed):
            raise InputError(f"'sources' must hold lists of at most {MOST_TOOLS:,} texts", where=where)
        found[source] = tuple(listed)
    return found


def _available(
    value: Any, case: ConversationCase, where: str
) -> tuple[tuple[str, ...] | None, dict[str, tuple[str, ...]]]:
    """The facts that were available, in all and by their source; a plain list is of the history."""
    if isinstance(value, Mapping):
        for source in value:
            if source not in SOURCES:
                raise InputError(
                    f"a source must be one of {', '.join(SOURCES)}", where=where, remedy=near(source[:20], SOURCES)
                )
        by_source = {source: _ids(ids, case, where) or () for source, ids in value.items()}
        return tuple(sorted({id for ids in by_source.values() for id in ids})), by_source
    ids = _ids(value, case, where)
    return ids, {} if ids is None else {"history": ids}


def _ids(value: Any, case: ConversationCase, where: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    known = {fact.id for fact in case.facts}
    ids = list_of(value, field="available", where=where)
    if any(not isinstance(id, str) or id not in known for id in ids):
        raise InputError("'available' must list ids of facts of the case", where=where, got="another id")
    return tuple(sorted(set(ids)))


def _arm(value: Any, where: str) -> str:
    text = value.casefold() if isinstance(value, str) else ""
    if not _ARM.fullmatch(text):
        raise InputError(
            "'arm' must be live, oracle, naive or filler-k with a number for k",
            where=where,
            got=kind(value),
            remedy=near(text[:20], ARMS),
        )
    return text


def _reply(record: Mapping[str, Any], where: str) -> tuple[str | None, str]:
    value = needed(record, "reply", where=where, known=_KEYS, remedy="give null and 'error' where the call failed")
    if value is None:
        return None, _failure(record.get("error"))
    return text_of(value, field="reply", where=where, empty=True), ""


def _failure(error: Any) -> str:
    # An error may quote what was sent; only a code of the known shape is repeated.
    return error if isinstance(error, str) and _CODE.fullmatch(error) else "no_reply"


def _probe(value: Any, case: ConversationCase, where: str) -> Probe | None:
    if value is None:
        return None
    place = f"{where}, probe"
    if not isinstance(value, Mapping):
        raise InputError("'probe' must be an object", where=place, got=kind(value))
    refuse_misspelt(value, _PROBE_KEYS, where=place)
    asked = needed(value, "kind", where=place, known=_PROBE_KEYS)
    if asked not in PROBES:
        raise InputError(
            f"'kind' must be one of {', '.join(PROBES)}", where=place, remedy=near(str(asked)[:20], PROBES)
        )
    if asked == "none":
        return None
    fact = value.get("fact")
    if fact is not None and not isinstance(fact, str):
        raise InputError("'fact' must be the id of a fact", where=place, got=kind(fact))
    if asked == "question" and fact not in {one.id for one in case.facts}:
        raise InputError(
            "a probe of kind 'question' must name the fact that it asks for",
            where=place,
            got=kind(fact) if fact is None else "an id that is not in the case",
            remedy="add the id of the fact under 'fact'",
        )
    reply = needed(value, "reply", where=place, known=_PROBE_KEYS)
    if reply is None:
        return Probe(asked, None, fact, _failure(value.get("error")))
    return Probe(asked, without_reasoning(text_of(reply, field="reply", where=place, empty=True)), fact)
