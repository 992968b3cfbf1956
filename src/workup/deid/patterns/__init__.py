"""Patterns that hostile text cannot make slow, and where in a text each can begin."""
