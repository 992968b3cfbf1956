"""What every self-test answers: planted systems with known answers, and whether the scorer found them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One question put to the scorer, what a right scorer answers and what this one did."""

    name: str
    expected: str
    observed: str
    passed: bool
    detail: str = ""
