"""Chat models over many turns: cases with a ledger of facts, transcripts, and what a reply says of each fact."""

from __future__ import annotations

from typing import Any

__all__ = ["ConversationTask"]


def __getattr__(name: str) -> Any:
    # Generators and systems need cases alone; the task, with all it rests on, is loaded when asked for.
    if name == "ConversationTask":
        from workup.tasks.conversation.task import ConversationTask

        return ConversationTask
    raise AttributeError(name)
