"""De-identification and PII detectors: documents, labels, policies, matching, metrics, and the task that joins them."""

from __future__ import annotations

from typing import Any

__all__ = ["SpansTask"]


def __getattr__(name: str) -> Any:
    # Formats and systems need documents and labels alone; the task, with all it rests on, is loaded when asked for.
    if name == "SpansTask":
        from workup.tasks.spans.task import SpansTask

        return SpansTask
    raise AttributeError(name)
