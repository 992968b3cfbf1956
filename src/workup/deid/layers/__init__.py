"""Layers that propose findings; the engine joins what they say."""
