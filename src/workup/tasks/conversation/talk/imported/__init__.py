"""Conversations held elsewhere, read into the lines of a transcript: logs of inspect_ai, OpenAI's lines, ShareGPT."""

from workup.tasks.conversation.talk.imported.source import FORMATS, imported_lines, read_imported

__all__ = ["FORMATS", "imported_lines", "read_imported"]
