"""Holding the conversations of a study: arms, probes, memory and replicates, with every call on record."""

from __future__ import annotations

from workup.tasks.conversation.talk.calls import tallied
from workup.tasks.conversation.talk.conversations import converse
from workup.tasks.conversation.talk.cost_estimate import Estimate, estimate_of
from workup.tasks.conversation.talk.memory import Memory
from workup.tasks.conversation.talk.prompts import TEMPLATE

__all__ = ["TEMPLATE", "Estimate", "Memory", "converse", "estimate_of", "tallied"]
