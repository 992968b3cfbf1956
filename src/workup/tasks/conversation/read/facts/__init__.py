"""What a reply says of each fact: mentions, their context, their values, and the outcome."""

from __future__ import annotations

from workup.tasks.conversation.read.facts.reply_outcomes import (
    ACTIVE_OUTCOMES,
    OUTCOMES,
    RETIRED_OUTCOMES,
    Judged,
    Matcher,
    Outcome,
    outcome_of,
    outcomes,
)

__all__ = ["ACTIVE_OUTCOMES", "OUTCOMES", "RETIRED_OUTCOMES", "Judged", "Matcher", "Outcome", "outcome_of", "outcomes"]
