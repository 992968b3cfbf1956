"""Cases and chat models made for these tests: models that answer by rule, that count, that fail and that wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workup.task import Reply
from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.settings import ConversationPart
from workup.tasks.conversation.talk import converse
from workup.tasks.conversation.talk.transcripts import Said, Transcripts

Messages = Sequence[Mapping[str, str]]


class Log:
    """A workup.task.OutputLog in memory, which can be cut short as a kill would."""

    def __init__(self, known: Mapping[str, Any] | None = None) -> None:
        self.records: dict[str, Any] = dict(known or {})
        self.appended: list[str] = []

    def known(self) -> Mapping[str, Any]:
        return dict(self.records)

    def append(self, outputs: Mapping[str, Any]) -> None:
        self.records.update(outputs)
        self.appended += outputs


class Model:
    """Answers what `rule` makes of the messages, and keeps all that it was sent."""

    version = "1"

    def __init__(self, rule: Callable[[Messages], Any] | None = None, *, concurrency: int = 1) -> None:
        self.name = "model"
        self.concurrency = concurrency
        self.calls: list[list[dict[str, str]]] = []
        self.seeds: list[int | None] = []
        self.limits: list[int | None] = []
        self._rule = rule or echo
        self._lock = threading.Lock()

    def reply(self, messages: Messages, *, max_tokens: int | None = None, seed: int | None = None) -> str | Reply:
        with self._lock:
            self.calls.append([dict(one) for one in messages])
            self.seeds.append(seed)
            self.limits.append(max_tokens)
        return self._rule(messages)


def echo(messages: Messages) -> str:
    """A number of messages, and the last of them in short: a reply that differs with everything sent."""
    return f"Noted {len(messages)}: {messages[-1]['content'][:24]}"


def is_probe(messages: Messages) -> bool:
    return messages[-1]["content"].startswith("Before we go on")


def case(id: str = "c1", turns: int = 4) -> ConversationCase:
    """Warfarin from turn 1, its dose changed at turn 3; penicillin allergy from turn 2; a turn without facts."""
    messages = [
        "I take warfarin 5 mg daily. My garden is lovely.",
        "I am allergic to penicillin. The roses bloom.",
        "My warfarin was cut to 2.5 mg daily. It rained.",
        "What should I plant next?",
    ]
    messages += [f"Another question, number {number}." for number in range(5, turns + 1)]
    facts = (
        Fact(
            "w5",
            "medication",
            "warfarin",
            attributes={"dose_value": 5, "dose_unit": "mg"},
            retired=3,
            superseded_by="w2",
        ),
        Fact("pcn", "allergy", "penicillin", introduced=2),
        Fact("w2", "medication", "warfarin", attributes={"dose_value": 2.5, "dose_unit": "mg"}, introduced=3),
    )
    return ConversationCase(id, "", tuple(Turn(i, m) for i, m in enumerate(messages, start=1)), facts)


def hold(
    model: Any, cases: Sequence[ConversationCase] | None = None, *, log: Any = None, seed: int = 1, **settings: Any
) -> Transcripts:
    more = {key: settings.pop(key) for key in ("budget", "workers", "ask", "watch") if key in settings}
    return converse(
        lambda: model,
        [case()] if cases is None else cases,
        ConversationPart(**settings),
        seed=seed,
        log=Log() if log is None else log,
        **more,
    )


def lines(held: Transcripts, arm: str = "live") -> list[Said]:
    return [one for one in held.said if one.arm == arm]
