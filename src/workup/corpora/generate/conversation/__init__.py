"""Conversations with a ledger of facts, made from a seed: what is told, changed and taken back is known to the turn."""

from __future__ import annotations

from workup.corpora.generate.conversation.corpus import Conversations, generate

__all__ = ["Conversations", "generate"]
