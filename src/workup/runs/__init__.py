"""The run directory: a cache of outputs keyed by content, which survives a kill, and the reports beside it.

Knows nothing of tasks or lenses. One process writes at a time, and only the owner can read what it wrote.
"""

from workup.runs.directory import (
    RunDirectory,
    clean,
    content_key,
    cost_of,
    forget,
    links_left,
    runs_inside,
    safe_name,
    study_of,
)
from workup.runs.outputs import Outputs, Unrecorded

__all__ = [
    "Outputs",
    "RunDirectory",
    "Unrecorded",
    "clean",
    "content_key",
    "cost_of",
    "forget",
    "links_left",
    "runs_inside",
    "safe_name",
    "study_of",
]
