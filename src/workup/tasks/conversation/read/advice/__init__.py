"""What a reply advises, where its advice contradicts itself, and advice that a fact of the patient forbids."""

from __future__ import annotations

from workup.tasks.conversation.read.advice.conflicts import ConflictPair, Conflicts, conflicts_of
from workup.tasks.conversation.read.advice.forbidden import check_harm_tags
from workup.tasks.conversation.read.advice.judges import (
    Judge,
    NliJudge,
    PublishedConflicts,
    published_conflicts_of,
)
from workup.tasks.conversation.read.advice.never_events import NeverEvent, never_events_of
from workup.tasks.conversation.read.advice.probes import AdviceError, measured_error
from workup.tasks.conversation.read.advice.statements import Statement, statements_of

__all__ = [
    "AdviceError",
    "ConflictPair",
    "Conflicts",
    "Judge",
    "NeverEvent",
    "NliJudge",
    "PublishedConflicts",
    "Statement",
    "check_harm_tags",
    "conflicts_of",
    "measured_error",
    "never_events_of",
    "published_conflicts_of",
    "statements_of",
]
