"""Clinical notes with known truth: a grammar of note types and specialties, filled with values that identify.

Every document depends on the seed, its number and the settings alone."""

from __future__ import annotations

from workup.corpora.generate.notes.corpus import Notes, generate
from workup.corpora.generate.notes.settings import NoteSettings

__all__ = ["NoteSettings", "Notes", "generate"]
