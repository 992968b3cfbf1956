"""What replies hold beside the facts: terms with support or none, copied words, plans carried out, quality as rated."""

from __future__ import annotations

from workup.tasks.conversation.read.content.coverage import PlanScore, plan_score
from workup.tasks.conversation.read.content.encoders import (
    Alignment,
    Encoder,
    SentenceTransformers,
    encoded,
    published_alignment,
)
from workup.tasks.conversation.read.content.extended import extended_facts, told_facts
from workup.tasks.conversation.read.content.grounding import Grounding, Support, extractor_facts, support_of
from workup.tasks.conversation.read.content.plans import Plan, items_of, plan_of
from workup.tasks.conversation.read.content.quality import quality_tables
from workup.tasks.conversation.read.content.ratings import (
    ATTRIBUTES,
    Rating,
    Ratings,
    rating_columns,
    read_ratings,
)
from workup.tasks.conversation.read.content.wording import copy_rate, first_tokens, repetition_share

__all__ = [
    "ATTRIBUTES",
    "Alignment",
    "Encoder",
    "Grounding",
    "Plan",
    "PlanScore",
    "Rating",
    "Ratings",
    "SentenceTransformers",
    "Support",
    "copy_rate",
    "encoded",
    "extended_facts",
    "extractor_facts",
    "first_tokens",
    "items_of",
    "plan_of",
    "plan_score",
    "published_alignment",
    "quality_tables",
    "rating_columns",
    "read_ratings",
    "repetition_share",
    "support_of",
    "told_facts",
]
