"""Holding the conversations of a study: arms, probes, memory and replicates, with every call on record."""

from __future__ import annotations

from workup.tasks.conversation.running.calling import tallied
from workup.tasks.conversation.running.conversing import converse
from workup.tasks.conversation.running.estimating import Estimate, estimate_of
from workup.tasks.conversation.running.memory import Memory
from workup.tasks.conversation.running.wording import TEMPLATE

__all__ = ["TEMPLATE", "Estimate", "Memory", "converse", "estimate_of", "tallied"]
