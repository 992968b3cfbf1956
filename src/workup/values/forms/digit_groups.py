"""Digits set in groups."""

from __future__ import annotations


def grouped(text: str, *sizes: int, joint: str = " ") -> str:
    """The first characters of a text in groups of these sizes.

    >>> grouped("123456789", 3, 2, 4, joint="-")
    '123-45-6789'
    """
    pieces, at = [], 0
    for size in sizes:
        pieces.append(text[at : at + size])
        at += size
    return joint.join(pieces)


def fours(text: str) -> str:
    """Groups of four, as on cards."""
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))
