"""Where a fact could be found when the model answered: in the history, or in what retrieval, a tool or a memory gave.

A fact is available where a text that the model was given names it. What a tool gave stays with the model, so it counts
from its turn on; what retrieval and memory gave counts at the turn that they gave it for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Any

from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.talk.passages import Passages
from workup.tasks.conversation.talk.transcripts import Said

HISTORY, TOOL = "history", "tool"


def with_sources(
    case: ConversationCase, said: Sequence[Said], named: Mapping[str, str] = MappingProxyType({})
) -> Sequence[Said]:
    """The lines of a case with the facts that each source gave; `named` are tools of another source than `tool`."""
    if not any(one.tools or one.given for one in said):
        return said
    passages = Passages(case)
    found: list[Said] = []
    for _, some in groupby(said, key=lambda one: (one.replicate, one.arm)):
        by_tool: dict[int, list[str]] = {}
        lines = list(some)
        for one in lines:
            by_tool[one.turn] = [call.result for call in one.tools if call.result and _source(call.name, named) == TOOL]
        for one in lines:
            given: dict[str, list[str]] = {source: list(texts) for source, texts in one.given.items()}
            for call in one.tools:
                if call.result and (source := _source(call.name, named)) != TOOL:
                    given.setdefault(source, []).append(call.result)
            given[TOOL] = [text for turn, results in by_tool.items() if turn <= one.turn for text in results]
            found.append(_told(one, {source: passages.available(texts, one.turn) for source, texts in given.items()}))
    return found


def _source(name: str, named: Mapping[str, str]) -> str:
    return named.get(name, TOOL)


def _told(one: Said, found: Mapping[str, tuple[str, ...]]) -> Said:
    sources = dict(one.sources)
    for source, ids in found.items():
        sources[source] = tuple(sorted({*sources.get(source, ()), *ids}))
    if one.available is None:  # of the history nothing is known, so nobody can say what was there in all
        return one._replace(sources=sources)
    every = {id for ids in sources.values() for id in ids} | set(one.available)
    return one._replace(sources=sources, available=tuple(sorted(every)))


def sources_of(said: Iterable[Said]) -> set[str]:
    """Sources beyond the history of which something is known."""
    return {source for one in said for source in one.sources if source != HISTORY}


def act_in(arguments: Any, path: str) -> str:
    """The plain value that a path such as `$.drug.name` leads to in the arguments of a call; empty where none is.

    Only letters, digits and few signs are kept, so that an argument cannot speak of anything but itself.

    >>> act_in({"drug": {"name": "amoxicillin. Stop all else!"}}, "$.drug.name")
    'amoxicillin Stop all else'
    """
    value: Any = arguments
    for key in path.removeprefix("$").strip(".").split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    number = isinstance(value, (int, float))
    kept = "".join(sign for sign in str(value)[:80] if number or sign.isalnum() or sign in " -/%")
    return " ".join(kept.split())
