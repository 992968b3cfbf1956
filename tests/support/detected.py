"""What the rules of the de-identifier find in a text."""

from __future__ import annotations

from workup.deid import Deidentifier


def found(text: str, **config: object) -> list[tuple[str, str]]:
    """Every finding, as its words and its label; `config` is a user's own on top of the shipped rules."""
    (findings,) = Deidentifier.load(config or None, tagger="off").detect([text])
    return [(text[one.start : one.end], one.label) for one in findings]
