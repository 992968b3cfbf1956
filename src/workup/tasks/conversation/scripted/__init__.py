"""Scripted chat models with planted faults: what a toolkit must find again before it may judge a real one."""

from __future__ import annotations

from workup.tasks.conversation.scripted.behaviours import BEHAVIOURS, Behaviour, behaviour
from workup.tasks.conversation.scripted.model import Scripted
from workup.tasks.conversation.scripted.plan import Plan
from workup.tasks.conversation.scripted.recording import transcripts

__all__ = ["BEHAVIOURS", "Behaviour", "Plan", "Scripted", "behaviour", "transcripts"]
